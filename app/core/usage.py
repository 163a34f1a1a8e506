"""What calls of models used and cost, as the ledger keeps it and as people read it."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.message import Author, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of a model in US dollars: for a token it reads and a token it writes; both 0 where it is free."""

    input_usd: float = 0.0
    output_usd: float = 0.0

    @property
    def free(self) -> bool:
        """Whether a call costs nothing."""
        return not self.input_usd and not self.output_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageEntry:
    """One call of a model: the message it made, its author, and what it used.

    `at` is ISO 8601 in UTC. `cost_usd` is None where the price is unknown, 0 where it is free. A call that made no
    message has an id of its own as `message_id`. `estimated` is as in a message's usage.
    """

    message_id: str = ""
    at: str = ""
    session_id: str = ""
    author_id: str = ""
    author: str = ""
    provider: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False

    @classmethod
    def of(
        cls, usage: Usage, *, message_id: str, at: str, session_id: str, author: Author | None
    ) -> "UsageEntry":
        """Return the entry of what a message, or a call that made none, used."""
        return cls(
            message_id=message_id,
            at=at,
            session_id=session_id,
            author_id=author.id if author else "",
            author=author.name if author else "",
            provider=usage.provider,
            model=usage.model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            estimated=usage.estimated,
        )

    @property
    def month(self) -> str:
        """The calendar month in UTC, as providers bill it: `2026-11`."""
        return self.at[:7]


@dataclass(slots=True)
class Total:
    """The sum of some calls; `unpriced` counts those without a known price, which `cost_usd` lacks, and `estimated` those
    whose tokens were counted by Moot alone.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    known_usd: float = 0.0
    unpriced: int = 0
    estimated: int = 0

    @classmethod
    def of(cls, entry: UsageEntry | Usage) -> "Total":
        """Return the sum of one call."""
        total = cls()
        total.add(entry)
        return total

    def add(self, entry: UsageEntry | Usage) -> None:
        """Count one more call."""
        self.calls += 1
        self.input_tokens += entry.input_tokens
        self.output_tokens += entry.output_tokens
        self.known_usd += entry.cost_usd or 0.0
        self.unpriced += entry.cost_usd is None
        self.estimated += entry.estimated

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.known_usd + other.known_usd,
            self.unpriced + other.unpriced,
            self.estimated + other.estimated,
        )

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.input_tokens + self.output_tokens

    @property
    def cost_usd(self) -> float | None:
        """The known dollars, None where none of the calls has a price."""
        return None if self.calls and self.unpriced == self.calls else self.known_usd


def tokens_text(tokens: int) -> str:
    """Return a number of tokens in short: `950`, `6.2k`, `1.3M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens / 1_000_000:.1f}M"


def used_text(total: Total, tokens: int | None = None) -> str:
    """Return the tokens of calls, or a part of them, in short: `≈ 6.2k` where some of them are estimated."""
    text = tokens_text(total.tokens if tokens is None else tokens)
    return f"≈ {text}" if total.estimated else text


def amount_text(usd: float) -> str:
    """Return dollars as digits: `1.25`, `0.0040`; a cost above 0 never reads as 0."""
    return f"{usd:.2f}" if usd >= 0.01 or not usd else f"{max(usd, 0.0001):.4f}"


def money_text(words: Callable[..., str], total: Total, part: str = "cost.least") -> str:
    """Return what calls cost in words; `part` is the key of the text for a partly unknown sum."""
    known = total.known_usd
    if not total.calls:
        return words("cost.money", amount=amount_text(0))
    if total.cost_usd is None or (not known and total.unpriced):
        return words("cost.unknown")
    if total.unpriced:
        return words(part, amount=amount_text(known))
    if not known:
        return words("cost.free")
    return words("cost.about" if total.estimated else "cost.money", amount=amount_text(known))
