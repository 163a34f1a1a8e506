"""Decisions as people keep them on the command line: after a debate, after a chat, and what came of them."""

import json
from pathlib import Path

import docx
import pytest

from tests.stories.processes import look, moot
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

TWO = ("-p", "GPT=openai/openai-wire", "-p", "Claude=anthropic/anthropic-wire", "--rounds", "1")


@pytest.fixture
def debated(wire_home: dict[str, WireServer]) -> str:
    """Return the id of a debate that has ended."""
    for kind in ("openai", "anthropic"):
        wire_home[kind].script(f"{kind}-wire", lambda _: "Postgres, because of one file.")
    done = moot("debate", "Postgres or SQLite?", *TWO, "--json")
    assert done.status == 0, done.err
    return str(done.events[0]["session_id"])


def test_a_decision_is_kept_found_when_it_is_due_and_settled(debated: str) -> None:
    assert look("show", debated, "--json").json["decision"]["decided"] is None
    kept = moot(
        "decide", debated, "Postgres", "--why", "We deploy by day.", "--sure", "75",
        "--signal", "no outage", "--check-on", "2026-01-31", "--lang", "en",
    )  # fmt: skip
    assert (kept.status, kept.out) == (0, "Decision kept: Postgres\n")
    assert moot("decide", debated, "Postgres", "--sure", "120").status == 2
    assert moot("decide", debated, "Postgres", "--check-on", "soon").status == 2
    assert moot("outcome", debated, "perhaps").status == 2
    for command in ("decisions", "journal"):
        listed = moot(command, "--due", "--lang", "en").out
        assert listed.split() == ["Due", "2026-01-31", debated, *["Postgres", "or", "SQLite?", "Postgres"]]
    (row,) = json.loads(moot("decisions", "--json").out)["decisions"]
    assert (row["state"], row["kind"], row["who"]) == ("due", "round-robin", ["GPT", "Claude"])
    came = moot("outcome", debated, "false", "--note", "Two outages in May.", "--lang", "en")
    assert (came.status, came.out) == (0, "Postgres: Didn’t\n")
    assert moot("decisions", "--due", "--lang", "en").out == "No decision is due.\n"
    decided = look("show", debated, "--json").json["decision"]["decided"]
    assert decided["came"]["true"] is False and decided["came"]["note"] == "Two outages in May."
    assert (decided["text"], decided["why"], decided["sure"], decided["signal"], decided["check_on"]) == (
        "Postgres", "We deploy by day.", 75, "no outage", "2026-01-31",
    )  # fmt: skip


def test_what_came_of_nothing_is_bad_input(debated: str, data_dir: Path) -> None:
    came = moot("outcome", debated, "true", "--lang", "en")
    assert came.status == 2 and "moot decisions" in came.err
    assert moot("decide", "nothing", "Postgres").status == 2
    assert not (data_dir / "journal").exists()


def test_the_memo_is_printed_or_written_to_a_file(debated: str, tmp_path: Path) -> None:
    assert moot("decide", debated, "Postgres", "--why", "We deploy by day.").status == 0
    printed = look("export", debated, "--memo", "--format", "md").out
    assert printed.startswith("# Postgres or SQLite?\n") and "We deploy by day." in printed
    for form, begins in (("html", b"<!doctype html>"), ("pdf", b"%PDF-"), ("docx", b"PK")):
        file = tmp_path / f"memo.{form}"
        assert moot("export", debated, "--memo", "--format", form, "-o", str(file)).status == 0
        assert file.read_bytes().startswith(begins), form
    assert "We deploy by day." in [one.text for one in docx.Document(str(file)).paragraphs]
    for wrong in (("--memo", "--format", "pdf"), ("--memo", "--format", "json"), ("--format", "docx")):
        assert moot("export", debated, *wrong).status == 2, wrong
