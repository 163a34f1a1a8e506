"""bug-fix and feature-request on four wires, from the command line: side by side, refused, failed, killed."""

import json
import os
import re
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.stories.group_crew import heard, write_assistant
from tests.stories.processes import Running, look, moot, session_of, shown
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

ROLES = {
    "po": ("Product Owner", "openai"),
    "pm": ("PM", "openai"),
    "designer": ("Designer", "gemini"),
    "arch": ("Architect", "anthropic"),
    "fred": ("FE", "gemini"),
    "bea": ("Backend", "ollama"),
    "tess": ("QA", "openai"),
}
CHOICE = "Which of these kinds of work"
BUG_FIX = ("Reproduce", "Find the cause", "Fix the front end", "Fix the back end", "Verify")
FEATURE = ("Define", "Design", "Architecture", "Front end", "Back end", "Test", "Release")


class Crew:
    """The servers and what they answer: each step's text once it is asked for, or a fault first."""

    def __init__(self, servers: dict[str, WireServer]) -> None:
        self.servers = servers
        self.faults: dict[str, list[Fault]] = {}
        self.pace = 0.0
        self.delay = 0.0
        self.kind = ""
        for server in servers.values():
            server.script(server.model, self._answer)

    def _answer(self, request: Recorded) -> Answer | Fault:
        if CHOICE in heard(request):
            return Answer(self.kind)
        step = step_of(request)
        if self.faults.get(step):
            return self.faults[step].pop(0)
        text = (
            f"{step} it is, see [notes](http://notes).\n\n[STEP_COMPLETE]\nartifacts: {step}.md\nstatus: done"
        )
        return Answer(text, pace=self.pace, pieces=8, delay=self.delay)

    @property
    def requests(self) -> list[Recorded]:
        return [one for server in self.servers.values() for one in server.requests]

    def asked(self) -> Counter[str]:
        return Counter(step_of(one) for one in self.requests if CHOICE not in heard(one))


def step_of(request: Recorded) -> str:
    """Return the name of the step a request is for."""
    found = re.search('one step of a larger task: "(.+?)"', heard(request))
    assert found, heard(request)
    return found[1]


@pytest.fixture
def crew(wire_home: dict[str, WireServer], data_dir: Path) -> Crew:
    """Somebody for each role, on four wires."""
    for agent_id, (role, provider) in ROLES.items():
        write_assistant(data_dir, agent_id, role=role, provider=provider)
    return Crew(wire_home)


def check_end(document: dict[str, Any], names: tuple[str, ...]) -> None:
    """Every step is done by its own words, each attempt has one result, and nothing is there twice."""
    assert document["status"] == "completed"
    steps = document["workflow"]["steps"]
    assert [(one["name"], one["state"], one["artifacts"]) for one in steps] == [
        (name, "done", f"{name}.md") for name in names
    ]
    messages = document["messages"]
    assert len({one["id"] for one in messages}) == len(messages)
    calls = [made["id"] for one in messages for made in one["tool_calls"]]
    results = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
    assert len(set(calls)) == len(calls)
    assert sorted(results) == sorted(calls)
    said = Counter(
        one["content"].split(" it is")[0]
        for one in messages
        if one["role"] == "assistant" and one["state"] == "done" and one["content"]
    )
    assert said == Counter(names)


@pytest.mark.timeout(150)
def test_a_model_chooses_where_no_word_says_which_workflow(crew: Crew) -> None:
    crew.kind = "bug-fix입니다."
    done = moot("workflow", "Nobody gets in since noon", "--json", seconds=90)
    assert (done.status, done.err) == (0, "")
    assert sum(CHOICE in heard(one) for one in crew.requests) == 1
    check_end(shown(session_of(done)), BUG_FIX)
    crew.kind = "none"
    asked = moot("workflow", "Hello there", "--json", seconds=60)
    assert asked.status != 0
    assert "bug-fix" in asked.err and "feature-request" in asked.err


