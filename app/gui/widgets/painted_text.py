"""Widgets that paint their own text, which a screen reader is to read as a label."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget
from shiboken6 import isValid

_KEPT: list[QAccessibleInterface] = []
_INSTALLED: list[bool] = []


class PaintedText(QWidget):
    """A label that Qt does not know as one; its accessible name is its text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        if not _INSTALLED:
            _INSTALLED.append(True)
            QAccessible.installFactory(_factory)
        super().__init__(parent)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()


def _factory(_key: str, owner: QObject) -> QAccessibleInterface | None:
    return (
        keep(QAccessibleWidget(owner, QAccessible.Role.StaticText))
        if isinstance(owner, PaintedText)
        else None
    )


def keep(interface: QAccessibleInterface) -> QAccessibleInterface:
    """Return an interface that Qt will end, with its widget: Python must not end it before."""
    _KEPT[:] = [one for one in _KEPT if isValid(one)]
    _KEPT.append(interface)
    return interface
