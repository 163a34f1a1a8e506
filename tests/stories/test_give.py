"""Steps and messages that are given to another assistant, from the command line; killed in the middle."""

import json
from pathlib import Path

import pytest

from tests.stories.group_crew import heard, write_assistant
from tests.stories.processes import Running, moot
from tests.stories.test_workflow import BUG_FIX, Crew, check_end, crew, session_of, shown, step_of
from tests.wire import Answer, Fault
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["crew", "wire_home", "wire_servers"]

BACK = "fix-backend"


@pytest.fixture
def failed(crew: Crew, data_dir: Path) -> str:
    """A workflow one step of which failed, beside somebody who could take it; returns its session's id."""
    write_assistant(data_dir, "dana", provider="anthropic", model="anthropic-wire")
    crew.faults = {"Fix the back end": [Fault("e401")] * 3}
    done = moot("workflow", "Fix the login loop", "--json", seconds=90)
    assert (done.status, done.err) == (4, "")
    crew.faults.clear()
    return session_of(done)


def who(session_id: str) -> dict[str, tuple[str, int]]:
    steps = shown(session_id)["workflow"]["steps"]
    return {one["id"]: (one["assistant_id"], one["attempt"]) for one in steps}


@pytest.mark.timeout(150)
def test_a_failed_step_goes_to_another_assistant(crew: Crew, failed: str) -> None:
    for typed, words in (
        ((failed, "nothing", "Dana"), "no step “nothing”"),
        ((failed, BACK, "Nobody"), "no assistant “Nobody”"),
        ((failed, "reproduce", "Dana"), "“reproduce” can’t be given"),
        ((failed, "Dana"), "moot give SESSION STEP WHO"),
        (("01m805kmw2bf1fxxf0v2q0jb90", BACK, "Dana"), "01m805kmw2bf1fxxf0v2q0jb90"),
    ):
        refused = moot("give", *typed, "--lang", "en")
        assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1), refused.err
        assert words in refused.err
    before = crew.asked()
    given = moot("give", failed, BACK, "Dana", "--json", seconds=60)
    assert (given.status, given.err) == (0, "")
    check_end(shown(failed), BUG_FIX)
    assert (who(failed)[BACK], who(failed)["verify"]) == (("dana", 2), ("tess", 1))
    assert crew.asked() - before == {"Fix the back end": 1, "Verify": 1}
    [request] = [one for one in crew.servers["anthropic"].requests if step_of(one) == "Fix the back end"]
    assert request.refused == ""


@pytest.mark.timeout(150)
def test_killed_in_the_middle_it_ends_with_whom_it_was_given_to(crew: Crew, failed: str) -> None:
    crew.pace = 0.1
    before = crew.asked()
    with Running("give", failed, BACK, "dana", "--json") as running:
        running.event("message.delta", seconds=60)
        running.kill()
        running.finish(10)
    assert shown(failed)["status"] == "paused"
    crew.pace = 0.0
    resumed = moot("resume", failed, "--json", seconds=90)
    assert (resumed.status, resumed.err) == (0, "")
    check_end(shown(failed), BUG_FIX)
    assert who(failed)[BACK] == ("dana", 2), "the attempt goes on"
    asked = crew.asked() - before
    assert asked == {"Fix the back end": 2, "Verify": 1}


@pytest.mark.timeout(150)
def test_a_message_that_waits_goes_to_another_assistant(crew: Crew, data_dir: Path) -> None:
    busy = {"strategy": "queue", "depth": 3}
    write_assistant(data_dir, "bea", provider="ollama", model="ollama-wire", busy=busy)
    write_assistant(data_dir, "dana", provider="anthropic", model="anthropic-wire")
    for server in crew.servers.values():
        server.script(server.model, lambda request: _slow(request))
    with Running("ask", "bea", "Take your time.", "--json") as first:
        first.event("message.delta", seconds=60)
        with Running("ask", "bea", "And me?", "--json") as second:
            session_id = second.session_id
            given = moot("give", session_id, "Dana", "--json", seconds=60)
            assert (given.status, given.err) == (0, "")
            assert second.finish(60).status == 0
    answers = [one for one in shown(session_id)["messages"] if one["role"] == "assistant"]
    assert [(one["author"]["id"], one["content"]) for one in answers] == [("dana", "Here I am.")]


def _slow(request: Recorded) -> Answer:
    if "Take your time." in heard(request):
        return Answer("One word after the other. " * 20, pace=0.5, pieces=4)
    return Answer("Here I am.")


@pytest.mark.timeout(150)
@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "Who does what: Backend Engineer (Fix), Arch (Look), temporary assistants (Ship)\n"),
        ("ko", "담당: Backend Engineer(Fix), Arch(Look), 임시 어시스턴트(Ship)\n"),
    ],
)
def test_before_a_workflow_starts_a_line_says_who_does_what(
    crew: Crew, data_dir: Path, language: str, line: str
) -> None:
    (data_dir / "assistants" / "bea.json").unlink()
    (data_dir / "assistants" / "pm.json").unlink()
    model = {"provider": "ollama", "model": "ollama-wire"}
    write_assistant(data_dir, "engineer", name="Backend Engineer", **model)
    write_assistant(data_dir, "writer", description="Writes backend code.", **model)
    steps = [
        {"id": "fix", "name": "Fix", "role": "BE", "prompt": "Fix it."},
        {"id": "look", "name": "Look", "role": "QA", "prompt": "Look.", "assistant": "arch", "mine": 7},
        {"id": "ship", "name": "Ship", "role": "PM", "prompt": "Ship it.", "depends_on": ["fix", "look"]},
    ]
    (data_dir / "workflows").mkdir(parents=True, exist_ok=True)
    document = {"version": 1, "id": "ship", "name": "Ship", "steps": steps}
    (data_dir / "workflows" / "ship.json").write_text(json.dumps(document), encoding="utf-8")
    for server in crew.servers.values():
        server.script(server.model, lambda _request: Answer("Here.\n\n[STEP_COMPLETE]\nstatus: done"))
    done = moot("workflow", "Ship the door.", "--definition", "ship", "--lang", language, seconds=90)
    assert (done.status, done.err) == (0, line)
    session_id = next(part for part in done.out.split() if len(part) == 26 and part.isalnum())
    assert {one: names[0] for one, names in who(session_id).items()} == {
        "fix": "engineer",
        "look": "arch",
        "ship": "role-pm",
    }
    assert [one["assistant"] for one in shown(session_id)["workflow"]["steps"]] == ["", "arch", ""]
    document["steps"][0]["assistant"] = "Nobody"  # type: ignore[index]
    (data_dir / "workflows" / "ship.json").write_text(json.dumps(document), encoding="utf-8")
    refused = moot("workflow", "Ship it.", "--definition", "ship", "--lang", "en", "--json")
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "no assistant “Nobody” that is enabled (steps[0].assistant)" in refused.err
