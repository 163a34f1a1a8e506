"""Starts the process that reads a file: `python -m app.files.file_reader`, or `--file-reader`
of a frozen build.

A line of JSON comes in: a path, a web page as it was sent, a page of HTML that becomes a PDF or a Word
document, or two texts to be compared. Lines of JSON go out: progress, then the result, which says how many
bytes follow it. What is read is a stranger's, so the process has limits of its own.
"""

import json
import os
import signal
import sys
import threading
from base64 import b64decode
from pathlib import Path

from app.children.processes import Pipes, end_with_parent, limit_memory
from app.core.files import is_image_file
from app.core.session import DOCX
from app.core.texts import visible
from app.files.file_reader.document import Document, Unreadable, collected

_MOST_MEMORY = 1 << 30
# Longer than the parent waits, which ends this process itself.
_MOST_SECONDS = 60.0
# Of the processor. How long comparing takes depends more on how often lines occur than on how many there are.
_COMPARING_SECONDS = 0.8


def main() -> int:
    """Read one file and end."""
    end_with_parent()
    request = json.loads(sys.stdin.buffer.readline())
    pipes = Pipes.take_over_standard_streams()
    _limit()
    path = Path(request.get("path", ""))
    data = b""

    def show(read: int, count: int) -> None:
        pipes.write({"progress": [read, count]})

    answer: dict[str, object]
    try:
        if page := request.get("page"):
            if request["as"] == DOCX:
                from app.files.file_reader.word_file import as_docx as write
            else:
                from app.files.file_reader.printed_page import as_pdf as write

            data, answer = write(page, request["title"], Path(request["fonts"])), {}
        elif "web_page" in request:
            from app.files.file_reader.web_page import fetched

            title, text = fetched(b64decode(request["web_page"]), *request["told"])
            data, answer = text.encode(), {"title": title}
        elif "compare" in request:
            from app.files.file_reader.difference import difference

            if sys.platform != "win32":
                # Its signal ends the process.
                signal.setitimer(signal.ITIMER_PROF, _COMPARING_SECONDS)
            texts = (b64decode(item).decode("utf-8-sig") for item in request["compare"])
            old, new = (visible(text).splitlines() for text in texts)
            data, answer = "\n".join(difference(old, new)).encode(), {}
        elif is_image_file(path):
            from app.files.file_reader.picture import read

            data, media_type = read(path)
            answer = {"media_type": media_type}
        elif look := request.get("look"):
            from app.files.file_reader import pdf

            password = request["password"]
            result = collected(pdf.read(path, password), show, scanned=True)
            itself = pdf.whole(path, password) if look["pdf"] else b""
            # A file that is too large to be sent itself is still seen.
            seen = look["pictures"] or not itself
            parts = [result.text.encode(), itself, *(pdf.pictures(path, show, password) if seen else ())]
            data = b"".join(parts)
            answer = {"sizes": [len(part) for part in parts], "pages": result.pages}
        else:
            result = collected(_document(path, request["password"]), show)
            data = result.text.encode()
            answer = {"pages": result.pages, "pages_read": result.pages_read, "cut": result.cut}
    except Unreadable as error:
        answer = {"error": error.code, "details": error.details}
    except OSError as error:
        answer = {"error": "attachment_unreadable", "details": {"detail": error.strerror or ""}}
    except MemoryError:
        answer = {"error": "file_reader_ended", "details": {}}
    except Exception:
        # Libraries raise errors of every kind for damaged files.
        answer = {"error": "file_damaged", "details": {}}
    pipes.write({**answer, "bytes": len(data)})
    pipes.write_bytes(data)
    # Libraries that met a damaged file may crash while they are cleaned up.
    os._exit(0)


def _document(path: Path, password: str) -> Document:
    """Return a document, read by the reader of its format, which alone is imported."""
    suffix = path.suffix.casefold()
    if suffix == ".pdf":
        from app.files.file_reader.pdf import read as read_pdf

        return read_pdf(path, password)
    if suffix in (".html", ".htm"):
        from app.files.file_reader.web_page import read

        return read(path)
    if suffix == ".hwp":
        raise Unreadable("file_hwp")
    from app.files.file_reader import office

    return office.READERS.get(suffix, office.read)(path)


def _limit() -> None:
    """Limit memory and time, where the system can."""
    timer = threading.Timer(_MOST_SECONDS, lambda: os._exit(1))
    timer.daemon = True
    timer.start()
    limit_memory(_MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())
