"""How the command line prints a council: each answer when it is whole, then what they hold and differ on."""

from collections.abc import Sequence

from app.cli.printing.lines import lines_text, marks, one_line
from app.core.council_parts import Position
from app.core.events import Event, MessageFinished, SessionStarted
from app.core.message import SPOKEN, CouncilPart, Message, user_name
from app.core.session import DebateSession, Session
from app.core.text import without_steering
from app.core.texts import Texts
from app.engine.council.words import point_text, verdict_parts


class CouncilPrinter:
    """Prints the events of a council. Answers that are written side by side are printed one by one, when they are whole."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._round = 0

    def __call__(self, event: Event) -> str:
        match event:
            case SessionStarted():
                return self.heading(event.session)
            case MessageFinished():
                return self.message(event.message)
            case _:
                return ""

    def heading(self, session: Session) -> str:
        """Return the question's title and the participants."""
        lines = [f"{one_line(session.title)} · {self._texts('mode.council')}"]
        for one in session.debate.participants if session.debate is not None else ():
            lines.append(f"  {one_line(one.name)} · {one_line(f'{one.provider}/{one.model}')}")
        return lines_text([*lines, f"  {session.id}"])

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
        return f"{self._round_line(message.round)}\n{one_line(name)}:\n{body}\n{end}" + "".join(
            marks(message, self._texts)
        )

    def _round_line(self, number: int) -> str:
        """Return the line over a round of debate, where one begins."""
        if number <= self._round:
            return ""
        self._round = number
        return f"\n── {self._texts('verdict.round', round=number)} ──\n"


def council_text(session: DebateSession, messages: Sequence[Message], texts: Texts) -> str:
    """Return what follows from a council as lines; how many answered comes first."""
    lines: list[str] = []
    said = {one.id: one for one in messages}
    for heading, found in verdict_parts(session, messages, texts):
        lines += ["", heading]
        written = (without_steering(point_text(one, said, texts)) for one in found)
        lines += [f"  {line}" for text in written for line in text.splitlines()]
    return lines_text(lines)
