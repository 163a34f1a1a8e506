"""A council that runs: every call that is due at once, each kept as a message when it ends."""

import asyncio
from dataclasses import replace

from app.core.council import MIN_PARTICIPANTS
from app.core.message import CouncilPart, MessageState
from app.core.owned_tasks import end_tasks
from app.core.session import Council, Debate, DebateSession, Reason, Status
from app.engine.council.director import CouncilStep, next_steps
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.council.steps import StepRun
from app.engine.debate.providers import DebateProviders
from app.engine.live_session import LiveSession
from app.engine.turns.context import Services
from app.engine.voting import seat_of


def with_rounds(
    session: DebateSession, begun: int, rounds: int, providers: DebateProviders, *, stress: bool = False
) -> Debate:
    """Return the debate of a council that argues for so many rounds more than have `begun`.

    With `stress` only a model from outside speaks in the first of them.
    """
    council = session.debate.council or Council()
    stressed = (*council.stressed, begun + 1) if stress else council.stressed
    judges, outsider = providers.council_judges(session), providers.outsider(session)
    council = replace(council, judges=judges, outsider=outsider, stressed=stressed)
    council = replace(council, rounds=begun + rounds, debated=begun, moves=True)
    return replace(session.debate, council=council)


class CouncilRun(StepRun):
    """A running council, in a task of its own."""

    def __init__(self, live: LiveSession, services: Services, providers: DebateProviders) -> None:
        super().__init__(live, services, providers)
        self._at_work: dict[CouncilStep, asyncio.Task[None]] = {}
        self._news = asyncio.Event()

    def go_on(self) -> None:
        """Withdraw a pause that has not happened yet, and look again at what is due."""
        super().go_on()
        self._look_again()

    def _look_again(self) -> None:
        self._news.set()

    def _begin(self) -> None:
        super()._begin()
        if self._live.session.status != Status.RUNNING:
            self._live.change(status=Status.RUNNING, reason="")

    @property
    def only_waits(self) -> bool:
        return len(self._at_work) <= self._waiting if self._at_work else self.checks.runs()

    def _due(self) -> tuple[CouncilStep, ...]:
        session, providers = self._live.debate_session, self._providers
        absent, mute = providers.absent(session), providers.mute(session)
        return next_steps(Record(session.debate, self._live.messages), absent, mute)

    async def _step(self) -> None:
        self._held = ""
        try:
            while True:
                self._news.clear()
                self.checks.begin(self._providers.needed_checks(self._live.debate_session))
                due = self._due()
                if readers := [seat_of(step.model) for step in due if step.part == CouncilPart.READING]:
                    self.checks.begin(readers)
                    due = self._due()
                goes_on = not (self._pausing or self._held)
                waiting = [step for step in due if goes_on and self._waits_for_check(step)]
                for step in due if goes_on else ():
                    if step not in self._at_work and step not in waiting:
                        self._at_work[step] = asyncio.create_task(self._take(step))
                        self._at_work[step].add_done_callback(lambda _task: self._look_again())
                if not self._at_work and not waiting:
                    if self._held or self._pausing or not self._wants_debate():
                        break
                    self._begin_debate()
                    continue
                await self._news.wait()
                for step in [item for item, task in self._at_work.items() if task.done()]:
                    self._at_work.pop(step).result()
        finally:
            await end_tasks(*self._at_work.values())
            self._at_work.clear()
        self._end()

    def _waits_for_check(self, step: CouncilStep) -> bool:
        """Say whether a step is for a model whose voting check runs, or hangs on the votes of such models."""
        debate, checks = self._live.debate_session.debate, self.checks
        seats = {participant.id: participant.seat for participant in debate.participants}
        if step.part == CouncilPart.READING:
            return checks.runs(seat_of(step.model))
        # In between the votes say whether there is another round.
        last = debate.council.rounds if debate.council is not None else 0
        if step.part == CouncilPart.BALLOT and step.number in (0, last):
            return checks.runs(seats[step.who])
        return (step.part == CouncilPart.BALLOT or step.number > 1) and checks.runs(*seats.values())

    def _wants_debate(self) -> bool:
        """Say whether what is open is to be debated now, without being asked for."""
        record = Record(self._live.debate_session.debate, self._live.messages)
        council = record.council
        if not (council.wanted_rounds and council.helper) or council.rounds or len(record.new) > 1:
            return False
        result = outcome(record)
        return result.answered >= MIN_PARTICIPANTS and result.is_open

    def _begin_debate(self) -> None:
        session = self._live.debate_session
        council = session.debate.council or Council()
        self._live.change(debate=with_rounds(session, 0, council.wanted_rounds, self._providers))

    def _end(self) -> None:
        if self._held:
            self._live.change(status=Status.PAUSED, reason=self._held)
        elif self._pausing and (self._due() or self._wants_debate()):
            self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
        else:
            self._finish()

    def _finish(self) -> None:
        """End the council for now: the user may ask for more at any time."""
        record = Record(self._live.debate_session.debate, self._live.messages)
        answered = len(record.answers())
        ended = [record.replied(participant.id) for participant in record.asked()]
        failed = sum(message is not None and message.state == MessageState.FAILED for message in ended)
        reason = Reason.COMPARED if answered >= MIN_PARTICIPANTS else Reason.TOO_FEW
        self._complete(reason, failed, nobody=not answered)
