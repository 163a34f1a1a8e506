"""The dialog of a schedule: when a command runs by itself, how far and until what is so, what it may use, and
what becomes of a time that was missed.
"""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.errors import BadInput, MootError
from app.core.schedule import WEEKDAYS, Every, LoginStart, Schedule, WhenMissed
from app.core.session_files import permission_for
from app.core.settings import RunLimits
from app.core.texts import amount_text, exact
from app.core.tool import tool_name
from app.engine.schedules import (
    ALLOW_FILE,
    DONE_MEANS,
    IN,
    LIMIT_OPTIONS,
    Schedules,
    due_text,
    limits_of,
    values_of,
    with_values,
)
from app.gui.dialogs.ask_dialogs import AskDialog, DoneMeansDialog, RenameDialog
from app.gui.display.appearance import Language, Look
from app.gui.files.user_files import ask_for_folder
from app.gui.pages.chat.chat_composer import LimitsButton
from app.gui.widgets.boxes import STRETCH, Part, hbox, vbox
from app.gui.widgets.choices import ChipList, ChipOption, Segmented
from app.gui.widgets.controls import Choice, MenuButton, button, scrolling, ticked
from app.gui.widgets.notices import LoginLine
from app.gui.widgets.text import Paragraph, named, plain_label, set_shown, show_as

# The widths of the column with what each row is about, and of the box with the time, in pixels.
LABELS, TIME = 96, 80
# The width of the dialog, what of it is beside its rows, its least height, and what it leaves
# of the window's.
WIDTH, SIDES, LEAST, EDGE = 580, 60, 400, 40
# How much of a command is shown, in characters.
MOST_SHOWN = 300
# The commands that take limits, criteria and a folder.
_WORK = ("ask", "workflow")
_MONTH = timedelta(days=30)
# How the keys of chips of tools and of other schedules begin; no path of a file does.
_TOOL, _FILES_OF = "tool:", "files:"


