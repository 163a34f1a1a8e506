"""A plan as a list that a person edits: tick, rewrite, move, strike out, add at the end.

Used by the orchestrator's box and by the plan's panel; one Tab stop, then the arrows.
"""

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.core.plan import Plan, PlanItem
from app.engine.group.commands import MAX_ITEM, MAX_ITEMS
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.controls import bring_into_sight
from app.gui.widgets.plan_row import PlanRow


class PlanList(QWidget):
    """Shows a plan's items and lets them be changed.

    Signals: plan_requested(plan) with the plan as it shall be, item_removed(item, place), stops_changed()
    when there are more rows than before.
    """

    plan_requested = Signal(object)
    item_removed = Signal(object, int)
    stops_changed = Signal()

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._language = language
        self._look = look
        self._plan = Plan()
        self._rows: list[PlanRow] = []
        self._add = QLineEdit()
        self._add.setObjectName(f"{name}_add")
        self._add.setProperty("kind", "name")
        self._add.setMaxLength(MAX_ITEM)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._add)
        self._column.addStretch(1)
        self._add.returnPressed.connect(self._on_added)
        language.changed.connect(self._refresh)
        self._refresh()

    def show_plan(self, plan: Plan | None, *, editable: bool) -> None:
        """Show a plan; a row keeps its focus and what is being written in it."""
        plan = plan or Plan()
        self._add.setVisible(editable and len(plan.items) < MAX_ITEMS)
        self.setEnabled(editable)
        if plan != self._plan:
            self._plan = plan
            self._refresh()

    def stops(self) -> tuple[QWidget, ...]:
        """Return what can have the focus, in order."""
        return *self._rows, self._add

    def rows(self) -> tuple[PlanRow, ...]:
        """Return the rows in order."""
        return tuple(self._rows)

    def _refresh(self) -> None:
        items, focused, before = self._plan.items, self._focused(), len(self._rows)
        while len(self._rows) > len(items):
            row = self._rows.pop()
            row.hide()
            row.deleteLater()
        if len(self._rows) < len(items):
            self._rows += [self._make_row(place) for place in range(len(self._rows), len(items))]
        current = next((place for place, item in enumerate(items) if not item.done), -1)
        for place, (row, item) in enumerate(zip(self._rows, items, strict=True)):
            row.show_item(item, place, len(items), current=place == current)
        self._add.setPlaceholderText(self._language("plan.add"))
        self._add.setAccessibleName(self._language("plan.add"))
        self._let_tab_stop_at(min(max(0, focused), len(items) - 1))
        if len(self._rows) > before:
            self.stops_changed.emit()
        if focused >= len(items):
            (self._rows[-1] if self._rows else self._add).setFocus()

    def _make_row(self, place: int) -> PlanRow:
        row = PlanRow(self._language, self._look)
        self._column.insertWidget(place, row)
        row.ticked.connect(lambda: self._on_ticked(row))
        row.rewritten.connect(lambda before, text: self._on_rewritten(row, before, text))
        row.moved.connect(lambda step: self._on_moved(row, step))
        row.removed.connect(lambda: self._on_removed(row))
        row.stepped.connect(lambda step: self._on_stepped(row, step))
        row.entered.connect(lambda: self._let_tab_stop_at(self._rows.index(row)))
        row.show()
        return row

    def _focused(self) -> int:
        """Return the place of the row that has the focus, -1 for none."""
        return next((place for place, row in enumerate(self._rows) if row.hasFocus()), -1)

    def _let_tab_stop_at(self, place: int) -> None:
        for number, row in enumerate(self._rows):
            policy = Qt.FocusPolicy.StrongFocus if number == place else Qt.FocusPolicy.ClickFocus
            row.setFocusPolicy(policy)

    def _ask(self, items: tuple[PlanItem, ...]) -> None:
        self.plan_requested.emit(replace(self._plan, items=items))

    def _on_added(self) -> None:
        text = " ".join(self._add.text().split())
        if text:
            self._add.clear()
            self._ask((*self._plan.items, PlanItem(text=text)))

    def _on_ticked(self, row: PlanRow) -> None:
        items, place = self._plan.items, self._rows.index(row)
        self._ask((*items[:place], replace(items[place], done=not items[place].done), *items[place + 1 :]))

    def _on_rewritten(self, row: PlanRow, before: PlanItem, text: str) -> None:
        """Rewrite the item that was meant: the plan may have changed while it was written."""
        items, place = self._plan.items, self._rows.index(row)
        places = [place, *range(len(items))]
        found = next((one for one in places if one < len(items) and items[one].text == before.text), -1)
        text = " ".join(text.split())
        if found >= 0 and text and text != items[found].text:
            self._ask((*items[:found], replace(items[found], text=text), *items[found + 1 :]))

    def _on_moved(self, row: PlanRow, step: int) -> None:
        items, place = list(self._plan.items), self._rows.index(row)
        if 0 <= place + step < len(items):
            items.insert(place + step, items.pop(place))
            if row.hasFocus():
                self._rows[place + step].setFocus()
                bring_into_sight(self._rows[place + step])
            self._ask(tuple(items))

    def _on_removed(self, row: PlanRow) -> None:
        items, place = self._plan.items, self._rows.index(row)
        self._ask((*items[:place], *items[place + 1 :]))
        self.item_removed.emit(items[place], place)

    def _on_stepped(self, row: PlanRow, step: int) -> None:
        place = self._rows.index(row) + step
        if 0 <= place < len(self._rows):
            self._rows[place].setFocus()
            bring_into_sight(self._rows[place])
        elif place >= 0 and self._add.isVisible():
            self._add.setFocus()
            bring_into_sight(self._add)
