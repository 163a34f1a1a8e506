"""Rows and columns of widgets, written as the nested lists they are: `vbox(title, hbox(STRETCH, close))`."""

from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget


@dataclass(frozen=True)
class Stretch:
    """Empty space that takes what is left over, in proportion to its factor."""

    factor: int = 1


STRETCH = Stretch()
Item = QWidget | QLayout
# A widget or layout, alone or with its stretch factor and alignment; an integer is a gap in pixels.
Part = Item | tuple[Item, int] | tuple[QWidget, int, Qt.AlignmentFlag] | Stretch | int
Layout = TypeVar("Layout", bound=QBoxLayout)
Margins = int | tuple[int, int, int, int] | None


def hbox(
    *parts: Part, inside: QWidget | None = None, margins: Margins = 0, spacing: int | None = None
) -> QHBoxLayout:
    """Return a row of parts, as the layout of the widget `inside` if given.

    Margins are in pixels: left, top, right and bottom, or one number for all; None keeps the style's.
    """
    return _filled(QHBoxLayout() if inside is None else QHBoxLayout(inside), parts, margins, spacing)


def vbox(
    *parts: Part, inside: QWidget | None = None, margins: Margins = 0, spacing: int | None = None
) -> QVBoxLayout:
    """Return a column of parts; see `hbox`."""
    return _filled(QVBoxLayout() if inside is None else QVBoxLayout(inside), parts, margins, spacing)


def _filled(layout: Layout, parts: tuple[Part, ...], margins: Margins, spacing: int | None) -> Layout:
    if margins is not None:
        layout.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        layout.setSpacing(spacing)
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
    return layout
