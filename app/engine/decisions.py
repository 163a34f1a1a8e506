"""The journal: what the user decided in sessions, what came of it, and verdicts on which nobody decided yet.

A memo is one page about a decision, for a colleague, as Markdown or HTML. All of it is from the record; no
model is called.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from html import escape
from itertools import chain
from operator import attrgetter

from app.core.council import FAILED, HELD, PICKS, RESULTS, BlindPick, CastVote, Decision
from app.core.council_parts import ChosenAnswer, JudgeReading
from app.core.errors import BadInput, StorageError
from app.core.events import Event, EventBus, JournalChanged, SessionChanged
from app.core.frozen import Frozen
from app.core.ids import time_of, utc_now
from app.core.message import CouncilPart, Role
from app.core.session import DOCX, PDF, DebateSession, ExportFormat, Status
from app.core.store import Documents
from app.core.texts import clean_text, escape_markdown, trimmed
from app.engine.council.outcome import CouncilOutcome, in_full, judge_line, moves_line, outcome, unread_lines
from app.engine.council.record import Record
from app.engine.council.verdicts import current, outcomes
from app.engine.debate.replies import LETTERS, one_line, same_words, without_marks
from app.engine.library.definitions import MAX_NAME, Definitions, LibraryKind
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts

# How long a reason or a note may be.
MAX_TEXT = 4_000
_CONCLUDING = (CouncilPart.BALLOT, CouncilPart.READING)

JOURNAL_KIND = LibraryKind(Decision, "decision", attrgetter("journal"), JournalChanged, (), by_name=False)


class DecisionState(StrEnum):
    """How a decision stands, in the order of the list."""

    DUE = "due"
    KEPT = "kept"
    CAME_TRUE = "came_true"
    FAILED = "failed"
    NOT_DECIDED = "not_decided"


def _today() -> date:
    return datetime.now(UTC).astimezone().date()


class Journal(Definitions[Decision]):
    """The decisions, one for each session; everything raises BadInput, NotFound or StorageError in words.

    A debate or a council that ends with a verdict has an entry without a decision, until the user decides.
    """

    # Returns the date where the user is.
    today: Callable[[], date] = staticmethod(_today)
    _told: date | None = None

    def __init__(
        self,
        documents: Documents,
        bus: EventBus,
        language: Callable[[], str],
        live: Callable[[str], LiveSession | None],
    ) -> None:
        """`live` returns an open session."""
        super().__init__(JOURNAL_KIND, documents, bus, language, {})
        self._live = live
        self._notes: set[asyncio.Task[None]] = set()
        bus.subscribe(self._on_events)

    async def decide(
        self,
        live: LiveSession,
        decided: str,
        *,
        why: str = "",
        sure: int | None = None,
        sign: str = "",
        due: str = "",
        message: str = "",
    ) -> Decision:
        """Keep what the user decided in a session, with what all voted; a date brings it back to the user.

        `decided` is an option, by its text, letter or id, or any other text. What came of the decision before
        stays where the same is decided again.
        """
        option, text = chosen_option(live, decided)
        if not text:
            raise BadInput("text_empty")
        if sure is not None and not 0 <= sure <= 100:
            raise BadInput("journal_sure", sure=sure)
        check_date(due)
        made = replace(entry_of(live), decided=text, option=option, at=utc_now(), message=message)
        known = -1 if sure is None else sure
        made = replace(made, why=_text(why), sure=known, sign=one_line(sign), due=due)

        def kept() -> Decision:
            before = self.get(live.id)
            if before is None or before.decided != text:
                return made
            came = {name: getattr(before, name) for name in ("result", "right", "note", "known_at")}
            return replace(made, at=before.at or made.at, message=message or before.message, **came)

        return await self._save(kept)

    async def settle(self, decision_id: str, result: str, right: str = "", note: str = "") -> Decision:
        """Keep what came of a decision; where it held, what was decided was right."""
        if result not in RESULTS:
            raise BadInput("journal_result", result=result, results=", ".join(RESULTS))

        def settled(decision: Decision) -> Decision:
            if not decision.decided:
                raise BadInput("journal_undecided", title=decision.name)
            known = decision.decided if result == HELD else one_line(right)
            return replace(decision, result=result, right=known, note=_text(note), known_at=utc_now())

        return await self.change(decision_id, settled)

    async def look_again(self, decision_id: str, due: str) -> Decision:
        """Bring a decision back to the user on another date, "" for never."""
        check_date(due)
        return await self.change(decision_id, lambda decision: replace(decision, due=due))

    def due(self) -> tuple[Decision, ...]:
        """Return the decisions that the user wanted to look at by now, the oldest first."""
        today = self.today()
        late = (decision for decision in self.all() if standing(decision, today) == DecisionState.DUE)
        return tuple(sorted(late, key=lambda decision: decision.due))

    def look_at_day(self) -> None:
        """Tell that more may be due where a new day has begun since this was called last."""
        day, before = self.today(), self._told
        self._told = day
        if before not in (None, day):
            self._tell()

    async def close(self) -> None:
        """Wait for what is still written."""
        await asyncio.gather(*self._notes)

    def _on_events(self, batch: Sequence[Event]) -> None:
        """Note the verdict of each debate and council that has ended."""
        for event in batch:
            if isinstance(event, SessionChanged) and event.session.status == Status.COMPLETED:
                live = self._live(event.session_id)
                if live is not None and live.session.debate is not None:
                    note = asyncio.ensure_future(self._note(live))
                    self._notes.add(note)
                    note.add_done_callback(self._notes.discard)

    async def _note(self, live: LiveSession) -> None:
        # Answers on which nobody voted, and which nobody judged, are no verdict.
        given = any(each.part in _CONCLUDING for each in live.whole_messages())
        found, before = entry_of(live), self.get(live.id)
        known = before is not None and (before.decided or before.headline == found.headline)
        entry = replace(found, at=utc_now()) if given and found.headline and not known else None
        if before is not None and known and before.preferred != found.preferred:
            entry = replace(before, preferred=found.preferred)
        if entry is not None and not live.read_only:
            try:
                await self.save(entry)
            except (BadInput, StorageError):
                # The verdict stands in its session all the same.
                return


def entry_of(live: LiveSession) -> Decision:
    """Return what the journal keeps of a session before a decision: who took part, the votes, the verdict."""
    session, messages = live.session, list(live.whole_messages())
    entry = Decision(id=live.id, name=one_line(session.title, MAX_NAME), kind=session.kind)
    if not isinstance(session, DebateSession):
        assistants = (each.author.name for each in messages if each.role == Role.ASSISTANT)
        return replace(entry, who=tuple(dict.fromkeys(assistants)))
    debate = session.debate
    who = tuple(each.name for each in debate.participants)
    entry = replace(entry, kind=debate.mode, who=who)
    record = Record(debate, messages)
    result = outcome(record)
    texts = record.texts
    models = {each.id: f"{each.provider}/{each.model}" for each in debate.participants}
    votes = []
    for holder in record.voters():
        cast = record.vote(holder, 0), record.vote(holder, record.rounds)
        before, after = (texts.get(item.choice, "") for item in cast)
        first, last = (-1 if item.confidence is None else item.confidence for item in cast)
        vote = CastVote(model=models[holder], before=before, before_sure=first, after=after, after_sure=last)
        votes.append(vote)
    entry = replace(entry, panel=record.council.panel, options=tuple(texts.values()), votes=tuple(votes))
    entry = replace(entry, headline=texts.get(result.headline, ""), judge=result.judge)
    entry = replace(entry, state=result.state, unstable=result.unstable)
    return replace(entry, preferred=preferred(record.council.blind))


def preferred(blind: BlindPick | None) -> str:
    """Return whose answer was picked blind: PANEL, ALONE or "equal", "" for none."""
    if blind is None or not blind.picked or not blind.was_blind:
        return ""
    return dict(zip(PICKS, blind.order, strict=False)).get(blind.picked, blind.picked)


def options_of(live: LiveSession) -> list[tuple[str, str, str]]:
    """Return the options of a session: id, letter and text of each."""
    debate = live.session.debate
    if debate is None:
        return []
    record = Record(debate, list(live.whole_messages()))
    return [(option, record.letters.get(option, ""), text) for option, text in record.texts.items()]


def used_option(live: LiveSession) -> str:
    """Return the text of the option that the answer holds by which the user goes, "" for none."""
    record = Record(live.debate_session.debate, list(live.whole_messages()))
    used = record.held(ChosenAnswer, CouncilPart.CHOICE).message
    who = next((message.author.id for message in record.messages if message.id == used), "")
    return record.texts.get(record.vote(who, record.rounds).choice, "") if who else ""


def chosen_option(live: LiveSession, typed: str) -> tuple[str, str]:
    """Return id and text of the option that is meant by its text, letter or id; "" and the text for none."""
    text = one_line(typed)
    wanted, options = text.casefold(), options_of(live)
    for place in (2, 1, 0):
        for option in options:
            if option[place].casefold() == wanted:
                return option[0], option[2]
    return "", text


def standing(decision: Decision, today: date) -> DecisionState:
    """Return how a decision stands on a day."""
    if not decision.decided:
        return DecisionState.NOT_DECIDED
    if decision.result in (HELD, FAILED):
        return DecisionState.CAME_TRUE if decision.result == HELD else DecisionState.FAILED
    late = bool(decision.due) and decision.due <= today.isoformat() and not decision.result
    return DecisionState.DUE if late else DecisionState.KEPT


def listed(decisions: Sequence[Decision], today: date) -> list[Decision]:
    """Return decisions as a list shows them: those that are due, by their date, then the latest first."""
    due = [decision for decision in decisions if standing(decision, today) == DecisionState.DUE]
    others = (decision for decision in decisions if standing(decision, today) != DecisionState.DUE)
    return [*sorted(due, key=lambda each: each.due), *sorted(others, key=made_at, reverse=True)]


def made_at(decision: Decision) -> str:
    """Return when something was decided; in entries of before, when the session began, as its id says."""
    return decision.at or time_of(decision.id)


def decision_object(decision: Decision, today: date) -> dict[str, object]:
    """Return a decision as JSON, with how it stands and what `moot show` says of it."""
    state = standing(decision, today)
    record = asdict(decision) | {"at": made_at(decision), "state": str(state), "session_id": decision.id}
    decided = {} if state == DecisionState.NOT_DECIDED else {"decision": decided_object(decision)}
    return record | decided


def decided_object(decision: Decision | None) -> dict[str, object] | None:
    """Return what `moot show --json` says of what was decided, None where nothing was."""
    if decision is None or not decision.decided:
        return None
    known = decision.result in (HELD, FAILED)
    came = {"true": decision.result == HELD, "note": decision.note, "at": decision.known_at}
    return {
        "option": decision.option,
        "text": decision.decided,
        "why": decision.why,
        "sure": None if decision.sure < 0 else decision.sure,
        "signal": decision.sign,
        "check_on": decision.due,
        "at": decision.at,
        "came": came if known else None,
    }


def check_date(text: str) -> None:
    """Raise BadInput for a text that is neither "" nor a date such as 2027-01-31."""
    if text and not is_date(text):
        raise BadInput("journal_date", date=text)


def is_date(text: str) -> bool:
    """Say whether a text is a date such as 2027-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def day_of(iso: str) -> date | None:
    """Return the day of an ISO 8601 date or time where the user is, None for none."""
    try:
        moment = datetime.fromisoformat(iso.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment.astimezone() if moment.tzinfo else moment).date()


