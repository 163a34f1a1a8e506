"""The rows of a transcript that have documents now: made when asked for, the oldest thrown away."""

from collections import OrderedDict
from collections.abc import Callable

from app.core.message import STREAMING
from app.gui.chat.message_row import MessageRow
from app.gui.chat.row_style import RowStyle
from app.gui.chat.segments import Segment
from app.gui.chat.transcript_model import TranscriptModel
from app.gui.markdown.blocks import CODE
from app.gui.markdown.highlight import colour, lex

MAX_DOCUMENTS = 80


class RowStore:
    """Rows by message id."""

    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self._rows: OrderedDict[str, MessageRow] = OrderedDict()

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

    def drop_pictures(self, keep: set[str]) -> None:
        """Give back the memory of the pictures of all rows but those of `keep`."""
        for message_id, row in self._rows.items():
            if row.has_picture and message_id not in keep:
                row.drop_picture()

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

    def highlight(self, row: MessageRow) -> bool:
        """Colour the next piece of a row's finished code; say whether anything looks different now."""
        segment = _plain_code(row)[0]
        segment.highlighted = True
        runs = lex(segment.blocks[0].language, segment.blocks[0].text)
        if runs and segment.document is not None:
            colour(segment.document, runs, row.style.tokens)
            row.drop_picture()
        return bool(runs)

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


def _plain_code(row: MessageRow) -> list[Segment]:
    growing = row.segments[-1] if row.segments and row.message.state == STREAMING else None
    return [
        segment
        for segment in row.segments
        if segment.kind == CODE and not segment.highlighted and segment is not growing
    ]
