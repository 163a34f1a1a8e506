"""A plan as a list of items that can be ticked, edited, moved, removed and added."""

from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.session import Plan, PlanItem
from app.engine.group.commands import MAX_ITEM, MAX_ITEMS
from app.gui.display.i18n import Language
from app.gui.display.style import Look, sized, tall
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import bring_into_sight
from app.gui.widgets.editable_row import STEPS, EditableRow
from app.gui.widgets.label import plain_label, plain_tip

HEIGHT = 27
MARK = 13
TEXT_LEFT = 23


class PlanRow(EditableRow):
    """An item of a plan.

    Signals: ticked(), rewritten(item before, text), moved(step), removed(), stepped(step) when an arrow key
    leads to another row, entered() when it gets the focus.
    """

    ticked = Signal()
    rewritten = Signal(object, str)
    stepped = Signal(int)
    entered = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look, "plan", side=24, most=4)
        self.setProperty("kind", "plan_row")
        self.setMinimumHeight(tall(HEIGHT))
        self._look = look
        self._item = PlanItem(text="")
        self._before = self._item
        self._current = False
        self._tools = QWidget(self)
        hbox(*self.tools, inside=self._tools, spacing=0)
        for tool in self.tools:
            # Each has a shortcut, so it needs no place in the tab order.
            tool.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._tools.hide()
        self._problem = plain_label("error", wrap=True)
        self._problem.hide()
        row = hbox((self._box, 1), Stretch(0), self._tools, spacing=2)
        vbox(row, self._problem, inside=self, margins=(TEXT_LEFT, 1, 2, 1), spacing=2)
        self._box.submitted.connect(self._on_submitted)
        self._box.cancelled.connect(self._end)
        look.changed.connect(self.update)

    def show_item(self, item: PlanItem, place: int, count: int, *, current: bool) -> None:
        """Show an item at a place, counted from 0; an unfinished edit stays."""
        words = self._language
        self._item, self._current = item, current
        state = words("plan.done" if item.done else "plan.current" if current else "plan.open")
        self.setAccessibleName(
            words("plan.item", place=place + 1, count=count, text=item.text[:200], state=state)
        )
        self.setAccessibleDescription(words("plan.keys"))
        self.setToolTip(plain_tip(item.text))
        self._box.setAccessibleName(words("plan.edit"))
        self._show_tools("plan.edit", "plan.remove", first=place == 0, last=place == count - 1)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.stepped.emit(STEPS[key])
        elif key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.ticked.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.position().x() < TEXT_LEFT and self._box.isHidden():
            self.ticked.emit()
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.position().x() >= TEXT_LEFT:
            self._begin()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._show_or_hide_tools()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._show_or_hide_tools()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit()
        self._show_or_hide_tools()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._show_or_hide_tools()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setMinimumHeight(tall(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._box.isHidden():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = self._look.tokens
        if not self.isEnabled():
            painter.setOpacity(0.75)
        self._paint_mark(painter, QPointF(8, self.height() / 2))
        current = self._current and not self._item.done
        font = sized(self.font(), 13, 620 if current else 400)
        font.setStrikeOut(self._item.done)
        painter.setFont(font)
        painter.setPen(QColor(tokens.accent if current else tokens.text_2))
        right = self._tools.width() + 6 if self._tools.isVisible() else 4
        room = self.rect().adjusted(TEXT_LEFT, 0, -right, 0)
        shown = QFontMetrics(font).elidedText(self._item.text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_mark(self, painter: QPainter, centre: QPointF) -> None:
        """Paint a ring: ticked if done, half full if current."""
        tokens = self._look.tokens
        current = self._current and not self._item.done
        colour = QColor(tokens.accent if current else tokens.text_2)
        ring = QRectF(centre.x() - MARK / 2, centre.y() - MARK / 2, MARK, MARK)
        painter.setPen(QPen(colour, 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(ring)
        if current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPie(ring, -90 * 16, -180 * 16)
        elif self._item.done:
            points = ((-2.8, 0.2), (-0.8, 2.2), (2.9, -1.9))
            painter.drawPolyline([centre + QPointF(x, y) for x, y in points])

    def _show_or_hide_tools(self) -> None:
        wanted = self.isEnabled() and self._box.isHidden() and (self.hasFocus() or self.underMouse())
        self._tools.setVisible(wanted)
        self.update()

    def _begin(self) -> None:
        self._before = self._item
        self._box.show_text(self._item.text)
        self._box.show()
        self._tools.hide()
        self._box.setFocus()

    def _end(self) -> None:
        focused = self._box.hasFocus()
        self._box.hide()
        self._problem.hide()
        if focused:
            self.setFocus()
        self.update()

    def _on_submitted(self) -> None:
        text = " ".join(self._box.text().split())
        if len(text) > MAX_ITEM:
            # The text stays; the user can shorten it, or cancel with Escape.
            words = self._language("error.plan_items", most=MAX_ITEMS, characters=MAX_ITEM)
            self._box.setAccessibleDescription(words)
            self._problem.setText(words)
            self._problem.show()
            return
        self._end()
        self.rewritten.emit(self._before, text)


class PlanList(QWidget):
    """Shows and edits the items of a plan.

    Signals: plan_requested(the new plan), item_removed(item, place), stops_changed() when rows were added.
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
        self._column = vbox(self._add, STRETCH, inside=self, spacing=0)
        self._add.returnPressed.connect(self._on_added)
        language.changed.connect(self._refresh)
        self._refresh()

    def show_plan(self, plan: Plan | None, *, editable: bool) -> None:
        """Show a plan; rows keep their focus and unfinished edits."""
        plan = plan or Plan()
        self._add.setVisible(editable and len(plan.items) < MAX_ITEMS)
        self.setEnabled(editable)
        if plan != self._plan:
            self._plan = plan
            self._refresh()

    def stops(self) -> tuple[QWidget, ...]:
        """Return the widgets that can have the focus, in order."""
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
        """Return the place of the row with the focus, -1 for none."""
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
        """Change the item that was edited; the plan may have changed meanwhile."""
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
