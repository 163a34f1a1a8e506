"""An answer that is asked for again with another model or effort: for that answer alone, in chats and in groups."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent, Effort, Group
from app.core.errors import BadInput
from app.core.message import Message, Role
from app.core.provider import FactSource, ModelFacts
from app.core.session import Status
from tests.builders import Bench, a_bench, a_log_store, a_setup, people

ADA = Agent(id="ada", name="Ada", provider="remote0", model="model-0", tools=("planning",))
BOB = Agent(id="bob", name="Bob", provider="remote0", model="model-0", effort=Effort.LOW)
OTHER = {"provider": "remote1", "model": "model-1"}


def asked(made: Bench) -> list[tuple[str, str]]:
    return [(one.model, one.effort) for one in made.models.requests]


def answers(made: Bench, session_id: str) -> list[Message]:
    return [one for one in made.messages(session_id) if one.role == Role.ASSISTANT]


async def test_a_model_and_an_effort_are_for_one_answer(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path), agents=(ADA, BOB))
    chats = made.engine.chats
    session_id = await chats.start("bob", "Hello")
    await made.engine.wait(session_id)
    [first] = answers(made, session_id)
    await chats.retry(session_id, first.id, **OTHER, effort=Effort.HIGH)
    await made.engine.wait(session_id)
    await chats.retry(session_id, first.id, effort=Effort.MEDIUM)
    await made.engine.wait(session_id)
    await chats.retry(session_id, first.id, **OTHER)
    await made.engine.wait(session_id)
    await chats.retry(session_id, first.id)
    await made.engine.wait(session_id)
    await chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    usual = ("model-0", "low")
    assert asked(made) == [
        usual,
        ("model-1", "high"),
        ("model-0", "medium"),
        ("model-1", "low"),
        usual,
        usual,
    ]
    said = answers(made, session_id)
    assert [(one.model, one.effort) for one in said[:2]] == [
        ("remote0/model-0", "low"),
        ("remote1/model-1", "high"),
    ]
    assert {one.follows for one in said[:5]} == {made.messages(session_id)[0].turn_id}
    assert len({one.turn_id for one in said}) == 6
    await made.engine.shutdown()


async def test_a_restart_keeps_what_was_chosen(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path), agents=(ADA,))
    session_id = await made.engine.chats.start("ada", "Hello")
    await made.engine.wait(session_id)
    await made.engine.chats.retry(session_id, answers(made, session_id)[0].id, **OTHER, effort=Effort.HIGH)
    # Paused before its first word: only the session knows what was chosen.
    await made.engine.pause(session_id)
    assert (await made.engine.wait(session_id)).status == Status.PAUSED
    asked_before = len(made.models.requests)
    await made.engine.shutdown()
    later = a_bench(a_log_store(tmp_path), agents=(ADA,))
    await later.engine.open(session_id)
    await later.engine.resume(session_id)
    await later.engine.wait(session_id)
    assert asked_before == 1 and asked(later) == [("model-1", "high")]
    await later.engine.chats.send(session_id, "And now?")
    await later.engine.wait(session_id)
    assert asked(later)[1:] == [("model-0", "auto")]
    await later.engine.shutdown()


async def test_a_member_of_a_group_answers_again_with_another_model(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path), agents=(ADA, BOB))
    await made.engine.groups.save(Group(id="crew", name="Crew", members=("ada", "bob")))
    session_id = await made.engine.groups.start("crew", "@bob Hello")
    await made.engine.wait(session_id)
    [first] = [one for one in answers(made, session_id) if one.author.id == "bob"]
    before = len(made.models.requests)
    await made.engine.chats.retry(session_id, first.id, **OTHER, effort=Effort.HIGH)
    await made.engine.wait(session_id)
    assert asked(made)[before] == ("model-1", "high")
    assert ("model-1", "high") not in asked(made)[before + 1 :]
    await made.engine.shutdown()


@pytest.mark.parametrize("wrong", [{"provider": "nobody", "model": "x"}, {"provider": "remote1"}])
async def test_what_is_no_model_changes_nothing(tmp_path: Path, wrong: dict[str, str]) -> None:
    made = a_bench(a_log_store(tmp_path), agents=(ADA,))
    session_id = await made.engine.chats.start("ada", "Hello")
    await made.engine.wait(session_id)
    head = made.engine.live(session_id).chat_session.chat.head
    with pytest.raises(BadInput):
        await made.engine.chats.retry(session_id, answers(made, session_id)[0].id, **wrong)
    assert made.engine.live(session_id).chat_session.chat.head == head
    await made.engine.shutdown()


async def test_a_version_in_a_group_goes_up_to_the_users_next_message(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path), agents=(ADA, BOB))
    await made.engine.groups.save(Group(id="crew", name="Crew", members=("ada", "bob")))
    session_id = await made.engine.groups.start("crew", "@bob Hello")
    await made.engine.wait(session_id)
    asked_for = made.messages(session_id)[0]
    before = [one.id for one in answers(made, session_id)]
    await made.engine.chats.retry(session_id, asked_for.id, effort=Effort.HIGH)
    await made.engine.wait(session_id)
    again = [one.id for one in answers(made, session_id) if one.id not in before]
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    first, second = live.turns.versions(live.turns.messages[before[0]].turn_id)
    assert [one.id for one in live.said_in(live.turns.with_answers(first))] == before
    assert [one.id for one in live.said_in(live.turns.with_answers(second))] == again
    assert [one.id for one in live.said_in(live.turns.with_answers(asked_for.turn_id))] == [
        asked_for.id,
        *again,
    ]
    await made.engine.shutdown()


async def test_what_is_said_in_a_debate_keeps_its_effort(tmp_path: Path) -> None:
    made = a_bench(a_log_store(tmp_path))
    first, second, third = people(3)
    made.models.told[third.model] = ModelFacts(efforts=(), source=FactSource.LIST)
    seats = (replace(first, effort=Effort.HIGH), second, replace(third, effort=Effort.HIGH))
    session_id = await made.run(a_setup(participants=seats, rounds=1))
    said = [(one.author.name, one.effort) for one in made.messages(session_id)]
    assert said == [(first.name, "high"), (second.name, ""), (third.name, "")]
    await made.engine.shutdown()
