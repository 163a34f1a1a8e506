"""The dialog that asks with which model and effort an answer is made again."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.model_facts import Effort, ModelFacts
from app.core.provider import ProviderStatus
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Choice
from app.gui.widgets.model_choice import ModelChoice, efforts_of
from app.gui.widgets.text import Paragraph, named, plain_label


class OtherAnswerDialog(AskDialog):
    """Offers the models of ready providers, each with the efforts it takes; emits `chosen(provider, model, effort)`."""

    chosen = Signal(str, str, str)

    def __init__(
        self,
        words: Language,
        look: Look,
        ready: Sequence[ProviderStatus],
        facts: Callable[[str, str], ModelFacts],
        parent: QWidget,
    ) -> None:
        super().__init__(words, parent, "retry", words("retry.title"), ("go", words("transcript.retry")))
        self._facts = facts
        self._effort = str(Effort.AUTO)
        self.model = named("retry_model", ModelChoice(words, look, default=False))
        self.model.setAccessibleName(words("assistant.field.model"))
        self.model.set_providers(ready, facts)
        self.effort = named("retry_effort", Choice(look))
        self.effort.setAccessibleName(words("answers.effort"))
        self._effort_label = plain_label("hint", text=words("answers.effort"))
        self.model.changed.connect(self._show_efforts)
        self.effort.activated.connect(self._on_effort)
        self.arrange(
            self.heading,
            Paragraph("card_text", text=words("retry.text")),
            vbox(plain_label("field", text=words("assistant.field.model")), self.model, spacing=5),
            hbox(self._effort_label, self.effort, STRETCH, spacing=8),
            6,
        )
        self.resize(460, self.sizeHint().height())
        self.model.setFocus()

    def show_usual(self, provider: str, model: str, effort: str) -> None:
        """Show what the answer would be made with otherwise."""
        self._effort = effort
        self.model.show_model(provider, model)
        self.model.lineEdit().selectAll()
        self._show_efforts()

    def _show_efforts(self) -> None:
        """Offer the efforts of the model, and keep the one that was chosen where it is among them."""
        chosen = self.model.chosen()
        self.go.setEnabled(bool(chosen and chosen[1]))
        efforts = efforts_of(self._facts(*chosen)) if chosen else ()
        self.effort.clear()
        for one in (Effort.AUTO, *efforts):
            self.effort.addItem(self._words(f"answers.effort.{one}"), str(one))
        self.effort.setCurrentIndex(max(0, self.effort.findData(self._effort)))
        for part in (self.effort, self._effort_label):
            part.setVisible(bool(efforts))

    def _on_effort(self) -> None:
        self._effort = str(self.effort.currentData())

    def _on_go(self) -> None:
        chosen = self.model.chosen()
        if chosen and chosen[1]:
            self.accept()
            self.chosen.emit(*chosen, str(self.effort.currentData()))
