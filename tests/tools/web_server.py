"""A web server of this machine that answers as a test says, and counts who asked; `web_server` starts it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class WebServer:
    """Where it listens, what it answers by path, and the requests that came."""

    port: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[web.Request] = field(default_factory=list)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def says(
        self, path: str, body: bytes, content_type: str = "text/html; charset=utf-8", **headers: str
    ) -> str:
        async def answer(request: web.Request) -> web.StreamResponse:
            return web.Response(body=body, headers={"Content-Type": content_type, **headers})

        self.answers[path] = answer
        return self.url(path)

    def sends_on(self, path: str, target: str, status: int = 302) -> str:
        async def answer(request: web.Request) -> web.StreamResponse:
            return web.Response(status=status, headers={"Location": target})

        self.answers[path] = answer
        return self.url(path)

    def streams(self, path: str, piece: bytes, seconds: float, **headers: str) -> str:
        """Send a piece again and again, for ever, with so many seconds between two."""

        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8", **headers})
            await response.prepare(request)
            while True:
                await response.write(piece)
                await asyncio.sleep(seconds)

        self.answers[path] = answer
        return self.url(path)

    async def __aenter__(self) -> "WebServer":
        async def serve(request: web.BaseRequest) -> web.StreamResponse:
            self.requests.append(request)
            try:
                answer = self.answers[request.path]
            except KeyError:
                return web.Response(status=404, text="gone")
            try:
                return await answer(request)
            except ConnectionError:
                return web.Response()

        self._runner = web.ServerRunner(web.Server(serve), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
