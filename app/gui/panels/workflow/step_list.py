"""The list of a running workflow's steps, the row of a step, and how a step looks.

`StepLook`: text and tone of its state, its assistant, and its actions; pure.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.core import definitions
from app.core.definitions import StepStatus
from app.core.session import ENDED, Reason, Status, WorkflowSession
from app.core.texts import unmarked, visible
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import time_text
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import plain_of
from app.gui.widgets.badge import Avatar, Chip, initials
from app.gui.widgets.boxes import STRETCH, Frame, Stretch, empty, frame, hbox, put_where, vbox
from app.gui.widgets.controls import ENTER, button, icon_button, keep_place
from app.gui.widgets.item_list import STEPS
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_tip, show_or_hide

ACCEPT, RETRY, GIVE, SKIP, STOP, ANSWER = "accept", "retry", "give", "skip", "stop", "answer"
CUT = "cut"
TONES: dict[str, str] = {
    StepStatus.DONE: "ok",
    StepStatus.RUNNING: "accent",
    StepStatus.WAITING: "warn",
    StepStatus.FAILED: "error",
}
# Longer names do not fit into a chip.
SHORT_NAME = 8
# The part of a step's result that fits into a row; the transcript has all of it.
MOST_READ, MOST_LINES, MOST_MADE, MOST_LINKS = 4_000, 4, 240, 6
CHANGED = (StepStatus.RUNNING, StepStatus.WAITING, StepStatus.READY, StepStatus.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLook:
    """A step as its row shows it; `action` is the most helpful action now, `others` are the rest.

    `made` is its result, short and in plain text; `links` are the (address, text) in it.
    """

    id: str
    name: str
    role: str
    who: str
    state: str
    depth: int = 0
    text: str = ""
    tone: str = "neutral"
    why: str = ""
    artifacts: str = ""
    made: str = ""
    links: tuple[tuple[str, str], ...] = ()
    action: str = ""
    others: tuple[str, ...] = field(default=())
    colour: int | None = None
    letters: str = ""


def depths(definition: definitions.WorkflowDefinition) -> dict[str, int]:
    """Return the depth of each step: the length of the longest path to it.

    In a cycle only the steps before it in the definition count.
    """
    known = {step.id for step in definition.steps}
    missing = {step.id: len({item for item in step.depends_on if item in known}) for step in definition.steps}
    after, depth = definitions.dependents(definition), dict.fromkeys(known, 0)
    due = [step_id for step_id, count in missing.items() if not count]
    for step_id in due:
        for item in after.get(step_id, ()):
            depth[item] = max(depth[item], depth[step_id] + 1)
            missing[item] -= 1
            if not missing[item]:
                due.append(item)
    reached = set(due)
    for step in definition.steps:
        if step.id not in reached:
            depth[step.id] = 1 + max((depth[item] for item in step.depends_on if item in reached), default=-1)
            reached.add(step.id)
    return depth


def behind(steps: Sequence[definitions.WorkflowStep], step_id: str) -> list[str]:
    """Return the id of a step and those of all that depend on it."""
    found = [step_id]
    for item in found:
        found += [step.id for step in steps if item in step.depends_on and step.id not in found]
    return found


def in_order(
    definition: definitions.WorkflowDefinition, depth: Mapping[str, int]
) -> list[definitions.WorkflowStep]:
    """Return the steps ordered by depth."""
    return sorted(definition.steps, key=lambda step: depth[step.id])


def seconds_of(state: definitions.StepState, now: datetime) -> int | None:
    """Return the seconds a step took, or takes so far; None if it has not started."""
    if not state.started_at:
        return None
    try:
        if state.state != StepStatus.RUNNING and state.seconds:
            return int(state.seconds)
        begun = datetime.fromisoformat(state.started_at)
        ended = datetime.fromisoformat(state.ended_at) if state.ended_at else now
        return max(0, int(state.seconds + (ended - begun).total_seconds()))
    except (ValueError, TypeError, OverflowError):  # A damaged file may hold anything as a date.
        return None


def looks_of(
    session: WorkflowSession,
    agents: Mapping[str, definitions.Agent],
    colours: Mapping[str, int],
    words: Language,
    files: Sequence[str] = (),
) -> list[StepLook]:
    """Return the rows of a workflow's steps in order; `agents` and `colours` are by id, `files` the paths
    of the session's.
    """
    work = session.workflow
    runs = session.status == Status.RUNNING
    states = {state.id: state for state in (work.steps if runs else definitions.put_down(work.steps))}
    names = {step.id: step.name for step in work.definition.steps}
    depth, now = depths(work.definition), datetime.now(UTC)
    looks = []
    for step in in_order(work.definition, depth):
        state = states.get(step.id, definitions.StepState(id=step.id))
        if not runs and _is_cut(state):
            # It was interrupted, by a pause or by the end of the program, and continues with the rest.
            state = replace(state, state=StepStatus.WAITING, reason=CUT)
        agent = agents.get(state.assistant_id or step.assistant)
        who = agent.name if agent else step.assistant or step.role
        text, tone = words.texts.named("step", state.said), TONES.get(state.said, "neutral")
        if state.reason == CUT:
            # It does not need the user.
            text, tone = words("step.cut"), "neutral"
        took = seconds_of(state, now)
        if state.state == StepStatus.DONE and took is not None:
            text = time_text(took, words)
        elif state.state == StepStatus.RUNNING and took is not None:
            text = words("step.working_for", time=time_text(took, words))
        why = _why(state, who, words)
        before = next((needed for needed in step.depends_on if _changes(states.get(needed))), "")
        if state.state == StepStatus.PENDING and before:
            awaited = names.get(before, before)
            text, tone = words("step.waits_for", name=awaited), "warn"
            if len(awaited) > SHORT_NAME:
                text, why = words("step.waits"), text
        made, links = made_of(state.artifacts)
        paths = ((path, rf"(?<![\w./-]){re.escape(path)}(?![\w/])") for path in files)
        named = [(path, path) for path, pattern in paths if re.search(pattern, state.artifacts)]
        links = (*links, *named)[:MOST_LINKS]
        action, others = _actions(state, open_=session.status not in ENDED or bool(session.reason))
        if step.gate:
            others = tuple(other for other in others if other != GIVE)
        artifacts, colour = state.artifacts.strip(), colours.get(state.assistant_id)
        look = StepLook(
            id=step.id,
            name=step.name,
            role=step.role,
            who=who,
            state=state.state,
            colour=colour,
            depth=depth[step.id],
            text=text,
            tone=tone,
            why=why,
            artifacts=artifacts,
        )
        looks.append(replace(look, made=made, links=links, action=action, others=others))
    people = tuple(dict.fromkeys(look.who for look in looks))
    letters = dict(zip(people, initials(people), strict=True))
    return [replace(look, letters=letters[look.who]) for look in looks]


def made_of(artifacts: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a step's result for its row: a few lines without Markdown, and the links in it."""
    blocks = parse(artifacts[:MOST_READ])
    lines = [line for line in plain_of(blocks, 0, MOST_READ).splitlines() if line.strip()]
    text = "\n".join(lines[:MOST_LINES])[:MOST_MADE]
    if len(artifacts) > MOST_READ or text != "\n".join(lines):
        text = f"{text.rstrip()}…"
    links = ((span.link, span.text) for block in blocks for span in block.spans if span.link)
    return text, tuple(dict.fromkeys(links))[:MOST_LINKS]


