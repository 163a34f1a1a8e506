"""Servers of models as they run on one's own computer, each answering as the real one does.

`with LocalFake("LM Studio", models) as fake:` listens on a free port; `fake.row` is its row of the
catalogue at that port, `fake.asked` what it was asked.
"""

import http.server
import json
import threading
from dataclasses import replace
from typing import Any

from app.core.catalog import LOCAL_SERVERS, LocalServer

JSON = "application/json"
NOT_FOUND = (404, "text/plain", "404 page not found")
Answer = tuple[int, str, str]


def ollama(path: str, models: tuple[str, ...], key: str) -> Answer:
    """Go: a line of text at the root, a version, and OpenAI's list."""
    if path == "/":
        return 200, "text/plain; charset=utf-8", "Ollama is running"
    if path == "/api/version":
        return 200, JSON, '{"version":"0.12.6"}'
    if path == "/v1/models":
        return _list(models, "library", created=1_718_000_000)
    return NOT_FOUND


def lm_studio(path: str, models: tuple[str, ...], key: str) -> Answer:
    """Node: greets its own programs; lists embedding models with the others."""
    if path == "/lmstudio-greeting":
        return 200, JSON, '{"lmstudio":true}'
    if path == "/v1/models":
        return _list((*models, "text-embedding-nomic-embed-text-v1.5"), "organization_owner", indent=2)
    return 200, JSON, json.dumps({"error": f"Unexpected endpoint or method. (GET {path})"})


def llama_cpp(path: str, models: tuple[str, ...], key: str) -> Answer:
    """C++: Ollama's list and OpenAI's in one; the rest wants its key, where it has one."""
    if path == "/v1/models":
        status, _, text = _list(models, "llamacpp", created=1_718_000_000)
        body = json.loads(text)
        body["models"] = [{"name": name, "model": name, "details": {"format": "gguf"}} for name in models]
        return status, "application/json; charset=utf-8", json.dumps(body)
    if path == "/props":
        return 200, JSON, json.dumps({"default_generation_settings": {}, "total_slots": 1})
    return 404, JSON, '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}'


def vllm(path: str, models: tuple[str, ...], key: str) -> Answer:
    """FastAPI: a list with permissions, a version."""
    if path == "/v1/models":
        return _list(models, "vllm", max_model_len=4096, root=models[0] if models else "")
    if path == "/version":
        return 200, JSON, '{"version":"0.11.0"}'
    return 404, JSON, '{"detail":"Not Found"}'


def jan(path: str, models: tuple[str, ...], key: str) -> Answer:
    """Rust: its description for everyone, all else for who has the key."""
    if path == "/openapi.json":
        info = {"title": "Jan API Server Endpoints", "version": "1.0"}
        return 200, JSON, json.dumps({"openapi": "3.0.0", "info": info}, indent=2)
    if path == "/v1/models" and key:
        return 401, "text/plain", "Invalid or missing authorization token"
    if path == "/v1/models":
        return _list(models, "user", created=1)
    return 404, "text/plain", "Not Found"


def unnamed(path: str, models: tuple[str, ...], key: str) -> Answer:
    """Serve models as OpenAI does and say nothing of itself."""
    return _list(models, "me") if path == "/v1/models" else NOT_FOUND


def website(path: str, models: tuple[str, ...], key: str) -> Answer:
    """Any other program with such a port: it has a page for every path."""
    return 200, "text/html", "<!DOCTYPE html><title>My project</title><p>Ollama is running, I think.</p>"


ANSWERS = {"Ollama": ollama, "LM Studio": lm_studio, "llama.cpp": llama_cpp, "vLLM": vllm, "Jan": jan}


def _list(models: tuple[str, ...], owner: str, indent: int | None = None, **more: Any) -> Answer:
    rows = [{"id": name, "object": "model", "owned_by": owner, **more} for name in models]
    return 200, JSON, json.dumps({"object": "list", "data": rows}, indent=indent)


class LocalFake:
    """One program on a free port of 127.0.0.1, `at` whose usual place it stands."""

    def __init__(
        self, name: str, models: tuple[str, ...] = ("llama3.2:3b",), *, at: str = "", key: str = ""
    ) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        answer = ANSWERS.get(name) or {"unnamed": unnamed, "website": website}[name]
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake.asked.append(self.path)
                fake.headers.append({one.lower(): value for one, value in self.headers.items()})
                status, kind, text = answer(self.path, models, key)
                data = text.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        place = at or (name if name in ANSWERS else "llama.cpp")
        usual = next(row for row in LOCAL_SERVERS if row.name == place)
        self.row: LocalServer = replace(usual, address=self.address)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "LocalFake":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
