"""What comes of a debate: secret ballots, and the verdict with what it cites."""

from dataclasses import dataclass

from app.core.usage import UsageEntry

AGAINST, FOR = -2, 2
BEFORE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """A participant's secret vote after a `round` (0: before the first), from -2 (against) to 2 (for the motion).

    `stance` is None where there is no vote: the model failed, or is too small to be asked.
    """

    participant: str
    round: int
    stance: int | None = None
    usage: UsageEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A sentence of a verdict, with the ids of the messages it cites."""

    text: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MinorityView:
    """A view other than a verdict's answer, with its strongest reason and the ids of the messages it cites.

    `holders` are the ids of the participants who hold it at the end, or (not `now`) gave it up on the way.
    """

    text: str
    holders: tuple[str, ...] = ()
    now: bool = True
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a debate, by a model that read all of it.

    `judge` is the name of the judge and `model` its "provider/model". Both are empty where no model could judge: then
    `open` has each participant's last words, and `failure` says why (`failure.<code>`, or "too_small").
    `readings` says how often the judge read it, the second time in another order; where that led to something else it is
    `unstable`, and `otherwise` is what it came to then, "" for none of the options.
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
