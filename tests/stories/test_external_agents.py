"""External agents in a debate: two of them and a model of an API, also where the agent, its host or Moot is killed."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from app.children.processes import living
from tests.providers.external import AGENT, all_below, parent_of, told
from tests.repeats import slow_after
from tests.stories.processes import Running, look, moot, wait_until_gone
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

TOPIC = "Should cities ban private cars?"


def add(does: str, journal: Path) -> str:
    """Add a tiny agent with the user's consent; return its id."""
    line = shlex.join([sys.executable, str(AGENT), f"--{does}", f"--journal={journal}"])
    done = moot("agents", "add", line, "--yes", "--json")
    assert done.status == 0, done.err
    return str(done.json["id"])


def three(first: str, second: str) -> tuple[str, ...]:
    return (
        *("-p", f"Ann={first}/default"),
        *("-p", f"Ben={second}/default"),
        *("-p", "GPT=openai/openai-wire"),
    )


def statements(session_id: str) -> list[tuple[str, int]]:
    shown = look("show", session_id, "--json").json
    return [(one["author"]["name"], one["round"]) for one in shown["messages"] if one["state"] == "done"]


ALL = [(name, number) for number in (1, 2) for name in ("Ann", "Ben", "GPT")]


def test_two_external_agents_and_a_model_debate_to_the_end(
    wire_home: dict[str, WireServer], tmp_path: Path
) -> None:
    agents = add("say", tmp_path / "ann"), add("no-ids", tmp_path / "ben")
    done = moot("debate", TOPIC, *three(*agents), "--rounds", "2", "--json", seconds=90)
    assert (done.status, done.err) == (0, "")
    session_id = done.events[0]["session_id"]
    assert statements(session_id) == ALL
    for name, others in (("ann", "Said without ids."), ("ben", "I say this.")):
        prompts = [one["text"] for one in told(tmp_path / name, "prompt")]
        assert len(prompts) == 2 and TOPIC in prompts[0] and others in prompts[1]
        pids = {one["pid"] for one in told(tmp_path / name)}
        assert len(pids) == 1 and not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert len(wire_home["openai"].requests) == 2


def test_external_agents_vote_in_their_own_words_and_do_not_judge(
    wire_home: dict[str, WireServer], tmp_path: Path
) -> None:
    def reply(request: Recorded) -> str:
        text = request.messages[-1].text
        letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
        if "You judge a question" in text:
            return json.dumps({"choice": letters["Yes"], "confidence": 80})
        vote = {"choice": letters.get("No"), "text": "", "confidence": 70, "moved_by": []}
        return json.dumps(vote) if "secret ballot" in text else "Rather not."

    for model in wire_home["openai"].models:
        wire_home["openai"].script(model, reply)
    agents = add("vote", tmp_path / "ann"), add("say", tmp_path / "ben")
    done = moot(
        "debate",
        TOPIC,
        *three(*agents),
        "--rounds",
        "1",
        "--ballots",
        "rounds",
        "--verdict",
        "--json",
        seconds=90,
    )
    assert done.status == 0, done.err
    prompts = {name: [one["text"] for one in told(tmp_path / name, "prompt")] for name in ("ann", "ben")}
    # A vote before and after the statement; one that names no option is asked for once more.
    assert [sum("secret ballot" in one for one in prompts[name]) for name in prompts] == [2, 4]
    assert [len(prompts[name]) for name in prompts] == [3, 5]
    assert not any("You judge a question" in one for texts in prompts.values() for one in texts)
    shown = look("show", done.events[0]["session_id"], "--json").json
    names = {one["id"]: one["name"] for one in shown["debate"]["participants"]}
    decision = shown["decision"]
    texts = {one["id"]: one["text"] for one in decision["options"]}
    votes = [
        (one["round"], names[one["participant"]], texts.get(one["choice"], "")) for one in decision["ballots"]
    ]
    assert votes == [(0, "Ann", "Yes"), (0, "Ben", ""), (0, "GPT", "No"), (1, "Ann", "Yes"), (1, "GPT", "No")]
    assert [names[one] for one in decision["outcome"]["unread"]] == ["Ben"]
    # The votes are a tie, which the judge breaks: a model of the provider that may be asked.
    assert decision["outcome"]["judge"].startswith("openai/") and len(decision["readings"]) == 2
    assert texts[decision["outcome"]["headline"]] == "Yes"


