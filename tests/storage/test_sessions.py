"""The session store on a real disk: what is written, read, mended, refused and moved to the bin."""

import asyncio
import dataclasses
import json
import os
import stat
import sys
import tracemalloc
from pathlib import Path

import pytest

from app.core.errors import NotFound, StorageError
from app.core.events import EventBus, MessageStarted, Notice, TurnStarted
from app.core.ids import new_id
from app.core.message import Author, Failure, Message, Prompt, ToolCall, Usage
from app.core.session import Debate, DebateSession
from app.storage.autosave import autosave
from app.storage.lock import WriterLock
from app.storage.log import encode_line
from app.storage.paths import DataPaths
from app.storage.records import merge_patch, plain
from app.storage.sessions import JsonLogStore
from tests.storage.samples import ADA, changed, debate, finished, message, new_store, started, streaming


@pytest.fixture
def paths(data_dir: Path) -> DataPaths:
    return DataPaths(data_dir)


@pytest.fixture
async def store(paths: DataPaths):
    store = JsonLogStore(paths)
    await store.open()
    yield store
    await store.close()


async def _saved(store: JsonLogStore, *texts: str) -> DebateSession:
    session = debate()
    store.append(started(session))
    for text in texts:
        store.append((finished(session.id, message(text)),))
    await store.flush(session.id)
    return session


async def _reopened(paths: DataPaths, session_id: str):
    again = JsonLogStore(paths)
    try:
        return await again.load(session_id)
    finally:
        await again.close()


@pytest.mark.allow_blocking
async def test_everything_of_a_message_comes_back(store, paths):
    whole = Message(
        id=new_id(),
        turn_id="t1",
        parent_turn_id="t0",
        role="some role of tomorrow",
        author=Author(id="p1", name="벤 \u202e", kind="sub", path=("a", "b"), depth=2),
        content="line\u2028one\n둘\0",
        thinking="hm",
        tool_calls=(ToolCall(id="c1", name="subAgent", arguments='{"a"'),),
        tool_call_id="c0",
        resources=({"uri": "ui://prompt/1", "n": [1, {"b": None}]},),
        prompt=Prompt(question="?", type="options", options=("a", "b")),
        round=3,
        state="failed",
        note="truncated",
        why="addressed",
        error=Failure(kind="network", detail="…"),
        usage=Usage(provider="openai", model="gpt-5.2", input_tokens=3, output_tokens=4, cost_usd=0.25),
        seconds=1.5,
        created_at="2026-11-21T10:00:02.000Z",
    )
    session = debate(debate=Debate(topic="t", mode="roles", rounds=10, round=2, turn=1, seed=7))
    store.append(started(session))
    store.append((finished(session.id, whole),))
    await store.flush(session.id)
    stored = await _reopened(paths, session.id)
    assert stored.messages == [whole]
    assert dataclasses.replace(stored.session, status="running", reason="") == session
    assert JsonLogStore(paths).tail(session.id, 5) == [whole]


@pytest.mark.allow_blocking
async def test_what_ran_comes_back_paused_and_what_streamed_is_stopped_with_its_text(store, paths):
    session = await _saved(store, "first")
    whole = message("one two three four")
    for batch in streaming(session.id, whole):
        store.append(batch)
    await store.flush(session.id)
    assert store.summaries()[0].status == "running"
    again = JsonLogStore(paths, read_only=True)
    assert [(one.status, one.reason, one.messages) for one in again.summaries()] == [
        ("paused", "app_restart", 2)
    ]
    stored = await again.load(session.id)
    assert (stored.session.status, stored.session.reason) == ("paused", "app_restart")
    assert [(one.content, one.state) for one in stored.messages] == [
        ("first", "done"),
        ("one two three four", "stopped"),
    ]
    await again.close()


async def test_text_reaches_the_disk_within_a_second_and_by_size(store, paths):
    session = await _saved(store)
    batches = streaming(session.id, message("x" * 5_000), size=100)
    for batch in batches:
        store.append(batch)
    await asyncio.sleep(0.2)
    stored = await _reopened(paths, session.id)
    assert 4_000 <= len(stored.messages[0].content) < 5_000
    await asyncio.sleep(1.2)
    stored = await _reopened(paths, session.id)
    assert len(stored.messages[0].content) == 5_000
    data = await asyncio.to_thread(paths.session(session.id).read_bytes)
    assert data.count(b"\n") < 8


