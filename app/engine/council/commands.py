"""The commands of councils: ask several, ask again, merge, use an answer; `engine.councils` for the faces.

Also what the next step of a council will use, with the real lengths of what was asked and said.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from app.core.council import ALONE, ANY_JUDGE, NO_JUDGE, PANEL, PICKS, BlindPick, Ends, Option, Participant
from app.core.council_parts import ArguedOption, ChosenAnswer, EditedOptions, Position, Question
from app.core.errors import BadInput
from app.core.events import EventBus
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.message import CouncilPart, Message, Messages, MessageState, PartData
from app.core.session import Council, Debate, DebateSession, DebateTools, Status
from app.core.store import Documents, SessionStore
from app.core.texts import clean_text, trimmed
from app.engine.chat.commands import found_message
from app.engine.chat.run import user_message
from app.engine.council.director import blind_steps, comparison_due, forked, options_step
from app.engine.council.earlier import earlier_council
from app.engine.council.outcome import outcome, surest, who_may_join
from app.engine.council.panels import NO_PANEL, PANEL_KIND, Panels, assembled, check_rounds
from app.engine.council.record import Record
from app.engine.council.requests import tokens_written
from app.engine.council.run import with_rounds
from app.engine.council.verdicts import outcome_objects, outcomes
from app.engine.debate.estimates import BALLOT, Call, Estimate, Estimates, reading_calls, verdict_calls
from app.engine.debate.providers import DebateProviders
from app.engine.debate.replies import one_line, same_words
from app.engine.debate.run import author_of, with_due
from app.engine.debate.setup import MAX_PARTICIPANTS, DebateSetup, draft_of, joining, knows_judge, session_of
from app.engine.history import tokens_of
from app.engine.live_session import LiveSession
from app.engine.request import WINDOW
from app.engine.runner import Sessions
from app.engine.scores import calibrations, scores
from app.engine.voting import name_of, seat_of

# Tokens: the frame of a request, the options, what a comparison is; and a statement where nobody has made one
# yet.
_FRAME, _OPTIONS, _COMPARED, _STATEMENT = 120, 60, 350, 300
# What thinking adds at most.
_THOUGHT = 2


def asked_tokens(record: Record) -> int:
    """Return how many tokens the frame of a request, the question and the files have."""
    texts = (record.whole_question, *(file.text for file in record.debate.context))
    return _FRAME + sum(map(tokens_of, texts))


def calls_of(record: Record, what: str, judge: str, other: str, to: Sequence[str], length: int) -> list[Call]:
    """Return the calls of a step: compare, merge, again, what_if, debate, argue, judge, stress, check,
    solo or blind.

    `length` is 0 for what they use at least and 1 for at most; `judge` reads at the end, `other` answers from
    outside, "" for nobody. A what-if round is for those in `to`, or all. Of a debate there are one more
    verdict (judge), what_if and blind.
    """
    debate, council = record.debate, record.council
    said = [tokens_of(statement.content) for statement in record.statements()]
    one = sum(said) // len(said) if said else _STATEMENT
    models = {each.id: each.seat for each in debate.participants}
    # Before anybody has answered, all will.
    asked, heard = asked_tokens(record), sum(said) or one * len(models)
    thought = _THOUGHT if length else 1
    written = one * thought
    voters = [models[who] for who in record.openings or models]
    helper, outside = seat_of(council.helper), seat_of(other)

    def concluding(voters: Sequence[tuple[str, str]], judge: str) -> list[Call]:
        """Return the ballots, and what a judge and the minority say after them."""
        read = asked + _OPTIONS + heard
        ballots = [(each, read, BALLOT[length]) for each in voters]
        return ballots + verdict_calls(judge, read, [(each, asked + 3 * one) for each in voters], length)

    # Whatever is wanted, a comparison that nobody could make comes first; a debate has none.
    compares = what == "compare" or (debate.is_council and comparison_due(record))
    calls: list[Call] = [(helper, asked + heard, _COMPARED)] if compares else []
    match what:
        case "merge":
            calls += [(helper, asked + heard, written)]
        case "what_if" if not debate.is_council:
            read = asked + sum(said[-WINDOW:])
            calls = [(each, read, written) for who, each in models.items() if who in to or not to]
            heard += one * len(calls)
            calls += concluding(voters if debate.votes else (), judge if debate.concludes else "")
        case "again" | "what_if":
            more, concludes = (one, council.wanted_rounds) if what == "what_if" else (0, 0)
            calls = [(each, asked + more, written) for who, each in models.items() if who in to or not to]
            heard = one * len(models)
            if council.differences and council.helper and (concludes or not to):
                calls += [(helper, asked + heard, _COMPARED)]
            if concludes:
                calls += concluding([*models.values()], judge)
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
        case "judge":
            calls += concluding(voters, judge)[len(voters) :]
        case "debate" | "argue" | "stress":
            for _ in range({"debate": council.offered_rounds if length else 1, "argue": 1}.get(what, 0)):
                calls += [(each, asked + _OPTIONS + heard, written) for each in voters]
                heard += one * len(voters)
            if what == "stress":
                sceptic = outside if other else models.get(surest(record, least=True), outside)
                calls += [(sceptic, asked + _OPTIONS + heard, written)]
                heard += one
            calls += concluding(voters, judge)
    return calls


def calls_from_start(debate: Debate, judge: str, length: int) -> list[Call]:
    """Return the calls that a council makes by itself; see `calls_of`."""
    record = Record(debate, ())
    calls, council = calls_of(record, "again", judge, "", (), length), record.council
    compared = Record(replace(debate, council=replace(council, differences=False)), ())
    for what, wanted in (("merge", council.merges), ("debate", council.wanted_rounds)):
        calls += calls_of(compared, what, judge, "", (), length) if wanted else []
    return calls


MAX_TEXT = 100_000
# What `further` counts, by its name, and in which field of `Council`.
_COUNTED = {"compare": "again", "merge": "merges", "solo": "solos", "check": "checks"}


class CouncilSetup(Frozen):
    """Whom to ask what, and how: as a `Panel` says, None for what that of these participants says.

    With `differences` one more call compares the answers. `panel` is the name of those asked. `ends` is how
    it ends; with `stops` the user is asked before anything comes after the answers.
    """

    setup: DebateSetup
    differences: bool | None = None
    max_usd: float = 0.0
    panel: str = ""
    rounds: int | None = None
    judge: str | None = None
    ends: Ends | None = None
    stops: bool = False


@dataclass(eq=False, repr=False)
class Councils:
    """The commands of councils; all raise BadInput, NotFound or StorageError in words."""

    _sessions: Sessions
    _store: SessionStore
    # Who can help, judge and answer from outside.
    providers: DebateProviders
    _documents: Documents
    _bus: EventBus
    _language: Callable[[], str]
    _estimates: Estimates

    def __post_init__(self) -> None:
        self.panels = Panels(PANEL_KIND, self._documents, self._bus, self._language, {})

    async def start(self, wanted: CouncilSetup) -> str:
        """Ask several and return the session's id. Raises BadInput, StorageError; then nothing was
        started.
        """
        session = self.check(wanted)
        question = _by_user(CouncilPart.QUESTION, session.debate.topic, by=session.asked_by)
        session_id = await self._sessions.start(session, question)
        self.providers.tell_helpless(self._sessions.live(session_id))
        return session_id

    def check(self, wanted: CouncilSetup) -> DebateSession:
        """Return the session of a council that passes every check. Raises BadInput."""
        providers, statuses = self.providers, self.providers.statuses()
        session = session_of(wanted.setup, statuses)
        own = self.panels.find(wanted.panel) if wanted.panel else self.panels.of(wanted.setup.participants)
        panel, barred = own or NO_PANEL, providers.barred(session)
        rounds = panel.rounds if wanted.rounds is None else wanted.rounds
        check_rounds(rounds)
        judge = session.debate.judge if wanted.judge is None else wanted.judge
        if wanted.judge is None and own is not None:
            # The provider of a panel's judge may be gone, never have been here, or not be asked about this.
            fits = knows_judge(own.judge, statuses) and seat_of(own.judge)[0] not in barred
            judge = own.judge if fits else ANY_JUDGE
        ends = wanted.ends or replace(panel, judge=judge).ends
        if ends == Ends.VOTE:
            judge = NO_JUDGE
        elif ends == Ends.VERDICT and judge == NO_JUDGE:
            judge = ANY_JUDGE
        elif ends != Ends.VERDICT and seat_of(judge)[0] in barred:
            # Nobody judges by itself here.
            judge = ANY_JUDGE
        session = replace(session, debate=replace(session.debate, judge=judge))
        providers.check_chosen(session)
        helper = providers.helper(session)
        goes_on = bool(helper) and not wanted.stops
        models = {name_of(participant.seat) for participant in session.debate.participants}
        known = (item for item in calibrations(self._documents.journal.all()) if item.model in models)
        compares = panel.compare if wanted.differences is None else wanted.differences
        merges, wanted_rounds = int(goes_on and ends == Ends.MERGE), rounds if goes_on and ends.votes else 0
        council = Council(helper=helper, panel=panel.name, ends=ends, calibrations=tuple(known))
        council = replace(council, differences=compares, merges=merges, max_usd=wanted.max_usd)
        council = replace(council, offered_rounds=rounds, wanted_rounds=wanted_rounds)
        return replace(session, debate=replace(session.debate, council=council))

    def assembled(self) -> tuple[Participant, ...]:
        """Return the participants of a panel that assembles itself from what is ready."""
        return assembled(self.providers.statuses(), scores(self._documents.journal.all()))

    async def ask(self, session_id: str, text: str = "", to: Sequence[str] = (), *, by: str = "") -> None:
        """Ask all participants, or those with these ids, something more;
        with no text the same question afresh.

        What more is asked of a council that is debated without being asked for is a what-if round: votes and
        a judge follow. `by` is the program that asks, "" for the user.
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
            judges = self.providers.council_judges(session)
            council = replace(council or Council(), rounds=1, judges=judges, moves=True)
        # With the question the session runs, so that one that is killed here goes on with it.
        changed = replace(debate, council=council, due=())
        live.finish_message(question, debate=changed, status=Status.RUNNING, reason="")
        await self._go_on(live)

    async def further(self, session_id: str, what: str) -> None:
        """Do something more with a council.

        `what` is one of: again, which asks all afresh; compare the answers as they are now, also those that
        nobody could compare when they were given; merge, one answer of all made by the helper; solo, one
        participant's model alone with as many tokens to think in as all have written; check, the question
        asked of a model of another family; join, as `_join` says; stress, a model from outside, else that of
        who is the least sure, looks for what is wrong, and all vote again.
        """
        match what:
            case "again":
                await self.ask(session_id)
            case "join":
                await self._join(session_id)
            case "stress":
                await self.debate(session_id, 1, stress=True)
            case _:
                await self._want(session_id, what)

    async def retry(self, session_id: str, message_id: str) -> None:
        """Ask a participant again whose answer failed; the others go on."""
        live = await self._open(session_id)
        message = found_message(live, message_id)
        if message.state != MessageState.FAILED:
            raise BadInput("turn_not_failed")
        await self._go_on(live, debate=with_due(live.debate_session.debate, message_id))

    async def debate(
        self, session_id: str, rounds: int = 0, judge: str = "", *, stress: bool = False, again: str = ""
    ) -> None:
        """Debate what is open for so many rounds more, or until nobody moves; then all vote in secret,
        and a judge reads.

        `judge` is who: a "provider/model", ANY_JUDGE or NO_JUDGE, "" for what was chosen before; with 0
        `rounds` it is for as many as the council offers. With `stress` only a model from outside speaks in
        the first of them; the option `again` is argued once more.
        """
        if rounds:
            check_rounds(rounds)
        live = await self._at_rest(session_id)
        session = live.debate_session
        council = session.debate.council
        if judge:
            self.providers.check_judge(judge, session)
            session = replace(session, debate=replace(session.debate, judge=judge))
        if council is None or not self.providers.helper(session):
            raise self._no_helper(session)
        begun = Record(session.debate, live.messages).rounds
        rounds = rounds or council.offered_rounds
        debate = with_rounds(session, begun, rounds, self.providers, stress=stress)
        if again:
            asked = _by_user(CouncilPart.ARGUE, "", ArguedOption(option=again))
            live.finish_message(replace(asked, round=begun + 1), debate=debate)
        await self._go_on(live, debate=debate)

    async def argue(self, session_id: str, option: str) -> None:
        """Let all argue a view of the minority again for one round, with what it wrote; then all vote
        again.
        """
        await self.debate(session_id, 1, again=option)

    async def _join(self, session_id: str) -> None:
        """Let the model from outside that answered something else take part from now on, with that answer
        as its own.

        No call is made, and no vote changes.
        """
        live = await self._at_rest(session_id)
        debate = live.debate_session.debate
        record = Record(debate, live.messages)
        check = who_may_join(record, outcome(record))
        if check is None:
            raise BadInput("council_no_join", title=live.session.title)
        if len(debate.participants) >= MAX_PARTICIPANTS:
            raise BadInput("too_many_participants", count=len(debate.participants) + 1, most=MAX_PARTICIPANTS)
        participant = joining(debate, check.model)
        # It is asked nothing about rounds that are over, and begins none.
        council, begun = record.council, record.rounds
        if live.session.status == Status.COMPLETED:
            council = replace(council, rounds=begun, debated=begun)
        else:
            council = replace(council, debated=max(council.debated, begun - 1))
        answer = replace(check, id=new_id(), turn_id=new_id(), author=author_of(participant), usage=None)
        position = replace(check.data_as(Position), joined=True)
        answer = replace(answer, part=CouncilPart.ANSWER, data=position)
        people = (*debate.participants, participant)
        live.finish_message(answer, debate=replace(debate, participants=people, council=council))
        await self._store.flush(session_id)

    async def judge(self, session_id: str, judge: str) -> None:
        """Let a judge read what was said: a "provider/model", or ANY_JUDGE; the verdicts before it stay."""
        live = await self._at_rest(session_id, any_kind=True)
        debate = live.debate_session.debate
        self.providers.check_judge(judge, live.debate_session)
        chosen = replace(debate, judge=judge)
        judges = self.providers.council_judges(replace(live.debate_session, debate=chosen))
        record, council = Record(debate, live.messages), self._council(live)
        # What was judged already is judged once more, and the verdict before stays.
        again = council.judged + bool(record.judgements(record.rounds))
        council = replace(council, judges=judges, judged=again, moves=True)
        # In a debate the choice is for this verdict alone.
        await self._go_on(live, debate=replace(chosen if debate.is_council else debate, council=council))

    async def ask_blind(self, session_id: str) -> None:
        """Have what all came to and the answer of one model alone written alike,
        for a pick without knowing which is which.

        Where both are there already no call is made, and they can be shown.
        """
        if await self.show_blind(session_id) is not None:
            return
        live = await self._at_rest(session_id, any_kind=True)
        debate = live.debate_session.debate
        if not outcomes(debate, live.messages):
            raise BadInput("blind_no_outcome", title=live.session.title)
        council = replace(self._council(live), helper=self.providers.helper(live.debate_session))
        if not council.helper:
            raise self._no_helper(live.debate_session)
        debate = replace(debate, council=council)
        blind = council.blind or BlindPick()
        if council.blind is not None and not blind_steps(Record(debate, live.messages)):
            blind = replace(blind, asked=blind.asked + 1)
        asked = replace(debate, council=replace(council, blind=blind))
        if blind_steps(Record(asked, live.messages)):
            await self._go_on(live, debate=asked)
        else:
            live.change(debate=asked)

    async def show_blind(self, session_id: str) -> tuple[str, str] | None:
        """Return the two answers of a blind pick in the order in which they are shown, None
        while one is missing.

        The order is drawn, and kept, before anything is shown.
        """
        live = await self._sessions.open(session_id)
        record = Record(live.debate_session.debate, live.messages)
        texts, blind = record.blind_texts(), record.council.blind
        if blind is None or len(texts) < 2 or blind_steps(record):
            return None
        if not blind.order:
            order = (PANEL, ALONE) if secrets.randbits(1) else (ALONE, PANEL)
            blind = replace(blind, order=order, shown_at=utc_now(), was_blind=not record.council.read_at)
            await self._keep(live, replace(self._council(live), blind=blind))
        first, second = (texts[side == PANEL] for side in blind.order)
        return first, second

    async def pick(self, session_id: str, picked: str) -> BlindPick:
        """Keep which of the two answers the user prefers: one of PICKS. Raises BadInput for a second pick,
        or before they were shown.
        """
        live = await self._sessions.open_to_change(session_id)
        record = Record(live.debate_session.debate, live.messages)
        blind = record.council.blind
        if picked not in PICKS:
            raise BadInput("blind_picks", picked=picked, picks=", ".join(PICKS))
        if blind is None or not blind.order or blind.picked:
            code = "blind_picked" if blind and blind.picked else "blind_not_shown"
            raise BadInput(code, title=live.session.title)
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
        return replace(earlier_council(debate), helper=self.providers.helper(live.debate_session))

    async def _keep(self, live: LiveSession, council: Council, **fields: object) -> None:
        """Replace what is wanted of a debate or a council, with other fields of its session, and wait
        until that is stored.
        """
        live.change(debate=replace(live.debate_session.debate, council=council), **fields)
        await self._store.flush(live.id)

    async def fork(self, session_id: str, round_number: int, verdict: int = 0) -> str:
        """Start another council that stands as this one did after a round, 0 before any debate;
        return its id.

        With the number of a `verdict` it stands as it did with that one. Makes no call.
        """
        live = await self._at_rest(session_id)
        record = Record(live.debate_session.debate, live.messages)
        if given := [item for item in outcomes(record.debate, live.messages) if item.number == verdict]:
            record, round_number = given[0].record, given[0].round
        if not 0 <= round_number <= record.rounds:
            raise BadInput("council_no_round", title=live.session.title, round=round_number)
        session, messages = forked(live.debate_session, record, round_number)
        return (await self._sessions.begin(session, *messages)).id

    def estimate(
        self, session: DebateSession, messages: Sequence[Message], what: str, to: Sequence[str] = ()
    ) -> Estimate:
        """Return what a step will use, one of those that `calls_of` knows; a what-if round is for those
        in `to`. Makes no call.
        """
        return self.estimates(session, messages, (what,), to)[what]

    def estimates(
        self, session: DebateSession, messages: Messages, steps: Sequence[str], to: Sequence[str] = ()
    ) -> dict[str, Estimate]:
        """Return what each of these steps will use; see `estimate`."""
        judge, record = self.providers.first_judge(session), Record(self._helped(session), messages)
        outsider = self.providers.outsider(session)
        found = {}
        for what in steps:
            votes = what in ("debate", "argue", "stress")
            checked = [participant.seat for participant in record.debate.participants if votes]
            checked += [seat_of(judge)] if judge and (votes or what == "judge") else []
            asked = to if what == "what_if" else ()
            calls = partial(calls_of, record, what, judge, outsider, asked)
            reading = self._reading(record, asked) if what in ("again", "what_if") else []
            found[what] = self._estimates.of_calls(calls, checked, reading)
        return found

    def _reading(self, record: Record, to: Sequence[str] = ()) -> list[Call]:
        """Return the calls with which those in `to`, or all, read the web before they answer, at most."""
        debate = record.debate
        asked = (each for each in debate.participants if each.id in to or not to)
        reads = (each for each in asked if self.providers.tools(debate, each) == DebateTools.READING)
        sent = asked_tokens(record)
        return [call for each in reads for call in reading_calls(each.seat, sent)]

    def first_estimate(self, wanted: CouncilSetup) -> Estimate:
        """Return what a council will use that is asked so, up to its end. Makes no call. Raises BadInput."""
        session = self.check(wanted)
        calls = partial(calls_from_start, session.debate, self.providers.first_judge(session))
        reading = self._reading(Record(session.debate, ()))
        return self._estimates.of_calls(calls, self.providers.needed_checks(session), reading)

    def finder(self, setup: DebateSetup) -> str:
        """Return the "provider/model" that looks for the options of a debate set up so, "" where nobody
        does.
        """
        session = draft_of(setup, self.providers.statuses())
        helper = self.providers.helper(session)
        debate = replace(session.debate, council=Council(helper=helper))
        return helper if options_step(Record(debate, ())) else ""

    def first_helpers(self, wanted: CouncilSetup | DebateSetup) -> tuple[str, str]:
        """Return who judges what is set up so, and who helps: finds the options, or compares and merges;
        "" for nobody.

        Raises BadInput.
        """
        if isinstance(wanted, DebateSetup):
            session, helper = draft_of(wanted, self.providers.statuses()), self.finder(wanted)
            judges = wanted.concludes
        else:
            session = self.check(wanted)
            council = session.debate.council or Council()
            helper = council.helper if council.differences or council.ends != Ends.NONE else ""
            judges = council.ends == Ends.VERDICT
        return self.providers.first_judge(session) if judges else "", helper

    async def choose_helper(self, session_id: str, helper: str) -> None:
        """Keep who compares answers and merges them from now on, a "provider/model"; makes no call."""
        live = await self._at_rest(session_id, any_kind=True)
        self.providers.check_helper(helper, live.debate_session)
        debate = replace(live.debate_session.debate, helper=helper)
        live.change(debate=replace(debate, council=replace(self._council(live), helper=helper)))
        await self._store.flush(session_id)

    def helpers_of(self, session: DebateSession) -> dict[str, str]:
        """Return the "provider/model" of each helper call as it would be made now, "" for nobody."""
        found = self.providers
        return helpers_object(found.helper(session), found.first_judge(session), found.outsider(session))

    async def choose(self, session_id: str, message_id: str) -> None:
        """Keep which answer the user goes by; "" for none."""
        live = await self._at_rest(session_id)
        if message_id:
            found_message(live, message_id)
        live.finish_message(_by_user(CouncilPart.CHOICE, "", ChosenAnswer(message=message_id)))
        await self._store.flush(session_id)

    async def edit_options(self, session_id: str, options: Sequence[tuple[str, str]]) -> None:
        """Replace the options, each an id, "" for a new one, and its text; those
        with the same text become one.
        """
        live = await self._at_rest(session_id)
        record = Record(live.debate_session.debate, live.messages)
        before = {option.id: option for option in record.options()}
        kept: dict[str, Option] = {}
        now: dict[str, str] = {}
        for option_id, text in ((option, one_line(text)) for option, text in options if one_line(text)):
            old = before.get(option_id) or Option(id=f"u{new_id()}", text=text, origin="user")
            first = kept.setdefault(same_words(text), Option(id=old.id, text=text, origin=old.origin))
            now[old.id] = first.id
        if not kept:
            raise BadInput("text_empty")
        became = {item: now.get(item, "") for item in before}
        became |= {old: became.get(item, "") for old, item in record.edited.became.items()}
        edited = EditedOptions(options=tuple(kept.values()), became=became)
        live.finish_message(_by_user(CouncilPart.OPTIONS, "", edited))
        await self._store.flush(session_id)

    async def _want(self, session_id: str, what: str) -> None:
        live = await self._at_rest(session_id)
        session, outsider = live.debate_session, self.providers.outsider(live.debate_session)
        if not self.providers.helper(session):
            raise self._no_helper(session)
        if what == "check" and not outsider:
            raise BadInput("council_no_outsider")
        record, field = Record(session.debate, live.messages), _COUNTED[what]
        # A comparison that nobody could make is still due, and is not made twice.
        count = getattr(record.council, field) + (what != "compare" or not comparison_due(record))
        wanted = replace(record.council, outsider=outsider, **{field: count})
        await self._go_on(live, debate=replace(session.debate, council=wanted))

    def _no_helper(self, session: DebateSession) -> BadInput:
        return BadInput(self.providers.without_help(session, "council_no_helper"))

    async def _open(self, session_id: str, *, any_kind: bool = False) -> LiveSession:
        """Open a council to go on with it; with `any_kind` it may be a debate."""
        live = await self._sessions.open_to_change(session_id)
        if not (any_kind or live.debate_session.debate.is_council):
            raise BadInput("not_a_council", title=live.session.title)
        return live

    async def _at_rest(self, session_id: str, *, any_kind: bool = False) -> LiveSession:
        """Open it as `_open` does, once all its calls have ended."""
        live = await self._open(session_id, any_kind=any_kind)
        if live.debate_session.status == Status.RUNNING:
            raise BadInput("debate_runs" if any_kind else "council_runs", title=live.session.title)
        if (run := self._sessions.running(session_id)) is not None:
            await run.wait()
        return live

    async def _go_on(self, live: LiveSession, **changed: object) -> None:
        """Change fields of a session, and let it run, or run on."""
        live.change(**changed)
        run = self._sessions.running(live.id)
        if run is not None and live.session.status == Status.RUNNING:
            run.go_on()
            return
        self._sessions.check(live.session)
        if run is not None:
            await run.wait()
        live.change(debate=self._helped(live.debate_session))
        self._sessions.run(live)

    def _helped(self, session: DebateSession) -> Debate:
        """Return the debate of a council with who compares its answers now."""
        debate = session.debate
        helper = self.providers.helper(session)
        return replace(debate, council=replace(debate.council or Council(), helper=helper))


