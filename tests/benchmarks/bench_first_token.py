"""The first token of an answer: from the host's line in the window's process to its paint, in the real window.

The host sends an answer's first piece in the moment in which it comes (`model_host/answer`); what
the pipe adds is a system call.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median

from PySide6.QtCore import QEvent, QObject

from app.children.host_client import HostProcess, Line
from app.gui.desktop.event_loop import AppLoop
from app.gui.transcript.transcript_view import TranscriptView
from tests.app_driver import at_window, until
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import application, percentile
from tests.wire import Answer, WireServer, write_providers

FRAME_MS = 1000 / 60


class _Painted(QObject):
    """Notes when the transcript was first painted after a moment."""

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view)
        self.times: list[float] = []
        view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - the name is Qt's
        if event.type() == QEvent.Type.Paint:
            self.times.append(time.perf_counter())
        return super().eventFilter(watched, event)


async def _measure(folder: Path, answers: int) -> list[float]:
    """Return the milliseconds from a first line to the next paint, one an answer."""
    arrived: list[float] = []
    seen: set[str] = set()
    take = HostProcess._take

    def noted(self: HostProcess, line: Line) -> None:
        call_id = line.get("id")
        if line.get("text") and isinstance(call_id, str) and call_id not in seen:
            seen.add(call_id)
            arrived.append(time.perf_counter())
        take(self, line)

    HostProcess._take = noted  # type: ignore[method-assign]
    try:
        async with at_window(folder) as person:
            engine = person.window.controller.engine
            session_id = await engine.chats.start("assistant", "Hello")
            await engine.wait(session_id)
            person.window.controller.show_session(session_id)
            await until(lambda: person.sees("transcript"))
            painted = _Painted(person.find("transcript", TranscriptView))
            await person.settle(0.5)
            found = []
            for _ in range(answers):
                before = len(arrived)
                await engine.chats.send(session_id, "And then?")
                await until(lambda count=before: len(arrived) > count)
                await until(lambda: painted.times and painted.times[-1] >= arrived[-1])
                first = next(moment for moment in painted.times if moment >= arrived[before])
                found.append((first - arrived[before]) * 1000)
                await engine.wait(session_id)
                await person.settle(0.1)
            return found
    finally:
        HostProcess._take = take  # type: ignore[method-assign]


def first_token(short: bool) -> Result:
    """Compare the way of a first token to the screen with one frame of 60 Hz."""
    with WireServer("openai") as server, tempfile.TemporaryDirectory(prefix="moot-first-") as folder:
        server.script(server.model, lambda _: Answer("The first word and some more.", pace=0.05))
        os.environ.update(write_providers(Path(folder), [server]))
        app = application()
        app.setQuitOnLastWindowClosed(False)
        with asyncio.Runner(loop_factory=lambda: AppLoop(app)) as runner:
            found = runner.run(_measure(Path(folder), 5 if short else 40))
    return Result(
        measured=median(found),
        baseline=FRAME_MS,
        unit="ms",
        ratio=median(found) / FRAME_MS,
        extra=f"slowest tenth {percentile(found, 0.9):.1f} ms",
    )


BENCHMARKS = (
    Benchmark(
        name="first token painted after it came from the host, against one frame", target=1.0, run=first_token
    ),
)
