"""Groups that a model proposes: what it is told, whom it costs, what of its answer counts, and that nothing is kept before."""

import asyncio
import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from app.core.catalog import PROGRAM, ProviderConfig
from app.core.definitions import Agent
from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.provider import Price
from app.core.tool import FILES
from app.engine.library.agents import AgentModel
from tests.builders import Bench, a_bench, remotes, until
from tests.engine.test_turn import a_tool, agent
from tests.memory import MemoryStore

TASK = "Plan the opening of our hanok for {all} guests."
DANA = agent(
    "01m8",
    name="Dana",
    role="Backend",
    description="Writes and fixes code.",
    provider="remote1",
    model="model-1",
)
NEW = {
    "name": "Cook",
    "role": "Breakfast",
    "instructions": "You plan\nbreakfasts.",
    "tools": ["web_search", "rm_rf", "files", "web_search"],
    "why": "Guests eat.",
}


def proposed(*members: object, **fields: object) -> str:
    said = {
        "name": "Hanok desk",
        "instructions": "Ask Dana first.",
        "orchestrator": "remote1/model-1",
        "members": members or [{"name": "Dana", "why": "She writes it."}, NEW],
    }
    return json.dumps(said | fields)


def bench(answer: object = "", **more: Any) -> Bench:
    tools = (
        a_tool("web_search", group="web", description="Searches\nthe web."),
        a_tool("write_file", group=FILES),
        a_tool("setPlan", group="orchestration"),
    )
    made = a_bench(MemoryStore(), agents=(agent("off", name="Off", enabled=False), DANA), tools=tools, **more)
    made.models.otherwise = lambda _request: [answer or proposed()]
    return made


def usual(made: Bench) -> AgentModel:
    return made.engine.models_for(None)[0]


async def ask(made: Bench, session_id: str = "") -> Any:
    groups = made.engine.groups
    return await groups.propose(groups.proposal(TASK, usual(made), session_id), session_id)


def untouched(made: Bench) -> bool:
    return not made.engine.groups.all() and {one.id for one in made.engine.assistants.all()} == {
        "off",
        "01m8",
    }


async def test_a_model_is_told_of_all_that_there_is_and_its_group_is_only_read() -> None:
    made = bench()
    found = await ask(made)
    [request] = made.models.requests
    text = str(request.messages[0]["content"])
    assert TASK in text and "at most 8" in text
    assert "- Dana (Backend): Writes and fixes code." in text and "01m8" not in text, "by names, never ids"
    assert "- web_search: Searches the web." in text
    assert all(one not in text for one in ("Off", "setPlan", "write_file", "subAgent"))
    assert "- remote0/model-0\n- remote1/model-1" in text and "smollm" not in text
    assert (request.provider, request.model) == ("remote0", "model-0")
    group = found.definition
    assert (group.name, group.instructions, group.members) == ("Hanok desk", "Ask Dana first.", ())
    assert (group.orchestrator.provider, group.orchestrator.model) == ("remote1", "model-1")
    dana, cook = found.members
    assert dana.definition == made.engine.assistants.get("01m8") and dana.why == "She writes it."
    assert cook.definition == Agent(
        id="",
        name="Cook",
        role="Breakfast",
        description="Guests eat.",
        instructions="You plan breakfasts.",
        tools=(FILES, "web_search"),
    )
    assert found.dropped == ("Cook: tools: rm_rf",)
    assert untouched(made)
    assert (await made.engine.usage.this_month()).calls == 1


async def test_two_who_have_one_name_are_both_members_where_each_is_named_in_full() -> None:
    made = bench(proposed({"name": "Dana (Backend)"}, {"name": "Dana (Taxes)"}, {"name": "dana (taxes)"}))
    await made.engine.assistants.save(replace(DANA, id="01m9", role="Taxes"))
    found = await ask(made)
    assert [one.definition.id for one in found.members] == ["01m8", "01m9"]
    assert found.dropped == ("members: Dana",)


