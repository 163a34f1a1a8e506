"""A debate that runs: the director says whose turn it is, the turn is taken and written with the cursor."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from app.core.errors import FailureKind, ProviderError
from app.core.events import Event, Notice, utc_now
from app.core.ids import new_id
from app.core.message import Author, Failure, Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.reasons import Reason, counted, joined
from app.core.session import Debate, DebateSession, Participant, Status
from app.engine.availability.policies import Waits
from app.engine.availability.slots import NotFree, Slots, Work, held_back
from app.engine.debate.director import PARTICIPANT, after_resume, after_turn, answered, decide, failed_turns
from app.engine.debate.judging import judged, poll
from app.engine.debate.modes import mode_of
from app.engine.debate.verdict import Judge, round_to_poll
from app.engine.director import Decision, Finish, Halt, Speak, Wait, World
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.runner import Run, Surroundings
from app.engine.turns.metered_models import MeteredModels
from app.engine.turns.model_call import CallPlan, CallResult, call_model
from app.engine.turns.reply import ReplyCleaner


@dataclass(frozen=True, slots=True)
class DebateTerms:
    """What the providers are like now, and how a speaker's request is made for a window of messages.

    `voters` are the participants whose models can be asked for a ballot, `judges` who can give a verdict.
    """

    world: Callable[[DebateSession], World]
    slots: Slots
    request: Callable[[LiveSession, Speak, int], ModelRequest]
    voters: Callable[[DebateSession], list[Participant]]
    judges: Callable[[DebateSession], list[Judge]]
    models: MeteredModels
    prompts: Prompts


class DebateRun(Run):
    """A debate that runs, in a task of its own."""

    def __init__(self, live: LiveSession, surroundings: Surroundings, terms: DebateTerms) -> None:
        super().__init__(live, surroundings)
        self._terms = terms
        self._absent: frozenset[str] = frozenset()

    def _begin(self) -> None:
        session = self._live.debate_session
        if session.status != Status.RUNNING or session.debate.failures:
            debate = after_resume(session.debate, self._live.messages)
            self._live.change(status=Status.RUNNING, reason="", debate=debate)
            decision = self._decision()
            if session.reason == FailureKind.RATE_LIMIT and isinstance(decision, Speak):
                # The user wants it asked now, however long the provider asked to wait.
                self._around.models.end_pause(decision.participant.provider)

    async def _step(self) -> None:
        try:
            await self._go_on()
        except ProviderError as held:
            # The month's limit came before a vote or the verdict: both are asked for when it goes on.
            details = {"kind": held.kind, "detail": held.detail}
            self._live.change(status=Status.PAUSED, reason=held.kind)
            self._live.tell(
                Notice(session_id=self._live.id, level="warning", code="vote_held", details=details)
            )

    async def _go_on(self) -> None:
        if not isinstance(self._decision(), Halt):
            await self._poll()
        session = self._live.debate_session
        world = self._terms.world(session)
        self._tell_absent(session, world)
        match decide(session, self._live.messages, world):
            case Finish(reason):
                await self._finish(session, reason)
            case Halt(reason):
                self._live.change(status=Status.PAUSED, reason=reason)
            case Wait():
                self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
            case Speak() if self._pausing:
                self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
            case Speak() as spoken:
                plan = self._plan(session, spoken)
                self._live.start_turn(plan.message)
                result = await self._answered(plan, spoken.participant)
                self._write(result, spoken, world)

    def _decision(self) -> Decision:
        session = self._live.debate_session
        return decide(session, self._live.messages, self._terms.world(session))

    async def _finish(self, session: DebateSession, reason: str) -> None:
        """End the debate: with a verdict where that is wanted, as failed where nobody could answer."""
        messages = self._live.messages
        failed = failed_turns(messages)
        if failed and not answered(messages):
            self._live.change(status=Status.ERROR, reason=Reason.NOBODY_ANSWERED)
            return
        if session.debate.polls and session.debate.verdict is None:
            session = replace(session, debate=await self._judged(session))
        if failed:
            reason = joined(reason, counted(Reason.FAILED_TURNS, failed))
        self._live.change(status=Status.COMPLETED, reason=reason, debate=session.debate)

    async def _poll(self) -> None:
        """Let everybody vote in secret, where that is due and the user does not want a pause."""
        session = self._live.debate_session
        due = round_to_poll(session.debate)
        if due is None or self._pausing:
            return
        absent = self._terms.world(session).absent
        voters = [one for one in self._terms.voters(session) if one.id not in absent]
        ballots = await poll(self._live, due, voters, self._terms.models, self._terms.prompts)
        debate = self._live.debate_session.debate
        self._live.change(debate=replace(debate, ballots=(*debate.ballots, *ballots)))

    async def _judged(self, session: DebateSession) -> Debate:
        terms = self._terms
        verdict = await judged(
            self._live, list(self._live.messages), terms.judges(session), terms.models, terms.prompts
        )
        return replace(session.debate, verdict=verdict)

    async def _answered(self, plan: CallPlan, speaker: Participant) -> CallResult:
        """Let the speaker answer, once the assistant it is has time for it."""
        work = Work(session_id=self._live.id)
        try:
            waits = partial(self._waits_for_slot, speaker)
            async with self._terms.slots.taken(speaker.id, work=work, waits=waits):
                self._wait_is_over()
                return await call_model(
                    self._live, plan, self._around.models, waits=self._waits, clock=self._around.clock
                )
        except NotFree as refused:
            self._wait_is_over()
            error = Failure(kind=refused.reason, detail=speaker.name)
            return CallResult(
                replace(plan.message, state=MessageState.FAILED, error=error, created_at=utc_now())
            )

    def _waits_for_slot(self, speaker: Participant, waits: Waits) -> None:
        """Say so, and let a pause come at once: nothing is in flight."""
        self._waiting += 1
        self._live.change(reason=Reason.BUSY)
        held_back(self._live, speaker.name, waits)

    def _wait_is_over(self) -> None:
        if self._live.session.reason == Reason.BUSY:
            self._waiting -= 1
            self._live.change(reason="")

    def _tell_absent(self, session: DebateSession, world: World) -> None:
        """Say once of everybody whose provider is switched off or gone that they no longer speak."""
        for participant in session.debate.participants:
            if participant.id in world.absent - self._absent - set(session.debate.left):
                details = {"name": participant.name}
                notice = Notice(
                    session_id=self._live.id, level="warning", code="participant_absent", details=details
                )
                self._live.tell(notice)
        self._absent = world.absent

    def _write(self, result: CallResult, spoken: Speak, world: World) -> None:
        """Put message and cursor into one batch, so that no turn is lost or doubled."""
        if result.message is None:
            if not result.held:
                return
            details = {"name": spoken.participant.name, "kind": result.held, "detail": result.detail}
            self._live.change(status=Status.PAUSED, reason=result.held)
            self._live.tell(
                Notice(session_id=self._live.id, level="warning", code="turn_held", details=details)
            )
            return
        failed = result.message.state == MessageState.FAILED
        debate = after_turn(self._live.debate_session.debate, spoken, failed=failed, world=world)
        extra: tuple[Event, ...] = (result.usage,) if result.usage else ()
        self._live.finish_message(result.message, *extra, debate=debate)

    def _plan(self, session: DebateSession, spoken: Speak) -> CallPlan:
        debate, speaker = session.debate, spoken.participant
        return CallPlan(
            message=Message(
                id=new_id(),
                turn_id=new_id(),
                role=Role.ASSISTANT,
                author=author_of(speaker),
                round=spoken.round,
                why=spoken.why,
                retakes=spoken.retakes,
            ),
            provider=speaker.provider,
            request=lambda attempt: self._terms.request(self._live, spoken, attempt.window),
            cleaner=lambda: ReplyCleaner.for_speaker(speaker, debate.participants),
            may_ask=lambda: speaker.id not in self._terms.world(session).absent,
            may_pass=mode_of(debate.mode).may_pass,
        )


def author_of(participant: Participant) -> Author:
    """Return a participant as the author of a message."""
    return Author(id=participant.id, name=participant.name, kind=PARTICIPANT)
