"""An MCP server at an address that misbehaves: `rude_http.py HOW PORT`; made without the kit."""

import contextlib
import gzip
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOW = sys.argv[1]
ADD = {"name": "add", "description": "Add.", "inputSchema": {"type": "object"}}


class Handler(BaseHTTPRequestHandler):
    """Answers one request the way the argument names."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(405, b"")

    def do_DELETE(self) -> None:
        self.answer(405, b"")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, number = request.get("method"), request.get("id")
        if HOW == "refuses":
            self.answer(401, b'{"error": "who are you?"}')
        elif HOW == "sse":
            self.answer(405, b"")
        elif HOW == "mute":
            time.sleep(3600)
        elif HOW == "page":
            self.answer(200, b"<h1>Welcome</h1>", kind="text/html")
        elif number is None:
            self.answer(202, b"")
        elif method == "initialize":
            result = {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": HOW, "version": "1"},
            }
            self.reply(number, result)
        elif method == "tools/list":
            self.reply(number, {"tools": [ADD]})
        elif method == "tools/call":
            self.break_off(number)
        else:
            error = {"code": -32601, "message": "Method not found"}
            self.answer(200, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())

    def break_off(self, number: object) -> None:
        if HOW == "long_answer":
            self.reply(number, {"content": [{"type": "text", "text": "y" * 50_000_000}]})
        elif HOW == "packed":
            self.answer(200, gzip.compress(b" " * 50_000_000), encoding="gzip")
        elif HOW == "drops":
            self.close_connection = True
        elif HOW == "no_json":
            self.answer(200, b'{"jsonrpc": ')
        elif HOW == "long_event":
            self.start_stream()
            for _ in range(50):
                self.wfile.write(b"data: " + b"x" * 1_000_000)
        elif HOW == "floods":
            self.start_stream()
            note = {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": "x"},
            }
            while True:
                self.wfile.write(b"data: " + json.dumps(note).encode() + b"\n\n")

    def reply(self, number: object, result: dict[str, Any]) -> None:
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())

    def start_stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()

    def answer(self, status: int, body: bytes, kind: str = "application/json", encoding: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        if encoding:
            self.send_header("content-encoding", encoding)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