@pytest.mark.parametrize("victim", slow_after(1, [("agent",), ("host",), ("moot",)]))
def test_a_debate_goes_on_after_a_kill_and_nothing_is_left(
    wire_home: dict[str, WireServer], tmp_path: Path, victim: str
) -> None:
    journal = tmp_path / "ben"
    agents = add("say", tmp_path / "ann"), add("orphan", journal)
    with Running("debate", TOPIC, *three(*agents), "--rounds", "2", "--json") as running:
        session_id = running.session_id
        running.wait_for(lambda: bool(told(journal, "orphan")), 60)
        [start] = told(journal, "start")
        orphan = int(told(journal, "orphan")[0]["text"])
        everything = all_below(running.pid)
        assert {start["pid"], orphan} <= {pid for pid, _ in everything}
        if victim == "moot":
            running.kill_alone()
            running.wait_for(lambda: not living(everything), 30)
            running.finish(30)
        else:
            os.kill(start["pid"] if victim == "agent" else parent_of(start["pid"]), signal.SIGKILL)
            running.wait_for(lambda: orphan not in {pid for pid, _ in living(everything)}, 30)
            running.finish(90)
    if victim == "moot":
        assert moot("resume", session_id, "--json", seconds=90).status == 0
    # An answer that broke off stays as it is until the user asks for another one, as a model's does.
    assert statements(session_id) == (ALL if victim == "moot" else [one for one in ALL if one != ("Ben", 1)])
    assert look("show", session_id, "--json").json["status"] == "completed"
    assert len(told(tmp_path / "ann", "prompt")) == 2
    # Only Moot's own end has a turn asked again, and no other than the one that was cut.
    assert len(told(journal, "prompt")) == (3 if victim == "moot" else 2)
    assert len(wire_home["openai"].requests) == 2
    assert not living(everything)


def begin_work(does: str, journal: Path, folder: Path, data_dir: Path) -> Running:
    """Let an agent begin to work in a folder; return the command in which it does."""
    agent = {"id": "worker", "name": "Worker", "provider": add(does, journal), "model": "default"}
    (data_dir / "assistants").mkdir(exist_ok=True)
    (data_dir / "assistants" / "worker.json").write_text(json.dumps({**agent, "folder": str(folder)}))
    asked = moot("ask", "worker", "Write the notes.", "--json")
    assert asked.status == 3 and not told(journal)
    return Running("reply", asked.events[0]["session_id"], "forever", "--json")


@pytest.mark.parametrize(
    "victim",
    [pytest.param("agent", marks=pytest.mark.slow), pytest.param("host", marks=pytest.mark.slow), "moot"],
)
def test_work_goes_on_after_a_kill_and_nothing_is_left(data_dir: Path, tmp_path: Path, victim: str) -> None:
    journal = tmp_path / "journal"
    with begin_work("shell", journal, tmp_path, data_dir) as running:
        running.wait_for(lambda: bool(told(journal, "orphan")), 60)
        session_id = running.event("tool.started")["session_id"]
        [start] = told(journal, "start")
        everything = all_below(running.pid)
        assert int(told(journal, "orphan")[0]["text"]) in {pid for pid, _ in everything}
        if victim == "moot":
            running.kill_alone()
        else:
            os.kill(start["pid"] if victim == "agent" else parent_of(start["pid"]), signal.SIGKILL)
        running.finish(60)
    assert wait_until_gone([pid for pid, _ in everything if pid != running.pid], 30) == []
    shown = look("show", session_id, "--json").json
    if victim == "moot":
        # What it was doing may have been done: the user is asked before it goes on.
        resumed = moot("resume", session_id, "--json")
        assert resumed.status == 3
        shown = look("show", session_id, "--json").json
        assert [one["prompt"]["reason"] for one in shown["messages"] if one.get("prompt")][
            -1
        ] == "may_have_run"
    else:
        assert [one["error"]["kind"] for one in shown["messages"] if one.get("error")] == ["interrupted"]
    assert len(told(journal, "prompt")) == 1


@pytest.mark.slow
def test_a_request_of_an_agent_that_was_killed_with_moot_is_not_open_any_more(
    data_dir: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    with begin_work("edit", journal, tmp_path, data_dir) as running:
        session_id = running.event("prompt.asked")["session_id"]
        running.kill_alone()
        running.finish(60)
    refused = moot("reply", session_id, "allow", "--lang", "en")
    assert refused.status != 0 and not (tmp_path / "notes.txt").exists()
    assert moot("resume", session_id, "--json").status == 3
    shown = look("show", session_id, "--json").json
    reasons = [one["prompt"]["reason"] for one in shown["messages"] if one.get("prompt")]
    assert reasons == ["agent_works", "agent_asks", "may_have_run"]
