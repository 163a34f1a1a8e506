"""The choice of the busy policy of an assistant: what happens to work that arrives while it is busy."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.agent import Busy
from app.engine.availability.policies import (
    DEFAULT_DEPTH,
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_S,
    Strategy,
    policy_of,
)
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import vbox
from app.gui.widgets.controls import Choice, NumberBox
from app.gui.widgets.text import plain_label

STRATEGIES = (Strategy.WAIT, Strategy.QUEUE, Strategy.PARALLEL, Strategy.REJECT)
MOST = 3_600


class BusyChoice(QWidget):
    """A strategy with its numbers, or that of the assistant's role; emits `changed`.

    The parallel strategy has two numbers: how many run, and how many more may wait.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._role = ""
        self._busy: Busy | None = None
        self.strategy = Choice(look)
        self.strategy.setObjectName("assistant_busy")
        self.number = NumberBox("assistant_busy_number", 0, MOST)
        self.places = NumberBox("assistant_busy_depth", 0, MOST)
        self._number_labels = plain_label("hint"), plain_label("hint")
        self._places_labels = plain_label("hint"), plain_label("hint")
        column = vbox(inside=self, spacing=5)
        number_row, places_row = QHBoxLayout(), QHBoxLayout()
        number_row.addWidget(self.strategy)
        for row, box, (before, after) in (
            (number_row, self.number, self._number_labels),
            (places_row, self.places, self._places_labels),
        ):
            row.setSpacing(8)
            for widget in (before, box, after):
                row.addWidget(widget)
            row.addStretch(1)
            column.addLayout(row)
        self.strategy.activated.connect(self._on_strategy)
        self.number.valueChanged.connect(lambda _value: self._on_number())
        self.places.valueChanged.connect(lambda _value: self._on_depth())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_busy(self, busy: Busy | None, role: str, *, fixed: bool) -> None:
        """Show a policy, None for that of the role; `fixed` if it cannot be changed."""
        self._busy, self._role = busy, role
        self.strategy.setEnabled(not fixed)
        for box in (self.number, self.places):
            box.setReadOnly(fixed)
        self._retranslate()

    def show_role(self, role: str) -> None:
        """Set the role."""
        self._role = role
        self._retranslate()

    def busy(self) -> Busy | None:
        """Return the chosen policy, None for that of the role."""
        return self._busy

    def _on_strategy(self, _place: int) -> None:
        name = str(self.strategy.currentData() or "")
        defaults: dict[str, Busy] = {
            Strategy.WAIT: Busy(strategy=Strategy.WAIT, timeout_s=DEFAULT_TIMEOUT_S),
            Strategy.QUEUE: Busy(strategy=Strategy.QUEUE, depth=DEFAULT_DEPTH),
            Strategy.PARALLEL: Busy(strategy=Strategy.PARALLEL, limit=DEFAULT_LIMIT, depth=DEFAULT_DEPTH),
            Strategy.REJECT: Busy(strategy=Strategy.REJECT),
        }
        self._busy = defaults.get(name)
        self._show_numbers()
        self.changed.emit()

    def _on_number(self) -> None:
        if self._busy is not None:
            self._busy = _with_number(self._busy, self.number.value())
            self.changed.emit()

    def _on_depth(self) -> None:
        if self._busy is not None:
            self._busy = replace(self._busy, depth=self.places.value())
            self.changed.emit()

    def _show_numbers(self) -> None:
        policy = self._busy
        shown = policy is not None and policy.strategy != Strategy.REJECT
        parallel = policy is not None and policy.strategy == Strategy.PARALLEL
        self.number.setVisible(shown)
        self.places.setVisible(parallel)
        for label in (*self._number_labels, *self._places_labels):
            label.hide()
        if policy is None or not shown:
            return
        for box, labels, value, key in (
            (self.number, self._number_labels, _number(policy), policy.strategy),
            (self.places, self._places_labels, _depth(policy), Strategy.QUEUE),
        ):
            box.blockSignals(True)
            # At least one runs; none may wait, and for no second.
            box.setMinimum(1 if key == Strategy.PARALLEL else 0)
            box.setValue(value)
            box.blockSignals(False)
            text = self._language(f"busy.unit.{key}")
            for label, part in zip(labels, text.split("{}"), strict=True):
                label.setText(part.strip())
                label.setVisible(bool(part) and not box.isHidden())
            box.setAccessibleName(text.replace("{}", "").strip())

    def _retranslate(self) -> None:
        words = self._language
        self.strategy.clear()
        usual = policy_of(None, self._role).strategy
        self.strategy.addItem(words("busy.by_role", strategy=words(f"busy.strategy.{usual}")), "")
        for name in STRATEGIES:
            self.strategy.addItem(words(f"busy.do.{name}"), name)
        chosen = self._busy.strategy if self._busy else ""
        self.strategy.setCurrentIndex(max(0, self.strategy.findData(chosen)))
        self.strategy.setAccessibleName(words("assistant.field.busy"))
        self._show_numbers()


def _number(busy: Busy) -> int:
    """Return the first number of a strategy: seconds, places in the queue, or how many run at once."""
    if busy.strategy == Strategy.WAIT:
        return round(DEFAULT_TIMEOUT_S if busy.timeout_s is None else busy.timeout_s)
    if busy.strategy == Strategy.PARALLEL:
        return busy.limit or DEFAULT_LIMIT
    return _depth(busy)


def _depth(busy: Busy) -> int:
    return DEFAULT_DEPTH if busy.depth is None else busy.depth


def _with_number(busy: Busy, value: int) -> Busy:
    """Return a policy with another first number."""
    if busy.strategy == Strategy.WAIT:
        return replace(busy, timeout_s=float(value))
    return replace(busy, limit=value) if busy.strategy == Strategy.PARALLEL else replace(busy, depth=value)
