"""Settings as rows made from the rules of `core/settings.py`, and the pages that show more beside them.

Tools and limits; chats, with the providers that may read any session, and who writes titles and summaries;
usage by month. Also what the pages share: their base, and lists of two lines, of kept files, and to tick.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from app.core.catalog import provider_kind
from app.core.definitions import ORCHESTRATOR
from app.core.errors import MootError
from app.core.message import Total, money_text, saved_text, used_text
from app.core.provider import ProviderStatus
from app.core.settings import Rule, Settings, rules
from app.core.texts import amount_text, exact, unmarked, visible
from app.engine.engine import Engine
from app.engine.usage_book import MonthReport
from app.gui.display.appearance import Language, Look, tall
from app.gui.files.user_files import ask_where, save_whole
from app.gui.tasks import Tasks
from app.gui.widgets.badge import UsedBar
from app.gui.widgets.boxes import STRETCH, Stretch, empty, frame, hbox, vbox
from app.gui.widgets.controls import ENTER, Choice, TextBox, TickBox, bring_into_sight, button, scrolling
from app.gui.widgets.form import Field, Form, Line, Row, value_of
from app.gui.widgets.item_list import TICKS, TWO_LINES, ItemList, ItemModel, RowItem
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, show_if, show_or_hide

MOST_ROWS = 4
SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class Ground:
    """What each page of the settings stands on."""

    language: Language
    look: Look
    engine: Engine
    tasks: Tasks
    # Returns the current settings.
    settings: Callable[[], Settings]
    data_dir: Path
    toasts: Toasts


class Page(QWidget):
    """The base of the pages.

    Signals: changed() after a change of providers or models was saved, undo_offered(text, undo) after a
    removal, chosen({name: value}) with settings.
    """

    # Whether it has to be scrolled.
    SCROLLS = False
    changed = Signal()
    undo_offered = Signal(str, object)
    chosen = Signal(object)

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        self._ground, self._language, self._look = ground, ground.language, ground.look
        self._engine, self._tasks, self._settings = ground.engine, ground.tasks, ground.settings
        self._gone = False
        self._unsubscribe: Callable[[], None] = lambda: None

    def leave(self) -> None:
        """Stop updating: the settings are left."""
        if not self._gone:
            self._gone = True
            self._unsubscribe()

    async def _problem_of(self, work: Awaitable[object]) -> str:
        """Await work, and return in words what went wrong, "" for nothing."""
        try:
            await work
        except MootError as error:
            return self._language.problem(error.code, **error.details)
        return ""


class DataShown(Page):
    """The base of pages that read what they show again whenever they are shown:
    another page may have changed it.
    """

    def refresh(self) -> None:
        """Read the data again."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        self.refresh()
        super().showEvent(event)


class TwoLineList(ItemList):
    """A list of rows of two lines, of which always one is chosen."""

    def __init__(self, look: Look, name: str, width: int = 0) -> None:
        """`width` fixes the width, in pixels."""
        super().__init__(look, name, TWO_LINES)
        if width:
            self.setFixedWidth(width)

    def show_rows(self, rows: Sequence[RowItem]) -> None:
        """Replace the rows; keep the choice if it is among them."""
        with QSignalBlocker(self):
            super().show_rows(rows)
            if rows and not self.current_id():
                self.setCurrentRow(0)


