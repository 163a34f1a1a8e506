"""What a running tool may know and do (`core.tool.ToolContext`); made by the tool calls for each run.

A plan it changes is written in one batch with the call's result: a tool that runs again finds the plan as it was.
"""

from collections.abc import Awaitable, Callable, Sequence

from app.core.agent import Agent
from app.core.message import Message, Prompt
from app.core.plan import Plan
from app.engine.chat.request import AgentTurn
from app.engine.turns.turn_services import Stage


class TurnContext:
    """A turn as its tools see it; `ask` puts a question of the running call to the user."""

    def __init__(self, stage: Stage, turn: AgentTurn, ask: Callable[[Prompt], Awaitable[str | None]]) -> None:
        self._stage = stage
        self._live = stage.live
        self._turn = turn
        self._ask = ask
        self.new_plan: tuple[Plan | None, ...] = ()

    @property
    def session_id(self) -> str:
        return self._live.id

    @property
    def mode(self) -> str:
        return self._turn.mode

    @property
    def pages(self) -> Sequence[str]:
        return self._turn.agent.pages

    @property
    def plan(self) -> Plan | None:
        return self.new_plan[0] if self.new_plan else self._live.session.plan

    def change_plan(self, plan: Plan | None) -> None:
        self.new_plan = (plan,)

    @property
    def members(self) -> Sequence[Agent]:
        return self._stage.members

    def messages(self) -> Sequence[Message]:
        return self._live.messages

    async def ask(self, prompt: Prompt) -> str | None:
        return await self._ask(prompt)
