"""Dialogs that add a provider, an external agent or an MCP server, or ask
for consent before its program runs.

A provider is saved once a real request with its key was tried.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

from app.core import catalog
from app.core.definitions import Agent
from app.core.errors import BadInput, FailureKind, MootError, ProviderError
from app.core.provider import FoundServer, TestResult
from app.core.servers import (
    McpServer,
    has_reference,
    has_user,
    is_reference,
    parted,
    resolved,
    servers_of,
    shown_values,
    split_command,
)
from app.core.texts import exact, fits, join_command, visible
from app.core.tool import ServerProblem, ServerStatus, changed_tools
from app.engine.engine import Engine
from app.gui.dialogs.ask_dialogs import AskDialog, LinkDialog, ValueDialog
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import first_of, server_line
from app.gui.tasks import Tasks, timer
from app.gui.widgets.boxes import ANY_SIZE, STRETCH, frame, hbox, put_in_tab_order, stack
from app.gui.widgets.choices import ChipList, ChipOption, Segmented
from app.gui.widgets.controls import TextBox, TickBox, button
from app.gui.widgets.form import Field, Form
from app.gui.widgets.text import Paragraph, enable_if, named, plain_label, say, show_as, show_if, show_or_hide

REMOTE = tuple(kind.kind for kind in catalog.KINDS if kind.needs_key)
OTHER = catalog.COMPATIBLE
COLUMNS = 4
MODELS_SHOWN = 8
# After these failures the provider is not worth saving; after all others it may work later.
HOPELESS = (
    FailureKind.AUTHENTICATION,
    FailureKind.PERMISSION,
    FailureKind.BAD_REQUEST,
    FailureKind.BAD_RESPONSE,
    FailureKind.NO_KEY,
    FailureKind.REDIRECTED,
)
# After these failures another key helps; after the others another address may, or another try.
KEY_FAILURES = (FailureKind.AUTHENTICATION, FailureKind.PERMISSION, FailureKind.NO_KEY)


class ConnectDialog(AskDialog):
    """Asks for a provider's key, tries it and adds the provider; emits `given` with its id."""

    given = Signal(str)

    def __init__(
        self,
        language: Language,
        look: Look,
        engine: Engine,
        servers: Sequence[FoundServer],
        parent: QtWidgets.QWidget,
        chosen: FoundServer | None = None,
    ) -> None:
        title, cancel = "connect.title", ("cancel", "link.cancel")
        super().__init__(language, parent, "connect", language(title), ("go", ""), cancel)
        say(self.heading, language, title)
        say(self.cancel, language, "link.cancel")
        self._language, self._engine = language, engine
        self._servers = {server.address: server for server in servers}
        self._tasks = Tasks(lambda _name, error: self._say_error(error))
        self._draft: catalog.ProviderConfig | None = None
        self._result = TestResult(ok=False)
        self._asked_at = 0.0
        self._warm = False
        self._text = Paragraph("card_text")
        self._kinds = QtWidgets.QButtonGroup(self)
        found = {server.kind for server in servers}
        usual = [row.kind for row in catalog.USUAL if row.needs_key]
        local = [row for row in catalog.USUAL if row.base_url and row.local]
        by_name = [row.kind for row in (*catalog.PRESETS, *local) if row.kind not in found]
        self._choices = [*usual, *self._servers, *by_name, OTHER]
        for number, choice in enumerate(self._choices):
            card = button("choice", f"connect_{choice if choice not in self._servers else f'found_{number}'}")
            card.setCheckable(True)
            card.setAutoDefault(False)
            # A click leads on to what is to be typed; the arrow keys go from one to the next.
            card.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            if choice in self._servers:
                card.dress(look, "plug", "ok")
            self._kinds.addButton(card, number)
        parts = ("search", "address", "model", "key")
        lines = (named(f"connect_{what}", QtWidgets.QLineEdit()) for what in parts)
        self.search, self.address, self.model, self.key = lines
        say(self.search, language, name="connect.search", hint="connect.search")
        self.search.setClearButtonEnabled(True)
        self._cards = QtWidgets.QGridLayout()
        self.key.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
        self._key_label = plain_label("field")
        # What the chosen provider takes.
        self._takes: dict[str, bool] = {}
        address = self._field("address", self.address, label="provider.base_url")
        model = self._field("model", self.model, label="connect.deployment")
        key = self._field("key", self.key, says="provider.key", hint="provider.key.placeholder")
        fields = (address, model, self._key_label, key)
        self._fields = Form(language, *fields, spacing=9, gap=9).lay_out()
        self._page = plain_label("hint", wrap=True)
        copy = QGuiApplication.clipboard().setText
        copied = button("link", "connect_copy", lambda: copy(self._key_page()))
        self._copy = say(copied, language, "connect.copy")
        opened = button("link", "connect_open")
        opened.clicked.connect(lambda: LinkDialog(language, self._key_page(), "", self).open())
        self._open = say(opened, language, "connect.open")
        self.answer = named("connect_result", plain_label("hint", wrap=True))
        self._kept = named("connect_kept", plain_label("warn", wrap=True))
        keep = button("link", "connect_anyway", lambda: self._tasks.start("keep", self._keep()))
        self._anyway = say(keep, language, "connect.anyway")
        self._clock = timer(self, 500, self._on_clock)
        self._lay_out()
        self._connect()
        first = chosen.address if chosen is not None else REMOTE[0]
        self._kinds.button(self._choices.index(first)).setChecked(True)
        self._retranslate()
        self.key.setFocus()
        # Starts the model host while the user looks for the key, so that the try is quick.
        self._tasks.start("warm", self._warm_up())

    def _field(self, name: str, control: QtWidgets.QLineEdit, **texts: Any) -> Field:
        return Field(name, control, shown_when=lambda: self._takes.get(name), **texts)

    def _lay_out(self) -> None:
        self._cards.setSpacing(8)
        for column in range(COLUMNS):
            self._cards.setColumnStretch(column, 1)
        page = hbox((self._page, 1), self._copy, self._open)
        parts = (
            self.heading,
            self._text,
            self.search,
            self._cards,
            4,
            self._fields,
            page,
            self.answer,
            self._kept,
        )
        self.arrange(*parts, STRETCH, before=self._anyway, spacing=9)
        self._show_cards("")
        fields = (self.address, self.model, self.key, self._copy, self._open)
        put_in_tab_order((self.search, *self._kinds.buttons(), *fields, self._anyway, self.cancel, self.go))
        self.resize(600, 480)

    def _show_cards(self, text: str) -> None:
        """Show the providers whose names contain a text, else what stands for any other, and choose the first
        if the chosen one is not among them: what is not shown is never chosen.
        """
        found = [number for number, item in enumerate(self._choices) if fits(self._names_of(item), text)]
        found = found or [self._choices.index(OTHER)]
        for card in self._kinds.buttons():
            self._cards.removeWidget(card)
            card.hide()
        for place, number in enumerate(found):
            self._cards.addWidget(self._kinds.button(number), place // COLUMNS, place % COLUMNS)
            self._kinds.button(number).show()
        if self._kinds.checkedId() not in found:
            self._kinds.button(found[0]).setChecked(True)

    def _names_of(self, choice: str) -> str:
        """Return by what a provider or a server that was found can be searched."""
        server = self._servers.get(choice)
        kind = catalog.provider_kind(server.kind if server else choice)
        shown = self._kinds.button(self._choices.index(choice)).text()
        return f"{shown} {choice} {kind.label if kind else ''}"

    def _connect(self) -> None:
        self._kinds.idToggled.connect(self._on_kind)
        self._kinds.idClicked.connect(self._on_clicked)
        self.key.textChanged.connect(self._on_key)
        self.search.textChanged.connect(self._show_cards)
        for field in (self.address, self.model):
            field.textChanged.connect(lambda _text: self._forget_result())
        self.finished.connect(self._on_finished)
        self._language.changed.connect(self._retranslate)

    @property
    def _choice(self) -> str:
        return self._choices[self._kinds.checkedId()]

    @property
    def _server(self) -> FoundServer | None:
        return self._servers.get(self._choice)

    def _key_page(self) -> str:
        row = catalog.provider_kind(self._choice)
        return row.key_page if row else ""

    def _on_kind(self, _number: int, checked: bool) -> None:
        if checked:
            # A key is for one provider: do not send it to another that was clicked next.
            if catalog.kind_of_key(self.key.text()) != self._choice:
                self.key.clear()
            self._forget_result()
            self._retranslate()

    def _on_clicked(self, _number: int) -> None:
        field = self._first_field
        if field is not None and self.focusWidget() not in self._kinds.buttons():
            field.setFocus()

    @property
    def _first_field(self) -> QtWidgets.QLineEdit | None:
        """The first field that the chosen provider takes."""
        fields = {"address": self.address, "model": self.model, "key": self.key}
        return next((field for name, field in fields.items() if self._takes.get(name)), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put what is typed or pasted at a provider into the first field."""
        field, text = self._first_field, event.text()
        if field is None or self.focusWidget() not in self._kinds.buttons():
            super().keyPressEvent(event)
        elif event.matches(QKeySequence.StandardKey.Paste):
            field.setFocus()
            field.paste()
        elif text.strip() and text.isprintable():
            field.setFocus()
            field.insert(text)
        else:
            super().keyPressEvent(event)

    def _on_key(self, text: str) -> None:
        """Remove spaces around a pasted key, and choose the provider it belongs to."""
        key = text.strip()
        if key != text:
            self.key.setText(key)
            return
        self._forget_result()
        kind = catalog.kind_of_key(key, self._choice)
        if kind and self._choice in REMOTE and kind != self._choice:
            self.search.clear()
            self._kinds.button(self._choices.index(kind)).setChecked(True)
            name = self._kinds.checkedButton().text()
            self._say("hint", self._language("connect.looks_like", name=name))

    def _forget_result(self) -> None:
        self._draft = None
        self._anyway.hide()
        self._kept.hide()
        self._say("hint", "")

    def _on_go(self) -> None:
        if self._result.ok and self._draft is not None:
            self.accept()
        else:
            self._tasks.start("try", self._try())

    async def _warm_up(self) -> None:
        # The try reports what keeps the host from starting.
        with suppress(ProviderError):
            await self._engine.connections.warm()
        self._warm = True

    async def _try(self) -> None:
        words, server = self._language, self._server
        if server is not None:
            self._draft = self._engine.connections.draft(server.kind, server.address, server.name)
        else:
            fields = (self.address, self.model)
            address, model = (field.text().strip() if field.isVisibleTo(self) else "" for field in fields)
            models = (model,) if model else ()
            self._draft = self._engine.connections.draft(self._choice, address, models=models)
        if self._choice in REMOTE and not self.key.text():
            self._say("error", words("error.key_empty"))
            self._go_on_at(self.key)
            return
        self._hold(True)
        try:
            self._result = await self._engine.connections.try_out(self._draft, self.key.text())
        except MootError:
            self._hold(False)
            raise
        self._hold(False)
        if self._result.ok:
            await self._keep()
            return
        failure, name = self._result.failure, self._draft.label or self._draft.id
        self._say("error", words.failure(failure, self._result.detail, name))
        self._anyway.setVisible(failure not in HOPELESS)
        self._go_on_at(self.key if failure in KEY_FAILURES else self.address)

    async def _keep(self) -> None:
        """Save the provider that was tried, and show the result."""
        words, result = self._language, self._result
        assert self._draft is not None
        kept = await self._engine.connections.add(self._draft, self.key.text(), result)
        self.given.emit(self._draft.id)
        if not result.ok:
            self.accept()
            return
        seconds, count = f"{result.seconds:.1f}", len(result.models) or 1
        self._say("ok", words("connect.ready", seconds=seconds, model=result.model, count=count))
        show_or_hide(self._kept, "" if kept else words(f"keyring.{self._engine.keys.problem}"))
        self.go.setText(words("connect.done"))
        self.cancel.hide()
        enable_if(False, self.search, self.key, self.address, self.model, *self._kinds.buttons())
        self.go.setFocus()

    def _hold(self, busy: bool) -> None:
        """Disable the fields while the provider is asked, and count the seconds."""
        # Keep the focus: a disabled field would pass it to the next widget.
        for field in (self.key, self.address, self.model):
            field.setReadOnly(busy)
        if busy and self.go.hasFocus():
            (self.key if self.key.isVisible() else self.cancel).setFocus()
        enable_if(not busy, self.go, self.search, *self._kinds.buttons())
        self._anyway.hide()
        if busy:
            self._asked_at = time.monotonic()
            self._clock.start()
            self._on_clock()
        else:
            self._clock.stop()

    def _go_on_at(self, field: QtWidgets.QLineEdit) -> None:
        """Focus the field that has to be corrected, or the button for another try if it is hidden."""
        if field.isVisible():
            field.setFocus()
            field.selectAll()
        else:
            self.go.setFocus()

    def _on_clock(self) -> None:
        name = self._kinds.checkedButton().text()
        seconds = int(time.monotonic() - self._asked_at)
        key = "provider.testing" if self._warm else "connect.starting"
        self._say("hint", self._language(key, name=name, seconds=seconds))

    def _on_finished(self) -> None:
        self._clock.stop()
        for task in ("try", "warm"):
            self._tasks.cancel(task)
        # Clear the key, even if something still holds the dialog.
        self.key.blockSignals(True)
        self.key.clear()

    def _say_error(self, error: MootError) -> None:
        self._say("error", self._language.problem(error.code, **error.details))
        self._go_on_at(self.address)

    def _say(self, kind: str, text: str) -> None:
        show_as(self.answer, kind, text)

    def _retranslate(self) -> None:
        words, choice, server = self._language, self._choice, self._server
        self.setWindowTitle(self.heading.text())
        self._text.setText(words.with_keys("connect.text", kept=self._engine.keys.kept))
        for number, item in enumerate(self._choices):
            row = catalog.provider_kind(item)
            found = self._servers.get(item)
            name = words.server(found) if found else words("connect.other") if item == OTHER else ""
            self._kinds.button(number).setText(name or (row.label if row else item))
        kind = catalog.provider_kind(choice)
        self._takes = {
            "address": kind is not None and (kind.local or not kind.base_url),
            "model": kind is not None and kind.own_names,
            "key": kind is not None or (server is not None and server.needs_key),
        }
        self._fields.show_rows()
        self._key_label.setVisible(self._takes["key"])
        if kind is not None and kind.base_url:
            self.address.setPlaceholderText(words("provider.base_url.placeholder", url=kind.base_url))
        elif kind is not None:
            form = kind.address_form or "http://127.0.0.1:8000/v1"
            self.address.setPlaceholderText(words("connect.address.hint", url=form))
        page, note = self._key_page(), ""
        if page:
            note = words("connect.page", page=page.removeprefix("https://"))
        elif server is not None:
            models = first_of(server.models, MODELS_SHOWN) or "–"
            note = words("connect.found", address=server.address, models=models)
        show_or_hide(self._page, note)
        show_if(page, self._copy, self._open)
        self._key_label.setText(words("provider.key" if choice in REMOTE else "connect.key.optional"))
        self._anyway.hide()
        self.go.setText(words("connect.go"))


class AgentDialog(ValueDialog):
    """Asks which external agent to add; emits `given` with its name or its command line.

    `found` are the files of the programs that are installed, by recipe. Those that are not come with the
    command that installs them.
    """

    def __init__(self, words: Language, found: Mapping[str, str], parent: QtWidgets.QWidget) -> None:
        super().__init__(words, parent, "agent", words("agent.add"), ("add", words("agent.next")))
        self._line = named("agent_line", QtWidgets.QLineEdit())
        text = Paragraph("card_text", text=words("agent.add.text"))
        rows = [self._row(recipe, found.get(recipe.name, "")) for recipe in catalog.RECIPES]
        line = Field("line", self._line, label="agent.line", hint="agent.line.hint", fits=bool)
        self.ask(text, *rows, line, width=WIDTH, gap=10)

    def _row(self, recipe: catalog.AgentRecipe, file: str) -> QtWidgets.QWidget:
        """Return the row of a known program: a button that chooses it, or the command that installs it,
        to copy.
        """
        words = self._words
        if file:
            said = words("agent.installed", name=recipe.label, file=exact(file))
            act = button("", f"agent_use_{recipe.name}", lambda: self._choose(recipe))
        else:
            said = words("agent.missing", name=recipe.label, command=recipe.install)
            copy = QGuiApplication.clipboard().setText
            act = button("link", f"agent_copy_{recipe.name}", lambda: copy(recipe.install))
        act.setText(words("agent.use" if file else "connect.copy"))
        act.setAutoDefault(False)
        act.setAccessibleName(f"{act.text()}: {recipe.label}")
        return frame("", hbox((Paragraph("hint", text=said), 1), act))

    def _choose(self, recipe: catalog.AgentRecipe) -> None:
        self._line.setText(recipe.name)
        self.go.setFocus()


class RunDialog(AskDialog):
    """Asks whether a program may run, or a server be asked; Enter and Escape both refuse."""

    def __init__(self, words: Language, name: str, title: str, parent: QtWidgets.QWidget) -> None:
        allow, refuse = ("allow", words("consent.allow")), ("refuse", "consent.refuse")
        super().__init__(words, parent, name, title, allow, refuse, safe=True)

    def _show(self, said: Sequence[QtWidgets.QWidget]) -> None:
        """Show what the user must know, in full."""
        column = self.arrange(self.heading, *said, 4)
        self.ensurePolished()
        self.resize(WIDTH, column.heightForWidth(WIDTH))
        self.cancel.setFocus()


class AgentConsentDialog(RunDialog):
    """Shows the exact command line of an external agent before it may run."""

    def __init__(self, words: Language, config: catalog.ProviderConfig, parent: QtWidgets.QWidget) -> None:
        title = words("agent.consent", name=exact(config.label or config.id))
        super().__init__(words, "agent_consent", title, parent)
        line = exact(join_command([config.command, *config.args]))
        said: list[QtWidgets.QWidget] = [
            Paragraph("card_text", text=words("consent.command")),
            exact_field("agent_consent_line", words("server.command"), line),
        ]
        if config.env:
            names = ", ".join(map(exact, config.env))
            said.append(Paragraph("hint", text=f"{words('agent.variables')}: {names}"))
        said.append(Paragraph("warn", text=words("agent.truth")))
        if catalog.recipe_of(config.recipe) not in catalog.RECIPES:
            said.append(Paragraph("warn", text=words("agent.no_recipe")))
        self._show(said)


WEB = ("http://", "https://")
FORM, PASTE = "form", "json"
EXAMPLE = '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "server-files", "~/notes"]}}}'
WIDTH = 560


def server_of(name: str, line: str, variables: str) -> McpServer:
    """Return the server a form describes: `line` is a command or an address,
    `variables` are NAME=value lines.

    It is disabled. Raises BadInput.
    """
    name, line = name.strip(), line.strip()
    if not name:
        raise BadInput("server_name_empty")
    pairs = _pairs(variables)
    if line.startswith(WEB):
        if has_user(line):
            raise BadInput("server_address_user")
        return McpServer(name=name, url=line, headers=pairs, disabled=True)
    try:
        words = split_command(line)
    except ValueError as error:
        raise BadInput("server_line_unreadable", detail=str(error)) from error
    if not words:
        raise BadInput("server_line_empty")
    return McpServer(name=name, command=words[0], args=tuple(words[1:]), env=pairs, disabled=True)


def form_of(server: McpServer) -> tuple[str, str, tuple[str, ...]]:
    """Return the line and the variables of a server for its form, and the names whose values are hidden."""
    kept, _ = parted(server)
    pairs = _pairs_of(kept)
    secret = tuple(name for name, value in pairs.items() if is_reference(value))
    lines = (f"{name}={'' if name in secret else value}" for name, value in pairs.items())
    return kept.url or join_command((kept.command, *kept.args)), "\n".join(lines), secret


def edited(server: McpServer, name: str, line: str | None, variables: str) -> McpServer:
    """Return a server with the values of its form; `line` is None if it was not edited. Raises BadInput.

    A hidden value left empty stays as it is, and so does all that the form does not show.
    """
    kept, values = parted(server)
    fresh = server_of(name, form_of(server)[0] if line is None else line, variables)
    if line is None:
        fresh = replace(fresh, command=kept.command, args=kept.args, url=kept.url)
    before, now = _pairs_of(kept), _pairs_of(fresh)
    pairs = {
        item: before[item] if not value and is_reference(before.get(item, "")) else value
        for item, value in now.items()
    }
    same_kind = bool(fresh.url) == bool(kept.url)
    other: Mapping[str, str] = (kept.env if kept.url else kept.headers) if same_kind else {}
    env, headers = (other, pairs) if fresh.url else (pairs, other)
    fresh = replace(fresh, env=env, headers=headers, cwd=server.cwd, disabled=server.disabled)
    return resolved(fresh, values.get)


def _pairs_of(server: McpServer) -> Mapping[str, str]:
    return server.headers if server.url else server.env


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.partition("=")
        if not line.strip():
            continue
        if not equals or not name.strip():
            # Do not quote the line: it may be a key.
            raise BadInput("server_variable_bad", line=number)
        pairs[name.strip()] = value.strip()
    return pairs


class ServerDialog(AskDialog):
    """Asks for one server in a form, or for several as JSON; emits `given` with them, all disabled.

    For a server to edit there is only the form. Secrets are not shown, and stay unless something is written
    in their place. With a `look` one in the form can be allowed at once, and given to some of the `agents`.
    """

    given = Signal(object)

    def __init__(
        self,
        words: Language,
        parent: QtWidgets.QWidget,
        server: McpServer | None = None,
        look: Look | None = None,
        agents: Sequence[Agent] = (),
    ) -> None:
        heading = words("server.add") if server is None else words("server.edit_one", name=exact(server.name))
        go = words("server.add.button" if server is None else "dialog.save")
        super().__init__(words, parent, "server", heading, ("add", go))
        self._server = server
        self.way = Segmented((FORM, PASTE))
        self.way.set_texts((words("server.by_form"), words("server.by_json")), ("", ""))
        self.way.setAccessibleName(words("server.add"))
        self.name, self.line = (named(f"server_{item}", QtWidgets.QLineEdit()) for item in ("name", "line"))
        self.variables = named("server_variables", TextBox(lines=3, most=3, submits=False))
        self.json = named("server_json", TextBox(lines=10, most=10, submits=False))
        self.json.setPlaceholderText(EXAMPLE)
        self.json.setAccessibleName(words("server.by_json"))
        self.problem = named("server_problem", plain_label("error", wrap=True))
        self.kept = named("server_kept", plain_label("hint", wrap=True))
        self.kept.hide()
        more: tuple[Field, ...] = ()
        if look is not None:
            self._people = ChipList(words, look, "server_people")
            self._people.set_offers([ChipOption(agent.id, visible(agent.name)) for agent in agents])
            self._allow = named("server_allow_now", TickBox(look))
            people = Field("people", self._people, hint="server.people.none")
            more = people, Field("allow", self._allow, text="server.allow_now")
        form = Form(
            words,
            Field("name", self.name),
            Field("line", self.line, hint="server.line.hint"),
            Field("variables", self.variables, hint="server.variables.hint"),
            self.kept,
            *more,
            STRETCH,
            labels="server",
            spacing=5,
        ).lay_out()
        self._pages = stack(form, self.json)
        lead = Paragraph("hint", text=words("server.arrives_off" if server is None else "server.asks_again"))
        self.arrange(self.heading, self.way, self._pages, lead, self.problem)
        self.resize(540, 540 if more else 440)
        if server is not None:
            self.way.hide()
            self._fill(server)
        self._line_before = self.line.text()
        self.name.setFocus()
        self.way.chosen.connect(lambda way: self._pages.setCurrentIndex((FORM, PASTE).index(way)))

    @property
    def choice(self) -> tuple[bool, Sequence[str]]:
        """Whether the server in the form may run at once, where every character of it is seen,
        and the ids of the assistants that get it.
        """
        seen, form = self.line.text() + self.variables.text(), self.way.value() == FORM
        allowed = form and self._allow.isChecked() and exact(seen, "\n") == seen
        return allowed, self._people.chosen() if form else ()

    def _fill(self, server: McpServer) -> None:
        line, variables, secret = form_of(server)
        self.name.setText(server.name)
        self.line.setText(line)
        self.variables.setPlainText(variables)
        said = [self._words("server.kept", names=", ".join(secret))] if secret else []
        if has_reference(line):
            said.append(self._words("server.kept_line"))
        show_or_hide(self.kept, " ".join(said))

    def _on_go(self) -> None:
        servers: tuple[McpServer, ...]
        try:
            if self._server is not None:
                line = self.line.text() if self.line.text() != self._line_before else None
                servers = (edited(self._server, self.name.text(), line, self.variables.text()),)
            elif self.way.value() == PASTE:
                servers = servers_of(self.json.text())
            else:
                servers = (server_of(self.name.text(), self.line.text(), self.variables.text()),)
        except BadInput as error:
            self.problem.setText(self._words.problem(error.code, **error.details))
            return
        self.accept()
        self.given.emit(servers)


class ConsentDialog(RunDialog):
    """Shows a server's exact command line or address before it may run, and what it has changed since."""

    def __init__(self, words: Language, status: ServerStatus, parent: QtWidgets.QWidget) -> None:
        super().__init__(words, "consent", words("consent.title"), parent)
        server = status.server
        self.heading.setText(words("consent.of", name=exact(server.name)))
        what, label = ("url", "address") if server.url else ("command", "command")
        said: list[QtWidgets.QWidget] = [
            Paragraph("card_text", text=words(f"consent.{what}")),
            exact_field("consent_line", words(f"server.{label}"), server_line(server)),
        ]
        more = [f"{words('server.folder')}: {exact(server.cwd)}"] if server.cwd else []
        shown, hidden = shown_values(server)
        if hidden:
            more.append(f"{words('consent.variables')}: {', '.join(map(exact, hidden))}")
        if more:
            said.append(Paragraph("hint", text="\n".join(more)))
        values = [exact(f"{name}={value}") for name, value in shown.items()]
        for name, lines in (("values", values), ("changed", changed_tools(status, words.texts))):
            if lines:
                title = words(f"consent.{name}")
                field = exact_field(f"consent_{name}", title, "\n".join(lines))
                said += [Paragraph("warn", text=title), field]
        self._show(said)


class ClientDialog(AskDialog):
    """Asks for the ID and the secret of a client, which the owner of a server gave out; emits `given(id,
    secret)`.
    """

    given = Signal(str, str)

    def __init__(self, words: Language, server: str, parent: QtWidgets.QWidget) -> None:
        title = words("server.client_of", name=exact(server))
        super().__init__(words, parent, "client", title, ("go", words("server.login")))
        client_id, secret = (named(f"client_{name}", QtWidgets.QLineEdit()) for name in ("id", "secret"))
        secret.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
        self.ask(
            Paragraph("card_text", text=words("server.client_text")),
            Field("client_id", client_id, fits=bool),
            Field("client_secret", secret),
            labels="server",
            width=460,
            gap=10,
        )

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(*self.form.values().values())


async def log_in(
    engine: Engine,
    words: Language,
    status: ServerStatus,
    parent: QtWidgets.QWidget,
    gone: Callable[[], bool] = lambda: False,
) -> None:
    """Log in to a server: ask for a client's ID where the server wants one, and for a yes to the exact page.

    `gone` says that what the dialogs would stand over was closed meanwhile. Raises NotFound, BadInput.
    """
    name = status.server.name

    async def agree(url: str) -> bool:
        if gone():
            return False
        dialog = LinkDialog(words, url, "", parent)
        dialog.heading.setText(words("server.login_title", name=exact(name)))
        return await _accepted(dialog)

    client: list[str] = []
    if status.problem == ServerProblem.CLIENT:
        dialog = ClientDialog(words, name, parent)
        dialog.given.connect(lambda client_id, secret: client.extend((client_id, secret)))
        if not await _accepted(dialog):
            return
    await engine.servers.login(name, agree, *client)


async def _accepted(dialog: QtWidgets.QDialog) -> bool:
    """Open a dialog, and return whether it was accepted."""
    answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    dialog.finished.connect(lambda result: None if answer.done() else answer.set_result(bool(result)))
    dialog.open()
    return await answer


class TextDialog(AskDialog):
    """Shows a text exactly, invisible characters as codes."""

    def __init__(self, words: Language, name: str, title: str, text: str, parent: QtWidgets.QWidget) -> None:
        super().__init__(words, parent, name, title, ("close", words("dialog.close")))
        self.cancel.hide()
        self.text = exact_field(f"{name}_text", title, visible(text))
        self.text.setMinimumHeight(300)
        self.text.setMaximumHeight(ANY_SIZE)
        self.arrange(self.heading, (self.text, 1))
        self.resize(WIDTH + 160, 480)


class ServerLogDialog(TextDialog):
    """Shows the last lines of a server's log: its messages, its standard error and Moot's notes."""

    def __init__(self, words: Language, server: str, text: str, parent: QtWidgets.QWidget) -> None:
        title = words("server.log_of", name=exact(server))
        super().__init__(words, "server_log", title, text or words("server.no_log"), parent)
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())


def exact_field(name: str, title: str, text: str) -> QtWidgets.QPlainTextEdit:
    """Return a read-only field that shows a text exactly and lets it be copied."""
    field = named(name, QtWidgets.QPlainTextEdit(text, readOnly=True, tabChangesFocus=True))
    field.setProperty("kind", "code")
    field.setAccessibleName(title)
    lines = max(2, min(6, len(text) // 60 + text.count("\n") + 1))
    field.setFixedHeight(lines * field.fontMetrics().lineSpacing() + 24)
    return field
