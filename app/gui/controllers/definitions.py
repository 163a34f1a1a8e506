"""The base of the controllers of assistants, groups and workflow definitions: make, edit, copy, delete, share."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

from PySide6.QtCore import Signal

from app.core.errors import MootError
from app.core.store import Definition
from app.engine.engine import Engine
from app.engine.library.definitions import Definitions, Shared, read_document
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller
from app.gui.files.shared_files import (
    ask_for_file,
    ask_where,
    free_name,
    read_shared_file,
    write_shared_file,
)
from app.gui.navigation.partner_list import PartnerList
from app.gui.tasks import Tasks
from app.gui.widgets.definition_editor import DefinitionEditor
from app.gui.window_frame import WindowFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionTexts:
    """The texts that differ between kinds of definitions.

    `new` is the name of a new one, `bring_in` the title of the dialog that asks for a file. `fields` names the field
    beside which an error is shown, by its code; the default is the name.
    """

    new: str
    bring_in: str
    fields: Mapping[str, str] = field(default_factory=dict)


class SharedKinds:
    """The kinds of definitions in shared files, each known by a field that only this kind has."""

    def __init__(self) -> None:
        self._commands: dict[str, DefinitionCommands[Any]] = {}

    def add(self, mark: str, commands: "DefinitionCommands[Any]") -> None:
        """Add a kind; the field "" is for the kind of files without such a field."""
        self._commands[mark] = commands

    def commands_for(self, text: str) -> "DefinitionCommands[Any]":
        """Return the commands for a file's kind. Raises BadInput if it is no shared file."""
        document = read_document(text)
        marked = (commands for mark, commands in self._commands.items() if mark in document)
        return next(marked, self._commands[""])


