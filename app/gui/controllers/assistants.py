"""What a user may do with assistants: the side bar and the page wired to the engine.

Made by the window's controller, which listens to its signals for what concerns sessions.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.core.agent import Agent
from app.core.errors import MootError
from app.core.ids import new_id
from app.core.text import exact
from app.core.tool import ServerState, ServerStatus
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.save_queue import SaveQueue
from app.gui.controllers.sharing import Sharing
from app.gui.files.shared_files import free_name
from app.gui.navigation.partner_list import assistant_partners
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame

if TYPE_CHECKING:
    from app.gui.pages.assistants.assistant_editor import AssistantEditor
    from app.gui.pages.assistants.assistant_form import Choices
    from app.gui.pages.assistants.assistants_page import AssistantsPage

# Beside which field it is said why an assistant could not be saved, where that is not the name.
FIELDS = {"assistant_model": "model", "text_too_long": "instructions"}


class AssistantCommands(QObject):
    """Turns requests about assistants into tasks on the engine; what concerns sessions it hands on."""

    chat_requested = Signal(str)
    saved = Signal(object)
    save_failed = Signal(str, str, str)

    def __init__(self, window: WindowFrame, engine: Engine, bridge: Bridge) -> None:
        super().__init__(window)
        self._window = window
        self._language = window.language
        self._engine = engine
        self._tasks = Tasks(self._on_task_failed)
        self.sharing = Sharing(window, engine, self._tasks)
        self._page: AssistantsPage | None = None
        self._editors: list[AssistantEditor] = []
        self._saves = SaveQueue(self._tasks, engine.assistants.save, self.saved.emit, self._on_save_failed)
        self._asking = {
            status.server.name for status in engine.servers() if status.state == ServerState.ASKING
        }
        self._wire(bridge)
        self.refresh()
        self._show_servers()

    async def close(self) -> None:
        """Save what is being written, and end what runs."""
        await self.settle()
        await self._tasks.close()

    async def settle(self) -> None:
        """Save what is being written in any editor, and return once it is kept."""
        for editor in self._editors:
            editor.save_now()
        await self._saves.empty()

    def adopt(self, editor: "AssistantEditor") -> None:
        """Save what is written in an editor and tell it how that went."""
        editor.save_requested.connect(self._saves.add)
        editor.share_requested.connect(self.share)
        editor.versions_requested.connect(
            lambda agent_id: self._tasks.replace("versions", self._show_versions(editor, agent_id))
        )
        self.saved.connect(editor.show_saved)
        self.save_failed.connect(editor.show_failure)
        self._editors.append(editor)

    def refresh(self) -> None:
        """Show the assistants, and what they can be made of, as they are now."""
        agents, built_in = self._engine.assistants.all(), self.built_in()
        rows = assistant_partners(agents, self._engine.providers(), built_in, self._language)
        self._window.side_bar.assistants.show_partners(rows)
        if self._page is not None:
            self._page.set_assistants(agents, built_in, self.choices())

    # What the user asks for

    def show_page(self, agent_id: str = "") -> None:
        """Show the assistants in the main area, one of them in the editor."""
        page, window = self._made_page(), self._window
        page.show_assistant(agent_id)
        window.main_area.setCurrentWidget(page)
        self._show_title()
        window.top_bar.show_session_tools(False)
        window.side_bar.sessions.select("")
        page.cards.setFocus()

    def make_new(self) -> None:
        """Make an assistant and open it in the editor, its name ready to be written."""
        self._tasks.start("new assistant", self._make_and_show())

    async def make(self) -> Agent:
        """Save a new assistant and return it."""
        name = self._free_name(self._language("assistant.new"))
        return await self._engine.assistants.save(Agent(id=new_id(), name=name))

    async def copy(self, agent_id: str) -> Agent:
        """Save a copy of an assistant and return it."""
        await self.settle()
        assistants = self._engine.assistants
        name = self._free_name(self._language("assistant.copy_of", name=assistants.find(agent_id).name))
        return await assistants.duplicate(agent_id, name)

    def duplicate(self, agent_id: str) -> None:
        """Make a copy and open it in the editor."""
        self._tasks.start(f"duplicate {agent_id}", self._copy_and_show(agent_id))

    def delete(self, agent_id: str) -> None:
        """Delete an assistant, and offer to bring it back."""
        self._tasks.start(f"delete {agent_id}", self._delete(agent_id))

    def share(self, agent_id: str) -> None:
        """Ask where to, then write an assistant as a file."""
        self.sharing.give(self._engine.assistants.find(agent_id).name, lambda: self._shared(agent_id))

    def bring_in(self) -> None:
        """Ask for a file, then show what it would bring in."""
        self.sharing.ask(self._language("assistant.bring_in"))

    # How it is done

    def _wire(self, bridge: Bridge) -> None:
        side = self._window.side_bar
        side.new_assistant_requested.connect(self.make_new)
        side.bring_in_requested.connect(self.bring_in)
        side.assistants.chat_requested.connect(self.chat_requested)
        side.assistants.edit_requested.connect(self.show_page)
        side.assistants.duplicate_requested.connect(self.duplicate)
        side.assistants.share_requested.connect(self.share)
        side.assistants.delete_requested.connect(self.delete)
        side.assistants.order_chosen.connect(self._on_order)
        self.sharing.assistant_agreed.connect(
            lambda agent: self._tasks.start("keep what came in", self._save_and_show(agent))
        )
        bridge.assistants_changed.connect(self.refresh)
        bridge.servers_changed.connect(self._on_servers_changed)
        self._language.changed.connect(self._on_language_changed)

    def _made_page(self) -> "AssistantsPage":
        """Return the page; it is made when it is first looked at."""
        if self._page is None:
            from app.gui.pages.assistants.assistants_page import AssistantsPage

            page = AssistantsPage(self._language, self._window.look)
            page.new_requested.connect(self.make_new)
            page.bring_in_requested.connect(self.bring_in)
            page.cards.order_chosen.connect(self._on_order)
            page.cards.delete_requested.connect(self.delete)
            page.editor.chat_requested.connect(self._on_chat)
            page.editor.duplicate_requested.connect(self.duplicate)
            self.adopt(page.editor)
            self._window.main_area.addWidget(page)
            self._page = page
            self.refresh()
        return self._page

    def built_in(self) -> frozenset[str]:
        """Return the ids of the assistants that come with Moot."""
        assistants = self._engine.assistants
        return frozenset(agent.id for agent in assistants.all() if assistants.is_built_in(agent.id))

    def choices(self) -> "Choices":
        """Return what an assistant can be made of, as it is now."""
        from app.gui.pages.assistants.assistant_form import Choices

        return Choices(
            providers=tuple(self._engine.providers()),
            tools=self._engine.assistants.tools(),
            agents=self._engine.assistants.all(),
            servers=self._engine.servers(),
        )

    def _free_name(self, name: str) -> str:
        return free_name(name, {agent.name for agent in self._engine.assistants.all()})

    async def _save_and_show(self, agent: Agent) -> None:
        self._show_to_name(await self._engine.assistants.save(agent))

    async def _make_and_show(self) -> None:
        self._show_to_name(await self.make())

    async def _copy_and_show(self, agent_id: str) -> None:
        self._show_to_name(await self.copy(agent_id))

    def _show_to_name(self, agent: Agent) -> None:
        self.refresh()
        self.show_page(agent.id)
        self._made_page().name_it()

    async def _delete(self, agent_id: str) -> None:
        assistants = self._engine.assistants
        # What is still being written would bring it back.
        await self.settle()
        agent = assistants.find(agent_id)
        await assistants.delete(agent_id)
        self._window.toasts.show_toast(
            self._language("assistant.deleted", name=agent.name),
            self._language("toast.undo"),
            lambda: self._tasks.start(f"restore {agent_id}", assistants.restore(agent)),
        )

    async def _shared(self, agent_id: str) -> str:
        await self.settle()
        return self._engine.assistants.share(agent_id)

    async def _show_versions(self, editor: "AssistantEditor", agent_id: str) -> None:
        await self.settle()
        versions = await self._engine.assistants.versions(agent_id)
        if editor.agent_id == agent_id and editor.isVisible():
            editor.show_versions(versions)

    def _on_order(self, agent_ids: tuple[str, ...]) -> None:
        self._tasks.replace("order", self._engine.assistants.reorder(agent_ids))

    def _on_save_failed(self, agent_id: str, error: MootError) -> None:
        text = self._language.problem(error.code, **error.details)
        self.save_failed.emit(agent_id, text, FIELDS.get(error.code, "name"))

    def _on_chat(self, agent_id: str) -> None:
        """Start a chat once what is being written is saved: it is with the assistant as it reads."""
        self._tasks.replace("chat", self._chat(agent_id))

    async def _chat(self, agent_id: str) -> None:
        await self.settle()
        self.chat_requested.emit(agent_id)

    # What has happened

    def _on_language_changed(self) -> None:
        self.refresh()
        self._show_title()

    def _show_title(self) -> None:
        if self._page is not None and self._window.main_area.currentWidget() is self._page:
            self._window.top_bar.show_title(self._language("side.assistants"))

    def _on_servers_changed(self) -> None:
        statuses = self._engine.servers()
        asking = {status.server.name: status for status in statuses if status.state == ServerState.ASKING}
        # While a dialog is open it is the settings, where the server is seen to ask.
        if QApplication.activeModalWidget() is None:
            for name in sorted(asking.keys() - self._asking):
                self._tell_asking(asking[name])
        self._asking = set(asking)
        self._show_servers()
        if self._page is not None:
            self._page.editor.set_choices(self.choices())

    def _tell_asking(self, status: ServerStatus) -> None:
        from app.gui.dialogs.server_dialogs import ConsentDialog

        def ask() -> None:
            dialog = ConsentDialog(self._language, status, self._window)
            name = status.server.name
            allow = self._engine.mcp.allow
            dialog.accepted.connect(lambda: self._tasks.start(f"allow {name}", allow(status)))
            dialog.open()

        text = self._language("server.asks", name=exact(status.server.name))
        self._window.toasts.show_toast(text, self._language("server.review"), ask, undoes=False)

    def _show_servers(self) -> None:
        servers = [status for status in self._engine.servers() if not status.server.disabled]
        self._window.side_bar.show_servers(len(servers))

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._window.toasts.show_toast(self._language.problem(error.code, **error.details))
