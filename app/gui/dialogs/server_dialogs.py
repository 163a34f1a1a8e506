"""Dialogs for MCP servers: add or edit one, and consent before one runs."""

import asyncio
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QStackedWidget, QWidget

from app.core.errors import BadInput
from app.core.server_secrets import has_reference, has_user, is_reference, parted, resolved, shown_values
from app.core.server_texts import changed_tools, servers_of
from app.core.text import exact, visible
from app.core.tool import McpServer, ServerProblem, ServerStatus
from app.engine.engine import Engine
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.dialogs.link_dialog import LinkDialog
from app.gui.display.appearance import Language
from app.gui.display.descriptions import server_line
from app.gui.widgets.boxes import STRETCH, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import TextBox
from app.gui.widgets.text import Paragraph, named, plain_label, say

WEB = ("http://", "https://")
FORM, PASTE = "form", "json"
EXAMPLE = '{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "server-files", "~/notes"]}}}'
WIDTH = 560


def server_of(name: str, line: str, variables: str) -> McpServer:
    """Return the server a form describes: `line` is a command or an address, `variables` are NAME=value lines.

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
        words = shlex.split(line)
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
    return kept.url or shlex.join((kept.command, *kept.args)), "\n".join(lines), secret


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
        one: before[one] if not value and is_reference(before.get(one, "")) else value
        for one, value in now.items()
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
    in their place.
    """

    given = Signal(object)

    def __init__(self, words: Language, parent: QWidget, server: McpServer | None = None) -> None:
        heading = words("server.add") if server is None else words("server.edit_one", name=exact(server.name))
        go = words("server.add.button" if server is None else "dialog.save")
        super().__init__(words, parent, "server", heading, ("add", go))
        self._server = server
        self.way = Segmented((FORM, PASTE))
        self.way.set_texts((words("server.by_form"), words("server.by_json")), ("", ""))
        self.way.setAccessibleName(words("server.add"))
        self.name = named("server_name", QLineEdit())
        self.line = say(named("server_line", QLineEdit()), words, hint="server.line.hint")
        self.variables = say(
            named("server_variables", TextBox(lines=3, most=3, submits=False)),
            words,
            hint="server.variables.hint",
        )
        self.json = named("server_json", TextBox(lines=10, most=10, submits=False))
        self.json.setPlaceholderText(EXAMPLE)
        self.json.setAccessibleName(words("server.by_json"))
        self.problem = named("server_problem", plain_label("error", wrap=True))
        self.kept = named("server_kept", plain_label("hint", wrap=True))
        self.kept.hide()
        fields: list[QWidget] = []
        for key, field in (("name", self.name), ("line", self.line), ("variables", self.variables)):
            field.setAccessibleName(words(f"server.{key}"))
            fields += [plain_label("field", text=words(f"server.{key}")), field]
        form = QWidget()
        vbox(*fields, self.kept, STRETCH, inside=form, spacing=5)
        self._pages = QStackedWidget()
        for page in (form, self.json):
            self._pages.addWidget(page)
        lead = Paragraph("hint", text=words("server.arrives_off" if server is None else "server.asks_again"))
        self.arrange(self.heading, self.way, self._pages, lead, self.problem)
        self.resize(540, 440)
        if server is not None:
            self.way.hide()
            self._fill(server)
        self._line_before = self.line.text()
        self.name.setFocus()
        self.way.chosen.connect(lambda way: self._pages.setCurrentIndex((FORM, PASTE).index(way)))

    def _fill(self, server: McpServer) -> None:
        line, variables, secret = form_of(server)
        self.name.setText(server.name)
        self.line.setText(line)
        self.variables.setPlainText(variables)
        said = [self._words("server.kept", names=", ".join(secret))] if secret else []
        if has_reference(line):
            said.append(self._words("server.kept_line"))
        self.kept.setText(" ".join(said))
        self.kept.setVisible(bool(said))

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


