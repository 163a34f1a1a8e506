"""The viewer of MCP servers' pages, a package that is not installed with Moot: whether it can be,
and its installation.

It is the part of Qt that is a browser engine, and goes beside the rest of Qt in Moot's own environment.
"""

import contextlib
import importlib.util
import os
import shutil
import sys
from functools import cache
from pathlib import Path

from app.children.private_files import replace_file
from app.children.processes import PackageError, Progress, unpacked_package
from app.core.tool import VIEWER_BYTES

LOCK = Path(__file__).resolve().parents[2] / "packaging" / "webui.lock"
UNPACKED_BYTES = 450_000_000
# They say that the viewer is there, so they come last.
_LAST = "QtWebEngine"
_SCRATCH = "moot-viewer-"


@cache
def qt_folder() -> Path | None:
    """Return the folder that Qt is installed in; cached, as it is asked often."""
    spec = importlib.util.find_spec("PySide6")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def can_install() -> bool:
    """Return whether the viewer is missing and can be installed: not in a build, which has no package
    index.
    """
    qt = qt_folder()
    if qt is None or getattr(sys, "frozen", False) or not LOCK.is_file():
        return False
    return not any(qt.glob("QtWebEngineCore.*[!i]")) and os.access(qt, os.W_OK)


def install(progress: Progress) -> None:
    """Download the viewer and install it; blocks.

    `progress` gets (bytes, all bytes), and may raise to stop; nothing is left. Raises PackageError, OSError.
    """
    qt = qt_folder()
    assert qt is not None
    site = qt.parent
    for left in site.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    if shutil.disk_usage(site).free < 2 * VIEWER_BYTES + UNPACKED_BYTES:
        raise PackageError("there is too little free space on the disk")
    with unpacked_package(_requirement(), VIEWER_BYTES, site, progress, _SCRATCH) as folder:
        _move_in(folder, site, progress)


def _requirement() -> str:
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return " ".join(line.removesuffix("\\").strip() for line in lines if not line.lstrip().startswith("#"))


def _move_in(folder: Path, site: Path, progress: Progress) -> None:
    """Move the files of the viewer beside those of Qt; what is there stays.
    If it is stopped, nothing is moved.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    moved: list[Path] = []
    try:
        for path in sorted(files, key=lambda path: path.name.startswith(_LAST)):
            target = site / path.relative_to(folder)
            if target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, target)
            moved.append(target)
            progress(VIEWER_BYTES, VIEWER_BYTES)
    except BaseException:
        for target in moved:
            target.unlink(missing_ok=True)
        for parent in sorted({item for target in moved for item in target.parents}, reverse=True):
            if site in parent.parents:
                with contextlib.suppress(OSError):  # Others have files in it.
                    parent.rmdir()
        raise
