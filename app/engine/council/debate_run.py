"""A running debate: the director says whose turn it is, and the turn is written together with the cursor.

The options are looked for beside the turns; ballots, a judge's readings and dissents follow as the choices
say.
"""

import asyncio
from dataclasses import replace

from app.core.errors import Failure, FailureKind
from app.core.message import CouncilPart, Message, MessageState
from app.core.owned_tasks import end_tasks
from app.core.session import DebateSession, Reason, Status
from app.engine.council.director import CouncilStep, blind_steps, concluding_steps, judge_steps, options_step
from app.engine.council.earlier import earlier_council
from app.engine.council.record import Record
from app.engine.council.steps import StepRun
from app.engine.council.verdicts import last_verdict
from app.engine.debate.director import after_turn, answered, decide, failed_turns, participant_of, resumed
from app.engine.debate.modes import mode_of
from app.engine.debate.notes import part_to_note, write_notes
from app.engine.debate.providers import DebateProviders
from app.engine.debate.run import close_others, statement_of
from app.engine.director import Decision, Finish, Halt, Speak
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn
from app.engine.turns.context import Services, TurnState
from app.engine.turns.reply import ReplyCleaner
from app.engine.turns.speaker_turn import CallPlan
from app.engine.voting import seat_of


class DebateRun(StepRun):
    """A running debate, in a task of its own."""

    def __init__(self, live: LiveSession, services: Services, providers: DebateProviders) -> None:
        super().__init__(live, services, providers)
        self._absent: frozenset[str] = frozenset()
        # The round in which notes could not be written, and whether the user was told.
        self._unnoted = 0
        # The call that looks for options.
        self._finding: asyncio.Task[None] | None = None
        # Whether it runs for what the user asked of it as it is: a verdict, or a blind pick.
        self._only_asked = False

    async def _loop(self) -> None:
        try:
            await super()._loop()
        finally:
            await end_tasks(self._finding)

    def _begin(self) -> None:
        super()._begin()
        session = self._live.debate_session
        debate = session.debate
        if debate.council is None:
            helper = self._providers.helper(session)
            debate = replace(debate, council=replace(earlier_council(debate), helper=helper))
            self._live.change(debate=debate)
        self._only_asked = bool(self._asked_steps())
        if session.status != Status.RUNNING or session.debate.failures:
            debate = resumed(debate, self._live.said)
            self._live.change(status=Status.RUNNING, reason="", debate=debate)
            decision = self._decision()
            if session.reason == FailureKind.RATE_LIMIT and isinstance(decision, Speak):
                # The user wants an answer now, however long the provider asked to wait.
                speaker = participant_of(debate, decision.speaker)
                self._services.models.end_pause(speaker.provider)

    async def _step(self) -> None:
        self._held = ""
        self.checks.begin(self._providers.needed_checks(self._live.debate_session))
        decision = self._decision()
        if self._pausing and not isinstance(decision, Halt):
            # Also where only votes and a verdict are left, or nothing: the user wants to say something first.
            self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
            return
        ended = isinstance(decision, Finish)
        if (self._only_asked or not isinstance(decision, Halt)) and await self._conclude(ended=ended):
            # The step ends here: what was said by then decides what comes next.
            if self._held:
                self._live.change(status=Status.PAUSED, reason=self._held)
            return
        if self._only_asked and not ended:
            self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
            return
        session = self._live.debate_session
        self._tell_absent(session)
        match decision:
            case Finish(reason):
                self._finish(reason)
            case Halt(reason):
                self._live.change(status=Status.PAUSED, reason=reason)
            case Speak() as spoken if not await self._keep_notes(session, spoken):
                await self._speak(session, spoken)

    def _decision(self) -> Decision:
        session = self._live.debate_session
        return decide(session.debate, self._live.said, self._providers.absent(session))

    def _out(self) -> set[str]:
        """Return who is not asked for a vote: who is absent, and whose models are too small."""
        session = self._live.debate_session
        return self._providers.mute(session) | self._providers.absent(session)

    async def _conclude(self, *, ended: bool) -> bool:
        """Take the calls beside the turns that are due now, side by side; say whether there were any."""
        live = self._live
        debate, council = live.debate_session.debate, live.debate_session.debate.council
        if ended and not answered(live.said):
            return False
        record = Record(debate, live.messages)
        if self._finding is None and (step := options_step(record)):
            self._finding = asyncio.create_task(self._take(step))
        out = self._out()
        steps = self._asked_steps() if self._only_asked else concluding_steps(record, out, ended=ended)
        if not steps and ended and debate.concludes and council is not None and not council.judges:
            judges = self._providers.council_judges(live.debate_session)
            live.change(debate=replace(debate, council=replace(council, judges=judges, moves=True)))
            steps = judge_steps(Record(live.debate_session.debate, live.messages), out)
        if steps and self._finding is not None:
            await self._finding
        await asyncio.gather(*map(self._take_checked, steps))
        return bool(steps)

    def _asked_steps(self) -> tuple[CouncilStep, ...]:
        """Return the calls for what the user asked of the debate as it is."""
        record = Record(self._live.debate_session.debate, self._live.messages)
        return judge_steps(record, self._out()) or blind_steps(record)

    def _hold(self, turn: AgentTurn, reason: str) -> None:
        """Pause before a call that can't be made now; a provider that asks to wait holds up no vote
        and no verdict.
        """
        if reason == FailureKind.RATE_LIMIT:
            failed = replace(turn.message(), state=MessageState.FAILED, error=Failure(kind=reason))
            self._live.finish_message(failed)
        else:
            super()._hold(turn, reason)

    async def _take_checked(self, step: CouncilStep) -> None:
        """Take a step once it is known that its model may vote or judge; where it may not,
        the step is no longer due.
        """
        debate = self._live.debate_session.debate
        if not (step.model or step.who) or step.part == CouncilPart.SOLO:
            await self._take(step)
            return
        seat = seat_of(step.model) if step.model else participant_of(debate, step.who).seat
        may = self.checks.may_judge if step.part == CouncilPart.READING else self.checks.may_vote
        if await may(seat):
            # Where one model of a provider has to wait, another may still be asked.
            self._services.models.end_pause(seat[0])
            await self._take(step)

    def _finish(self, reason: str) -> None:
        """End the debate, as failed where no participant could answer."""
        close_others(self._live)
        failed = failed_turns(self._live.said)
        self._complete(reason, failed, nobody=bool(failed) and not answered(self._live.said))

    async def _keep_notes(self, session: DebateSession, spoken: Speak) -> bool:
        """Write notes on what participants are no longer sent, where some are due;
        say whether any were written.

        The debate never waits for notes that cannot be had: it goes on without them, and says so once.
        """
        live, providers, models = self._live, self._providers, self._services.models
        part = part_to_note(live, spoken.round) if providers.keeps_notes() else None
        if part is None or spoken.round == self._unnoted:
            return False
        known = providers.writers(session)
        writers = {item: name for item, name in known.items() if not models.paused_for(seat_of(item)[0])}
        if not writers:
            return False
        prompts = self._services.prompts
        with self._telling(Reason.SUMMARISING):
            failure = await write_notes(live, part, writers, models, prompts, waits=self._waits)
        if failure and failure != FailureKind.BUDGET_MONTH and not self._unnoted:
            live.notice("notes_failed", kind=failure)
        self._unnoted = spoken.round if failure else self._unnoted
        return not failure

    async def _speak(self, session: DebateSession, spoken: Speak) -> None:
        """Let a participant speak. Message and cursor are one batch, so that no turn is lost or doubled."""
        debate, absent = session.debate, self._absent
        speaker = participant_of(debate, spoken.speaker)
        goes_on = debate.what_if(spoken.round) is not None
        verdict = last_verdict(debate, self._live.messages) if goes_on else ""
        plan = CallPlan(
            message=statement_of(debate, spoken),
            provider=speaker.provider,
            request=lambda attempt: self._providers.request(self._live, spoken, attempt.window, verdict),
            cleaner=lambda: ReplyCleaner.for_speaker(speaker, debate.participants),
            may_ask=lambda: speaker.id not in self._providers.absent(session),
            may_pass=mode_of(debate.mode).may_pass,
        )

        def written(message: Message) -> tuple[Message, dict[str, object]]:
            failed = message.state == MessageState.FAILED
            debate = after_turn(self._live.debate_session.debate, spoken, absent, failed=failed)
            return message, {"debate": debate}

        turn = self._turn(plan, speaker.model, self._providers.tools(debate, speaker))
        close_others(self._live, turn.turn_id)
        outcome = await self._stated(plan, turn, written)
        if outcome.state == TurnState.WAITING:
            self._live.change(status=Status.WAITING, reason=Reason.QUESTION)
        elif outcome.state == TurnState.HELD and outcome.reason:
            self._live.change(status=Status.PAUSED, reason=outcome.reason)

    def _tell_absent(self, session: DebateSession) -> None:
        """Announce once that a participant is absent because their provider is switched off or gone."""
        absent = self._providers.absent(session)
        for participant in session.debate.participants:
            if participant.id in absent - self._absent - set(session.debate.left):
                self._live.notice("participant_absent", name=participant.name)
        self._absent = absent
