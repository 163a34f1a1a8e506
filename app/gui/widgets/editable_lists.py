"""Lists whose rows are edited in place, moved and removed: a plan, and the messages queued
for a busy assistant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QScrollArea, QSizePolicy, QWidget

from app.core.criteria import Plan, PlanItem, accepted, chosen, criteria_of, met_text
from app.core.errors import BadInput
from app.core.session import QueuedMessage
from app.core.texts import visible
from app.engine.group.commands import MAX_ITEM, MAX_ITEMS
from app.gui.commands import deletes, written
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.widgets.boxes import STRETCH, Frame, Stretch, drop, focused_in, hbox, put_in_tab_order, vbox
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
        said = ((edit, "Enter"), ("queue.up", "Alt+Up"), ("queue.down", "Alt+Down"), (remove, written("Del")))
        for tool, (key, shortcut) in zip(self.tools, said, strict=True):
            name_button(tool, self._language(key), shortcut)

    def event(self, event: QEvent) -> bool:
        return takes_f2(event) or super().event(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.moved.emit(STEPS[key])
        elif deletes(key):
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
        middle, rows = self.geometry().center().y(), self.parentWidget().findChildren(EditableRow)
        others = (row for row in rows if row is not self and row.isVisibleTo(self.window()))
        return sum(row.geometry().center().y() < middle for row in others)

    def _begin(self) -> None:
        """Begin to edit."""
        raise NotImplementedError

    def _show_box(self, shown: bool) -> None:
        """Show the box, or what it was opened from."""
        self.box.setVisible(shown)

    def _end(self) -> None:
        """End to edit; the focus stays in the row."""
        focused = any(box.hasFocus() for box in self.findChildren(EditBox))
        self._show_box(False)
        if focused:
            self.setFocus()


HEIGHT, NOTE = 27, 150
MARK = 13
TEXT_LEFT = 23
COMES_OR_GOES = (QEvent.Type.Enter, QEvent.Type.Leave, QEvent.Type.FocusIn, QEvent.Type.FocusOut)
"""What the mouse or the focus does with a row."""


class PlanRow(EditableRow):
    """An item of a plan, which tells its list what the user does with it."""

    def __init__(self, language: Language, look: Look, items: "PlanList") -> None:
        super().__init__(language, look, "plan_row", "plan", side=24, most=4)
        self._list = items
        self.moved.connect(lambda step: items.move_item(self, step))
        self.removed.connect(lambda: items.remove_item(self))
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
        self._note = ElidedLabel("hint")
        self._note.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._note.setMaximumWidth(NOTE)
        # What must be true of it when it is done, a line each.
        self.means = named("plan_means_box", EditBox(most=6))
        say(self.means, language, name="plan.means", hint="plan.means")
        row = hbox((self.box, 1), Stretch(0), self._note, self._tools, spacing=2)
        vbox(row, self.means, self._problem, inside=self, margins=(TEXT_LEFT, 1, 2, 1), spacing=2)
        for box in (self.box, self.means):
            box.submitted.connect(self._on_submitted)
            box.cancelled.connect(self._end)
        self._show_box(False)

    def show_item(self, item: PlanItem, place: int, count: int, *, current: bool, who: str) -> None:
        """Show an item at a place, counted from 0, and who does or did it, or what it waits for;
        an unfinished edit stays.
        """
        words = self._language
        self._item, self._current = item, current
        self._note.setText(visible(who))
        state = words("plan.done" if item.done else "plan.current" if current else "plan.open")
        state, text = ", ".join(filter(None, (state, self._note.text()))), item.text[:200]
        self.setAccessibleName(words("plan.item", place=place + 1, count=count, text=text, state=state))
        self.setAccessibleDescription(words("plan.keys", keys=written("Del")))
        self._shown = " · ".join(filter(None, (item.text, met_text(item.criteria, words))))
        self.setToolTip(plain_tip("\n– ".join((self._shown, *(entry.text for entry in item.criteria)))))
        self.box.setAccessibleName(words("plan.edit"))
        self._show_tools("plan.edit", "plan.remove", first=place == 0, last=place == count - 1)
        self.update()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in STEPS and not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self._list.step_from(self, STEPS[key])
        elif key == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._list.tick(self)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.position().x() < TEXT_LEFT and self.box.isHidden():
            self._list.tick(self)
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        if event.position().x() >= TEXT_LEFT:
            self._begin()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.FocusIn:
            self._list.let_tab_stop_at(self)
        if event.type() in COMES_OR_GOES:
            wanted = self.isEnabled() and self.box.isHidden() and (self.hasFocus() or self.underMouse())
            self._tools.setVisible(wanted)
            self._note.setVisible(not wanted and self.box.isHidden())
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
        beside = self._tools if self._tools.isVisible() else self._note
        room = self.rect().adjusted(TEXT_LEFT, 0, 0, 0)
        room.setRight(beside.x() - 6)
        shown = painter.fontMetrics().elidedText(self._shown, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)

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
        self.means.show_text("\n".join(criterion.text for criterion in self._item.criteria))
        self._show_box(True)
        self._tools.hide()
        self.box.setFocus()

    def _show_box(self, shown: bool) -> None:
        super()._show_box(shown)
        self.means.setVisible(shown)

    def _end(self) -> None:
        super()._end()
        self._problem.hide()
        self.update()

    def _on_submitted(self) -> None:
        text = " ".join(self.box.text().split())
        try:
            criteria = criteria_of(self.means.toPlainText().splitlines())
            words = self._language("error.plan_items", most=MAX_ITEMS, characters=MAX_ITEM)
        except BadInput as error:
            criteria, words = None, self._language.problem(error.code, **error.details)
        if criteria is None or len(text) > MAX_ITEM:
            # The text stays; the user can shorten it, or cancel with Escape.
            self.box.setAccessibleDescription(words)
            show_or_hide(self._problem, words)
            return
        self._end()
        self._list.rewrite(self, self._before, PlanItem(text=text, criteria=criteria))


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
        self._language, self._look = language, look
        self._plan, self._working = Plan(), False
        self._who: Sequence[str] = ()
        self._rows: list[PlanRow] = []
        self._add = named(f"{name}_add", QLineEdit(maxLength=MAX_ITEM))
        say(self._add, language, name="plan.add", hint="plan.add").setProperty("kind", "name")
        self._column = vbox(self._add, STRETCH, inside=self, spacing=0)
        self._add.returnPressed.connect(self._on_added)
        language.follow(self._refresh)

    def show_plan(self, plan: Plan | None, *, editable: bool, working: bool, who: Sequence[str] = ()) -> None:
        """Show a plan, and whether somebody works on its next item, and `who`; rows keep their focus
        and unfinished edits.
        """
        plan = plan or Plan()
        self._add.setVisible(editable and len(plan.items) < MAX_ITEMS)
        self.setEnabled(editable)
        if (plan, working, who) != (self._plan, self._working, self._who):
            self._plan, self._working, self._who = plan, working, who
            self._refresh()

    def stops(self) -> tuple[QWidget, ...]:
        """Return the widgets that can have the focus, in order."""
        return *self._rows, self._add

    def rows(self) -> tuple[PlanRow, ...]:
        """Return the rows in order."""
        return tuple(self._rows)

    def _refresh(self) -> None:
        words, items, before = self._language, self._plan.items, len(self._rows)
        focused = next((place for place, row in enumerate(self._rows) if row.hasFocus()), -1)
        while len(self._rows) > len(items):
            drop(self._rows.pop())
        for place in range(before, len(items)):
            row = PlanRow(self._language, self._look, self)
            self._rows.append(row)
            self._column.insertWidget(place, row)
            row.show()
        current = next((place for place, item in enumerate(items) if not item.done), -1)
        for place, (row, item) in enumerate(zip(self._rows, items, strict=True)):
            at_work = self._working and place == current
            note = ", ".join(self._who) if at_work else item.by
            if len(self._who) == 1 and not (at_work or item.done):
                # Of several who work at once, each may be on one of these.
                waits = self._working and place == current + 1
                note = words("plan.waits", step=place) if waits else words("plan.rests")
            row.show_item(item, place, len(items), current=at_work, who=note)
        if self._rows:
            self.let_tab_stop_at(self._rows[min(max(0, focused), len(items) - 1)])
        if len(self._rows) > before:
            self.stops_changed.emit()
        if focused >= len(items):
            (self._rows[-1] if self._rows else self._add).setFocus()

    def let_tab_stop_at(self, stop: PlanRow) -> None:
        """Let Tab reach one row, and the arrow keys the others."""
        for row in self._rows:
            row.setFocusPolicy(Qt.FocusPolicy.StrongFocus if row is stop else Qt.FocusPolicy.ClickFocus)

    def _ask(self, items: tuple[PlanItem, ...]) -> None:
        self.plan_requested.emit(replace(self._plan, items=items))

    def _on_added(self) -> None:
        if text := " ".join(self._add.text().split()):
            self._add.clear()
            self._ask((*self._plan.items, PlanItem(text=text)))

    def tick(self, row: PlanRow) -> None:
        """Say that an item is done, or no longer."""
        items, place = self._plan.items, self._rows.index(row)
        # What the user ticks is accepted as it is.
        item = items[place]
        item = replace(item, done=not item.done, by="", criteria=accepted(item.criteria))
        self._ask((*items[:place], item, *items[place + 1 :]))

    def rewrite(self, row: PlanRow, before: PlanItem, written: PlanItem) -> None:
        """Change the item that was edited; the plan may have changed meanwhile."""
        items, place = self._plan.items, self._rows.index(row)
        places = [place, *range(len(items))]
        found = next((item for item in places if item < len(items) and items[item].text == before.text), -1)
        if found >= 0 and written.text:
            item = items[found]
            criteria = chosen((criterion.text for criterion in written.criteria), item.criteria)
            # Whether what is new is true was not looked for yet.
            done = item.done and criteria == item.criteria
            if (now := replace(item, text=written.text, criteria=criteria, done=done)) != item:
                self._ask((*items[:found], now, *items[found + 1 :]))

    def move_item(self, row: PlanRow, step: int) -> None:
        """Move an item up or down."""
        items, place = list(self._plan.items), self._rows.index(row)
        if 0 <= place + step < len(items):
            items.insert(place + step, items.pop(place))
            if row.hasFocus():
                self._rows[place + step].setFocus()
                bring_into_sight(self._rows[place + step])
            self._ask(tuple(items))

    def remove_item(self, row: PlanRow) -> None:
        """Remove an item; it can be put back."""
        items, place = self._plan.items, self._rows.index(row)
        self._ask((*items[:place], *items[place + 1 :]))
        self.item_removed.emit(items[place], place)

    def step_from(self, row: PlanRow, step: int) -> None:
        """Focus the row above or below, after the last one the line for another item."""
        place = self._rows.index(row) + step
        if 0 <= place < len(self._rows):
            self._rows[place].setFocus()
            bring_into_sight(self._rows[place])
        elif place >= 0 and self._add.isVisible():
            self._add.setFocus()
            bring_into_sight(self._add)


MOST_HEIGHT = 190


class QueuedMessageRow(EditableRow):
    """A queued message, which emits the signals of its strip.

    After edited, removed and sent, the receiver ends the edit with `write(None)`.
    """

    def __init__(self, language: Language, look: Look, queued_id: str, strip: "QueueStrip") -> None:
        super().__init__(language, look, "queued", "queue", side=26, most=5)
        self._edited = partial(strip.edited.emit, queued_id)
        self._written = partial(strip.written.emit, queued_id)
        self.removed.connect(partial(strip.removed.emit, queued_id))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._edge = {"first": True, "last": True}
        self._queued: QueuedMessage | None = None
        self._text = ElidedLabel("name")
        self._files = plain_label("hint")
        self._text.setCursor(Qt.CursorShape.OpenHandCursor)
        self.send = button("link", "queue_send", partial(strip.sent.emit, queued_id))
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
                self._written(self._queued.text)
            self.box.setFocus()

    def _cancel(self) -> None:
        self._end()
        self._written(None)

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
            self._written(self.box.toPlainText())

    def _on_submitted(self) -> None:
        text = self.box.text()
        if self._queued is not None and text and text != self._queued.text:
            self._edited(text)
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
        super().__init__(widgetResizable=True)
        self.setObjectName("queue")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._language, self._look = language, look
        self._rows: dict[str, QueuedMessageRow] = {}
        self.after: QWidget | None = None
        """What Tab stops at before the rows."""
        self._queue: tuple[QueuedMessage, ...] = ()
        self._title = plain_label("section")
        body = QWidget()
        self._column = vbox(self._title, STRETCH, inside=body, spacing=4)
        self.setWidget(body)
        language.changed.connect(self._show_again)
        self.hide()

    def _show_again(self) -> None:
        self.show_queue(self._queue)

    def show_queue(self, queue: Sequence[QueuedMessage]) -> None:
        """Show the queued messages in order; rows keep their focus and unfinished edits."""
        self._queue = tuple(queue)
        gone = set(self._rows) - {message.id for message in queue}
        focus = self.window().focusWidget()
        for left in map(self._rows.pop, gone):
            if focus in (left, *left.stops, left.box):
                self.left.emit()
            drop(left)
        for place, queued in enumerate(queue):
            if (row := self._rows.get(queued.id)) is None:
                row = self._rows[queued.id] = QueuedMessageRow(self._language, self._look, queued.id, self)
                row.moved.connect(partial(self._on_moved, queued.id))
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
        for row in self._rows.values():
            if focused_in(row) is not None:
                self.ensureWidgetVisible(row, 0, 4)

    def _on_moved(self, queued_id: str, step: int) -> None:
        place = [queued.id for queued in self._queue].index(queued_id) + step
        if 0 <= place < len(self._queue):
            self.moved.emit(queued_id, place)