@pytest.mark.slow
@pytest.mark.corpus(63)
@pytest.mark.timeout(150)
@pytest.mark.own_host  # Its process group is stopped whole.
def test_it_carries_on_after_the_computer_slept(crew: Crew) -> None:
    crew.pace = 0.1
    with Running("workflow", "Fix the login loop", "--json") as running:
        running.event("message.delta", seconds=60)
        # Long enough for the answer on its way to end while nobody listens.
        os.killpg(running.pid, signal.SIGSTOP)
        time.sleep(3)
        os.killpg(running.pid, signal.SIGCONT)
        crew.pace = 0.0
        done = running.finish(90)
    assert (done.status, done.err) == (0, "")
    check_end(shown(session_of(done)), BUG_FIX)
    assert crew.asked() == dict.fromkeys(BUG_FIX, 1)


@pytest.mark.timeout(150)
def test_a_429_is_waited_out_and_a_step_that_failed_is_retried(crew: Crew) -> None:
    crew.delay = 0.5
    crew.faults = {
        "Fix the front end": [Fault("rate429", retry_after=1)],
        "Fix the back end": [Fault("e401")] * 3,
    }
    done = moot("workflow", "Fix the login loop", "--json", seconds=90)
    assert (done.status, done.err) == (4, "")
    session_id = session_of(done)
    steps = {one["id"]: (one["state"], one["reason"]) for one in shown(session_id)["workflow"]["steps"]}
    assert steps == {
        "reproduce": ("done", ""),
        "analyse": ("done", ""),
        "fix-frontend": ("done", ""),
        "fix-backend": ("failed", "authentication"),
        "verify": ("pending", ""),
    }
    changed = [(one["step_id"], one["state"]) for one in done.events if one["event"] == "step.changed"]
    assert ("fix-backend", "failed") in changed
    assert any(one["event"] == "availability.changed" for one in done.events)
    reads = look("show", session_id, "--lang", "en").out
    assert (
        "[failed] Fix the back end (fix-backend, BE) · Bea · The provider does not accept the key." in reads
    )
    assert f"moot step {session_id} fix-backend retry" in reads
    crew.faults.clear()
    again = moot("step", session_id, "fix-backend", "retry", "--json", seconds=60)
    assert (again.status, again.err) == (0, "")
    document = shown(session_id)
    messages = document["messages"]
    failed = [one for one in messages if one["role"] == "tool" and one["state"] == "failed"]
    assert [one["tool_call_id"] for one in failed] == ["fix-backend.1"]
    check_end(document, BUG_FIX)
    assert crew.asked() == Counter(
        {"Reproduce": 1, "Find the cause": 1, "Fix the front end": 2, "Fix the back end": 2, "Verify": 1}
    )
    front, back = (next(one for one in crew.requests if step_of(one) == name) for name in BUG_FIX[2:4])
    assert abs(front.at - back.at) < 5, "the two fixes wait for each other"
    assert [one.refused for one in crew.requests if one.refused] == []
    exported = look("export", session_id, "--format", "md").out
    assert "- Workflow: Bug fix" in exported
    assert "- Fix the back end (BE) · done · Bea · Fix the back end.md" in exported
    assert (
        "<li>Fix the back end (BE) · done · Bea · Fix the back end.md</li>"
        in look("export", session_id, "--format", "html").out
    )


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_workflows_side_by_side_killed_in_the_middle_come_to_their_ends(crew: Crew) -> None:
    crew.pace = 0.1
    with Running("workflow", "Fix the login loop", "--json") as first:
        bug = first.session_id
        with Running("workflow", "Add dark mode", "--json") as second:
            feature = second.session_id

            def done(running: Running) -> set[str]:
                return {
                    one["step_id"]
                    for one in running.events
                    if one["event"] == "step.changed" and one["state"] == "done"
                }

            assert first.wait_for(lambda: len(done(first)) >= 2, 60)
            assert second.wait_for(lambda: len(done(second)) >= 1, 60)
            first.kill()
            first.finish(10)
            assert second.finish(20).status == 4
            ended = {bug: done(first), feature: done(second)}
    before = crew.asked()
    for session_id, names in ((bug, BUG_FIX), (feature, FEATURE)):
        document = shown(session_id)
        assert (document["status"], document["reason"]) == ("paused", "app_restart")
        steps = document["workflow"]["steps"]
        kept = {one["name"] for one in steps if one["state"] == "done"}
        assert {one["id"] for one in steps if one["state"] == "done"} >= ended[session_id]
        resumed = moot("resume", session_id, "--json", seconds=90)
        assert (resumed.status, resumed.err) == (0, "")
        check_end(shown(session_id), names)
        assert all(crew.asked()[name] == before[name] for name in kept), "a step that was done ran again"
    assert max(crew.asked().values()) <= 2
    assert set(crew.asked()) == {*BUG_FIX, *FEATURE}
    assert [one.refused for one in crew.requests if one.refused] == []


