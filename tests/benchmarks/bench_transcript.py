"""How fast the transcript opens, scrolls, grows and streams, against plain text widgets.

CPU time of the window's thread (`thread_time`), A and B taken in turns; medians.
"""

import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.core.message import DONE, STREAMING, Author, Message
from app.core.session import Session
from app.core.texts import Texts
from app.gui.chat.transcript_view import TranscriptView
from app.gui.theme import LIGHT
from tests.benchmarks.table import Benchmark, Result

I18N = Path(__file__).resolve().parents[2] / "resources" / "i18n"
WIDTH, HEIGHT = 1000, 800
SESSION = Session(id="s", title="A long one")
WORDS = [
    "the",
    "parser",
    "keeps",
    "every",
    "stored",
    "input",
    "and",
    "*replays*",
    "it",
    "through",
    "both",
    "versions",
    "while",
    "**teams**",
    "count",
    "differences",
    "between",
    "`old`",
    "and",
    "new",
    "results",
    "before",
    "anything",
    "is",
    "released",
    "to",
    "people",
    "who",
    "depend",
    "on",
    "exact",
    "answers",
    "in",
    "production",
]


def application() -> QApplication:
    """Return the application, made when there is none."""
    return QApplication.instance() or QApplication(sys.argv[:1])  # type: ignore[return-value]


def texts() -> Texts:
    """Return the English texts."""
    part = I18N / "parts" / "transcript.en.json"
    if part.exists():
        return Texts("en", json.loads(part.read_text(encoding="utf-8")))
    return Texts.load(I18N, "en")


def markdown(characters: int, seed: int = 0) -> str:
    """Return that many characters of answers as models write them: prose, lists, code, tables."""
    dice = random.Random(seed)

    def sentence(count: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(count)).capitalize() + "."

    parts: list[str] = []
    length = 0
    while length < characters:
        kind = dice.random()
        if kind < 0.62:
            part = " ".join(sentence(dice.randint(6, 18)) for _ in range(dice.randint(1, 4)))
        elif kind < 0.8:
            part = "\n".join(f"- {sentence(dice.randint(4, 14))}" for _ in range(dice.randint(3, 6)))
        elif kind < 0.87:
            part = f"## {sentence(4)}"
        elif kind < 0.95:
            part = "```python\n" + "def step(value):\n    return value + 1  # next\n\n" * 8 + "```"
        else:
            part = "| name | count |\n|---|--:|\n" + "".join(
                f"| {dice.choice(WORDS)} | {dice.randint(1, 99)} |\n" for _ in range(5)
            )
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts)[:characters]


def conversation(count: int) -> list[Message]:
    """Return messages of about 740 characters by four speakers."""
    dice = random.Random(1)
    bodies = [markdown(dice.randint(80, 1_400), seed) for seed in range(200)]
    return [message(number, bodies[number % 200]) for number in range(count)]


def message(number: int, content: str = "", state: str = DONE) -> Message:
    """Return one message."""
    author = Author(id=f"p{number % 4}", name=f"Speaker {number % 4}", kind="participant")
    return Message(
        id=f"m{number:06}",
        turn_id=f"t{number}",
        role="assistant",
        author=author,
        content=content,
        state=state,
    )


def shown(widget: QWidget) -> None:
    """Show a widget and let it paint."""
    widget.resize(WIDTH, HEIGHT)
    widget.show()
    settle()


def settle() -> None:
    """Let what is due be painted."""
    application().processEvents()
    application().sendPostedEvents()


def cpu(work: Callable[[], object]) -> float:
    """Return the milliseconds of this thread's CPU that some work and its painting take."""
    began = time.thread_time()
    work()
    settle()
    return (time.thread_time() - began) * 1000


def new_view(messages: list[Message]) -> TranscriptView:
    """Return a shown view holding messages."""
    view = TranscriptView(LIGHT, texts())
    shown(view)
    view.show_session(SESSION, messages)
    settle()
    return view


