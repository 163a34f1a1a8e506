"""The page of decisions: the list of all, due ones first, chips and a field that filter it, and the details."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import lru_cache, partial
from itertools import groupby

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QWidget

from app.core.council import Decision
from app.core.matching import finder, fold
from app.engine.decisions.journal import DecisionState, listed, made_at, standing
from app.engine.scores import Score
from app.gui.display.appearance import Language, Look
from app.gui.pages.decisions.decision_details import WIDTH, DecisionDetails
from app.gui.pages.decisions.decision_rows import STYLE, DecisionDelegate, DecisionRows
from app.gui.panels.conversation_view import empty_state
from app.gui.widgets.boxes import FlowBox, frame, hbox, vbox
from app.gui.widgets.controls import ENTER, Button, button
from app.gui.widgets.item_list import ItemList
from app.gui.widgets.search import SearchBox
from app.gui.widgets.text import Paragraph, named, plain_label, say, set_shown

ALL = ""
FILTERS = (ALL, *DecisionState)
DUE = "due"
BESIDE = 760
"""How wide the page must be for the details to stand beside the list; else they cover it."""
SEARCH = 190


class DecisionList(ItemList):
    """The list of decisions; emits session_requested(id) on Enter, details_requested() on Space."""

    session_requested = Signal(str)
    details_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        self.decisions = DecisionRows(language)
        super().__init__(look, "decisions_list", STYLE, self.decisions)
        self.setItemDelegate(DecisionDelegate(language, look, self))
        self.doubleClicked.connect(lambda _index: self.session_requested.emit(self.current_id()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and self.current_id():
            self.session_requested.emit(self.current_id())
        elif event.key() == Qt.Key.Key_Space and self.current_id():
            self.details_requested.emit()
        else:
            super().keyPressEvent(event)


class DecisionsPage(QWidget):
    """Lists all decisions; the details of the chosen one emit what the user asks for.

    Signals: begin_requested() from the empty page, delete_requested(id) and change_requested(id) from the list.
    """

    begin_requested = Signal()
    delete_requested = Signal(str)
    change_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("decisions_page")
        self._language = language
        self._decisions: Sequence[Decision] = ()
        self._states: Mapping[str, DecisionState] = {}
        # What the search looks through, by id.
        self._folded: Mapping[str, str] = {}
        self._scores: Mapping[str, Score] = {}
        self._sessions: Collection[str] = ()
        self._today = date.min
        self._filter = ALL
        # Whether the details cover the list where there is no room for both.
        self._covers = False
        self.list = say(DecisionList(language, look), language, name="journal.title")
        self.search = say(
            SearchBox(look, "decisions_search"), language, name="journal.filter", hint="journal.filter"
        )
        self.details = DecisionDetails(language, look)
        self._nothing = say(named("decisions_nothing", plain_label("hint")), language, "side.nothing_found")
        self._chips = {name: self._chip(name) for name in FILTERS}
        self._lay_out()
        self.list.currentItemChanged.connect(lambda _now, _before: self._show_details())
        self.list.clicked.connect(lambda _index: self._cover(True))
        self.list.details_requested.connect(self._on_details)
        self.list.delete_requested.connect(self.delete_requested)
        self.list.edit_requested.connect(self.change_requested)
        self.details.left.connect(self._on_left)
        self.search.textChanged.connect(lambda _text: self._show_rows())
        language.changed.connect(self._show)

    def show_decisions(
        self,
        decisions: Sequence[Decision],
        scores: Mapping[str, Score],
        sessions: Collection[str],
        today: date,
    ) -> None:
        """Show the decisions as they are now; `sessions` are the ids of those that can be opened.

        A verdict on which nobody decided goes with its session.
        """
        found = [each for each in decisions if each.decided or each.id in sessions]
        self._decisions = listed(found, today)
        self._states = {each.id: standing(each, today) for each in found}
        self._folded = {
            each.id: _folded(each.name, each.decided or each.headline, each.why, each.note) for each in found
        }
        self._scores, self._sessions, self._today = scores, sessions, today
        self._show()

    def choose(self, decision_id: str) -> None:
        """Show a decision, whatever the filter; without an id the first that is due."""
        if decision_id and self.list.rows.row_of(decision_id) < 0:
            self.search.clear()
            self._chips[ALL].setChecked(True)
        first = self._decisions[0].id if self._decisions else ""
        if not self.list.choose(decision_id or first):
            self._show_details()
        self._cover(bool(decision_id))

    def take_focus(self) -> None:
        """Take the keyboard to the list."""
        self.list.setFocus()

    def summary(self) -> str:
        """Return how many are due, and how many came true, in words."""
        words, count = self._language, Counter(self._states.values())
        known = count[DecisionState.CAME_TRUE] + count[DecisionState.FAILED]
        due = words("journal.due_count", count=count[DecisionState.DUE]) if count[DecisionState.DUE] else ""
        true = words("journal.came_true", count=count[DecisionState.CAME_TRUE], all=known) if known else ""
        return " · ".join(filter(None, (due, true)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._covers:
            self._on_left()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # Parts

    def _chip(self, name: str) -> Button:
        chip = button("filter", f"decisions_{name or 'all'}", partial(self._on_filter, name))
        chip.setCheckable(True)
        chip.setChecked(name == ALL)
        return chip

    def _lay_out(self) -> None:
        words, group, chips = self._language, QButtonGroup(self), FlowBox(gap=2)
        for chip in self._chips.values():
            group.addButton(chip)
            chips.add(chip)
        self.search.setFixedWidth(SEARCH)
        head = hbox((chips, 1), (self.search, 0, Qt.AlignmentFlag.AlignTop), spacing=10)
        column = vbox(head, self._nothing, (self.list, 1), margins=(10, 12, 10, 0), spacing=8)
        self.side = frame("", column)
        both = frame("", hbox((self.side, 1), self.details, spacing=0))
        begin = say(button("primary", "decisions_begin", self.begin_requested), words, "journal.begin")
        none = say(named("decisions_none", Paragraph("card_text", centred=True)), words, "journal.none")
        self._all, self._none = both, empty_state(none, begin)
        vbox((both, 1), (self._none, 1), inside=self)

    def _fit(self) -> None:
        """Put the details beside the list, or let them cover it."""
        beside = self.width() >= BESIDE
        self.details.setMinimumWidth(WIDTH if beside else 0)
        self.details.setMaximumWidth(WIDTH if beside else 16_777_215)
        set_shown(self.side, beside or not self._covers)
        set_shown(self.details, beside or self._covers)
        self.details.show_back(not beside)

    def _cover(self, covers: bool) -> None:
        """Show the details in place of the list where there is no room for both, or the list again."""
        self._covers = covers
        self._fit()

    # Display

    def _show(self) -> None:
        words, count = self._language, Counter(self._states.values())
        for name, chip in self._chips.items():
            number = count[DecisionState(name)] if name else len(self._decisions)
            text = words(f"journal.state.{name}") if name else words("journal.all")
            chip.setText(f"{text}  {number}")
            chip.setAccessibleName(f"{text}, {number}")
            set_shown(chip, bool(number) or name == ALL)
        if self._filter and not count[DecisionState(self._filter)]:
            self._filter = ALL
            self._chips[ALL].setChecked(True)
        set_shown(self._all, bool(self._decisions))
        set_shown(self._none, not self._decisions)
        self._show_rows(anew=True)

    def _show_rows(self, *, anew: bool = False) -> None:
        """Show those that fit chips and field, due ones first, then by month; `anew` if their texts may have changed."""
        fits, rows = finder(self.search.text()), list[Decision | str]()
        shown = [
            each
            for each in self._decisions
            if self._filter in (ALL, self._states[each.id]) and fits(self._folded[each.id])
        ]
        for month, group in groupby(shown, self._month_of):
            decisions = list(group)
            rows += [f"{self._heading(month)}  {len(decisions)}", *decisions]
        self.list.decisions.today = self._today
        if anew or rows != self.list.rows.rows:
            self.list.show_rows(rows)
            set_shown(self._nothing, not rows)
        if self.isVisible():
            self._show_details()

    def _month_of(self, decision: Decision) -> str:
        """Return the month in which something was decided, DUE for what is due, "" for none known."""
        return DUE if self._states[decision.id] == DecisionState.DUE else made_at(decision)[:7]

    def _heading(self, month: str) -> str:
        words = self._language
        if month == DUE:
            return words("journal.state.due")
        return (
            words("day.month", month=words(f"month.{int(month[5:])}"), year=month[:4])
            if month
            else words("journal.before")
        )

    def _show_details(self) -> None:
        chosen = self.list.current_id()
        decision = next((each for each in self._decisions if each.id == chosen), None)
        self.details.show_decision(
            decision,
            self._scores,
            self._today,
            can_open=decision is not None and decision.id in self._sessions,
        )

    def _on_filter(self, name: str) -> None:
        self._filter = name
        self._show_rows()

    def _on_details(self) -> None:
        self._cover(True)
        self.details.finish()
        self.details.area.setFocus()
        self.details.focusNextChild()

    def _on_left(self) -> None:
        self._cover(False)
        self.list.setFocus()


@lru_cache(maxsize=2_000)
def _folded(*texts: str) -> str:
    # Kept, because most decisions stay as they are when one changes.
    return fold("\n".join(texts))