def test_what_cannot_run_is_said_in_one_line(crew: Crew, data_dir: Path) -> None:
    crew.servers["openai"].script("openai-wire", lambda _request: Answer('{"id": "none"}'))
    unclear = moot("workflow", "Sing a song", "--lang", "en")
    assert (unclear.status, unclear.err.count("\n")) == (2, 1)
    assert "bug-fix, feature-request" in unclear.err
    for typed, words in (
        (("workflow", "Fix it", "--definition", "nothing"), "no workflow “nothing”"),
        (("workflow", "   "), ""),
        (("step", "01m805kmw2bf1fxxf0v2q0jb90", "verify", "retry"), "01m805kmw2bf1fxxf0v2q0jb90"),
        (("step", "../x", "verify", "retry"), "../x"),
        (("step", "01m805kmw2bf1fxxf0v2q0jb90", "verify", "dance"), "dance"),
    ):
        refused = moot(*typed, "--lang", "en")
        assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1), refused.err
        assert words in refused.err


@pytest.mark.corpus(52, 53)
def test_a_faulty_definition_is_named_by_file_and_field_and_never_hangs(data_dir: Path) -> None:
    def step(step_id: str, *after: str, **fields: object) -> dict[str, object]:
        values = {"id": step_id, "name": step_id, "role": "QA", "prompt": "Do it.", "depends_on": after}
        return values | fields

    faulty: dict[str, tuple[object, str]] = {
        "cycle": ([step("a", "c"), step("b", "a"), step("c", "b")], "steps[1].depends_on"),
        "itself": ([step("a", "a")], "steps[0].depends_on"),
        "empty": ([], "steps"),
        "twice": ([step("a"), step("a")], "steps[1].id"),
        "unknown": ([step("a", "z")], "steps[0].depends_on"),
        "text": ("steps", "steps"),
        "number": ([7], "steps[0]"),
        "types": ([step("a", depends_on="b", prompt=3)], "steps[0].prompt"),
        "nothing": (None, "steps"),
    }
    folder = data_dir / "workflows"
    folder.mkdir(parents=True)
    for name, (steps, _) in faulty.items():
        document = {"version": 1, "id": name, "name": name, "steps": steps}
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    for length in (2_000, 5_000):
        chain = [step("s0"), *(step(f"s{n}", f"s{n - 1}") for n in range(1, length))]
        document = {"id": f"chain-{length}", "name": f"Chain {length}", "steps": chain}
        (folder / f"chain-{length}.json").write_text(json.dumps(document))
    ring = [step(f"s{n}", f"s{(n - 1) % 5_000}") for n in range(5_000)]
    (folder / "ring.json").write_text(json.dumps({"id": "ring", "name": "Ring", "steps": ring}))
    wizard = {"id": "wizard", "name": "Wizard", "steps": [step("a", role="Wizard")]}
    (folder / "wizard.json").write_text(json.dumps(wizard), encoding="utf-8")
    rows = moot("doctor", "--lang", "en", "--json", seconds=60).json
    files = [one["found"] for one in rows if one["check"] == "files" and not one["ok"]]
    for name, (_, field) in faulty.items():
        assert any(f"{name}.json" in line and f"{field}:" in line for line in files), (name, files)
    assert any("ring.json" in line for line in files) or any("ring" in one["found"] for one in rows)
    found = {one["found"]: one for one in rows if one["check"] == "workflow"}
    assert found["Chain 2000 (chain-2000): 2000 steps"]["ok"]
    assert any("chain-5000.json" in line and "2000" in line for line in files)
    assert "Wizard" in found["Wizard (wizard): 1 step"]["remedy"]
    assert "{" not in "".join(files)
    refused = moot("workflow", "Go", "--definition", "wizard", "--lang", "en")
    assert (refused.status, refused.out) == (2, "")
    assert "Wizard" in refused.err.splitlines()[-1]
