"""One session of each kind on four wires: how it is begun, and what it must hold once it is over.

Every answer is a function of the request alone, so that a session that was killed and resumed comes to the
same end as one that was not.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.stories.group_crew import (
    DONE_PLAN,
    MEMBERS,
    REPORT,
    call,
    heard,
    lead,
    write_assistant,
    write_group,
)
from tests.stories.processes import Finished, look, moot
from tests.stories.test_workflow import BUG_FIX, ROLES, step_of
from tests.wire import Answer, WireServer
from tests.wire.server import Recorded

ROUNDS = 3
NAMES = ("Ann", "지민")
PIECE_S = 0.01
LONG = " ".join(f"word{number}" for number in range(40))
TODOS = ("Milk", "Bread")

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of session: the command that begins one, and a check of one that is over."""

    name: str
    command: tuple[str, ...]
    over: tuple[str, ...]
    check: Callable[[Shown], None]


def furnish(data_dir: Path, servers: dict[str, WireServer]) -> None:
    """Write assistants and a group as a person would, and let the models act their parts."""
    write_group(data_dir)
    keeper = {"name": "Keeper", "provider": "openai", "tools": ["planning"]}
    workers = {
        agent_id: {"name": agent_id.title(), "role": role, "provider": provider}
        for agent_id, (role, provider) in ROLES.items()
    }
    for agent_id, values in {**MEMBERS, **workers, "keeper": keeper}.items():
        write_assistant(data_dir, agent_id, **values)
    for server in servers.values():
        server.script(server.model, answer)


def answer(request: Recorded) -> Answer:
    """Return what a model says to a request of any of the sessions."""
    text = heard(request)
    if 'one step of a larger task: "' in text:
        step = step_of(request)
        return _said(f"{step} it is.\n\n[STEP_COMPLETE]\nartifacts: {step}.md\nstatus: done")
    if "switchAssistant" in request.tools:
        return lead(request)
    if "Build what Ann designed." in text:
        return _said("Built as designed.")
    if "Design it in blue." in text:
        return _said("Designed in blue.")
    if "Keep my list." in text:
        return _keep_list(request)
    return _said(LONG)


def _said(text: str) -> Answer:
    return Answer(text, pace=PIECE_S, pieces=20)


def _keep_list(request: Recorded) -> Answer:
    done = sum(one.role == "tool" for one in request.messages)
    if done == 0:
        return Answer("First the goal.", calls=(call("create_goal", goal="Shop"),), pace=PIECE_S)
    if done <= len(TODOS):
        return Answer(calls=(call("add_todo", name=TODOS[done - 1]),))
    return _said(LONG)


def _check_debate(shown: Shown) -> None:
    turns = [(one["round"], one["author"]["name"]) for one in shown["messages"] if one["state"] == "done"]
    assert turns == [(number, name) for number in range(1, ROUNDS + 1) for name in NAMES]


def _check_chat(shown: Shown) -> None:
    done = [one for one in shown["messages"] if one["state"] == "done"]
    assert [one["role"] for one in done] == ["user", *("assistant", "tool") * 3, "assistant"]
    assert done[-1]["content"] == LONG
    assert shown["plan"]["goal"] == "Shop"
    assert [one["text"] for one in shown["plan"]["items"]] == list(TODOS)


def _check_group(shown: Shown) -> None:
    assert shown["plan"]["items"] == DONE_PLAN
    said = [
        (one["author"]["id"], one["content"])
        for one in shown["messages"]
        if one["role"] in {"user", "assistant"} and one["state"] == "done" and one["content"]
    ]
    assert said == [
        ("user", "Make it."),
        ("user", "Blue"),
        ("ann", "Designed in blue."),
        ("bo", "Built as designed."),
        ("orchestrator", REPORT),
    ]


def _check_workflow(shown: Shown) -> None:
    assert [(one["name"], one["state"]) for one in shown["workflow"]["steps"]] == [
        (name, "done") for name in BUG_FIX
    ]
    said = Counter(
        one["content"].split(" it is")[0]
        for one in shown["messages"]
        if one["role"] == "assistant" and one["state"] == "done" and one["content"]
    )
    assert said == Counter(BUG_FIX)


DEBATE = ("-p", f"{NAMES[0]}=openai/openai-wire", "-p", f"{NAMES[1]}=gemini/gemini-wire")
KINDS = (
    Kind(
        "debate",
        ("debate", "Which came first?", *DEBATE, "--rounds", str(ROUNDS)),
        ("completed",),
        _check_debate,
    ),
    Kind("chat", ("ask", "keeper", "Keep my list."), ("idle",), _check_chat),
    Kind("group", ("ask", "crew", "Make it."), ("idle",), _check_group),
    Kind("workflow", ("workflow", "Fix the login loop"), ("completed",), _check_workflow),
)


def show(session_id: str) -> Shown:
    """Return a session as another command shows it."""
    shown = look("show", session_id, "--json")
    assert (shown.status, shown.err) == (0, "")
    document = shown.json
    assert isinstance(document, dict)
    return document


def acknowledged(events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the messages that were told to be finished, by their ids; the last word of each counts."""
    return {one["message"]["id"]: one["message"] for one in events if one["event"] == "message.finished"}


def check_kept(shown: Shown, told: dict[str, dict[str, Any]]) -> None:
    """Every message that was acknowledged is there once, with the same words; every call has one result."""
    ids = Counter(one["id"] for one in shown["messages"])
    assert set(ids.values()) <= {1}, "a message is there twice"
    messages = {one["id"]: one for one in shown["messages"]}
    for message_id, message in told.items():
        assert message_id in messages, f"lost: {message}"
        for name in ("content", "role", "state", "author"):
            assert messages[message_id][name] == message[name], message
    results = Counter(one["tool_call_id"] for one in shown["messages"] if one["role"] == "tool")
    assert set(results.values()) <= {1}, "a call has two results"


def next_command(shown: Shown) -> tuple[str, ...]:
    """Return how to go on with a session that is not over."""
    if shown["status"] == "waiting":
        return ("reply", shown["id"], "Blue")
    assert shown["status"] == "paused", shown["status"]
    return ("resume", shown["id"])


def to_the_end(kind: Kind, session_id: str = "") -> tuple[str, dict[str, dict[str, Any]]]:
    """Begin a session or go on with it until it is over; return its id and what was acknowledged."""
    told: dict[str, dict[str, Any]] = {}
    while True:
        done: Finished = moot(*(next_command(show(session_id)) if session_id else kind.command), "--json")
        assert done.status in {0, 3}, (kind.name, done.status, done.err)
        told |= acknowledged(done.events)
        session_id = session_id or str(done.events[0]["session_id"])
        shown = show(session_id)
        check_kept(shown, told)
        if shown["status"] in kind.over:
            kind.check(shown)
            return session_id, told
