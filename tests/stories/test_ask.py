"""Chats on the command line: ask, be asked, answer, go on, in processes of their own against local servers."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.message import Role
from tests.stories.processes import Finished, Running, look, moot
from tests.wire import Answer, Fault, Reply, WireCall, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

GUIDE = {
    "id": "guide",
    "name": "길잡이",
    "tools": ["subAgent", "ask", "web"],
    "sub_agents": ["left", "right"],
}
LEFT = {"id": "left", "name": "Left"}
RIGHT = {"id": "right", "name": "Right", "tools": ["ask"]}


@pytest.fixture
def openai(wire_home: dict[str, WireServer], data_dir: Path) -> WireServer:
    """One server, with three assistants that speak with its model."""
    (data_dir / "assistants").mkdir()
    for one in (GUIDE, LEFT, RIGHT):
        whole = {"version": 1, "provider": "openai", "model": "openai-wire", **one}
        path = data_dir / "assistants" / f"{one['id']}.json"
        path.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    return wire_home["openai"]


def by_agent(**replies: list[Reply]) -> Callable[[Recorded], Reply]:
    """Answer each assistant from a list of its own; its name stands in its instructions."""
    left = {name: list(items) for name, items in replies.items()}

    def answer(request: Recorded) -> Reply:
        names = {"guide": "길잡이", "left": "Left", "right": "Right"}
        for key, items in left.items():
            if names[key] in request.system.split("\n")[0]:
                return items.pop(0)
        raise AssertionError(request.system[:200])

    return answer


def call(tool: str, /, **arguments: object) -> WireCall:
    return WireCall(tool, json.dumps(arguments, ensure_ascii=False))


def session_of(done: Finished) -> str:
    return done.events[0]["session_id"]


def test_one_asks_goes_on_and_reads_it_again(openai: WireServer) -> None:
    openai.script("openai-wire", ["Hello there.", "And again."])
    done = moot("ask", "길잡이", "Say hello\nin two words", "--json")
    assert (done.status, done.err) == (0, "")
    session_id = session_of(done)
    names = [event["event"] for event in done.events]
    assert names[0] == "session.started"
    assert done.events[0]["kind"] == "chat"
    said = [event["message"] for event in done.events if event["event"] == "message.finished"]
    assert [(one["role"], one["content"]) for one in said] == [
        ("user", "Say hello\nin two words"),
        ("assistant", "Hello there."),
    ]
    assert said[1]["author"]["path"] == ["guide"]
    again = moot("ask", "guide", "Once more", "--session", session_id)
    assert (again.status, again.err) == (0, "")
    assert "And again." in again.out
    assert f"moot reply {session_id}" in again.out.splitlines()[-1]
    shown = look("show", session_id)
    assert shown.status == 0
    places = [shown.out.index(text) for text in ("Say hello", "Hello there.", "Once more", "And again.")]
    assert places == sorted(places)
    assert look("show", session_id, "--json").json["kind"] == "chat"
    [listed] = look("sessions", "--json").json
    assert (listed["id"], listed["kind"], listed["status"]) == (session_id, "chat", "idle")
    assert "  Chat  Your turn  " in look("sessions", "--lang", "en").out
    assert moot("delete", session_id).status == 0
    assert look("show", session_id).status == 2


def test_a_question_ends_with_three_and_the_answer_goes_on(openai: WireServer) -> None:
    question = call("promptUser", question="Which city?", type="options", options=["서울", "Busan"])
    openai.script("openai-wire", [Answer(calls=(question,)), "Seoul it is."])
    asked = moot("ask", "guide", "Plan a trip", "--lang", "en")
    assert (asked.status, asked.err) == (3, "")
    assert "길잡이 asks: Which city?" in asked.out
    assert "1. 서울" in asked.out
    last = asked.out.splitlines()[-1]
    session_id = last.split("moot reply ")[1].split()[0]
    assert [one["status"] for one in look("sessions", "--json").json] == ["waiting"]
    done = moot("reply", session_id, "1", "--json")
    assert (done.status, done.err) == (0, "")
    answers = [event["message"] for event in done.events if event["event"] == "message.finished"]
    assert [(one["role"], one["content"]) for one in answers if one["role"] in ("user", Role.ASSISTANT)] == [
        ("user", "서울"),
        ("assistant", "Seoul it is."),
    ]
    assert "서울" in json.dumps(openai.requests[-1].body, ensure_ascii=False)


def test_an_approval_takes_words_for_yes_and_no_and_nothing_else(openai: WireServer) -> None:
    opens = call("open_url", url="https://example.com/a?b=1")
    openai.script("openai-wire", [Answer(calls=(opens,)), "Not opened, fine."])
    asked = moot("ask", "guide", "Open it", "--json")
    assert asked.status == 3, asked.err
    [prompt] = [event["prompt"] for event in asked.events if event["event"] == "prompt.asked"]
    assert (prompt["type"], prompt["tool"]) == ("approval", "open_url")
    session_id = session_of(asked)
    shown = look("show", session_id, "--lang", "en")
    assert "https://example.com/a?b=1" in shown.out
    assert "allow|always|deny" in shown.out
    for text in ("maybe", "ok then", ""):
        unfit = moot("reply", session_id, text, "--lang", "en")
        assert unfit.status == 2
        assert "allow, always, deny" in unfit.err
    done = moot("reply", session_id, "아니요")
    assert (done.status, done.err) == (0, "")
    assert "Not opened, fine." in done.out
    assert "not allowed" in look("show", session_id, "--lang", "en").out


def test_two_sub_agents_at_once_can_be_read_and_one_of_them_asks(openai: WireServer) -> None:
    both = Answer(
        "I send both.",
        calls=(
            call("subAgent", name="left", task="Look left"),
            call("subAgent", name="right", task="Look right"),
        ),
    )
    slow = " ".join(f"left{number}" for number in range(30))
    asks = call("promptUser", question="How far?", type="text")
    openai.script(
        "openai-wire",
        by_agent(
            guide=[both, "Both are back."],
            left=[Answer(slow, pace=0.02)],
            right=[Answer("Right looks.\nTwice.", calls=(asks,), pace=0.02), "Right is done."],
        ),
    )
    asked = moot("ask", "guide", "Look around", "--lang", "en")
    assert (asked.status, asked.err) == (3, "")
    lines = asked.out.splitlines()
    assert f"    {slow}" in lines
    at = lines.index("    Right looks.")
    assert lines[at + 1] == "    Twice."
    assert "    ? Right asks: How far?" in lines
    session_id = lines[-1].split("moot reply ")[1].split()[0]
    done = moot("reply", session_id, "Ten steps")
    assert (done.status, done.err) == (0, "")
    assert "Both are back." in done.out
    shown = look("show", session_id, "--lang", "en").out
    order = ["I send both.", "> subAgent", slow, "> subAgent", "Right looks.", "How far?", "Ten steps"]
    order += ["Right is done.", "Both are back."]
    start = 0
    for text in order:
        start = shown.index(text, start) + 1
    document = look("export", session_id, "--format", "md")
    assert document.status == 0
    assert "> Right is done." in document.out.splitlines()
    exported = look("export", session_id, "--format", "json").json
    assert len({one["id"] for one in exported["messages"]}) == len(exported["messages"])


def test_an_answer_that_failed_is_a_fault_with_its_reason(openai: WireServer) -> None:
    openai.script("openai-wire", lambda _request: Fault("e401"))
    done = moot("ask", "guide", "Hello", "--lang", "en")
    assert done.status == 1
    assert len(done.err.splitlines()) == 1
    assert "key" in done.err
    assert openai.key not in done.err + done.out


def test_it_is_paused_by_a_signal_and_resumed(openai: WireServer) -> None:
    slow = Answer(" ".join(f"word{number}" for number in range(400)), pace=0.05)
    openai.script("openai-wire", [slow, "Here I am again."])
    with Running("ask", "guide", "Hello", "--json") as asking:
        session_id = asking.session_id
        asking.event("message.delta", count=2)
        asking.send(signal.SIGINT)
        done = asking.finish(20)
    assert done.status == 4
    assert [one["status"] for one in look("sessions", "--json").json] == ["paused"]
    again = moot("resume", session_id, "--json")
    assert (again.status, again.err) == (0, "")
    assert again.events[-1]["status"] == "idle"


def test_killed_while_two_sub_agents_speak_it_goes_on_where_it_was(openai: WireServer) -> None:
    both = Answer(calls=(call("subAgent", name="left", task="Go"), call("subAgent", name="right", task="Go")))
    slow = Answer(" ".join(f"word{number}" for number in range(400)), pace=0.05)
    openai.script(
        "openai-wire",
        by_agent(
            guide=[both, "Both are back."],
            left=["Left is done.", "Left again."],
            right=[slow, "Right is done."],
        ),
    )
    with Running("ask", "guide", "Go", "--json") as asking:
        session_id = asking.session_id
        asking.event("tool.finished")
        assert asking.wait_for(lambda: any("word3" in line for line in asking.lines))
        asking.kill()
    [listed] = look("sessions", "--json").json
    assert (listed["id"], listed["status"]) == (session_id, "paused")
    assert f"moot resume {session_id}" in look("show", session_id).out
    again = moot("resume", session_id, "--json")
    assert (again.status, again.err) == (0, "")
    messages = look("show", session_id, "--json").json["messages"]
    assert len({one["id"] for one in messages}) == len(messages)
    texts = [one["content"] for one in messages if one["role"] == Role.ASSISTANT and one["state"] == "done"]
    # Who had finished was not asked again.
    assert texts == ["", "Left is done.", "Right is done.", "Both are back."]
    assert {one["author"]["depth"] for one in messages if one["role"] == Role.ASSISTANT} == {0, 1}


def test_another_terminal_talks_to_the_one_that_runs(openai: WireServer) -> None:
    slow = Answer(" ".join(f"word{number}" for number in range(60)), pace=0.05)
    openai.script("openai-wire", [slow, "The queued answer."])
    with Running("ask", "guide", "Hello", "--json") as asking:
        session_id = asking.session_id
        asking.event("message.delta")
        queued = moot("reply", session_id, "And then?")
        assert (queued.status, queued.err) == (0, "")
        assert "The queued answer." in queued.out
        assert asking.finish(30).status == 0


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("ask", "nobody", "Hello"), "nobody"),
        (("ask", "guide", " "), "text"),
        (("ask", "guide", "Hello", "--session", "01x"), "01x"),
        (("reply", "01x", "Hello"), "01x"),
    ],
)
def test_bad_input_starts_nothing(openai: WireServer, typed: tuple[str, ...], words: str) -> None:
    done = moot(*typed, "--lang", "en")
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1
    assert openai.requests == []
    assert look("sessions", "--json").json == []


def test_settings_mode_is_an_option_of_ask_and_stays_with_the_chat(openai: WireServer) -> None:
    openai.script("openai-wire", "Hello.")
    done = moot("ask", "guide", "Look around", "--mode", "settings", "--json")
    assert done.status == 0, done.err
    session_id = session_of(done)
    assert look("show", session_id, "--json").json["chat"]["mode"] == "settings"
    assert "open_url" not in str(openai.requests[-1].tools) and "web_fetch" in str(openai.requests[-1].tools)
    assert moot("ask", "guide", "Go on", "--session", session_id, "--mode", "default").status == 0
    assert look("show", session_id, "--json").json["chat"]["mode"] == "default"
    assert "open_url" in str(openai.requests[-1].tools)
    assert moot("ask", "guide", "Look", "--mode", "free").status == 2


def test_a_limit_that_ends_the_work_is_named_and_the_status_is_four(
    openai: WireServer, data_dir: Path
) -> None:
    document = {"version": 1, "provider": "openai", "model": "openai-wire", **GUIDE, "max_steps": 1}
    (data_dir / "assistants" / "guide.json").write_text(json.dumps(document), encoding="utf-8")
    openai.script("openai-wire", [Answer(calls=(call("subAgent", name="nobody", task="Go."),)), "So far."])
    done = moot("ask", "guide", "Find out", "--lang", "en")
    assert (done.status, done.err) == (4, "")
    assert done.out.splitlines()[-1].startswith("Paused at 1 step. ")
    session_id = done.out.splitlines()[-1].split("moot resume ")[1].split()[0]
    shown = look("show", session_id, "--json").json
    assert (shown["reason"], shown["reason_code"]) == ("steps:1", "step_limit")
