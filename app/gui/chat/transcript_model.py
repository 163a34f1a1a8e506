"""What a transcript shows, without a screen: messages in order, growing texts, who looks how."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.message import USER, Author, Message
from app.core.session import DebateSession, Session
from app.core.texts import Texts
from app.gui.chat.message_row import RowContext
from app.gui.chat.row_header import Speaker
from app.gui.markdown.blocks import clean
from app.gui.theme import Tokens

ROLES = ("for", "against", "neutral", "optimist", "realist", "devils-advocate")


@dataclass(slots=True)
class LiveText:
    """The text of a message that still grows, and how often its lines end."""

    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    lines: int = 0

    def add(self, text: str) -> None:
        """Add a piece."""
        self.pieces.append(text)
        self.characters += len(text)
        self.lines += text.count("\n")

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class TranscriptModel:
    """The messages of one session by index and by id; prepending moves no stored number."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.live: dict[str, LiveText] = {}
        self.unfolded: set[str] = set()
        self.can_retry = False
        self._numbers: dict[str, int] = {}
        self._first = 0
        self._speakers: dict[str, int] = {}
        self._roles: dict[str, str] = {}
        self._debate = False

    def reset(self, session: Session, messages: Sequence[Message]) -> None:
        """Hold another session's messages."""
        self.messages = list(messages)
        self.live = {}
        self.unfolded = set()
        self._first = 0
        self._numbers = {message.id: index for index, message in enumerate(messages)}
        self._debate = isinstance(session, DebateSession)
        participants = session.debate.participants if isinstance(session, DebateSession) else ()
        self._speakers = {each.id: index for index, each in enumerate(participants)}
        self._roles = {each.id: each.role for each in participants if each.role}
        for message in messages[-1:]:
            self._see(message.author)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._numbers

    def index(self, message_id: str) -> int:
        """Return where a message stands; KeyError when it does not."""
        return self._numbers[message_id] - self._first

    def prepend(self, messages: Sequence[Message]) -> None:
        """Add earlier messages."""
        self._first -= len(messages)
        self.messages[:0] = messages
        numbers = range(self._first, self._first + len(messages))
        self._numbers.update(zip([message.id for message in messages], numbers, strict=True))

    def append(self, message: Message) -> None:
        """Add a message at the end."""
        self._numbers[message.id] = self._first + len(self.messages)
        self.messages.append(message)

    def begin_live(self, message: Message) -> None:
        """Gather what comes in of a message that still grows."""
        live = self.live[message.id] = LiveText()
        if message.content:
            live.add(message.content)

    def replace(self, message: Message) -> None:
        """Put a message in the place of the one with its id."""
        self.messages[self.index(message.id)] = message

    def remove(self, message_id: str) -> int:
        """Take a message out; return where it stood."""
        index = self.index(message_id)
        del self.messages[index]
        self.live.pop(message_id, None)
        self._numbers = {each.id: self._first + number for number, each in enumerate(self.messages)}
        return index

    def text(self, index: int) -> str:
        """Return a message's text as it is now."""
        message = self.messages[index]
        live = self.live.get(message.id)
        return live.text if live else message.content

    def size(self, index: int) -> tuple[int, int]:
        """Return how many characters and line ends a message has."""
        message = self.messages[index]
        live = self.live.get(message.id)
        if live:
            return live.characters, live.lines
        return len(message.content), message.content.count("\n")

    def context(self, index: int, tokens: Tokens, texts: Texts) -> RowContext:
        """Return what a row shows besides its message."""
        message = self.messages[index]
        before = self.messages[index - 1].round if index else 0
        separator = ""
        if self._debate and message.round and message.round != before:
            separator = texts("transcript.round", round=message.round)
        return RowContext(
            self.speaker(message.author, message.role, tokens, texts),
            self.role(message, texts),
            separator,
            first=index == 0,
            can_retry=self.can_retry,
            unfolded=message.id in self.unfolded,
        )

    def role(self, message: Message, texts: Texts) -> str:
        """Return the role as words; for the user, whom it was said to."""
        if message.role == USER:
            return texts("transcript.to_everyone") if self._debate else ""
        role = self._roles.get(message.author.id, "")
        return texts(f"transcript.role.{role}") if role in ROLES else clean(role)

    def speaker(self, author: Author, role: str, tokens: Tokens, texts: Texts) -> Speaker:
        """Return how a speaker is painted."""
        name = texts("transcript.you") if role == USER else _shown_name(author)
        if role == USER:
            return Speaker(name, name[:1].upper(), tokens.on_user, tokens.user)
        colour, background = tokens.speaker(self._see(author))
        return Speaker(name, name[:1].upper(), colour, background)

    def name(self, message: Message, texts: Texts) -> str:
        """Return who speaks, as it is shown."""
        return texts("transcript.you") if message.role == USER else _shown_name(message.author)

    def _see(self, author: Author) -> int:
        return self._speakers.setdefault(author.id, len(self._speakers))


def _shown_name(author: Author) -> str:
    return " ".join(clean(author.name).split())[:80] or author.id
