"""The place that a build asks for a newer version: TLS on loopback, with whatever answer a test wants."""

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.wire.certificates import own_certificates

NEWS = {
    "en": "Decisions have a memo.\nWork shows its files.",
    "ko": "결정에 메모가 생겼어요.\n작업에 파일이 나와요.",
}


@dataclass
class VersionServer:
    """`address` is asked; `requests` are the bytes of each request, `answer` those of all answers.

    It waits `pause` seconds before each byte of an answer, and with `silent` answers nothing. `authority`
    is the file of certificates to trust, `resources` a folder with the file that names the address.
    """

    authority: Path
    resources: Path
    address: str = ""
    host: str = ""
    answer: bytes = b""
    pause: float = 0.0
    silent: bool = False
    requests: list[bytes] = field(default_factory=list)

    def tell(self, **changed: object) -> None:
        """Answer with a newer version, some of it changed."""
        version = {"version": "9.1.0", "date": "2026-11-20", "news": NEWS, "link": f"https://{self.host}/new"}
        self.send(json.dumps(version | changed).encode())

    def send(self, body: bytes, head: str = "200 OK") -> None:
        """Answer with these bytes."""
        self.answer = f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def version_server(folder: Path) -> Iterator[VersionServer]:
    """Serve until the block is left; what it needs on the disk is kept in `folder`."""
    own = own_certificates(folder)
    listening = socket.create_server(("127.0.0.1", 0))
    server = VersionServer(own.authority, folder)
    server.host = f"127.0.0.1:{listening.getsockname()[1]}"
    server.address = f"https://{server.host}/version.json"
    (folder / "version_address.txt").write_text(f"{server.address}\n")
    server.tell()
    serving = threading.Thread(target=_accept, args=(server, listening, own.server), daemon=True)
    serving.start()
    try:
        yield server
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        serving.join(10)


def _accept(server: VersionServer, listening: socket.socket, security: ssl.SSLContext) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        # A client that trusts nobody here, or is killed while it reads.
        with contextlib.suppress(OSError), security.wrap_socket(connection, server_side=True) as secured:
            _serve(server, secured)


def _serve(server: VersionServer, connection: ssl.SSLSocket) -> None:
    connection.settimeout(20)
    asked = b""
    while b"\r\n\r\n" not in asked and (data := connection.recv(65_536)):
        asked += data
    server.requests.append(asked)
    if server.silent:
        connection.recv(1)
    elif server.pause:
        for place in range(len(server.answer)):
            time.sleep(server.pause)
            connection.sendall(server.answer[place : place + 1])
    else:
        connection.sendall(server.answer)
