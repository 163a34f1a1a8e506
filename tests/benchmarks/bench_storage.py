"""What the disk costs: a finished message in a long session, and the list of a thousand sessions."""

import asyncio
import dataclasses
import gc
import json
import os
import re
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from app.core.council import Participant
from app.core.events import MessageFinished
from app.core.ids import new_id
from app.core.message import Author, Message
from app.core.session import Debate, DebateSession
from app.storage.codec import plain
from app.storage.lines import encode_line
from app.storage.paths import DataPaths
from app.storage.secrets import Redactor
from app.storage.sessions import JsonLogStore
from tests.benchmarks.table import Benchmark, Result

TEXT = "Cities breathe when cars leave them. 도시는 차가 떠나면 숨을 쉰다. " * 20
SEATS = tuple(
    Participant(id=f"p{place}", name=name, provider="openai", model="gpt-5.2")
    for place, name in enumerate(("Ada", "Ben", "Cleo"))
)


def _session(title: str) -> DebateSession:
    at = "2026-11-21T10:00:00.000Z"
    return DebateSession(
        id=new_id(),
        title=title,
        status="paused",
        created_at=at,
        updated_at=at,
        debate=Debate(topic=title, participants=SEATS),
    )


def _message(number: int) -> Message:
    author = Author(id="p1", name="Ada", kind="participant")
    return Message(
        id=new_id(),
        turn_id=f"t{number}",
        role="assistant",
        author=author,
        content=TEXT,
        created_at="2026-11-21T10:00:01.000Z",
    )


def write_session(paths: DataPaths, title: str, messages: int) -> str:
    """Write a log as the store would have, without waiting for the disk."""
    session = _session(title)
    paths.sessions.mkdir(parents=True, exist_ok=True)
    with paths.session(session.id).open("wb") as file:
        head = {"op": "head", "version": 1, "min_reader": 1, "id": session.id}
        file.write(encode_line(1, [head, {"op": "session", "patch": plain(session)}]))
        for number in range(messages):
            record = {"op": "message", "message": plain(_message(number))}
            file.write(encode_line(number + 2, [record]))
    return session.id


async def write_sessions(paths: DataPaths) -> None:
    """Write 1,000 sessions and their index."""
    for number in range(1_000):
        write_session(paths, f"Should city {number} ban cars? 도시 {number}", 3)
    store = JsonLogStore(paths)
    await store.open()
    await store.close()


def append_message(short: bool) -> Result:
    """Write one finished message through to the disk: session of 10,000 against one of 10."""

    async def measure(paths: DataPaths) -> tuple[float, float]:
        sizes = {10: write_session(paths, "short", 10), 10_000: write_session(paths, "long", 10_000)}
        store = JsonLogStore(paths)
        held = [await store.load(session_id) for session_id in sizes.values()]
        gc.collect()
        os.sync()  # or the disk would still be busy with the long log as it was made
        times: dict[int, list[float]] = {size: [] for size in sizes}
        for number in range(40 if short else 200):
            for size in sorted(sizes, reverse=number % 2 == 0):
                session_id = sizes[size]
                event = MessageFinished(session_id=session_id, message=_message(number))
                started = time.perf_counter()
                store.append((event,))
                await store.flush(session_id)
                times[size].append(time.perf_counter() - started)
        await store.close()
        assert len(held) == 2
        return statistics.median(times[10_000]), statistics.median(times[10])

    folder = Path(tempfile.mkdtemp())
    try:
        long, few = asyncio.run(measure(DataPaths(folder)))
    finally:
        shutil.rmtree(folder)
    return Result(
        measured=long * 1e3, baseline=few * 1e3, unit="ms", ratio=long / few, extra="median, with fsync"
    )


