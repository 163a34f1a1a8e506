"""A group of three models on three wires, from the command line: killed at every step, always the same end.

`MOOT_TIMES=100 pytest tests/stories/test_group.py -k every_step` kills at every event there is.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.files.documents import a_pdf
from tests.repeats import repeats
from tests.stories.group_crew import (
    DONE_PLAN,
    MEMBERS,
    REPORT,
    STEPS,
    call,
    heard,
    in_order,
    play,
    write_assistant,
    write_group,
)
from tests.stories.processes import Finished, Running, look, moot, session_of
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

KILLS = repeats(2)
WATCHED = (
    "session.started",
    "turn.started",
    "message.started",
    "message.finished",
    "tool.started",
    "tool.finished",
    "plan.changed",
    "prompt.asked",
    "session.status",
)


@pytest.fixture
def crew(wire_home: dict[str, WireServer], data_dir: Path) -> dict[str, WireServer]:
    """The group, its members and the three servers."""
    write_group(data_dir)
    play(wire_home)
    return wire_home


def to_the_end(session_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Resume and answer from the command line until it is the user's turn; return session and events."""
    events: list[dict[str, Any]] = []
    for command in (("resume", session_id), ("reply", session_id, "Blue")):
        done = moot(*command, "--json")
        events += done.events
        if done.status == 0:
            break
        assert done.status == 3, done.err
    return look("show", session_id, "--json").json, events


def check_end(shown: dict[str, Any], servers: dict[str, WireServer]) -> None:
    """The same plan, the same report, nobody asked or handed over to twice, every request legal."""
    assert shown["plan"]["items"] == DONE_PLAN
    messages = shown["messages"]
    assert len({one["id"] for one in messages}) == len(messages)
    said = [
        (one["author"]["id"], one["content"])
        for one in messages
        if one["role"] in ("user", "assistant") and one["state"] == "done" and one["content"]
    ]
    assert said == [
        ("user", "Make it."),
        ("user", "Blue"),
        ("ann", "Designed in blue."),
        ("bo", "Built as designed."),
        ("orchestrator", REPORT),
    ]
    calls = [made for one in messages if one["state"] == "done" for made in one["tool_calls"]]
    results = [one for one in messages if one["role"] == "tool" and one["state"] in ("done", "failed")]
    assert sorted(one["tool_call_id"] for one in results) == sorted(one["id"] for one in calls)
    assert [one["content"] for one in results if one["state"] == "failed"] == []
    names = [one["name"] for one in calls]
    assert names == [
        "setPlan",
        "promptToUser",
        *("checkDone", "switchAssistant") * 2,
        *("checkDone",) * 2,
        "reportResult",
    ]
    requests = [one for server in servers.values() for one in server.requests]
    assert [one.refused for one in requests if one.refused] == []


def test_a_plan_of_four_two_hand_overs_a_question_and_a_report(crew: dict[str, WireServer]) -> None:
    asked = moot("ask", "crew", "Make it.", "--json")
    assert (asked.status, asked.err) == (3, "")
    assert asked.events[0]["kind"] == "group"
    plans = [event["plan"] for event in asked.events if event["event"] == "plan.changed"]
    assert [[one["text"] for one in plan["items"]] for plan in plans] == [list(STEPS)]
    shown, events = to_the_end(session_of(asked))
    check_end(shown, crew)
    ticks = [
        sum(one["done"] for one in event["plan"]["items"])
        for event in events
        if event["event"] == "plan.changed"
    ]
    assert ticks == [1, 2, 3, 4]
    assert (shown["group"]["turns_used"], shown["group"]["turns_limit"]) == (3, 20)
    assert {one.status for server in crew.values() for one in server.requests} == {200}
    thought = [one for one in shown["messages"] if one["author"]["id"] == "orchestrator" and one["thinking"]]
    assert thought


