"""What someone with no key and no network can do, on the model that comes with Moot."""

import json
from pathlib import Path

import pytest

from app.providers.model_file import find_model
from app.wiring import open_moot
from tests.stories.embedded_group import crew
from tests.stories.embedded_tree import TASKS, run_tree, write_crew
from tests.stories.embedded_tree import crew as tree_crew
from tests.stories.processes import Running, children_of, look, moot, wait_until_gone

TOPIC = "Should cities ban private cars from their centres?"
# Whatever connects to the outside would wait here and fail.
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.own_host
@pytest.mark.embedded
@pytest.mark.timeout(900)
@pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not there")
def test_two_voices_argue_to_the_end_without_key_or_network() -> None:
    with Running("debate", TOPIC, "--json", environment=NO_NETWORK) as debate:
        debate.event("message.delta", seconds=120)
        children = children_of(debate.pid)
        done = debate.finish(240)
    assert (done.status, done.err) == (0, "")
    finished = [event["message"] for event in done.events if event["event"] == "message.finished"]
    assert [(one["author"]["name"], one["round"]) for one in finished] == [
        (name, number) for number in (1, 2, 3) for name in ("Ada", "Ben")
    ]
    assert all(len(one["content"].split()) > 5 for one in finished)
    assert len({one["content"] for one in finished}) == len(finished)
    assert {one["state"] for one in finished} == {"done"}
    usage = [event for event in done.events if event["event"] == "usage"]
    assert len(usage) == 6
    assert all(one["output_tokens"] > 0 and one["cost_usd"] == 0 for one in usage)
    assert wait_until_gone(children) == []


@pytest.mark.slow
@pytest.mark.own_host
@pytest.mark.embedded
@pytest.mark.timeout(600)
@pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not there")
def test_a_council_of_the_small_model_answers_and_neither_compares_votes_nor_judges() -> None:
    both = [one for name in ("Ada", "Ben") for one in ("-p", f"{name}=embedded/smollm2-135m")]
    done = moot("council", TOPIC, *both, "--json", environment=NO_NETWORK, seconds=240)
    assert (done.status, done.err) == (0, "")
    session_id = str(done.events[0]["session_id"])
    shown = look("show", session_id, "--json").json
    assert isinstance(shown, dict)
    assert {one["part"] for one in shown["messages"]} == {"question", "answer"}
    assert shown["council"]["readings"] == [] and shown["council"]["outcome"]["judge"] == ""
    for step in ("debate", "compare", "check", "solo"):
        refused = moot("extend", session_id, step, environment=NO_NETWORK)
        assert refused.status == 2 and "too small to compare" in refused.err


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.timeout(900)
@pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not there")
def test_a_group_plans_works_and_reports_without_key_or_network(data_dir: Path) -> None:
    """The short form of `python -m tests.stories.embedded_group`."""
    write_crew(data_dir, crew())
    (data_dir / "groups").mkdir()
    group = {"version": 1, "id": "duo", "name": "Duo", "members": ["ada", "ben"]}
    (data_dir / "groups" / "duo.json").write_text(json.dumps(group))
    done = moot("ask", "duo", TASKS[0], "--json", seconds=600, environment=NO_NETWORK)
    assert (done.status, done.err) == (0, "")
    plans = [event["plan"]["items"] for event in done.events if event["event"] == "plan.changed"]
    assert len(plans[0]) >= 2
    assert not any(item["done"] for item in plans[0])
    assert all(item["done"] for item in plans[-1])
    messages = [event["message"] for event in done.events if event["event"] == "message.finished"]
    assert len(messages[-1]["content"].split()) > 5
    assert (messages[-1]["author"]["id"], messages[-1]["state"]) == ("orchestrator", "done")
    assert {one["author"]["id"] for one in messages} == {"user", "orchestrator", "ada", "ben"}
    guided = [one for one in messages if one["tool_calls"]]
    assert {one["why"] for one in guided} == {"guided"}


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.timeout(900)
@pytest.mark.allow_blocking
@pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not there")
async def test_a_tree_of_four_ends_without_key_or_network(data_dir: Path) -> None:
    """The short form of `python -m tests.stories.embedded_tree`."""
    write_crew(data_dir, tree_crew())
    running = await open_moot(data_dir)
    try:
        done, asked, _ = await run_tree(running, TASKS[1])
    finally:
        await running.close()
    assert (done, asked) == (True, 1)
