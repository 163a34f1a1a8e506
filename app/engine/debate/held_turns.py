"""The commands for a turn of a debate that waits, cannot be taken or has failed; `engine.debates.held`."""

from collections.abc import Callable
from dataclasses import replace

from app.core.errors import BadInput, NotFound
from app.core.events import utc_now
from app.core.ids import new_id
from app.core.message import Failure, Message, MessageState, Role
from app.core.reasons import HELD_UP
from app.core.session import MIN_PARTICIPANTS, Debate, DebateSession, Participant, Status
from app.engine.debate.director import (
    MAX_FAILURES,
    World,
    after_resume,
    after_turn,
    decide,
    last_turns,
    participant_of,
)
from app.engine.debate.run import author_of
from app.engine.debate.statement import begun_turn
from app.engine.director import Speak
from app.engine.live_session import LiveSession
from app.engine.sessions import Sessions, check_open
from app.engine.turns.metered_models import MeteredModels

SKIPPED = "skipped"


class HeldTurns:
    """Retries such a turn, skips it, or goes on without its participant; all raise BadInput, NotFound, StorageError.

    Each of them resumes the debate.
    """

    def __init__(
        self, sessions: Sessions, models: MeteredModels, world: Callable[[DebateSession], World]
    ) -> None:
        self._sessions = sessions
        self._models = models
        self._world = world

    async def retry(self, session_id: str) -> None:
        """Take the turn now, however long its provider asked to wait; or retry the failed turns that led to a pause."""
        live = await self._at_rest(session_id)
        spoken = self._next(live)
        if spoken is not None:
            participant = participant_of(live.debate_session.debate, spoken.speaker)
            self._models.end_pause(participant.provider)
        self._sessions.run(live)

    async def skip(self, session_id: str) -> None:
        """Skip the turn; failed turns that led to a pause stay as they are."""
        live = await self._at_rest(session_id)
        debate = live.debate_session.debate
        spoken = self._next(live)
        if debate.failures >= MAX_FAILURES:
            live.change(debate=replace(debate, failures=0))
        elif spoken is not None and spoken.retakes:
            due = tuple(one for one in debate.due if one != spoken.retakes)
            live.change(debate=replace(debate, due=due, failures=0))
        elif spoken is not None:
            after = after_turn(debate, spoken, failed=False, world=self._world(live.debate_session))
            skipped = _skipped(debate, spoken)
            begun = begun_turn(live, skipped)
            live.finish_message(replace(skipped, turn_id=begun or skipped.turn_id), debate=after)
        self._sessions.run(live)

    async def go_on_without(self, session_id: str, participant_id: str) -> None:
        """Leave a participant out of the rest of the debate."""
        live = await self._open(session_id)
        session = live.debate_session
        left = [one for one in self._present(session) if one.id != participant_id]
        gone = next((one for one in session.debate.participants if one.id == participant_id), None)
        if gone is None:
            raise NotFound("participant_not_found", participants=_names(session.debate.participants))
        if len(left) < MIN_PARTICIPANTS:
            raise BadInput("too_few_without", name=gone.name, least=MIN_PARTICIPANTS)
        await self._go_on(live, lambda debate: replace(debate, left=(*debate.left, participant_id)))

    async def retake(self, session_id: str, message_id: str) -> None:
        """Take a failed turn again before the debate goes on."""
        live = await self._open(session_id)
        failed = next((one for one in live.said if one.id == message_id), None)
        if failed is None:
            raise NotFound("message_not_found", message=message_id)
        if failed.state != MessageState.FAILED or any(one.retakes == message_id for one in live.said):
            raise BadInput("turn_not_failed")
        await self._go_on(
            live, lambda debate: replace(debate, due=tuple(dict.fromkeys((*debate.due, message_id))))
        )

    def of(self, session_id: str) -> tuple[Participant, ...]:
        """Return whose turns hold an open debate up, where it could go on without them."""
        live = self._sessions.live(session_id)
        if live is None or live.session.status != Status.PAUSED or live.session.reason not in HELD_UP:
            return ()
        session = live.debate_session
        if len(self._present(session)) <= MIN_PARTICIPANTS:
            return ()
        if session.debate.failures >= MAX_FAILURES:
            ids = {one.author.id for one in last_turns(live.said, session.debate.failures)}
        else:
            spoken = self._next(live)
            ids = {spoken.speaker} if spoken is not None else set()
        return tuple(one for one in self._present(session) if one.id in ids)

    async def participant(self, session_id: str, name: str) -> Participant:
        """Return who is called so in a debate. Raises NotFound that names everybody."""
        live = await self._sessions.open(session_id)
        participants = live.debate_session.debate.participants
        for one in participants:
            if one.name.casefold() == name.strip().casefold():
                return one
        raise NotFound("participant_not_found", participants=_names(participants))

    async def _open(self, session_id: str) -> LiveSession:
        live = await self._sessions.open(session_id)
        check_open(live)
        _ = live.debate_session
        return live

    async def _go_on(self, live: LiveSession, change: Callable[[Debate], Debate]) -> None:
        """Change a debate and resume it; a turn in flight is finished first."""
        run = self._sessions.running(live.id)
        at_work = run is not None and live.session.status == Status.RUNNING and not run.only_waits
        if not at_work:
            await self._at_rest(live.id)
        live.change(debate=change(live.debate_session.debate))
        if not at_work:
            self._sessions.run(live)

    async def _at_rest(self, session_id: str) -> LiveSession:
        """Open a debate that is paused, or pause one whose turn only waits."""
        live = await self._open(session_id)
        run = self._sessions.running(session_id)
        if run is not None and live.session.status == Status.RUNNING:
            if not run.only_waits:
                raise BadInput("turn_not_waiting")
            await run.pause()
        elif run is not None:
            await run.wait()
        return live

    def _next(self, live: LiveSession) -> Speak | None:
        """Return the turn that comes next once the debate goes on."""
        session = live.debate_session
        session = replace(session, debate=after_resume(session.debate, live.said))
        decision = decide(session, live.said, self._world(session))
        return decision if isinstance(decision, Speak) else None

    def _present(self, session: DebateSession) -> list[Participant]:
        absent = self._world(session).absent
        return [one for one in session.debate.participants if one.id not in absent]


def _skipped(debate: Debate, spoken: Speak) -> Message:
    return Message(
        id=new_id(),
        turn_id=new_id(),
        role=Role.ASSISTANT,
        author=author_of(participant_of(debate, spoken.speaker)),
        round=spoken.round,
        why=spoken.why,
        state=MessageState.FAILED,
        error=Failure(kind=SKIPPED),
        created_at=utc_now(),
    )


def _names(participants: tuple[Participant, ...]) -> str:
    return ", ".join(one.name for one in participants)
