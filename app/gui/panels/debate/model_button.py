"""The button that shows a model and opens the list of all models, grouped by provider."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from app.core.provider import ProviderStatus
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.controls import CHEVRON, ShorteningButton
from app.gui.widgets.model_choice import Facts
from app.gui.widgets.model_menu import ModelMenu


def model_text(language: Language, providers: Sequence[ProviderStatus], provider: str, model: str) -> str:
    """Return a model as `provider › model`, with the name of the provider where it is known."""
    status = next((one for one in providers if one.config.id == provider), None)
    return f"{language.provider(status) if status else provider} › {model}"


class ModelButton(ShorteningButton):
    """Shows a model as `provider › model`; emits `chosen` with the id of a provider and a model, and `opened` with its list.

    With `automatic`, the key of a text, the list begins with that, and two empty texts are emitted for it.
    """

    chosen = Signal(str, str)
    opened = Signal()

    def __init__(
        self,
        language: Language,
        look: Look,
        name: str,
        providers: Callable[[], Sequence[ProviderStatus]],
        facts: Facts,
        *,
        automatic: str = "",
    ) -> None:
        super().__init__("menu", name)
        self._language, self._look, self._automatic = language, look, automatic
        self._providers, self._facts = providers, facts
        self._shown = ("", "")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._open)
        # A method, which Qt disconnects when the button goes.
        language.changed.connect(self._retranslate)

    def show_model(self, provider: str, model: str) -> None:
        """Show a model; two empty texts are the automatic choice."""
        self._shown = (provider, model)
        words = self._language
        text = model_text(words, self._providers(), provider, model) if provider else words(self._automatic)
        self.show_words(text, short=model)

    def _retranslate(self) -> None:
        self.show_model(*self._shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        picture = self._look.picture("chevron-down", "text_2", CHEVRON, self.devicePixelRatioF())
        place = QPoint(self.width() - CHEVRON - 6, (self.height() - CHEVRON) // 2)
        QPainter(self).drawPixmap(place, picture)

    def _open(self) -> None:
        first = self._language(self._automatic) if self._automatic else ""
        menu = ModelMenu(
            self._language, self._look, self._providers(), self._facts, self._shown, self, first=first
        )
        menu.chosen.connect(self.chosen)
        menu.open(self)
        self.opened.emit()
