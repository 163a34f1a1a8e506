"""Two processes: one says things in sessions, the other replaces, cuts, deletes and restores their files meanwhile.

`python -m tests.storage.replace_files [records] [seed]` prints one line of JSON; a test runs it with few. Each record and
each change of the settings is told to the parent only when it is acknowledged.
"""

import asyncio
import contextlib
import dataclasses
import json
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from app.core.events import EventBus
from app.core.ids import new_id
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore, autosave
from tests.storage.samples import debate, message

RECORDS_A_SESSION = 100
"""With longer ones the attacks come faster than a log can be written anew, and few records a minute are acknowledged."""
# A change of the settings comes after so many records.
SETTINGS_AFTER = 10


class Counter:
    """A number that processes share: how often a file was attacked."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    @property
    def value(self) -> int:
        return int.from_bytes(self._memory[:8], "little")

    def add(self) -> None:
        """Count one more; one process alone does."""
        self._memory[:8] = (self.value + 1).to_bytes(8, "little")


async def write(paths: DataPaths, records: int, acknowledge: int, seed: int, attacks: Counter) -> None:
    """Say `records` things in a few sessions, in turn, and tell the parent of each when it is safe.

    A fast disk waits for the other process: every tenth record comes after one more attack.
    """
    chance = random.Random(seed)
    lives: dict[str, LiveSession] = {}

    def recall(session_id: str) -> StoredSession | None:
        live = lives.get(session_id)
        return live.as_stored() if live is not None else None

    bus = EventBus()
    store = JsonLogStore(paths, recall=recall)
    autosave(bus, store)
    documents = JsonDocuments(paths)
    await documents.load()
    for number in range(max(3, records // RECORDS_A_SESSION)):
        begun = StoredSession(session=debate(title=f"S{number}"), messages=[], damaged=0, read_only=False)
        live = LiveSession(begun, bus)
        lives[live.id] = live
        live.begin()
        await store.flush(live.id)
    os.write(acknowledge, f"sessions {' '.join(lives)}\n".encode())
    for number in range(records):
        while attacks.value < (number + 1) // 10:
            await asyncio.sleep(0.001)
        live = chance.choice(list(lives.values()))
        one = message(os.urandom(8).hex() * chance.choice((1, 40)), turn_id=new_id())
        live.start_message(one)
        live.append_text(one.id, one.content[:9])
        live.finish_message(one)
        await store.flush(live.id)
        os.write(acknowledge, f"said {live.id} {one.id} {one.content}\n".encode())
        if number % SETTINGS_AFTER == 0:
            about = str(number)
            await documents.change_settings(
                lambda old, about=about: dataclasses.replace(old, about_user=about)
            )
            os.write(acknowledge, f"set {about}\n".encode())
    # The last change of all: what was done to the settings after the one before it is noticed then.
    await documents.change_settings(lambda old: old)
    await store.close()


def replace(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".other.{path.name}")
    fresh.write_bytes(data)
    fresh.replace(path)


def attack(paths: DataPaths, sessions: list[str], attacks: Counter, seed: int) -> None:
    """Do something to one of the files, again and again, until killed."""
    chance = random.Random(seed)
    kept: dict[Path, list[bytes]] = {}
    logs = [paths.session(session_id) for session_id in sessions]
    while True:
        path = chance.choice([*logs, *logs, paths.index, paths.settings])
        # The other process writes meanwhile: a file may be gone, or a folder filled again while it is removed.
        with contextlib.suppress(OSError):
            data = path.read_bytes()
            before = kept.setdefault(path, [])
            way = chance.randrange(7)
            if way == 0:
                replace(path, data)
            elif way == 1 and before:
                replace(path, chance.choice(before))
            elif way == 2 and path in logs:
                replace(path, chance.choice(logs).read_bytes())
            elif way == 3:
                os.truncate(path, chance.randrange(len(data) + 1))
            elif way == 4:
                path.unlink()
            elif way == 5 and before:
                path.write_bytes(chance.choice(before))
            elif way == 6 and path in logs and chance.random() < 0.1:
                shutil.rmtree(path.parent)
            if len(before) < 20:
                before.append(data)
            attacks.add()
        # Often enough that it comes between any two steps of a write, seldom enough that a write succeeds.
        chance_to_write = chance.choice((0.0, 0.002, 0.02, 0.06))
        with contextlib.suppress(InterruptedError):
            signal.sigtimedwait([], chance_to_write)


async def faults(paths: DataPaths, said: dict[str, dict[str, str]], told: list[str]) -> dict[str, int]:
    """Count what the disk lacks of what was acknowledged."""
    store = JsonLogStore(paths)
    listed = {one.id for one in store.summaries()}
    lost = damaged = 0
    for session_id, texts in said.items():
        stored = await store.load(session_id)
        found = {one.id: one.content for one in stored.messages}
        lost += sum(found.get(key) != text for key, text in texts.items())
        lost += [one for one in found if one in texts] != list(texts)
        damaged += stored.damaged
    await store.close()
    kept = [paths.settings, *paths.quarantine.glob("settings.other-*")]
    values = set()
    for path in kept:
        with contextlib.suppress(ValueError, KeyError):
            values.add(json.loads(path.read_bytes())["about_user"])
    return {
        "lost": lost,
        "damaged": damaged,
        "settings_lost": int(told[-1] not in values),
        "unlisted": len(set(said) - listed),
    }


def run(records: int, seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        paths = DataPaths(Path(folder) / "data")
        reader, writer = os.pipe()
        attacks = Counter()
        writing = os.fork()
        if writing == 0:
            os.close(reader)
            status = 1
            with contextlib.suppress(BaseException):
                asyncio.run(write(paths, records, writer, seed, attacks))
                status = 0
            os._exit(status)
        os.close(writer)
        with os.fdopen(reader, "rb") as acknowledgements:
            sessions = acknowledgements.readline().decode().split()[1:]
            attacking = os.fork()
            if attacking == 0:
                try:
                    attack(paths, sessions, attacks, seed)
                finally:
                    os._exit(1)
            said: dict[str, dict[str, str]] = {session_id: {} for session_id in sessions}
            told: list[str] = []
            for line in acknowledgements:
                kind, *rest = line.decode().split()
                if kind == "said":
                    said[rest[0]][rest[1]] = rest[2]
                    if sum(map(len, said.values())) == records:
                        os.kill(attacking, signal.SIGKILL)
                        os.waitpid(attacking, 0)
                else:
                    told.append(rest[0])
        status = os.waitstatus_to_exitcode(os.waitpid(writing, 0)[1])
        return {
            "acknowledged": sum(map(len, said.values())),
            "replaced": attacks.value,
            "status": status,
            **asyncio.run(faults(paths, said, told)),
        }


if __name__ == "__main__":
    records, seed = (*map(int, sys.argv[1:]), 100, 7)[:2] if len(sys.argv) > 2 else (100, 7)
    print(json.dumps(run(records, seed)))
