"""The wire servers themselves: they refuse what the real ones refuse."""

import contextlib
import gc
import json
import socket
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.wire import Answer, WireCall, WireServer, write_providers

USER = {"role": "user", "content": "Hi"}
ASSISTANT = {"role": "assistant", "content": "Yes"}


def post(server: WireServer, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, str]:
    request = urllib.request.Request(
        server.address + path, json.dumps(body).encode(), {"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def openai(server: WireServer, **changes: Any) -> tuple[int, str]:
    body = {"model": server.model, "messages": [USER], "stream": True} | changes
    return post(server, "/chat/completions", body, {"authorization": f"Bearer {server.key}"})


def anthropic(server: WireServer, betas: str = "", **changes: Any) -> tuple[int, str]:
    body = {"model": server.model, "messages": [USER], "max_tokens": 9, "stream": True} | changes
    headers = {"x-api-key": server.key, "anthropic-version": "2023-06-01", "anthropic-beta": betas}
    return post(server, "/v1/messages", body, headers)


def responses(server: WireServer, **changes: Any) -> tuple[int, str]:
    body = {"model": server.model, "input": [USER], "stream": True} | changes
    return post(server, "/responses", body, {"authorization": f"Bearer {server.key}"})


def gemini(server: WireServer, roles: list[str], text: str = "Hi", **changes: Any) -> tuple[int, str]:
    body = {"contents": [{"role": role, "parts": [{"text": text}]} for role in roles]} | changes
    path = f"/models/{server.model}:streamGenerateContent?alt=sse"
    return post(server, path, body, {"x-goog-api-key": server.key})


def test_openai() -> None:
    with WireServer("openai") as server:
        status, text = openai(server)
        assert status == 200 and text.endswith("data: [DONE]\n\n")
        for changes, words in (
            ({"messages": []}, "empty array"),
            ({"messages": [USER | {"name": "김 철수"}]}, "name"),
            ({"messages": [USER | {"content": " "}]}, "content"),
            ({"top_k": 3}, "Unrecognized request argument supplied: top_k"),
            ({"max_tokens": 0}, "below minimum"),
            ({"model": "other"}, "does not exist"),
        ):
            status, text = openai(server, **changes)
            assert status in (400, 404) and words in text
        assert [request.status for request in server.requests] == [200, 400, 400, 400, 400, 400, 404]


def test_gemma() -> None:
    with WireServer("openai-compatible") as server:
        assert openai(server)[0] == 200
        system = {"role": "system", "content": "Be Ada."}
        for messages in ([system, USER], [USER, USER], [USER, ASSISTANT], [ASSISTANT, USER]):
            assert openai(server, messages=messages)[0] == 400


def test_anthropic() -> None:
    with WireServer("anthropic") as server:
        assert anthropic(server)[0] == 200
        for changes in (
            {"messages": [ASSISTANT, USER]},
            {"messages": [USER, ASSISTANT]},
            {"messages": [USER, USER]},
            {"messages": [USER | {"content": ""}]},
            {"messages": [USER | {"name": "Ada"}]},
            {"max_tokens": 200_000},
            {"max_tokens": None},
            {"temperature": 1.5},
            {"stop": ["x"]},
            {"system": ""},
        ):
            assert anthropic(server, **changes)[0] == 400, changes


def test_anthropic_takes_what_claude_code_sends_only_with_its_betas() -> None:
    told = {"role": "system", "content": [{"type": "text", "text": "It is Tuesday."}]}
    with WireServer("anthropic") as server:
        for betas, changes in (
            ("mid-conversation-tool-changes-2026-07-01", {"messages": [USER, told]}),
            ("context-management-2025-06-27", {"context_management": {"edits": []}}),
        ):
            assert anthropic(server, **changes)[0] == 400
            assert anthropic(server, betas, **changes)[0] == 200
        assert anthropic(server, "mid-conversation-", messages=[USER, told, USER])[0] == 400
        assert [one.role for one in server.requests[1].messages] == ["user"]
        assert server.requests[1].system == "It is Tuesday."


def test_responses() -> None:
    tool = {"type": "function", "name": "run", "parameters": {"type": "object", "properties": {}}}
    space = {"type": "namespace", "name": "mcp__notes", "tools": [tool]}
    call = {"type": "function_call", "name": "run", "arguments": "{}", "call_id": "call_1"}
    told = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]}
    with WireServer("responses", models=("gpt-wire", "gpt-wire-pro")) as server:
        status, text = responses(server, tools=[tool, space, {"type": "web_search"}], input=[told, USER])
        assert status == 200 and "response.completed" in text
        [request] = server.requests
        assert request.tools == ["run", "mcp__notes__run", "web_search"]
        assert request.system == "Be brief." and [one.text for one in request.messages] == ["Hi"]
        more = {"type": "additional_tools", "role": "developer", "tools": [space]}
        assert responses(server, input=[more, USER])[0] == 200
        assert server.requests[-1].tools == ["mcp__notes__run"]
        for changes in (
            {"input": [USER, call]},
            {"tools": [tool, tool]},
            {"messages": [USER]},
            {"model": "gpt-wire-pro"},
        ):
            assert responses(server, **changes)[0] == 400, changes
        server.script("gpt-wire", [Answer("So:", calls=(WireCall("mcp__notes__run", id="call_1"),))])
        status, text = responses(server, tools=[space])
        assert '"name": "run", "namespace": "mcp__notes"' in text and '"text": "So:"' in text


def test_gemini() -> None:
    with WireServer("gemini") as server:
        assert gemini(server, ["user", "model", "user"])[0] == 200
        for roles in ([], ["model", "user"], ["user", "model"], ["user", "user"], ["assistant"]):
            assert gemini(server, roles)[0] == 400, roles
        assert gemini(server, ["user"], text=" ")[0] == 400
        assert gemini(server, ["user"], messages=[])[0] == 400


@pytest.mark.parametrize(("kind", "ask", "status"), [("openai", openai, 401), ("anthropic", anthropic, 401)])
def test_a_wrong_key_is_refused_and_echoed(kind: str, ask: Any, status: int) -> None:
    with WireServer(kind) as server:
        server.key = "sk-wrong"
        got, text = ask(server)
        assert got == status and "sk-wrong" in text
        assert server.requests[0].status == status


def test_the_providers_file(tmp_path: Path) -> None:
    servers = [WireServer("openai"), WireServer("ollama"), WireServer("openai", provider_id="my-lab")]
    variables = write_providers(tmp_path, servers)
    assert variables.keys() == {"OPENAI_API_KEY", "MOOT_KEY_OLLAMA", "MOOT_KEY_MY_LAB"}
    written = json.loads((tmp_path / "providers.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in written["providers"]] == ["openai", "ollama", "my-lab"]


def test_closing_while_clients_connect_leaves_no_connection_open() -> None:
    clients: list[socket.socket] = []

    def connect(port: int, stop: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while not stop.is_set():
                clients.append(socket.create_connection(("127.0.0.1", port)))

    for _ in range(5):
        stop = threading.Event()
        with WireServer("openai") as server:
            port = urlsplit(server.address).port
            many = threading.Thread(target=connect, args=(port, stop))
            many.start()
            stop.wait(0.01)
        stop.set()
        many.join()
    # One that is left says so when it is collected, and that fails a test.
    gc.collect()
    for client in clients:
        client.close()
