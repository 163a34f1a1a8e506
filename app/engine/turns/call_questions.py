"""What the user is asked about a call: whether it may run, and what its page asks."""

from app.core.message import Message, MessageState, Prompt, PromptReason, PromptType, ToolCall
from app.core.tool import Tool
from app.engine.live_session import LiveSession
from app.engine.requests.request import AgentTurn

MAX_QUESTION = 4_000
MAX_ABOUT = 600


def was_cut(live: LiveSession, turn: AgentTurn, call: ToolCall) -> bool:
    """Say whether a call began to run and was cut, so that it may have run."""
    return any(one.state == MessageState.STOPPED for one in live.turns.about(turn.turn_id, call.id))


def newest_approval(live: LiveSession, turn: AgentTurn, call: ToolCall, reason: str) -> Message | None:
    """Return the newest question of a kind about a call."""
    for message in reversed(live.turns.about(turn.turn_id, call.id)):
        prompt = message.prompt
        if reason == PromptReason.MAY_HAVE_RUN and message.state == MessageState.STOPPED:
            # An approval of an earlier run does not count for the next one.
            return None
        if prompt and prompt.reason == reason:
            return message
    return None


def approval(call: ToolCall, tool: Tool, reason: str) -> Prompt:
    """Return the question whether a call may run."""
    return Prompt(
        question=call.name,
        type=PromptType.APPROVAL,
        tool=tool.key,
        arguments=call.arguments,
        reason=reason,
        server=tool.group if tool.consent else "",
        consent=tool.consent,
        reads=tool.reads,
        name=tool.name,
        about=tool.description[:MAX_ABOUT] if tool.name else "",
    )


def denied(prompt: Prompt) -> str:
    """Return what an assistant is told of a call that the user denied, with the user's reason if there is one."""
    if prompt.denied_because:
        return f"The user did not allow this call, and says why: {prompt.denied_because}\nDo not try it again as it is."
    return "The user did not allow this call. Do not try it again; go on without it, or ask why."


def page_question(call: ToolCall, tool: Tool | None, content: str) -> Prompt:
    """Return a page's question to the user: the text that came with the page, never its HTML."""
    return Prompt(
        question=content[:MAX_QUESTION] or call.name,
        type=PromptType.TEXT,
        tool=call.name,
        arguments=call.arguments,
        reason=PromptReason.PAGE,
        server=tool.group if tool is not None else "",
        name=tool.name if tool is not None else "",
    )
