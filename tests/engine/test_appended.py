"""What a speaker is sent begins with what it was sent last, so that providers can take it from their caches."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from app.core.provider import ModelRequest
from app.core.session import AgentMode
from tests.builders import left_open
from tests.engine.long_chats import chat_of, orchestrator_of, share
from tests.engine.request_rules import as_sent
from tests.engine.test_group import acting, hand
from tests.engine.test_group import bench as group_bench
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import ANSWER, a_tool, bench, calling


def assert_appended(requests: Sequence[ModelRequest]) -> None:
    """Check that each request begins with the one before it."""
    for before, after in pairwise(requests):
        assert as_sent(after).startswith(as_sent(before))


async def test_a_chat_with_tools_is_sent_as_it_was_with_more_at_its_end(tmp_path: Path) -> None:
    long = json.dumps({"text": "x" * 30_000})
    script = [[ANSWER], calling(("echo", long)), [ANSWER], [ANSWER]]
    made = bench(tmp_path, script, a_tool("echo"), a_tool("a_tool"))
    left_open.append(made)
    session_id = await made.engine.chats.start("main", "Hello")
    for text in ("Look it up.", "Thanks."):
        await made.engine.wait(session_id)
        await made.engine.chats.send(session_id, text)
    await made.engine.wait(session_id)
    requests = made.models.requests
    assert_appended(requests)
    assert [[one["function"]["name"] for one in request.tools] for request in requests] == [  # type: ignore[index]
        ["a_tool", "echo"]
    ] * 4
    [result] = [one for one in requests[-1].messages if one["role"] == "tool"]
    assert 20_000 < len(str(result["content"])) < 20_100 and "it has 30012 characters" in str(
        result["content"]
    )


async def test_the_orchestrator_is_told_the_state_at_the_end_and_reads_it_again_as_it_was(
    tmp_path: Path,
) -> None:
    script = acting(
        calling(("setPlan", {"items": ["Design", "Build"]}), hand("ann", "Design it.")),
        calling(("checkDone", {"index": 0})),
        calling(hand("Bo", "Build it.")),
        calling(("promptToUser", {"prompt": "Fine?"})),
    )
    made = group_bench(tmp_path, script)
    left_open.append(made)
    session_id = await made.engine.groups.start("crew", "Ship it.")
    await made.engine.wait(session_id)
    await made.engine.chats.send(session_id, "Yes")
    await made.engine.wait(session_id)
    led = [one for one in made.models.requests if who(one) == "orchestrator"]
    assert len(led) == 5
    assert_appended(led)
    system, asked = str(led[0].messages[0]["content"]), str(led[0].messages[-1]["content"])
    assert "turns left" not in system
    assert asked.startswith("Ship it.\n\nA note from the application")
    assert asked.endswith("You have 19 of 20 turns left for this request.")
    last = [str(one["content"]) for one in led[-1].messages if "turns left" in str(one["content"])]
    assert [text.split("You have ")[1][:2] for text in last] == ["19", "18", "17"]
    assert "0. [x] Design" in last[1] or "0. [ ] Design" in last[1]


async def test_settings_mode_is_told_behind_what_was_said(tmp_path: Path) -> None:
    made = bench(tmp_path, [[ANSWER], [ANSWER], [ANSWER]])
    left_open.append(made)
    session_id = await made.engine.chats.start("main", "Hello")
    await made.engine.wait(session_id)
    await made.engine.chats.choose_mode(session_id, AgentMode.SETTINGS)
    for text in ("Which models are there?", "And which are free?"):
        await made.engine.chats.send(session_id, text)
        await made.engine.wait(session_id)
    requests = made.models.requests
    assert_appended(requests)
    assert "settings mode" not in str(requests[-1].messages[0])
    asked = [str(one["content"]) for one in requests[-1].messages if one["role"] == "user"]
    assert ["settings mode" in text for text in asked] == [False, True, True]


async def test_most_of_what_a_long_chat_sends_was_sent_before(tmp_path: Path) -> None:
    requests = await chat_of(tmp_path, 40)
    assert len(requests) == 40
    found = share(requests)
    print(f"chat of 40 turns: {found:.1%} of a request begin the one before")
    assert found >= 0.94


async def test_most_of_what_an_orchestrator_sends_was_sent_before(tmp_path: Path) -> None:
    requests = await orchestrator_of(tmp_path, 4, 4)
    assert len(requests) == 20
    found = share(requests)
    print(
        f"orchestrator of a group, 4 requests of 4 hand-overs: {found:.1%} of a request begin the one before"
    )
    assert found >= 0.90