def _is_cut(state: definitions.StepState) -> bool:
    begun = bool(state.started_at) and not state.ended_at and not state.fresh
    return state.state == StepStatus.READY and begun and not state.reason


def _changes(state: definitions.StepState | None) -> bool:
    return state is not None and state.state in CHANGED


def _why(state: definitions.StepState, who: str, words: Language) -> str:
    """Return why a step waits, failed or was skipped, in words; "" if there is no reason."""
    key = f"step_reason.{state.reason}"
    if not state.reason or state.state == StepStatus.DONE:
        return ""
    return words(key, name=who) if key in words.texts else words.problem(state.reason)


def _actions(state: definitions.StepState, *, open_: bool) -> tuple[str, tuple[str, ...]]:
    """Return the most helpful action for a step, and the other actions."""
    match state.state, state.reason:
        case ("running", _):
            return STOP, ()
        case ("waiting", "no_marker"):
            return ACCEPT, (RETRY, GIVE, SKIP)
        case ("waiting", "cut"):
            return "", (SKIP,)
        case ("waiting", definitions.QUEUED):
            return "", (GIVE, SKIP)
        case ("waiting", "question"):
            return ANSWER, (RETRY, GIVE, SKIP)
        case ("failed", "criteria_unmet"):
            return RETRY, (GIVE, ACCEPT, SKIP)
        case ("failed" | "cancelled", _):
            return RETRY, (GIVE, SKIP)
        case ("skipped", "by_user"):
            return RETRY, ()
        case ("done", _):
            return "", (RETRY,)
        case ("pending" | "ready" | "waiting", _) if open_:
            return "", (SKIP,)
    return "", ()


