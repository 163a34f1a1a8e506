"""The text of unfinished messages that is not in any line of a log yet. Used by session_log."""

import time
from dataclasses import dataclass, field

from app.core.events import MessageDelta
from app.core.message import Message
from app.storage.log import Op

FLUSH_BYTES = 2048
FLUSH_SECONDS = 1.0


@dataclass(slots=True)
class _Piece:
    """Text of one message, and how much of it is in the log already."""

    # Where the text begins in the message's own, and in its thinking.
    offset: int = 0
    text: list[str] = field(default_factory=list)
    thinking_offset: int = 0
    thinking: list[str] = field(default_factory=list)


class StreamedText:
    """Collects the text of a session's unfinished messages until it is worth a line."""

    def __init__(self) -> None:
        self._pieces: dict[str, _Piece] = {}
        self._bytes = 0
        self._since: float | None = None
        self._thinking_lengths: dict[str, int] = {}

    @property
    def is_enough(self) -> bool:
        """Whether there is so much text that it is to be written at once."""
        return self._bytes >= FLUSH_BYTES

    @property
    def due(self) -> float | None:
        """When the text is to be written (monotonic time), None where there is none."""
        return None if self._since is None else self._since + FLUSH_SECONDS

    def add(self, event: MessageDelta) -> None:
        """Add a piece."""
        length = self._thinking_lengths.get(event.message_id, 0)
        piece = self._pieces.get(event.message_id)
        if piece is None:
            piece = self._pieces[event.message_id] = _Piece(thinking_offset=length)
        if event.text:
            if not piece.text:
                piece.offset = event.offset
            piece.text.append(event.text)
        if event.thinking:
            piece.thinking.append(event.thinking)
            self._thinking_lengths[event.message_id] = length + len(event.thinking)
        self._bytes += len((event.text + event.thinking).encode(errors="replace"))
        if self._since is None:
            self._since = time.monotonic()

    def begin(self, message: Message) -> None:
        """Go on from an unfinished message that is in the log with what it thought so far."""
        if message.thinking:
            self._thinking_lengths[message.id] = len(message.thinking)

    def end(self, message_id: str) -> None:
        """Drop the text of a message that is finished: its record has all of it."""
        self._pieces.pop(message_id, None)
        self._thinking_lengths.pop(message_id, None)

    def take(self) -> list[Op]:
        """Return the operations that write the text, and drop it."""
        ops: list[Op] = []
        for message_id, piece in self._pieces.items():
            op: Op = {"op": "text", "id": message_id}
            if piece.text:
                op |= {"offset": piece.offset, "text": "".join(piece.text)}
            if piece.thinking:
                op |= {"thinking_offset": piece.thinking_offset, "thinking": "".join(piece.thinking)}
            ops.append(op)
        self.drop()
        return ops

    def drop(self) -> None:
        """Drop the text of all messages."""
        self._pieces.clear()
        self._bytes = 0
        self._since = None
