"""The engine a debate machine plays with: its clock, its models, its disk, and what it looks at.

Used by debate_machine.
"""

import asyncio
from dataclasses import replace

from hypothesis.stateful import RuleBasedStateMachine

from app.core.message import Message, Role
from app.core.session import DebateSession
from app.engine.turns.context import MeteredModels
from tests.builders import a_bench, remotes
from tests.engine.gated_models import Call, GatedModels
from tests.memory import MemoryDocuments, MemorySecrets, MemoryStore


class DebateWorld(RuleBasedStateMachine):
    """An engine with one debate, held by the hand."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.store = MemoryStore()
        self.documents = MemoryDocuments(remotes())
        self.known_calls = 0
        self.now = 0.0
        self.retry_waits: list[float] = []
        self.timer: asyncio.Event | None = None
        self.pausing = False
        self.said: list[str] = []
        self.held_turn: tuple[int, int] | None = None
        self.asked_in_turn = 0
        self.speaking = ""
        self.frozen: list[Message] | None = None
        self.history: list[Message] = []
        self.ids: list[str] = []
        self.resumed_at = 0
        self.due: list[Message] = []

    def teardown(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.settle()
        self.loop.close()

    def _open_engine(self) -> None:
        self.models = GatedModels()
        bench = a_bench(self.store)
        bench.engine._models = self.models
        self.engine = bench.engine
        self.engine._documents = self.documents
        self.engine._secrets = MemorySecrets()
        self.engine._calls.rest, self.engine._calls._clock = self._sleep, lambda: self.now
        metered = MeteredModels(self.models, self.engine.usage, self.engine._calls)
        self.engine._services = replace(self.engine._services, models=metered, clock=lambda: self.now)
        self.known_calls = 0

    async def _sleep(self, seconds: float) -> None:
        self.retry_waits.append(seconds)
        self.timer = asyncio.Event()
        try:
            await self.timer.wait()
            self.now += seconds
        finally:
            self.timer = None

    def run(self, coroutine: object) -> object:
        return self.loop.run_until_complete(coroutine)  # type: ignore[arg-type]

    def settle(self) -> None:
        async def some_turns() -> None:
            for _ in range(25):
                await asyncio.sleep(0)

        self.loop.run_until_complete(some_turns())

    @property
    def live(self) -> object:
        live = self.engine.live(self.session_id)
        assert live is not None
        return live

    @property
    def session(self) -> DebateSession:
        return self.live.debate_session  # type: ignore[attr-defined, no-any-return]

    @property
    def messages(self) -> list[Message]:
        return [one for one in self.live.whole_messages() if one.role != Role.SUMMARY]  # type: ignore[attr-defined]

    @property
    def call(self) -> Call | None:
        return self.models.open[0] if self.models.open else None

    def is_open(self) -> bool:
        return self.call is not None

    def turns(self) -> list[Message]:
        """Return the turns that count, whole or failed; one that was taken again stands where it failed."""
        taken = self.taken()
        again = {one.retakes: one for one in taken if one.retakes}
        turns = [one for one in taken if not one.retakes]
        while any(one.id in again for one in turns):
            turns = [again.get(one.id, one) for one in turns]
        return turns

    def taken(self) -> list[Message]:
        """Return the turns in the order in which they were taken, whole or failed."""
        return [one for one in self.messages if one.author.kind != "user" and one.ended]
