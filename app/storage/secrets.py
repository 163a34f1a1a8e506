"""Keys of providers and secrets of MCP servers: the system's keyring, the environment, or for this run only.

A thread asks the keyring, which may wait for its user or not respond: callers wait for a limited time, and a
later answer is still used. The Secret Service of Linux (gnome-keyring, KeePassXC) is searched without
unlocking it and without creating a collection, which the keyring library would do; others are asked through
that library. Keys are removed from error texts, logs, exports and standard error.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import logging
import os
import re
import string
import sys
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from app.children.private_files import HostLog
from app.core.catalog import KEY_STARTS, provider_kind
from app.core.frozen import Frozen
from app.core.servers import PLACE, to_hide
from app.core.store import KeyNews
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
# How many characters an entry of a PartedKeyring takes, and how one begins that has its value in parts.
_PART = 1_200
_PARTS = "moot-parts:"
# A keyring that does not report asking its user answers within this time or not at all.
SILENT_SECONDS = 3.0


class KeyringReading(Frozen, kw_only=False):
    """The values found. `locked` are the users whose value exists and cannot be read.

    `state`: OPEN if a value can be stored without asking the keyring's user, LOCKED, or NONE if there is no
    collection.
    """

    values: dict[str, str] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()
    state: str = OPEN


class Dismissed(Exception):
    """The user was asked to unlock the keyring or to create one, and did not."""


class SystemKeyring:
    """A keyring behind the keyring library, which may ask its user at any time.

    The methods block, and raise what `problem_of` classifies. `asks_user` is true while it may be waiting for
    its user, for instance for a password.
    """

    asks_user = True

    def __init__(self, backend: Any, service: str) -> None:
        self._backend, self._service = backend, service

    def read(self, users: Collection[str]) -> KeyringReading:
        """Return the values of these users."""
        found = {user: self._backend.get_password(self._service, user) for user in users}
        return KeyringReading({user: value for user, value in found.items() if value})

    def write(self, user: str, value: str) -> bool:
        """Store a value; return whether it is there afterwards."""
        self._backend.set_password(self._service, user, value)
        # Some keyrings keep nothing without an error.
        return bool(self._backend.get_password(self._service, user) == value)

    def delete(self, user: str) -> bool:
        """Delete a value; return whether it is gone."""
        from keyring.errors import PasswordDeleteError

        with contextlib.suppress(PasswordDeleteError):  # There was no value, or the user refused.
            self._backend.delete_password(self._service, user)
        return self._backend.get_password(self._service, user) is None

    def unlock(self) -> None:
        """Ask the user to unlock it; one behind the library alone asks when it is read."""


class PartedKeyring(SystemKeyring):
    """A keyring whose entries take few characters, as those of Windows do; a long value is in several.

    The user's own entry then names their set and number. It is written last, and the next value takes the
    other set, so that there is always a whole value.
    """

    def read(self, users: Collection[str]) -> KeyringReading:
        reading = super().read(users)
        whole = {user: self._whole(user, head) for user, head in reading.values.items()}
        return replace(reading, values=whole)

    def write(self, user: str, value: str) -> bool:
        head = self._backend.get_password(self._service, user) or ""
        other = "b" if head.startswith(f"{_PARTS}a") else "a"
        pieces = [value[start : start + _PART] for start in range(0, len(value), _PART)]
        if len(pieces) > 1:
            for number, piece in enumerate(pieces):
                if not super().write(f"{user}#{other}{number}", piece):
                    return False
            value = f"{_PARTS}{other}{len(pieces)}"
        if written := super().write(user, value):
            self._clear(user, "ab" if len(pieces) == 1 else "ab".replace(other, ""))
        return written

    def delete(self, user: str) -> bool:
        self._clear(user, "ab")
        return super().delete(user)

    def _whole(self, user: str, head: str) -> str:
        name = head.removeprefix(_PARTS)
        if name == head:
            return head
        places = (f"{user}#{name[0]}{number}" for number in range(int(name[1:])))
        parts = [self._backend.get_password(self._service, place) for place in places]
        return "" if None in parts else "".join(parts)

    def _clear(self, user: str, sets: str) -> None:
        for name in sets:
            for number in itertools.count():
                part = f"{user}#{name}{number}"
                if self._backend.get_password(self._service, part) is None or not super().delete(part):
                    break


class SecretServiceKeyring(SystemKeyring):
    """The Secret Service, with the collection and attributes that the keyring library uses."""

    asks_user = False

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
            state = LOCKED if collection.is_locked() else OPEN
            return KeyringReading(values, frozenset(locked - set(values)), state)

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
        wanted = {names["username"]: user, names["service"]: self._service}
        found: Iterator[Any] = collection.search_items(wanted)
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
    return usable and _KEYRINGS.get(type(usable).__module__, SystemKeyring)(usable, service)


_KEYRINGS = {
    "keyring.backends.SecretService": SecretServiceKeyring,
    "keyring.backends.Windows": PartedKeyring,
}


def usable_backend(backend: Any) -> Any | None:
    """Return the backend that keeps values in secret, None if there is none."""
    inner = getattr(backend, "backends", None)
    if inner is not None and type(backend).__module__ == "keyring.backends.chainer":
        return next((item for item in inner if usable_backend(item) is not None), None)
    module = type(backend).__module__
    name = type(backend).__name__
    keeps_none = module in ("keyring.backends.fail", "keyring.backends.null")
    is_open = module.startswith("keyrings.alt") or "plaintext" in name.lower()
    return None if keeps_none or is_open else backend


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
    return NO_KEYRING if "NoKeyringError" in names else STOPPED


class KeyringAnswer(Frozen, kw_only=False):
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


SERVICE = "Moot"
TIMEOUT_SECONDS = 10.0
_LONGEST = 20_000

KEYRING = "keyring"
ENVIRONMENT = "environment"
SESSION = "session"


class KeyringSecrets:
    """Keeps one key for each provider; `keyring_problem` says why the keyring's last operation failed.

    A provider is named by its id, or by `id@server` if its address is not the usual one; a secret of an MCP
    server by its place, `mcp:server:field`, with an empty kind. Only the newest change of a place counts.
    `unread` says why places could not be read in the keyring; `takes_unasked` whether it stores without
    asking its user; `on_news` is called after a look-up, and with a place and the result when that comes
    late.
    """

    def __init__(
        self,
        *,
        backend: Backend | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
        service: str = SERVICE,
    ) -> None:
        self.keyring_problem = ""
        self.unread: dict[str, str] = {}
        self.takes_unasked = False
        self.on_news: Callable[[str, str], None] = lambda _place, _news: None
        self._environment = dict(os.environ if environment is None else environment)
        self._queue = KeyringQueue(backend or default_backend, service, timeout)
        self._stored: dict[str, str] = {}
        self._session: dict[str, str] = {}
        self._changes: Counter[str] = Counter()
        self._looked_up: set[str] = set()
        self._redactor = Redactor()
        self.redact = self._redactor.redact
        for name, value in self._environment.items():
            if name.startswith(variable_name(PLACE)):
                self.hide((value,))
            elif name.startswith("MOOT_KEY_") or name.endswith("_API_KEY"):
                self._redactor.add(value)

    def get(self, provider: str, kind: str) -> str | None:
        """Return a provider's key as last looked up; never blocks."""
        return self._find(provider, kind)[0]

    def source(self, provider: str, kind: str) -> str:
        """Return where a key comes from: keyring, environment, session, or "" for none."""
        return self._find(provider, kind)[1]

    async def refresh(self, providers: tuple[tuple[str, str], ...]) -> None:
        """Look up the keys of (provider id, kind) pairs in a thread, without unlocking a keyring."""
        if providers:
            await self._look_up(frozenset(place for place, _ in providers))

    async def unlock(self) -> bool:
        """Ask the user to unlock the keyring, and repeat all look-ups; false if that failed."""
        await self._look_up(frozenset(self._looked_up), unlock=True)
        return not self.unread

    async def _look_up(self, places: frozenset[str], *, unlock: bool = False) -> None:
        self._looked_up |= places
        answer = await self._queue.ask(*self._reading(places, unlock=unlock))
        if answer.pending:
            self._note(answer.problem)
            for place in places:
                self._set_unread(place, answer.problem)
            self.on_news("", KeyNews.LOOKED_UP)

    def _reading(self, places: frozenset[str], *, unlock: bool = False) -> tuple[Question, Take]:
        """Return the question to the keyring for these places, and the function that takes its answer."""
        users = {place: _user(place) for place in places}
        # A place that is changed from now on is known better.
        changes = {place: self._changes[place] for place in places}

        def read(keyring: SystemKeyring) -> KeyringReading:
            if unlock:
                keyring.unlock()
            return keyring.read(tuple(users.values()))

        def take(answer: KeyringAnswer, _late: bool) -> None:
            before = dict(self._stored), dict(self.unread), self.keyring_problem
            reading: KeyringReading = answer.value or KeyringReading(state=NONE)
            self._note(answer.problem or (LOCKED if reading.locked else ""))
            self.takes_unasked = reading.state == OPEN
            for place in places:
                value = reading.values.get(users[place])
                problem = answer.problem or (LOCKED if users[place] in reading.locked else "")
                self._set_unread(place, problem)
                if self._changes[place] != changes[place]:
                    continue
                if value:
                    self._stored[place] = value
                    self._know(place, value)
                elif not problem:
                    self._stored.pop(place, None)
            if before != (self._stored, self.unread, self.keyring_problem):
                self.on_news("", KeyNews.LOOKED_UP)

        return read, take

    def _set_unread(self, place: str, problem: str) -> None:
        # The user dismissed the question, so the keyring is still locked.
        problem = LOCKED if problem == DISMISSED else problem
        if problem and problem != NO_KEYRING:
            self.unread[place] = problem
        else:
            self.unread.pop(place, None)

    async def keep(self, place: str, value: str) -> bool:
        """Store any text unchanged; false if it lives for this run only or is stored later.

        It takes effect at once. `keyring_problem` says why it is not stored.
        """
        self._know(place, value)
        self._session[place] = value
        number = self._change(place)

        def write(keyring: SystemKeyring) -> bool | None:
            return keyring.write(_user(place), value) if self._changes[place] == number else None

        def take(answer: KeyringAnswer, late: bool) -> None:
            if self._changes[place] != number:
                return
            if answer.value:
                self._stored[place] = value
                self._session.pop(place, None)
            self._take_change(place, answer, late, KeyNews.KEPT if answer.value else KeyNews.NOT_KEPT)

        answer = await self._queue.ask(write, take)
        if not answer.value:
            # Without a problem, the keyring keeps nothing, or a newer key is on its way.
            self._note(answer.problem or (NO_KEYRING if answer.value is False else WAITING))
        return bool(answer.value)

    def hide(self, texts: Iterable[str]) -> None:
        """Remove these texts from every text from now on."""
        for text in texts:
            self._redactor.add_whole(text)

    async def remove(self, provider: str) -> bool:
        """Remove a key; false if the keyring still has it, or may have: `keyring_problem` says why.

        If the keyring has not answered yet, the key is deleted when it does.
        """
        number = self._change(provider)
        self._session.pop(provider, None)
        stored = self._stored.pop(provider, None)

        def delete(keyring: SystemKeyring) -> bool:
            return self._changes[provider] != number or keyring.delete(_user(provider))

        def take(answer: KeyringAnswer, late: bool) -> None:
            if self._changes[provider] != number:
                return
            if not answer.value and stored is not None:
                self._stored[provider] = stored
            news = KeyNews.REMOVED if answer.value else KeyNews.NOT_REMOVED
            self._take_change(provider, answer, late, news)

        answer = await self._queue.ask(delete, take)
        if answer.value or answer.problem == NO_KEYRING:
            return True
        self._note(answer.problem or LOCKED)
        # A keyring that always fails, and never returned a key, has none.
        return answer.problem == STOPPED and not answer.pending and stored is None

    def _know(self, place: str, value: str) -> None:
        if place.startswith(PLACE):
            self.hide(to_hide(place.rpartition(":")[2], value))
        else:
            self._redactor.add(value)

    def _find(self, provider: str, kind: str) -> tuple[str | None, str]:
        if provider in self._session:
            return self._session[provider], SESSION
        if provider in self._stored:
            return self._stored[provider], KEYRING
        row = provider_kind(kind)
        provider_id, _, server = (provider, "", "") if provider.startswith(PLACE) else provider.partition("@")
        # The provider's well-known variable is for its usual server only; no other server gets that key.
        usual = row.variable if row and (not server or row.is_own(server)) else ""
        names = (usual, variable_name(provider_id))
        key = next(filter(None, (self._environment.get(name, "").strip() for name in names)), None)
        return key, ENVIRONMENT if key else ""

    def _change(self, place: str) -> int:
        """Return the number of a new change of a place; earlier changes no longer count."""
        self._changes[place] += 1
        return self._changes[place]

    def _take_change(self, place: str, answer: KeyringAnswer, late: bool, news: str) -> None:
        """Record the result of a change; if the keyring was unlocked for it, read the other places now."""
        if not answer.problem:
            self._set_unread(place, "")
            if self.unread:
                self._queue.put(*self._reading(frozenset(self.unread)))
        if late:
            self._note(answer.problem)
            self.on_news(place, news)

    def _note(self, problem: str) -> None:
        self.keyring_problem = problem or self.keyring_problem


