"""Whom models may call: they are told names, roles and descriptions, never ids, and call by these."""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import COLOURS, Agent, Group, Leader
from app.core.provider import ModelRequest
from app.core.tool import ToolError, assistant_called, assistants_called, told_of
from app.engine.library.agents import delegation
from tests.builders import PROMPTS, Bench, Script, a_bench, a_log_store, export, left_open
from tests.engine.group_tools import TOOLS, hand
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import ANSWER, agent, calling, results

DANA = agent("01m8h9bd3mq2w1x0zk4v7t5ras", name="Dana", role="Backend", description="Writes and\nfixes code")
DANA_QA = agent("01m8h9bd3mq2w1x0zk4v7t5rat", name="dana", role="QA", description="Tests")
YUNA = agent("01m8h9bd3mq2w1x0zk4v7t5rau", name="유나")
MAIN = agent(tools=("subAgent",), sub_agents=(DANA.id, YUNA.id))


def bench(tmp_path: Path, agents: Sequence[Agent], *steps: Script) -> Bench:
    """Return an engine whose orchestrator, or main assistant, takes the steps in turn."""
    made = a_bench(a_log_store(tmp_path), agents=agents, tools=TOOLS)
    rest = list(steps)

    def answer(request: ModelRequest) -> Script:
        leads = who(request) in ("main", "orchestrator")
        return rest.pop(0) if leads and rest else ANSWER

    made.models.otherwise = answer
    leader = Leader(provider="remote0", model="m")
    group = Group(id="crew", name="Crew", members=tuple(one.id for one in agents), orchestrator=leader)
    made.documents.groups.kept = (group,)
    left_open.append(made)
    return made


def test_a_name_finds_whom_it_stands_for() -> None:
    everyone = (DANA, YUNA)
    for name in ("Dana", " dana ", "DANA", "Dana (Backend)", told_of(DANA), DANA.id, DANA.id.upper()):
        assert assistants_called(name, everyone) == [DANA]
    for form in ("NFC", "NFD"):
        assert assistants_called(unicodedata.normalize(form, "유나"), everyone) == [YUNA]
    assert assistants_called("Dan", everyone) == []
    # A model has read names, and no ids.
    other = agent("dana", name="Boris")
    assert assistants_called("dana", (other, DANA)) == [DANA]


def test_several_of_a_name_are_told_apart_by_role_and_none_is_answered_with_names() -> None:
    everyone = (DANA, DANA_QA, YUNA)
    with pytest.raises(ToolError) as several:
        assistant_called("Dana", everyone, "is unknown")
    assert str(several.value).splitlines() == [
        "Dana is the name of several. Say which, by name and role:",
        "- Dana (Backend): Writes and fixes code",
        "- dana (QA): Tests",
    ]
    assert assistant_called("Dana (qa)", everyone, "is unknown") == DANA_QA
    with pytest.raises(ToolError, match=r"^Zoe is unknown\. You may call: Dana, dana, 유나\.$"):
        assistant_called("Zoe", everyone, "is unknown")


def test_no_error_of_a_call_says_an_id() -> None:
    off = replace(YUNA, enabled=False)
    deep = replace(DANA, sub_agents=(DANA.id, DANA_QA.id), max_depth=9)
    agents = (MAIN, deep, off)
    for name, caller, stack, says in (
        ("zoe", MAIN, ("main",), "zoe is unknown. You may call: Dana, 유나."),
        ("유나", MAIN, ("main",), "유나 is switched off."),
        ("dana", deep, ("main", DANA.id), "Dana is already at work above you (Main > Dana)"),
        ("main", deep, ("main", DANA.id), "main is not on your list. You may call: Dana."),
    ):
        with pytest.raises(ToolError) as error:
            delegation({"name": name, "task": "Go."}, caller, stack, "default", agents)
        assert says in str(error.value)
        assert "01m8h9" not in str(error.value)


