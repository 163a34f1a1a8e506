"""Tokens, money and sizes of files in words, and what a session has cost so far."""

from collections.abc import Iterable

from app.core.amounts import amount_text, money_text, used_text
from app.core.message import Message, Usage
from app.core.session import Session
from app.core.usage import Total, UsageEntry
from app.engine.usage.estimate import Estimate
from app.gui.display.i18n import Language
from app.gui.display.session_kinds import kind_of


class Spending:
    """What each speaker of a session used, one entry a call, so that nothing counts twice."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[str, Usage | UsageEntry]] = {}

    def add(self, messages: Iterable[Message]) -> None:
        """Count these messages, once each."""
        for message in messages:
            if message.usage is not None:
                self._used[message.id] = (message.author.name, message.usage)

    def add_session(self, session: Session) -> None:
        """Count what made no message, once each: votes, the verdict, calls that were cut before a word."""
        for key, author, usage in kind_of(session).usage(session):
            self._used[key] = (author, usage)

    def text(self, language: Language) -> str:
        """Return the sum in words, empty while nothing is known."""
        if not self._used:
            return ""
        cost, tokens = _sum(language, [usage for _, usage in self._used.values()])
        return language("cost.tokens", cost=cost, tokens=tokens)

    def short_text(self, language: Language) -> str:
        """Return the sum of the money alone, for where there is little room."""
        return _sum(language, [usage for _, usage in self._used.values()])[0] if self._used else ""

    def lines(self, language: Language) -> str:
        """Return one line a speaker."""
        speakers: dict[str, list[Usage | UsageEntry]] = {}
        for name, usage in self._used.values():
            speakers.setdefault(name or language("usage.moot"), []).append(usage)
        parts = []
        for name, usages in speakers.items():
            cost, tokens = _sum(language, usages, part="cost.partly")
            parts.append(language("cost.line", name=name, cost=cost, tokens=tokens))
        return "\n".join(parts)


def estimate_text(language: Language, estimate: Estimate, of: str = "turns") -> str:
    """Return what is to come in one line: how many turns (or `of` steps), tokens and money, from the least
    to the most.
    """
    if estimate.free:
        return language("estimate.free" if of == "turns" else "estimate.free_steps", count=estimate.turns)
    least, most = (rough_tokens(tokens) for tokens in estimate.tokens)
    tokens = most if least == most else language("estimate.range", least=least, most=most)
    money = price_range(language, estimate)
    return language(f"estimate.{of}", count=estimate.turns, tokens=tokens, money=money)


def price_range(language: Language, estimate: Estimate) -> str:
    """Return what is to come in money: a range, … while prices are asked for, n/a without one."""
    if estimate.unasked:
        return language("estimate.asking")
    if estimate.usd is None:
        return language("cost.unknown")
    least, most = estimate.usd
    if most >= 0.01 > least:
        text = language("estimate.up_to", most=amount_text(most))
    else:
        text = language("estimate.money", least=amount_text(least), most=amount_text(most))
    return language("estimate.partly", money=text) if estimate.partly else text


def most_text(language: Language, estimate: Estimate) -> str:
    """Return in a sentence what one message to a group will use at most."""
    if estimate.unasked:
        money = language("estimate.asking")
    elif estimate.free:
        money = language("cost.free")
    elif estimate.usd is None:
        money = language("cost.unknown")
    else:
        amount = amount_text(estimate.usd[1])
        money = language("cost.partly" if estimate.partly else "cost.money", amount=amount)
    return language("estimate.most", tokens=rough_tokens(estimate.tokens[1]), money=money)


def rough_tokens(tokens: int) -> str:
    """Return a number of tokens that is not known exactly: `400`, `9k`, `1.3M`."""
    if tokens < 1_000:
        return str(round(tokens, -2))
    return f"{tokens / 1_000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def _sum(language: Language, usages: list[Usage | UsageEntry], part: str = "cost.least") -> tuple[str, str]:
    """Return money and tokens in words."""
    total = Total()
    for usage in usages:
        total.add(usage)
    return money_text(language, total, part), used_text(total)


_UNITS = ("B", "kB", "MB", "GB")


def size_text(count: int) -> str:
    """Return a number of bytes in short: `950 B`, `12 kB`, `3.4 MB`."""
    size = float(count)
    unit = 0
    while size >= 1_000 and unit < len(_UNITS) - 1:
        size /= 1_000
        unit += 1
    return f"{size:.1f} {_UNITS[unit]}" if unit and size < 10 else f"{size:.0f} {_UNITS[unit]}"
