"""The scroll bar of a transcript and the pill that leads back to its end, both cheap to paint."""

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QScrollBar, QStyle, QStyleOptionSlider, QWidget

from app.gui.display.appearance import sized, tall
from app.gui.display.theme import Tokens
from app.gui.transcript.canvas import Canvas, single_shot
from app.gui.transcript.feed import Feed

REST_MS = 150


class JumpPill(QAbstractButton):
    """A rounded button that leads to the end; fast to paint, because it is painted with every scroll step."""

    def __init__(self, parent: QWidget, tokens: Tokens) -> None:
        super().__init__(parent)
        self._tokens = tokens
        self.setFont(sized(self.font(), 12))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def set_theme(self, tokens: Tokens) -> None:
        """Paint in another theme."""
        self._tokens = tokens
        self.setFont(sized(self.font(), 12))
        self.place()
        self.update()

    def say(self, words: str) -> None:
        """Set the text and resize to it."""
        if words != self.text():
            self.setText(words)
            self.setAccessibleName(words)
            self.place()

    def place(self) -> None:
        """Move to the middle of the parent's lower edge."""
        box = QRect(QPoint(), self.sizeHint())
        parent = self.parentWidget()
        box.moveCenter(QPoint(parent.width() // 2, 0))
        box.moveBottom(parent.height() - 10)
        self.setGeometry(box)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 46, tall(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(self._tokens.line_strong))
        painter.setBrush(QColor(self._tokens.accent_bg if self.underMouse() else self._tokens.surface))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        painter.setPen(QColor(self._tokens.accent))
        painter.drawText(self.rect().adjusted(26, 0, -10, 0), int(Qt.AlignmentFlag.AlignCenter), self.text())
        x, y = 20.0, box.center().y()
        painter.drawLine(round(x), round(y - 5), round(x), round(y + 5))
        painter.drawLine(round(x - 4), round(y + 1), round(x), round(y + 5))
        painter.drawLine(round(x + 4), round(y + 1), round(x), round(y + 5))


class ThinBar(QScrollBar):
    """A vertical scroll bar, placed by the style and painted here."""

    def __init__(self, tokens: Tokens, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._tokens = tokens
        self._option = QStyleOptionSlider()

    def set_theme(self, tokens: Tokens) -> None:
        """Paint in another theme."""
        self._tokens = tokens
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        # Style sheets clear this attribute; without it everything behind the bar is painted as well.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        super().showEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._tokens.bg))
        if self.maximum() == self.minimum():
            return
        self.initStyleOption(self._option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_ScrollBar, self._option, QStyle.SubControl.SC_ScrollBarSlider, self
        )
        held = self.isSliderDown() or self.underMouse()
        box = QRectF(handle)
        space = max(0.0, (box.width() - 6) / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._tokens.text_3 if held else self._tokens.line_strong))
        painter.drawRoundedRect(box.adjusted(space, 0, -space, 0), 3, 3)


class WayToEnd(QObject):
    """Shows the pill while the end is not on screen, with the number of messages that came since."""

    def __init__(self, pill: JumpPill, canvas: Canvas, feed: Feed) -> None:
        super().__init__(canvas)
        self._pill = pill
        self._canvas = canvas
        self._unseen: set[str] = set()
        self._rest = single_shot(self, self._show)
        canvas.refreshed.connect(self._show)
        canvas.scrolled.connect(self._on_scrolled)
        feed.came_below.connect(self._on_came_below)
        feed.session_shown.connect(self._unseen.clear)

    def _on_came_below(self, message_id: str) -> None:
        self._unseen.add(message_id)
        self._show()

    def _on_scrolled(self) -> None:
        """Hide the pill while rows move: pixels can be moved only where nothing is over them."""
        self._pill.hide()
        self._rest.start(REST_MS)

    def _show(self) -> None:
        scroller = self._canvas.scroller
        if scroller.follow:
            self._unseen.clear()
        shown = not scroller.follow and not self._rest.isActive() and scroller.maximum - scroller.value > 40
        if shown:
            count, texts = len(self._unseen), self._canvas.style.texts
            self._pill.say(texts("transcript.jump_new", count=count) if count else texts("transcript.jump"))
        if shown and self._pill.isHidden():
            self._pill.place()
        if shown == self._pill.isHidden():
            self._pill.setVisible(shown)
