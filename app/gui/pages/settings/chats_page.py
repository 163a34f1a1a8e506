"""The settings of chats: their rows, which providers may read any session, and who writes titles and summaries."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QVBoxLayout

from app.core.catalog import provider_kind
from app.core.provider import ProviderStatus
from app.core.settings import Settings
from app.core.text import exact
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.settings_rows import SettingsPage
from app.gui.widgets.boxes import vbox
from app.gui.widgets.controls import Choice, TickBox
from app.gui.widgets.text import Paragraph, named, plain_label, say


class ChatsPage(SettingsPage):
    """Shows the settings of chats."""

    def __init__(
        self,
        language: Language,
        look: Look,
        settings: Callable[[], Settings],
        providers: Callable[[], list[ProviderStatus]],
    ) -> None:
        super().__init__(language, look, settings, "chats", ("may_read_any", "helper_model"))
        self._look, self._providers = look, providers
        self.helper = say(named("setting_helper_model", Choice(look)), language, name="setting.helper_model")
        self.ticks: dict[str, TickBox] = {}
        self._ticks = QVBoxLayout()
        vbox(
            self.rows,
            6,
            say(plain_label("field"), language, "setting.helper_model"),
            say(Paragraph("hint"), language, "setting.helper_model.hint"),
            self.helper,
            6,
            say(plain_label("field"), language, "setting.may_read_any"),
            say(Paragraph("hint"), language, "setting.may_read_any.hint"),
            self._ticks,
            inside=self,
            spacing=8,
        )
        self.helper.activated.connect(lambda _row: self._choose("helper_model", self.helper.currentData()))
        language.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the current settings, and the providers as they are now."""
        super().refresh()
        settings, words = self._settings(), self._language
        ready = [one for one in self._providers() if one.ready and not _guided(one)]
        offered = {
            f"{one.config.id}/{model}": f"{words.provider(one)} – {model}"
            for one in ready
            for model in one.models
        }
        with QSignalBlocker(self.helper):
            self.helper.clear()
            self.helper.addItem(words("setting.helper_model.own"), "")
            for name, text in offered.items():
                self.helper.addItem(exact(text), name)
            if settings.helper_model and settings.helper_model not in offered:
                self.helper.addItem(exact(settings.helper_model), settings.helper_model)
            self.helper.setCurrentIndex(max(0, self.helper.findData(settings.helper_model)))
        for one in ready:
            if one.config.id not in self.ticks:
                self._add_tick(one)
        for provider_id, tick in self.ticks.items():
            with QSignalBlocker(tick):
                tick.setChecked(provider_id in settings.may_read_any)

    def _add_tick(self, status: ProviderStatus) -> None:
        provider_id = status.config.id
        tick = named(f"may_read_{provider_id}", TickBox(self._look))
        tick.setText(self._language.provider(status).replace("&", "&&"))
        tick.toggled.connect(lambda on: self._on_tick(provider_id, on))
        self.ticks[provider_id] = tick
        self._ticks.addWidget(tick)

    def _on_tick(self, provider_id: str, on: bool) -> None:
        ticked = {*self._settings().may_read_any, provider_id} - ({provider_id} if not on else set())
        self._choose("may_read_any", tuple(sorted(ticked)))

    def _choose(self, name: str, value: object) -> None:
        if value != getattr(self._settings(), name):
            self.chosen.emit({name: value})


def _guided(status: ProviderStatus) -> bool:
    kind = provider_kind(status.config.kind)
    return kind is not None and kind.guided
