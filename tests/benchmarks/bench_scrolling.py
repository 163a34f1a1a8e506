"""What a scrolled frame of the transcript costs, against a plain text widget."""

from statistics import median

from PySide6.QtWidgets import QPlainTextEdit

from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import (
    application,
    closed,
    conversation,
    cpu,
    new_view,
    pause,
    percentile,
    settle,
    shown,
)

# What is done there is not counted; a reader who never pauses pays for it in the frame.
IN_PAUSES = "in the pauses of 8 ms between frames: the next row is laid out and painted ahead"


def _scroll(short: bool) -> dict[str, list[float]]:
    messages = conversation(10_000)
    view = new_view(messages)
    plain = QPlainTextEdit()
    plain.setPlainText("\n\n".join(each.content for each in messages))
    shown(plain)
    frames = 150 if short else 400
    costs: dict[str, list[float]] = {"cold": [], "warm": [], "plain": []}
    bar, other = view.verticalScrollBar(), plain.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    other.setValue(other.maximum() // 2)
    settle()
    for _ in range(frames):
        costs["cold"].append(cpu(lambda: bar.setValue(bar.value() + 60)))
        pause()
        costs["plain"].append(cpu(lambda: other.setValue(other.value() + 3)))
    for _ in range(frames // 30):
        for step in [60] * 15 + [-60] * 15:
            costs["warm"].append(cpu(lambda step=step: bar.setValue(bar.value() + step)))
            pause()
            costs["plain"].append(cpu(lambda step=step: other.setValue(other.value() + step // 20)))
    closed(view, plain)
    return costs


def scroll_warm(short: bool) -> Result:
    """Rows that have been seen."""
    application()
    costs = _scroll(short)
    warm, plain = median(costs["warm"]), median(costs["plain"])
    return Result(measured=warm, baseline=plain, unit="ms", ratio=warm / plain, extra=IN_PAUSES)


def scroll_cold(short: bool) -> Result:
    """Rows that come on screen for the first time."""
    application()
    costs = _scroll(short)
    cold, plain = median(costs["cold"]), median(costs["plain"])
    return Result(measured=cold, baseline=plain, unit="ms", ratio=cold / plain, extra=IN_PAUSES)


def scroll_even(short: bool) -> Result:
    """The slowest hundredth of the frames against the median of all."""
    application()
    costs = _scroll(short)
    frames = costs["cold"] + costs["warm"]
    slow, middle = percentile(frames, 0.99), median(frames)
    plain = percentile(costs["plain"], 0.99)
    return Result(
        measured=slow,
        baseline=middle,
        unit="ms",
        ratio=slow / middle,
        extra=f"p99 of plain text {plain:.2f} ms",
    )


BENCHMARKS = (
    Benchmark(
        name="scroll frame in it, against a QPlainTextEdit of the same text, warm",
        target=1.0,
        run=scroll_warm,
    ),
    Benchmark(
        name="scroll frame in it, against a QPlainTextEdit of the same text, cold",
        target=1.5,
        run=scroll_cold,
    ),
    Benchmark(name="scroll frame in it, p99 against its own median", target=4.0, run=scroll_even),
)
