"""The dialog of a schedule: when a command runs by itself, and what becomes of a time that was missed."""

import shlex
from dataclasses import replace
from datetime import datetime, timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.errors import BadInput, MootError
from app.core.schedule import WEEKDAYS, Every, LoginStart, Schedule, WhenMissed
from app.core.texts import exact
from app.engine.schedules import Schedules, due_text
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, Part, hbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import Choice, button
from app.gui.widgets.notices import OfferLine
from app.gui.widgets.text import Paragraph, named, plain_label, set_shown, show_as

# The widths of the column with what each row is about, and of the box with the time, in pixels.
LABELS, TIME = 96, 80


class RepeatDialog(AskDialog):
    """Asks when a schedule is due; emits `given` with it, and removed() where it shall go."""

    given = Signal(object)
    removed = Signal()

    def __init__(
        self,
        words: Language,
        look: Look,
        schedule: Schedule,
        schedules: Schedules,
        login: LoginStart,
        parent: QWidget,
    ) -> None:
        super().__init__(words, parent, "repeat", words("repeat.title", name=exact(schedule.name)))
        self._before, self._schedules, self._login = schedule, schedules, login
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
        self._offer = OfferLine(look, "repeat_login", "clock", "warn")
        self._offer.show_offer(words("repeat.off"), words("repeat.turn_on"))
        self._offer.accepted.connect(self._turn_on)
        self._show_login()
        remove = button("link", "repeat_remove", self._on_remove, text=words("repeat.remove"))
        set_shown(remove, bool(schedule.id))
        self._time.setFixedWidth(TIME)
        when = hbox(self._every, self._day, self._date, self._time, STRETCH, spacing=8)
        command = Paragraph("hint", text=words("repeat.command", command=exact(shlex.join(schedule.words))))
        self.arrange(
            self.heading,
            self._row("repeat.name", self._name),
            self._row("repeat.when", when),
            self._row("", (self._next, 1)),
            self._row("repeat.missed", hbox(self._missed, STRETCH)),
            self._row("", (Paragraph("hint", text=words("repeat.missed.hint")), 1)),
            self._row("repeat.run", (command, 1)),
            self._offer,
            before=remove,
            width=580,
        )
        self._every.currentIndexChanged.connect(lambda _index: self._show_days())
        self._day.currentIndexChanged.connect(lambda _index: self._check())
        for line in (self._name, self._date, self._time):
            line.textChanged.connect(lambda _text: self._check())
        self._show_days()
        self._every.setFocus()

    def value(self) -> Schedule:
        """Return the schedule as it is chosen; it may never be due."""
        every = Every(self._every.value())
        days = self._day.value() if every in (Every.WEEK, Every.MONTH) else ()
        return replace(
            self._before,
            name=self._name.text().strip(),
            every=every,
            time=self._time.text().strip(),
            date=self._date.text().strip() if every == Every.ONCE else "",
            on=days,
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

    def _show_days(self) -> None:
        """Offer the days that the chosen kind needs; several that were chosen elsewhere are one entry."""
        words, every = self._words, self._every.value()
        days = {day: words(f"schedule.day.{name}") for day, name in enumerate(WEEKDAYS)}
        if every == Every.MONTH:
            days = {day: words("repeat.date", day=day) for day in range(1, 32)}
        chosen = self._before.on if every == self._before.every else ()
        several = [(chosen, ", ".join(days[day] for day in chosen))] if len(chosen) > 1 else []
        self._day.offer([*several, *(((day,), text) for day, text in days.items())], chosen or None)
        set_shown(self._day, every in (Every.WEEK, Every.MONTH))
        set_shown(self._date, every == Every.ONCE)
        self._check()

    def _check(self) -> None:
        """Say when it is due next, or why it cannot be saved."""
        schedule, fault = self.value(), ""
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
        self.go.setEnabled(not fault)

    def _show_login(self) -> None:
        set_shown(self._offer, not self._login.is_installed())

    def _turn_on(self) -> None:
        try:
            self._login.install()
        except MootError as error:
            said = self._words.problem(error.code, **error.details)
            self._offer.show_offer(said, self._words("repeat.turn_on"))
        else:
            self._show_login()
