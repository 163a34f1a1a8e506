"""Keys of providers and secrets of MCP servers: from the keyring, the environment, or for this run only.

The keyring may wait for its user or not respond: callers wait for a limited time, and a later answer is still used.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from app.core.catalog import provider_kind
from app.core.errors import BadInput
from app.core.server_secrets import PLACE, to_hide
from app.core.store import KeyNews
from app.storage.redaction import Redactor
from app.storage.system_keyring import (
    DISMISSED,
    LOCKED,
    NO_KEYRING,
    NONE,
    OPEN,
    STOPPED,
    WAITING,
    Backend,
    KeyringAnswer,
    KeyringQueue,
    KeyringReading,
    Question,
    SystemKeyring,
    Take,
    default_backend,
)

SERVICE = "Moot"
TIMEOUT_SECONDS = 10.0
TOO_LONG = "too_long"
_WINDOWS_LIMIT = 1_200
_LONGEST = 20_000

KEYRING = "keyring"
ENVIRONMENT = "environment"
SESSION = "session"


def _nobody_listens(_place: str, _news: str) -> None:
    return None


class KeyringSecrets:
    """Keeps one key for each provider; `keyring_problem` says why the keyring's last operation failed.

    A provider is named by its id, or by `id@server` if its address is not the usual one; a secret of an MCP
    server by its place, `mcp:server:field`, with an empty kind. Only the newest change of a place counts.
    `unread` says why places could not be read in the keyring; `takes_unasked` whether it stores without asking
    its user; `on_news` is called after a look-up, and with a place and the result when that comes late.
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
        self.on_news: Callable[[str, str], None] = _nobody_listens
        self._environment = dict(os.environ if environment is None else environment)
        self._queue = KeyringQueue(backend or default_backend, service, timeout)
        self._stored: dict[str, str] = {}
        self._session: dict[str, str] = {}
        self._changes: Counter[str] = Counter()
        self._looked_up: set[str] = set()
        self._redactor = Redactor()
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

    async def set(self, provider: str, key: str) -> bool:
        """Store a key; false if there is no keyring and the key lives for this run only.

        Raises BadInput for a key that is empty or cannot be one.
        """
        key = key.strip()
        if not key:
            raise BadInput("key_empty", provider=provider)
        if len(key) > _LONGEST or not key.isprintable() or not key.isascii():
            raise BadInput("key_invalid", provider=provider)
        return await self.keep(provider, key)

    async def keep(self, place: str, value: str) -> bool:
        """Store any text unchanged; false if it lives for this run only or is stored later.

        It takes effect at once. `keyring_problem` says why it is not stored.
        """
        self._know(place, value)
        self._session[place] = value
        if os.name == "nt" and len(value) > _WINDOWS_LIMIT:
            self.keyring_problem = TOO_LONG
            return False
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
            self._take_change(
                provider, answer, late, KeyNews.REMOVED if answer.value else KeyNews.NOT_REMOVED
            )

        answer = await self._queue.ask(delete, take)
        if answer.value or answer.problem == NO_KEYRING:
            return True
        self._note(answer.problem or LOCKED)
        # A keyring that always fails, and never returned a key, has none.
        return answer.problem == STOPPED and not answer.pending and stored is None

    def redact(self, text: str) -> str:
        """Return the text with every known key and key-like string removed."""
        return self._redactor.redact(text)

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
        for name in (
            row.variable if row and (not server or row.is_own(server)) else "",
            variable_name(provider_id),
        ):
            key = self._environment.get(name, "").strip() if name else ""
            if key:
                return key, ENVIRONMENT
        return None, ""

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
    return "MOOT_KEY_" + "".join(
        character if character.isascii() and character.isalnum() else "_" for character in provider.upper()
    )


def _user(provider: str) -> str:
    return provider if provider.startswith(PLACE) else f"provider:{provider}"
