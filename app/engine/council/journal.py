"""The journal: what the user decided after a council, what came of it, and how right each model and panel has been."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from app.core.council import FAILED, HELD, RESULTS, CastVote, Decision
from app.core.errors import BadInput
from app.core.events import JournalChanged
from app.core.verdict import BINS, Calibration, bin_of, wilson
from app.engine.council.outcome import outcome
from app.engine.council.record import Record, Vote
from app.engine.debate.replies import one_line
from app.engine.library.definitions import MAX_NAME, Definitions, LibraryKind
from app.engine.live_session import LiveSession

ENOUGH, CALIBRATED = 10, 20
"""How many votes whose outcome is known a model needs before a score says something, and before its hit rates count."""

JOURNAL_KIND = LibraryKind(
    noun=Decision,
    name="decision",
    store=lambda documents: documents.journal,
    changed=JournalChanged,
    shared=(),
    by_name=False,
)


@dataclass(frozen=True, slots=True)
class Score:
    """How right the votes of a model, or of a panel, were: their number, and the mean squared error of its confidence (Brier), before and after."""

    count: int = 0
    before: float = 0.0
    after: float = 0.0


def _today() -> date:
    return datetime.now(UTC).astimezone().date()


class Journal(Definitions[Decision]):
    """The decisions, one for each council; everything raises BadInput, NotFound or StorageError in words."""

    today: Callable[[], date] = staticmethod(_today)
    """Returns the date where the user is."""
    _told: date | None = None

    async def decide(self, live: LiveSession, decided: str, *, sign: str = "", due: str = "") -> Decision:
        """Keep what the user decided after a council, with what all voted; a date brings it back to the user."""
        debate = live.debate_session.debate
        if debate.council is None:
            raise BadInput("not_a_council", title=live.session.title)
        decided = one_line(decided)
        if not decided:
            raise BadInput("text_empty")
        if due and not is_date(due):
            raise BadInput("journal_date", date=due)
        messages = list(live.whole_messages())
        record, result = Record(debate, messages), outcome(debate, messages)
        texts = {one.id: one.text for one in record.options()}
        models = {one.id: f"{one.provider}/{one.model}" for one in debate.participants}
        votes = []
        for who in record.openings():
            cast = (record.ballots.get(who, Vote(participant=who)), record.vote(who, record.rounds))
            before, after = (texts.get(one.choice, "") for one in cast)
            first, last = (-1 if one.confidence is None else one.confidence for one in cast)
            vote = CastVote(model=models[who], before=before, before_sure=first, after=after, after_sure=last)
            votes.append(vote)
        decision = Decision(
            id=live.id,
            name=one_line(live.session.title, MAX_NAME),
            panel=debate.council.panel,
            options=tuple(texts.values()),
            headline=texts.get(result.headline, ""),
            state=result.state,
            decided=decided,
            sign=one_line(sign),
            due=due,
            votes=tuple(votes),
        )
        return await self.save(decision)

    async def settle(self, decision_id: str, result: str, right: str = "") -> Decision:
        """Keep what came of a decision; where it held, what was decided was right."""
        if result not in RESULTS:
            raise BadInput("journal_result", result=result, results=", ".join(RESULTS))

        def settled(decision: Decision) -> Decision:
            known = decision.decided if result == HELD else one_line(right)
            return replace(decision, result=result, right=known)

        return await self.change(decision_id, settled)

    def due(self) -> tuple[Decision, ...]:
        """Return the decisions that the user wanted to look at by now, the oldest first."""
        today = self.today()
        return tuple(sorted((one for one in self.all() if is_late(one, today)), key=lambda one: one.due))

    def look_at_day(self) -> None:
        """Tell that more may be due where a new day has begun since this was called last."""
        day, before = self.today(), self._told
        self._told = day
        if before not in (None, day):
            self._tell()

    def scores(self) -> dict[str, Score]:
        """Return how right each model has been, by its "provider/model"."""
        return scores(self.all())


def is_late(decision: Decision, today: date) -> bool:
    """Return whether the user wanted to know by now what came of a decision, and has not said it."""
    return bool(decision.due) and decision.due <= today.isoformat() and not decision.result


def stands(decision: Decision, today: date, words: Callable[..., str]) -> str:
    """Return what came of a decision or when that is asked, "" where it is not asked."""
    if decision.result:
        return words(f"journal.result.{decision.result}")
    late = is_late(decision, today)
    return words("journal.due_since" if late else "journal.due_on", date=decision.due) if decision.due else ""


def scores(decisions: Sequence[Decision]) -> dict[str, Score]:
    """Return how right each model has been in the decisions whose outcome is known."""
    return _scored(decisions, lambda _decision, vote: vote.model)


def panel_scores(decisions: Sequence[Decision]) -> dict[str, Score]:
    """Return how right the votes of each panel's participants have been, by its name."""
    return _scored(decisions, lambda decision, _vote: decision.panel)


