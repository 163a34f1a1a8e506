"""The transcript of a session, used by every kind of session: what the reader can do with it.

Selecting and copying across messages, links, finding, keys, the menu and the way to the end.
"""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from app.core.message import Message, MessageState
from app.core.session import Session
from app.core.texts import Texts
from app.gui.display.theme import Tokens
from app.gui.transcript import accessible
from app.gui.transcript.action_bar import ActionBar
from app.gui.transcript.card_row import FOLD, SHOW_ALL, CardRow
from app.gui.transcript.group_row import STOP_TURN, GroupRow
from app.gui.transcript.jump_pill import JumpPill
from app.gui.transcript.message_row import EARLIER, LATER, RETRY, SETTINGS, UNFOLD, MessageRow
from app.gui.transcript.painted_row import COPY_CODE, PaintedRow
from app.gui.transcript.row_actions import COPY, WORDS, offered
from app.gui.transcript.row_style import COMPACT, Picture
from app.gui.transcript.search_result import THOUGHT
from app.gui.transcript.selection import Place
from app.gui.transcript.transcript_feed import Versions
from app.gui.transcript.transcript_keys import Target, moved, targets
from app.gui.transcript.transcript_menu import Item, build
from app.gui.transcript.transcript_selecting import TranscriptSelecting
from app.gui.widgets.label import plain_tip