async def test_one_batch_is_one_line(store, paths):
    session = await _saved(store)
    before = paths.session(session.id).read_bytes().count(b"\n")
    session, event = changed(session, debate=dataclasses.replace(session.debate, turn=1))
    store.append(
        (
            TurnStarted(session_id=session.id, turn_id="t", author=ADA),
            finished(session.id, message("a")),
            event,
        )
    )
    store.append((Notice(session_id=session.id, level="info", code="x"),))
    await store.flush(session.id)
    lines = paths.session(session.id).read_bytes().splitlines()
    assert len(lines) == before + 1
    assert json.loads(lines[-1])["ops"][1] == {"op": "session", "patch": {"debate": {"turn": 1}}}


async def test_a_message_written_again_keeps_its_place(store, paths):
    session = await _saved(store)
    first, second = message("first"), message("second")
    for one in (first, second, dataclasses.replace(first, content="first, changed")):
        store.append((finished(session.id, one),))
    await store.flush(session.id)
    stored = await _reopened(paths, session.id)
    assert [one.content for one in stored.messages] == ["first, changed", "second"]


@pytest.mark.allow_blocking
async def test_the_list_is_up_to_date_while_things_happen(store):
    session = await _saved(store, "a", "b")
    other = await _saved(store)
    one = message("c")
    store.append(
        (MessageStarted(session_id=session.id, message=dataclasses.replace(one, state="streaming")),)
    )
    session, event = changed(
        session, status="completed", reason="rounds", updated_at="2027-01-01T00:00:00.000Z"
    )
    store.append((finished(session.id, one), event))
    newest, older = store.summaries()
    assert (newest.id, newest.messages, newest.status, newest.reason) == (
        session.id,
        3,
        "completed",
        "rounds",
    )
    assert (older.id, older.messages, older.speakers) == (other.id, 0, ("Ada", "벤"))
    assert (newest.mode, newest.rounds, newest.round) == ("round-robin", 3, 1)


@pytest.mark.allow_blocking
async def test_the_list_is_what_the_files_say(store, paths):
    session = await _saved(store, "a", "b")
    await store.load(session.id)
    store.append((finished(session.id, message("c", created_at="2026-12-01T00:00:00.000Z")),))
    await store.close()
    cached = JsonLogStore(paths, read_only=True).summaries()
    paths.index.unlink()
    assert JsonLogStore(paths, read_only=True).summaries() == cached
    assert cached[0].messages == 3
    assert cached[0].updated_at == "2026-12-01T00:00:00.000Z"


@pytest.mark.allow_blocking
async def test_the_end_is_read_without_the_rest(store, paths):
    session = await _saved(store, *(f"말 {number} " + "x" * 500 for number in range(400)))
    for batch in streaming(session.id, message("still streaming")):
        store.append(batch)
    await store.flush(session.id)
    read = []

    class Counting(type(store._disk)):
        def read(self, path, start=0, end=None):
            data = super().read(path, start, end)
            read.append(len(data))
            return data

    tail = JsonLogStore(paths, file_system=Counting()).tail(session.id, 20)
    assert [one.content.split()[1] for one in tail] == [str(number) for number in range(380, 400)]
    assert sum(read) < 150_000 < paths.session(session.id).stat().st_size
    assert len(JsonLogStore(paths).tail(session.id, 1_000)) == 400


async def test_a_session_goes_to_the_bin_and_comes_back(store, paths):
    session = await _saved(store, "kept")
    await store.delete(session.id)
    store.append((finished(session.id, message("late")),))
    with pytest.raises(NotFound):
        await _reopened(paths, session.id)
    assert not store.summaries()
    await store.restore(session.id)
    assert store.summaries()[0].id == session.id
    await store.flush(session.id)
    assert [one.content for one in (await _reopened(paths, session.id)).messages] == ["kept", "late"]
    with pytest.raises(NotFound):
        await store.delete(new_id())
    with pytest.raises(NotFound):
        await store.restore(new_id())


async def test_the_bin_is_emptied_after_thirty_days(paths):
    paths.trash.mkdir(parents=True)
    old, fresh = new_id(), new_id()
    (paths.trash / f"{old}.1700000000.jsonl").write_bytes(b"x")
    (paths.trash / f"{fresh}.99999999999.jsonl").write_bytes(b"x")
    store = JsonLogStore(paths)
    await store.open()
    await store.close()
    assert [path.name.split(".")[0] for path in paths.trash.iterdir()] == [fresh]


