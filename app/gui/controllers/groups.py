"""What a user may do with groups of assistants: side bar and editor wired to the engine.

Made by the desk, which listens to its signal for what concerns sessions.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.agent import Group
from app.core.errors import MootError
from app.core.ids import new_id
from app.engine.engine import Engine
from app.engine.library.definitions import Shared
from app.gui.bridge import Bridge
from app.gui.controllers.assistants import AssistantCommands
from app.gui.controllers.save_queue import SaveQueue
from app.gui.files.shared_files import free_name
from app.gui.navigation.partner_list import group_partners
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame

if TYPE_CHECKING:
    from app.gui.pages.groups.group_page import GroupPage

# Beside which field it is said why a group could not be saved, where that is not the name.
FIELDS = {"assistant_model": "orchestrator", "group_turns": "orchestrator", "group_members": "members"}


class GroupCommands(QObject):
    """Turns requests about groups into tasks on the engine; a chat with one it asks others for."""

    group_chat_requested = Signal(str)

    def __init__(
        self, window: WindowFrame, engine: Engine, bridge: Bridge, assistants: AssistantCommands
    ) -> None:
        super().__init__(window)
        self._window = window
        self._language = window.language
        self._engine = engine
        self._assistants = assistants
        self._tasks = Tasks(self._on_task_failed)
        self._page: GroupPage | None = None
        self._saves = SaveQueue(self._tasks, engine.groups.save, self._on_saved, self._on_save_failed)
        self._wire(bridge)
        self.refresh()

    async def close(self) -> None:
        """Save what is being written, and end what runs."""
        await self.settle()
        await self._tasks.close()

    async def settle(self) -> None:
        """Save what is being written of the group and its member, and return once it is kept."""
        if self._page is not None:
            self._page.save_now()
        await self._saves.empty()
        await self._assistants.settle()

    def refresh(self) -> None:
        """Show the groups, and who can be in them, as they are now."""
        groups, agents = self._engine.groups.all(), self._engine.assistants.all()
        self._window.side_bar.group_section.show_partners(group_partners(groups, agents, self._language))
        page = self._page
        if page is None:
            return
        page.set_assistants(self._assistants.choices(), self._assistants.built_in())
        shown = next((group for group in groups if group.id == page.group_id), None)
        if shown is not None:
            page.show_group(shown)
        elif page.group_id:
            page.forget()
            if self._window.main_area.currentWidget() is page:
                self._window.show_welcome()

    # What the user asks for

    def show_page(self, group_id: str, member: str = "") -> None:
        """Show a group in the main area, one of its members in the editor."""
        page, window = self._made_page(), self._window
        page.show_group(self._engine.groups.find(group_id), member)
        window.main_area.setCurrentWidget(page)
        window.top_bar.show_session_tools(False)
        window.side_bar.sessions.select("")
        self._show_tools()
        self._show_title()
        page.form.cards.setFocus()

    def make_new(self) -> None:
        """Make a group and open it in the editor, its name ready to be written."""
        self._tasks.start("new group", self._make_new())

    def show_ready(self) -> None:
        """Let the user choose one of the groups that come with Moot."""
        from app.gui.dialogs.definition_dialogs import ReadyGroupsDialog

        ready = self._engine.groups.ready_made()
        dialog = ReadyGroupsDialog(self._language, self._window.look, ready, self._window)
        dialog.chosen.connect(lambda stem: self._tasks.start("ready-made", self._take_ready(ready, stem)))
        dialog.open()

    def duplicate(self, group_id: str) -> None:
        """Make a copy and open it in the editor."""
        self._tasks.start(f"duplicate {group_id}", self._duplicate(group_id))

    def delete(self, group_id: str) -> None:
        """Delete a group, and offer to bring it back."""
        self._tasks.start(f"delete {group_id}", self._delete(group_id))

    def share(self, group_id: str) -> None:
        """Ask where to, then write a group with its members as a file."""
        name = self._engine.groups.find(group_id).name
        self._assistants.sharing.give(name, lambda: self._shared(group_id))

    def bring_in(self) -> None:
        """Ask for a file, then show what it would bring in."""
        self._assistants.sharing.ask(self._language("group.bring_in"))

    # How it is done

    def _wire(self, bridge: Bridge) -> None:
        side = self._window.side_bar
        side.new_group_requested.connect(self.make_new)
        side.ready_groups_requested.connect(self.show_ready)
        side.bring_in_group_requested.connect(self.bring_in)
        side.groups.chat_requested.connect(self._on_chat)
        side.groups.edit_requested.connect(self.show_page)
        side.groups.duplicate_requested.connect(self.duplicate)
        side.groups.share_requested.connect(self.share)
        side.groups.delete_requested.connect(self.delete)
        side.groups.order_chosen.connect(
            lambda ids: self._tasks.replace("order", self._engine.groups.reorder(ids))
        )
        self._assistants.sharing.group_agreed.connect(
            lambda shared: self._tasks.start("keep what came in", self._take(shared))
        )
        bridge.groups_changed.connect(self.refresh)
        bridge.assistants_changed.connect(self.refresh)
        bridge.servers_changed.connect(self.refresh)
        self._window.main_area.currentChanged.connect(lambda _place: self._show_tools())
        self._language.changed.connect(self._on_language_changed)

    def _made_page(self) -> "GroupPage":
        """Return the page; it is made when it is first looked at."""
        if self._page is None:
            from app.gui.pages.groups.group_page import GroupPage

            page = GroupPage(self._language, self._window.look)
            page.save_requested.connect(self._saves.add)
            page.chat_requested.connect(self._on_chat)
            page.share_requested.connect(self.share)
            page.renamed.connect(self._show_title)
            page.member_requested.connect(self._assistants.show_page)
            page.form.member_removed.connect(self._on_member_removed)
            page.form.new_member_requested.connect(
                lambda: self._tasks.start("new member", self._make_member(page.group_id))
            )
            page.editor.duplicate_requested.connect(
                lambda agent_id: self._tasks.start(
                    f"copy {agent_id}", self._copy_member(page.group_id, agent_id)
                )
            )
            self._assistants.adopt(page.editor)
            self._window.main_area.addWidget(page)
            self._page = page
            self.refresh()
        return self._page

    def _name(self, name: str) -> str:
        """Return a name no group has."""
        return free_name(name, {group.name for group in self._engine.groups.all()})

    async def _make_new(self) -> None:
        group = await self._engine.groups.save(
            Group(id=new_id(), name=self._name(self._language("group.new")))
        )
        self._show_to_name(group)

    async def _take_ready(self, ready: Mapping[str, Shared[Group]], stem: str) -> None:
        await self._take(ready[stem])

    async def _take(self, shared: Shared[Group]) -> None:
        group = shared.definition
        named = replace(group, name=self._name(group.name))
        group = await self._engine.groups.bring_in(replace(shared, definition=named))
        self.show_page(group.id)

    async def _duplicate(self, group_id: str) -> None:
        await self.settle()
        name = self._name(self._language("assistant.copy_of", name=self._engine.groups.find(group_id).name))
        self._show_to_name(await self._engine.groups.duplicate(group_id, name))

    def _show_to_name(self, group: Group) -> None:
        self.show_page(group.id)
        self._made_page().name_it()

    async def _delete(self, group_id: str) -> None:
        # What is still being written would bring it back.
        await self.settle()
        group = self._engine.groups.find(group_id)
        await self._engine.groups.delete(group_id)
        self._window.toasts.show_toast(
            self._language("assistant.deleted", name=group.name),
            self._language("toast.undo"),
            lambda: self._tasks.start(f"restore {group_id}", self._engine.groups.restore(group)),
        )

    async def _shared(self, group_id: str) -> str:
        await self.settle()
        return self._engine.groups.share(group_id)

    async def _make_member(self, group_id: str) -> None:
        """Make an assistant that is a member at once, its name ready to be written."""
        agent = await self._assistants.make()
        await self._change_members(group_id, lambda members: (*members, agent.id))
        self.show_page(group_id, agent.id)
        editor = self._made_page().editor
        editor.form.name.setFocus()
        editor.form.name.selectAll()

    async def _copy_member(self, group_id: str, agent_id: str) -> None:
        """Put a copy that can be changed in the place of a member that comes with Moot."""
        copy = await self._assistants.copy(agent_id)
        await self._change_members(
            group_id, lambda members: tuple(copy.id if one == agent_id else one for one in members)
        )
        self.show_page(group_id, copy.id)

    async def _put_back(self, group_id: str, agent_id: str, place: int) -> None:
        """Let a member that was taken out be one again, where it was."""

        def with_it(members: tuple[str, ...]) -> tuple[str, ...]:
            return members if agent_id in members else (*members[:place], agent_id, *members[place:])

        await self._change_members(group_id, with_it)

    async def _change_members(
        self, group_id: str, change: Callable[[tuple[str, ...]], tuple[str, ...]]
    ) -> None:
        await self.settle()
        group = self._engine.groups.find(group_id)
        await self._engine.groups.save(replace(group, members=change(group.members)))
        self.refresh()

    def _on_chat(self, group_id: str) -> None:
        """Start a chat once what is being written is saved: it is with the group as it reads."""
        self._tasks.replace("chat", self._chat(group_id))

    async def _chat(self, group_id: str) -> None:
        await self.settle()
        self.group_chat_requested.emit(group_id)

    # What has happened

    def _on_saved(self, group: Group) -> None:
        if self._page is not None:
            self._page.show_saved(group)

    def _on_save_failed(self, group_id: str, error: MootError) -> None:
        if self._page is not None:
            text = self._language.problem(error.code, **error.details)
            self._page.show_failure(group_id, text, FIELDS.get(error.code, "name"))

    def _on_member_removed(self, agent_id: str, place: int) -> None:
        group_id = self._made_page().group_id
        names = {agent.id: agent.name for agent in self._engine.assistants.all()}
        self._window.toasts.show_toast(
            self._language("group.removed", name=names.get(agent_id, agent_id)),
            self._language("toast.undo"),
            lambda: self._tasks.start(f"put back {agent_id}", self._put_back(group_id, agent_id, place)),
        )

    def _on_language_changed(self) -> None:
        self.refresh()
        self._show_title()

    def _show_title(self) -> None:
        """Name the group in the bar, while its page is shown."""
        page, top = self._page, self._window.top_bar
        if page is not None and self._window.main_area.currentWidget() is page:
            top.show_title(page.title())
            top.mode.set_text(self._language("kind.group"))
            top.fit()

    def _show_tools(self) -> None:
        """Show the group's buttons in the bar while its page is shown."""
        page = self._page
        shown = page is not None and self._window.main_area.currentWidget() is page
        self._window.top_bar.show_page_tools(page.tools if page is not None and shown else None)
        self._window.side_bar.groups.mark(page.group_id if page is not None and shown else "")

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._window.toasts.show_toast(self._language.problem(error.code, **error.details))
