"""What the tests of the tools share: a web server of this machine."""

from collections.abc import AsyncIterator

import pytest

from tests.tools.web_server import WebServer


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer() as running:
        yield running
