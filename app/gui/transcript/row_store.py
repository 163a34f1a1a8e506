"""The rows that have documents now: made when they are needed or soon will be, the oldest dropped."""

from collections import OrderedDict
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.core.message import Message, MessageState
from app.core.texts import Texts
from app.core.usage import tokens_text
from app.core.workflow import WORKFLOW
from app.engine.workflow.run import read_by_people
from app.gui.markdown.blocks import clean
from app.gui.markdown.highlight import colour, lex
from app.gui.transcript.call_rows import CallState, CardContext, CardRow, links_of
from app.gui.transcript.group_rows import GroupContext, GroupRow
from app.gui.transcript.message_row import MessageContext, MessageRow
from app.gui.transcript.painted_row import PaintedRow, RowContext
from app.gui.transcript.question_row import HeightOf, QuestionContext, QuestionRow
from app.gui.transcript.row_pixels import RowPictures
from app.gui.transcript.row_scroller import Placed
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.row_tree import CARD, GROUP, QUESTION, SUMMARY
from app.gui.transcript.row_words import GUIDED, title
from app.gui.transcript.segments import Segment
from app.gui.transcript.summary_row import SummaryContext, SummaryRow
from app.gui.transcript.transcript_model import TranscriptModel
from app.gui.transcript.turn_book import seconds_since

_ROWS: dict[type[RowContext], type[PaintedRow]] = {
    CardContext: CardRow,
    GroupContext: GroupRow,
    QuestionContext: QuestionRow,
    SummaryContext: SummaryRow,
}

_FAILED_CHIPS: dict[str, str] = {
    MessageState.FAILED: "transcript.failed_chip",
    MessageState.STOPPED: "transcript.stopped",
}


class RowMaker:
    """Makes the rows of a model; `height_of` gives the height of the widget of an open question."""

    def __init__(self, model: TranscriptModel, height_of: HeightOf) -> None:
        self._model = model
        self._height_of = height_of

    def make(self, index: int, style: RowStyle, width: int) -> PaintedRow:
        """Return a new row, laid out in a width in pixels."""
        model = self._model
        row_id, message, context = model.id(index), model.message(index), self.context(index, style)
        if isinstance(context, MessageContext):
            return MessageRow(message, self._text(index, style), style, context, width)
        return _ROWS[type(context)](row_id, message, style, context, width)

    def renew(self, index: int, row: PaintedRow) -> None:
        """Bring a row up to date with the model."""
        message, context = self._model.message(index), self.context(index, row.style)
        if isinstance(row, MessageRow) and isinstance(context, MessageContext):
            row.renew(message, self._text(index, row.style), context)
        else:
            row.show(message, context)

    def context(self, index: int, style: RowStyle) -> RowContext:
        """Return what a row shows besides its message."""
        kind = self._model.entries[index].kind
        if kind == CARD:
            return self._card(index, style)
        if kind == GROUP:
            return self._group(index, style)
        if kind == QUESTION:
            return QuestionContext(height_of=self._height_of, frame=self._model.frame(index, style.tokens))
        if kind == SUMMARY:
            return self._summary(index, style)
        return self._model.context(index, style.tokens, style.texts)

    def _summary(self, index: int, style: RowStyle) -> SummaryContext:
        model, row_id = self._model, self._model.id(index)
        return SummaryContext(
            unused=row_id in model.unused,
            unfolded=row_id in model.unfolded,
            frame=model.frame(index, style.tokens),
        )

    def _text(self, index: int, style: RowStyle) -> str:
        return shown_text(self._model.message(index), self._model.text(index), style.texts)

    def _card(self, index: int, style: RowStyle) -> CardContext:
        model, book = self._model, self._model.book
        entry, message = model.entries[index], model.message(index)
        call = message.tool_calls[entry.call]
        result = book.messages.get(entry.result_id)
        starts = book.calls_agent(message.turn_id, call)
        state = book.call_state(message, call, entry.result_id, runs=model.runs)
        runs = state == CallState.RUNNING
        return CardContext(
            call=call,
            state=state,
            elapsed_s=seconds_since(result.created_at) if result is not None and runs else None,
            seconds=result.seconds if result is not None else None,
            result=result.content if result is not None else "",
            result_id=entry.result_id,
            progress=book.progress(message.turn_id, call.id) if runs else None,
            files=result.attachments if result is not None else (),
            links=links_of(result) if result is not None else (),
            names=model.names,
            permission=book.permission(message.turn_id, call.id),
            depth=message.author.depth + 1 if starts else 0,
            unfolded=entry.id in model.unfolded,
            whole=entry.id in model.whole,
            frame=model.frame(index, style.tokens),
        )

    def _group(self, index: int, style: RowStyle) -> GroupContext:
        model, book, texts = self._model, self._model.book, style.texts
        message = model.message(index)
        turn_id = message.turn_id
        waiting = book.waits(turn_id)
        runs = model.runs and not waiting and book.goes_on(turn_id)
        folded = turn_id in model.folded
        tokens = book.tokens(turn_id)
        failure = "" if runs or waiting else book.failure(turn_id)
        doing = ""
        if runs and folded:
            called = book.last_call(turn_id)
            doing = title(called, texts, model.names, done=False)[:80] if called else ""
            doing = doing or texts("transcript.group.writing")
        return GroupContext(
            speaker=model.speaker(message.author, message.role, style.tokens, texts),
            of_step=_of_step(message),
            path=" › ".join([self._step(model.names.get(step, step)) for step in self._path(message)]),
            steps=book.steps(turn_id),
            tokens=tokens_text(tokens) if tokens else "",
            folded=folded,
            runs=runs,
            waiting=waiting,
            failed=_FAILED_CHIPS.get(failure, ""),
            guided=any(each.why == GUIDED for each in book.whole(turn_id)),
            doing=doing,
            elapsed_s=book.elapsed(turn_id) if runs and folded else 0,
            frame=model.frame(index, style.tokens),
        )

    def _path(self, message: Message) -> tuple[str, ...]:
        path = message.author.path
        return path if len(path) > 1 and not _of_step(message) else ()

    @staticmethod
    def _step(step: str) -> str:
        return " ".join(clean(step).split())[:40]


