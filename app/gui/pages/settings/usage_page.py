"""Usage in the settings: what a month used and cost by model, speaker and session, and the month's limit."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.core.errors import MootError
from app.core.usage import Total, amount_text, money_text, saved_text, used_text
from app.engine.engine import Engine
from app.engine.usage_book import MonthReport
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.files.shared_files import ask_where, save_whole
from app.gui.pages.settings.settings_rows import SettingsRows
from app.gui.tasks import Tasks
from app.gui.widgets.badge import UsedBar
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Choice, button, scrolling
from app.gui.widgets.label import ElidedLabel, Paragraph, plain_label
from app.gui.widgets.wording import named, say

MOST_ROWS = 8
LIMIT = "max_month_usd"


class UsageTable(QWidget):
    """A title over lines of name, tokens and cost; hidden if empty."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self._title = plain_label("field")
        self._card = QFrame()
        self._column = vbox(self._title, self._card, inside=self, spacing=6)

    def show_rows(self, title: str, rows: Sequence[tuple[str, Total]]) -> None:
        """Show these lines; of too many, the last ones are summed up in one."""
        words = self._language
        shown = list(rows)
        if len(shown) > MOST_ROWS:
            rest = sum((total for _, total in shown[MOST_ROWS - 1 :]), Total())
            count = len(shown) - MOST_ROWS + 1
            shown[MOST_ROWS - 1 :] = [(words("usage.others", count=count), rest)]
        self._title.setText(title)
        card = QFrame()
        card.setProperty("kind", "card")
        card.setAccessibleName(title)
        grid = QGridLayout(card)
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
        self._column.replaceWidget(self._card, card)
        self._card.deleteLater()
        self._card.hide()
        self._card = card
        self.setVisible(bool(shown))


class UsagePage(QWidget):
    """Shows the usage of a month and the limit per month; emits chosen({setting: value})."""

    chosen = Signal(object)

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self._language, self._engine, self._tasks = language, engine, tasks
        self._months: list[tuple[str, Total]] = []
        self._report: MonthReport | None = None
        self._title = say(plain_label("field"), language, "usage.month")
        self.month = say(named("usage_month", Choice(look)), language, name="usage.month")
        self.export = say(button("", "usage_export", self._on_export), language, "usage.export")
        self.total = named("usage_total", plain_label("page_title"))
        self._tokens = plain_label("card_text", wrap=True)
        self._unpriced = Paragraph("hint")
        self.limit = SettingsRows(language, look, engine.settings, "usage")
        self._limit_usd = engine.settings().max_month_usd
        self.bar = UsedBar(look)
        self.used = named("usage_used", plain_label("hint"))
        self.tables = {name: UsageTable(language) for name in ("models", "authors", "sessions")}
        self._problem = plain_label("error", wrap=True)
        self._foot = say(Paragraph("hint"), language, "usage.foot")
        self._lay_out()
        self.month.activated.connect(lambda _row: self._load_month())
        self.limit.chosen.connect(self._on_limit)
        language.changed.connect(self.retranslate)
        self.retranslate()

    def refresh(self) -> None:
        """Read the months and the limit again."""
        self._limit_usd = self._engine.settings().max_month_usd
        self.limit.refresh()
        self._load_month()

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        self.limit.retranslate()
        self._fill_months()
        self._show_report()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _lay_out(self) -> None:
        body = QWidget()
        column = vbox(
            hbox(self._title, self.month, STRETCH, self.export),
            self._problem,
            self.total,
            self._tokens,
            self._unpriced,
            6,
            self.limit,
            self.bar,
            self.used,
            inside=body,
            margins=(22, 20, 22, 14),
            spacing=8,
        )
        for table in self.tables.values():
            column.addSpacing(6)
            column.addWidget(table)
        column.addSpacing(4)
        column.addWidget(self._foot)
        column.addStretch(1)
        vbox(scrolling(body), inside=self)

    def _load_month(self) -> None:
        self._tasks.replace("usage", self._told(self._load()))

    async def _load(self) -> None:
        self._months = await self._engine.usage.months()
        self._fill_months()
        self._report = await self._engine.usage.of(self._shown())
        self._show_report()

    async def _told(self, work: Coroutine[object, object, None]) -> None:
        """Await work, and show an error on the page if it fails."""
        self._problem.hide()
        try:
            await work
        except MootError as error:
            self._problem.setText(self._language.problem(error.code, **error.details))
            self._problem.show()

    def _shown(self) -> str:
        return str(self.month.currentData() or "")

    def _fill_months(self) -> None:
        shown = self._shown()
        self.month.clear()
        for month, _ in self._months:
            self.month.addItem(self._month_text(month), month)
        self.month.setCurrentIndex(max(0, self.month.findData(shown)))

    def _month_text(self, month: str) -> str:
        year, _, number = month.partition("-")
        return self._language("usage.month.of", year=year, month=self._language(f"month.{int(number)}"))

    def _show_report(self) -> None:
        words, report = self._language, self._report
        total = report.total if report else Total()
        self.total.setText(money_text(words, total))
        tokens = words(
            "usage.tokens",
            count=total.calls,
            input=used_text(total, total.used.input_tokens),
            output=used_text(total, total.used.output_tokens),
        )
        self._tokens.setText(" · ".join(filter(None, (tokens, saved_text(words, total)))))
        notes = [words("usage.unpriced", count=total.unpriced)] if total.unpriced else []
        notes += [words("usage.estimated", count=total.estimated)] if total.estimated else []
        self._unpriced.setText(" ".join(notes))
        self._unpriced.setVisible(bool(notes))
        self.export.setEnabled(total.calls > 0)
        shares = (report.models, report.authors, report.sessions) if report else ([], [], [])
        names: tuple[Callable[[str], str], ...] = (str, self._author, self._session_names())
        for (key, table), rows, name in zip(self.tables.items(), shares, names, strict=True):
            table.show_rows(words(f"usage.{key}"), [(name(owner), total) for owner, total in rows])
        self._show_used()

    def _author(self, name: str) -> str:
        return name or self._language("usage.moot")

    def _session_names(self) -> Callable[[str], str]:
        titles = {one.id: one.title for one in self._engine.sessions()}

        def name(session_id: str) -> str:
            gone = "usage.session.gone" if session_id else "usage.moot"
            return titles.get(session_id) or self._language(gone)

        return name

    def _show_used(self) -> None:
        this = self._months[0][1] if self._months else Total()
        limit = self._limit_usd
        self.bar.show_part(this.known_usd / limit if limit else 0.0)
        for widget in (self.bar, self.used):
            widget.setVisible(limit > 0)
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
        month = self._shown()
        ask_where(
            self,
            self._language("usage.export"),
            f"moot-{month}",
            lambda path: self._tasks.start("usage export", self._told(self.write(path, month))),
            "csv",
        )

    async def write(self, path: Path, month: str) -> None:
        """Write a month's calls to a CSV file. Raises MootError."""
        text = await self._engine.usage.csv(month)
        try:
            # With a byte order mark, by which spreadsheets recognise UTF-8.
            await asyncio.to_thread(save_whole, path, text.encode("utf-8-sig"))
        except OSError as error:
            raise MootError("export_failed", name=path.name, detail=error.strerror or str(error)) from error
