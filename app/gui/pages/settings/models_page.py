"""Models in the settings: those of every provider, which are offered, and which is the default."""

import asyncio

from PySide6.QtCore import QRegularExpression, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator, QShowEvent
from PySide6.QtWidgets import QLineEdit, QListWidgetItem, QWidget

from app.core.catalog import EMBEDDED
from app.core.errors import MootError
from app.core.matching import fits
from app.core.provider import MOST_WINDOW, ProviderStatus
from app.engine.engine import Engine
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.lists import MODEL, NOTE, PROVIDER, TICKED, ModelRows
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Choice, button
from app.gui.widgets.search import SearchBox
from app.gui.widgets.text import Paragraph, named, plain_label, plain_tip, say, show_as


class ModelsPage(QWidget):
    """Lists the models of the enabled providers.

    Signals: changed() after a change was saved, undo_offered(text, undo) after a removal.
    """

    changed = Signal()
    undo_offered = Signal(str, object)

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self._language, self._engine, self._tasks = language, engine, tasks
        self.search = say(
            SearchBox(look, "models_search"), language, name="models.search", hint="models.search"
        )
        self._refresh = say(
            button("", "models_refresh", lambda: tasks.start("fetch models", self._fetch())),
            language,
            "models.refresh",
        )
        self._refresh.dress(look, "refresh-cw")
        self.list = say(ModelRows(look), language, name="settings.models")
        self._nothing = say(plain_label("hint"), language, "models.nothing")
        self.hidden = button("link", "models_hidden", self.refresh)
        self.hidden.setCheckable(True)
        self.result = named("models_result", plain_label("hint", wrap=True))
        self._first = say(button("", "models_first", self._on_first), language, "models.first")
        self._remove = say(button("link", "models_remove", self._on_remove), language, "provider.remove")
        self._provider = say(named("models_provider", Choice(look)), language, name="models.provider")
        self.own = say(named("models_own", QLineEdit()), language, name="models.own", hint="models.own.hint")
        self.window_size = named("models_window", QLineEdit())
        # Unlike a number's, its validator takes an empty field, which leaves it to what is known.
        digits = f"[0-9]{{0,{len(str(MOST_WINDOW))}}}"
        self.window_size.setValidator(QRegularExpressionValidator(QRegularExpression(digits), self))
        self._window_label = named("models_window_label", plain_label("field"))
        self._lay_out()
        self.window_size.editingFinished.connect(self._on_window)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.list.ticked.connect(self._on_ticked)
        self.list.currentItemChanged.connect(lambda *_: self._show_buttons())
        self.list.itemActivated.connect(lambda _item: self._on_first())
        self.own.returnPressed.connect(self._on_add)
        language.changed.connect(self.refresh)
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        # Another page may have changed the data.
        self.refresh()
        super().showEvent(event)

    def refresh(self) -> None:
        """Read the models again, and keep the row and the scroll position."""
        chosen, place = self._chosen(), self.list.verticalScrollBar().value()
        with QSignalBlocker(self.list):
            self.list.clear()
            for status in self._statuses():
                self._add_provider(status)
            for row in range(self.list.count()):
                if self._pair(self.list.item(row)) == chosen:
                    self.list.setCurrentRow(row)
        self.list.verticalScrollBar().setValue(place)
        count = sum(len(self._hidden_of(status)) for status in self._statuses())
        words = "models.hide_again" if self.hidden.isChecked() else "models.hidden"
        self.hidden.setText(self._language(words, count=count))
        self.hidden.setVisible(count > 0)
        own = self._provider.currentData()
        self._provider.clear()
        for status in self._statuses():
            if status.config.kind != EMBEDDED:
                self._provider.addItem(self._language.provider(status), status.config.id)
        self._provider.setCurrentIndex(max(0, self._provider.findData(own)))
        self._filter()

    def _lay_out(self) -> None:
        vbox(
            say(Paragraph("card_text"), self._language, "models.text"),
            hbox((self.search, 1), self._refresh),
            (self.list, 1),
            self._nothing,
            hbox(self.hidden, STRETCH),
            hbox((self.result, 1), self._remove, self._first),
            hbox((self._window_label, 1), self.window_size),
            say(plain_label("field"), self._language, "models.own"),
            hbox(
                self._provider,
                (self.own, 1),
                say(button("", "models_add", self._on_add), self._language, "models.add"),
            ),
            inside=self,
            margins=(22, 20, 22, 14),
            spacing=10,
        )

    def _statuses(self) -> list[ProviderStatus]:
        return [status for status in self._engine.providers() if status.config.enabled]

    def _add_provider(self, status: ProviderStatus) -> None:
        words = self._language
        fetched = self._engine.connections.list_of(status.config.id)
        heading = QListWidgetItem(words.provider(status))
        heading.setData(PROVIDER, status.config.id)
        heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
        if fetched is not None:
            age = words.day_and_time(fetched.fetched_at)
            heading.setData(NOTE, words("models.fetched", count=len(fetched.models), age=age))
        self.list.addItem(heading)
        listed = fetched.models if fetched else ()
        if self.hidden.isChecked():
            listed = (*listed, *self._hidden_of(status))
        for model in dict.fromkeys((*status.models, *listed)):
            self._add_model(status, model, own=bool(fetched) and model not in listed)

    def _hidden_of(self, status: ProviderStatus) -> list[str]:
        """Return the models of a provider's list that can't chat and are not offered all the same."""
        fetched = self._engine.connections.list_of(status.config.id)
        return [model for model in fetched.hidden if model not in status.models] if fetched else []

    def _add_model(self, status: ProviderStatus, model: str, *, own: bool) -> None:
        words = self._language
        ticked = model in status.models
        notes = [words("models.is_first")] if model == status.default_model else []
        notes += [words("models.is_own")] if own and model in status.config.models else []
        item = QListWidgetItem(model)
        item.setData(PROVIDER, status.config.id)
        item.setData(MODEL, model)
        item.setData(NOTE, " · ".join(notes))
        item.setData(TICKED, ticked)
        state = words("models.offered" if ticked else "models.not_offered")
        heard = ", ".join([model, words.provider(status), state, *notes])
        item.setData(Qt.ItemDataRole.AccessibleTextRole, heard)
        item.setToolTip(plain_tip(model))
        self.list.addItem(item)

    def _filter(self) -> None:
        """Show the models whose name, or provider's name, contains every word searched for."""
        wanted = self.search.text().strip()
        heading: QListWidgetItem | None = None
        any_shown = False
        for row in range(self.list.count()):
            item = self.list.item(row)
            if not item.data(MODEL):
                heading = item
                heading.setHidden(bool(wanted))
                continue
            provider = heading.text() if heading is not None else ""
            shown = fits(f"{provider} {item.text()}", wanted)
            item.setHidden(not shown)
            if shown and heading is not None:
                heading.setHidden(False)
                any_shown = True
        self._nothing.setVisible(not any_shown)
        self._show_buttons()

    def _show_buttons(self) -> None:
        provider, model = self._chosen()
        status = next((one for one in self._statuses() if one.config.id == provider), None)
        free = bool(model) and status is not None and status.config.kind != EMBEDDED
        self._first.setEnabled(free and status is not None and model != status.default_model)
        fetched = self._engine.connections.list_of(provider)
        mine = status is not None and model in status.config.models
        self._show_window(provider, model if free else "")
        self._remove.setVisible(free and mine and fetched is not None and model not in fetched.models)

    def _show_window(self, provider: str, model: str) -> None:
        """Show the context window of the chosen model: what the user said of it, or what is known."""
        label = self._language("models.window", name=model)
        for part in (self._window_label, self.window_size):
            part.setVisible(bool(model))
        self._window_label.setText(label)
        self.window_size.setAccessibleName(label)
        if model:
            config = next(one.config for one in self._statuses() if one.config.id == provider)
            own = config.windows.get(model, 0)
            self.window_size.setText(str(own) if own else "")
            known = self._engine.connections.known_facts(provider, model).window
            self.window_size.setPlaceholderText(f"{known:,}")

    def _on_window(self) -> None:
        provider, model = self._chosen()
        tokens = int(self.window_size.text() or 0)
        config = next((one.config for one in self._statuses() if one.config.id == provider), None)
        if model and config is not None and tokens != config.windows.get(model, 0):
            work = self._engine.connections.choose_window(provider, model, tokens)
            self._tasks.start(f"window {provider} {model} {tokens}", self._do(work))

    def _chosen(self) -> tuple[str, str]:
        row = self.list.currentRow()
        return self._pair(self.list.item(row)) if row >= 0 and not self.list.isRowHidden(row) else ("", "")

    @staticmethod
    def _pair(item: QListWidgetItem) -> tuple[str, str]:
        return str(item.data(PROVIDER) or ""), str(item.data(MODEL) or "")

    def _on_ticked(self, item: QListWidgetItem) -> None:
        provider, model = self._pair(item)
        if not model:
            return
        connections = self._engine.connections
        ticked = bool(item.data(TICKED))
        work = connections.withdraw_model if ticked else connections.offer_model
        self._tasks.start(f"model {provider} {model}", self._do(work(provider, model)))

    def _on_first(self) -> None:
        provider, model = self._chosen()
        if model and self._first.isEnabled():
            work = self._engine.connections.offer_model(provider, model, first=True)
            self._tasks.start("default model", self._do(work))

    def _on_remove(self) -> None:
        provider, model = self._chosen()
        self._tasks.start(f"model {provider} {model}", self._do(self._withdraw(provider, model)))

    async def _withdraw(self, provider: str, model: str) -> None:
        undo = await self._engine.connections.withdraw_model(provider, model)
        self.undo_offered.emit(self._language("models.removed", name=model), undo)

    def _on_add(self) -> None:
        provider, model = self._provider.currentData(), self.own.text().strip()
        if provider and model:
            self._tasks.start("add model", self._take_in(str(provider), model))

    async def _take_in(self, provider: str, model: str) -> None:
        await self._do(self._engine.connections.offer_model(provider, model))
        self.search.clear()
        self.own.clear()
        for row in range(self.list.count()):
            if self._pair(self.list.item(row)) == (provider, model):
                self.list.setCurrentRow(row)
                self.list.scrollToItem(self.list.item(row))

    async def _do(self, work: object) -> None:
        """Await a change, show an error if it fails, and read the models again."""
        try:
            await work  # type: ignore[misc]
        except MootError as error:
            self._say("error", self._language.problem(error.code, **error.details))
        else:
            self._say("hint", "")
            self.changed.emit()
        self.refresh()

    async def _fetch(self) -> None:
        words = self._language
        statuses = [one for one in self._statuses() if one.ready]
        self._refresh.setEnabled(False)
        self._say("hint", words("models.fetching", count=len(statuses)))
        try:
            results = await asyncio.gather(
                *(self._engine.connections.fetch(status.config.id) for status in statuses)
            )
        finally:
            self._refresh.setEnabled(True)
        self.refresh()
        failed = [
            f"{words.provider(status)}: {words.failure(result.failure)}"
            for status, result in zip(statuses, results, strict=True)
            if not result.ok
        ]
        self._say("error" if failed else "ok", "\n".join(failed) or words("models.refreshed"))

    def _say(self, kind: str, text: str) -> None:
        show_as(self.result, kind, text)
