"""The transcript of a session, for every kind of session: a scroll area with painted rows.

Its parts: `feed` takes what happens, `canvas` lays out and paints the rows, `search` finds, `selection` says
what is selected. The scroll bar and the pill that leads back to the end are cheap to paint. A screen reader
gets a list whose items are the rows; each is announced once, when it is finished.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6 import QtGui, QtWidgets
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal

from app.core.texts import Texts
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.theme import Tokens
from app.gui.transcript import painted_row, selection
from app.gui.transcript.call_rows import OPEN_LINK, STOP_TURN, CardRow
from app.gui.transcript.canvas import Canvas, single_shot
from app.gui.transcript.feed import Feed
from app.gui.transcript.message_rows import COMPARE, EARLIER, LATER, RETRY, SETTINGS, QuestionWidgets
from app.gui.transcript.pictures import Pictures
from app.gui.transcript.row_text import COLUMN, COMPACT, Picture, Range, RowStyle, body_font
from app.gui.transcript.search import Search
from app.gui.transcript.transcript_model import TranscriptModel
from app.gui.widgets.badge import fill_box, paint_box, paint_text
from app.gui.widgets.notices import announce
from app.gui.widgets.question_card import PromptCard
from app.gui.widgets.text import plain_tip, tell_as


class JumpPill(QtWidgets.QAbstractButton):
    """A rounded button that leads to the end while that is not on screen, with the number of messages since.

    It is fast to paint, because it is painted with every scroll step.
    """

    def __init__(self, parent: QtWidgets.QWidget, canvas: Canvas, feed: Feed) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._unseen: set[str] = set()
        self._rest = single_shot(self, self._show)
        self.setFont(sized(self.font(), 12))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        canvas.refreshed.connect(self._show)
        canvas.scrolled.connect(self._on_scrolled)
        feed.came_below.connect(self._unseen.add)
        feed.came_below.connect(lambda _id: self._show())
        feed.session_shown.connect(self._unseen.clear)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 46, tall(30))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        tokens, box = self._canvas.style.tokens, self.rect()
        ground = tokens.accent_bg if self.underMouse() else tokens.surface
        paint_box(painter, box, tokens.line_strong, ground, (box.height() - 1) / 2)
        room, centre = box.adjusted(26, 0, -10, 0), Qt.AlignmentFlag.AlignHCenter
        paint_text(painter, self.font(), tokens.accent, room, self.text(), centre)
        y = box.height() // 2
        for x, above in ((20, -5), (16, 1), (24, 1)):
            painter.drawLine(x, y + above, 20, y + 5)

    def _on_scrolled(self) -> None:
        """Hide while rows move: pixels can be moved only where nothing is over them."""
        self.hide()
        self._rest.start(150)

    def _show(self) -> None:
        scroller, style = self._canvas.scroller, self._canvas.style
        if scroller.follow:
            self._unseen.clear()
        # The answer of a column is read from its top: the button would be over it until its end.
        rests = not scroller.follow and not self._rest.isActive() and style.layout != COLUMN
        shown = rests and scroller.maximum - scroller.value > 40
        if shown:
            key = "transcript.jump_new" if self._unseen else "transcript.jump"
            words = style.texts(key, count=len(self._unseen))
            if words != self.text():
                self.setText(words)
                self.setAccessibleName(words)
            # In the middle of the lower edge.
            box, parent = QRect(QPoint(), self.sizeHint()), self.parentWidget()
            box.moveCenter(QPoint(parent.width() // 2, 0))
            box.moveBottom(parent.height() - 10)
            self.setGeometry(box)
        self.setVisible(shown)


class ThinBar(QtWidgets.QScrollBar):
    """The vertical scroll bar of a transcript, placed by the style and painted here."""

    def __init__(self, view: "TranscriptView") -> None:
        super().__init__(Qt.Orientation.Vertical, view)
        self._view = view

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        # Style sheets clear this attribute; without it everything behind the bar is painted as well.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        super().showEvent(event)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter, tokens = QtGui.QPainter(self), self._view.canvas.style.tokens
        painter.fillRect(self.rect(), QtGui.QColor(tokens.bg))
        if self.maximum() == self.minimum():
            return
        styled, option = QtWidgets.QStyle, QtWidgets.QStyleOptionSlider()
        self.initStyleOption(option)
        bar, slider = styled.ComplexControl.CC_ScrollBar, styled.SubControl.SC_ScrollBarSlider
        handle = self.style().subControlRect(bar, option, slider, self)
        held = self.isSliderDown() or self.underMouse()
        space = max(0.0, (handle.width() - 6) / 2)
        colour = tokens.text_3 if held else tokens.line_strong
        fill_box(painter, QRectF(handle).adjusted(space, 0, -space, 0), colour, 3)


class TranscriptView(QtWidgets.QAbstractScrollArea):
    """The messages of one session.

    Signals: link_requested(url, shown text), resource_requested(server, address), action_requested(message
    id, action), where an action is `retry`, `settings`, `edit`, `continue` or `continue_from`;
    stop_turn_requested(turn id) of a sub-agent, stop_requested() of all that runs, version_requested(turn id,
    step) with step -1 or 1, found(number of the place shown from 1, how many) during a search;
    picture_requested(action, pictures, place).
    """

    link_requested = Signal(str, str)
    resource_requested = Signal(str, str)
    action_requested = Signal(str, str)
    stop_turn_requested = Signal(str)
    stop_requested = Signal()
    version_requested = Signal(str, int)

    def __init__(
        self, tokens: Tokens, texts: Texts, layout: str = COMPACT, picture: Picture | None = None
    ) -> None:
        """`picture` gives the tools' icons (`Look.picture`); without it cards show none."""
        super().__init__()
        tell_as(self, TranscriptAccessible)
        self._layout, self._picture = layout, picture
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setVerticalScrollBar(ThinBar(self))
        # A bar that came with the first long message would lay out everything a second time.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setMouseTracking(True)
        self.model = TranscriptModel()
        self._pictures = Pictures(lambda message_id: self.model.book.messages[message_id], self)
        style = self._make_style(tokens, texts)
        self.questions = QuestionWidgets(self)
        self.canvas = Canvas(self, self.model, style, self.questions.height)
        self.typing = painted_row.TypingIndicator(style, self)
        # Who writes a summary again, as the menu names it.
        self.summary_writer: Callable[[], str] = lambda: ""
        self.feed = Feed(self.model, self.canvas, self.questions, self.typing)
        self.search = Search(self.model, self.canvas, self.feed)
        self.found, self.picture_requested = self.search.found, self._pictures.requested
        self.selection = selection.Selection(self.model)
        self.keyboard = selection.Keyboard(self.model, self.canvas, self.selection)
        self._pointer = selection.Pointer(self.canvas, self.selection, self._act)
        self.feed.may_fold = self._may_fold
        # A pointer that was never moved here points at nothing.
        self._pointed = False
        self.pill = JumpPill(self.viewport(), self.canvas, self.feed)
        self.action_bar = selection.ActionBar(self.viewport(), self.canvas, self.model)
        self.pill.clicked.connect(self.jump_to_latest)
        self.action_bar.chosen.connect(self._do)
        self._pictures.ready.connect(lambda row_id: self.canvas.renew((row_id,)))
        self.typing.ticked.connect(lambda: self.viewport().update(self.feed.typing_rect()))
        self.feed.session_shown.connect(self._on_session_shown)
        self.feed.finished.connect(self._read_out)
        self.setAccessibleName(texts("transcript.name"))

    def _read_out(self, row_id: str) -> None:
        """Have a screen reader read a finished message out, if one is running."""
        if QtGui.QAccessible.isActive():
            announce(self, self.describe(row_id))

    def _make_style(self, tokens: Tokens, texts: Texts) -> RowStyle:
        font, find = body_font(self.font()), self._pictures.thumbnail
        moves = partial(painted_row.animated, self)
        return RowStyle(self._layout, font, tokens, texts, self._picture, find, moves)

    # Look and language

    def follow(self, look: Look, language: Language) -> None:
        """Change the theme and the language with those of the program."""
        self._followed = look, language
        look.changed.connect(self._on_changed)
        language.changed.connect(self._on_changed)

    def _on_changed(self) -> None:
        look, language = self._followed
        self.dress(look.tokens, language.texts)

    def dress(self, tokens: Tokens, texts: Texts) -> None:
        """Show in another theme or language; a view that has a name of its own keeps that."""
        if self.accessibleName() == self.canvas.style.texts("transcript.name"):
            self.setAccessibleName(texts("transcript.name"))
        style = self._make_style(tokens, texts)
        self.typing.style = style
        self.pill.setFont(sized(self.pill.font(), 12))
        self.canvas.restyle(style)
        self.verticalScrollBar().update()
        self.feed.redress_speaking()

    # What is shown

    @property
    def message_ids(self) -> list[str]:
        """The rows in order; the row with a message's text has the id of the message."""
        self.feed.load_all()
        return [entry.id for entry in self.model.entries]

    def message_rect(self, row_id: str) -> QRect | None:
        """Return where a row is in the viewport; None while it is off screen."""
        return self.canvas.rect_of(row_id)

    def describe(self, row_id: str) -> str:
        """Return who speaks and the finished text, as a screen reader says it."""
        return self.canvas.rows.make(self.model.index(row_id), self.canvas.style, 600).describe()

    def unfolded(self, row_id: str) -> bool | None:
        """Return whether a row is unfolded; None if it cannot be folded."""
        return self.canvas.rows.context(self.model.index(row_id), self.canvas.style).unfolded

    # The position

    @property
    def place(self) -> tuple[str, int]:
        """The row at the upper edge, and how many pixels of it are above."""
        return self.canvas.place

    @property
    def following(self) -> bool:
        """Whether the end is on screen and stays there."""
        return self.canvas.scroller.follow

    def jump_to_latest(self) -> None:
        """Go to the end and stay there."""
        self.canvas.scroller.to_end()
        self.canvas.refresh(())

    def read_from(self, message_id: str) -> None:
        """Show a message from its beginning, not from the end as a chat is."""
        self.go_to(message_id, 0)
        self.canvas.scroller.follow = False

    def go_to(self, message_id: str, offset: int) -> bool:
        """Put a `place` back at the upper edge and unfold what hides it; return False if it is not there."""
        model = self.model
        if message_id not in model:
            self.feed.load_to(message_id.partition("/")[0])
        if message_id in model:
            self.canvas.show(model.index(message_id), offset)
            return True
        message = model.book.messages.get(message_id)
        if message is None:
            return False
        self.feed.unfold_around(message.turn_id)
        rows = [message_id, *model.card_rows(message)]
        if message.tool_call_id is not None:
            rows += model.caller_rows(message.turn_id, message.tool_call_id)
        row_id = next((each for each in rows if each in model), "")
        if not row_id:
            return False
        if row_id != message_id:
            model.unfolded.add(row_id)
            self.canvas.rows.pop(row_id, None)
        self.canvas.show(model.index(row_id))
        return True

    def point_out(self, message_id: str) -> None:
        """Bring a message on screen and select it."""
        if self.go_to(message_id, 0):
            self.selection.select_row(message_id)
            self.viewport().update()

    def _on_session_shown(self) -> None:
        self.selection.clear()
        self.keyboard.target = None

    # Selecting and copying

    def select_all(self) -> None:
        """Select every message."""
        self.feed.load_all()
        self.selection.select_all()
        self.viewport().update()

    def selected_text(self, *, markdown: bool = True) -> str:
        """Return what is selected, as it would be copied."""
        return self.selection.copied(self.canvas.style.texts, markdown=markdown)

    def copy(self, *, markdown: bool = True) -> None:
        """Put what is selected on the clipboard."""
        self._copy_text(self.selected_text(markdown=markdown))

    def copy_message(self, message_id: str) -> None:
        """Put a message's Markdown on the clipboard."""
        self._copy_text(self.model.said(message_id))

    def _copy_text(self, text: str) -> None:
        if text:
            QtGui.QGuiApplication.clipboard().setText(text)

    # Actions

    def _act(self, row: painted_row.PaintedRow, action: str, point: QPoint) -> None:
        if action == painted_row.COPY_CODE:
            self._copy_text(row.text.code_at(point))
        elif action.startswith(painted_row.FOLLOW):
            url = action.partition("/")[2]
            shown = next((span.text for _, span in row.text.links if span.link == url), url)
            self.link_requested.emit(url, shown)
        elif action in (painted_row.FOLD, painted_row.SHOW_ALL, painted_row.THOUGHT):
            self.feed.set_open(row.row_id, open_=None, whole=action == painted_row.SHOW_ALL)
        elif action == STOP_TURN:
            self.stop_turn_requested.emit(row.message.turn_id)
        elif isinstance(row, CardRow) and action.startswith(OPEN_LINK):
            name, url, server = row.link(action)
            if server and self.model.chat:
                self.resource_requested.emit(server, url)
            else:
                self.link_requested.emit(url, name)
        elif action in (EARLIER, LATER):
            self.version_requested.emit(row.message.turn_id, -1 if action == EARLIER else 1)
        else:
            self._do(row.source_id, action)

    def _do(self, message_id: str, action: str) -> None:
        if action == selection.COPY:
            self.copy_message(message_id)
        elif not self._pictures.act(message_id, action):
            self.action_requested.emit(message_id, action)

    def context_menu(self, point: QPoint) -> QtWidgets.QMenu:
        """Return the menu for a point of the viewport; it deletes itself when closed."""
        selected = self.selection.bounds() is not None
        items = [
            selection.MenuItem("transcript.copy_markdown", self.copy, selected),
            selection.MenuItem("transcript.copy_plain", lambda: self.copy(markdown=False), selected),
        ]
        if found := self.canvas.row_at(point):
            row, inside = found
            url = row.text.link_at(inside)
            actions, do = selection.offered(row.message, self.model), partial(self._do, row.message.id)
            items += selection.items_of(actions, do, self.summary_writer)
            if url:
                items.append(selection.MenuItem("transcript.copy_link", lambda: self._copy_text(url)))
            # What the row itself offers.
            names = [name for name, _ in row.actions]
            more = [each for each in (RETRY, SETTINGS, COMPARE) if each in names and each not in actions]
            items += selection.items_of(more, do, self.summary_writer)
        everything = selection.MenuItem("transcript.select_all", self.select_all)
        return selection.build_menu(self, self.canvas.style.texts, items, [everything])

    # Mouse

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.keyboard.target = None
            self._pointer.press(event)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        self._pointer.move(event)
        self._pointed = True
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self.action_bar.come_to(event.position().toPoint())

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        if self.typing.stops_at(event.position().toPoint()):
            self.stop_requested.emit()
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        self._pointer.double_click(event)

    def _may_fold(self) -> bool:
        """Return whether nobody points at a row or has selected something."""
        return not self._pointed and self.keyboard.target is None and self.selection.bounds() is None

    def leaveEvent(self, event: QEvent) -> None:
        self.action_bar.hide()
        self._pointed = False
        self.feed.fold_settled()
        super().leaveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            found = self.canvas.row_at(event.pos())
            tip = (found[0].text.link_at(found[1]) or found[0].tip_at(found[1])) if found else ""
            QtWidgets.QToolTip.showText(event.globalPos(), plain_tip(tip), self.viewport())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        point = event.pos()
        if event.reason() == QtGui.QContextMenuEvent.Reason.Keyboard:
            # The menu of the focused link or action, of the text cursor, or of the first row.
            at = self.keyboard.target or self.selection.cursor
            rect = self.message_rect(at.row_id if at else "") or QRect(0, 0, 1, 40)
            style = self.canvas.style
            down = max(0, rect.top()) + min(30, rect.height() // 2)
            point = QPoint(style.margin + style.text_left, down)
        self.context_menu(point).popup(self.viewport().mapToGlobal(point))

    # Keys and focus

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        keys, key, bar = Qt.Key, event.key(), self.verticalScrollBar()
        target = self.keyboard.target
        if key == keys.Key_Home:
            self.feed.load_all()
        if event.matches(QtGui.QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self.copy()
        elif key in (keys.Key_Return, keys.Key_Enter) and target:
            row = self.canvas.row(self.model.index(target.row_id))
            self._act(row, target.action, target.rect.center())
        elif key == keys.Key_Escape and (self.selection.bounds() or target):
            self.selection.clear()
            self.keyboard.target = None
            self.viewport().update()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self.keyboard.extend(key):
            pass
        elif key in (keys.Key_Left, keys.Key_Right) and target:
            if self.feed.set_open(target.row_id, open_=key == keys.Key_Right):
                self.keyboard.follow_target()
        elif key in (keys.Key_Left, keys.Key_Right):
            # Nothing scrolls sideways here: what is around may go to the transcript beside it.
            event.ignore()
        elif key == keys.Key_End:
            self.jump_to_latest()
        elif key == keys.Key_Home:
            self.canvas.show(0)
        elif key in (keys.Key_PageUp, keys.Key_PageDown):
            step = self.viewport().height() - 40
            bar.setValue(bar.value() + (step if key == keys.Key_PageDown else -step))
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go to the next link or action on screen; past the last, out of the view."""
        return self.keyboard.to_next(forward=forward) or super().focusNextPrevChild(forward)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        self.keyboard.target = None
        self.viewport().update()
        super().focusOutEvent(event)

    # Painting

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self.viewport())
        self.canvas.paint(painter, event.rect(), self._ranges)
        if self.typing.active:
            painter.save()
            self.typing.paint(painter, self.feed.typing_rect())
            painter.restore()
        target = self.keyboard.target
        rect = self.message_rect(target.row_id) if target and self.hasFocus() else None
        if target and rect:
            ring = QRectF(target.rect.translated(0, rect.top()))
            paint_box(painter, ring, self.canvas.style.tokens.accent, "transparent", 4, wide=2)

    def _ranges(self, index: int, row: painted_row.PaintedRow) -> Sequence[Range]:
        """Return what is marked in a row: what was found, and over it what is selected."""
        return [*self.search.ranges(row), *self.selection.ranges(index, self.canvas.style.tokens)]

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Do not let Qt paint everything: the canvas moves the pixels itself."""

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        super().showEvent(event)
        self.typing.wake()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        self.feed.stop()
        self.canvas.stop()
        self.action_bar.hide()
        super().hideEvent(event)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        bar = self.verticalScrollBar().sizeHint().width()
        margins = self.canvas.style.side_margins(self.width(), bar)
        if margins != self.viewportMargins():
            # Qt tells a viewport that is not shown yet nothing of this: what follows takes its new size.
            self.setViewportMargins(margins)
        self.canvas.resized()


class TranscriptAccessible(QtWidgets.QAccessibleWidget):
    """A transcript as a list: its items, made when asked for and kept, then the cards
    that are open over them.
    """

    def __init__(self, view: TranscriptView) -> None:
        super().__init__(view, QtGui.QAccessible.Role.List)
        self._view = view
        self._items: dict[str, MessageAccessible] = {}
        view.destroyed.connect(self._end_items)

    def childCount(self) -> int:
        return len(self._view.message_ids) + len(self._cards())

    def child(self, index: int) -> QtGui.QAccessibleInterface | None:
        ids, cards = self._view.message_ids, self._cards()
        if 0 <= index < len(ids):
            return self.item(ids[index])
        card = index - len(ids)
        return QtGui.QAccessible.queryAccessibleInterface(cards[card]) if 0 <= card < len(cards) else None

    def _cards(self) -> list[PromptCard]:
        return [card for card in self._view.viewport().findChildren(PromptCard) if card.isVisible()]

    def item(self, message_id: str) -> "MessageAccessible":
        """Return the item of a message."""
        if message_id not in self._items:
            self._items[message_id] = MessageAccessible(self._view, self, message_id)
        return self._items[message_id]

    def _end_items(self) -> None:
        # Qt deletes interfaces with their widgets, and the items have none.
        for item in self._items.values():
            QtGui.QAccessible.deleteAccessibleInterface(QtGui.QAccessible.uniqueId(item))

    def indexOfChild(self, child: QtGui.QAccessibleInterface) -> int:
        ids = self._view.message_ids
        if isinstance(child, MessageAccessible):
            return ids.index(child.message_id)
        cards: list[QObject] = list(self._cards())
        return len(ids) + cards.index(child.object()) if child.object() in cards else -1

    def childAt(self, x: int, y: int) -> QtGui.QAccessibleInterface | None:
        placed = self._view.canvas.placed_at(self._view.viewport().mapFromGlobal(QPoint(x, y)).y())
        return self.item(self._view.model.id(placed.row)) if placed else None


class MessageAccessible(QtGui.QAccessibleInterface):
    """One row: its name says who speaks and what."""

    def __init__(self, view: TranscriptView, parent: TranscriptAccessible, message_id: str) -> None:
        super().__init__()
        self._view, self._parent, self.message_id = view, parent, message_id

    def isValid(self) -> bool:
        return self.message_id in self._view.message_ids

    def object(self) -> QObject | None:
        return None

    def window(self) -> QtGui.QWindow | None:
        top: QtWidgets.QWidget = self._view.window()
        return top.windowHandle()

    def parent(self) -> QtGui.QAccessibleInterface:
        return self._parent

    def role(self) -> QtGui.QAccessible.Role:
        return QtGui.QAccessible.Role.ListItem

    def state(self) -> QtGui.QAccessible.State:
        state = QtGui.QAccessible.State()
        state.readOnly = True
        state.offscreen = self.rect().isEmpty()
        unfolded = self._view.unfolded(self.message_id)
        state.expandable = unfolded is not None
        state.expanded = unfolded is True
        state.collapsed = unfolded is False
        return state

    def text(self, kind: QtGui.QAccessible.Text) -> str:
        return self._view.describe(self.message_id) if kind == QtGui.QAccessible.Text.Name else ""

    def setText(self, kind: QtGui.QAccessible.Text, text: str) -> None:
        """The text of a message cannot be changed."""

    def rect(self) -> QRect:
        rect = self._view.message_rect(self.message_id)
        return QRect(self._view.viewport().mapToGlobal(rect.topLeft()), rect.size()) if rect else QRect()

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QtGui.QAccessibleInterface | None:
        return None

    def childAt(self, x: int, y: int) -> QtGui.QAccessibleInterface | None:
        return None

    def indexOfChild(self, child: QtGui.QAccessibleInterface) -> int:
        return -1
