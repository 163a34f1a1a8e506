"""The choice of a model: the default, those of each provider, or one that is typed in."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QCompleter, QSizePolicy, QStyledItemDelegate, QWidget

from app.core.provider import ProviderStatus
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.controls import Choice


class ModelChoice(Choice):
    """An editable list of models, as `provider/model`; emits `changed`."""

    changed = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self._language = language
        self._providers: Sequence[ProviderStatus] = ()
        self._offered: list[tuple[str, tuple[str, str]]] = []
        self._shown = ("", "")
        self._fixed = False
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaxVisibleItems(16)
        # Completion matches anywhere in a name: a server may list hundreds.
        finder = self.completer()
        finder.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        finder.setFilterMode(Qt.MatchFlag.MatchContains)
        finder.setMaxVisibleItems(12)
        finder.popup().setItemDelegate(QStyledItemDelegate(finder))
        self.editTextChanged.connect(lambda _text: self.changed.emit())

    def set_providers(self, providers: Sequence[ProviderStatus]) -> None:
        """Offer the models of providers, keeping the choice."""
        chosen, text = self.chosen(), self.currentText()
        self._providers = providers
        pairs = [(one.config.id, model) for one in providers if one.config.enabled for model in one.models]
        offered = [(self._text_of(*pair), pair) for pair in [("", ""), *pairs]]
        if offered == self._offered:
            # Do not disturb the user who types here.
            return
        self._offered = offered
        self.clear()
        for words, pair in offered:
            self.addItem(words, pair)
        self.setEditText(text if chosen is None else self._text_of(*chosen))
        if not self.hasFocus():
            self.lineEdit().setCursorPosition(0)

    def show_model(self, provider: str, model: str) -> None:
        """Show a choice; two empty texts mean the default model."""
        self._shown = (provider, model)
        self.setEditText(self._text_of(provider, model))
        self.lineEdit().setCursorPosition(0)

    def set_fixed(self, fixed: bool) -> None:
        """Make the choice read-only; a disabled one would be too faint to read."""
        self._fixed = fixed
        self.lineEdit().setReadOnly(fixed)

    def showPopup(self) -> None:
        if not self._fixed:
            super().showPopup()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Arrow keys would change the choice.
        if not self._fixed:
            super().keyPressEvent(event)

    def chosen(self) -> tuple[str, str] | None:
        """Return provider id and model, empty for the default, None if the text names no provider."""
        text = self.currentText().strip()
        if not text:
            return "", ""
        # The model shown may belong to a provider that is gone by now.
        for words, pair in [*self._offered, (self._text_of(*self._shown), self._shown)]:
            if text == words:
                return pair
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
