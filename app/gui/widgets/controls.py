"""Buttons, tick boxes, choices, text boxes and dialogs in Moot's style, based on Qt's own widgets;
scrolling.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from PySide6 import QtCore, QtGui, QtWidgets

from app.core.texts import trimmed
from app.gui.display.appearance import Look, sized, tall
from app.gui.widgets.badge import fill_box, paint_box, paint_text
from app.gui.widgets.boxes import AsWidget, FontFitting, follow_width
from app.gui.widgets.text import named, plain_tip

TICK = 16
ICON = 17
CHEVRON = 14
# The width of a button with its icon alone, and of how many letters of a text are worth showing beside the
# icon.
BARE = 36
LEAST_LETTERS = 4

Clicked = Callable[[], object] | QtCore.SignalInstance | None


class Button(QtWidgets.QPushButton):
    """A push button with an optional icon; `clicked` is called or emitted."""

    def __init__(self, kind: str, name: str, clicked: Clicked = None) -> None:
        super().__init__()
        self.setProperty("kind", kind)
        self.setObjectName(name)
        self.setCursor(QtCore.Qt.CursorShape.PointingHandCursor)
        # So that Enter presses it where it has the focus, also outside dialogs.
        self.setAutoDefault(True)
        if clicked is not None:
            self.clicked.connect(clicked)

    def dress(self, look: Look, icon: str, colour: str = "text_2", *, side: int = 15, room: int = 4) -> Self:
        """Set an icon before the text, and return the button; `room` is the gap between them in pixels."""
        self.setIconSize(QtCore.QSize(side + room, side))
        self.setIcon(look.icon(icon, colour, side=side, room=room))
        return self


class IconButton(QtWidgets.QToolButton):
    """A flat button with only an icon, in the accent colour while it is on."""

    def __init__(self, look: Look, icon: str) -> None:
        super().__init__()
        self._look = look
        self.setIconSize(QtCore.QSize(ICON, ICON))
        self.setFixedSize(34, 30)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.TabFocus)
        self.set_icon(icon)

    def setMenu(self, menu: QtWidgets.QMenu) -> None:
        # Without a menu a screen reader could not press it in this mode.
        self.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        super().setMenu(menu)

    def set_icon(self, icon: str) -> None:
        """Show another icon."""
        self.setIcon(self._look.icon(icon, side=ICON))


def button(kind: str = "", name: str = "", clicked: Clicked = None, *, text: str = "") -> Button:
    """Return a push button; `kind` is primary, plain, link or "" (outlined), `clicked` is called or
    emitted.
    """
    result = Button(kind, name, clicked)
    result.setText(text)
    return result


def icon_button(
    look: Look, icon: str, name: str = "", clicked: Clicked = None, *, checkable: bool = False
) -> IconButton:
    """Return a button that is only an icon; `name_button` gives it its words."""
    result = IconButton(look, icon)
    result.setObjectName(name)
    result.setCheckable(checkable)
    if clicked is not None:
        result.clicked.connect(clicked)
    return result


class ShorteningButton(FontFitting, Button):
    """A button that shows less of its text if it does not fit; the tool tip then has the whole text.

    First it shows its short text, then the beginning of that, and where too few letters are left, its icon
    alone.
    """

    def __init__(self, kind: str, name: str, clicked: Clicked = None) -> None:
        super().__init__(kind, name, clicked)
        self._words = self._short = self._tip = ""
        self._taken = 0

    def show_words(self, words: str, tip: str = "", *, short: str = "", taken: int = 0) -> None:
        """Show a text, or `short` where it does not fit; `taken` is the width in pixels
        of what else is painted.
        """
        self._words, self._short, self._tip, self._taken = words, short or words, tip, taken
        self.setAccessibleName(words)
        super().setText(words)
        self._fit()

    @property
    def spare(self) -> int:
        """The width in pixels that its short text saves; a pixel is left to each for what is rounded."""
        words, short = map(self.fontMetrics().horizontalAdvance, (self._words, self._short))
        return max(0, words - short - 2)

    def minimumSizeHint(self) -> QtCore.QSize:
        return QtCore.QSize(60 if self.icon().isNull() else BARE, super().minimumSizeHint().height())

    def sizeHint(self) -> QtCore.QSize:
        hint = super().sizeHint()
        if self.text() == self._words:
            return hint.grownBy(QtCore.QMargins(0, 0, self._taken, 0))
        # Measured as Qt's own hint; a pixel of difference would keep the text elided for ever.
        measure, flag = self.fontMetrics().size, QtCore.Qt.TextFlag.TextShowMnemonic
        more = measure(flag, self._words).width() - measure(flag, self.text()).width()
        return QtCore.QSize(hint.width() + more + self._taken, hint.height())

    def _fit(self) -> None:
        metrics, lacking = self.fontMetrics(), self.sizeHint().width() - self.width()
        shown = self._words
        if lacking > 0:
            room = metrics.horizontalAdvance(shown) - lacking
            shown = metrics.elidedText(self._short, QtCore.Qt.TextElideMode.ElideRight, room)
            if not self.icon().isNull() and shown != self._short and len(shown.rstrip("… ")) < LEAST_LETTERS:
                shown = ""
        if shown != self.text():
            super().setText(shown)
        self.setToolTip(self._tip if shown == self._words else plain_tip(self._words))


def ticked(
    menu: QtWidgets.QMenu, text: str, on: bool, act: Callable[..., object], hint: str = ""
) -> QtGui.QAction:
    """Add an entry with a tick, which is there while it is `on`, to a menu and return it."""
    action = menu.addAction(text)
    action.setToolTip(plain_tip(hint))
    action.setCheckable(True)
    action.setChecked(on)
    action.triggered.connect(act)
    return action


def paint_chevron(widget: QtWidgets.QWidget, look: Look, right: int) -> None:
    """Paint a chevron so many pixels from the right edge of a widget."""
    picture = look.picture("chevron-down", "text_2", CHEVRON, widget.devicePixelRatioF())
    place = QtCore.QPoint(widget.width() - CHEVRON - right, (widget.height() - CHEVRON) // 2)
    QtGui.QPainter(widget).drawPixmap(place, picture)


class MenuButton(ShorteningButton):
    """A flat button with a text, an `icon` or "" and optionally a chevron, that opens a menu above or below.

    It is below in the upper half of the window, where there is more room. What fills the menu when it is
    wanted is connected to `aboutToShow` of `choices`.
    """

    def __init__(self, look: Look, icon: str, name: str, *, chevron: bool) -> None:
        super().__init__("menu" if chevron else "plain", name)
        self._look, self._chevron = look, chevron
        self.choices = QtWidgets.QMenu(self)
        if icon:
            self.dress(look, icon)
        self.clicked.connect(self.showMenu)

    def minimumSizeHint(self) -> QtCore.QSize:
        return super().minimumSizeHint() + QtCore.QSize(CHEVRON if self._chevron else 0, 0)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        if self._chevron:
            paint_chevron(self, self._look, 6)

    def clear(self) -> None:
        """Empty the menu; QMenu.clear alone keeps its submenus in memory."""
        for inside in self.choices.findChildren(QtWidgets.QMenu):
            inside.deleteLater()
        self.choices.clear()

    def showMenu(self) -> None:
        window = self.window()
        upper = self.mapTo(window, self.rect().center()).y() < window.height() / 2
        # Filled before it is measured, and not once more as it opens.
        self.choices.aboutToShow.emit()
        with QtCore.QSignalBlocker(self.choices):
            y = self.height() + 4 if upper else -self.choices.sizeHint().height() - 4
            self.choices.popup(self.mapToGlobal(QtCore.QPoint(0, y)))


def paint_shortcut(painter: QtGui.QPainter, look: Look, rect: QtCore.QRect, shortcut: str) -> None:
    """Paint a shortcut in small type at the right of `rect`."""
    font, right = sized(painter.font(), 11), QtCore.Qt.AlignmentFlag.AlignRight
    paint_text(painter, font, look.tokens.text_2, rect, shortcut, right)


class TickBox(QtWidgets.QCheckBox):
    """A tick box in the accent colour."""

    TEXT = QtCore.Qt.AlignmentFlag.AlignVCenter | QtCore.Qt.AlignmentFlag.AlignLeft
    BEFORE = TICK + 12

    def __init__(self, look: Look, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setCursor(QtCore.Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QtCore.QSize:
        if not self.text():
            return QtCore.QSize(TICK + 4, TICK + 6)
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QtCore.QSize(self.BEFORE + width + 4, max(TICK + 6, self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QtCore.QSize:
        return self.sizeHint()

    def hitButton(self, point: QtCore.QPoint) -> bool:
        return True

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        tokens, painter = self._look.tokens, QtGui.QPainter(self)
        box = QtCore.QRectF(2.5, (self.height() - TICK) / 2 + 0.5, TICK - 1, TICK - 1)
        if not self.isEnabled():
            painter.setOpacity(0.6)
        paint_tick(painter, self._look, box, self.isChecked())
        if self.property("ring"):
            paint_box(painter, box.adjusted(-2, -2, 2, 2), tokens.accent, "transparent", 6, wide=1.5)
        painter.setPen(QtGui.QColor(tokens.text))
        painter.drawText(self.rect().adjusted(self.BEFORE, 0, 0, 0), self.TEXT, self.text())


def paint_tick(painter: QtGui.QPainter, look: Look, box: QtCore.QRectF, on: bool) -> None:
    """Paint a tick box, in the accent colour and ticked if `on`."""
    tokens = look.tokens
    colours = (tokens.accent, tokens.accent) if on else (tokens.edge, tokens.surface)
    paint_box(painter, box, *colours, 4.5)
    if on:
        pen = QtGui.QPen(QtGui.QColor(tokens.on_accent), 1.8)
        pen.setCapStyle(QtCore.Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(QtCore.Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        left, top = box.left(), box.top()
        points = ((3.8, 7.9), (6.6, 10.6), (11.4, 4.9))
        painter.drawPolyline([QtCore.QPointF(left + x, top + y) for x, y in points])


class WrappedTick(TickBox):
    """A tick box whose text wraps."""

    TEXT = TickBox.TEXT | QtCore.Qt.TextFlag.TextWordWrap

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        follow_width(self)

    def minimumSizeHint(self) -> QtCore.QSize:
        hint = super().sizeHint()
        return QtCore.QSize(min(120, hint.width()), hint.height())

    def heightForWidth(self, width: int) -> int:
        room = QtCore.QRect(0, 0, max(1, width - self.BEFORE), 1 << 16)
        words = self.fontMetrics().boundingRect(room, self.TEXT, self.text())
        return max(super().sizeHint().height(), words.height() + 4)


class Unwheeled(AsWidget):
    """A part of a widget whose value the wheel does not change: it scrolls the page."""

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        event.ignore()


class Choice(Unwheeled, QtWidgets.QComboBox):
    """A drop-down list with Moot's chevron."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._is_dressed = look, False
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Maximum, QtWidgets.QSizePolicy.Policy.Fixed)
        self.currentIndexChanged.connect(lambda _index: self.updateGeometry())

    def offer(self, offered: Iterable[tuple[object, str]], chosen: object = None) -> None:
        """Offer values with their texts, and show `chosen` or what was chosen before, without a signal."""
        rows, value = list(offered), self.currentData() if chosen is None else chosen
        with QtCore.QSignalBlocker(self):
            # The same again would close an open list.
            if rows != [(self.itemData(place), self.itemText(place)) for place in range(self.count())]:
                self.clear()
                for data, text in rows:
                    self.addItem(text, data)
            self.choose(value)
        self.updateGeometry()

    def value(self) -> Any:
        """Return the chosen value, or what is written."""
        return self.currentText().strip() if self.isEditable() else self.currentData()

    def choose(self, value: object) -> None:
        """Choose a value, the first one if it is not offered."""
        self.setCurrentIndex(max(0, self.findData(value)))

    def sizeHint(self) -> QtCore.QSize:
        # As wide as the chosen entry, not as the longest one.
        self.ensurePolished()
        width = self.fontMetrics().horizontalAdvance(self.currentText()) + 40
        return QtCore.QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QtCore.QSize:
        return QtCore.QSize(min(self.sizeHint().width(), 90), super().minimumSizeHint().height())

    def dress(self) -> None:
        """Make the list as it is shown, once: it takes ten times as long as the rest, and a page has many."""
        if not self._is_dressed:
            self._is_dressed = True
            self._dress()

    def _dress(self) -> None:
        # Qt's own delegate of a drop-down list ignores the style sheet.
        self.setItemDelegate(QtWidgets.QStyledItemDelegate(self))

    def showPopup(self) -> None:
        self.dress()
        room = self.screen().availableGeometry().width()
        self.view().setMinimumWidth(min(self.view().sizeHintForColumn(0) + 24, room))
        super().showPopup()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        paint_chevron(self, self._look, 9)


