"""Who takes part in debates and councils, saved panels of them, and what was decided in sessions.

Also what comes of a debate beside its messages: who has no vote, what-if rounds, the blind pick, how right a
model has been; and ballots and verdicts as earlier versions kept them, which are messages today.
"""

import math
from enum import StrEnum

from app.core.definitions import Creativity, Effort, Length
from app.core.frozen import Frozen
from app.core.message import UsageEntry

MIN_PARTICIPANTS = 2

ANY_JUDGE, NO_JUDGE = "any", "none"
DEFAULT_COUNCIL_ROUNDS, MAX_COUNCIL_ROUNDS = 2, 5


class Ends(StrEnum):
    """How a decision ends: with what was said, with secret votes, with one answer made of all, or
    with votes and a verdict.
    """

    NONE = "none"
    VOTE = "vote"
    MERGE = "merge"
    VERDICT = "verdict"

    @property
    def votes(self) -> bool:
        """Whether all vote before it."""
        return self in (Ends.VOTE, Ends.VERDICT)


# A provider's id and a model.
Seat = tuple[str, str]


class Participant(Frozen):
    """A participant of a debate; it has an id of its own, so that one model can take part twice.

    `role` is one of the built-in roles (for, against, neutral, optimist, realist, devils-advocate) or the
    user's own text; `persona` are the instructions of its assistant, a part of the generated prompt;
    `system_prompt` replaces that prompt when the user changed it.
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


class Panel(Frozen):
    """Participants that are asked together, and how.

    With `compare` the answers are compared. What is open is debated for up to `rounds`, and read by `judge`:
    a "provider/model", ANY_JUDGE or NO_JUDGE. With `debates` that begins by itself, else when the user asks
    for it.
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


class CastVote(Frozen):
    """What a model ("provider/model") chose by its first answer and at the end, in words,
    and how sure it was; "" and -1 for none.
    """

    model: str
    before: str = ""
    before_sure: int = -1
    after: str = ""
    after_sure: int = -1


class Decision(Frozen):
    """What the user decided in a session, and what came of it; where nothing was decided, a verdict
    that waits.
    """

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
    # What the user preferred without knowing which was which: panel, alone or equal; "" for no pick, or one
    # that wasn't blind.
    preferred: str = ""
    version: int = 1


class Option(Frozen):
    """One thing that can be held."""

    id: str = ""
    # In a few words, on one line.
    text: str = ""
    # The participants whose first answer holds it.
    backers: tuple[str, ...] = ()
    # What it comes from: differences, answers (grouped by their short answers), motion, user, or the part of
    # a message; "" stands for differences.
    origin: str = ""


class Ballot(Frozen):
    """A participant's vote in an earlier version, after a `round` (0: before the first), from -2 (against)
    to 2 (for the motion).

    `stance` is None where there is no vote: the model failed, or is too small to be asked.
    """

    participant: str
    round: int
    stance: int | None = None
    usage: UsageEntry | None = None


class NoVoteReason(StrEnum):
    """Why a model does not vote; each has a text `no_vote.<code>`."""

    # Its answers to the voting check changed with the order of the options; how many did not, of how many.
    FOLLOWS_ORDER = "follows_order"
    SKIPPED = "check_skipped"
    TOO_SMALL = "no_chat"
    WORDS_ONLY = "words_only"


class NoVote(Frozen):
    """A model, "provider/model", that does not vote in a session, and the code of why."""

    model: str
    reason: str


class Point(Frozen):
    """A sentence of a verdict, with the ids of the messages it cites."""

    text: str
    cites: tuple[str, ...] = ()


class MinorityView(Frozen):
    """A view other than a verdict's answer, with its strongest reason and the ids of the messages it cites.

    `holders` are the ids of the participants who hold it at the end, or (not `now`) gave it up on the way.
    """

    text: str
    holders: tuple[str, ...] = ()
    now: bool = True
    cites: tuple[str, ...] = ()


class Verdict(Frozen):
    """The verdict on a debate as an earlier version kept it, by a model that read all of it.

    `judge` is the name of the judge and `model` its "provider/model". Both are empty where no model could
    judge: then `open` has each participant's last words, and `failure` says why (`failure.<code>`, or
    "too_small"). `readings` says how often the judge read it, the second time in another order; where that
    led to something else it is `unstable`, and `otherwise` is what it came to then, "" for none of the
    options.
    """

    judge: str = ""
    model: str = ""
    answer: tuple[Point, ...] = ()
    agreed: tuple[Point, ...] = ()
    open: tuple[Point, ...] = ()
    minority: tuple[MinorityView, ...] = ()
    failure: str = ""
    readings: int = 1
    unstable: bool = False
    otherwise: str = ""
    usage: UsageEntry | None = None
    # The id of the last message before it, "" where an older version did not keep that.
    after_message: str = ""


class WhatIf(Frozen):
    """A round that a message began after the end of a debate: all speak once, or those with the ids in
    `to`.
    """

    message: str
    round: int
    to: tuple[str, ...] = ()


class BlindPick(Frozen):
    """The choice between what all came to and the answer of one model alone, without knowing which is which.

    `order` says which is shown as A and which as B, PANEL or ALONE each, and is empty until they were shown,
    at `shown_at` (ISO 8601). `picked` is one of PICKS, "" until the user has chosen; `was_blind` says that no
    verdict had been read before. `asked` counts how often the answers were asked for: those that failed are
    written again.
    """

    order: tuple[str, ...] = ()
    shown_at: str = ""
    picked: str = ""
    was_blind: bool = True
    asked: int = 1


PANEL, ALONE = "panel", "alone"
PICKS = ("A", "B", "equal")

# The highest confidence of each bin, in percent.
BINS = (60, 80, 90, 100)


def bin_of(sure: int) -> int:
    """Return the place of the bin that a confidence, in percent, belongs to."""
    return next((place for place, most in enumerate(BINS) if sure <= most), len(BINS) - 1)


class Calibration(Frozen):
    """How often a model ("provider/model") was right, in percent, for each of BINS."""

    model: str
    rates: tuple[int, ...]

    def rate(self, sure: int) -> int:
        """Return how often, in percent, the model was right when it was about so sure."""
        return self.rates[bin_of(sure)]


def wilson(right: float, count: int) -> tuple[float, float]:
    """Return the interval, in shares, in which the true share lies with 95 % probability (Wilson's)."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, right / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)
