"""The members of a group: what each does for the message in work, and the list that shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu

from app.core.definitions import Agent
from app.core.session import GroupSession, Status
from app.core.turns import is_over
from app.engine.group.director import members_turn
from app.engine.live_session import LiveSession
from app.engine.request import turns_used
from app.gui.display.appearance import Language, Look
from app.gui.widgets.badge import initials
from app.gui.widgets.controls import ENTER
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.text import named

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


class MemberList(ItemList):
    """The members in order; Enter, Space or a click opens the menu of a row.

    Signals: member_called(name) to write to one, given_up() to continue without the one awaited.
    """

    member_called = Signal(str)
    given_up = Signal()

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
        items = [
            self._item(member, colours.get(member.agent_id, 0), own)
            for member, own in zip(work.members, letters, strict=True)
        ]
        if items != self.rows.rows:
            self.show_rows(items)

    def menu_of(self, row_id: str) -> QMenu:
        words = self._language
        member = next(one for one in self._work.members if one.agent_id == row_id)
        shown = " ".join(member.name.split()).replace("&", "&&")
        menu = named("member_menu", self.new_menu())
        if member.doing != GONE:
            menu.addAction(words("member.write", name=shown), partial(self.member_called.emit, member.name))
        if row_id == self._work.hands_on:
            menu.addAction(words("member.without", name=shown), self.given_up.emit)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
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
