"""The page of all work, what needs the user, what stopped, runs and waits, and what is done today.

The rows of its list and how they are painted, the tasks that wait for a busy assistant, and the details of
what is chosen.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import cast

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.core.criteria import Plan, count_met, met_text
from app.core.draft import Draft
from app.core.message import Message
from app.core.session import RESTART
from app.core.texts import amount_text, exact, unmarked, visible
from app.engine.work import SCHEDULE, Needs, WorkAction, WorkRow, WorkState
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.descriptions import KINDS, icon_of, kind_text
from app.gui.pages.chat.chat_composer import LimitsButton
from app.gui.pages.chat.over_input import CriteriaList, FilesList
from app.gui.pages.list_page import ALL, WIDE, ActingList, Details, FilterChips, ListPage
from app.gui.panels.conversation_view import QuestionCards
from app.gui.widgets.badge import AVATAR, chip_colours, initial, paint_avatar, paint_box, paint_chip
from app.gui.widgets.boxes import STRETCH, FlowBox, drop, empty, focused_in, hbox, thin_line, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import Button, button, icon_button, scrolling
from app.gui.widgets.editable_lists import PlanList
from app.gui.widgets.item_list import ItemDelegate, ItemModel, RowItem
from app.gui.widgets.question_card import PromptCard
from app.gui.widgets.text import (
    ElidedLabel,
    Paragraph,
    name_button,
    named,
    plain_label,
    say,
    set_shown,
    show_if,
    show_or_hide,
)

NARROW = replace(WIDE, height=76, edge=9)
# How wide the list must be for columns; else a row has three lines.
LEAST_WIDE = 640
# The widths of the columns in pixels.
BUTTON, COST, AGE, WHO = 96, 100, 66, 172
# For how long an action must have been shown before it is carried out: it can cost money.
SHOWN_S = 0.5
# The share of a limit from which it is marked.
NEAR = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantRow:
    """An assistant over its work; `held` if the user lets it begin no more."""

    id: str
    name: str
    text: str
    held: bool
    colour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem(RowItem):
    """What the row of some work shows beside its lines."""

    button: str = ""
    who: str = ""
    # Whose colour that is.
    speaker: int = 0
    stands: str = ""
    age: str = ""
    files: str = ""
    cost: str = ""
    # Of the limit, from 0 to 1; below 0 where there is none.
    share: float = -1


def cost_text(row: WorkRow, words: Language) -> str:
    """Return what some work cost of its limit."""
    known = row.cost_usd is not None
    cost = words("cost.money", amount=amount_text(row.cost_usd or 0)) if known else words("work.no_price")
    limit = words("cost.money", amount=amount_text(row.limits.usd)) if row.limits.usd else ""
    return " / ".join(filter(None, (cost, limit)))


class WorkRows(ItemModel):
    """Work and assistants under headings."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self.narrow = False
        # Of assistants, by their names.
        self.colours: Mapping[str, int] = {}
        # How many files sessions have, by their ids.
        self.files: dict[str, int] = {}

    def item_of(self, row: WorkRow | AssistantRow) -> WorkItem:
        words = self._language
        if isinstance(row, AssistantRow):
            title, mark, act = exact(row.name), initial(row.name), "queue.go_on" if row.held else "queue.hold"
            return WorkItem(
                id=row.id, title=title, second=row.text, colour=row.colour, letters=mark, button=words(act)
            )
        who, age, limit = exact(", ".join(row.who)), words.age(row.since), row.limits.usd
        count = self.files.get(row.id, 0)
        files = words("work.files", count=count) if count else ""
        closed = row.state == WorkState.STOPPED and row.reason_code == RESTART
        colour = "error" if row.needs == Needs.FAILURE else "warn" if row.needs or closed else "text_2"
        if row.state == WorkState.DONE and row.criteria:
            # What was accepted as it is, is not what was met; and nobody has checked what has no criteria.
            colour = "ok" if count_met(row.criteria) == len(row.criteria) else "warn"
        return WorkItem(
            id=row.id,
            title=exact(row.title),
            second=exact(row.says),
            second_colour=colour,
            third=" · ".join(filter(None, (who, row.stands, files, age))) if self.narrow else "",
            icon=icon_of(row.kind),
            button=words(f"work.do.{row.action}"),
            who=who,
            speaker=self.colours.get(row.who[0], 0) if row.who else 0,
            stands=row.stands,
            age=age,
            files=files,
            cost="" if row.kind == SCHEDULE else cost_text(row, words),
            share=min(1.0, (row.cost_usd or 0) / limit) if limit else -1,
        )

    def text_of(self, row: WorkRow | AssistantRow) -> str:
        return row.name if isinstance(row, AssistantRow) else row.title

    def said_of(self, row: WorkRow | AssistantRow) -> str:
        item = self.item_of(row)
        if isinstance(row, AssistantRow):
            return f"{item.title}, {item.second}"
        kind, state = kind_text(row.kind, self._language), self._language(f"work.state.{row.state}")
        said = (item.title, kind, f"{state}: {item.second}", row.stands, item.who)
        return ", ".join(filter(None, (*said, item.files, item.cost, item.age)))


