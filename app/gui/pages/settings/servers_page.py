"""MCP servers in the settings: their states, commands or addresses, and tools;
and what runs without a question.

The permissions given for good or for a session have each a Revoke.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.core.definitions import Agent
from app.core.errors import MootError
from app.core.events import Event, ServersChanged, SessionChanged, SessionDeleted, SessionRestored
from app.core.servers import McpServer, parted
from app.core.texts import exact, unmarked, visible
from app.core.tool import ServerState, ServerStatus, tool_name
from app.engine.engine import Permission
from app.gui.dialogs.connect_dialogs import ConsentDialog, ServerDialog, ServerLogDialog, log_in
from app.gui.display.descriptions import first_of, server_line, server_state, server_trouble
from app.gui.pages.settings.settings_rows import DataShown, Ground, Page, TwoLineList
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import Button, MenuButton, TickBox, button, ticked
from app.gui.widgets.item_list import RowItem
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, show_if, show_or_hide

TOOLS_SHOWN = 12
Change = Callable[[str], Awaitable[object]]
Save = Callable[[tuple[McpServer, ...]], Awaitable[object]]


class ServersPage(Page):
    """Lists the servers and shows the chosen one; `refresh` reads them again.

    The undo of a removal restores it and returns whether its secrets were saved.
    """

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language, look, engine = self._language, self._look, self._engine
        self._status: ServerStatus | None = None
        self._unsubscribe = engine.bus.subscribe(self._on_events)
        self.list = say(TwoLineList(look, "settings_servers", 190), language, name="settings.servers")
        add = button("link", "settings_add_mcp", self._on_add).dress(look, "plus", "accent")
        self._add = say(add, language, "server.add")
        self._name = ElidedLabel("page_title")
        self._state = Chip(look)
        self._label = plain_label("field")
        self.line = named("server_exact", QPlainTextEdit(readOnly=True, tabChangesFocus=True))
        self.line.setFixedHeight(64)
        self._detail = plain_label("hint", wrap=True)
        self.tools = named("server_tools", plain_label("hint", wrap=True))
        self._unasked = named("server_unasked", plain_label("hint", wrap=True))
        self.ask_again = self._button("link", "ask_again", "ask again", engine.servers.ask_again)
        self.give = say(MenuButton(look, "users", "server_give", chevron=True), language, "server.give")
        self.give.choices.aboutToShow.connect(self._offer)
        self._changed = plain_label("warn", wrap=True)
        self._plain = named("server_plain", plain_label("warn", wrap=True))
        self.enabled = say(named("server_enabled", TickBox(look)), language, "server.enabled")
        self.allow = say(button("primary", "server_allow", self._on_allow), language, "server.allow")
        self.login = say(button("primary", "server_login", self._on_login), language, "server.login")
        self._logout = self._button("link", "logout", "log out of server", engine.servers.logout)
        self.log = self._button("link", "log", "log of server", self._show_log)
        self._restart = self._button("", "restart", "restart server", engine.servers.restart)
        self._remove = self._button("link", "remove", "remove server", self._forget, "provider.remove")
        self.result = named("server_result", plain_label("hint", wrap=True))
        self.result.hide()
        self._shown = QWidget()
        self._lay_out()
        self.list.currentItemChanged.connect(lambda *_: self._show())
        self.enabled.clicked.connect(self._on_enabled)
        language.follow(self.refresh)

    def _button(self, kind: str, name: str, task: str, act: Change, key: str = "") -> Button:
        """Return a button that calls `act` with the chosen server as a task of this name."""
        made = button(kind, f"server_{name}", lambda: self._start(task, act))
        return say(made, self._language, key or f"server.{name}")

    def refresh(self) -> None:
        """Read the servers and their states again."""
        if self._gone:
            return
        statuses, words = self._engine.servers.all(), self._language
        rows = []
        for status in statuses:
            text, tone = server_state(status, words)
            dot, name = "" if tone == "neutral" else tone, status.server.name
            rows.append(RowItem(id=name, title=exact(name), second=text, dot=dot))
        self.list.show_rows(rows)
        self.list.setVisible(bool(statuses))
        self._show()

    def _lay_out(self) -> None:
        text = say(Paragraph("card_text"), self._language, "server.text")
        edit = say(button("", "server_edit", self._on_edit), self._language, "server.edit")
        left = Qt.AlignmentFlag.AlignLeft
        said = (self._label, self.line, self._changed, self._plain, self._detail, self.tools, self._unasked)
        asked = ((self.ask_again, 0, left), (self.give, 0, left), self.enabled, STRETCH)
        acts = (edit, self._restart, self.login, self.allow)
        foot = hbox(self._remove, self._logout, self.log, STRETCH, *acts)
        head = hbox((self._name, 1), self._state)
        self._column = vbox(head, *said, *asked, foot, inside=self._shown, spacing=8)
        side = vbox((self.list, 1), (self._add, 0, left), Stretch(0))
        both = hbox(side, (self._shown, 1), Stretch(0), spacing=18)
        vbox(text, (both, 1), self.result, inside=self, margins=(22, 14, 22, 14), spacing=10)

    def _show(self) -> None:
        """Show the chosen server."""
        words, name = self._language, self.list.current_id()
        statuses = [item for item in self._engine.servers.all() if item.server.name == name]
        self._status = status = statuses[0] if statuses else None
        self._shown.setVisible(status is not None)
        if status is None:
            return
        server = status.server
        self._name.setText(exact(server.name))
        self._state.set_text(*server_state(status, words))
        self._label.setText(words("server.address" if server.url else "server.command"))
        self.line.setAccessibleName(self._label.text())
        self.line.setPlainText(server_line(server))
        show_or_hide(self._detail, server_trouble(status, words))
        said = [words(f"server.{code}", tools=_some(tools)) for code, tools in status.said_of_tools]
        show_or_hide(self.tools, "\n".join(said))
        unasked = ", ".join(status.unasked)
        show_or_hide(self._unasked, words("server.unasked", tools=unasked) if unasked else "")
        self.ask_again.setVisible(bool(unasked))
        changed = ", ".join(status.changed)
        show_or_hide(self._changed, words("server.changed", tools=changed) if changed else "")
        plain = ", ".join(field.partition(".")[2] for field in parted(server)[1])
        show_or_hide(self._plain, words("server.plain", names=plain) if plain else "")
        self.give.setVisible(status.state == ServerState.CONNECTED)
        self.enabled.setChecked(not server.disabled)
        self.allow.setVisible(status.state == ServerState.ASKING or server.disabled)
        self.login.setVisible(status.needs_login)
        self._logout.setVisible(status.logged_in)
        self._restart.setVisible(status.state in (ServerState.CONNECTED, ServerState.DOWN))
        # The row of buttons would ask for the width of the hidden ones too, and the dialog would grow.
        self._column.activate()

    def _start(self, name: str, act: Change) -> None:
        """Start a change of the chosen server."""
        if self._status is not None:
            server = self._status.server.name
            self._tasks.start(f"{name} {server}", self._do(act(server)))

    def _offer(self) -> None:
        """Fill the menu of who has the chosen server's tools; those that come with Moot cannot be changed."""
        assistants, server = self._engine.assistants, self.list.current_id()
        self.give.clear()
        for agent in assistants.all():
            act = partial(self._start, f"give to {agent.id}", partial(self._give_to, agent.id))
            shown = unmarked(visible(agent.name))
            entry = ticked(self.give.choices, shown, server in agent.mcp_servers, lambda _on, act=act: act())
            entry.setEnabled(not assistants.is_built_in(agent.id))

    async def _give_to(self, agent_id: str, server: str) -> None:
        """Give an assistant a server's tools, or take them from it."""

        def change(agent: Agent) -> Agent:
            rest = tuple(item for item in agent.mcp_servers if item != server)
            return replace(agent, mcp_servers=rest if rest != agent.mcp_servers else (*rest, server))

        await self._engine.assistants.change(agent_id, change)

    def _on_login(self) -> None:
        if self._status is not None:
            work = log_in(self._engine, self._language, self._status, self, lambda: self._gone)
            self._tasks.start(f"log in to server {self._status.server.name}", self._do(work))

    async def _show_log(self, server: str) -> None:
        text = await self._engine.servers.log(server)
        if not self._gone:
            ServerLogDialog(self._language, server, text, self).open()

    async def _do(self, work: Awaitable[object]) -> bool:
        """Await a change, show an error if it fails, and read the servers again; return whether it
        succeeded.
        """
        try:
            kept = await work
        except MootError as error:
            self._answer(self._language.problem(error.code, **error.details))
            return False
        else:
            problem = self._engine.keys.problem
            self._answer(self._language(f"keyring.{problem}") if kept is False else "")
            return True
        finally:
            self.refresh()

    def _answer(self, text: str) -> None:
        if not self._gone:
            show_or_hide(self.result, text)

    def _on_events(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, ServersChanged) for event in events):
            self.refresh()

    def _on_add(self) -> None:
        assistants = self._engine.assistants
        agents = [agent for agent in assistants.all() if not assistants.is_built_in(agent.id)]
        dialog = ServerDialog(self._language, self, look=self._look, agents=agents)
        self._ask_for(dialog, "add server", lambda new: self._add_all(new, dialog.choice))

    def _ask_for(self, dialog: ServerDialog, task: str, save: Save) -> None:
        def take(new: tuple[McpServer, ...]) -> None:
            name = new[0].name
            # Another one can be added while one that was just allowed connects.
            self._tasks.start(f"{task} {name}", self._take_in(save(new), name))

        dialog.open_for(take)

    async def _add_all(self, servers: tuple[McpServer, ...], choice: tuple[bool, Sequence[str]]) -> bool:
        """Save servers; one of the form may run if that was chosen, and is given to assistants."""
        kept, (allowed, people) = await self._engine.servers.save(servers), choice
        for agent_id in people:
            await self._give_to(agent_id, servers[0].name)
        for status in self._engine.servers.all():
            if allowed and status.server.name == servers[0].name:
                await self._engine.servers.allow(status)
        return kept

    async def _take_in(self, work: Awaitable[object], name: str) -> None:
        """Await the work that saves a server, and show it."""
        if await self._do(work) and not self._gone:
            self.list.choose(name)

    def _on_edit(self) -> None:
        if self._status is not None:
            server, change = self._status.server, self._engine.servers.replace
            dialog, name = ServerDialog(self._language, self, server), server.name
            self._ask_for(dialog, "edit server", lambda new: change(name, new[0]))

    def _on_enabled(self) -> None:
        if self._status is not None:
            server = replace(self._status.server, disabled=not self.enabled.isChecked())
            self._tasks.start(f"switch server {server.name}", self._do(self._switch(server)))

    async def _switch(self, server: McpServer) -> bool:
        kept = await self._engine.servers.save((server,))
        if not server.disabled:
            # Connect a server that was allowed before, so that its state is shown.
            await self._engine.servers.attach((server.name,))
        return kept

    def _on_allow(self) -> None:
        if self._status is not None:
            status, allow = self._status, self._engine.servers.allow
            task, start = f"allow server {status.server.name}", self._tasks.start
            dialog = ConsentDialog(self._language, status, self)
            dialog.open_for(lambda: start(task, self._do(allow(status))))

    async def _forget(self, server: str) -> None:
        undo = await self._engine.servers.remove(server)
        self.undo_offered.emit(self._language("server.removed", name=exact(server)), undo)


