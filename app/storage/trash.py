"""The trash: deleted files are kept for thirty days."""

import contextlib
import time
from datetime import UTC, datetime
from pathlib import Path

from app.core.ids import is_id
from app.core.store import Thrown
from app.storage.connections import PROVIDERS, SERVERS, read_providers
from app.storage.file_system import FileStat, FileSystem
from app.storage.json_file import JsonFile, read_json_file
from app.storage.log import read_summary
from app.storage.paths import DataPaths
from app.storage.session_files import FOLDER, remove_folder

TRASH_DAYS = 30
_DAY = 86_400
# The file whose time says when the trash was last looked through, and the longest time since then that is believed.
LOOKED = "looked"
MOST_AWAY = 14 * _DAY
# A time with more digits is none that a calendar has.
_DIGITS = 11
# The folder of each kind of definition, and a field of this kind alone, "" where there is none.
DEFINITION_KINDS = {
    "workflow_file": ("workflows", "steps"),
    "group_file": ("groups", "members"),
    "panel_file": ("panels", "participants"),
    "decision_file": ("journal", "decided"),
    "assistant": ("assistants", ""),
    "folder": ("folders", ""),
    "saved_prompt": ("saved_prompts", ""),
}


def thrown_at(file: str) -> int | None:
    """Return when a file was deleted, in seconds since 1970; None if it is not one of ours."""
    parts = file.rsplit(".", 2)  # An assistant's id may contain dots.
    is_time = len(parts) == 3 and parts[1].isdecimal() and len(parts[1]) <= _DIGITS
    return int(parts[1]) if is_time else None


def thrown(paths: DataPaths, disk: FileSystem) -> tuple[Thrown, ...]:
    """Return the contents of the trash, the newest first. Raises OSError."""
    found = [
        _thrown(paths, disk, one, moment)
        for one in disk.scan(paths.trash)
        if (moment := thrown_at(one.name)) is not None and one.name.endswith((".json", ".jsonl"))
    ]
    return tuple(sorted(found, key=lambda one: (one.thrown_at, one.file), reverse=True))


def _thrown(paths: DataPaths, disk: FileSystem, one: FileStat, moment: int) -> Thrown:
    name = one.name.rsplit(".", 2)[0]
    title, kind, session_id = name, "assistant", ""
    if one.name.endswith(".jsonl") and is_id(name):
        session_id = name
        with contextlib.suppress(OSError):
            if summary := read_summary(disk, paths.trash / one.name):
                title, kind = summary.title, summary.kind
    else:
        title, kind = _definition(paths.trash / one.name, name)
    return Thrown(
        file=one.name,
        session_id=session_id,
        kind=kind,
        title=title,
        thrown_at=datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        days_left=max(0, TRASH_DAYS - int(time.time() - moment) // _DAY),
        size=one.size,
    )


def _definition(path: Path, name: str) -> tuple[str, str]:
    found = read_json_file(path)
    if not isinstance(found, JsonFile):
        return name, "assistant"
    value = found.value
    if PROVIDERS in value:
        configs = read_providers(path).providers
        return (configs[0].label or name if configs else name), "provider"
    if isinstance(servers := value.get(SERVERS), dict):
        return next(iter(servers), name), "server"
    kind = next((kind for kind, (_, mark) in DEFINITION_KINDS.items() if mark and mark in value), "assistant")
    kind = value["kind"] if value.get("kind") in ("folder", "saved_prompt") else kind
    title = value.get("name")
    return title if isinstance(title, str) else name, kind


def remove_old(paths: DataPaths, disk: FileSystem) -> None:
    """Permanently delete files that are older than thirty days. Raises OSError.

    Nothing goes where this was last called long ago or in the future: the clock may be wrong, if only this once.
    """
    now, files = time.time(), disk.scan(paths.trash)
    looked = next((one.mtime_ns / 1e9 for one in files if one.name == LOOKED), 0.0)
    if files:
        descriptor = (disk.open if looked else disk.create)(paths.trash / LOOKED)
        disk.truncate(descriptor, 0)
        disk.write(descriptor, b"\n")
        disk.close(descriptor)
    if not 0 <= now - looked <= MOST_AWAY:
        return
    for one in files:
        moment = thrown_at(one.name)
        if moment is not None and moment < now - TRASH_DAYS * _DAY:
            remove_for_good(paths, disk, one.name)


def remove_for_good(paths: DataPaths, disk: FileSystem, file: str) -> None:
    """Permanently delete a file of the trash, and the files and the draft of a deleted session. Raises OSError."""
    name = file.rsplit(".", 2)[0]
    if file.endswith(".jsonl") and is_id(name):
        remove_folder((paths.trash / file).with_suffix(FOLDER))
        # The session may have been restored from a backup meanwhile.
        if not paths.session(name).exists():
            remove_folder(paths.files / name)
            with contextlib.suppress(FileNotFoundError):
                disk.remove(paths.draft(name))
    disk.remove(paths.trash / file)
