"""What comes of a debate: where each one stood, and a verdict. Pure data, kept with the debate."""

from dataclasses import dataclass

from app.core.usage import UsageEntry

AGAINST, FOR = -2, 2
BEFORE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """A participant's secret vote after a `round` (0: before the first), -2 against to 2 for the motion.

    `stance` is None where there is no vote to be had: the model failed, or is too small to be asked.
    """

    participant: str
    round: int
    stance: int | None = None
    usage: UsageEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A sentence of a verdict, with the ids of the messages it rests on."""

    text: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What somebody who read it all makes of a debate.

    `judge` is the name of who judged and `model` its "provider/model". Both are empty where no model could:
    then `open` has each one's last words, and `failure` says why (`failure.<code>`, or "too_small").
    """

    judge: str = ""
    model: str = ""
    answer: tuple[Point, ...] = ()
    agreed: tuple[Point, ...] = ()
    open: tuple[Point, ...] = ()
    failure: str = ""
    usage: UsageEntry | None = None
