"""The steps of a workflow at work, one card below the other. Used by the panel's Work."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.panels.workflow.step_display import StepLook
from app.gui.panels.workflow.step_row import StepRow
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import put_where


class StepList(QWidget):
    """Shows steps in their order, indented by how much lies before them.

    Signals: opened(step id), acted(step id, action), copied(text), linked(address, text).
    """

    opened = Signal(str)
    acted = Signal(str, str)
    copied = Signal(str)
    linked = Signal(str, str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("workflow_steps")
        self._language = language
        self._look = look
        self.rows: dict[str, StepRow] = {}
        self._lines: dict[str, QWidget] = {}
        self._column = vbox(inside=self, spacing=8)

    def show_steps(self, looks: Sequence[StepLook]) -> None:
        """Show these steps; a row that is there already stays, with the keyboard on it."""
        if [look.id for look in looks] != list(self.rows):
            self._begin(looks)
        for look in looks:
            row = self.rows[look.id]
            row.show_look(look)
            self._lines[look.id].layout().setContentsMargins(row.indent(), 0, 0, 0)

    def _begin(self, looks: Sequence[StepLook]) -> None:
        for line in self._lines.values():
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self.rows, self._lines = {}, {}
        for look in looks:
            row = StepRow(self._language, self._look, look.id)
            row.opened.connect(lambda step_id=look.id: self.opened.emit(step_id))
            row.acted.connect(lambda action, step_id=look.id: self.acted.emit(step_id, action))
            row.copied.connect(self.copied)
            row.linked.connect(self.linked)
            row.stepped.connect(lambda step, step_id=look.id: self._go(step_id, step))
            line = QWidget()
            hbox(row, inside=line, margins=None)
            self._column.addWidget(line)
            self.rows[look.id], self._lines[look.id] = row, line
        put_where(self, [stop for row in self.rows.values() for stop in row.stops])

    def _go(self, step_id: str, step: int) -> None:
        ids = list(self.rows)
        place = ids.index(step_id) + step
        if 0 <= place < len(ids):
            self.rows[ids[place]].setFocus()
