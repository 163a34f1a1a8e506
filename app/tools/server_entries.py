"""The entries of MCP servers as the tool host needs them: with their secrets, and the tokens of their logins, in place; the keys of their tools."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from app.core.server_secrets import (
    LOGIN,
    is_login_to,
    login_texts,
    parted,
    resolved,
    secret_fields,
    secret_place,
    texts_to_hide,
)
from app.core.store import Secrets
from app.core.tool import McpServer, ServerProblem
from app.tools.tool_host_client import HostError

_LONGEST = 64
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


def tool_key(server: str, tool: str) -> str:
    """Return `<server>__<tool>` as providers accept it (^[a-zA-Z0-9_-]{1,64}$).

    If the names must be changed for that, a part of their hash keeps two keys apart.
    """
    key = f"{_FOREIGN.sub('_', server)}__{_FOREIGN.sub('_', tool)}"
    if key == f"{server}__{tool}" and len(key) <= _LONGEST and key.count("__") == 1:
        return key
    mark = sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{key[: _LONGEST - 9]}_{mark}"


def file_name(server: str) -> str:
    """Return a file name for a server that every file system accepts."""
    name = _FOREIGN.sub("_", server)[:40]
    mark = sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return name if name == server else f"{name}-{mark}"


class ServerEntries:
    """Reads the secrets of servers, and keeps the tokens of their logins; both are removed from every other text."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def whole(self, server: McpServer, client: Mapping[str, str]) -> dict[str, Any]:
        """Return a server's entry for the host, with its secrets in place, and the `client` that logs in. Raises HostError."""
        places = {field: secret_place(server.name, field) for field in secret_fields(server)}
        unknown = [place for place in places.values() if self._secrets.get(place, "") is None]
        await self._secrets.refresh(tuple((place, "") for place in unknown))
        found = {field: self._secrets.get(place, "") for field, place in places.items()}
        values = {field: value for field, value in found.items() if value is not None}
        if lacking := ", ".join(field for field in places if field not in values):
            raise HostError(f"Nothing is kept for: {lacking}", ServerProblem.NO_VALUE)
        hide = texts_to_hide(values | parted(server)[1])
        whole = resolved(server, values.get)
        login = await self._login(whole) if whole.url else ""
        hide = (*hide, *login_texts(login), *filter(None, (client.get("client_secret"),)))
        self._secrets.hide(hide)
        return {
            "name": whole.name,
            "command": whole.command,
            "args": list(whole.args),
            "env": dict(whole.env),
            "cwd": whole.cwd,
            "url": whole.url,
            "headers": dict(whole.headers),
            "secrets": list(hide),
            "login": login,
            "client": dict(client),
        }

    def is_logged_in(self, server: str) -> bool:
        """Say whether the tokens of a login are kept, as far as they were looked up."""
        return self._secrets.get(secret_place(server, LOGIN), "") is not None

    async def keep_login(self, server: str, text: str) -> None:
        """Keep what the host reports of a login."""
        self._secrets.hide(login_texts(text))
        await self._secrets.keep(secret_place(server, LOGIN), text)

    async def forget_login(self, server: str) -> bool:
        """Forget the tokens of a login; false where the keyring may still have them."""
        return await self._secrets.remove(secret_place(server, LOGIN))

    async def _login(self, server: McpServer) -> str:
        """Return what is kept of the login to a server, "" where that was to another address."""
        place = secret_place(server.name, LOGIN)
        if self._secrets.get(place, "") is None:
            await self._secrets.refresh(((place, ""),))
        kept = self._secrets.get(place, "") or ""
        return kept if is_login_to(kept, server.url) else ""
