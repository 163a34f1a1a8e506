"""What is known about a model: its limits, what it takes, what it costs, and who says so."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.definitions import Effort

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


class TakesTemperature(StrEnum):
    """Whether a model takes a temperature; WITHOUT_EFFORT: only while it does not think."""

    YES = "yes"
    NO = "no"
    WITHOUT_EFFORT = "without_effort"


class CacheKind(StrEnum):
    """How a model's server remembers the beginning of a request: not at all, by itself, or
    where marks say so.
    """

    NONE = "none"
    AUTO = "auto"
    MARKS = "marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of a model in US dollars for one token; both `read` and `written` are 0 where it is free.

    `cached` is for a token that comes from the provider's cache, `cache_write` for one that is put there, and
    `cache_hour` for one that is kept there for an hour; None where it costs as much as without. A request of
    more than `tier` tokens costs more; 0 where all cost the same.
    """

    read: float = 0.0
    written: float = 0.0
    cached: float | None = None
    cache_write: float | None = None
    cache_hour: float | None = None
    tier: int = 0

    @property
    def free(self) -> bool:
        """Whether a call costs nothing."""
        return not self.read and not self.written

    def cost_of(self, read: int, written: int) -> float:
        """Return the US dollars of tokens that were read and written, none of them from a cache."""
        return read * self.read + written * self.written

    def saved(self, cached: int, written: int, *, for_hour: bool = False) -> float:
        """Return the dollars that the cache saved, less what writing to it cost."""
        read = self.read if self.cached is None else self.cached
        write = self.read if self.cache_write is None else self.cache_write
        if for_hour and self.cache_hour is not None:
            write = self.cache_hour
        return cached * (self.read - read) - written * (write - self.read)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What one source says about a model, or all of them together; a default value means
    that it is not known.

    `window` is how many tokens a request may have, `most_output` an answer. `efforts` are the values of
    Effort that the model takes, `default_effort` is what it does by itself ("none": it does not think),
    `top_effort` is its provider's name for Effort.MAX. `cache_min` is the shortest beginning, in tokens, that
    a cache keeps. `retires_on` is a date, `at` when it was learnt (ISO 8601, UTC).

    Of the voting check (`engine/voting`) `stable` is how many questions it answered alike in both orders, -1
    where it was not checked to the end; `answers` has a letter for each of its answers so far, and `address`
    is where it was asked.
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
    prices: Price | None = None
    retires_on: str = ""
    stable: int = -1
    answers: str = ""
    address: str = ""
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

    `without` are arguments that it refuses. `new_name_of_max_tokens`: it knows max_completion_tokens only.
    `no_system`: it takes no system text. `strict_turns`: user and assistant must alternate. `wants_thought`:
    it wants back what it thought before its calls. `most_output` is the longest answer that may be asked for,
    0 where that is not known.
    """

    without: tuple[str, ...] = ()
    new_name_of_max_tokens: bool = False
    no_system: bool = False
    strict_turns: bool = False
    wants_thought: bool = False
    most_output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuirks:
    """The quirks of a model, as `models.json` keeps them; `at` is when the last was learnt (ISO 8601,
    UTC).
    """

    base_url: str
    model: str
    at: str
    quirks: ModelQuirks


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """All that is known about models and outlives a restart."""

    facts: tuple[KnownFacts, ...] = ()
    quirks: tuple[KnownQuirks, ...] = ()


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
