"""Where the rows of a transcript are on the screen: laid out where they are seen, painted, kept in place.

`Rows` has the rows with documents: made when they are needed or soon will be, the oldest dropped. The
position is a row and an offset in it, so it holds while heights above change.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import thread_time

from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.core.message import MessageState, tokens_text
from app.gui.display.descriptions import time_text
from app.gui.markdown.document import colour, lex
from app.gui.transcript import call_rows, transcript_model
from app.gui.transcript.message_rows import HeightOf, MessageContext, MessageRow, QuestionContext, QuestionRow
from app.gui.transcript.painted_row import HeaderChip, PaintedRow, RowContext
from app.gui.transcript.row_heights import Placed, RowHeights, RowScroller
from app.gui.transcript.row_text import Range, RowStyle, Segment
from app.gui.transcript.row_words import ENDED_CHIPS, GUIDED, one_line, title
from app.gui.transcript.transcript_model import TranscriptModel

_ROWS: dict[type[RowContext], type[PaintedRow]] = {
    MessageContext: MessageRow,
    call_rows.CardContext: call_rows.CardRow,
    call_rows.GroupContext: call_rows.GroupRow,
    QuestionContext: QuestionRow,
    call_rows.SummaryContext: call_rows.SummaryRow,
}

MAX_DOCUMENTS = 48


class Rows(OrderedDict[str, PaintedRow]):
    """Makes the rows of a model and holds those that are near the screen, by id.

    `height_of` gives the height of the widget of an open question.
    """

    def __init__(self, model: TranscriptModel, height_of: HeightOf) -> None:
        super().__init__()
        self._model, self._height_of = model, height_of

    def make(self, index: int, style: RowStyle, width: int) -> PaintedRow:
        """Return a new row, laid out in a width in pixels."""
        model, context = self._model, self.context(index, style)
        return _ROWS[type(context)](model.id(index), model.message(index), style, context, width)

    def renew(self, index: int, row: PaintedRow) -> None:
        """Bring a row up to date with the model."""
        row.show(self._model.message(index), self.context(index, row.style))

    def context(self, index: int, style: RowStyle) -> RowContext:
        """Return what a row shows besides its message."""
        model, kind, row_id = self._model, self._model.entries[index].kind, self._model.id(index)
        if kind == transcript_model.CARD:
            return self._card(index, style)
        if kind == transcript_model.GROUP:
            return self._group(index, style)
        if kind == transcript_model.MESSAGE:
            return model.context(index, style.tokens, style.texts)
        frame = model.frame(index, style.tokens)
        if kind == transcript_model.QUESTION:
            return QuestionContext(frame, height_of=self._height_of)
        return call_rows.SummaryContext(frame, row_id in model.unfolded, unused=row_id in model.unused)

    def _card(self, index: int, style: RowStyle) -> call_rows.CardContext:
        model, book = self._model, self._model.book
        entry, message = model.entries[index], model.message(index)
        call = message.tool_calls[entry.call]
        result = book.messages.get(entry.result_id)
        starts = book.calls_agent(message.turn_id, call)
        state = book.call_state(message, call, entry.result_id, runs=model.runs)
        runs, done = state == call_rows.CallState.RUNNING, state == call_rows.CallState.DONE
        returned, proposed = (result.content, result.proposal) if result else ("", None)
        said = title(call, style.texts, model.names, done=done, result=returned, proposal=proposed)
        return call_rows.CardContext(
            call=call,
            title=said,
            state=state,
            result=result,
            elapsed_s=transcript_model.seconds_since(result.created_at) if result and runs else None,
            progress=book.progress(message.turn_id, call.id) if runs else None,
            permission=book.permission(message.turn_id, call.id),
            depth=message.author.depth + 1 if starts else 0,
            unfolded=entry.id in model.unfolded,
            whole=entry.id in model.whole,
            frame=model.frame(index, style.tokens),
        )

    def _group(self, index: int, style: RowStyle) -> call_rows.GroupContext:
        model, book, texts = self._model, self._model.book, style.texts
        message = model.message(index)
        turn_id, of_step = message.turn_id, transcript_model.of_step(message)
        waiting = book.waits(turn_id)
        runs = model.runs and not waiting and book.goes_on(turn_id)
        unfolded = turn_id not in model.folded
        chips = [HeaderChip(texts("transcript.group.step" if of_step else "transcript.group.sub_agent"))]
        if any(each.why == GUIDED for each in book.whole(turn_id)):
            chips.append(HeaderChip(texts("why.guided")))
        if waiting:
            chips.append(HeaderChip(texts("transcript.waiting_for_you"), "warn"))
        elif not runs and (failure := ENDED_CHIPS.get(book.failure(turn_id))):
            chips.append(HeaderChip(texts(failure[0]), "error"))
        said = [texts("transcript.group.steps", count=book.steps(turn_id))]
        if runs and not unfolded:
            called = book.last_call(turn_id)
            doing = title(called, texts, model.names, done=False)[:80] if called else ""
            doing = doing or texts("transcript.group.writing")
            said = [doing, time_text(book.elapsed(turn_id), texts)]
        if tokens := book.tokens(turn_id):
            said.append(texts("transcript.group.tokens", tokens=tokens_text(tokens)))
        path = () if of_step else message.author.path
        names = [one_line(model.names.get(step, step))[:40] for step in path]
        return call_rows.GroupContext(
            speaker=model.speaker(message.author, message.role, style.tokens, texts),
            chips=tuple(chips),
            path=" › ".join(names) if len(names) > 1 else "",
            summary=" · ".join(said),
            result="" if unfolded or runs or waiting else model.result_line(turn_id, texts),
            unfolded=unfolded,
            runs=runs,
            waiting=waiting,
            frame=model.frame(index, style.tokens),
        )

    def row(self, index: int, style: RowStyle, width: int, keep: Callable[[], set[str]]) -> PaintedRow:
        """Return a row, made if it is not held; those of `keep` are not dropped."""
        row_id = self._model.id(index)
        if row_id in self:
            self.move_to_end(row_id)
        else:
            self[row_id] = self.make(index, style, width)
            self._drop_oldest(keep)
        return self[row_id]

    def plain_code(self, row: PaintedRow) -> Segment | None:
        """Return the first piece of a row's finished code that has no colours yet."""
        return row.text.plain_code(growing=row.message.state == MessageState.STREAMING)

    def highlight(self, row: PaintedRow, segment: Segment) -> bool:
        """Colour a piece of code; return whether it looks different now."""
        segment.highlighted = True
        runs = lex(segment.blocks[0].language, segment.blocks[0].text)
        if runs and segment.document is not None:
            colour(segment.document, segment.blocks[0].text, runs, row.style.tokens)
        return bool(runs)

    def _drop_oldest(self, keep: Callable[[], set[str]]) -> None:
        held = sum([row.text.documents for row in self.values()])
        if held <= MAX_DOCUMENTS:
            return
        kept = keep()
        for row_id in list(self)[:-1]:
            if held <= MAX_DOCUMENTS:
                return
            if row_id not in kept:
                held -= self.pop(row_id).text.documents


