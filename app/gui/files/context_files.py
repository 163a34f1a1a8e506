"""The project's context: the files every participant reads, chosen in Setup."""

import asyncio
from pathlib import Path

from app.core.errors import BadInput
from app.core.session import ContextFile
from app.core.text import clean_text

CHARACTERS_PER_TOKEN = 4


def size_in_tokens(paths: tuple[str, ...]) -> int:
    """Return about how many tokens the files have; one that is gone counts nothing."""
    total = 0
    for path in paths:
        try:
            total += Path(path).stat().st_size
        except OSError:
            continue
    return total // CHARACTERS_PER_TOKEN


async def read_context(paths: tuple[str, ...]) -> tuple[ContextFile, ...]:
    """Read the files off the window's thread. Raises BadInput naming the one that cannot be read."""
    return await asyncio.to_thread(lambda: tuple(_read(Path(path)) for path in paths))


def _read(path: Path) -> ContextFile:
    try:
        return ContextFile(name=path.name, text=clean_text(path.read_text(encoding="utf-8")))
    except UnicodeDecodeError as error:
        raise BadInput("file_not_text", name=path.name) from error
    except OSError as error:
        raise BadInput("file_unreadable", name=path.name, detail=error.strerror or str(error)) from error
