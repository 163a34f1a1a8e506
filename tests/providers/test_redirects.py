"""A provider's server that sends requests on: to another origin nothing goes, within its own it works."""

import asyncio
import socket
from collections.abc import Iterator

import pytest

from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.wire import WireServer
from tests.wire.fixtures import FOUR

pytestmark = pytest.mark.asyncio(loop_scope="module")

KINDS = (*FOUR, "openai-compatible")


class Elsewhere:
    """A port that notes whether anybody connects to it."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self.origin = f"http://127.0.0.1:{listening.getsockname()[1]}"

    @property
    def untouched(self) -> bool:
        """Whether nobody has connected."""
        try:
            self._listening.accept()[0].close()
        except BlockingIOError:
            return True
        return False


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield Elsewhere(listening)


@pytest.mark.threat("T2")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_request_follows_to_another_origin(
    status: int, models: RemoteModels, servers: dict[str, WireServer], elsewhere: Elsewhere
) -> None:
    for kind in KINDS:
        servers[kind].redirect = status, elsewhere.origin
    heard = await asyncio.gather(*(ask(models, request_to(servers[kind])) for kind in KINDS))
    listed = await asyncio.gather(*(models.list_models(kind) for kind in KINDS))
    tried = await asyncio.gather(*(models.test(kind) for kind in KINDS))
    assert elsewhere.untouched
    assert [one.outcome for one in heard] == ["redirected"] * len(KINDS)
    assert [one.error.detail for one in heard if one.error] == [elsewhere.origin] * len(KINDS)
    for result in (*listed, *tried):
        assert (result.ok, result.failure, result.detail) == (False, "redirected", elsewhere.origin)


async def test_another_name_of_the_same_computer_is_another_origin(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    origin = server.address.removesuffix("/v1").replace("127.0.0.1", "localhost")
    server.redirect = 307, origin
    heard = await ask(models, request_to(server))
    assert heard.outcome == "redirected" and heard.error and heard.error.detail == origin
    assert server.requests == []


@pytest.mark.parametrize("status", [307, 308])
async def test_within_the_origin_a_redirect_is_followed(
    status: int, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in KINDS:
        servers[kind].redirect = status, ""
    heard = await asyncio.gather(*(ask(models, request_to(servers[kind])) for kind in KINDS))
    listed = await asyncio.gather(*(models.list_models(kind) for kind in KINDS))
    assert [one.outcome for one in heard] == ["stop"] * len(KINDS)
    assert all(set(servers[kind].models) <= set(one.models) for kind, one in zip(KINDS, listed, strict=True))