def variable_name(provider: str) -> str:
    """Return the environment variable of a provider's own: `MOOT_KEY_<ID>`."""
    return "MOOT_KEY_" + re.sub("[^A-Z0-9]", "_", provider.upper())


def _user(provider: str) -> str:
    return provider if provider.startswith(PLACE) else f"provider:{provider}"


MARK = "[key removed]"

_SHORT = 6
_PIECE = 8
_SMALL_LETTERS = {ord(letter): letter.lower() for letter in string.ascii_uppercase}

_SCHEMES = ("bearer", "basic", "token")
_FIELDS = (
    *(f"api{between}key" for between in ("", "-", "_", " ")),
    *("access-token", "access_token", "client-secret", "client_secret", "authorization"),
)
_FIELD_VALUE = r"[\"']?\s*[:=]\s*[\"']?(?:\w+ )?(?=\S{0,256}\d)[^\s\"',;&})\]]{6,}"
# Patterns of keys. Each is tried only where one of its words occurs, so that the time is linear in the
# text; the words of patterns that ignore case are in lower case.
_SHAPES = tuple(
    (words, folded, re.compile(pattern, re.IGNORECASE if folded else 0))
    for words, folded, pattern in (
        (KEY_STARTS, False, rf"\b(?:{'|'.join(map(re.escape, KEY_STARTS))})[\w\-.*…]{{8,}}"),
        (_SCHEMES, True, rf"\b(?:{'|'.join(_SCHEMES)})\s+[A-Za-z0-9._~+/=\-*…]{{8,}}"),
        (_FIELDS, True, rf"(?:{'|'.join(_FIELDS)}){_FIELD_VALUE}"),
        (("key=",), True, r"(?<=[?&])key=[^\s&\"'#]{6,}"),
    )
)


