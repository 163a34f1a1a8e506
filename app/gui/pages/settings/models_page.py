"""Models in the settings: those of every provider, which are offered and the default;
and models on this computer.

Those on this computer are downloaded, paused, removed, or added from a file of one's own.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QLineEdit, QProgressBar, QWidget

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, LOCAL
from app.core.council import Seat
from app.core.events import ModelFetching
from app.core.provider import HUB, FetchProgress, LocalModel, ProviderStatus
from app.core.session import no_vote_reason
from app.core.texts import fits, size_text, visible
from app.engine.voting import name_of, votes_with
from app.gui.dialogs.ask_dialogs import ConfirmDialog, tokens_line
from app.gui.display.appearance import Language, Look
from app.gui.files.user_files import ask_for_file
from app.gui.pages.settings.settings_rows import DataShown, Ground
from app.gui.widgets.boxes import STRETCH, Frame, frame, hbox, put_where, vbox
from app.gui.widgets.composer import SearchBox
from app.gui.widgets.controls import Button, Choice, TickBox, button, scrolling
from app.gui.widgets.item_list import TICKS, ItemList, RowItem
from app.gui.widgets.text import Paragraph, named, plain_label, plain_tip, say, show_as, show_if


class ModelsPage(DataShown):
    """Lists the models of the enabled providers."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language, look, tasks = self._language, self._look, self._tasks
        self.search = SearchBox(look, "models_search")
        say(self.search, language, name="models.search", hint="models.search")
        refresh = button("", "models_refresh", lambda: tasks.start("fetch models", self._fetch()))
        self._refresh = say(refresh.dress(look, "refresh-cw"), language, "models.refresh")
        self.list = say(ItemList(look, "models_list", TICKS), language, name="settings.models")
        self._nothing = say(plain_label("hint"), language, "models.nothing")
        self.hidden = button("link", "models_hidden", self.refresh)
        self.hidden.setCheckable(True)
        self.result = named("models_result", plain_label("hint", wrap=True))
        self._first = say(button("", "models_first", self._on_first), language, "models.first")
        self._remove = say(button("link", "models_remove", self._on_remove), language, "provider.remove")
        self._checking: set[Seat] = set()
        self.voting = named("models_voting", plain_label("hint", wrap=True))
        self.check = button("link", "models_check", self._on_check)
        self._provider = say(named("models_provider", Choice(look)), language, name="models.provider")
        self.own = say(named("models_own", QLineEdit()), language, name="models.own", hint="models.own.hint")
        # An empty field leaves it to what is known.
        self.window_size = tokens_line("models_window")
        self._window_label = named("models_window_label", plain_label("field"))
        self._lay_out()
        self.window_size.editingFinished.connect(self._on_window)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.list.ticked.connect(self._on_ticked)
        self.list.currentItemChanged.connect(lambda *_: self._show_buttons())
        self.list.activated.connect(lambda _index: self._on_first())
        self.own.returnPressed.connect(self._on_add)
        language.follow(self.refresh)

    def refresh(self) -> None:
        """Read the models again, and keep the row and the scroll position."""
        with QSignalBlocker(self.list):
            self.list.show_rows([row for status in self._statuses() for row in self._rows_of(status)])
        count = sum(len(self._hidden_of(status)) for status in self._statuses())
        words = "models.hide_again" if self.hidden.isChecked() else "models.hidden"
        self.hidden.setText(self._language(words, count=count))
        self.hidden.setVisible(count > 0)
        others = [status for status in self._statuses() if status.config.kind != EMBEDDED]
        self._provider.offer((status.config.id, self._language.provider(status)) for status in others)
        self._filter()

    def _lay_out(self) -> None:
        add = say(button("", "models_add", self._on_add), self._language, "models.add")
        text = say(Paragraph("card_text"), self._language, "models.text")
        listed = (self.list, 1), self._nothing, hbox(self.hidden, STRETCH)
        chosen = hbox((self.result, 1), self._remove, self._first), hbox((self.voting, 1), self.check)
        window = hbox((self._window_label, 1), self.window_size)
        own = hbox(self._provider, (self.own, 1), add)
        title = say(plain_label("field"), self._language, "models.own")
        parts = (text, hbox((self.search, 1), self._refresh), *listed, *chosen, window, title, own)
        vbox(*parts, inside=self, margins=(22, 20, 22, 14), spacing=10)

    def _statuses(self) -> list[ProviderStatus]:
        return [status for status in self._engine.providers() if status.config.enabled]

    def _rows_of(self, status: ProviderStatus) -> list[RowItem]:
        """Return the heading of a provider and its models."""
        words = self._language
        fetched = self._engine.connections.list_of(status.config.id)
        note, listed = "", list[str]()
        if fetched is not None:
            listed, age = [*fetched.models], words.day_and_time(fetched.fetched_at)
            note = words("models.fetched", count=len(listed), age=age)
        listed += self._hidden_of(status) if self.hidden.isChecked() else ()
        own = {model for model in status.models if fetched is not None and model not in listed}
        known = dict.fromkeys((*status.models, *listed))
        models = [self._row(status, model, own=model in own) for model in known]
        return [RowItem(title=visible(words.provider(status)), note=note, heading=True), *models]

    def _hidden_of(self, status: ProviderStatus) -> list[str]:
        """Return the models of a provider's list that can't chat and are not offered all the same."""
        fetched = self._engine.connections.list_of(status.config.id)
        return [model for model in fetched.hidden if model not in status.models] if fetched else []

    def _row(self, status: ProviderStatus, model: str, *, own: bool) -> RowItem:
        words = self._language
        ticked = model in status.models
        notes = [words("models.is_first")] if model == status.default_model else []
        notes += [words("models.is_own")] if own and model in status.config.models else []
        seat = (status.config.id, model)
        # Of what is not offered, only what was found stands there.
        if ticked or self._engine.voting.result(seat)[0] >= 0:
            notes.append(self._voting_of(seat))
        state = words("models.offered" if ticked else "models.not_offered")
        row_id, title, note = f"{status.config.id}\n{model}", visible(model), " · ".join(notes)
        spoken = ", ".join([model, words.provider(status), state, *notes])
        return RowItem(
            id=row_id, title=title, note=note, title_first=True, ticked=ticked, spoken=spoken, tip=model
        )

    def _voting_of(self, seat: Seat) -> str:
        """Return whether a model votes and judges in decisions, and why not."""
        words, voting = self._language, self._engine.voting
        if reason := voting.reason(seat):
            return words("voting.no_vote", reason=no_vote_reason(reason, words))
        if reason := voting.judge_reason(seat):
            return words("voting.no_judging", reason=no_vote_reason(reason, words))
        return words("voting.votes" if voting.result(seat)[0] >= 0 else "voting.unchecked")

    def _filter(self) -> None:
        """Show the models whose name, or provider's name, contains every word searched for."""
        wanted = self.search.text().strip()
        heading, provider, any_shown = 0, "", False
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item.heading:
                heading, provider = row, item.title
                self.list.setRowHidden(row, bool(wanted))
                continue
            shown = fits(f"{provider} {item.tip}", wanted)
            self.list.setRowHidden(row, not shown)
            if shown:
                self.list.setRowHidden(heading, False)
                any_shown = True
        self._nothing.setVisible(not any_shown)
        self._show_buttons()

    def _show_buttons(self) -> None:
        provider, model = self._chosen()
        status = next((item for item in self._statuses() if item.config.id == provider), None)
        free = bool(model) and status is not None and status.config.kind != EMBEDDED
        self._first.setEnabled(free and status is not None and model != status.default_model)
        fetched = self._engine.connections.list_of(provider)
        mine = status is not None and model in status.config.models
        self._show_window(provider, model if free else "")
        self._show_voting((provider, model) if model else None)
        self._remove.setVisible(free and mine and fetched is not None and model not in fetched.models)

    def _show_voting(self, seat: Seat | None) -> None:
        """Show whether the chosen model votes in decisions, and the button that checks it."""
        words, calls = self._language, self._engine.voting.calls(seat) if seat is not None else 0
        checks = seat in self._checking
        said = f"{seat[1]}: {self._voting_of(seat)}" if seat is not None else ""
        self.voting.setText(words("voting.checking") if checks else visible(said))
        unchecked = seat is not None and self._engine.voting.left(seat) > 0
        self.check.setText(words("local.check" if unchecked else "voting.again"))
        self.check.setVisible(calls > 0)
        self.check.setEnabled(not checks)
        self.check.setToolTip(plain_tip(words("voting.again.hint", count=calls)))

    def _on_check(self) -> None:
        if all(seat := self._chosen()):
            self._tasks.start(f"voting check {name_of(seat)}", self._check_again(seat))

    async def _check_again(self, seat: Seat) -> None:
        self._checking.add(seat)
        self._show_buttons()
        try:
            await self._do(self._engine.debates.check_voting(*seat))
        finally:
            self._checking.discard(seat)
            self._show_buttons()

    def _show_window(self, provider: str, model: str) -> None:
        """Show the context window of the chosen model: what the user said of it, or what is known."""
        label = self._language("models.window", name=model)
        show_if(model, self._window_label, self.window_size)
        self._window_label.setText(label)
        self.window_size.setAccessibleName(label)
        if model:
            config = next(status.config for status in self._statuses() if status.config.id == provider)
            own = config.windows.get(model, 0)
            self.window_size.setText(str(own) if own else "")
            known = self._engine.connections.known_facts(provider, model).window
            self.window_size.setPlaceholderText(f"{known:,}")

    def _on_window(self) -> None:
        provider, model = self._chosen()
        tokens = int(self.window_size.text() or 0)
        config = next((status.config for status in self._statuses() if status.config.id == provider), None)
        if model and config is not None and tokens != config.windows.get(model, 0):
            work = self._engine.connections.choose_window(provider, model, tokens)
            self._tasks.start(f"window {provider} {model} {tokens}", self._do(work))

    def _chosen(self) -> tuple[str, str]:
        hidden = self.list.isRowHidden(self.list.currentIndex().row())
        provider, _, model = ("" if hidden else self.list.current_id()).partition("\n")
        return provider, model

    def _on_ticked(self, row_id: str) -> None:
        provider, _, model = row_id.partition("\n")
        connections = self._engine.connections
        ticked = self.list.item(self.list.rows.row_of(row_id)).ticked
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
        if self.list.choose(f"{provider}\n{model}"):
            self.list.scrollTo(self.list.currentIndex())

    async def _do(self, work: Awaitable[object]) -> None:
        """Await a change, show an error if it fails, and read the models again."""
        problem = await self._problem_of(work)
        show_as(self.result, "error" if problem else "hint", problem)
        if not problem:
            self.changed.emit()
        self.refresh()

    async def _fetch(self) -> None:
        words = self._language
        statuses = [item for item in self._statuses() if item.ready]
        self._refresh.setEnabled(False)
        show_as(self.result, "hint", words("models.fetching", count=len(statuses)))
        try:
            fetch = self._engine.connections.fetch
            results = await asyncio.gather(*(fetch(status.config.id) for status in statuses))
        finally:
            self._refresh.setEnabled(True)
        self.refresh()
        results_of = zip(map(words.provider, statuses), results, strict=True)
        failed = [f"{name}: {words.failure(result.failure)}" for name, result in results_of if not result.ok]
        said = "\n".join(failed) or words("models.refreshed")
        show_as(self.result, "error" if failed else "ok", said)


