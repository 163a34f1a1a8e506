"""The parent's end of reading files: plain text in a thread, each document and picture in a child process
of its own.
"""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import Any

from app.children.host_client import child_answer
from app.children.processes import FILE_READER
from app.core import files
from app.core.errors import BadInput
from app.core.message import Attachment
from app.core.texts import clean_text
from app.files.file_reader.document import decoded

SECONDS = 30.0
# The process ends itself sooner, by what it takes of the processor, where the system can do that.
COMPARING_SECONDS = 10.0
MOST_COMPARED = 1_000_000
_MOST_TEXT_BYTES = 4 * files.MOST_CHARACTERS


def _nothing(_read: int, _all: int) -> None:
    """Show no progress."""


class FileReaders:
    """Reads files; starts a process for each document and ends it afterwards, also when it is cancelled.

    `fonts` is the folder of those in which pages are set.
    """

    def __init__(self, fonts: Path = Path()) -> None:
        self._fonts = fonts

    async def read(
        self, path: Path, on_progress: files.Progress = _nothing, *, password: str = ""
    ) -> files.FileText:
        """Read a text or a document. Raises BadInput with the file's name and why it cannot be read."""
        if not files.is_document(path):
            return await asyncio.to_thread(_read_text, path)
        header, text = await _read_in_child({"path": str(path), "password": password}, path, on_progress)
        kind, name = files.DOCUMENT_TYPES[path.suffix.casefold()], clean_text(path.name)
        told = {field: header[field] for field in ("pages", "pages_read", "cut")}
        return files.FileText(name=name, text=await asyncio.to_thread(text.decode), media_type=kind, **told)

    async def printed(self, html: str, title: str, form: str) -> bytes:
        """Return a page of HTML that loads nothing as a PDF or a Word document.
        Raises BadInput where that fails.
        """
        request = {"page": html, "title": title, "as": form, "fonts": str(self._fonts)}
        return await _made_of(request, "page_not_printed")

    async def difference(self, old: bytes, new: bytes) -> str:
        """Return the lines in which two texts differ.
        Raises BadInput for other files, and where that takes too long.
        """
        both = [] if max(len(old), len(new)) > MOST_COMPARED else [_in_base_64(old), _in_base_64(new)]
        return (await _made_of({"compare": both}, "files_not_compared", COMPARING_SECONDS)).decode()

    async def picture(self, path: Path) -> Attachment:
        """Read a picture, and make it small. Raises BadInput with the file's name and why it cannot be
        read.
        """
        header, data = await _read_in_child({"path": str(path)}, path, _nothing)
        text = await asyncio.to_thread(_in_base_64, data)
        return Attachment(name=clean_text(path.name), media_type=header["media_type"], data=text)

    async def as_it_looks(
        self, path: Path, look: files.SeenAs, on_progress: files.Progress = _nothing, *, password: str = ""
    ) -> files.SeenFile:
        """Read a PDF file to be sent as it looks. Raises BadInput with its name and why it cannot be read."""
        request = {"path": str(path), "password": password, "look": asdict(look)}
        header, data = await _read_in_child(request, path, on_progress)
        text, itself, *pages = await asyncio.to_thread(_divided, data, header["sizes"])
        name, data_text = clean_text(path.name), _in_base_64(itself)
        pictures = tuple(map(_in_base_64, pages))
        seen = Attachment(name=name, media_type=files.PDF, text=text.decode(), data=data_text, pages=pictures)
        return files.SeenFile(attachment=seen, pages=header["pages"], shown=len(pages))


async def _made_of(request: Mapping[str, Any], problem: str, seconds: float = 0.0) -> bytes:
    """Return what a child process makes of a request. Raises BadInput with this code where that fails."""
    try:
        async with asyncio.timeout(seconds or SECONDS):
            result = await child_answer(FILE_READER, request)
    except (TimeoutError, OSError):
        result = None
    if result is None or "error" in result[0]:
        raise BadInput(problem)
    return result[1]


def _divided(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Return the parts of these sizes."""
    return [data[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)]


def _in_base_64(data: bytes) -> str:
    return base64.b64encode(data).decode()


async def _read_in_child(
    request: Mapping[str, Any], path: Path, on_progress: files.Progress
) -> tuple[dict[str, Any], bytes]:
    """Return what a child process says about a file, and what it has read. Raises BadInput."""
    await asyncio.to_thread(_check_size, path, files.MOST_BYTES)
    try:
        async with asyncio.timeout(SECONDS):
            result = await child_answer(FILE_READER, request, on_progress)
    except TimeoutError:
        raise BadInput("file_too_slow", name=path.name, seconds=round(SECONDS)) from None
    except OSError as error:
        raise BadInput("attachment_unreadable", name=path.name, detail=error.strerror or "") from error
    if result is None:
        # The child was ended by the system, or a library has crashed in it.
        raise BadInput("file_reader_ended", name=path.name)
    header, data = result
    if "error" in header:
        raise BadInput(header["error"], **{**header["details"], "name": path.name})
    return header, data


def _check_size(path: Path, most: int) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BadInput("attachment_unreadable", name=path.name, detail=error.strerror or "") from error
    if size > most:
        raise BadInput("attachment_too_large", name=path.name, most=most // 1_000_000)


def _read_text(path: Path) -> files.FileText:
    _check_size(path, _MOST_TEXT_BYTES)
    try:
        files.regular_size(path)
        data = path.read_bytes()
    except OSError as error:
        raise BadInput("attachment_unreadable", name=path.name, detail=error.strerror or "") from error
    text, encoding = decoded(data)
    if (not text and data) or "\0" in text:
        raise BadInput("attachment_not_text", name=path.name)
    cut = len(text) > files.MOST_CHARACTERS
    if cut:
        text = text[: text.rfind("\n", 0, files.MOST_CHARACTERS) + 1] or text[: files.MOST_CHARACTERS]
        text += f"\n[The file is longer: only the first {len(text):,} characters are given here.]"
    return files.FileText(name=clean_text(path.name), text=clean_text(text), cut=cut, encoding=encoding)
