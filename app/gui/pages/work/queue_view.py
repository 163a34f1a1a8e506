"""The tasks in the details of work that wait for a busy assistant, or hold it up, and the actions on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.core.texts import visible
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import FlowBox, empty, vbox
from app.gui.widgets.controls import Button, button
from app.gui.widgets.text import ElidedLabel, name_button


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTask:
    """A task with its title and state. `place` is None if it is running; `takers` are pairs (id, name) of assistants."""

    id: str
    session_id: str
    title: str
    state: str
    place: int | None
    takers: tuple[tuple[str, str], ...] = ()


class QueueView(QWidget):
    """Shows tasks; emits opened(session id), moved_up(task id), taken_out(task id), given(task id, assistant id)."""

    opened = Signal(str)
    moved_up = Signal(str)
    taken_out = Signal(str)
    given = Signal(str, str)

    def __init__(self, words: Language) -> None:
        super().__init__()
        self._words = words
        self._shown: list[QueueTask] = []
        self._states: dict[str, ElidedLabel] = {}
        self._column = vbox(inside=self, spacing=12)
        words.changed.connect(self._rebuild)

    def show_tasks(self, tasks: Sequence[QueueTask]) -> None:
        """Show these tasks; update only the states if nothing else changed, so that no button moves."""
        plain = [replace(one, state="") for one in tasks]
        if plain != self._shown:
            self._shown = plain
            self._rebuild()
        for one in tasks:
            self._states[one.id].setText(one.state)

    def _rebuild(self) -> None:
        focus = self.focusWidget()
        focused = focus.objectName() if focus is not None else ""  # type: ignore[redundant-expr]
        empty(self._column)
        self._states = {}
        for task in self._shown:
            line = QWidget()
            vbox(*self._row(task), inside=line, spacing=3)
            self._column.addWidget(line)
        if focused and (again := self.findChild(QWidget, focused)) is not None:
            again.setFocus()

    def _row(self, shown: QueueTask) -> tuple[QWidget, ...]:
        title, buttons = ElidedLabel("value", text=visible(shown.title)), FlowBox()
        state = self._states[shown.id] = ElidedLabel("hint")
        if shown.place is None:
            buttons.add(self._made(shown, "open", partial(self.opened.emit, shown.session_id)))
            return title, state, buttons
        if shown.place:
            buttons.add(self._made(shown, "front", partial(self.moved_up.emit, shown.id)))
        if shown.takers:
            give = self._made(shown, "give", lambda: None)
            menu = QMenu(give)
            for agent_id, name in shown.takers:
                menu.addAction(visible(name).replace("&", "&&"), partial(self.given.emit, shown.id, agent_id))
            give.setMenu(menu)
            buttons.add(give)
        buttons.add(self._made(shown, "out", partial(self.taken_out.emit, shown.id)))
        return title, state, buttons

    def _made(self, shown: QueueTask, what: str, act: Callable[[], object]) -> Button:
        made = button("", f"queue_{what}_{shown.id}", act, text=self._words(f"queue.{what}"))
        name_button(made, f"{self._words(f'queue.{what}')}: {shown.title}")
        return made