class Redactor:
    """Removes all known keys, whole or in part, plain or encoded, in linear time."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._whole: set[str] = set()
        self._forms: list[str] = []
        self._folded: list[re.Pattern[str]] = []
        self._short: list[tuple[str, re.Pattern[str]]] = []
        self._ends: list[tuple[str, re.Pattern[str], bool]] = []

    def add(self, key: str) -> None:
        """Add a key for the lifetime of the program: a removed key must not appear in a late error either."""
        self._remember(self._keys, key)

    def add_whole(self, text: str) -> None:
        """Add a text that is removed only as a whole, because its ends may be ordinary words."""
        self._remember(self._whole, text)

    def _remember(self, among: set[str], key: str) -> None:
        key = key.strip()
        if not key or key in among:
            return
        among.add(key)
        known = self._keys | self._whole
        long = [item for item in known if len(item) >= _SHORT]
        # The longest first, because a key may be part of another.
        self._forms = sorted({form for item in long for form in _forms(item)}, key=len, reverse=True)
        folded = sorted({quote(item, safe="").lower() for item in long}, key=len, reverse=True)
        self._folded = [re.compile(re.escape(form)) for form in folded]
        # A key so short may be part of a word.
        forms = {item: rf"(?<![A-Za-z0-9]){re.escape(item)}(?![A-Za-z0-9])" for item in known}
        self._short = [(item, re.compile(form)) for item, form in forms.items() if len(item) < _SHORT]
        self._ends = [end for item in self._keys for end in _ends(item)]

    def redact(self, text: str) -> str:
        """Return the text without any key."""
        for form in self._forms:
            text = text.replace(form, MARK)
        lower = _lower(text)
        text = _without(text, [match.span() for form in self._folded for match in form.finditer(lower)])
        for key, pattern in self._short:
            if key in text:
                text = pattern.sub(MARK, text)
        for piece, pattern, is_start in self._ends:
            if piece in text:
                # Backwards for the end of a key, so that the text before it is read only once.
                text = pattern.sub(MARK, text) if is_start else pattern.sub(MARK[::-1], text[::-1])[::-1]
        return _without_shapes(text)


def _without_shapes(text: str) -> str:
    spans = []
    lower = _lower(text)
    for words, folded, pattern in _SHAPES:
        for word in words:
            searched = lower if folded else text
            place = searched.find(word)
            while place >= 0:
                match = pattern.match(text, place)
                if match:
                    spans.append(match.span())
                # Continue behind a match, so that a text of nothing but such words is read only once.
                place = searched.find(word, match.end() if match else place + 1)
    return _without(text, spans)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text with a mark in place of each span; overlapping spans get one mark."""
    if not spans:
        return text
    parts = []
    end = 0
    for start, stop in sorted(spans):
        if start >= end:
            parts += [text[end:start], MARK]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def _lower(text: str) -> str:
    """Return the text in lower case, with every character at its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL_LETTERS)


def _forms(key: str) -> set[str]:
    """Return the forms of a key: plain, escaped and encoded."""
    whole = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1].replace("/", "\\/")}
    whole |= {quote(key, safe=""), quote(key), quote_plus(key)}
    data = key.encode()
    return whole | {data.hex(), data.hex().upper()} | _base64_forms(data)


def _ends(key: str) -> list[tuple[str, re.Pattern[str], bool]]:
    """Return start and end of a key, which providers may echo, as (text, pattern, whether it is the start).

    The pattern of the end is for reversed text.
    """
    if len(key) < 2 * _PIECE:
        return []
    start, end = key[:_PIECE], key[-_PIECE:]
    from_start = re.compile(rf"{re.escape(start)}[^\s\"'<>]*")
    from_end = re.compile(rf"{re.escape(end[::-1])}[A-Za-z0-9_\-*.…]*")
    return [(start, from_start, True), (end, from_end, False)]


def _base64_forms(data: bytes) -> set[str]:
    """Return the part of a key's base64 form that does not depend on its position in a longer text."""
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        start = (0, 2, 3)[before]
        end = len(encoded) - (1 if (before + len(data)) % 3 else 0)
        middle = encoded[start:end]
        forms |= {middle, middle.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= _SHORT}


def keep_keys_out_of_errors(redact: Callable[[str], str]) -> None:
    """Remove keys from standard error: from log records and uncaught exceptions."""

    class Keyless(logging.Formatter):
        """Formats a record as usual, without keys."""

        def format(self, record: logging.LogRecord) -> str:
            return redact(super().format(record))

    def tell(error: BaseException | None) -> None:
        if error is not None and sys.stderr is not None:
            sys.stderr.write(redact("".join(traceback.format_exception(error))))

    if logging.lastResort is not None:
        logging.lastResort.setFormatter(Keyless())
    # A debugger's own hook stays.
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = lambda _kind, error, _trace: tell(error)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda found: tell(found.exc_value)


class FaultLog(logging.Handler):
    """Writes log records to `moot.log` in a folder, and not to standard error; `redact` removes keys."""

    def __init__(self, folder: Path, redact: Callable[[str], str]) -> None:
        super().__init__(logging.WARNING)
        self._log = HostLog(folder / "moot.log", redact)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        # A record that cannot be written must not become a fault of its own.
        with contextlib.suppress(Exception):
            self._log.write(self.format(record))

    def close(self) -> None:
        """Write what is left, and take no more records."""
        logging.getLogger().removeHandler(self)
        self._log.wait()
        super().close()
