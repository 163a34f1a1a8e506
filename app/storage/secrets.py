"""Keys, and secrets of MCP servers: in the system's keyring, else in the environment, else for this run only.

Used by the engine and, for its `redact`, by whoever shows or stores a text from outside. A keyring
may wait for a person to unlock it, so it is asked in a thread and with a time limit.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from app.core.catalog import provider_kind
from app.core.errors import BadInput
from app.core.server_secrets import PLACE, to_hide
from app.storage.redaction import Redactor
from app.storage.threads import run_in_thread

Result = TypeVar("Result")

SERVICE = "Moot"
TIMEOUT_SECONDS = 10.0
_WINDOWS_LIMIT = 1_200
_LONGEST = 20_000

KEYRING = "keyring"
ENVIRONMENT = "environment"
SESSION = "session"


class KeyringSecrets:
    """Keeps one key a provider; `keyring_problem` says why keys live for this run only, "" when they do not.

    A provider is named by its id, and as `id@server` where it is asked at another than its usual server; a
    secret of an MCP server by its place, `mcp:server:field`, and no kind.
    """

    def __init__(
        self,
        *,
        backend: Callable[[], Any] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
        service: str = SERVICE,
    ) -> None:
        self.keyring_problem = ""
        self._backend = backend or _system_backend
        self._environment = dict(os.environ if environment is None else environment)
        self._timeout = timeout
        self._service = service
        self._stored: dict[str, str] = {}
        self._session: dict[str, str] = {}
        self._redactor = Redactor()
        self._asking: threading.Lock = threading.Lock()
        self._stuck: Future[Any] | None = None
        for name, value in self._environment.items():
            if name.startswith(variable_name(PLACE)):
                self.hide((value,))
            elif name.startswith("MOOT_KEY_") or name.endswith("_API_KEY"):
                self._redactor.add(value)

    def get(self, provider: str, kind: str) -> str | None:
        """Return a provider's key as already looked up; never blocks."""
        return self._find(provider, kind)[0]

    def source(self, provider: str, kind: str) -> str:
        """Say where the key comes from: keyring, environment, session, or "" for none."""
        return self._find(provider, kind)[1]

    async def refresh(self, providers: tuple[tuple[str, str], ...]) -> None:
        """Look up the keys of (provider id, kind) pairs off the loop's thread."""

        def read(backend: Any) -> dict[str, str]:
            found = {}
            for provider, _ in providers:
                key = backend.get_password(self._service, _user(provider))
                if key:
                    found[provider] = key
            return found

        if not providers:
            return
        found = await self._ask(read)
        if found is None:
            return
        for provider, _ in providers:
            self._stored.pop(provider, None)
        self._stored.update(found)
        for provider, key in found.items():
            self._know(provider, key)

    async def set(self, provider: str, key: str) -> bool:
        """Store a key; false when there is no keyring and it lives for this run only.

        Raises BadInput for a key that is empty or cannot be one.
        """
        key = key.strip()
        if not key:
            raise BadInput("key_empty", provider=provider)
        if len(key) > _LONGEST or not key.isprintable() or not key.isascii():
            raise BadInput("key_invalid", provider=provider)
        return await self.keep(provider, key)

    async def keep(self, place: str, value: str) -> bool:
        """Store any text, to the letter; false when there is no keyring and it lives for this run only."""
        self._know(place, value)
        if os.name == "nt" and len(value) > _WINDOWS_LIMIT:
            self.keyring_problem = "too_long"
            self._session[place] = value
            return False

        def write(backend: Any) -> bool:
            backend.set_password(self._service, _user(place), value)
            # A keyring that swallows keys (the null one) is none.
            return bool(backend.get_password(self._service, _user(place)) == value)

        if await self._ask(write):
            self._stored[place] = value
            self._session.pop(place, None)
            return True
        self.keyring_problem = self.keyring_problem or "no_keyring"
        self._session[place] = value
        return False

    def hide(self, texts: Iterable[str]) -> None:
        """Take these texts out of every other from now on; they are not kept here."""
        for text in texts:
            self._redactor.add_whole(text)

    async def remove(self, provider: str) -> bool:
        """Forget a key; false where the keyring has it still: it is locked, or does not answer."""

        def delete(backend: Any) -> bool:
            from keyring.errors import PasswordDeleteError

            with contextlib.suppress(PasswordDeleteError):  # There was none, or the user said no.
                backend.delete_password(self._service, _user(provider))
            return backend.get_password(self._service, _user(provider)) is None

        self._session.pop(provider, None)
        stored = self._stored.pop(provider, None)
        gone = await self._ask(delete)
        if gone or (gone is None and stored is None):
            return True
        if stored is not None:
            self._stored[provider] = stored
        return False

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
        # The variable its users know is for the usual server; no other one is sent that key.
        for name in (row.variable if row and not server else "", variable_name(provider_id)):
            key = self._environment.get(name, "").strip() if name else ""
            if key:
                return key, ENVIRONMENT
        return None, ""

    async def _ask(self, question: Callable[[Any], Result]) -> Result | None:
        """Put a question to the keyring; None, with `keyring_problem` set, when it does not answer."""
        if self._stuck is not None and not self._stuck.done():
            self.keyring_problem = "timeout"
            return None

        def work() -> Result | str:
            with self._asking:
                backend = usable_backend(self._backend())
                return "no_keyring" if backend is None else question(backend)

        future = run_in_thread(work, "moot-keyring")
        try:
            answer = await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), self._timeout)
        except TimeoutError:
            self._stuck = future
            self.keyring_problem = "timeout"
            return None
        except Exception as error:  # A backend raises whatever its system's library does.
            self.keyring_problem = "locked" if type(error).__name__ == "KeyringLocked" else "no_keyring"
            return None
        if isinstance(answer, str):
            self.keyring_problem = answer
            return None
        self.keyring_problem = ""
        return answer


def variable_name(provider: str) -> str:
    """Return the environment variable of a provider's own: `MOOT_KEY_<ID>`."""
    return "MOOT_KEY_" + "".join(
        character if character.isascii() and character.isalnum() else "_" for character in provider.upper()
    )


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


def _system_backend() -> Any:
    import keyring

    return keyring.get_keyring()


def _user(provider: str) -> str:
    return provider if provider.startswith(PLACE) else f"provider:{provider}"
