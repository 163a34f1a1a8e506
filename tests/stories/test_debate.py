"""One debate as people have it: four providers, a context file, other terminals that join in."""

import json
import signal
import time
from pathlib import Path

import pytest

from tests.stories.processes import Running, children_of, look, moot, wait_until_gone
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

FOUR = (
    "-p", "GPT=openai/openai-wire",
    "-p", "Claude=anthropic/anthropic-wire",
    "-p", "제미나이=gemini/gemini-wire",
    "-p", "Local Llama=ollama/ollama-wire",
)  # fmt: skip
# Both have one name and one model: they are told apart all the same.
TWO = ("-p", "Kim=openai/openai-wire", "-p", "Kim=openai/openai-wire")
TOPIC = "Should cities ban private cars from their centres?"
# No word follows itself: LiteLLM takes that for a model that is stuck.
SLOW = Answer(" ".join(f"word{number}" for number in range(400)), pace=0.05)


def test_four_providers_debate_legally_to_the_end(wire_home: dict[str, WireServer], tmp_path: Path) -> None:
    context = tmp_path / "도시 계획.md"
    context.write_text("The ring road is closed on KESTREL days.", encoding="utf-8")
    done = moot("debate", TOPIC, *FOUR, "--rounds", "3", "--context", str(context), "--json", seconds=90)
    assert (done.status, done.err) == (0, "")
    finished = [event["message"] for event in done.events if event["event"] == "message.finished"]
    assert [(one["author"]["name"], one["round"]) for one in finished] == [
        (name, number) for number in (1, 2, 3) for name in ("GPT", "Claude", "제미나이", "Local Llama")
    ]
    assert {one["state"] for one in finished} == {"done"}
    statuses = [event["status"] for event in done.events if event["event"] == "session.status"]
    assert statuses[-1] == "completed"
    asked = [one for server in wire_home.values() for one in server.requests]
    assert len(asked) == 12
    assert {one.status for one in asked} == {200}
    for one in asked:
        body = json.dumps(one.body, ensure_ascii=False)
        assert "KESTREL" in body
        assert TOPIC in body
    streamed = "".join(event.get("text", "") for event in done.events if event["event"] == "message.delta")
    assert streamed == "".join(one["content"] for one in finished)
    assert len({event["session_id"] for event in done.events}) == 1

    shown = look("show", done.events[0]["session_id"], "--json").json
    assert shown["messages"] == finished
    assert shown["status"] == "completed"
    listed = moot("--json", "sessions").json
    assert [(one["id"], one["status"], one["messages"]) for one in listed] == [(shown["id"], "completed", 12)]


def test_another_terminal_steps_in_and_pauses_and_it_is_resumed(wire_home: dict[str, WireServer]) -> None:
    server = wire_home["openai"]
    server.script("openai-wire", lambda _request: Answer("one two three four five six", pace=0.15))
    with Running("debate", TOPIC, *TWO, "--rounds", "9", "--json") as debate:
        session_id = debate.session_id
        debate.event("message.delta")
        said = moot("reply", session_id, "What about the PLOVER bridge?", "--json")
        assert (said.status, said.err) == (0, "")
        assert [event["event"] for event in said.events] == ["message.finished"]
        assert said.events[0]["message"]["content"] == "What about the PLOVER bridge?"
        count = len(server.requests)
        assert server.wait_for(lambda: len(server.requests) > count, 10)
        assert "[User]: What about the PLOVER bridge?" in json.dumps(server.requests[count].body)
        assert [one["status"] for one in look("sessions", "--json").json] == ["running"]
        paused = moot("pause", session_id)
        assert (paused.status, paused.err) == (0, "")
        done = debate.finish(20)
    assert done.status == 4
    assert done.events[-1]["event"] == "session.status"
    assert done.events[-1]["status"] == "paused"
    shown = look("show", session_id, "--json").json
    seen = shown["messages"]
    assert {one["state"] for one in seen} == {"done"}
    kims = shown["debate"]["participants"]
    assert len({kim["id"] for kim in kims}) == len({kim["name"] for kim in kims}) == 2

    server.script("openai-wire", lambda _request: SLOW)
    count = len(server.requests)
    with Running("resume", session_id) as resumed:
        assert resumed.wait_for(lambda: any(line.endswith(":\n") for line in resumed.lines))
        assert server.wait_for(lambda: len(server.requests) > count and server.requests[-1].status == 200, 20)
        time.sleep(0.5)
        asked = time.monotonic()
        resumed.send(signal.SIGINT)
        assert server.wait_for(lambda: server.requests[-1].closed_at is not None, 5)
        assert server.requests[-1].closed_at - asked < 1
        done = resumed.finish(10)
    assert (done.status, done.err) == (4, "")
    assert f"moot resume {session_id}" in done.out.splitlines()[-1]
    shown = look("show", session_id, "--json").json
    assert shown["status"] == "paused"
    assert shown["messages"][: len(seen)] == seen
    assert shown["messages"][-1]["state"] == "stopped"
    assert shown["messages"][-1]["content"].startswith("word0 word1")


