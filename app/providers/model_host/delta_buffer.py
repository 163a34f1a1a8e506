"""Gathers the pieces of one answer, so that a fast model does not cost a line a token."""

import asyncio

from app.children.pipes import Pipes
from app.providers.model_host.calls import Piece

_GATHER_SECONDS = 0.008


class Outlet:
    """Sends the first piece at once and later ones together, at most 8 ms old."""

    def __init__(self, pipes: Pipes, call_id: str, opener: str) -> None:
        self._pipes = pipes
        self._call_id = call_id
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
        """Take a piece of the answer."""
        self._begin()
        if self._calls:
            # A line's calls come after its words; these words come after the calls.
            self._send()
        if text:
            self._text.append(text)
            self.characters += len(text)
        if thinking:
            self._thinking.append(thinking)
        self._send_soon()

    def add_calls(self, pieces: list[Piece]) -> None:
        """Take pieces of tool calls."""
        self._begin()
        for number, call_id, name, arguments in pieces:
            call = self._calls.setdefault(number, ["", "", ""])
            for at, piece in enumerate((call_id, name, arguments)):
                call[at] += piece
        self._send_soon()

    def _begin(self) -> None:
        if not self.spoke:
            self.spoke = True
            if self._opener:
                self._pipes.write({"id": self._call_id, "text": self._opener})

    def _send_soon(self) -> None:
        if self._timer is not None:
            return
        wait = self._sent_at + _GATHER_SECONDS - self._loop.time()
        if wait <= 0:
            self._send()
        else:
            self._timer = self._loop.call_later(wait, self._on_time)

    def close(self) -> None:
        """Send what is left."""
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
        line: dict[str, object] = {"id": self._call_id}
        if text:
            line["text"] = text
        if self._thinking:
            line["thinking"] = "".join(self._thinking)
            self._thinking.clear()
        if calls := self._taken_calls(last):
            line["calls"] = calls
        if len(line) > 1:
            self._pipes.write(line)
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
    """Return half of a character beyond U+FFFF that must wait for its other half."""
    return text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
