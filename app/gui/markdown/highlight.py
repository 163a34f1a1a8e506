"""Colours for code: lexed off the window's thread, painted when they are there.

A `Highlighter` belongs to one transcript; it takes code and gives back runs of (start, length,
kind). Pygments is imported by the first piece of code, in the worker.
"""

import gc
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextDocument, QTextLayout

from app.gui.theme import Tokens

Run = tuple[int, int, str]

MAX_CODE = 20_000
"""Longer stretches of code stay plain, in characters."""

POLL_MS = 15

_COLOURS = {
    "Keyword": "accent",
    "Name.Function": "speaker 2",
    "Name.Class": "speaker 2",
    "Name.Tag": "speaker 2",
    "Name.Decorator": "speaker 3",
    "Name.Builtin": "speaker 3",
    "String": "speaker 0",
    "Number": "speaker 1",
    "Literal": "speaker 1",
    "Comment": "text_2",
    "Operator.Word": "accent",
}


def lex(language: str, code: str) -> list[Run]:
    """Return the coloured runs of code; none for a language nobody knows."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    runs: list[Run] = []
    for start, token, text in lexer.get_tokens_unprocessed(code):
        kind = next((kind for kind in _names(token) if kind in _COLOURS), "")
        if kind and text.strip():
            runs.append((start, len(text), kind))
    return runs


def _lex_apart(language: str, code: str) -> list[Run]:
    """Lex in a worker. WORKAROUND: no collection may run here, it could destroy widgets in this thread."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return lex(language, code)
    finally:
        if collecting:
            gc.enable()


def _names(token: Sequence[str]) -> list[str]:
    return [".".join(token[:count]) for count in range(len(token), 0, -1)]


class Highlighter(QObject):
    """Lexes code one piece at a time in a worker; emits `lexed(key, runs)`."""

    lexed = Signal(str, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._worker: ThreadPoolExecutor | None = None
        self._waiting: dict[str, Future[list[Run]]] = {}
        # The worker never touches a Qt object, which could be gone when it is done; it is asked.
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self._on_poll)

    def ask(self, key: str, language: str, code: str) -> None:
        """Lex a piece of code unless that is being done."""
        if key in self._waiting or not language or len(code) > MAX_CODE:
            return
        if self._worker is None:
            self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="highlight")
        self._waiting[key] = self._worker.submit(_lex_apart, language, code)
        self._poll.start()

    def stop(self) -> None:
        """Finish the piece in hand and forget the rest."""
        self._poll.stop()
        self._waiting.clear()
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)
            self._worker = None

    def _on_poll(self) -> None:
        for key in [key for key, answer in self._waiting.items() if answer.done()]:
            self.lexed.emit(key, self._waiting.pop(key).result())
        if not self._waiting and self._worker is not None:
            self.stop()


def colour(document: QTextDocument, runs: Sequence[Run], tokens: Tokens) -> None:
    """Colour the text of a document; its layout stays as it is."""
    formats = {kind: _format(name, tokens) for kind, name in _COLOURS.items()}
    ranges: dict[int, list[QTextLayout.FormatRange]] = {}
    for start, length, kind in runs:
        position, end = start, start + length
        while position < end:
            block = document.findBlock(position)
            if not block.isValid():
                break
            stop = min(end, block.position() + block.length())
            piece = QTextLayout.FormatRange()
            piece.start, piece.length = position - block.position(), stop - position
            piece.format = formats[kind]
            ranges.setdefault(block.blockNumber(), []).append(piece)
            position = stop
    for number, pieces in ranges.items():
        block = document.findBlockByNumber(number)
        block.layout().setFormats(pieces)
        document.markContentsDirty(block.position(), block.length())


def _format(name: str, tokens: Tokens) -> QTextCharFormat:
    result = QTextCharFormat()
    if name.startswith("speaker "):
        result.setForeground(QColor(tokens.speakers[int(name[-1])][0]))
    else:
        result.setForeground(QColor(getattr(tokens, name)))
    return result