class DefinitionCommands(Controller, Generic[Definition]):
    """Turns requests about definitions of one kind into tasks on the engine; requests chats with them."""

    chat_requested = Signal(str)

    def __init__(
        self,
        window: WindowFrame,
        engine: Engine,
        bridge: Bridge,
        definitions: Definitions[Definition],
        texts: DefinitionTexts,
        shared: SharedKinds,
    ) -> None:
        super().__init__(window, engine, bridge, Tasks(self._on_task_failed))
        self.definitions: Definitions[Definition] = definitions
        self._texts = texts
        self._shared = shared
        self._editors: list[DefinitionEditor[Definition]] = []
        self._saves: SaveQueue[Definition] = SaveQueue(
            self._tasks, definitions.save, self._on_saved, self._on_save_failed
        )

    async def close(self) -> None:
        """Save unsaved changes and cancel tasks."""
        await self.settle()
        await self._tasks.close()

    async def settle(self) -> None:
        """Save unsaved changes, and return when that is done."""
        for editor in self._editors:
            editor.save_now()
        await self._saves.empty()

    # To be implemented

    def refresh(self) -> None:
        """Show the definitions as they are now."""
        raise NotImplementedError

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
        ask_where(
            self._window,
            self._language("assistant.share"),
            self.definitions.find(definition_id).name,
            lambda path: self._tasks.start(f"share {path}", self._share(definition_id, path)),
        )

    def bring_in(self) -> None:
        """Ask for a file of any kind, then show its definition and offer to import it."""
        title = self._language(self._texts.bring_in)
        ask_for_file(self._window, title, lambda path: self._tasks.replace("bring in", self._preview(path)))

    def chat(self, definition_id: str) -> None:
        """Request a chat after unsaved changes are saved, so that it uses them."""
        self._tasks.replace("chat", self._chat(definition_id))

    def reorder(self, definition_ids: tuple[str, ...]) -> None:
        """Save the order of the definitions."""
        self._tasks.replace("order", self.definitions.reorder(definition_ids))

    async def make(self) -> Definition:
        """Save a new definition and return it."""
        await self.settle()
        return await self.definitions.save(self._made(self._free_name(self._language(self._texts.new))))

    async def copy(self, definition_id: str) -> Definition:
        """Save a copy of a definition and return it."""
        await self.settle()
        name = self._language("assistant.copy_of", name=self.definitions.find(definition_id).name)
        return await self.definitions.duplicate(definition_id, self._free_name(name))

    async def keep(self, shared: Shared[Definition]) -> None:
        """Save a definition from a shared file under a free name, and show it."""
        named = replace(shared.definition, name=self._free_name(shared.definition.name))
        await self._show_to_name(self.definitions.bring_in(replace(shared, definition=named)))

    def built_in(self) -> frozenset[str]:
        """Return the ids of the built-in definitions."""
        return frozenset(one.id for one in self.definitions.all() if self.definitions.is_built_in(one.id))

    def adopt(self, editor: DefinitionEditor[Definition]) -> None:
        """Save what an editor asks to save, and show it the result."""
        editor.save_requested.connect(self._saves.add)
        editor.share_requested.connect(self.share)
        self._editors.append(editor)

    def _listen(self, partners: PartnerList) -> None:
        """Connect the requests of a list in the side bar."""
        partners.edit_requested.connect(self.show_page)
        partners.duplicate_requested.connect(self.duplicate)
        partners.share_requested.connect(self.share)
        partners.delete_requested.connect(self.delete)
        partners.order_chosen.connect(self.reorder)

    async def _show_to_name(self, saving: Awaitable[Definition]) -> None:
        definition: Definition = await saving
        self.refresh()
        self.show_page(definition.id)
        self._name_it()

    async def _delete(self, definition_id: str) -> None:
        # A later save would restore it.
        await self.settle()
        definition: Definition = self.definitions.find(definition_id)
        await self.definitions.delete(definition_id)
        self._offer_undo(
            self._language("assistant.deleted", name=definition.name),
            lambda: self._tasks.start(f"restore {definition_id}", self.definitions.restore(definition)),
        )

    async def _share(self, definition_id: str, path: Path) -> None:
        await self.settle()
        text = self.definitions.share(definition_id)
        await write_shared_file(self._toasts, self._language, path, text)

    async def _preview(self, path: Path) -> None:
        """Show the definition in a file. Raises BadInput."""
        from app.gui.dialogs.definition_dialogs import BringInDialog, preview_of

        text = await read_shared_file(path)
        commands = self._shared.commands_for(text)
        shared = commands.definitions.read_shared(text)
        dialog = BringInDialog(self._language, self._look, preview_of(shared, self._language), self._window)
        dialog.accepted.connect(lambda: self._tasks.start("keep what came in", commands.keep(shared)))
        dialog.open()

    async def _chat(self, definition_id: str) -> None:
        await self.settle()
        self.chat_requested.emit(definition_id)

    def _free_name(self, name: str) -> str:
        return free_name(name, {one.name for one in self.definitions.all()})

    def _on_saved(self, definition: Definition) -> None:
        for editor in self._editors:
            editor.show_saved(definition)

    def _on_save_failed(self, definition_id: str, error: MootError) -> None:
        text = self._language.problem(error.code, **error.details)
        for editor in self._editors:
            editor.show_failure(definition_id, text, self._texts.fields.get(error.code, "name"))

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._toasts.show_toast(self._language.problem(error.code, **error.details))


class SaveQueue(Generic[Definition]):
    """Saves the newest version of each definition; reports the result to `on_saved` or `on_failed`."""

    def __init__(
        self,
        tasks: Tasks,
        save: Callable[[Definition], Awaitable[Definition]],
        on_saved: Callable[[Definition], None],
        on_failed: Callable[[str, MootError], None],
    ) -> None:
        self._tasks = tasks
        self._save: Callable[[Definition], Awaitable[Definition]] = save
        self._on_saved: Callable[[Definition], None] = on_saved
        self._on_failed = on_failed
        self._unsaved: dict[str, Definition] = {}
        self._saving: set[str] = set()
        self._all_saved = asyncio.Event()
        self._all_saved.set()

    def add(self, definition: Definition) -> None:
        """Save a definition, replacing an unsaved version of it."""
        self._unsaved[definition.id] = definition
        self._all_saved.clear()
        self._tasks.start(f"save {definition.id}", self._save_newest(definition.id))

    async def empty(self) -> None:
        """Return when nothing is left to save."""
        await self._all_saved.wait()

    async def _save_newest(self, definition_id: str) -> None:
        """Save a definition, again if it has changed meanwhile."""
        self._saving.add(definition_id)
        try:
            while (definition := self._unsaved.pop(definition_id, None)) is not None:
                try:
                    self._on_saved(await self._save(definition))
                except MootError as error:
                    self._on_failed(definition_id, error)
        finally:
            self._saving.discard(definition_id)
            self._unsaved.pop(definition_id, None)
            if not self._unsaved and not self._saving:
                self._all_saved.set()
