"""The facts of a debate in one line: who took part, how long it was and what it cost."""

from collections.abc import Iterable

from app.core.message import Message
from app.core.session import DebateSession
from app.engine.debate.director import PARTICIPANT
from app.gui.display.amounts import Spending
from app.gui.display.i18n import Language


def facts_of(session: DebateSession, messages: Iterable[Message], spending: Spending, words: Language) -> str:
    """Return participants, length and cost in one line."""
    turns = [one for one in messages if one.author.kind == PARTICIPANT and not one.is_interim]
    people, left = session.debate.participants, session.debate.left
    facts = [
        words("verdict.participants", count=len(people)),
        *(words("verdict.left_out", name=one.name) for one in people if one.id in left),
        words("verdict.rounds", count=max((one.round for one in turns), default=0)),
        words("verdict.turns", count=len(turns)),
    ]
    minutes, seconds = divmod(round(sum(one.seconds or 0.0 for one in turns)), 60)
    if minutes:
        facts.append(words("transcript.group.minutes", minutes=minutes, seconds=seconds))
    elif seconds:
        facts.append(words("transcript.group.elapsed", seconds=seconds))
    # Where no price is known, the sum says so once.
    return " · ".join((*facts, *filter(None, (spending.known_text(words),))))