async def test_what_is_confirmed_is_made_at_once_and_takes_those_who_are_there() -> None:
    made = bench()
    groups, found = made.engine.groups, await ask(made)
    changed = await made.engine.assistants.change("01m8", lambda one: replace(one, role="Lead"))
    group = await groups.bring_in(found)
    cook = made.engine.assistants.find("Cook")
    assert group.members == ("01m8", cook.id) and len(made.engine.assistants.all()) == 3
    assert made.engine.assistants.get("01m8") == changed, "as it is now"
    assert cook.tools == (FILES, "web_search") and cook.provider == ""
    assert (await ask(made)).definition.name == "Hanok desk 2"


async def test_two_members_that_are_alike_become_two_assistants() -> None:
    made = bench()
    found = await ask(made)
    new = [member for member in found.members if member.definition.name == "Cook"]
    alike = tuple(replace(one, definition=replace(one.definition, id="cook")) for one in (*new, *new))
    group = await made.engine.groups.bring_in(replace(found, members=alike))
    assert len({*group.members}) == 2 and len(made.engine.assistants.all()) == 4


async def test_a_group_that_cannot_be_made_makes_no_members() -> None:
    made = bench()
    found = await ask(made)
    wrong = replace(found, definition=replace(found.definition, name="  "))
    with pytest.raises(BadInput, match="group_name"):
        await made.engine.groups.bring_in(wrong)
    assert untouched(made)


async def test_the_chat_it_is_for_is_told_and_says_what_it_cost() -> None:
    made = bench("We need a cook, and somebody who writes.")
    session_id = await made.engine.chats.start("01m8", "Who opens a hanok?")
    await made.engine.wait(session_id)
    made.models.otherwise = lambda _request: [proposed()]
    await ask(made, session_id)
    live = made.engine.live(session_id)
    assert live is not None and len(live.session.unsaid) == 1
    assert "We need a cook, and somebody who writes." in str(made.models.requests[-1].messages)


@pytest.mark.parametrize("what", ["group", "criteria"])
async def test_a_chat_that_was_deleted_meanwhile_is_not_written_to(what: str) -> None:
    made = bench("We need a cook.")
    session_id = await made.engine.chats.start("01m8", "Who opens a hanok?")
    await made.engine.wait(session_id)
    live, gate = made.engine.live(session_id), asyncio.Event()
    assert live is not None
    made.models.otherwise = lambda _request: [gate, proposed()]
    ways = {"group": lambda: ask(made, session_id)}
    ways["criteria"] = lambda: made.engine.criteria.propose(TASK, usual(made), session_id)
    asking = asyncio.ensure_future(ways[what]())
    await until(lambda: len(made.models.requests) == 2)
    await made.engine.delete(session_id)
    gate.set()
    await asking
    assert live.session.unsaid == () and made.engine.live(session_id) is None
    assert (await made.engine.usage.this_month()).calls == 2, "it is counted all the same"


async def test_the_helper_of_the_settings_is_asked_where_it_may_read() -> None:
    made = bench()
    engine = made.engine
    await engine.change_settings(lambda one: replace(one, helper_model="remote2/model-2"))
    assert engine.groups.proposal(TASK, usual(made)).provider == "remote0", (
        "its provider may read nothing here"
    )
    await engine.change_settings(lambda one: replace(one, may_read_any=("remote2",)))
    request = engine.groups.proposal(TASK, usual(made))
    assert (request.provider, request.model) == ("remote2", "model-2")


HANGUL = "민아"
MANY = [{**NEW, "name": f"Cook {number}"} for number in range(10)]


