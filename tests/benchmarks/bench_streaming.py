"""What streaming into the transcript costs, against appending to a plain text widget."""

import time
from dataclasses import replace
from itertools import pairwise
from statistics import median

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.core.council import Participant
from app.core.message import Author, CouncilPart, Message, MessageState, ToolCall
from app.core.session import Chat, ChatSession, Council, Debate, DebateMode, DebateSession, Status
from app.gui.display.appearance import Language, Look
from app.gui.display.theme import LIGHT
from app.gui.pages.council.council_page import CouncilPage
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.transcript_view import TranscriptView
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import (
    I18N,
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
    texts,
)

CHAT = ChatSession(id="s", title="A chat", status=Status.RUNNING, chat=Chat(assistant_id="master"))


def stream_view(length: int, step: int) -> float:
    """Return the milliseconds of streaming one answer into the view and painting each piece."""
    view = new_view(conversation(20))
    text = markdown(length, 3)
    view.feed.message_started(message(1_000_000, "", MessageState.STREAMING))
    settle()
    total = 0.0
    for start in range(0, len(text), step):
        piece = text[start : start + step]

        def feed(piece: str = piece) -> None:
            view.feed.append_text("m1000000", piece)
            view.feed.flush()

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


CHILDREN = 8
MASTER = Author(id="master", name="Master", path=("master",))


def children(*, called: bool) -> list[Message]:
    """Return eight streaming messages: of sub-agents that were `called` by one message, or side by side."""
    result = []
    for number in range(CHILDREN):
        name = f"agent{number}"
        author = Author(id=name, name=name, kind="sub", path=("master", name), depth=1) if called else MASTER
        result.append(
            Message(
                id=f"c{number}",
                turn_id=f"tc{number}",
                role="assistant",
                author=author,
                state=MessageState.STREAMING,
                parent_turn_id="tm" if called else None,
                parent_call_id=f"call{number}" if called else None,
            )
        )
    return result


def stream_children(length: int, step: int, *, called: bool, folded: bool = False) -> float:
    """Return the milliseconds of eight answers that come at once, a piece of each in every frame."""
    view = TranscriptView(LIGHT, texts(), layout=WIDE)
    shown(view)
    calls = tuple(
        ToolCall(id=f"call{number}", name="subAgent", arguments='{"agent": "a", "prompt": "Look."}')
        for number in range(CHILDREN)
    )
    master = Message(id="m", turn_id="tm", role="assistant", author=MASTER, content="All at once.")
    view.feed.show_session(CHAT, [replace(master, tool_calls=calls) if called else master])
    total = 0.0
    messages = children(called=called)
    bodies = [markdown(length, number) for number in range(CHILDREN)]

    def begin() -> None:
        for each in messages:
            view.feed.message_started(each)
            if folded:
                view.feed.fold(each.turn_id, True)

    total += cpu(begin)
    for start in range(0, length, step):

        def feed(start: int = start) -> None:
            for each, body in zip(messages, bodies, strict=True):
                view.feed.append_text(each.id, body[start : start + step])
            view.feed.flush()

        total += cpu(feed)

    def end() -> None:
        for each, body in zip(messages, bodies, strict=True):
            view.feed.message_finished(replace(each, content=body, state=MessageState.DONE))

    total += cpu(end)
    closed(view)
    return total


def stream_tree(short: bool) -> Result:
    """A message and the eight sub-agents it called, all writing at once; then the same, folded."""
    application()
    stream_children(1_000, 27, called=True)
    stream_children(1_000, 27, called=False)
    length = 4_000
    measured, baseline = in_turns(
        3 if short else 7,
        lambda: stream_children(length, 27, called=True),
        lambda: stream_children(length, 27, called=False),
    )
    folded = stream_children(length, 27, called=True, folded=True)
    return Result(
        measured=measured,
        baseline=baseline,
        unit="ms",
        ratio=measured / baseline,
        extra=f"folded {folded:.0f} ms",
    )


COLUMNS, TOKENS_PER_SECOND, TOKEN, TICK_MS = 4, 50, 4, 8


def stream_columns(streams: int, seconds: float) -> float:
    """Return the p99 gap in milliseconds between 8 ms ticks while so many of a council's four columns stream."""
    people = tuple(
        Participant(id=f"p{place}", name=f"Voice {place}", provider="openai", model="gpt")
        for place in range(COLUMNS)
    )
    debate = Debate(topic="Which?", mode=DebateMode.COUNCIL, participants=people, council=Council())
    page = CouncilPage(Language(I18N, "en"), Look(application(), I18N.parent, "light"))
    shown(page)
    page.show_session(DebateSession(id="s", title="Which?", status=Status.RUNNING, debate=debate), [])
    for one in people:
        author = Author(id=one.id, name=one.name, kind="participant")
        page.show_message(
            Message(
                id=one.id,
                turn_id=one.id,
                role="assistant",
                author=author,
                part=CouncilPart.ANSWER,
                state=MessageState.STREAMING,
            )
        )
    text = markdown(round(2 * (seconds + 1) * TOKENS_PER_SECOND * TOKEN), 5)
    times: list[float] = []
    fed = 0

    def feed() -> None:
        nonlocal fed
        for one in people[:streams]:
            page.show_text(one.id, text[fed : fed + TOKEN], "")
        fed += TOKEN

    loop, feeder, ticker = QEventLoop(), QTimer(), QTimer()
    for timer, work, every in (
        (feeder, feed, 1000 // TOKENS_PER_SECOND),
        (ticker, lambda: times.append(time.perf_counter()), TICK_MS),
    ):
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(work)
        timer.start(every)
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()
    feeder.stop()
    ticker.stop()
    closed(page)
    return percentile([(after - before) * 1000 for before, after in pairwise(times)], 0.99)


def stream_council(short: bool) -> Result:
    """The gap that one in a hundred exceeds: four columns of a council that stream, against one of them."""
    seconds = 1.0 if short else 6.0
    stream_columns(COLUMNS, 0.5)
    measured, baseline = in_turns(
        3, lambda: stream_columns(COLUMNS, seconds), lambda: stream_columns(1, seconds)
    )
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


BENCHMARKS = (
    Benchmark(
        name="stream 4 columns of a council at 50 tokens/s: p99 gap, against 1 column",
        target=1.5,
        run=stream_council,
        short=True,
    ),
    Benchmark(
        name="stream one answer of 100,000 characters, against plain append",
        target=4.0,
        run=stream_long,
    ),
    Benchmark(
        name="stream a tree of 1 + 8 sub-agents at once, against 8 plain streams",
        target=1.2,
        run=stream_tree,
        short=True,
    ),
    Benchmark(name="stream: cost per character at 100k, against that at 10k", target=1.1, run=stream_even),
)
