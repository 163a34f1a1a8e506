"""What is known about a model, and what its calls used and cost, as the ledger keeps it and as people read it.

Known: its limits, what it takes, what it costs, and who says so.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from operator import add, attrgetter
from typing import Any

from app.core.message import AMOUNTS, Author, Usage

LOCAL_WINDOW = 8_192
CLOUD_WINDOW = 128_000


class FactSource(StrEnum):
    """Who says it, the most believed first."""

    USER = "user"
    SERVER = "server"
    ERROR = "error"
    LIST = "list"
    CHECK = "check"
    DEFAULT = "default"


class Effort(StrEnum):
    """How much a model thinks before it answers; AUTO leaves it to the model."""

    AUTO = "auto"
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class TakesTemperature(StrEnum):
    """Whether a model takes a temperature; WITHOUT_EFFORT: only while it does not think."""

    YES = "yes"
    NO = "no"
    WITHOUT_EFFORT = "without_effort"


class CacheKind(StrEnum):
    """How a model's server remembers the beginning of a request: not at all, by itself, or where marks say so."""

    NONE = "none"
    AUTO = "auto"
    MARKS = "marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrices:
    """US dollars for one token that is read, written, read from the cache or written to it; None where unknown.

    A request of more than `tier` tokens costs more; 0 where all cost the same.
    """

    read: float
    written: float
    cached: float | None = None
    cache_write: float | None = None
    tier: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What one source says about a model, or all of them together; a default value means that it is not known.

    `window` is how many tokens a request may have, `most_output` an answer. `efforts` are the values of Effort that the
    model takes, `default_effort` is what it does by itself ("none": it does not think), `top_effort` is its provider's name for
    Effort.MAX. `cache_min` is the shortest
    beginning, in tokens, that a cache keeps. `stable` is how many of the voting check's questions it answered alike in both orders
    (`engine/debate/verdict`), -1 where it was not checked. `retires_on` is a date, `at` when it was learnt (ISO 8601, UTC).
    """

    window: int = 0
    most_output: int = 0
    tools: bool | None = None
    images: bool | None = None
    pdf: bool | None = None
    picture_out: bool | None = None
    efforts: tuple[str, ...] | None = None
    default_effort: str = ""
    top_effort: str = ""
    temperature: str = ""
    cache: str = ""
    cache_min: int = 0
    prices: ModelPrices | None = None
    retires_on: str = ""
    stable: int = -1
    source: str = FactSource.DEFAULT
    at: str = ""

    def thinks_at(self, effort: str) -> bool:
        """Return whether the model may think when it is asked for an effort; if that is not known, it may."""
        if effort == Effort.AUTO:
            effort = self.default_effort
        return effort != Effort.NONE and self.efforts != ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFacts:
    """What one source says about a model of a provider, as `models.json` keeps it."""

    provider: str
    model: str
    facts: ModelFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuirks:
    """How a model at an address must be asked, learnt from what it refused.

    `without` are arguments that it refuses. `new_name_of_max_tokens`: it knows max_completion_tokens only. `no_system`: it
    takes no system text. `strict_turns`: user and assistant must alternate. `wants_thought`: it wants back what it thought
    before its calls. `most_output` is the longest answer that may be asked for, 0 where that is not known.
    """

    without: tuple[str, ...] = ()
    new_name_of_max_tokens: bool = False
    no_system: bool = False
    strict_turns: bool = False
    wants_thought: bool = False
    most_output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuirks:
    """The quirks of a model, as `models.json` keeps them; `at` is when the last was learnt (ISO 8601, UTC)."""

    base_url: str
    model: str
    at: str
    quirks: ModelQuirks


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """All that is known about models and outlives a restart."""

    facts: tuple[KnownFacts, ...] = ()
    quirks: tuple[KnownQuirks, ...] = ()


def read_facts(fields: Mapping[str, Any]) -> ModelFacts:
    """Return the facts that a JSON object describes."""
    prices, efforts = fields.get("prices"), fields.get("efforts")
    values = {
        **fields,
        "prices": ModelPrices(**prices) if prices else None,
        "efforts": tuple(efforts) if efforts is not None else None,
    }
    return ModelFacts(**values)


def believed(said: Iterable[ModelFacts], *, local: bool) -> ModelFacts:
    """Return what is believed of all that is said about a model; `source` is that of its window."""
    # A later version may have written another source into `models.json`: it is believed least.
    order: dict[str, int] = {source: place for place, source in enumerate(FactSource)}
    usual = ModelFacts(window=LOCAL_WINDOW if local else CLOUD_WINDOW)
    ranked = [*sorted(said, key=lambda facts: order.get(facts.source, len(order))), usual]
    values: dict[str, Any] = {
        field.name: next(
            (value for facts in ranked if (value := getattr(facts, field.name)) != field.default),
            field.default,
        )
        for field in dataclasses.fields(ModelFacts)
    }
    window = next(facts for facts in ranked if facts.window)
    return ModelFacts(**values | {"source": window.source, "at": window.at})


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of a model in US dollars: for a token it reads and a token it writes; both 0 where it is free.

    `cached_usd` is for a token that comes from the provider's cache, `cache_write_usd` for one that is put there, and
    `cache_hour_usd` for one that is kept there for an hour; None where it costs as much as without.
    """

    input_usd: float = 0.0
    output_usd: float = 0.0
    cached_usd: float | None = None
    cache_write_usd: float | None = None
    cache_hour_usd: float | None = None

    @property
    def free(self) -> bool:
        """Whether a call costs nothing."""
        return not self.input_usd and not self.output_usd

    def cost_of(self, read: int, written: int) -> float:
        """Return the US dollars of tokens that were read and written, none of them from a cache."""
        return read * self.input_usd + written * self.output_usd

    def saved(self, cached: int, written: int, *, for_hour: bool = False) -> float:
        """Return the dollars that the cache saved, less what writing to it cost."""
        read = self.input_usd if self.cached_usd is None else self.cached_usd
        write = self.input_usd if self.cache_write_usd is None else self.cache_write_usd
        if for_hour and self.cache_hour_usd is not None:
            write = self.cache_hour_usd
        return cached * (self.input_usd - read) - written * (write - self.input_usd)


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


def amount_text(usd: float) -> str:
    """Return dollars as digits: `1.25`, `0.0040`; a cost above 0 never reads as 0."""
    return f"{usd:.2f}" if usd >= 0.01 or not usd else f"{max(usd, 0.0001):.4f}"


_UNITS = ("B", "kB", "MB", "GB")


def size_text(words: Callable[..., str], count: int) -> str:
    """Return a number of bytes in a language: `950 B`, `12 kB`, `3.4 MB`."""
    size = float(count)
    unit = 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size /= 1_000
        unit += 1
    amount = f"{size:.1f}" if unit and size < 9.95 else f"{size:.0f}"
    return words("size", amount=amount, unit=_UNITS[unit])


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
