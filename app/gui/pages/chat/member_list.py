"""The members of a group with what each does now, as lines of the orchestrator's box."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from app.gui.display.i18n import Language
from app.gui.display.style import Look, tall
from app.gui.pages.chat.group_work import ASKING, GONE, HELPED, WORKING, GroupWork, MemberWork
from app.gui.widgets.badge import Avatar, Chip
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import ENTER
from app.gui.widgets.controls import bring_into_sight
from app.gui.widgets.label import ElidedLabel
from app.gui.widgets.wording import named

HEIGHT = 27
_TONES = {WORKING: "accent", HELPED: "accent", ASKING: "warn", GONE: "error"}


class MemberRow(QFrame):
    """A member; Enter, Space or a click opens what can be done. Emits stepped(step), called(), given_up()."""

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

    def show_member(self, member: MemberWork, colour: int, *, awaited: bool) -> None:
        """Show a member; of one whose answer is `awaited` the menu offers to go on without it."""
        words = self._language
        key = f"member.{member.doing}"
        state = words(key, count=member.helpers) if member.doing == HELPED else words(key)
        name = " ".join(member.name.split())
        self._avatar.set_speaker(name, colour, faint=member.doing == GONE)
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
    """The members in order; one Tab stop, then the arrows.

    Signals: member_called(name) to write to one, given_up() to go on without the one that is awaited,
    stops_changed() when there are more rows than before.
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
        """Show who does what; `colours` are the speakers' by their ids."""
        self._members = work.members
        while len(self._rows) > len(work.members):
            row = self._rows.pop()
            row.hide()
            row.deleteLater()
        if len(self._rows) < len(work.members):
            self._rows += [self._make_row(place) for place in range(len(self._rows), len(work.members))]
            self.stops_changed.emit()
        for row, member in zip(self._rows, work.members, strict=True):
            colour = colours.get(member.agent_id, 0)
            row.show_member(member, colour, awaited=member.agent_id == work.hands_on)

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
