"""Groups of assistants: connects the sidebar and the page of a group to the engine."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.agent import Group
from app.core.ids import new_id
from app.gui.bridge import Bridge
from app.gui.controllers.assistants import AssistantCommands
from app.gui.controllers.controller import Parts
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, SharedKinds
from app.gui.navigation.partner_list import group_partners
from app.gui.window_frame import WindowFrame

if TYPE_CHECKING:
    from app.gui.pages.groups.group_page import GroupPage

TEXTS = DefinitionTexts(
    new="group.new",
    bring_in="group.bring_in",
    fields={
        "assistant_model": "orchestrator",
        "group_external_leader": "orchestrator",
        "group_turns": "orchestrator",
        "group_members": "members",
    },
)


class GroupCommands(DefinitionCommands[Group]):
    """Makes, edits, copies, shares and deletes groups."""

    def __init__(self, parts: Parts[WindowFrame], shared: SharedKinds, assistants: AssistantCommands) -> None:
        super().__init__(parts, parts.engine.groups, TEXTS, shared)
        self._assistants = assistants
        self._page: GroupPage | None = None
        shared.add("members", self)
        self._wire(parts.bridge)
        self.refresh()

    async def settle(self, *, anyway: bool = False) -> None:
        """Save unsaved changes of the group and of the member being edited, and return when that is done."""
        await super().settle(anyway=anyway)
        await self._assistants.settle(anyway=anyway)

    def refresh(self) -> None:
        """Show the groups, and the assistants that can join, as they are now."""
        groups, agents = self.definitions.all(), self._engine.assistants.all()
        self._window.side_bar.group_section.show_partners(group_partners(groups, agents, self._language))
        page = self._page
        if page is None:
            return
        page.set_assistants(self._assistants.choices(), self._assistants.built_in())
        shown = next((group for group in groups if group.id == page.definition_id), None)
        if shown is not None:
            page.show_group(shown)
        elif page.definition_id:
            page.forget()
            if self._window.main_area.currentWidget() is page:
                self._window.show_welcome()

    def show_page(self, definition_id: str, member: str = "") -> None:
        """Show the page of a group, with one of its members in the editor."""
        page, window = self._made_page(), self._window
        self._tasks.replace("model facts", self._engine.connections.learn_facts())
        page.show_group(self.definitions.find(definition_id), member)
        window.main_area.setCurrentWidget(page)
        window.top_bar.show_session_tools(False)
        window.side_bar.sessions.select("")
        self._show_tools()
        self._show_title()
        page.form.cards.setFocus()

    def show_ready(self) -> None:
        """Let the user choose one of the built-in groups."""
        from app.gui.dialogs.definition_dialogs import ReadyGroupsDialog

        ready = self._engine.groups.ready_made()
        dialog = ReadyGroupsDialog(self._language, self._look, ready, self._window)
        dialog.chosen.connect(lambda stem: self._tasks.start("ready-made", self.keep(ready[stem])))
        dialog.open()

    def _wire(self, bridge: Bridge) -> None:
        side = self._window.side_bar
        side.new_group_requested.connect(self.make_new)
        side.ready_groups_requested.connect(self.show_ready)
        side.bring_in_group_requested.connect(self.bring_in)
        side.groups.chat_requested.connect(self.chat)
        self._listen(side.groups)
        bridge.groups_changed.connect(self.refresh)
        bridge.assistants_changed.connect(self.refresh)
        bridge.servers_changed.connect(self.refresh)
        self._window.main_area.currentChanged.connect(lambda _place: self._show_tools())
        self._language.changed.connect(self._on_language_changed)

    def _made_page(self) -> "GroupPage":
        """Return the page, made when it is first shown."""
        if self._page is None:
            from app.gui.pages.groups.group_page import GroupPage

            page = GroupPage(self._language, self._look)
            page.chat_requested.connect(self.chat)
            self.adopt(page)
            page.renamed.connect(self._show_title)
            page.member_requested.connect(self._assistants.show_page)
            page.form.member_removed.connect(self._on_member_removed)
            page.form.new_member_requested.connect(
                lambda: self._tasks.start("new member", self._make_member(page.definition_id))
            )
            page.editor.duplicate_requested.connect(
                lambda agent_id: self._tasks.start(
                    f"copy {agent_id}", self._copy_member(page.definition_id, agent_id)
                )
            )
            self._assistants.adopt(page.editor)
            self._window.main_area.addWidget(page)
            self._page = page
            self.refresh()
        return self._page

    def _made(self, name: str) -> Group:
        return Group(id=new_id(), name=name)

    def _name_it(self) -> None:
        self._made_page().name_it()

    async def _make_member(self, group_id: str) -> None:
        """Make an assistant that is a member, and select its name to be typed."""
        agent = await self._assistants.make()
        await self._change_members(group_id, lambda members: (*members, agent.id))
        self.show_page(group_id, agent.id)
        self._made_page().editor.name_it()

    async def _copy_member(self, group_id: str, agent_id: str) -> None:
        """Replace a built-in member by a copy that can be edited."""
        copy = await self._assistants.copy(agent_id)
        await self._change_members(
            group_id, lambda members: tuple(copy.id if one == agent_id else one for one in members)
        )
        self.show_page(group_id, copy.id)

    async def _put_back(self, group_id: str, agent_id: str, place: int) -> None:
        """Add a removed member again, at its place."""

        def with_it(members: tuple[str, ...]) -> tuple[str, ...]:
            return members if agent_id in members else (*members[:place], agent_id, *members[place:])

        await self._change_members(group_id, with_it)

    async def _change_members(
        self, group_id: str, change: Callable[[tuple[str, ...]], tuple[str, ...]]
    ) -> None:
        await self.settle()
        await self.definitions.change(group_id, lambda group: replace(group, members=change(group.members)))
        self.refresh()

    def _on_member_removed(self, agent_id: str, place: int) -> None:
        group_id = self._made_page().definition_id
        names = {agent.id: agent.name for agent in self._engine.assistants.all()}
        self._offer_undo(
            self._language("group.removed", name=names.get(agent_id, agent_id)),
            lambda: self._tasks.start(f"put back {agent_id}", self._put_back(group_id, agent_id, place)),
        )

    def _on_language_changed(self) -> None:
        self.refresh()
        self._show_title()

    def _show_title(self) -> None:
        """Show the group's name in the top bar while its page is in front."""
        page, top = self._page, self._window.top_bar
        if page is not None and self._window.main_area.currentWidget() is page:
            top.show_title(page.title())
            top.mode.set_text(self._language("kind.group"))
            top.fit()

    def _show_tools(self) -> None:
        """Show the group's buttons in the top bar while its page is in front."""
        page = self._page
        shown = page is not None and self._window.main_area.currentWidget() is page
        self._window.top_bar.show_page_tools(page.tools if page is not None and shown else None)
        self._window.side_bar.groups.mark(page.definition_id if page is not None and shown else "")
