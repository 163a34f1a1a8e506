"""The tool `subAgent`, the only way to delegate: who may be called, and what the caller is told; pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.agent import Agent
from app.core.session import AgentMode
from app.core.tool import ToolError
from app.core.workflow import WORKFLOW

SUB_AGENT = "subAgent"
MAX_TASK = 20_000
MAX_SUMMARY = 6_000

PARAMETERS: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The name or id of the assistant to call."},
        "task": {"type": "string", "description": "What it shall do, complete: it sees nothing else."},
        "context": {"type": "object", "description": "Facts it needs, as an object."},
        "options": {
            "type": "object",
            "properties": {"mode": {"type": "string", "enum": [AgentMode.DEFAULT, AgentMode.SETTINGS]}},
        },
    },
    "required": ["name", "task"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """A checked task for a sub-agent."""

    agent: Agent
    task: str
    mode: str


def description(callable_agents: Sequence[Agent]) -> str:
    """Return the description of the tool for a model: whom it may call, and for what."""
    lines = [f"- {one.id}: {one.description or one.role or one.name}" for one in callable_agents]
    return "Give a task to another assistant and get its summary. Available:\n" + "\n".join(lines)


def delegation(
    arguments: Mapping[str, object],
    caller: Agent,
    stack: Sequence[str],
    mode: str,
    agents: Sequence[Agent],
) -> Delegation:
    """Check a call of `subAgent`; `stack` are the ids from the root to the caller.

    Raises ToolError that says why it is refused; then no model was asked.
    """
    name, task = arguments.get("name"), arguments.get("task")
    if not isinstance(name, str) or not name.strip():
        raise ToolError("`name` is missing: say which assistant to call.")
    if not isinstance(task, str) or not task.strip():
        raise ToolError("`task` is missing: say what the assistant shall do.")
    if len(task) > MAX_TASK:
        raise ToolError(f"`task` has {len(task)} characters; at most {MAX_TASK} are allowed.")
    context, options = arguments.get("context"), arguments.get("options")
    if context is not None and not isinstance(context, dict):
        raise ToolError("`context` must be an object.")
    if options is not None and not isinstance(options, dict):
        raise ToolError("`options` must be an object.")
    wanted = (options or {}).get("mode", mode)
    if wanted not in (AgentMode.DEFAULT, AgentMode.SETTINGS):
        raise ToolError(f"`options.mode` must be {AgentMode.DEFAULT} or {AgentMode.SETTINGS}.")
    agent = _named(name, caller, agents)
    if agent.id in stack:
        raise ToolError(
            f"{agent.id} is already at work above you ({' > '.join(stack)}); it cannot be called."
        )
    if not agent.enabled:
        raise ToolError(f"{agent.id} is switched off.")
    deepest = _deepest((*_above(stack, agents), caller, agent))
    if _depth(stack) > deepest:
        raise ToolError(f"Too deep: at most {deepest} levels of assistants. Do it yourself.")
    text = task.strip()
    if context:
        text += "\n\nContext:\n" + json.dumps(context, ensure_ascii=False, indent=1)
    return Delegation(
        agent=agent, task=text, mode=AgentMode.SETTINGS if AgentMode.SETTINGS in (mode, wanted) else mode
    )


def callable_by(caller: Agent, stack: Sequence[str], agents: Sequence[Agent]) -> tuple[Agent, ...]:
    """Return whom an assistant may call from its place in the stack, in the order of its list."""
    by_id = {one.id: one for one in agents}
    found = [by_id[agent_id] for agent_id in caller.sub_agents if agent_id in by_id]
    above = _above(stack, agents)
    return tuple(
        one
        for one in found
        if one.enabled and one.id not in stack and _depth(stack) <= _deepest((*above, caller, one))
    )


def succeeded(message_id: str, text: str) -> str:
    """Return the result of a sub-agent that answered."""
    summary = text.strip()
    if len(summary) > MAX_SUMMARY:
        summary = summary[:MAX_SUMMARY].rstrip() + f" … (cut; the whole text is message {message_id})"
    return json.dumps({"ok": True, "messageId": message_id, "summary": summary}, ensure_ascii=False)


def failed(error: str, text: str = "") -> str:
    """Return the result of a sub-agent that did not, with what it had said."""
    result: dict[str, object] = {"ok": False, "error": error}
    if text.strip():
        result["partial"] = text.strip()[:MAX_SUMMARY]
    return json.dumps(result, ensure_ascii=False)


def _depth(stack: Sequence[str]) -> int:
    """Return the depth of a sub-agent called by the last of a stack; a workflow above its steps does not count."""
    return len(stack) - (stack[0] == WORKFLOW)


def _above(stack: Sequence[str], agents: Sequence[Agent]) -> list[Agent]:
    """Return the assistants of a stack; each limits how deep all below it may go."""
    return [one for one in agents if one.id in stack]


def _deepest(agents: Sequence[Agent]) -> int:
    return min(one.max_depth for one in agents)


def _named(name: str, caller: Agent, agents: Sequence[Agent]) -> Agent:
    """Return the agent of an id or exact name that the caller may call."""
    allowed = [one for agent_id in caller.sub_agents for one in agents if one.id == agent_id]
    wanted = name.strip().casefold()
    for one in allowed:
        if one.id.casefold() == wanted:
            return one
    named = [one for one in allowed if one.name.casefold() == wanted]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(one.id for one in allowed) or "nobody"
    known = any(wanted in (one.id.casefold(), one.name.casefold()) for one in agents)
    what = "is not on your list" if known else "is unknown"
    raise ToolError(f"{name.strip()[:80]} {what}. You may call: {listed}.")