def _text(text: str) -> str:
    """Return what a user wrote. Raises BadInput where it is too long."""
    found = trimmed(clean_text(text))
    if len(found) > MAX_TEXT:
        raise BadInput("text_too_long", characters=len(found), most=MAX_TEXT)
    return found


# How many characters of a question the title and the line below it have.
MOST_TITLE, MOST_LEAD = 160, 600
# How many sentences of a case or of a view a page has room for.
SENTENCES = 3
_SENTENCE = re.compile(r"(?<=[.?!。？！])\s+")

# The name of who holds an option, and how sure that one was, in percent.
Holder = tuple[str, int | None]


class MemoOption(Frozen):
    """An option with who held it at first and at the end."""

    letter: str
    text: str
    chosen: bool = False
    first: tuple[Holder, ...] = ()
    last: tuple[Holder, ...] = ()


class MemoPart(Frozen):
    """A part of the page: its label, paragraphs, each with what leads it in bold, and notes in small type."""

    label: str
    paragraphs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    numbered: bool = False


class Memo(Frozen):
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
        found = []
        for letter, (words, text) in zip(LETTERS, texts.items(), strict=False):
            first = holders(words, begun, begun.voted_rounds[0]) if self._twice else (("", None),)
            last, chosen = holders(words, record, record.rounds), text == decided
            found.append(MemoOption(letter=letter, text=text, chosen=chosen, first=first, last=last))
        return found

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


