"""What the calls of models used and cost, as the ledger keeps it and as people read it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from operator import add, attrgetter
from typing import Any

from app.core.message import AMOUNTS, Author, Usage
from app.core.settings import RunLimits
from app.core.texts import amount_text


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageEntry(Usage):
    """What one call of a model used, with the message it made and its author."""

    # That of a call which made no message is of its own.
    message_id: str = ""
    # ISO 8601 in UTC.
    at: str = ""
    session_id: str = ""
    author_id: str = ""
    author: str = ""

    @classmethod
    def of(
        cls, usage: Usage, message_id: str, at: str, session_id: str, author: Author | None
    ) -> "UsageEntry":
        """Return the entry of what a message, or a call that made none, used."""
        return cls(
            message_id=message_id,
            at=at,
            session_id=session_id,
            author_id=author.id if author else "",
            author=author.name if author else "",
            **asdict(usage),
        )

    @property
    def month(self) -> str:
        """The calendar month in UTC, as providers bill it: `2026-11`."""
        return self.at[:7]


_NOTHING = Usage(cost_usd=0.0)
_amounts = attrgetter(*AMOUNTS)


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of some calls."""

    # What they used together; the cost is that of the calls with a known price.
    used: Usage = _NOTHING
    # How many calls there are, how many without a known price, and how many of those a subscription pays for.
    calls: int = 0
    unpriced: int = 0
    subscribed: int = 0
    # The calls whose tokens were counted by Moot alone.
    estimated: int = 0

    @classmethod
    def of(cls, *calls: Usage) -> "Total":
        """Return the sum of these calls."""
        return totals(("", call) for call in calls).get("", cls())

    def __add__(self, other: "Total") -> "Total":
        return Total(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def known_usd(self) -> float:
        """The dollars of the calls with a known price."""
        return self.used.cost_usd or 0.0

    @property
    def cost_usd(self) -> float | None:
        """The known dollars, None where none of the calls has a price."""
        return None if self.calls and self.unpriced == self.calls else self.known_usd


def totals(calls: Iterable[tuple[str, Usage]]) -> dict[str, Total]:
    """Return the sum of the calls that have the same name.

    They are as many as a month has calls, or the whole ledger: a record is made of each sum, and of no call.
    """
    sums: dict[str, list[Any]] = {}
    nothing: list[Any] = [0, 0, 0, 0, *_amounts(_NOTHING)]
    for name, call in calls:
        amounts = [amount or 0 for amount in _amounts(call)]
        counts = (1, call.cost_usd is None, call.subscribed, call.estimated)
        sums[name] = [*map(add, sums.get(name, nothing), (*counts, *amounts))]
    return {name: _total(each[:4], each[4:]) for name, each in sums.items()}


def _total(counts: Sequence[int], amounts: Sequence[float]) -> Total:
    calls, unpriced, subscribed, estimated = counts
    values: dict[str, Any] = dict(zip(AMOUNTS, amounts, strict=True))
    return Total(Usage(**values, estimated=estimated > 0), calls, unpriced, subscribed, estimated)


def tokens_text(tokens: int) -> str:
    """Return a number of tokens in short: `950`, `6.2k`, `272k`, `1.3M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 100_000:
        return f"{tokens / 1_000:.1f}k"
    if tokens < 1_000_000:
        return f"{tokens // 1_000}k"
    return f"{tokens / 1_000_000:.1f}M"


def used_text(total: Total, tokens: int | None = None) -> str:
    """Return the tokens of calls, or a part of them, in short: `≈ 6.2k` where some of them are estimated."""
    text = tokens_text(total.used.tokens if tokens is None else tokens)
    return f"≈ {text}" if total.estimated else text


def limits_text(words: Callable[..., str], limits: RunLimits) -> str:
    """Return limits in short: `30 min · 100 calls · $2`."""
    parts = (
        words("unit.minutes", amount=limits.minutes) if limits.minutes else "",
        words("limits.calls", count=limits.calls) if limits.calls else "",
        words("unit.usd", amount=f"{limits.usd:g}") if limits.usd else "",
    )
    return " · ".join(filter(None, parts)) or words("setting.no_limit")


def near_text(words: Callable[..., str], limit: str, spent: float, most: float) -> str:
    """Return that a run has used most of what it may, as its event says."""
    return words(f"limit.near.{limit}", spent=f"{spent:.3g}", most=f"{most:g}")


def saved_text(words: Callable[..., str], total: Total) -> str:
    """Return what the providers' caches saved in words, "" where they saved nothing."""
    return words("cost.saved", amount=amount_text(total.used.saved_usd)) if total.used.saved_usd > 0 else ""


def spent_text(words: Callable[..., str], total: Total) -> str:
    """Return the money and the tokens of calls, and what the providers' caches saved, in words."""
    text = words("cost.tokens", cost=money_text(words, total), tokens=used_text(total))
    return " · ".join(filter(None, (text, saved_text(words, total))))


def money_text(words: Callable[..., str], total: Total) -> str:
    """Return what calls cost in words."""
    known = total.known_usd
    if not total.calls:
        return words("cost.money", amount=amount_text(0))
    if total.subscribed and total.subscribed == total.unpriced and not known:
        return words("cost.subscription")
    if total.cost_usd is None or (not known and total.unpriced):
        return words("cost.unknown")
    if total.unpriced:
        return words("cost.least", amount=amount_text(known))
    if not known:
        return words("cost.free")
    return words("cost.about" if total.estimated else "cost.money", amount=amount_text(known))