def done_count(session: WorkflowSession) -> int:
    """Return how many steps are done or were skipped by the user; a blocked step is neither."""
    steps, (done, skipped) = session.workflow.steps, (StepStatus.DONE, StepStatus.SKIPPED)
    left_out = (step.state == skipped and step.reason != Reason.BLOCKED for step in steps)
    return sum(step.state == done for step in steps) + sum(left_out)


def any_runs(session: WorkflowSession) -> bool:
    """Return whether a step is running."""
    runs = any(state.state == StepStatus.RUNNING for state in session.workflow.steps)
    return runs and session.status == Status.RUNNING


MARK = 14
INDENT = 20


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
        colour = QColor(getattr(self._look.tokens, TONES.get(self._state, "text_2")))
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


class StepRow(Frame):
    """The row of a step.

    Signals: opened() to show its turn, acted(action), linked(address, text) to open a link of its result,
    stepped(step) when an arrow key leads to another row.
    """

    opened = Signal()
    acted = Signal(str)
    linked = Signal(str, str)
    stepped = Signal(int)

    def __init__(self, language: Language, look: Look, step_id: str) -> None:
        super().__init__("step", f"step_{step_id}")
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
        for label in (self._name, self._who):
            label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        below = (self._why, 1), Stretch(0), (self.action, 0, Qt.AlignmentFlag.AlignBottom)
        self._below = frame("", hbox(*below, margins=(26, 0, 0, 0), spacing=8))
        who = self._mark, self._name, self._avatar, self._who
        head = hbox(*who, STRETCH, self.chip, self.more, spacing=8)
        vbox(head, self._below, inside=self, margins=(11, 6, 8, 6), spacing=3)

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
        show_or_hide(self._why, "\n".join(part for part in (shown.why, made) if part))
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
        # What waits for a busy assistant does not need the user.
        waits = shown.state == StepStatus.WAITING and shown.tone == "neutral"
        state = shown.text if waits else words.texts.named("step", shown.state)
        self.setAccessibleName(words("step.said", name=shown.name, who=shown.who, state=state))
        self.setAccessibleDescription(self._why.text())
        self.setToolTip(plain_tip(words("step.role", role=shown.role)))

    def indent(self) -> int:
        """Return the indent of the step in pixels."""
        return INDENT * min(self._shown.depth if self._shown else 0, 5)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in STEPS:
            self.stepped.emit(STEPS[Qt.Key(event.key())])
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
        for other in shown.others:
            self.menu.addAction(words(f"step.do.{other}"), partial(self.acted.emit, other))
        for address, text in shown.links:
            name = unmarked(words("step.do.open", name=visible(text)))
            self.menu.addAction(name, partial(self.linked.emit, address, text))
        if shown.artifacts:
            copy = partial(QGuiApplication.clipboard().setText, shown.artifacts)
            self.menu.addAction(words("step.do.copy"), copy)
        name_button(self.more, words("step.more", name=shown.name))
        self.more.setVisible(not self.menu.isEmpty())


class StepList(QWidget):
    """Shows the steps in order, indented by their depth.

    Signals: opened(step id), acted(step id, action), linked(address, text).
    """

    opened = Signal(str)
    acted = Signal(str, str)
    linked = Signal(str, str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("workflow_steps")
        self._language, self._look = language, look
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
        empty(self._column)
        self.rows, self._lines = {}, {}
        for look in looks:
            row = StepRow(self._language, self._look, look.id)
            row.opened.connect(lambda step_id=look.id: self.opened.emit(step_id))
            row.acted.connect(lambda action, step_id=look.id: self.acted.emit(step_id, action))
            row.linked.connect(self.linked)
            row.stepped.connect(lambda step, step_id=look.id: self._go(step_id, step))
            line = frame("", hbox(row, margins=None))
            self._column.addWidget(line)
            self.rows[look.id], self._lines[look.id] = row, line
        put_where(self, [stop for row in self.rows.values() for stop in row.stops])

    def _go(self, step_id: str, step: int) -> None:
        ids = list(self.rows)
        place = ids.index(step_id) + step
        if 0 <= place < len(ids):
            self.rows[ids[place]].setFocus()
