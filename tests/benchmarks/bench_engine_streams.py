"""Eight debates streaming at once through engine, disk, model host and wire, against views that feed themselves.

What is measured is how evenly the window's loop goes on: the gaps between ticks due every 8 ms.
The server is a process of its own.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QWidget

from app.core.council import Participant
from app.core.events import MessageFinished, MessageStarted
from app.core.message import MessageState
from app.core.session import Session
from app.engine.debate.setup import DebateSetup
from app.gui.bridge import Bridge
from app.gui.desktop.event_loop import AppLoop
from app.gui.display.theme import LIGHT
from app.gui.transcript.transcript_view import TranscriptView
from app.wiring import Moot, open_moot
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import application, closed, markdown, message, percentile, settle, texts
from tests.wire import Answer, WireServer, write_providers

STREAMS = 8
TOKENS_PER_SECOND = 200
TOKEN = 4
CHARACTERS = 40_000
TICK_MS = 8
Gaps = tuple[float, float]


def serve() -> None:
    """Answer every question with a long text at TOKENS_PER_SECOND, until standard input ends."""
    # The pause is a little shorter than the pace, for writing takes time as well.
    pace = 1 / TOKENS_PER_SECOND - 0.0004
    with WireServer("openai") as server:
        server.script(server.model, lambda _: Answer(markdown(CHARACTERS, 5), pieces=TOKEN, pace=pace))
        print(server.address, flush=True)
        sys.stdin.read()


@contextmanager
def _server() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.bench_engine_streams"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


class _Wall:
    """A window with one transcript a stream, all on screen."""

    def __init__(self) -> None:
        self.window = QWidget()
        grid = QGridLayout(self.window)
        self.views = [TranscriptView(LIGHT, texts()) for _ in range(STREAMS)]
        for number, view in enumerate(self.views):
            grid.addWidget(view, number // 4, number % 4)
        self.window.resize(1600, 1000)
        self.window.show()
        settle()


async def _gaps(seconds: float) -> Gaps:
    """Return p99 and widest gap between ticks, in milliseconds."""
    times: list[float] = []
    ticker = QTimer()
    ticker.setTimerType(Qt.TimerType.PreciseTimer)
    ticker.timeout.connect(lambda: times.append(time.perf_counter()))
    ticker.start(TICK_MS)
    await asyncio.sleep(seconds)
    ticker.stop()
    gaps = [(after - before) * 1000 for before, after in zip(times, times[1:], strict=False)]
    return percentile(gaps, 0.99), max(gaps)


async def _self_fed(seconds: float) -> Gaps:
    """Feed the views from a timer; return the gaps."""
    wall = _Wall()
    text = markdown(CHARACTERS, 5)
    for number, view in enumerate(wall.views):
        view.feed.show_session(Session(id=f"s{number}", title=""), [])
        view.feed.message_started(message(number, "", MessageState.STREAMING))
    fed = 0
    began = time.perf_counter()

    def feed() -> None:
        nonlocal fed
        due = round((time.perf_counter() - began) * TOKENS_PER_SECOND)
        if due > fed:
            piece = text[fed * TOKEN : due * TOKEN]
            fed = due
            for number, view in enumerate(wall.views):
                view.feed.append_text(f"m{number:06}", piece)

    feeder = QTimer()
    feeder.setTimerType(Qt.TimerType.PreciseTimer)
    feeder.timeout.connect(feed)
    feeder.start(1000 // TOKENS_PER_SECOND)
    await asyncio.sleep(1)
    result = await _gaps(seconds)
    feeder.stop()
    closed(wall.window)
    return result


async def _streamed(moot: Moot, model: str, seconds: float) -> tuple[Gaps, float]:
    """Run a debate for each view; return the gaps and how many tokens a second came to each."""
    wall, bridge = _Wall(), Bridge(moot.engine.bus)
    shown: dict[str, TranscriptView] = {}
    characters: dict[str, int] = {}

    def on_started(event: MessageStarted) -> None:
        shown[event.session_id].feed.message_started(event.message)

    def on_text(session_id: str, message_id: str, text: str, thinking: str) -> None:
        characters[session_id] = characters.get(session_id, 0) + len(text)
        shown[session_id].feed.append_text(message_id, text, thinking)

    def on_finished(event: MessageFinished) -> None:
        shown[event.session_id].feed.message_finished(event.message)

    bridge.message_started.connect(on_started)
    bridge.text_arrived.connect(on_text)
    bridge.message_finished.connect(on_finished)
    seats = tuple(
        Participant(id=f"p{place}", name=name, provider="openai", model=model)
        for place, name in enumerate(("Ada", "Ben"))
    )
    for number, view in enumerate(wall.views):
        session_id = await moot.engine.debates.start(DebateSetup(topic=f"Topic {number}", participants=seats))
        shown[session_id] = view
        live = moot.engine.live(session_id)
        assert live is not None
        view.feed.show_session(live.session, live.messages)
    try:
        await _until(lambda: len(characters) == STREAMS)
        await asyncio.sleep(1)
        before, began = sum(characters.values()), time.perf_counter()
        gaps = await _gaps(seconds)
        rate = (sum(characters.values()) - before) / TOKEN / STREAMS / (time.perf_counter() - began)
    finally:
        for session_id in shown:
            await moot.engine.stop(session_id)
        bridge.close()
        closed(wall.window)
    return gaps, rate


async def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("not all debates began to stream")
        await asyncio.sleep(0.02)


async def _measure(folder: Path, model: str, rounds: int, seconds: float) -> list[tuple[Gaps, Gaps, float]]:
    moot = await open_moot(folder)
    found = []
    try:
        await moot.models.start()
        for _ in range(rounds):
            alone = await _self_fed(seconds)
            through, rate = await _streamed(moot, model, seconds)
            found.append((through, alone, rate))
    finally:
        await moot.close()
    return found


_FOUND: list[tuple[Gaps, Gaps, float]] = []


def _compared(short: bool) -> list[tuple[Gaps, Gaps, float]]:
    """Measure once for both rows."""
    if _FOUND:
        return _FOUND
    app = application()
    app.setQuitOnLastWindowClosed(False)
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    server = WireServer("openai")
    with tempfile.TemporaryDirectory() as folder, _server() as server.address:
        os.environ.update(write_providers(Path(folder), [server]))
        with asyncio.Runner(loop_factory=lambda: AppLoop(app)) as runner:
            _FOUND.extend(
                runner.run(_measure(Path(folder), server.model, 3 if short else 5, 2.0 if short else 5.0))
            )
    return _FOUND


def _row(short: bool, place: int, extra: str) -> Result:
    found = _compared(short)
    through, alone = (median(each[side][place] for each in found) for side in (0, 1))
    rate = median(rate for _, _, rate in found)
    return Result(
        measured=through,
        baseline=alone,
        unit="ms",
        ratio=through / alone,
        extra=f"{extra}; {rate:.0f} tokens/s came to each view",
    )


def p99(short: bool) -> Result:
    """The gap that one in a hundred exceeds."""
    return _row(short, 0, "engine, host and server are three processes on the same cores")


def widest(short: bool) -> Result:
    """The widest gap of a run."""
    return _row(short, 1, "median of the runs' widest")


_NAME = "8 streams of 200 tokens/s at once: {} gap between 8 ms ticks, against the view fed without engine"
BENCHMARKS = (
    Benchmark(name=_NAME.format("p99"), target=1.5, run=p99),
    Benchmark(name=_NAME.format("widest"), target=1.5, run=widest),
)


if __name__ == "__main__":
    serve()
