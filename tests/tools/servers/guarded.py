"""An MCP server that wants a token, and its authorization server, strict or hostile; made without the kit."""

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

WHO = {"name": "who", "description": "Say who calls.", "inputSchema": {"type": "object"}}


class GuardedServer(ThreadingHTTPServer):
    """`how`: strict, issuer, away, huge, downgrade, denies, or closed, which registers nobody and knows the client `known`;
    `seconds` is how long a token is good for.
    """

    daemon_threads = True

    def __init__(self, how: str = "strict", seconds: float = 3600) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.how = how
        self.seconds = seconds
        self.base = f"http://127.0.0.1:{self.server_address[1]}"
        self.url = f"{self.base}/mcp"
        self.clients: dict[str, list[str]] = {"known": []} if how == "closed" else {}
        self.codes: dict[str, dict[str, str]] = {}
        self.access: dict[str, float] = {}
        self.refresh: set[str] = set()
        self.used: list[str] = []
        self.requests: list[str] = []
        self.faults: list[str] = []

    def accepts(self, client: str, redirect: str) -> bool:
        """Say whether a client may have its answer sent to an address; a known one may listen at any port."""
        loopback = redirect.startswith("http://127.0.0.1:") and redirect.endswith("/callback")
        return redirect in self.clients.get(client, []) or (client == "known" in self.clients and loopback)

    def tokens(self) -> dict[str, object]:
        """Return new tokens; the refresh token is good for one use."""
        access, refresh = f"access-{secrets.token_hex(8)}", f"refresh-{secrets.token_hex(8)}"
        self.access[access] = time.monotonic() + self.seconds
        self.refresh.add(refresh)
        self.used.append(access)
        return {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": int(self.seconds),
            "refresh_token": refresh,
            "scope": "tools",
        }


@contextlib.contextmanager
def guarded(how: str = "strict", seconds: float = 3600) -> Iterator[GuardedServer]:
    server = GuardedServer(how, seconds)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def visit(url: str) -> int:
    """Open a page as a browser whose user agrees there; return the status of where it ends."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return int(answer.status)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: GuardedServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base's
        """Say nothing."""

    def do_GET(self) -> None:
        one, path = self.server, urlsplit(self.path).path
        one.requests.append(path)
        if path == "/.well-known/oauth-protected-resource/mcp":
            self._json(200, {"resource": one.url, "authorization_servers": [f"{one.base}/login"]})
        elif path == "/.well-known/oauth-authorization-server/login":
            self._metadata()
        elif path == "/login/authorize":
            self._authorize()
        else:
            self._json(404 if path != "/mcp" else 405, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.requests.append(self.path)
        if self.path == "/mcp":
            self._mcp(json.loads(body))
        elif self.path == "/login/register":
            self._register(json.loads(body))
        elif self.path == "/login/token":
            self._token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        else:
            self._json(404, {})

    def do_DELETE(self) -> None:
        self._json(405, {})

    def _metadata(self) -> None:
        one = self.server
        base = f"{one.base}/login"
        if one.how == "away":
            self._send(302, b"", {"location": "http://localhost:1/elsewhere"})
            return
        metadata: dict[str, Any] = {
            "issuer": "https://other.example" if one.how == "issuer" else base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": "http://other.example/token" if one.how == "downgrade" else f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["tools"],
        }
        if one.how == "huge":
            metadata["service_documentation"] = f"{base}/{'x' * 2_000_000}"
        self._json(200, metadata)

    def _register(self, wanted: dict[str, Any]) -> None:
        if self.server.how == "closed":
            self._json(403, {"error": "access_denied"})
            return
        name = f"client-{secrets.token_hex(4)}"
        self.server.clients[name] = wanted["redirect_uris"]
        self._json(201, {**wanted, "client_id": name})

    def _authorize(self) -> None:
        one = self.server
        given = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        sound = (
            given.get("response_type") == "code"
            and one.accepts(given.get("client_id", ""), given.get("redirect_uri", ""))
            and given.get("code_challenge_method") == "S256"
            and len(given.get("code_challenge", "")) == 43
            and given.get("resource") == one.url
            and len(given.get("state", "")) >= 16
        )
        if not sound:
            one.faults.append(f"authorize: {sorted(given)}")
            self._json(400, {"error": "invalid_request"})
            return
        answer = {"state": given["state"]}
        if one.how == "denies":
            answer |= {"error": "access_denied", "error_description": "Not\x1b[2J you"}
        else:
            code = secrets.token_hex(8)
            one.codes[code] = given
            answer |= {"code": code, "iss": f"{one.base}/login"}
        self._send(302, b"", {"location": f"{given['redirect_uri']}?{urlencode(answer)}"})

    def _token(self, given: dict[str, str]) -> None:
        one = self.server
        if given.get("resource") != one.url or given.get("client_id") not in one.clients:
            one.faults.append(f"token: {sorted(given)}")
            self._json(400, {"error": "invalid_target"})
        elif given.get("grant_type") == "refresh_token":
            if given["refresh_token"] in one.refresh:
                one.refresh.remove(given["refresh_token"])
                self._json(200, one.tokens())
            else:
                one.faults.append("refresh: used before")
                self._json(400, {"error": "invalid_grant"})
        else:
            asked = one.codes.pop(given.get("code", ""), {})
            proof = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
            same = all(asked.get(name) == given.get(name) for name in ("client_id", "redirect_uri"))
            if not asked or not same or asked["code_challenge"] != challenge:
                one.faults.append("token: wrong proof")
                self._json(400, {"error": "invalid_grant"})
            else:
                self._json(200, one.tokens())

    def _mcp(self, request: dict[str, Any]) -> None:
        one = self.server
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        if one.access.get(token, 0) < time.monotonic():
            where = f"{one.base}/.well-known/oauth-protected-resource/mcp"
            self._json(401, {}, {"www-authenticate": f'Bearer resource_metadata="{where}"'})
            return
        method, number = request.get("method"), request.get("id")
        result: dict[str, Any] | None = None
        if method == "initialize":
            version = request["params"]["protocolVersion"]
            info = {"name": "guarded", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        elif method == "tools/list":
            result = {"tools": [WHO]}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": f"you are {token}"}]}
        if number is None:
            self._send(202, b"", {})
        elif result is None:
            error = {"code": -32601, "message": "Method not found"}
            self._json(200, {"jsonrpc": "2.0", "id": number, "error": error})
        else:
            self._json(200, {"jsonrpc": "2.0", "id": number, "result": result})

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(
            status, json.dumps(value).encode(), {"content-type": "application/json", **(headers or {})}
        )

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)
