"""The session store on a real disk: what is written, read, mended, refused and moved to the bin."""

import asyncio
import dataclasses
import json
import os
import stat
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from app.core.errors import BadInput, Failure, NotFound, StorageError
from app.core.events import EventBus, MessageStarted, Notice, TurnStarted
from app.core.ids import new_id
from app.core.message import Author, Message, Prompt, ToolCall, Usage
from app.core.session import Debate
from app.storage.access import WriterLock
from app.storage.codec import apply_patch, merge_patch, plain
from app.storage.file_system import FileSystem
from app.storage.lines import decode_line, encode_line
from app.storage.sessions import LOOKED, JsonLogStore, autosave, remove_old, thrown
from tests.storage.samples import (
    ADA,
    changed,
    debate,
    finished,
    log_file,
    message,
    reopened,
    saved,
    started,
    streaming,
)


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
    stored = await reopened(paths, session.id)
    assert stored.messages == [whole]
    assert dataclasses.replace(stored.session, status="running", reason="") == session
    assert JsonLogStore(paths).tail(session.id, 5) == [whole]


@pytest.mark.allow_blocking
async def test_what_ran_comes_back_paused_and_what_streamed_is_stopped_with_its_text(store, paths):
    session = await saved(store, "first")
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
    session = await saved(store)
    batches = streaming(session.id, message("x" * 5_000), size=100)
    for batch in batches:
        store.append(batch)
    await asyncio.sleep(0.2)
    stored = await reopened(paths, session.id)
    assert 4_000 <= len(stored.messages[0].content) < 5_000
    await asyncio.sleep(1.2)
    stored = await reopened(paths, session.id)
    assert len(stored.messages[0].content) == 5_000
    data = await asyncio.to_thread(paths.session(session.id).read_bytes)
    assert data.count(b"\n") < 8


async def test_one_batch_is_one_line(store, paths):
    session = await saved(store)
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


@pytest.mark.corpus(11)
async def test_a_message_written_again_keeps_its_place(store, paths):
    session = await saved(store)
    first, second = message("first"), message("second")
    for one in (first, second, dataclasses.replace(first, content="first, changed")):
        store.append((finished(session.id, one),))
    await store.flush(session.id)
    stored = await reopened(paths, session.id)
    assert [one.content for one in stored.messages] == ["first, changed", "second"]


@pytest.mark.allow_blocking
async def test_the_list_is_up_to_date_while_things_happen(store):
    session = await saved(store, "a", "b")
    other = await saved(store)
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
    session = await saved(store, "a", "b")
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
    session = await saved(store, *(f"말 {number} " + "x" * 500 for number in range(400)))
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
    session = await saved(store, "kept")
    await store.delete(session.id)
    store.append((finished(session.id, message("late")),))
    with pytest.raises(NotFound):
        await reopened(paths, session.id)
    assert not store.summaries()
    await store.restore(session.id)
    assert store.summaries()[0].id == session.id
    await store.flush(session.id)
    assert [one.content for one in (await reopened(paths, session.id)).messages] == ["kept", "late"]
    with pytest.raises(NotFound):
        await store.delete(new_id())
    with pytest.raises(NotFound):
        await store.restore(new_id())


async def test_undo_never_overwrites_a_session_that_exists(store, paths):
    session = await saved(store, "one")
    backup = paths.session(session.id).read_bytes()
    store.append((finished(session.id, message("two")),))
    await store.delete(session.id)
    await store.put(session.id, lambda: backup)
    store.append((finished(session.id, message("three")),))
    await store.flush(session.id)
    (deleted,) = paths.trash.iterdir()
    before = deleted.read_bytes()
    with pytest.raises(BadInput, match="bin_place_taken") as refused:
        await store.restore(session.id)
    assert refused.value.details["name"] == session.title
    store.append((finished(session.id, message("four")),))
    await store.flush(session.id)
    kept = [one.content for one in (await reopened(paths, session.id)).messages]
    assert kept == ["one", "three", "four"]
    assert deleted.read_bytes() == before