def closed(*widgets: QWidget) -> None:
    """Take widgets away."""
    for widget in widgets:
        widget.close()
        widget.deleteLater()
    settle()
    QApplication.sendPostedEvents(None, 52)


def in_turns(repeats: int, one: Callable[[], float], two: Callable[[], float]) -> tuple[float, float]:
    """Return the medians of two measurements taken in turns."""
    first: list[float] = []
    second: list[float] = []
    for _ in range(repeats):
        first.append(one())
        second.append(two())
    return median(first), median(second)


def open_long(short: bool) -> Result:
    """The last page first, the rest put before it."""
    application()
    whole: list[float] = []

    def opening(messages: list[Message]) -> float:
        view = TranscriptView(LIGHT, texts())
        shown(view)
        first = cpu(lambda: view.show_session(SESSION, messages[-60:]))
        rest = cpu(lambda: view.prepend(messages[:-60]))
        if len(messages) == 10_000:
            whole.append(first + rest)
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


def pause() -> None:
    """Let the time between two frames pass; what is done in it belongs to no frame."""
    time.sleep(0.004)
    settle()
    time.sleep(0.004)
    settle()


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


def percentile(values: list[float], share: float) -> float:
    """Return the value under which a share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def scroll_warm(short: bool) -> Result:
    """Rows that have been seen."""
    application()
    costs = _scroll(short)
    warm, plain = median(costs["warm"]), median(costs["plain"])
    return Result(measured=warm, baseline=plain, unit="ms", ratio=warm / plain)


def scroll_cold(short: bool) -> Result:
    """Rows that come on screen for the first time."""
    application()
    costs = _scroll(short)
    cold, plain = median(costs["cold"]), median(costs["plain"])
    return Result(measured=cold, baseline=plain, unit="ms", ratio=cold / plain)


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


def append_long(short: bool) -> Result:
    """One more message at the end."""
    application()
    long, brief = new_view(conversation(10_000)), new_view(conversation(10))
    bodies = [markdown(700, seed) for seed in range(20)]
    number = iter(range(20_000, 40_000))

    def appending(view: TranscriptView) -> Callable[[], float]:
        def run() -> float:
            count = next(number)
            return cpu(lambda: view.message_started(message(count, bodies[count // 2 % 20])))

        return run

    measured, baseline = in_turns(40 if short else 120, appending(long), appending(brief))
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


def resident() -> float:
    """Return this process's resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(short: bool) -> Result:
    """Memory of the window over the text, after opening and after reading through parts of it."""
    application()
    new_view(conversation(30)).close()
    messages = conversation(10_000)
    gc.collect()
    before = resident()
    view = new_view(messages[-60:])
    view.prepend(messages[:-60])
    settle()
    bar = view.verticalScrollBar()
    for step in range(20 if short else 60):
        bar.setValue(bar.maximum() * step // 60)
        settle()
    gc.collect()
    added = resident() - before
    closed(view)
    return Result(measured=added, baseline=30.0, unit="MB", ratio=added / 30.0)


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
    Benchmark(name="open 10,000 messages / 1,000", target=1.5, run=open_long),
    Benchmark(name="scroll frame, seen rows / QPlainTextEdit", target=1.0, run=scroll_warm),
    Benchmark(name="scroll frame, new rows / QPlainTextEdit", target=1.5, run=scroll_cold),
    Benchmark(name="scroll frame, p99 / median", target=4.0, run=scroll_even),
    Benchmark(name="append to 10,000 / to 10", target=1.2, run=append_long),
    Benchmark(name="resize 10,000 / 1,000", target=1.5, run=resize_long),
    Benchmark(name="memory of 10,000 messages / 30 MB", target=1.0, run=memory),
    Benchmark(name="stream 100,000 characters / plain append", target=4.0, run=stream_long),
    Benchmark(name="cost per character at 100,000 / at 10,000", target=1.1, run=stream_even),
    Benchmark(name="8 self-fed streams, p99 tick gap / 16 ms", target=1.5, run=streams_together),
)
