"""The choice of a model: the default one, those of each provider, or one that is written in."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from app.core.provider import ProviderStatus
from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.controls import Choice


class ModelChoice(Choice):
    """A list of models one can also write into, as `provider/model`; emits `changed`."""

    changed = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self._language = language
        self._providers: Sequence[ProviderStatus] = ()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaxVisibleItems(16)
        self.activated.connect(lambda _index: self.changed.emit())
        self.lineEdit().textEdited.connect(lambda _text: self.changed.emit())

    def set_providers(self, providers: Sequence[ProviderStatus]) -> None:
        """Offer the models of these providers, keeping what is chosen."""
        text = self.currentText()
        self._providers = providers
        self.clear()
        self.addItem(self._language("assistant.model.default"), ("", ""))
        for status in providers:
            if status.config.enabled:
                for model in status.models:
                    self.addItem(self._text_of(status.config.id, model), (status.config.id, model))
        self.setEditText(text)

    def show_model(self, provider: str, model: str) -> None:
        """Show a choice; both are empty for the default model."""
        self.setEditText(self._text_of(provider, model))
        self.lineEdit().setCursorPosition(0)

    def chosen(self) -> tuple[str, str] | None:
        """Return provider and model, empty for the default; None where the words name no provider."""
        text = self.currentText().strip()
        if not text or text == self._language("assistant.model.default"):
            return "", ""
        before, slash, after = text.partition("/")
        name, model = before.strip().casefold(), after.strip()
        for status in self._providers:
            names = (status.config.id, status.label, self._language.provider(status))
            if slash and model and name in [one.casefold() for one in names]:
                return status.config.id, model
        return None

    def _text_of(self, provider: str, model: str) -> str:
        if not provider:
            return self._language("assistant.model.default")
        status = next((one for one in self._providers if one.config.id == provider), None)
        return f"{self._language.provider(status) if status else provider} / {model}"
