"""A running debate: the director says whose turn it is, and the turn is written together with the cursor."""

from dataclasses import replace

from app.core.errors import FailureKind, ProviderError
from app.core.ids import new_id
from app.core.message import Author, Message, MessageState, Role
from app.core.reasons import Reason, counted, joined
from app.core.session import Debate, DebateSession, Participant, Status
from app.engine.debate.director import (
    PARTICIPANT,
    World,
    after_resume,
    after_turn,
    answered,
    decide,
    failed_turns,
    participant_of,
)
from app.engine.debate.modes import mode_of
from app.engine.debate.notes import part_to_note, write_notes
from app.engine.debate.providers import DebateProviders
from app.engine.debate.statement import StatementRun, close_others
from app.engine.debate.verdict import judged, poll, round_to_poll
from app.engine.director import Decision, Finish, Halt, Speak
from app.engine.live_session import LiveSession
from app.engine.turns.answer import CallPlan
from app.engine.turns.context import Services, TurnState
from app.engine.turns.reply import ReplyCleaner


class DebateRun(StatementRun):
    """A running debate, in a task of its own."""

    def __init__(self, live: LiveSession, services: Services, providers: DebateProviders) -> None:
        super().__init__(live, services)
        self._providers = providers
        self._absent: frozenset[str] = frozenset()
        # The round in which notes could not be written, and whether the user was told.
        self._unnoted = 0

    def _begin(self) -> None:
        session = self._live.debate_session
        if session.status != Status.RUNNING or session.debate.failures:
            debate = after_resume(session.debate, self._live.said)
            self._live.change(status=Status.RUNNING, reason="", debate=debate)
            decision = self._decision()
            if session.reason == FailureKind.RATE_LIMIT and isinstance(decision, Speak):
                # The user wants an answer now, however long the provider asked to wait.
                speaker = participant_of(debate, decision.speaker)
                self._services.models.end_pause(speaker.provider)

    async def _step(self) -> None:
        try:
            await self._go_on()
        except ProviderError as held:
            # The month's limit was reached before a vote or the verdict: both are asked for after resuming.
            self._live.change(status=Status.PAUSED, reason=held.kind)
            self._live.notice("vote_held", kind=held.kind, detail=held.detail)

    async def _go_on(self) -> None:
        decision = self._decision()
        if not isinstance(decision, Halt) and await self._poll(ended=isinstance(decision, Finish)):
            # The step ends here, so that the ballots are saved before the next call.
            return
        session = self._live.debate_session
        world = self._providers.world(session)
        self._tell_absent(session, world)
        match decision:
            case Finish(reason):
                await self._finish(session, reason)
            case Halt(reason):
                self._live.change(status=Status.PAUSED, reason=reason)
            case Speak() if self._pausing:
                self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
            case Speak() as spoken if not await self._keep_notes(session, spoken):
                await self._take(session, spoken, world)

    def _decision(self) -> Decision:
        session = self._live.debate_session
        return decide(session, self._live.said, self._providers.world(session))

    async def _finish(self, session: DebateSession, reason: str) -> None:
        """End the debate: with a verdict where that is wanted, as failed where no participant could answer."""
        close_others(self._live)
        messages = self._live.said
        failed = failed_turns(messages)
        if failed and not answered(messages):
            self._live.change(status=Status.ERROR, reason=Reason.NOBODY_ANSWERED)
            return
        if session.debate.concludes and session.debate.verdict is None:
            session = replace(session, debate=await self._judged(session))
        if failed:
            reason = joined(reason, counted(Reason.FAILED_TURNS, failed))
        self._live.change(status=Status.COMPLETED, reason=reason, debate=session.debate)

    async def _poll(self, *, ended: bool) -> bool:
        """Let all participants vote in secret, where a vote is due and no pause is wanted; say whether they did."""
        session = self._live.debate_session
        due = round_to_poll(session.debate, ended=ended)
        if due is None or self._pausing or (ended and not answered(self._live.said)):
            return False
        absent = self._providers.world(session).absent
        await self._check_voting(
            self._providers.checks, [one for one in session.debate.participants if one.id not in absent]
        )
        voters = [one for one in self._providers.voters(session) if one.id not in absent]
        ballots = await poll(
            self._live, due, voters, self._services.models, self._services.prompts, self._providers.taken
        )
        debate = self._live.debate_session.debate
        self._live.change(debate=replace(debate, ballots=(*debate.ballots, *ballots)))
        return True

    async def _judged(self, session: DebateSession) -> Debate:
        providers, services = self._providers, self._services
        judges, said = providers.judges(session), list(self._live.said)
        verdict = await judged(self._live, said, judges, services.models, services.prompts, providers.checks)
        return replace(session.debate, verdict=verdict)

    async def _keep_notes(self, session: DebateSession, spoken: Speak) -> bool:
        """Write notes on what participants are no longer sent, where some are due; say whether any were written.

        The debate never waits for notes that cannot be had: it goes on without them, and says so once.
        """
        providers, services = self._providers, self._services
        part = part_to_note(self._live, spoken.round) if providers.keeps_notes() else None
        writers = [
            one
            for one in (providers.writers(session) if part is not None else ())
            if not services.models.paused_for(one.provider)
        ]
        if part is None or not writers or spoken.round == self._unnoted:
            return False
        self._live.change(reason=Reason.SUMMARISING)
        try:
            failure = await write_notes(
                self._live, part, writers, services.models, services.prompts, waits=self._waits
            )
        finally:
            if self._live.session.status == Status.RUNNING:
                self._live.change(reason="")
        if failure and failure != FailureKind.BUDGET_MONTH and not self._unnoted:
            self._live.notice("notes_failed", kind=failure)
        self._unnoted = spoken.round if failure else self._unnoted
        return not failure

    async def _take(self, session: DebateSession, spoken: Speak, world: World) -> None:
        """Let a participant answer. Message and cursor are one batch, so that no turn is lost or doubled."""
        participant = participant_of(session.debate, spoken.speaker)
        plan = self._plan(session, spoken)

        def written(message: Message) -> tuple[Message, dict[str, object]]:
            failed = message.state == MessageState.FAILED
            debate = after_turn(self._live.debate_session.debate, spoken, failed=failed, world=world)
            return message, {"debate": debate}

        turn = self._turn(plan, participant.model, self._providers.tools(session.debate, participant))
        close_others(self._live, turn.turn_id)
        outcome = await self._stated(plan, turn, written)
        if outcome.state == TurnState.WAITING:
            self._live.change(status=Status.WAITING, reason=Reason.QUESTION)
        elif outcome.state == TurnState.HELD and outcome.reason:
            self._live.change(status=Status.PAUSED, reason=outcome.reason)

    def _settle(self, status: str) -> None:
        super()._settle(status)
        if status == self.stopped_status:
            close_others(self._live)

    def _tell_absent(self, session: DebateSession, world: World) -> None:
        """Announce once that a participant is absent because their provider is switched off or gone."""
        for participant in session.debate.participants:
            if participant.id in world.absent - self._absent - set(session.debate.left):
                self._live.notice("participant_absent", name=participant.name)
        self._absent = world.absent

    def _plan(self, session: DebateSession, spoken: Speak) -> CallPlan:
        debate = session.debate
        speaker = participant_of(debate, spoken.speaker)
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
            request=lambda attempt: self._providers.request(self._live, spoken, attempt.window),
            cleaner=lambda: ReplyCleaner.for_speaker(speaker, debate.participants),
            may_ask=lambda: speaker.id not in self._providers.world(session).absent,
            may_pass=mode_of(debate.mode).may_pass,
        )


def author_of(participant: Participant) -> Author:
    """Return a participant as the author of a message."""
    return Author(id=participant.id, name=participant.name, kind=PARTICIPANT)