class KeptList(QWidget):
    """A list of kept files with the buttons for the chosen one; emits `asked` with a button's name
    and the id.
    """

    asked = Signal(str, str)

    def __init__(
        self,
        language: Language,
        look: Look,
        texts: tuple[str, str, str],
        actions: Mapping[str, str],
        free: Sequence[str] = (),
        *,
        enters: bool = True,
    ) -> None:
        """`texts` are the keys of title, hint, and the text of an empty list.

        `actions` are the names of the buttons with the keys of their texts; the `free` ones need no choice.
        Where it `enters`, a double click and Enter do what the first button does.
        """
        super().__init__()
        title, hint, nothing = texts
        name = title.replace(".", "_")
        self._nothing = say(plain_label("hint"), language, nothing)
        self.list = say(TwoLineList(look, name), language, name=title)
        self.buttons = {
            what: button("", f"{name}_{what}", partial(self._on_clicked, what)) for what in actions
        }
        for what, text in actions.items():
            say(self.buttons[what], language, text)
        self._free, self._first = free, next(iter(actions)) if enters else ""
        head = say(plain_label("field"), language, title), say(plain_label("hint", wrap=True), language, hint)
        foot = hbox(*self.buttons.values(), STRETCH, spacing=8)
        vbox(*head, self._nothing, self.list, foot, inside=self, spacing=6)
        self.list.currentItemChanged.connect(lambda *_: self._show_buttons())
        self.list.activated.connect(lambda _index: self._on_clicked(self._first))

    def show_rows(self, rows: Sequence[RowItem]) -> None:
        """Show these rows; keep the choice if it is among them."""
        self.list.show_rows(rows)
        self.list.setVisible(bool(rows))
        self._nothing.setVisible(not rows)
        self.list.setFixedHeight(min(self.list.rows_height(), MOST_ROWS * tall(TWO_LINES.height)) + 8)
        self._show_buttons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter in the list means the list, not the dialog's default button.
        if event.key() in ENTER and self.list.hasFocus():
            self._on_clicked(self._first)
        else:
            super().keyPressEvent(event)

    def _show_buttons(self) -> None:
        for what, made in self.buttons.items():
            made.setEnabled(bool(self.list.current_id()) or what in self._free)

    def _on_clicked(self, what: str, _checked: bool = False) -> None:
        if what and self.buttons[what].isEnabled():
            self.asked.emit(what, self.list.current_id())


class TickRows(ItemModel):
    """Items with ticks; `ticked` says of each id whether it is ticked."""

    def __init__(self) -> None:
        super().__init__()
        self.ticked: dict[str, bool] = {}

    def item_of(self, row: RowItem) -> RowItem:
        return replace(row, ticked=self.ticked[row.id])


class TickList(QWidget):
    """A list of (id, text, note) with ticks; emits `changed`.

    Only the first thousand are shown; the rest are ticked only by All and None.
    """

    changed = Signal()

    def __init__(self, words: Language, look: Look, name: str, title: str) -> None:
        super().__init__()
        self._rows = TickRows()
        self.list = ItemList(look, name, TICKS, self._rows)
        self.list.setAccessibleName(title)
        self.all = button("link", f"{name}_all", lambda: self._tick_all(on=True), text=words("tick_list.all"))
        clear = partial(self._tick_all, on=False)
        self.none = button("link", f"{name}_none", clear, text=words("tick_list.none"))
        vbox((self.list, 1), hbox(self.all, self.none, STRETCH), inside=self, spacing=4)
        self.list.ticked.connect(self._tick)

    def show_rows(self, rows: Sequence[tuple[str, str, str]], *, ticked: bool = True) -> None:
        """Show these rows, all `ticked` or none."""
        self._rows.ticked = {row_id: ticked for row_id, _, _ in rows}
        titled = [
            (row_id, " ".join(visible(text[:200]).split()), note) for row_id, text, note in rows[:SHOWN]
        ]
        self.list.show_rows([RowItem(id=id_, title=title, note=visible(note)) for id_, title, note in titled])
        self.list.setCurrentRow(0 if rows else -1)

    def chosen(self) -> list[str]:
        """Return the ticked ids in order."""
        return [row_id for row_id, ticked in self._rows.ticked.items() if ticked]

    def _tick(self, row_id: str) -> None:
        self._rows.ticked[row_id] = not self._rows.ticked[row_id]
        self._show_ticks()

    def _tick_all(self, *, on: bool) -> None:
        self._rows.ticked = dict.fromkeys(self._rows.ticked, on)
        self._show_ticks()

    def _show_ticks(self) -> None:
        self.list.viewport().update()
        self.changed.emit()


NUMBER_WIDTH = 120
MONEY_PLACES = 2
ENGINES = ("duckduckgo", "searxng")
# The longest text of a setting, in characters.
MOST_TEXT = 4_000


def settings_of(page: str) -> list[str]:
    """Return the names of the settings of a page, in order."""
    return [name for name, rule in rules().items() if rule.page == page]


def chosen_of(settings: Settings, names: Iterable[str]) -> dict[str, object]:
    """Return those of these settings that are not as they are by default."""
    usual, chosen = Settings(), {name: getattr(settings, name) for name in names}
    return {name: value for name, value in chosen.items() if value != getattr(usual, name)}


