"""Texts of widgets: labels of plain text, and words that follow the language in use.

A label is one line, elided, or wrapped; `PaintedText` is the base of widgets that paint their text. Qt may
read the text of labels and tool tips as HTML; these never do.
"""

import html
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from PySide6 import QtGui, QtWidgets
from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt
from shiboken6 import isValid

from app.gui.display.appearance import Language
from app.gui.markdown.document import Utf16Places
from app.gui.web_view import available
from app.gui.widgets.boxes import follow_width

Told = Callable[[Any], QtGui.QAccessibleInterface]

_KEPT: list[QtGui.QAccessibleInterface] = []
_TOLD: dict[type[QObject], Told] = {}


def tell_as(widget: QtWidgets.QWidget, told: Told) -> None:
    """Let `told` make what a screen reader is told of a widget, and of all others of its class.

    With the viewer of pages nothing may be made by a factory: PySide would call it also for what QtWebEngine
    focuses inside a page, a C++ object without the type information that PySide reads, and the process would
    end.
    """
    if available():
        _AtShow(widget, told)
        return
    if not _TOLD:
        QtGui.QAccessible.installFactory(_factory)
    _TOLD.setdefault(type(widget), told)


class _AtShow(QObject):
    """Registers a widget's interface when it is shown: Qt looks for it by the class,
    which PySide extends until then.
    """

    def __init__(self, widget: QtWidgets.QWidget, told: Told) -> None:
        super().__init__(widget)
        self._told = told
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            watched.removeEventFilter(self)
            QtGui.QAccessible.registerAccessibleInterface(_kept(self._told(watched)))
        return False


def _factory(_key: str, owner: QObject) -> QtGui.QAccessibleInterface | None:
    told = next((told for kind, told in _TOLD.items() if isinstance(owner, kind)), None)
    return _kept(told(owner)) if told is not None else None


def _kept(interface: QtGui.QAccessibleInterface) -> QtGui.QAccessibleInterface:
    """Keep a reference to an interface that Qt deletes together with its widget;
    Python must not delete it before.
    """
    _KEPT[:] = [kept for kept in _KEPT if isValid(kept)]
    _KEPT.append(interface)
    return interface


class PaintedText(QtWidgets.QWidget):
    """A widget that paints its text and is a label for screen readers; its accessible name is its text."""

    _text = ""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        tell_as(self, lambda label: QtWidgets.QAccessibleWidget(label, QtGui.QAccessible.Role.StaticText))

    def text(self) -> str:
        """Return the whole text."""
        return self._text

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()


class WrappedText(PaintedText):
    """Plain text in lines; the height follows from the width."""

    LINE_HEIGHT = 1.5
    alignment = Qt.AlignmentFlag.AlignLeft

    def __init__(self, kind: str, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", kind)
        follow_width(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, math.ceil(self._line_height()))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        self.ensurePolished()
        painter = QtGui.QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        for layout in self._layouts(self.width()):
            layout.draw(painter, QPointF())

    def _layouts(self, width: int) -> Sequence[QtGui.QTextLayout]:
        """Return the text laid out in a width."""
        raise NotImplementedError

    def _place(self) -> None:
        """Update after the text or the width has changed."""
        self.updateGeometry()
        self.update()

    def _line_height(self) -> float:
        return self.font().pixelSize() * self.LINE_HEIGHT

    def _laid_out(
        self, text: str, width: int, x: float = 0.0, y: float = 0.0, indent: int = 0
    ) -> tuple[QtGui.QTextLayout, float, float]:
        """Lay text out from a point on; return the layout and the point where it ends."""
        # Qt's layout ignores line feeds.
        layout = QtGui.QTextLayout(text.replace("\n", "\u2028"), self.font())
        option = QtGui.QTextOption(self.alignment)
        option.setWrapMode(QtGui.QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        height = self._line_height()
        air = (height - QtGui.QFontMetricsF(self.font()).height()) / 2
        layout.beginLayout()
        end, top = x, y
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width - x))
            line.setPosition(QPointF(x, y + air))
            end, top = x + line.naturalTextWidth(), y
            x, y = float(indent), y + height
        layout.endLayout()
        return layout, end, top


def plain_label(kind: str = "", *, wrap: bool = False, text: str = "") -> QtWidgets.QLabel:
    """Return a label of plain text; `kind` is what the style sheet knows it by."""
    label = QtWidgets.QLabel(textFormat=Qt.TextFormat.PlainText, text=text, wordWrap=wrap)
    label.setProperty("kind", kind)
    if wrap:
        label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Minimum)
    return label


def show_or_hide(label: "QtWidgets.QLabel | ElidedLabel | Paragraph", text: str) -> None:
    """Show a text, or hide its label if there is none."""
    label.setText(text)
    set_shown(label, bool(text))


def set_shown(widget: QtWidgets.QWidget, shown: bool) -> None:
    """Show or hide a widget; what is shown stays as it is,
    since showing gives it its style before its window has it.
    """
    if not shown or widget.isHidden():
        widget.setVisible(shown)


def show_if(shown: object, *widgets: QtWidgets.QWidget) -> None:
    """Show widgets, or hide them all."""
    for widget in widgets:
        widget.setVisible(bool(shown))


