"""Controllers of definitions: their base (make, edit, copy, delete, share), assistants and groups.

Assistants and groups: connects the sidebar and their pages to the engine. Workflows and panels of councils
are with what runs them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from PySide6.QtCore import QPoint, Signal, SignalInstance
from PySide6.QtWidgets import QScrollArea
from shiboken6 import isValid

from app.core.definitions import Agent, Group
from app.core.draft import NEW
from app.core.errors import BadInput, MootError
from app.core.ids import new_id
from app.core.memory import REMEMBER
from app.core.provider import ModelRequest
from app.core.session import Definition
from app.core.skills import Contents, Skill, SkillState, whole_text
from app.core.texts import exact, unmarked
from app.core.tool import FILES
from app.engine.debate.estimates import price_text
from app.engine.library.definitions import (
    CHANGED_ELSEWHERE,
    Definitions,
    SeenSkill,
    Shared,
    read_document,
    sent_skills,
)
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller, Parts
from app.gui.display.descriptions import most_text
from app.gui.files import user_files
from app.gui.files.user_files import ask_for_file, ask_where, free_name, read_shared_file, write_shared_file
from app.gui.navigation.side_bar import PartnerList, assistant_partners, group_partners
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import frame, hbox
from app.gui.widgets.controls import passing_menu, scrolling
from app.gui.widgets.form import DefinitionEditor
from app.gui.widgets.memory import MemorySection
from app.gui.widgets.text import named, say
from app.gui.window_frame import WindowFrame

if TYPE_CHECKING:
    from app.gui.dialogs.definition_dialogs import ProposalDialog
    from app.gui.pages.assistants_page import AssistantEditor, AssistantsPage, Choices
    from app.gui.pages.groups.group_page import GroupPage
    from app.gui.pages.skill_list import SkillList


Kinds = dict[str, "DefinitionCommands[Any]"]
"""The commands of each kind, by the field in shared files that only this kind has, "" for none."""


class DefinitionCommands(Controller, Generic[Definition]):
    """Turns requests about definitions of one kind into tasks on the engine; requests chats with them.

    Of each kind: `NEW` is the text with the name of a new one, `BRING_IN` the title of the dialog that asks
    for a file, `MARK` its field in `Kinds`. `FIELDS` names the field beside which an error is shown, by its
    code; the default is the name.
    """

    NEW: str
    BRING_IN = "assistant.bring_in"
    MARK = ""
    FIELDS: ClassVar[Mapping[str, str]] = {}
    chat_requested = Signal(str)

    def __init__(self, parts: Parts[WindowFrame], definitions: Definitions[Definition], kinds: Kinds) -> None:
        super().__init__(replace(parts, tasks=Tasks(self._on_task_failed)))
        self.definitions: Definitions[Definition] = definitions
        self._kinds = kinds
        kinds[self.MARK] = self
        self._editors: list[DefinitionEditor[Definition]] = []
        self._unsaved: list[Edit[Definition]] = []
        self._all_saved = asyncio.Event()
        self._all_saved.set()
        # The edits about which the user is being asked, by the definition's id.
        self._asked: dict[str, Edit[Definition]] = {}

    async def close(self) -> None:
        """Save unsaved changes and cancel tasks."""
        # Nobody can be asked any more. What the user wrote is saved; the version before is kept.
        await self.settle(anyway=True)
        await self._tasks.close()

    async def settle(self, *, anyway: bool = False) -> None:
        """Save unsaved changes, and return when that is done; `anyway` also over other changes
        of the same fields.
        """
        for editor in self._editors:
            editor.save_now(anyway=anyway)
        await self._all_saved.wait()

    # To be implemented

    def show_page(self, definition_id: str) -> None:
        """Show a definition in its editor."""
        raise NotImplementedError

    def _name_it(self) -> None:
        """Focus the name of the definition shown, with its text selected."""
        raise NotImplementedError

    def _made(self, name: str) -> Definition:
        """Return a new definition."""
        raise NotImplementedError

    # Requests

    def make_new(self) -> None:
        """Make a definition, show it, and select its name to be typed."""
        self._tasks.start("new", self._show_to_name(self.make()))

    def duplicate(self, definition_id: str) -> None:
        """Copy a definition, show the copy, and select its name to be typed."""
        self._tasks.start(f"duplicate {definition_id}", self._show_to_name(self.copy(definition_id)))

    def delete(self, definition_id: str) -> None:
        """Delete a definition, and offer to restore it."""
        self._tasks.start(f"delete {definition_id}", self._delete(definition_id))

    def share(self, definition_id: str) -> None:
        """Ask where to save it, then write a definition as a file."""
        title, name = self._language("assistant.share"), self.definitions.find(definition_id).name

        def share(path: Path) -> None:
            self._tasks.start(f"share {path}", self._share(definition_id, path))

        ask_where(self._window, title, name, share)

    def bring_in(self) -> None:
        """Ask for a file of any kind, then show its definition and offer to import it."""
        title = self._language(self.BRING_IN)
        ask_for_file(self._window, title, lambda path: self._tasks.replace("bring in", self._preview(path)))

    def chat(self, definition_id: str) -> None:
        """Request a chat after unsaved changes are saved, so that it uses them."""
        request = partial(self.chat_requested.emit, definition_id)
        self._tasks.replace("chat", self._then(self.settle, request))

    def reorder(self, definition_ids: tuple[str, ...]) -> None:
        """Save the order of the definitions."""
        self._tasks.replace("order", self.definitions.reorder(definition_ids))

    async def make(self) -> Definition:
        """Save a new definition and return it."""
        await self.settle()
        return await self.definitions.save(self._made(self._free_name(self._language(self.NEW))))

    async def copy(self, definition_id: str) -> Definition:
        """Save a copy of a definition and return it."""
        await self.settle()
        name = self._language("assistant.copy_of", name=self.definitions.find(definition_id).name)
        return await self.definitions.duplicate(definition_id, self._free_name(name))

    async def keep(self, shared: Shared[Definition]) -> None:
        """Save a definition from a shared file under a free name, and show it."""
        await self._show(self._kept(shared))

    def _kept(self, shared: Shared[Definition]) -> Awaitable[Definition]:
        """Save a definition from a shared file under a free name and return it."""
        named = replace(shared.definition, name=self._free_name(shared.definition.name))
        return self.definitions.bring_in(replace(shared, definition=named))

    def built_in(self) -> frozenset[str]:
        """Return the ids of the built-in definitions."""
        return frozenset(item.id for item in self.definitions.all() if self.definitions.is_built_in(item.id))

    def adopt(self, editor: DefinitionEditor[Definition]) -> None:
        """Save what an editor asks to save, and show it the result."""

        def save(before: Definition, after: Definition, anyway: bool) -> None:
            self._save(Edit(before, after, anyway, editor))

        editor.save_requested.connect(save)
        editor.share_requested.connect(self.share)
        self._editors.append(editor)

    def _listen(self, partners: PartnerList) -> None:
        """Connect the requests of a list in the sidebar."""
        partners.edit_requested.connect(self.show_page)
        partners.duplicate_requested.connect(self.duplicate)
        partners.share_requested.connect(self.share)
        partners.delete_requested.connect(self.delete)
        partners.order_chosen.connect(self.reorder)

    async def _show(self, saving: Awaitable[Definition]) -> None:
        definition: Definition = await saving
        self.refresh()
        self.show_page(definition.id)

    async def _show_to_name(self, saving: Awaitable[Definition]) -> None:
        await self._show(saving)
        self._name_it()

    async def _delete(self, definition_id: str) -> None:
        # A later save would restore it.
        await self.settle()
        definition: Definition = self.definitions.find(definition_id)
        await self.definitions.delete(definition_id)
        restore = partial(self.definitions.restore, definition)
        self._offer_undo("assistant.deleted", restore, lasts=True, name=definition.name)

    async def _share(self, definition_id: str, path: Path) -> None:
        await self.settle()
        text = await self._engine.skills.packed(self.definitions.share(definition_id))
        await write_shared_file(self._toasts, self._language, path, text)

    async def _preview(self, path: Path) -> None:
        """Show the definition in a file. Raises BadInput."""
        from app.gui.dialogs.definition_dialogs import BringInDialog, preview_of

        text = await read_shared_file(path)
        document = read_document(text)
        commands = next((kind for mark, kind in self._kinds.items() if mark in document), self._kinds[""])
        shared = commands.definitions.read_shared(text)
        dialog = BringInDialog(self._language, self._look, preview_of(shared, self._language), self._window)
        sent = sent_skills(document, shared)
        dialog.open_for(lambda: self._start(self._keep_all(commands.keep(shared), sent)))

    async def _keep_all(self, saving: Awaitable[None], sent: Mapping[str, Contents]) -> None:
        """Save what is in a shared file and the skills that came with it, of which none is allowed."""
        added = await self._engine.skills.take(sent)
        await saving
        for problem in filter(None, (skill.problem for skill in added)):
            self._toasts.show_toast(self._language.problem(problem.code, **problem.details))

    def _free_name(self, name: str) -> str:
        return free_name(name, {item.name for item in self.definitions.all()})

    def _save(self, edit: "Edit[Definition]") -> None:
        """Save an edit after those that were made before."""
        self._unsaved.append(edit)
        self._all_saved.clear()
        self._tasks.start("save", self._save_all())

    async def _save_all(self) -> None:
        try:
            while self._unsaved:
                edit = self._unsaved.pop(0)
                try:
                    saved, joined = await self.definitions.edit(edit.before, edit.after, anyway=edit.anyway)
                except MootError as error:
                    self._on_save_failed(edit, error)
                    continue
                # The form does not show the changes of others.
                shown: Definition = edit.after if joined else saved
                for later in self._unsaved:
                    # It was written in the same form before this was saved.
                    if later.before is edit.before:
                        later.before = shown
                if edit.editor is not None:
                    edit.editor.show_saved(saved, shown)
        finally:
            self._unsaved.clear()
            self._all_saved.set()

    def _on_save_failed(self, edit: "Edit[Definition]", error: MootError) -> None:
        asks = error.code == CHANGED_ELSEWHERE
        text = self._language.problem(error.code, **error.details)
        if edit.editor is not None:
            place = self.FIELDS.get(error.code, "name")
            edit.editor.show_failure(edit.after.id, "" if asks else text, place)
        elif not asks:
            self._toasts.show_toast(text)
        if asks:
            self._ask(edit, text)

    def _ask(self, edit: "Edit[Definition]", text: str) -> None:
        """Ask which of two changes of the same field is to be kept; once, also
        where the user goes on writing.
        """
        from app.gui.dialogs.definition_dialogs import TwoChangesDialog

        definition_id: str = edit.after.id

        def answer(result: int) -> None:
            edit = self._asked.pop(definition_id)
            if result == TwoChangesDialog.DialogCode.Accepted:
                self._keep_mine(edit)
            elif result == TwoChangesDialog.OTHER:
                self._keep_other(edit)
            else:
                self._on_unanswered(edit)

        open_already = definition_id in self._asked
        self._asked[definition_id] = edit
        if not open_already:
            dialog = TwoChangesDialog(self._language, text, self._window)
            dialog.finished.connect(answer)
            dialog.open()

    def _keep_mine(self, edit: "Edit[Definition]") -> None:
        editor = edit.editor
        if editor is not None and editor.definition_id == edit.after.id:
            editor.save_now(anyway=True)
        else:
            self._save(replace(edit, anyway=True))

    def _keep_other(self, edit: "Edit[Definition]") -> None:
        stored: Definition | None = self.definitions.get(edit.after.id)
        if edit.editor is not None and stored is not None:
            edit.editor.use_stored(stored)

    def _on_unanswered(self, edit: "Edit[Definition]") -> None:
        """Leave it as it is: the form still shows what the user wrote."""

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._toasts.show_toast(self._language.problem(error.code, **error.details))


@dataclass(slots=True)
class Edit(Generic[Definition]):
    """What a form makes of a definition: from `before`, which it was filled from, to `after`.

    `anyway`: also over other changes of the same fields. `editor` is the form, None for a dialog.
    """

    before: Definition
    after: Definition
    anyway: bool = False
    editor: DefinitionEditor[Definition] | None = None


class AssistantCommands(DefinitionCommands[Agent]):
    """Makes, edits, copies, shares and deletes assistants."""

    NEW = "assistant.new"
    FIELDS: ClassVar = {"assistant_model": "model", "text_too_long": "instructions"}
    skills_seen = Signal(object)

    def __init__(self, parts: Parts[WindowFrame], kinds: Kinds) -> None:
        super().__init__(parts, parts.engine.assistants, kinds)
        self._page: AssistantsPage | None = None
        self._memory: QScrollArea | None = None
        # Those of the last ones to be added that were not taken.
        self._refused: dict[str, SeenSkill] = {}
        self._wire(parts.bridge)
        self.refresh()

    def adopt(self, editor: "AssistantEditor") -> None:
        super().adopt(editor)
        show, replace_task = self._show_versions, partial(self._tasks.replace, "versions")
        editor.versions_requested.connect(lambda agent_id: replace_task(show(editor, agent_id)))
        skills = editor.form.skills
        skills.asked.connect(partial(self._on_skill_asked, skills))
        self.skills_seen.connect(skills.set_skills)
        self._look_at_skills()

    def refresh(self) -> None:
        """Show the assistants, and the choices of their editor, as they are now."""
        agents, built_in = self.definitions.all(), self.built_in()
        side = self._window.side_bar
        side.assistants.fixed = built_in
        rows = assistant_partners(agents, self._engine.providers(), self._language)
        side.assistant_section.show_partners(rows)
        if self._page is not None:
            self._page.set_assistants(agents, built_in, self.choices())
        self._show_title()

    def show_page(self, definition_id: str = "") -> None:
        """Show the page of assistants, with one of them in the editor."""
        page = self._made_page()
        # What each model takes is shown once that is known.
        learn = self._engine.connections.learn_facts
        self._tasks.replace("model facts", self._then(learn, self.refresh))
        self._look_at_skills()
        page.show_assistant(definition_id)
        self._window.show_page(page, self._show_title)
        page.take_focus()

    async def keep(self, shared: Shared[Agent]) -> None:
        """Save an assistant from a shared file under its name there, and show it."""
        await self._show(self.definitions.bring_in(shared))

    def choices(self) -> "Choices":
        """Return the providers, tools, sub-agents and servers to choose from."""
        from app.gui.pages.assistants_page import Choices

        engine, agents = self._engine, self.definitions.all()
        providers, tools, servers = tuple(engine.providers()), engine.assistants.tools(), engine.servers.all()
        facts = engine.connections.known_facts
        return Choices(providers=providers, tools=tools, agents=agents, servers=servers, facts=facts)

    def _wire(self, bridge: Bridge) -> None:
        side, import_key = self._window.side_bar, "side.import_assistant"
        side.assistant_section.offer(("assistant.new", self.make_new), (import_key, self.bring_in))
        side.assistants.chat_requested.connect(self.chat_requested)
        self._listen(side.assistants)
        self._keep_fresh(bridge.assistants_changed)
        bridge.servers_changed.connect(self._on_servers_changed)
        for changed in (bridge.skills_changed, self._language.changed):
            changed.connect(lambda *_: self._look_at_skills())

    def _made_page(self) -> "AssistantsPage":
        """Return the page, made when it is first shown."""
        if self._page is None:
            from app.gui.pages.assistants_page import AssistantsPage

            page = AssistantsPage(self._language, self._look)
            page.new_requested.connect(self.make_new)
            page.bring_in_requested.connect(self.bring_in)
            page.cards.order_chosen.connect(self.reorder)
            page.cards.delete_requested.connect(self.delete)
            page.editor_made.connect(partial(self._adopt_editor, page))
            self._window.add_page(page)
            self._page = page
            self.refresh()
        return self._page

    def _adopt_editor(self, page: "AssistantsPage") -> None:
        editor, memory = page.editor, self._engine.memory
        editor.chat_requested.connect(self.chat)
        editor.duplicate_requested.connect(self.duplicate)
        self._run(editor.memory.written, lambda of, text: memory.edit(of, text, editor.definition_id))
        editor.memory.all_requested.connect(self.show_memory)
        self._wire_memory(editor.memory, partial(self._show_memory, editor), editor.shown)
        self.adopt(editor)

    def show_memory(self) -> None:
        """Show what is remembered for all assistants and folders."""
        if self._memory is None:
            section = MemorySection(self._language, self._look, "all_memory", everyone=True)
            body = frame("", hbox(section, margins=(24, 16, 24, 16)))
            self._memory = say(named("memory_page", scrolling(body)), self._language, name="memory.title")
            self._run(section.written, self._engine.memory.edit)
            show, folders = partial(self._show_all_notes, section), self._bridge.folders_changed
            self._wire_memory(section, show, folders, self._window.main_area.currentChanged)
            self._window.add_page(self._memory)
        self._window.show_page(self._memory, self._show_title)

    def _wire_memory(
        self,
        section: MemorySection,
        show: Callable[[], Coroutine[Any, Any, None]],
        *news: SignalInstance,
    ) -> None:
        """Show a memory as it is now, and let it be changed there."""
        bridge, name = self._bridge, section.objectName()
        self._answer_proposals(section.cards)
        self._run(section.delete_requested, self._delete_note)
        for each in (bridge.memory_changed, bridge.memory_proposed, bridge.assistants_changed, *news):
            each.connect(lambda *_: self._tasks.replace(name, show()))

    async def _show_all_notes(self, section: MemorySection) -> None:
        engine = self._engine
        if self._window.main_area.currentWidget() is not self._memory:
            return
        names = {agent.id: agent.name for agent in engine.assistants.all()}
        names |= {folder.id: folder.name for folder in engine.folders.all()}
        section.show_memory(engine.memory.all(), 0, names)
        section.cards.show_proposals(await engine.memory.open())

    async def _show_memory(self, editor: "AssistantEditor") -> None:
        memory, agent_id, section = self._engine.memory, editor.definition_id, editor.memory
        notes, agent = memory.of(agent=agent_id), self.definitions.get(agent_id)
        local = agent is not None and self._engine.model_of(agent).local
        section.show_memory(notes, memory.tokens(notes, local=local))
        found = [(live, each) for live, each in await memory.open() if each.author.id == agent_id]
        if editor.definition_id == agent_id:
            section.cards.show_proposals(found)

    async def _delete_note(self, note_id: str) -> None:
        self._offer_undo("memory.deleted", await self._engine.memory.remove(note_id), lasts=True)

    def _made(self, name: str) -> Agent:
        return Agent(id=new_id(), name=name, tools=(FILES, REMEMBER))

    def _name_it(self) -> None:
        self._made_page().editor.name_it()

    async def _show_versions(self, editor: "AssistantEditor", agent_id: str) -> None:
        await self.settle()
        versions = await self.definitions.versions(agent_id)
        if editor.definition_id == agent_id and editor.isVisible():
            editor.show_versions(versions)

    def _look_at_skills(self) -> None:
        """Show the skills as they are now, if anything shows some."""
        if self._editors:
            self._tasks.replace("skills", self._show_skills())

    async def _show_skills(self) -> None:
        self.skills_seen.emit((*await self._engine.skills.overview(), *self._refused.values()))

    def _on_skill_asked(self, skills: "SkillList", what: str, name: str) -> None:
        start, words = partial(self._tasks.start, f"skill {what}"), self._language
        if what == "folder":
            user_files.ask_for_folder(self._window, words("skill.add.folder"), self._add_skills)
        elif what == "zip":
            ask_for_file(self._window, words("skill.add.zip"), self._add_skills, "ZIP (*.zip)")
        elif what == "elsewhere":
            start(self._offer_skills(skills))
        elif what == "allow":
            allow = partial(self._engine.skills.allow, skills.seen(name).skill)
            start(self._then(allow, partial(skills.give, name)))
        elif what == "show":
            start(self._show_skill(name))
        elif self._refused.pop(name, None):
            self._look_at_skills()
        else:
            start(self._remove_skill(name))

    def _add_skills(self, path: str | Path) -> None:
        self._tasks.start("skill add", self._keep_skills(Path(path)))

    async def _keep_skills(self, path: Path) -> None:
        """Keep the skills of a folder or a zip; what is wrong with one is shown in its row."""
        try:
            added = await self._engine.skills.add(str(path))
        except BadInput as error:
            added = (Skill(name=path.name, problem=error),)
        refused = (skill for skill in added if skill.problem is not None)
        self._refused = {item.name: SeenSkill(skill=item, state=SkillState.REFUSED) for item in refused}
        self._look_at_skills()

    async def _offer_skills(self, skills: "SkillList") -> None:
        """Offer what other programs keep."""
        found = await self._engine.skills.elsewhere()
        if not found:
            self._toasts.show_toast(self._language("skill.elsewhere.none"))
            return
        menu = passing_menu(self._window, "skills_elsewhere")
        for skill in found:
            text = unmarked(f"{skill.name} · {exact(skill.place)}")
            menu.addAction(text, partial(self._add_skills, skill.place))
        menu.popup(skills.add.mapToGlobal(QPoint(0, skills.add.height())))

    async def _show_skill(self, name: str) -> None:
        from app.gui.dialogs.connect_dialogs import TextDialog

        skill, contents = await self._engine.skills.find(name)
        text = await asyncio.to_thread(whole_text, contents)
        TextDialog(self._language, "skill", exact(skill.title), text, self._window).open()

    async def _remove_skill(self, name: str) -> None:
        self._offer_undo("skill.removed", await self._engine.skills.remove(name), lasts=True, name=name)

    def _on_servers_changed(self) -> None:
        if self._page is not None:
            self._page.editor.set_choices(self.choices())

    def _show_title(self) -> None:
        shown = self._window.main_area.currentWidget()
        if shown is not None and shown in (self._page, self._memory):
            key = "side.assistants" if shown is self._page else "memory.title"
            self._window.top_bar.show_title(self._language(key))


Ids = tuple[str, ...]


class GroupCommands(DefinitionCommands[Group]):
    """Makes, edits, copies, shares and deletes groups."""

    NEW, BRING_IN, MARK = "group.new", "group.bring_in", "members"
    LED = ("assistant_model", "group_external_leader", "group_turns")
    FIELDS: ClassVar = dict.fromkeys(LED, "orchestrator") | {"group_members": "members"}

    def __init__(self, parts: Parts[WindowFrame], kinds: Kinds, assistants: AssistantCommands) -> None:
        super().__init__(parts, parts.engine.groups, kinds)
        self._assistants = assistants
        self._page: GroupPage | None = None
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
        shown = self.definitions.get(page.definition_id)
        if shown is not None:
            page.show_group(shown)
            self._show_title()
        elif page.definition_id:
            page.forget()
            if self._window.main_area.currentWidget() is page:
                # Nobody is left to write to.
                self.chat_requested.emit("")

    def show_page(self, definition_id: str, member: str = "") -> None:
        """Show the page of a group, with one of its members in the editor."""
        page = self._made_page()
        self._tasks.replace("model facts", self._engine.connections.learn_facts())
        page.show_group(self.definitions.find(definition_id), member)
        self._window.show_page(page, self._show_title)
        self._show_tools()
        page.form.cards.setFocus()

    def show_ready(self) -> None:
        """Let the user choose one of the built-in groups; then it is told what to do."""
        from app.gui.dialogs.definition_dialogs import ReadyGroupsDialog

        ready = self._engine.groups.ready_made()
        dialog = ReadyGroupsDialog(self._language, self._look, ready, self._window)
        dialog.open_for(self._starts(lambda stem: self._use(ready[stem])))

    async def _use(self, shared: Shared[Group]) -> None:
        group = await self._kept(shared)
        self.refresh()
        self.chat_requested.emit(group.id)

    def propose(self, task: str, request: ModelRequest, session_id: str) -> None:
        """Offer to have a model propose a group for a task, of a session where one is named, and then
        to make it.
        """
        from app.gui.dialogs.definition_dialogs import ProposalDialog

        words, groups, tasks = self._language, self._engine.groups, self._tasks
        dialog = ProposalDialog(words, self._look, request.model, self._assistants.choices(), self._window)

        async def show_price() -> None:
            money = price_text(words, await groups.proposal_price(request))
            dialog.price.setText(words("estimate.call", count=1, money=money))

        async def ask() -> None:
            proposed = await groups.propose(request, session_id)
            dialog.show_proposal(proposed)
            dialog.price.setText(most_text(words, await groups.price_of(proposed)))

        async def said(act: Callable[[], Awaitable[None]]) -> None:
            try:
                await act()
            except MootError as error:
                if not isValid(dialog):
                    # The user has closed it.
                    raise
                dialog.say(words.problem(error.code, **error.details), "error")

        make = partial(self._make_proposed, dialog, task if session_id else "")
        dialog.asked.connect(lambda: tasks.replace("propose", said(ask)))
        dialog.made.connect(lambda shared: tasks.start("make", said(partial(make, shared))))
        dialog.finished.connect(lambda _result: tasks.cancel("propose"))
        tasks.replace("propose", show_price())
        dialog.open()

    async def _make_proposed(self, dialog: "ProposalDialog", task: str, shared: Shared[Group]) -> None:
        """Make a proposed group with its new members, and show where the task is handed over to it."""
        known = {agent.id for agent in self._engine.assistants.all()}
        group = await self.definitions.bring_in(shared)
        self._offer_undo("propose.made", partial(self._take_back, group, known), name=group.name)
        if not isValid(dialog):
            # The user has closed it, and is elsewhere.
            return
        dialog.accept()
        draft = self._engine.drafts.of(NEW)
        if task not in draft.text:
            self._engine.drafts.keep(NEW, draft.led_by(task))
        self.chat_requested.emit(group.id)

    async def _take_back(self, group: Group, known: Collection[str]) -> None:
        """Delete a group and the members that were made with it."""
        await self.definitions.delete(group.id)
        for member in group.members:
            if member not in known:
                await self._engine.assistants.delete(member)

    def _wire(self, bridge: Bridge) -> None:
        side = self._window.side_bar
        new, ready = ("group.new", self.make_new), ("group.ready", self.show_ready)
        side.group_section.offer(new, ready, ("side.import_group", self.bring_in))
        side.groups.chat_requested.connect(self.chat)
        self._run(side.groups.given, self._add)
        self._listen(side.groups)
        self._keep_fresh(bridge.groups_changed, bridge.assistants_changed, bridge.servers_changed)
        self._window.main_area.currentChanged.connect(lambda _place: self._show_tools())

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
            page.editor_made.connect(partial(self._adopt_editor, page))
            self._window.add_page(page)
            self._page = page
            self.refresh()
        return self._page

    def _adopt_editor(self, page: "GroupPage") -> None:
        start = self._tasks.start
        page.editor.duplicate_requested.connect(
            lambda id_: start(f"copy {id_}", self._copy_member(page.definition_id, id_))
        )
        self._assistants.adopt(page.editor)

    def _made(self, name: str) -> Group:
        return Group(id=new_id(), name=name)

    def _name_it(self) -> None:
        self._made_page().name_it()

    async def _add(self, group_id: str, agent_ids: Sequence[str]) -> None:
        """Add assistants to a group, "" for a new one, and offer to take them out again."""
        if not group_id:
            made = await self.make()
            join = self.definitions.change(made.id, lambda group: replace(group, members=tuple(agent_ids)))
            await self._show_to_name(join)
            return
        group = self.definitions.find(group_id)
        added = [id_ for id_ in agent_ids if id_ not in group.members]

        def taken_out(members: Ids) -> Ids:
            return tuple(member for member in members if member not in added)

        await self._change_members(group_id, lambda members: (*taken_out(members), *added))
        names = ", ".join(self._engine.assistants.find(item).name for item in added)
        if added:
            take_out = partial(self._change_members, group_id, taken_out)
            self._offer_undo("group.added", take_out, group=group.name, names=names)
        else:
            self._toasts.show_toast(self._language("group.added.none", group=group.name))

    async def _make_member(self, group_id: str) -> None:
        """Make an assistant that is a member, and select its name to be typed."""
        agent = await self._assistants.make()
        await self._change_members(group_id, lambda members: (*members, agent.id))
        self.show_page(group_id, agent.id)
        self._made_page().editor.name_it()

    async def _copy_member(self, group_id: str, agent_id: str) -> None:
        """Replace a built-in member by a copy that can be edited."""
        copy = await self._assistants.copy(agent_id)
        ids = {agent_id: copy.id}
        await self._change_members(group_id, lambda members: tuple(ids.get(id_, id_) for id_ in members))
        self.show_page(group_id, copy.id)

    async def _put_back(self, group_id: str, agent_id: str, place: int) -> None:
        """Add a removed member again, at its place."""

        def with_it(members: Ids) -> Ids:
            return members if agent_id in members else (*members[:place], agent_id, *members[place:])

        await self._change_members(group_id, with_it)

    async def _change_members(self, group_id: str, change: Callable[[Ids], Ids]) -> None:
        await self.settle()
        await self.definitions.change(group_id, lambda group: replace(group, members=change(group.members)))
        self.refresh()

    def _on_member_removed(self, agent_id: str, place: int) -> None:
        group_id = self._made_page().definition_id
        member = self._engine.assistants.get(agent_id)
        name = member.name if member is not None else self._language("group.member.gone")
        self._offer_undo("group.removed", partial(self._put_back, group_id, agent_id, place), name=name)

    def _show_title(self) -> None:
        """Show the group's name in the top bar while its page is in front."""
        page, top = self._page, self._window.top_bar
        if page is not None and self._window.main_area.currentWidget() is page:
            top.show_title(page.title())
            top.mode.set_text(self._language("kind.group"))
            top.fit()

    def _show_tools(self) -> None:
        """Show the group's buttons in the top bar while its page is in front."""
        page = self._page if self._window.main_area.currentWidget() is self._page else None
        self._window.top_bar.show_page_tools(page.tools if page is not None else None)
        self._window.side_bar.groups.mark(page.definition_id if page is not None else "")
