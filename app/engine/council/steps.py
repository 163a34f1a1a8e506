"""The calls of a debate or a council that are no turns: each is asked, and kept as a message when it ends."""

import asyncio
from collections.abc import Mapping
from dataclasses import field, replace

from app.core.catalog import RequestForm
from app.core.council_parts import Dissent, FileQuote, JudgeReading, Position, Question, Quoting, Rewritten
from app.core.frozen import Frozen
from app.core.message import Author, CouncilPart, Message, MessageState
from app.core.provider import ModelRequest
from app.core.session import Council, Debate, DebateTools, Reason, Status, counted, joined
from app.engine.council import requests
from app.engine.council.director import CouncilStep, seen_by
from app.engine.council.outcome import outcome
from app.engine.council.record import Move, Record, Sources
from app.engine.council.verdicts import last_verdict
from app.engine.debate.director import participant_of
from app.engine.debate.perspective import notes_sent
from app.engine.debate.providers import DebateProviders
from app.engine.debate.replies import TrailerCleaner, read_trailer
from app.engine.debate.run import StatementRun, author_of, statement_by
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn
from app.engine.turns.context import Services, TurnState
from app.engine.turns.reply import ReplyCleaner
from app.engine.turns.speaker_turn import CallPlan
from app.engine.voting import seat_of

HELPER = "helper"
# How many characters the answers of a blind pick have.
LEAST_SIZE, MOST_SIZE = 400, 1_200
# The parts that end with a trailer.
TRAILERS = (CouncilPart.ANSWER, CouncilPart.TURN, CouncilPart.DISSENT, CouncilPart.SOLO, CouncilPart.CHECK)
# The parts whose quotes are looked up in the files.
QUOTING = (*TRAILERS, CouncilPart.MERGE)


class _TakenStep(Frozen, kw_only=False):
    """A step that is taken: the answers and the moves as they are numbered, what its reader sees,
    and what cleans each try.
    """

    step: CouncilStep
    order: tuple[Message, ...]
    view: requests.ReaderView
    moves: list[Move]
    cleaners: list[ReplyCleaner] = field(default_factory=list)


