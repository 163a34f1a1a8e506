"""Downloads of one Python package from the user's package index, with pip or uv, checked by hash.

Standard library only, because `packaging/dev.py` loads what uses this file before there is an environment.
"""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from app.children.private_files import make_private_folder
from app.children.processes import user_environment
from app.core.errors import MootError

Progress = Callable[[int, int], None]
# How pip and uv begin the lines that say why they failed.
ERROR = re.compile("(error|cause): *", re.IGNORECASE)


class PackageError(Exception):
    """A package could not be fetched; one line."""


@contextlib.contextmanager
def unpacked_package(
    requirement: str, size: int, folder: Path, progress: Progress, scratch: str
) -> Iterator[Path]:
    """Download a package and yield the folder with its files, which is gone after the block. Blocks.

    `requirement` is a line of a requirements file with hashes, `size` that of the wheel in bytes. pip and uv
    know the index of this computer. `progress` gets (bytes, all bytes) a few times a second, and may raise to
    stop it. All files stay in a folder below `folder` whose name begins with `scratch`. Raises PackageError,
    also for an OSError of the block.
    """
    try:
        make_private_folder(folder)
        with tempfile.TemporaryDirectory(prefix=scratch, dir=folder, ignore_cleanup_errors=True) as own:
            place = _fetched(requirement, size, Path(own), progress)
            yield place if place.is_dir() else _unpacked(place, Path(own) / "site", size, progress)
    except (OSError, zipfile.BadZipFile) as error:
        raise PackageError(str(error)) from error


def _unpacked(wheel: Path, folder: Path, size: int, progress: Progress) -> Path:
    """Unpack a wheel with the permissions its files have there."""
    with zipfile.ZipFile(wheel) as archive:
        for one in archive.infolist():
            path = Path(archive.extract(one, folder))
            if not one.is_dir():
                path.chmod(0o644 | (one.external_attr >> 16 & 0o111))
            progress(size, size)
    wheel.unlink()
    return folder


def _fetched(requirement: str, size: int, folder: Path, progress: Progress) -> Path:
    """Download it with the first installer that works; return its wheel, or the folder it was unpacked to."""
    requirements = folder / "package.txt"
    requirements.write_text(f"{requirement}\n", encoding="utf-8")
    problem = "neither pip nor uv is there to download it"
    for command in installers(folder, requirements):
        worked, said = _watch(command, folder, size, progress)
        wheel = next(folder.glob("*.whl"), None)
        if worked and (wheel is not None or (folder / "site").is_dir()):
            return wheel or folder / "site"
        problem = said or problem
    raise PackageError(problem)


def installers(folder: Path, requirements: Path) -> Iterator[list[str]]:
    """Yield the commands that can download a package: pip of this Python and of its base, then uv."""
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
    pip += ["--only-binary", ":all:", "--require-hashes", "--dest", str(folder), "-r", str(requirements)]
    if not getattr(sys, "frozen", False):
        # A virtual environment made by uv has no pip, but the Python it was made from may have one.
        for python in dict.fromkeys((sys.executable, getattr(sys, "_base_executable", sys.executable))):
            yield [python, *pip]
    tools = Path(__file__).resolve().parents[2] / ".tools" / "bin"
    uv = shutil.which("uv", path=os.pathsep.join([os.environ.get("PATH", ""), str(tools)]))
    if uv:
        target = ["--target", str(folder / "site"), "-r", str(requirements)]
        yield [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", *target]


async def in_thread(work: Callable[[Progress], object], progress: Progress, failure: str) -> None:
    """Run what fetches a package in a thread of its own; `progress` is called in the loop.

    Cancelling makes the progress of `work` raise PackageError, and returns once it has ended. Raises
    MootError with the code `failure`.
    """
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def told(done: int, total: int) -> None:
        if stopped.is_set():
            raise PackageError("stopped")
        loop.call_soon_threadsafe(progress, done, total)

    working = asyncio.ensure_future(asyncio.to_thread(work, told))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        stopped.set()
        # The downloader is a child process: wait until it has left the folder.
        await asyncio.gather(working, return_exceptions=True)
        raise
    except (PackageError, OSError) as error:
        raise MootError(failure, detail=str(error)) from error


def _watch(command: list[str], folder: Path, size: int, progress: Progress) -> tuple[bool, str]:
    """Run a downloader whose scratch files stay in `folder`; return whether it worked, and its last error."""
    environment = {
        **user_environment(),
        "TMPDIR": str(folder),
        "TEMP": str(folder),
        "UV_CACHE_DIR": str(folder / "cache"),
    }
    with (folder / "said.txt").open("w+b") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=environment
        )
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.25)
                    break
                progress(min(_size(folder), size), size)
        except BaseException:
            # `progress` has raised, or the program is ending.
            process.kill()
            process.wait()
            raise
        said.seek(0)
        lines = [line.strip() for line in said.read().decode("utf-8", "replace").split("\n") if line.strip()]
    errors = [ERROR.sub("", line) for line in lines if ERROR.match(line)]
    return process.returncode == 0, next(reversed(errors or lines), "")


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # The downloader moves its files meanwhile.
            total += path.stat().st_size if path.is_file() else 0
    return total
