"""Reads one address of the web within limits: checked addresses, redirects, size, time.

`web_fetch` and `web_search` use it, in the tool host. A name is resolved once, what it resolves to
is checked, and the connection goes to just that; each redirect is checked like a first address.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import aiohttp
import certifi
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from app.tools.tool_host.addresses import AddressPolicy
from app.tools.tool_host.services import ServiceError

MAX_BYTES: Final = 5_000_000
MAX_ADDRESS_CHARACTERS: Final = 4_000
MAX_REDIRECTS: Final = 5
TIME_LIMIT_S: Final = 20.0

_USER_AGENT = "Mozilla/5.0 (compatible; Moot; reads a page for one person)"
_REDIRECTS = (301, 302, 303, 307, 308)
_READ_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a request may take: seconds for all of it, bytes once unpacked, redirects."""

    seconds: float = TIME_LIMIT_S
    size: int = MAX_BYTES
    redirects: int = MAX_REDIRECTS


LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Download:
    """What came from an address: the last one after redirects, the type and charset it claims, the bytes."""

    url: str
    content_type: str
    charset: str
    data: bytes


class _CheckedResolver(ThreadedResolver):
    """Gives only addresses that the policy allows."""

    def __init__(self, policy: AddressPolicy) -> None:
        super().__init__()
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        for one in found:
            _check_address(host, one["host"], self._policy)
        return found


async def download(
    address: str,
    *,
    policy: AddressPolicy,
    limits: Limits,
    accepts: tuple[str, ...],
    query: Mapping[str, str] | None = None,
) -> Download:
    """Read an address. `accepts` are the types it may have: `text/html`, or `text/` for all of a kind.

    An answer without a type passes as `""`. Raises ServiceError with words for whatever goes wrong.
    """
    url = checked_url(address)
    if query:
        url = url.update_query(query)
    try:
        async with asyncio.timeout(limits.seconds):
            # Hundreds of certificates are read from files, the first time.
            certificates = await asyncio.to_thread(_certificates)
            async with _session(policy, certificates) as session:
                return await _follow(session, url, policy, limits, accepts)
    except TimeoutError:
        raise ServiceError(f"{shown(url)} did not answer within {limits.seconds:g} seconds.") from None
    except aiohttp.ClientConnectorDNSError:
        raise ServiceError(f"There is no server named {url.host!r}, or the network is down.") from None
    except aiohttp.ClientConnectorCertificateError:
        raise ServiceError(f"{shown(url)} has no valid certificate, so it was not read.") from None
    except aiohttp.ClientError as error:
        raise ServiceError(f"{shown(url)} could not be read: {_words(error)}") from None
    except (OSError, ValueError) as error:
        raise ServiceError(f"{shown(url)} could not be read: {_words(error)}") from None


def checked_url(address: str) -> URL:
    """Return a web address as it will be asked for.

    Raises ServiceError for anything but http(s)://host[:port][/path][?query].
    """
    text = address.strip()
    if not text:
        raise ServiceError("The address is empty; give one that starts with https:// or http://.")
    if len(text) > MAX_ADDRESS_CHARACTERS:
        raise ServiceError(f"The address is longer than {MAX_ADDRESS_CHARACTERS:,} characters.")
    try:
        url = URL(text)
        usable = url.scheme in ("http", "https") and bool(url.host) and url.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in text):
        raise ServiceError(
            f"Not a web address: {text[:200]!r}; give one that starts with https:// or http://."
        )
    if url.user is not None or url.password is not None:
        raise ServiceError("The address holds a name or password; give it without.")
    return url.with_fragment(None)


def shown(url: URL) -> str:
    """Return an address for a text, cut where it is long."""
    text = str(url)
    return text if len(text) <= 200 else text[:200] + "…"


@cache
def _certificates() -> ssl.SSLContext:
    """Return what servers are known by: the system's certificates, and those that came with Python's packages."""
    context = ssl.create_default_context()
    # A Python that was built elsewhere does not find the system's.
    context.load_verify_locations(certifi.where())
    return context


def _session(policy: AddressPolicy, certificates: ssl.SSLContext) -> aiohttp.ClientSession:
    # No proxy of the environment: behind one, the address that is connected to could not be checked.
    connector = aiohttp.TCPConnector(
        ssl=certificates, resolver=_CheckedResolver(policy), use_dns_cache=False, force_close=True, limit=1
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": _USER_AGENT, "Accept-Encoding": "gzip, deflate"},
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=False,
    )


async def _follow(
    session: aiohttp.ClientSession, url: URL, policy: AddressPolicy, limits: Limits, accepts: tuple[str, ...]
) -> Download:
    for _ in range(limits.redirects + 1):
        # A number in the address asks no resolver, so it is checked here.
        if url.host is not None and (":" in url.host or url.host.replace(".", "").isdigit()):
            _check_address(url.host, url.host, policy)
        async with session.get(url, allow_redirects=False) as response:
            if response.status not in _REDIRECTS:
                return await _read(response, limits, accepts)
            if not (target := response.headers.get("Location", "")):
                raise ServiceError(f"{shown(url)} sends on to nowhere (status {response.status}).")
            url = checked_url(str(url.join(URL(target))))
    raise ServiceError(f"{shown(url)} is one redirect too many; {limits.redirects} are followed.")


async def _read(response: aiohttp.ClientResponse, limits: Limits, accepts: tuple[str, ...]) -> Download:
    where = shown(response.url)
    if not 200 <= response.status < 300:
        raise ServiceError(f"{where} answered {response.status} {(response.reason or '')[:100]}.".strip())
    claimed = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if claimed == "application/pdf":
        raise ServiceError(f"{where} is a PDF file, which cannot be read yet; look for a web page instead.")
    if claimed and not any(claimed == one or (one[-1] == "/" and claimed.startswith(one)) for one in accepts):
        raise ServiceError(f"{where} is of the type {claimed[:100]!r}, which is no text and was not read.")
    data = bytearray()
    # What is packed is unpacked piece by piece, so that a bomb ends at the limit as well.
    async for piece in response.content.iter_chunked(_READ_BYTES):
        data += piece
        if len(data) > limits.size:
            raise ServiceError(f"{where} is larger than {limits.size / 1e6:g} MB and was not read.")
    return Download(str(response.url), claimed, response.charset or "", bytes(data))


def _check_address(host: str, address: str, policy: AddressPolicy) -> None:
    if not policy.allows(address):
        raise ServiceError(
            f"{host!r} is an address of this computer or of a private network, which web pages are not"
            " read from."
        )


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
