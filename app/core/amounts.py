"""Tokens and money as people read them, in window and terminal; `words` are the texts of the language."""

from collections.abc import Callable

from app.core.usage import Total


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
    """Return dollars as digits: `1.25`, `0.0040`; what costs something never reads as nothing."""
    return f"{usd:.2f}" if usd >= 0.01 or not usd else f"{max(usd, 0.0001):.4f}"


def money_text(words: Callable[..., str], total: Total, part: str = "cost.least") -> str:
    """Return what calls cost in words; `part` is the text for a sum of which a part is not known."""
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
