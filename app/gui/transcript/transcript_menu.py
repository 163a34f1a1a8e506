"""The menu of a place in a transcript: what is selected, what the message offers, the link under it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.core.texts import Texts


class Item(NamedTuple):
    """A line of the menu: its text's key, what it does, and whether it can be chosen now."""

    key: str
    do: Callable[[], object]
    enabled: bool = True


def build(parent: QWidget, texts: Texts, *parts: Sequence[Item]) -> QMenu:
    """Return a menu whose parts are set apart by lines; it deletes itself when closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for number, part in enumerate(parts):
        if number and part:
            menu.addSeparator()
        for item in part:
            action = QAction(texts(item.key), menu)
            action.setEnabled(item.enabled)
            action.triggered.connect(lambda _checked=False, do=item.do: do())
            menu.addAction(action)
    return menu
