"""Kills a process that backs up and restores, at random moments, and looks at what is left.

`python -m tests.storage.kill_archive [times] [seed]` prints one line of JSON; a test runs it with few.
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
import zipfile
from pathlib import Path

from app.core.store import BackupReason
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import FileArchive
from tests.storage.samples import saved

SESSIONS = 12


async def fill(paths: DataPaths, target: Path) -> dict[str, bytes]:
    """Make sessions and a backup of them; return the logs."""
    store = JsonLogStore(paths)
    ids = [(await saved(store, *(os.urandom(2_000).hex() for _ in range(8)))).id for _ in range(SESSIONS)]
    (paths.root / "assistants").mkdir(parents=True)
    (paths.root / "assistants" / "ada.json").write_text('{"id": "ada", "name": "Ada"}', encoding="utf-8")
    await store.close()
    await FileArchive(paths, store, JsonDocuments(paths)).back_up(BackupReason.BY_HAND, str(target))
    return {session_id: paths.session(session_id).read_bytes() for session_id in ids}


async def work_for_ever(paths: DataPaths, packed: Path, begun: int) -> None:
    """Restore what is missing, throw half of it away again and back up, until killed."""
    store = JsonLogStore(paths)
    archive = FileArchive(paths, store, JsonDocuments(paths))
    os.write(begun, b".")
    while True:
        contents = await archive.contents(str(packed))
        await archive.restore(
            str(packed), [one.id for one in contents.sessions], documents=True, replace=True
        )
        await archive.back_up(BackupReason.BY_HAND)
        for one in contents.sessions[::2]:
            await store.delete(one.id)
        (paths.root / "assistants" / "ada.json").unlink()


async def restored(paths: DataPaths, packed: Path) -> None:
    """Bring back what is missing, as a user would after the crash."""
    store = JsonLogStore(paths)
    archive = FileArchive(paths, store, JsonDocuments(paths))
    contents = await archive.contents(str(packed))
    await archive.restore(str(packed), [one.id for one in contents.sessions], documents=True, replace=False)
    await store.close()


def damage(paths: DataPaths, logs: dict[str, bytes]) -> int:
    """Count what is not as it was: logs, the document, backups that cannot be opened."""
    wrong = 0
    for file in paths.sessions.glob("*.jsonl"):
        wrong += logs.get(file.stem) != file.read_bytes()
    ada = paths.root / "assistants" / "ada.json"
    wrong += ada.exists() and json.loads(ada.read_text(encoding="utf-8"))["name"] != "Ada"
    for file in paths.backups.glob("*.zip"):
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as backup:
            wrong -= backup.testzip() is None
        wrong += 1
    return wrong


def run(times: int, seed: int) -> dict[str, object]:
    """Kill `times` processes, each on what the last one left."""
    chance = random.Random(seed)
    found = {"kills": times, "damaged": 0, "missing": 0, "backups": 0}
    with tempfile.TemporaryDirectory() as folder:
        paths, packed = DataPaths(Path(folder) / "data"), Path(folder) / "packed.zip"
        logs = asyncio.run(fill(paths, packed))
        for _ in range(times):
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with contextlib.suppress(BaseException):
                    asyncio.run(work_for_ever(paths, packed, writer))
                os._exit(1)
            os.close(writer)
            with os.fdopen(reader, "rb") as begun:
                begun.read(1)
                time.sleep(chance.random() * 0.25)
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            found["damaged"] += damage(paths, logs)
            asyncio.run(restored(paths, packed))
            found["damaged"] += damage(paths, logs)
            found["missing"] += len(logs) - len(list(paths.sessions.glob("*.jsonl")))
            found["backups"] = max(found["backups"], len(list(paths.backups.glob("*.zip"))))
    return dict(found)


if __name__ == "__main__":
    print(json.dumps(run(int((sys.argv[1:] or ["100"])[0]), int((sys.argv[2:] or ["1"])[0]))))
