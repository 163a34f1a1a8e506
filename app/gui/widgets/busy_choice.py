"""What happens to work that arrives while an assistant is busy (row W1). Used by the editor of assistants."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.agent import Busy
from app.engine.availability import (
    DEFAULT_DEPTH,
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_S,
    PARALLEL,
    QUEUE,
    REJECT,
    WAIT,
    policy_of,
)
from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.controls import Choice, NumberBox
from app.gui.widgets.label import plain_label

STRATEGIES = (WAIT, QUEUE, PARALLEL, REJECT)
MOST = 3_600


class BusyChoice(QWidget):
    """A strategy with its number, or that of the assistant's role; emits `changed`."""

    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._role = ""
        self._busy: Busy | None = None
        self.strategy = Choice(look)
        self.strategy.setObjectName("assistant_busy")
        self.number = NumberBox("assistant_busy_number", 1, MOST)
        self._unit = plain_label("hint")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget in (self.strategy, self.number, self._unit):
            row.addWidget(widget)
        row.addStretch(1)
        self.strategy.activated.connect(self._on_strategy)
        self.number.valueChanged.connect(lambda _value: self._on_number())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_busy(self, busy: Busy | None, role: str, *, fixed: bool) -> None:
        """Show what was chosen, None for what the role has; `fixed` when it can only be looked at."""
        self._busy, self._role = busy, role
        self.strategy.setEnabled(not fixed)
        self.number.setReadOnly(fixed)
        self._retranslate()

    def show_role(self, role: str) -> None:
        """Take note that the role is another."""
        self._role = role
        self._retranslate()

    def busy(self) -> Busy | None:
        """Return what is chosen, None for what the role has."""
        return self._busy

    def _on_strategy(self, _place: int) -> None:
        name = str(self.strategy.currentData() or "")
        defaults = {
            WAIT: Busy(strategy=WAIT, timeout_s=DEFAULT_TIMEOUT_S),
            QUEUE: Busy(strategy=QUEUE, depth=DEFAULT_DEPTH),
            PARALLEL: Busy(strategy=PARALLEL, limit=DEFAULT_LIMIT, depth=DEFAULT_DEPTH),
            REJECT: Busy(strategy=REJECT),
        }
        self._busy = defaults.get(name)
        self._show_number()
        self.changed.emit()

    def _on_number(self) -> None:
        if self._busy is not None:
            self._busy = _with_number(self._busy, self.number.value())
            self.changed.emit()

    def _show_number(self) -> None:
        policy = self._busy
        shown = policy is not None and policy.strategy != REJECT
        self.number.setVisible(shown)
        self._unit.setVisible(shown)
        if policy is None or not shown:
            return
        self.number.blockSignals(True)
        self.number.setValue(_number(policy))
        self.number.blockSignals(False)
        self._unit.setText(self._language(f"busy.unit.{policy.strategy}"))
        self.number.setAccessibleName(self._unit.text())

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
        self._show_number()


def _number(busy: Busy) -> int:
    """Return the number that goes with a strategy: seconds, places in the queue, or how many at once."""
    if busy.strategy == WAIT:
        return round(DEFAULT_TIMEOUT_S if busy.timeout_s is None else busy.timeout_s)
    if busy.strategy == PARALLEL:
        return busy.limit or DEFAULT_LIMIT
    return DEFAULT_DEPTH if busy.depth is None else busy.depth


def _with_number(busy: Busy, value: int) -> Busy:
    """Return a policy with another number; what else it says stays."""
    if busy.strategy == WAIT:
        return Busy(strategy=WAIT, timeout_s=float(value), depth=busy.depth, limit=busy.limit)
    if busy.strategy == PARALLEL:
        return Busy(strategy=PARALLEL, limit=value, depth=busy.depth, timeout_s=busy.timeout_s)
    return Busy(strategy=busy.strategy, depth=value, limit=busy.limit, timeout_s=busy.timeout_s)