def goes_on(row: object) -> bool:
    """Return whether a row shows what a folded sub-agent does, that a model thinks, or how long a tool
    runs.
    """
    if isinstance(row, call_rows.GroupRow):
        return row.context.runs and not row.context.unfolded
    if isinstance(row, call_rows.CardRow):
        # Of a sub-agent its head tells.
        return row.context.elapsed_s is not None and not row.context.depth
    return isinstance(row, MessageRow) and row.thinks


AHEAD_MS = 3
"""After a frame and this time, a row that comes next is made."""
CALM_MS = 80
"""Code is coloured when nothing has been scrolled for this time."""


def single_shot(parent: QObject, slot: Callable[[], None]) -> QTimer:
    """Return a timer that calls `slot` once after each start."""
    timer = QTimer(parent, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(slot)
    return timer


class Canvas(QObject):
    """The rows of a model in the viewport of a scroll area, and the position of its scroll bar.

    Signals: `refreshed` after each change of what is on screen, `scrolled` when the bar is moved.
    """

    refreshed = Signal()
    scrolled = Signal()

    def __init__(
        self, area: QAbstractScrollArea, model: TranscriptModel, style: RowStyle, height_of: HeightOf
    ) -> None:
        """`height_of` gives the height of the widget of an open question."""
        super().__init__(area)
        self.area, self.style, self._model = area, style, model
        self.placed: list[Placed] = []
        self._ids: list[str] = []
        self.dirty: set[str] = set()
        """Ids of rows with changes that are not laid out yet."""
        self.rows = Rows(model, height_of)
        self._width = area.viewport().width()
        self.scroller = RowScroller(RowHeights(style.estimate(self._width)), self._measure)
        self._ahead = single_shot(self, self._on_ahead)
        self._step = 1
        self._calm = single_shot(self, self._on_calm)
        self._held: tuple[str, int, int] | None = None
        self._bar = area.verticalScrollBar()
        self._synced = -1
        self._syncing = False
        self._value = 0
        self._bar.valueChanged.connect(self._on_scrolled)
        self._bar.sliderReleased.connect(self._sync_bar)

    # Rows

    def row(self, index: int) -> PaintedRow:
        """Return a row with its documents; it is made if it is not held."""
        return self.rows.row(index, self.style, self._width, self.seen)

    def seen(self) -> set[str]:
        """Return the ids of the rows on screen."""
        return set(self._ids)

    def row_at(self, point: QPoint) -> tuple[PaintedRow, QPoint] | None:
        """Return the row nearest to a point of the viewport, and the point in it."""
        for placed in self.placed:
            if point.y() < placed.top + placed.height or placed is self.placed[-1]:
                return self.row(placed.row), QPoint(point.x(), point.y() - placed.top)
        return None

    def placed_at(self, y: int) -> Placed | None:
        """Return the row at a height of the viewport, None where there is none."""
        return next((each for each in self.placed if each.top <= y < each.top + each.height), None)

    def rect_of(self, row_id: str) -> QRect | None:
        """Return where a row is in the viewport; None while it is off screen."""
        for placed in self.placed:
            if self._model.id(placed.row) == row_id:
                return QRect(0, placed.top, self.area.viewport().width(), placed.height)
        return None

    def renew(self, row_ids: Collection[str]) -> None:
        """Bring rows up to date with the model, and paint them if they are on screen."""
        changed = {row_id for row_id in row_ids if row_id in self._model}
        for row_id in changed:
            index = self._model.index(row_id)
            if (row := self.rows.get(row_id)) is not None:
                self.rows.renew(index, row)
            self.scroller.heights.splice(index, 1, [self._model.size(index)])
        self.refresh(changed)

    def renew_all(self) -> None:
        """Make all rows anew."""
        self.rows.clear()
        self.refresh(None)

    def _measure(self, index: int) -> int:
        """Lay a row out, text that came in included; return its height in pixels."""
        row = self.row(index)
        if row.row_id in self.dirty:
            live = self._model.live.get(row.row_id)
            if live and isinstance(row, MessageRow) and not self._model.message(index).thinking:
                row.add(live.after(row.fed))
            else:
                self.rows.renew(index, row)
            self.dirty.discard(row.row_id)
        row.set_width(self._width)
        self.scroller.heights.measure(index, row.height)
        return row.height

    # Rows that come and go

    def reset(self, footer: int) -> None:
        """Lay out the rows of the model from the end, with `footer` pixels under the last."""
        self.rows.clear()
        self.dirty.clear()
        self._held = None
        heights = RowHeights(self.style.estimate(self._width))
        heights.splice(0, 0, [self._model.size(index) for index in range(len(self._model.entries))])
        self.placed, self._ids = [], []
        self.scroller = RowScroller(heights, self._measure)
        self.scroller.footer = footer
        self.refresh(None)

    def apply(self, splice: transcript_model.Splice) -> list[str]:
        """Follow the model, some of whose rows were replaced; return the ids of those that stayed
        but changed.
        """
        start, removed, added = splice
        if not removed and not added:
            return []
        heights, scroller, model = self.scroller.heights, self.scroller, self._model
        sizes = [model.size(start + place) for place in range(len(added))]
        at_end = start == len(heights)
        heights.splice(start, len(removed), sizes)
        if at_end:
            return []
        inside = 0 <= scroller.row - start < len(removed)
        anchor, offset = (removed[scroller.row - start].id, scroller.offset) if inside else ("", 0)
        scroller.rows_spliced(start, len(removed), len(added))
        if anchor in model:
            scroller.row, scroller.offset = model.index(anchor), offset
        if self._held is not None and self._held[0] not in model:
            self._held = None
        pairs = zip(self._ids, self.placed, strict=True)
        self.placed = [replace(each, row=model.index(row_id)) for row_id, each in pairs if row_id in model]
        self._ids = [model.id(each.row) for each in self.placed]
        for entry in removed:
            if entry.id not in model:
                self.rows.pop(entry.id, None)
        return [entry.id for entry in removed if entry.id in model]

    # The position

    @property
    def place(self) -> tuple[str, int]:
        """The row at the upper edge, and how many pixels of it are above."""
        model = self._model
        return (model.id(self.scroller.row) if model.entries else "", self.scroller.offset)

    def show(self, index: int, offset: int = 0) -> None:
        """Put a row at the upper edge, `offset` pixels of it above."""
        self._held = None
        self.scroller.show_row(index, offset)
        self.refresh(None)

    def keeping(self, row_id: str, change: Callable[[], object]) -> None:
        """Do something while a row stays at its place on the screen."""
        rect = self.rect_of(row_id)
        self._held = None
        change()
        if rect is not None:
            self.scroller.show_row(self._model.index(row_id), -rect.top())
        self.refresh(None)

    def set_footer(self, height: int) -> None:
        """Leave so many pixels under the last row."""
        if self.scroller.footer != height:
            self.scroller.footer = height
            self.refresh(None)

    def footer_rect(self) -> QRect:
        """Return the space under the last row."""
        top = self.placed[-1].top + self.placed[-1].height if self.placed else self.style.lead
        return QRect(0, top, self.area.viewport().width(), self.scroller.footer)

    def restyle(self, style: RowStyle) -> None:
        """Paint in another look."""
        self.style = style
        self.rows.clear()
        self._forget_heights()
        self.refresh(None)

    def resized(self) -> None:
        """Take the size of the viewport."""
        self.scroller.viewport = self.area.viewport().height()
        width = self.area.viewport().width()
        if width != self._width:
            self._width = width
            self._forget_heights()
        self.refresh(None)

    def _forget_heights(self) -> None:
        """Lay out anew so that the text at the upper edge stays there, however often this is done."""
        scroller, estimate = self.scroller, self.style.estimate(self._width)
        if scroller.follow or not self.placed:
            scroller.heights.set_estimate(estimate)
            return
        if self._held is None:
            row = self.row(scroller.row)
            position = row.text.position_at(QPoint(0, scroller.offset))
            below = scroller.offset - row.position_rect(position).top()
            self._held = (row.row_id, position, below)
        scroller.heights.set_estimate(estimate)
        row_id, position, below = self._held
        index = self._model.index(row_id)
        self._measure(index)
        scroller.show_row(index, max(0, self.row(index).position_rect(position).top() + below))

    # The screen

    def refresh(self, changed: Collection[str] | None, *, bar_holds: bool = False) -> None:
        """Place the rows anew and paint what changed: these rows, or everything for None."""
        old = {placed.row: placed for placed in self.placed}
        self.scroller.viewport = self.area.viewport().height()
        self.placed = self.scroller.visible()
        self._ids = [self._model.id(each.row) for each in self.placed]
        if not bar_holds or self._synced != self.scroller.heights.version or not self.scroller.row:
            self._sync_bar()
        if changed is None or not self._move_pixels(old, changed):
            self.area.viewport().update()
        self.refreshed.emit()

    def repaint(self) -> None:
        """Paint everything that is on screen again."""
        self.area.viewport().update()

    def _move_pixels(self, old: dict[int, Placed], changed: Collection[str]) -> bool:
        """Move the pixels of the rows that only moved and update the others; return False
        where all must be painted.
        """
        viewport, now = self.area.viewport(), self.placed
        width, height = viewport.width(), viewport.height()
        distances = {placed.top - old[placed.row].top for placed in now if placed.row in old}
        if len(distances) != 1 and now:
            return False
        distance = distances.pop() if distances else 0
        if abs(distance) >= height:
            return False
        if distance:
            direct = Qt.FindChildOption.FindDirectChildrenOnly
            # With a rectangle the widgets over the rows stay where they are.
            viewport.scroll(0, distance, QRect(0, 0, width, height))
            for over in viewport.findChildren(QWidget, options=direct):
                if over.isVisible():
                    viewport.update(over.geometry().united(over.geometry().translated(0, distance)))
        for placed in now:
            before = old.get(placed.row)
            if before is None:
                viewport.update(0, placed.top, width, placed.height)
            elif placed.height != before.height or self._model.id(placed.row) in changed:
                row = self.row(placed.row)
                top, row.changed_from = placed.top + row.changed_from, 0
                end = height if placed.height != before.height else placed.top + placed.height
                viewport.update(0, top, width, end - top)
        return True

    def paint(
        self, painter: QPainter, area: QRect, ranges_of: Callable[[int, PaintedRow], Sequence[Range]]
    ) -> None:
        """Paint what lies in `area`; `ranges_of` gives what is marked in a row."""
        background = QColor(self.style.tokens.bg)
        end = self.placed[-1].top + self.placed[-1].height if self.placed else 0
        if end <= area.bottom():
            painter.fillRect(area.adjusted(0, max(0, end - area.top()), 0, 0), background)
        for placed in self.placed:
            if placed.top > area.bottom() or placed.top + placed.height < area.top():
                continue
            row = self.row(placed.row)
            ranges = ranges_of(placed.row, row)
            if not self._calm.isActive() and self.rows.plain_code(row):
                self._calm.start(CALM_MS)
            clip = area.intersected(QRect(0, placed.top, self._width, placed.height))
            painter.save()
            painter.setClipRect(clip)
            painter.fillRect(clip, background)
            painter.translate(0, placed.top)
            row.paint(painter, clip.translated(0, -placed.top), ranges)
            painter.restore()

    def stop(self) -> None:
        """Do nothing between frames while nothing is shown."""
        self._ahead.stop()
        self._calm.stop()

    def _on_calm(self) -> None:
        """Colour the code that is read, not what is only scrolled past, a little at a time."""
        until = thread_time() + 0.004
        for placed in self.placed:
            row = self.row(placed.row)
            while segment := self.rows.plain_code(row):
                if thread_time() >= until:
                    self._calm.start(0)
                    return
                if self.rows.highlight(row, segment):
                    self.area.viewport().update(0, placed.top, self._width, placed.height)

    def _on_ahead(self) -> None:
        """Make the nearest row within a screen in the direction of the scroll before it is seen,
        later the next.
        """
        row = self.placed[-1 if self._step > 0 else 0].row + self._step if self.placed else -1
        room = self.scroller.viewport
        while 0 <= row < len(self._model.entries) and room > 0:
            made = self.rows.get(self._model.id(row))
            if made is None:
                self._measure(row)
                self._sync_bar()
                self._ahead.start(AHEAD_MS)
                return
            room -= made.height
            row += self._step

    # The scroll bar

    def _sync_bar(self) -> None:
        bar = self._bar
        if bar.isSliderDown():
            return
        self._synced = self.scroller.heights.version
        self._syncing = True
        bar.setPageStep(self.scroller.viewport)
        bar.setSingleStep(3 * self.style.text.line_height)
        maximum = self.scroller.maximum
        bar.setRange(0, maximum)
        bar.setEnabled(maximum > 0)
        bar.setValue(self.scroller.value)
        self._syncing = False
        self._value = bar.value()

    def _on_scrolled(self, value: int) -> None:
        if self._syncing:
            return
        self.scrolled.emit()
        distance = value - self._value
        self._value = value
        self._held = None
        if abs(distance) <= 2 * self.scroller.viewport and not self._bar.isSliderDown():
            self.scroller.scroll_by(distance)
        else:
            self.scroller.scroll_to(value)
        self.refresh((), bar_holds=not self.scroller.follow)
        self._step = 1 if distance > 0 else -1
        self._ahead.start(AHEAD_MS)
        if self._calm.isActive():
            self._calm.start(CALM_MS)
