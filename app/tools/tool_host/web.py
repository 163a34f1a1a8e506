"""The web: downloads one address within limits (allowed addresses, redirects, size, time), reads a page,
searches.

A name is resolved once, its addresses are checked, and the connection goes to exactly these; each redirect is
checked like the first address. The main text of a page becomes Markdown, in the process that reads files; a
search asks one of ENGINES, or a SearXNG server.
"""

import asyncio
import base64
import codecs
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

import aiohttp
import certifi
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from app.children.host_client import child_answer
from app.children.processes import FILE_READER
from app.core.json_values import object_in, objects_in
from app.core.texts import clean_text
from app.core.tool import ToolError

# Clouds (Azure, Oracle) serve their secrets at these addresses, which Python considers public.
_METADATA = (IPv4Network("168.63.129.16/32"), IPv4Network("192.0.0.0/24"))
# In networks without IPv4, IPv4 addresses are reached through this prefix.
_NAT64 = IPv6Network("64:ff9b::/96")
MAX_ADDRESS_CHARACTERS: Final = 4_000
_USER_AGENT = "Mozilla/5.0 (compatible; Moot; reads a page for one person)"
_REDIRECTS = (301, 302, 303, 307, 308)
_READ_BYTES = 1 << 16

Types = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Allows public addresses and those in `named`; or any address, for the user's own server."""

    anywhere: bool = False
    named: frozenset[str] = frozenset()

    def allows(self, address: str) -> bool:
        """Return whether an IP address, as text without brackets, may be connected to."""
        if self.anywhere or address in self.named:
            return True
        try:
            return _is_public(ip_address(address))
        except ValueError:
            return False


PUBLIC: Final = AddressPolicy()


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is on the public internet, also when it is wrapped in another one."""
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        wrapped = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            wrapped = IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return _is_public(wrapped)
        if address.is_site_local:
            return False
    special = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not special and not any(address in network for network in _METADATA)


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Limits of a download: seconds for all of it, bytes after decompression, redirects."""

    seconds: float = 20.0
    size: int = 5_000_000
    redirects: int = 5


LIMITS: Final = WebLimits()


@dataclass(frozen=True, slots=True)
class Download:
    """A download: the final address, the content type and charset of the answer, and its bytes."""

    url: str
    content_type: str
    charset: str
    data: bytes


class _CheckedResolver(ThreadedResolver):
    """A resolver that refuses addresses the policy does not allow."""

    def __init__(self, policy: AddressPolicy) -> None:
        super().__init__()
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        for item in found:
            _check_address(host, item["host"], self._policy)
        return found


async def download(
    address: str,
    *,
    policy: AddressPolicy,
    limits: WebLimits,
    accepts: Types,
    query: Mapping[str, str] | None = None,
) -> Download:
    """Download an address.
    `accepts` are the allowed content types: `text/html`, or `text/` for all text types.

    An answer without a type is accepted as `""`. Raises ToolError.
    """
    url = checked_url(address)
    if query:
        url = url.update_query(query)
    try:
        async with asyncio.timeout(limits.seconds):
            # The first time, hundreds of certificates are read from files.
            certificates = await asyncio.to_thread(_certificates)
            async with _session(policy, certificates) as session:
                return await _follow(session, url, policy, limits, accepts)
    except TimeoutError:
        raise ToolError(f"{shown(url)} did not answer within {limits.seconds:g} seconds.") from None
    except aiohttp.ClientConnectorDNSError:
        raise ToolError(f"There is no server named {url.host!r}, or the network is down.") from None
    except aiohttp.ClientConnectorCertificateError:
        raise ToolError(f"{shown(url)} has no valid certificate, so it was not read.") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise ToolError(f"{shown(url)} could not be read: {_words(error)}") from None


def checked_url(address: str) -> URL:
    """Return a web address as it will be requested.

    Raises ToolError for anything but http(s)://host[:port][/path][?query].
    """
    text = address.strip()
    if not text:
        raise ToolError("The address is empty; give one that starts with https:// or http://.")
    if len(text) > MAX_ADDRESS_CHARACTERS:
        raise ToolError(f"The address is longer than {MAX_ADDRESS_CHARACTERS:,} characters.")
    try:
        url = URL(text)
        # A space in the path or the query is percent-encoded, one in the host is none of a web address.
        usable = url.scheme in ("http", "https") and " " not in (url.host or " ") and url.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() and character != " " for character in text):
        raise ToolError(f"Not a web address: {text[:200]!r}; give one that starts with https:// or http://.")
    if url.user is not None or url.password is not None:
        raise ToolError("The address holds a name or password; give it without.")
    return url.with_fragment(None)


