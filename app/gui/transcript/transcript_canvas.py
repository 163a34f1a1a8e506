"""The painted surface of a transcript: only rows on screen have documents.

The place is a row and an offset, so it holds while heights change. What streams in is gathered
and drawn once a frame. `TranscriptFeed` adds what happens, `TranscriptView` what the reader does.
"""

from collections.abc import Callable, Collection, Sequence
from time import thread_time

from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.core.message import Message
from app.core.texts import Texts
from app.gui.display.theme import Tokens
from app.gui.transcript.look_ahead import LookAhead
from app.gui.transcript.message_row import MessageRow
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.pixel_shift import shift
from app.gui.transcript.row_heights import RowHeights
from app.gui.transcript.row_maker import RowMaker
from app.gui.transcript.row_painter import paint_row
from app.gui.transcript.row_scroller import Placed, RowScroller
from app.gui.transcript.row_store import RowStore
from app.gui.transcript.row_style import COMPACT, Picture, RowStyle, body_font
from app.gui.transcript.row_tree import MESSAGE
from app.gui.transcript.segments import Range
from app.gui.transcript.thin_bar import ThinBar
from app.gui.transcript.transcript_model import TranscriptModel
from app.gui.transcript.typing_indicator import TypingIndicator

FRAME_MS = 33
SINGLE_FRAME_MS = 16
SLOWEST_FRAME_MS = 250
CALM_MS = 80
CALM_SLICE_S = 0.004


