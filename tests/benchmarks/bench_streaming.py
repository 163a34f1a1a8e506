"""What streaming into the transcript costs, against appending to a plain text widget."""

from statistics import median

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


BENCHMARKS = (
    Benchmark(
        name="stream one answer of 100,000 characters, against plain append", target=4.0, run=stream_long
    ),
    Benchmark(name="stream: cost per character at 100k, against that at 10k", target=1.1, run=stream_even),
)