class NumberBox(Unwheeled, FontFitting, QtWidgets.QSpinBox):
    """A small box for a number."""

    def __init__(self, name: str, least: int, most: int) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setRange(least, most)
        self.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self._digits = len(str(most))
        self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        self.setFixedWidth(metrics.horizontalAdvance("0" * self._digits) + 26)
        self.setMinimumHeight(metrics.height() + 4)


class RoundsSlider(Unwheeled, QtWidgets.QSlider):
    """A slider for the number of rounds."""


class Dialog(QtWidgets.QDialog):
    """A dialog that is deleted when it closes; emits `given` with what the user gives in it."""

    given = QtCore.Signal()

    def __init__(self, parent: QtWidgets.QWidget, name: str, title: str) -> None:
        super().__init__(parent)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName(name)
        self.setWindowTitle(title)

    def open_for(self, act: Callable[..., object]) -> None:
        """Open, and call `act` with what the user gives."""
        self.given.connect(act)
        self.open()


def passing_menu(parent: QtWidgets.QWidget, name: str = "") -> QtWidgets.QMenu:
    """Return a menu that goes when it closes."""
    menu = named(name, QtWidgets.QMenu(parent))
    menu.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def keep_place(widget: QtWidgets.QWidget) -> None:
    """Keep the room of a widget while it is hidden, so that what is beside it does not move."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def bring_into_sight(widget: QtWidgets.QWidget) -> None:
    """Scroll to a widget focused by an arrow key; Qt scrolls only for Tab."""
    around: QtWidgets.QWidget | None = widget.parentWidget()
    while around is not None and not isinstance(around, QtWidgets.QScrollArea):
        around = around.parentWidget()
    if around is not None:
        around.ensureWidgetVisible(widget, 0, 4)


class ScrollingPage(QtWidgets.QScrollArea):
    """A page that PageScroller scrolls to the widget that gets the focus.

    A scroll area shows its body at once, which gives all of it its style, and each move of a part with a
    style costs it again. So the area takes the body when it gets its own style, in the place where it stays.
    """

    def __init__(self, body: QtWidgets.QWidget) -> None:
        super().__init__()
        self._body = body
        body.setParent(self.viewport())

    def event(self, event: QtCore.QEvent) -> bool:
        if event.type() == QtCore.QEvent.Type.Polish and self.widget() is not self._body:
            self.setWidget(self._body)
        return super().event(event)


class PageScroller(QtCore.QObject):
    """Scrolls pages to the widget that gets the focus, also when it comes from outside; one for the program.

    A connection of each page would be called while that page is deleted.
    """

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        application = QtWidgets.QApplication.instance()
        assert isinstance(application, QtWidgets.QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def _on_focus_changed(self, _before: QtWidgets.QWidget | None, now: QtWidgets.QWidget | None) -> None:
        # Nothing moves under a pressed mouse button, so that its release hits the same widget.
        if now is None or QtWidgets.QApplication.mouseButtons():
            return
        around = now.parentWidget()
        while around is not None:
            if isinstance(around, ScrollingPage) and now.height() <= around.viewport().height():
                around.ensureWidgetVisible(now, 0, 4)
            around = around.parentWidget()


def scrolling(body: QtWidgets.QWidget, *, keeps_bar: bool = False) -> QtWidgets.QScrollArea:
    """Return a page that scrolls vertically and takes no focus.

    `keeps_bar` always reserves the width of the scroll bar, for pages whose height depends on their width;
    they would else change size again and again.
    """
    area = ScrollingPage(body)
    if keeps_bar:
        area.setVerticalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)
    return area


ENTER = (QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter)
ANY_LENGTH = 1 << 60


class TextBox(FontFitting, QtWidgets.QPlainTextEdit):
    """A box of plain text as tall as its text, from `lines` to `most` lines; emits `submitted` on Enter.

    A paste of more than `longest_paste` characters, or that would make the text longer than `longest`, is not
    inserted but passed on: long_text_given(it). Shift+Enter breaks the line; while an input method composes,
    Enter only commits. Without `submits`, Enter breaks the line and Tab moves on.
    """

    submitted = QtCore.Signal()
    focus_changed = QtCore.Signal(bool)
    long_text_given = QtCore.Signal(str)

    def __init__(
        self,
        *,
        lines: int = 1,
        most: int = 8,
        submits: bool = True,
        longest: int = ANY_LENGTH,
        longest_paste: int = ANY_LENGTH,
        text: str = "",
    ) -> None:
        super().__init__(text, tabChangesFocus=True)
        self._lines, self._most, self._submits = lines, most, submits
        self._longest, self._longest_paste = longest, longest_paste
        self.composing = False  # whether an input method is
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        # Lines are wrapped; in a narrow moment of a layout Qt would show the bar, and keep it.
        self.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        # Otherwise undo would first remove the margin.
        self.document().clearUndoRedoStacks()
        self.textChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        """Return the text without the empty lines before it and the blanks after it."""
        return trimmed(self.toPlainText())

    def set_lines(self, lines: int) -> None:
        """Set how many lines high the box is at least."""
        self._lines = lines
        self._fit()

    def insertFromMimeData(self, source: QtCore.QMimeData) -> None:
        length = len(source.text())
        stays = len(self.toPlainText()) - len(self.textCursor().selectedText())
        if length > self._longest_paste or stays + length > self._longest:
            self.long_text_given.emit(source.text())
        else:
            super().insertFromMimeData(source)

    def inputMethodEvent(self, event: QtGui.QInputMethodEvent) -> None:
        self.composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() not in ENTER or not self._submits:
            super().keyPressEvent(event)
            return
        if self.composing:
            event.ignore()
            return
        if event.modifiers() & QtCore.Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
        else:
            self.submitted.emit()
        event.accept()

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        self.composing = False
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def sizeHint(self) -> QtCore.QSize:
        return QtCore.QSize(240, self.height())

    def setPlaceholderText(self, text: str) -> None:
        super().setPlaceholderText(text)
        self._fit()

    def _lines_of_placeholder(self) -> int:
        """Return the lines the placeholder needs in an empty box, at most two."""
        if not self.document().isEmpty():
            return 0
        room = self.viewport().width() - 2 * round(self.document().documentMargin())
        wrap, metrics = QtCore.Qt.TextFlag.TextWordWrap, self.fontMetrics()
        needed = metrics.boundingRect(0, 0, max(1, room), 0, wrap, self.placeholderText()).height()
        return min(2, round(needed / metrics.lineSpacing()))

    def _fit(self) -> None:
        wanted = max(round(self.document().size().height()), self._lines_of_placeholder())
        lines = max(self._lines, min(self._most, wanted))
        # A scroll bar that comes and goes would change the line breaks, and with them the height, again and
        # again.
        policy = QtCore.Qt.ScrollBarPolicy
        bar = policy.ScrollBarAsNeeded if wanted > self._most else policy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(bar)
        polished = self.testAttribute(QtCore.Qt.WidgetAttribute.WA_WState_Polished)
        frame = max(0, self.height() - self.viewport().height()) if polished else 0
        height = lines * self.fontMetrics().lineSpacing() + 8 + frame
        if height != self.height():
            self.setFixedHeight(height)


EDGE = 10
Takes = Callable[[QtCore.QMimeData], bool]


class DropHint(QtWidgets.QWidget):
    """Covers a page while acceptable data is dragged over it; emits dropped(data)."""

    dropped = QtCore.Signal(QtCore.QMimeData)

    def __init__(
        self, look: Look, page: QtWidgets.QWidget, over: Sequence[QtWidgets.QWidget], takes: Takes
    ) -> None:
        """`over` are the parts of the page that accept drops themselves."""
        super().__init__(page)
        self.setObjectName("drop_hint")
        self._look, self._page, self._takes = look, page, takes
        self._watched = (page, *over)
        self.words = ""
        self.setAcceptDrops(True)
        page.setAcceptDrops(True)
        for widget in self._watched:
            widget.installEventFilter(self)
        self.hide()

    def setText(self, text: str) -> None:
        """Set what is said over the page."""
        self.words = text

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        if (
            watched in self._watched
            and isinstance(event, QtGui.QDragEnterEvent)
            and self._takes(event.mimeData())
        ):
            self.setGeometry(self._page.rect())
            self.show()
            self.raise_()
            event.acceptProposedAction()
            return True
        if event.type() == QtCore.QEvent.Type.DragLeave:
            # Left the window, or moved on to this widget, which shows itself again.
            self.hide()
        if watched is self._page and event.type() == QtCore.QEvent.Type.Resize:
            self.setGeometry(self._page.rect())
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        self.show()
        event.acceptProposedAction()

    def dragMoveEvent(self, event: QtGui.QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:
        self.hide()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        self.hide()
        event.acceptProposedAction()
        self.dropped.emit(event.mimeData())

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        tokens, painter = self._look.tokens, QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        veil = QtGui.QColor(tokens.bg)
        veil.setAlpha(215)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QtGui.QPen(QtGui.QColor(tokens.accent), 2, QtCore.Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QtCore.QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE), 12, 12)
        painter.setFont(sized(self.font(), 15, 560))
        wrapped = int(QtCore.Qt.AlignmentFlag.AlignCenter | QtCore.Qt.TextFlag.TextWordWrap)
        room = self.rect().adjusted(3 * EDGE, 3 * EDGE, -3 * EDGE, -3 * EDGE)
        text = painter.boundingRect(room, wrapped, self.words)
        margin = tall(12)
        box = QtCore.QRectF(text).adjusted(-2 * margin, -margin, 2 * margin, margin)
        fill_box(painter, box, tokens.accent_bg, 10)
        painter.setPen(QtGui.QColor(tokens.accent))
        painter.drawText(text, wrapped, self.words)
