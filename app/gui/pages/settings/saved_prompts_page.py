"""The saved prompts in the settings."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.definitions import SavedPrompt
from app.engine.engine import Engine
from app.gui.dialogs.ask_dialogs import SavedPromptDialog, example
from app.gui.display.appearance import Language, Look
from app.gui.files.user_files import ask_for_file, ask_where, free_name, read_shared_file, write_shared_file
from app.gui.pages.settings.lists import TwoLineList
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.item_list import RowItem
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import Paragraph, say

SAVED_PROMPTS = "settings_saved_prompts"


class SavedPromptsPage(QWidget):
    """Lists the prompts; emits undo_offered(text, undo) after one was deleted. One of the program is edited as a copy."""

    undo_offered = Signal(str, object)

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks, toasts: Toasts) -> None:
        super().__init__()
        self._language, self._prompts = language, engine.saved_prompts
        self._tasks, self._toasts = tasks, toasts
        self.list = TwoLineList(look, f"{SAVED_PROMPTS}_list")
        new = button("link", f"{SAVED_PROMPTS}_new", lambda: self._edit(SavedPrompt(id="", name="", text="")))
        new.dress(look, "plus", "accent")
        say(new, language, "settings.saved_prompts.new")
        bring_in = button("link", f"{SAVED_PROMPTS}_import", self._ask_for_file)
        say(bring_in, language, "saved_prompt.import")
        self._delete, self._share, self._open = (
            say(button("", f"{SAVED_PROMPTS}_{name}", act), language, key)
            for name, act, key in (
                ("delete", self._on_delete, "saved_prompt.delete"),
                ("share", self._on_share, "saved_prompt.export"),
                ("edit", self._on_edit, "settings.edit"),
            )
        )
        self._lead = Paragraph("card_text")
        foot = hbox(new, bring_in, STRETCH, self._delete, self._share, self._open)
        vbox(self._lead, (self.list, 1), foot, inside=self, margins=(22, 14, 22, 14), spacing=10)
        self.list.activated.connect(lambda _index: self._on_edit())
        self.list.edit_requested.connect(lambda _id: self._on_edit())
        self.list.delete_requested.connect(lambda _id: self._on_delete())
        self.list.currentItemChanged.connect(lambda *_: self._fit())
        language.follow(self.refresh)

    def refresh(self) -> None:
        """Read the list again."""
        words = self._language
        self._lead.setText(words("settings.saved_prompts.text", example=example(words)))
        self.list.setAccessibleName(words("settings.saved_prompts"))
        prompts = self._prompts.all()
        built_in = self._prompts.is_built_in
        self.list.fixed = frozenset(prompt.id for prompt in prompts if built_in(prompt.id))
        self.list.show_rows(
            [RowItem(id=each.id, title=each.name, second=" ".join(each.text.split())) for each in prompts]
        )
        self._fit()

    def _fit(self) -> None:
        chosen = self.list.current_id()
        self._delete.setEnabled(bool(chosen) and chosen not in self.list.fixed)
        for one in (self._share, self._open):
            one.setEnabled(bool(chosen))

    def _on_edit(self) -> None:
        if chosen := self.list.current_id():
            prompt = self._prompts.find(chosen)
            self._edit(replace(prompt, id="", version=1) if chosen in self.list.fixed else prompt)

    def _edit(self, prompt: SavedPrompt) -> None:
        dialog = SavedPromptDialog(self._language, prompt, self.window())
        dialog.given.connect(lambda given: self._start(lambda: self._prompts.save(self._named(given))))
        dialog.open()

    def _named(self, prompt: SavedPrompt) -> SavedPrompt:
        """Return a new prompt under a name that no other one has."""
        taken = {one.name for one in self._prompts.all() if one.id != prompt.id}
        return replace(prompt, name=free_name(prompt.name, taken))

    def _start(self, work: Callable[[], Awaitable[object]]) -> None:
        async def then() -> None:
            await work()
            self.refresh()

        self._tasks.add("saved prompts", then())

    def _on_delete(self) -> None:
        prompt = self._prompts.find(self.list.current_id())

        async def undo() -> bool:
            await self._prompts.restore(prompt)
            self.refresh()
            return True

        self._start(lambda: self._prompts.delete(prompt.id))
        self.undo_offered.emit(self._language("assistant.deleted", name=prompt.name), undo)

    def _on_share(self) -> None:
        prompt = self._prompts.find(self.list.current_id())
        words, text = self._language, self._prompts.share(prompt.id)
        ask_where(
            self.window(),
            words("saved_prompt.export"),
            prompt.name,
            lambda path: self._start(partial(write_shared_file, self._toasts, words, path, text)),
        )

    def _ask_for_file(self) -> None:
        title = self._language("saved_prompt.import")
        ask_for_file(self.window(), title, lambda path: self._start(partial(self._bring_in, path)))

    async def _bring_in(self, path: Path) -> None:
        """Save the prompt of a file. Raises BadInput."""
        shared = self._prompts.read_shared(await read_shared_file(path))
        await self._prompts.save(self._named(shared.definition))
