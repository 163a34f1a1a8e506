"""The commands of councils: ask several, ask again, merge, use an answer; `engine.councils` for the faces.

Also what the next step of a council will use, with the real lengths of what was asked and said.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from app.core.council import (
    ALONE,
    ANY_JUDGE,
    NO_JUDGE,
    PANEL,
    PICKS,
    VOTING_ENDS,
    BlindPick,
    Ends,
    Panel,
    Participant,
    Seat,
)
from app.core.council_parts import ArguedOption, ChosenAnswer, EditedOptions, Option, Position, Question
from app.core.errors import BadInput
from app.core.events import EventBus
from app.core.ids import new_id, utc_now
from app.core.message import CouncilPart, Message, MessageState, PartData
from app.core.provider import ProviderStatus
from app.core.session import Council, Debate, DebateSession, Status
from app.core.store import Documents, SessionStore
from app.core.texts import clean_text, trimmed
from app.engine.chat.commands import found_message
from app.engine.chat.run import user_message
from app.engine.council.director import blind_steps, comparison_due, forked, options_step
from app.engine.council.earlier import earlier_council
from app.engine.council.outcome import outcome, surest, who_may_join
from app.engine.council.panels import PANEL_KIND, Panels, assembled, check_rounds
from app.engine.council.record import Record
from app.engine.council.requests import tokens_written
from app.engine.council.run import with_rounds
from app.engine.council.verdicts import outcome_objects, outcomes
from app.engine.debate.estimates import Call, Estimate, Estimates
from app.engine.debate.providers import DebateProviders
from app.engine.debate.replies import one_line, same_words
from app.engine.debate.run import author_of, with_due
from app.engine.debate.setup import MAX_PARTICIPANTS, DebateSetup, draft_of, joining, knows_judge, session_of
from app.engine.history import tokens_of
from app.engine.live_session import LiveSession
from app.engine.scores import calibrations, scores
from app.engine.sessions import Sessions
from app.engine.voting import seat_of

# Tokens: the frame of a request, the options, what a ballot, a comparison, two readings and a dissent are; and a statement
# where nobody has made one yet.
_FRAME, _OPTIONS, _BALLOT, _COMPARED, _READING, _DISSENT, _STATEMENT = 120, 60, 25, 350, 410, 170, 300
# What thinking adds at most.
_THOUGHT = 2


def calls_of(
    debate: Debate,
    messages: Sequence[Message],
    what: str,
    judge: str,
    outsider: str,
    to: Sequence[str],
    length: int,
) -> list[Call]:
    """Return the calls of a step: compare, merge, again, what_if, debate, argue, judge, stress, check, solo or blind.

    `length` is 0 for what they use at least and 1 for at most; `judge` reads at the end, "" for nobody. A what-if round is
    for those in `to`, or all.
    """
    record = Record(debate, messages)
    council = record.council
    said = [tokens_of(one.content) for one in record.statements(record.rounds + 1)]
    one = sum(said) // len(said) if said else _STATEMENT
    texts = (record.whole_question, *(file.text for file in debate.context))
    models = {each.id: each.seat for each in debate.participants}
    # Before anybody has answered, all will.
    asked, heard = _FRAME + sum(map(tokens_of, texts)), sum(said) or one * len(models)
    thought = _THOUGHT if length else 1
    written = one * thought
    voters = [models[who] for who in record.openings() or models]
    helper, outside = seat_of(council.helper), seat_of(outsider)
    compared: Call = (helper, asked + heard, _COMPARED)
    # Whatever is wanted, a comparison that nobody could make comes first; a debate has none.
    first = debate.is_council and what != "again" and comparison_due(record)
    calls = [compared] if what == "compare" or first else []
    match what:
        case "merge":
            calls += [(helper, asked + heard, written)]
        case "again":
            calls = [(each, asked, written) for each in models.values()]
            if council.differences and council.helper:
                calls += [(helper, asked + one * len(models), _COMPARED)]
        case "what_if":
            calls = [(each, asked + one, written) for who, each in models.items() if who in to or not to]
            asked_again, heard = asked + _OPTIONS, one * len(models)
            if council.differences and council.helper and (council.wanted_rounds or not to):
                calls += [(helper, asked + heard, _COMPARED)]
            if council.wanted_rounds:
                calls += [(each, asked_again + heard, _BALLOT * thought) for each in models.values()]
                minority = [*models.values()][: 2 * length]
                calls += _judged(judge, asked_again + heard, asked + 3 * one, minority, thought)
        case "check":
            calls += [(outside, asked, written)]
        case "solo" | "blind":
            best = models.get(surest(record), next(iter(models.values())))
            most = max(one, tokens_written(record.since)) if length else one
            calls += [(best, asked, most)] if what == "solo" or record.alone is None else []
            # Where one of the two answers is much longer, it is written once more.
            lacking = 2 - len(record.blind_texts()) if what == "blind" else 0
            read = _FRAME + tokens_of(record.whole_question) + one
            calls += [(helper, read, _STATEMENT * thought)] * lacking * (1 + length)
        case "debate" | "argue" | "stress" | "judge":
            asked_again = asked + _OPTIONS
            for _ in range({"debate": council.offered_rounds if length else 1, "argue": 1}.get(what, 0)):
                calls += [(each, asked_again + heard, written) for each in voters]
                heard += one * len(voters)
            if what == "stress":
                sceptic = outside if outsider else models.get(surest(record, least=True), outside)
                calls += [(sceptic, asked_again + heard, written)]
                heard += one
            if what != "judge":
                calls += [(each, asked_again + heard, _BALLOT * thought) for each in voters]
            calls += _judged(judge, asked_again + heard, asked + 3 * one, voters[: 2 * length], thought)
    return calls


def calls_from_start(debate: Debate, judge: str, length: int) -> list[Call]:
    """Return the calls that a council makes by itself; see `calls_of`."""
    council = debate.council or Council()
    calls = calls_of(debate, (), "again", judge, "", (), length)
    compared = replace(debate, council=replace(council, differences=False))
    if council.merges:
        calls += calls_of(compared, (), "merge", judge, "", (), length)
    if council.wanted_rounds:
        calls += calls_of(compared, (), "debate", judge, "", (), length)
    return calls


def _judged(judge: str, read: int, argued: int, dissenters: Sequence[Seat], thought: int) -> list[Call]:
    """Return the readings of a judge, and what it says of moves and the minority writes after them; none without a judge."""
    if not judge:
        return []
    readings: list[Call] = [(seat_of(judge), read, _READING * thought)] * 2
    moves: list[Call] = [(seat_of(judge), read, _BALLOT * thought)] if dissenters else []
    return readings + moves + [(each, argued, _DISSENT) for each in dissenters]


MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CouncilSetup:
    """Whom to ask what, and how: as a `Panel` says, None for what that of these participants says.

    With `differences` one more call compares the answers. `panel` is the name of those asked. `ends` is how it ends; with
    `stops` the user is asked before anything comes after the answers.
    """

    setup: DebateSetup
    differences: bool | None = None
    max_usd: float = 0.0
    panel: str = ""
    rounds: int | None = None
    judge: str | None = None
    ends: Ends | None = None
    stops: bool = False


class Councils:
    """The commands of councils; all raise BadInput, NotFound or StorageError in words."""

    def __init__(
        self,
        sessions: Sessions,
        store: SessionStore,
        providers: DebateProviders,
        documents: Documents,
        bus: EventBus,
        language: Callable[[], str],
        estimates: Estimates,
    ) -> None:
        self._estimates = estimates
        self.panels = Panels(PANEL_KIND, documents, bus, language, {})
        self._decisions = documents.journal
        self._sessions = sessions
        self._store = store
        self._providers = providers

    def check(self, wanted: CouncilSetup) -> None:
        """Raise BadInput when a council cannot be asked so."""
        self._session_of(wanted)

    async def start(self, wanted: CouncilSetup) -> str:
        """Ask several and return the session's id. Raises BadInput, StorageError; then nothing was started."""
        session = self._session_of(wanted)
        question = _by_user(CouncilPart.QUESTION, session.debate.topic, by=session.asked_by)
        session_id = await self._sessions.start(session, question)
        self._providers.tell_helpless(self._sessions.live(session_id))
        return session_id

    def _session_of(self, wanted: CouncilSetup) -> DebateSession:
        """Return the session of a council that passes every check. Raises BadInput."""
        session = session_of(wanted.setup, self._providers.statuses())
        own = self.panels.find(wanted.panel) if wanted.panel else self.panels.of(wanted.setup.participants)
        panel = own or Panel(id="", name="")
        rounds = panel.rounds if wanted.rounds is None else wanted.rounds
        check_rounds(rounds)
        judge = wanted.judge
        if judge is None and own is not None:
            # The provider of a panel's judge may be gone, never have been here, or not be asked about this.
            known = knows_judge(own.judge, self._providers.statuses())
            barred = seat_of(own.judge)[0] in self._providers.barred(session)
            judge = own.judge if known and not barred else ANY_JUDGE
        judge = session.debate.judge if judge is None else judge
        ends = wanted.ends or replace(panel, judge=judge).ends
        if ends == Ends.VOTE:
            judge = NO_JUDGE
        elif ends == Ends.VERDICT and judge == NO_JUDGE:
            judge = ANY_JUDGE
        elif ends != Ends.VERDICT and seat_of(judge)[0] in self._providers.barred(session):
            # Nobody judges by itself here.
            judge = ANY_JUDGE
        session = replace(session, debate=replace(session.debate, judge=judge))
        self._providers.check_chosen(session)
        helper = self._providers.helper(session)
        goes_on = bool(helper) and not wanted.stops
        models = {f"{one.provider}/{one.model}" for one in session.debate.participants}
        council = Council(
            calibrations=tuple(one for one in calibrations(self._decisions.all()) if one.model in models),
            differences=panel.compare if wanted.differences is None else wanted.differences,
            helper=helper,
            merges=int(goes_on and ends == Ends.MERGE),
            max_usd=wanted.max_usd,
            ends=ends,
            panel=panel.name,
            offered_rounds=rounds,
            wanted_rounds=rounds if goes_on and ends in VOTING_ENDS else 0,
        )
        return replace(session, debate=replace(session.debate, council=council))

    def assembled(self) -> tuple[Participant, ...]:
        """Return the participants of a panel that assembles itself from what is ready."""
        return assembled(self._providers.statuses(), scores(self._decisions.all()))

    async def ask(self, session_id: str, text: str = "", to: Sequence[str] = (), *, by: str = "") -> None:
        """Ask all participants, or those with these ids, something more; with no text the same question afresh.

        What more is asked of a council that is debated without being asked for is a what-if round: votes and a judge follow.
        `by` is the program that asks, "" for the user.
        """
        live = await self._at_rest(session_id)
        session = live.debate_session
        debate = session.debate
        text = trimmed(clean_text(text))
        if len(text) > MAX_TEXT:
            raise BadInput("text_too_long", characters=len(text), most=MAX_TEXT)
        alone = tuple(seat.id for seat in debate.participants if seat.id in to)
        self._sessions.check(session)
        concludes = bool(text and debate.council and debate.council.wanted_rounds)
        data = Question(follows=bool(text), to=alone, concludes=concludes) if text or alone else None
        text = text or Record(debate, live.messages).asked_all
        question = _by_user(CouncilPart.QUESTION, text, data, by=by)
        council = debate.council if to and not concludes else _anew(debate.council)
        if concludes:
            judges = self._providers.council_judges(session)
            council = replace(council or Council(), rounds=1, judges=judges, moves=True)
        # With the question the session runs, so that one that is killed here goes on with it.
        changed = replace(debate, council=council, due=())
        live.finish_message(question, debate=changed, status=Status.RUNNING, reason="")
        await self._go_on(live)

    async def retry(self, session_id: str, message_id: str) -> None:
        """Ask a participant again whose answer failed; the others go on."""
        live = await self._open(session_id)
        message = found_message(live, message_id)
        if message.state != MessageState.FAILED:
            raise BadInput("turn_not_failed")
        live.change(debate=with_due(live.debate_session.debate, message_id))
        await self._go_on(live)

    async def compare(self, session_id: str) -> None:
        """Compare the answers as they are now, in one call; also those that nobody could compare when they were given."""
        await self._want(session_id, "again")

    async def merge(self, session_id: str) -> None:
        """Let the helper make one answer of all, in one call."""
        await self._want(session_id, "merges")

    async def debate(self, session_id: str, rounds: int | None = None, judge: str | None = None) -> None:
        """Debate what is open for so many rounds more, or until nobody moves; then all vote in secret, and a judge reads.

        `judge` is who: a "provider/model", ANY_JUDGE or NO_JUDGE, None for what was chosen before; without `rounds` it is for as
        many as the council offers.
        """
        if rounds is not None:
            check_rounds(rounds)
        await self._more_rounds(session_id, rounds, judge)

    def check_judge(self, judge: str, session: DebateSession) -> None:
        """Raise BadInput for a judge that cannot be asked, or not about this session."""
        self._providers.check_judge(judge, session)

    async def stress(self, session_id: str) -> None:
        """Let a model from outside, else that of who is the least sure, look for what is wrong; then all vote again."""
        await self._more_rounds(session_id, 1, stress=True)

    async def argue(self, session_id: str, option: str) -> None:
        """Let all argue a view of the minority again for one round, with what it wrote; then all vote again."""
        await self._more_rounds(session_id, 1, again=option)

    async def check_outside(self, session_id: str) -> None:
        """Ask a model of another family the same question."""
        await self._want(session_id, "checks")

    async def join(self, session_id: str) -> None:
        """Let the model from outside that answered something else take part from now on, with that answer as its own.

        No call is made, and no vote changes.
        """
        live = await self._at_rest(session_id)
        debate = live.debate_session.debate
        check = who_may_join(Record(debate, live.messages), outcome(debate, live.messages))
        if check is None:
            raise BadInput("council_no_join", title=live.session.title)
        if len(debate.participants) >= MAX_PARTICIPANTS:
            raise BadInput("too_many_participants", count=len(debate.participants) + 1, most=MAX_PARTICIPANTS)
        participant = joining(debate, check.model)
        # It is asked nothing about rounds that are over, and begins none.
        council, begun = debate.council or Council(), Record(debate, live.messages).rounds
        if live.session.status == Status.COMPLETED:
            council = replace(council, rounds=begun, debated=begun)
        else:
            council = replace(council, debated=max(council.debated, begun - 1))
        answer = replace(
            check,
            id=new_id(),
            turn_id=new_id(),
            author=author_of(participant),
            part=CouncilPart.ANSWER,
            data=replace(check.data_as(Position), joined=True),
            usage=None,
        )
        people = (*debate.participants, participant)
        live.finish_message(answer, debate=replace(debate, participants=people, council=council))
        await self._store.flush(session_id)

    async def solo(self, session_id: str) -> None:
        """Ask one participant's model alone, with as many tokens to think in as all have written."""
        await self._want(session_id, "solos")

    async def judge(self, session_id: str, judge: str) -> None:
        """Let a judge read what was said: a "provider/model", or ANY_JUDGE; the verdicts before it stay."""
        live = await self._resting(session_id)
        debate = live.debate_session.debate
        self.check_judge(judge, live.debate_session)
        chosen = replace(debate, judge=judge)
        judges = self._providers.council_judges(replace(live.debate_session, debate=chosen))
        record, council = Record(debate, live.messages), self._council(live)
        # What was judged already is judged once more, and the verdict before stays.
        again = council.judged + bool(record.judgements(record.rounds))
        council = replace(council, judges=judges, judged=again, moves=True)
        # In a debate the choice is for this verdict alone.
        live.change(debate=replace(chosen if debate.is_council else debate, council=council))
        await self._go_on(live)

    async def ask_blind(self, session_id: str) -> None:
        """Have what all came to and the answer of one model alone written alike, for a pick without knowing which is which.

        Where both are there already no call is made, and they can be shown.
        """
        if await self.show_blind(session_id) is not None:
            return
        live = await self._resting(session_id)
        debate = live.debate_session.debate
        if not outcomes(debate, live.messages):
            raise BadInput("blind_no_outcome", title=live.session.title)
        council = replace(self._council(live), helper=self._providers.helper(live.debate_session))
        if not council.helper:
            raise self._no_helper(live.debate_session)
        debate = replace(debate, council=council)
        blind = council.blind or BlindPick()
        if council.blind is not None and not blind_steps(debate, live.messages):
            blind = replace(blind, asked=blind.asked + 1)
        asked = replace(debate, council=replace(council, blind=blind))
        live.change(debate=asked)
        if blind_steps(asked, live.messages):
            await self._go_on(live)

    async def show_blind(self, session_id: str) -> tuple[str, str] | None:
        """Return the two answers of a blind pick in the order in which they are shown, None while one is missing.

        The order is drawn, and kept, before anything is shown.
        """
        live = await self._sessions.open(session_id)
        record = Record(live.debate_session.debate, live.messages)
        texts, blind = record.blind_texts(), record.council.blind
        if blind is None or len(texts) < 2 or blind_steps(record.debate, live.messages):
            return None
        if not blind.order:
            order = (PANEL, ALONE) if secrets.randbits(1) else (ALONE, PANEL)
            blind = replace(blind, order=order, shown_at=utc_now(), was_blind=not record.council.read_at)
            await self._keep(live, replace(self._council(live), blind=blind))
        first, second = (texts[side == PANEL] for side in blind.order)
        return first, second

    async def pick(self, session_id: str, picked: str) -> BlindPick:
        """Keep which of the two answers the user prefers: one of PICKS. Raises BadInput for a second pick, or before they were shown."""
        live = await self._sessions.open_to_change(session_id)
        record = Record(live.debate_session.debate, live.messages)
        blind = record.council.blind
        if picked not in PICKS:
            raise BadInput("blind_picks", picked=picked, picks=", ".join(PICKS))
        if blind is None or not blind.order or blind.picked:
            raise BadInput(
                "blind_picked" if blind and blind.picked else "blind_not_shown", title=live.session.title
            )
        kept = replace(blind, picked=picked, was_blind=blind.was_blind and not record.council.read_at)
        await self._keep(live, replace(self._council(live), blind=kept))
        return kept

    async def note_read(self, session_id: str) -> None:
        """Keep that the user has read a verdict: a pick after that is not blind."""
        live = await self._sessions.open(session_id)
        if self.is_unread(live):
            # Who reads changes nothing: the session keeps its place among those that were used last.
            read = replace(self._council(live), read_at=utc_now())
            await self._keep(live, read, updated_at=live.session.updated_at)

    def is_unread(self, live: LiveSession) -> bool:
        """Say whether a session has a verdict, and the user has read none in it."""
        debate = live.session.debate
        if debate is None or live.read_only or (debate.council is not None and debate.council.read_at):
            return False
        return bool(outcomes(debate, live.messages))

    async def weigh(self, session_id: str) -> None:
        """Show what leads also where the answer turns on what one wants, or no longer. Makes no call."""
        live = await self._sessions.open_to_change(session_id)
        council = self._council(live)
        await self._keep(live, replace(council, weighed=not council.weighed))

    def _council(self, live: LiveSession) -> Council:
        """Return what is wanted of a session, with who helps in one that an earlier version began."""
        debate = live.debate_session.debate
        if debate.council is not None:
            return debate.council
        return replace(earlier_council(debate), helper=self._providers.helper(live.debate_session))

    async def _keep(self, live: LiveSession, council: Council, **fields: object) -> None:
        """Replace what is wanted of a debate or a council, with other fields of its session, and wait until that is stored."""
        live.change(debate=replace(live.debate_session.debate, council=council), **fields)
        await self._store.flush(live.id)

    async def fork(self, session_id: str, round_number: int, verdict: int = 0) -> str:
        """Start another council that stands as this one did after a round, 0 before any debate; return its id.

        With the number of a `verdict` it stands as it did with that one. Makes no call.
        """
        live = await self._at_rest(session_id)
        session, messages = live.debate_session, live.messages
        if given := [one for one in outcomes(session.debate, messages) if one.number == verdict]:
            session, messages = replace(session, debate=given[0].debate), list(given[0].messages)
            round_number = given[0].round
        if not 0 <= round_number <= Record(session.debate, messages).rounds:
            raise BadInput("council_no_round", title=live.session.title, round=round_number)
        session, messages = forked(session, messages, round_number)
        return (await self._sessions.begin(session, *messages)).id

    def estimate(
        self, session: DebateSession, messages: Sequence[Message], what: str, to: Sequence[str] = ()
    ) -> Estimate:
        """Return what a step will use, one of those that `calls_of` knows. Makes no call."""
        judge = next(iter(self._providers.council_judges(session)), "")
        debate, outsider = self._helped(session), self._providers.outsider(session)
        votes = what in ("debate", "argue", "stress")
        checked = [one.seat for one in debate.participants if votes]
        checked += [seat_of(judge)] if judge and (votes or what == "judge") else []
        calls = partial(calls_of, debate, messages, what, judge, outsider, to)
        return self._estimates.of_calls(calls, checked)

    def first_estimate(self, wanted: CouncilSetup) -> Estimate:
        """Return what a council will use that is asked so, up to its end. Makes no call. Raises BadInput."""
        session = self._session_of(wanted)
        judge = next(iter(self._providers.council_judges(session)), "")
        checked = self._providers.needed_checks(session)
        return self._estimates.of_calls(partial(calls_from_start, session.debate, judge), checked)

    def finder(self, setup: DebateSetup) -> str:
        """Return the "provider/model" that looks for the options of a debate set up so, "" where nobody does."""
        debate = draft_of(setup, self._providers.statuses())
        council = Council(helper=self._providers.helper(DebateSession(id="", title="", debate=debate)))
        return council.helper if options_step(replace(debate, council=council), ()) else ""

    def first_helpers(self, wanted: CouncilSetup) -> tuple[str, str]:
        """Return who judges a council that is asked so, and who compares and merges its answers, "" for nobody.

        Raises BadInput.
        """
        session = self._session_of(wanted)
        council = session.debate.council or Council()
        judges = self._providers.council_judges(session) if council.ends == Ends.VERDICT else ()
        helps = council.differences or council.ends != Ends.NONE
        return next(iter(judges), ""), council.helper if helps else ""

    def helpers_of(self, session: DebateSession) -> dict[str, str]:
        """Return the "provider/model" of each helper call as it would be made now, "" for nobody."""
        judge = next(iter(self._providers.council_judges(session)), "")
        return helpers_object(self._providers.helper(session), judge, self._providers.outsider(session))

    def helper(self, session: DebateSession) -> str:
        """Return the "provider/model" that would compare the answers now, "" where nobody can."""
        return self._providers.helper(session)

    def may_not_read(self, session: DebateSession) -> ProviderStatus | None:
        """Return a provider that could compare the answers if it might read any session; None where one can already."""
        return self._providers.may_not_read(session)

    def without_help(self, session: DebateSession, code: str) -> str:
        """Return the code of a text on why nobody helps: `code`, or that of a session that stays here."""
        return self._providers.without_help(session, code)

    def outsider(self, session: DebateSession) -> str:
        """Return the "provider/model" of another base family than those that take part, "" where there is none."""
        return self._providers.outsider(session)

    def judges(self, session_id: str) -> list[str]:
        """Return who could judge an open council, each a "provider/model", the best first."""
        live = self._sessions.live(session_id)
        return self._providers.outside(live.debate_session) if live is not None else []

    async def _more_rounds(
        self,
        session_id: str,
        rounds: int | None,
        judge: str | None = None,
        *,
        stress: bool = False,
        again: str = "",
    ) -> None:
        live = await self._at_rest(session_id)
        session = live.debate_session
        council = session.debate.council
        if judge is not None:
            self.check_judge(judge, session)
        if council is None or not self._providers.helper(session):
            raise self._no_helper(session)
        begun = Record(session.debate, live.messages).rounds
        rounds = council.offered_rounds if rounds is None else rounds
        debate = with_rounds(session, begun, rounds, judge, self._providers, stress=stress)
        if again:
            asked = _by_user(CouncilPart.ARGUE, "", ArguedOption(option=again))
            live.finish_message(replace(asked, round=begun + 1), debate=debate)
        else:
            live.change(debate=debate)
        await self._go_on(live)

    async def choose(self, session_id: str, message_id: str) -> None:
        """Keep which answer the user goes by; "" for none."""
        live = await self._at_rest(session_id)
        if message_id:
            found_message(live, message_id)
        live.finish_message(_by_user(CouncilPart.CHOICE, "", ChosenAnswer(message=message_id)))
        await self._store.flush(session_id)

    async def edit_options(self, session_id: str, options: Sequence[tuple[str, str]]) -> None:
        """Replace the options, each an id, "" for a new one, and its text; those with the same text become one."""
        live = await self._at_rest(session_id)
        record = Record(live.debate_session.debate, live.messages)
        before = {one.id: one for one in record.options()}
        kept: dict[str, Option] = {}
        now: dict[str, str] = {}
        for option_id, text in ((one, one_line(text)) for one, text in options if one_line(text)):
            old = before.get(option_id) or Option(id=f"u{new_id()}", text=text, origin="user")
            first = kept.setdefault(same_words(text), Option(id=old.id, text=text, origin=old.origin))
            now[old.id] = first.id
        if not kept:
            raise BadInput("text_empty")
        became = {one: now.get(one, "") for one in before}
        became |= {old: became.get(one, "") for old, one in record.edited.became.items()}
        edited = EditedOptions(options=tuple(kept.values()), became=became)
        live.finish_message(_by_user(CouncilPart.OPTIONS, "", edited))
        await self._store.flush(session_id)

    async def _want(self, session_id: str, what: str) -> None:
        live = await self._at_rest(session_id)
        debate = live.debate_session.debate
        council, outsider = debate.council or Council(), self._providers.outsider(live.debate_session)
        if not self._providers.helper(live.debate_session):
            raise self._no_helper(live.debate_session)
        if what == "checks" and not outsider:
            raise BadInput("council_no_outsider")
        # A comparison that nobody could make is still due, and is not made twice.
        due = what == "again" and comparison_due(Record(debate, live.messages))
        wanted = replace(council, outsider=outsider, **{what: getattr(council, what) + (not due)})
        live.change(debate=replace(debate, council=wanted))
        await self._go_on(live)

    def _no_helper(self, session: DebateSession) -> BadInput:
        return BadInput(self._providers.without_help(session, "council_no_helper"))

    async def _resting(self, session_id: str) -> LiveSession:
        """Open a debate or a council that does not run."""
        live = await self._sessions.open(session_id)
        session = live.debate_session
        if live.read_only or session.status == Status.RUNNING:
            raise BadInput("session_read_only" if live.read_only else "debate_runs", title=session.title)
        if (run := self._sessions.running(session_id)) is not None:
            await run.wait()
        return live

    async def _open(self, session_id: str) -> LiveSession:
        live = await self._sessions.open(session_id)
        session = live.debate_session
        if live.read_only or not session.debate.is_council:
            raise BadInput("session_read_only" if live.read_only else "not_a_council", title=session.title)
        return live

    async def _at_rest(self, session_id: str) -> LiveSession:
        """Open a council whose calls have all ended."""
        live = await self._open(session_id)
        run = self._sessions.running(session_id)
        if run is not None and live.session.status == Status.RUNNING:
            raise BadInput("council_runs", title=live.session.title)
        if run is not None:
            await run.wait()
        return live

    async def _go_on(self, live: LiveSession) -> None:
        run = self._sessions.running(live.id)
        if run is not None and live.session.status == Status.RUNNING:
            run.go_on()
            return
        self._sessions.check(live.session)
        if run is not None:
            await run.wait()
        debate = self._helped(live.debate_session)
        if debate != live.debate_session.debate:
            live.change(debate=debate)
        self._sessions.run(live)

    def _helped(self, session: DebateSession) -> Debate:
        """Return the debate of a council with who compares its answers now."""
        debate = session.debate
        helper = self._providers.helper(session)
        return replace(debate, council=replace(debate.council or Council(), helper=helper))


