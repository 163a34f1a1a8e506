"""Prompts that the user keeps: offers them in the message boxes after a /, and writes the one that is chosen."""

from functools import partial

from app.core.errors import MootError
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.controller import PageController
from app.gui.dialogs.prompt_dialogs import VariablesDialog
from app.gui.pages.chat.chat_composer import ChatComposer
from app.gui.pages.chat.message_box import MessageBox
from app.gui.tasks import Tasks
from app.gui.window_frame import AppWindow


class SavedPromptController(PageController):
    """Answers a / in the message boxes."""

    def __init__(
        self, window: AppWindow, engine: Engine, bridge: Bridge, tasks: Tasks, *composers: ChatComposer
    ) -> None:
        super().__init__(window, engine, bridge, tasks)
        self._boxes = tuple(composer.message_box for composer in composers)
        for box in self._boxes:
            box.prompt_chosen.connect(partial(self._on_chosen, box))
        bridge.saved_prompts_changed.connect(lambda _event: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Offer the prompts there are now."""
        names = tuple(one.name for one in self._engine.saved_prompts.all())
        for box in self._boxes:
            box.set_prompts(names)

    def _on_chosen(self, box: MessageBox, name: str) -> None:
        try:
            prompt = self._engine.saved_prompts.find(name)
        except MootError as error:
            self._toasts.show_toast(self._language.problem(error.code, **error.details))
            return
        if not prompt.variables:
            self._write(box, prompt.text)
            return
        dialog = VariablesDialog(self._language, prompt, self._window)
        dialog.filled.connect(partial(self._write, box))
        dialog.open()

    def _write(self, box: MessageBox, text: str) -> None:
        """Put a text in the place of what called it."""
        box.selectAll()
        box.insertPlainText(text)
        box.setFocus()