AUTO_SCROLL_MS = 40
REST_MS = 150
BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class TranscriptView(TranscriptSelecting):
    """The messages of one session.

    Signals: link_requested(url, shown text), copy_done(), action_requested(message id, action),
    where an action is `retry`, `settings`, `edit`, `continue` or `continue_from`;
    stop_turn_requested(turn id) of a sub-agent, version_requested(turn id, step) with step -1 or 1.
    """

    link_requested = Signal(str, str)
    action_requested = Signal(str, str)
    stop_turn_requested = Signal(str)
    version_requested = Signal(str, int)

    def __init__(
        self,
        tokens: Tokens,
        texts: Texts,
        parent: QWidget | None = None,
        layout: str = COMPACT,
        picture: Picture | None = None,
    ) -> None:
        """`picture` gives the tools' icons (`Look.picture`)."""
        accessible.install()
        super().__init__(tokens, texts, parent, layout, picture)
        self._unseen: set[str] = set()
        self._pressed: tuple[QPoint, str, str] | None = None
        self._target: Target | None = None
        self._drag = QPoint()
        self._pill = JumpPill(self.viewport(), tokens)
        self._overlays.append(self._pill)
        self._pill.clicked.connect(self.jump_to_latest)
        self._actions = ActionBar(self.viewport())
        self._overlays.append(self._actions)
        self._actions.chosen.connect(self._do)
        self._auto_scroll = QTimer(self)
        self._auto_scroll.setInterval(AUTO_SCROLL_MS)
        self._auto_scroll.timeout.connect(self._on_auto_scroll)
        self._rest = self._single_shot(self._place_changed)
        self.setAccessibleName(texts("transcript.name"))

    def set_theme(self, tokens: Tokens) -> None:
        super().set_theme(tokens)
        self._pill.set_theme(tokens)

    def set_texts(self, texts: Texts) -> None:
        super().set_texts(texts)
        self.setAccessibleName(texts("transcript.name"))
        self._place_changed()

    def set_retry_allowed(self, allowed: bool) -> None:
        """Offer to ask again on failed messages."""
        if self._model.can_retry == allowed:
            return
        self._model.can_retry = allowed
        self._rows.clear()
        self._refresh(None)

    def show_session(
        self,
        session: Session,
        messages: Sequence[Message],
        versions: Versions | None = None,
    ) -> None:
        self._selection.clear()
        self._unseen.clear()
        self._target = None
        super().show_session(session, messages, versions)

    def message_started(self, message: Message) -> None:
        fresh = not self._model.knows(message.id) and not self._scroller.follow
        super().message_started(message)
        if fresh and message.id in self._model:
            self._unseen.add(message.id)
            self._place_changed()

    def message_finished(self, message: Message) -> None:
        super().message_finished(message)
        if message.state != MessageState.STREAMING and message.id in self._model:
            accessible.announce(self, message.id)

    # Mouse

    def _hit(self, point: QPoint) -> tuple[PaintedRow, QPoint] | None:
        """Return the row nearest to a point of the viewport, and the point in it."""
        for placed in self._placed:
            if point.y() < placed.top + placed.height:
                return self._row(placed.row), QPoint(point.x(), point.y() - placed.top)
        if not self._placed:
            return None
        last = self._placed[-1]
        return self._row(last.row), QPoint(point.x(), point.y() - last.top)

    def _place_at(self, point: QPoint) -> Place | None:
        hit = self._hit(point)
        return Place(hit[0].row_id, hit[0].position_at(hit[1])) if hit else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        hit = self._hit(point)
        place = self._place_at(point)
        if hit is None or place is None:
            return
        self._target = None
        self._pressed = (point, hit[0].link_at(hit[1])[0], hit[0].action_at(hit[1]))
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection.anchor:
            self._selection.extend(place)
        else:
            self._selection.start(place)
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed:
            self._drag = point
            outside = not 0 <= point.y() < self.viewport().height()
            if outside and not self._auto_scroll.isActive():
                self._auto_scroll.start()
            elif not outside:
                self._auto_scroll.stop()
            self._extend_to(point)
            return
        hit = self._hit(point)
        shapes = Qt.CursorShape
        shape = shapes.ArrowCursor
        if hit:
            row, inside = hit
            if row.link_at(inside)[0] or row.action_at(inside):
                shape = shapes.PointingHandCursor
            elif any(segment.rect.contains(inside) for segment in row.segments):
                shape = shapes.IBeamCursor
        self.viewport().setCursor(shape)
        self._show_actions(point)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._auto_scroll.stop()
        pressed, self._pressed = self._pressed, None
        hit = self._hit(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or not pressed or not hit or self._selection.bounds():
            return
        row, point = hit
        url, shown = row.link_at(point)
        action = row.action_at(point)
        if action and action == pressed[2]:
            self._act(row, action, point)
        elif url and url == pressed[1]:
            self.link_requested.emit(url, shown)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        hit = self._hit(event.position().toPoint())
        if hit:
            row, point = hit
            start, end = row.word_at(row.position_at(point))
            self._selection.start(Place(row.row_id, start))
            self._selection.extend(Place(row.row_id, end))
            self.viewport().update()

    def _extend_to(self, point: QPoint) -> None:
        place = self._place_at(point)
        if place:
            self._selection.extend(place)
            self.viewport().update()

    def _on_auto_scroll(self) -> None:
        over = self._drag.y() - (0 if self._drag.y() < 0 else self.viewport().height())
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + over // 2 + (1 if over > 0 else -1))
        self._extend_to(self._drag)

    def _act(self, row: PaintedRow, action: str, point: QPoint) -> None:
        if action == COPY_CODE:
            self._copy_text(row.code_at(point))
        elif action == UNFOLD:
            self._model.unfolded.add(row.row_id)
            self._rows.drop(row.row_id)
            self._scroller.follow = False
            self._refresh(None)
        elif action in (FOLD, SHOW_ALL, THOUGHT):
            self.set_open(row.row_id, open_=None, whole=action == SHOW_ALL)
        elif action == STOP_TURN:
            self.stop_turn_requested.emit(row.message.turn_id)
        elif action in (EARLIER, LATER):
            self.version_requested.emit(row.message.turn_id, -1 if action == EARLIER else 1)
        else:
            self.action_requested.emit(row.message.id, action)

    def set_open(self, row_id: str, *, open_: bool | None, whole: bool = False) -> bool:
        """Unfold or fold a group, a card or a thought (None: the other way round); False where it stood so.

        `whole` shows all of what an unfolded card holds.
        """
        row = self._row(self._model.index(row_id))
        if isinstance(row, GroupRow):
            folded = not row.context.folded if open_ is None else not open_
            changed = folded != row.context.folded
            self.fold(row.turn_id, folded)
            return changed
        name = row_id if isinstance(row, CardRow) else f"thought {row_id}"
        unfolded = self._model.unfolded
        if whole:
            self._model.whole.add(row_id)
        elif (name in unfolded) == open_ or (not isinstance(row, CardRow) and not row.message.thinking):
            return False
        else:
            (unfolded.discard if name in unfolded else unfolded.add)(name)
        self._keeping(row_id, lambda: self._renew([row_id]))
        return True

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = Qt.Key
        bar = self.verticalScrollBar()
        key = event.key()
        if key == keys.Key_Home:
            self._filler.finish()
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif key in (keys.Key_Return, keys.Key_Enter) and self._target:
            self._use_target(self._target)
        elif key == keys.Key_Escape and (self._selection.bounds() or self._target):
            self._selection.clear()
            self._target = None
            self.viewport().update()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._extend_by_key(key):
            self.viewport().update()
        elif key in (keys.Key_Left, keys.Key_Right) and self._target:
            self._set_target_open(self._target.message_id, key == keys.Key_Right)
        elif key == keys.Key_End:
            self.jump_to_latest()
        elif key == keys.Key_Home:
            self._resize_place = None
            self._scroller.show_row(0)
            self._refresh(None)
        elif key in (keys.Key_PageUp, keys.Key_PageDown, keys.Key_Up, keys.Key_Down):
            page = key in (keys.Key_PageUp, keys.Key_PageDown)
            step = self.viewport().height() - 40 if page else bar.singleStep()
            bar.setValue(bar.value() + (step if key in (keys.Key_PageDown, keys.Key_Down) else -step))
        else:
            super().keyPressEvent(event)

    def _set_target_open(self, row_id: str, open_: bool) -> None:
        if self.set_open(row_id, open_=open_):
            self._target = next((each for each in self._targets() if each.message_id == row_id), None)

    def _targets(self) -> list[Target]:
        return targets([(placed, self._row(placed.row)) for placed in self._placed])

    def _extend_by_key(self, key: int) -> bool:
        cursor = self._selection.cursor
        if cursor is None:
            if not self._placed:
                return False
            cursor = Place(self._model.id(self._placed[0].row), 0)
            self._selection.start(cursor)
        place = moved(self._model, self._row, cursor, key)
        if place is None:
            return False
        self._selection.extend(place)
        return True

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go to the next link or action on screen; past the last, out of the view."""
        stops = self._targets()
        index = stops.index(self._target) if self._target in stops else (-1 if forward else len(stops))
        index += 1 if forward else -1
        self._target = stops[index] if 0 <= index < len(stops) else None
        self.viewport().update()
        return True if self._target else super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._show_reached(event.reason() in BY_KEYBOARD)

    def _show_reached(self, reached: bool) -> None:
        """Frame the view where the keyboard came to it: a click says itself where it is."""
        if self.property("reached") is not reached:
            self.setProperty("reached", reached)
            self.style().polish(self)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._show_reached(False)
        self._target = None
        self.viewport().update()
        super().focusOutEvent(event)

    def _use_target(self, target: Target) -> None:
        if target.url:
            self.link_requested.emit(target.url, target.text)
        else:
            self._act(self._row(self._model.index(target.message_id)), target.action, target.point)

    # Menu, tips and the way to the end

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        point = event.pos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            point = self._keyboard_point()
        menu = self.context_menu(point)
        menu.popup(self.viewport().mapToGlobal(point))

    def _keyboard_point(self) -> QPoint:
        """Return where the keyboard is: in the row of the focused target, of the cursor, or the first."""
        cursor = self._selection.cursor
        wanted = self._target.message_id if self._target else cursor.message_id if cursor else ""
        rect = self.message_rect(wanted) or QRect(0, 0, 1, 40)
        return QPoint(
            self._style.margin + self._style.text_left, max(0, rect.top()) + min(30, rect.height() // 2)
        )

    def context_menu(self, point: QPoint) -> QMenu:
        """Return the menu of a point of the viewport; it deletes itself when closed."""
        selected = self._selection.bounds() is not None
        items = [
            Item("transcript.copy_markdown", self.copy, selected),
            Item("transcript.copy_plain", lambda: self.copy(markdown=False), selected),
        ]
        hit = self._hit(point)
        if hit:
            row, inside = hit
            message_id, url = row.message.id, row.link_at(inside)[0]
            actions = self._offered(row.message)
            items += [Item(WORDS[each], partial(self._do, message_id, each)) for each in actions]
            if url:
                items.append(Item("transcript.copy_link", lambda: self._copy_text(url)))
            for action, key in ((RETRY, WORDS[RETRY]), (SETTINGS, "transcript.open_settings")):
                if action not in actions and action in [name for name, _ in row.actions]:
                    items.append(Item(key, partial(self._do, message_id, action)))
        return build(self, self._style.texts, items, [Item("transcript.select_all", self.select_all)])

    def _offered(self, message: Message) -> tuple[str, ...]:
        return offered(message, chat=self._model.chat, writable=self._model.can_retry)

    def _do(self, message_id: str, action: str) -> None:
        if action == COPY:
            self.copy_message(message_id)
        else:
            self.action_requested.emit(message_id, action)

    def _show_actions(self, point: QPoint) -> None:
        """Put the bar over the message under the mouse, in a conversation with an assistant."""
        under = [each for each in self._placed if each.top <= point.y() < each.top + each.height]
        row = self._row(under[0].row) if under and self._model.chat else None
        if not isinstance(row, MessageRow) or row.message.state == MessageState.STREAMING:
            self._actions.hide()
            return
        room = 80 if row.context.versions[1] > 1 else 0
        corner = QPoint(row.right - room, under[0].top + row.top - 14)
        self._actions.offer(row.message.id, self._offered(row.message), self._style, corner)

    def leaveEvent(self, event: QEvent) -> None:
        self._actions.hide()
        super().leaveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            hit = self._hit(event.pos())
            tip = (hit[0].link_at(hit[1])[0] or hit[0].tip_at(hit[1])) if hit else ""
            QToolTip.showText(event.globalPos(), plain_tip(tip), self.viewport())
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._target and self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(QPen(self._style.colour("accent"), 2))
            for placed in self._placed:
                if self._model.id(placed.row) == self._target.message_id:
                    painter.drawRoundedRect(self._target.rect.translated(0, placed.top), 4, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pill.place()

    def _on_scrolled(self, value: int) -> None:
        """Take the pill away while rows move: they move as pixels only where nothing is over them."""
        if not self._syncing:
            self._pill.hide()
            self._actions.hide()
            self._rest.start(REST_MS)
        super()._on_scrolled(value)

    def _place_changed(self) -> None:
        if self._scroller.follow:
            self._unseen.clear()
        shown = not self._scroller.follow and not self._rest.isActive()
        shown = shown and self._scroller.maximum - self._scroller.value > 40
        if shown:
            count = len(self._unseen)
            texts = self._style.texts
            words = texts("transcript.jump_new", count=count) if count else texts("transcript.jump")
            self._pill.say(words)
        if shown and self._pill.isHidden():
            self._pill.place()
        if shown == self._pill.isHidden():
            self._pill.setVisible(shown)
