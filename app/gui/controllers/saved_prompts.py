"""Prompts that the user keeps: offers them in the message boxes after a /, and writes the one that is chosen."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal

from app.core.saved_prompt import SavedPrompt, ServerPrompt
from app.gui.controllers.controller import PageController, Parts
from app.gui.dialogs.palette_entry import PROMPT, PaletteCommand
from app.gui.dialogs.prompt_dialogs import VariablesDialog
from app.gui.pages.chat.chat_composer import ChatComposer
from app.gui.pages.chat.message_box import MessageBox
from app.gui.window_frame import AppWindow


class SavedPromptController(PageController):
    """Answers a / in the message boxes.

    Signals: files_given(attachments) that came with a prompt, new_requested() where there is no message box in front.
    """

    files_given = Signal(object)
    new_requested = Signal()

    def __init__(self, parts: Parts[AppWindow], *composers: ChatComposer) -> None:
        super().__init__(parts)
        self._boxes = tuple(composer.message_box for composer in composers)
        for box in self._boxes:
            box.prompt_chosen.connect(partial(self._on_chosen, box))
        self._prompts: dict[str, SavedPrompt] = {}
        parts.bridge.saved_prompts_changed.connect(lambda _event: self.refresh())
        parts.bridge.servers_changed.connect(lambda _event: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Offer the prompts there are now, those of the connected MCP servers last."""
        prompts = (*self._engine.saved_prompts.all(), *self._engine.servers.prompts())
        self._prompts = {}
        for one in prompts:
            self._prompts.setdefault(one.name, one)
        for box in self._boxes:
            box.set_prompts(tuple(self._prompts))

    def commands(self) -> list[PaletteCommand]:
        """Return the prompts as entries of the palette; each is written into the message box in front."""
        return [
            PaletteCommand(text=name, icon="file-text", act=partial(self._call, name), section=PROMPT)
            for name in self._prompts
        ]

    def _call(self, name: str) -> None:
        shown = [box for box in self._boxes if box.isVisible()]
        if not shown:
            self.new_requested.emit()
            shown = [box for box in self._boxes if box.isVisible()]
        if shown:
            self._on_chosen(shown[0], name)

    def _on_chosen(self, box: MessageBox, name: str) -> None:
        prompt = self._prompts.get(name)
        if prompt is None or not prompt.variables:
            self._start(self._take(box, name, prompt, {}))
            return
        dialog = VariablesDialog(self._language, prompt, self._window)
        dialog.given.connect(lambda values: self._start(self._take(box, name, prompt, values)))
        dialog.open()

    async def _take(
        self, box: MessageBox, name: str, prompt: SavedPrompt | None, values: Mapping[str, str]
    ) -> None:
        if isinstance(prompt, ServerPrompt):
            text, files = await self._engine.servers.prompt(prompt, values)
        else:
            text, files = self._engine.saved_prompts.find(name).filled(values), ()
        self._write(box, text)
        if files:
            self.files_given.emit(files)

    def _write(self, box: MessageBox, text: str) -> None:
        """Put a text in the place of what called it."""
        box.selectAll()
        box.insertPlainText(text)
        box.setFocus()
