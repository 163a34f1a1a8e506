"""Nothing that a file holds steers the terminal, whatever command prints it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from app.core.council import Participant, Point, Verdict
from app.core.criteria import Plan, PlanItem
from app.core.definitions import StepState, WorkflowDefinition, WorkflowStep
from app.core.errors import Failure
from app.core.ids import new_id
from app.core.message import Attachment, Author, Message, MessageState, Prompt, PromptType, Role, ToolCall
from app.core.session import (
    Chat,
    ChatSession,
    Debate,
    DebateSession,
    GroupSession,
    GroupState,
    Session,
    Status,
    WorkflowSession,
    WorkflowState,
)
from tests.stories.processes import here

STEERS = "\x1b]52;c;cm0gLXJm\x07\x1b[2J\x1bc\x9b31m\x90q\x9d0;t\x9c\r\x08\x7f\x00"
# What the reader needs as it is; every other text of a session is free.
FIXED = {
    "id", "kind", "status", "role", "state", "type", "mode", "turn_id", "follows", "parent_turn_id", "tool_call_id",
    "head", "created_at", "updated_at", "language", "format", "answered_by", "reason", "polls", "version", "at",
    "parent_call_id", "answers", "when_skipped", "depends_on", "before",
}  # fmt: skip
ANN = Author(id="ann", name="Ann", path=("ann",))


def said(role: str = Role.ASSISTANT, **fields: Any) -> Message:
    return Message(
        **{"id": new_id(), "turn_id": "t", "role": role, "author": ANN, "content": "text", **fields}
    )


MESSAGES = (
    said(Role.USER, turn_id="u", follows="", attachments=(Attachment(name="a.txt", text="x"),)),
    said(follows="u", model="openai/m", tool_calls=(ToolCall(id="c", name="look", arguments='{"a": "b"}'),)),
    said(Role.SYSTEM, follows="u", tool_call_id="c", prompt=Prompt(question="q", type=PromptType.APPROVAL, tool="look", arguments="x")),
    said(Role.TOOL, follows="u", tool_call_id="c"),
    said(Role.TOOL, follows="u", tool_call_id="d", prompt=Prompt(question="q", type=PromptType.OPTIONS, options=("one", "two"))),
    said(follows="u", state=MessageState.FAILED, error=Failure(kind="server", detail="500")),
)  # fmt: skip
PLAN = Plan(goal="goal", items=(PlanItem(text="todo"),))
CHAT = Chat(assistant_id="ann", assistant_name="Ann", head="t")
SEAT = Participant(id="ann", name="Ann", provider="openai", model="m", role="mine")
VERDICT = Verdict(
    judge="Judge", answer=(Point(text="yes"),), agreed=(Point(text="a"),), open=(Point(text="o"),)
)
STEP = WorkflowStep(id="s", name="step", role="role", prompt="p")


def sessions() -> list[Session]:
    common: dict[str, Any] = {"title": "Title", "plan": PLAN, "status": Status.IDLE}
    definition = WorkflowDefinition(id="w", name="work", steps=(STEP,))
    work = WorkflowState(
        definition=definition, command="do", steps=(StepState(id="s", result="r", artifacts="made"),)
    )
    debate = Debate(topic="Topic", participants=(SEAT,), verdict=VERDICT)
    return [
        ChatSession(id=new_id(), chat=CHAT, **common),
        GroupSession(id=new_id(), chat=CHAT, group=GroupState(id="g", name="G", members=("ann",)), **common),
        WorkflowSession(id=new_id(), chat=CHAT, workflow=work, **{**common, "status": Status.PAUSED}),
        DebateSession(id=new_id(), debate=debate, **{**common, "status": Status.COMPLETED}),
    ]


def hostile(value: Any, field: str = "") -> Any:
    """Return a JSON value with what steers a terminal in every text that may be anything."""
    if isinstance(value, dict):
        return {name: hostile(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [hostile(inner, field) for inner in value]
    return value + STEERS if isinstance(value, str) and value and field not in FIXED else value


@pytest.mark.threat("T9")
@pytest.mark.allow_blocking
def test_what_is_imported_does_not_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / f"export{STEERS[:-1].replace('/', '')}.json"
    made = sessions()
    file.write_text(
        json.dumps(
            [
                hostile(
                    {
                        "format": "moot-session",
                        "session": asdict(one),
                        "messages": [asdict(two) for two in MESSAGES],
                    }
                )
                for one in made
            ]
        )
    )
    backup = str(tmp_path / "b.zip")
    ran = [here("import", str(file)), here("backup", backup), here("restore", backup)]
    ran += [here("sessions"), here("sessions", "--json"), here("usage"), here("providers")]
    for one in made:
        ran += [here("show", one.id), here("show", one.id, "--json")]
        ran += [here("export", one.id, "--format", form) for form in ("md", "html", "json")]
    ran.append(here("pause", made[2].id))
    # Doctor ends with 1 where it finds a problem, such as no keyring.
    ran += [here("doctor"), here("show", "x" + STEERS[:-1])]
    everything = "".join(one.out + one.err for one in ran)
    steering = {sign for sign in everything if ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0}
    assert steering <= {"\n", "\t"}
    assert all(one.status == 0 for one in ran[:-3])
    assert everything.count("⟨U+001B⟩") > 100
    for words in ("Title", "Ann", "Judge", "goal", "todo", "Topic", "step", "made", "a.txt"):
        assert words in everything
