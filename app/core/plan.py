"""A plan: a goal and what is to be done, kept with its session (rows G5, G6, P1)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """One thing to do."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is wanted, and the steps to it in their order; items are counted from 0."""

    goal: str = ""
    items: tuple[PlanItem, ...] = ()

    @property
    def open(self) -> tuple[PlanItem, ...]:
        """The items that are not done."""
        return tuple(item for item in self.items if not item.done)
