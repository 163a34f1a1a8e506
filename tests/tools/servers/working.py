"""An MCP server that says how far its work is, and ends in the middle of it: `working.py [SECONDS]` before it answers."""

import json
import sys
import time
from typing import Any

TOOLS = [
    {"name": "work", "annotations": {"readOnlyHint": True}},
    {"name": "wipe", "annotations": {"destructiveHint": True, "openWorldHint": True}},
    {"name": "wonder"},
    {"name": "may"},
    {"name": "later", "execution": {"taskSupport": "required"}},
]

CLIENT: dict[str, Any] = {}
"""What the client says that it can do."""


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tell(method: str, **params: Any) -> None:
    send(method=method, params=params)


def work(token: object, seconds: float) -> None:
    tell("notifications/message", level="warning", logger="mill", data={"flour": "damp"})
    for step in range(1, 5):
        tell("notifications/progress", progressToken=token, progress=step, total=4, message=f"Sack {step}")
        time.sleep(seconds)


def asked(method: str, **params: Any) -> dict[str, Any]:
    """Ask the client something, and return what it answers."""
    send(id=method, method=method, params=params)
    return next(one for one in map(json.loads, sys.stdin) if one.get("id") == method)


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        CLIENT.update(params["capabilities"])
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "logging": {}},
            "serverInfo": {"name": "working", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{**tool, "inputSchema": {"type": "object"}} for tool in TOOLS]}
    if method == "tools/call":
        if params["name"] == "wipe":
            sys.exit(1)
        if params["name"] == "wonder":
            return {"content": [{"type": "text", "text": json.dumps(asked(**params["arguments"]))}]}
        if params["name"] == "may":
            return {"content": [{"type": "text", "text": json.dumps(CLIENT)}]}
        work((params.get("_meta") or {}).get("progressToken"), params["arguments"].get("seconds", 0.25))
        return {"content": [{"type": "text", "text": "Four sacks"}]}
    return {} if method == "ping" else None


if __name__ == "__main__":
    time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {})
            missing = {"code": -32601, "message": "Method not found"}
            send(id=request["id"], **({"error": missing} if result is None else {"result": result}))