MEMO_FORMATS = (ExportFormat.MARKDOWN, ExportFormat.HTML, PDF, DOCX)
_INK, _QUIET, _LINE, _ACCENT = "#1f1e1b", "#66635b", "#d9d5cb", "#3b5bdb"
_HEADING = "font-weight:600;line-height:120%"
# The widths of the column of labels and of that of the text, in pixels.
LABELS, TEXT = 148, 560
_STYLE = (
    f"body{{font-family:Pretendard,Inter,system-ui,sans-serif;font-size:15px;line-height:155%;color:{_INK}}}"
    "table{border-collapse:collapse}td{vertical-align:top;padding:0}"
    "@media screen and (min-width:1px){body{max-width:708px;margin:64px auto;padding:0 16px}}"
)


def memo_as_markdown(memo: Memo) -> str:
    """Return a memo as Markdown."""
    return "\n\n".join(filter(None, _markdown(memo))) + "\n"


def _markdown(memo: Memo) -> Iterator[str]:
    decision, options, first, last, _nobody = memo.labels
    yield f"# {escape_markdown(memo.title)}"
    yield escape_markdown(memo.lead)
    yield f"*{escape_markdown(' · '.join(memo.head))}*"
    yield f"## {escape_markdown(decision)}: {escape_markdown(memo.decided)}"
    yield escape_markdown(memo.why)
    yield "\n".join(f"- {escape_markdown(label)}: {escape_markdown(value)}" for label, value in memo.facts)
    if memo.options:
        yield f"## {escape_markdown(options)}"
        rows = [f"|  |  | {escape_markdown(first)} | {escape_markdown(last)} |", "| --- | --- | --- | --- |"]
        for option in memo.options:
            text = escape_markdown(option.text)
            held = (", ".join(_held(memo, holders)) for holders in (option.first, option.last))
            text = f"**{text}**" if option.chosen else text
            rows.append(f"| {option.letter} | {text} | {' | '.join(map(escape_markdown, held))} |")
        yield "\n".join(rows)
        yield f"*{escape_markdown(memo.options_note)}*" if memo.options_note else ""
    for part in memo.parts:
        yield f"## {escape_markdown(part.label)}"
        for place, (lead, text) in enumerate(part.paragraphs, 1):
            number = f"{place}. " if part.numbered else ""
            bold = f"**{escape_markdown(lead)}**" if lead else ""
            yield number + " ".join(filter(None, (bold, escape_markdown(text))))
        yield "\n".join(f"*{escape_markdown(note)}*  " for note in part.notes).rstrip()
    yield "---"
    yield f"*{escape_markdown(' · '.join(filter(None, memo.foot)))}*"


