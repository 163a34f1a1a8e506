"""A model hub on loopback: resolves a file to another address, serves ranges, and fails as real ones do."""

import contextlib
import hashlib
import http.server
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Hub:
    """What the hub serves; the first part of an address's path names its fault ("ok" for none)."""

    content: bytes
    address: str = ""
    # The Range headers of the requests for the file itself, "" where there was none.
    ranges: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def catalogue_entry(model_id: str, served: Hub, **others: object) -> dict[str, object]:
    """Return an entry of a catalogue for what a hub serves; `others` are further fields, or in place of these."""
    return {
        "id": model_id,
        "name": model_id.title(),
        "maker": "Us",
        "size": len(served.content),
        "sha256": served.sha256,
        "repo": "a/b",
        "revision": "0" * 40,
        "file": "t.gguf",
        "licence": "MIT",
        "languages": ["en"],
        "memory": 400_000_000,
        "computer_gb": 1,
        "about": {"en": "A good one."},
    } | others


@contextlib.contextmanager
def hub(content: bytes) -> Iterator[Hub]:
    """Serve `content` until the block is left."""
    served = Hub(content)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Be silent."""

        def refuse(self, status: int, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            _, fault, *rest = self.path.split("/")
            served.asked[fault] += 1
            if fault == "gated":
                self.refuse(401, X_Error_Code="GatedRepo")
            elif fault == "down":
                self.refuse(503)
            elif fault == "missing":
                self.refuse(404)
            elif fault == "loop":
                self.refuse(302, Location=self.path)
            elif fault == "busy" and served.asked[fault] == 1:
                self.refuse(429, Retry_After="1")
            elif fault == "odd" and served.asked[fault] == 1:
                self.refuse(429, Retry_After="²")
            elif "resolve" in rest:
                self.refuse(302, Location=f"{served.address}/{fault}/cdn")
            else:
                self.send_file(fault)

        def send_file(self, fault: str) -> None:
            wanted = self.headers.get("Range", "")
            served.ranges.append(wanted)
            content = served.content
            if fault == "corrupt":
                content = content[:1000] + bytes([content[1000] ^ 1]) + content[1001:]
            elif fault == "short":
                content = content[:-1]
            begin = int(wanted.removeprefix("bytes=").rstrip("-") or 0) if fault != "norange" else 0
            if begin >= len(content):
                self.refuse(416)
                return
            self.send_response(206 if begin else 200)
            if begin:
                whole = {"odd": "²", "zeros": f"{len(content):06000}", "nines": "9" * 6_000}.get(
                    fault, len(content)
                )
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{whole}")
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            end = begin + len(content) // 3 if fault == "cut" else len(content)
            step = 16 * 1024
            with contextlib.suppress(OSError):
                for place in range(begin, min(end, len(content)), step):
                    self.wfile.write(content[place : min(place + step, end)])
                    if fault == "slow":
                        time.sleep(0.01)
            if end < len(content):
                self.close_connection = True

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
