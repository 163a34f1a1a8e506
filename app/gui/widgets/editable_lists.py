"""Lists whose rows are edited in place, moved and removed: a plan, and the messages queued
for a busy assistant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QScrollArea, QWidget

from app.core.session import Plan, PlanItem, QueuedMessage
from app.engine.group.commands import MAX_ITEM, MAX_ITEMS
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.widgets.boxes import STRETCH, Frame, Stretch, drop, hbox, put_in_tab_order, vbox
from app.gui.widgets.controls import ENTER, TextBox, bring_into_sight, button, icon_button
from app.gui.widgets.item_list import STEPS, takes_f2
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label, plain_tip, say, show_or_hide

EDITS = (*ENTER, Qt.Key.Key_F2)


class EditBox(TextBox):
    """The box a row is edited in; emits `cancelled` on Escape."""

    cancelled = Signal()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.composing:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def show_text(self, text: str) -> None:
        """Show a text, with the cursor at its end."""
        self.setPlainText(text)
        self.moveCursor(self.textCursor().MoveOperation.End)


class EditableRow(Frame):
    """The row with its box and its four buttons, `tools`. Emits moved(step) and removed()."""

    moved = Signal(int)
    removed = Signal()

    def __init__(self, language: Language, look: Look, kind: str, name: str, *, side: int, most: int) -> None:
        """`side` is that of a button in pixels, `most` the largest number of lines of the box."""
        super().__init__(kind)
        self._language = language
        self._pressed: QPoint | None = None
        self._from: int | None = None
        self.box = named(f"{name}_edit_box", EditBox(lines=1, most=most))
        self.box.hide()
        self.edit = icon_button(look, "pencil", f"{name}_edit", self._on_edit)
        self.up = icon_button(look, "chevron-up", f"{name}_up", lambda: self.moved.emit(-1))
        self.down = icon_button(look, "chevron-down", f"{name}_down", lambda: self.moved.emit(1))
        self.remove = icon_button(look, "x", f"{name}_remove", self.removed)
        self.tools = (self.edit, self.up, self.down, self.remove)
        for tool in self.tools:
            tool.setFixedSize(side, side)

    def _on_edit(self) -> None:
        if self.box.isHidden():
            self._begin()
        else:
            self.box.submitted.emit()

    def _show_tools(self, edit: str, remove: str, *, first: bool, last: bool) -> None:
        """Name the buttons; `edit` and `remove` are keys of texts."""
        self.up.setEnabled(not first)
        self.down.setEnabled(not last)
        texts = ((edit, "Enter"), ("queue.up", "Alt+Up"), ("queue.down", "Alt+Down"), (remove, "Del"))
        for tool, (key, shortcut) in zip(self.tools, texts, strict=True):
            name_button(tool, self._language(key), shortcut)

    def event(self, event: QEvent) -> bool:
        return takes_f2(event) or super().event(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.moved.emit(STEPS[key])
        elif key == Qt.Key.Key_Delete:
            self.removed.emit()
        elif key in EDITS and not event.isAutoRepeat():
            self._begin()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        drags = event.button() == Qt.MouseButton.LeftButton and self.box.isHidden()
        self._pressed = event.position().toPoint() if drags else None
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        if self._pressed is None:
            return
        point = event.position().toPoint()
        if self._from is None:
            if abs(point.y() - self._pressed.y()) < QApplication.startDragDistance():
                return
            self._from = self._place()
            self.raise_()
        self.move(self.x(), self.mapToParent(point).y() - self._pressed.y())
        bring_into_sight(self)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        before, self._pressed, self._from = self._from, None, None
        if before is not None:
            step = self._place() - before
            self.parentWidget().layout().invalidate()
            self.parentWidget().layout().activate()
            if step:
                self.moved.emit(step)
        super().mouseReleaseEvent(event)

    def _place(self) -> int:
        """Return how many rows of the list are above this one."""
        rows = [
            row for row in self.parentWidget().findChildren(EditableRow) if row.isVisibleTo(self.window())
        ]
        middle = self.geometry().center().y()
        return sum(row is not self and row.geometry().center().y() < middle for row in rows)

    def _begin(self) -> None:
        """Begin to edit."""
        raise NotImplementedError

    def _show_box(self, shown: bool) -> None:
        """Show the box, or what it was opened from."""
        self.box.setVisible(shown)

    def _end(self) -> None:
        """End to edit; the focus stays in the row."""
        focused = self.box.hasFocus()
        self._show_box(False)
        if focused:
            self.setFocus()


HEIGHT = 27
MARK = 13
TEXT_LEFT = 23
COMES_OR_GOES = (QEvent.Type.Enter, QEvent.Type.Leave, QEvent.Type.FocusIn, QEvent.Type.FocusOut)
"""What the mouse or the focus does with a row."""


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
        super().__init__(language, look, "plan_row", "plan", side=24, most=4)
        self.setMinimumHeight(tall(HEIGHT))
        self._look = look
        self._item, self._shown = PlanItem(text=""), ""
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
        row = hbox((self.box, 1), Stretch(0), self._tools, spacing=2)
        vbox(row, self._problem, inside=self, margins=(TEXT_LEFT, 1, 2, 1), spacing=2)
        self.box.submitted.connect(self._on_submitted)
        self.box.cancelled.connect(self._end)

    def show_item(self, item: PlanItem, place: int, count: int, *, current: bool) -> None:
        """Show an item at a place, counted from 0; an unfinished edit stays."""
        words = self._language
        self._item, self._current = item, current
        state = words("plan.done" if item.done else "plan.current" if current else "plan.open")
        self.setAccessibleName(
            words("plan.item", place=place + 1, count=count, text=item.text[:200], state=state)
        )
        self.setAccessibleDescription(words("plan.keys"))
        met = words("result.met", met=sum(entry.settled for entry in item.criteria), all=len(item.criteria))
        self._shown = f"{item.text} · {met}" if item.criteria else item.text
        self.setToolTip(plain_tip("\n– ".join((self._shown, *(entry.text for entry in item.criteria)))))
        self.box.setAccessibleName(words("plan.edit"))
        self._show_tools("plan.edit", "plan.remove", first=place == 0, last=place == count - 1)
        self.update()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.stepped.emit(STEPS[key])
        elif key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.ticked.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.position().x() < TEXT_LEFT and self.box.isHidden():
            self.ticked.emit()
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.position().x() >= TEXT_LEFT:
            self._begin()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.FocusIn:
            self.entered.emit()
        if event.type() in COMES_OR_GOES:
            wanted = self.isEnabled() and self.box.isHidden() and (self.hasFocus() or self.underMouse())
            self._tools.setVisible(wanted)
            self.update()
        return done

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setMinimumHeight(tall(HEIGHT))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.box.isHidden():
            return
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        tokens = self._look.tokens
        if not self.isEnabled():
            painter.setOpacity(0.75)
        self._paint_mark(painter, QPointF(8, self.height() / 2))
        current = self._current and not self._item.done
        font = sized(self.font(), 13, 620 if current else 400)
        font.setStrikeOut(self._item.done)
        painter.setFont(font)
        painter.setPen(QtGui.QColor(tokens.accent if current else tokens.text_2))
        right = self._tools.width() + 6 if self._tools.isVisible() else 4
        room = self.rect().adjusted(TEXT_LEFT, 0, -right, 0)
        shown = QtGui.QFontMetrics(font).elidedText(self._shown, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_mark(self, painter: QtGui.QPainter, centre: QPointF) -> None:
        """Paint a ring: ticked if done, half full if current."""
        tokens = self._look.tokens
        current = self._current and not self._item.done
        colour = QtGui.QColor(tokens.accent if current else tokens.text_2)
        ring = QRectF(centre.x() - MARK / 2, centre.y() - MARK / 2, MARK, MARK)
        painter.setPen(QtGui.QPen(colour, 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(ring)
        if current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPie(ring, -90 * 16, -180 * 16)
        elif self._item.done:
            points = ((-2.8, 0.2), (-0.8, 2.2), (2.9, -1.9))
            painter.drawPolyline([centre + QPointF(x, y) for x, y in points])

    def _begin(self) -> None:
        self._before = self._item
        self.box.show_text(self._item.text)
        self.box.show()
        self._tools.hide()
        self.box.setFocus()

    def _end(self) -> None:
        super()._end()
        self._problem.hide()
        self.update()

    def _on_submitted(self) -> None:
        text = " ".join(self.box.text().split())
        if len(text) > MAX_ITEM:
            # The text stays; the user can shorten it, or cancel with Escape.
            words = self._language("error.plan_items", most=MAX_ITEMS, characters=MAX_ITEM)
            self.box.setAccessibleDescription(words)
            show_or_hide(self._problem, words)
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
        self._plan, self._working = Plan(), False
        self._rows: list[PlanRow] = []
        self._add = named(f"{name}_add", QLineEdit(maxLength=MAX_ITEM))
        say(self._add, language, name="plan.add", hint="plan.add").setProperty("kind", "name")
        self._column = vbox(self._add, STRETCH, inside=self, spacing=0)
        self._add.returnPressed.connect(self._on_added)
        language.follow(self._refresh)

    def show_plan(self, plan: Plan | None, *, editable: bool, working: bool) -> None:
        """Show a plan, and whether somebody works on its next item; rows keep their focus
        and unfinished edits.
        """
        plan = plan or Plan()
        self._add.setVisible(editable and len(plan.items) < MAX_ITEMS)
        self.setEnabled(editable)
        if (plan, working) != (self._plan, self._working):
            self._plan, self._working = plan, working
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
            drop(self._rows.pop())
        if len(self._rows) < len(items):
            self._rows += [self._make_row(place) for place in range(len(self._rows), len(items))]
        current = next((place for place, item in enumerate(items) if not item.done), -1)
        for place, (row, item) in enumerate(zip(self._rows, items, strict=True)):
            row.show_item(item, place, len(items), current=self._working and place == current)
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
        found = next((item for item in places if item < len(items) and items[item].text == before.text), -1)
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


MOST_HEIGHT = 190


class QueuedMessageRow(EditableRow):
    """A queued message. Emits edited(text), removed(), moved(step) and sent().

    Emits written(text) while it is being edited, written(None) if that was cancelled. After edited, removed
    and sent, the receiver ends the edit with `write(None)`.
    """

    edited = Signal(str)
    written = Signal(object)
    sent = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look, "queued", "queue", side=26, most=5)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._edge = {"first": True, "last": True}
        self._queued: QueuedMessage | None = None
        self._text = ElidedLabel("name")
        self._files = plain_label("hint")
        self._text.setCursor(Qt.CursorShape.OpenHandCursor)
        self.send = button("link", "queue_send", self.sent)
        texts = ((self._text, 1), (self.box, 1), self._files)
        hbox(*texts, 4, self.send, *self.tools, inside=self, margins=(10, 3, 6, 3), spacing=2)
        self.box.submitted.connect(self._on_submitted)
        self.box.textChanged.connect(self._on_text)
        self.box.cancelled.connect(self._cancel)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """The widgets in the tab order."""
        return (self, self.send, *self.tools)

    def show_message(self, queued: QueuedMessage, *, first: bool, last: bool) -> None:
        """Show a message; an unfinished edit stays."""
        self._queued = queued
        words, files = self._language, len(queued.attachments)
        self._text.setText(queued.text or ", ".join(attachment.name for attachment in queued.attachments))
        show_or_hide(self._files, words("queue.files", count=files) if files else "")
        self.setAccessibleName(words("queue.message", text=queued.text[:200]))
        self.box.setAccessibleName(words("queue.edit"))
        self.send.setText(words("queue.send_now"))
        self.send.setToolTip(words("queue.send_now.hint"))
        self._edge = {"first": first, "last": last}
        self._name_tools()

    def write(self, text: str | None) -> None:
        """Edit the message, with the text so far; None ends the edit."""
        if text is None:
            if not self.box.isHidden():
                self._end()
        elif self.box.isHidden() or text != self.box.toPlainText():
            self._show_box(True)
            self.box.show_text(text)

    def _begin(self) -> None:
        if self._queued is not None:
            if self.box.isHidden():
                self.write(self._queued.text)
                self.written.emit(self._queued.text)
            self.box.setFocus()

    def _cancel(self) -> None:
        self._end()
        self.written.emit(None)

    def _show_box(self, shown: bool) -> None:
        super()._show_box(shown)
        self._text.setVisible(not shown)
        self._name_tools()

    def _name_tools(self) -> None:
        """Name the buttons: the pencil of a message that is being edited is a tick that saves it."""
        edits = not self.box.isHidden()
        self.edit.set_icon("check" if edits else "pencil")
        self._show_tools("dialog.save" if edits else "queue.edit", "queue.remove", **self._edge)

    def _on_text(self) -> None:
        if not self.box.isHidden():
            self.written.emit(self.box.toPlainText())

    def _on_submitted(self) -> None:
        text = self.box.text()
        if self._queued is not None and text and text != self._queued.text:
            self.edited.emit(text)
        else:
            self._cancel()


class QueueStrip(QScrollArea):
    """The queue of a chat, hidden while it is empty.

    Signals, each with the id of the message: edited(id, text), removed(id), moved(id, place), sent(id), and
    written(id, text) while it is being edited, with None if that was cancelled. left() when what had the
    focus went away.
    """

    left = Signal()
    edited = Signal(str, str)
    written = Signal(str, object)
    removed = Signal(str)
    moved = Signal(str, int)
    sent = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("queue")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._language = language
        self._look = look
        self._rows: dict[str, QueuedMessageRow] = {}
        self.after: QWidget | None = None
        """What Tab stops at before the rows."""
        self._queue: tuple[QueuedMessage, ...] = ()
        self._title = plain_label("section")
        body = QWidget()
        self._column = vbox(self._title, STRETCH, inside=body, spacing=4)
        self.setWidget(body)
        language.changed.connect(lambda: self.show_queue(self._queue))
        self.hide()

    def show_queue(self, queue: Sequence[QueuedMessage]) -> None:
        """Show the queued messages in order; rows keep their focus and unfinished edits."""
        self._queue = tuple(queue)
        gone = set(self._rows) - {message.id for message in queue}
        focus = self.window().focusWidget()
        for queued_id in gone:
            row = self._rows.pop(queued_id)
            if focus in (row, *row.stops, row.box):
                self.left.emit()
            drop(row)
        for place, queued in enumerate(queue):
            row = self._rows.get(queued.id) or self._add(queued.id)
            if self._column.indexOf(row) != place + 1:
                self._column.removeWidget(row)
                self._column.insertWidget(place + 1, row)
            row.show_message(queued, first=place == 0, last=place == len(queue) - 1)
            row.show()
        if self.after is not None:
            stops = [stop for queued in queue for stop in self._rows[queued.id].stops]
            put_in_tab_order([self.after, *stops])
        self._title.setText(self._language("queue.messages", count=len(queue)))
        self.setVisible(bool(queue))
        self._fit()

    def write(self, texts: Mapping[str, str]) -> None:
        """Edit these messages and no others, by their ids."""
        for queued_id, row in self._rows.items():
            row.write(texts.get(queued_id))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        done = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        elif watched is self.widget() and event.type() == QEvent.Type.Resize:
            self._keep_in_sight()
        return done

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_in_sight()

    def _fit(self) -> None:
        """Set the height to that of the rows, up to a limit."""
        self.setFixedHeight(min(MOST_HEIGHT, self.widget().sizeHint().height()))

    def _keep_in_sight(self) -> None:
        """Scroll to the row that has the focus."""
        focus = self.window().focusWidget()
        for row in self._rows.values():
            if focus is not None and row.isAncestorOf(focus):  # type: ignore[redundant-expr]
                self.ensureWidgetVisible(row, 0, 4)

    def _add(self, queued_id: str) -> QueuedMessageRow:
        row = QueuedMessageRow(self._language, self._look)
        self._rows[queued_id] = row
        row.edited.connect(lambda text: self.edited.emit(queued_id, text))
        row.written.connect(lambda text: self.written.emit(queued_id, text))
        row.removed.connect(lambda: self.removed.emit(queued_id))
        row.moved.connect(lambda step: self._on_moved(queued_id, step))
        row.sent.connect(lambda: self.sent.emit(queued_id))
        return row

    def _on_moved(self, queued_id: str, step: int) -> None:
        place = [queued.id for queued in self._queue].index(queued_id) + step
        if 0 <= place < len(self._queue):
            self.moved.emit(queued_id, place)
