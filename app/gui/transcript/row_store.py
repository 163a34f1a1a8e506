"""The rows of a transcript that have documents now: made when asked for, the oldest thrown away."""

from collections import OrderedDict
from collections.abc import Callable

from app.core.message import MessageState
from app.gui.markdown.blocks import CODE
from app.gui.markdown.highlight import colour, lex
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.row_maker import RowMaker
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segments import Segment
from app.gui.transcript.transcript_model import TranscriptModel

MAX_DOCUMENTS = 80


class RowStore:
    """Rows by their ids."""

    def __init__(self, model: TranscriptModel, maker: RowMaker) -> None:
        self._model = model
        self._maker = maker
        self._rows: OrderedDict[str, PaintedRow] = OrderedDict()

    @property
    def rows(self) -> list[PaintedRow]:
        """The rows that are held."""
        return list(self._rows.values())

    def get(self, row_id: str) -> PaintedRow | None:
        """Return a row if it is held."""
        return self._rows.get(row_id)

    def drop(self, row_id: str) -> None:
        """Throw a row away."""
        self._rows.pop(row_id, None)

    def drop_pictures(self, keep: set[str]) -> None:
        """Give back the memory of the pictures of all rows but those of `keep`."""
        for row_id, row in self._rows.items():
            if row.has_picture and row_id not in keep:
                row.drop_picture()

    def clear(self) -> None:
        """Throw all rows away."""
        self._rows.clear()

    def row(self, index: int, style: RowStyle, width: int, keep: Callable[[], set[str]]) -> PaintedRow:
        """Return a row, made now if need be; those of `keep` are not thrown away."""
        row_id = self._model.id(index)
        row = self._rows.get(row_id)
        if row is not None:
            self._rows.move_to_end(row_id)
            return row
        row = self._maker.make(index, style, width)
        self._rows[row_id] = row
        self._drop_oldest(keep)
        return row

    def wants_colour(self, row: PaintedRow) -> bool:
        """Whether a row has finished code without colours."""
        return bool(_plain_code(row))

    def highlight(self, row: PaintedRow) -> bool:
        """Colour the next piece of a row's finished code; say whether anything looks different now."""
        segment = _plain_code(row)[0]
        segment.highlighted = True
        runs = lex(segment.blocks[0].language, segment.blocks[0].text)
        if runs and segment.document is not None:
            colour(segment.document, segment.blocks[0].text, runs, row.style.tokens)
            row.drop_picture()
        return bool(runs)

    def _drop_oldest(self, keep: Callable[[], set[str]]) -> None:
        held = sum([row.documents for row in self._rows.values()])
        if held <= MAX_DOCUMENTS:
            return
        kept = keep()
        for row_id in list(self._rows)[:-1]:
            if held <= MAX_DOCUMENTS:
                return
            if row_id not in kept:
                held -= self._rows.pop(row_id).documents


def _plain_code(row: PaintedRow) -> list[Segment]:
    growing = row.segments[-1] if row.segments and row.message.state == MessageState.STREAMING else None
    return [
        segment
        for segment in row.segments
        if segment.kind == CODE and not segment.highlighted and segment is not growing
    ]
