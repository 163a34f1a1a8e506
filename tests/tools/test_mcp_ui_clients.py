"""What promptUser returns, as others read it: the protocol's own types, MCP-UI's rules, its published clients.

The clients are npm packages, not ours: MCP_UI_CLIENTS names a folder made with
`npm install @mcp-ui/client mcp-ui-5@npm:@mcp-ui/client@5 react react-dom`; without it that test is skipped.
"""

import asyncio
import json
import os
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CallToolResult, EmbeddedResource, TextContent, TextResourceContents

from app.core.tool import ToolResult
from app.tools.prompt_user import prompt_user

FOLDER = os.environ.get("MCP_UI_CLIENTS", "")
HOSTILE = "<script>steal()</script> \u202egnp.exe \"' & </iframe>"
QUESTIONS: tuple[tuple[str, Any, list[str] | None], ...] = (
    ("Go on?", "yesno", None),
    ("어느 형식으로 할까요?", "options", ["CSV", "JSON", "둘 다"]),
    ("Say why", "text", None),
    (HOSTILE, "options", [HOSTILE, "b"]),
    ("q" * 4_000, "options", [f"{number} " + "x" * 400 for number in range(50)]),
)


async def asked() -> list[ToolResult]:
    return [await prompt_user(question, kind, options) for question, kind, options in QUESTIONS]


def as_sent(result: ToolResult) -> dict[str, Any]:
    """Return a result as a server sends it: the resource is first in its content."""
    return {"content": [*result.resources, {"type": "text", "text": result.content}]}


async def test_the_resource_is_one_of_the_protocol_and_of_mcp_ui() -> None:
    for result in await asked():
        read = CallToolResult.model_validate(as_sent(result))
        first, second = read.content
        assert isinstance(first, EmbeddedResource) and isinstance(second, TextContent)
        resource = first.resource
        assert isinstance(resource, TextResourceContents)
        assert str(resource.uri).startswith("ui://prompt/")
        assert resource.mime_type == "text/html"
        assert resource.text.lstrip().lower().startswith("<!doctype html>")
        # Nothing is lost on the way: what is sent again is what came.
        again = first.model_dump(mode="json", by_alias=True, exclude_none=True)
        assert again == result.resources[0]


class Frame(HTMLParser):
    """The frame a client puts a page in."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.frames: list[dict[str, str | None]] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.frames.append(dict(attrs))


@pytest.mark.skipif(not FOLDER or shutil.which("node") is None, reason="needs MCP_UI_CLIENTS and node")
async def test_the_published_clients_take_it_and_show_it_in_their_frame() -> None:
    script = Path(__file__).with_name("mcp_ui_clients.mjs")
    results = [as_sent(one) for one in await asked()]
    wrong = {"content": [{"type": "resource", "resource": {"uri": "file:///x", "text": "no page"}}]}
    process = await asyncio.create_subprocess_exec(
        "node",
        str(script),
        cwd=FOLDER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, problems = await asyncio.wait_for(
        process.communicate(json.dumps([*results, wrong]).encode()), timeout=60
    )
    assert process.returncode == 0, problems.decode()
    said = json.loads(out)
    assert said["today"].startswith(("6.", "7.")) and said["before"].startswith("5.")
    *report, refused = said["report"]
    for one, sent in zip(report, results, strict=True):
        assert one["protocol"] == ""
        page, words = one["shown"]
        assert (page["today"], page["before"]) == (True, True)
        assert (words["today"], words["before"]) == (False, False)
        [frame] = Frame(page["markup"]).frames
        assert frame["srcdoc"] == sent["content"][0]["resource"]["text"]
        assert frame["sandbox"] == "allow-scripts"
    # The clients do tell one thing from another.
    assert [one["today"] for one in refused["shown"]] == [False]
