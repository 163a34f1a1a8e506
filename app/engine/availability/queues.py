"""What each assistant does and what waits for it; `engine.queues` for the faces."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.agent import Agent
from app.core.errors import BadInput, NotFound
from app.core.events import AvailabilityChanged, EventBus
from app.core.roles import role_of
from app.core.settings import Settings
from app.core.store import Documents
from app.engine.availability.policies import MADE_FOR
from app.engine.availability.slots import Job, Slots
from app.engine.library.agents import AgentDirectory


class Queues:
    """The assistants' queues, and what the user may do with waiting tasks.

    All raise NotFound for a task that has begun or ended meanwhile.
    """

    def __init__(self, slots: Slots, directory: AgentDirectory, documents: Documents, bus: EventBus) -> None:
        self._slots = slots
        self._directory = directory
        self._documents = documents
        self._bus = bus

    def jobs(self, agent_id: str = "") -> list[Job]:
        """Return what runs and waits, of one assistant or of all."""
        return [job for job in self._slots.jobs() if agent_id in ("", job.agent_id)]

    def counts(self, agent_id: str) -> tuple[int, int, int]:
        """Return how much of an assistant runs, queues, and waits with a time limit."""
        return self._slots.counts(agent_id)

    def takers(self, job_id: str) -> list[Agent]:
        """Return the assistants that could take a waiting task instead, those of its role first; none where it may not move."""
        job = next((one for one in self._slots.jobs() if one.id == job_id), None)
        if job is None or not job.work.may_move:
            return []
        now = self._directory.agent(job.agent_id)
        role = role_of(now.role if now else job.agent_id.removeprefix(MADE_FOR))
        free = [
            one
            for one in self._directory.agents()
            if one.enabled and one.id != job.agent_id and self._slots.can_accept(one.id)
        ]
        return sorted(free, key=lambda one: role_of(one.role) != role)

    def take_out(self, job_id: str) -> None:
        """Remove a waiting task; its chat, step or caller is told."""
        if not self._slots.take_out(job_id):
            raise NotFound("job_gone")

    def move_to_front(self, job_id: str) -> None:
        """Make a waiting task the next."""
        self._waiting(job_id)
        self._slots.move_to_front(job_id)

    def send(self, job_id: str, agent_id: str) -> None:
        """Give a waiting task to another assistant. Raises BadInput where that one has too much to do."""
        self._waiting(job_id)
        agent = self._directory.agent(agent_id)
        if agent is None:
            raise NotFound("assistant_not_found", assistant=agent_id)
        if not self._slots.can_accept(agent_id):
            raise BadInput("assistant_busy", assistant=agent.name)
        if not self._slots.send(job_id, agent_id):
            raise BadInput("job_stays")

    async def hold(self, agent_id: str, held: bool) -> None:
        """Let an assistant begin no further task, also after a restart, or release it; running tasks go on.

        Raises StorageError; then nothing has changed.
        """

        def change(settings: Settings) -> Settings:
            others = tuple(one for one in settings.held_back if one != agent_id)
            return replace(settings, held_back=(*others, agent_id) if held else others)

        await self._documents.change_settings(change)
        self._slots.hold(agent_id, held)

    def is_held(self, agent_id: str) -> bool:
        """Say whether the user holds an assistant back."""
        return self._slots.is_held(agent_id)

    def held(self) -> Sequence[str]:
        """Return the ids of those the user holds back, without who is gone."""
        return [one for one in self._documents.settings().held_back if self._is_somebody(one)]

    def tell(self, agent_id: str) -> None:
        """Publish how busy an assistant is; other ids, such as those of participants, are ignored."""
        if not self._is_somebody(agent_id):
            return
        running, queued, waiting = self._slots.counts(agent_id)
        self._bus.publish(
            AvailabilityChanged(
                session_id="", assistant_id=agent_id, running=running, queued=queued, waiting=waiting
            )
        )

    def _is_somebody(self, agent_id: str) -> bool:
        return self._directory.agent(agent_id) is not None or agent_id.startswith(MADE_FOR)

    def _waiting(self, job_id: str) -> None:
        if not any(job.id == job_id and job.place is not None for job in self._slots.jobs()):
            raise NotFound("job_gone")
