"""A proxy in a thread of its own: what it is asked for any server it gets from one on this computer."""

import socket
import socketserver
import threading
from urllib.parse import urlsplit

_PIECE = 65_536


class LocalProxy:
    """`with LocalProxy(port) as proxy:` listens at `proxy.address` and leads everything to `proxy.port`.

    `targets` are the servers it was asked for, as host and port.
    """

    def __init__(self, port: int = 0) -> None:
        self.targets: list[str] = []
        self.port = port
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                method, target, version = self.rfile.readline().decode().split()
                lines = []
                while (line := self.rfile.readline()).strip():
                    lines.append(line)
                with socket.create_connection(("127.0.0.1", proxy.port)) as server:
                    if method == "CONNECT":
                        proxy.targets.append(target)
                        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    else:
                        parts = urlsplit(target)
                        proxy.targets.append(f"{parts.hostname}:{parts.port or 80}")
                        path = parts.path + (f"?{parts.query}" if parts.query else "")
                        kept = [
                            one for one in lines if not one.lower().startswith((b"connection", b"proxy-"))
                        ]
                        head = f"{method} {path} {version}\r\nConnection: close\r\n".encode()
                        server.sendall(head + b"".join(kept) + b"\r\n")
                    back = threading.Thread(target=_copy, args=(server, self.request), daemon=True)
                    back.start()
                    while data := self.rfile.read1(_PIECE):
                        server.sendall(data)
                    back.join()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Say nothing of a connection that was broken."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "LocalProxy":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def _copy(one: socket.socket, other: socket.socket) -> None:
    try:
        while data := one.recv(_PIECE):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        return
