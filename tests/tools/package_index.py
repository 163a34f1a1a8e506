"""A package index on this computer with one package: a viewer of pages that is small and shows nothing."""

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from app.tools import page_viewer

NAME = "pyside6_addons-0.0.1-py3-none-any.whl"
INFO = "pyside6_addons-0.0.1.dist-info"
FILES = {
    "PySide6/QtWebEngineCore.abi3.so": b"core",
    "PySide6/QtWebEngineCore.pyi": b"of the viewer",
    "PySide6/QtWebEngineWidgets.abi3.so": b"widgets",
    "PySide6/Qt/lib/libQt6WebEngineCore.so.6": bytes(300_000),
    "PySide6/Qt/libexec/QtWebEngineProcess": b"process",
    f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: pyside6-addons\nVersion: 0.0.1\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": b"",
}


@dataclass(slots=True)
class Index:
    """What the index sends, in how many seconds; `qt` is the folder that the viewer goes to."""

    qt: Path
    wheel: bytes
    seconds: float = 0.0

    def left(self) -> list[str]:
        """Return the files beside Qt, with their folders."""
        return sorted(str(path.relative_to(self.qt.parent)) for path in self.qt.parent.rglob("*"))


def made_wheel(more: bytes = b"") -> bytes:
    """Return the package, with the permissions that files have in one; with `more` it is another one."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o100755 if name.endswith("Process") else 0o100644) << 16
            archive.writestr(info, content + more)
    return made.getvalue()


@contextmanager
def package_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """Let the viewer come from an index on loopback, and go to a folder of the test."""
    wheel = made_wheel()
    qt, lock = folder / "site" / "PySide6", folder / "webui.lock"
    qt.mkdir(parents=True)
    (qt / "QtWebEngineCore.pyi").write_bytes(b"of Qt")
    digest = hashlib.sha256(wheel).hexdigest()
    lock.write_text(f"pyside6-addons==0.0.1 \\\n    --hash=sha256:{digest}\n", encoding="utf-8")
    index = Index(qt, wheel)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = f'<!DOCTYPE html><a href="/{NAME}">{NAME}</a>'.encode()
            body = index.wheel if self.path.endswith(NAME) else page
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if body is page else "application/zip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            half = len(body) // 2
            try:
                self.wfile.write(body[:half])
                if body is not page:
                    stopped.wait(index.seconds)
                self.wfile.write(body[half:])
            except OSError:
                pass  # The download was cancelled.

        def log_message(self, *_: object) -> None:
            pass

    stopped = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    monkeypatch.setattr(page_viewer, "qt_folder", lambda: qt)
    monkeypatch.setattr(page_viewer, "LOCK", lock)
    address = f"http://127.0.0.1:{server.server_port}/simple"
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("UV_INDEX_URL", address)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    try:
        yield index
    finally:
        stopped.set()
        server.shutdown()
        serving.join()
        server.server_close()
