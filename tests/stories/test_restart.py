"""SIGKILL at random moments of a debate: nothing acknowledged is lost, no turn twice, none skipped.

`MOOT_TIMES=50 pytest tests/stories/test_restart.py -k chain -s` kills 200 times and prints a line a debate.
"""

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from tests.repeats import repeats
from tests.stories.processes import Running, children_of, look, moot, wait_until_gone
from tests.wire import Answer, WireServer, write_providers

pytestmark = pytest.mark.own_host
KILLS = repeats(4)
SEED = int(os.environ.get("MOOT_KILLS_SEED", "1"))
ROUNDS = 10
TWO = ("-p", "Ann=openai/openai-wire", "-p", "지민=openai/openai-other")
STARTING_S = 2.0
SPEAKING_S = 1.5


@pytest.fixture
def server(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    with WireServer("openai") as server:
        for name, value in write_providers(data_dir, [server]).items():
            monkeypatch.setenv(name, value)
        for model in server.models:
            server.script(model, lambda _request: Answer("one two three four five six seven", pace=0.02))
        yield server


class Chain:
    """One debate that is started, killed and resumed until it is done."""

    def __init__(self, randomly: random.Random, earlier: set[str]) -> None:
        self._randomly = randomly
        self._earlier = earlier
        self.session_id = ""
        self.acknowledged: dict[str, dict[str, Any]] = {}
        self.done = False
        self._children: list[int] = []

    def live_once(self, *, kill: bool, alone: bool) -> bool:
        """Start or resume; kill it at a random moment. Return whether it was killed while it ran."""
        if self.session_id:
            command = ("resume", self.session_id)
        else:
            command = ("debate", "Which came first?", *TWO, "--rounds", str(ROUNDS))
        with Running(*command, "--json") as running:
            children: list[int] = []
            if kill:
                speaks = self._randomly.random() < 0.5
                if speaks:
                    running.wait_for(lambda: any("message.delta" in line for line in running.lines), 60)
                time.sleep(self._randomly.uniform(0, SPEAKING_S if speaks else STARTING_S))
                children = children_of(running.pid)
                running.kill_alone() if alone else running.kill()
            status = running.finish(90).status
            killed = status < 0
            assert killed or status == 0, running.errors
            self._children += children
            self._note(running.events)
        self.done = not killed
        return killed

    def check(self) -> None:
        """Look at what is on the disk, as another command shows it."""
        if not self.session_id:
            new = {one["id"] for one in look("sessions", "--json").json} - self._earlier
            assert len(new) <= 1
            if not new:
                return
            # It was killed after the session was written and before it could say so.
            self.session_id = new.pop()
        shown = look("show", self.session_id, "--json")
        assert (shown.status, shown.err) == (0, "")
        session = shown.json
        messages = {message["id"]: message for message in session["messages"]}
        assert len(messages) == len(session["messages"])
        for message_id, message in self.acknowledged.items():
            assert messages[message_id] == message
        finished = [
            message
            for message in session["messages"]
            # The running notes are no turn.
            if message["state"] == "done" and message["role"] != "summary"
        ]
        turns = [(message["round"], message["author"]["name"]) for message in finished]
        assert (
            turns
            == [(number, name) for number in range(1, ROUNDS + 1) for name in ("Ann", "지민")][: len(turns)]
        )
        # It may have been killed after the last word and before its own end.
        self.done = self.done or session["status"] == "completed"
        if self.done:
            assert session["status"] == "completed"
            assert len(turns) == 2 * ROUNDS
            assert wait_until_gone(self._children) == []
        else:
            assert session["status"] == "paused"
            assert not any(message["state"] == "streaming" for message in session["messages"])

    def _note(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            self.session_id = self.session_id or event["session_id"]
            if event["event"] == "message.finished":
                self.acknowledged[event["message"]["id"]] = event["message"]


def run_chains(kills: int, seed: int) -> None:
    """Kill that many times, in as many debates as it takes; print how it stands after each debate."""
    randomly = random.Random(seed)
    began, killed, records = time.monotonic(), 0, 0
    sessions: set[str] = set()
    while killed < kills:
        chain = Chain(randomly, set(sessions))
        while not chain.done:
            killed += chain.live_once(kill=killed < kills, alone=randomly.random() < 0.3)
            chain.check()
        sessions.add(chain.session_id)
        records += len(chain.acknowledged)
        seconds = time.monotonic() - began
        print(
            f"kills {killed}, debates {len(sessions)}, acknowledged {records},"
            f" lost 0, twice 0, skipped 0, {seconds:.0f} s",
            flush=True,
        )


def test_killed_in_the_middle_of_a_word(server: WireServer) -> None:
    """The shortest form of the chain: one kill while somebody speaks, with the model host left alone."""
    with Running("debate", "Which came first?", *TWO, "--rounds", "2", "--json") as running:
        running.event("message.finished")
        children = children_of(running.pid)
        running.kill_alone()
        killed = running.finish(10)
    assert wait_until_gone(children, 5) == []
    told = [event["message"] for event in killed.events if event["event"] == "message.finished"]
    session_id = killed.events[0]["session_id"]
    assert look("sessions", "--json").json[0]["status"] == "paused"
    resumed = moot("resume", session_id, "--json")
    assert (resumed.status, resumed.err) == (0, "")
    shown = look("show", session_id, "--json").json
    assert shown["messages"][: len(told)] == told
    done = [message for message in shown["messages"] if message["state"] == "done"]
    assert [(one["round"], one["author"]["name"]) for one in done] == [
        (1, "Ann"), (1, "지민"), (2, "Ann"), (2, "지민"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(60 + KILLS * 40)
def test_chain_of_kills(server: WireServer) -> None:
    run_chains(KILLS, SEED)