class AmountBox(QDoubleSpinBox):
    """A field for a number with its unit; the mouse wheel scrolls the page instead."""

    def __init__(self, language: Language, rule: Rule, *, whole: bool) -> None:
        super().__init__()
        self._language, self._rule, self._whole = language, rule, whole
        self.setDecimals(0 if whole else MONEY_PLACES)
        self.setRange(rule.least, rule.most)
        self.setSingleStep(rule.step)
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setFixedWidth(NUMBER_WIDTH)
        language.follow(self._retranslate)

    def value(self) -> float:
        return int(super().value()) if self._whole else super().value()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _retranslate(self) -> None:
        words, rule = self._language, self._rule
        before, _, after = (words(f"unit.{rule.unit}", amount="#") if rule.unit else "#").partition("#")
        self.setPrefix(before)
        self.setSuffix(after)
        self.setSpecialValueText(words("setting.no_limit") if rule.least == 0 else "")


class SettingRow(Row):
    """The row of a setting: a text under its name and help, any other control beside them."""

    def _lay_out(self, language: Language, field: Field, spacing: int) -> None:
        told = [say(Paragraph("setting"), language, field.label)]
        told += [say(Paragraph("hint"), language, field.help)] if field.help else []
        if isinstance(field.control, TextBox):
            vbox(*told, 6, field.control, self.error, inside=self, margins=(14, 10, 14, 12), spacing=2)
        else:
            said = vbox(STRETCH, *told, self.error, STRETCH, spacing=2)
            control = (field.control, 0, Qt.AlignmentFlag.AlignVCenter)
            hbox((said, 1), control, inside=self, margins=(14, 10, 14, 10), spacing=18)


def field_of(language: Language, look: Look, name: str, value: object) -> Field:
    """Return the field of a setting with such a value."""
    rule, key = rules()[name], f"setting.{name}"
    text = isinstance(value, str) and not rule.choices
    control: QWidget
    if text:
        control = TextBox(lines=4, most=10, submits=False, longest=MOST_TEXT)
    elif isinstance(value, bool):
        control = TickBox(look)
    elif rule.choices:
        control = Choice(look)
    else:
        control = AmountBox(language, rule, whole=isinstance(value, int))
    return Field(
        name,
        named(f"setting_{name}", control),
        label=key,
        help=f"{key}.hint" if f"{key}.hint" in language.texts else "",
        options=[(choice, f"{key}.{choice}") for choice in rule.choices],
        put=(lambda typed: {name: typed[:MOST_TEXT]}) if text else None,
    )


class SettingsRows(Form):
    """The settings of a page in a card; emits chosen({name: value}) with every change.

    `settings` returns the current settings; `refresh` shows them. `own` are those that the page shows itself.
    """

    chosen = Signal(object)
    ROW = SettingRow

    def __init__(self, ground: Ground, page: str, own: tuple[str, ...] = ()) -> None:
        self._settings, self._own, settings = ground.settings, own, ground.settings()
        lines: list[Line] = []
        for name in settings_of(page):
            line = frame("line", hbox())
            line.setFixedHeight(1)
            lines += [line, field_of(ground.language, ground.look, name, getattr(settings, name))]
        super().__init__(ground.language, *lines[1:], spacing=0)
        self.setProperty("kind", "card")
        self.lay_out_in_steps()
        self.fill(settings)
        self.changed.connect(lambda name: self.chosen.emit(self.fields[name].attributes()))

    def refresh(self) -> None:
        """Show the current settings."""
        for name, field in self.fields.items():
            value = getattr(self._settings(), name)
            # Showing the same text again would lose the cursor and the undo history.
            if value_of(field.control) != value:
                self.show_field(name, value)

    def reset(self) -> dict[str, object]:
        """Reset the page to the defaults; return the previous values of the settings that changed."""
        before = chosen_of(self._settings(), (*self.fields, *self._own))
        if before:
            self.choose({name: getattr(Settings(), name) for name in before})
        return before

    def choose(self, values: dict[str, object]) -> None:
        """Set and show settings."""
        for name in self.fields.keys() & values:
            self.show_field(name, values[name])
        self.chosen.emit(values)

    def take_focus(self, name: str) -> None:
        """Focus a setting, and scroll to it."""
        row = self.rows[name]
        self.fields[name].control.setFocus(Qt.FocusReason.OtherFocusReason)
        bring_into_sight(row)