class TranscriptCanvas(QAbstractScrollArea):
    """The messages of one session, laid out where they are seen."""

    def __init__(
        self,
        tokens: Tokens,
        texts: Texts,
        parent: QWidget | None = None,
        layout: str = COMPACT,
        picture: Picture | None = None,
    ) -> None:
        super().__init__(parent)
        self._layout = layout
        self._picture = picture
        self._model = TranscriptModel()
        self._style = RowStyle(layout, body_font(self.font()), tokens, texts, picture)
        self._bar = ThinBar(tokens, self)
        self.setVerticalScrollBar(self._bar)
        self._maker = RowMaker(self._model, self._widget_height)
        self._rows = RowStore(self._model, self._maker)
        self._scroller = RowScroller(RowHeights(self._style.estimate(self.viewport().width())), self._measure)
        self._placed: list[Placed] = []
        self._dirty: set[str] = set()
        self._frame = self._single_shot(self._on_frame)
        self._last_cost = 0.0
        self._ahead = LookAhead(self._model, self._rows, lambda: self._placed, self)
        self._ahead.row_wanted.connect(self._on_row_wanted)
        self._calm = self._single_shot(self._on_calm)
        self._width = self.viewport().width()
        self._synced = -1
        self._syncing = False
        self._overlays: list[QWidget] = []
        self._resize_place: tuple[str, int, int] | None = None
        self._typing = TypingIndicator(self._style, self)
        self._typing.ticked.connect(self._on_typing_ticked)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # A bar that came with the first long message would lay out everything a second time.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setMouseTracking(True)
        self._bar.valueChanged.connect(self._on_scrolled)
        self._bar.sliderReleased.connect(self._sync_bar)
        self._value = 0

    def _single_shot(self, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(slot)
        return timer

    def set_theme(self, tokens: Tokens) -> None:
        """Paint in another theme."""
        self._restyle(tokens, self._style.texts)

    def set_texts(self, texts: Texts) -> None:
        """Speak another language."""
        self._restyle(self._style.tokens, texts)

    def jump_to_latest(self) -> None:
        """Go to the end and stay there."""
        self._scroller.to_end()
        self._refresh(())

    def flush(self) -> None:
        """Draw what has piled up now, not with the next frame."""
        self._frame.stop()
        self._on_frame()

    @property
    def place(self) -> tuple[str, int]:
        """What is read: the message at the upper edge, and how many pixels of it are above."""
        model = self._model
        return (model.id(self._scroller.row) if model.entries else "", self._scroller.offset)

    def go_to(self, message_id: str, offset: int) -> bool:
        """Put a `place` back at the upper edge; False where the message is not there."""
        if message_id not in self._model:
            return False
        self._resize_place = None
        self._scroller.show_row(self._model.index(message_id), offset)
        self._refresh(None)
        return True

    @property
    def following(self) -> bool:
        """Whether the end is on screen and stays there."""
        return self._scroller.follow

    @property
    def message_ids(self) -> list[str]:
        """The rows in order; that of a message's text has the message's id."""
        return [entry.id for entry in self._model.entries]

    def message_at(self, point: QPoint) -> str:
        """Return the message under a point of the viewport, or nothing."""
        under = [each.row for each in self._placed if each.top <= point.y() < each.top + each.height]
        return self._model.id(under[0]) if under else ""

    def message_rect(self, message_id: str) -> QRect | None:
        """Return where a message is in the viewport; None while it is off screen."""
        for placed in self._placed:
            if self._model.id(placed.row) == message_id:
                return QRect(0, placed.top, self.viewport().width(), placed.height)
        return None

    def describe(self, message_id: str) -> str:
        """Return who speaks and the finished text, as a screen reader says it."""
        return self._maker.make(self._model.index(message_id), self._style, 600).describe()

    def unfolded(self, row_id: str) -> bool | None:
        """Say whether a row is unfolded; None where there is nothing to unfold."""
        index = self._model.index(row_id)
        if self._model.entries[index].kind == MESSAGE:
            return None
        return self._maker.make(index, self._style, 600).unfolded

    def _set_footer(self, height: int) -> None:
        if self._scroller.footer != height:
            self._scroller.footer = height
            self._refresh(None)

    def _restyle(self, tokens: Tokens, texts: Texts) -> None:
        self._style = RowStyle(self._layout, body_font(self.font()), tokens, texts, self._picture)
        self._bar.set_theme(tokens)
        self._rows.clear()
        self._typing.set_style(self._style)
        self._hold_place(self._forget_heights)
        self._refresh(None)

    def _context_changed(self, index: int) -> None:
        """The row above a row is another one: its separator may come or go."""
        if 0 <= index < len(self._model.entries):
            row = self._rows.get(self._model.id(index))
            if row:
                self._maker.renew(index, row)

    def _widget_height(self, message: Message, width: int) -> int:
        """Return the height of the widget over an open question; the feed knows who makes it."""
        return 0

    def _row(self, index: int) -> PaintedRow:
        return self._rows.row(index, self._style, self._width, self._seen)

    def _seen(self) -> set[str]:
        return {self._model.id(placed.row) for placed in self._placed}

    def _measure(self, index: int) -> int:
        row = self._row(index)
        if row.row_id in self._dirty:
            live = self._model.live.get(row.row_id)
            if live and isinstance(row, MessageRow) and not self._model.message(index).thinking:
                row.add(live.after(row.fed))
            else:
                self._maker.renew(index, row)
            self._dirty.discard(row.row_id)
        row.set_width(self._width)
        if row.counted != row.height:
            row.counted = row.height
            self._scroller.heights.measure(index, row.height)
        return row.height

    def _interval(self) -> int:
        streams = sum(1 for placed in self._placed if self._model.id(placed.row) in self._model.live)
        base = SINGLE_FRAME_MS if streams <= 1 else FRAME_MS
        return round(min(SLOWEST_FRAME_MS, max(base, 10 * self._last_cost)))

    def _on_frame(self) -> None:
        """Bring what has piled up into the rows: the visible ones are drawn, the others only grow."""
        began = thread_time()
        visible = self._seen()
        grown = tuple(self._dirty)
        for message_id in grown:
            if message_id not in self._model:
                self._dirty.discard(message_id)
            elif message_id not in visible:
                index = self._model.index(message_id)
                self._scroller.heights.set_size(index, *self._model.size(index))
                self._rows.drop(message_id)
                self._dirty.discard(message_id)
        self._refresh(grown)
        self._last_cost = (thread_time() - began) * 1000

    def _refresh(self, changed: Collection[str] | None, *, bar_holds: bool = False) -> None:
        """Place the rows anew and paint what changed: these messages, or everything for None."""
        old = {placed.row: placed for placed in self._placed}
        self._scroller.viewport = self.viewport().height()
        self._placed = self._scroller.visible()
        if not bar_holds or self._synced != self._scroller.heights.version or not self._scroller.row:
            self._sync_bar()
        if old.keys() != {placed.row for placed in self._placed}:
            self._rows.pictures.keep(self._ahead.near())
        if changed is None or not self._shift(old, changed):
            self.viewport().update()
        self._place_changed()

    def _place_changed(self) -> None:
        """Called after every change of what is on screen; the view shows the way to the end."""

    def _shift(self, old: dict[int, Placed], changed: Collection[str]) -> bool:
        rows = {placed.row for placed in self._placed if self._model.id(placed.row) in changed}
        return shift(self.viewport(), self._overlays, old, self._placed, rows, self._painted_to)

    def _painted_to(self, index: int) -> int:
        """Return how far down a row still stands as it was painted, and count it as painted."""
        row = self._row(index)
        top, row.changed_from = row.changed_from, 0
        return top

    def _sync_bar(self) -> None:
        bar = self.verticalScrollBar()
        if bar.isSliderDown():
            return
        self._synced = self._scroller.heights.version
        self._syncing = True
        if bar.pageStep() != self._scroller.viewport:
            bar.setPageStep(self._scroller.viewport)
            bar.setSingleStep(3 * self._style.text.line_height)
        maximum = self._scroller.maximum
        if bar.maximum() != maximum:
            bar.setRange(0, maximum)
        bar.setEnabled(maximum > 0)
        bar.setValue(self._scroller.value)
        self._syncing = False
        self._value = bar.value()

    def _on_scrolled(self, value: int) -> None:
        if self._syncing:
            return
        distance = value - self._value
        self._value = value
        self._resize_place = None
        if abs(distance) <= 2 * self._scroller.viewport and not self.verticalScrollBar().isSliderDown():
            self._scroller.scroll_by(distance)
        else:
            self._scroller.scroll_to(value)
        self._refresh((), bar_holds=not self._scroller.follow)
        self._ahead.start(downwards=distance > 0)
        if self._calm.isActive():
            self._calm.start(CALM_MS)

    def _on_calm(self) -> None:
        """Colour the code that is read, not what only rushes by, a little at a time."""
        until = thread_time() + CALM_SLICE_S
        for placed in self._placed:
            row = self._row(placed.row)
            while segment := self._rows.plain_code(row):
                if thread_time() >= until:
                    self._calm.start(0)
                    return
                if self._rows.highlight(row, segment):
                    self.viewport().update(0, placed.top, self._width, placed.height)

    def _on_row_wanted(self, row: int) -> None:
        """Make a row before it comes on screen."""
        self._measure(row)
        made = self._row(row)
        if self._rows.pictures.can_have(made):
            self._rows.pictures.get(made, self._width, self.devicePixelRatioF())
        self._sync_bar()

    def _on_typing_ticked(self) -> None:
        self.viewport().update(self._footer_rect())

    def _footer_rect(self) -> QRect:
        top = self._placed[-1].top + self._placed[-1].height if self._placed else self._style.lead
        return QRect(0, top, self.viewport().width(), self._scroller.footer)

    def _forget_heights(self) -> None:
        self._scroller.heights.set_estimate(self._style.estimate(self.viewport().width()))

    def _hold_place(self, change: Callable[[], None]) -> None:
        """Lay out anew so that the text at the upper edge stays there, however often this is done."""
        scroller = self._scroller
        if scroller.follow or not self._placed:
            change()
            return
        if self._resize_place is None:
            row = self._row(scroller.row)
            position = row.position_at(QPoint(0, scroller.offset))
            below = scroller.offset - row.position_rect(position).top()
            self._resize_place = (row.row_id, position, below)
        change()
        message_id, position, below = self._resize_place
        index = self._model.index(message_id)
        self._measure(index)
        scroller.show_row(index, max(0, self._row(index).position_rect(position).top() + below))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Leave out Qt's painting of everything: `_refresh` moves the pixels itself."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._typing.wake()

    def hideEvent(self, event: QHideEvent) -> None:
        self._ahead.stop()
        self._calm.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._scroller.viewport = self.viewport().height()
        self._width = self.viewport().width()
        if event.oldSize().width() != event.size().width():
            self._hold_place(self._forget_heights)
        self._refresh(None)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        area = event.rect()
        background = QColor(self._style.tokens.bg)
        end = self._placed[-1].top + self._placed[-1].height if self._placed else 0
        if end <= area.bottom():
            painter.fillRect(area.adjusted(0, max(0, end - area.top()), 0, 0), background)
        for placed in self._placed:
            if placed.top > area.bottom() or placed.top + placed.height < area.top():
                continue
            row, ranges = self._row(placed.row), self._ranges(placed.row)
            if not self._calm.isActive() and self._rows.plain_code(row):
                self._calm.start(CALM_MS)
            if self._rows.pictures.can_have(row) and not ranges:
                picture = self._rows.pictures.get(row, self._width, self.devicePixelRatioF())
                painter.drawImage(0, placed.top, picture)
            else:
                paint_row(painter, area, placed, row, ranges, background)
        if self._typing.active:
            self._typing.paint(painter, self._footer_rect())

    def _ranges(self, row: int) -> Sequence[Range]:
        """Return what is marked in a row; the view knows its selection and what was found."""
        return ()
