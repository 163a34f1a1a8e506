"""All work in the terminal, of every kind, against local servers: asked, answered, running elsewhere, killed."""

from pathlib import Path
from typing import Any

import pytest

from tests.stories import every_kind
from tests.stories.every_kind import KINDS, Kind, furnish
from tests.stories.processes import Running, moot
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

FIELDS = {
    "id", "kind", "title", "state", "needs", "action", "who", "says", "since", "seconds", "cost_usd", "limits",
    "reason_code", "files", "criteria",
}  # fmt: skip


def work(*options: str) -> list[dict[str, Any]]:
    """Return the rows of `moot work --json`."""
    done = moot("work", "--json", *options)
    assert (done.status, done.err) == (0, "")
    rows: list[dict[str, Any]] = done.json
    assert all(set(row) == FIELDS for row in rows)
    return rows


@pytest.mark.timeout(300)
def test_what_runs_in_another_process_is_told_and_what_was_killed_with_it(
    wire_home: dict[str, WireServer],
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    furnish(data_dir, wire_home)
    assert moot("work", "--lang", "en").out == "Nothing runs, waits or needs you.\n"
    begun: dict[str, Kind] = {}
    # A group asks before it has written a word.
    for kind in (one for one in KINDS if one.name != "group"):
        monkeypatch.setattr(every_kind, "PIECE_S", 1.0)
        with Running(*kind.command, "--json") as running:
            running.event("message.delta")
            [row] = [one for one in work() if one["state"] == "running"]
            assert (row["id"], row["action"], row["needs"]) == (running.session_id, "open", ""), kind.name
            assert row["says"].endswith("is writing") and row["who"], kind.name
            running.kill()
        begun[running.session_id] = kind
        [row] = [one for one in work() if one["id"] == running.session_id]
        assert (row["state"], row["says"], row["action"]) == ("stopped", "Moot was closed", "resume"), (
            kind.name
        )
        assert row["reason_code"] == "restart"
    monkeypatch.setattr(every_kind, "PIECE_S", 0.0)
    for session_id in begun:
        assert moot("resume", session_id, "--json", seconds=90).status == 0
    assert work() == []
    done = {row["kind"]: (row["state"], row["says"]) for row in work("--all")}
    completed = ("done", "Completed")
    assert done == {"debate": completed, "workflow": completed}, "in a chat it is the user's turn"


def test_a_group_that_asks_needs_the_user_until_it_is_answered(
    wire_home: dict[str, WireServer],
    data_dir: Path,
) -> None:
    furnish(data_dir, wire_home)
    asked = moot("ask", "crew", "Make it.", "--json")
    assert asked.status == 3
    [row] = work()
    assert (row["state"], row["needs"], row["action"]) == ("needs_you", "answer", "answer")
    assert row["says"] == "Orchestrator asks: Which colour?" and row["who"] == ["Orchestrator"]
    assert row["limits"] == {"minutes": 30, "calls": 100, "usd": 2.0}
    assert "Orchestrator의 질문: Which colour?" in moot("work", "--lang", "ko").out
    line = moot("work", "--lang", "en").out
    assert line.startswith(row["id"]) and "Needs you" in line and "Make it." in line
    assert moot("reply", row["id"], "Blue", "--json", seconds=90).status == 0
    assert work() == []
    [done] = work("--all")
    assert (done["state"], done["says"]) == ("done", "Completed")
