"""Choices of how a model answers: effort, creativity and length, each with what the model takes."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.core.agent import Creativity, Length
from app.core.model_facts import Effort, ModelFacts, TakesTemperature
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Choice
from app.gui.widgets.label import plain_label

# What is offered of a model of which nothing is known.
USUAL_EFFORTS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)


def efforts_of(facts: ModelFacts) -> tuple[str, ...]:
    """Return the efforts to offer for a model, besides the automatic one."""
    return USUAL_EFFORTS if facts.efforts is None else facts.efforts


class AnswerStyleChoice(QWidget):
    """Three drop-down lists; those that the model does not take are hidden, and a hint says why. Emits `changed`.

    A value that the model does not take is kept until the user chooses another: the model may be changed back.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._facts = ModelFacts()
        self._values: dict[str, str] = {}
        self.effort, self.creativity, self.length = Choice(look), Choice(look), Choice(look)
        self._menus = {"effort": self.effort, "creativity": self.creativity, "length": self.length}
        self._labels = {name: plain_label("hint") for name in self._menus}
        self.hint = plain_label("hint", wrap=True)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(8)
        for name, menu in self._menus.items():
            menu.setObjectName(f"{name}_menu")
            menu.activated.connect(lambda _place, name=name: self._on_chosen(name))
            self._row.addLayout(hbox(self._labels[name], menu, STRETCH, spacing=8))
        self._row.addStretch(1)
        vbox(self._row, self.hint, inside=self, spacing=5)
        language.changed.connect(self._retranslate)
        self.show_style(Effort.AUTO, Creativity.AUTO, Length.AUTO)

    def set_across(self, across: bool) -> None:
        """Lay the lists out side by side, or one below the other."""
        down = QBoxLayout.Direction.TopToBottom
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if across else down)

    def show_style(self, effort: str, creativity: str, length: str, *, fixed: bool = False) -> None:
        """Show the values; `fixed` if they cannot be changed."""
        self._values = {"effort": effort, "creativity": creativity, "length": length}
        for menu in self._menus.values():
            menu.setEnabled(not fixed)
        self._retranslate()

    def show_facts(self, facts: ModelFacts) -> None:
        """Offer what the model takes."""
        if facts != self._facts:
            self._facts = facts
            self._retranslate()

    def values(self) -> dict[str, str]:
        """Return effort, creativity and length by these names."""
        return dict(self._values)

    def _on_chosen(self, name: str) -> None:
        self._values[name] = str(self._menus[name].currentData())
        self._retranslate()
        self.changed.emit()

    def _retranslate(self) -> None:
        words, facts = self._language, self._facts
        efforts = efforts_of(facts)
        takes_no_temperature = facts.temperature == TakesTemperature.NO
        thinks = facts.temperature == TakesTemperature.WITHOUT_EFFORT and facts.thinks_at(
            self._values["effort"]
        )
        self._fill("effort", (Effort.AUTO, *efforts) if efforts else ())
        self._fill("creativity", () if takes_no_temperature or thinks else tuple(Creativity))
        self._fill("length", tuple(Length))
        hints = [words("answers.no_effort")] if not efforts else []
        hints += [words("answers.no_creativity")] if takes_no_temperature else []
        hints += [words("answers.no_creativity_now")] if thinks else []
        self.hint.setText(" ".join(hints))
        self.hint.setVisible(bool(hints))

    def _fill(self, name: str, offered: Sequence[str]) -> None:
        menu, words = self._menus[name], self._language
        self._labels[name].setText(words(f"answers.{name}"))
        menu.setAccessibleName(words(f"answers.{name}"))
        menu.clear()
        for value in offered:
            menu.addItem(words(f"answers.{name}.{value}"), str(value))
        menu.setCurrentIndex(max(0, menu.findData(self._values[name])))
        for part in (menu, self._labels[name]):
            part.setVisible(bool(offered))
