"""Widgets that paint their own text, which a screen reader is to read as a label."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

_KEPT: dict[int, QAccessibleWidget] = {}
_INSTALLED: list[bool] = []


class PaintedText(QWidget):
    """A label that Qt does not know as one; its accessible name is its text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        if not _INSTALLED:
            _INSTALLED.append(True)
            QAccessible.installFactory(_factory)
        super().__init__(parent)


def _factory(_key: str, owner: QObject) -> QAccessibleInterface | None:
    if not isinstance(owner, PaintedText):
        return None
    key = id(owner)
    if key not in _KEPT:
        _KEPT[key] = QAccessibleWidget(owner, QAccessible.Role.StaticText)
        owner.destroyed.connect(lambda: _KEPT.pop(key, None))
    return _KEPT[key]