@pytest.mark.parametrize(
    "session_id",
    [
        "../../x",
        "/etc/passwd",
        "C:\\x",
        "\\\\host\\share",
        "CON",
        "nul.json",
        "x.",
        "a:b",
        "가" * 100,
        "",
        "x\ny",
    ],
)
async def test_a_name_that_is_no_id_never_becomes_a_path(store, session_id):
    with pytest.raises(NotFound):
        await store.load(session_id)
    with pytest.raises(NotFound):
        store.tail(session_id, 3)
    with pytest.raises(NotFound):
        await store.delete(session_id)
    with pytest.raises(NotFound):
        await store.restore(session_id)


def _file(paths: DataPaths, data: bytes) -> str:
    session_id = new_id()
    paths.sessions.mkdir(parents=True, exist_ok=True)
    paths.session(session_id).write_bytes(data)
    return session_id


def _sample(kind: str = "debate", min_reader: int = 1) -> bytes:
    session = debate()
    head = {"op": "head", "version": min_reader, "min_reader": min_reader, "id": session.id}
    record = {**plain(session), "kind": kind, "field_of_tomorrow": {"kept": True}}
    said = {**plain(message("said")), "field_of_tomorrow": 1, "role": "role of tomorrow"}
    return encode_line(1, [head, {"op": "session", "patch": record}]) + encode_line(
        2, [{"op": "op of tomorrow"}, {"op": "message", "message": said}]
    )


@pytest.mark.parametrize(
    "data", [bytes(4_096), _sample().decode().encode("utf-16"), b"\xff\xfe\0", b"{}\n", b"not a log\n" * 3]
)
async def test_a_file_that_is_no_log_is_listed_as_damaged_and_left_alone(paths, data):
    session_id = _file(paths, data)
    good = _file(paths, _sample())
    store = JsonLogStore(paths)
    await store.open()
    listed = {one.id: one for one in store.summaries()}
    assert listed[good].status == "paused"
    if session_id in listed:
        assert (listed[session_id].status, listed[session_id].read_only) == ("error", True)
    stored = await store.load(session_id)
    assert stored.read_only
    await store.close()
    assert paths.session(session_id).read_bytes() == data


async def test_an_empty_file_is_no_session(paths):
    session_id = _file(paths, b"")
    store = JsonLogStore(paths)
    await store.open()
    assert store.summaries() == []
    assert (await store.load(session_id)).read_only
    await store.close()


async def test_a_file_of_a_newer_version_is_read_and_never_changed(paths):
    data = _sample(min_reader=2) + b'{"torn'
    session_id = _file(paths, data)
    store = JsonLogStore(paths)
    stored = await store.load(session_id)
    assert stored.read_only
    assert [one.content for one in stored.messages] == ["said"]
    store.append((finished(session_id, message("no")),))
    with pytest.raises(StorageError, match="newer_version"):
        await store.flush(session_id)
    await asyncio.gather(store.close(), return_exceptions=True)
    assert paths.session(session_id).read_bytes() == data


async def test_a_newer_file_that_was_never_loaded_is_not_changed_either(paths):
    data = _sample(min_reader=2)
    session_id = _file(paths, data)
    store = JsonLogStore(paths)
    store.append((finished(session_id, message("no")),))
    with pytest.raises(StorageError, match="newer_version"):
        await store.flush(session_id)
    await asyncio.gather(store.close(), return_exceptions=True)
    assert paths.session(session_id).read_bytes() == data


async def test_unknown_kinds_are_read_only_and_unknown_fields_survive(paths):
    strange = _file(paths, _sample(kind="kind of tomorrow"))
    known = _file(paths, _sample())
    store = JsonLogStore(paths)
    assert (await store.load(strange)).read_only
    stored = await store.load(known)
    assert not stored.read_only
    assert stored.session.id == known
    assert stored.messages[0].role == "role of tomorrow"
    _, event = changed(stored.session, title="changed")
    store.append((event,))
    await store.close()
    replayed = (await _reopened(paths, known)).session
    assert replayed.title == "changed"
    assert b"field_of_tomorrow" in paths.session(known).read_bytes()


async def test_damage_is_counted_and_the_original_kept(paths):
    data = _sample()
    lines = data.splitlines(keepends=True)
    broken = (
        lines[0]
        + lines[1].replace(b"said", b"lied")
        + encode_line(3, [{"op": "message", "message": plain(message("after"))}])
    )
    session_id = _file(paths, broken + b'{"c":"torn')
    store = JsonLogStore(paths)
    stored = await store.load(session_id)
    assert (stored.damaged, [one.content for one in stored.messages]) == (1, ["after"])
    store.append((finished(session_id, message("new")),))
    await store.close()
    assert paths.session(session_id).read_bytes().startswith(broken)
    assert next(paths.quarantine.glob(f"{session_id}.torn-*")).read_bytes() == b'{"c":"torn'
    assert [one.content for one in (await _reopened(paths, session_id)).messages] == ["after", "new"]


