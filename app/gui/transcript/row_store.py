"""The rows of a transcript that have documents now: made when asked for, the oldest thrown away."""

from collections import OrderedDict
from collections.abc import Callable

from app.core.message import MessageState
from app.gui.markdown.highlight import colour, lex
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.row_maker import RowMaker
from app.gui.transcript.row_pictures import RowPictures
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segments import Segment
from app.gui.transcript.transcript_model import TranscriptModel

MAX_DOCUMENTS = 48


class RowStore:
    """Rows by their ids."""

    def __init__(self, model: TranscriptModel, maker: RowMaker) -> None:
        self._model = model
        self._maker = maker
        self.pictures = RowPictures()
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
        self.pictures.drop(row_id)

    def clear(self) -> None:
        """Throw all rows away."""
        self._rows.clear()
        self.pictures.keep(())

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

    def plain_code(self, row: PaintedRow) -> Segment | None:
        """Return the first piece of a row's finished code that has no colours yet."""
        return row.plain_code(growing=row.message.state == MessageState.STREAMING)

    def highlight(self, row: PaintedRow, segment: Segment) -> bool:
        """Colour a piece of code; return whether it looks different now."""
        segment.highlighted = True
        runs = lex(segment.blocks[0].language, segment.blocks[0].text)
        if runs and segment.document is not None:
            colour(segment.document, segment.blocks[0].text, runs, row.style.tokens)
            self.pictures.drop(row.row_id)
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
                held -= self._rows[row_id].documents
                self.drop(row_id)
