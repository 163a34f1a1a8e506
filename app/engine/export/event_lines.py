"""Events, messages and sessions as plain JSON objects, with the names that scripts rely on.

Used by the terminal (`--json`, `moot show`), the export and the local socket.
"""

from dataclasses import asdict, is_dataclass
from typing import Any

from app.core.events import (
    AvailabilityChanged,
    Event,
    LimitNear,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    Notice,
    PlanChanged,
    PromptAsked,
    RetryScheduled,
    SessionChanged,
    SessionStarted,
    StepChanged,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    TurnStarted,
    UsageReported,
    VotingChecked,
)
from app.core.json_values import json_of
from app.core.message import Author, Message
from app.core.reasons import code_of_session
from app.core.session import Plan, WorkflowState
from app.core.workflow import StepState


def event_line(event: Event, text: str = "") -> dict[str, object] | None:
    """Return the `--json` line of an event; None for an event that scripts are not told.

    `text` is what a notice, or a waiting turn, says in the user's language.
    """
    named = _named(event, text)
    if named is None:
        return None
    name, values = named
    return {"event": name, "session_id": event.session_id, "at": event.at, **values}


def _named(event: Event, text: str) -> tuple[str, dict[str, object]] | None:
    match event:
        case SessionStarted(session=session):
            return "session.started", fields_of(session, "kind", "title")
        case SessionChanged(session=session, status_changed=True):
            status = fields_of(session, "status", "reason")
            return "session.status", {**status, "reason_code": code_of_session(session)}
        case TurnStarted():
            begun = fields_of(event, "turn_id", "parent_turn_id", "author", "round", "why")
            return "turn.started", {**begun, "author": author_object(event.author)}
        case MessageStarted(message=message):
            said = {"message_id": message.id, **fields_of(message, "turn_id", "role")}
            return "message.started", {**said, "author": author_object(message.author)}
        case MessageDelta():
            texts = {name: text for name, text in fields_of(event, "text", "thinking").items() if text}
            return "message.delta", {"message_id": event.message_id, **texts}
        case MessageFinished(message=message):
            return "message.finished", {"message": message_object(message)}
        case ToolStarted():
            return "tool.started", {**_call(event), "arguments": event.arguments}
        case ToolProgressed(progress=progress):
            return "tool.progress", {**_call(event), **asdict(progress)}
        case ToolFinished():
            return "tool.finished", {**_call(event), "ok": event.ok, "content": event.content}
        case PromptAsked():
            return "prompt.asked", {"message_id": event.message_id, "prompt": asdict(event.prompt)}
        case PlanChanged():
            return "plan.changed", {"plan": plan_object(event.plan)}
        case StepChanged(step=step):
            return "step.changed", {"step_id": step.id, **fields_of(step, "state", "reason")}
        case AvailabilityChanged():
            return "availability.changed", fields_of(event, "assistant_id", "running", "queued", "waiting")
        case VotingChecked():
            return "voting.checked", fields_of(event, "model", "may_vote", "may_judge", "reason")
        case UsageReported():
            return "usage", {"turn_id": event.turn_id, **asdict(event.usage)}
        case LimitNear():
            return "limit.near", fields_of(event, "limit", "spent", "most")
        case RetryScheduled():
            return "notice", {"level": "warning", "code": "retry", "text": text}
        case Notice():
            return "notice", {"level": event.level, "code": event.code, "text": text}
    return None


def _call(event: ToolStarted | ToolProgressed | ToolFinished) -> dict[str, object]:
    return fields_of(event, "turn_id", "tool_call_id", "name")


def fields_of(record: object, *names: str) -> dict[str, object]:
    """Return these fields of a record as JSON has them."""
    return {name: plain(getattr(record, name)) for name in names}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: records as objects, all that is in order as arrays."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return plain(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else value


def plan_object(plan: Plan | None) -> dict[str, object] | None:
    """Return a plan: goal and items, each with text and done."""
    return {"goal": plan.goal, "items": [asdict(item) for item in plan.items]} if plan else None


def workflow_object(work: WorkflowState) -> dict[str, object]:
    """Return a session's workflow: its definition's id, and every step with its dependencies."""
    states = {state.id: state for state in work.steps}
    steps = []
    for step in work.definition.steps:
        state = states.get(step.id, StepState(id=step.id))
        steps.append(
            fields_of(step, "id", "name", "role", "depends_on")
            | fields_of(state, "state", "reason", "artifacts", "assistant_id", "attempt")
        )
    return {"definition_id": work.definition.id, "command": work.command, "steps": steps}


def author_object(author: Author) -> dict[str, object]:
    """Return an author: id, name, kind, path, depth."""
    return {**asdict(author), "path": list(author.path)}


def message_object(message: Message) -> dict[str, object]:
    """Return a message whole, as `moot show` does."""
    return {
        **asdict(message),
        "data": json_of(message.data),
        "tokens_per_second": message.tokens_per_second,
        "author": author_object(message.author),
        **fields_of(message, "tool_calls", "resources", "attachments"),
    }
