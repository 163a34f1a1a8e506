"""The settings: kept, applied to the window, and changed in their dialog, from the palette or by a command."""

import contextlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal

from app.core.errors import MootError
from app.core.settings import Settings
from app.core.texts import next_language
from app.gui.controllers.controller import Controller, Parts
from app.gui.pages.settings.settings_dialog import SettingsDialog
from app.gui.widgets.model_choice import ModelButton
from app.gui.window_frame import WindowFrame

SAVE = "save settings"


class SettingsController(Controller):
    """Opens the dialog of the settings, applies what is chosen at once, and saves it.

    Signals: applied(Settings) for what is not the window's language or look, providers_changed(), saved(),
    partner_requested(kind, id) for an assistant, group or workflow to edit ("" for a new one),
    undo_left(text, what takes it back) when the dialog closed while it offered an undo.
    """

    applied = Signal(object)
    providers_changed = Signal()
    saved = Signal()
    partner_requested = Signal(str, str)
    undo_left = Signal(str, object)

    def __init__(self, parts: Parts[WindowFrame], data_dir: Path) -> None:
        super().__init__(parts)
        self._data_dir = data_dir
        self._unsaved: list[dict[str, Any]] = []
        self._quick_note, self._quick_fails = "", False

    def current(self) -> Settings:
        """Return the settings as they were last chosen, saved or not."""
        settings = self._engine.settings()
        for values in self._unsaved:
            settings = replace(settings, **values)
        return settings

    def shown(self) -> Settings:
        """Return the settings with the language and theme in use, which the command line may have chosen."""
        return replace(self.current(), language=self._language.wanted, theme=self._look.wanted)

    def open(self, page: str, provider_id: str = "", row: str = "") -> None:
        """Open the settings at a page, and there at a provider or at a setting."""
        window = self._window
        dialog = SettingsDialog(self._language, self._look, self._engine, self._data_dir, self.shown, window)
        dialog.show_quick_keys(self._quick_note, fails=self._quick_fails)
        dialog.show_page(page, provider_id, row)
        self._bridge.keys_changed.connect(dialog.show_keys)
        self._bridge.models_changed.connect(dialog.show_providers)
        self._bridge.voting_checked.connect(dialog.show_providers)
        self._bridge.model_fetching.connect(dialog.show_fetching)
        self._bridge.notice.connect(dialog.show_notice)
        dialog.settings_chosen.connect(self.change)
        dialog.providers_changed.connect(self.providers_changed)
        dialog.undo_left.connect(self.undo_left)
        dialog.partner_requested.connect(self.partner_requested)
        dialog.open()

    def show_problems(self) -> None:
        """Say that files could not be read, and offer to show them in the dialog."""
        problems = self._engine.problems()
        if problems:
            words, first = self._language, self._language.file_problem(problems[0])
            text = words("problems.found", count=len(problems), first=first)
            self._toasts.show_toast(text, words("toast.show"), lambda: self.open("data"), undoes=False)

    def show_quick_keys(self, text: str, *, fails: bool) -> None:
        """Say in the dialog where the keys of the quick chat work; `fails` if the desktop did not give those chosen."""
        self._quick_note, self._quick_fails = text, fails
        for dialog in self._window.findChildren(SettingsDialog):
            dialog.show_quick_keys(text, fails=fails)

    def change(self, values: dict[str, Any]) -> None:
        """Choose other values for some of the settings, by their names: apply and save them."""
        self._unsaved.append(values)
        settings = self.current()
        self.apply(settings)
        # What the command line chose for this run stays until another is chosen.
        if "language" in values:
            self._language.choose(settings.language)
        if "theme" in values:
            self._look.choose(settings.theme)
        self._tasks.start(SAVE, self._save())

    def keep_favourites(self, *lists: ModelButton) -> None:
        """Let lists of models begin with the user's favourites, and keep those that are chosen there."""
        for models in lists:
            models.favourites = lambda: self.current().favourite_models
            models.favourites_chosen.connect(lambda chosen: self.change({"favourite_models": chosen}))

    async def _save(self) -> None:
        """Save what was chosen, also what is chosen meanwhile."""
        try:
            while self._unsaved:
                values = self._unsaved[0]
                await self._engine.change_settings(partial(replace, **values))
                self._unsaved.remove(values)
                self.saved.emit()
        except MootError:
            self._unsaved.clear()
            raise

    def apply(self, settings: Settings) -> None:
        """Apply the settings that have no option on the command line."""
        self._look.choose_size(settings.text_size)
        self._look.choose_motion(settings.motion)
        self.applied.emit(settings)

    def switch_theme(self) -> None:
        """Change between light and dark."""
        self.change({"theme": "light" if self._look.tokens.dark else "dark"})

    def switch_language(self) -> None:
        """Change to the next language."""
        self.change({"language": next_language(self._language.name)})

    async def close(self) -> None:
        """Cancel the tasks of an open dialog, and save what was chosen last."""
        for dialog in self._window.findChildren(SettingsDialog):
            await dialog.tasks.close()
        self._tasks.cancel(SAVE)
        with contextlib.suppress(MootError):
            await self._save()
