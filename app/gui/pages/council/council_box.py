"""A council as its page shows it, the prices of its steps, and who could judge it.

`WorthCard`: what one model alone said, what the council said, and what each took; with the buttons that ask
others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.core.council import ANY_JUDGE, NO_JUDGE, Judge
from app.core.council_parts import Position
from app.core.message import CouncilPart, Message, Role, user_name
from app.core.session import DebateSession
from app.engine.council.commands import Councils
from app.engine.council.outcome import (
    CouncilOutcome,
    State,
    cite_text,
    lettered,
    outcome,
    state_text,
    surest,
    who_may_join,
)
from app.engine.council.record import Record
from app.engine.debate.estimates import Estimate, price_text
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending
from app.gui.pages.council.council_columns import Letter, Shown
from app.gui.panels.debate.cited_text import Cite
from app.gui.widgets.boxes import vbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, plain_tip

DOING = {
    CouncilPart.BALLOT: "verdict.voting",
    CouncilPart.READING: "verdict.judging",
    CouncilPart.DISSENT: "council.doing.dissent",
    CouncilPart.MERGE: "council.doing.merge",
    CouncilPart.SOLO: "council.doing.solo",
    CouncilPart.CHECK: "council.doing.check",
}
"""What is being done where a part is written that nobody says in turn."""
BUTTONS = (("solo", "cpu"), ("check", "search"), ("stress", "shield-question-mark"))


@dataclass(frozen=True, slots=True)
class Judged:
    """A debate or a council as the page shows it; `may_ask` says whether anything can still be asked of it.

    `prices` are those of a council's buttons, by what they do; `judges` are who could judge a debate, and `problem` is why
    none did where another verdict was asked for.
    """

    session: DebateSession
    messages: Mapping[str, Message]
    record: Record = field(compare=False)
    result: CouncilOutcome
    people: Mapping[str, Shown]
    may_ask: bool = False
    prices: Mapping[str, str] = field(default_factory=dict)
    outsider: str = ""
    judges: tuple[Judge, ...] = ()
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


class WorthCard(QFrame):
    """Compares one model alone with the council; emits wanted(solo, check, stress or join)."""

    wanted = Signal(str)

    def __init__(self, language: Language, look: Look, judged: Judged) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.setObjectName("council_worth")
        self._language, self._look, self._judged = language, look, judged
        words, record, result = language, judged.record, judged.result
        self._letters = lettered(record)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self._grid.setHorizontalSpacing(10)
        best = surest(record)
        alone = record.openings().get(best)
        first = record.vote(best, 0).choice if alone else ""
        name = judged.people[best].name if best in judged.people else ""
        self._add(words("council.worth.first", name=name), first, [alone] if alone else [])
        solo, check = record.last(CouncilPart.SOLO), record.last(CouncilPart.CHECK, number=0)
        for key, one in (("solo", solo), ("check", check)):
            if one is not None:
                choice = record.standing(one.data_as(Position).choice)
                self._add(words(f"council.worth.{key}", name=one.author.name), choice, [one])
        apart = (solo, check)
        whole = [one for one in record.since if one not in apart]
        self._add(words("council.worth.this"), result.headline, whole, kind="value")
        said = self._sentence(record, first, solo)
        checked = record.standing(record.held(Position, CouncilPart.CHECK, number=0).choice)
        if checked and result.headline:
            said += " " + words(
                "council.worth.agrees" if checked == result.headline else "council.worth.differs"
            )
        buttons: list[QWidget] = []
        for what, icon in BUTTONS:
            made = button("", f"council_{what}", partial(self.wanted.emit, what))
            made.dress(look, icon, "text_2")
            made.setText(f"{words(f'council.{what}')}  {judged.prices.get(what, '')}".strip())
            missing = what == "check" and not judged.outsider
            made.setEnabled(not missing and what in judged.prices)
            tip = words("error.council_no_outsider") if missing else words(f"council.{what}.hint")
            made.setToolTip(plain_tip(tip))
            made.setAccessibleDescription(tip)
            buttons.append(made)
            if missing:
                buttons.append(Paragraph("hint", text=tip))
        offered = who_may_join(record, result)
        seat = button("", "council_worth_join", partial(self.wanted.emit, "join"))
        seat.dress(look, "plus", "text_2")
        seat.setText(words("council.join"))
        seat.setToolTip(plain_tip(words("council.join.hint")))
        seat.setVisible(offered is not None and "check" in judged.prices)
        vbox(
            plain_label("card_title", text=words("council.worth.title")),
            self._grid,
            named("council_worth_words", Paragraph("hint", text=said)),
            seat,
            *buttons,
            inside=self,
            margins=(16, 12, 16, 12),
            spacing=8,
        )

    def _add(self, name: str, choice: str, messages: list[Message], kind: str = "hint") -> None:
        words, row = self._language, self._grid.rowCount()
        tile = Letter(self._look)
        tile.show_letter(self._letters.get(choice, "–"), leads=choice == self._judged.result.headline)
        spent = Spending()
        spent.add(messages)
        seconds = words("council.seconds", seconds=round(_seconds(messages), 1))
        self._grid.addWidget(ElidedLabel(kind, text=name), row, 0)
        self._grid.addWidget(tile, row, 1)
        self._grid.addWidget(plain_label(kind, text=spent.known_text(words)), row, 2)
        self._grid.addWidget(plain_label(kind, text=seconds), row, 3)

    def _sentence(self, record: Record, first: str, solo: Message | None) -> str:
        """Say whether one model alone came to the same; never that either was right."""
        words, result = self._language, self._judged.result
        alone = record.standing(solo.data_as(Position).choice) if solo is not None else first
        if not result.headline or alone != result.headline:
            return words("council.worth.other")
        added = []
        if any(one.now for one in result.minority):
            added.append(words("council.worth.dissent"))
        if result.cruxes:
            added.append(words("council.worth.cruxes", count=len(result.cruxes)))
        if not added:
            return words("council.worth.same")
        both = words("council.worth.both", first=added[0], second=added[1]) if len(added) > 1 else added[0]
        return words("council.worth.added", what=both)


def _seconds(messages: list[Message]) -> float:
    """Return how long calls took: those of one part and round ran side by side."""
    longest: dict[tuple[str, int], float] = {}
    for one in messages:
        key = (one.part, one.round)
        longest[key] = max(longest.get(key, 0.0), one.seconds or 0.0)
    return sum(longest.values())


STEPS = ("compare", "merge", "again", "what_if", "debate", "argue", "solo", "check", "stress")
TONES = {State.SETTLED: "ok", State.AGREED_ONE_FAMILY: "warn", State.LEANING: "accent"}


def step_price(words: Language, estimate: Estimate, *, most: bool) -> str:
    """Return what a step costs; where no price is known, how many calls it takes (at most)."""
    if estimate.usd is None or estimate.unasked:
        return words("council.calls_most" if most else "council.calls", count=estimate.turns)
    return price_text(words, estimate)


def prices_of(
    councils: Councils,
    session: DebateSession,
    messages: Sequence[Message],
    to: Sequence[str],
    words: Language,
) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Return the prices of all steps, of a follow-up to those in `to` or all, and the models whose price isn't known yet."""
    estimates = {
        step: councils.estimate(session, messages, step, to if step == "what_if" else ()) for step in STEPS
    }
    prices = {
        step: step_price(words, one, most=step in ("debate", "argue", "stress"))
        for step, one in estimates.items()
    }
    return prices, tuple(dict.fromkeys(chain.from_iterable(one.unasked for one in estimates.values())))


def judges_of(councils: Councils, session: DebateSession, chosen: str, words: Language) -> dict[str, str]:
    """Return who could judge with their names: by itself, a model, or nobody."""
    models = [*([chosen] if "/" in chosen else []), *councils.judges(session.id)]
    named_ones = {one: words("council.judge.model", name=one.partition("/")[2]) for one in models}
    automatic, nobody = words("council.judge.automatic"), words("council.judge.off")
    return {ANY_JUDGE: automatic} | named_ones | {NO_JUDGE: nobody}


def announcement(session: DebateSession, messages: Sequence[Message], words: Language) -> str:
    """Return what a screen reader says at the end: how settled it is, what leads and how many hold something else now."""
    record, result = Record(session.debate, messages), outcome(session.debate, messages)
    headline = next((one.text for one in record.options() if one.id == result.headline), "")
    minority = sum(len(one.holders) for one in result.minority if one.now) if headline else 0
    said = words("council.minority", count=minority) if minority else ""
    return ". ".join(filter(None, (state_text(result, words), headline, said)))