def _held(memo: Memo, holders: tuple[Holder, ...]) -> list[str]:
    """Return who holds an option, each with how sure."""
    return [f"{name} {sure}%" if sure is not None else name for name, sure in holders] or [memo.labels[-1]]


def memo_as_html(memo: Memo) -> str:
    """Return a memo as one page of HTML that loads nothing."""
    return (
        f'<!doctype html>\n<html lang="{escape(memo.language)}"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(memo.title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(_html(memo))}</body></html>\n"
    )


def _html(memo: Memo) -> Iterator[str]:
    what, when = memo.head
    yield _line(_small(_bold(escape(what), _ACCENT)), _small(escape(when)))
    yield f'<h1 style="{_HEADING};font-size:35px;margin:28px 0 12px 0">{escape(memo.title)}</h1>'
    if memo.lead:
        yield f'<p style="font-size:16px;color:{_QUIET};margin:0 0 20px 0">{escape(memo.lead)}</p>'
    decision, options, *_rest = memo.labels
    yield _part(decision, _decision(memo), accent=True)
    if memo.options:
        yield _part(options, _options(memo))
    for part in memo.parts:
        yield _part(part.label, _paragraphs(part))
    left, right = memo.foot
    yield _rule(_LINE)
    yield _line(_small(escape(left), 11), _small(escape(right), 11))