def test_two_debates_in_two_terminals_share_one_writer(wire_home: dict[str, WireServer]) -> None:
    server = wire_home["openai"]
    server.script("openai-wire", lambda _request: SLOW)
    with Running("debate", "The first topic", *TWO, "--json") as first:
        first.event("message.delta")
        with Running("debate", "The second topic", *TWO, "--json") as second:
            second.event("message.delta", count=3)
            second.send(signal.SIGINT)
            paused = second.finish(10)
        assert (paused.status, paused.err) == (4, "")
        assert paused.events[0]["title"] == "The second topic"
        assert paused.events[-1]["status"] == "paused"
        assert len({event["session_id"] for event in paused.events}) == 1
        assert server.wait_for(lambda: server.requests[1].closed_at is not None, 5)
        assert server.requests[0].closed_at is None
        stopped = moot("stop", first.session_id)
        assert (stopped.status, stopped.err) == (0, "")
        assert server.wait_for(lambda: server.requests[0].closed_at is not None, 10)
        done = first.finish(10)
    assert done.status == 4
    assert done.events[-1]["status"] == "stopped"
    assert len({event["session_id"] for event in done.events}) == 1
    # What was stopped can be resumed.
    server.script("openai-wire", lambda _request: "In short: yes.")
    again = moot("resume", first.session_id)
    assert (again.status, again.err) == (0, "")
    assert "In short: yes." in again.out


@pytest.mark.own_host
def test_sigterm_before_the_first_word(wire_home: dict[str, WireServer]) -> None:
    with Running("debate", TOPIC, *TWO, "--json") as debate:
        session_id = debate.session_id
        children = children_of(debate.pid)
        debate.send(signal.SIGTERM)
        done = debate.finish(10)
    assert (done.status, done.err) == (4, "")
    assert children
    assert wait_until_gone(children, 1) == []
    shown = look("show", session_id, "--json").json
    assert (shown["status"], shown["debate"]["round"], shown["debate"]["turn"]) == ("paused", 1, 0)
    assert (shown["reason"], shown["reason_code"]) == ("app_closed", "restart")
    assert "Moot was closed" in look("show", session_id, "--lang", "en").out.splitlines()[-1]


def test_nobody_reads_any_more(wire_home: dict[str, WireServer]) -> None:
    """As in `moot debate … | head -1`: the debate is paused, nothing is said about pipes."""
    wire_home["openai"].script("openai-wire", lambda _request: Answer("one two three", pace=0.1))
    with Running("debate", TOPIC, *TWO, "--json") as debate:
        debate.event("session.started")
        debate.close_output()
        done = debate.finish(30)
    assert (done.status, done.err) == (4, "")
    assert look("sessions", "--json").json[0]["status"] == "paused"


def test_a_server_that_was_away_is_asked_again_for_the_turns_it_missed(
    wire_home: dict[str, WireServer],
) -> None:
    server = wire_home["openai"]
    # For so long nobody waits.
    server.script("openai-wire", [Fault("e500", retry_after=500.0)] * 2)
    three = [part for name in ("Ann", "Ben", "Cat") for part in ("-p", f"{name}=openai/openai-wire")]
    away = moot("debate", TOPIC, *three, "--rounds", "1", "--json")
    assert away.status == 4
    assert away.events[-1]["reason_code"] == "provider_error"
    session_id = away.events[0]["session_id"]
    back = moot("resume", session_id)
    assert (back.status, back.err) == (0, "")
    shown = look("show", session_id, "--json").json
    assert [(one["author"]["name"], one["state"]) for one in shown["messages"]] == [
        ("Ann", "failed"), ("Ben", "failed"), ("Ann", "done"), ("Ben", "done"), ("Cat", "done"),
    ]  # fmt: skip
    assert (shown["status"], shown["reason"]) == ("completed", "rounds_done")


def test_a_debate_that_nobody_can_take_part_in_has_failed_or_does_not_start(
    wire_home: dict[str, WireServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    wire_home["openai"].script("openai-wire", lambda _request: Fault("e401"))
    failed = moot("debate", TOPIC, *TWO, "--rounds", "1")
    assert (failed.status, failed.err) == (1, "")
    assert failed.out.splitlines()[-1] == "Failed · No participant could answer."
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    refused = moot("debate", TOPIC, *FOUR[:4])
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == (
        "The debate was not started because no participant is ready. GPT: needs a key; Claude: needs a key. "
        "Add keys in Settings, Models, or with `moot keys set PROVIDER` in the terminal.\n"
    )
    assert len(look("sessions", "--json").json) == 1


def test_a_participant_refused_without_end_is_skipped_or_left_out(wire_home: dict[str, WireServer]) -> None:
    wire_home["openai"].script("openai-wire", lambda _request: Fault("rate429", retry_after=500))
    held = moot("debate", TOPIC, *FOUR[:6], "--rounds", "2")
    assert held.status == 4
    last = held.out.splitlines()[-1]
    assert "--skip-turn" in last and "--without NAME" in last
    [session] = look("sessions", "--json").json
    session_id = session["id"]
    assert look("show", session_id, "--json").json["reason_code"] == "rate_limit"
    unknown = moot("resume", session_id, "--without", "Nobody")
    assert (unknown.status, unknown.out) == (2, "")
    assert unknown.err == "No participant has that name. Participants: GPT, Claude, 제미나이\n"
    skipped = moot("resume", session_id, "--skip-turn")
    assert skipped.status == 4
    done = moot("resume", session_id, "--without", "gpt")
    assert (done.status, done.err) == (0, "")
    assert "1 turn failed." in done.out.splitlines()[-1]
    shown = look("show", session_id, "--json").json
    names = [(one["author"]["name"], one["state"]) for one in shown["messages"]]
    others = [("Claude", "done"), ("제미나이", "done")]
    assert names == [("GPT", "failed"), *others, *others]
    assert [
        one["name"] for one in shown["debate"]["participants"] if one["id"] in shown["debate"]["left"]
    ] == ["GPT"]
