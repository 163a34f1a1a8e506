"""The page of all work: what needs the user, what stopped, runs and waits, and what is done today, with the details."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from PySide6.QtCore import QEvent, QObject, Signal

from app.engine.work import WorkRow, WorkState
from app.gui.display.appearance import Language, Look
from app.gui.pages.list_page import ListPage
from app.gui.pages.work.work_details import WorkDetails
from app.gui.pages.work.work_rows import AssistantRow, WorkList
from app.gui.panels.conversation_view import empty_state
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named, say, set_shown

BY_WORK, BY_ASSISTANT = "work", "assistant"
Row = WorkRow | AssistantRow | str


class WorkPage(ListPage):
    """Lists all work by its state, or by assistant; rows change places only while pointer and focus are outside the list.

    Signals: begin_requested() from the empty page, opened(id) when the user looks at the details of some work,
    chosen(id) when another row is the chosen one.
    """

    begin_requested = Signal()
    opened = Signal(str)
    chosen = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        self.list = say(WorkList(language, look), language, name="side.work")
        self.details = WorkDetails(language, look)
        super().__init__(self.list, self.details)
        self.setObjectName("work_page")
        self._language = language
        self._rows: Sequence[WorkRow] = ()
        self._assistants: Sequence[AssistantRow] = ()
        self.switch = named("work_by", Segmented((BY_WORK, BY_ASSISTANT)))
        self._changes = button("chip", "work_changes", lambda: self._show(anyway=True))
        self._changes.setProperty("tone", "accent")
        begin = say(button("primary", "work_begin", self.begin_requested), language, "work.begin")
        none = say(named("work_none", Paragraph("card_text", centred=True)), language, "work.nothing")
        self._none = empty_state(none, begin)
        head = hbox(self._changes, STRETCH, self.switch, spacing=10)
        self._all = self._lay_out_list(head)
        vbox((self._all, 1), (self._none, 1), inside=self)
        self.switch.chosen.connect(lambda _by: self._show(anyway=True))
        self.list.currentItemChanged.connect(lambda _now, _before: self.chosen.emit(self.list.current_id()))
        self.list.clicked.connect(lambda _index: self.opened.emit(self.list.current_id()))
        self.list.details_requested.connect(lambda: self.opened.emit(self.list.current_id()))
        self.list.viewport().installEventFilter(self)
        self.list.installEventFilter(self)
        language.follow(self._retranslate)

    def show_work(
        self, rows: Sequence[WorkRow], assistants: Sequence[AssistantRow], colours: Mapping[str, int]
    ) -> None:
        """Show all work as it is now; `colours` are those of assistants by name."""
        self._rows, self._assistants = rows, assistants
        self.list.work.colours = colours
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

    def summary(self, need: int) -> str:
        """Return how much needs the user, of which `need` is new, and how much runs, in words."""
        count, words = Counter(row.state for row in self._rows), self._language
        needing = words("side.need_you", count=need) if need else ""
        running = count[WorkState.RUNNING]
        return " · ".join(filter(None, (needing, words("busy.running", count=running) if running else "")))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut) and not self._changes.isHidden():
            self._show()
        return super().eventFilter(watched, event)

    def _show(self, *, anyway: bool = False) -> None:
        """Show the rows; while the user is in the list all stay where they are, unless they are to move anyway."""
        wanted, shown = self._sections(), self.list.work.rows
        before, now = _sections_of(shown), _sections_of(wanted)
        changes = sum(before.get(one) != now.get(one) for one in {**before, **now})
        held = bool(shown) and not anyway and (self.list.hasFocus() or self.list.viewport().underMouse())
        if changes and held:
            fresh = {row.id: row for row in wanted if not isinstance(row, str)}
            wanted = [row if isinstance(row, str) else fresh.get(row.id, row) for row in shown]
        set_shown(self._changes, bool(changes) and held)
        self._changes.setText(self._language("work.changes", count=changes))
        if wanted != shown:
            self.list.show_work(wanted)
        set_shown(self._all, bool(wanted))
        set_shown(self._none, not wanted)
        self.chosen.emit(self.list.current_id())

    def _sections(self) -> list[Row]:
        """Return the rows under their headings."""
        words, found = self._language, list[Row]()
        if self.switch.value() == BY_WORK:
            for state, group in groupby(self._rows, attrgetter("state")):
                rows = list(group)
                key = "work.done_today" if state == WorkState.DONE else f"work.state.{state}"
                found += [f"{words(key)}  {len(rows)}", *rows]
            return found
        works: dict[str, list[WorkRow]] = {}
        for row in self._rows:
            for name in row.who or ("",):
                works.setdefault(name, []).append(row)
        by_name = [(one, works.pop(one.name, [])) for one in self._assistants]
        busy = [(one, rows) for one, rows in by_name if rows]
        idle = [(one, rows) for one, rows in by_name if not rows]
        for one, rows in (*busy, *idle):
            found += [one, *rows]
        held = {row.id for _, rows in by_name for row in rows}
        rest = [row for row in self._rows if row.id not in held]
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
