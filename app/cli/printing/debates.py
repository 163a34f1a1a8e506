"""How the command line prints a debate and its verdict, and a council.

A council: each answer when it is whole, then what they hold and differ on.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from app.cli.printing.chats import ChatPrinter
from app.cli.printing.lines import lines_text, one_line
from app.cli.printing.sessions import marks
from app.core import events
from app.core.council_parts import Position
from app.core.message import SPOKEN, CouncilPart, Message, Role, user_name
from app.core.session import DebateSession, Session
from app.core.texts import Texts, without_steering
from app.engine.council.outcome import point_text
from app.engine.council.verdicts import verdict_parts
from app.engine.history import summary_line
from app.engine.live_session import LiveSession


class DebatePrinter:
    """Prints the events of a debate as a growing transcript."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._work = ChatPrinter(texts)
        self._roles: dict[str, str] = {}
        self._rounds = 0
        self._round = 0
        self._shown: dict[str, int] = {}
        self._speaking: Message | None = None

    def know(self, session: Session, _messages: Iterable[Message] = ()) -> None:
        """Take over the names and the number of rounds without printing them."""
        self._work.know(session)
        if session.debate is not None:
            self._rounds = session.debate.rounds
            self._roles = {seat.id: seat.role for seat in session.debate.participants}

    def __call__(self, event: events.Event) -> str:
        match event:
            case events.MessageStarted() if event.message.part:
                # What is written beside the turns is printed when it is whole.
                return ""
            case events.MessageFinished() if event.message.part:
                return self.message(event.message)
            case events.SessionStarted():
                self.know(event.session)
                return self.heading(event.session)
            case events.SessionChanged() if event.session.debate is not None:
                # A what-if round is one round more.
                self._rounds = event.session.debate.rounds
                return ""
            case events.TurnStarted():
                return self._round_line(event.round)
            case events.MessageStarted() if not event.message.is_interim:
                self._speaking = event.message
                return self._opening(event.message)
            case events.MessageDelta() if event.message_id in self._shown:
                return self._grown(event)
            case events.MessageFinished() if event.message.id in self._shown or not event.message.is_interim:
                return self._closing(event.message)
            case _:
                return self._work(event)

    def heading(self, session: Session) -> str:
        """Return the topic, of a council the title, the mode and the participants."""
        lines = [one_line(session.title)]
        if session.debate is not None:
            debate = session.debate
            topic, mode = debate.topic, self._texts.named("mode", debate.mode)
            topic = one_line(session.title if debate.is_council else topic)
            lines[0] = self._texts("cli.heading", topic=topic, mode=mode)
            for seat in debate.participants:
                model = f"{seat.provider}/{seat.model}"
                lines.append(f"  {self._speaker(seat.name, seat.id)} · {one_line(model)}")
        lines.append(f"  {session.id}")
        return lines_text(lines)

    def whole(self, live: LiveSession) -> Iterator[str]:
        """Yield a session that is not running: the statements, each below the calls that came before it."""
        self.know(live.session)
        yield self.heading(live.session)
        for interim, messages in groupby(live.whole_messages(), lambda message: message.is_interim):
            if interim:
                yield from self._work.transcript(messages)
            else:
                yield from map(self.message, messages)

    def message(self, message: Message) -> str:
        """Return a message of a session that is not running; "" for one that only Moot reads."""
        return self._round_line(message.round) + self._closing(message) if message.part in SPOKEN else ""

    def _round_line(self, number: int) -> str:
        if not number or number == self._round:
            return ""
        self._round = number
        return f"\n── {self._texts('cli.round', round=number, rounds=self._rounds)} ──\n"

    def _speaker(self, name: str, author_id: str) -> str:
        role = self._roles.get(author_id, "")
        if not role:
            return one_line(name)
        return f"{one_line(name)} ({one_line(role_text(self._texts, role))})"

    def _opening(self, message: Message) -> str:
        again = f"\n{self._texts('cli.was_thinking')}" if self._shown.get(message.id) else ""
        self._shown[message.id] = 0
        return again + self._label(message) + self._more(message)

    def _label(self, message: Message) -> str:
        author = message.author
        name = user_name(author, self._texts) if message.role == Role.USER else author.name
        dissent = f" ({self._texts('council.dissent')})" if message.part == CouncilPart.DISSENT else ""
        return f"\n{self._speaker(name, author.id)}{dissent}:\n"

    def _more(self, message: Message) -> str:
        """Return the part of the content that was not printed yet."""
        piece = message.content[self._shown[message.id] :]
        self._shown[message.id] += len(piece)
        return without_steering(piece)

    def _grown(self, event: events.MessageDelta) -> str:
        shown = self._shown.get(event.message_id, 0)
        if not event.text or event.offset + len(event.text) <= shown:
            return ""
        self._shown[event.message_id] = event.offset + len(event.text)
        return without_steering(event.text[max(0, shown - event.offset) :])

    def _closing(self, message: Message) -> str:
        if message.role == Role.SUMMARY:
            return f"\n  {summary_line(message, self._texts)}\n"
        opening = "" if message.id in self._shown else self._opening(message)
        end = opening + self._more(message) + ("\n" if message.content else "")
        cut_in = self._speaking
        if cut_in is not None and cut_in.id == message.id:
            self._speaking = None
        elif cut_in is not None:
            # The user stepped in: the message that was streaming continues below, with its label again.
            end = "\n" + end + self._label(cut_in)
        return end + "".join(marks(message, self._texts))


def role_text(texts: Texts, role: str) -> str:
    """Return a built-in role in the user's language, any other role unchanged."""
    key = f"role.{role}"
    return texts(key) if key in texts else role


class CouncilPrinter(DebatePrinter):
    """Prints the events of a council.
    Answers that are written side by side are printed one by one, when they are whole.
    """

    def __call__(self, event: events.Event) -> str:
        match event:
            case events.SessionStarted():
                return self.heading(event.session)
            case events.MessageFinished():
                return self.message(event.message)
            case _:
                return ""

    def whole(self, live: LiveSession) -> Iterator[str]:
        """Yield a session that is not running."""
        yield self.heading(live.session)
        yield from map(self.message, live.whole_messages())

    def message(self, message: Message) -> str:
        """Return a message of a council; "" for one that only Moot reads."""
        if message.part not in SPOKEN or message.is_interim:
            return ""
        name = message.author.name
        if message.part == CouncilPart.QUESTION:
            name = user_name(message.author, self._texts)
        elif message.part == CouncilPart.MERGE:
            name = self._texts("council.merged")
        elif message.part == CouncilPart.DISSENT:
            name = f"{name} ({self._texts('council.dissent')})"
        sure = message.data_as(Position).confidence
        end = f"  {self._texts('council.sure', percent=sure)}\n" if sure is not None else ""
        body = without_steering(message.content)
        end += "".join(marks(message, self._texts))
        return f"{self._round_line(message.round)}\n{one_line(name)}:\n{body}\n{end}"

    def _round_line(self, number: int) -> str:
        """Return the line over a round of debate, where one begins."""
        if number <= self._round:
            return ""
        self._round = number
        return f"\n── {self._texts('verdict.round', round=number)} ──\n"


def decision_text(session: DebateSession, messages: Sequence[Message], texts: Texts) -> str:
    """Return what follows from a debate or a council as lines, "" where nothing does."""
    lines: list[str] = []
    said = {message.id: message for message in messages}
    for heading, found in verdict_parts(session, messages, texts):
        lines += ["", heading]
        written = (without_steering(point_text(point, said, texts)) for point in found)
        lines += [f"  {line}" for text in written for line in text.splitlines()]
    return lines_text(lines)