class StepRun(StatementRun):
    """A running session that takes steps; `_held` says why no more can be taken, "" while they can."""

    def __init__(self, live: LiveSession, services: Services, providers: DebateProviders) -> None:
        super().__init__(live, services, providers)
        self._held = ""
        self._sources: Sources | None = None

    def _begin(self) -> None:
        """Choose anew who helps where an earlier version chose somebody who may not read the session."""
        session, providers = self._live.debate_session, self._providers
        council = session.debate.council or Council()
        chosen = {seat_of(item)[0] for item in (council.helper, council.outsider, *council.judges)}
        if chosen & providers.barred(session):
            council = replace(council, helper=providers.helper(session), outsider=providers.outsider(session))
            council = replace(council, judges=providers.council_judges(session) if council.judges else ())
            self._live.change(debate=replace(session.debate, council=council))

    def _complete(self, reason: str, failed: int, *, nobody: bool) -> None:
        """End the session, in which so many turns failed: as failed where nobody could answer."""
        if failed:
            reason = joined(reason, counted(Reason.FAILED_TURNS, failed))
        if nobody:
            self._live.change(status=Status.ERROR, reason=Reason.NOBODY_ANSWERED)
        else:
            self._live.change(status=Status.COMPLETED, reason=reason)

    async def _take(self, step: CouncilStep) -> None:
        """Make one call; its message and what was read in it are one batch."""
        if self._spent_all():
            self._held = Reason.BUDGET_COST
            return
        debate = self._live.debate_session.debate
        if self._sources is None:
            self._sources = await asyncio.to_thread(Sources, debate.context)
        # Answers that come in meanwhile must not change what the numbers stand for.
        record = Record(debate, self._live.messages)
        order = () if step.who else tuple(requests.numbered(record))
        call = _TakenStep(step, order, seen_by(record, step), record.unjudged)
        plan, model = self._plan(call)
        turn = self._turn(plan, model, self._tools(step))
        quotes: list[FileQuote] = []

        async def looked_up(message: Message) -> None:
            quotes[:] = await self._quotes(message, call.view)

        def written(message: Message) -> tuple[Message, Mapping[str, object]]:
            read = self._read(call, message)
            data = replace(read.data_as(Quoting), quotes=tuple(quotes))
            return (replace(read, data=data) if quotes else read), {}

        taken = await self._stated(plan, turn, written, looked_up)
        if taken.state == TurnState.HELD and taken.reason:
            self._hold(turn, taken.reason)

    def _hold(self, turn: AgentTurn, reason: str) -> None:
        """Pause before a call that can't be made now."""
        self._held = reason

    def _tools(self, step: CouncilStep) -> str:
        """Return what a step may use: an answer may read, what everybody is shown then;
        all else uses nothing.
        """
        debate = self._live.debate_session.debate
        if step.part != CouncilPart.ANSWER:
            return DebateTools.NONE
        return self._providers.tools(debate, participant_of(debate, step.who))

    def _plan(self, call: _TakenStep) -> tuple[CallPlan, str]:
        step, session = call.step, self._live.debate_session
        debate = session.debate
        if step.who:
            speaker = participant_of(debate, step.who)
            author, provider, model = author_of(speaker), speaker.provider, speaker.model
        else:
            used = step.model or (debate.council.helper if debate.council else "")
            provider, model = seat_of(used)
            # A slot of its own for each session: comparing waits for no other council.
            author = Author(id=f"{self._live.id}-{step.part}{step.order or ''}", name=model, kind=HELPER)

        def cleaner() -> ReplyCleaner:
            kind = TrailerCleaner if step.part in TRAILERS else ReplyCleaner
            call.cleaners.append(kind.for_name(author.name))
            return call.cleaners[-1]

        rewritten = Rewritten(of_panel=step.order == 1) if step.part == CouncilPart.REWRITE else None
        reads, judged = step.part == CouncilPart.READING, debate.council.judged if debate.council else 0
        data = JudgeReading(judge=step.model, order=step.order, asked=judged) if reads else rewritten
        message = statement_by(author, part=step.part, round=step.number, retakes=step.retakes, data=data)

        def request(_: object) -> ModelRequest:
            given = self._providers.given(self._live.debate_session.debate, provider, model)
            return self._request(call, given)

        def may_ask() -> bool:
            return not step.who or step.who not in self._providers.absent(session)

        plan = CallPlan(message=message, provider=provider, request=request, cleaner=cleaner, may_ask=may_ask)
        return plan, model

    def _request(self, call: _TakenStep, debate: Debate) -> ModelRequest:
        step, view = call.step, call.view
        record = Record(debate, self._live.messages)
        asking = requests.Requests(record, self._services.prompts)
        match step.part:
            case CouncilPart.DIFFERENCES:
                return asking.differences(call.order) if debate.is_council else asking.options()
            case CouncilPart.MERGE:
                return asking.merge(call.order)
            case CouncilPart.REWRITE:
                return asking.rewrite(*self._to_write(record, step))
            case CouncilPart.READING:
                return asking.reading(step.model, step.order, view)
            case CouncilPart.MOVES:
                return asking.moves(step.model, call.moves)
            case CouncilPart.CHECK if step.number:
                return asking.objection(step.model, view)
            case CouncilPart.SOLO | CouncilPart.CHECK:
                budget = requests.tokens_written(record.since) if step.part == CouncilPart.SOLO else 0
                return asking.outside(step.model, budget)
        speaker = participant_of(debate, step.who)
        match step.part:
            case CouncilPart.TURN:
                return asking.turn(speaker, view)
            case CouncilPart.BALLOT if debate.is_council:
                return asking.ballot(speaker, view)
            case CouncilPart.BALLOT:
                _, said = self._providers.taken(self._live, speaker)
                heard = {message.id: message for message in said}
                view = replace(view, statements=tuple(heard.get(item.id, item) for item in view.statements))
                return asking.ballot(speaker, view, notes_sent(self._live))
            case CouncilPart.DISSENT:
                return asking.dissent(speaker, outcome(record).headline)
        if self._providers.form(speaker.provider) == RequestForm.TRANSCRIPT:
            return asking.small(speaker)
        follows = record.question is not None and record.question.data_as(Question).follows
        return asking.answer(speaker, last_verdict(debate, self._live.messages) if follows else "")

    def _to_write(self, record: Record, step: CouncilStep) -> tuple[str, int]:
        """Return what is written anew for the blind pick, and in how many characters: as many
        as the other one has.
        """
        of_panel = step.order == 1
        others = [item for item in record.rewritten()[not of_panel] if item.state == MessageState.DONE]
        alone = record.alone.content if record.alone is not None else ""
        size = len(others[0].content) if others else min(max(len(alone), LEAST_SIZE), MOST_SIZE)
        return last_verdict(record.debate, self._live.messages) if of_panel else alone, size

    async def _quotes(self, message: Message, view: requests.ReaderView) -> list[FileQuote]:
        """Return what a statement quotes, looked up in the files; what it quotes of others is no quote
        of a file.
        """
        if message.state != MessageState.DONE or message.part not in QUOTING or self._sources is None:
            return []
        others = [self._live.debate_session.debate.topic, *(item.content for item in view.statements)]
        # One that is made up takes about 10 ms for each million characters.
        return await asyncio.to_thread(self._sources.check, message.content, others)

    def _read(self, call: _TakenStep, message: Message) -> Message:
        """Return a message with what was read in it."""
        step, view, text = call.step, call.view, message.content
        if message.state != MessageState.DONE:
            return message
        match step.part:
            case CouncilPart.DIFFERENCES:
                council = self._live.debate_session.debate.is_council
                read = requests.read_differences(text, call.order) if council else requests.read_options(text)
                return replace(message, data=read)
            case CouncilPart.MERGE:
                return replace(message, content=requests.with_names(text, call.order))
            case CouncilPart.BALLOT:
                return replace(message, data=requests.read_vote(text, view, message.id))
            case CouncilPart.READING:
                reading = requests.read_reading(text, view, step.model, step.order)
                return replace(message, data=replace(reading, asked=message.data_as(JudgeReading).asked))
            case CouncilPart.MOVES:
                return replace(message, data=requests.read_moves(text, call.moves))
        last = call.cleaners[-1] if call.cleaners else None
        if not isinstance(last, TrailerCleaner):
            return message
        said: Position | Dissent
        if step.part == CouncilPart.TURN or (step.number and step.part == CouncilPart.CHECK):
            said = requests.read_vote(last.trailer, view, message.id)
        elif step.part == CouncilPart.DISSENT:
            said = requests.read_dissent(last.trailer)
        else:
            said = read_trailer(last.trailer)
            if step.model:
                record = Record(self._live.debate_session.debate, self._live.messages)
                said = requests.matched(said, record, message.id)
        return replace(message, data=replace(said, trailer=last.trailer.strip()))
