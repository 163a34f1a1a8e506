"""Kills a process that writes a session, at random moments, and looks at what is left.

`python -m tests.storage.kill_writer [times] [seed]` prints one line of JSON; a test runs it with few.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from app.core.ids import new_id
from app.storage.codec import plain
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.storage.samples import changed, debate, finished, message, started, streaming

# A log only grows, and reading it back after each kill with it.
KILLS_A_SESSION = 50


async def write_for_ever(paths: DataPaths, session_id: str, acknowledge: int, big: bool) -> None:
    """Say things until killed; tell the parent of each only when the store says it is safe."""
    store = JsonLogStore(paths)
    if paths.session(session_id).exists():
        session = (await store.load(session_id)).session
    else:
        session = debate(session_id, title="0")
        store.append(started(session))
    while True:
        one = message(os.urandom(8).hex() * (8_000 if big else 40))
        for batch in streaming(session_id, one, size=50_000 if big else 100):
            store.append(batch)
        session, event = changed(session, title=str(int(session.title or 0) + 1))
        store.append((finished(session_id, one), event))
        await store.flush(session_id)
        digest = hashlib.sha256(json.dumps(plain(one), sort_keys=True).encode()).hexdigest()
        os.write(acknowledge, f"{one.id} {digest} {session.title}\n".encode())


async def read_back(paths: DataPaths, session_id: str) -> tuple[dict[str, str], list[str], int, int, str]:
    store = JsonLogStore(paths)
    stored = await store.load(session_id)
    await store.close()
    digests = {
        one.id: hashlib.sha256(json.dumps(plain(one), sort_keys=True).encode()).hexdigest()
        for one in stored.messages
    }
    return (
        digests,
        [one.id for one in stored.messages],
        stored.damaged,
        int(stored.session.title),
        stored.session.status,
    )


def run(times: int, seed: int) -> dict[str, object]:
    """Kill `times` writers; a session is carried over between the kills until the next begins."""
    chance = random.Random(seed)
    acknowledged: dict[str, str] = {}
    said_in_all = title = 0
    session_id = ""
    result: dict[str, object] = {"kills": times, "lost": 0, "damaged": 0, "turned_back": 0, "not_paused": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths = DataPaths(Path(folder) / "data")
        for number in range(times):
            if number % KILLS_A_SESSION == 0:
                session_id = new_id()
                said_in_all += len(acknowledged)
                acknowledged.clear()
                title = 0
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with contextlib.suppress(BaseException):
                    asyncio.run(write_for_ever(paths, session_id, writer, big=number % 5 == 4))
                os._exit(1)
            os.close(writer)
            with os.fdopen(reader, "rb") as acknowledgements:
                first = acknowledgements.readline()
                time.sleep(chance.random() * 0.08)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                for line in [first, *acknowledgements]:
                    message_id, digest, said = line.decode().split()
                    acknowledged[message_id] = digest
                    title = int(said)
            digests, order, damaged, seen, status = asyncio.run(read_back(paths, session_id))
            result["lost"] += sum(digests.get(key) != digest for key, digest in acknowledged.items())  # type: ignore[operator]
            result["damaged"] += damaged  # type: ignore[operator]
            result["turned_back"] += seen < title  # type: ignore[operator]
            result["not_paused"] += status != "paused"  # type: ignore[operator]
            kept = [key for key in order if key in acknowledged]
            result["turned_back"] += kept != list(acknowledged)  # type: ignore[operator]
    return {**result, "acknowledged": said_in_all + len(acknowledged)}


if __name__ == "__main__":
    print(json.dumps(run(int((sys.argv[1:] or ["300"])[0]), int((sys.argv[2:] or ["1"])[0]))))