class LocalModelsPage(DataShown):
    """Lists the models that run on this computer, with those that can be downloaded."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self.setObjectName("models_page")
        language = self._language
        self.cards: dict[str, LocalModelCard] = {}
        self._holder = QWidget()
        self._column = vbox(inside=self._holder, spacing=10)
        self.add = say(button("", "local_model_add", self._on_add), language, "local.add")
        self.result = named("local_model_result", plain_label("hint", wrap=True))
        self.source = QLineEdit(self._settings().model_source, placeholderText=HUB)
        say(named("local_model_source", self.source), language, name="local.source")
        emit = self.chosen.emit
        self.source.editingFinished.connect(lambda: emit({"model_source": self.source.text().strip()}))
        text, title = say(Paragraph("card_text"), language, "local.text"), plain_label("field")
        source = say(title, language, "local.source"), self.source
        hint = say(Paragraph("hint"), language, "local.source.hint")
        parts = (text, self._holder, hbox(self.add, (self.result, 1)), 6, *source, hint, STRETCH)
        body = frame("", vbox(*parts, margins=(22, 12, 22, 14), spacing=8))
        vbox((scrolling(body, keeps_bar=True), 1), inside=self)
        language.changed.connect(self.refresh)

    def refresh(self) -> None:
        """Read the models again."""
        self._tasks.replace("read the models", self._read())

    async def _read(self) -> None:
        local = self._engine.local_models
        # Besides the disk, the memory: what tells how much there is takes long to load.
        models = await asyncio.to_thread(local.all)
        fitting = await asyncio.to_thread(lambda: {item.id for item in models if local.fits(item)})
        known = {model.id for model in models}
        for gone in [model_id for model_id in self.cards if model_id not in known]:
            self.cards.pop(gone).deleteLater()
        for place, model in enumerate(models):
            card = self.cards.get(model.id)
            if card is None:
                card = LocalModelCard(self._language, self._look, model.id, first=place == 1)
                self.cards[model.id] = card
                card.asked.connect(self._on_asked)
                self._column.insertWidget(place, card)
            offered = model.id == EMBEDDED_MODEL or model.id in local.offered()
            fits, votes, free = model.id in fitting, self._votes(model), local.lacks_memory(model)
            progress = local.progress(model.id)
            card.show_model(model, progress, fits=fits, offered=offered, votes=votes, free=free)
        put_where(self._holder, [stop for card in self.cards.values() for stop in card.stops])

    def _votes(self, model: LocalModel) -> str:
        """Return whether an installed model votes and judges, "" where that was not checked."""
        if model.id == EMBEDDED_MODEL or not model.path:
            return ""
        voting = self._engine.voting
        stable, asked = voting.result((LOCAL, model.id))
        if stable < 0:
            return self._language("local.votes.unchecked")
        reason = voting.judge_reason((LOCAL, model.id))
        if votes_with(reason):
            why = no_vote_reason(reason, self._language)
            return self._language("local.votes.no_judging", reason=why)
        return self._language("local.votes.not" if reason else "local.votes", stable=stable, all=asked)

    def show_fetching(self, event: ModelFetching) -> None:
        """Show how far a download is."""
        if card := self.cards.get(event.model):
            card.show_progress(event.progress)

    def _on_asked(self, what: str, model_id: str) -> None:
        local = self._engine.local_models
        own = {"get": self._get, "check": self._check, "anyway": self._load_anyway}
        work = {"pause": local.pause, "remove": local.remove, "offer": local.offer, **own}[what]
        if not self._tasks.running(name := f"{what} {model_id}"):
            self._tasks.start(name, self._do(work(model_id)))

    async def _get(self, model_id: str) -> None:
        """Begin a download; ask first where each megabyte may cost something."""
        local, words = self._engine.local_models, self._language
        if not await local.is_metered():
            await local.begin(model_id)
            return
        model = await asyncio.to_thread(local.find, model_id)
        text = words("local.metered.text", name=model.name, size=size_text(words, model.size - model.done))
        title, yes = words("local.metered.title"), words("local.get")
        self._confirm(ConfirmDialog(words, title, text, yes, self), lambda: local.begin(model_id))

    async def _load_anyway(self, model_id: str) -> None:
        """Ask whether a model is to be loaded that needs more memory than is free."""
        local, words = self._engine.local_models, self._language
        model = await asyncio.to_thread(local.find, model_id)
        need, free = (size_text(words, number) for number in (model.memory, local.lacks_memory(model)))
        title = words("local.anyway.title", name=model.name)
        text = words("local.anyway.text", need=need, free=free)
        dialog = ConfirmDialog(words, title, text, words("local.anyway"), self)
        self._confirm(dialog, lambda: local.load_anyway(model_id))

    def _confirm(self, dialog: ConfirmDialog, act: Callable[[], Awaitable[object]]) -> None:
        """Open a dialog, and call `act` once the user agrees."""
        # Beside the task that asked, which may still be reading the list of models.
        dialog.open_for(lambda: self._tasks.add("local model", self._do(act())))

    async def _check(self, model_id: str) -> None:
        """Check a model's file, then whether the model can vote."""
        show_as(self.result, "hint", self._language("local.checking"))
        await self._engine.local_models.check(model_id)
        await self._engine.debates.check_voting(LOCAL, model_id)

    def _on_add(self) -> None:
        ask_for_file(self, self._language("local.add"), self.add_file, "GGUF (*.gguf)")

    def add_file(self, path: Path) -> None:
        """Add a GGUF file once its model has answered."""
        show_as(self.result, "hint", self._language("local.trying", name=path.name))
        self.add.setEnabled(False)
        self._tasks.start("add a model", self._do(self._engine.local_models.add(path)))

    async def _do(self, work: Awaitable[object]) -> None:
        try:
            problem = await self._problem_of(work)
            show_as(self.result, "error" if problem else "hint", problem)
        finally:
            self.add.setEnabled(True)
        # Beside this task: the next click must not be dropped while the list is read.
        self.refresh()
        self.changed.emit()


