"""The journal: what the user decided in sessions, what came of it, and verdicts on which nobody decided
yet.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from enum import StrEnum

from app.core.council import FAILED, HELD, PICKS, RESULTS, BlindPick, CastVote, Decision
from app.core.council_parts import ChosenAnswer
from app.core.errors import BadInput, StorageError
from app.core.events import Event, EventBus, JournalChanged, SessionChanged
from app.core.ids import time_of, utc_now
from app.core.message import CouncilPart, Role
from app.core.session import DebateSession, Status
from app.core.store import Documents
from app.core.texts import clean_text, trimmed
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.debate.replies import one_line
from app.engine.library.definitions import MAX_NAME, Definitions, LibraryKind
from app.engine.live_session import LiveSession

MAX_TEXT = 4_000
"""How long a reason or a note may be."""
_CONCLUDING = (CouncilPart.BALLOT, CouncilPart.READING)

JOURNAL_KIND = LibraryKind(
    noun=Decision,
    name="decision",
    store=lambda documents: documents.journal,
    changed=JournalChanged,
    shared=(),
    by_name=False,
)


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

    today: Callable[[], date] = staticmethod(_today)
    """Returns the date where the user is."""
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
        messages = live.whole_messages()
        # Answers on which nobody voted, and which nobody judged, are no verdict.
        given = any(each.part in _CONCLUDING for each in messages)
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
    return replace(
        entry,
        panel=record.council.panel,
        options=tuple(texts.values()),
        headline=texts.get(result.headline, ""),
        state=result.state,
        unstable=result.unstable,
        judge=result.judge,
        votes=tuple(votes),
        preferred=preferred(record.council.blind),
    )


def preferred(blind: BlindPick | None) -> str:
    """Return whose answer was picked blind: PANEL, ALONE or "equal", "" for none."""
    if blind is None or not blind.picked or not blind.was_blind:
        return ""
    places = dict(zip(PICKS, blind.order, strict=False))
    return places.get(blind.picked, blind.picked)


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
