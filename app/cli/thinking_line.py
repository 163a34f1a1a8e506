"""The line in the terminal that says how long a model has been thinking."""

import asyncio
import time

from app.cli.terminal import show_progress
from app.core.events import Event, MessageDelta, MessageFinished, ToolFinished, ToolStarted, TurnStarted
from app.core.text import clock_text
from app.core.texts import Texts

THINKS_AFTER_S = 10.0


class ThinkingLine:
    """Counts the time in which a session's speaker says nothing; `line` is what to show."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._name = ""
        self._since: float | None = None

    def listen(self, events: tuple[Event, ...]) -> None:
        """Note who speaks, and what ends the silence."""
        for event in events:
            self._note(event)

    def _note(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self._name, self._since = event.author.name, time.monotonic()
        elif isinstance(event, ToolFinished):
            self._since = time.monotonic()
        elif isinstance(event, MessageFinished | ToolStarted) or (
            isinstance(event, MessageDelta) and event.text
        ):
            if self._since is not None and self.line(time.monotonic()):
                show_progress("")
            self._since = None

    def line(self, now: float) -> str:
        """Return what to show now, "" while the silence is short."""
        if self._since is None or now - self._since < THINKS_AFTER_S:
            return ""
        return self._texts("cli.thinking", name=self._name, time=clock_text(int(now - self._since)))

    async def show(self) -> None:
        """Show the line every second until this is cancelled."""
        try:
            while True:
                await asyncio.sleep(1)
                if line := self.line(time.monotonic()):
                    show_progress(line)
        finally:
            if self.line(time.monotonic()):
                show_progress("")
