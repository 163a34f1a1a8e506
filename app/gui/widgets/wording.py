"""Widgets with an object name, and with words that follow the language in use."""

from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QToolButton, QWidget

from app.gui.display.i18n import Language
from app.gui.widgets.controls import name_button

Widget = TypeVar("Widget", bound=QWidget)


def named(name: str, widget: Widget) -> Widget:
    """Give a widget its object name."""
    widget.setObjectName(name)
    return widget


def say(
    widget: Widget, language: Language, text: str = "", *, name: str = "", tip: str = "", hint: str = ""
) -> Widget:
    """Give a widget its words, now and whenever the language changes; all are keys of the catalogue.

    `name` is the accessible name, `hint` the placeholder of a field, `tip` names a button that is only an icon.
    """
    _Words(widget, language, text, name, tip, hint)
    return widget


class _Words(QObject):
    """Shows the words of its parent, and goes with it."""

    def __init__(
        self, widget: QWidget, language: Language, text: str, name: str, tip: str, hint: str
    ) -> None:
        super().__init__(widget)
        self._language, self._text, self._name, self._tip, self._hint = language, text, name, tip, hint
        language.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        widget, words = self.parent(), self._language
        assert isinstance(widget, QWidget)
        # Asked by name: whether a widget is of a protocol takes Python longer than all else here.
        if self._text and (set_text := getattr(widget, "setText", None)) is not None:
            set_text(words(self._text))
        if self._name:
            widget.setAccessibleName(words(self._name))
        if self._tip and isinstance(widget, QPushButton | QToolButton):
            name_button(widget, words(self._tip))
        if self._hint and isinstance(widget, QLineEdit | QPlainTextEdit):
            widget.setPlaceholderText(words(self._hint))
