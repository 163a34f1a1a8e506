"""What a council is worth on puzzles whose answers are known, each way to ask beside the others; pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.message import CouncilPart, Message, MessageState
from app.core.session import Debate
from app.engine.council.outcome import outcome, votes_of
from app.engine.council.puzzles import Puzzle
from app.engine.council.record import Record, Vote

ALONE, VOTE, ROUND, DEFAULT = "alone", "vote", "round1", "default"
ARMS = (ALONE, VOTE, ROUND, DEFAULT)
"""One participant, the vote on the first answers, one round of debate, and all that a council does."""
FEW = 200
"""With fewer questions, 5 points more or less may be chance."""


@dataclass(slots=True)
class ArmTotal:
    """What one way to ask came to: how many questions it got right, a tie counting as its share, and what it took."""

    right: float = 0.0
    tokens: int = 0
    cost_usd: float | None = 0.0

    def add(self, right: float, messages: Sequence[Message], share: float = 1.0) -> None:
        """Add a question, and `share` of what these messages took."""
        self.right += right
        for one in messages:
            if one.usage is not None:
                self.tokens += round(share * (one.usage.input_tokens + one.usage.output_tokens))
                paid = one.usage.cost_usd
                known = self.cost_usd is not None and paid is not None
                self.cost_usd = (self.cost_usd or 0.0) + share * (paid or 0.0) if known else None


@dataclass(slots=True)
class Measured:
    """What a council came to on so many questions; `better` and `worse` than the vote on the first answers.

    `trailers` and `ballots` are how many could be read, of how many.
    """

    questions: int = 0
    better: int = 0
    worse: int = 0
    trailers: tuple[int, int] = (0, 0)
    ballots: tuple[int, int] = (0, 0)
    arms: dict[str, ArmTotal] = field(default_factory=lambda: {one: ArmTotal() for one in ARMS})

    def add(self, puzzle: Puzzle, debate: Debate, messages: Sequence[Message]) -> None:
        """Add a council that was held on a puzzle."""
        record, result = Record(debate, messages), outcome(debate, messages)
        texts = {one.id: one.text for one in record.options()}
        calls = [one for one in record.since if one.usage is not None]
        answers = [one for one in calls if one.part == CouncilPart.ANSWER]
        blind = [one for one in calls if one.part in (CouncilPart.ANSWER, CouncilPart.DIFFERENCES)]
        first = [one for one in calls if one in blind or (one.part == CouncilPart.TURN and one.round == 1)]

        def share(votes: Sequence[Vote]) -> float:
            held = [one.choice for one in votes if one.choice in texts]
            most = max(map(held.count, held), default=0)
            leaders = {one for one in held if held.count(one) == most}
            right = sum(puzzle.read(texts[one]) == puzzle.solution for one in leaders)
            return right / len(leaders) if leaders else 0.0

        openings = list(record.openings().values())
        said = [
            puzzle.read(str((one.data or {}).get("answer", ""))) or puzzle.read(one.content)
            for one in openings
        ]
        alone = said.count(puzzle.solution) / len(said) if said else 0.0
        before = share(record.ballots())
        after = share(votes_of(record))
        if result.headline:
            after = float(puzzle.read(texts[result.headline]) == puzzle.solution)
        rounds = [record.vote(one, min(1, record.rounds)) for one in record.openings()]
        self.arms[ALONE].add(alone, answers, 1 / max(1, len(answers)))
        self.arms[VOTE].add(before, blind)
        self.arms[ROUND].add(share(rounds), first)
        self.arms[DEFAULT].add(after, calls)
        self.questions += 1
        self.better += after > before
        self.worse += after < before
        spoken = [one for one in record.since if one.part in (CouncilPart.ANSWER, CouncilPart.TURN)]
        self.trailers = _read(self.trailers, spoken, ("answer", "choice"))
        ballots = [one for one in record.since if one.part == CouncilPart.BALLOT]
        self.ballots = _read(self.ballots, ballots, ("choice",))


def _read(so_far: tuple[int, int], messages: Sequence[Message], keys: Sequence[str]) -> tuple[int, int]:
    done = [one for one in messages if one.state == MessageState.DONE]
    return so_far[0] + sum(any((one.data or {}).get(key) for key in keys) for one in done), so_far[1] + len(
        done
    )


def wilson(right: float, count: int) -> tuple[float, float]:
    """Return the interval, in shares, in which the true share lies with 95 % probability (Wilson's)."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, right / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)