def council_object(session: DebateSession, messages: Sequence[Message]) -> dict[str, object]:
    """Return what `moot show --json` says of what a debate or a council came to."""
    record = Record(session.debate, messages)
    first = 0 if session.debate.is_council else -1
    return {
        "question": record.question.content if record.question else session.debate.topic,
        "options": [asdict(one) for one in record.options()],
        "ballots": [
            _ballot_object(record, who, number)
            for number in (range(record.rounds + 1) if session.debate.is_council else record.voted_rounds)
            for who in (record.openings() if session.debate.is_council else record.voters())
            if number == first or record.voted(who, number)
        ],
        "readings": [asdict(one) for one in record.readings()],
        "differ": [asdict(one) for one in record.points("differ")],
        "agreed": [asdict(one) for one in record.points("agreed")],
        "chosen": record.held(ChosenAnswer, CouncilPart.CHOICE).message,
        "blind": blind_object(record.council.blind),
        "helpers": helpers_object(
            record.council.helper, next(iter(record.council.judges), ""), record.council.outsider
        ),
        **outcome_objects(session.debate, messages),
    }


def helpers_object(helper: str, judge: str, outsider: str) -> dict[str, str]:
    """Return what `moot show --json` says of who makes which helper call."""
    named = dict.fromkeys(("options", "differences", "merge"), helper)
    return {**named, **dict.fromkeys(("judge", "moves"), judge), "check": outsider}


def blind_object(blind: BlindPick | None) -> dict[str, object] | None:
    """Return what `moot show --json` says of a blind pick; before the pick nothing says which answer is whose."""
    if blind is None or not blind.order:
        return None
    return {**asdict(blind), "order": blind.order if blind.picked else ()}


def _ballot_object(record: Record, who: str, number: int) -> dict[str, object]:
    vote, (moved, cites) = record.vote(who, number), record.moved(who, number)
    return {**asdict(vote), "option_id": vote.choice, "moved": moved or "", "cites": [*cites]}


def _anew(council: Council | None) -> Council:
    """Return what is wanted of a council that is asked something more: it ends as before."""
    council = council or Council()
    merges = int(council.ends == Ends.MERGE and bool(council.helper))
    anew = replace(council, again=0, merges=merges, rounds=0, debated=0, blind=council.shown_pick)
    return replace(anew, judges=(), judged=0, checks=0, solos=0, stressed=())


def _by_user(part: str, text: str, data: PartData | None = None, *, by: str = "") -> Message:
    return user_message(text, (), None, by=by, part=part, data=data)