class SettingsPage(Page):
    """The base of pages with rows and, beside them, settings that are no rows (`own`)."""

    SCROLLS = True

    def __init__(self, ground: Ground, page: str, *own: str) -> None:
        super().__init__(ground)
        self.rows = SettingsRows(ground, page, own)
        self.rows.chosen.connect(self.chosen)
        self.take_focus = self.rows.take_focus

    def refresh(self) -> None:
        """Show the current settings."""
        self.rows.refresh()

    def reset(self) -> dict[str, object]:
        """Reset the page to the defaults; return the previous values of the settings that changed."""
        before = self.rows.reset()
        self.refresh()
        return before

    def choose(self, values: dict[str, object]) -> None:
        """Set and show settings."""
        self.rows.choose(values)
        self.refresh()

    def _choose(self, name: str, value: object) -> None:
        """Tell of a setting that is no row, if it is another than before."""
        if value != getattr(self._settings(), name):
            self.chosen.emit({name: value})


class AppearancePage(SettingsPage):
    """Shows how the window looks."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground, "appearance")
        vbox(self.rows, inside=self)


class LimitsPage(SettingsPage):
    """Shows the search engine and the budget of a message."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground, "limits", "search_engine")
        language = self._language
        self.engine = say(named("limits_engine", Choice(self._look)), language, name="limits.engine")
        self.address = named("limits_address", QLineEdit())
        say(self.address, language, name="limits.engine.searxng", hint="limits.address.hint")
        self.problem = plain_label("error")
        engine = say(plain_label("field"), language, "limits.engine")
        chosen = hbox(self.engine, (self.address, 1), Stretch(0))
        title = say(plain_label("field"), language, "limits.title")
        text = say(Paragraph("hint"), language, "limits.text")
        vbox(engine, chosen, self.problem, 6, title, text, self.rows, inside=self, spacing=8)
        self.engine.activated.connect(self._on_engine)
        self.address.editingFinished.connect(self._on_address)
        language.follow(self.refresh)

    def refresh(self) -> None:
        engine = self._settings().search_engine
        own = engine.startswith("http")
        self.address.setText(engine if own else "")
        self.address.setVisible(own)
        self.problem.hide()
        super().refresh()
        offered = ((name, self._language(f"limits.engine.{name}")) for name in ENGINES)
        self.engine.offer(offered, ENGINES[own])

    def _on_engine(self) -> None:
        own = self.engine.currentData() == ENGINES[1]
        self.address.setVisible(own)
        if own:
            self.address.setFocus()
            self._on_address()
        else:
            self.problem.hide()
            self._choose("search_engine", ENGINES[0])

    def _on_address(self) -> None:
        address = self.address.text().strip()
        wrong = bool(address) and not address.startswith(("http://", "https://"))
        show_or_hide(self.problem, self._language("limits.address.wrong") if wrong else "")
        if address and not wrong:
            self._choose("search_engine", address)