def _some(tools: tuple[str, ...]) -> str:
    """Return the first names of tools, without the server's."""
    return first_of([exact(tool.partition("__")[2] or tool) for tool in tools], TOOLS_SHOWN)


CHANGES = (ServersChanged, SessionChanged, SessionDeleted, SessionRestored)


class PermissionsPage(DataShown):
    """Lists the permissions; follows those that are given or revoked while it is shown."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self._shown: dict[str, Permission] = {}
        self._unsubscribe, language = self._engine.bus.subscribe(self._on_events), self._language
        self.list = TwoLineList(self._look, "settings_permissions")
        say(self.list, language, name="settings.permissions")
        self._text = say(Paragraph("card_text"), language, "permissions.text")
        self._none = say(named("permissions_none", plain_label("hint")), language, "permissions.none")
        self._revoke = say(button("", "permissions_revoke", self._on_revoke), language, "permissions.revoke")
        parts = self._text, self._none, (self.list, 1), Stretch(0), hbox(STRETCH, self._revoke)
        vbox(*parts, inside=self, margins=(22, 14, 22, 14), spacing=10)
        language.follow(self.refresh)

    def refresh(self) -> None:
        """Read the permissions again."""
        found = self._engine.permissions.all()
        self._shown = {f"{item.session_id}/{item.server}/{'/'.join(item.keys)}": item for item in found}
        shown = self._shown.items()
        rows = [RowItem(id=key, title=self._what(item), second=self._where(item)) for key, item in shown]
        self.list.show_rows(rows)
        show_if(found, self.list, self._text, self._revoke)
        self._none.setVisible(not found)

    def _what(self, one: Permission) -> str:
        words = self._language
        if one.gone:
            return words("permissions.gone", count=one.count)
        names = [tool_name(key, words.texts) for key in one.tools]
        if one.folders or not names:
            names = [words("permissions.folders" if one.folders else "permissions.tools", count=one.count)]
        elif len(names) < one.count:
            names.append("…")
        tools, server = ", ".join(names), exact(one.server)
        return words("permissions.of", server=server, tools=tools) if server or one.folders else tools

    def _where(self, one: Permission) -> str:
        if not one.session_id:
            return self._language("permissions.lasting")
        return self._language("permissions.session", title=" ".join(one.title.split()))

    def _on_events(self, events: tuple[Event, ...]) -> None:
        changed = self.isVisible() and any(isinstance(event, CHANGES) for event in events)
        if changed and self._engine.permissions.all() != tuple(self._shown.values()):
            self.refresh()

    def _on_revoke(self) -> None:
        chosen = self._shown.get(self.list.current_id())
        if chosen is not None:
            self._tasks.add("revoke permission", self._revoke_and_show(chosen))

    async def _revoke_and_show(self, permission: Permission) -> None:
        await self._engine.permissions.revoke(permission)
        if self.isVisible():
            self.refresh()