async def test_a_session_deleted_twice_in_a_second_is_in_the_bin_twice(store, paths, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    session = await saved(store, "one")
    backup = paths.session(session.id).read_bytes()
    await store.delete(session.id)
    await store.put(session.id, lambda: backup)
    store.append((finished(session.id, message("two")),))
    await store.delete(session.id)
    first, second = sorted(path.name for path in paths.trash.iterdir())
    await store.restore(session.id, first)
    assert [one.content for one in (await store.load(session.id)).messages] == ["one"]
    assert [path.name for path in paths.trash.iterdir()] == [second]


class Pausing(dict):
    """An index that stops in the middle of being listed until the test lets it go on."""

    def __init__(self, entries) -> None:
        super().__init__(entries)
        self.go_on = threading.Event()

    def values(self):
        found = iter(super().values())
        yield next(found)
        self.go_on.wait(10)
        yield from found


@pytest.mark.allow_blocking
async def test_the_index_is_changed_by_the_thread_that_saves_it_alone(store, paths):
    kept, gone, _ = [await saved(store, "x") for _ in range(3)]
    await asyncio.wrap_future(store.in_turn(store._save_index))
    store._index.summaries = entries = Pausing(store._index.summaries)
    store.append((finished(kept.id, message("y")),))
    log = paths.session(gone.id).read_bytes()
    paths.session(gone.id).unlink()
    # Saving begins right after the file was put in place, and goes on once `put` is over.
    putting = asyncio.create_task(store.put(gone.id, lambda: log))
    await asyncio.sleep(0)
    saving = asyncio.wrap_future(store.in_turn(store._save_index))
    await putting
    entries.go_on.set()
    await saving
    assert gone.id not in paths.index.read_text()
    assert kept.id in paths.index.read_text()


async def test_the_bin_is_emptied_after_thirty_days(paths):
    paths.trash.mkdir(parents=True)
    old, fresh = new_id(), new_id()
    (paths.trash / f"{old}.1700000000.jsonl").write_bytes(b"x")
    (paths.trash / f"{fresh}.99999999999.jsonl").write_bytes(b"x")
    # Assistants go there too, and their ids may hold dots.
    (paths.trash / "an.old.one.1700000000.json").write_bytes(b"x")
    (paths.trash / "a.5.99999999999.json").write_bytes(b"x")
    left = [fresh, "a", LOOKED]
    for ago, there in (
        (None, [old, "an", *left]),
        (-1, [old, "an", *left]),
        (40, [old, "an", *left]),
        (13, left),
    ):
        if ago is not None:
            moment = time.time() - ago * 86_400
            os.utime(paths.trash / LOOKED, (moment, moment))
        store = JsonLogStore(paths)
        await store.open()
        await store.close()
        assert sorted(path.name.split(".")[0] for path in paths.trash.iterdir()) == sorted(there), ago
        assert abs((paths.trash / LOOKED).stat().st_mtime - time.time()) < 60


def test_a_file_in_the_bin_with_a_time_that_is_none_stays_and_is_not_listed(paths):
    paths.trash.mkdir(parents=True)
    odd = f"ada.{'9' * 20}.json"
    for name in (odd, "ben.99999999999.json"):
        (paths.trash / name).write_text('{"id": "x", "name": "X"}')
    assert [found.file for found in thrown(paths, FileSystem())] == ["ben.99999999999.json"]
    remove_old(paths, FileSystem())
    assert (paths.trash / odd).exists()


@pytest.mark.threat("T18")
@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
async def test_files_are_the_users_own(store, paths):
    old = os.umask(0)
    try:
        await saved(store, "x")
        await store.close()
    finally:
        os.umask(old)
    for path in [paths.root, *paths.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


async def test_what_cannot_be_read_back_is_refused_at_once(store, paths):
    session = await saved(store, "x")
    store.append((finished(session.id, message("y", round="three")),))
    with pytest.raises(StorageError, match="invalid_record"):
        await store.flush(session.id)
    store.append((finished(session.id, message("z")),))
    await store.flush(session.id)
    assert [one.content for one in (await reopened(paths, session.id)).messages] == ["x", "z"]


async def test_a_cancelled_flush_still_writes(store, paths):
    session = await saved(store)
    store.append((finished(session.id, message("x")),))
    task = asyncio.create_task(store.flush(session.id))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await store.flush(session.id)
    assert len((await reopened(paths, session.id)).messages) == 1


async def test_autosave_writes_what_the_bus_carries(store, paths):
    bus = EventBus()
    stop = autosave(bus, store)
    session, other = debate(), debate()
    bus.publish(*started(session), *started(other), Notice(session_id="", level="info", code="x"))
    bus.publish(finished(session.id, message("saved")))
    stop()
    bus.publish(finished(session.id, message("not saved")))
    await store.close()
    assert [one.content for one in (await reopened(paths, session.id)).messages] == ["saved"]
    assert (await reopened(paths, other.id)).messages == []


@pytest.mark.corpus(63)
async def test_the_wall_clock_may_jump(store, paths, monkeypatch):
    session = await saved(store)
    for text, at in (("a", "2036-01-01T00:00:00.000Z"), ("b", "2026-11-20T00:00:00.000Z")):
        store.append((finished(session.id, message(text, created_at=at)),))
    await store.close()
    assert [one.content for one in (await reopened(paths, session.id)).messages] == ["a", "b"]


async def test_the_list_is_saved_by_itself(store, paths):
    session = await saved(store, "x")
    for _ in range(60):
        await asyncio.sleep(0.1)
        if paths.index.exists() and session.id in paths.index.read_text():
            return
    pytest.fail("no index")


@pytest.mark.allow_blocking
async def test_a_second_moot_that_reads_sees_what_runs_in_the_first(store, paths):
    lock = WriterLock(paths)
    lock.acquire()
    session = await saved(store, "x")
    for batch in streaming(session.id, message("half an answer")):
        store.append(batch)
    await store.flush(session.id)
    reader = JsonLogStore(paths, read_only=True)
    await reader.open()
    assert reader.summaries()[0].status == "running"
    stored = await reader.load(session.id)
    assert (stored.session.status, stored.messages[-1].state) == ("running", "streaming")
    lock.release()


@pytest.mark.allow_blocking
async def test_what_was_cut_off_is_paused_though_another_moot_is_there_by_now(store, paths):
    session = await saved(store, "x")
    for batch in streaming(session.id, message("half an answer")):
        store.append(batch)
    await store.flush(session.id)
    await asyncio.sleep(0.02)
    lock = WriterLock(paths)
    lock.acquire()
    reader = JsonLogStore(paths, read_only=True)
    await reader.open()
    assert reader.summaries()[0].status == "paused"
    stored = await reader.load(session.id)
    assert (stored.session.status, stored.messages[-1].state) == ("paused", "stopped")
    lock.release()


@pytest.mark.allow_blocking
async def test_ten_thousand_messages_are_compact(paths):
    session = debate()
    lines = [encode_line(1, [{"op": "session", "patch": plain(session)}])]
    for number in range(10_000):
        one = message("텍스트 " * 20, turn_id=f"turn-{number // 2}")
        lines.append(encode_line(number + 2, [{"op": "message", "message": plain(one)}]))
    session_id = log_file(paths, b"".join(lines))
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


def test_a_patch_may_be_nested_deeper_than_python_calls():
    patch = {"a": 1}
    for _ in range(5_000):
        patch = {"in": patch}
    target = {}
    apply_patch(target, patch)
    for _ in range(5_000):
        target = target["in"]
    assert target == {"a": 1}


async def test_an_index_with_odd_rows_is_made_again(store, paths):
    session = await saved(store, "x")
    await store.close()
    line = decode_line(paths.index.read_bytes().rstrip(b"\n"))
    [row] = line.ops[0]["sessions"]
    title = row.index(session.title)
    for odd in ([*row[:title], 5, *row[title + 1 :]], row[:-1], [*row, "x"], "row", [None]):
        paths.index.write_bytes(encode_line(1, [{**line.ops[0], "sessions": [odd]}]))
        again = JsonLogStore(paths)
        await again.open()
        assert [summary.title for summary in again.summaries()] == [session.title]
        await again.close()


@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds open is seen in /proc")
@pytest.mark.allow_blocking
async def test_only_so_many_files_are_held_open(paths):
    store = JsonLogStore(paths)
    sessions = [await saved(store, "x") for _ in range(80)]
    held = [one for one in Path("/proc/self/fd").iterdir() if _is_log(one)]
    assert len(held) <= 40
    # One that was closed is written on as before.
    store.append((finished(sessions[0].id, message("more")),))
    await store.flush(sessions[0].id)
    assert [one.content for one in (await reopened(paths, sessions[0].id)).messages] == ["x", "more"]
    await store.close()


def _is_log(link):
    try:
        return link.readlink().suffix == ".jsonl"
    except OSError:
        return False


async def test_text_wakes_the_writer_once_in_a_moment_and_keeps_its_place(store, paths, monkeypatch):
    session = await saved(store, "first")
    posted: list[int] = []
    post = store._writer.post

    def count(session_id, events, summary):
        posted.append(len(events))
        post(session_id, events, summary)

    monkeypatch.setattr(store._writer, "post", count)
    whole = message(" ".join(f"w{number}" for number in range(40)))
    begun, *deltas = streaming(session.id, whole)
    for batch in (begun, *deltas):
        store.append(batch)
    assert posted == [1], "the writer has the beginning alone"
    # What comes after the text is behind it in the log.
    store.append((finished(session.id, whole),))
    assert posted == [1, len(deltas), 1]
    begun, *deltas = streaming(session.id, message("two three"))
    for batch in (begun, *deltas):
        store.append(batch)
    log = paths.session(session.id)
    for _ in range(40):
        await asyncio.sleep(0.1)
        if "two" in log.read_text("utf-8"):
            break
    assert posted[3:] == [1, len(deltas)], "without another event it is written a moment later"
    found = [one.content for one in (await reopened(paths, session.id)).messages]
    assert found == ["first", whole.content, "two three"]
    # So much that it is worth a write of its own waits for nothing.
    before = len(posted)
    for batch in streaming(session.id, message("word " * 900), size=900):
        store.append(batch)
    assert len(posted) == before + 2, "the beginning, and the text at 2,048 characters"
