"""Schedules in the terminal and in the background, against a local server: what is due runs, and a kill runs nothing twice."""

import json
import signal
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.stories import every_kind
from tests.stories.every_kind import furnish
from tests.stories.group_crew import write_assistant
from tests.stories.processes import Running, here, look, moot, shown
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

ASK = ("--", "ask", "keeper", "--effort", "low", "Keep my list.")
DAILY = ("schedule", "add", "Morning list", "--every", "day", "--time", "08:00", *ASK)


def runs(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = look("schedule", "runs", name, "--json").json
    return found


def test_a_schedule_is_made_run_paused_and_removed(wire_home: dict[str, WireServer], data_dir: Path) -> None:
    furnish(data_dir, wire_home)
    made = here("schedule", "add", "--json", *DAILY[2:]).json
    assert made | {"next": ""} == {
        "id": "morning-list", "name": "Morning list", "missed": "run", "reason": "", "state": "active", "next": "",
        "command": ["ask", "keeper", "--effort", "low", "Keep my list."],
    }  # fmt: skip
    due = datetime.fromisoformat(made["next"])
    assert (due.hour, due.minute) == (8, 0) and timedelta(0) < due - datetime.now(due.tzinfo) <= timedelta(
        days=1
    )
    done = moot("schedule", "run", "morning LIST", "--json")
    (ran,) = done.json
    assert (done.status, ran["state"], ran["reason"]) == (0, "ran", "")
    session = shown(ran["session_id"])
    assert session["messages"][0]["content"] == "Keep my list."
    assert here("schedule", "pause", "Morning list", "--json").json["state"] == "paused"
    (row,) = [each for each in here("work", "--json").json if each["kind"] == "schedule"]
    assert (row["state"], row["title"]) == ("stopped", "Morning list")
    assert here("schedule", "resume", "Morning list", "--json").json["state"] == "active"
    (row,) = [each for each in here("work", "--json").json if each["kind"] == "schedule"]
    assert (row["state"], row["action"]) == ("scheduled", "edit")
    assert here("schedule", "remove", "Morning list").status == 0
    assert look("schedule", "--json").json == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (DAILY, "already a schedule"),
        (("schedule", "add", "Other", "--every", "day", "--time", "08:00", "--", "keys", "set", "openai"), "one of these commands"),
        (("schedule", "add", "Other", "--every", "day", "--time", "08:00", "--", "ask", "Nobody", "Hi"), "Nobody"),
        (("schedule", "add", "Other", "--every", "day", "--time", "08:00", "--", "ask", "keeper"), "Missing"),
        (("schedule", "add", "Other", "--every", "week", "--time", "08:00", *ASK), "--on"),
        (("schedule", "add", "Other", "--at", "2020-01-01T08:00", *ASK), "lies ahead"),
        (("schedule", "runs", "Other"), "no schedule"),
        *((("schedule", "add", "Other", "--every", "day", "--time", time, *ASK), "is no time") for time in ("0800", "8", "08:00:30")),
        (("schedule", "add", "Other", "--at", "9999-12-31T23:59", *ASK), "is no time"),
        (("schedule", "add", "Other", "--at", "0001-01-01T00:00+14:00", *ASK), "is no time"),
        (("schedule", "add", "Other", "--every", "month", "--time", "08:00", "--on", "9" * 5_000, *ASK), "--on"),
        (("schedule", "add", "Other", "--every", "day", "--time", "08:00", "--", "ask", "keeper", "Hi", "--session", "x"), "session of its own"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused(
    wire_home: dict[str, WireServer], data_dir: Path, arguments: tuple[str, ...], said: str
) -> None:
    furnish(data_dir, wire_home)
    assert here(*DAILY).status == 0
    done = moot(*arguments)
    assert (done.status, done.out) == (2, "") and said in done.err
    assert [each["name"] for each in look("schedule", "--json").json] == ["Morning list"]


def test_who_was_named_is_asked_also_under_a_new_name(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    furnish(data_dir, wire_home)
    by_name = ("--every", "day", "--time", "08:00", "--", "ask", "KEEPER", "Keep my list.")
    assert here("schedule", "add", "By name", *by_name).status == 0
    write_assistant(data_dir, "keeper", name="Mina", provider="openai", tools=["planning"])
    (ran,) = moot("schedule", "run", "By name", "--json").json
    assert ran["state"] == "ran" and shown(ran["session_id"])["messages"][1]["author"]["id"] == "keeper"
    (data_dir / "assistants" / "keeper.json").unlink()
    (failed, _) = moot("schedule", "run", "By name", "--json").json
    assert (failed["state"], failed["reason"]) == ("failed", "nobody_called")


@pytest.mark.parametrize(
    ("words", "who"),
    [
        (("ask", "keeper", "Hi"), "keeper"),
        (("ask", "--effort", "low", "CREW", "Hi"), "crew"),
        (("workflow", "--definition", "bug fix", "Mend it."), "bug-fix"),
        (("workflow", "Mend it."), ""),
        (("council", "--panel", "our three", "Tabs?"), "our-three"),
        (("debate", "Tabs?"), ""),
    ],
)
def test_whom_a_command_names_is_kept_by_the_id(
    wire_home: dict[str, WireServer], data_dir: Path, words: tuple[str, ...], who: str
) -> None:
    furnish(data_dir, wire_home)
    people = [{"id": name, "name": name, "provider": "openai", "model": "openai-wire"} for name in "abc"]
    panel = {"version": 1, "id": "our-three", "name": "Our three", "participants": people}
    (data_dir / "panels").mkdir()
    (data_dir / "panels" / "our-three.json").write_text(json.dumps(panel), "utf-8")
    assert here("schedule", "add", "S", "--every", "day", "--time", "08:00", "--", *words).status == 0
    assert json.loads((data_dir / "schedules" / "s.json").read_text("utf-8")).get("who", "") == who


def test_what_is_read_later_has_its_full_path(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(data_dir, wire_home)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    words = ("ask", "keeper", "--file", "notes.md", "--in=sub", "--done-means", "sub", "notes.md.")
    made = here("schedule", "add", "Paths", "--every", "day", "--time", "08:00", "--json", "--", *words).json
    whole = ["--file", f"{tmp_path}/notes.md", f"--in={tmp_path}/sub"]
    assert made["command"][2:5] == whole and made["command"][-1] == "notes.md."


def test_what_the_user_interrupts_is_paused_and_noted(
    wire_home: dict[str, WireServer], data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(data_dir, wire_home)
    monkeypatch.setattr(every_kind, "PIECE_S", 1.0)
    assert here(*DAILY).status == 0
    deadline = time.monotonic() + 60
    with Running("schedule", "run", "Morning list", "--json") as running:
        while not (begun := runs("Morning list")) or not begun[0]["session_id"]:
            assert time.monotonic() < deadline
        running.send(signal.SIGINT)
        assert running.finish(30).status == 0
    (run,) = runs("Morning list")
    assert (run["state"], run["reason"]) == ("paused", "by_user")


@pytest.mark.slow
@pytest.mark.own_host
def test_a_run_that_was_killed_is_paused_and_never_begins_again(
    wire_home: dict[str, WireServer], data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(data_dir, wire_home)
    monkeypatch.setattr(every_kind, "PIECE_S", 1.0)
    assert here(*DAILY).status == 0
    with Running("schedule", "run", "Morning list") as running:
        deadline = time.monotonic() + 100
        while not (begun := runs("Morning list")) or not begun[0]["session_id"]:
            assert time.monotonic() < deadline
        assert begun[0]["state"] == "running"
        running.kill()
    with Running("background") as background:
        while runs("Morning list")[0]["state"] == "running":
            assert time.monotonic() < deadline
        background.send(signal.SIGTERM)
        assert background.finish(20).status == 0
    (run,) = runs("Morning list")
    assert (run["state"], run["reason"], run["session_id"]) == (
        "paused",
        "app_restart",
        begun[0]["session_id"],
    )
    assert len(look("sessions", "--json").json) == 1
    monkeypatch.setattr(every_kind, "PIECE_S", 0.0)
    assert moot("resume", run["session_id"], "--json").status == 0
    assert runs("Morning list")[0]["state"] == "ran"


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_is_due_runs_in_the_background_as_at_login(data_dir: Path, home: Path) -> None:
    due = (datetime.now().astimezone() + timedelta(minutes=1, seconds=5)).isoformat(timespec="minutes")
    # The built-in model needs no key, which a terminal has and a login has not.
    soon = ("schedule", "add", "Soon", "--at", due, "--", "debate", "Tabs or spaces?", "--rounds", "1")
    assert here(*soon).status == 0
    installed = moot("background", "install", "--json").json
    entry = Path(installed["place"])
    assert installed["installed"] and home in entry.parents and "background" in entry.read_text("utf-8")
    deadline = time.monotonic() + 150
    while not (found := runs("Soon")) or found[0]["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(1)
    assert [each["state"] for each in found] == ["ran"]
    assert moot("background").status == 0
    assert moot("quit").status == 0
    left = moot("background", "remove", "--json").json
    assert (left["installed"], left["running"], entry.exists()) == (False, False, False)