class RepeatDialog(AskDialog):
    """Asks when a schedule is due; emits `given` with it, removed() where it shall go, and
    folder_chosen(path), which waits for `allow_folder` or `refuse`.
    """

    given = Signal(object)
    removed = Signal()
    folder_chosen = Signal(str)

    def __init__(
        self,
        words: Language,
        look: Look,
        schedule: Schedule,
        schedules: Schedules,
        login: LoginStart,
        usual: RunLimits,
        cost: float | None,
        tools: Sequence[ChipOption],
        parent: QWidget,
    ) -> None:
        """`usual` are the limits of the settings; `cost` is what the last run took, None for unknown; `tools`
        are those of servers, by their consent keys.
        """
        super().__init__(words, parent, "repeat", words("repeat.title", name=exact(schedule.name)))
        self._before, self._schedules = schedule, schedules
        self._look, self._usual, self._cost = look, usual, cost
        self._command, self._also = schedule.words, set[int]()
        self._tools = [each._replace(key=_TOOL + each.key) for each in tools]
        self._allowed, self._files_of = schedule.allowed, schedule.files_of
        self._name = named("repeat_name", QLineEdit(schedule.name))
        # Its beginning says which it is.
        self._name.setCursorPosition(0)
        self._every, self._day = named("repeat_every", Choice(look)), named("repeat_day", Choice(look))
        self._date = named("repeat_date", QLineEdit())
        self._time = named("repeat_time", QLineEdit(schedule.time))
        self._every.offer([(each, words(f"repeat.{each}")) for each in Every], schedule.every)
        self._date.setText(schedule.date or f"{datetime.now().astimezone() + timedelta(days=1):%Y-%m-%d}")
        self._next = Paragraph("hint")
        self._missed = named("repeat_missed", Segmented((WhenMissed.RUN, WhenMissed.SKIP)))
        self._missed.set_texts((words("repeat.missed.run"), words("repeat.missed.skip")), ("", ""))
        self._missed.set_value(schedule.missed)
        starts = LoginLine(words, look, "repeat_login", login)
        starts.show_state()
        remove = button("link", "repeat_remove", self._on_remove, text=words("repeat.remove"))
        set_shown(remove, bool(schedule.id))
        self._time.setFixedWidth(TIME)
        self._more = MenuButton(look, "", "repeat_also", chevron=True)
        self._more.choices.aboutToShow.connect(self._fill_days)
        when = hbox(self._every, self._day, self._more, self._date, self._time, STRETCH, spacing=8)
        self._says, self._took = Paragraph("hint"), Paragraph("hint")
        body = QWidget()
        rows = vbox(
            self._row("repeat.name", self._name),
            self._row("repeat.when", when),
            self._row("", (self._next, 1)),
            self._row("repeat.missed", hbox(self._missed, STRETCH)),
            self._row("", (Paragraph("hint", text=words("repeat.missed.hint")), 1)),
            self._row("repeat.run", (self._says, 1)),
            *self._of_work(),
            self._row("", (self._took, 1)),
            STRETCH,
            inside=body,
            margins=(0, 0, 8, 0),
            spacing=10,
        )
        area = scrolling(body, keeps_bar=True)
        self.arrange(self.heading, (area, 1), starts, before=remove)
        self._every.currentIndexChanged.connect(lambda _index: self._show_days())
        self._day.currentIndexChanged.connect(lambda _index: self._check())
        for line in (self._name, self._date, self._time):
            line.textChanged.connect(lambda _text: self._check())
        self._show_days()
        # As tall as what it asks, where the window has room for that.
        rest = self.sizeHint().height() - area.sizeHint().height()
        height = rest + rows.totalHeightForWidth(WIDTH - SIDES)
        self.resize(WIDTH, max(LEAST, min(height, parent.window().height() - EDGE)))
        # A long name is not what makes it wide.
        self.heading.setMinimumWidth(1)
        self._every.setFocus()

    def value(self) -> Schedule:
        """Return the schedule as it is chosen; it may never be due."""
        every = Every(self._every.value())
        days = {self._day.value(), *self._also} if every in (Every.WEEK, Every.MONTH) else ()
        return replace(
            self._before,
            words=self._command,
            allowed=self._allowed,
            files_of=self._files_of,
            name=self._name.text().strip(),
            every=every,
            time=self._time.text().strip(),
            date=self._date.text().strip() if every == Every.ONCE else "",
            on=tuple(sorted(days)),
            missed=self._missed.value(),
        )

    def _on_go(self) -> None:
        self.give(self.value())

    def _on_remove(self) -> None:
        self.reject()
        self.removed.emit()

    def _row(self, key: str, part: Part) -> Part:
        label = plain_label("value", text=self._words(key) if key else "")
        label.setFixedWidth(LABELS)
        return hbox(label, part, spacing=8)

    def _of_work(self) -> tuple[Part, ...]:
        """Return the rows of what only work has, none for a decision."""
        if self._command[0] not in _WORK:
            return ()
        words = self._words
        self._limits = LimitsButton(words, self._look, "repeat_limits")
        self._limits.chosen.connect(self._on_limits)
        self._means = button("link", "repeat_means", self._ask_means)
        self._may = ChipList(words, self._look, "repeat_may")
        folder = QAction(words("chosen_folder.menu"), self)
        folder.triggered.connect(self._ask_folder)
        self._hidden = QAction(words("chosen_folder.files"), self)
        self._hidden.triggered.connect(self._ask_files)
        self._may.set_more(words("repeat.allow"), (folder, self._hidden))
        self._may.set_words(words("repeat.may"), words("repeat.may.none"))
        self._may_says = named("repeat_may_says", Paragraph("hint"))
        values, _rest = values_of(self._command, IN, ALLOW_FILE)
        self._show_may("".join(values[IN][-1:]), values[ALLOW_FILE])
        self._may.changed.connect(self._on_may)
        return (
            self._row("repeat.each", hbox(self._limits, STRETCH)),
            self._row("criteria.title", hbox(self._means, STRETCH)),
            self._row("repeat.may", (self._may, 1)),
            self._row("", (self._may_says, 1)),
        )

    def _on_limits(self, limits: RunLimits | None) -> None:
        given = asdict(limits) if limits is not None else {}
        self._set(
            {option: [f"{given[name]}"] if given.get(name) else [] for name, option in LIMIT_OPTIONS.items()}
        )

    def _ask_means(self) -> None:
        dialog = DoneMeansDialog(self._words, values_of(self._command, DONE_MEANS)[0][DONE_MEANS], self)
        dialog.propose.hide()
        dialog.open_for(lambda texts: self._set({DONE_MEANS: texts}))

    def _show_may(self, folder: str, files: Sequence[str] = ()) -> None:
        """Show what each run may use: a folder, "" for none, and hidden files in it, or ones for keys."""
        self._folder = folder
        name = self._words("repeat.may.folder", name=exact(Path(folder).name or folder))
        offers = [ChipOption(folder, name, exact(folder))] if folder else []
        offers += [ChipOption(path, exact(path)) for path in dict.fromkeys(files) if folder]
        gone = self._words("permissions.gone", count=1)
        offers += [
            ChipOption(_TOOL + key, tool_name(key, self._words.texts) if "/" not in key else gone)
            for key in self._allowed
        ]
        others = [
            ChipOption(_FILES_OF + each.id, self._words("repeat.files_of", name=exact(each.name)))
            for each in self._schedules.all()
            if each.id != self._before.id and self._command[0] == "ask"
        ]
        self._may.set_offers([*offers, *self._tools, *others])
        given = [each.key for each in others if each.key == _FILES_OF + self._files_of]
        self._may.show_chosen([*(offer.key for offer in offers), *given])
        self._hidden.setVisible(bool(folder))
        show_as(self._may_says, "hint", self._words("repeat.may.hint"))

    def _on_may(self) -> None:
        """Let each run use what is chosen now; files are those of the folder."""
        chosen = self._may.chosen()
        self._allowed = tuple(each.removeprefix(_TOOL) for each in chosen if each.startswith(_TOOL))
        of = [each.removeprefix(_FILES_OF) for each in chosen if each.startswith(_FILES_OF)]
        # The last one that was chosen takes the place of another.
        self._files_of = "".join(of[-1:])
        files = [each for each in chosen if not each.startswith((_TOOL, _FILES_OF))]
        if self._folder in files:
            self._allow(self._folder, [each for each in files if each != self._folder])
        else:
            self._allow("")

    def _ask_folder(self) -> None:
        ask_for_folder(self, self._words("chosen_folder.menu"), self.folder_chosen.emit, self._folder)

    def _ask_files(self) -> None:
        """Ask which hidden files, or files for keys, each run may use in its folder."""
        before, title = ", ".join(self._files()), "chosen_folder.files.title"
        RenameDialog(self._words, before, self, title, empty=True).open_for(self._allow_files)

    def _files(self) -> list[str]:
        return values_of(self._command, ALLOW_FILE)[0][ALLOW_FILE]

    def _allow_files(self, text: str) -> None:
        files = [name for name in map(str.strip, text.split(",")) if name]
        try:
            for name in files:
                permission_for(name)
        except BadInput as error:
            self.refuse(error)
        else:
            self._allow(self._folder, files)

    def allow_folder(self, folder: str) -> None:
        """Let each run use a folder, in which no hidden file was allowed yet."""
        self._allow(folder, self._files() if folder == self._folder else ())

    def refuse(self, error: MootError) -> None:
        """Say why something cannot be allowed."""
        show_as(self._may_says, "error", self._words.problem(error.code, **error.details))

    def _allow(self, folder: str, files: Sequence[str] = ()) -> None:
        self._show_may(folder, files)
        self._set({IN: [folder] if folder else [], ALLOW_FILE: files})

    def _set(self, values: dict[str, Sequence[str]]) -> None:
        self._command = with_values(self._command, values)
        self._check()

    def _days(self) -> dict[int, str]:
        words = self._words
        if self._every.value() == Every.MONTH:
            return {day: words("repeat.date", day=day) for day in range(1, 32)}
        return {day: words(f"schedule.day.{name}") for day, name in enumerate(WEEKDAYS)}

    def _show_days(self) -> None:
        """Offer the days that the chosen kind needs."""
        every, before = self._every.value(), self._before
        first, *also = before.on if every == before.every and before.on else (None,)
        self._also = set(also)
        self._day.offer(list(self._days().items()), first)
        for shown in (self._day, self._more):
            set_shown(shown, every in (Every.WEEK, Every.MONTH))
        set_shown(self._date, every == Every.ONCE)
        self._check()

    def _fill_days(self) -> None:
        """Offer further days."""
        self._more.clear()
        for day, text in self._days().items():
            if day != self._day.value():
                ticked(self._more.choices, text, day in self._also, partial(self._take_also, day))

    def _take_also(self, day: int) -> None:
        self._also ^= {day}
        self._check()

    def _check(self) -> None:
        """Say when it is due next, what runs, or why it cannot be saved."""
        words, schedule, fault = self._words, self.value(), ""
        days = self._days()
        also = ", ".join(days[day] for day in sorted(self._also) if day != self._day.value())
        self._more.show_words(words("repeat.also.days", days=also) if also else words("repeat.also"))
        command = shlex.join(schedule.words)
        command = command[:MOST_SHOWN] + ("…" if len(command) > MOST_SHOWN else "")
        self._says.setText(words("repeat.command", command=exact(command)))
        if schedule.words[0] in _WORK:
            self._limits.show_limits(limits_of(schedule.words, self._usual), self._usual)
            self._limits.show_up_to("")
            count = len(values_of(schedule.words, DONE_MEANS)[0][DONE_MEANS])
            self._means.setText(words("criteria.menu.count" if count else "criteria.menu", count=count))
        times: list[datetime] = []
        try:
            self._schedules.check(schedule)
            times = self._schedules.next_times(schedule, 3)
        except BadInput as error:
            fault = self._words.problem(error.code, **error.details)
        if not fault and not times:
            fault = self._words("error.schedule_past")
        said = [due_text(due, self._words.texts) for due in times]
        shown = fault or self._words("repeat.next", times=", ".join(said))
        show_as(self._next, "error" if fault else "hint", shown)
        soon = datetime.now() + _MONTH  # noqa: DTZ005  # As the times, where the user is.
        a_month = 0 if fault else sum(time < soon for time in self._schedules.next_times(schedule, 31))
        if self._cost is None:
            self._took.setText(words("repeat.cost.unknown"))
        else:
            cost, month = (
                words("cost.money", amount=amount_text(self._cost * count)) for count in (1, a_month)
            )
            self._took.setText(words("repeat.cost", cost=cost, month=month))
        self.go.setEnabled(not fault)
