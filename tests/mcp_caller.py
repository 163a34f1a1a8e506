"""Another agent that calls Moot: MCP's own client, which starts `moot mcp` as a process."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, Implementation

from app.cli.control import owner_pid
from app.storage.access import WriterLock
from app.storage.paths import DataPaths
from tests.app_driver import until
from tests.stories import processes
from tests.wire.replies import Answer
from tests.wire.server import Recorded, WireServer

PROJECT = Path(__file__).resolve().parents[1]


@dataclass
class Caller:
    """Calls tools and remembers what it was told."""

    session: ClientSession
    progress: list[str] = field(default_factory=list)
    statements: list[dict[str, Any]] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; return its structured answer."""
        result = await self.session.call_tool(tool, arguments, progress_callback=self._note)
        assert isinstance(result, CallToolResult)
        found = result.structured_content
        assert found is not None, result
        assert result.is_error == ("error" in found)
        self.statements += found.get("statements", [])
        return found

    async def to_the_end(self, found: dict[str, Any]) -> dict[str, Any]:
        """Wait until a session no longer runs and all of it was told."""
        while found["status"] == "running" or found.get("more"):
            found = await self.call("wait", session_id=found["session_id"])
        return found

    def said(self) -> list[str]:
        """Return what was said so far, as NAME: TEXT."""
        return [f"{one['name']}: {one['text']}" for one in self.statements]

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(message or "")


@asynccontextmanager
async def calling(
    data_dir: Path,
    *,
    environment: dict[str, str] | None = None,
    name: str = "Claude Code",
    orphaned: bool = True,
) -> AsyncIterator[Caller]:
    """Start `moot mcp` and connect to it as a program of that name.

    If it is `orphaned`, this process is no ancestor of it: what a Moot has started may not call it, and the window of a
    test is in this process.
    """
    command = [*processes.COMMAND, "mcp", "--data-dir", str(data_dir)]
    if orphaned:
        command = ["/bin/sh", "-c", 'exec 3<&0; "$@" <&3 3<&- &', "sh", *command]
    server = StdioServerParameters(
        command=command[0],
        args=command[1:],
        env=os.environ | (environment or {}),
        cwd=PROJECT,
    )
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write, client_info=Implementation(name=name, version="1")) as session,
    ):
        await session.initialize()
        yield Caller(session)


async def end_owner(data_dir: Path) -> None:
    """End the Moot without a window that a call has started, and wait until it has let go."""
    paths = DataPaths(data_dir)
    if WriterLock(paths).is_held() and (owner := owner_pid(paths.control)) not in (None, os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(owner, signal.SIGTERM)
        await until(lambda: not WriterLock(paths).is_held(), 30, "the owner to end")


TWO = ["Ada=ollama/ollama-wire", "Ben=ollama/ollama-other"]


def numbered(server: WireServer, text: str = "Point", **how: Any) -> None:
    """Let each request be answered with another text."""

    def answer(request: Recorded) -> Answer:
        return Answer(f"{text} {len(server.requests)} of {request.model}.", **how)

    for model in server.models:
        server.script(model, answer)


async def begun(caller: Caller, **arguments: Any) -> "asyncio.Task[dict[str, Any]]":
    """Ask for a debate, and return the call that goes on."""
    wanted = {"topic": "Tea or coffee?", "participants": TWO, "rounds": 2} | arguments
    return asyncio.create_task(caller.call("debate", **wanted))


def first_session(data_dir: Path) -> str:
    """Return the id of the only session."""
    [log] = (data_dir / "sessions").glob("*.jsonl")
    return log.stem
