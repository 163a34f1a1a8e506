"""Makes one orderly list of the tool calls that every provider streams in its own way."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from app.providers.model_host.messages import is_json

MOST_CALLS = 128
MOST_ARGUMENT_CHARACTERS = 1_000_000

Piece = tuple[int, str, str, str]


@dataclass(slots=True)
class _Call:
    number: int
    id: str = ""
    name: str = ""
    characters: int = 0
    arguments: list[str] = field(default_factory=list)
    untold: str = ""
    announced: bool = False

    def add(self, arguments: str) -> None:
        """Take more of the arguments."""
        if arguments:
            self.arguments.append(arguments)
            self.untold += arguments
            self.characters += len(arguments)


class Calls:
    """Numbers the calls of one answer from 0 and gives each an id of its own.

    Of arguments only the first million characters are kept, of calls the first 128: a model that
    runs wild must not fill the log, and cut arguments are no JSON, which the model is then told.
    `characters` counts all that came.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._dropped = _Call(-1)
        self.characters = 0

    def __len__(self) -> int:
        return len(self._calls)

    def take(self, deltas: Iterable[Any]) -> list[Piece]:
        """Take LiteLLM's pieces; return what is new: number, id, name (with the first piece), arguments."""
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
            call.add(arguments[: MOST_ARGUMENT_CHARACTERS - call.characters])
            pieces += self._news(call)
        return pieces

    def rest(self) -> list[Piece]:
        """Return the calls that were begun and never named, as they are."""
        return [
            piece for call in self._calls if not call.announced for piece in self._news(call, anyway=True)
        ]

    def _call(self, index: int, call_id: str, name: str) -> _Call:
        call = self._at.get(index)
        if call is None or self._begins(call, call_id, name):
            if len(self._calls) >= MOST_CALLS:
                call = self._dropped
            else:
                taken = {other.id for other in self._calls}
                fresh = call_id if call_id and call_id not in taken else ""
                call = _Call(len(self._calls), fresh)
                self._calls.append(call)
            self._at[index] = call
        elif call_id and not call.id and not call.announced:
            call.id = call_id
        return call

    @staticmethod
    def _begins(call: _Call, call_id: str, name: str) -> bool:
        # Some servers number every call 0, some name no ids, some repeat id and name with each piece.
        if call_id and call.id:
            return call_id != call.id
        return bool(name) and bool(call.name) and (name != call.name or is_json("".join(call.arguments)))

    def _news(self, call: _Call, anyway: bool = False) -> list[Piece]:
        if not call.announced:
            if not call.name and not anyway:
                return []
            call.announced = True
            call.id = call.id or f"call_{uuid4().hex[:24]}"
            piece = call.number, call.id, call.name, call.untold
        elif call.untold:
            piece = call.number, "", "", call.untold
        else:
            return []
        call.untold = ""
        return [piece]
