"""Buttons, tick boxes and choices as the look draws them; all are the native widgets underneath."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
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
from app.gui.widgets.boxes import hbox
from app.gui.widgets.label import plain_tip

TICK = 16
ICON = 17
CHOICE_FRAME = 40
CHEVRON = 14


class Button(QPushButton):
    """A push button whose icon, where it has one, follows the theme."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__()
        self.setProperty("kind", kind)
        self.setObjectName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._dressing: tuple[Look, str, str, int, int] | None = None

    def dress(self, look: Look, icon: str, colour: str = "text_2", *, side: int = 15, room: int = 4) -> None:
        """Put an icon before the text, with the space the look wants between them."""
        self._dressing = (look, icon, colour, side, room)
        self.setIconSize(QSize(side + room, side))
        look.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        if self._dressing is not None:
            look, icon, colour, side, room = self._dressing
            self.setIcon(look.icon(icon, colour, side=side, room=room))


class IconButton(QToolButton):
    """A flat button that shows only an icon, in the accent while it is switched on."""

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
    """A button that shortens its words where they do not fit; the tool tip has the whole of them then."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(kind, name)
        self._words = ""
        self._tip = ""
        self._taken = 0

    def show_words(self, words: str, tip: str = "", *, taken: int = 0) -> None:
        """Say `words`; `taken` is the width of what else is painted on the button."""
        self._words, self._tip, self._taken = words, tip, taken
        self.setAccessibleName(words)
        super().setText(words)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(60, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        # Measured as Qt's own hint is: a pixel of difference would keep the words shortened for ever.
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
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room)
        if shown != self.text():
            super().setText(shown)
        self.setToolTip(self._tip if shown == self._words else plain_tip(self._words))


class MenuButton(ShorteningButton):
    """A flat button with an icon, its words, and a chevron where `chevron` asks for one."""

    def __init__(self, look: Look, icon: str, name: str, *, chevron: bool) -> None:
        super().__init__("menu" if chevron else "plain", name)
        self._look = look
        self._chevron = chevron
        self.choices = QMenu(self)
        self.dress(look, icon)
        self.clicked.connect(self._on_clicked)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._chevron:
            picture = self._look.picture("chevron-down", "text_2", CHEVRON, self.devicePixelRatioF())
            place = QPoint(self.width() - CHEVRON - 6, (self.height() - CHEVRON) // 2)
            QPainter(self).drawPixmap(place, picture)

    def _on_clicked(self) -> None:
        self.choices.popup(self.mapToGlobal(QPoint(0, -self.choices.sizeHint().height() - 4)))


def paint_shortcut(painter: QPainter, look: Look, rect: QRect, shortcut: str) -> None:
    """Paint a shortcut small and quiet at the right of `rect`."""
    painter.setFont(sized(painter.font(), 11))
    painter.setPen(QColor(look.tokens.text_2))
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, shortcut)


def name_button(target: QToolButton | QPushButton, text: str, shortcut: str = "") -> None:
    """Give an icon's button its words: for the screen reader, and as a tool tip with the shortcut."""
    target.setAccessibleName(text)
    target.setToolTip(plain_tip(f"{text}  ({shortcut})" if shortcut else text))


class TickBox(QCheckBox):
    """A tick box drawn in the accent."""

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
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 6, 6)
        painter.setPen(QColor(tokens.text))
        painter.drawText(self.rect().adjusted(self.BEFORE, 0, 0, 0), self.TEXT, self.text())


def paint_tick(painter: QPainter, look: Look, box: QRectF, on: bool) -> None:
    """Paint the box of a tick, in the accent and with its tick where it is on."""
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
    """A tick box whose words are wrapped."""

    TEXT = TickBox.TEXT | Qt.TextFlag.TextWordWrap

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().sizeHint().height())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(1, width - self.BEFORE), 1 << 16)
        words = self.fontMetrics().boundingRect(room, self.TEXT, self.text())
        return max(super().sizeHint().height(), words.height() + 4)


class Choice(QComboBox):
    """A drop-down list with the look's chevron; the wheel scrolls the page, not the choice."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        # Qt's own delegate of a drop-down list ignores the style sheet's lines.
        self.setItemDelegate(QStyledItemDelegate(self))
        self.currentIndexChanged.connect(lambda _index: self.updateGeometry())
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        # As wide as what is chosen, not as the longest line of the list.
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
    """A horizontal slider the wheel does not move by accident."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class Segmented(QFrame):
    """A row of exclusive segments; emits `chosen` with the value of the one picked."""

    chosen = Signal(str)

    def __init__(self, values: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "segmented")
        self._values = values
        self._group = QButtonGroup(self)
        row = hbox(inside=self, margins=(3, 3, 3, 3), spacing=2)
        self._segments = [ShorteningButton("segment", f"segment_{value}") for value in values]
        for index, segment in enumerate(self._segments):
            segment.setCheckable(True)
            # A button's own policy would never let it be narrower than its words.
            segment.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            self._group.addButton(segment, index)
            row.addWidget(segment)
        self._group.button(0).setChecked(True)
        self._group.idToggled.connect(self._on_toggled)

    def value(self) -> str:
        """Return the value of the chosen segment."""
        return self._values[self._group.checkedId()]

    def set_value(self, value: str) -> None:
        """Choose a segment."""
        self._group.button(self._values.index(value)).setChecked(True)

    def set_texts(self, texts: tuple[str, ...], hints: tuple[str, ...]) -> None:
        """Name the segments, in the order of their values; the hints are their tool tips."""
        for segment, text, hint in zip(self._segments, texts, hints, strict=True):
            segment.show_words(text, plain_tip(hint))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        index = self._group.checkedId() + step
        if step and 0 <= index < len(self._values):
            self._group.button(index).setChecked(True)
            self._group.button(index).setFocus()
        else:
            super().keyPressEvent(event)

    def _on_toggled(self, index: int, checked: bool) -> None:
        if checked:
            self.chosen.emit(self._values[index])


def put_in_tab_order(widgets: Sequence[QWidget]) -> None:
    """Let Tab go through widgets in this order; each must be one that takes the focus."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def put_where(place: QWidget, widgets: Sequence[QWidget]) -> None:
    """Let Tab come to widgets where it would come to what holds them: they were made later than it."""
    before = place.previousInFocusChain()
    while before is not None and before is not place:
        if before.focusPolicy() != Qt.FocusPolicy.NoFocus and not place.isAncestorOf(before):
            put_in_tab_order((before, *widgets))
            return
        before = before.previousInFocusChain()


def bring_into_sight(widget: QWidget) -> None:
    """Scroll to a widget that an arrow key led to; Qt does so for Tab alone."""
    around: QWidget | None = widget.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if around is not None:
        around.ensureWidgetVisible(widget, 0, 4)


class ScrollingPage(QScrollArea):
    """A page that scrolls to what the keyboard reaches in it, also where it comes from outside."""

    def __init__(self) -> None:
        super().__init__()
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        # Under the mouse nothing moves: the button that is pressed must be there when it is let go.
        if now is None or QApplication.mouseButtons() or not self.isVisible():
            return
        if self.widget().isAncestorOf(now) and now.height() <= self.viewport().height():
            self.ensureWidgetVisible(now, 0, 4)


def scrolling(body: QWidget, *, keeps_bar: bool = False) -> QScrollArea:
    """Return a page that scrolls downwards where it does not fit, and takes no focus for itself.

    With `keeps_bar` the bar's place is always kept: for pages whose height depends on their width, which
    would else come to no rest.
    """
    area = ScrollingPage()
    if keeps_bar:
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(body)
    return area
