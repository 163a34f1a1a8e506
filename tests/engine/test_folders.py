"""Folders: what the sessions begun in one are sent, moves in and out, and a folder that is deleted."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Group, Leader, WorkflowDefinition
from app.core.errors import BadInput
from app.core.events import FoldersChanged
from app.core.session import DebateMode, Folder
from app.engine.engine import CouncilSetup
from tests.builders import Bench, a_bench, a_log_store, a_setup
from tests.engine.test_turn import agent
from tests.engine.test_workflow import step

ASKS = "Answer for physics teachers."
TEXT = "Momentum is kept."


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Bench]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    made = a_bench(store, agents=(agent(), agent("ann", name="Ann")))
    leader = Leader(provider="remote0", model="m")
    made.documents.groups.kept = (Group(id="crew", name="Crew", members=("ann",), orchestrator=leader),)
    made.documents.workflows.kept = (WorkflowDefinition(id="one", name="One", steps=(step("a"),)),)
    yield made
    await made.engine.shutdown()


async def a_folder(bench: Bench, tmp_path: Path) -> Folder:
    file = tmp_path / "notes.txt"
    file.write_text(TEXT, "utf-8")
    return await bench.engine.folders.save(
        Folder(id="", name="School", instructions=ASKS, context=(str(file),))
    )


def told(bench: Bench) -> list[tuple[bool, bool]]:
    """Say for every request whether it has the folder's instructions in its system text, and its file."""
    return [
        (
            ASKS in str([one["content"] for one in request.messages if one["role"] == "system"]),
            TEXT in str(request.messages),
        )
        for request in bench.models.requests
    ]


async def test_a_chat_keeps_what_its_folder_asked_when_it_began(bench: Bench, tmp_path: Path) -> None:
    folder = await a_folder(bench, tmp_path)
    session_id = await bench.engine.chats.start("main", "Hello", folder=folder.id)
    await bench.engine.wait(session_id)
    await bench.engine.folders.save(replace(folder, instructions="Be brief."))
    await bench.engine.chats.send(session_id, "And now?")
    await bench.engine.wait(session_id)
    assert told(bench) == [(True, True), (True, True)]
    first, second = (request.messages for request in bench.models.requests)
    assert second[: len(first)] == first
    assert [(one.id, one.folder) for one in bench.engine.sessions()] == [(session_id, folder.id)]


async def test_a_chat_that_is_moved_uses_what_its_new_folder_has(bench: Bench, tmp_path: Path) -> None:
    folder = await a_folder(bench, tmp_path)
    session_id = await bench.engine.chats.start("main", "Hello")
    for place in (folder.id, ""):
        await bench.engine.wait(session_id)
        await bench.engine.move(session_id, place)
        await bench.engine.chats.send(session_id, "And now?")
    await bench.engine.wait(session_id)
    assert told(bench) == [(False, False), (True, True), (False, False)]


@pytest.mark.parametrize("kind", ["group", "workflow", "debate", "council"])
async def test_sessions_of_all_kinds_are_told_what_their_folder_asks(
    bench: Bench, tmp_path: Path, kind: str
) -> None:
    folder = (await a_folder(bench, tmp_path)).id
    engine, setup = bench.engine, replace(a_setup(), folder=folder, rounds=1)
    if kind == "group":
        session_id = await engine.groups.start("crew", "Go", folder=folder)
    elif kind == "workflow":
        session_id = await engine.workflows.start("Go", "one", folder=folder)
    elif kind == "debate":
        session_id = await engine.debates.start(setup)
    else:
        council = CouncilSetup(setup=replace(setup, mode=DebateMode.COUNCIL), differences=False)
        session_id = await engine.councils.start(council)
    await engine.wait(session_id)
    # A debate is given the files it was set up with.
    assert set(told(bench)) == {(True, kind in ("group", "workflow"))}
    assert engine.sessions()[0].folder == folder


async def test_a_deleted_folder_keeps_nothing_and_comes_back_with_its_sessions(
    bench: Bench, tmp_path: Path
) -> None:
    folder = await a_folder(bench, tmp_path)
    session_id = await bench.engine.chats.start("main", "Hello", folder=folder.id)
    await bench.engine.wait(session_id)
    await bench.engine.folders.delete(folder.id)
    assert bench.engine.folders.all() == ()
    twin = await bench.engine.folders.save(Folder(id="", name="School"))
    assert twin.id != bench.engine.sessions()[0].folder
    await bench.engine.folders.restore(folder)
    assert {one.id for one in bench.engine.folders.all()} == {folder.id, twin.id}
    assert sum(isinstance(one, FoldersChanged) for one in bench.events) == 4


async def test_a_chat_does_not_begin_without_a_file_of_its_folder(bench: Bench, tmp_path: Path) -> None:
    folder = await a_folder(bench, tmp_path)
    Path(folder.context[0]).unlink()
    with pytest.raises(BadInput, match="notes"):
        await bench.engine.chats.start("main", "Hello", folder=folder.id)
    assert bench.engine.sessions() == []