def _listings(short: bool) -> tuple[float, float]:
    """Return the seconds of listing 1,000 sessions, and of reading the index and looking at each log."""

    def read_index() -> None:
        with paths.index.open("rb") as file:
            assert len(json.loads(file.read())["ops"][0]["sessions"]) == 1_000

    def look_at_each() -> None:
        with os.scandir(paths.sessions) as entries:
            assert sum(entry.stat(follow_symlinks=False).st_size > 0 for entry in entries) == 1_000

    folder = Path(tempfile.mkdtemp())
    paths = DataPaths(folder)
    listing: list[float] = []
    looking: list[float] = []
    try:
        asyncio.run(write_sessions(paths))
        for _ in range(20 if short else 60):
            gc.collect()  # or the last store would be freed on this one's time
            started = time.thread_time()
            found = JsonLogStore(paths, read_only=True).summaries()
            listing.append(time.thread_time() - started)
            assert len(found) == 1_000
            gc.collect()  # so that both begin with the same cold caches
            started = time.thread_time()
            read_index()
            look_at_each()
            looking.append(time.thread_time() - started)
    finally:
        shutil.rmtree(folder)
    return statistics.median(listing), statistics.median(looking)


def list_sessions(short: bool) -> Result:
    """List 1,000 sessions against reading the index file and looking at each log, and no more."""
    listing, looking = _listings(short)
    return Result(measured=listing * 1e3, baseline=looking * 1e3, unit="ms", ratio=listing / looking)


def search_sessions(short: bool) -> Result:
    """Search 1,000 sessions of 100 MB for a text that is in the oldest only, against reading their bytes."""
    messages = 10 if short else 55

    def read_all() -> None:
        for path in paths.sessions.iterdir():
            path.read_bytes()

    async def measure() -> tuple[float, float]:
        ids = [write_session(paths, f"Should city {number} ban cars?", messages) for number in range(1_000)]
        with paths.session(ids[0]).open("ab") as file:
            last = dataclasses.replace(_message(0), content="Nur hier: 마지막 바늘.")
            file.write(encode_line(messages + 2, [{"op": "message", "message": plain(last)}]))
        store = JsonLogStore(paths, read_only=True)
        await store.open()
        searching: list[float] = []
        reading: list[float] = []
        for _ in range(5):
            started = time.process_time()
            found = await store.search("NUR hier", 50)
            searching.append(time.process_time() - started)
            assert [hit.session.id for hit in found] == ids[:1]
            started = time.process_time()
            await asyncio.to_thread(read_all)
            reading.append(time.process_time() - started)
        await store.close()
        return statistics.median(searching), statistics.median(reading)

    folder = Path(tempfile.mkdtemp())
    paths = DataPaths(folder)
    try:
        searched, read = asyncio.run(measure())
        size = sum(path.stat().st_size for path in paths.sessions.iterdir())
    finally:
        shutil.rmtree(folder)
    extra = f"{size / 1e6:.0f} MB, case ignored; CPU time"
    return Result(measured=searched * 1e3, baseline=read * 1e3, unit="ms", ratio=searched / read, extra=extra)


def redact_text(short: bool) -> Result:
    """Take the keys out of 1 MB of words; the baseline looks at the same text once."""
    redactor = Redactor()
    for number in range(5):
        redactor.add(f"sk-proj-{number}abcdefghijklmnopqrstuvwxyz{number}")
    words = re.compile(r"\w+ ")
    text = (TEXT + "a token gesture, sk- and an api key: none. ") * (1_000_000 // (len(TEXT) + 43))
    measured, baseline = [], []
    for _ in range(3 if short else 9):
        for work, times in (
            (lambda: redactor.redact(text), measured),
            (lambda: words.sub("", text), baseline),
        ):
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
    took, scanned = min(measured) * 1e3, min(baseline) * 1e3
    return Result(measured=took, baseline=scanned, unit="ms", ratio=took / scanned)


BENCHMARKS = (
    Benchmark(
        name="a finished message to disk in a session of 10,000, against one of 10",
        target=1.2,
        run=append_message,
    ),
    Benchmark(
        name="list 1,000 sessions, against reading one index file and looking at each log",
        target=1.5,
        run=list_sessions,
    ),
    Benchmark(
        name="search 1,000 sessions, against reading the same bytes",
        target=8.0,
        run=search_sessions,
    ),
    Benchmark(
        name="take keys out of 1 MB of text, against one plain scan",
        target=4.0,
        run=redact_text,
    ),
)
