"""A month's limit over the real wire: no call above it, going on where it paused, and a sum that survives a kill."""

import json
import signal
from pathlib import Path

import pytest

from app.storage.lines import encode_line
from tests.stories.processes import Running, look, moot
from tests.wire import Answer, WireServer, write_providers

# Priced by LiteLLM's list, as the provider's own answers are.
PRICED = "gpt-4o-mini"
TWO = ("-p", f"Ann=openai/{PRICED}", "-p", f"지민=openai/{PRICED}")
TOPIC = "Should cities ban private cars?"


@pytest.fixture
def server(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    with WireServer("openai", models=(PRICED,)) as server:
        for name, value in write_providers(data_dir, [server]).items():
            monkeypatch.setenv(name, value)
        server.script(PRICED, lambda _: Answer("A point.", input_tokens=100_000, output_tokens=10_000))
        yield server


def limit(data_dir: Path, usd: float) -> None:
    (data_dir / "settings.json").write_text(json.dumps({"version": 1, "max_month_usd": usd}), "utf-8")


def spent() -> tuple[int, float]:
    """Return the calls and dollars of this month, as the command line prints them."""
    this = look("usage", "--json").json[0]
    return this["calls"], round(this["cost_usd"], 4)


def test_the_sums_of_a_month_are_printed_under_their_names(server: WireServer, data_dir: Path) -> None:
    amounts = {
        "input_tokens": 1_100,
        "output_tokens": 220,
        "cached_tokens": 330,
        "cache_written_tokens": 44,
        "reasoning_tokens": 55,
        "cost_usd": 0.125,
        "saved_usd": 0.5,
    }
    priced = {**amounts, "message_id": "m1", "at": "2020-01-02T10:00:00.000Z"}
    unpriced = {**priced, "message_id": "m2", "cost_usd": None, "estimated": True}
    calls = (priced, unpriced, {**unpriced, "message_id": "m3", "estimated": False})
    lines = [encode_line(0, [{"op": "usage", "usage": call}]) for call in calls]
    (data_dir / "usage.jsonl").write_bytes(b"".join(lines))
    this, old = look("usage", "--json").json
    assert (this["calls"], this["cost_usd"], this["saved_usd"]) == (0, 0.0, 0.0)
    sums = {name: 3 * amount for name, amount in amounts.items()} | {"cost_usd": 0.125}
    assert old == {"month": "2020-01", "calls": 3, **sums, "unpriced_calls": 2, "estimated_calls": 1}
    assert list(old) == list(this) == ["month", "calls", *amounts, "unpriced_calls", "estimated_calls"]


def test_a_debate_reaches_the_limit_pauses_and_goes_on_once_it_is_raised(
    server: WireServer, data_dir: Path
) -> None:
    limit(data_dir, 0.05)
    held = moot("debate", TOPIC, *TWO, "--rounds", "3", "--json")
    assert held.status == 4
    finished = [event["message"] for event in held.events if event["event"] == "message.finished"]
    each = finished[0]["usage"]["cost_usd"]
    calls = len(server.requests)
    assert each > 0
    assert (calls - 1) * each < 0.05 <= calls * each
    assert len(finished) == calls < 6
    assert spent() == (calls, round(calls * each, 4))
    session_id = held.events[0]["session_id"]
    shown = look("show", session_id, "--json").json
    assert (shown["status"], shown["reason"]) == ("paused", "budget_month")

    again = moot("resume", session_id)
    assert again.status == 4
    assert "Settings" in again.out + again.err
    assert len(server.requests) == calls

    limit(data_dir, 1.0)
    done = moot("resume", session_id, "--json")
    assert done.status == 0
    assert len(server.requests) == 6
    shown = look("show", session_id, "--json").json
    assert shown["status"] == "completed"
    assert [one["author"]["name"] for one in shown["messages"]] == ["Ann", "지민"] * 3
    assert spent() == (6, round(6 * each, 4))


def test_after_a_kill_the_month_is_what_the_sessions_say_also_when_they_are_deleted(
    server: WireServer,
) -> None:
    with Running("debate", TOPIC, *TWO, "--rounds", "10", "--json") as debate:
        debate.event("message.finished", count=3)
        debate.kill()
    session_id = debate.session_id
    messages = look("show", session_id, "--json").json["messages"]
    costs = [one["usage"]["cost_usd"] for one in messages if one.get("usage")]
    assert len(costs) >= 3
    # A call is in the ledger before its message says so: the kill may have come between the two.
    calls = spent()[0]
    assert calls in {len(costs), len(costs) + 1}
    assert spent() == (calls, round(sum(costs) / len(costs) * calls, 4))
    assert moot("delete", session_id).status == 0
    assert spent()[0] == calls


def test_what_is_cut_by_an_interrupt_is_in_the_month_and_in_a_ledger_that_is_made_anew(
    server: WireServer, data_dir: Path
) -> None:
    server.script(PRICED, lambda _: Answer("One word after the other. " * 200, pace=0.05))
    with Running("debate", TOPIC, *TWO, "--rounds", "2", "--json") as debate:
        debate.event("message.delta", count=3)
        debate.send(signal.SIGINT)
        debate.finish()
    (message,) = look("show", debate.session_id, "--json").json["messages"]
    assert message["state"] == "stopped"
    assert message["usage"]["estimated"] is True
    assert message["usage"]["cost_usd"] > 0
    this = look("usage", "--json").json[0]
    assert (this["calls"], this["estimated_calls"], this["unpriced_calls"]) == (1, 1, 0)
    assert this["cost_usd"] == message["usage"]["cost_usd"]
    assert "≈ $" in look("usage").out
    (data_dir / "usage.jsonl").unlink()
    again = look("usage", "--json").json[0]
    assert (again["calls"], again["estimated_calls"], again["cost_usd"]) == (1, 1, this["cost_usd"])
