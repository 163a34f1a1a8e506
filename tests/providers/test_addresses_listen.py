"""Whether something listens at an address."""

import asyncio
import socket
import time

import pytest

from app.providers.endpoints import listens


async def test_a_listening_server_is_found_and_a_closed_port_is_not() -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert await listens(f"http://127.0.0.1:{port}/v1", 1.0)
    server.close()
    await server.wait_closed()
    assert not await listens(f"http://127.0.0.1:{port}/v1", 1.0)


async def test_a_server_is_found_although_the_loop_was_busy_meanwhile() -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    asked = asyncio.create_task(listens(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", 0.1))
    for _ in range(2):
        await asyncio.sleep(0)
        time.sleep(0.15)  # what a window that opens does
    assert await asked
    server.close()
    await server.wait_closed()


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
