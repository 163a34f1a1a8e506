"""A chat as it was sent, in one form for all protocols, and the rules of tool calls that all share."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.wire.replies import WireCall

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_DATA_URL = re.compile(r"^data:([^;,]*);base64,(.*)$", re.DOTALL)
_BEGINS = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
PDF = "application/pdf"
# Of the models of a provider that takes PDF files, those that take none.
TEXT_ONLY = re.compile(r"gpt-3\.5|o1-mini|o3-mini|claude-(2|instant|3-(opus|haiku|sonnet))|-text$")

Refuse = Callable[[str], Exception]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One message of a request: `role` is user, assistant or tool; `result_of` the call a tool answers.

    Gemini's calls have no ids: theirs is the name of the function. `images` are media types, also of PDF files.
    """

    role: str
    text: str = ""
    calls: tuple[WireCall, ...] = ()
    result_of: str = ""
    images: tuple[str, ...] = ()


def check_calls(messages: Iterable[Seen], refuse: Refuse) -> None:
    """Raise unless every call has exactly one result, at once, and every result its call."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if message.result_of not in waiting:
                raise refuse(f"unexpected tool result, no call waits for it: {message.result_of}")
            waiting.remove(message.result_of)
            continue
        if waiting:
            raise refuse(f"tool calls without a tool result immediately after: {', '.join(waiting)}")
        for call in message.calls:
            if not NAME.match(call.name):
                raise refuse(f"name of a called function does not match {NAME.pattern}: {call.name}")
            if not _is_object(call.arguments):
                raise refuse(f"arguments of {call.name} are not a JSON object")
        waiting = [call.id for call in message.calls]
    if waiting:
        raise refuse(f"tool calls without a tool result immediately after: {', '.join(waiting)}")


def check_ids(messages: Iterable[Seen], refuse: Refuse) -> None:
    """Raise when two calls of one message have the same id."""
    for message in messages:
        ids = [call.id for call in message.calls]
        if len(set(ids)) < len(ids):
            raise refuse("tool call ids must be unique")


def check_tools(names: list[str], schemas: list[Any], refuse: Refuse) -> None:
    """Raise unless the functions have good names, each once, and take objects."""
    for name in names:
        if not NAME.match(name):
            raise refuse(f"name of a tool does not match {NAME.pattern}: {name}")
    if len(set(names)) < len(names):
        raise refuse("tool names must be unique")
    for schema in schemas:
        if not isinstance(schema, dict) or str(schema.get("type", "object")).lower() != "object":
            raise refuse("a tool's parameters must be of type object")


def check_image(media_type: str, data: str, known: tuple[str, ...], refuse: Refuse) -> None:
    """Raise unless the image is of a known kind and really base 64."""
    if media_type not in known:
        raise refuse(f"unsupported image media type: {media_type}; expected one of {', '.join(known)}")
    try:
        whole = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        whole = b""
    if not whole:
        raise refuse("could not decode the image's data")
    begins = _BEGINS.get(media_type, b"")
    if not whole.startswith(begins):
        raise refuse(f"the image does not appear to be {media_type}")


def check_pdf(data: str, refuse: Refuse) -> None:
    """Raise unless it is a PDF file, really base 64, that opens without a password."""
    try:
        whole = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        whole = b""
    if not whole.startswith(b"%PDF-"):
        raise refuse("The PDF specified was not valid.")
    if b"/Encrypt" in whole:
        raise refuse("The PDF specified is password protected.")


def media_of(url: str) -> tuple[str, str]:
    """Return the media type and the data of a data URL; both empty for any other address."""
    match = _DATA_URL.match(url)
    return (match[1], match[2]) if match else ("", "")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
