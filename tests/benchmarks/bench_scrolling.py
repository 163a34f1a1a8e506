"""What a scrolled frame of the transcript costs, against a plain text widget."""

from dataclasses import replace
from functools import cache
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

FORMULAS = (
    "So $x^2 + y_1$ and $\\alpha$ hold.",
    r"$$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$",
    r"$$\sum_{i=1}^n \int_0^\infty \frac{x^i}{e^x - 1}\,dx$$",
    r"$$\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$$",
    r"With $f(x) = \begin{cases} 1 & \text{가} \\ 0 & \text{나} \end{cases}$ so.",
)
# What is done there is not counted; a reader who never pauses pays for it in the frame.
IN_PAUSES = "in the pauses of 8 ms between frames: the next row is laid out and painted ahead"


@cache
def _scroll(short: bool) -> dict[str, list[float]]:
    """Measure what three rows are about, once."""
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


def scroll_formulas(short: bool) -> Result:
    """Rows with 500 formulas among 10,000 messages, against the same text with their letters as words."""
    application()
    plain = conversation(10_000)
    drawn = [
        replace(each, content=f"{each.content}\n\n{FORMULAS[number // 20 % 5]}") if not number % 20 else each
        for number, each in enumerate(plain)
    ]
    words = [
        replace(each, content=each.content.replace("$", "")) if not number % 20 else each
        for number, each in enumerate(drawn)
    ]
    views = [new_view(drawn), new_view(words)]
    bars = [view.verticalScrollBar() for view in views]
    costs: list[list[float]] = [[], []]
    for bar in bars:
        bar.setValue(bar.maximum() // 2)
    settle()
    for _ in range(150 if short else 600):
        for bar, cost in zip(bars, costs, strict=True):
            cost.append(cpu(lambda bar=bar: bar.setValue(bar.value() + 60)))
            pause()
    closed(*views)
    mine, other = (sum(cost) / len(cost) for cost in costs)
    slowest = f"p99 {percentile(costs[0], 0.99):.2f} against {percentile(costs[1], 0.99):.2f} ms; {IN_PAUSES}"
    return Result(measured=mine, baseline=other, unit="ms", ratio=mine / other, extra=slowest)


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
    Benchmark(
        name="scroll frame in it with 500 formulas, against the same text without",
        target=1.3,
        run=scroll_formulas,
    ),
    Benchmark(name="scroll frame in it, p99 against its own median", target=4.0, run=scroll_even),
)