async def test_a_model_is_told_of_its_sub_agents_by_name_and_calls_one_so(tmp_path: Path) -> None:
    call = calling(("subAgent", {"name": "dana", "task": "Fix it."}))
    made = bench(tmp_path, (MAIN, DANA, YUNA), call)
    session_id = await made.engine.chats.start("main", "Ask Dana to fix it.")
    await made.engine.wait(session_id)
    assert [who(one) for one in made.models.requests] == ["main", "dana", "main"]
    assert json.loads(results(made, session_id)[0][1])["ok"] is True
    told = json.dumps([made.models.requests[0].tools, made.models.requests[0].messages], ensure_ascii=False)
    assert "- Dana (Backend): Writes and fixes code\\n- 유나" in told
    assert "01m8h9" not in told


async def test_an_orchestrator_is_told_of_its_members_by_name_and_hands_over_so(tmp_path: Path) -> None:
    script = (
        calling(hand("Zoe")),
        calling(hand(unicodedata.normalize("NFD", "유나"), "Draw it.")),
        calling(("reportResult", {"result_in_detail": "It is drawn."})),
    )
    made = bench(tmp_path, (DANA, YUNA), *script)
    session_id = await made.engine.groups.start("crew", "Go")
    await made.engine.wait(session_id)
    assert [who(one) for one in made.models.requests] == ["orchestrator"] * 2 + ["유나", "orchestrator"]
    told = json.dumps([one.messages for one in made.models.requests], ensure_ascii=False)
    assert "- Dana (Backend): Writes and fixes code\\n- 유나" in told
    assert "Zoe is not a member. You may call: Dana, 유나." in told
    assert "Handed over to 유나." in told
    assert "01m8h9" not in told


async def test_an_export_of_a_group_begins_with_the_report_and_says_names(tmp_path: Path) -> None:
    dana = replace(DANA, tools=("subAgent",), sub_agents=(YUNA.id,))
    script = (
        calling(("setPlan", {"items": ["Fix it", "Draw it"]})),
        calling(hand(DANA.id, "Fix **it**.")),
        calling(("checkDone", {"index": 0}), ("reportResult", {"result_in_detail": "# Fixed\n\nAll of it."})),
    )
    made = bench(tmp_path, (dana, YUNA, DANA_QA), *script)
    said = made.models.otherwise
    asked = [calling(("subAgent", {"name": "유나", "task": "Draw it.", "context": {"size": [3, 4]}}))]
    made.models.otherwise = lambda request: asked.pop() if who(request) == "dana" and asked else said(request)
    session_id = await made.engine.groups.start("crew", "Go")
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    text = export(live, "md", PROMPTS)
    places = [
        text.index(one)
        for one in (
            "- Members: Dana, 유나, dana",
            "## Report",
            "# Fixed",
            "## Plan",
            "- [x] Fix it",
            "## How it was done",
            "**Plan**",
            "*items: Fix it, Draw it*",
            "**Hands over to Dana**\n\nFix **it**.",
            "**Hands over to 유나**\n\nDraw it.",
        )
    ]
    assert places == sorted(places)
    assert text.count("All of it.") == 1
    # What the sub-agent said stands once, and so does what Dana said.
    assert text.count(ANSWER) == 2
    for odd in ("01m8h9", "{", "checkDone", "reportResult", "switchAssistant"):
        assert odd not in text


async def test_a_colour_is_given_once_and_kept(tmp_path: Path) -> None:
    old = agent("old"), agent("01m8h9bd3mq2w1x0zk4v7t5rav")
    made = bench(tmp_path, old)
    assistants = made.engine.assistants
    before = {one.id: one.colour for one in assistants.all()}
    for number in range(COLOURS - len(set(before.values()))):
        await assistants.save(Agent(id="", name=f"New {number}"))
    now = {one.id: one.colour for one in assistants.all()}
    assert {one: now[one] for one in before} == before
    assert set(now.values()) == set(range(COLOURS)), "each new one took a colour that nobody had"
    saved = await assistants.change("old", lambda one: replace(one, role="Old"))
    assert saved.colour == before["old"]
    chosen = await assistants.change("old", lambda one: replace(one, colour=(one.colour + 1) % COLOURS))
    assert assistants.find("old").colour == chosen.colour != before["old"]
    await assistants.delete("new-0")
    assert {one.id: one.colour for one in assistants.all() if one.id != "old"} == {
        one: colour for one, colour in now.items() if one not in ("old", "new-0")
    }
    copy = await assistants.duplicate("old", "Copy")
    assert copy.colour == now["new-0"], "the only colour that is free"
    assert "colour" not in json.loads(assistants.share("old"))