class ConsentDialog(AskDialog):
    """Shows a server's exact command line or address before it may run, and what it has changed since.

    Enter and Escape both refuse.
    """

    def __init__(self, words: Language, status: ServerStatus, parent: QWidget) -> None:
        allow, refuse = ("allow", words("consent.allow")), ("refuse", "consent.refuse")
        super().__init__(words, parent, "consent", words("consent.title"), allow, refuse, safe=True)
        server = status.server
        self.heading.setText(words("consent.of", name=exact(server.name)))
        said: list[QWidget] = [
            Paragraph("card_text", text=words("consent.url" if server.url else "consent.command")),
            exact_field(
                "consent_line",
                words("server.address" if server.url else "server.command"),
                server_line(server),
            ),
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
                said += [
                    Paragraph("warn", text=title),
                    exact_field(f"consent_{name}", title, "\n".join(lines)),
                ]
        column = self.arrange(self.heading, *said, 4)
        self.ensurePolished()
        self.resize(WIDTH, column.heightForWidth(WIDTH))
        self.cancel.setFocus()


class ClientDialog(AskDialog):
    """Asks for the ID and the secret of a client, which the owner of a server gave out; emits `given(id, secret)`."""

    given = Signal(str, str)

    def __init__(self, words: Language, server: str, parent: QWidget) -> None:
        title = words("server.client_of", name=exact(server))
        super().__init__(words, parent, "client", title, ("go", words("server.login")))
        self.client_id, self.secret = (named(f"client_{name}", QLineEdit()) for name in ("id", "secret"))
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        fields: list[QWidget] = []
        for key, field in (("client_id", self.client_id), ("client_secret", self.secret)):
            field.setAccessibleName(words(f"server.{key}"))
            fields += [plain_label("field", text=words(f"server.{key}")), field]
        self.arrange(self.heading, Paragraph("card_text", text=words("server.client_text")), *fields, 6)
        self.client_id.textChanged.connect(lambda text: self.go.setEnabled(bool(text.strip())))
        self.go.setEnabled(False)
        self.resize(460, self.sizeHint().height())

    def _on_go(self) -> None:
        self.accept()
        self.given.emit(self.client_id.text(), self.secret.text())


async def log_in(
    engine: Engine,
    words: Language,
    status: ServerStatus,
    parent: QWidget,
    gone: Callable[[], bool] = lambda: False,
) -> None:
    """Log in to a server: ask for a client's ID where the server wants one, and for a yes to the exact page.

    `gone` says that what the dialogs would stand over was closed meanwhile. Raises NotFound, BadInput.
    """
    name, loop = status.server.name, asyncio.get_running_loop()

    async def agree(url: str) -> bool:
        if gone():
            return False
        answer: asyncio.Future[bool] = loop.create_future()
        dialog = LinkDialog(words, url, "", parent)
        dialog.heading.setText(words("server.login_title", name=exact(name)))
        dialog.finished.connect(lambda result: None if answer.done() else answer.set_result(bool(result)))
        dialog.open()
        return await answer

    client = ("", "")
    if status.problem == ServerProblem.CLIENT:
        given: asyncio.Future[tuple[str, str] | None] = loop.create_future()
        dialog = ClientDialog(words, name, parent)
        dialog.given.connect(lambda client_id, secret: given.set_result((client_id, secret)))
        dialog.rejected.connect(lambda: None if given.done() else given.set_result(None))
        dialog.open()
        entered = await given
        if entered is None:
            return
        client = entered
    await engine.servers.login(name, agree, *client)


class ServerLogDialog(AskDialog):
    """Shows the last lines of a server's log: its messages, its standard error and Moot's notes."""

    def __init__(self, words: Language, server: str, text: str, parent: QWidget) -> None:
        title = words("server.log_of", name=exact(server))
        super().__init__(words, parent, "server_log", title, ("close", words("dialog.close")))
        self.cancel.hide()
        self.text = exact_field("server_log_text", title, visible(text) or words("server.no_log"))
        self.text.setMinimumHeight(300)
        self.text.setMaximumHeight(16_777_215)
        self.arrange(self.heading, (self.text, 1))
        self.resize(WIDTH + 160, 480)
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())


def exact_field(name: str, title: str, text: str) -> QPlainTextEdit:
    """Return a read-only field that shows a text exactly and lets it be copied."""
    field = named(name, QPlainTextEdit(text))
    field.setProperty("kind", "code")
    field.setAccessibleName(title)
    field.setReadOnly(True)
    field.setTabChangesFocus(True)
    field.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
    lines = max(2, min(6, len(text) // 60 + text.count("\n") + 1))
    field.setFixedHeight(lines * field.fontMetrics().lineSpacing() + 24)
    return field
