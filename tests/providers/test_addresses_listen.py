"""Whether something listens at an address."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import pytest

from app.providers.endpoints import listens


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[str]:
    """A server that closes the one connection it is asked for; its address."""
    closed = asyncio.Event()

    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        closed.set()

    server = await asyncio.start_server(close, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    await asyncio.wait_for(closed.wait(), 30)
    server.close()
    await server.wait_closed()


async def test_a_listening_server_is_found_and_a_closed_port_is_not() -> None:
    async with listening() as address:
        assert await listens(address, 1.0)
    assert not await listens(address, 1.0)


async def test_a_server_is_found_although_the_loop_was_busy_meanwhile() -> None:
    async with listening() as address:
        asked = asyncio.create_task(listens(address, 0.1))
        for _ in range(4):
            await asyncio.sleep(0)
            time.sleep(0.15)  # what a window that opens does
        assert await asked


@pytest.mark.parametrize("address", ["", "nonsense", "http://", "http://127.0.0.1:0"])
async def test_what_is_no_address_listens_to_nothing(address: str) -> None:
    assert not await listens(address, 0.2)


async def test_a_server_that_never_takes_the_connection_costs_the_limit_only() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = f"http://127.0.0.1:{full.getsockname()[1]}"
        waiting = [asyncio.create_task(listens(address, 0.3)) for _ in range(4)]
        await asyncio.wait_for(asyncio.gather(*waiting), 5)
