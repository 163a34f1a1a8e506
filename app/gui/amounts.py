"""Tokens and money as people read them, and what a session has cost so far."""

from collections.abc import Iterable

from app.core.message import Message, Usage
from app.gui.i18n import Language


def tokens_text(tokens: int) -> str:
    """Return a number of tokens in short: `950`, `6.2k`, `1.3M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens / 1_000_000:.1f}M"


class Spending:
    """What each speaker of a session used, one entry a message, so that nothing counts twice."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[str, Usage]] = {}

    def add(self, messages: Iterable[Message]) -> None:
        """Count these messages, once each."""
        for message in messages:
            if message.usage is not None:
                self._used[message.id] = (message.author.name, message.usage)

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
        speakers: dict[str, list[Usage]] = {}
        for name, usage in self._used.values():
            speakers.setdefault(name, []).append(usage)
        parts = []
        for name, usages in speakers.items():
            cost, tokens = _sum(language, usages, part="cost.partly")
            parts.append(language("cost.line", name=name, cost=cost, tokens=tokens))
        return "\n".join(parts)


def _sum(language: Language, usages: list[Usage], part: str = "cost.least") -> tuple[str, str]:
    """Return money and tokens in words; `part` is the text for a sum of which a part is not known."""
    tokens = tokens_text(sum(usage.input_tokens + usage.output_tokens for usage in usages))
    known = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    total = sum(known)
    # What costs something never reads as nothing.
    amount = f"{total:.2f}" if total >= 0.01 else f"{max(total, 0.0001):.4f}"
    if not known or (total == 0 and len(known) < len(usages)):
        return language("cost.unknown"), tokens
    if len(known) < len(usages):
        return language(part, amount=amount), tokens
    return language("cost.free") if total == 0 else language("cost.money", amount=amount), tokens
