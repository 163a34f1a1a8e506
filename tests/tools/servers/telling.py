"""An MCP server that tells all it was given: `telling.py …` over stdio, `telling.py --port PORT` over HTTP.

It also tells the digest of each thing, by which a test sees what really came.
"""

import hashlib
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def digests(given: dict[str, str]) -> dict[str, str]:
    return {f"{name} digest": hashlib.sha256(value.encode()).hexdigest() for name, value in given.items()}


def result_of(method: str, params: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
    everything = json.dumps(given)
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "telling", "version": "1"},
        }
    if method == "tools/list":
        # A tool that tells something else is another tool, which nobody has allowed.
        words = "Tell." if given.get("MODE") == "quiet" else everything
        schema = {"type": "object", "properties": {"a": {"type": "string", "description": words}}}
        names = ("tell", "digest", "page", "fail", "end")
        return {"tools": [{"name": one, "description": words, "inputSchema": schema} for one in names]}
    text = json.dumps(digests(given)) if params["name"] == "digest" else everything
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if params["name"] == "page":
        page = {"uri": "ui://tell/1", "mimeType": "text/html", "text": f"<p>{everything}</p>"}
        content.append({"type": "resource", "resource": page})
    if params["name"] == "end":
        print(everything, file=sys.stderr, flush=True)
        sys.exit(1)
    return {"content": content, "isError": params["name"] == "fail"}


def answer(request: dict[str, Any], given: dict[str, str]) -> str:
    head = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] not in ("initialize", "tools/list", "tools/call"):
        return json.dumps({**head, "error": {"code": -32601, "message": "Method not found"}})
    return json.dumps({**head, "result": result_of(request["method"], request.get("params") or {}, given)})


class Handler(BaseHTTPRequestHandler):
    """Tells the address and the headers it was asked with; refuses whoever has the wrong ones."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(405, b"")

    def do_DELETE(self) -> None:
        self.reply(405, b"")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        given = {"path": self.path, **dict(self.headers.items())}
        if "refuse" in self.path:
            self.reply(401, json.dumps(given).encode())
        elif "id" not in request:
            self.reply(202, b"")
        else:
            self.reply(200, answer(request, given).encode())

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def serve_stdio() -> None:
    given = {**os.environ, **{f"argument {place}": text for place, text in enumerate(sys.argv)}}
    print(json.dumps(given), file=sys.stderr, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            print(answer(request, given), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--port"]:
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
    else:
        serve_stdio()
