"""The members of a group: what each does for the message in work, and the list that shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from app.core.agent import Agent
from app.core.session import GroupSession, Status
from app.core.turns import is_over
from app.engine.group.director import members_turn
from app.engine.live_session import LiveSession
from app.engine.requests.request import turns_used
from app.gui.display.appearance import Language, Look, tall
from app.gui.widgets.badge import Avatar, Chip, initials
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import ENTER, bring_into_sight
from app.gui.widgets.text import ElidedLabel, named

WORKING = "working"
ASKING = "waiting"
HELPED = "helped"
RESTING = "idle"
GONE = "gone"
HEIGHT = 27
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

    `hands_on` is the id of the member whose answer is awaited while the group runs, "" for none.
    """

    members: tuple[MemberWork, ...] = ()
    turns_used: int = 0
    turns_limit: int = 0
    hands_on: str = ""


def work_of(live: LiveSession, session: GroupSession, agents: Sequence[Agent]) -> GroupWork:
    """Return the activity of each member; `agents` are all assistants."""
    known = {agent.id: agent for agent in agents}
    there = tuple(known[one] for one in session.group.members if one in known and known[one].enabled)
    nexts = members_turn(live, session, there) if session.status in (Status.RUNNING, Status.WAITING) else None
    busy = nexts.speaker if nexts else ""
    turn = [live.turns.said(each) for each in live.turns.below(nexts.turn_id)] if nexts else []
    asks = any(message.asks for messages in turn for message in messages)
    helpers = sum(not is_over(messages) for messages in turn[1:]) if session.status == Status.RUNNING else 0
    doing = (
        ASKING if asks else HELPED if helpers else WORKING if session.status == Status.RUNNING else RESTING
    )
    members = tuple(
        MemberWork(
            agent_id=agent_id,
            name=known[agent_id].name if agent_id in known else agent_id,
            doing=GONE if agent_id not in known else doing if agent_id == busy else RESTING,
            helpers=helpers if agent_id == busy else 0,
        )
        for agent_id in session.group.members
    )
    return GroupWork(
        members=members,
        turns_used=turns_used(live),
        turns_limit=session.group.turns_limit,
        hands_on=busy if session.status == Status.RUNNING and not asks else "",
    )


class MemberRow(QFrame):
    """The row of a member; Enter, Space or a click opens its menu. Emits stepped(step), called(), given_up()."""

    stepped = Signal(int)
    called = Signal()
    given_up = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "plan_row")
        self.setMinimumHeight(tall(HEIGHT))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._language = language
        self._avatar = Avatar(look, 20)
        self._name = ElidedLabel("name")
        self.chip = Chip(look)
        self.menu = named("member_menu", QMenu(self))
        hbox(self._avatar, (self._name, 1), self.chip, inside=self, margins=(2, 2, 4, 2), spacing=8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setMinimumHeight(tall(HEIGHT))

    def show_member(self, member: MemberWork, colour: int, letters: str, *, awaited: bool) -> None:
        """Show a member by these letters of its name; if its answer is `awaited`, the menu offers to continue without it."""
        words = self._language
        key = f"member.{member.doing}"
        state = words(key, count=member.helpers) if member.doing == HELPED else words(key)
        name = " ".join(member.name.split())
        self._avatar.set_speaker(name, colour, faint=member.doing == GONE, letters=letters)
        self._name.setText(name)
        self.chip.set_text(state, _TONES.get(member.doing, "neutral"))
        self.setAccessibleName(words("member.said", name=name, state=state))
        self.menu.clear()
        shown = name.replace("&", "&&")
        if member.doing != GONE:
            self.menu.addAction(words("member.write", name=shown), self.called.emit)
        if awaited:
            self.menu.addAction(words("member.without", name=shown), self.given_up.emit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step:
            self.stepped.emit(step)
        elif event.key() in (*ENTER, Qt.Key.Key_Space) and not event.isAutoRepeat():
            self._open()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self._open()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._open()

    def _open(self) -> None:
        if not self.menu.isEmpty():
            self.menu.popup(self.mapToGlobal(QPoint(8, -self.menu.sizeHint().height())))


class MemberList(QWidget):
    """The members in order; one Tab stop, then arrow keys.

    Signals: member_called(name) to write to one, given_up() to continue without the one awaited,
    stops_changed() when rows were added.
    """

    member_called = Signal(str)
    given_up = Signal()
    stops_changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("member_list")
        self._language = language
        self._look = look
        self._rows: list[MemberRow] = []
        self._members: tuple[MemberWork, ...] = ()
        self._column = vbox(STRETCH, inside=self, spacing=0)

    def rows(self) -> tuple[MemberRow, ...]:
        """Return the rows in order."""
        return tuple(self._rows)

    def show_work(self, work: GroupWork, colours: Mapping[str, int]) -> None:
        """Show the activity of the members; `colours` are by id."""
        self._members = work.members
        while len(self._rows) > len(work.members):
            row = self._rows.pop()
            row.hide()
            row.deleteLater()
        if len(self._rows) < len(work.members):
            self._rows += [self._make_row(place) for place in range(len(self._rows), len(work.members))]
            self.stops_changed.emit()
        letters = initials([member.name for member in work.members])
        for row, member, own in zip(self._rows, work.members, letters, strict=True):
            colour = colours.get(member.agent_id, 0)
            row.show_member(member, colour, own, awaited=member.agent_id == work.hands_on)

    def _make_row(self, place: int) -> MemberRow:
        row = MemberRow(self._language, self._look)
        row.setFocusPolicy(Qt.FocusPolicy.ClickFocus if place else Qt.FocusPolicy.StrongFocus)
        self._column.insertWidget(place, row)
        row.called.connect(lambda: self.member_called.emit(self._members[self._rows.index(row)].name))
        row.given_up.connect(self.given_up)
        row.stepped.connect(lambda step: self._on_stepped(row, step))
        row.show()
        return row

    def _on_stepped(self, row: MemberRow, step: int) -> None:
        place = self._rows.index(row) + step
        if 0 <= place < len(self._rows):
            self._rows[place].setFocus()
            bring_into_sight(self._rows[place])
            for number, each in enumerate(self._rows):
                stop = number == place
                each.setFocusPolicy(Qt.FocusPolicy.StrongFocus if stop else Qt.FocusPolicy.ClickFocus)
