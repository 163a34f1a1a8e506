"""One interface to the system's keyring, whichever it is; used by the secrets, in a thread.

The Secret Service of Linux (gnome-keyring, KeePassXC) is searched without being unlocked and without creating a
collection, which the keyring library would do. KWallet, macOS and Windows are asked through that library.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

# Why the keyring did not do what it was asked.
NO_KEYRING = "no_keyring"
LOCKED = "locked"
DISMISSED = "dismissed"
WAITING = "waiting"
STOPPED = "stopped"
# How it is, where it is not locked.
OPEN = "open"
NONE = "none"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found. `locked` are the users whose value is there and cannot be read; `state` says whether a value
    can be stored at once ("open"), or the keyring's user is asked first: it is "locked", or there is "none" yet.
    """

    values: dict[str, str] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    state: str = OPEN


class SystemKeyring(Protocol):
    """A keyring that can be asked; its methods block, and raise what `problem_of` names.

    `asks_user` is true while it may be waiting for its user, for instance for a password.
    """

    asks_user: bool

    def read(self, users: Collection[str]) -> Reading:
        """Return the values of these users."""
        ...

    def write(self, user: str, value: str) -> bool:
        """Store a value; false where it is not there afterwards."""
        ...

    def delete(self, user: str) -> bool:
        """Delete a value; true where none is there afterwards."""
        ...

    def unlock(self) -> None:
        """Let the user unlock it."""
        ...


class Dismissed(Exception):
    """The user was asked to unlock the keyring or to create one, and did not."""


class LibraryKeyring:
    """A keyring behind the keyring library, which may ask its user at any time."""

    def __init__(self, backend: Any, service: str) -> None:
        self.asks_user = True
        self._backend, self._service = backend, service

    def read(self, users: Collection[str]) -> Reading:
        found = {user: self._backend.get_password(self._service, user) for user in users}
        return Reading({user: value for user, value in found.items() if value})

    def write(self, user: str, value: str) -> bool:
        self._backend.set_password(self._service, user, value)
        # Some keep nothing and say nothing.
        return bool(self._backend.get_password(self._service, user) == value)

    def delete(self, user: str) -> bool:
        from keyring.errors import PasswordDeleteError

        with contextlib.suppress(PasswordDeleteError):  # There was none, or the user said no.
            self._backend.delete_password(self._service, user)
        return self._backend.get_password(self._service, user) is None

    def unlock(self) -> None:
        """Do nothing: it asks its user by itself when it is read."""


class SecretServiceKeyring:
    """The Secret Service, at the place and under the attributes that the keyring library uses."""

    def __init__(self, backend: Any, service: str) -> None:
        self.asks_user = False
        self._backend, self._service = backend, service

    def read(self, users: Collection[str]) -> Reading:
        from secretstorage.util import open_session

        with self._collection() as collection:
            if collection is None:
                return Reading(state=NONE)
            values: dict[str, str] = {}
            locked = set()
            for user in users:
                for item in self._items(collection, user):
                    if item.is_locked():
                        locked.add(user)
                        continue
                    # One agreement on how to encrypt is enough for all.
                    item.session = collection.session = collection.session or open_session(item.connection)
                    values[user] = item.get_secret().decode()
                    break
            return Reading(
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
        """Give the collection that the library uses as well; None where there is none yet."""
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
    """Return the way to ask a backend of the keyring library; None where it keeps nothing, or nothing secret."""
    usable = usable_backend(backend)
    if usable is None:
        return None
    if type(usable).__module__ == "keyring.backends.SecretService":
        return SecretServiceKeyring(usable, service)
    return LibraryKeyring(usable, service)


def usable_backend(backend: Any) -> Any | None:
    """Return a keyring that keeps keys and keeps them secret, None where there is none."""
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
    """Return what the keyring library has chosen for this system."""
    import keyring

    return keyring.get_keyring()


def problem_of(error: BaseException) -> str:
    """Return why a keyring did not do what it was asked, by what it raised."""
    # By name, as each comes from a library that not every system has.
    names = {type(error).__name__, type(error.__cause__).__name__}
    if names & {"Dismissed", "PromptDismissedException"}:
        return DISMISSED
    if names & {"KeyringLocked", "LockedException"}:
        return LOCKED
    if "NoKeyringError" in names:
        return NO_KEYRING
    return STOPPED


Backend = Callable[[], Any]