def shown_text(message: Message, text: str, texts: Texts) -> str:
    """Return the text of a message as it is shown; of a step, without the protocol lines that end it."""
    if not _of_step(message):
        return text
    shown, artifacts = read_by_people(text, ended=message.state != MessageState.STREAMING)
    # A list begins on a line of its own.
    made = f"\n\n{artifacts}" if "\n" in artifacts else artifacts
    return f"{shown}\n\n{texts('step.artifacts', text=made)}" if artifacts else shown


def goes_on(row: object) -> bool:
    """Return whether a row shows what a folded sub-agent does, that a model thinks, or how long a tool runs."""
    if isinstance(row, GroupRow):
        return row.context.runs and row.context.folded
    if isinstance(row, CardRow):
        # Of a sub-agent its head tells.
        return row.context.elapsed_s is not None and not row.context.depth
    return isinstance(row, MessageRow) and row.thinks


def _of_step(message: Message) -> bool:
    """Return whether a message is from a step of a workflow."""
    path = message.author.path
    return len(path) == 2 and path[0] == WORKFLOW


MAX_DOCUMENTS = 48
AHEAD_MS = 3


class RowStore:
    """The rows that are held, by id."""

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
        """Drop a row and its picture."""
        self._rows.pop(row_id, None)
        self.pictures.drop(row_id)

    def clear(self) -> None:
        """Drop all rows."""
        self._rows.clear()
        self.pictures.keep(())

    def row(self, index: int, style: RowStyle, width: int, keep: Callable[[], set[str]]) -> PaintedRow:
        """Return a row, made if it is not held; those of `keep` are not dropped."""
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
        return row.text.plain_code(growing=row.message.state == MessageState.STREAMING)

    def highlight(self, row: PaintedRow, segment: Segment) -> bool:
        """Colour a piece of code; return whether it looks different now."""
        segment.highlighted = True
        runs = lex(segment.blocks[0].language, segment.blocks[0].text)
        if runs and segment.document is not None:
            colour(segment.document, segment.blocks[0].text, runs, row.style.tokens)
            self.pictures.drop(row.row_id)
        return bool(runs)

    def _drop_oldest(self, keep: Callable[[], set[str]]) -> None:
        held = sum([row.text.documents for row in self._rows.values()])
        if held <= MAX_DOCUMENTS:
            return
        kept = keep()
        for row_id in list(self._rows)[:-1]:
            if held <= MAX_DOCUMENTS:
                return
            if row_id not in kept:
                held -= self._rows[row_id].text.documents
                self.drop(row_id)


class LookAhead(QObject):
    """Finds rows to make before they are seen; emits `row_wanted(index)` for one at a time between frames."""

    row_wanted = Signal(int)

    def __init__(
        self,
        model: TranscriptModel,
        rows: RowStore,
        on_screen: Callable[[], list[Placed]],
        area: QAbstractScrollArea,
    ) -> None:
        super().__init__(area)
        self._model = model
        self._rows = rows
        self._on_screen = on_screen
        self._area = area
        self._downwards = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(AHEAD_MS)
        self._timer.timeout.connect(self._on_time)

    def start(self, *, downwards: bool) -> None:
        """Look for rows within a screen in the direction of the scroll, once the frame is done."""
        self._downwards = downwards
        self._timer.start()

    def stop(self) -> None:
        """Stop looking for rows."""
        self._timer.stop()

    def _on_time(self) -> None:
        row = self._next_row()
        if row is not None:
            self.row_wanted.emit(row)
            self._timer.start()

    def near(self) -> set[str]:
        """Return the ids of the held rows on screen or within a screen of it."""
        placed = self._on_screen()
        model = self._model
        result = {model.id(each.row) for each in placed}
        for step, edge in ((1, -1), (-1, 0)) if placed else ():
            row, room = placed[edge].row + step, self._area.viewport().height()
            while 0 <= row < len(model.entries) and room > 0:
                made = self._rows.get(model.id(row))
                if made is None:
                    break
                result.add(model.id(row))
                room -= made.height
                row += step
        return result

    def _next_row(self) -> int | None:
        """Return the nearest row in the direction of the scroll that is not made yet."""
        placed = self._on_screen()
        if not placed:
            return None
        step, edge = (1, placed[-1]) if self._downwards else (-1, placed[0])
        row, room = edge.row + step, self._area.viewport().height()
        pictures = self._rows.pictures
        while 0 <= row < len(self._model.entries) and room > 0:
            made = self._rows.get(self._model.id(row))
            if made is None or (pictures.can_have(made) and not pictures.has(made)):
                return row
            room -= made.height
            row += step
        return None
