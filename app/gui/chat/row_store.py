"""The rows of a transcript that have documents now: made when asked for, the oldest thrown away."""

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.core.message import STREAMING
from app.gui.chat.message_row import MessageRow
from app.gui.chat.row_style import RowStyle
from app.gui.chat.segments import Segment
from app.gui.chat.transcript_model import TranscriptModel
from app.gui.markdown.blocks import CODE
from app.gui.markdown.highlight import Highlighter, Run, colour

MAX_DOCUMENTS = 120


class RowStore(QObject):
    """Rows by message id; emits `coloured(message id)` when a row's code got its colours."""

    coloured = Signal(str)

    def __init__(self, model: TranscriptModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._rows: OrderedDict[str, MessageRow] = OrderedDict()
        self._highlighter = Highlighter(self)
        self._highlighter.lexed.connect(self._on_lexed)

    @property
    def rows(self) -> list[MessageRow]:
        """The rows that are held."""
        return list(self._rows.values())

    def get(self, message_id: str) -> MessageRow | None:
        """Return a row if it is held."""
        return self._rows.get(message_id)

    def drop(self, message_id: str) -> None:
        """Throw a row away."""
        self._rows.pop(message_id, None)

    def clear(self) -> None:
        """Throw all rows away."""
        self._rows.clear()

    def row(self, index: int, style: RowStyle, width: int, keep: Callable[[], set[str]]) -> MessageRow:
        """Return the row of a message, made now if need be; those of `keep` are not thrown away."""
        message = self._model.messages[index]
        row = self._rows.get(message.id)
        if row is not None:
            self._rows.move_to_end(message.id)
            return row
        context = self._model.context(index, style.tokens, style.texts)
        row = MessageRow(message, self._model.text(index), style, context, width)
        self._rows[message.id] = row
        self._drop_oldest(keep)
        return row

    def wants_colour(self, row: MessageRow) -> bool:
        """Whether a row has finished code without colours."""
        return bool(_plain_code(row))

    def highlight(self, row: MessageRow) -> None:
        """Ask for the colours of a row's finished code."""
        for segment in _plain_code(row):
            segment.highlighted = True
            block = segment.blocks[0]
            key = f"{row.message.id}|{segment.start}|{segment.length}"
            self._highlighter.ask(key, block.language, block.text)

    def rest(self) -> None:
        """Colour nothing more until rows are painted again."""
        self._highlighter.stop()
        for row in self._rows.values():
            for segment in row.segments:
                segment.highlighted = False

    def _drop_oldest(self, keep: Callable[[], set[str]]) -> None:
        held = sum([row.documents for row in self._rows.values()])
        if held <= MAX_DOCUMENTS:
            return
        kept = keep()
        for message_id in list(self._rows)[:-1]:
            if held <= MAX_DOCUMENTS:
                return
            if message_id not in kept:
                held -= self._rows.pop(message_id).documents

    def _on_lexed(self, key: str, runs: list[Run]) -> None:
        message_id, start, length = key.rsplit("|", 2)
        row = self._rows.get(message_id)
        if row is None or not runs:
            return
        wanted = (CODE, int(start), int(length))
        for segment in row.segments:
            if (segment.kind, segment.start, segment.length) == wanted and segment.document is not None:
                colour(segment.document, runs, row.style.tokens)
                row.drop_picture()
                self.coloured.emit(message_id)


def _plain_code(row: MessageRow) -> list[Segment]:
    growing = row.segments[-1] if row.segments and row.message.state == STREAMING else None
    return [
        segment
        for segment in row.segments
        if segment.kind == CODE and not segment.highlighted and segment is not growing
    ]
