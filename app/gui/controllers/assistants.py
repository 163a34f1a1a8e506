"""Assistants: connects the sidebar and the page of assistants to the engine."""

from typing import TYPE_CHECKING

from app.core.agent import Agent
from app.core.ids import new_id
from app.engine.library.definitions import Shared
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Parts
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, SharedKinds
from app.gui.navigation.partner_list import assistant_partners
from app.gui.window_frame import WindowFrame

if TYPE_CHECKING:
    from app.gui.pages.assistants.assistant_editor import AssistantEditor
    from app.gui.pages.assistants.assistant_form import Choices
    from app.gui.pages.assistants.assistants_page import AssistantsPage

TEXTS = DefinitionTexts(
    new="assistant.new",
    bring_in="assistant.bring_in",
    fields={"assistant_model": "model", "text_too_long": "instructions"},
)


class AssistantCommands(DefinitionCommands[Agent]):
    """Makes, edits, copies, shares and deletes assistants."""

    def __init__(self, parts: Parts[WindowFrame], shared: SharedKinds) -> None:
        super().__init__(parts, parts.engine.assistants, TEXTS, shared)
        self._page: AssistantsPage | None = None
        shared.add("", self)
        self._wire(parts.bridge)
        self.refresh()

    def adopt(self, editor: "AssistantEditor") -> None:
        super().adopt(editor)
        editor.versions_requested.connect(
            lambda agent_id: self._tasks.replace("versions", self._show_versions(editor, agent_id))
        )

    def refresh(self) -> None:
        """Show the assistants, and the choices of their editor, as they are now."""
        agents, built_in = self.definitions.all(), self.built_in()
        rows = assistant_partners(agents, self._engine.providers(), built_in, self._language)
        self._window.side_bar.assistants.show_partners(rows)
        if self._page is not None:
            self._page.set_assistants(agents, built_in, self.choices())

    def show_page(self, definition_id: str = "") -> None:
        """Show the page of assistants, with one of them in the editor."""
        page, window = self._made_page(), self._window
        self._tasks.replace("model facts", self._learn_facts())
        page.show_assistant(definition_id)
        window.main_area.setCurrentWidget(page)
        self._show_title()
        window.top_bar.show_session_tools(False)
        window.side_bar.sessions.select("")
        page.take_focus()

    async def keep(self, shared: Shared[Agent]) -> None:
        """Save an assistant from a shared file under its name there, and show it."""
        await self._show_to_name(self.definitions.bring_in(shared))

    def choices(self) -> "Choices":
        """Return the providers, tools, sub-agents and servers to choose from."""
        from app.gui.pages.assistants.assistant_form import Choices

        return Choices(
            providers=tuple(self._engine.providers()),
            tools=self._engine.assistants.tools(),
            agents=self.definitions.all(),
            servers=self._engine.servers.all(),
            facts=self._engine.connections.known_facts,
        )

    def _wire(self, bridge: Bridge) -> None:
        side = self._window.side_bar
        side.new_assistant_requested.connect(self.make_new)
        side.bring_in_requested.connect(self.bring_in)
        side.assistants.chat_requested.connect(self.chat_requested)
        self._listen(side.assistants)
        bridge.assistants_changed.connect(self.refresh)
        bridge.servers_changed.connect(self._on_servers_changed)
        self._language.changed.connect(self._on_language_changed)

    def _made_page(self) -> "AssistantsPage":
        """Return the page, made when it is first shown."""
        if self._page is None:
            from app.gui.pages.assistants.assistants_page import AssistantsPage

            page = AssistantsPage(self._language, self._look)
            page.new_requested.connect(self.make_new)
            page.bring_in_requested.connect(self.bring_in)
            page.cards.order_chosen.connect(self.reorder)
            page.cards.delete_requested.connect(self.delete)
            page.editor.chat_requested.connect(self.chat)
            page.editor.duplicate_requested.connect(self.duplicate)
            self.adopt(page.editor)
            self._window.main_area.addWidget(page)
            self._page = page
            self.refresh()
        return self._page

    def _made(self, name: str) -> Agent:
        return Agent(id=new_id(), name=name)

    def _name_it(self) -> None:
        self._made_page().editor.name_it()

    async def _show_versions(self, editor: "AssistantEditor", agent_id: str) -> None:
        await self.settle()
        versions = await self.definitions.versions(agent_id)
        if editor.definition_id == agent_id and editor.isVisible():
            editor.show_versions(versions)

    async def _learn_facts(self) -> None:
        """Show what each model takes once that is known."""
        await self._engine.connections.learn_facts()
        self.refresh()

    def _on_servers_changed(self) -> None:
        if self._page is not None:
            self._page.editor.set_choices(self.choices())

    def _on_language_changed(self) -> None:
        self.refresh()
        self._show_title()

    def _show_title(self) -> None:
        if self._page is not None and self._window.main_area.currentWidget() is self._page:
            self._window.top_bar.show_title(self._language("side.assistants"))
