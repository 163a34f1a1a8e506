"""Long conversations to measure the transcript with, and the means to measure it.

CPU time of the window's thread (`thread_time`), A and B taken in turns; medians.
"""

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from app.core.message import MessageState

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QWidget

from app.core.message import Author, Message
from app.core.session import Session
from app.core.texts import Texts
from app.gui.display.theme import LIGHT
from app.gui.transcript.transcript_view import TranscriptView

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


def message(number: int, content: str = "", state: str = MessageState.DONE) -> Message:
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
    view.feed.show_session(SESSION, messages)
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


def pause() -> None:
    """Let the time between two frames pass; what is done in it belongs to no frame."""
    time.sleep(0.004)
    settle()
    time.sleep(0.004)
    settle()


def percentile(values: list[float], share: float) -> float:
    """Return the value under which a share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
