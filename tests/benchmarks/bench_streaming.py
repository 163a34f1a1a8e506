"""What streaming into the transcript costs, against appending to a plain text widget."""

import time
from collections.abc import Callable
from statistics import median

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.core.message import STREAMING
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import (
    application,
    closed,
    conversation,
    cpu,
    in_turns,
    markdown,
    message,
    new_view,
    percentile,
    settle,
    shown,
)


def stream_view(length: int, step: int) -> float:
    """Return the milliseconds of streaming one answer into the view and painting each piece."""
    view = new_view(conversation(20))
    text = markdown(length, 3)
    view.message_started(message(1_000_000, "", STREAMING))
    settle()
    total = 0.0
    for start in range(0, len(text), step):
        piece = text[start : start + step]

        def feed(piece: str = piece) -> None:
            view.append_text("m1000000", piece)
            view.flush()

        total += cpu(feed)
    closed(view)
    return total


def stream_plain(length: int, step: int) -> float:
    """Return the milliseconds of appending the same to a QPlainTextEdit."""
    plain = QPlainTextEdit()
    shown(plain)
    text = markdown(length, 3)
    total = 0.0
    for start in range(0, len(text), step):
        piece = text[start : start + step]

        def feed(piece: str = piece) -> None:
            cursor = plain.textCursor()
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(piece)
            plain.ensureCursorVisible()
            bar = plain.verticalScrollBar()
            bar.setValue(bar.maximum())

        total += cpu(feed)
    closed(plain)
    return total


def stream_long(short: bool) -> Result:
    """One answer of 100,000 characters, 27 at a time."""
    application()
    stream_view(5_000, 27)
    measured, baseline = in_turns(
        1 if short else 3, lambda: stream_view(100_000, 27), lambda: stream_plain(100_000, 27)
    )
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


def stream_even(short: bool) -> Result:
    """The cost of a character at 100,000 against that at 10,000."""
    application()
    stream_view(5_000, 27)
    long, brief = in_turns(
        1 if short else 3,
        lambda: stream_view(100_000, 27) / 100,
        lambda: median(stream_view(10_000, 27) / 10 for _ in range(3)),
    )
    return Result(measured=long, baseline=brief, unit="µs/character", ratio=long / brief)


def tick_gaps(seconds: float, feed: Callable[[], object] | None = None) -> tuple[float, float]:
    """Run the loop and return p99 and widest gap, in milliseconds, of a tick due every 8 ms.

    `feed` is called every 5 ms; give none when something else feeds the views.
    """
    loop = QEventLoop()
    gaps: list[float] = []
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        gaps.append((now - last) * 1000)
        last = now

    ticker, feeder = QTimer(), QTimer()
    ticker.timeout.connect(tick)
    ticker.start(8)
    if feed is not None:
        feeder.timeout.connect(feed)
        feeder.start(5)
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()
    return percentile(gaps, 0.99), max(gaps)


def self_fed_streams(count: int, seconds: float, tokens_per_second: int = 200) -> tuple[float, float]:
    """Feed `count` streams to one view without an engine; return p99 and widest tick gap in ms."""
    view = new_view(conversation(200))
    text = markdown(20_000, 5)
    for number in range(count):
        view.message_started(message(2_000_000 + number, "", STREAMING))
    places = [0] * count
    per_tick = tokens_per_second * 5 // 1000 or 1

    def feed() -> None:
        for number in range(count):
            start = places[number]
            places[number] = start + 4 * per_tick
            view.append_text(f"m{2_000_000 + number}", text[start : start + 4 * per_tick])

    result = tick_gaps(seconds, feed)
    closed(view)
    return result


def streams_together(short: bool) -> Result:
    """Eight streams of 200 tokens a second against an idle loop's gaps; needs no engine."""
    application()
    seconds = 2.0 if short else 5.0
    p99, widest = self_fed_streams(8, seconds)
    idle, _ = tick_gaps(seconds / 2)
    return Result(
        measured=p99,
        baseline=max(idle, 16.0),
        unit="ms",
        ratio=p99 / max(idle, 16.0),
        extra=f"widest {widest:.0f} ms",
    )


BENCHMARKS = (
    Benchmark(name="stream 100,000 characters / plain append", target=4.0, run=stream_long),
    Benchmark(name="cost per character at 100,000 / at 10,000", target=1.1, run=stream_even),
    Benchmark(name="8 self-fed streams, p99 tick gap / 16 ms", target=1.5, run=streams_together),
)
