"""MCP servers of others, every tool called once, over stdio and over HTTP; each is skipped where its command is not there.

`npm install --prefix FOLDER @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem`, `pip install
mcp-server-time mcp-server-git` and `pip install mcp-proxy "mcp<2"` into environments of their own, and MCP_TEST_SERVERS names the folders of the commands.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.message import Prompt, PromptType, form_text
from app.core.servers import McpServer
from app.core.tool import ServerState, ToolResult
from tests.tools.serving import Bench, Context, bench, free_port, running

FOLDERS = os.environ.get("MCP_TEST_SERVERS", "")

Check = Callable[[ToolResult], bool]
Use = tuple[str, dict[str, Any], Check]
"""A tool, its arguments, and what must be true of its result."""


def command(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([FOLDERS, os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def says(words: str) -> Check:
    return lambda result: result.ok and words in result.content


def returns(media_type: str) -> Check:
    return lambda result: result.ok and media_type in [one.media_type for one in result.attachments]


class Willing(Context):
    """Agrees to what servers ask, with the values that they suggest."""

    async def ask(self, prompt: Prompt) -> str | None:
        self.asked.append(prompt)
        if prompt.type != PromptType.FORM:
            return "yes"
        return form_text(
            {one.key: one.default or one.options[:1] or ("Ada",) for one in prompt.fields if one.required}
        )


EVERYTHING: list[Use] = [
    ("echo", {"message": "hello"}, says("Echo: hello")),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}, returns("image/png")),
    ("get-env", {}, says("PATH")),
    ("get-resource-links", {"count": 3}, lambda result: len(result.resources) == 3),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}, returns("text/plain")),
    ("get-structured-content", {"location": "New York"}, lambda result: bool(json.loads(result.content))),
    ("get-sum", {"a": 2, "b": 3}, says("5")),
    ("get-tiny-image", {}, returns("image/png")),
    (
        "gzip-file-as-resource",
        {"name": "a.gz", "data": "data:text/plain,abc", "outputType": "resource"},
        returns("application/gzip"),
    ),
    ("toggle-simulated-logging", {}, says("ogging")),
    ("toggle-subscriber-updates", {}, says("update")),
    ("trigger-long-running-operation", {"duration": 1, "steps": 2}, says("completed")),
    ("trigger-elicitation-request", {}, says("Ada")),
    (
        "trigger-url-elicitation",
        {"url": "https://example.org/", "message": "Look", "elicitationId": "1", "errorPath": False},
        lambda result: bool(result.content),
    ),
]
TIME: list[Use] = [
    ("get_current_time", {"timezone": "Asia/Seoul"}, says("+09:00")),
    (
        "convert_time",
        {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Seoul"},
        says("T21:00"),
    ),
]


def on_files(folder: Path) -> list[Use]:
    file, moved = str(folder / "a.txt"), str(folder / "b.txt")
    (folder / "pixel.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    edits = [{"oldText": "two", "newText": "three"}]
    return [
        ("write_file", {"path": file, "content": "one\ntwo\n"}, says("a.txt")),
        ("read_file", {"path": file}, says("two")),
        ("read_text_file", {"path": file, "head": 1}, says("one")),
        (
            "read_media_file",
            {"path": str(folder / "pixel.png")},
            lambda result: "pixel" in result.content or result.ok,
        ),
        ("read_multiple_files", {"paths": [file]}, says("two")),
        ("edit_file", {"path": file, "edits": edits, "dryRun": False}, says("three")),
        ("create_directory", {"path": str(folder / "sub")}, says("sub")),
        ("list_directory", {"path": str(folder)}, says("a.txt")),
        ("list_directory_with_sizes", {"path": str(folder), "sortBy": "name"}, says("a.txt")),
        ("directory_tree", {"path": str(folder)}, says("a.txt")),
        ("search_files", {"path": str(folder), "pattern": "*.txt"}, says("a.txt")),
        ("get_file_info", {"path": file}, says("size")),
        ("move_file", {"source": file, "destination": moved}, says("b.txt")),
        ("list_allowed_directories", {}, says(str(folder))),
    ]


def on_a_repository(folder: Path) -> list[Use]:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)

    git("init", "-b", "main")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    (folder / "a.txt").write_text("one\n", "utf-8")
    here = {"repo_path": str(folder)}
    return [
        ("git_status", here, says("a.txt")),
        ("git_add", {**here, "files": ["a.txt"]}, says("staged")),
        ("git_commit", {**here, "message": "Begin"}, says("ommit")),
        ("git_log", {**here, "max_count": 1}, says("Begin")),
        ("git_show", {**here, "revision": "HEAD"}, says("Begin")),
        ("git_diff_unstaged", here, says("")),
        ("git_diff_staged", here, says("")),
        ("git_diff", {**here, "target": "HEAD"}, says("")),
        ("git_reset", here, says("reset")),
        ("git_create_branch", {**here, "branch_name": "more"}, says("more")),
        ("git_checkout", {**here, "branch_name": "more"}, says("more")),
        ("git_branch", {**here, "branch_type": "local"}, says("main")),
    ]


async def call_all(one: Bench, name: str, uses: list[Use]) -> None:
    """Call every tool of a server once, and none besides those it offers."""
    assert one.status(name).state == ServerState.CONNECTED, one.status(name).detail
    offered = {tool.key: tool for tool in one.servers.server_tools([name])}
    assert set(offered) == {f"{name}__{tool}" for tool, _, _ in uses}
    for tool, arguments, check in uses:
        result = await offered[f"{name}__{tool}"].run(arguments, Willing())
        assert check(result), (tool, result)


def uses_of(name: str, folder: Path) -> tuple[list[str], list[Use]]:
    """Return the words behind the command of a server, and what is done with it in a folder."""
    if name == "filesystem":
        return [str(folder)], on_files(folder)
    if name == "git":
        return ["--repository", str(folder)], on_a_repository(folder)
    return [], {"everything": EVERYTHING, "time": TIME}[name]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ["everything", "filesystem", "git", "time"])
async def test_every_tool_of_a_server_over_stdio(data_dir: Path, tmp_path: Path, name: str) -> None:
    program = command(f"mcp-server-{name}")
    folder = (tmp_path / "work").resolve()
    folder.mkdir()
    words, uses = uses_of(name, folder)
    async with bench(data_dir) as one:
        await one.connect(McpServer(name=name, command=program, args=tuple(words)))
        await call_all(one, name, uses)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ["everything", "filesystem", "git", "time"])
async def test_every_tool_of_a_server_over_http(data_dir: Path, tmp_path: Path, name: str) -> None:
    program = command(f"mcp-server-{name}")
    folder = (tmp_path / "work").resolve()
    folder.mkdir()
    words, uses = uses_of(name, folder)
    port = free_port()
    line = [program, "streamableHttp"]
    if name != "everything":
        # Those speak HTTP through a proxy alone.
        line = [command("mcp-proxy"), "--host", "127.0.0.1", "--port", str(port), "--", program, *words]
    async with running(*line, port=port), bench(data_dir) as one:
        await one.connect(McpServer(name=name, url=f"http://127.0.0.1:{port}/mcp"))
        await call_all(one, name, uses)
