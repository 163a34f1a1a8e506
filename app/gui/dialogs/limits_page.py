"""Tools and limits in the settings: where the web is searched, and what one message may cost."""

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.core.settings import Settings
from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.controls import Choice, NumberBox
from app.gui.widgets.label import Paragraph, plain_label

LIMITS = {
    "max_model_calls": 10_000,
    "max_tool_rounds": 10_000,
    "max_sub_agent_runs": 1_000,
    "max_minutes": 1_440,
}
MOST_USD = 1_000.0
ENGINES = ("duckduckgo", "searxng")


class LimitsPage(QWidget):
    """Shows and emits the settings of tools and budgets; 0 means no limit."""

    changed = Signal(object)

    def __init__(self, language: Language, look: Look, settings: Settings) -> None:
        super().__init__()
        self._language = language
        self._settings = settings
        self._search_label = plain_label("field")
        self.engine = Choice(look)
        self.engine.setObjectName("limits_engine")
        self.address = QLineEdit()
        self.address.setObjectName("limits_address")
        self.problem = plain_label("error")
        self._title = plain_label("field")
        self._lead = Paragraph("hint")
        self._labels = {name: plain_label("card_text") for name in (*LIMITS, "max_cost_usd")}
        self.numbers: dict[str, QSpinBox] = {name: NumberBox(name, 0, most) for name, most in LIMITS.items()}
        self.cost = QDoubleSpinBox()
        self.cost.setObjectName("max_cost_usd")
        self.cost.setRange(0, MOST_USD)
        self.cost.setDecimals(2)
        self.cost.setPrefix("$ ")
        self.cost.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.cost.setFixedWidth(90)
        self._lay_out()
        self._fill()
        self.engine.activated.connect(self._on_engine)
        self.address.editingFinished.connect(self._on_changed)
        for number in (*self.numbers.values(), self.cost):
            number.editingFinished.connect(self._on_changed)
        language.changed.connect(self.retranslate)
        self.retranslate()

    def retranslate(self) -> None:
        """Draw every word anew."""
        words, own = self._language, self._settings.search_engine.startswith("http")
        self._search_label.setText(words("limits.engine"))
        self.engine.setAccessibleName(words("limits.engine"))
        self.engine.clear()
        for name in ENGINES:
            self.engine.addItem(words(f"limits.engine.{name}"), name)
        self.engine.setCurrentIndex(1 if own else 0)
        self.address.setPlaceholderText(words("limits.address.hint"))
        self.address.setAccessibleName(words("limits.engine.searxng"))
        self._title.setText(words("limits.title"))
        self._lead.setText(words("limits.text"))
        for name, label in self._labels.items():
            label.setText(words(f"limits.{name}"))
        for name, number in {**self.numbers, "max_cost_usd": self.cost}.items():
            number.setAccessibleName(words(f"limits.{name}"))
            number.setSpecialValueText(words("limits.none"))

    def _lay_out(self) -> None:
        search = QHBoxLayout()
        search.addWidget(self.engine)
        search.addWidget(self.address, 1)
        search.addStretch(0)
        grid = QGridLayout()
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        for row, (name, label) in enumerate(self._labels.items()):
            grid.addWidget(label, row, 0)
            number = self.cost if name == "max_cost_usd" else self.numbers[name]
            number.setFixedWidth(90)
            grid.addWidget(number, row, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 14)
        column.setSpacing(10)
        column.addWidget(self._search_label)
        column.addLayout(search)
        column.addWidget(self.problem)
        column.addSpacing(6)
        column.addWidget(self._title)
        column.addWidget(self._lead)
        column.addLayout(grid)
        column.addStretch(1)

    def _fill(self) -> None:
        settings = self._settings
        own = settings.search_engine.startswith("http")
        self.address.setText(settings.search_engine if own else "")
        self.address.setVisible(own)
        for name, number in self.numbers.items():
            number.setValue(getattr(settings, name))
        self.cost.setValue(settings.max_cost_usd)

    def _on_engine(self) -> None:
        own = self.engine.currentData() == ENGINES[1]
        self.address.setVisible(own)
        if own:
            self.address.setFocus()
        self._on_changed()

    def _on_changed(self) -> None:
        engine = ENGINES[0]
        if self.engine.currentData() == ENGINES[1]:
            engine = self.address.text().strip()
            wrong = not engine.startswith(("http://", "https://"))
            self.problem.setText(self._language("limits.address.wrong") if wrong and engine else "")
            engine = self._settings.search_engine if wrong else engine
        settings = replace(
            self._settings,
            search_engine=engine,
            max_model_calls=self.numbers["max_model_calls"].value(),
            max_tool_rounds=self.numbers["max_tool_rounds"].value(),
            max_sub_agent_runs=self.numbers["max_sub_agent_runs"].value(),
            max_minutes=self.numbers["max_minutes"].value(),
            max_cost_usd=self.cost.value(),
        )
        if settings != self._settings:
            self._settings = settings
            self.changed.emit(settings)
