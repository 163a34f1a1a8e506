"""The button that shows a model and opens a menu of all models, grouped by provider."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy

from app.core.provider import ProviderStatus
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.controls import CHEVRON, ShorteningButton


class ModelButton(ShorteningButton):
    """Shows a model as `provider › model`; emits `chosen` with the id of a provider and a model.

    With `automatic`, the key of a text, the menu begins with that, and two empty texts are emitted for it.
    """

    chosen = Signal(str, str)

    def __init__(
        self,
        language: Language,
        look: Look,
        name: str,
        providers: Callable[[], Sequence[ProviderStatus]],
        *,
        automatic: str = "",
    ) -> None:
        super().__init__("menu", name)
        self._language, self._look, self._providers, self._automatic = language, look, providers, automatic
        self._shown = ("", "")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._open)
        language.changed.connect(lambda: self.show_model(*self._shown))

    def show_model(self, provider: str, model: str) -> None:
        """Show a model; two empty texts are the automatic choice."""
        self._shown = (provider, model)
        status = next((one for one in self._providers() if one.config.id == provider), None)
        label = self._language.provider(status) if status else provider
        text = f"{label} › {model}" if provider else self._language(self._automatic)
        self.show_words(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        picture = self._look.picture("chevron-down", "text_2", CHEVRON, self.devicePixelRatioF())
        place = QPoint(self.width() - CHEVRON - 6, (self.height() - CHEVRON) // 2)
        QPainter(self).drawPixmap(place, picture)

    def _open(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("model_menu")
        menu.aboutToHide.connect(menu.deleteLater)
        if self._automatic:
            self._add(menu, self._language(self._automatic), "", "")
        for status in self._providers():
            if status.ready and status.models:
                group = menu.addMenu(self._language.provider(status).replace("&", "&&"))
                for model in status.models:
                    self._add(group, model, status.config.id, model)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def _add(self, menu: QMenu, text: str, provider: str, model: str) -> None:
        action = menu.addAction(text.replace("&", "&&"), partial(self.chosen.emit, provider, model))
        action.setCheckable(True)
        action.setChecked((provider, model) == self._shown)
