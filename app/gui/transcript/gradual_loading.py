"""The messages of a long conversation that are not laid out yet; pure, used by `TranscriptFeed`.

They are given out from the end, a slice at a time. No slice cuts a root turn in two, so that the rows
of the slices are those of the whole.
"""

from collections.abc import Sequence

from app.core.message import Message, MessageState


class Backlog:
    """Messages in the order of the log, those not given out yet."""

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
        """Whether a turn, or one called in it, is still to be given out; None is nobody's turn."""
        return turn_id is not None and self._firsts.get(turn_id, self._end) < self._end

    def growing(self) -> int:
        """Return how many messages there are from the first that still streams to the end."""
        places = (place for place, each in enumerate(self._messages) if each.state == MessageState.STREAMING)
        return self._end - next(places, self._end)

    def take_to(self, message_id: str) -> Sequence[Message]:
        """Give out the last messages down to one that is still to be given out."""
        place = next(place for place, each in enumerate(self._messages) if each.id == message_id)
        return self.take(self._end - place)

    def take(self, least: int) -> Sequence[Message]:
        """Give out the last messages, at least so many where there are: whole root turns."""
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
