"""Who takes part in debates and councils, panels of them that are saved, and the journal of what was decided."""

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
    """What the user decided after a council, and what came of it.

    `name` is the council's title and `id` its session's. `headline` is what most chose, `state` how settled that was. `due` is
    the date (ISO 8601) on which the user wants to look at it again, `sign` how it will be known. `result` is one of RESULTS, ""
    while it is open; `right` is the option that was right, "" where that is not known.
    """

    id: str
    name: str
    panel: str = ""
    options: tuple[str, ...] = ()
    headline: str = ""
    state: str = ""
    decided: str = ""
    sign: str = ""
    due: str = ""
    result: str = ""
    right: str = ""
    judge: str = ""
    votes: tuple[CastVote, ...] = ()
    version: int = 1
