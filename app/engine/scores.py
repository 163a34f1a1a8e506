"""How right models and panels have been: their votes in the decisions whose outcome is known."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from app.core.council import BINS, FAILED, HELD, PANEL, Calibration, CastVote, Decision, bin_of, wilson
from app.core.frozen import Frozen

# How many votes with a known outcome a model needs before a sentence, a score, and its hit rates say
# something.
FEW, ENOUGH, CALIBRATED = 5, 10, 20
# From which difference on, in percent, a model is a little, and much, surer or less sure than it was right.
ABOUT, MUCH = 10, 20


class Score(Frozen):
    """How right the votes of a model, or of a panel, were at the end."""

    # How many votes are known to be right or wrong, and how many were right.
    count: int = 0
    right: int = 0
    # The mean squared error of its confidence (Brier), at first and at the end.
    before: float = 0.0
    after: float = 0.0
    # How sure it was on average, in percent.
    sure: float = 0.0
    # How sure it was most often, in tens, how often that was, and how often it was right then.
    usual: int = 0
    usual_count: int = 0
    usual_right: int = 0


def scores(decisions: Sequence[Decision]) -> dict[str, Score]:
    """Return how right each model ("provider/model") has been in the decisions whose outcome is known."""
    return _scored(decisions, lambda _decision, vote: vote.model)


def panel_scores(decisions: Sequence[Decision]) -> dict[str, Score]:
    """Return how right the votes of each panel's participants have been, by its name."""
    return _scored(decisions, lambda decision, _vote: decision.panel)


def calibrations(decisions: Sequence[Decision]) -> tuple[Calibration, ...]:
    """Return how often each model was right at the end, by how sure it was, for models
    with at least CALIBRATED such votes.

    The rate of a bin is (hits + 1) / (votes + 2), so that few votes say little.
    """
    votes: dict[str, list[tuple[int, bool]]] = {}
    for _decision, vote, _before, after in _known(decisions):
        if vote.after_sure >= 0:
            votes.setdefault(vote.model, []).append((bin_of(vote.after_sure), after))
    found = []
    for model, cast in sorted(votes.items()):
        if len(cast) >= CALIBRATED:
            bins = [[right for place, right in cast if place == each] for each in range(len(BINS))]
            rates = (round(100 * (sum(each) + 1) / (len(each) + 2)) for each in bins)
            found.append(Calibration(model=model, rates=tuple(rates)))
    return tuple(found)


def _scored(decisions: Sequence[Decision], whose: Callable[[Decision, CastVote], str]) -> dict[str, Score]:
    cast: dict[str, list[tuple[CastVote, bool, bool]]] = {}
    for decision, vote, before, after in _known(decisions):
        if (name := whose(decision, vote)) and vote.before_sure >= 0 and vote.after_sure >= 0:
            cast.setdefault(name, []).append((vote, before, after))
    return {name: _score(votes) for name, votes in cast.items()}


def _score(votes: Sequence[tuple[CastVote, bool, bool]]) -> Score:
    count = len(votes)
    tens = [(round(vote.after_sure, -1), right) for vote, _before, right in votes]
    (usual, often), *_ = Counter(ten for ten, _right in tens).most_common(1)
    return Score(
        count=count,
        right=sum(right for _vote, _before, right in votes),
        before=sum((vote.before_sure / 100 - right) ** 2 for vote, right, _after in votes) / count,
        after=sum((vote.after_sure / 100 - right) ** 2 for vote, _before, right in votes) / count,
        sure=sum(vote.after_sure for vote, _before, _right in votes) / count,
        usual=usual,
        usual_count=often,
        usual_right=sum(right for ten, right in tens if ten == usual),
    )


def _known(decisions: Sequence[Decision]) -> Iterator[tuple[Decision, CastVote, bool, bool]]:
    """Yield each vote of which it is known whether it was right at first, and at the end."""
    for decision in decisions:
        for vote in decision.votes:
            before, after = is_right(decision, vote.before), is_right(decision, vote.after)
            if before is not None and after is not None:
                yield decision, vote, before, after


def is_right(decision: Decision, choice: str) -> bool | None:
    """Say whether an option was right, None where that is not known."""
    if not choice or decision.result not in (HELD, FAILED):
        return None
    if decision.right:
        return choice == decision.right
    return False if choice == decision.decided else None


def held_up(decisions: Sequence[Decision]) -> dict[str, tuple[int, int]]:
    """Return how many headlines turned out right, of how many that are known, by state
    and by panel ("panel " and its name).
    """
    found: dict[str, tuple[int, int]] = {}
    for decision in decisions:
        right = is_right(decision, decision.headline)
        if right is not None:
            for key in filter(None, (decision.state, decision.panel and f"panel {decision.panel}")):
                held, count = found.get(key, (0, 0))
                found[key] = (held + right, count + 1)
    return found


def standing_object(decisions: Sequence[Decision]) -> dict[str, object]:
    """Return how right models, panels and headlines have been, as JSON."""
    rated = {"scores": scores(decisions), "panel_scores": panel_scores(decisions)}
    found: dict[str, object] = {}
    for name, some in rated.items():
        enough = (pair for pair in sorted(some.items()) if pair[1].count >= ENOUGH)
        found[name] = {key: asdict(score) for key, score in enough}
    shares = []
    for key, (held, count) in sorted(held_up(decisions).items()):
        low, high = wilson(held, count)
        shares.append({"of": key, "held": held, "count": count, "from": round(low, 4), "to": round(high, 4)})
    return {**found, "held_up": shares}


Words = Callable[..., str]


def score_texts(score: Score, words: Words) -> tuple[str, str]:
    """Return how often a model was right, and whether it was as sure as it should be, in words."""
    if score.count < FEW:
        return words("journal.few", count=score.count, least=FEW), ""
    off = score.sure - 100 * score.right / score.count
    much = "much" if abs(off) > MUCH else "little"
    sure = "fits" if abs(off) <= ABOUT else f"{much}.over" if off > 0 else f"{much}.under"
    return words("journal.right_of", right=score.right, count=score.count), words(f"journal.sureness.{sure}")


def usual_text(name: str, score: Score, words: Words) -> str:
    """Return the sentence of how often a model was right when it was as sure as it mostly is."""
    right, count = score.usual_right, score.usual_count
    return words("journal.usual", name=name, percent=score.usual, right=right, count=count)


def standing_lines(decisions: Sequence[Decision], words: Words) -> list[str]:
    """Return how right each model and panel has been, and which headlines held up with their 95% interval,
    in words.
    """
    panels = sorted(panel_scores(decisions).items())
    rated = sorted(scores(decisions).items())
    rated += ((words("journal.panel", name=name), score) for name, score in panels)
    lines = [f"{name}: {', '.join(score_texts(score, words))}" for name, score in rated if score.count >= FEW]
    picks = [decision.preferred for decision in decisions if decision.preferred]
    if picks:
        lines.append(words("journal.preferred", held=picks.count(PANEL), count=len(picks)))
    for key, (held, count) in sorted(held_up(decisions).items()):
        low, high = (round(100 * share) for share in wilson(held, count))
        name = key.removeprefix("panel ") if key.startswith("panel ") else words(f"council.state.{key}")
        lines.append(words("journal.share", name=name, held=held, count=count, low=low, high=high))
    return lines
