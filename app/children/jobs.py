"""Runs a child program for one request: it is sent one line of JSON, answers with such lines, and ends."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from app.children.processes import child_command, child_environment


@contextlib.asynccontextmanager
async def child_process(
    program: str, request: Mapping[str, Any]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a program and send it its request; end it when the block is left before it has ended. Raises OSError."""
    process = await asyncio.create_subprocess_exec(
        *child_command(program),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=child_environment(),
    )
    assert process.stdin is not None
    ended = False
    try:
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            await process.stdin.drain()
        yield process
        ended = True
    finally:
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        process.stdin.close()
        # It ends by itself after its answer, at once.
        await asyncio.shield(process.wait())


async def answer_lines(process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, Any]]:
    """Yield the lines of a program's answer."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        yield json.loads(line)
