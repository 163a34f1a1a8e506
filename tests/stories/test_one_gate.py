"""Every call of a model goes through its provider's gate: chats, debates, ballots, verdicts and the classifier."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core import catalog
from app.core.council import Participant
from app.engine.debate.setup import DebateSetup
from app.engine.turns import context
from app.wiring import Moot, open_moot
from tests.wire import Answer, Fault, WireServer, write_providers
from tests.wire.server import Recorded

AT_ONCE = 2
PAUSE_S = 0.4
ODD = "Zyzzyva please"


@pytest.fixture
async def moot(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Moot, WireServer]]:
    """A Moot with one provider, which writes two answers at once."""
    rows = [replace(row, calls_at_once=AT_ONCE) if row.kind == "openai" else row for row in catalog.KINDS]
    monkeypatch.setattr(catalog, "KINDS", tuple(rows))
    monkeypatch.setattr(context, "MIN_WAIT", PAUSE_S)
    with WireServer("openai") as server:
        for name, value in write_providers(data_dir, [server]).items():
            monkeypatch.setenv(name, value)
        opened = await open_moot(data_dir)
        try:
            yield opened, server
        finally:
            await opened.close()


def a_debate(server: WireServer, *, polls: bool) -> DebateSetup:
    seats = tuple(
        Participant(id=name, name=name, provider="openai", model=server.model)
        for name in ("Ann", "Ben", "Cat")
    )
    return DebateSetup(topic="Should cities ban cars?", participants=seats, rounds=1, polls=polls)


def point(request: Recorded) -> Answer:
    """Say something, or choose that the motion holds."""
    lines = request.messages[-1].text.splitlines()
    if (letter := next((line[0] for line in lines if line[1:] == ": Yes"), "")) == "":
        return Answer("A point. [STEP_COMPLETE]", delay=0.05)
    vote = {"choice": letter, "text": "", "confidence": 70, "moved_by": []}
    return Answer(json.dumps(vote), delay=0.05)


def most_at_once(requests: list[Recorded]) -> int:
    """Return how many requests were in flight together."""
    moments = [(one.at, 1) for one in requests] + [(one.done_at or one.at, -1) for one in requests]
    count = most = 0
    for _, step in sorted(moments):
        count += step
        most = max(most, count)
    return most


async def test_sessions_of_all_kinds_together_ask_no_more_than_a_provider_takes(
    moot: tuple[Moot, WireServer],
) -> None:
    opened, server = moot
    engine = opened.engine
    for model in server.models:
        server.script(model, point)
    debates = [await engine.debates.start(a_debate(server, polls=polls)) for polls in (True, False)]
    chats = [await engine.chats.start("assistant", f"Question {number}") for number in range(3)]
    work = await engine.workflows.start("Fix the login loop", "bug-fix")
    await asyncio.gather(
        engine.workflows.classify(ODD), *(engine.wait(one) for one in (*debates, *chats, work))
    )
    bodies = [str(one.body) for one in server.requests]
    assert any(ODD in body for body in bodies), "the classifier asked"
    assert sum("secret ballot" in body for body in bodies) == 6, "all voted twice"
    assert sum("You judge a question" in body for body in bodies) == 2, "a judge was asked in both orders"
    assert most_at_once(server.requests) == AT_ONCE


@pytest.mark.parametrize("refused", ["turn", "ballot", "classifier", "chat"])
async def test_what_one_is_refused_all_wait_for(moot: tuple[Moot, WireServer], refused: str) -> None:
    opened, server = moot
    engine = opened.engine
    told: list[Recorded] = []

    def answer(request: Recorded) -> Answer | Fault:
        if told:
            return point(request)
        told.append(request)
        return Fault("rate429")

    server.script(server.model, answer)
    if refused == "classifier":
        asking = asyncio.create_task(engine.workflows.classify(ODD))
    elif refused == "chat":
        asking = asyncio.create_task(engine.chats.start("assistant", "The first question"))
    else:
        setup = a_debate(server, polls=refused == "ballot")
        asking = asyncio.create_task(engine.debates.start(setup))
    assert await asyncio.to_thread(server.wait_for, lambda: bool(told) and told[0].done_at is not None)
    while not engine._calls.paused_for("openai"):
        await asyncio.sleep(0.005)
    other = (
        await engine.debates.start(a_debate(server, polls=False))
        if refused == "chat"
        else await engine.chats.start("assistant", "The other question")
    )
    await asking
    await engine.wait(other)
    marker = "cities ban" if refused == "chat" else "The other question"
    later = next(one for one in server.requests if marker in str(one.body))
    assert later.at - (told[0].done_at or 0.0) > PAUSE_S - 0.05
    await asyncio.gather(*(engine.wait(one.id) for one in engine.sessions()))
