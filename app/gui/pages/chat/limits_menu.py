"""The button that says how far a run goes before it pauses, with the menu and the dialog that change it."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.settings import AN_HOUR, RunLimits, Settings
from app.core.usage import limits_text
from app.gui.dialogs.ask_dialogs import ValueDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.settings_rows import field_of
from app.gui.widgets.controls import MenuButton, ticked
from app.gui.widgets.text import plain_tip

NAMES = ("max_minutes", "max_model_calls", "max_cost_usd")


class LimitsButton(MenuButton):
    """Offers limits for one run; emits chosen(the RunLimits, None for those of the settings)."""

    chosen = Signal(object)

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__(look, "clock", name, chevron=False)
        self._language, self._look = language, look
        self._own: RunLimits | None = None
        self._usual: RunLimits | None = None
        self.choices.aboutToShow.connect(self._fill)

    @property
    def known(self) -> bool:
        """Whether the limits are known."""
        return self._usual is not None

    def show_limits(self, own: RunLimits | None, usual: RunLimits) -> None:
        """Set the limits of the run, None for the `usual` ones of the settings."""
        self._own, self._usual = own, usual

    def show_up_to(self, near: str) -> None:
        """Say how far the run goes; `near` says that it is almost there, "" that it is not."""
        words, limits = self._language, limits_text(self._language, self._chosen)
        tip = plain_tip(near or words("limits.tip"))
        self.show_words(words("limits.up_to", limits=limits), tip, short=limits)
        self.setProperty("tone", "warn" if near else "")
        self.style().polish(self)

    @property
    def _chosen(self) -> RunLimits:
        return self._own or self._usual or RunLimits()

    def _fill(self) -> None:
        words = self._language
        self.clear()
        for key, limits in (("limits.usual", None), ("limits.hour", AN_HOUR)):
            text = words(key, limits=limits_text(words, limits or self._usual or RunLimits()))
            ticked(self.choices, text, limits == self._own, partial(self.chosen.emit, limits))
        self.choices.addAction(words("limits.own"), self._ask)

    def _ask(self) -> None:
        dialog = LimitsDialog(self._language, self._look, self._chosen, self.window())
        dialog.given.connect(self.chosen)
        dialog.open()


class LimitsDialog(ValueDialog):
    """Asks for the limits of one run."""

    def __init__(self, words: Language, look: Look, before: RunLimits, parent: QWidget) -> None:
        super().__init__(words, parent, "limits", words("limits.title.run"), ("save", words("dialog.save")))
        self.before, settings = before, Settings().within(before)
        self.ask(*(field_of(words, look, name, getattr(settings, name)) for name in NAMES), width=440)
        self.form.fill(settings)

    def value(self) -> RunLimits:
        """Return the limits that are entered."""
        return replace(Settings(), **self.form.values()).limits
