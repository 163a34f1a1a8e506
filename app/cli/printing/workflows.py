"""How the command line shows a workflow: a line for each step, with who, why and what it made.

Used by the chat's printer and commands.
"""

from collections.abc import Iterator

from app.cli.printing.output import named_text, one_line, status_text
from app.core.message import ToolCall
from app.core.reasons import Reason
from app.core.session import Session, Status, WorkflowState
from app.core.texts import Texts
from app.core.tool import ToolError
from app.core.workflow import StepState, StepStatus, WorkflowStep
from app.engine.turns.call_arguments import read_arguments

MOST_OF_LINE = 300


def step_line(step: WorkflowStep | None, state: StepState, texts: Texts) -> str:
    """Return a step as one line: its state and name, then who, why and what it made, where there is any."""
    name = f"{step.name} ({state.id}, {step.role})" if step is not None else state.id
    details = [state.assistant_id, step_reason(state, texts), state.artifacts]
    parts = [name, *(one for one in details if one.strip())]
    line = one_line(" · ".join(parts))
    return f"  {texts.named('cli.step', state.state)} {line[:MOST_OF_LINE]}\n"


def step_lines(work: WorkflowState, texts: Texts) -> Iterator[str]:
    """Yield the steps in the definition's order."""
    steps = {step.id: step for step in work.definition.steps}
    for state in work.steps:
        yield step_line(steps.get(state.id), state, texts)


def step_of(call: ToolCall) -> dict[str, str]:
    """Return what an attempt's call says: name and role of the step, who takes it, which attempt it is."""
    try:
        values = read_arguments(call.arguments)
    except ToolError:
        values = {}
    named = {"name": "step", "role": "role", "assistant": "assistant", "attempt": "attempt"}
    return {key: str(values.get(field, "")) for key, field in named.items()}


def step_reason(state: StepState, texts: Texts) -> str:
    """Return why a step waits, failed or was left out, in the user's language."""
    prefix = (
        "failure" if state.state == StepStatus.FAILED and f"failure.{state.reason}" in texts else "reason"
    )
    return named_text(texts, prefix, state.reason) if state.reason else ""


def workflow_end(session: Session, texts: Texts) -> str:
    """Return the lines that say how a workflow stands and which commands take it on."""
    steps = session.workflow.steps if session.workflow else ()
    if session.status == Status.COMPLETED:
        line = texts.named("cli.status", session.status)
        return f"{line} · {texts('cli.read_with', session_id=session.id)}\n"
    waits = session.status == Status.WAITING
    lines = [texts.named("cli.status", session.status) if waits else status_text(session, texts)]
    if any(one.state == StepStatus.WAITING and one.reason != Reason.NO_MARKER for one in steps):
        lines.append(texts("cli.chat_waiting", session_id=session.id))
    lines += [
        texts(f"cli.step_{key}", session_id=session.id, step=one.id)
        for one in steps
        for key, wanted in (
            ("retry_with", one.state == StepStatus.FAILED),
            ("accept_with", one.state == StepStatus.WAITING and one.reason == Reason.NO_MARKER),
        )
        if wanted
    ]
    if len(lines) == 1:
        lines.append(texts("cli.resume_with", session_id=session.id))
    return "".join(f"{one_line(one)}\n" for one in lines)
