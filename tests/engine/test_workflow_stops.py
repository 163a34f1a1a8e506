"""Steps that are accepted or retried just while a workflow saves that it stops."""

import asyncio
from pathlib import Path

import pytest

from app.core.definitions import WorkflowDefinition
from app.core.session import Status
from tests.builders import Hang, until
from tests.engine.test_turn import status
from tests.engine.test_workflow import DONE_TEXT, bench, states, step, step_of


async def test_a_step_accepted_while_the_run_saves_that_it_waits_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(
        tmp_path,
        lambda one: ["I thought about it."] if step_of(one) == "a" else [DONE_TEXT],
        definition=WorkflowDefinition(id="diamond", name="D", steps=(step("a"), step("b", "a"))),
    )
    flush, saving, gate = made.store.flush, asyncio.Event(), asyncio.Event()

    async def slow_flush(session_id: str) -> None:
        if status(made, session_id) == Status.WAITING and not gate.is_set():
            saving.set()
            await gate.wait()
        await flush(session_id)

    monkeypatch.setattr(made.store, "flush", slow_flush)
    session_id = await made.engine.workflows.start("Cut a diamond.", "diamond")
    await saving.wait()
    await made.engine.workflows.accept(session_id, "a")
    gate.set()
    await made.engine.wait(session_id)
    assert states(made, session_id) == {"a": "done", "b": "done"}
    assert status(made, session_id) == Status.COMPLETED


async def test_a_step_retried_while_a_stop_is_saved_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(tmp_path, lambda one: [DONE_TEXT] if step_of(one) == "a" else ["I begin", Hang()])
    flush, saving, gate = made.store.flush, asyncio.Event(), asyncio.Event()

    async def slow_flush(session_id: str) -> None:
        if status(made, session_id) == Status.STOPPED and not gate.is_set():
            saving.set()
            await gate.wait()
        await flush(session_id)

    monkeypatch.setattr(made.store, "flush", slow_flush)
    session_id = await made.engine.workflows.start("Cut a diamond.", "diamond")
    await until(lambda: any(one.content == "I begin" for one in made.messages(session_id)))
    stopping = asyncio.create_task(made.engine.stop(session_id))
    await saving.wait()
    await made.engine.workflows.retry(session_id, "a")
    assert status(made, session_id) == Status.STOPPED, "nothing runs, so nothing says so"
    gate.set()
    await stopping
