"""A master, two sub-agents at once, a third that asks the user: killed while it waits, finished after.

Four assistants on the four wire protocols, as strict as the providers, in processes of their own.
"""

import json
from pathlib import Path
from typing import Any

from tests.stories.processes import Running, look, moot
from tests.wire import Answer, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

CREW: dict[str, dict[str, object]] = {
    "lead": {"provider": "anthropic", "tools": ["subAgent"], "sub_agents": ["scout", "checker2"]},
    "scout": {"provider": "gemini", "tools": ["subAgent"], "sub_agents": ["clerk"]},
    "checker2": {"provider": "ollama"},
    "clerk": {"provider": "openai", "tools": ["ask"]},
}


def write_crew(data_dir: Path) -> None:
    """Write the assistants as a person would."""
    folder = data_dir / "assistants"
    folder.mkdir(parents=True)
    for agent_id, fields in CREW.items():
        model = f"{fields['provider']}-wire"
        document = {"version": 1, "id": agent_id, "name": agent_id.title(), "model": model, **fields}
        (folder / f"{agent_id}.json").write_text(json.dumps(document), encoding="utf-8")


def script(servers: dict[str, WireServer]) -> None:
    """Let each model act its part: a function of what it has heard."""

    def heard(request: Recorded) -> bool:
        return any(message.role == "tool" for message in request.messages)

    def lead(request: Recorded) -> Answer:
        if heard(request):
            return Answer("Lead is done: go with blue.", thinking="Both have answered.")
        calls = (
            WireCall("subAgent", '{"name": "scout", "task": "Find out the colour."}'),
            WireCall("subAgent", '{"name": "checker2", "task": "Check the date."}'),
        )
        return Answer("I will ask two.", calls=calls, thinking="Two can work at once.")

    def scout(request: Recorded) -> Answer:
        if heard(request):
            return Answer("Scout is done: blue.")
        return Answer(
            calls=(WireCall("subAgent", '{"name": "clerk", "task": "Ask the user."}'),), thinking="Ask."
        )

    def clerk(request: Recorded) -> Answer:
        if heard(request):
            return Answer("Clerk is done: the user said blue.")
        arguments = {"question": "Which colour?", "type": "options", "options": ["red", "blue"]}
        return Answer(calls=(WireCall("promptUser", json.dumps(arguments)),))

    for kind, answer in (("anthropic", lead), ("gemini", scout), ("openai", clerk)):
        servers[kind].script(f"{kind}-wire", answer)
    servers["ollama"].script(
        "ollama-wire", lambda _request: Answer("Checker is done: the date is fine.", pace=0.05)
    )


def test_the_tree_is_killed_while_it_waits_and_finishes_after(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_crew(data_dir)
    script(wire_home)
    with Running("ask", "lead", "Plan the launch.", "--json") as asked:
        session_id = asked.session_id
        asked.event("prompt.asked", seconds=60)
        # All of its answer: what is cut off would have to be resumed.
        ended = '"message.finished"'
        assert asked.wait_for(
            lambda: any(ended in line and "the date is fine." in line for line in asked.lines), 30
        )
        assert asked.wait_for(
            lambda: any(
                "the date is fine." in one["content"] and one["state"] == "done"
                for one in look("show", session_id, "--json").json["messages"]
            ),
            30,
        )
        asked.kill()
    waiting = look("show", session_id, "--json").json
    assert waiting["status"] in ("waiting", "paused")
    [question] = [one for one in waiting["messages"] if one["prompt"] and not one["prompt"]["answered_by"]]
    assert question["author"]["path"] == ["lead", "scout", "clerk"]
    assert question["author"]["depth"] == 2

    done = moot("reply", session_id, "2", "--json", seconds=60)
    assert (done.status, done.err) == (0, "")
    shown = look("show", session_id, "--json").json
    assert shown["status"] == "idle"
    check_tree(shown["messages"])
    answers = [one for one in shown["messages"] if one["content"].endswith("is done: go with blue.")]
    assert len(answers) == 1
    assert question["id"] in {one["id"] for one in shown["messages"]}
    requests = [one for server in wire_home.values() for one in server.requests]
    assert {one.status for one in requests} == {200}, [one.refused for one in requests if one.refused]
    assert len(requests) == 7


def check_tree(messages: list[dict[str, Any]]) -> None:
    """No id twice; each message with its path and depth; each call with one result; all four finished."""
    assert len({one["id"] for one in messages}) == len(messages)
    for one in messages:
        author = one["author"]
        if author["kind"] == "user":
            continue
        assert author["path"][-1] == author["id"]
        assert author["depth"] == len(author["path"]) - 1
        assert author["kind"] == ("sub" if author["depth"] else "main")
        assert (one["parent_turn_id"] is None) == (author["depth"] == 0)
    calls = [call["id"] for one in messages for call in one["tool_calls"]]
    results = [one["tool_call_id"] for one in messages if one["role"] == "tool" and one["state"] != "stopped"]
    assert sorted(calls) == sorted(results)
    finished = {
        one["author"]["id"] for one in messages if "is done" in one["content"] and one["role"] == "assistant"
    }
    assert finished == set(CREW)
    assert all(one["state"] == "done" for one in messages if one["role"] == "assistant")