def shown(url: URL) -> str:
    """Return an address to show, shortened if it is long."""
    text = str(url)
    return text if len(text) <= 200 else text[:200] + "…"


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates: the system's, and those of the package certifi."""
    context = ssl.create_default_context()
    # A Python that was built elsewhere does not find the system's certificates.
    context.load_verify_locations(certifi.where())
    return context


def _session(policy: AddressPolicy, certificates: ssl.SSLContext) -> aiohttp.ClientSession:
    # No proxy: behind a proxy the address of the server could not be checked.
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
    session: aiohttp.ClientSession, url: URL, policy: AddressPolicy, limits: WebLimits, accepts: Types
) -> Download:
    for _ in range(limits.redirects + 1):
        # A numeric address is not resolved, so it is checked here.
        if url.host is not None and (":" in url.host or url.host.replace(".", "").isdigit()):
            _check_address(url.host, url.host, policy)
        async with session.get(url, allow_redirects=False) as response:
            if response.status not in _REDIRECTS:
                return await _read(response, limits, accepts)
            if not (target := response.headers.get("Location", "")):
                raise ToolError(f"{shown(url)} sends on to nowhere (status {response.status}).")
            url = checked_url(str(url.join(URL(target))))
    raise ToolError(f"{shown(url)} is one redirect too many; {limits.redirects} are followed.")


async def _read(response: aiohttp.ClientResponse, limits: WebLimits, accepts: Types) -> Download:
    where = shown(response.url)
    if not 200 <= response.status < 300:
        raise ToolError(f"{where} answered {response.status} {(response.reason or '')[:100]}.".strip())
    claimed = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if claimed == "application/pdf":
        raise ToolError(f"{where} is a PDF file, which cannot be read yet; look for a web page instead.")
    if claimed and not any(claimed == one or (one[-1] == "/" and claimed.startswith(one)) for one in accepts):
        raise ToolError(f"{where} is of the type {claimed[:100]!r}, which is no text and was not read.")
    data = bytearray()
    # Decompressed piece by piece, so that a decompression bomb ends at the limit too.
    async for piece in response.content.iter_chunked(_READ_BYTES):
        data += piece
        if len(data) > limits.size:
            raise ToolError(f"{where} is larger than {limits.size / 1e6:g} MB and was not read.")
    return Download(str(response.url), claimed, response.charset or "", bytes(data))


def _check_address(host: str, address: str, policy: AddressPolicy) -> None:
    if not policy.allows(address):
        raise ToolError(
            f"{host!r} is an address of this computer or of a private network, which web pages are not"
            " read from."
        )


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


MAX_CHARACTERS: Final = 20_000

_OTHER_TEXTS = ("xhtml+xml", "xml", "json", "ld+json", "atom+xml", "rss+xml")
_ACCEPTS = ("text/", *(f"application/{kind}" for kind in _OTHER_TEXTS))


async def fetch(url: str, *, policy: AddressPolicy = PUBLIC, limits: WebLimits = LIMITS) -> dict[str, Any]:
    """Return a page's `url` (after redirects), `title` and `text` (Markdown), and a `note` if it was cut.

    Raises ToolError.
    """
    page = await download(url, policy=policy, limits=limits, accepts=_ACCEPTS)
    title, text = await _readable(page, limits.seconds)
    if not text:
        raise ToolError(f"{page.url[:200]} holds no text (it may need a browser that runs scripts).")
    note = ""
    if len(text) > MAX_CHARACTERS:
        note = f"Only the first {MAX_CHARACTERS:,} of {len(text):,} characters are shown."
    return {"url": page.url, "title": title, "text": text[:MAX_CHARACTERS], "note": note}