class WorkDelegate(ItemDelegate):
    """Paints work in columns: title and sentence, who holds it, since when, cost, and the button
    of its action.
    """

    def button_in(self, rect: QRect, item: RowItem) -> QRect:
        """Return where the button of a row is; that of an assistant has more words."""
        high, wide = tall(30), BUTTON if item.colour is None else 2 * BUTTON
        return QRect(rect.right() - wide, rect.center().y() - high // 2, wide - 10, high)

    def _paint_note(self, painter: QPainter, rect: QRect, item: RowItem, left: int) -> int:
        if not isinstance(item, WorkItem):
            return super()._paint_note(painter, rect, item, left)
        tokens, place = self._look.tokens, self.button_in(rect, item)
        # That of the chosen row is the page's primary button; an assistant is held back by none such.
        fills = item.colour is None and item.id == cast("WorkTable", self.parent()).current_id()
        colour, line = ("on_accent", tokens.accent) if fills else ("text", tokens.line_strong)
        paint_box(painter, place, line, line if fills else tokens.surface, 7)
        font, centre = sized(painter.font(), 13, 500), Qt.AlignmentFlag.AlignCenter
        self._write(painter, place.adjusted(6, 0, -6, 0), item.button, font, colour, centre)
        right = place.left() - 12
        if item.cost:
            right = self._paint_cost(painter, QRect(right - COST, rect.top(), COST, rect.height()), item) - 12
        if item.who and not item.third:
            lines = QRect(right - AGE, rect.top() + 8, AGE, rect.height() - 16)
            edge, small = Qt.AlignmentFlag.AlignRight, sized(painter.font(), 12)
            self._write(painter, lines, item.age, small, "text_2", Qt.AlignmentFlag.AlignTop | edge)
            if item.files:
                painter.setFont(small)
                wide, high = painter.fontMetrics().horizontalAdvance(item.files) + 14, tall(18)
                chip = QRect(lines.right() - wide + 1, lines.bottom() - high + 3, wide, high)
                paint_chip(painter, chip, item.files, chip_colours(tokens, "neutral"))
            right = lines.left() - WHO
            self._paint_who(painter, QRect(right, rect.top(), WHO - 8, rect.height()), item)
        return right - 10

    def _paint_cost(self, painter: QPainter, column: QRect, item: WorkItem) -> int:
        near = item.share >= NEAR
        lines = QRect(column.left(), column.center().y() - tall(16), column.width(), tall(28))
        colour = "warn" if near else "text"
        self._write(painter, lines, item.cost, sized(painter.font(), 12), colour, Qt.AlignmentFlag.AlignTop)
        if item.share >= 0:
            tokens, bar = self._look.tokens, QRectF(lines.left(), lines.bottom(), lines.width(), 3)
            painter.setPen(Qt.PenStyle.NoPen)
            for share, fill in ((1.0, tokens.line), (item.share, tokens.warn if near else tokens.text_2)):
                painter.setBrush(QColor(fill))
                painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * share, 3), 1.5, 1.5)
        return column.left()

    def _paint_who(self, painter: QPainter, column: QRect, item: WorkItem) -> None:
        tile = QRect(column.left(), column.center().y() - AVATAR // 2, AVATAR, AVATAR)
        colours = self._look.tokens.speaker(item.speaker)
        paint_avatar(painter, tile, item.who, colours)
        lines, top = column.adjusted(AVATAR + 9, 8, 0, -8), Qt.AlignmentFlag.AlignTop
        line = top if item.stands else Qt.AlignmentFlag.AlignVCenter
        self._write(painter, lines, item.who, sized(painter.font(), 13), "text", line)
        bottom = Qt.AlignmentFlag.AlignBottom
        self._write(painter, lines, item.stands, sized(painter.font(), 12), "text_2", bottom)


PAUSE, STOP, RESUME, OPEN, FRONT, RAISE = "pause", "stop", "resume", "open", "front", "raise"
RUN_NOW, REPEAT = "run_now", "repeat"
_ICONS = {PAUSE: "pause", RESUME: "play", STOP: "square", REPEAT: "repeat", OPEN: "external-link"}
_WORDS = {PAUSE: "discussion.pause", STOP: "discussion.stop", RESUME: "discussion.resume"}
_WORDS |= {FRONT: "queue.front", RAISE: "work.raise", OPEN: "queue.open"}
_WORDS |= {RUN_NOW: "schedule.run_now", REPEAT: "repeat.ask"}


def _is_held(row: WorkRow) -> bool:
    """Say whether an assistant holds some work: it works, or asks."""
    return row.state == WorkState.RUNNING or row.needs in (Needs.ANSWER, Needs.APPROVAL)


def _offered(row: WorkRow) -> set[str]:
    """Return what can be asked of some work."""
    if row.kind == SCHEDULE:
        return {RUN_NOW, RESUME if row.state == WorkState.STOPPED else PAUSE}
    asked = {OPEN, *((PAUSE, STOP) if _is_held(row) or row.state == WorkState.WAITING else ())}
    # The step that failed can also be tried again by the same assistant.
    asked |= {RESUME} if row.action == WorkAction.RESUME or (row.step and row.reason_code) else set()
    asked |= {RAISE} if row.kind != "debate" and row.state != WorkState.DONE else set()
    return asked | {REPEAT} | ({FRONT} if row.job else set())


class WorkTable(ActingList):
    """The list of work; acts on a row once its action has been shown for half a second.

    Emits asked(id, what), which is PAUSE, STOP, RESUME, OPEN, FRONT, RAISE, RUN_NOW or REPEAT.
    """

    asked = Signal(str, str)

    def __init__(self, language: Language, look: Look) -> None:
        self.work = WorkRows(language)
        super().__init__(look, "work_list", WIDE, self.work)
        self._language, self._look = language, look
        self._delegates = {style: WorkDelegate(look, style, self) for style in (WIDE, NARROW)}
        self.setItemDelegate(self._delegates[WIDE])
        # The action of each row, and since when it is shown.
        self._shown: dict[str, tuple[object, float]] = {}
        self._pressed = ""
        self.viewport().setMouseTracking(True)

    def show_work(self, rows: Sequence[WorkRow | AssistantRow | str]) -> None:
        """Show these rows; only what they say changes where their order is the same."""
        now, before, acts = time.monotonic(), self._shown, dict[str, tuple[object, float]]()
        for row in rows:
            if not isinstance(row, str):
                act = row.held if isinstance(row, AssistantRow) else (row.action, row.says)
                known = before.get(row.id)
                acts[row.id] = known if known is not None and known[0] == act else (act, now)
        self._shown = acts
        if _places(rows) == _places(self.work.rows):
            self.work.change_rows(rows)
        else:
            self.show_rows(rows)

    def act(self, row_id: str) -> None:
        _action, since = self._shown.get(row_id, (None, time.monotonic()))
        if time.monotonic() - since >= SHOWN_S:
            super().act(row_id)

    def menu_of(self, row_id: str) -> QMenu | None:
        row = self.rows.rows[self.rows.row_of(row_id)]
        if not isinstance(row, WorkRow):
            return None
        menu, offered = self.new_menu(), _offered(row)
        menu.setObjectName("work_menu")
        for what, key in _WORDS.items():
            if what in offered:
                menu.addAction(self._language(key), partial(self.asked.emit, row_id, what))
        return menu

    def button_of(self, row_id: str) -> QRect:
        """Return where the button of a row is, in the list."""
        row = self.rows.row_of(row_id)
        return self._delegates[self._style].button_in(self.visualRect(self.rows.index(row)), self.item(row))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        style = WIDE if self.width() >= LEAST_WIDE else NARROW
        if style is not self._style:
            self._style, self.work.narrow = style, style is NARROW
            self.setItemDelegate(self._delegates[style])
            self.scheduleDelayedItemsLayout()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed = self._button_at(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row_id = self._button_at(event.position().toPoint())
        acts = bool(row_id) and row_id == self._pressed and event.button() == Qt.MouseButton.LeftButton
        # The button of a row does what it says, and opens no details over the list.
        self.blockSignals(acts)
        super().mouseReleaseEvent(event)
        self.blockSignals(False)
        if acts:
            self.act(row_id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        over = self._button_at(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def _button_at(self, point: QPoint) -> str:
        """Return the id of the row whose button is at a point, "" for none."""
        index = self.indexAt(point)
        row_id = str(getattr(self.work.rows[index.row()], "id", "")) if index.isValid() else ""
        return row_id if row_id and self.button_of(row_id).contains(point) else ""


def _places(rows: Sequence[WorkRow | AssistantRow | str]) -> list[str]:
    return [row if isinstance(row, str) else row.id for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTask:
    """A task with its title and state.
    `place` is None if it is running; `takers` are pairs (id, name) of assistants.
    """

    id: str
    session_id: str
    title: str
    state: str
    place: int | None
    takers: tuple[tuple[str, str], ...] = ()


class QueueView(QWidget):
    """Shows tasks; emits opened(session id), moved_up(task id), taken_out(task id), given(task id,
    assistant id).
    """

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
        plain = [replace(task, state="") for task in tasks]
        if plain != self._shown:
            self._shown = plain
            self._rebuild()
        for task in tasks:
            self._states[task.id].setText(task.state)

    def _rebuild(self) -> None:
        focus = focused_in(self)
        focused = focus.objectName() if focus is not None else ""
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
                menu.addAction(unmarked(visible(name)), partial(self.given.emit, shown.id, agent_id))
            give.setMenu(menu)
            buttons.add(give)
        buttons.add(self._made(shown, "out", partial(self.taken_out.emit, shown.id)))
        return title, state, buttons

    def _made(self, shown: QueueTask, what: str, act: Callable[[], object]) -> Button:
        made = button("", f"queue_{what}_{shown.id}", act, text=self._words(f"queue.{what}"))
        name_button(made, f"{self._words(f'queue.{what}')}: {shown.title}")
        return made


class CountedHeading(QWidget):
    """A heading with a count at the edge; hidden without one."""

    def __init__(self, language: Language, key: str) -> None:
        super().__init__()
        title, self.count = plain_label("section"), plain_label("hint")
        hbox(title, STRETCH, self.count, inside=self)
        language.follow(lambda: title.setText(language(key).upper()))
        self.hide()

    def show_count(self, count: str) -> None:
        """Show a count, "" for none."""
        self.count.setText(count)
        set_shown(self, bool(count))


class WorkDetails(Details):
    """Shows the chosen work, or the totals of today. `buttons` are by PAUSE, STOP, RESUME, REPEAT
    and OPEN.

    Signals: told(session id, text), hurried(session id) to interrupt a turn with what was told,
    changed() when another session is shown.
    """

    told = Signal(str, str)
    hurried = Signal(str)
    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("work_details")
        self.setProperty("kind", "right")
        self._language, self._look = language, look
        self._row: WorkRow | None = None
        self._questions: Sequence[Message] = ()
        self._names: Mapping[str, str] = {}
        self._card: PromptCard | None = None
        # What is written for other sessions and not sent yet, by their ids.
        self._unsaid: dict[str, str] = {}
        self.cards = QuestionCards(
            language, look, self, {}, names=lambda: self._names, together=lambda _: self._questions
        )
        self.cards.left.connect(self.left)
        self._kind, self._cost = ElidedLabel("hint"), plain_label("hint")
        self._title = named("work_title", Paragraph("card_title"))
        self.extend = LimitsButton(language, look, "work_extend")
        self._says, self._choose = Paragraph("card_text"), say(Paragraph("hint"), language, "work.choose")
        self.totals = named("work_totals", Paragraph("card_text"))
        self._queued = plain_label("hint")
        tips = {**_WORDS, STOP: "work.stop"}
        hurry = button("link", "work_send_now", lambda: self.hurried.emit(self.session_id))
        self._hurry = say(hurry, language, "queue.send_now", tip="queue.send_now.hint")
        made = {name: icon_button(look, icon, f"work_{name}") for name, icon in _ICONS.items()}
        self.buttons = {name: say(each, language, tip=tips[name]) for name, each in made.items()}
        back = icon_button(look, "chevron-left", "work_back", self.left.emit)
        self._back = say(back, language, tip="work.back")
        self.plan_title = CountedHeading(language, "plan.title")
        self.plan = PlanList(language, look, "work_plan")
        self.means_title = CountedHeading(language, "criteria.title")
        self.means = CriteriaList(language, look, wide=False)
        self.files_title = CountedHeading(language, "files.title")
        self.files = FilesList(language, look, "work_files")
        self.files.changed.connect(lambda: self.files_title.show_count(str(self.files.count() or "")))
        self.queue = QueueView(language)
        self.tell = Composer(look, box_name="work_tell", button_name="work_tell_send")
        self.tell.put_in_one_row()
        self.tell.submitted.connect(lambda text: self.told.emit(self.session_id, text))
        self._lay_out()
        language.follow(self._retranslate)
        self.show_work(None)

    @property
    def session_id(self) -> str:
        """The id of the session that is shown, "" for none, as for a schedule."""
        return "" if self._row is None or self._row.kind == SCHEDULE else self._row.id

    @property
    def row_id(self) -> str:
        """The id of the session or the schedule that is shown, "" for none."""
        return self._row.id if self._row is not None else ""

    def show_work(
        self,
        row: WorkRow | None,
        *,
        questions: Sequence[Message] = (),
        names: Mapping[str, str] | None = None,
        plan: Plan | None = None,
        tasks: Sequence[QueueTask] = (),
        queued: int = 0,
        can_tell: bool = False,
    ) -> None:
        """Show some work: `questions` are what is asked together, `names` those of assistants by their ids.

        `queued` is how many messages wait for the session's next turn.
        """
        words, before = self._language, self.session_id
        self._row, self._questions, self._names = row, questions, names or {}
        if self.session_id != before:
            self.area.verticalScrollBar().setValue(0)
            self._unsaid[before] = self.tell.box.toPlainText()
            self.tell.box.setPlainText(self._unsaid.pop(self.session_id, ""))
            self.files.show_files(())
            self.changed.emit()
        set_shown(self._head, row is not None)
        show_if(row is None and not tasks, self.totals, self._choose)
        if row is not None:
            facts = (kind_text(row.kind, words), exact(", ".join(row.of)))
            self._kind.setText(" · ".join(filter(None, facts)))
            self._cost.setText("" if row.kind == SCHEDULE else cost_text(row, words))
            self._title.setText(exact(row.title))
            offered = _offered(row)
            for name, shown in self.buttons.items():
                set_shown(shown, name in offered)
        says = " · ".join(filter(None, (exact(row.says), row.stands))) if row is not None else ""
        show_or_hide(self._says, "" if questions else says)
        self._show_card()
        items = plan.items if plan is not None else ()
        done = words("work.steps_done", done=sum(item.done for item in items), count=len(items))
        self.plan_title.show_count(done if items else "")
        set_shown(self.plan, bool(items))
        who = tuple(map(exact, row.who)) if row is not None else ()
        if row is not None and row.needs:
            who = (words("plan.asks", name=", ".join(who)),)
        self.plan.show_plan(plan, editable=can_tell, working=row is not None and _is_held(row), who=who)
        criteria = row.criteria if row is not None else ()
        self.means_title.show_count(met_text(criteria, words))
        self.means.show_criteria(criteria)
        self.queue.show_tasks(tasks)
        show_or_hide(self._queued, words("queue.messages", count=queued) if queued else "")
        set_shown(self._hurry, bool(queued))
        set_shown(self._foot, can_tell)

    def take_question(self) -> None:
        """Take the keyboard to the question."""
        if self._card is not None:
            self._card.setFocus()

    def give_back(self, session_id: str, text: str) -> None:
        """Put what could not be said back into the box of its session, before what was written since."""
        here = session_id == self.session_id
        since = self.tell.box.toPlainText() if here else self._unsaid.get(session_id, "")
        text = Draft(text=since).led_by(text).text
        if here:
            self.tell.box.setPlainText(text)
        else:
            self._unsaid[session_id] = text

    def _show_card(self) -> None:
        """Show the card of the first question; one that is being answered stays."""
        wanted = self._questions[0].id if self._questions else ""
        if self._card is not None and self._card.message.id != wanted:
            drop(self._card)
            self._card = None
        if wanted and self._card is None:
            self._card = self.cards.make(self._questions[0])
            self._cards.addWidget(self._card)
        self.cards.refresh()

    def _lay_out(self) -> None:
        self._head, body, self._foot = QWidget(), QWidget(), QWidget()
        top = hbox((self._kind, 1), self._cost, spacing=8)
        acts = hbox((self._title, 1), *self.buttons.values(), spacing=4)
        vbox(top, acts, inside=self._head, spacing=6)
        self._cards = vbox()
        said = (self.totals, self._choose, self._head, self._says, hbox(self.extend, STRETCH), self._cards)
        parts = (self.plan_title, self.plan, self.means_title, self.means, self.files_title, self.files)
        vbox(*said, *parts, self.queue, STRETCH, inside=body, margins=(16, 14, 16, 14), spacing=10)
        self.area = scrolling(body)
        told = hbox((self._queued, 1), self._hurry)
        vbox(told, self.tell, inside=self._foot, margins=(14, 8, 14, 12), spacing=6)
        back = hbox(self._back, STRETCH, margins=(8, 8, 8, 0))
        vbox(back, (self.area, 1), thin_line(), self._foot, inside=self, spacing=0)

    def _retranslate(self) -> None:
        words = self._language
        self.tell.set_words(words("work.tell"), words("work.tell.hint"), words("discussion.send"))
        self.extend.show_words(words("limits.extend"))


BY_WORK, BY_ASSISTANT = "work", "assistant"
Row = WorkRow | AssistantRow | str


class WorkPage(ListPage):
    """Lists all work by its state, or by assistant; rows change places only while pointer
    and focus are outside the list.

    Signals: opened(id) when the user looks at the details of some work,
    chosen(id) when another row is the chosen one.
    """

    opened = Signal(str)
    chosen = Signal(str)

    def __init__(self, language: Language, look: Look, *above: QWidget) -> None:
        """`above` is shown over the list, under its filter."""
        self.list = say(WorkTable(language, look), language, name="side.work")
        self.details = WorkDetails(language, look)
        super().__init__(self.list, self.details)
        self.setObjectName("work_page")
        self._language = language
        self._rows: Sequence[WorkRow] = ()
        self._assistants: Sequence[AssistantRow] = ()
        self._kinds = FilterChips("work", reversed(KINDS))
        self._kinds.chosen.connect(lambda: self._show(anyway=True))
        self.switch = named("work_by", Segmented((BY_WORK, BY_ASSISTANT)))
        self._changes = button("chip", "work_changes", lambda: self._show(anyway=True))
        self._changes.setProperty("tone", "accent")
        head = hbox((self._kinds, 1), self._changes, self.switch, spacing=10)
        self._lay_out_list(language, "work", "work.nothing", "work.begin", head, *above)
        self.switch.chosen.connect(lambda _by: self._show(anyway=True))
        self.list.currentItemChanged.connect(lambda _now, _before: self.chosen.emit(self.list.current_id()))
        for looked_at in (self.list.clicked, self.list.details_requested):
            looked_at.connect(lambda *_: self.opened.emit(self.list.current_id()))
        self.list.viewport().installEventFilter(self)
        self.list.installEventFilter(self)
        language.follow(self._retranslate)

    def show_work(self, rows: Sequence[WorkRow], assistants: Sequence[AssistantRow]) -> None:
        """Show all work as it is now, and who is switched on."""
        self._rows, self._assistants = rows, assistants
        self.list.work.colours = {assistant.name: assistant.colour for assistant in assistants}
        self._show()

    def choose(self, row_id: str) -> None:
        """Choose a row; the first where there is no such one."""
        if not self.list.choose(row_id):
            first = next((row.id for row in self.list.work.rows if not isinstance(row, str)), "")
            self.list.choose(first)

    def by_assistant(self, assistant_id: str) -> None:
        """Show the work of each assistant, and choose one of them."""
        self.switch.set_value(BY_ASSISTANT)
        self.choose(assistant_id)

    def row(self, row_id: str) -> WorkRow | None:
        """Return the work of a session, None where there is none."""
        return next((row for row in self._rows if row.id == row_id), None)

    def show_totals(self, need: int, spent: float) -> str:
        """Say in the details how much is done today, and return the rest: how much needs the user, of
        which `need` is new, how much runs, and what was `spent` today in dollars.
        """
        count, words = Counter(row.state for row in self._rows), self._language
        running, done = count[WorkState.RUNNING], count[WorkState.DONE]
        parts = (
            words("side.need_you", count=need) if need else "",
            words("busy.running", count=running) if running else "",
            words("work.cost_today", amount=amount_text(spent)) if spent else "",
        )
        said = " · ".join(filter(None, parts))
        finished = words("work.count_done", count=done) if done else ""
        self.details.totals.setText(" · ".join(filter(None, (said, finished))))
        return said

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut) and not self._changes.isHidden():
            self._show()
        return super().eventFilter(watched, event)

    def _show(self, *, anyway: bool = False) -> None:
        """Show the rows; while the user is in the list all stay where they are, unless they are
        to move anyway.
        """
        words = self._language
        count = Counter(row.kind for row in self._rows)
        self._kinds.show_counts(count, lambda kind: words(f"work.kind.{kind}" if kind else "journal.all"))
        wanted, shown = self._sections(), self.list.work.rows
        before, now = _sections_of(shown), _sections_of(wanted)
        changes = sum(before.get(item) != now.get(item) for item in {**before, **now})
        held = bool(shown) and not anyway and (self.list.hasFocus() or self.list.viewport().underMouse())
        if changes and held:
            fresh = {row.id: row for row in wanted if not isinstance(row, str)}
            wanted = [row if isinstance(row, str) else fresh.get(row.id, row) for row in shown]
        set_shown(self._changes, bool(changes) and held)
        self._changes.setText(words("work.changes", count=changes))
        if wanted != shown:
            self.list.show_work(wanted)
        self._show_some(bool(wanted))
        self.chosen.emit(self.list.current_id())

    def _sections(self) -> list[Row]:
        """Return the rows under their headings."""
        words, found, kind = self._language, list[Row](), self._kinds.value
        fitting = [row for row in self._rows if kind in (ALL, row.kind)]
        if self.switch.value() == BY_WORK:
            for state, group in groupby(fitting, attrgetter("state")):
                rows = list(group)
                key = "work.done_today" if state == WorkState.DONE else f"work.state.{state}"
                found += [f"{words(key)}  {len(rows)}", *rows]
            return found
        works: dict[str, list[WorkRow]] = {}
        for row in fitting:
            for name in row.who or ("",):
                works.setdefault(name, []).append(row)
        by_name = [(assistant, works.pop(assistant.name, [])) for assistant in self._assistants]
        busy = [(item, rows) for item, rows in by_name if rows]
        idle = [(item, rows) for item, rows in by_name if not rows]
        for item, rows in (*busy, *idle):
            found += [item, *rows]
        held = {row.id for _, rows in by_name for row in rows}
        rest = [row for row in fitting if row.id not in held]
        return [*found, words("work.others"), *rest] if rest else found

    def _retranslate(self) -> None:
        words = self._language
        names = tuple(words(f"work.by_{by}") for by in (BY_WORK, BY_ASSISTANT))
        self.switch.set_texts(names, ("", ""))
        self._show(anyway=True)


def _sections_of(rows: Sequence[Row]) -> dict[str, str]:
    """Return the section in which each row is, by its id; the number of its heading counts for nothing."""
    section, found = "", dict[str, str]()
    for row in rows:
        if isinstance(row, str):
            section = row.rpartition("  ")[0]
        elif isinstance(row, AssistantRow):
            section = row.id
        found |= {} if isinstance(row, str) else {row.id: section}
    return found
