"""A memo: one page about a decision, for a colleague. All of it is from the record; no model is called."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain

from app.core.council import FAILED, HELD, Decision
from app.core.council_parts import JudgeReading
from app.engine.council.outcome import CouncilOutcome, in_full, judge_line, moves_line, unread_lines
from app.engine.council.record import Record
from app.engine.council.verdicts import current, outcomes
from app.engine.debate.replies import LETTERS, one_line, same_words, without_marks
from app.engine.decisions.journal import day_of
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts

MOST_TITLE, MOST_LEAD = 160, 600
"""How many characters of a question the title and the line below it have."""
SENTENCES = 3
"""How many sentences of a case or of a view a page has room for."""
_SENTENCE = re.compile(r"(?<=[.?!。？！])\s+")

Holder = tuple[str, int | None]
"""The name of who holds an option, and how sure that one was, in percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoOption:
    """An option with who held it at first and at the end."""

    letter: str
    text: str
    chosen: bool = False
    first: tuple[Holder, ...] = ()
    last: tuple[Holder, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoPart:
    """A part of the page: its label, paragraphs, each with what leads it in bold, and notes in small type."""

    label: str
    paragraphs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    numbered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """The page in words, in the language of its session; parts that do not exist are empty."""

    language: str
    title: str
    lead: str
    # What stands in the first line: what the page is, and its date.
    head: tuple[str, str]
    # The decision, why, and facts with their labels: how sure, when to look again, by what one will know.
    decided: str
    why: str
    facts: tuple[tuple[str, str], ...]
    # The labels of the decision, the options, those who held them at first and at the end, and of nobody.
    labels: tuple[str, ...]
    options: tuple[MemoOption, ...]
    options_note: str
    parts: tuple[MemoPart, ...]
    # What stands in the last line: how it came about, and by what it was made.
    foot: tuple[str, str]


def memo_of(live: LiveSession, decision: Decision | None, prompts: Prompts, today: date) -> Memo:
    """Return the memo about a session, with what was decided in it."""
    return _Writer(live, decision, prompts, today).memo()


class _Writer:
    """Puts the record of a session and what was decided into the parts of the page."""

    def __init__(self, live: LiveSession, decision: Decision | None, prompts: Prompts, today: date) -> None:
        session, debate = live.session, live.session.debate
        self._session, self._today = session, today
        self._decision = decision if decision is not None and decision.decided else None
        self._lines = prompts.lines(session.language, "export")
        messages = list(live.whole_messages())
        self._given = outcomes(debate, messages) if debate is not None else []
        self._now = current(debate, messages, self._given) if debate is not None else None
        self._record = self._now.record if self._now is not None else None
        voted = {number for given in self._given for number in given.record.voted_rounds}
        # Whether all voted, or held something, before they did at the end.
        self._twice = len(voted) > 1

    def memo(self) -> Memo:
        """Return the memo."""
        record, words, decision = self._record, self._words, self._decision
        title, lead = _split(record.whole_question if record is not None else self._session.title)
        options, parts = list[MemoOption](), list[MemoPart]()
        if record is not None and self._now is not None:
            result, options = self._now.result, self._options(record)
            told = (tell(record, result) for tell in (self._verdict, self._minority, self._settles))
            parts = [part for part in chain.from_iterable(told) if part.paragraphs or part.notes]
        holders = [holder for option in options for holder in (*option.first, *option.last)]
        labels = ("decision", "options", "first" if self._twice else "", "last", "nobody")
        return Memo(
            language=self._session.language,
            title=title,
            lead=lead,
            head=(words("memo.title"), self._day(self._today)),
            decided=decision.decided if decision is not None else words("memo.undecided"),
            why=decision.why if decision is not None else "",
            facts=tuple(self._facts(decision)) if decision is not None else (),
            labels=tuple(words(f"memo.{label}") for label in labels),
            options=tuple(options),
            options_note=words("memo.percent") if any(sure is not None for _name, sure in holders) else "",
            parts=tuple(parts),
            foot=(self._origin(), words("memo.made")),
        )

    def _words(self, key: str, **values: object) -> str:
        return self._lines.get(key, key.partition(".")[2]).format(**values)

    def _day(self, day: date) -> str:
        """Return a date as people of the language write it."""
        month = self._words(f"memo.month.{day.month}")
        return self._words("memo.date", day=day.day, month=month, year=day.year)

    def _facts(self, decision: Decision) -> list[tuple[str, str]]:
        words, found = self._words, list[tuple[str, str]]()
        if decision.sure >= 0:
            found.append((words("memo.sure"), f"{decision.sure}%"))
        if decision.result in (HELD, FAILED):
            came, at = words(f"memo.came.{decision.result}"), day_of(decision.known_at)
            found.append((words("memo.came"), ", ".join((came, self._day(at)) if at else (came,))))
        elif due := day_of(decision.due):
            found.append((words("memo.look_again"), self._day(due)))
        if decision.sign:
            found.append((words("memo.right_if"), decision.sign))
        return found

    def _options(self, record: Record) -> list[MemoOption]:
        """Return the options now and before the first verdict, with who held them by the first votes
        and at the end.
        """
        begun = self._given[0].record if self._given else record
        if not begun.voted_rounds:
            return []

        def holders(option: str, record: Record, number: int) -> tuple[Holder, ...]:
            votes = [record.vote(who, number) for who in record.openings]
            texts = {vote.participant: same_words(record.texts.get(vote.choice, "")) for vote in votes}
            held = (vote for vote in votes if vote.choice and texts[vote.participant] == option)
            return tuple((record.names[vote.participant], vote.confidence) for vote in held)

        decided = self._decision.decided if self._decision is not None else ""
        texts = {same_words(item.text): item.text for item in (*record.options(), *begun.options())}
        return [
            MemoOption(
                letter=letter,
                text=text,
                chosen=text == decided,
                first=holders(words, begun, begun.voted_rounds[0]) if self._twice else (("", None),),
                last=holders(words, record, record.rounds),
            )
            for letter, (words, text) in zip(LETTERS, texts.items(), strict=False)
        ]

    def _verdict(self, record: Record, result: CouncilOutcome) -> Iterator[MemoPart]:
        words, texts = self._words, record.texts
        if not result.answered or not (record.debate.is_council or record.voted_rounds or result.judge):
            return
        held, everybody = result.after.votes.get(result.headline, 0), len(record.openings)
        lead = self._lead(record, result)
        if result.headline and held:
            lead = words("memo.by", option=lead, count=held, all=everybody)
        judged = [*filter(None, (judge_line(result, texts, words), moves_line(result, words)))]
        before = [f"{item.title(words)}: {self._lead(item.record, item.result)}" for item in self._given[:-1]]
        moves = (moves_line(item.result, words) for item in self._given[:-1])
        before = [". ".join(filter(None, said)) for said in zip(before, moves, strict=True)]
        notes = (*judged, *unread_lines(result, record.names, words), *before)
        said = _shortened(without_marks(result.text)) if result.headline else ""
        yield MemoPart(label=words("memo.verdict"), paragraphs=((lead, said),), notes=notes)

    def _lead(self, record: Record, result: CouncilOutcome) -> str:
        return record.texts.get(result.headline, "") or self._words(f"council.state.{result.state}")

    def _minority(self, record: Record, result: CouncilOutcome) -> Iterator[MemoPart]:
        words, names, texts = self._words, record.names, record.texts
        if not record.rounds:
            return
        paragraphs = [("", words("memo.alike"))] if result.headline else []
        if any(view.now for view in result.minority):
            paragraphs = []
            for view in in_full(result):
                who = ", ".join(names[each] for each in view.holders if each in names)
                key = "memo.holds" if view.now else "memo.held"
                held = words(key, names=who, option=texts.get(view.option, ""))
                paragraphs.append((held, _shortened(without_marks(view.text))))
                if view.right_if:
                    paragraphs.append((words("memo.it_is_right_if"), view.right_if))
        yield MemoPart(label=words("memo.minority"), paragraphs=tuple(paragraphs))

    def _settles(self, record: Record, result: CouncilOutcome) -> Iterator[MemoPart]:
        """Yield what would settle it, and what all agree on."""
        points = [(crux.text, crux.settled_by) for crux in result.cruxes]
        read = next((each for each in record.readings() if each.agreed or each.open), JudgeReading())
        points = points or [("", point.text) for point in read.open]
        alike = " ".join(point.text.rstrip(".。") + "." for point in read.agreed)
        yield MemoPart(label=self._words("memo.settles"), paragraphs=tuple(points), numbered=True)
        yield MemoPart(label=self._words("memo.agreed"), paragraphs=(("", alike),) if alike else ())

    def _origin(self) -> str:
        """Return how it came about, in a sentence."""
        words, session = self._words, self._session
        if session.debate is None:
            name = session.chat.assistant_name if session.chat is not None else ""
            return words(f"memo.origin.{session.kind}", name=name)
        count = len(session.debate.participants)
        if self._record is None or not session.debate.is_council:
            return words("memo.origin.debate", count=count, rounds=session.debate.rounds)
        found = [given.record for given in self._given] or [self._record]
        # In a what-if round all answer and vote, and nothing is argued.
        rounds = max(record.rounds - record.concludes for record in found)
        key = "argued" if rounds > 1 else "argued.one" if rounds else "answers"
        return words(f"memo.origin.{key}", count=count, rounds=rounds)


def _split(question: str) -> tuple[str, str]:
    """Return the first sentence of a question as the title, and the rest."""
    first, *rest = _SENTENCE.split(" ".join(question.split()), maxsplit=1)
    return one_line(first, MOST_TITLE), one_line(" ".join(rest), MOST_LEAD)


def _shortened(text: str) -> str:
    """Return the first sentences of a text on one line."""
    return " ".join(_SENTENCE.split(" ".join(text.split()))[:SENTENCES])
