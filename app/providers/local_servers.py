"""Finds the servers of models on this computer and recognises them by their answers; used by `RemoteModels`.

Sends only GET requests, to loopback addresses, over a plain socket without proxy and redirects. Any program may
listen on such a port, so the answers are limited and cleaned.
"""

import asyncio
import ipaddress
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from app.core.catalog import LocalServer, chat_models
from app.core.provider import FoundServer
from app.core.text import clean_text

MODELS = "/v1/models"
UNNAMED = LocalServer(name="", kind="openai-compatible", address="", path="", sign="")
_MOST_BYTES = 1_000_000
_MOST_MODELS = 20_000
_LONGEST_NAME = 200
_REFUSED = (401, 403)


async def find_servers(rows: Sequence[LocalServer], seconds: float) -> tuple[FoundServer, ...]:
    """Return the servers that answer within this many seconds."""
    found = await asyncio.gather(*(_look(row, rows, seconds) for row in rows))
    return tuple(one for one in found if one is not None)


def clean_name(name: object) -> str:
    """Return a model's name without characters that cannot be shown, "" for anything that is no name."""
    text = clean_text(name).strip() if isinstance(name, str) else ""
    return text if text.isprintable() and len(text) <= _LONGEST_NAME else ""


def clean_names(names: Iterable[object]) -> tuple[str, ...]:
    """Return the usable names of a list, each once; the first 20,000 of a longer list."""
    return tuple(dict.fromkeys(filter(None, map(clean_name, names))))[:_MOST_MODELS]


async def _look(row: LocalServer, rows: Sequence[LocalServer], seconds: float) -> FoundServer | None:
    try:
        async with asyncio.timeout(seconds):
            return await _recognise(row, rows)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
        return None


async def _recognise(row: LocalServer, rows: Sequence[LocalServer]) -> FoundServer | None:
    """Return the server at a row's address: the row's, another known one in its place, or one without a name."""
    status, listing = await _get(row.address, MODELS)
    models = _names(listing) if status == 200 else None
    listed = listing if models is not None else ""
    shown = listed if row.path == MODELS else (await _get(row.address, row.path))[1]
    if re.search(row.sign, shown):
        known: LocalServer | None = row
    else:
        known = next((one for one in rows if one.path == MODELS and re.search(one.sign, listed)), None)
    if status in _REFUSED and known is row and row.path != MODELS:
        return FoundServer(name=row.name, kind=row.kind, address=row.address, models=(), needs_key=True)
    if not models:
        return None
    known = known or UNNAMED
    return FoundServer(name=known.name, kind=known.kind, address=row.address, models=models)


def _names(listing: str) -> tuple[str, ...] | None:
    """Return the chat models of an OpenAI-compatible list, None if the text is no such list."""
    try:
        body: Any = json.loads(listing)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or body.get("object") != "list" or not isinstance(body.get("data"), list):
        return None
    return chat_models(clean_names(row.get("id") for row in body["data"] if isinstance(row, dict)))


async def _get(address: str, path: str) -> tuple[int, str]:
    """Return the status and body of a GET. Raises OSError, and ValueError if the answer is not HTTP."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or 80
    if not ipaddress.ip_address(host).is_loopback:
        raise ValueError(f"not on this computer: {host}")
    reader, writer = await asyncio.open_connection(host, port, limit=_MOST_BYTES)
    try:
        # With HTTP/1.0 the body ends when the connection closes.
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\nAccept: */*\r\n\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        body = await _body(reader, head)
    except asyncio.LimitOverrunError as error:
        raise ValueError("an answer without an end") from error
    finally:
        writer.close()
    status = re.match(r"HTTP/1\.[01] (\d{3})\b", head)
    if status is None:
        raise ValueError("not HTTP")
    return int(status[1]), body.decode("utf-8", "replace")


async def _body(reader: asyncio.StreamReader, head: str) -> bytes:
    """Read as many bytes as were announced, or until the end. Raises ValueError for a body that is too long."""
    length = re.search(r"^content-length:\s*(\d{1,12})\s*$", head, re.IGNORECASE | re.MULTILINE)
    wanted = int(length[1]) if length else _MOST_BYTES + 1
    if length and wanted > _MOST_BYTES:
        raise ValueError("too long")
    body = b""
    while len(body) < wanted and (piece := await reader.read(65_536)):
        body += piece
    if len(body) > _MOST_BYTES:
        raise ValueError("too long")
    return body