class LocalModelCard(Frame):
    """One model: what it is, what it needs, how far its download is.
    Emits asked(get|pause|remove|offer|check|anyway, id).

    The `first` on offer has the primary button.
    """

    asked = Signal(str, str)

    def __init__(self, language: Language, look: Look, model_id: str, *, first: bool) -> None:
        super().__init__("card")
        self._language = language
        self.title = plain_label("card_title", wrap=True)
        self.facts = Paragraph("hint")
        self.about = Paragraph("card_text")
        self.state = plain_label("hint")
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedHeight(6)
        self.agree = say(named(f"local_agree_{model_id}", TickBox(look)), language, "local.agree")
        self.agree.toggled.connect(lambda _on: self._show_buttons())
        self.buttons: dict[str, Button] = {}
        kinds = {"get": "primary" if first else "", "remove": "link"}
        for what in ("get", "pause", "offer", "check", "anyway", "remove"):
            name, act = f"local_{what}_{model_id}", partial(self.asked.emit, what, model_id)
            self.buttons[what] = say(button(kinds.get(what, ""), name, act), language, f"local.{what}")
        self.stops = (self.agree, *self.buttons.values())
        self._possible: set[str] = set()
        foot = hbox((self.state, 1), *self.buttons.values())
        parts = self.title, self.facts, self.about, self.agree, self.bar, foot
        vbox(*parts, inside=self, margins=(16, 12, 16, 12), spacing=5)

    def show_model(
        self,
        model: LocalModel,
        progress: FetchProgress | None,
        *,
        fits: bool,
        offered: bool,
        votes: str,
        free: int,
    ) -> None:
        """Show a model in its state; `progress` is that of a download under way,
        `votes` says whether it can vote.

        `free` is the memory in bytes that models may take where that is too little, else 0.
        """
        words = self._language
        built_in = model.id == EMBEDDED_MODEL
        self.title.setText(words("local.built_in") if built_in else model.name)
        size = size_text(words, model.size)
        needs = words("local.needs", size=model.computer_gb) if model.computer_gb else ""
        spoken = ", ".join(words(f"language.{language}") for language in model.languages)
        self.facts.setText(" · ".join(filter(None, (model.maker, size, needs, spoken, model.licence))))
        own = words("local.own", path=model.path) if model.path and not model.repo and not built_in else ""
        about = words("provider.embedded.text") if built_in else model.about.get(words.name, own)
        untried = words("local.untried") if model.repo and not model.tried else ""
        self.about.setText(" ".join(filter(None, (about, untried, votes))))
        self.agree.setVisible(model.asks and not model.path)
        self.setEnabled(fits or bool(model.path))
        self.bar.setVisible(progress is not None)
        if progress is not None:
            self._possible = {"pause"}
            self.show_progress(progress)
        elif model.path:
            possible = {"remove": True, "check": not built_in, "offer": not offered, "anyway": free}
            self._possible = {what for what, can in possible.items() if can}
            need, lacks = size_text(words, model.memory), size_text(words, free)
            state = words("local.ready" if offered else "local.not_offered")
            self.state.setText(words("local.lacks", need=need, free=lacks) if free else state)
        elif not fits:
            self._possible = set()
            self.state.setText(words("error.model_too_large", name=model.name, need=model.computer_gb))
        else:
            paused = model.done > 0
            self._possible = {"get", "remove"} if paused else {"get"}
            percent = model.done * 100 // model.size
            self.state.setText(words("local.paused", percent=percent) if paused else "")
            say(self.buttons["get"], words, "local.resume" if paused else "local.get")
        self._show_buttons()

    def show_progress(self, progress: FetchProgress) -> None:
        """Show how far the download is."""
        self.bar.setRange(0, 1_000)
        self.bar.setValue(progress.done * 1_000 // max(1, progress.total))
        minutes, words = round(progress.left / 60), self._language
        if progress.done >= progress.total:
            self.state.setText(words("local.checking"))
            return
        sizes = progress.done, progress.total, round(progress.rate)
        done, total, rate = (size_text(words, size) for size in sizes)
        text = words("local.progress", done=done, total=total, rate=rate)
        left = words("local.left", minutes=max(1, minutes)) if progress.rate else ""
        self.state.setText(" · ".join(filter(None, (text, left))))

    def _show_buttons(self) -> None:
        for what, item in self.buttons.items():
            item.setVisible(what in self._possible)
        self.buttons["get"].setEnabled(not self.agree.isVisibleTo(self) or self.agree.isChecked())
