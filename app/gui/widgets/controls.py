"""Buttons, tick boxes and choices in Moot's style, based on Qt's own widgets; tab order and scrolling."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import (
    QEvent,
    QMargins,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    SignalInstance,
)
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QStyledItemDelegate,
    QToolButton,
    QWidget,
)

from app.gui.display.style import Look, sized
from app.gui.widgets.label import plain_tip

TICK = 16
ICON = 17
CHOICE_FRAME = 40
CHEVRON = 14
# The width of a button with its icon alone, and of how many letters of a text are worth showing beside the icon.
BARE = 36
LEAST_LETTERS = 4


class Button(QPushButton):
    """A push button with an optional icon that follows the theme."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__()
        self.setProperty("kind", kind)
        self.setObjectName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._dressing: tuple[Look, str, str, int, int] | None = None

    def dress(self, look: Look, icon: str, colour: str = "text_2", *, side: int = 15, room: int = 4) -> None:
        """Set an icon before the text; `room` is the gap between them in pixels."""
        self._dressing = (look, icon, colour, side, room)
        self.setIconSize(QSize(side + room, side))
        look.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        if self._dressing is not None:
            look, icon, colour, side, room = self._dressing
            self.setIcon(look.icon(icon, colour, side=side, room=room))


class IconButton(QToolButton):
    """A flat button with only an icon, in the accent colour while it is on."""

    def __init__(self, look: Look, icon: str) -> None:
        super().__init__()
        self._look = look
        self._name = icon
        self.setIconSize(QSize(ICON, ICON))
        self.setFixedSize(34, 30)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        look.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def set_icon(self, icon: str) -> None:
        """Show another icon."""
        self._name = icon
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self.setIcon(self._look.icon(self._name, side=ICON))


Clicked = Callable[[], object] | SignalInstance | None


def button(kind: str = "", name: str = "", clicked: Clicked = None, *, text: str = "") -> Button:
    """Return a push button; `kind` is primary, plain, link or "" (outlined), `clicked` is called or emitted."""
    result = Button(kind, name)
    result.setText(text)
    if clicked is not None:
        result.clicked.connect(clicked)
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


