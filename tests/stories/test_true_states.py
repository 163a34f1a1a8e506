"""What has stopped, paused or failed says so by its own words, nothing is shown as worked on while nobody works, and Resume
undoes a stop; from the command line, against servers that are seen to lose the connection.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.stories.group_crew import call, heard, in_order, play, write_group
from tests.stories.processes import Running, look, moot
from tests.stories.test_group import check_end as check_group
from tests.stories.test_group import session_of, to_the_end
from tests.stories.test_workflow import BUG_FIX, Crew, check_end, crew, shown, step_of
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["crew", "wire_home", "wire_servers"]

pytestmark = pytest.mark.timeout(240)
HELD = ("running", "waiting")


@pytest.fixture
def group(wire_home: dict[str, WireServer], data_dir: Path) -> dict[str, WireServer]:
    """The group, its members and the three servers."""
    write_group(data_dir)
    play(wire_home)
    return wire_home


def stands(session_id: str) -> tuple[str, str, str]:
    document = look("show", session_id, "--json").json
    return document["status"], document["reason"], document["reason_code"]


def said_of(session_id: str, language: str) -> tuple[str, str]:
    """Return the last line of a session, and its line in the list."""
    last = look("show", session_id, "--lang", language).out.strip().splitlines()[-1]
    [line] = [one for one in look("sessions", "--lang", language).out.splitlines() if session_id in one]
    return last, line


def slowly(server: WireServer, text: str) -> list[Recorded]:
    """Let a server's first model speak for a minute; return its requests to come."""
    server.script(server.model, lambda _request: Answer(text, pace=2.0, pieces=30))
    server.requests.clear()
    return server.requests


def test_a_group_is_stopped_in_a_hand_over_on_the_wire_too_and_resumed(group: dict[str, WireServer]) -> None:
    asked = moot("ask", "crew", "Make it.", "--json")
    session_id = session_of(asked)
    requests = slowly(group["openai"], "Designed in blue.")
    with Running("reply", session_id, "Blue", "--json") as running:
        assert group["openai"].wait_for(lambda: bool(requests), 60)
        running.event("message.delta")
        ended = moot("stop", session_id, "--lang", "en")
        assert (ended.status, ended.err) == (0, "")
        assert running.finish(30).status == 4
    assert group["openai"].wait_for(lambda: requests[0].closed_at is not None, 5), "the answer still runs"
    assert stands(session_id) == ("stopped", "by_user", "user")
    for language, words in (("en", "Stopped by you"), ("ko", "중지됨 · 사용자 요청")):
        last, line = said_of(session_id, language)
        assert last.startswith(f"{words} · ") and words in line
    play(group)
    document, _ = to_the_end(session_id)
    check_group(document, group)


def test_a_workflow_is_stopped_on_the_wire_too_and_resumed(crew: Crew) -> None:
    crew.pace = 0.5
    with Running("workflow", "Fix the login loop", "--json") as running:
        session_id = running.session_id
        running.event("message.delta", seconds=60)
        assert moot("stop", session_id).status == 0
        assert running.finish(30).status == 4
    server = next(one for one in crew.servers.values() if one.requests)
    assert server.wait_for(lambda: all(one.closed_at or one.done_at for one in crew.requests), 5)
    assert [one for one in crew.requests if one.closed_at], "nothing was cut"
    document = shown(session_id)
    assert stands(session_id) == ("stopped", "by_user", "user")
    assert [one["state"] for one in document["workflow"]["steps"] if one["state"] in HELD] == []
    assert "cancelled" not in {one["state"] for one in document["workflow"]["steps"]}
    crew.pace = 0.0
    resumed = moot("resume", session_id, "--json", seconds=90)
    assert (resumed.status, resumed.err) == (0, "")
    check_end(shown(session_id), BUG_FIX)