async def test_a_missing_last_newline_is_given_back(paths):
    session_id = _file(paths, _sample()[:-1])
    store = JsonLogStore(paths)
    await store.load(session_id)
    store.append((finished(session_id, message("new")),))
    await store.close()
    assert [one.content for one in (await _reopened(paths, session_id)).messages] == ["said", "new"]
    assert not paths.quarantine.exists()


async def test_folders_and_links_are_no_sessions(paths, tmp_path):
    target = tmp_path / "elsewhere.jsonl"
    target.write_bytes(_sample())
    paths.sessions.mkdir(parents=True)
    folder, link = new_id(), new_id()
    paths.session(folder).mkdir()
    paths.session(link).symlink_to(target)
    (paths.sessions / "not an id.jsonl").write_bytes(_sample())
    store = JsonLogStore(paths)
    await store.open()
    assert store.summaries() == []
    with pytest.raises(StorageError):
        await store.load(folder)
    store.append((finished(link, message("through the link")),))
    with pytest.raises(StorageError):
        await store.flush(link)
    await asyncio.gather(store.close(), return_exceptions=True)
    assert b"through" not in target.read_bytes()
    with pytest.raises(StorageError):
        await JsonLogStore(paths, read_only=True).load(link)


@pytest.mark.allow_blocking
async def test_the_index_is_mended_wherever_it_is_wrong(paths):
    store = JsonLogStore(paths)
    kept, gone, grown = [await _saved(store, "x") for _ in range(3)]
    await store.close()
    good = JsonLogStore(paths, read_only=True).summaries()
    index = paths.index.read_bytes()
    for bad in (b"", b"{", bytes(100), index[:-20], index.replace(b'"debate"', b'"editor"'), b"[]"):
        paths.index.write_bytes(bad)
        assert JsonLogStore(paths, read_only=True).summaries() == good
    paths.index.write_bytes(index)
    paths.session(gone.id).unlink()
    extra = _file(paths, _sample())
    with paths.session(grown.id).open("ab") as file:
        file.write(encode_line(9, [{"op": "message", "message": plain(message("more"))}]))
    found = {one.id: one.messages for one in JsonLogStore(paths, read_only=True).summaries()}
    assert found == {kept.id: 1, grown.id: 2, extra: 1}
    paths.index.unlink()
    paths.index.mkdir()
    assert len(JsonLogStore(paths, read_only=True).summaries()) == 3


async def test_a_full_disk_is_said_and_nothing_is_lost(paths):
    import resource

    store = JsonLogStore(paths)
    session = await _saved(store, "before")
    size = paths.session(session.id).stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 3_000, limits[1]))
        store.append((finished(session.id, message("big " + "x" * 4_000)),))
        store.append((finished(session.id, message("small")),))
        with pytest.raises(StorageError, match="disk_full") as caught:
            await store.flush(session.id)
        assert caught.value.details["path"] == str(paths.session(session.id))
        assert [one.content for one in (await _reopened(paths, session.id)).messages] == ["before"]
        assert paths.session(session.id).stat().st_size == size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    await store.flush(session.id)
    stored = await _reopened(paths, session.id)
    assert [one.content[:5] for one in stored.messages] == ["befor", "big x", "small"]
    await store.close()


async def test_a_store_that_only_reads_leaves_no_trace(paths):
    store = JsonLogStore(paths)
    session = await _saved(store, "x")
    await store.close()
    before = sorted(path.name for path in paths.root.rglob("*"))
    reader = JsonLogStore(paths, read_only=True)
    await reader.open()
    assert reader.summaries()[0].status == "paused"
    assert (await reader.load(session.id)).read_only
    with pytest.raises(StorageError, match="read_only"):
        reader.append((finished(session.id, message("no")),))
    await reader.close()
    assert sorted(path.name for path in paths.root.rglob("*")) == before


