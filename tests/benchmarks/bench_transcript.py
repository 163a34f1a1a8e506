"""How long the transcript takes to open, to grow and to be resized, and what memory it needs."""

from collections.abc import Callable
from statistics import median
from time import thread_time

from app.core.message import Message
from app.gui.display.theme import LIGHT
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.transcript_view import TranscriptView
from tests.benchmarks.chats import long_chat
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import (
    HEIGHT,
    SESSION,
    WIDTH,
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
from tests.gui.chats import SESSION as CHAT
from tests.gui.chats import agent, asked, call, gave, spoke


def open_long(short: bool) -> Result:
    """The last page first, the rest put before it."""
    application()
    whole: list[float] = []

    def opening(messages: list[Message]) -> float:
        view = TranscriptView(LIGHT, texts())
        shown(view)
        first = cpu(lambda: view.feed.show_session(SESSION, messages[-60:]))
        rest = cpu(lambda: view.feed.prepend(messages[:-60]))
        if len(messages) == 10_000:
            whole.append(first + rest + sum(filling(view)))
        closed(view)
        return first

    long, brief = conversation(10_000), conversation(1_000)
    opening(brief)
    measured, baseline = in_turns(5 if short else 15, lambda: opening(long), lambda: opening(brief))
    return Result(
        measured=measured,
        baseline=baseline,
        unit="ms",
        ratio=measured / baseline,
        extra=f"all 10,000 in {median(whole):.0f} ms",
    )


def open_chat(short: bool) -> Result:
    """The last page of a chat with cards and versions, the rest between frames; against a debate."""
    application()
    live = long_chat(10_000)
    slices: list[float] = []
    indexes: list[float] = []

    def chat() -> float:
        view = TranscriptView(LIGHT, texts(), layout=WIDE)
        shown(view)
        began = thread_time()
        messages = live.shown()
        versions = live.turns.versions_shown(live.chat_session.chat.head)
        indexes.append((thread_time() - began) * 1000)
        whole = indexes[-1] + cpu(lambda: view.feed.show_session(live.session, messages[-60:]))
        began = thread_time()
        view.feed.prepend(messages[:-60])
        view.feed.set_versions(versions)
        slices.append((thread_time() - began) * 1000)
        pieces = filling(view)
        slices.extend(pieces)
        closed(view)
        return whole + slices[-len(pieces) - 1] + sum(pieces)

    def debate() -> float:
        view = TranscriptView(LIGHT, texts(), layout=WIDE)
        shown(view)
        whole = cpu(lambda: view.feed.show_session(SESSION, talk[-60:]))
        began = thread_time()
        view.feed.prepend(talk[:-60])
        whole += (thread_time() - began) * 1000 + sum(filling(view))
        closed(view)
        return whole

    talk = conversation(10_000)
    chat(), debate()
    slices.clear()
    measured, baseline = in_turns(3 if short else 9, chat, debate)
    return Result(
        measured=measured,
        baseline=baseline,
        unit="ms",
        ratio=measured / baseline,
        extra=f"path and versions {median(indexes):.1f} ms; slices of {percentile(slices, 0.95):.1f} ms "
        f"(95 %), {max(slices):.1f} ms at most",
    )


def filling(view: TranscriptView) -> list[float]:
    """Let the earlier messages come in; return the milliseconds of each slice with its painting."""
    found = []
    while view.feed.loading:
        found.append(cpu(lambda: None))
    return found


def append_long(short: bool) -> Result:
    """One more message at the end."""
    application()
    long, brief = new_view(conversation(10_000)), new_view(conversation(10))
    bodies = [markdown(700, seed) for seed in range(20)]
    number = iter(range(20_000, 40_000))

    def appending(view: TranscriptView) -> Callable[[], float]:
        def run() -> float:
            count = next(number)
            return cpu(lambda: view.feed.message_started(message(count, bodies[count // 2 % 20])))

        return run

    measured, baseline = in_turns(40 if short else 120, appending(long), appending(brief))
    closed(long, brief)
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


def insert_long(short: bool) -> Result:
    """One more message of a sub-agent, in the middle: under the first of two calls."""
    application()

    def chat(count: int) -> TranscriptView:
        messages = []
        for number in range(count // 4):
            turn_id = f"t{number}"
            messages += [
                asked(number),
                spoke(f"m{number}", turn_id, markdown(300, number % 50), [call(f"c{number}")]),
                gave(f"r{number}", turn_id, f"c{number}"),
                spoke(f"n{number}", turn_id, markdown(300, number % 40)),
            ]
        messages.append(spoke("z", "tz", "Two.", [call("one", "subAgent"), call("two", "subAgent")]))
        messages.append(spoke("k", "tk", "Second.", author=agent("second"), under=("tz", "two")))
        view = TranscriptView(LIGHT, texts(), layout=WIDE)
        shown(view)
        view.feed.show_session(CHAT, messages)
        settle()
        return view

    long, brief = chat(10_000), chat(8)
    number = iter(range(10_000))

    def inserting(view: TranscriptView) -> Callable[[], float]:
        def run() -> float:
            name = f"w{next(number)}"
            made = spoke(name, "tw", "Some words.", [call(name)], author=agent("first"), under=("tz", "one"))
            return cpu(lambda: view.feed.message_started(made))

        return run

    measured, baseline = in_turns(20 if short else 60, inserting(long), inserting(brief))
    closed(long, brief)
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


def resize_long(short: bool) -> Result:
    """Another width, read in the middle; the place must be the same after going back."""
    application()
    long, brief = new_view(conversation(10_000)), new_view(conversation(1_000))
    for view in (long, brief):
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
        settle()
    before = long.place
    drift = 0
    widths = [700, WIDTH]

    def resizing(view: TranscriptView) -> Callable[[], float]:
        return lambda: (
            cpu(lambda: view.resize(widths[0], HEIGHT)) + cpu(lambda: view.resize(widths[1], HEIGHT))
        )

    measured, baseline = in_turns(7 if short else 20, resizing(long), resizing(brief))
    after = long.place
    drift = abs(after[1] - before[1]) if after[0] == before[0] else HEIGHT
    closed(long, brief)
    ratio = measured / baseline
    return Result(
        measured=measured,
        baseline=baseline,
        unit="ms",
        ratio=ratio if not drift else ratio + drift,
        extra=f"drift {drift} px",
    )


BENCHMARKS = (
    Benchmark(name="open a session of 10,000 messages, against one of 1,000", target=1.5, run=open_long),
    Benchmark(
        name="open a chat of 10,000 messages with cards, against a debate of 10,000",
        target=2.0,
        run=open_chat,
    ),
    Benchmark(name="append to it, against a session of 10", target=1.2, run=append_long, short=True),
    Benchmark(
        name="put a sub-agent's message into a chat of 10,000, against one of 10", target=1.3, run=insert_long
    ),
    Benchmark(name="resize it, against 1,000, and the anchor does not drift", target=1.5, run=resize_long),
)
