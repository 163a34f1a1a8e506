"""Effort, creativity and length reach the model's request, from assistants, groups and participants."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent, Creativity, Effort, Group, Leader, Length
from app.core.errors import BadInput
from app.engine.debate.perspective import Turn, chat_request
from tests.builders import PROMPTS, Bench, a_bench, a_debate, a_log_store

WISH = {"effort": Effort.HIGH, "creativity": Creativity.PRECISE, "length": Length.SHORT}
SHORT = PROMPTS.lines("en", "assistant")["length.short"]


def bench(folder: Path, *agents: Agent, **fields: object) -> Bench:
    return a_bench(a_log_store(folder), agents=agents, **fields)  # type: ignore[arg-type]


async def test_an_assistant_answers_in_its_own_way(tmp_path: Path) -> None:
    plain = Agent(id="plain", name="Plain", provider="remote0", model="model-0")
    made = bench(tmp_path, plain, replace(plain, id="short", name="Short", **WISH))
    for agent_id in ("plain", "short"):
        await made.engine.wait(await made.engine.chats.start(agent_id, "Hello"))
    usual, wished = made.models.requests
    assert (usual.effort, usual.temperature) == ("auto", None)
    assert SHORT not in str(usual.messages[0]["content"])
    assert (wished.effort, wished.temperature) == ("high", 0.2)
    assert SHORT in str(wished.messages[0]["content"])
    await made.engine.shutdown()


async def test_an_effort_chosen_for_a_chat_holds_for_all_who_speak_in_it(tmp_path: Path) -> None:
    made = bench(tmp_path, Agent(id="a", name="A", provider="remote0", model="model-0", **WISH))
    session_id = await made.engine.chats.start("a", "Hello", effort=Effort.LOW)
    await made.engine.wait(session_id)
    await made.engine.chats.choose_effort(session_id, "")
    await made.engine.chats.send(session_id, "Again")
    await made.engine.wait(session_id)
    assert [request.effort for request in made.models.requests] == ["low", "high"]
    await made.engine.shutdown()


async def test_a_model_chosen_for_a_chat_answers_until_another_assistant_does(tmp_path: Path) -> None:
    own = Agent(id="a", name="A", provider="remote0", model="model-0")
    made = bench(tmp_path, own, replace(own, id="b", name="B"))
    chats = made.engine.chats
    session_id = await chats.start("a", "Hello", provider="remote1", model="model-1")
    await made.engine.wait(session_id)
    for provider, model in (("", ""), ("remote1", "model-2")):
        await chats.choose_model(session_id, provider, model)
        await chats.send(session_id, "Again")
        await made.engine.wait(session_id)
    await chats.choose_assistant(session_id, "b")
    await chats.send(session_id, "And you?")
    await made.engine.wait(session_id)
    asked = [(request.provider, request.model) for request in made.models.requests]
    mine = ("remote0", "model-0")
    assert asked == [("remote1", "model-1"), mine, ("remote1", "model-2"), mine]
    for provider, model, code in (
        ("gone", "model-1", "provider_not_found"),
        ("remote1", "", "assistant_model"),
    ):
        with pytest.raises(BadInput) as refused:
            await chats.choose_model(session_id, provider, model)
        assert refused.value.code == code
    await made.engine.groups.save(Group(id="crew", name="Crew", members=("a",)))
    group = await made.engine.groups.start("crew", "Hello")
    with pytest.raises(BadInput) as refused:
        await chats.choose_model(group, "remote1", "model-1")
    assert refused.value.code == "group_leads"
    await made.engine.wait(group)
    await made.engine.shutdown()


async def test_a_model_chosen_for_one_message_answers_that_one_also_from_the_queue(tmp_path: Path) -> None:
    made = bench(tmp_path, Agent(id="a", name="A", provider="remote0", model="model-0"))
    chats = made.engine.chats
    session_id = await chats.start("a", "Hello", provider="remote1", model="model-1", once=True)
    await chats.send(session_id, "Queued", provider="remote1", model="model-2")
    await chats.send(session_id, "Plain")
    await made.engine.wait(session_id)
    await chats.send(session_id, "At once", provider="remote1", model="model-3")
    await made.engine.wait(session_id)
    await chats.send(session_id, "Last")
    await made.engine.wait(session_id)
    own = ("remote0", "model-0")
    asked = [(request.provider, request.model) for request in made.models.requests]
    assert asked == [("remote1", "model-1"), ("remote1", "model-2"), own, ("remote1", "model-3"), own]
    with pytest.raises(BadInput):
        await chats.send(session_id, "To nobody", provider="gone", model="model-1")
    await made.engine.shutdown()


async def test_an_orchestrator_has_a_way_of_its_own(tmp_path: Path) -> None:
    made = bench(tmp_path, Agent(id="a", name="A", provider="remote0", model="model-0"))
    leader = Leader(provider="remote1", model="model-1", **WISH)
    await made.engine.groups.save(Group(id="crew", name="Crew", members=("a",), orchestrator=leader))
    await made.engine.wait(await made.engine.groups.start("crew", "Hello"))
    request = made.models.requests[0]
    assert (request.model, request.effort, request.temperature) == ("model-1", "high", 0.2)
    assert SHORT in str(request.messages[0]["content"])
    await made.engine.shutdown()


@pytest.mark.parametrize("wished", [True, False])
def test_a_participant_speaks_in_its_own_way(wished: bool) -> None:
    debate = a_debate(2)
    speaker = replace(debate.participants[0], **(WISH if wished else {}))
    debate = replace(debate, participants=(speaker, debate.participants[1]))
    request = chat_request(Turn(debate=debate, messages=[], speaker=speaker, round=1), PROMPTS)
    assert (request.effort, request.temperature) == (("high", 0.2) if wished else ("auto", None))
    assert (SHORT in str(request.messages[0]["content"])) is wished


async def test_a_shared_assistant_keeps_its_own_way(tmp_path: Path) -> None:
    plain = Agent(id="plain", name="Plain", provider="remote0", model="model-0")
    made = bench(tmp_path, plain, replace(plain, id="wished", **WISH))
    assistants = made.engine.assistants
    assert not set(WISH) & set(json.loads(assistants.share("plain")))
    shared = assistants.read_shared(assistants.share("wished"))
    assert {name: getattr(shared.definition, name) for name in WISH} == WISH and not shared.dropped
    await made.engine.shutdown()
