"""The assistants of a workflow: how each takes work, what it does, and what waits for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app.core.text import visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.badge import Avatar, Chip
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import ElidedLabel, plain_label
from app.gui.widgets.wording import say


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyRow:
    """An assistant: name, busy strategy, and state in words."""

    name: str
    strategy: str
    text: str
    colour: int | None = None


def busy_text(counts: tuple[int, int, int], words: Language) -> str:
    """Return the state for the counts (running, queued, waiting with a timeout) in words, such as "idle"."""
    running, queued, waiting = counts
    parts = [words("busy.running", count=running)] if running else []
    if queued + waiting:
        parts.append(words("busy.waiting", count=queued + waiting))
    return ", ".join(parts) or words("busy.idle")


class BusyList(QFrame):
    """A card with a line for each assistant; emits queue_requested() to open the queues."""

    queue_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("workflow_busy")
        self.setProperty("kind", "big_card")
        self._language = language
        self._look = look
        self._shown: tuple[BusyRow, ...] = ()
        self._title = say(plain_label("value"), language, "busy.title")
        self._rows: list[QWidget] = []
        self.texts: list[QLabel] = []
        self.queue = say(
            button("link", "workflow_queue", lambda: self.queue_requested.emit()), language, "queue.show"
        )
        self._column = vbox(
            hbox((self._title, 1), self.queue), inside=self, margins=(14, 11, 14, 12), spacing=7
        )
        say(self, language, name="busy.title")

    def show_rows(self, rows: Sequence[BusyRow]) -> None:
        """Show these assistants."""
        if tuple(rows) == self._shown:
            return
        self._shown = tuple(rows)
        for old in self._rows:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._rows, self.texts = [], []
        for row in rows:
            self._column.addWidget(self._line(row))

    def _line(self, row: BusyRow) -> QWidget:
        line = QWidget()
        inside = hbox(inside=line, spacing=8)
        avatar = Avatar(self._look, 20)
        name = ElidedLabel("meta", text=visible(row.name))
        chip = Chip(self._look)
        avatar.set_speaker(row.name, row.colour)
        chip.set_text(row.strategy)
        text = plain_label("hint", text=row.text)
        text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for widget, stretch in ((avatar, 0), (name, 1), (chip, 0), (text, 0)):
            inside.addWidget(widget, stretch)
        self._rows.append(line)
        self.texts.append(text)
        return line
