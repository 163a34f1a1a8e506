"""The pieces of one answer: its tool calls put in order, its signed thinking, and the buffer that sends all of it."""

import asyncio
import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from app.core.pictures import MOST_PICTURES, BadPicture, PictureFault, picture_of
from app.providers.model_host.request import is_json
from app.providers.model_host.tool_schemas import TrueNames, renamed

MOST_CALLS = 128
MOST_ARGUMENT_CHARACTERS = 1_000_000
# The window paints 60 times a second; shorter pieces would cost a line each and not be seen.
_GATHER_SECONDS = 0.016
_PICTURE_PIECE = 2_000_000

Piece = tuple[int, str, str, str]


@dataclass(slots=True)
class _OpenCall:
    number: int
    id: str = ""
    name: str = ""
    characters: int = 0
    arguments: list[str] = field(default_factory=list)
    untold: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    announced: bool = False

    def add(self, arguments: str) -> None:
        """Add a piece of the arguments."""
        if arguments:
            self.arguments.append(arguments)
            self.untold += arguments
            self.characters += len(arguments)


class Calls:
    """The tool calls of one answer, each with a number and an id of its own.

    The numbers give the order in which the calls are meant, which need not be that in which they arrive.

    Keeps the first 128 calls and the first million characters of their arguments, so that a broken model cannot fill
    the log; cut arguments are invalid JSON, which the model is told. `characters` counts everything that came.
    The arguments of the functions in `true_names` come as a whole at the end.
    """

    def __init__(self, true_names: Mapping[str, TrueNames] | None = None) -> None:
        self._true_names = true_names or {}
        self._calls: list[_OpenCall] = []
        self._at: dict[int, _OpenCall] = {}
        self._dropped = _OpenCall(-1)
        self.characters = 0

    def __len__(self) -> int:
        return len(self._calls)

    def take(self, deltas: Iterable[Any]) -> list[Piece]:
        """Add LiteLLM's pieces; return the new ones. Only a call's first piece has an id and a name."""
        pieces: list[Piece] = []
        for delta in deltas:
            function = getattr(delta, "function", None)
            name = getattr(function, "name", None) or ""
            arguments = getattr(function, "arguments", None) or ""
            self.characters += len(name) + len(arguments)
            call = self._call(delta.index or 0, getattr(delta, "id", None) or "", name)
            if call is self._dropped:
                continue
            call.name = call.name or name
            call.extra |= _beside(delta)
            call.add(arguments[: MOST_ARGUMENT_CHARACTERS - call.characters])
            pieces += self._news(call)
        return pieces

    def extras(self) -> list[dict[str, Any]]:
        """Return what came with each call beside its id, name and arguments, in the order of the calls."""
        return [call.extra for call in sorted(self._calls, key=lambda call: call.number)]

    def rest(self) -> list[Piece]:
        """Return the calls that never got a name, and what was kept for the end."""
        for call in self._calls:
            if names := self._true_names.get(call.name):
                call.untold = renamed("".join(call.arguments), names.restored)
        return [piece for call in self._calls for piece in self._news(call, last=True)]

    def _call(self, index: int, call_id: str, name: str) -> _OpenCall:
        call = self._at.get(index)
        if call is None or self._begins(call, call_id, name):
            if len(self._calls) >= MOST_CALLS:
                call = self._dropped
            else:
                taken = {other.id for other in self._calls}
                fresh = call_id if call_id and call_id not in taken else ""
                numbers = {other.number for other in self._calls}
                number = index if index not in numbers else max(numbers) + 1
                call = _OpenCall(number, fresh)
                self._calls.append(call)
            self._at[index] = call
        elif call_id and not call.id and not call.announced:
            call.id = call_id
        return call

    @staticmethod
    def _begins(call: _OpenCall, call_id: str, name: str) -> bool:
        # Some servers number every call 0, some send no ids, some repeat id and name with each piece.
        if call_id and call.id:
            return call_id != call.id
        return bool(name) and bool(call.name) and (name != call.name or is_json("".join(call.arguments)))

    def _news(self, call: _OpenCall, last: bool = False) -> list[Piece]:
        waits = not last and call.name in self._true_names
        if not call.announced:
            if not call.name and not last:
                return []
            call.announced = True
            call.id = call.id or f"call_{uuid4().hex[:24]}"
            piece = call.number, call.id, call.name, "" if waits else call.untold
        elif call.untold and not waits:
            piece = call.number, "", "", call.untold
        else:
            return []
        call.untold = ""
        return [piece]


def _beside(delta: Any) -> dict[str, Any]:
    extra = getattr(delta, "model_extra", None) or {}
    return {name: value for name, value in extra.items() if value is not None}


