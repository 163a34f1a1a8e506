"""The list of a running workflow's steps, and the row of a step."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QWidget

from app.core.texts import visible
from app.core.workflow import StepStatus
from app.gui.display.appearance import Language, Look
from app.gui.panels.workflow.step_display import ACCEPT, ANSWER, StepLook
from app.gui.widgets.badge import Avatar, Chip
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import ENTER, button, icon_button, keep_place, put_where
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_tip

MARK = 14
INDENT = 20
MOST_INDENT = 5
COPY = "copy"
COLOURS: dict[str, str] = {
    StepStatus.DONE: "ok",
    StepStatus.RUNNING: "accent",
    StepStatus.WAITING: "warn",
    StepStatus.FAILED: "error",
}


class StepMark(QWidget):
    """A ring that shows a step's state: ticked, half full, waiting, crossed out or empty."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._state = ""
        self.setFixedSize(MARK + 4, MARK + 4)
        look.changed.connect(self.update)

    def show_state(self, state: str) -> None:
        """Show a step's state."""
        self._state = state
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(getattr(self._look.tokens, COLOURS.get(self._state, "text_2")))
        ring = QRectF(2, 2, MARK, MARK)
        centre = ring.center()
        painter.setPen(QPen(colour, 1.4))
        painter.drawEllipse(ring)
        if self._state == StepStatus.DONE:
            painter.drawPolyline([centre + QPointF(x, y) for x, y in ((-3.0, 0.2), (-0.8, 2.4), (3.2, -2.1))])
        elif self._state == StepStatus.RUNNING:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPie(ring, -90 * 16, -180 * 16)
        elif self._state == StepStatus.WAITING:
            painter.drawPolyline([centre + QPointF(x, y) for x, y in ((0, -3.6), (0, 0), (2.6, 1.6))])
        elif self._state == StepStatus.FAILED:
            for x in (-2.4, 2.4):
                painter.drawLine(centre + QPointF(x, -2.4), centre + QPointF(-x, 2.4))
        elif self._state in (StepStatus.SKIPPED, StepStatus.CANCELLED):
            painter.drawLine(centre + QPointF(-3, 0), centre + QPointF(3, 0))


class StepRow(QFrame):
    """The row of a step.

    Signals: opened() to show its turn, acted(action), copied(text),
    linked(address, text) to open a link of its result, stepped(step) when an arrow key leads to another row.
    """

    opened = Signal()
    acted = Signal(str)
    copied = Signal(str)
    linked = Signal(str, str)
    stepped = Signal(int)

    def __init__(self, language: Language, look: Look, step_id: str) -> None:
        super().__init__()
        self.setObjectName(f"step_{step_id}")
        self.setProperty("kind", "step")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._language = language
        self._shown: StepLook | None = None
        self._mark = StepMark(look)
        self._name = ElidedLabel("name")
        self._avatar = Avatar(look, 20)
        self._who = ElidedLabel("meta")
        self.chip = Chip(look)
        self._why = Paragraph("hint")
        self.action = button("", f"step_action_{step_id}", self._on_action)
        self.more = icon_button(look, "ellipsis", f"step_more_{step_id}")
        self.more.setFixedSize(28, 26)
        # The states of all steps end at the same place.
        keep_place(self.more)
        self.menu = QMenu(self.more)
        self.more.setMenu(self.menu)
        self.more.setPopupMode(self.more.ToolButtonPopupMode.InstantPopup)
        self._below = QWidget()
        self._lay_out()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """The widgets Tab stops at, in order."""
        return (self, self.more, self.action)

    def show_look(self, shown: StepLook) -> None:
        """Show a step."""
        if shown == self._shown:
            return
        self._shown = shown
        words = self._language
        self._mark.show_state(shown.state)
        self._name.setText(visible(shown.name))
        self._avatar.set_speaker(shown.who, shown.colour, letters=shown.letters)
        self._who.setText(visible(shown.who))
        self.chip.set_text(shown.text, shown.tone)
        # Several lines are aligned with the first word.
        text = f"\n{shown.made}" if "\n" in shown.made else shown.made
        made = words("step.artifacts", text=visible(text)) if shown.made else ""
        self._why.setText("\n".join(part for part in (shown.why, made) if part))
        self._why.setVisible(bool(self._why.text()))
        had_focus = self.action.hasFocus() or self.more.hasFocus()
        self.action.setVisible(bool(shown.action))
        if shown.action:
            name = words(f"step.do.{shown.action}")
            self.action.setText(name)
            self.action.setAccessibleName(words("step.do_to", action=name, name=shown.name))
            self.action.setProperty("kind", "primary" if shown.action in (ACCEPT, ANSWER) else "")
            self.action.style().polish(self.action)
        self._fill_menu(shown)
        self._below.setVisible(bool(self._why.text() or shown.action or not self.more.isHidden()))
        if had_focus and not (self.action.isVisible() or self.more.isVisible()):
            self.setFocus()
        said = words(
            "step.said", name=shown.name, who=shown.who, state=words.texts.named("step", shown.state)
        )
        self.setAccessibleName(said)
        self.setAccessibleDescription(self._why.text())
        self.setToolTip(plain_tip(words("step.role", role=shown.role)))

    def indent(self) -> int:
        """Return the indent of the step in pixels."""
        return INDENT * min(self._shown.depth if self._shown else 0, MOST_INDENT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step:
            self.stepped.emit(step)
        elif Qt.Key(event.key()) in ENTER:
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit()

    def _on_action(self) -> None:
        if self._shown is not None:
            self.acted.emit(self._shown.action)

    def _fill_menu(self, shown: StepLook) -> None:
        words = self._language
        self.menu.clear()
        for one in shown.others:
            self.menu.addAction(words(f"step.do.{one}"), partial(self.acted.emit, one))
        for address, text in shown.links:
            name = words("step.do.open", name=visible(text)).replace("&", "&&")
            self.menu.addAction(name, partial(self.linked.emit, address, text))
        if shown.artifacts:
            self.menu.addAction(words("step.do.copy"), partial(self.copied.emit, shown.artifacts))
        name_button(self.more, words("step.more", name=shown.name))
        self.more.setVisible(not self.menu.isEmpty())

    def _lay_out(self) -> None:
        for label in (self._name, self._who):
            label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        hbox(
            (self._why, 1),
            Stretch(0),
            (self.action, 0, Qt.AlignmentFlag.AlignBottom),
            inside=self._below,
            margins=(26, 0, 0, 0),
            spacing=8,
        )
        vbox(
            hbox(self._mark, self._name, self._avatar, self._who, STRETCH, self.chip, self.more, spacing=8),
            self._below,
            inside=self,
            margins=(11, 6, 8, 6),
            spacing=3,
        )


class StepList(QWidget):
    """Shows the steps in order, indented by their depth.

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
        """Show these steps; existing rows stay and keep the focus."""
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