def test_after_a_kill_nobody_holds_a_step_and_moot_was_closed(crew: Crew) -> None:
    crew.pace = 0.5
    with Running("workflow", "Fix the login loop", "--json") as running:
        session_id = running.session_id
        running.event("message.delta", seconds=60)
        running.kill()
        running.finish(10)
    assert stands(session_id) == ("paused", "app_restart", "restart")
    assert [one["state"] for one in shown(session_id)["workflow"]["steps"] if one["state"] in HELD] == []
    for language, words in (("en", "Moot was closed"), ("ko", "Moot가 종료되어 일시 정지됨")):
        last, line = said_of(session_id, language)
        assert words in last or words in look("show", session_id, "--lang", language).out
        assert words in line
    crew.pace = 0.0
    assert moot("resume", session_id, "--json", seconds=90).status == 0
    check_end(shown(session_id), BUG_FIX)


def test_a_workflow_that_is_done_takes_its_last_step_again_with_what_is_said(crew: Crew) -> None:
    done = moot("workflow", "Fix the login loop", "--json", seconds=90)
    assert (done.status, done.err) == (0, "")
    session_id, before = session_of(done), len(crew.requests)
    again = moot("reply", session_id, "Try it on a phone as well.", "--json", seconds=60)
    assert (again.status, again.err) == (0, "")
    new = [one for server in crew.servers.values() for one in server.requests if "phone" in heard(one)]
    assert len(crew.requests) == before + 1 and [step_of(one) for one in new] == [BUG_FIX[-1]]
    assert "Verify it is" in heard(new[0]), "the step does not know what it made before"
    check_states(shown(session_id), "completed", {"done"})


def check_states(document: dict[str, Any], status: str, states: set[str]) -> None:
    assert document["status"] == status
    assert {one["state"] for one in document["workflow"]["steps"]} == states


def test_a_limit_of_calls_is_told_before_pauses_and_is_granted_again(group: dict[str, WireServer]) -> None:
    asked = moot("ask", "crew", "Make it.", "--budget-calls", "5", "--json")
    session_id = session_of(asked)
    assert look("show", session_id, "--json").json["chat"]["limits"]["calls"] == 5
    reply = moot("reply", session_id, "Blue", "--json")
    assert reply.status == 4
    near = [one for one in reply.events if one["event"] == "limit.near"]
    assert [(one["limit"], one["spent"], one["most"]) for one in near] == [("calls", 4, 5)]
    assert stands(session_id) == ("paused", "budget_model_calls:5", "budget_calls")
    for language, words in (("en", "Paused at 5 calls"), ("ko", "모델 호출 5회에서 일시 정지")):
        last, line = said_of(session_id, language)
        assert last.startswith(words) and words in line
    resumed = moot("resume", session_id, "--lang", "en")
    assert resumed.status == 0
    check_group(look("show", session_id, "--json").json, group)


def test_a_limit_is_told_on_standard_error(group: dict[str, WireServer]) -> None:
    in_order(group, *([call("setPlan", items=["A"])], *[[call("checkDone", index=0)]] * 3, "Well."))
    told = moot("ask", "crew", "Make it.", "--budget-calls", "5", "--lang", "en")
    assert told.err.count("4 of 5 calls used. It pauses at the limit.") == 1


@pytest.mark.parametrize(
    "typed", [("--budget-calls", "0"), ("--budget-minutes", "x"), ("--budget-usd", "-1")]
)
def test_a_limit_that_is_none_is_refused(group: dict[str, WireServer], typed: tuple[str, str]) -> None:
    refused = moot("ask", "crew", "Make it.", *typed, "--lang", "en")
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert typed[0] in refused.err and typed[1] in refused.err
    assert not any(one.requests for one in group.values())


def test_a_group_at_its_limit_of_turns_is_paused_and_goes_on(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_group(data_dir, turns_limit=1)
    in_order(wire_home, [call("switchAssistant", assistant="ann", instruction="Go.")], "What there is.")
    asked = moot("ask", "crew", "Make it.", "--json")
    session_id = session_of(asked)
    assert asked.status == 4
    assert stands(session_id) == ("paused", "turns_limit:1", "turn_limit")
    assert said_of(session_id, "en")[0].startswith("Paused at 1 turn. Resume to allow as much again.")
    before = len(wire_home["anthropic"].requests)
    moot("resume", session_id, "--json")
    assert len(wire_home["anthropic"].requests) > before, "nobody was asked to go on"
