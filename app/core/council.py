"""Who takes part in debates and councils, panels of them that are saved, and what was decided in sessions."""

from dataclasses import dataclass

from app.core.agent import Creativity, Effort, Length
from app.core.summary import Ends

ANY_JUDGE, NO_JUDGE = "any", "none"
DEFAULT_COUNCIL_ROUNDS, MAX_COUNCIL_ROUNDS = 2, 5


Seat = tuple[str, str]
"""A provider's id and a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A participant of a debate; it has an id of its own, so that one model can take part twice.

    `role` is one of the built-in roles (for, against, neutral, optimist, realist, devils-advocate) or the user's own
    text; `persona` are the instructions of its assistant, a part of the generated prompt; `system_prompt` replaces
    that prompt when the user changed it.
    """

    id: str
    name: str
    provider: str
    model: str
    role: str = ""
    persona: str = ""
    system_prompt: str = ""
    effort: str = Effort.AUTO
    creativity: str = Creativity.AUTO
    length: str = Length.AUTO

    @property
    def seat(self) -> Seat:
        """Its provider's id and its model."""
        return self.provider, self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Participants that are asked together, and how.

    With `compare` the answers are compared. What is open is debated for up to `rounds`, and read by `judge`: a "provider/model",
    ANY_JUDGE or NO_JUDGE. With `debates` that begins by itself, else when the user asks for it.
    """

    id: str
    name: str
    participants: tuple[Participant, ...] = ()
    rounds: int = DEFAULT_COUNCIL_ROUNDS
    judge: str = ANY_JUDGE
    compare: bool = True
    debates: bool = False
    version: int = 1

    @property
    def ends(self) -> Ends:
        """How a council ends by itself that is asked as the panel says."""
        return (Ends.VOTE if self.judge == NO_JUDGE else Ends.VERDICT) if self.debates else Ends.NONE


HELD, FAILED, UNKNOWN = "held", "failed", "unknown"
RESULTS = (HELD, FAILED, UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class CastVote:
    """What a model ("provider/model") chose by its first answer and at the end, in words, and how sure it was; "" and -1 for none."""

    model: str
    before: str = ""
    before_sure: int = -1
    after: str = ""
    after_sure: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the user decided in a session, and what came of it; where nothing was decided, a verdict that waits."""

    # The id of the session, and its title.
    id: str
    name: str
    # The kind of the session, for a debate its mode.
    kind: str = "council"
    # The names of those who took part.
    who: tuple[str, ...] = ()
    # The name of the panel that was asked, "" for none.
    panel: str = ""
    # What could be chosen, in words.
    options: tuple[str, ...] = ()
    # What the verdict says, or what most chose, and how settled that was.
    headline: str = ""
    state: str = ""
    # Whether a judge that read it in another order came to something else.
    unstable: bool = False
    # What was decided, "" where nothing was; the id of the option if it is one, and why.
    decided: str = ""
    option: str = ""
    why: str = ""
    # How sure the user was, in percent, -1 where that was not said.
    sure: int = -1
    # The sign by which one will know, and the date (ISO 8601) on which to look again.
    sign: str = ""
    due: str = ""
    # When it was decided, or the verdict given; "" in entries of before.
    at: str = ""
    # The message in which it was decided, "" for none.
    message: str = ""
    # What came of it, one of RESULTS, "" while that is open; the option that was right, "" for none known.
    result: str = ""
    right: str = ""
    # What the user noted about that, and when.
    note: str = ""
    known_at: str = ""
    judge: str = ""
    votes: tuple[CastVote, ...] = ()
    # What the user preferred without knowing which was which: panel, alone or equal; "" for no pick, or one that wasn't blind.
    preferred: str = ""
    version: int = 1
