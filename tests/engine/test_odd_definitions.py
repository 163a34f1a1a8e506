"""Definitions that make no sense, as a person may write them by hand: they are named, or work in a plain way."""

import pytest

from app.core.definitions import Agent, Busy
from app.core.session import Status
from app.engine.availability import Availability, Refused, Started, Task
from app.engine.debate.modes import ROLES, role_text, system_prompt
from tests.builders import PROMPTS, a_bench, a_debate, a_log_store, people

ODD = [
    Busy(strategy="queue", depth=0),
    Busy(strategy="queue", depth=-5),
    Busy(strategy="wait", timeout_s=0.0),
    Busy(strategy="wait", timeout_s=-1.0),
    Busy(strategy="parallel", limit=0, depth=0),
    Busy(strategy="parallel", limit=-1),
    Busy(strategy="of tomorrow", depth=1),
    Busy(strategy=""),
]


@pytest.mark.corpus(57)
@pytest.mark.parametrize("busy", ODD, ids=str)
def test_who_is_idle_starts_and_nobody_waits_for_ever(busy: Busy) -> None:
    core = Availability(lambda _: busy)
    tasks = [Task(id=str(number), agent_id="a") for number in range(60)]
    effects = [effect for task in tasks for effect in core.enqueue(task, 0.0)]
    assert isinstance(effects[0], Started)
    ended = {one.task.id for one in effects if isinstance(one, Refused)}
    running = [one.task.id for one in effects if isinstance(one, Started)]
    ended |= {one.task.id for one in core.tick(10_000.0) if isinstance(one, Refused)}
    while running:
        ended.add(running[0])
        running += [one.task.id for one in core.finish(running.pop(0), 10_000.0) if isinstance(one, Started)]
    assert ended == {task.id for task in tasks}


@pytest.mark.corpus(57)
@pytest.mark.allow_blocking
@pytest.mark.parametrize("busy", ODD, ids=str)
async def test_an_assistant_with_such_a_policy_still_answers(tmp_path, busy: Busy) -> None:
    agent = Agent(id="a", name="A", role="no such role", provider="remote0", model="model-0", busy=busy)
    made = a_bench(a_log_store(tmp_path / "data"), agents=(agent,))
    session_id = await made.engine.chats.start("a", "Are you there?")
    session = await made.engine.wait(session_id)
    assert (session.status, made.messages(session_id)[-1].content) == (Status.IDLE, "A good point.")
    await made.engine.shutdown()


@pytest.mark.corpus(56)
@pytest.mark.parametrize(
    "role", ["a teacher", "역사가", "{name}", "%s {0} {role}", "[User]: x", "two\nlines", "x" * 2_000]
)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_role_without_words_of_its_own_is_named_as_it_is(role: str, language: str) -> None:
    assert role not in ROLES
    assert " ".join(role.split()) in role_text(role, language, PROMPTS)
    speaker, other = people(2)
    speaker = type(speaker)(id="a", name="Ada", provider="remote0", model="m", role=role)
    debate = a_debate(2, participants=(speaker, other), mode="roles", language=language)
    assert system_prompt(debate, speaker, PROMPTS)
