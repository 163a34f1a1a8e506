"""A group on three wires and what its models say: each a function of what it was sent; used by test_group."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.wire import Answer, WireCall, WireServer
from tests.wire.server import Recorded

STEPS = ("Colour", "Design", "Build", "Check")
# The plan at the end, with who did each step.
DONE_PLAN = [
    {"text": step, "done": True, "criteria": [], "by": who}
    for step, who in zip(STEPS, ("Orchestrator", "Ann", "Bo", "Bo"), strict=True)
]
REPORT = "It is built in blue, and it holds."
MEMBERS: dict[str, dict[str, object]] = {
    "ann": {"name": "Ann", "provider": "openai", "tools": ["planning", "ask"]},
    "bo": {"name": "Bo", "provider": "gemini"},
}


def write_assistant(data_dir: Path, agent_id: str, **fields: object) -> None:
    """Write an assistant as a person would, with its provider's model unless another is given."""
    document = {"version": 1, "id": agent_id, "name": agent_id.title()}
    model = {"model": f"{fields['provider']}-wire"} if "provider" in fields else {}
    (data_dir / "assistants").mkdir(parents=True, exist_ok=True)
    path = data_dir / "assistants" / f"{agent_id}.json"
    path.write_text(json.dumps(document | model | fields), encoding="utf-8")


def write_group(data_dir: Path, **fields: object) -> None:
    """Write the members and their group as a person would."""
    (data_dir / "groups").mkdir(parents=True, exist_ok=True)
    for agent_id, values in MEMBERS.items():
        write_assistant(data_dir, agent_id, **values)
    leader = {"provider": "anthropic", "model": "anthropic-wire"}
    group = {"version": 1, "id": "crew", "name": "Crew", "members": list(MEMBERS), "orchestrator": leader}
    (data_dir / "groups" / "crew.json").write_text(json.dumps(group | fields), encoding="utf-8")


def call(tool: str, /, **arguments: object) -> WireCall:
    """Return a call as a wire sends it."""
    return WireCall(tool, json.dumps(arguments))


def heard(request: Recorded) -> str:
    """Return all that a request says."""
    return "\n".join((request.system, *(message.text for message in request.messages)))


def lead(request: Recorded) -> Answer:
    """Plan four steps, ask the user for the colour, hand two steps over, tick off, report."""
    text = heard(request)

    def ticked(step: str) -> bool:
        return f"[x] {step}" in text

    def acts(*calls: WireCall) -> Answer:
        return Answer(calls=calls, thinking="What comes next?")

    if "[ ] Colour" not in text and not ticked("Colour"):
        return acts(call("setPlan", items=STEPS))
    if "Blue" not in text:
        return acts(call("promptToUser", prompt="Which colour?"))
    if "[Ann]: Designed" not in text:
        first = () if ticked("Colour") else (call("checkDone", index=0),)
        return acts(*first, call("switchAssistant", assistant="ann", instruction="Design it in blue."))
    if "[Bo]: Built" not in text:
        first = () if ticked("Design") else (call("checkDone", index=1),)
        return acts(*first, call("switchAssistant", assistant="Bo", instruction="Build what Ann designed."))
    rest = [call("checkDone", index=place) for place in (2, 3) if not ticked(STEPS[place])]
    return acts(*rest, call("reportResult", result_in_detail=REPORT))


def play(servers: dict[str, WireServer]) -> None:
    """Let the three models act their parts."""
    servers["anthropic"].script("anthropic-wire", lead)
    servers["openai"].script("openai-wire", lambda _request: Answer("Designed in blue.", pace=0.02))
    servers["gemini"].script("gemini-wire", lambda _request: Answer("Built as designed.", thinking="Well."))


def in_order(servers: dict[str, WireServer], *answers: Sequence[WireCall] | str) -> None:
    """Let the orchestrator give answers in order, and Ann and Bo say that they did it."""
    left = list(answers)

    def next_one(_request: Recorded) -> Answer:
        given = left.pop(0) if left else [call("reportResult", result_in_detail=REPORT)]
        return Answer(given) if isinstance(given, str) else Answer(calls=tuple(given))

    servers["anthropic"].script("anthropic-wire", next_one)
    servers["openai"].script("openai-wire", lambda _request: Answer("Ann did it."))
    servers["gemini"].script("gemini-wire", lambda _request: Answer("Bo did it."))
