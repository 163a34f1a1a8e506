"""What hostile documents cost on the screen, against plain words of the same length."""

from statistics import median

from app.gui.display.theme import LIGHT
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.transcript_view import TranscriptView
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import SESSION, application, closed, cpu, message, shown, texts
from tests.gui.hostile_documents import DOCUMENTS

WORDS = "The parser keeps every stored input and replays it through both versions of the reader. "


def open_one(text: str) -> float:
    """Return the milliseconds until a session of one message is opened and painted."""
    view = TranscriptView(LIGHT, texts(), layout=WIDE)
    shown(view)
    taken = cpu(lambda: view.feed.show_session(SESSION, [message(1, text)]))
    closed(view)
    return taken


def open_hostile(short: bool) -> Result:
    """Each of the twenty against words in paragraphs; the dearest counts."""
    application()
    open_one(WORDS * 20)
    worst = ("", 0.0, 0.0, 1.0)
    for name, text in DOCUMENTS.items():
        paragraph = WORDS * 5 + "\n\n"
        plain = (paragraph * (len(text) // len(paragraph) + 1))[: len(text)]
        repeats = 2 if short else 5
        hostile = median([open_one(text) for _ in range(repeats)])
        words = median([open_one(plain) for _ in range(repeats)])
        if hostile / words > worst[1] / worst[2] if worst[2] else True:
            worst = (name, hostile, words, hostile / words)
    name, hostile, words, ratio = worst
    return Result(measured=hostile, baseline=words, unit="ms", ratio=ratio, extra=f"the dearest: {name}")


BENCHMARKS = (
    Benchmark(name="open a hostile document, against a plain one of its length", target=20, run=open_hostile),
)
