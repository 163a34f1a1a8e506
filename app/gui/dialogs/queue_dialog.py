"""The dialog of the queues: the running and waiting tasks of each assistant, and the actions on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QMenu, QWidget

from app.core.texts import visible
from app.gui.display.appearance import Language, Look
from app.gui.widgets.badge import Avatar, initials
from app.gui.widgets.boxes import STRETCH, empty, hbox, vbox
from app.gui.widgets.controls import Button, button, scrolling
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_label

FOOT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTask:
    """A task with its title and state. `place` is None if it is running; `takers` are pairs (id, name) of assistants."""

    id: str
    session_id: str
    title: str
    state: str
    place: int | None
    takers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSection:
    """An assistant with its tasks; `held` if the user lets it start no more tasks."""

    agent_id: str
    name: str
    text: str
    held: bool
    rows: tuple[QueueTask, ...]
    colour: int | None = None


class QueueDialog(QDialog):
    """Shows the queues and emits the user's requests.

    Signals: opened(session id), moved_up(task id), taken_out(task id), given(task id, assistant id),
    held(assistant id, whether).
    """

    opened = Signal(str)
    moved_up = Signal(str)
    taken_out = Signal(str)
    given = Signal(str, str)
    held = Signal(str, bool)

    def __init__(self, words: Language, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("queue_dialog")
        self.setWindowTitle(words("queue.title"))
        self._words, self._look = words, look
        self._shown: tuple[QueueSection, ...] | None = None
        self._states: dict[str, ElidedLabel] = {}
        self._nothing = Paragraph("hint", text=words("queue.nothing"))
        self._body = QWidget()
        self._column = vbox(self._nothing, spacing=12)
        vbox(self._column, STRETCH, inside=self._body, margins=(18, 16, 18, 8))
        self._close = button("", "queue_close", self.accept, text=words("settings.close"))
        self._close.setDefault(True)
        vbox((scrolling(self._body), 1), hbox(STRETCH, self._close, margins=(18, 8, 18, 14)), inside=self)
        self.resize(620, 420)
        # The window's own toasts cannot be clicked while this dialog is open.
        self.toasts = Toasts(self, above=FOOT)

    def show_queues(self, sections: Sequence[QueueSection]) -> None:
        """Show these queues; update only the states if nothing else changed, so that no button moves."""
        plain = tuple(
            replace(one, rows=tuple(replace(row, state="") for row in one.rows)) for one in sections
        )
        if plain != self._shown:
            self._shown = plain
            self._rebuild(sections)
        for one in sections:
            for row in one.rows:
                self._states[row.id].setText(row.state)

    def _rebuild(self, sections: Sequence[QueueSection]) -> None:
        focus = self.focusWidget()
        focused = focus.objectName() if focus is not None else ""  # type: ignore[redundant-expr]
        empty(self._column, but=self._nothing)
        self._states = {}
        self._column.addWidget(self._nothing)
        self._nothing.setVisible(not sections)
        for one, letters in zip(sections, initials([each.name for each in sections]), strict=True):
            self._column.addWidget(self._section(one, letters))
        again = self.findChild(QWidget, focused) if focused else None
        (again or self._close).setFocus()

    def _section(self, shown: QueueSection, letters: str) -> QWidget:
        words, card = self._words, QFrame()
        card.setProperty("kind", "big_card")
        avatar = Avatar(self._look, 20)
        name = ElidedLabel("name", text=visible(shown.name))
        text = plain_label("hint", text=shown.text)
        avatar.set_speaker(shown.name, shown.colour, letters=letters)
        key = "queue.go_on" if shown.held else "queue.hold"
        act = partial(self.held.emit, shown.agent_id, not shown.held)
        hold = button("link", f"queue_hold_{shown.agent_id}", act, text=words(key))
        hold.setAccessibleName(f"{words(key)}: {shown.name}")
        hold.setToolTip(words(f"{key}.hint"))
        column = vbox(
            hbox(avatar, (name, 1), text, hold, spacing=8), inside=card, margins=(14, 11, 14, 12), spacing=9
        )
        for row in shown.rows:
            column.addWidget(self._row(row))
        return card

    def _row(self, shown: QueueTask) -> QWidget:
        line = QWidget()
        title = ElidedLabel("value", text=visible(shown.title))
        state = ElidedLabel("hint")
        self._states[shown.id] = state
        row = hbox((vbox(title, state, spacing=1), 1), inside=line, margins=(28, 0, 0, 0), spacing=8)
        if shown.place is None:
            self._add(row, shown, "open", partial(self.opened.emit, shown.session_id))
            return line
        if shown.place:
            self._add(row, shown, "front", partial(self.moved_up.emit, shown.id))
        if shown.takers:
            give = self._add(row, shown, "give", None)
            menu = QMenu(give)
            for agent_id, name in shown.takers:
                menu.addAction(visible(name).replace("&", "&&"), partial(self.given.emit, shown.id, agent_id))
            give.setMenu(menu)
        self._add(row, shown, "out", partial(self.taken_out.emit, shown.id))
        return line

    def _add(self, row: QHBoxLayout, shown: QueueTask, what: str, act: "partial[None] | None") -> Button:
        made = button("", f"queue_{what}_{shown.id}", act, text=self._words(f"queue.{what}"))
        name_button(made, f"{self._words(f'queue.{what}')}: {shown.title}")
        row.addWidget(made)
        return made