class ChatsPage(SettingsPage):
    """Shows the settings of chats."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground, "chats", "may_read_any", "helper_model")
        language, key = self._language, "setting.helper_model"
        self.helper = say(named("setting_helper_model", Choice(self._look)), language, name=key)
        self.ticks: dict[str, TickBox] = {}
        self._ticks = QVBoxLayout()
        helps = say(plain_label("field"), language, key)
        model = say(Paragraph("hint"), language, f"{key}.hint"), self.helper
        reads = say(plain_label("field"), language, "setting.may_read_any")
        who = say(Paragraph("hint"), language, "setting.may_read_any.hint"), self._ticks
        vbox(self.rows, 6, helps, *model, 6, reads, *who, inside=self, spacing=8)
        self.helper.activated.connect(lambda _row: self._choose("helper_model", self.helper.currentData()))
        language.follow(self.refresh)

    def refresh(self) -> None:
        """Show the current settings, and the providers as they are now."""
        super().refresh()
        settings, words = self._settings(), self._language
        ready = [status for status in self._engine.providers() if status.ready and not _guided(status)]
        kept, offered = settings.helper_model, {"": words("setting.helper_model.own")}
        for status in ready:
            name = words.provider(status)
            offered |= {f"{status.config.id}/{model}": exact(f"{name} – {model}") for model in status.models}
        offered.setdefault(kept, exact(kept))
        self.helper.offer(offered.items(), kept)
        for status in ready:
            if status.config.id not in self.ticks:
                self._add_tick(status)
        for provider_id, tick in self.ticks.items():
            with QSignalBlocker(tick):
                tick.setChecked(provider_id in settings.may_read_any)

    def _add_tick(self, status: ProviderStatus) -> None:
        provider_id = status.config.id
        tick = named(f"may_read_{provider_id}", TickBox(self._look))
        tick.setText(unmarked(self._language.provider(status)))
        tick.toggled.connect(lambda on: self._on_tick(provider_id, on))
        self.ticks[provider_id] = tick
        self._ticks.addWidget(tick)

    def _on_tick(self, provider_id: str, on: bool) -> None:
        ticked = {*self._settings().may_read_any, provider_id} - ({provider_id} if not on else set())
        self._choose("may_read_any", tuple(sorted(ticked)))


def _guided(status: ProviderStatus) -> bool:
    kind = provider_kind(status.config.kind)
    return kind is not None and kind.guided


MOST_OF_MONTH = 8
LIMIT = "max_month_usd"


class UsageTable(QWidget):
    """A title over lines of name, tokens and cost; hidden if empty."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self._title, self._cards = plain_label("field"), vbox()
        vbox(self._title, self._cards, inside=self, spacing=6)

    def show_rows(self, title: str, rows: Sequence[tuple[str, Total]]) -> None:
        """Show these lines; of too many, the last ones are summed up in one."""
        words = self._language
        shown = list(rows)
        if len(shown) > MOST_OF_MONTH:
            rest = sum((total for _, total in shown[MOST_OF_MONTH - 1 :]), Total())
            count = len(shown) - MOST_OF_MONTH + 1
            shown[MOST_OF_MONTH - 1 :] = [(words("usage.others", count=count), rest)]
        self._title.setText(title)
        grid = QGridLayout()
        grid.setContentsMargins(14, 10, 14, 10)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(7)
        grid.setColumnStretch(0, 1)
        for row, (name, total) in enumerate(shown):
            label = ElidedLabel("name", text=name)
            tokens = plain_label("card_text", text=words("usage.row.tokens", tokens=used_text(total)))
            known = total.cost_usd is not None
            money = plain_label("value" if known else "hint", text=money_text(words, total))
            grid.addWidget(label, row, 0)
            for column, cell in ((1, tokens), (2, money)):
                grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignRight)
        empty(self._cards)
        card = frame("card", grid)
        card.setAccessibleName(title)
        self._cards.addWidget(card)
        self.setVisible(bool(shown))