class ShorteningButton(Button):
    """A button that shows less of its text if it does not fit; the tool tip then has the whole text.

    First it shows its short text, then the beginning of that, and where too few letters are left, its icon alone.
    """

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(kind, name)
        self._words = self._short = ""
        self._tip = ""
        self._taken = 0

    def show_words(self, words: str, tip: str = "", *, short: str = "", taken: int = 0) -> None:
        """Show a text, or `short` where it does not fit; `taken` is the width in pixels of what else is painted."""
        self._words, self._short, self._tip, self._taken = words, short or words, tip, taken
        self.setAccessibleName(words)
        super().setText(words)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(60 if self.icon().isNull() else BARE, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        if self.text() == self._words:
            return hint.grownBy(QMargins(0, 0, self._taken, 0))
        # Measured as Qt's own hint; a pixel of difference would keep the text elided for ever.
        words, shown = (
            self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text).width()
            for text in (self._words, self.text())
        )
        return QSize(hint.width() + words - shown + self._taken, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        metrics, lacking = self.fontMetrics(), self.sizeHint().width() - self.width()
        shown = self._words
        if lacking > 0:
            room = metrics.horizontalAdvance(shown) - lacking
            shown = metrics.elidedText(self._short, Qt.TextElideMode.ElideRight, room)
            if not self.icon().isNull() and shown != self._short and len(shown.rstrip("… ")) < LEAST_LETTERS:
                shown = ""
        if shown != self.text():
            super().setText(shown)
        self.setToolTip(self._tip if shown == self._words else plain_tip(self._words))


class MenuButton(ShorteningButton):
    """A flat button with an icon and text, and optionally a chevron, that opens a menu above itself, or below it.

    It is below in the upper half of the window, where there is more room.
    """

    def __init__(self, look: Look, icon: str, name: str, *, chevron: bool) -> None:
        super().__init__("menu" if chevron else "plain", name)
        self._look = look
        self._chevron = chevron
        self.choices = QMenu(self)
        self.dress(look, icon)
        self.clicked.connect(self._on_clicked)

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint() + QSize(CHEVRON if self._chevron else 0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._chevron:
            picture = self._look.picture("chevron-down", "text_2", CHEVRON, self.devicePixelRatioF())
            place = QPoint(self.width() - CHEVRON - 6, (self.height() - CHEVRON) // 2)
            QPainter(self).drawPixmap(place, picture)

    def clear(self) -> None:
        """Empty the menu; QMenu.clear alone keeps its submenus in memory."""
        for inside in self.choices.findChildren(QMenu):
            inside.deleteLater()
        self.choices.clear()

    def _on_clicked(self) -> None:
        window = self.window()
        upper = self.mapTo(window, self.rect().center()).y() < window.height() / 2
        y = self.height() + 4 if upper else -self.choices.sizeHint().height() - 4
        self.choices.popup(self.mapToGlobal(QPoint(0, y)))


def paint_shortcut(painter: QPainter, look: Look, rect: QRect, shortcut: str, tone: str = "text_2") -> None:
    """Paint a shortcut in small type at the right of `rect`, in a colour of the theme."""
    painter.setFont(sized(painter.font(), 11))
    painter.setPen(QColor(getattr(look.tokens, tone)))
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, shortcut)


def name_button(target: QToolButton | QPushButton, text: str, shortcut: str = "") -> None:
    """Name an icon button: for screen readers, and as a tool tip with the shortcut."""
    target.setAccessibleName(text)
    target.setToolTip(plain_tip(f"{text}  ({shortcut})" if shortcut else text))


class TickBox(QCheckBox):
    """A tick box in the accent colour."""

    TEXT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
    BEFORE = TICK + 12

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        if not self.text():
            return QSize(TICK + 4, TICK + 6)
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(self.BEFORE + width + 4, max(TICK + 6, self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, point: QPoint) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(2.5, (self.height() - TICK) / 2 + 0.5, TICK - 1, TICK - 1)
        if not self.isEnabled():
            painter.setOpacity(0.6)
        paint_tick(painter, self._look, box, self.isChecked())
        if self.property("ring"):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 6, 6)
        painter.setPen(QColor(tokens.text))
        painter.drawText(self.rect().adjusted(self.BEFORE, 0, 0, 0), self.TEXT, self.text())


def paint_tick(painter: QPainter, look: Look, box: QRectF, on: bool) -> None:
    """Paint a tick box, in the accent colour and ticked if `on`."""
    tokens = look.tokens
    painter.setPen(QPen(QColor(tokens.accent if on else tokens.edge), 1))
    painter.setBrush(QColor(tokens.accent if on else tokens.surface))
    painter.drawRoundedRect(box, 4.5, 4.5)
    if on:
        pen = QPen(QColor(tokens.on_accent), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        left, top = box.left(), box.top()
        points = ((3.8, 7.9), (6.6, 10.6), (11.4, 4.9))
        painter.drawPolyline([QPointF(left + x, top + y) for x, y in points])


class WrappedTick(TickBox):
    """A tick box whose text wraps."""

    TEXT = TickBox.TEXT | Qt.TextFlag.TextWordWrap

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(min(120, hint.width()), hint.height())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(1, width - self.BEFORE), 1 << 16)
        words = self.fontMetrics().boundingRect(room, self.TEXT, self.text())
        return max(super().sizeHint().height(), words.height() + 4)


class Choice(QComboBox):
    """A drop-down list with Moot's chevron; the wheel scrolls the page, not the choice."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        # Qt's own delegate of a drop-down list ignores the style sheet.
        self.setItemDelegate(QStyledItemDelegate(self))
        self.currentIndexChanged.connect(lambda _index: self.updateGeometry())
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        # As wide as the chosen entry, not as the longest one.
        self.ensurePolished()
        width = self.fontMetrics().horizontalAdvance(self.currentText()) + CHOICE_FRAME
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 90), super().minimumSizeHint().height())

    def showPopup(self) -> None:
        room = self.screen().availableGeometry().width()
        self.view().setMinimumWidth(min(self.view().sizeHintForColumn(0) + 24, room))
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        chevron = self._look.picture("chevron-down", "text_2", 14, self.devicePixelRatioF())
        QPainter(self).drawPixmap(self.width() - 23, (self.height() - 14) // 2, chevron)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class NumberBox(QSpinBox):
    """A small box for a number; the wheel scrolls the page, not the number."""

    def __init__(self, name: str, least: int, most: int) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setRange(least, most)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._digits = len(str(most))
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        self.setFixedWidth(metrics.horizontalAdvance("0" * self._digits) + 26)
        self.setMinimumHeight(metrics.height() + 4)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class RoundsSlider(QSlider):
    """A horizontal slider that ignores the wheel."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def keep_place(widget: QWidget) -> None:
    """Keep the room of a widget while it is hidden, so that what is beside it does not move."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def put_in_tab_order(widgets: Sequence[QWidget]) -> None:
    """Set the tab order of widgets, each of which must accept the focus."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def put_where(place: QWidget, widgets: Sequence[QWidget]) -> None:
    """Put widgets into the tab order at the place of their container, which was made before them."""
    before = place.previousInFocusChain()
    while before is not None and before is not place:
        if before.focusPolicy() != Qt.FocusPolicy.NoFocus and not place.isAncestorOf(before):
            put_in_tab_order((before, *widgets))
            return
        before = before.previousInFocusChain()


def bring_into_sight(widget: QWidget) -> None:
    """Scroll to a widget focused by an arrow key; Qt scrolls only for Tab."""
    around: QWidget | None = widget.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if around is not None:
        around.ensureWidgetVisible(widget, 0, 4)


class ScrollingPage(QScrollArea):
    """A page that PageScroller scrolls to the widget that gets the focus."""


class PageScroller(QObject):
    """Scrolls pages to the widget that gets the focus, also when it comes from outside; one for the program.

    A connection of each page would be called while that page is deleted.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        # Nothing moves under a pressed mouse button, so that its release hits the same widget.
        if now is None or QApplication.mouseButtons():
            return
        around = now.parentWidget()
        while around is not None:
            if isinstance(around, ScrollingPage) and now.height() <= around.viewport().height():
                around.ensureWidgetVisible(now, 0, 4)
            around = around.parentWidget()


def scrolling(body: QWidget, *, keeps_bar: bool = False) -> QScrollArea:
    """Return a page that scrolls vertically and takes no focus.

    `keeps_bar` always reserves the width of the scroll bar, for pages whose height depends on their width; they would
    else change size again and again.
    """
    area = ScrollingPage()
    if keeps_bar:
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(body)
    return area
