"""The box over a group's composer: a line with the state of the work, which unfolds to the plan
and the members.

Also what each member does for the message in work, and the list that shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QModelIndex, QPoint, QRectF, Qt, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.core.criteria import Plan
from app.core.definitions import Agent
from app.core.session import GroupSession, Status
from app.core.texts import unmarked
from app.core.turns import is_over
from app.engine.group.director import members_turns
from app.engine.live_session import LiveSession
from app.engine.request import turns_used
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import state_of, tone_of, works
from app.gui.widgets import boxes
from app.gui.widgets.badge import fill_box, initials
from app.gui.widgets.controls import ENTER, TickBox, button, icon_button, passing_menu, scrolling
from app.gui.widgets.editable_lists import PlanList
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label, plain_tip, say

WORKING = "working"
ASKING = "waiting"
HELPED = "helped"
RESTING = "idle"
GONE = "gone"
STYLE = ListStyle(height=28, left=2, right=4, mark=20, chip=22, size=14, hovers=False, fades=False)
_TONES = {WORKING: "accent", HELPED: "accent", ASKING: "warn", GONE: "error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberWork:
    """A member and its activity: working, waiting (for the user), helped (its sub-agents work), idle or gone.

    `helpers` is how many sub-agents work for it, at any depth.
    """

    agent_id: str
    name: str
    doing: str = RESTING
    helpers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWork:
    """What the box shows of a group's session besides plan and cost.

    `hands_on` are the ids of the members whose answers are awaited while the group runs.
    """

    members: tuple[MemberWork, ...] = ()
    turns_used: int = 0
    turns_limit: int = 0
    hands_on: tuple[str, ...] = ()


def work_of(live: LiveSession, session: GroupSession, agents: Sequence[Agent]) -> GroupWork:
    """Return the activity of each member; `agents` are all assistants."""
    known = {agent.id: agent for agent in agents}
    there = tuple(known[item] for item in session.group.members if item in known and known[item].enabled)
    goes_on, runs = session.status in (Status.RUNNING, Status.WAITING), session.status == Status.RUNNING
    busy: dict[str, tuple[str, int]] = {}
    for each in members_turns(live, session, there) if goes_on else ():
        turn = [live.turns.said(below) for below in live.turns.below(each.turn_id)]
        asks = any(message.asks for messages in turn for message in messages)
        helpers = sum(not is_over(messages) for messages in turn[1:]) if runs else 0
        doing = ASKING if asks else HELPED if helpers else WORKING if runs else RESTING
        busy[each.speaker] = doing, helpers
    members = []
    for agent_id in session.group.members:
        doing, helpers = busy.get(agent_id, (RESTING, 0))
        name = known[agent_id].name if agent_id in known else session.group.name_of(agent_id)
        doing = doing if agent_id in known else GONE
        members.append(MemberWork(agent_id=agent_id, name=name, doing=doing, helpers=helpers))
    return GroupWork(
        members=tuple(members),
        turns_used=turns_used(live),
        turns_limit=session.group.turns_limit,
        hands_on=tuple(key for key, (doing, _) in busy.items() if doing in (WORKING, HELPED)),
    )


class MemberList(ItemList):
    """The members in order; Enter, Space or a click opens the menu of a row.

    Signals: member_called(name) to write to one, given_up(id) to continue without one that is awaited.
    """

    member_called = Signal(str)
    given_up = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(look, "member_list", STYLE)
        self._language = language
        self._work = GroupWork()
        self.setSelectionMode(self.SelectionMode.NoSelection)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._open)

    def show_work(self, work: GroupWork, colours: Mapping[str, int]) -> None:
        """Show the activity of the members; `colours` are by id."""
        self._work = work
        letters = initials([member.name for member in work.members])
        marked = zip(work.members, letters, strict=True)
        items = [self._item(member, colours.get(member.agent_id, 0), own) for member, own in marked]
        if items != self.rows.rows:
            self.show_rows(items)

    def menu_of(self, row_id: str) -> QMenu:
        words = self._language
        member = next(work for work in self._work.members if work.agent_id == row_id)
        shown = unmarked(" ".join(member.name.split()))
        menu = passing_menu(self, "member_menu")
        if member.doing != GONE:
            menu.addAction(words("member.write", name=shown), partial(self.member_called.emit, member.name))
        if row_id in self._work.hands_on:
            menu.addAction(words("member.without", name=shown), partial(self.given_up.emit, row_id))
        return menu

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        opens = event.key() in (*ENTER, Qt.Key.Key_Space) and self.currentIndex().isValid()
        if opens and not event.isAutoRepeat():
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _item(self, member: MemberWork, colour: int, letters: str) -> RowItem:
        words, name, key = self._language, " ".join(member.name.split()), f"member.{member.doing}"
        state = words(key, count=member.helpers) if member.doing == HELPED else words(key)
        return RowItem(
            id=member.agent_id,
            title=name,
            note=state,
            note_colour=_TONES.get(member.doing, "text_2"),
            colour=colour,
            letters=letters,
            spoken=words("member.said", name=name, state=state),
            faint=member.doing == GONE,
        )

    def _open(self, index: QModelIndex) -> None:
        self._pop_up(self.rows.item(index.row()).id, self.visualRect(index).topLeft())

    def _show_menu(self, menu: QMenu, place: QPoint) -> None:
        if menu.isEmpty():
            menu.deleteLater()
        else:
            # Over the row: the box is at the foot of the window.
            super()._show_menu(menu, place + QPoint(8, -menu.sizeHint().height()))


HEAD = 44
NARROW = 560
TIGHT = 340
BAR_WIDTH = 90
NAME_WIDTH = 209  # of the group, which is shortened
LEAST_BODY = 84


class Gauge(QWidget):
    """A thin bar that fills with what is done, or with `dot` a round mark in a colour."""

    def __init__(self, look: Look, *, dot: bool) -> None:
        super().__init__()
        self._look = look
        self._dot = dot
        self._tone = "text_3"
        self._done = self._count = 0
        self.setFixedSize(*((8, 8) if dot else (BAR_WIDTH, 4)))
        look.changed.connect(self.update)

    def show_tone(self, tone: str) -> None:
        """Set the colour by the name of a theme's token."""
        self._tone = tone
        self.update()

    def show_done(self, done: int, count: int) -> None:
        """Fill up to `done` of `count`."""
        self._done, self._count = done, count
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter, tokens, room = QtGui.QPainter(self), self._look.tokens, QRectF(self.rect())
        if self._dot:
            fill_box(painter, room, getattr(tokens, self._tone), room.width() / 2)
            return
        fill_box(painter, room, tokens.line, 2)
        if self._done:
            done = QRectF(0, 0, room.width() * self._done / self._count, 4)
            fill_box(painter, done, tokens.accent, 2)


