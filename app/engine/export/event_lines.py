"""Events, messages and sessions as plain JSON objects, with the names that scripts rely on.

Used by the terminal (`--json`, `moot show`), the export and the local socket.
"""

from dataclasses import asdict, is_dataclass
from typing import Any

from app.core import events
from app.core.definitions import StepState
from app.core.json_values import json_of
from app.core.message import Message
from app.core.session import WorkflowState, code_of_session

_OF_CALL = ("turn_id", "tool_call_id", "name")


def event_line(event: events.Event, text: str = "") -> dict[str, object] | None:
    """Return the `--json` line of an event; None for an event that scripts are not told.

    `text` is what a notice, or a waiting turn, says in the user's language.
    """
    named = _named(event, text)
    if named is None:
        return None
    name, values = named
    return {"event": name, "session_id": event.session_id, "at": event.at, **values}


def _named(event: events.Event, text: str) -> tuple[str, dict[str, object]] | None:
    match event:
        case events.SessionStarted(session=session):
            return "session.started", fields_of(session, "kind", "title")
        case events.SessionChanged(session=session, status_changed=True):
            status = fields_of(session, "status", "reason")
            return "session.status", {**status, "reason_code": code_of_session(session)}
        case events.TurnStarted():
            return "turn.started", fields_of(event, "turn_id", "parent_turn_id", "author", "round", "why")
        case events.MessageStarted(message=message):
            begun = fields_of(message, "turn_id", "role", "author")
            return "message.started", {"message_id": message.id, **begun}
        case events.MessageDelta():
            texts = {name: text for name, text in fields_of(event, "text", "thinking").items() if text}
            return "message.delta", {"message_id": event.message_id, **texts}
        case events.MessageFinished(message=message):
            return "message.finished", {"message": message_object(message)}
        case events.ToolStarted():
            return "tool.started", fields_of(event, *_OF_CALL, "arguments")
        case events.ToolProgressed(progress=progress):
            return "tool.progress", {**fields_of(event, *_OF_CALL), **asdict(progress)}
        case events.ToolFinished():
            return "tool.finished", fields_of(event, *_OF_CALL, "ok", "content")
        case events.PromptAsked():
            return "prompt.asked", fields_of(event, "message_id", "prompt")
        case events.FileWritten(file=file):
            return "file.written", {**asdict(file), "deleted": file.gone}
        case events.PlanChanged():
            return "plan.changed", fields_of(event, "plan")
        case events.MemoryProposed(proposal=proposal):
            return "memory.proposed", {"message_id": event.message_id, **plain(proposal)}
        case events.StepChanged(step=step):
            return "step.changed", {"step_id": step.id, **fields_of(step, "state", "reason")}
        case events.CriterionChecked():
            return "criterion.checked", {**fields_of(event, "step_id", "place"), **plain(event.criterion)}
        case events.AvailabilityChanged():
            return "availability.changed", fields_of(event, "assistant_id", "running", "queued", "waiting")
        case events.VotingChecked():
            return "voting.checked", fields_of(event, "model", "may_vote", "may_judge", "reason")
        case events.ScheduleMissed():
            return "schedule.missed", fields_of(event, "name", "due", "reason")
        case events.UsageReported():
            return "usage", {"turn_id": event.turn_id, **asdict(event.usage)}
        case events.LimitNear():
            return "limit.near", fields_of(event, "limit", "spent", "most")
        case events.RetryScheduled():
            return "notice", {"level": "warning", "code": "retry", "text": text}
        case events.Notice():
            return "notice", {"level": event.level, "code": event.code, "text": text}
    return None


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


def workflow_object(work: WorkflowState) -> dict[str, object]:
    """Return a session's workflow: its definition's id, and every step with its dependencies."""
    states = {state.id: state for state in work.steps}
    steps = []
    for step in work.definition.steps:
        state = states.get(step.id, StepState(id=step.id))
        steps.append(
            fields_of(step, "id", "name", "role", "depends_on", "done_means", "gate", "assistant")
            | fields_of(state, "state", "reason", "artifacts", "assistant_id", "attempt", "criteria")
        )
    return {"definition_id": work.definition.id, "command": work.command, "steps": steps}


def message_object(message: Message) -> dict[str, object]:
    """Return a message whole, as `moot show` does."""
    about = {"data": json_of(message.data), "tokens_per_second": message.tokens_per_second}
    inside = fields_of(message, "author", "tool_calls", "resources", "attachments", "plans")
    return {**asdict(message), **about, **inside}