class SignedThinking:
    """The thinking blocks of one answer that Anthropic signs and wants back unchanged while tools run."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Any]] = []
        self._text: list[str] = []
        self.characters = 0

    def add(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        """Add pieces: text, the signature that ends a block, or a whole redacted block."""
        for piece in pieces:
            self.characters += sum(len(piece.get(name) or "") for name in ("thinking", "data", "signature"))
            if piece.get("type") == "redacted_thinking":
                self._blocks.append({"type": "redacted_thinking", "data": piece.get("data") or ""})
                continue
            self._text.append(piece.get("thinking") or "")
            if signature := piece.get("signature"):
                block = {"type": "thinking", "thinking": "".join(self._text), "signature": signature}
                self._blocks.append(block)
                self._text.clear()

    def state(self) -> dict[str, Any] | None:
        """Return what the next request must contain; thinking without a signature must not be sent back."""
        return {"thinking_blocks": self._blocks} if self._blocks else None


class AnswerPictures:
    """The pictures of one answer, checked and without metadata, and what of each provider must be sent back with them."""

    def __init__(self) -> None:
        self._kept = 0
        self.lost: list[str] = []
        self.signatures: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._kept)

    def take(self, images: Iterable[Any]) -> list[tuple[str, str]]:
        """Return the media type and the data in base 64 of those that can be kept. Loads nothing by its address."""
        kept: list[tuple[str, str]] = []
        for image in images:
            address = image.get("image_url") if isinstance(image, Mapping) else None
            address = address.get("url") if isinstance(address, Mapping) else address
            if self._kept >= MOST_PICTURES:
                self.lost.append(PictureFault.TOO_MANY)
                continue
            try:
                media_type, data = picture_of(address if isinstance(address, str) else "")
            except BadPicture as error:
                self.lost.append(error.fault)
                continue
            self._kept += 1
            kept.append((media_type, base64.b64encode(data).decode("ascii")))
        return kept

    def note_signatures(self, fields: object) -> None:
        """Remember the signatures that Gemini wants back when a picture is edited."""
        signatures = fields.get("thought_signatures") if isinstance(fields, Mapping) else None
        if isinstance(signatures, list):
            self.signatures += [one for one in signatures if isinstance(one, str)]

    def state(self) -> dict[str, Any] | None:
        """Return what the next request must contain."""
        return {"thought_signatures": self.signatures} if self._kept and self.signatures else None


class DeltaBuffer:
    """Sends the first piece of an answer at once and later ones together, at most 16 ms later.

    `write` takes the lines.
    """

    def __init__(self, write: Callable[[Mapping[str, object]], None], opener: str = "") -> None:
        self._write = write
        self._opener = opener
        self._loop = asyncio.get_running_loop()
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: dict[int, list[str]] = {}
        self._sent_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.characters = 0
        self.spoke = False

    def add(self, text: str, thinking: str) -> None:
        """Add a piece of text and of thinking."""
        self._begin()
        if self._calls:
            # The calls of a line follow its text, but this text follows the calls.
            self._send()
        if text:
            self._text.append(text)
            self.characters += len(text)
        if thinking:
            self._thinking.append(thinking)
        self._send_soon()

    def add_calls(self, pieces: list[Piece]) -> None:
        """Add pieces of tool calls."""
        self._begin()
        for number, call_id, name, arguments in pieces:
            call = self._calls.setdefault(number, ["", "", ""])
            for at, piece in enumerate((call_id, name, arguments)):
                call[at] += piece
        self._send_soon()

    def tell_quirks(self, quirks: dict[str, Any]) -> None:
        """Send how the model must be asked from now on."""
        self._write({"quirks": quirks})

    def add_picture(self, number: int, media_type: str, data: str) -> None:
        """Send a picture in lines short enough to be read at once; `data` is in base 64."""
        self._begin()
        self._send()
        for at in range(0, len(data), _PICTURE_PIECE):
            piece = [number, "" if at else media_type, data[at : at + _PICTURE_PIECE]]
            self._write({"images": [piece]})

    def _begin(self) -> None:
        if not self.spoke:
            self.spoke = True
            if self._opener:
                self._write({"text": self._opener})

    def _send_soon(self) -> None:
        if self._timer is not None:
            return
        wait = self._sent_at + _GATHER_SECONDS - self._loop.time()
        if wait <= 0:
            self._send()
        else:
            self._timer = self._loop.call_later(wait, self._on_time)

    def close(self) -> None:
        """Send the rest."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._send(last=True)

    def _on_time(self) -> None:
        self._timer = None
        self._send()

    def _send(self, last: bool = False) -> None:
        text = "".join(self._text)
        self._text.clear()
        if not last and (half := _half_at_end(text)):
            self._text.append(half)
            text = text[:-1]
        line: dict[str, object] = {}
        if text:
            line["text"] = text
        if self._thinking:
            line["thinking"] = "".join(self._thinking)
            self._thinking.clear()
        if calls := self._taken_calls(last):
            line["calls"] = calls
        if line:
            self._write(line)
            self._sent_at = self._loop.time()

    def _taken_calls(self, last: bool) -> list[list[int | str]]:
        calls, self._calls = self._calls, {}
        taken: list[list[int | str]] = []
        for number, (call_id, name, arguments) in calls.items():
            half = "" if last else _half_at_end(arguments)
            if half:
                self._calls[number] = ["", "", half]
            if call_id or arguments != half:
                taken.append([number, call_id, name, arguments.removesuffix(half)])
        return taken


def _half_at_end(text: str) -> str:
    """Return the first half of a surrogate pair at the end of a text, which must wait for its second half."""
    return text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
