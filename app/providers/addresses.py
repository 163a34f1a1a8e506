"""The address a provider is asked at: checked, and completed where users leave the path out."""

import asyncio
import ipaddress
from urllib.parse import urlsplit

from app.core.errors import BAD_REQUEST, ProviderError

_PATHS = {"openai": "/v1", "ollama": "/v1", "openai-compatible": "/v1", "gemini": "/v1beta"}


def complete_address(kind: str, address: str) -> str:
    """Return the address LiteLLM needs for this kind.

    Raises ProviderError (bad_request) for anything but http(s)://host[:port][/path].
    """
    text = address.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username or parts.query or parts.fragment or any(map(str.isspace, text)):
        raise ProviderError(BAD_REQUEST, f"not a usable address: {address[:200]!r}")
    if kind == "anthropic":
        return text.removesuffix("/v1")
    return text if parts.path else text + _PATHS.get(kind, "")


def is_near(address: str) -> bool:
    """Say whether an address is on this computer or in its own network."""
    host = urlsplit(address).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost"))


async def listens(address: str, seconds: float) -> bool:
    """Say whether a server takes a connection at an address within so many seconds."""
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    return True
