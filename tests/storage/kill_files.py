"""Kills a process in which two assistants write the files of a session, at random moments, and looks at what is left.

`python -m tests.storage.kill_files [times] [seed] [chosen]` prints one line of JSON; a test runs it with few. With `chosen` they
write in a folder of the user's, which has some of the files before.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from app.core.ids import new_id
from app.core.session_files import FileVersion, Writer
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles

PATHS = ("report.md", "notes/plan.md", "notes/표.csv")
# What is looked at after each kill takes time by the square of the versions.
KILLS_A_SESSION = 4


def content(author: str, number: int, size: int) -> bytes:
    """Return a text that says by its first line whether it is whole."""
    rest = f"{author} {number}\n".encode() * size
    return sha256(rest).hexdigest().encode() + b"\n" + rest


def is_whole(data: bytes) -> bool:
    """Return whether all of a text is there."""
    digest, _, rest = data.partition(b"\n")
    return sha256(rest).hexdigest().encode() == digest


async def write_for_ever(files: VersionedFiles, session_id: str, author: str, seed: int, tell: int) -> None:
    """Write, move and delete until killed; tell the parent of each version only when it is safe."""
    chance = random.Random(f"{author} {seed}")
    number = 0
    while True:
        number += 1
        path = chance.choice(PATHS)
        data = content(author, seed * 1_000 + number, chance.choice((1, 200, 4_000)))
        made = await files.write(session_id, path, lambda _before, _held, data=data: data, Writer(author))
        os.write(tell, f"{made.path}\t{made.version}\t{made.sha256}\n".encode())
        if chance.random() < 0.2:
            # The other one may have been quicker.
            with contextlib.suppress(Exception):
                await files.move(session_id, path, f"old/{new_id()}.md", Writer(author))
        elif chance.random() < 0.1:
            with contextlib.suppress(Exception):
                await files.delete(session_id, path, Writer(author))


def opened(paths: DataPaths, session_id: str, *, read_only: bool = False) -> VersionedFiles:
    """Return the files; those of a session that has a folder beside the data directory are in there."""
    folder = paths.root.parent / session_id
    chosen = str(folder) if folder.is_dir() else ""
    return VersionedFiles(paths, read_only=read_only, chosen=lambda _id: chosen)


async def _two(paths: DataPaths, session_id: str, seed: int, tell: int) -> None:
    files = opened(paths, session_id)
    await asyncio.gather(*(write_for_ever(files, session_id, who, seed, tell) for who in ("Ann", "Bo")))


async def look(paths: DataPaths, session_id: str) -> tuple[dict[tuple[str, int], FileVersion], int, int]:
    """Return the versions that are there, and how many files and versions are not whole or not what the log says."""
    files = opened(paths, session_id)
    torn = wrong = 0
    for one in await files.list(session_id):
        _, data = await files.read(session_id, one.path)
        torn += not is_whole(data)
        wrong += sha256(data).hexdigest() != one.sha256
    kept = {(one.path, one.version): one for one in await files.versions(session_id) if not one.gone}
    for path, version in kept:
        torn += not is_whole((await files.read(session_id, path, version))[1])
    again = opened(paths, session_id, read_only=True)
    wrong += await files.list(session_id) != await again.list(session_id)
    return kept, torn, wrong


def run(times: int, seed: int, *, chosen: bool = False) -> dict[str, int]:
    """Kill `times` processes; a session is carried over between the kills until the next begins."""
    chance = random.Random(seed)
    result = {"kills": times, "lost": 0, "torn": 0, "wrong": 0, "acknowledged": 0, "left_over": 0}
    session_id, acknowledged, originals = "", dict[tuple[str, int], str](), dict[str, str]()
    place = Path()
    # What a killed process has written is there in memory too, where much more happens between two kills.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        paths = DataPaths(Path(folder) / "data")
        for number in range(times):
            if number % KILLS_A_SESSION == 0:
                session_id = new_id()
                acknowledged.clear()
                place = paths.root.parent / session_id if chosen else paths.files / session_id
                if chosen:
                    (place / "notes").mkdir(parents=True)
                    for path in PATHS:
                        (place / path).write_bytes(content("the user", 0, 100))
                        # It must be there as version 0 once the file was written.
                        originals[path] = sha256((place / path).read_bytes()).hexdigest()
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with contextlib.suppress(BaseException):
                    asyncio.run(_two(paths, session_id, number, writer))
                os._exit(1)
            os.close(writer)
            with os.fdopen(reader, "rb") as told:
                lines = [told.readline()]
                time.sleep(chance.random() * 0.3)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                lines += told
            for path, version, digest in (line.decode().rstrip("\n").split("\t") for line in lines):
                acknowledged[path, int(version)] = digest
                result["acknowledged"] += 1
            kept, torn, wrong = asyncio.run(look(paths, session_id))
            result["lost"] += sum(
                key not in kept or kept[key].sha256 != one for key, one in acknowledged.items()
            )
            for path in {path for path, _ in acknowledged} & originals.keys():
                result["lost"] += (path, 0) not in kept or kept[path, 0].sha256 != originals[path]
            result["torn"] += torn
            result["wrong"] += wrong
            there = {one.path for one in kept.values()}
            found = {
                one.relative_to(place).as_posix()
                for one in place.rglob("*")
                if one.is_file() and ".versions" not in one.parts
            }
            # What neither of them has touched yet is the user's.
            found -= {path for path in originals if (path, 0) not in kept}
            result["left_over"] += len(found - there)
    return result


if __name__ == "__main__":
    times, seed = int((sys.argv[1:] or ["500"])[0]), int((sys.argv[2:] or ["1"])[0])
    print(json.dumps(run(times, seed, chosen="chosen" in sys.argv[3:])))
