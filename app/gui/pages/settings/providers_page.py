"""Providers in the settings: a list with their states, the page of the chosen one,
and the network they are reached by.

A provider's page: enabled or not, address, models, key, and the Test button. The network: a proxy, and
certificates of one's own or of a company.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QIntValidator, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.catalog import EMBEDDED, MOST_WINDOW, PROGRAM, USUAL, ProviderConfig, provider_kind, recipe_of
from app.core.errors import BadInput, FailureKind, MootError, StorageError
from app.core.provider import FoundServer, ProviderStatus
from app.core.texts import exact, join_command
from app.engine.providers import ProviderProblem
from app.gui.dialogs.connect_dialogs import AgentConsentDialog, AgentDialog, ConnectDialog
from app.gui.display.descriptions import first_of
from app.gui.files.user_files import ask_for_file
from app.gui.pages.settings.settings_rows import Ground, Page, TwoLineList
from app.gui.tasks import timer
from app.gui.widgets.boxes import STRETCH, add_page, frame, hbox, stack, vbox
from app.gui.widgets.controls import Button, TickBox, button, scrolling
from app.gui.widgets.form import Field, Form
from app.gui.widgets.item_list import RowItem
from app.gui.widgets.notices import ServerOffers
from app.gui.widgets.text import Paragraph, enable_if, named, plain_label, say, show_as

MODELS_SHOWN = 6
# The keyring has not answered yet, but may still do it.
PENDING = ("waiting", "stopped")
LONGEST_LABEL = 200
BUILT_IN = tuple(kind.kind for kind in USUAL if kind.base_url or kind.kind == EMBEDDED)


class ProviderPage(Page):
    """The settings of one provider; emits removed() when it was removed."""

    removed = Signal()

    def __init__(self, ground: Ground, status: ProviderStatus) -> None:
        super().__init__(ground)
        language, self._status = self._language, status
        self._asked_at = 0.0
        config = status.config
        self._embedded, self._program = config.kind == EMBEDDED, config.kind == PROGRAM
        # The others are named after their company or program.
        self._own = config.id not in BUILT_IN and not self._program
        self._title = plain_label("page_title")
        self._about = say(plain_label("card_text", wrap=True), language, "provider.embedded.text")
        self.enabled = named("provider_enabled", TickBox(self._look))
        self.label = named("provider_label", QLineEdit(maxLength=LONGEST_LABEL))
        self.base_url = named("provider_base_url", QLineEdit())
        self.models = named("provider_models", QLineEdit())
        self.window_size = named("provider_window", QLineEdit())
        self.window_size.setValidator(QIntValidator(0, MOST_WINDOW, self))
        self.key = named("provider_key", QLineEdit(echoMode=QLineEdit.EchoMode.Password))
        self._key_source = Paragraph("hint")
        self._save_key = self._button("", "save_key", "provider.key.save", self._on_save_key)
        forget, unlock = self._forget_key, self._unlock_keyring
        self._remove_key = self._button("link", "remove_key", "provider.key.remove", forget, "remove key")
        self._unlock = self._button("link", "unlock", "keyring.unlock", unlock, "unlock the keyring")
        self._save = self._button("primary", "save", "provider.save", self._on_save)
        self._test = self._button("", "test", "provider.test", self._on_test)
        self._remove = self._button("link", "remove", "provider.remove", self._forget, "remove provider")
        self._allow = self._button("primary", "allow", "agent.allow", self._on_allow)
        self._deny = self._button("link", "deny", "agent.deny", self._forbid, "deny agent")
        self._copy_login = self._button("link", "copy_login", "agent.copy_login", self._on_copy_login)
        self._copy_login.hide()
        self.result = named("provider_result", plain_label("hint", wrap=True))
        self._pending = False
        self._clock = timer(self, 500, self._on_clock)
        self._form = self._new_form()
        self._lay_out()
        self._form.fill(config)
        self._retranslate()
        self.enabled.toggled.connect(lambda _on: self._on_save())
        self.key.returnPressed.connect(self._on_save_key)
        language.changed.connect(self._retranslate)

    @property
    def provider_id(self) -> str:
        """The provider's id."""
        return self._status.config.id

    @property
    def busy(self) -> bool:
        """Whether a result is awaited that the page will show."""
        return not self._test.isEnabled()

    def config(self) -> ProviderConfig:
        """Return the provider as edited."""
        return replace(self._status.config, **self._form.values())

    def _button(self, kind: str, name: str, key: str, act: Callable[[], Any], task: str = "") -> Button:
        """Return a button with the text of a key that calls `act`, as a change if `task` names it."""
        result = button(kind, f"provider_{name}", (lambda: self._change(task, act)) if task else act)
        return say(result, self._language, key)

    def _new_form(self) -> Form:
        source = hbox((self._key_source, 1, Qt.AlignmentFlag.AlignVCenter), self._unlock, self._remove_key)
        served = self._is_served
        return Form(
            self._language,
            Field("enabled", self.enabled, text="provider.enabled"),
            5,
            Field(
                "key",
                self.key,
                hint="provider.key.placeholder",
                get=lambda _config: "",
                put=lambda _key: {},
                beside=(self._save_key,),
                under=(frame("", source),),
                shown_when=served,
            ),
            Field(
                "label",
                self.label,
                put=lambda text: {"label": text} if self._own else {},
                shown_when=lambda: self._own,
            ),
            Field("base_url", self.base_url, shown_when=served),
            Field(
                "models",
                self.models,
                get=lambda config: ", ".join(config.models),
                put=_models_of,
                shown_when=lambda: not self._embedded,
            ),
            Field(
                "window",
                self.window_size,
                hint="provider.window.placeholder",
                get=lambda config: str(config.window or ""),
                put=lambda text: {"window": int(text or 0)},
                shown_when=served,
            ),
            labels="provider",
            spacing=7,
            gap=7,
        ).lay_out()

    def _is_served(self) -> bool:
        return not (self._embedded or self._program)

    def _lay_out(self) -> None:
        login = hbox(self._copy_login, self._deny, self._allow, STRETCH)
        foot = hbox(self._remove, STRETCH, self._test, self._save)
        parts = self._title, self._about, self._form, 5, self.result, login
        body = frame("", vbox(*parts, STRETCH, spacing=7))
        vbox((scrolling(body), 1), foot, inside=self, spacing=7)
        self._save.setVisible(not self._embedded)
        self._about.setVisible(self._embedded or self._program)
        self._remove.setVisible(self.provider_id not in BUILT_IN)

    def _say(self, kind: str, text: str) -> None:
        show_as(self.result, kind, text)

    def show_error(self, error: MootError) -> None:
        """Show an error on the page."""
        self._say("error", self._language.problem(error.code, **error.details))

    async def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a change, and show an error on the page if it fails."""
        if problem := await self._problem_of(work()):
            self._say("error", problem)
        # Also if the keyring refused: the change may be done in part.
        self.refresh()
        self.changed.emit()

    def refresh(self) -> None:
        """Show the current state of the provider; edited fields stay."""
        known = [provider for provider in self._engine.providers() if provider.config.id == self.provider_id]
        if known:
            self._status = known[0]
            self._retranslate()

    def show_keys(self) -> None:
        """Show the keyring's late answer, and end the note that it is awaited."""
        if self._pending and not self.busy:
            self._pending = False
            self._say("hint", "")
        self.refresh()

    def _change(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self._tasks.start(f"{name} {self.provider_id}", self._do(lambda: self._held(work)))

    async def _held(self, work: Callable[[], Awaitable[None]]) -> None:
        """Await work that asks the keyring, which may be slow; the page is disabled until then."""
        waiting = self._language("provider.asking_keyring")
        focus: QWidget | None = self.window().focusWidget()
        self._say("hint", waiting)
        self._hold(True)
        try:
            await work()
        finally:
            self._hold(False)
            now: QWidget | None = self.window().focusWidget()
            if focus is not None and self.isAncestorOf(focus) and (now is None or self.isAncestorOf(now)):
                focus.setFocus()
            if self.result.text() == waiting:
                self._say("hint", "")

    def _hold(self, held: bool) -> None:
        enable_if(not held, self._form, self._save, self._remove, self._test)

    def _on_save(self) -> None:
        self._change("save provider", self._save_config)

    async def _save_config(self) -> None:
        await self._engine.save_provider(self.config())
        await self._keep_key()
        if self.result.property("kind") == "hint":
            self._say("ok", self._language("provider.saved"))

    def _on_save_key(self) -> None:
        self._change("save key", self._keep_key)

    async def _keep_key(self) -> None:
        """Save the typed key, if any."""
        key = self.key.text().strip()
        if not key:
            return
        kept = await self._engine.keys.set(self.provider_id, key)
        self.key.clear()
        if kept:
            self._say("ok", self._language("provider.saved"))
        else:
            problem = self._engine.keys.problem
            self._pending = problem in PENDING
            self._say("warn", self._language(f"keyring.{problem}"))

    def _on_allow(self) -> None:
        """Show what would run, and allow it where the user agrees."""
        shown = self._status.config
        dialog = AgentConsentDialog(self._language, shown, self.window())
        allow = self._engine.connections.allow_agent
        dialog.open_for(lambda: self._change("allow agent", lambda: allow(shown)))

    async def _forbid(self) -> None:
        await self._engine.connections.deny_agent(self.provider_id)

    def _on_copy_login(self) -> None:
        QGuiApplication.clipboard().setText(recipe_of(self._status.config.recipe).login)

    async def _unlock_keyring(self) -> None:
        await self._engine.keys.unlock()
        if problem := self._engine.keys.unread:
            self._pending = problem in PENDING
            self._say("warn", self._language(f"keyring.unread_{problem}"))

    async def _forget_key(self) -> None:
        try:
            undo = await self._engine.keys.remove(self.provider_id)
        except StorageError:
            self._pending = self._engine.keys.problem in PENDING
            raise
        name = self._language.provider(self._status)
        self.undo_offered.emit(self._language("provider.key.removed", name=name), undo)

    async def _forget(self) -> None:
        undo = await self._engine.remove_provider(self.provider_id)
        self.removed.emit()
        name = self._language.provider(self._status)
        self.undo_offered.emit(self._language("history.deleted", title=name), undo)

    def _on_test(self) -> None:
        self._tasks.start(f"test {self.provider_id}", self._do(self._try))

    async def _try(self) -> None:
        words = self._language
        if self._status.config.kind != EMBEDDED:
            await self._held(self._save_config)
            self.refresh()
            self.changed.emit()
        self._asked_at = time.monotonic()
        self._test.setEnabled(False)
        self._clock.start()
        self._on_clock()
        try:
            result = await self._engine.test_provider(self.provider_id)
        finally:
            self._clock.stop()
            self._test.setEnabled(True)
        if result.ok:
            if not self._status.config.enabled:
                with QSignalBlocker(self.enabled):
                    self.enabled.setChecked(True)
                await self._engine.save_provider(self.config())
            models, seconds = first_of(result.models, MODELS_SHOWN), f"{result.seconds:.1f}"
            self._say("ok", words("provider.test.ok", seconds=seconds, models=models or "–"))
            return
        login = recipe_of(self._status.config.recipe).login
        self._copy_login.setVisible(result.failure == FailureKind.AGENT_LOGIN and bool(login))
        config = self._status.config
        self._say("error", words.failure(result.failure, result.detail, config.label or config.id))

    def _on_clock(self) -> None:
        seconds, name = int(time.monotonic() - self._asked_at), self._language.provider(self._status)
        self._say("hint", self._language("provider.testing", name=name, seconds=seconds))

    def _retranslate(self) -> None:
        words, status = self._language, self._status
        kind = provider_kind(status.config.kind)
        self._title.setText(words.provider(status))
        self.label.setPlaceholderText(words.provider(replace(status, label=kind.label if kind else "")))
        if kind is not None:
            address, models = kind.base_url, ", ".join(kind.models)
            hint = words("provider.base_url.placeholder", url=address) if address else ""
            self.base_url.setPlaceholderText(hint)
            hint = words("provider.models.placeholder", models=models) if models else ""
            self.models.setPlaceholderText(hint)
        if self._program:
            line = exact(join_command([status.config.command, *status.config.args]))
            self._about.setText(f"{words('server.command')}: {line}\n\n{words('agent.truth')}")
        self._allow.setVisible(self._program and status.problem == ProviderProblem.NOT_ALLOWED)
        self._deny.setVisible(self._program and status.ready)
        locked = status.problem == "keyring_locked"
        unread = status.problem if status.problem.startswith("keyring_") else "none"
        source = status.key_source or (unread if status.needs_key else "not_needed")
        self._key_source.setText(words(f"provider.key.{source}"))
        self._unlock.setVisible(locked)
        self._remove_key.setVisible(status.key_source in ("keyring", "session"))


def _models_of(text: str) -> dict[str, tuple[str, ...]]:
    return {"models": tuple(name.strip() for name in text.split(",") if name.strip())}


# How the last test of a provider went: its text and the colour of its dot.
WENT = {None: ("ready", ""), True: ("test.passed", "ok"), False: ("test.not_passed", "error")}


class ProvidersPage(Page):
    """Lists the providers and shows one of them."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language, look, tasks = self._language, self._look, self._tasks
        self.offers = ServerOffers(language, look, "settings_offer", dismissable=False)
        self._found: tuple[FoundServer, ...] = ()
        self._outdated = False
        self.list = say(TwoLineList(look, "settings_providers", 200), language, name="settings.providers")
        self._text = Paragraph("card_text")
        self._made: dict[str, ProviderPage] = {}
        self._pages = stack()
        adds = []
        connect, find = partial(self._connect, None), lambda: tasks.start("find agents", self._ask_agent())
        for name, key, act in (("provider", "provider.add", connect), ("agent", "agent.add", find)):
            add = say(button("link", f"settings_add_{name}", act), language, key)
            adds.append((add.dress(look, "plus", "accent"), 0, Qt.AlignmentFlag.AlignLeft))
        both = hbox(vbox((self.list, 1), *adds, spacing=4), (self._pages, 1), spacing=18)
        vbox(self._text, self.offers, (both, 1), inside=self, margins=(22, 14, 22, 14), spacing=10)
        self.list.currentItemChanged.connect(lambda *_: self._show())
        self.offers.use_requested.connect(self._on_use)
        language.changed.connect(self._mark)
        self.refresh()
        tasks.start("look for servers", self._find())

    def page(self) -> ProviderPage:
        """Return the page of the provider shown; it is made when it is first asked for or shown."""
        provider_id = self.list.current_id()
        if provider_id not in self._made:
            [status] = [item for item in self._engine.providers() if item.config.id == provider_id]
            page = self._made[provider_id] = self._new_page(status)
            add_page(self._pages, page)
        return self._made[provider_id]

    def show_provider(self, provider_id: str) -> None:
        """Show a provider, also one that was added or restored a moment ago."""
        if provider_id not in self.list.ids():
            self._outdated = True
        self._catch_up()
        self.list.choose(provider_id)

    def showEvent(self, event: QShowEvent) -> None:
        self._catch_up()
        self._show()
        super().showEvent(event)

    def look_again(self) -> None:
        """Update the list of providers and their states after a change elsewhere; while they are hidden,
        once they are shown.
        """
        self._outdated = True
        if self.isVisible():
            self._catch_up()

    def _catch_up(self) -> None:
        if not self._outdated:
            return
        self._outdated = False
        if sorted(self.list.ids()) != sorted(status.config.id for status in self._engine.providers()):
            shown = self.list.current_id()
            self.refresh()
            self.show_provider(shown)
        else:
            for page in self._made.values():
                page.refresh()
            self._mark()

    def show_keys(self) -> None:
        """Show the keyring's late answer."""
        for page in self._made.values():
            page.show_keys()
        self._mark()

    def refresh(self) -> None:
        """Read the providers again."""
        there = {status.config.id for status in self._engine.providers()}
        for provider_id, page in list(self._made.items()):
            # Keep a page that awaits a result, so that it can show it.
            if provider_id not in there or not page.busy:
                del self._made[provider_id]
                self._pages.removeWidget(page)
                page.deleteLater()
        self._mark()
        with QSignalBlocker(self.list):
            self.list.setCurrentRow(0)
        self._show()

    def _show(self) -> None:
        if self.isVisible():
            self._pages.setCurrentWidget(self.page())

    def _new_page(self, status: ProviderStatus) -> ProviderPage:
        page = ProviderPage(self._ground, status)
        page.changed.connect(self._on_changed)
        page.removed.connect(self._on_removed)
        page.undo_offered.connect(self.undo_offered)
        return page

    def _mark(self) -> None:
        """Show the state of each provider, and where keys go."""
        kept = self._engine.keys.kept
        self._text.setText(self._language.with_keys("settings.providers.text", kept=kept))
        rows = []
        for status in self._engine.providers():
            went = self._engine.connections.tested(status.config) if status.ready else None
            key, tone = WENT[went]
            state, name = self._language(f"provider.{status.problem or key}"), self._language.provider(status)
            rows.append(RowItem(id=status.config.id, title=name, second=state, dot=tone))
        self.list.show_rows(rows)

    async def _find(self) -> None:
        """Offer the servers found on this computer that are no providers yet."""
        self._found = await self._engine.connections.offers()
        self.offers.show_servers(self._found)

    def _on_use(self, server: FoundServer) -> None:
        if server.needs_key:
            self._connect(server)
        else:
            self._tasks.start("use server", self._use(server))

    def _connect(self, server: FoundServer | None) -> None:
        """Open the dialog that adds a provider, filled in with a server that was found if one is given."""
        dialog = ConnectDialog(self._language, self._look, self._engine, self._found, self.window(), server)
        dialog.open_for(self._on_added)

    async def _ask_agent(self) -> None:
        """Ask which external agent to add; nothing is started or saved before the user has agreed
        to the command line.
        """
        found = await self._engine.connections.found_agents()
        AgentDialog(self._language, found, self.window()).open_for(self._on_agent_given)

    def _on_agent_given(self, line: str) -> None:
        try:
            shown = self._engine.connections.agent_draft(line)
        except BadInput as error:
            self.page().show_error(error)
            return
        dialog = AgentConsentDialog(self._language, shown, self.window())
        dialog.open_for(lambda: self._tasks.start("add agent", self._add_allowed(shown)))

    async def _add_allowed(self, shown: ProviderConfig) -> None:
        try:
            await self._engine.connections.allow_agent(shown)
        except MootError as error:
            self.page().show_error(error)
        else:
            self._on_added(shown.id)

    async def _use(self, server: FoundServer) -> None:
        config = await self._engine.connections.use(server)
        self._on_added(config.id)

    def _on_added(self, provider_id: str) -> None:
        self.refresh()
        self.show_provider(provider_id)
        self.changed.emit()
        self._tasks.start("look for servers", self._find())

    def _on_removed(self) -> None:
        row = self.list.currentIndex().row()
        self.refresh()
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        # The button that had the focus is gone.
        self.list.setFocus()

    def _on_changed(self) -> None:
        self._mark()
        self.changed.emit()


class NetworkPage(Page):
    """Shows the proxy and the certificates, which are chosen once they are in use."""

    SCROLLS = True

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language = self._language
        self.proxy = named("network_proxy", QLineEdit())
        self.certificates = named("network_certificates", QLineEdit())
        browse = say(button("", "network_browse", self._on_browse), language, "network.browse")
        save = say(button("primary", "network_save", self._on_save), language, "network.save")
        self.result = named("network_result", plain_label("hint", wrap=True))
        self._form = Form(
            language,
            say(Paragraph("card_text"), language, "network.text"),
            8,
            Field("proxy", self.proxy, hint="network.proxy.example", help="network.proxy.hint"),
            8,
            Field("certificates", self.certificates, help="network.certificates.hint", beside=(browse,)),
            *(8, self.result, hbox(STRETCH, save), STRETCH),
            labels="network",
            spacing=7,
            gap=7,
        ).lay_out()
        vbox(self._form, inside=self)
        self._form.fill(self._settings())
        for field in (self.proxy, self.certificates):
            field.returnPressed.connect(self._on_save)
            field.textChanged.connect(lambda _text: show_as(self.result, "hint", ""))

    def _on_browse(self) -> None:
        title = self._language("network.certificates")
        ask_for_file(self, title, lambda path: self.certificates.setText(str(path)), kinds="")

    def _on_save(self) -> None:
        self._tasks.start("use the network", self._use(**self._form.values()))

    async def _use(self, proxy: str, certificates: str) -> None:
        try:
            await self._engine.network.use(proxy, certificates)
        except BadInput as error:
            show_as(self.result, "error", self._language.problem(error.code, **error.details))
            (self.certificates if error.code.startswith("certificates") else self.proxy).setFocus()
            return
        self.chosen.emit({"proxy": proxy, "certificates": certificates})
        show_as(self.result, "ok", self._language("network.saved"))
