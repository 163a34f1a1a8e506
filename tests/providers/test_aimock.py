"""Text, a call and its result over three protocols with aimock, a server of others; `.ci/full` gets it where there is Node."""

import asyncio
import contextlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.provider import ModelRequest
from app.providers.remote import RemoteModels
from tests.providers.asking import ask
from tests.providers.conftest import Book
from tests.providers.tool_chats import TOOLS, bare, results, said

AIMOCK = Path(__file__).parents[2] / "build/aimock/node_modules/.bin/llmock"
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.slow,
    pytest.mark.skipif(not (AIMOCK.is_file() and shutil.which("node")), reason="no aimock in build/aimock"),
]
CALL = {"name": "search", "arguments": json.dumps({"query": "news", "limit": 3})}
FIXTURES = {
    "fixtures": [
        {"match": {"hasToolResult": True}, "response": {"content": "Three are new."}},
        {"match": {"userMessage": "Search"}, "response": {"toolCalls": [CALL]}},
        {"match": {"userMessage": "Hello"}, "response": {"content": "Hello from elsewhere. 안녕하세요."}},
    ]
}
# The kind of the provider, what follows the address of the server, and the model.
ROUTES = [
    ("openai", "/v1", "gpt-4o"),
    # It is asked without streaming, and at another address.
    ("openai", "/v1", "gpt-5-pro"),
    ("anthropic", "", "claude-sonnet-4-5"),
    ("gemini", "/v1beta", "gemini-2.5-flash"),
]


@contextlib.asynccontextmanager
async def _server(folder: Path) -> AsyncIterator[str]:
    """Run aimock and yield its address."""
    path = folder / "fixtures.json"
    path.write_text(json.dumps(FIXTURES), encoding="utf-8")
    command = ("node", str(AIMOCK), "--port", "0", "--fixtures", str(path))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            async for line in process.stdout:
                if found := re.search(rb"http://127\.0\.0\.1:\d+", line):
                    yield found[0].decode()
                    break
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.parametrize(("kind", "path", "model"), ROUTES, ids=[model for _, _, model in ROUTES])
async def test_text_a_call_and_its_result(
    kind: str, path: str, model: str, book: Book, models: RemoteModels, tmp_path: Path
) -> None:
    async with _server(tmp_path) as address:
        book.add("aimock", kind, address + path, "sk-anything-at-all", (model,))

        def request(text: str, *rest: dict[str, object]) -> ModelRequest:
            messages = ({"role": "user", "content": text}, *rest)
            return ModelRequest(provider="aimock", model=model, messages=messages, tools=TOOLS)

        heard = await ask(models, request("Hello"))
        assert (heard.text, heard.outcome) == ("Hello from elsewhere. 안녕하세요.", "stop")
        called = await ask(models, request("Search"))
        assert bare(called.calls) == [("search", {"query": "news", "limit": 3})]
        told = await ask(models, request("Search", said(called), *results(called, "Three things.")))
        assert (told.text, told.outcome, told.calls) == ("Three are new.", "stop", [])
