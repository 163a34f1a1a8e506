"""Layouts: rows and columns written as nested lists, `vbox(title, hbox(STRETCH, close))`, rows that wrap; tab
order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLayout, QSizePolicy, QStackedWidget, QWidget
from shiboken6 import createdByPython

if TYPE_CHECKING:
    AsWidget = QWidget
else:
    # Beside the class of a widget that it is a part of.
    AsWidget = object


@dataclass(frozen=True)
class Stretch:
    """Empty space that takes what is left over, in proportion to its factor."""

    factor: int = 1


STRETCH = Stretch()
Item = QWidget | QLayout
# A widget or layout, alone or with its stretch factor and alignment; an integer is a gap in pixels.
Part = Item | tuple[Item, int] | tuple[QWidget, int, Qt.AlignmentFlag] | Stretch | int
Margins = int | tuple[int, int, int, int] | None


def hbox(
    *parts: Part, inside: QWidget | None = None, margins: Margins = 0, spacing: int | None = None
) -> QBoxLayout:
    """Return a row of parts, as the layout of the widget `inside` if given.

    Margins are in pixels: left, top, right and bottom, or one number for all; None keeps the style's.
    """
    return _filled(QBoxLayout(QBoxLayout.Direction.LeftToRight, inside), parts, margins, spacing)


def vbox(
    *parts: Part, inside: QWidget | None = None, margins: Margins = 0, spacing: int | None = None
) -> QBoxLayout:
    """Return a column of parts; see `hbox`."""
    return _filled(QBoxLayout(QBoxLayout.Direction.TopToBottom, inside), parts, margins, spacing)


def centred(widget: QWidget, width: int) -> QBoxLayout:
    """Return a row with a widget in its middle that grows up to a width in pixels."""
    widget.setMaximumWidth(width)
    return hbox(STRETCH, (widget, 1000), STRETCH)


class Frame(QFrame):
    """A frame; `kind` is what the style sheet knows it by, such as card, `name` its object name."""

    def __init__(self, kind: str, name: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", kind)
        self.setObjectName(name)


def frame(kind: str, layout: QLayout, name: str = "") -> Frame:
    """Return a frame around a layout; see `Frame`."""
    result = Frame(kind, name)
    result.setLayout(layout)
    return result


def card(name: str, *parts: Part, spacing: int) -> Frame:
    """Return a framed card of parts under each other."""
    return frame("card", vbox(*parts, margins=(16, 12, 16, 12), spacing=spacing), name)


def thin_line(*, width: int = 0, height: int = 1) -> QFrame:
    """Return a thin line between two parts; without a width it is as wide as they are."""
    line = Frame("line")
    line.setFixedHeight(height)
    if width:
        line.setFixedWidth(width)
    return line


def stack(*pages: QWidget) -> QStackedWidget:
    """Return a stack of pages, of which the first is shown."""
    result = QStackedWidget()
    for page in pages:
        result.addWidget(page)
    return result


def add_to(layout: QBoxLayout, *parts: Part) -> None:
    """Add parts at the end of a row or column."""
    for part in parts:
        if isinstance(part, Stretch):
            layout.addStretch(part.factor)
        elif isinstance(part, int):
            layout.addSpacing(part)
        else:
            item, factor, *alignment = part if isinstance(part, tuple) else (part, 0)
            if isinstance(item, QWidget):
                layout.addWidget(item, factor, *alignment)
            else:
                layout.addLayout(item, factor)


def widgets_in(layout: QLayout) -> list[QWidget]:
    """Return the widgets of a layout in their order, without those of the layouts in it.

    By the children of its widget, not by its items: Qt deletes layouts and their items without telling
    Python, and an item made later at the same address is then taken for the deleted object.
    """
    inside = layout.parentWidget()
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    children = inside.findChildren(QWidget, options=direct) if inside is not None else []
    return sorted((child for child in children if layout.indexOf(child) >= 0), key=layout.indexOf)


def empty(layout: QLayout) -> None:
    """Take the widgets out of a layout, and delete them; gaps and layouts in it stay."""
    for widget in widgets_in(layout):
        layout.removeWidget(widget)
        drop(widget)


def set_across(line: QBoxLayout, across: bool) -> None:
    """Lay out the parts of a line side by side, or one below the other."""
    line.setDirection(line.Direction.LeftToRight if across else line.Direction.TopToBottom)


ANY_SIZE = 16_777_215
"""No limit to a width or height: Qt's QWIDGETSIZE_MAX, which PySide does not have."""


def hold_width(widget: QWidget, width: int) -> None:
    """Give a widget just this width, 0 for any."""
    widget.setMinimumWidth(width)
    widget.setMaximumWidth(width or ANY_SIZE)


def follow_width(widget: QWidget) -> None:
    """Let layouts ask a widget for the height that it takes in a width."""
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)


def drop(widget: QWidget) -> None:
    """Delete a widget, which is seen no more and takes no room from now on."""
    widget.hide()
    widget.deleteLater()


def _filled(layout: QBoxLayout, parts: tuple[Part, ...], margins: Margins, spacing: int | None) -> QBoxLayout:
    if margins is not None:
        layout.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        layout.setSpacing(spacing)
    add_to(layout, *parts)
    return layout


def put_in_tab_order(widgets: Sequence[QWidget]) -> None:
    """Set the tab order of widgets, each of which must accept the focus."""
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)