def council_object(session: DebateSession, messages: Sequence[Message]) -> dict[str, object]:
    """Return what `moot show --json` says of what a debate or a council came to."""
    record, council = Record(session.debate, messages), session.debate.is_council
    rounds = range(record.rounds + 1) if council else record.voted_rounds
    judge = next(iter(record.council.judges), "")
    return {
        "question": record.question.content if record.question else session.debate.topic,
        "options": [*map(asdict, record.options())],
        "ballots": [
            _ballot_object(record, who, number)
            for number in rounds
            for who in (record.openings if council else record.voters())
            if (council and not number) or record.voted(who, number)
        ],
        "readings": [*map(asdict, record.readings())],
        "differ": [*map(asdict, record.points("differ"))],
        "agreed": [*map(asdict, record.points("agreed"))],
        "chosen": record.held(ChosenAnswer, CouncilPart.CHOICE).message,
        "blind": blind_object(record.council.blind),
        "helpers": helpers_object(record.council.helper, judge, record.council.outsider),
        **outcome_objects(session.debate, messages),
    }


def helpers_object(helper: str, judge: str, outsider: str) -> dict[str, str]:
    """Return what `moot show --json` says of who makes which helper call."""
    named = dict.fromkeys(("options", "differences", "merge"), helper)
    return {**named, **dict.fromkeys(("judge", "moves"), judge), "check": outsider}


def blind_object(blind: BlindPick | None) -> dict[str, object] | None:
    """Return what `moot show --json` says of a blind pick; before the pick nothing says
    which answer is whose.
    """
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