class UsagePage(DataShown):
    """Shows the usage of a month and the limit per month."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language, look = self._language, self._look
        self._months: list[tuple[str, Total]] = []
        self._report: MonthReport | None = None
        self._title = say(plain_label("field"), language, "usage.month")
        self.month = say(named("usage_month", Choice(look)), language, name="usage.month")
        self.export = say(button("", "usage_export", self._on_export), language, "usage.export")
        self.total = named("usage_total", plain_label("page_title"))
        self._tokens = plain_label("card_text", wrap=True)
        self._unpriced = Paragraph("hint")
        self.limit = SettingsRows(replace(ground, settings=self._engine.settings), "usage")
        self._limit_usd = self._engine.settings().max_month_usd
        self.bar = UsedBar(look)
        self.used = named("usage_used", plain_label("hint"))
        self.tables = {name: UsageTable(language) for name in ("models", "authors", "sessions")}
        self._problem = plain_label("error", wrap=True)
        self._lay_out()
        self.month.activated.connect(lambda _row: self._load_month())
        self.limit.chosen.connect(self._on_limit)
        language.follow(self.retranslate)

    def refresh(self) -> None:
        """Read the months and the limit again."""
        self._limit_usd = self._engine.settings().max_month_usd
        self.limit.refresh()
        self._load_month()

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        self._fill_months()
        self._show_report()

    def _lay_out(self) -> None:
        tables = [part for table in self.tables.values() for part in (6, table)]
        head = hbox(self._title, self.month, STRETCH, self.export)
        spent = (self._problem, self.total, self._tokens, self._unpriced, 6, self.limit, self.bar, self.used)
        foot = (4, say(Paragraph("hint"), self._language, "usage.foot"), STRETCH)
        body = vbox(head, *spent, *tables, *foot, margins=(22, 20, 22, 14), spacing=8)
        vbox(scrolling(frame("", body)), inside=self)

    def _load_month(self) -> None:
        self._tasks.replace("usage", self._told(self._load()))

    async def _load(self) -> None:
        self._months = await self._engine.usage.months()
        self._fill_months()
        self._report = await self._engine.usage.of(str(self.month.currentData() or ""))
        self._show_report()

    async def _told(self, work: Coroutine[object, object, None]) -> None:
        """Await work, and show an error on the page if it fails."""
        self._problem.hide()
        show_or_hide(self._problem, await self._problem_of(work))

    def _fill_months(self) -> None:
        self.month.offer((month, self._month_text(month)) for month, _ in self._months)

    def _month_text(self, month: str) -> str:
        year, _, number = month.partition("-")
        return self._language("usage.month.of", year=year, month=self._language(f"month.{int(number)}"))

    def _show_report(self) -> None:
        words, report = self._language, self._report
        total = report.total if report else Total()
        self.total.setText(money_text(words, total))
        read, written = used_text(total, total.used.input_tokens), used_text(total, total.used.output_tokens)
        tokens = words("usage.tokens", count=total.calls, input=read, output=written)
        self._tokens.setText(" · ".join(filter(None, (tokens, saved_text(words, total)))))
        notes = [words("usage.unpriced", count=total.unpriced)] if total.unpriced else []
        notes += [words("usage.estimated", count=total.estimated)] if total.estimated else []
        show_or_hide(self._unpriced, " ".join(notes))
        self.export.setEnabled(total.calls > 0)
        shares = (report.models, report.authors, report.sessions) if report else ([], [], [])
        titles = {session.id: session.title for session in self._engine.sessions()}
        for (key, table), rows in zip(self.tables.items(), shares, strict=True):
            owned = [(self._owner(name, titles if key == "sessions" else None), part) for name, part in rows]
            table.show_rows(words(f"usage.{key}"), owned)
        self._show_used()

    def _owner(self, name: str, titles: Mapping[str, str] | None) -> str:
        """Return whose use it is: a model, an assistant, or a session, of which `titles` are by the ids."""
        if name and titles is not None:
            return titles.get(name) or self._language("usage.session.gone")
        own = {"": "usage.moot", ORCHESTRATOR: "group.orchestrator"}
        return self._language(own[name]) if name in own else name

    def _show_used(self) -> None:
        this = self._months[0][1] if self._months else Total()
        limit = self._limit_usd
        self.bar.show_part(this.known_usd / limit if limit else 0.0)
        show_if(limit > 0, self.bar, self.used)
        words, most = self._language, amount_text(limit)
        spent = money_text(words, this) if this.known_usd else words("cost.money", amount=amount_text(0))
        key = "usage.used" if this.known_usd < limit else "usage.used_up"
        if this.unpriced and not this.known_usd:
            key = "usage.used_unknown"
        self.used.setText(self._language(key, spent=spent, limit=most))
        self.bar.setAccessibleName(self.used.text())

    def _on_limit(self, values: dict[str, object]) -> None:
        self._limit_usd = float(str(values[LIMIT]))
        self._show_used()
        self.chosen.emit(values)

    def _on_export(self) -> None:
        month = str(self.month.currentData() or "")

        def write(path: Path) -> None:
            self._tasks.start("usage export", self._told(self.write(path, month)))

        ask_where(self, self._language("usage.export"), f"moot-{month}", write, "csv")

    async def write(self, path: Path, month: str) -> None:
        """Write a month's calls to a CSV file. Raises MootError."""
        text = await self._engine.usage.csv(month)
        try:
            # With a byte order mark, by which spreadsheets recognise UTF-8.
            await asyncio.to_thread(save_whole, path, text.encode("utf-8-sig"))
        except OSError as error:
            raise MootError("export_failed", name=path.name, detail=error.strerror or str(error)) from error