def focus_chain(widget: QWidget, *, back: bool = False) -> Iterator[QWidget]:
    """Yield the widgets that follow another in the focus chain of its window, or those that precede it.

    PySide makes each the owner of the one that follows, and takes this for deleted where Python forgets the
    owner: its next use raises an error, which ends the process where Qt called it (Python 3.11). So each is
    given back.
    """
    part = widget
    while True:
        found = part.previousInFocusChain() if back else part.nextInFocusChain()
        assert found is not None  # the chain is a ring
        _give_back(found)
        if found is widget:
            return
        yield found
        part = found


def _give_back(widget: QWidget) -> None:
    """Make the parent that a widget has its owner again; Qt looks at nothing, as it is the same parent."""
    parent = widget.parentWidget()
    if parent is not None and not createdByPython(parent):
        # Python would forget one that nobody owns, and the widget with it.
        _give_back(parent)
    widget.setParent(parent)


def focused_in(widget: QWidget) -> QWidget | None:
    """Return what has the focus in a widget, None where that is elsewhere."""
    focus: QWidget | None = widget.window().focusWidget()
    return focus if focus is not None and widget.isAncestorOf(focus) else None


def stops_in(widget: QWidget) -> list[QWidget]:
    """Return what Tab stops at in a widget, in order: itself, if it takes the focus, and what is in it."""
    stops: list[QWidget] = []
    # What is in it may stand anywhere in the chain of its window; a menu in it has a chain of its own.
    left = 1 + sum(inside.window() is widget.window() for inside in widget.findChildren(QWidget))
    for part in chain((widget,), focus_chain(widget)):
        inside = part is widget or widget.isAncestorOf(part)
        # A widget with a focus proxy is no stop itself, or Qt would count the proxy twice.
        if inside and part.focusPolicy() != Qt.FocusPolicy.NoFocus and part.focusProxy() is None:
            stops.append(part)
        left -= inside
        if not left:
            break
    return stops


def put_where(place: QWidget, widgets: Sequence[QWidget]) -> None:
    """Put widgets into the tab order at the place of their container, which was made before them."""
    for before in focus_chain(place, back=True):
        stops = before.focusPolicy() != Qt.FocusPolicy.NoFocus and before.focusProxy() is None
        if stops and not place.isAncestorOf(before):
            put_in_tab_order((before, *widgets))
            return


def add_page(stack: QStackedWidget, page: QWidget) -> None:
    """Add a page, which no window has yet, to a stack, and to the tab order at the stack's place.

    Qt puts it at the end of the order, behind what stands after the stack. It moves what takes no focus only
    as a part of what does: as a widget whose focus is that of its last part.
    """
    last = next(focus_chain(page, back=True), page)
    kept = [(widget, widget.focusPolicy()) for widget in (page, last)]
    stack.addWidget(page)
    for widget in (page, last):
        widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    page.setFocusProxy(last)
    put_where(stack, [page])
    page.setFocusProxy(None)  # type: ignore[arg-type]
    for widget, policy in kept:
        widget.setFocusPolicy(policy)


class Fitting(AsWidget):
    """A part of a widget that fits anew what is in it, as `_fit` says, whenever its size changes."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        raise NotImplementedError


class FontFitting(Fitting):
    """Does so also whenever its font changes."""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()


class LayoutFitting(Fitting):
    """Does so also whenever what is in it wants another size, as with other texts."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)


class FlowBox(LayoutFitting, QWidget):
    """Rows of widgets that wrap like text; the height follows from the width.

    No QLayout: Qt deletes a layout's items without telling Python, and an item made later at the same address
    is then taken for the deleted one.
    """

    def __init__(self, *, gap: int = 6) -> None:
        super().__init__()
        self._widgets: list[QWidget] = []
        self._gap = gap
        follow_width(self)

    def insert(self, place: int, widget: QWidget) -> None:
        """Insert a widget at a place."""
        self._widgets.insert(place, widget)
        widget.setParent(self)
        self._fit()

    def add(self, widget: QWidget) -> None:
        """Append a widget."""
        self.insert(len(self._widgets), widget)

    def remove(self, widget: QWidget) -> None:
        """Remove a widget; it stays a child of the box."""
        self._widgets.remove(widget)
        self._fit()

    def heightForWidth(self, width: int) -> int:
        return self._arrange(width, move=False)

    def sizeHint(self) -> QSize:
        size = self.minimumSizeHint()
        return QSize(size.width(), self.heightForWidth(max(size.width(), self.width())))

    def minimumSizeHint(self) -> QSize:
        shown = [least_size(widget) for widget in self._widgets if not widget.isHidden()]
        width = max((size.width() for size in shown), default=0)
        height = max((size.height() for size in shown), default=0)
        return QSize(width, height)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        # Sizes are known once the widgets have their style, which comes when they are shown.
        if self.isVisible():
            self._arrange(self.width(), move=True)
        self.updateGeometry()

    def _arrange(self, width: int, *, move: bool) -> int:
        """Compute the places of the widgets, and move them if asked; return the height in pixels."""
        x = y = line = 0
        for widget in self._widgets:
            if widget.isHidden():
                continue
            least = least_size(widget)
            size = widget.sizeHint().expandedTo(least).boundedTo(widget.maximumSize())
            size.setWidth(min(size.width(), max(width, least.width())))
            if x > 0 and x + size.width() > width:
                x, y, line = 0, y + line + self._gap, 0
            if move:
                widget.setGeometry(QRect(x, y, size.width(), size.height()))
            x += size.width() + self._gap
            line = max(line, size.height())
        return y + line


def least_size(widget: QWidget) -> QSize:
    """Return the size below which a layout does not shrink a widget."""
    return widget.minimumSizeHint().expandedTo(widget.minimumSize())