def calibrations(decisions: Sequence[Decision]) -> tuple[Calibration, ...]:
    """Return how often each model was right at the end, by how sure it was, for models with at least CALIBRATED such votes.

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
            rates = (round(100 * (sum(one) + 1) / (len(one) + 2)) for one in bins)
            found.append(Calibration(model=model, rates=tuple(rates)))
    return tuple(found)


def _scored(decisions: Sequence[Decision], whose: Callable[[Decision, CastVote], str]) -> dict[str, Score]:
    errors: dict[str, list[tuple[float, float]]] = {}
    for decision, vote, before, after in _known(decisions):
        if (name := whose(decision, vote)) and vote.before_sure >= 0 and vote.after_sure >= 0:
            error = (vote.before_sure / 100 - before) ** 2, (vote.after_sure / 100 - after) ** 2
            errors.setdefault(name, []).append(error)
    return {
        name: Score(len(found), *(sum(column) / len(found) for column in zip(*found, strict=True)))
        for name, found in errors.items()
    }


def _known(decisions: Sequence[Decision]) -> Iterator[tuple[Decision, CastVote, bool, bool]]:
    """Yield each vote of which it is known whether it was right at first, and at the end."""
    for decision in decisions:
        for vote in decision.votes:
            before, after = is_right(decision, vote.before), is_right(decision, vote.after)
            if before is not None and after is not None:
                yield decision, vote, before, after


def listed(decisions: Sequence[Decision]) -> list[Decision]:
    """Return decisions as a list shows them: those that are open by their date, then those whose outcome is known."""
    return sorted(decisions, key=lambda one: (bool(one.result), one.due or "9999", one.id))


def standing_lines(decisions: Sequence[Decision], words: Callable[..., str]) -> list[str]:
    """Return how right each model and panel has been, and which headlines held up with their 95% interval, in words."""
    lines = [
        words(f"journal.{kind}", name=name, before=f"{one.before:.2f}", after=f"{one.after:.2f}")
        for kind, found in (("score", scores(decisions)), ("panel_score", panel_scores(decisions)))
        for name, one in sorted(found.items())
        if one.count >= ENOUGH
    ]
    for key, (held, count) in sorted(held_up(decisions).items()):
        low, high = (round(100 * one) for one in wilson(held, count))
        name = key.removeprefix("panel ") if key.startswith("panel ") else words(f"council.state.{key}")
        lines.append(words("journal.share", name=name, held=held, count=count, low=low, high=high))
    return lines


def is_right(decision: Decision, choice: str) -> bool | None:
    """Say whether an option was right, None where that is not known."""
    if not choice or decision.result not in (HELD, FAILED):
        return None
    if decision.right:
        return choice == decision.right
    return False if choice == decision.decided else None


def held_up(decisions: Sequence[Decision]) -> dict[str, tuple[int, int]]:
    """Return how many headlines turned out right, of how many that are known, by state and by panel ("panel " and its name)."""
    found: dict[str, tuple[int, int]] = {}
    for one in decisions:
        right = is_right(one, one.headline)
        if right is not None:
            for key in filter(None, (one.state, one.panel and f"panel {one.panel}")):
                held, count = found.get(key, (0, 0))
                found[key] = (held + right, count + 1)
    return found


def is_date(text: str) -> bool:
    """Say whether a text is a date such as 2027-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
