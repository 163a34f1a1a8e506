"""A council as its page shows it, the prices of its steps, and who could judge it.

`outside_card`: what models said that were asked alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from PySide6.QtWidgets import QFrame

from app.core.council import ANY_JUDGE, NO_JUDGE, Seat
from app.core.council_parts import Position
from app.core.message import CouncilPart, Message, Role, user_name
from app.core.session import DebateSession
from app.engine.council.commands import Councils
from app.engine.council.outcome import CouncilOutcome, State, cite_text, state_text, who_may_join
from app.engine.council.record import Record
from app.engine.council.verdicts import Given
from app.engine.debate.estimates import Estimate, price_text
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending
from app.gui.pages.council.council_columns import Letter, People
from app.gui.panels.debate.cited_text import Cite
from app.gui.widgets.boxes import Part, card, hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, plain_tip

DOING = {
    CouncilPart.BALLOT: "verdict.voting",
    **dict.fromkeys((CouncilPart.READING, CouncilPart.MOVES), "verdict.judging"),
    CouncilPart.DISSENT: "council.doing.dissent",
    CouncilPart.MERGE: "council.doing.merge",
    CouncilPart.SOLO: "council.doing.solo",
    CouncilPart.CHECK: "council.doing.check",
}
"""What is being done where a part is written that nobody says in turn."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A debate or a council as the page shows it; `may_ask` says whether anything can still be asked of it.

    `prices` are those of a council's buttons, by what they do; `judges` are the names of who could judge a
    debate, by "provider/model", and `problem` is why none did where another verdict was asked for.
    """

    session: DebateSession
    messages: Mapping[str, Message]
    record: Record = field(compare=False)
    result: CouncilOutcome
    people: People
    may_ask: bool = False
    prices: Mapping[str, str] = field(default_factory=dict)
    outsider: str = ""
    judges: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def cite(self, message_id: str, words: Language) -> Cite | None:
        """Return how a statement is cited, None where it is not there."""
        message = self.messages.get(message_id)
        if message is None:
            return None
        shown = self.people.get(message.author.id)
        name = shown.name if shown else message.author.name
        name = user_name(message.author, words.texts) if message.role == Role.USER else name
        key = "council.cite.go" if message.part == CouncilPart.ANSWER else "verdict.cite.go"
        return cite_text(message, name, words), words(key, name=name, round=message.round)


def outside_card(words: Language, look: Look, judged: Judged, joined: Callable[[], object]) -> QFrame | None:
    """Return what models said that were asked alone, with what lets one take part; None where none was
    asked.
    """
    record, result, rows = judged.record, judged.result, list[Part]()
    letters = record.letters
    for key, part in (("blind.side.alone", CouncilPart.SOLO), ("council.outside.check", CouncilPart.CHECK)):
        if (one := record.last(part, number=0)) is None:
            continue
        choice, spent = record.standing(one.data_as(Position).choice), Spending()
        tile = Letter(look, letters.get(choice, "–"), leads=choice == result.headline)
        spent.add((one,))
        name = ElidedLabel("hint", text=words(key, name=one.author.name))
        cost = plain_label("hint", text=spent.known_text(words))
        rows.append(hbox((name, 1), tile, cost, spacing=10))
        if part == CouncilPart.CHECK and choice and result.headline:
            same = choice == result.headline
            rows.append(Paragraph("hint", text=words(f"council.outside.{'agrees' if same else 'differs'}")))
    if not rows:
        return None
    if who_may_join(record, result) is not None and "check" in judged.prices:
        seat = button("", "council_outside_join", joined, text=words("council.join")).dress(look, "plus")
        seat.setToolTip(plain_tip(words("council.join.hint")))
        rows.append(seat)
    title = plain_label("card_title", text=words("council.outside.title"))
    return card("council_outside", title, *rows, spacing=8)


PRICED = ("compare", "merge", "again", "what_if", "debate", "argue", "check", "stress", "blind")
TONES = {State.SETTLED: "ok", State.AGREED_ONE_FAMILY: "warn", State.LEANING: "accent"}


def step_price(words: Language, estimate: Estimate, *, most: bool) -> str:
    """Return what a step costs; where no price is known, how many calls it takes (at most, also where
    the web may be read).
    """
    if estimate.usd is None or estimate.unasked:
        key = "council.calls_most" if most or estimate.reads else "council.calls"
        return words(key, count=estimate.turns + estimate.reads)
    return price_text(words, estimate)


def prices_of(estimates: Mapping[str, Estimate], words: Language) -> tuple[dict[str, str], tuple[Seat, ...]]:
    """Return the prices of steps, and the models whose price isn't known yet."""
    ranges = ("debate", "argue", "stress", "blind")
    prices = {step: step_price(words, estimate, most=step in ranges) for step, estimate in estimates.items()}
    return prices, tuple(dict.fromkeys(chain.from_iterable(item.unasked for item in estimates.values())))


def judges_of(councils: Councils, session: DebateSession, chosen: str, words: Language) -> dict[str, str]:
    """Return who could judge with their names: by itself, a model, or nobody."""
    models = [*([chosen] if "/" in chosen else []), *councils.providers.outside(session)]
    named_ones = {model: words("council.judge.model", name=model.partition("/")[2]) for model in models}
    automatic, nobody = words("council.judge.automatic"), words("council.judge.off")
    return {ANY_JUDGE: automatic} | named_ones | {NO_JUDGE: nobody}


def announcement(given: Given, words: Language) -> str:
    """Return what a screen reader says at the end: how settled it is, what leads
    and how many hold something else now.
    """
    result = given.result
    headline = given.record.texts.get(result.headline, "")
    minority = sum(len(view.holders) for view in result.minority if view.now) if headline else 0
    said = words("council.minority", count=minority) if minority else ""
    return ". ".join(filter(None, (state_text(result, words), headline, said)))
