"""What one user message may cost, for the whole tree of turns it sets off (hard case 8); used by the turn.

Counted from the messages, so that a restart does not give the money twice.
"""

from collections.abc import Callable, Sequence

from app.core.message import Message, MessageState, Role
from app.core.reasons import Reason
from app.core.settings import Settings


class Budget:
    """The limits of one user message and what is spent of them; a limit of 0 means none."""

    def __init__(self, settings: Settings, spent_by: Sequence[Message], clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._model_calls = self._tool_rounds = 0
        self._cost_usd = self._seconds = 0.0
        children = set()
        for message in spent_by:
            if message.role == Role.ASSISTANT:
                self.note_answer(message)
                self._seconds += message.seconds or 0.0
                if message.state != MessageState.FAILED or message.usage:
                    self._model_calls += 1
            if message.parent_turn_id is not None:
                children.add(message.turn_id)
        self._sub_agent_runs = len(children)
        self._begun = clock() - self._seconds

    def reached(self) -> str:
        """Return the limit that forbids another call of a model, "" where none does."""
        settings = self._settings
        minutes = (self._clock() - self._begun) / 60
        for limit, spent, name in (
            (settings.max_model_calls, self._model_calls, Reason.BUDGET_MODEL_CALLS),
            (settings.max_tool_rounds, self._tool_rounds, Reason.BUDGET_TOOL_ROUNDS),
            (settings.max_minutes, minutes, Reason.BUDGET_MINUTES),
            (settings.max_cost_usd, self._cost_usd, Reason.BUDGET_COST),
        ):
            if limit and spent >= limit:
                return name
        return ""

    def take_model_call(self) -> bool:
        """Count a call of a model that is about to be made; false where it may not be."""
        if self.reached():
            return False
        self._model_calls += 1
        return True

    def take_sub_agent(self) -> bool:
        """Count a sub-agent that is about to run; false where it may not."""
        limit = self._settings.max_sub_agent_runs
        if limit and self._sub_agent_runs >= limit:
            return False
        self._sub_agent_runs += 1
        return True

    def note_answer(self, message: Message) -> None:
        """Count what an answer cost."""
        if message.tool_calls:
            self._tool_rounds += 1
        if message.usage is not None and message.usage.cost_usd:
            self._cost_usd += message.usage.cost_usd
