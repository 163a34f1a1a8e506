"""The system's keyring, and a queue that asks it one question at a time; all of it runs in a thread.

The Secret Service of Linux (gnome-keyring, KeePassXC) is searched without unlocking it and without creating a
collection, which the keyring library would do. KWallet, macOS and Windows are asked through that library.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.storage.threads import run_in_thread

# Why the keyring did not do what it was asked.
NO_KEYRING = "no_keyring"
LOCKED = "locked"
DISMISSED = "dismissed"
WAITING = "waiting"
STOPPED = "stopped"
# Its state, if it is not locked.
OPEN = "open"
NONE = "none"
Backend = Callable[[], Any]
# A keyring that does not report asking its user answers within this time or not at all.
SILENT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class KeyringReading:
    """The values found. `locked` are the users whose value exists and cannot be read.

    `state`: OPEN if a value can be stored without asking the keyring's user, LOCKED, or NONE if there is no
    collection.
    """

    values: dict[str, str] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    state: str = OPEN


class SystemKeyring(Protocol):
    """A keyring; its methods block, and raise what `problem_of` classifies.

    `asks_user` is true while it may be waiting for its user, for instance for a password.
    """

    asks_user: bool

    def read(self, users: Collection[str]) -> KeyringReading:
        """Return the values of these users."""
        ...

    def write(self, user: str, value: str) -> bool:
        """Store a value; return whether it is there afterwards."""
        ...

    def delete(self, user: str) -> bool:
        """Delete a value; return whether it is gone."""
        ...

    def unlock(self) -> None:
        """Ask the user to unlock it."""
        ...


class Dismissed(Exception):
    """The user was asked to unlock the keyring or to create one, and did not."""


class LibraryKeyring:
    """A keyring behind the keyring library, which may ask its user at any time."""

    def __init__(self, backend: Any, service: str) -> None:
        self.asks_user = True
        self._backend, self._service = backend, service

    def read(self, users: Collection[str]) -> KeyringReading:
        found = {user: self._backend.get_password(self._service, user) for user in users}
        return KeyringReading({user: value for user, value in found.items() if value})

    def write(self, user: str, value: str) -> bool:
        self._backend.set_password(self._service, user, value)
        # Some keyrings keep nothing without an error.
        return bool(self._backend.get_password(self._service, user) == value)

    def delete(self, user: str) -> bool:
        from keyring.errors import PasswordDeleteError

        with contextlib.suppress(PasswordDeleteError):  # There was no value, or the user refused.
            self._backend.delete_password(self._service, user)
        return self._backend.get_password(self._service, user) is None

    def unlock(self) -> None:
        """Do nothing: this keyring asks its user when it is read."""


class SecretServiceKeyring:
    """The Secret Service, with the collection and attributes that the keyring library uses."""

    def __init__(self, backend: Any, service: str) -> None:
        self.asks_user = False
        self._backend, self._service = backend, service

    def read(self, users: Collection[str]) -> KeyringReading:
        from secretstorage.util import open_session

        with self._collection() as collection:
            if collection is None:
                return KeyringReading(state=NONE)
            values: dict[str, str] = {}
            locked = set()
            for user in users:
                for item in self._items(collection, user):
                    if item.is_locked():
                        locked.add(user)
                        continue
                    # One encrypted session is enough for all items.
                    item.session = collection.session = collection.session or open_session(item.connection)
                    values[user] = item.get_secret().decode()
                    break
            return KeyringReading(
                values, frozenset(locked - set(values)), LOCKED if collection.is_locked() else OPEN
            )

    def write(self, user: str, value: str) -> bool:
        from secretstorage import create_collection

        with self._collection() as collection:
            if collection is not None:
                self._unlock(collection)
            else:
                with self._asking():
                    create_collection(self._connection, "Default", "default")
        self._backend.set_password(self._service, user, value)
        return self.read((user,)).values.get(user) == value

    def delete(self, user: str) -> bool:
        with self._collection() as collection:
            items = [] if collection is None else list(self._items(collection, user))
            if items:
                self._unlock(collection)
            for item in items:
                with self._asking():
                    item.delete()
            return collection is None or not list(self._items(collection, user))

    def unlock(self) -> None:
        with self._collection() as collection:
            if collection is not None:
                self._unlock(collection)

    @contextlib.contextmanager
    def _collection(self) -> Iterator[Any]:
        """Yield the collection that the library uses too, None if there is none yet."""
        from secretstorage import Collection, dbus_init
        from secretstorage.collection import DEFAULT_COLLECTION
        from secretstorage.exceptions import ItemNotFoundException

        path = getattr(self._backend, "preferred_collection", DEFAULT_COLLECTION)
        with closing(dbus_init()) as self._connection:
            try:
                collection = Collection(self._connection, path)
            except ItemNotFoundException:
                collection = None
            yield collection

    def _items(self, collection: Any, user: str) -> Iterator[Any]:
        names = self._backend.schemes[self._backend.scheme]
        found: Iterator[Any] = collection.search_items(
            {names["username"]: user, names["service"]: self._service}
        )
        return found

    def _unlock(self, collection: Any) -> None:
        if collection.is_locked():
            with self._asking():
                collection.unlock()
            if collection.is_locked():
                raise Dismissed

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        self.asks_user = True
        try:
            yield
        finally:
            self.asks_user = False


def system_keyring(backend: Any, service: str) -> SystemKeyring | None:
    """Return the keyring of a library backend, None if it keeps nothing, or not in secret."""
    usable = usable_backend(backend)
    if usable is None:
        return None
    if type(usable).__module__ == "keyring.backends.SecretService":
        return SecretServiceKeyring(usable, service)
    return LibraryKeyring(usable, service)


def usable_backend(backend: Any) -> Any | None:
    """Return the backend that keeps values in secret, None if there is none."""
    inner = getattr(backend, "backends", None)
    if inner is not None and type(backend).__module__ == "keyring.backends.chainer":
        return next((one for one in inner if usable_backend(one) is not None), None)
    module = type(backend).__module__
    name = type(backend).__name__
    if module in ("keyring.backends.fail", "keyring.backends.null"):
        return None
    if module.startswith("keyrings.alt") or "plaintext" in name.lower():
        return None
    return backend


def default_backend() -> Any:
    """Return the backend that the keyring library has chosen for this system."""
    import keyring

    return keyring.get_keyring()


def problem_of(error: BaseException) -> str:
    """Return why a keyring failed, from the exception it raised."""
    # By name, because each comes from a library that not every system has.
    names = {type(error).__name__, type(error.__cause__).__name__}
    if names & {"Dismissed", "PromptDismissedException"}:
        return DISMISSED
    if names & {"KeyringLocked", "LockedException"}:
        return LOCKED
    if "NoKeyringError" in names:
        return NO_KEYRING
    return STOPPED


@dataclass(frozen=True, slots=True)
class KeyringAnswer:
    """The answer to a question: a value, or a problem; `pending` if the keyring may still answer."""

    value: Any = None
    problem: str = ""
    pending: bool = False


Question = Callable[[SystemKeyring], Any]
# Takes an answer, and whether it is late, so that nobody waits for it any more.
Take = Callable[[KeyringAnswer, bool], None]


class _KeyringJob:
    def __init__(self, question: Question, take: Take) -> None:
        self.question, self.take = question, take
        self.done: asyncio.Future[KeyringAnswer] = asyncio.get_running_loop().create_future()
        self.late = False


class KeyringQueue:
    """Asks one question at a time in a thread; `timeout` is how long callers wait, in seconds."""

    def __init__(self, backend: Backend, service: str, timeout: float) -> None:
        self._backend, self._service, self._timeout = backend, service, timeout
        self._jobs: deque[_KeyringJob] = deque()
        self._keyring: SystemKeyring | None = None

    async def ask(self, question: Question, take: Take) -> KeyringAnswer:
        """Return the answer; after the time limit, that the keyring waits for its user or does not respond.

        `take` gets the answer whenever it comes, before this returns it.
        """
        # Behind a question that takes too long, callers need not wait as long again.
        overdue = bool(self._jobs) and self._jobs[0].late
        job = self.put(question, take)
        try:
            if not overdue:
                await self._wait(job)
        finally:
            job.late = not job.done.done()
        if job.done.done():
            return job.done.result()
        asks = self._keyring is not None and self._keyring.asks_user
        return KeyringAnswer(problem=WAITING if asks else STOPPED, pending=True)

    def put(self, question: Question, take: Take) -> _KeyringJob:
        """Queue a question that nobody waits for."""
        job = _KeyringJob(question, take)
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._begin()
        return job

    async def _wait(self, job: _KeyringJob) -> None:
        silent = min(SILENT_SECONDS, self._timeout)
        await asyncio.wait((job.done,), timeout=silent)
        if not job.done.done() and self._keyring is not None and self._keyring.asks_user:
            await asyncio.wait((job.done,), timeout=self._timeout - silent)

    def _begin(self) -> None:
        """Ask the next question."""
        job, loop = self._jobs[0], asyncio.get_running_loop()
        future = run_in_thread(lambda: self._answer(job.question), "moot-keyring")

        def tell(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # The event loop has ended, and its callers with it.
                loop.call_soon_threadsafe(self._end, job, future.result())

        future.add_done_callback(tell)

    def _end(self, job: _KeyringJob, answer: KeyringAnswer) -> None:
        self._jobs.popleft()
        if self._jobs:
            self._begin()
        job.done.set_result(answer)
        job.take(answer, job.late)

    def _answer(self, question: Question) -> KeyringAnswer:
        try:
            if self._keyring is None:
                self._keyring = system_keyring(self._backend(), self._service)
            if self._keyring is None:
                return KeyringAnswer(problem=NO_KEYRING)
            return KeyringAnswer(question(self._keyring))
        except Exception as error:  # Backends raise the exceptions of their system's library.
            return KeyringAnswer(problem=problem_of(error))
