"""What is kept of a file that another program put in place of one that Moot uses: what is said of it, and its bytes.

They are kept in quarantine under a name with `.other-`, which the settings and `moot doctor` list. A session's log that
can be read becomes a session of its own instead (`session_log`).
"""

import zlib
from dataclasses import dataclass
from pathlib import Path

from app.core.store import Problem
from app.storage.file_system import FileSystem, write_whole

_MARK = ".other-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A file that another program deleted, cut or replaced while Moot used it.

    `code` is that of the notice, `name` the session's title or the file's name. The other version is the session
    `kept_id` with the title `kept`, or the file `kept`; "" if it added nothing.
    """

    code: str
    name: str
    session_id: str = ""
    kept: str = ""
    kept_id: str = ""


def keep_bytes(disk: FileSystem, quarantine: Path, path: Path, data: bytes) -> Path:
    """Keep another version of a file in quarantine and return its path. Raises OSError."""
    kept = quarantine / f"{path.stem}{_MARK}{zlib.crc32(data):08x}{path.suffix}"
    if not disk.exists(kept):
        write_whole(disk, kept, data)
    return kept


def kept_versions(disk: FileSystem, quarantine: Path) -> list[Problem]:
    """Return a problem for each file that is kept, so that the user finds it; none if the folder cannot be read."""
    try:
        names = sorted(one.name for one in disk.scan(quarantine) if _MARK in one.name)
    except OSError:
        return []
    return [Problem(path=str(quarantine / name), code="other_version") for name in names]
