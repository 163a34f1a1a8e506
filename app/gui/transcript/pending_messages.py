"""The messages of a long session that are laid out later, a slice at a time between frames."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.core.message import Message, MessageState

SLICE = 200
"""This many messages are laid out in two to four milliseconds."""
HELD_MS = 50


class PendingMessages:
    """Messages in the order of the log that are not laid out yet, given out from the end.

    No slice cuts a root turn in two, so the rows of the slices are those of the whole.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self._messages = messages
        self._end = len(messages)
        self._firsts: dict[str, int] = {}
        for place, message in enumerate(messages):
            self._firsts.setdefault(message.turn_id, place)
            if message.parent_turn_id is not None:
                self._firsts.setdefault(message.parent_turn_id, place)

    def __len__(self) -> int:
        return self._end

    def holds(self, message_id: str) -> bool:
        """Whether a message is still to be given out."""
        return any(message.id == message_id for message in self._messages[: self._end])

    def holds_turn(self, turn_id: str | None) -> bool:
        """Whether a turn, or one called in it, is still to be given out; False for None."""
        return turn_id is not None and self._firsts.get(turn_id, self._end) < self._end

    def growing(self) -> int:
        """Return how many messages there are from the first streaming one to the end."""
        places = (place for place, each in enumerate(self._messages) if each.state == MessageState.STREAMING)
        return self._end - next(places, self._end)

    def take_to(self, message_id: str) -> Sequence[Message]:
        """Give out the last messages down to one that is still to be given out."""
        place = next(place for place, each in enumerate(self._messages) if each.id == message_id)
        return self.take(self._end - place)

    def take(self, least: int) -> Sequence[Message]:
        """Give out the last messages as whole root turns, at least so many if there are."""
        end = place = self._end
        start = max(0, end - least)
        while place > start:
            place -= 1
            message = self._messages[place]
            start = min(start, self._firsts[message.turn_id])
            if message.parent_turn_id is not None:
                start = min(start, self._firsts[message.parent_turn_id])
        self._end = start
        taken = self._messages[start:end]
        if not start:
            self._messages, self._firsts = (), {}
        return taken


class PendingMessagesTimer(QObject):
    """Emits `slice_due(messages)` between frames until none are pending; waits while the scroll bar is held."""

    slice_due = Signal(object)

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self.pending = PendingMessages()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_time)

    def start(self, pending: PendingMessages) -> None:
        """Give out these messages from now on, instead of the ones before."""
        self.pending = pending
        self._timer.stop()
        if len(pending):
            self._timer.start(0)

    def finish(self) -> None:
        """Give out everything that is left now."""
        self._timer.stop()
        if len(self.pending):
            self.slice_due.emit(self.pending.take(len(self.pending)))

    def reach(self, message_id: str) -> None:
        """Give out the messages down to one now, if it is pending."""
        if self.pending.holds(message_id):
            self.slice_due.emit(self.pending.take_to(message_id))

    def _on_time(self) -> None:
        if self._area.verticalScrollBar().isSliderDown():
            # Each slice would move what the reader drags.
            self._timer.start(HELD_MS)
            return
        if len(self.pending):
            self.slice_due.emit(self.pending.take(SLICE))
        if len(self.pending):
            self._timer.start(0)
