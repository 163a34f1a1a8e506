"""What an external agent tells while it answers: its own tool calls as rows of the turn, and what it asks as approvals.

Moot runs none of these calls. Before an agent first works in a folder, the user is asked.
"""

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import replace
from json import dumps

from app.core.errors import Failure, FailureKind
from app.core.events import PromptAsked, ToolFinished
from app.core.ids import utc_now
from app.core.message import Consent, Message, MessageState, Prompt, PromptReason, PromptType, Role, ToolCall
from app.core.owned_tasks import start_owned
from app.core.provider import AgentAct, AgentAsk
from app.core.tool import Tool, ToolContext, ToolResult
from app.engine.request import AgentTurn
from app.engine.turns.context import Outcome, TreeContext, TurnState, about_call, started

Ask = Callable[[AgentTurn, ToolCall, Prompt], Awaitable[str | None]]


class ReportedCalls:
    """The calls that an external agent reports in one turn; `ask` puts a question to the user.

    Each is written as a call of the turn's last message and a result that streams until its end is reported.
    """

    def __init__(self, context: TreeContext, turn: AgentTurn, ask: Ask) -> None:
        self._live = context.live
        self._models = context.services.models
        self._turn = turn
        self._ask = ask
        self._message: Message | None = None
        self._calls: dict[str, ToolCall] = {}
        self._results: dict[str, Message] = {}
        self._asking: set[asyncio.Task[None]] = set()

    @property
    def any(self) -> bool:
        """Whether the agent has reported a call."""
        return bool(self._calls)

    def knows(self, act: AgentAct) -> bool:
        """Whether the agent has told of an act before."""
        return act.id in self._calls

    def begin(self, act: AgentAct, call_id: str, said: Message | None) -> None:
        """Write a new call: of the message that ends with it, or of the last one where the agent has said nothing since."""
        message = said or self._message
        assert message is not None
        call = ToolCall(
            id=call_id, name=act.name, arguments=act.arguments, by=self._turn.agent_model.provider
        )
        self._calls[act.id] = call
        self._write_call(replace(message, tool_calls=(*message.tool_calls, call)))
        result = self._turn.message(Role.TOOL, tool_call_id=call.id, created_at=utc_now())
        self._results[act.id] = result
        self._live.start_message(result, started(self._live, self._turn, call))
        self.update(act)

    def update(self, act: AgentAct) -> None:
        """Write what is new about a call."""
        call = self._calls[act.id]
        if (call.name, call.arguments) != (act.name, act.arguments):
            self._calls[act.id] = changed = replace(call, name=act.name, arguments=act.arguments)
            for message in self._live.turns.said(self._turn.turn_id):
                if call in message.tool_calls:
                    calls = tuple(changed if one == call else one for one in message.tool_calls)
                    self._write_call(replace(message, tool_calls=calls))
        if act.state != MessageState.STREAMING:
            self._end(act.id, act.state, act.text)

    def ask(self, ask: AgentAsk) -> None:
        """Put what the agent asks to the user, while it goes on reporting."""
        # The agent would wait for ever for an answer that nobody gives.
        start_owned(
            self._put(ask),
            lambda _: self._models.answer_agent(ask.id, Consent.DENY),
            name="question of an external agent",
            among=self._asking,
        )

    def close(self, state: str, text: str = "") -> None:
        """End what has no result yet, because the answer has ended: nothing more will be reported."""
        for task in self._asking:
            task.cancel()
        for act_id, result in self._results.items():
            if result.state == MessageState.STREAMING:
                self._end(act_id, state, text)

    async def _put(self, ask: AgentAsk) -> None:
        call = self._calls.get(ask.act)
        answer = Consent.DENY.value
        if call is not None:
            prompt = Prompt(
                question=call.name,
                type=PromptType.APPROVAL,
                tool=ask.title,
                arguments=ask.arguments,
                options=tuple(one.name for one in ask.options),
                kinds=tuple(one.kind for one in ask.options),
                reason=PromptReason.AGENT_ASKS,
                server=self._turn.agent_model.label,
            )
            answer = await self._ask(self._turn, call, prompt) or answer
        self._models.answer_agent(ask.id, answer)

    def _write_call(self, message: Message) -> None:
        if self._message is None or self._message.id <= message.id:
            self._message = message
        self._live.finish_message(message)

    def _end(self, act_id: str, state: str, text: str) -> None:
        result = replace(self._results[act_id], content=text, state=state)
        self._results[act_id] = result
        about = about_call(self._live, self._turn, self._calls[act_id])
        ended = ToolFinished(**about, ok=state == MessageState.DONE, content=text)
        self._live.finish_message(result, *([ended] if result.ended else []))


async def _lost(_arguments: object, _run: ToolContext) -> ToolResult:
    return ToolResult(
        content="This was cut off, and may have been done or half done. Look at how things are before you go on.",
        ok=False,
    )


def lost_call(call: ToolCall) -> Tool:
    """Return what stands for a call whose end was never reported: the agent is told so, after the user was asked."""
    return Tool(key=call.name, description="", parameters={}, run=_lost)


def asks_to_work(context: TreeContext, turn: AgentTurn) -> Outcome | None:
    """Return why an external agent may not work in its folder yet: the user has not answered, or has denied it."""
    directory, live = context.services.directory, context.live
    consent, line = directory.work_consent(turn.agent_model.provider, turn.folder)
    if consent in live.session.always or directory.may_work(consent):
        return None
    prompts = (one.prompt for one in reversed(live.turns.said(turn.turn_id)) if one.prompt is not None)
    about = (PromptReason.AGENT_WORKS, consent)
    prompt = next((one for one in prompts if (one.reason, one.consent) == about), None)
    if prompt is not None and prompt.open:
        return Outcome(TurnState.WAITING)
    if prompt is not None and prompt.answer in tuple(Consent) and prompt.answer != Consent.DENY:
        return None
    if prompt is not None:
        failure = Failure(kind=FailureKind.AGENT_REFUSED, detail=turn.folder)
        message = turn.message(state=MessageState.FAILED, error=failure, created_at=utc_now())
        live.finish_message(message)
        return Outcome(TurnState.BROKEN, "", message)
    name = turn.agent_model.label
    new = Prompt(
        question=turn.folder,
        type=PromptType.APPROVAL,
        tool=name,
        arguments=dumps({"folder": turn.folder, "command": shlex.join(line)}, ensure_ascii=False),
        reason=PromptReason.AGENT_WORKS,
        server=name,
        consent=consent,
    )
    question = turn.message(Role.SYSTEM, prompt=new, created_at=utc_now())
    live.finish_message(question, PromptAsked(session_id=live.id, message_id=question.id, prompt=new))
    return Outcome(TurnState.WAITING)