async def test_a_directory_that_cannot_be_written_is_said_and_still_read(paths):
    class ReadOnly(type(new_store()._disk)):
        def _refuse(self, *_):
            raise PermissionError(13, "Permission denied")

        create = open = replace = make_folder = remove = _refuse

    store = JsonLogStore(paths)
    session = await _saved(store, "x")
    await store.close()
    refused = JsonLogStore(paths, file_system=ReadOnly())
    assert [one.content for one in (await refused.load(session.id)).messages] == ["x"]
    refused.append((finished(session.id, message("no")),))
    with pytest.raises(StorageError, match="read_only"):
        await refused.flush(session.id)
    with pytest.raises(StorageError, match="read_only"):
        await refused.delete(session.id)
    with pytest.raises(StorageError, match="read_only"):
        await refused.close()


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
async def test_files_are_the_users_own(store, paths):
    old = os.umask(0)
    try:
        await _saved(store, "x")
        await store.close()
    finally:
        os.umask(old)
    for path in [paths.root, *paths.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


async def test_what_cannot_be_read_back_is_refused_at_once(store, paths):
    session = await _saved(store, "x")
    store.append((finished(session.id, message("y", round="three")),))
    with pytest.raises(StorageError, match="invalid_record"):
        await store.flush(session.id)
    store.append((finished(session.id, message("z")),))
    await store.flush(session.id)
    assert [one.content for one in (await _reopened(paths, session.id)).messages] == ["x", "z"]


async def test_a_cancelled_flush_still_writes(store, paths):
    session = await _saved(store)
    store.append((finished(session.id, message("x")),))
    task = asyncio.create_task(store.flush(session.id))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await store.flush(session.id)
    assert len((await _reopened(paths, session.id)).messages) == 1


async def test_autosave_writes_what_the_bus_carries(store, paths):
    bus = EventBus()
    stop = autosave(bus, store)
    session, other = debate(), debate()
    bus.publish(*started(session), *started(other), Notice(session_id="", level="info", code="x"))
    bus.publish(finished(session.id, message("saved")))
    stop()
    bus.publish(finished(session.id, message("not saved")))
    await store.close()
    assert [one.content for one in (await _reopened(paths, session.id)).messages] == ["saved"]
    assert (await _reopened(paths, other.id)).messages == []


async def test_the_wall_clock_may_jump(store, paths, monkeypatch):
    session = await _saved(store)
    for text, at in (("a", "2036-01-01T00:00:00.000Z"), ("b", "2026-11-20T00:00:00.000Z")):
        store.append((finished(session.id, message(text, created_at=at)),))
    await store.close()
    assert [one.content for one in (await _reopened(paths, session.id)).messages] == ["a", "b"]


async def test_the_list_is_saved_by_itself(store, paths):
    session = await _saved(store, "x")
    for _ in range(60):
        await asyncio.sleep(0.1)
        if paths.index.exists() and session.id in paths.index.read_text():
            return
    pytest.fail("no index")


@pytest.mark.allow_blocking
async def test_a_second_moot_that_reads_sees_what_runs_in_the_first(store, paths):
    session = await _saved(store, "x")
    for batch in streaming(session.id, message("half an answer")):
        store.append(batch)
    await store.flush(session.id)
    lock = WriterLock(paths)
    lock.acquire()
    reader = JsonLogStore(paths, read_only=True)
    await reader.open()
    assert reader.summaries()[0].status == "running"
    stored = await reader.load(session.id)
    assert (stored.session.status, stored.messages[-1].state) == ("running", "streaming")
    lock.release()


@pytest.mark.allow_blocking
async def test_ten_thousand_messages_are_compact(paths):
    session = debate()
    lines = [encode_line(1, [{"op": "session", "patch": plain(session)}])]
    for number in range(10_000):
        one = message("텍스트 " * 20, turn_id=f"turn-{number // 2}")
        lines.append(encode_line(number + 2, [{"op": "message", "message": plain(one)}]))
    session_id = _file(paths, b"".join(lines))
    store = JsonLogStore(paths)
    await store.load(session_id)
    tracemalloc.start()
    stored = await store.load(session_id)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    text = sum(sys.getsizeof(one.content) for one in stored.messages)
    assert held - text < 12_000_000
    assert len({id(one.author) for one in stored.messages}) == 1
    assert len({id(one.turn_id) for one in stored.messages}) == 5_000
    await store.close()


def test_a_patch_makes_the_old_into_the_new():
    old = {"a": 1, "b": {"c": 1, "d": [1]}, "e": "x"}
    new = {"a": 1, "b": {"c": 2, "d": [1]}, "f": [2]}
    assert merge_patch(old, new) == {"b": {"c": 2}, "e": None, "f": [2]}
