"""What "done" means from the command line: met, sent back, unmet, accepted; killed anywhere, nothing is asked twice."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.group_crew import call
from tests.stories.processes import Finished, Running, look, moot, session_of
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.replies import Reply
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

SKY, SEA = "It names the colour of the sky", "It names the colour of the sea"
QUOTES = {SKY: "The sky is blue", SEA: "the sea is green"}
HALF, WHOLE = "The sky is blue.", "The sky is\nblue, and the sea is green."
MEANS = ("--done-means", SKY, "--done-means", SEA)


def is_check(request: Recorded) -> bool:
    return '"verdict"' in request.messages[-1].text


def honest(request: Recorded) -> Answer:
    """Say what a checker says that reads: each is met if the words are there."""
    text = request.messages[-1].text
    listed = re.findall(r"^(\d+)\. (.*)$", text.rsplit("\n\n", 2)[1], re.MULTILINE)
    work = " ".join(text.partition("(1)\n")[2].split())
    said = [
        {
            "number": int(number),
            "verdict": "met" if QUOTES.get(words, "not there") in work else "unmet",
            "quote": QUOTES.get(words, ""),
            "why": f"Looked for {number}.",
        }
        for number, words in listed
    ]
    return Answer(json.dumps({"criteria": said}))


def obeying(request: Recorded) -> Answer:
    """Say what the work says: all is met."""
    return Answer(honest(request).text.replace('"unmet"', '"met"'))


def told_once(request: Recorded) -> bool:
    return any(words in one.text for one in request.messages for words in ("was checked", "확인했습니다"))


def play(
    server: WireServer, data_dir: Path, check: Callable[[Recorded], Reply], work: Callable[[Recorded], Reply]
) -> None:
    """Write an assistant, and say what it and its checker answer."""
    folder = data_dir / "assistants"
    folder.mkdir(parents=True, exist_ok=True)
    ada = {"version": 1, "id": "ada", "name": "Ada", "provider": server.kind, "model": server.model}
    (folder / "ada.json").write_text(json.dumps(ada), encoding="utf-8")
    server.script(server.model, lambda request: check(request) if is_check(request) else work(request))


def whole_once_told(request: Recorded) -> Answer:
    return Answer(WHOLE if told_once(request) else HALF)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_what_is_missing_is_mended_and_then_met(
    language: str, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    play(server, data_dir, honest, whole_once_told)
    done = moot("ask", "ada", "Name the colours.", *MEANS, "--lang", language)
    assert (done.status, done.err) == (0, "")
    met, unmet = {"en": ("[met]", "[not met]"), "ko": ("[충족]", "[미충족]")}[language]
    lines = [line.strip() for line in done.out.splitlines() if line.strip().startswith("[")]
    assert [line.partition(" · ")[0] for line in lines] == [
        f"{met} {SKY}", f"{unmet} {SEA}", f"{met} {SKY}", f"{met} {SEA}"
    ]  # fmt: skip
    assert "“the sea is green” (openai-wire)" in lines[-1]
    assert '"verdict"' not in done.out
    assert [is_check(one) for one in server.requests] == [False, True, False, True]


def test_the_json_of_what_is_met(wire_home: dict[str, WireServer], data_dir: Path) -> None:
    play(wire_home["openai"], data_dir, honest, lambda _: Answer(WHOLE))
    done = moot("ask", "ada", "Name the colours.", *MEANS, "--json")
    assert done.status == 0
    checked = [one for one in done.events if one["event"] == "criterion.checked"]
    assert [(one["text"], one["state"]) for one in checked] == [(SKY, "met"), (SEA, "met")]
    shown = look("show", session_of(done), "--json").json
    assert (shown["status"], shown["reason_code"]) == ("completed", "")
    _, sea = shown["criteria"]
    [work] = [one for one in shown["messages"] if one["content"] == WHOLE]
    assert sea["evidence"] == {"quote": "the sea is green", "file": "", "message_id": work["id"]}
    assert (sea["state"], sea["round"], sea["checked_by"]["provider"]) == ("met", 1, "openai")
    [check] = [one for one in shown["messages"] if one["part"] == "criteria"]
    assert check["usage"]["provider"] == "openai"


@pytest.mark.parametrize(
    "check",
    [
        obeying,
        lambda _: Answer("It is all met."),
        lambda _: Fault("empty"),
        lambda _: Fault("e401"),
        lambda request: Answer(honest(request).text.replace("the sea is green", "the sea is Green")),
        lambda request: Answer(honest(request).text.replace("the sea is green", "")),
    ],
    ids=["obeys", "no JSON", "silent", "down", "false quotation", "no quotation"],
)
def test_what_is_not_shown_is_never_completed_until_it_is_accepted(
    check: Callable[[Recorded], Reply], wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    play(server, data_dir, check, lambda _: Answer(WHOLE))
    done = moot("ask", "ada", "Name the colours.", *MEANS)
    assert done.status == 4
    assert "moot accept " in done.out.splitlines()[-1]
    assert sum(not is_check(one) for one in server.requests) == 3, "it goes back twice"
    session_id = look("sessions", "--json").json[0]["id"]
    shown = look("show", session_id, "--json").json
    assert (shown["status"], shown["reason_code"]) == ("paused", "criteria_unmet")
    assert shown["criteria"][1]["state"] == "unknown"
    assert {one["round"] for one in shown["criteria"]} == {3}
    [row] = moot("work", "--json").json
    assert (row["state"], row["needs"]) == ("needs_you", "criteria")
    met = sum(one["state"] == "met" for one in shown["criteria"])
    assert row["criteria"] == {"met": met, "all": 2} and row["says"] == f"{met} of 2 met"
    accepted = moot("accept", session_id, "--json")
    assert accepted.status == 0
    shown = look("show", session_id, "--json").json
    assert (shown["status"], shown["criteria"][1]["state"]) == ("completed", "accepted")
    again = moot("accept", session_id)
    assert (again.status, "accepted" in again.err) == (2, True)


def killed_at(running: Running, number: int) -> Finished:
    """Kill a run when it has said so many things."""
    watched = ("message.started", "message.finished", "criterion.checked", "usage")
    running.wait_for(lambda: sum(one["event"] in watched for one in running.events) >= number, 60)
    running.kill()
    return running.finish(10)


@pytest.mark.slow
def test_killed_after_each_record_it_ends_the_same_and_asks_nothing_twice(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    play(server, data_dir, honest, whole_once_told)
    for number in range(1, 15):
        server.requests.clear()
        with Running("ask", "ada", "Name the colours.", *MEANS, "--json") as running:
            killed = killed_at(running, number)
        session_id = session_of(killed)
        status = look("show", session_id, "--json").json["status"]
        ended = moot("resume", session_id).status if status != "completed" else 0
        shown = look("show", session_id, "--json").json
        assert (ended, shown["status"], [one["state"] for one in shown["criteria"]]) == (
            0, "completed", ["met", "met"],
        ), number  # fmt: skip
        done = [one for one in shown["messages"] if one["role"] == "assistant" and one["state"] == "done"]
        assert [one["part"] for one in done] == ["", "criteria", "", "criteria"], number
        # What was cut is asked again, what was answered is not.
        assert len(server.requests) <= 5, number
        assert [one.refused for one in server.requests if one.refused] == []


def test_a_workflow_that_is_done_is_checked_and_its_last_step_mends(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    end = "\n\n[STEP_COMPLETE]\nartifacts: colours\nstatus: done"

    def work(request: Recorded) -> Answer:
        text = request.messages[-1].text
        said = WHOLE if "was checked" in text and HALF in text else HALF
        return Answer((said if '"Write"' in text else "Looked around.") + end)

    play(server, data_dir, honest, work)
    steps = [
        {"id": "look", "name": "Look", "role": "Painter", "prompt": "Look."},
        {"id": "write", "name": "Write", "role": "Painter", "prompt": "Write.", "depends_on": ["look"]},
    ]
    folder = data_dir / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    document = {"version": 1, "id": "colours", "name": "Colours", "keywords": [], "steps": steps}
    (folder / "colours.json").write_text(json.dumps(document), encoding="utf-8")
    ada = json.loads((data_dir / "assistants" / "ada.json").read_text("utf-8"))
    (data_dir / "assistants" / "ada.json").write_text(json.dumps(ada | {"role": "Painter"}), encoding="utf-8")
    done = moot("workflow", "Name the colours.", "--definition", "colours", *MEANS, "--json")
    assert (done.status, done.err) == (0, "")
    shown = look("show", session_of(done), "--json").json
    assert [(one["state"], one["round"]) for one in shown["criteria"]] == [("met", 2), ("met", 2)]
    assert [one["attempt"] for one in shown["workflow"]["steps"]] == [1, 2]


def plan_with_means(server: WireServer, data_dir: Path, check: Callable[[Recorded], Reply]) -> list[Answer]:
    """Let an assistant plan one thing and say twice that it is done, at first without the colour of the sea; return what it says."""
    done = call("toggle_todo", index=0)
    adds = call("add_todo", name="Name the colours", done_means=f"{SKY}\n\n{SEA}\n")
    says = [Answer(calls=(adds,)), Answer(HALF, calls=(done,)), Answer(WHOLE, calls=(done,)), Answer("All.")]
    play(server, data_dir, check, lambda _: says.pop(0))
    file = data_dir / "assistants" / "ada.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"tools": ["planning"]}))
    return says


def test_a_plan_item_is_done_once_what_it_means_is_met(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    plan_with_means(server, data_dir, honest)
    done = moot("ask", "ada", "Plan it.", "--json")
    assert (done.status, done.err) == (0, "")
    shown = look("show", session_of(done), "--json").json
    results = [(one["state"], one["content"]) for one in shown["messages"] if one["role"] == "tool"]
    assert [state for state, _ in results] == ["done", "failed", "done"]
    # The number is one more behind the criterion that nothing can meet.
    assert re.fullmatch(rf"0 stays open, as this is not met:\n- {SEA}: Looked for [23]\.", results[1][1])
    assert results[2][1].startswith("0 is now done: Name the colours")
    [item] = shown["plan"]["items"]
    assert item["done"] and [(one["state"], one["round"]) for one in item["criteria"]] == [("met", 2)] * 2
    assert item["criteria"][1]["evidence"]["quote"] == "the sea is green"
    assert sum(map(is_check, server.requests)) == 2
    # What a checker says is part of no conversation.
    assert not any('"verdict"' in one.text for one in server.requests[-1].messages)


def test_a_plan_item_that_nobody_can_call_met_stays_open_for_the_user(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    server = wire_home["openai"]
    says = plan_with_means(server, data_dir, obeying)
    session_id = session_of(moot("ask", "ada", "Plan it.", "--json"))
    says += [Answer(calls=(call("toggle_todo", index=0),)) for _ in range(2)] + [Answer("It stays open.")]
    assert moot("ask", "ada", "Go on.", "--session", session_id).status == 0
    [item] = look("show", session_id, "--json").json["plan"]["items"]
    assert not item["done"] and {one["state"] for one in item["criteria"]} == {"unknown"}
    assert sum(map(is_check, server.requests)) == 3, "it is checked three times at most"
