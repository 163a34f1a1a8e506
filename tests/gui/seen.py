"""What a user sees of a part of the window, and what they press there.

Parts are found by their object name, their class or the words they show. What is hidden is not seen; a window that
is not open yet hides none of its parts.
"""

from typing import TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.gui.widgets.editable_lists import QueuedMessageRow
from app.gui.widgets.notices import Toast
from app.gui.widgets.question_card import PromptCard
from app.gui.widgets.text import PaintedText

Kind = TypeVar("Kind", bound=QWidget)
Label = QLabel | PaintedText


def inside(root: QWidget, name: str, kind: type[Kind] = QWidget) -> Kind:  # type: ignore[assignment]
    """Return the part of that object name, also if it is hidden."""
    found = root.findChild(kind, name)
    assert found is not None, f"nothing in {root} is called {name}"
    return found


def labels(root: QWidget, kind: str | type[Label] | None = None) -> list[Label]:
    """Return the labels that are seen, of a class, or of a kind of the style sheet."""
    wanted = kind if isinstance(kind, type) else Label
    found = [one for one in root.findChildren(QWidget) if isinstance(one, wanted) and one.isVisibleTo(root)]
    return [one for one in found if not isinstance(kind, str) or one.property("kind") == kind]


def texts_in(root: QWidget, kind: str | type[Label] | None = None) -> list[str]:
    """Return the texts of the labels that are seen."""
    return [text for one in labels(root, kind) if (text := one.text())]  # type: ignore[union-attr]


def saying(root: QWidget, words: str) -> str:
    """Return the text in which these words are seen, "" if there is none."""
    return next((text for text in texts_in(root) if words in text), "")


def button(root: QWidget, words: str) -> QAbstractButton | None:
    """Return the button with this text or accessible name that is seen, None if there is none."""
    found = [one for one in root.findChildren(QAbstractButton) if one.isVisibleTo(root)]
    return next((one for one in found if words in (one.text(), one.accessibleName())), None)


def toasts(root: QWidget) -> list[str]:
    """Return the texts of the toasts over a window or dialog, also of those that wait for room."""
    return [one.text for one in root.findChildren(Toast) if one.here and one.window() is root.window()]


def waiting(root: QWidget, text: str) -> QueuedMessageRow:
    """Return the row of a message that waits, by what the message says."""
    rows = [one for one in root.findChildren(QueuedMessageRow) if not one.isHidden()]
    return next(one for one in rows if one.accessibleName() == f"Queued: {text}")


def shown_card(qtbot: QtBot, card: PromptCard) -> PromptCard:
    """Show a card that asks, so long ago that it takes keys."""
    qtbot.addWidget(card)
    card.resize(620, card.heightForWidth(620))
    card.show()
    card._shown_at -= 1.0
    return card


def runs(owner: QObject, every_ms: int) -> bool:
    """Say whether a timer of this interval runs."""
    return any(one.isActive() and one.interval() == every_ms for one in owner.findChildren(QTimer))