def enable_if(enabled: object, *widgets: QtWidgets.QWidget) -> None:
    """Enable widgets, or disable them all."""
    for widget in widgets:
        widget.setEnabled(bool(enabled))


def show_as(widget: "QtWidgets.QLabel | QtWidgets.QAbstractButton | Paragraph", kind: str, text: str) -> None:
    """Show a text in the style of a kind: of a label hint, ok, warn or error, of a button primary, plain
    or "".
    """
    restyle(widget, kind=kind)
    widget.setText(text)


def restyle(widget: QtWidgets.QWidget, *inside: QtWidgets.QWidget, **properties: object) -> None:
    """Set properties that the style sheet reads, and apply it again to the widget and those `inside`
    where one changed.
    """
    if any(widget.property(name) != value for name, value in properties.items()):
        for name, value in properties.items():
            widget.setProperty(name, value)
        for item in (widget, *inside):
            item.style().unpolish(item)
            item.style().polish(item)


def plain_tip(text: str) -> str:
    """Return a tool tip that Qt shows as plain text."""
    if "<" not in text and "&" not in text:
        return text
    return f'<span style="white-space: pre-wrap">{html.escape(text)}</span>'


class ElidedLabel(PaintedText):
    """One line of plain text, elided if it does not fit."""

    def __init__(self, kind: str = "", parent: QtWidgets.QWidget | None = None, *, text: str = "") -> None:
        super().__init__(parent)
        self.setProperty("kind", kind)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show `text` with spaces for line breaks; the tool tip has the whole text if it is elided."""
        self._text = " ".join(text.split())
        self.setAccessibleName(self._text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QtGui.QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, QtGui.QFontMetrics(self.font()).height() + 2)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        self.ensurePolished()
        painter = QtGui.QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        room, metrics = self.contentsRect(), QtGui.QFontMetrics(self.font())
        shown = metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, room.width())
        self.setToolTip(plain_tip(self._text) if shown != self._text else "")
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


class Paragraph(WrappedText):
    """A wrapped paragraph of plain text."""

    def __init__(self, kind: str = "", *, centred: bool = False, text: str = "") -> None:
        self._heights: dict[int, int] = {}
        super().__init__(kind)
        if centred:
            self.alignment = Qt.AlignmentFlag.AlignHCenter
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show `text`."""
        self._text = text
        self._heights.clear()
        self.setAccessibleName(text)
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        self._heights.clear()
        super().changeEvent(event)

    def lines(self) -> list[str]:
        """Return the lines as broken at the current width."""
        layout = self._layouts(self.width())[0]
        lines = [layout.lineAt(number) for number in range(layout.lineCount())]
        places = Utf16Places(self._text)
        ends = [(line.textStart(), line.textStart() + line.textLength()) for line in lines]
        return [self._text[places.from_qt(start) : places.from_qt(end)] for start, end in ends]

    def heightForWidth(self, width: int) -> int:
        # Layouts ask for the same few widths again and again.
        self.ensurePolished()
        if width not in self._heights:
            self._heights[width] = math.ceil(self._layouts(width)[0].lineCount() * self._line_height())
        return self._heights[width]

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        width = min(QtGui.QFontMetrics(self.font()).horizontalAdvance(self._text) + 2, 260)
        return QSize(width, self.heightForWidth(max(width, self.width())))

    def _layouts(self, width: int) -> tuple[QtGui.QTextLayout]:
        self.ensurePolished()
        return (self._laid_out(self._text, width)[0],)


Widget = TypeVar("Widget", bound=QtWidgets.QWidget | QtGui.QAction)


def named(name: str, widget: Widget) -> Widget:
    """Give a widget its object name."""
    widget.setObjectName(name)
    return widget


def say(
    widget: Widget, language: Language, text: str = "", *, name: str = "", tip: str = "", hint: str = ""
) -> Widget:
    """Give a widget or an action its words by keys of the catalogue, now and whenever the language changes.

    `name` is the accessible name, `hint` the placeholder of a field, and `tip` names a button that is only
    an icon.
    """
    _Words(widget, language, text, name, tip, hint)
    return widget


def name_button(target: QtWidgets.QToolButton | QtWidgets.QPushButton, text: str, shortcut: str = "") -> None:
    """Name an icon button: for screen readers, and as a tool tip with the shortcut."""
    target.setAccessibleName(text)
    target.setToolTip(plain_tip(f"{text}  ({shortcut})" if shortcut else text))


class _Words(QObject):
    """Shows the words of its parent, and goes with it."""

    def __init__(self, widget: QObject, language: Language, *keys: str) -> None:
        super().__init__(widget)
        self._language, self._keys = language, keys
        language.follow(self._show)

    def _show(self) -> None:
        widget, words = self.parent(), self._language
        text, name, tip, hint = self._keys
        # Asked by name: whether a widget is of a protocol takes Python longer than all else here.
        if text and (set_text := getattr(widget, "setText", None)) is not None:
            set_text(words(text))
        if name and isinstance(widget, QtWidgets.QWidget):
            widget.setAccessibleName(words(name))
        if tip and isinstance(widget, QtWidgets.QPushButton | QtWidgets.QToolButton):
            name_button(widget, words(tip))
        if hint and isinstance(widget, QtWidgets.QLineEdit | QtWidgets.QPlainTextEdit):
            widget.setPlaceholderText(words(hint))
