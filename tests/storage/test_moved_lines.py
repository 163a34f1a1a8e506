"""Logs whose lines were repeated, moved or damaged by other programs: what is in the file is shown, and nothing else."""

import dataclasses
import random

import pytest

from app.core.message import Message, MessageState
from app.core.store import StoredSession
from app.storage.lines import Line, decode_line
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.storage.samples import changed, debate, finished, message, new_store, reopened, started, streaming


async def written_log(paths: DataPaths, chance: random.Random) -> tuple[str, list[bytes]]:
    """Write a session as the program does: streamed and whole messages, some written again, some never ended."""
    store = new_store(root=paths.root)
    session = debate()
    store.append(started(session))
    said: list[Message] = []
    for turn in range(chance.randrange(2, 9)):
        one = message(f"{turn}: " + "말 words " * chance.randrange(1, 30), turn_id=f"t{turn}")
        if chance.random() < 0.6:
            for batch in streaming(session.id, one, size=chance.randrange(5, 60)):
                store.append(batch)
                if chance.random() < 0.3:
                    await store.flush(session.id)
        session, event = changed(session, debate=dataclasses.replace(session.debate, turn=turn + 1))
        if chance.random() < 0.85:
            store.append((finished(session.id, one), event))
            said.append(one)
        if said and chance.random() < 0.3:
            again = dataclasses.replace(chance.choice(said), content=f"written again in {turn}")
            store.append((finished(session.id, again),))
        await store.flush(session.id)
    await store.close()
    return session.id, paths.session(session.id).read_bytes().splitlines(keepends=True)


def disordered(lines: list[bytes], chance: random.Random, kind: str) -> list[bytes]:
    """Return the lines with one of them repeated, or moved, or first one and then the other."""
    found = list(lines)
    if kind in ("repeated", "both"):
        found.insert(chance.randrange(len(found) + 1), chance.choice(found))
    if kind in ("moved", "both"):
        line = found.pop(chance.randrange(len(found)))
        found.insert(chance.randrange(len(found) + 1), line)
    return found


def damaged(lines: list[bytes], chance: random.Random) -> bytes:
    """Return a log to which other programs, or the disk, did up to four things."""
    found = list(lines)
    for _ in range(chance.randrange(1, 5)):
        place = chance.randrange(len(found))
        match chance.choice(("repeated", "moved", "lost", "bit", "glued", "cut", "nuls")):
            case "repeated" | "moved" as kind:
                found = disordered(found, chance, kind)
            case "lost" if len(found) > 1:
                del found[place]
            case "bit":
                data = bytearray(found[place])
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
                found[place] = bytes(data)
            case "glued":
                found[place] = found[place].rstrip(b"\n")
            case "cut":
                found[place] = found[place][: chance.randrange(1, len(found[place]) + 1)]
            case "nuls":
                found[place] = bytes(len(found[place]))
    return b"".join(found)


def check_texts(stored: StoredSession, lines: list[Line], whole: list[bytes]) -> None:
    """Each finished message of a line that is there is shown, and each text shown was written as that message's."""
    ends: dict[str, list[str]] = {}
    ever: dict[str, set[str]] = {}
    streamed: dict[str, str] = {}
    # Of a text that streamed, any beginning may be shown.
    originals = [line for data in whole if (line := decode_line(data.rstrip(b"\n")))]
    for line in originals:
        for op in line.ops:
            if op.get("op") == "text":
                streamed[op["id"]] = streamed.get(op["id"], "") + op["text"]
            elif op.get("op") == "message" and op["message"].get("state") != MessageState.STREAMING:
                ever.setdefault(op["message"]["id"], set()).add(op["message"].get("content", ""))
    for line in sorted({line.number: line for line in lines}.values(), key=lambda line: line.number):
        for op in line.ops:
            if op.get("op") == "message" and op["message"].get("state") != MessageState.STREAMING:
                ends.setdefault(op["message"]["id"], []).append(op["message"].get("content", ""))
    shown = {one.id: one for one in stored.messages}
    assert len(shown) == len(stored.messages)
    assert set(ends) <= set(shown)
    for message_id, one in shown.items():
        if message_id in ends:
            assert one.content == ends[message_id][-1]
        else:
            assert streamed.get(message_id, "").startswith(one.content)
            assert one.content in ever.get(message_id, set()) or one.state == "stopped"


def whole_lines(data: bytes) -> list[Line]:
    """Return the lines that are there whole, wherever they begin."""
    start = b'{"c":"'
    pieces = (start + piece for row in data.split(b"\n") for piece in row.split(start)[1:])
    return [line for piece in pieces if (line := decode_line(piece))]


async def read(paths: DataPaths, session_id: str, data: bytes) -> StoredSession:
    paths.session(session_id).write_bytes(data)
    return await reopened(paths, session_id)


@pytest.mark.corpus(11, 12)
@pytest.mark.parametrize("kind", ["repeated", "moved", "both"])
@pytest.mark.allow_blocking
async def test_a_log_with_repeated_or_moved_lines_says_what_it_said(paths: DataPaths, kind: str):
    chance = random.Random(kind)
    for _ in range(8):
        session_id, lines = await written_log(paths, chance)
        whole = await reopened(paths, session_id)
        listed = JsonLogStore(paths, read_only=True).summaries()
        for _ in range(4):
            data = b"".join(disordered(lines, chance, kind))
            assert await read(paths, session_id, data) == whole
            paths.index.unlink(missing_ok=True)
            reader = JsonLogStore(paths, read_only=True)
            assert reader.summaries() == listed
            # The first look at the end of a log shows what the whole log then shows, or nothing.
            by_id = {one.id: one for one in whole.messages}
            tail = reader.tail(session_id, 3)
            last = len(lines) > 1 and data.endswith(lines[-1])
            assert not last or all(by_id[one.id] == one for one in tail)
            assert not any(one.state == MessageState.STREAMING for one in tail)
        paths.session(session_id).unlink()
        paths.index.unlink(missing_ok=True)


@pytest.mark.allow_blocking
async def test_what_is_written_after_moved_lines_comes_last(paths: DataPaths):
    session_id, lines = await written_log(paths, random.Random(3))
    data = b"".join([lines[-1], *lines[:-1]])
    whole = await read(paths, session_id, data)
    store = JsonLogStore(paths)
    late, later = message("late"), message("later")
    store.append((finished(session_id, late),))
    await store.close()
    store = JsonLogStore(paths)
    await store.load(session_id)
    store.append((finished(session_id, later),))
    await store.close()
    assert (await reopened(paths, session_id)).messages == [*whole.messages, late, later]


async def fuzz_logs(paths: DataPaths, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(count):
        if number % 10 == 0:
            session_id, lines = await written_log(paths, chance)
        data = damaged(lines, chance)
        stored = await read(paths, session_id, data)
        check_texts(stored, whole_lines(data), lines)
        if number % 10 == 9:
            paths.session(session_id).unlink()


@pytest.mark.corpus(4, 5, 6, 7, 11, 12)
@pytest.mark.allow_blocking
async def test_a_damaged_log_shows_all_that_is_whole_in_it_and_no_other_text(paths: DataPaths):
    await fuzz_logs(paths, 60, seed=3)


@pytest.mark.slow
@pytest.mark.allow_blocking
async def test_a_thousand_damaged_logs_show_no_wrong_text(paths: DataPaths):
    await fuzz_logs(paths, 1_000, seed=2)