@pytest.mark.slow
@pytest.mark.timeout(120 + KILLS * 40)
def test_killed_at_every_step_it_comes_to_the_same_end(crew: dict[str, WireServer], data_dir: Path) -> None:
    asked = moot("ask", "crew", "Make it.", "--json")
    session_id = session_of(asked)
    waiting = data_dir.with_name("waiting")
    shutil.copytree(data_dir, waiting)
    _, events = to_the_end(session_id)
    told = {"ask": asked.events, "reply": events}
    moments = [
        (command, number)
        for command, those in told.items()
        for number in range(1, 1 + sum(one["event"] in WATCHED for one in those))
    ]
    step = max(1, len(moments) // KILLS)
    for command, number in moments[step // 2 :: step]:
        typed = ["ask", "crew", "Make it."]
        if command == "reply":
            shutil.rmtree(data_dir)
            shutil.copytree(waiting, data_dir)
            typed = ["reply", session_id, "Blue"]
        kill_at(typed, number, crew)
        print(f"killed at event {number} of {command}: the same end", flush=True)
    print(f"killed at {len(moments[step // 2 :: step])} of {len(moments)} steps: always the same end")


def kill_at(typed: list[str], number: int, servers: dict[str, WireServer]) -> None:
    """Kill a run when it has said that many things, then let it come to its end."""
    for server in servers.values():
        server.requests.clear()
    with Running(*typed, "--json") as running:
        running.wait_for(lambda: sum(one["event"] in WATCHED for one in running.events) >= number, 60)
        running.kill()
        killed = running.finish(10)
    shown, _ = to_the_end(session_of(killed))
    try:
        check_end(shown, servers)
    except AssertionError as error:
        raise AssertionError(f"killed at event {number}: {killed.events[-1]}") from error
    told = {one["message"]["id"] for one in killed.events if one["event"] == "message.finished"}
    assert told <= {one["id"] for one in shown["messages"]}, "something that was said is lost"


def test_killed_while_two_members_work_side_by_side_they_go_on(crew: dict[str, WireServer]) -> None:
    both = [
        call("switchAssistant", assistant="Ann", instruction="Design it."),
        call("switchAssistant", assistant="Bo", instruction="Build it."),
    ]
    in_order(crew, both)
    slow = Answer(" ".join(f"word{number}" for number in range(400)), pace=0.05)
    crew["openai"].script("openai-wire", [slow, "Ann did it."])
    with Running("ask", "crew", "Make it.", "--json") as asking:
        session_id = asking.session_id
        asking.event("tool.finished")
        assert asking.wait_for(lambda: any("word3" in line for line in asking.lines))
        asking.kill()
    again = moot("resume", session_id, "--json")
    assert (again.status, again.err) == (0, "")
    shown = look("show", session_id, "--json").json
    messages = shown["messages"]
    assert len({one["id"] for one in messages}) == len(messages)
    said = [(one["author"]["id"], one["content"]) for one in messages if one["state"] == "done"]
    assert [item for item in said if item[0] in MEMBERS] == [("bo", "Bo did it."), ("ann", "Ann did it.")]
    results = [one["content"] for one in messages if one["role"] == "tool" and one["state"] == "done"]
    assert sorted(results[:2]) == ["[Ann]: Ann did it.", "[Bo]: Bo did it."]
    assert said[-1] == ("orchestrator", REPORT)
    assert len(crew["gemini"].requests) == 1, "who was done is not asked again"
    told = heard(crew["anthropic"].requests[-1])
    assert told.index("[Ann]: Ann did it.") < told.index("[Bo]: Bo did it.")
    assert (shown["group"]["turns_used"], {one.refused for one in crew["anthropic"].requests}) == (2, {""})
    document = look("export", session_id, "--format", "md").out
    assert document.count("Bo did it.") == 1, "what a member said stands there once"


# The six tools and the planning tools, to the letter


def results_of(done: Finished) -> list[tuple[str, bool, str]]:
    return [
        (one["name"], one["ok"], one["content"]) for one in done.events if one["event"] == "tool.finished"
    ]


def test_the_six_tools_to_the_letter(crew: dict[str, WireServer]) -> None:
    in_order(
        crew,
        [call("setPlan", items=["A", "B"])],
        [call("setPlan", items=["C"])],
        [call("checkDone", index=1)],
        [call("checkDone", index=1)],
        [call("checkDone", index="1"), call("checkDone", index=-1), call("checkDone", index=99)],
        [call("clearPlan"), call("clearPlan"), call("setPlan", items=[])],
        [call("setPlan", items=["C"]), call("switchAssistant", assistant="zoe", instruction="Go.")],
        [call("switchAssistant", assistant="BO", instruction="Go."), call("clearPlan")],
        [call("promptToUser", prompt="Well?"), call("reportResult", result_in_detail="Too early.")],
        [call("checkDone", index=0), call("reportResult", result_in_detail="Done.")],
    )
    asked = moot("ask", "Crew", "Make it.", "--json")
    assert (asked.status, asked.err) == (3, "")
    ab = "0. [ ] A\n1. [ ] B"
    told = results_of(asked)
    assert told[0] == ("setPlan", True, f"The plan is set.\n{ab}")
    assert (told[1][:2], "2 items are still open" in told[1][2], ab in told[1][2]) == (
        ("setPlan", False),
        True,
        True,
    )
    assert told[2] == ("checkDone", True, "1 is done; 1 open.\n0. [ ] A\n1. [x] B")
    assert told[3] == told[2]
    assert [ok for _, ok, _ in told[4:7]] == [False] * 3
    assert [ok for _, ok, _ in told[7:10]] == [True, True, False]
    assert (told[10][1], told[11][1]) == (True, False)
    assert told[11][2] == "zoe is not a member. You may call: Ann, Bo."
    by_name = {name: (ok, content) for name, ok, content in told[12:14]}
    assert by_name["switchAssistant"] == (True, "Handed over to Bo.")
    assert by_name["clearPlan"][0] is False
    session_id = session_of(asked)
    done = moot("reply", session_id, "Yes", "--json")
    assert (done.status, done.err) == (0, "")
    shown = look("show", session_id, "--json").json
    assert shown["plan"]["items"] == [{"text": "C", "done": True, "criteria": [], "by": "Bo"}]
    assert shown["messages"][-1]["content"] == "Done."
    assert "Too early." not in [one["content"] for one in shown["messages"]]
    assert [one.refused for server in crew.values() for one in server.requests if one.refused] == []


def test_a_member_plans_and_asks(crew: dict[str, WireServer]) -> None:
    in_order(crew, [call("switchAssistant", assistant="ann", instruction="Plan it.")])
    asks = call("promptUser", question="Which?", type="options", options=["red", "blue"])
    crew["openai"].script(
        "openai-wire",
        [
            Answer(calls=(call("create_goal", goal="Ship"), call("add_todo", name="Test"))),
            Answer(calls=(call("toggle_todo", index=0),)),
            Answer(calls=(call("toggle_todo", index=0), call("promptUser", question="No?", type="options"))),
            Answer(calls=(asks, call("clear_goal"))),
            Answer(calls=(call("clear_todos"), call("clear_todos"))),
            Answer("Ann is done: blue."),
        ],
    )
    asked = moot("ask", "crew", "Make it.", "--json")
    assert asked.status == 3, asked.err
    told = results_of(asked)
    assert [content for name, _, content in told if name == "toggle_todo"] == [
        "0 is now done: Test\n0. [x] Test",
        "0 is now open again: Test\n0. [ ] Test",
    ]
    assert [ok for name, ok, _ in told if name == "promptUser"] == [False, True]
    [question] = [one for one in look("show", session_of(asked), "--json").json["messages"] if one["prompt"]]
    [resource] = question["resources"]
    assert resource["resource"]["uri"].startswith("ui://prompt/")
    assert resource["resource"]["mimeType"].startswith("text/html")
    done = moot("reply", session_of(asked), "2", "--json")
    assert (done.status, done.err) == (0, "")
    shown = look("show", session_of(asked), "--json").json
    assert shown["plan"] is None
    assert [
        one["resources"] for one in shown["messages"] if one["role"] == "tool" and one["id"] != question["id"]
    ] == [[]] * sum(one["role"] == "tool" and one["id"] != question["id"] for one in shown["messages"])
    assert shown["messages"][-1]["content"] == REPORT


# What a person reads


def test_a_group_reads_well_in_the_terminal(crew: dict[str, WireServer]) -> None:
    asked = moot("ask", "crew", "Make it.", "--lang", "en")
    assert (asked.status, asked.err) == (3, "")
    assert asked.out.splitlines()[1].startswith("  Crew · ")
    assert "Plan, 0 of 4 done:" in asked.out
    assert "? Orchestrator asks: Which colour?" in asked.out
    session_id = asked.out.splitlines()[-1].split("moot reply ")[1].split()[0]
    done = moot("reply", session_id, "Blue", "--lang", "en")
    assert (done.status, done.err) == (0, "")
    order = [
        "[x] Colour",
        "→ Ann: Design it in blue.",
        "Ann:",
        "Designed in blue.",
        "→ Bo:",
        "Built as designed.",
    ]
    order += ["Plan, 4 of 4 done:", REPORT, "Your turn"]
    places = [done.out.index(text) for text in order]
    assert places == sorted(places)
    assert done.out.count(REPORT) == 1
    shown = look("show", session_id, "--lang", "en").out
    assert "Plan, 4 of 4 done:" in shown
    assert "→ Ann: Design it in blue." in shown
    assert "  Group  Completed  " in look("sessions", "--lang", "en").out
    written = look("export", session_id, "--format", "md").out
    for line in ("- Group: Crew", "- Members: Ann, Bo", "- [x] Colour", "**Hands over to Ann**", REPORT):
        assert line in written.splitlines()
    parts = [written.index(one) for one in (REPORT, "## Plan", "## How it was done", "Designed in blue.")]
    assert parts == sorted(parts)
    assert written.count(REPORT) == 1 and "checkDone" not in written and "{" not in written
    page = look("export", session_id, "--format", "html").out
    assert "<li>☑ Check</li>" in page
    document = json.loads(look("export", session_id, "--format", "json").out)
    assert document["group"]["members"] == ["ann", "bo"]


def test_who_is_meant(crew: dict[str, WireServer], data_dir: Path) -> None:
    in_order(crew)
    first = moot("ask", "crew", "Make it.", "--json")
    assert first.status == 0
    session_id = session_of(first)
    member = moot("ask", "bo", "And you?", "--session", session_id, "--json")
    assert (member.status, member.err) == (0, "")
    said = [one["message"] for one in member.events if one["event"] == "message.finished"]
    assert [
        (one["author"]["id"], one["content"]) for one in said if one["content"] and one["role"] != "tool"
    ] == [
        ("user", "@bo And you?"),
        ("bo", "Bo did it."),
        ("orchestrator", REPORT),
    ]
    again = moot("ask", "CREW", "More.", "--session", session_id, "--json")
    assert (again.status, again.err) == (0, "")
    nobody = moot("ask", "nobody", "Hello", "--lang", "en")
    assert (nobody.status, "no assistant or group" in nobody.err) == (2, True)
    other = moot("ask", "ann", "Hello", "--json")
    wrong = moot("ask", "crew", "Hello", "--session", session_of(other), "--lang", "en")
    assert (wrong.status, "is not a participant" in wrong.err) == (2, True)
    write_group(data_dir, id="crew", name="Ann", members=["ann", "gone"])
    both = moot("ask", "Ann", "Hello", "--lang", "en")
    assert both.status == 0
    assert "Asking the assistant. To ask the group: moot ask crew" in both.err
    [row] = [one for one in moot("doctor", "--json").json if one["check"] == "group"]
    assert (row["ok"], "gone" in row["remedy"]) == (False, True)


def test_orchestrator_and_member_read_a_pdf(crew: dict[str, WireServer], tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf(["Sales rose by 12 percent in spring", "and fell by 3 percent in summer"]))
    in_order(crew, [call("switchAssistant", assistant="ann", instruction="Sum it up.")])
    done = moot("ask", "crew", "When did sales fall?", "--file", str(path), "--json")
    assert (done.status, done.err) == (0, "")
    [kept] = look("show", session_of(done), "--json").json["messages"][0]["attachments"]
    assert (kept["name"], kept["media_type"]) == ("report.pdf", "application/pdf")
    for model in ("anthropic", "openai"):
        asked = heard(crew[model].requests[0])
        for words in ("When did sales fall?", "report.pdf", "[page 2]", "fell by 3 percent in summer"):
            assert words in asked


IDS = ("01m8h9bd3mq2w1x0zk4v7t5ras", "01m8h9bd3mq2w1x0zk4v7t5rat")


def test_two_of_a_name_are_told_apart_and_nobody_sees_an_id(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_group(data_dir, members=IDS)
    roles = ("Backend", "QA")
    for agent_id, provider, role in zip(IDS, ("openai", "gemini"), roles, strict=True):
        told = {"name": "Dana", "role": role, "description": f"{role} things"}
        write_assistant(data_dir, agent_id, provider=provider, **told)
    in_order(
        wire_home,
        [call("switchAssistant", assistant="Dana", instruction="Check it.")],
        [call("switchAssistant", assistant="dana (qa)", instruction="Check it.")],
    )
    done = moot("ask", "crew", "Make it.", "--lang", "en")
    assert (done.status, done.err) == (0, "")
    assert "Dana is the name of several. Say which, by name and role:" in done.out
    requests = wire_home["anthropic"].requests
    assert "- Dana (Backend): Backend things\n- Dana (QA): QA things" in heard(requests[0])
    assert [len(wire_home[one].requests) for one in ("openai", "gemini")] == [0, 1]
    session_id = done.out.splitlines()[1].split(" · ")[1]
    texts = [done.out, *(heard(request) for server in wire_home.values() for request in server.requests)]
    for command in (("show",), ("export", "--format", "md"), ("export", "--format", "html")):
        texts.append(look(command[0], session_id, *command[1:], "--lang", "en").out)
        assert "Dana" in texts[-1]
    assert not [text for text in texts for agent_id in IDS if agent_id in text]
    exported = texts[-2]
    assert "- Members: Dana, Dana" in exported.splitlines()
    assert exported.index(REPORT) < exported.index("## How it was done") < exported.index("Bo did it.")
