"""The limits of one user message: what all its turns may cost, and how often a call may be repeated.

Costs are counted from the messages, so that a restart does not reset them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import takewhile

from app.core.definitions import SWITCH_ASSISTANT
from app.core.message import Message, MessageState, Role, ToolCall
from app.core.session import Reason, counted
from app.core.settings import Settings
from app.core.tool import ToolError, canonical
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn

NEAR = 0.8
# Said of a limit before it is reached, by its name: how much is spent, and of how much.
Near = Callable[[str, float, float], None]


class Budget:
    """The limits of one user message and what is used of them; a limit of 0 means none.

    The limits are looked up each time, as they may be raised meanwhile; `near` is told of one that is nearly
    reached.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        spent_by: Sequence[Message],
        clock: Callable[[], float],
        near: Near = lambda *_: None,
    ) -> None:
        self._settings, self._clock, self._near = settings, clock, near
        self._model_calls = self._tool_rounds = 0
        self._cost_usd = self._seconds = 0.0
        children = set()
        for message in spent_by:
            if message.role in (Role.ASSISTANT, Role.SUMMARY):
                self.note_answer(message)
                self._seconds += message.seconds or 0.0
                if message.state != MessageState.FAILED or message.usage:
                    self._model_calls += 1
            # Members who work side by side are none.
            if message.parent_turn_id is not None and message.author.kind == "sub" and not message.part:
                children.add(message.turn_id)
        self._sub_agent_runs = len(children)
        self._begun = clock() - self._seconds

    def reached(self) -> str:
        """Return the limit that forbids another call of a model, "" where none does."""
        settings = self._settings()
        minutes = (self._clock() - self._begun) / 60
        if (rounds := settings.max_tool_rounds) and self._tool_rounds >= rounds:
            return counted(Reason.BUDGET_TOOL_ROUNDS, rounds)
        for name, spent, most, reason, units in (
            ("calls", self._model_calls, settings.max_model_calls, Reason.BUDGET_MODEL_CALLS, 1),
            ("minutes", minutes, settings.max_minutes, Reason.BUDGET_MINUTES, 1),
            ("usd", self._cost_usd, settings.max_cost_usd, Reason.BUDGET_COST, 100),
        ):
            if most and spent >= most:
                return counted(reason, round(most * units))
            if most and spent >= most * NEAR:
                self._near(name, spent, most)
        return ""

    def take_model_call(self) -> bool:
        """Count a call that is about to be made; false where it may not be."""
        if self.reached():
            return False
        self._model_calls += 1
        return True

    def take_sub_agent(self) -> bool:
        """Count a sub-agent that is about to run; false where it may not."""
        limit = self._settings().max_sub_agent_runs
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
# Of one answer; the others are refused, and those that run wait for a place.
MOST_CALLS = 32
MOST_AT_ONCE = 8


def carried_out(answer: Message) -> tuple[ToolCall, ...]:
    """Return the calls of an answer that Moot carries out."""
    return answer.own_calls[:MOST_CALLS]


class RepeatedCalls:
    """How often the calls of turns were made before; the arguments of each are read once."""

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        # By name and arguments as they were written: the same for two calls that mean the same.
        self._keys: dict[tuple[str, str], bytes] = {}

    def before(self, turn: AgentTurn, answer: Message) -> dict[str, int]:
        """Return for each call that an answer carries out, by its id, how many calls before it are the
        same.
        """
        counts, found = self._before(turn, answer), {}
        for call in carried_out(answer):
            found[call.id] = counts[self._key(call)]
            counts[self._key(call)] += 1
        return found

    def insists(self, turn: AgentTurn, answer: Message) -> bool:
        """Say whether an answer calls only what an answer before it was told will not run again."""
        calls, counts = carried_out(answer), self._before(turn, answer)
        return bool(calls) and all(counts[self._key(call)] > MOST_ALIKE for call in calls)

    def _before(self, turn: AgentTurn, answer: Message) -> Counter[bytes]:
        """Count the calls before an answer in its turn; hand-overs also
        in the turns since the user's message.
        """
        before = takewhile(lambda message: message.id != answer.id, self._live.turns.said(turn.turn_id))
        calls = [call for message in before for call in carried_out(message)]
        if any(call.name == SWITCH_ASSISTANT for call in carried_out(answer)):
            for turn_id in self._live.turns.back_from(turn.follows or ""):
                earlier = self._live.turns.said(turn_id)
                if earlier[0].role == Role.USER:
                    break
                told = (call for message in earlier for call in carried_out(message))
                calls += [call for call in told if call.name == SWITCH_ASSISTANT]
        return Counter(map(self._key, calls))

    def _key(self, call: ToolCall) -> bytes:
        written = (call.name, call.arguments)
        if written not in self._keys:
            text = f"{call.name} {canonical(call.arguments)}"
            self._keys[written] = blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()
        return self._keys[written]


def check_not_repeated(call: ToolCall, alike: int) -> None:
    """Raise ToolError for a call where MOST_ALIKE calls before it are the same."""
    if alike >= MOST_ALIKE:
        raise ToolError(
            f"{call.name} was called {MOST_ALIKE} times with these arguments already. "
            "It will not run again: use what it returned, or do something else."
        )
