"""SIGKILL at random moments of a debate, a chat, a group and a workflow: nothing acknowledged is lost.

`MOOT_TIMES=42 pytest tests/stories/test_every_kind_killed.py -s` kills 504 times and prints a line a session.
"""

import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.repeats import repeats
from tests.stories.every_kind import KINDS, Kind, acknowledged, check_kept, furnish, next_command, show
from tests.stories.processes import Running, children_of, look, wait_until_gone
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

KILLS = repeats(12)
SEED = int(os.environ.get("MOOT_KILLS_SEED", "1"))
# Killed so long after the start at the latest, or after the first word of a model: both parts count.
STARTING_S = 2.0
SPEAKING_S = 1.0


class Life:
    """One session that is begun, killed and gone on with until it is over."""

    def __init__(self, kind: Kind, randomly: random.Random) -> None:
        self._kind = kind
        self._randomly = randomly
        self._earlier = _sessions()
        self._told: dict[str, dict[str, Any]] = {}
        self._session_id = ""
        self.killed = 0
        self.over = False

    def go_on(self, *, kill: bool) -> None:
        """Begin or go on, perhaps be killed; then check what is on the disk."""
        command = next_command(show(self._session_id)) if self._session_id else self._kind.command
        with Running(*command, "--json") as running:
            if kill:
                speaks = self._randomly.random() < 0.7
                if speaks:
                    running.wait_for(lambda: any("message.delta" in line for line in running.lines))
                time.sleep(self._randomly.uniform(0, SPEAKING_S if speaks else STARTING_S))
                children = children_of(running.pid)
                running.kill_alone()
                assert wait_until_gone(children) == []
            done = running.finish(90)
        assert done.status in {0, 3} or (kill and done.status < 0), (command, done.status, done.err)
        self.killed += done.status < 0
        self._told |= acknowledged(done.events)
        for event in done.events:
            self._session_id = self._session_id or str(event["session_id"])
        if not self._session_id:
            # It may have been killed after the session was written and before it was told.
            new = _sessions() - self._earlier
            assert len(new) <= 1
            self._session_id = new.pop() if new else ""
        if self._session_id:
            shown = show(self._session_id)
            check_kept(shown, self._told)
            self.over = shown["status"] in self._kind.over
            if self.over:
                self._kind.check(shown)


def _sessions() -> set[str]:
    return {one["id"] for one in look("sessions", "--json").json}


@pytest.mark.slow
@pytest.mark.timeout(300 + KILLS * 20)
def test_killed_at_random_moments(wire_home: dict[str, WireServer], data_dir: Path) -> None:
    furnish(data_dir, wire_home)
    randomly = random.Random(SEED)
    kills: Counter[str] = Counter()
    lives: Counter[str] = Counter()
    began = time.monotonic()
    while sum(kills.values()) < KILLS:
        kind = min(KINDS, key=lambda one: kills[one.name])
        life = Life(kind, randomly)
        while not life.over:
            life.go_on(kill=sum(kills.values()) + life.killed < KILLS and randomly.random() < 0.9)
        kills[kind.name] += life.killed
        lives[kind.name] += 1
        print(dict(kills), dict(lives), f"{time.monotonic() - began:.0f} s", flush=True)
    requests = [one for server in wire_home.values() for one in server.requests]
    assert [one.refused for one in requests if one.refused] == []
