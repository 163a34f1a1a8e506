"""The limits of one user message: what all its turns may cost, and how often a call may be repeated.

Costs are counted from the messages, so that a restart does not reset them.
"""

from collections.abc import Callable, Sequence

from app.core.message import SWITCH_ASSISTANT, Message, MessageState, Role, ToolCall
from app.core.reasons import Reason
from app.core.settings import Settings
from app.core.tool import ToolError, canonical
from app.engine.chat.branches import back_from
from app.engine.chat.request import AgentTurn
from app.engine.live_session import LiveSession


class Budget:
    """The limits of one user message and what is used of them; a limit of 0 means none."""

    def __init__(self, settings: Settings, spent_by: Sequence[Message], clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._model_calls = self._tool_rounds = 0
        self._cost_usd = self._seconds = 0.0
        children = set()
        for message in spent_by:
            if message.role in (Role.ASSISTANT, Role.SUMMARY):
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
        """Count a call that is about to be made; false where it may not be."""
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
        if message.own_calls:
            self._tool_rounds += 1
        if message.usage is not None and message.usage.cost_usd:
            self._cost_usd += message.usage.cost_usd


MOST_ALIKE = 2


def check_not_repeated(live: LiveSession, turn: AgentTurn, call: ToolCall) -> None:
    """Raise ToolError for a call that was made MOST_ALIKE times before with the same arguments."""
    if _alike(live, turn, call) >= MOST_ALIKE:
        raise ToolError(
            f"{call.name} was called {MOST_ALIKE} times with these arguments already. "
            "It will not run again: use what it returned, or do something else."
        )


def insists(live: LiveSession, turn: AgentTurn, answer: Message) -> bool:
    """Say whether an answer calls only what an answer before it was told will not run again."""
    calls = answer.own_calls
    return bool(calls) and all(_alike(live, turn, call, before=answer.id) > MOST_ALIKE for call in calls)


def _alike(live: LiveSession, turn: AgentTurn, call: ToolCall, *, before: str = "") -> int:
    """Count the calls that are the same before this one, or before a message."""
    alike = 0
    wanted = canonical(call.arguments)
    for message in _said_before(live, turn, call):
        if message.id == before:
            break
        for other in message.tool_calls if message.role == Role.ASSISTANT else ():
            if message.turn_id == turn.turn_id and other.id == call.id:
                return alike
            alike += other.name == call.name and canonical(other.arguments) == wanted
    return alike


def _said_before(live: LiveSession, turn: AgentTurn, call: ToolCall) -> list[Message]:
    """Return the messages in which a call counts as repeated: its turn; for a hand-over the turns since the user's message."""
    messages = live.turn(turn.turn_id)
    for turn_id in back_from(live, turn.follows or "") if call.name == SWITCH_ASSISTANT else ():
        before = live.turn(turn_id)
        if before[0].role == Role.USER:
            break
        messages = before + messages
    return messages
