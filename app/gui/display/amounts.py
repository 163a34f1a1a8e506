"""Tokens, money and durations as texts, and what a session has cost so far."""

from collections.abc import Callable, Iterable

from app.core.message import Message, Usage
from app.core.session import Session
from app.core.usage import Total, amount_text, money_text, saved_text, totals, used_text
from app.engine.debate.estimates import Estimate, price_range
from app.gui.display.i18n import Language
from app.gui.display.session_kinds import kind_of


class Spending:
    """The usage of each speaker in a session, by message, so that no call counts twice."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[str, Usage]] = {}

    def add(self, messages: Iterable[Message]) -> None:
        """Add the usage of messages, once each."""
        for message in messages:
            if message.usage is not None:
                self._used[message.id] = (message.author.name, message.usage)

    def add_session(self, session: Session) -> None:
        """Add calls that made no message, once each: votes, the verdict, and calls that were cut before a word."""
        for key, author, usage in kind_of(session).usage(session):
            self._used[key] = (author, usage)

    def text(self, language: Language) -> str:
        """Return the total tokens and money, "" while nothing is known."""
        if not self._used:
            return ""
        total = self._total()
        text = language("cost.tokens", cost=money_text(language, total), tokens=used_text(total))
        return " · ".join(filter(None, (text, saved_text(language, total))))

    def short_text(self, language: Language) -> str:
        """Return the total money, for narrow places."""
        return money_text(language, self._total()) if self._used else ""

    def known_text(self, language: Language) -> str:
        """Return the total money, "" where no price is known, which another place says."""
        text = self.short_text(language)
        return "" if text == language("cost.unknown") else text

    def lines(self, language: Language) -> str:
        """Return one line for each speaker; where no price at all is known, the sum says so, not each line."""
        unknown = self._total().cost_usd is None
        speakers = totals((name or language("usage.moot"), usage) for name, usage in self._used.values())
        parts = []
        for name, total in speakers.items():
            cost, tokens = money_text(language, total), used_text(total)
            key = "cost.line_unpriced" if unknown else "cost.line"
            line = language(key, name=name, cost=cost, tokens=tokens)
            parts.append(" · ".join(filter(None, (line, saved_text(language, total)))))
        return "\n".join(parts)

    def _total(self) -> Total:
        return Total.of(*(usage for _, usage in self._used.values()))


def estimate_text(language: Language, estimate: Estimate, of: str = "turns") -> str:
    """Return an estimate in one line: the number of turns (or `of` steps), and the range of tokens and money."""
    if estimate.free:
        return language("estimate.free" if of == "turns" else "estimate.free_steps", count=estimate.turns)
    least, most = (rough_tokens(tokens) for tokens in estimate.tokens)
    tokens = most if least == most else language("estimate.range", least=least, most=most)
    money = price_range(language, estimate)
    return language(f"estimate.{of}", count=estimate.turns, tokens=tokens, money=money)


def most_text(language: Language, estimate: Estimate) -> str:
    """Return a sentence: what one message to a group costs at most."""
    if estimate.unasked:
        money = language("estimate.asking")
    elif estimate.free:
        money = language("cost.free")
    elif estimate.usd is None:
        money = language("cost.unknown")
    else:
        amount = amount_text(estimate.usd[1])
        money = language("cost.least" if estimate.partly else "cost.money", amount=amount)
    return language("estimate.most", tokens=rough_tokens(estimate.tokens[1]), money=money)


def rough_tokens(tokens: int) -> str:
    """Return an estimated number of tokens: `400`, `9k`, `1.3M`."""
    if tokens < 1_000:
        return str(round(tokens, -2))
    return f"{tokens / 1_000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def time_text(seconds: int, words: Callable[..., str]) -> str:
    """Return a duration as text: `42 s`, `2 min 5 s`."""
    minutes, seconds = divmod(seconds, 60)
    key = "transcript.group.minutes" if minutes else "transcript.group.elapsed"
    return words(key, minutes=minutes, seconds=seconds)