def _decision(memo: Memo) -> str:
    text = f'<h2 style="{_HEADING};font-size:26px;margin:0 0 8px 0">{escape(memo.decided)}</h2>'
    text += f"<p>{escape(memo.why)}</p>" if memo.why else ""
    if memo.facts:
        told = ((_small(escape(label)), _bold(escape(value))) for label, value in memo.facts)
        cells = "".join(f'<td style="padding-right:40px">{label}<br>{value}</td>' for label, value in told)
        text += f'<table style="margin-top:8px"><tr>{cells}</tr></table>'
    return text


def _options(memo: Memo) -> str:
    _decision, _options, first, last, _nobody = memo.labels
    heads = (f'<td width="112">{_small(escape(each))}</td>' for each in (first, last))
    rows = [f'<tr><td width="32"></td><td width="270"></td>{"".join(heads)}</tr>']
    for option in memo.options:
        colours = f"background-color:{_ACCENT};color:#ffffff" if option.chosen else f"color:{_INK}"
        style = f"font-weight:600;font-size:12px;{colours}"
        letter = f'<span style="{style}">&nbsp;{escape(option.letter)}&nbsp;</span>'
        held = ("<br>".join(map(escape, _held(memo, holders))) for holders in (option.first, option.last))
        columns = "".join(f'<td style="font-size:14px;padding-top:10px">{each}</td>' for each in held)
        rows.append(
            f'<tr><td style="padding-top:10px">{letter}</td>'
            f'<td style="padding-top:10px;padding-right:12px">{_bold(escape(option.text))}</td>{columns}</tr>'
        )
    note = f'<p style="margin-top:10px">{_small(escape(memo.options_note))}</p>' if memo.options_note else ""
    return f"<table>{''.join(rows)}</table>{note}"


def _paragraphs(part: MemoPart) -> str:
    found = []
    for place, (lead, text) in enumerate(part.paragraphs, 1):
        number = f"{_bold(str(place))}&nbsp;&nbsp;" if part.numbered else ""
        colour = f"color:{_QUIET}" if part.numbered and lead else ""
        bold = escape(lead) if part.numbered or not lead else _bold(escape(lead))
        said = f'<span style="{colour}">{escape(text)}</span>' if text else ""
        found.append(f'<p style="margin:0 0 8px 0">{number}{" ".join(filter(None, (bold, said)))}</p>')
    if part.notes:
        found.append(f'<p style="margin:0">{_small("<br>".join(map(escape, part.notes)))}</p>')
    return "".join(found)


def _part(label: str, text: str, *, accent: bool = False) -> str:
    """Return a part of the page: its label in a column of its own, under a line."""
    colour = _ACCENT if accent else _INK
    named = f'<span style="font-size:13px">{_bold(escape(label), colour)}</span>'
    return (
        f'{_rule(colour if accent else _LINE)}<table width="{LABELS + TEXT}"><tr><td width="{LABELS}" '
        f'style="padding-top:4px">{named}</td><td width="{TEXT}">{text}</td></tr></table>'
    )


def _rule(colour: str) -> str:
    """Return a line across the page, which Qt's layout draws in this colour too."""
    return (
        f'<table width="{LABELS + TEXT}" style="margin:14px 0 14px 0"><tr>'
        f'<td style="background-color:{colour};font-size:1px;line-height:1px" height="1"></td></tr></table>'
    )


def _line(left: str, right: str) -> str:
    last = f'<td align="right" style="text-align:right">{right}</td>'
    return f'<table width="{LABELS + TEXT}"><tr><td>{left}</td>{last}</tr></table>'


def _small(text: str, size: int = 13) -> str:
    return f'<span style="font-size:{size}px;color:{_QUIET}">{text}</span>'


def _bold(text: str, colour: str = _INK) -> str:
    # The fonts that come with Moot have this weight, and none that is bolder.
    return f'<span style="font-weight:600;color:{colour}">{text}</span>'