class Head(QWidget):
    """The line of the box; emits `clicked` for a click beside its buttons, which folds or unfolds the box."""

    clicked = Signal()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class OrchestratorBox(boxes.Fitting, boxes.Frame):
    """Shows a group at work and lets the user steer it.

    Signals: pause_requested() (a second one pauses at once), stop_requested(), unfolded(on),
    plan_requested(plan), item_removed(item, position), asking_chosen(on) for hand-overs, member_called(name),
    given_up(id).
    """

    pause_requested = Signal()
    stop_requested = Signal()
    unfolded = Signal(bool)
    asking_chosen = Signal(bool)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("composer", "orchestrator_box")
        self._language = language
        self._session: GroupSession | None = None
        self._work = GroupWork()
        self._colours: Mapping[str, int] = {}
        self._spent = ""
        self._room = 240
        self._pausing = False
        # The ids of members who have said nothing for long.
        self.silent: Sequence[str] = ()
        self._editable = True
        self._dot = Gauge(look, dot=True)
        self._bar = Gauge(look, dot=False)
        self._title = say(ElidedLabel("value"), language, "group.orchestrator")
        self._group = ElidedLabel("meta")
        self._done = plain_label("hint")
        self._meta = ElidedLabel("meta")
        self._whole = plain_label("hint", wrap=True)
        self.pause = button("", "orchestrator_pause", self._on_pause).dress(look, "pause", "text")
        stop = button("", "orchestrator_stop", self.stop_requested)
        self.stop = say(stop.dress(look, "square", "text"), language, tip="box.stop")
        self.without = button("link", "orchestrator_without")
        self.toggle = icon_button(look, "chevron-up", "orchestrator_toggle", self._on_toggled)
        self._look = look
        self.plan = PlanList(language, look, "orchestrator_plan")
        self.plan_requested, self.item_removed = self.plan.plan_requested, self.plan.item_removed
        self.members = say(MemberList(language, look), language, name="box.members")
        self.member_called, self.given_up = self.members.member_called, self.members.given_up
        self.without.clicked.connect(lambda: self.given_up.emit("".join(self.silent[:1])))
        self.asks = say(named("ask_before_hand_over", TickBox(look)), language, "box.ask")
        self._body, self._between = boxes.Frame("box_body"), boxes.Frame("line")
        self._between.setMinimumSize(1, 1)
        self._plan_title = say(plain_label("section"), language, "box.plan")
        self._members_title = say(plain_label("section"), language, "box.members")
        self._lay_out()
        self._connect()
        self.unfold(False)
        self.hide()

    @property
    def is_unfolded(self) -> bool:
        """Whether plan and members are visible."""
        return not self._body.isHidden()

    def unfold(self, on: bool) -> None:
        """Show or hide plan and members."""
        if not on and boxes.focused_in(self._body) is not None:
            self.toggle.setFocus()
        self._body.setVisible(on)
        self.toggle.set_icon("chevron-down" if on else "chevron-up")
        self._retranslate()
        self._fit()

    def show_work(
        self, session: GroupSession, work: GroupWork, colours: Mapping[str, int], *, editable: bool
    ) -> None:
        """Show the state of a group; `colours` are the members' by id."""
        self._editable = editable
        same = self._session is not None and session.id == self._session.id
        self.silent = [key for key in self.silent if same and key in work.hands_on]
        self._pausing = self._pausing and same and session.status == Status.RUNNING
        self._session, self._work, self._colours = session, work, colours
        self.show()
        self._retranslate()

    def show_spent(self, spent: str) -> None:
        """Show the cost so far."""
        if spent != self._spent:
            self._spent = spent
            self._retranslate()

    def show_silent(self, silent: Sequence[str]) -> None:
        """Tell of the members that have been silent for long, by id, and offer to continue without one."""
        if silent != self.silent:
            self.silent = silent
            self._retranslate()

    def set_room(self, height: int) -> None:
        """Set the largest height of the unfolded part, in pixels."""
        self._room = max(LEAST_BODY, height)
        self._fit()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.is_unfolded:
            self._on_toggled()
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        self._head = head = Head()
        head.setFixedHeight(HEAD)
        head.clicked.connect(self._on_toggled)
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        for label in (self._group, self._meta):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        left: tuple[QWidget, ...] = (self._dot, self._title, self._group, self._bar, self._done)
        right: tuple[QWidget, ...] = (self._meta, self.without, self.pause, self.stop, self.toggle)
        boxes.hbox(*left, boxes.STRETCH, *right, inside=head, margins=(14, 0, 8, 0), spacing=9)
        self._plan_area = scrolling(self.plan)
        self._whole.setContentsMargins(14, 8, 10, 0)
        edges = (14, 10, 10, 10)
        plan = boxes.vbox(self._plan_title, self._plan_area, boxes.STRETCH, margins=edges, spacing=5)
        parts = (self._members_title, self.members, self.asks, boxes.STRETCH)
        members = boxes.vbox(*parts, margins=edges, spacing=5)
        self._halves = boxes.hbox((plan, 1), self._between, (members, 1), spacing=0)
        boxes.vbox(self._whole, self._halves, inside=self._body, spacing=0)
        boxes.vbox(head, self._body, inside=self, margins=1, spacing=0)

    def _connect(self) -> None:
        self.asks.clicked.connect(lambda: self.asking_chosen.emit(self.asks.isChecked()))
        self.plan.stops_changed.connect(self._order_stops)
        self._language.changed.connect(self._retranslate)

    def _order_stops(self) -> None:
        """Set the Tab order."""
        head = (self.without, self.pause, self.stop, self.toggle)
        boxes.put_in_tab_order((*head, *self.plan.stops(), self.members, self.asks))

    def _on_toggled(self) -> None:
        self.unfold(not self.is_unfolded)
        self.unfolded.emit(self.is_unfolded)

    def _on_pause(self) -> None:
        self._pausing = True
        self._retranslate()
        self.pause_requested.emit()

    def _retranslate(self) -> None:
        words, session, work = self._language, self._session, self._work
        name_button(self.pause, words("box.pause_now" if self._pausing else "box.pause"))
        name_button(self.toggle, words("box.fold" if self.is_unfolded else "box.unfold"))
        self.asks.setToolTip(words("box.ask.hint"))
        if session is None:
            return
        plan = session.plan or Plan()
        done, count = len(plan.items) - len(plan.open), len(plan.items)
        tone = "ok" if session.status == Status.RUNNING else tone_of(session)
        self._dot.show_tone("text_3" if tone == "neutral" else tone)
        self._bar.show_done(done, count)
        self._group.setText(session.group.name)
        self._done.setText(words("box.done", done=done, count=count) if count else "")
        turns = words("box.turns", turn=work.turns_used, limit=work.turns_limit)
        names = {member.agent_id: unmarked(member.name) for member in work.members}
        silent = [names[key] for key in self.silent]
        quiet = words("work.silent", name=", ".join(silent)) if silent else ""
        meta = " · ".join(filter(None, (quiet, turns, self._spent)))
        self._meta.setText(meta)
        # Text that does not fit into the line is shown below it, and in its tool tip.
        state = state_of(session, words)[0]
        self._whole.setText(f"{state} · {meta}")
        self._head.setToolTip(plain_tip(f"{state} · {meta}"))
        active = session.status in (Status.RUNNING, Status.WAITING)
        runs = session.status == Status.RUNNING and self._editable
        if (not active and self.stop.hasFocus()) or (not runs and self.pause.hasFocus()):
            self.toggle.setFocus()
        self.pause.setVisible(runs)
        self.stop.setVisible(active)
        self.without.setText(words("member.without", name="".join(silent[:1])))
        self.without.setVisible(bool(silent))
        self.plan.show_plan(session.plan, editable=self._editable, working=works(session))
        self.asks.setEnabled(self._editable)
        self.members.show_work(work, self._colours)
        self.asks.setChecked(session.group.ask_before_hand_over)
        self.setAccessibleName(words("box.name", name=words("group.orchestrator"), group=session.group.name))
        doing = [self.members.item(row).said for row in range(self.members.count())]
        self._describe(". ".join(filter(None, (state, self._done.text(), meta, *doing))))
        self._fit()

    def _describe(self, text: str) -> None:
        """Let the screen reader say the state, once for each change."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            event = QtGui.QAccessibleEvent(self, QtGui.QAccessible.Event.DescriptionChanged)
            QtGui.QAccessible.updateAccessibility(event)

    def _fit(self) -> None:
        """Hide what does not fit: first the turns, then the bar, then the group's name."""
        pausing = self._language("discussion.pause_now" if self._pausing else "discussion.pause")
        # On a narrow page the buttons show only their icons.
        self.pause.setText("" if self.width() < NARROW else pausing)
        self.stop.setText("" if self.width() < TIGHT else self._language("discussion.stop"))
        room = self.width() - 60
        for part in (self.pause, self.stop, self.without):
            room -= 0 if part.isHidden() else part.sizeHint().width() + 9
        title = self._title.sizeHint().width()
        room -= title + 9 + 8 + 9
        self._title.setMinimumWidth(title if room >= 0 else 0)
        count = bool(self._done.text())
        for widget in (self._done, self._meta, self._bar, self._group):
            wanted = count or widget in (self._meta, self._group)
            least = (BAR_WIDTH if widget is self._bar else widget.sizeHint().width()) + 9
            if widget is self._group:
                least = min(least, NAME_WIDTH)
            # The turns have a line of their own, the name has not.
            fits = wanted and room >= least + (NAME_WIDTH if widget is self._meta else 0)
            widget.setVisible(fits)
            if widget is self._group:
                # The name is shortened, so that the text beside it is shown whole.
                widget.setMaximumWidth(max(0, room - 9))
            room -= least if fits else 0
        narrow = self.width() < NARROW
        self._between.setMaximumSize(*((self.width(), 1) if narrow else (1, self._room + HEAD)))
        boxes.set_across(self._halves, not narrow)
        self._whole.setVisible(self._meta.isHidden())
        most = self._room // 2 if narrow else self._room
        self.plan.ensurePolished()
        _set_height(self._plan_area, min(max(30, most - 40), self.plan.sizeHint().height() + 2))
        _set_height(self.members, min(max(30, most - 70), self.members.rows_height() + 2))


def _set_height(part: QWidget, height: int) -> None:
    if part.height() != height or part.minimumHeight() != height:
        part.setFixedHeight(height)
