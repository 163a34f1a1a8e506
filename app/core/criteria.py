"""Criteria: what "done" means for a session or a step of a workflow, and what a checker found of each.

Also a session's plan, whose items have criteria.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final, Self

from app.core.errors import BadInput
from app.core.frozen import Frozen
from app.core.texts import clean_text

MOST_CRITERIA: Final = 20
MAX_CRITERION: Final = 500

# The `part` of a checker's answer, and the id of the author that tells the worker what is not met.
CRITERIA: Final = "criteria"


class CriterionState(StrEnum):
    """How a criterion stands."""

    OPEN = "open"
    MET = "met"
    UNMET = "unmet"
    UNKNOWN = "unknown"
    ACCEPTED = "accepted"


class Doubt(StrEnum):
    """Why nobody knows whether a criterion is met; each has a text `criterion.doubt.<code>`."""

    NO_CHECKER = "no_checker"
    NO_ANSWER = "no_answer"
    SILENT = "silent"
    UNRELIABLE = "unreliable"
    NO_QUOTE = "no_quote"
    NOT_FOUND = "not_found"


class Checker(Frozen):
    """The model that checked a criterion."""

    name: str
    provider: str
    model: str
    # Whether its family is another than those of all who worked.
    other_family: bool = False


class Evidence(Frozen):
    """Words of the work that show that a criterion is met, and the file or the message where Moot found
    them.
    """

    quote: str
    file: str = ""
    message_id: str = ""


class Criterion(Frozen):
    """One thing that must be true of the work when it is done."""

    text: str
    # A CriterionState.
    state: str = CriterionState.OPEN
    # What the checker says of it.
    says: str = ""
    # Of one that is unknown: a Doubt.
    doubt: str = ""
    checked_by: Checker | None = None
    evidence: Evidence | None = None
    # In which round it was last checked, from 1; 0 for never.
    round: int = 0

    @property
    def settled(self) -> bool:
        """Whether it is met, or the user takes the work as it is."""
        return self.state in (CriterionState.MET, CriterionState.ACCEPTED)


def criteria_of(texts: Iterable[str]) -> tuple[Criterion, ...]:
    """Return open criteria with these texts, each once, without empty ones.
    Raises BadInput for too many or too long ones.
    """
    found = dict.fromkeys(filter(None, (" ".join(clean_text(text).split()) for text in texts)))
    if len(found) > MOST_CRITERIA or any(len(text) > MAX_CRITERION for text in found):
        raise BadInput("criteria_too_many", most=MOST_CRITERIA, characters=MAX_CRITERION)
    return tuple(Criterion(text=text) for text in found)


def chosen(texts: Iterable[str], known: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """Return criteria with these texts; a known one stays as it is. Raises BadInput as `criteria_of`."""
    before = {criterion.text: criterion for criterion in known}
    return tuple(before.get(criterion.text, criterion) for criterion in criteria_of(texts))


def count_met(criteria: Iterable[Criterion]) -> int:
    """Return how many criteria are met; what the user accepted as it is, is not."""
    return sum(criterion.state == CriterionState.MET for criterion in criteria)


def met_text(criteria: Sequence[Criterion], words: Callable[..., str]) -> str:
    """Return in words how many criteria of how many are met, "" where there are none."""
    return words("result.met", met=count_met(criteria), all=len(criteria)) if criteria else ""


def shown_by(criterion: Criterion, words: Callable[[str], str]) -> str:
    """Return what shows how a criterion stands: the quotation, or why it is not met; `words` says a Doubt
    in words.
    """
    if (shown := criterion.evidence) is not None:
        return f"“{shown.quote}”" + (f" ({shown.file})" if shown.file else "")
    return " ".join(filter(None, (criterion.doubt and words(criterion.doubt), criterion.says)))


def reopened(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Return criteria for new work: open but for what the user accepted."""
    kept = CriterionState.ACCEPTED
    return tuple(item if item.state == kept else Criterion(text=item.text) for item in criteria)


def accepted(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Return criteria of which the user accepts those that are not met."""
    return tuple(item if item.settled else replace(item, state=CriterionState.ACCEPTED) for item in criteria)


def unknown(criteria: Sequence[Criterion], doubt: str, **fields: Any) -> tuple[Criterion, ...]:
    """Return criteria of which nobody knows whether they are met, but for what the user accepted."""
    fields |= {"state": CriterionState.UNKNOWN, "doubt": doubt}
    return tuple(
        item if item.state == CriterionState.ACCEPTED else Criterion(text=item.text, **fields)
        for item in criteria
    )


class PlanItem(Frozen):
    """One step of a plan; `criteria` are what must be true when it is done, `by` is who did it, "" where
    nobody said so.
    """

    text: str
    done: bool = False
    criteria: tuple[Criterion, ...] = ()
    by: str = ""

    def checked(self, criteria: tuple[Criterion, ...]) -> Self:
        """Return the item with its criteria as they are now; done once all are settled."""
        return replace(self, criteria=criteria, done=self.done or all(each.settled for each in criteria))


class Plan(Frozen):
    """The goal of a session, and the steps to it in their order; items are counted from 0."""

    goal: str = ""
    items: tuple[PlanItem, ...] = ()

    @property
    def open(self) -> tuple[PlanItem, ...]:
        """The items that are not done."""
        return tuple(item for item in self.items if not item.done)