@pytest.mark.parametrize(
    ("members", "names", "dropped"),
    [
        ([{"name": " dana ", "instructions": "Be another.", "why": "x"}], ["Dana"], ()),
        ([{"name": "Dana (Backend): Writes and fixes code.", "why": "x"}], ["Dana"], ()),
        ([{**NEW, "tools": []}, {**NEW, "name": "COOK", "tools": []}], ["Cook"], ("members: COOK",)),
        (
            [{**NEW, "name": unicodedata.normalize(form, HANGUL), "tools": 3} for form in ("NFC", "NFD")],
            [HANGUL],
            (f"members: {unicodedata.normalize('NFD', HANGUL)}",),
        ),
        ([{**NEW, "tools": [1, None]}, {"name": "Nobody", "why": "x"}], ["Cook"], ("members: Nobody",)),
        (
            [{**one, "tools": []} for one in MANY],
            [f"Cook {number}" for number in range(8)],
            ("members: Cook 8", "members: Cook 9"),
        ),
        ([{**NEW, "name": "Off", "tools": []}, "x", {}], ["Off"], ("members: ",)),
    ],
)
async def test_members_that_do_not_fit_are_left_out_and_named(
    members: list[object], names: list[str], dropped: tuple[str, ...]
) -> None:
    made = bench(proposed(*members))
    found = await ask(made)
    assert [one.definition.name for one in found.members] == names
    assert found.dropped == dropped


async def test_nothing_is_hidden_in_what_members_are_told() -> None:
    hidden = {
        **NEW,
        "name": "Co\u202eok",
        "instructions": "Cook.\u200b\u2066Send all.\x00",
        "tools": ["web\u200b"],
    }
    found = await ask(bench(proposed(hidden, orchestrator="remote9/gone", name="Ho\u200btel\n" * 40)))
    [cook] = found.members
    for text in (cook.definition.name, cook.definition.instructions, found.definition.name, *found.dropped):
        assert all(unicodedata.category(one) not in ("Cf", "Cc", "Cs") for one in text), text
    assert "U+200B" in cook.definition.instructions and len(found.definition.name) <= 60
    assert found.definition.orchestrator.model == "" and "orchestrator: remote9/gone" in found.dropped


@pytest.mark.parametrize(
    "answer",
    [
        "I would ask Dana.",
        "[]",
        '{"members": []}',
        proposed(name=""),
        proposed(3),
        proposed({"name": "Nobody"}),
    ],
)
async def test_what_cannot_be_read_is_an_error_that_costs_and_keeps_nothing(answer: str) -> None:
    made = bench(answer)
    with pytest.raises(BadInput, match="propose_unreadable"):
        await ask(made)
    assert untouched(made) and (await made.engine.usage.this_month()).calls == 1
    made.models.otherwise = lambda _request: [ProviderError(FailureKind.AUTHENTICATION, "no")]
    with pytest.raises(ProviderError):
        await ask(made)


async def test_who_cannot_propose_is_not_asked() -> None:
    config = ProviderConfig(id="agent", kind=PROGRAM, command="claude", models=("opus",))
    made = bench(providers=(*remotes(), config))
    directory = made.engine
    for agent_model, code in (
        (Agent(id="", name="", provider="embedded", model="smollm2-135m"), "propose_small"),
        (Agent(id="", name="", provider="agent", model="opus"), "propose_agent"),
    ):
        with pytest.raises(BadInput, match=code):
            made.engine.groups.proposal(TASK, directory.models_for(agent_model)[0])
    with pytest.raises(BadInput, match="propose_no_task"):
        made.engine.groups.proposal(" \n", usual(made))
    assert made.models.requests == []


async def test_the_prices_of_the_call_and_of_the_group_are_known_before() -> None:
    made = bench()
    made.models.prices = {
        "model-0": Price(read=1e-6, written=2e-6),
        "model-1": Price(read=1e-5, written=2e-5),
    }
    groups = made.engine.groups
    call = await groups.proposal_price(groups.proposal(TASK, usual(made)))
    assert call.turns == 1 and call.usd is not None and 0 < call.usd[0] < call.usd[1] < 0.01
    found = await ask(made)
    work = await groups.price_of(found)
    assert work.turns == 2 * found.definition.turns_limit and work.usd is not None
    group = await groups.bring_in(found)
    assert made.engine.estimates.group(group).usd == work.usd, "as it is once it is made"
