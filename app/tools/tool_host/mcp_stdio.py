"""The way to an MCP server that is a process: started in a group of its own, read with limits, ended whole.

The kit's own would take a line of any length into memory, and leave the server's complaints uncapped.
"""

import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.os.win32 import utilities as windows
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from app.core.tool import TOO_MUCH
from app.tools.tool_host.mcp_guard import LINE_BYTES, Guard
from app.tools.tool_host.mcp_log import ServerLog
from app.tools.tool_host.process_groups import add_group, end_group, kill_group, remove_group

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_READ_BYTES = 1 << 16
_LINES_LOGGED = 20
_EXIT_SECONDS = 1.0
_POLL_SECONDS = 0.01
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)


@asynccontextmanager
async def stdio_transport(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    guard: Guard,
    log: ServerLog,
    on_groups: Callable[[], None],
) -> "AsyncGenerator[TransportStreams, None]":
    """Start a server and yield the streams of its messages; raises OSError."""
    with log.open_pipe() as errors:
        process = await _start(list(command), env=dict(env), cwd=cwd, errors=errors)
    # The process runs: nothing is awaited until it is sure to be ended.
    add_group(process.pid)
    on_groups()
    to_session, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_read, process, to_session, guard, log)
        group.start_soon(_write, process, from_session, guard)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):
                read_stream.close()
                write_stream.close()
                await _end(process)
                remove_group(process.pid)
                on_groups()
            group.cancel_scope.cancel()


async def _start(command: list[str], *, env: dict[str, str], cwd: str | None, errors: TextIO) -> Any:
    if sys.platform == "win32":
        program = await anyio.to_thread.run_sync(windows.get_windows_executable_command, command[0])
        return await windows.create_windows_process(program, command[1:], env, errors, cwd)
    return await anyio.open_process(command, env=env, cwd=cwd, stderr=errors, start_new_session=True)


async def _read(
    process: Any, to_session: ObjectSendStream[SessionMessage | Exception], guard: Guard, log: ServerLog
) -> None:
    parts: list[bytes] = []
    size = 0
    async with to_session:
        with suppress(*_GONE):
            while True:
                data = await process.stdout.receive(_READ_BYTES)
                *lines, rest = data.split(b"\n")
                for line in lines:
                    whole = b"".join([*parts, line])
                    parts, size = [], 0
                    if not await _pass_on(whole, to_session, guard, log):
                        return
                parts.append(rest)
                size += len(rest)
                if size > LINE_BYTES:
                    guard.end(f"It sent a line of more than {LINE_BYTES // 1_000_000} MB.", TOO_MUCH)
                    return
        guard.end()


async def _pass_on(
    line: bytes, to_session: ObjectSendStream[SessionMessage | Exception], guard: Guard, log: ServerLog
) -> bool:
    line = line.strip()
    if not line:
        return guard.allows_garbage(1)
    try:
        message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        if guard.garbage_lines < _LINES_LOGGED:
            log.note_output(line)
        # Reading on at once would leave no time to anybody else.
        await anyio.lowlevel.checkpoint()
        return guard.allows_garbage(len(line))
    if not guard.allows(message):
        return False
    await to_session.send(message)
    return True


async def _write(process: Any, from_session: ObjectReceiveStream[SessionMessage], guard: Guard) -> None:
    try:
        async with from_session:
            async for item in from_session:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode("utf-8", "replace") + b"\n")
    except _GONE:
        guard.end()


async def _end(process: Any) -> None:
    """End the process and everything it started: politely, then firmly."""
    with suppress(*_GONE):
        await process.stdin.aclose()
    if not await _exits(process):
        await _ask_to_end(process)
        await _exits(process)
    if sys.platform == "win32":
        windows.close_process_job(process)
    else:
        # Also where the server has ended: what it started may still run.
        kill_group(process.pid)
        await _exits(process)
    with suppress(*_GONE):
        await process.stdout.aclose()


async def _ask_to_end(process: Any) -> None:
    if sys.platform == "win32":
        await windows.terminate_windows_process_tree(process)
    else:
        end_group(process.pid)


async def _exits(process: Any) -> bool:
    with anyio.move_on_after(_EXIT_SECONDS):
        # Not wait(): that waits for the pipes as well, which a grandchild may hold open.
        while process.returncode is None:  # noqa: ASYNC110 - nothing else tells
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None