async def _readable(page: Download, seconds: float) -> tuple[str, str]:
    """Return a page's title, "" if it has none, and its main text, read by a process of its own,
    which can be ended.
    """
    if page.data.startswith(b"%PDF-"):
        raise ToolError(f"{page.url[:200]} is a PDF file, which cannot be read yet; look for a web page.")
    if b"\0" in page.data and not page.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ToolError(f"{page.url[:200]} is no text and was not read.")
    told = (page.charset, page.url, page.content_type)
    request = {"web_page": base64.b64encode(page.data).decode(), "told": told}
    try:
        async with asyncio.timeout(seconds):
            found = await child_answer(FILE_READER, request)
    except TimeoutError:
        raise ToolError(f"{page.url[:200]} takes too long to read; look for another page.") from None
    except OSError:
        found = None
    if found is None or "error" in found[0]:
        raise ToolError(f"{page.url[:200]} could not be read; look for another page.")
    return found[0]["title"], found[1].decode()


MAX_RESULTS: Final = 20

_MAX_TITLE = 200
_MAX_SNIPPET = 500
_MAX_ADDRESS = 1_000


# Names of the ddgs library.
ENGINES: Final = ("duckduckgo",)


async def search(query: str, engine: str, count: int, *, limits: WebLimits = LIMITS) -> dict[str, Any]:
    """Return `results`, at most `count`, the best first, each with `title`, `url` and `snippet`.

    `engine` is a name of ENGINES or the address of a SearXNG server. Raises ToolError.
    """
    count = max(1, min(count, MAX_RESULTS))
    if engine.startswith(("http://", "https://")):
        rows = await _searxng(query, engine, limits)
    else:
        if engine not in ENGINES:
            names = ", ".join(ENGINES)
            raise ToolError(
                f"There is no search engine {engine[:100]!r}; the settings take {names}"
                " or the address of a SearXNG server."
            )
        rows = await _ddgs(query, engine, count, limits)
    return {"results": [found for row in rows if (found := _result(row))][:count]}


async def _ddgs(query: str, engine: str, count: int, limits: WebLimits) -> list[Mapping[str, Any]]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    def ask() -> list[dict[str, Any]]:
        library = DDGS(timeout=max(1, int(limits.seconds / 2)))
        return library.text(query, backend=engine, region="wt-wt", max_results=count)

    try:
        async with asyncio.timeout(limits.seconds):
            rows = await asyncio.to_thread(ask)
    except (TimeoutError, TimeoutException):
        raise ToolError(f"{engine} did not answer in time; try again later.") from None
    except RatelimitException:
        raise ToolError(f"{engine} takes no more questions for now; wait, or use fewer.") from None
    except DDGSException as error:
        if "No results" in str(error):
            return []
        raise ToolError(f"{engine} could not be asked: {' '.join(str(error).split())[:200]}") from None
    return [{"title": row.get("title"), "url": row.get("href"), "content": row.get("body")} for row in rows]


async def _searxng(query: str, address: str, limits: WebLimits) -> list[Mapping[str, Any]]:
    # The user chose this address, so it may be on the user's own computer or network.
    own, direct = AddressPolicy(anywhere=True), replace(limits, redirects=0)
    asked, json = address.rstrip("/").removesuffix("/search") + "/search", ("application/json",)
    given = {"q": query, "format": "json"}
    answer = await download(asked, policy=own, limits=direct, accepts=json, query=given)
    rows = (object_in(answer.data) or {}).get("results")
    if not isinstance(rows, list):
        raise ToolError(f"{address[:200]} did not answer as a SearXNG server does (JSON with results).")
    return [*objects_in(rows)]


def _result(row: Mapping[str, Any]) -> dict[str, str] | None:
    """Return a result for the model, None if it has no web address."""
    url = row.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")) or len(url) > _MAX_ADDRESS:
        return None
    title, snippet = _line(row.get("title"), _MAX_TITLE), _line(row.get("content"), _MAX_SNIPPET)
    return {"title": title, "url": _line(url, _MAX_ADDRESS), "snippet": snippet}


def _line(text: object, longest: int) -> str:
    return " ".join(clean_text(text).split())[:longest] if isinstance(text, str) else ""


# What the parent asks for by name.
SERVICES: Final[Mapping[str, Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]]] = {
    "web_fetch": lambda given: fetch(given["url"]),
    "web_search": lambda given: search(given["query"], given["engine"], given["count"]),
}
