"""The processes of MCP servers: their commands, and the process groups that must not outlive Moot."""

import asyncio
import os

from app.children.processes import find_command, kill_group
from app.core.tool import ServerProblem, ToolError

# Those of the servers that run; also read by the thread that acts when the event loop is stuck.
GROUPS: set[int] = set()


async def resolve(command: str, cwd: str | None, path: str) -> str:
    """Return the file of a command. Raises ToolError that names the folders searched."""
    found = await asyncio.to_thread(find_command, command, cwd, path)
    if found is None:
        where = path.replace(os.pathsep, ", ")
        raise ToolError(f"The command {command!r} was not found. Looked in: {where}", ServerProblem.NOT_FOUND)
    return found


def kill_all_groups() -> None:
    """Kill every server and everything it started."""
    for group in tuple(GROUPS):
        kill_group(group)
