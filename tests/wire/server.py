"""A server in a thread of its own that speaks one provider's protocol and records what it is asked.

`with WireServer("openai") as server:` ask at `server.address` with `server.key`; say what it answers with
`server.script(model, ["First answer.", Fault("rate429"), Answer("x", pace=1)])` or with a function of the
request (`request.messages`, `.tools`, `.system` are alike for all protocols); look at `server.requests`.
"""

import asyncio
import contextlib
import json
import logging
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from aiohttp import web

from app.engine.voting import PREMISES
from tests.wire.anthropic import Anthropic
from tests.wire.gemini import Gemini
from tests.wire.openai import Gemma, Ollama, OpenAI
from tests.wire.presets import PROTOCOLS as PRESETS
from tests.wire.prompt_caches import PromptCache
from tests.wire.protocols import Asked, Protocol, Refused
from tests.wire.replies import Answer, Fault, Raw, Refusal, Reply
from tests.wire.responses import Responses
from tests.wire.views import Seen

# A connection broken on purpose is no news; a fault of this server itself shows as a 500.
_SILENT = logging.Logger("tests.wire.silent", logging.CRITICAL + 1)
_HTML = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head><body>Sign in</body></html>"
_PINGS_SECONDS = 0.05
_MOVED = "/moved"
_REFUSING = (
    "rate429", "quota429", "e500", "e529", "e401", "e403", "e404", "ctx", "cfilter",
)  # fmt: skip

_PROMPTS = Path(__file__).parents[2] / "resources" / "prompts"
_CHECK = '{"choice": "A"} or {"choice": "B"}'
_TITLE_PROMPTS = tuple(file.read_text("utf-8")[:20] for file in _PROMPTS.glob("*/title.txt"))

Script = Callable[["Recorded"], Reply]


@dataclass(slots=True)
class Recorded:
    """One request the server got; times are of `time.monotonic()`.

    `status` is what it was answered with (0: nothing), `closed_at` when the client was seen to
    close the connection before the answer was over, `done_at` when the answer was sent whole.
    `refused` says why the request was not legal (no test of good behaviour leaves it filled);
    of a legal one `messages`, `tools` and `system` hold the same for all protocols.
    """

    kind: str
    model: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float = field(default_factory=time.monotonic)
    status: int = 0
    reply: Reply | None = None
    closed_at: float | None = None
    done_at: float | None = None
    refused: str = ""
    messages: list[Seen] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    system: str = ""


class WireServer:
    """One provider on 127.0.0.1; `kind` is a kind of the catalogue, or "responses" for OpenAI's other API.

    With `security` it speaks TLS. With `redirect` = (status, origin) it sends every request on: there, or with "" to
    a path of its own.
    Requests for the title of a chat come at their own time: they take no reply of a script and are kept in
    `title_requests`. They are answered with `title`, or refused where it is "".
    The questions of the voting check take no reply of a script either and are kept in `check_requests`: models answer them
    the same in both orders, or "A" where they are not `stable`. They see which premises are broken, or take each for true
    where they do not see `premises`.
    With a `cache` it reports the tokens of the requests themselves, and keeps their beginnings.
    """

    PROTOCOLS: ClassVar[dict[str, type[Protocol]]] = {
        protocol.kind: protocol for protocol in (OpenAI, Anthropic, Gemini, Ollama, Gemma, *PRESETS)
    } | {"responses": Responses}

    def __init__(
        self,
        kind: str = "openai",
        *,
        key: str = "",
        models: tuple[str, ...] = (),
        provider_id: str = "",
        cache: PromptCache | None = None,
        security: ssl.SSLContext | None = None,
    ) -> None:
        self.kind = self.PROTOCOLS[kind].kind
        self.provider_id = provider_id or kind
        self.key = key or f"sk-canary-{kind}-0123456789abcdef"
        self.models = models or (f"{kind}-wire", f"{kind}-other")
        self.requests: list[Recorded] = []
        self.title_requests: list[Recorded] = []
        self.title = ""
        self.check_requests: list[Recorded] = []
        self.stable = True
        self.premises = True
        self.check_delay = 0.0
        self.listings = 0
        self.redirect: tuple[int, str] | None = None
        self._security = security
        self.address = ""
        self._protocol = self.PROTOCOLS[kind](self.key, self.models)
        self._protocol.cache = cache
        self._scripts: dict[str, Script] = {}
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def model(self) -> str:
        """The first of its models."""
        return self.models[0]

    def start(self) -> "WireServer":
        """Listen; `address` is then the provider's base URL."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http{'s' if self._security else ''}://127.0.0.1:{listening.getsockname()[1]}{self._protocol.base_path}"
        ready = threading.Event()
        self._thread = threading.Thread(
            target=asyncio.run, args=(self._serve(listening, ready),), name=f"wire-{self.kind}", daemon=True
        )
        self._thread.start()
        ready.wait(10)
        return self

    def close(self) -> None:
        """Drop every connection and stop."""
        if self._thread is None or self._loop is None or self._stop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._thread = None

    def __enter__(self) -> "WireServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def script(self, model: str, replies: Iterable[Reply] | Script) -> None:
        """Say what a model answers: replies in order (then the usual answer), or a function."""
        if callable(replies):
            self._scripts[model] = replies
        else:
            self._scripts[model] = self._in_order(list(replies))

    def reset(self) -> None:
        """Forget scripts and requests."""
        self._scripts.clear()
        self.requests.clear()
        self.title_requests.clear()
        self.check_requests.clear()
        self.title = ""
        self.listings = 0
        self.redirect = None

    def wait_for(self, condition: Callable[[], bool], seconds: float = 5.0) -> bool:
        """Wait until the condition holds (it is looked at whenever something happens here)."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not condition():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, 0.05))
        return True

    def _in_order(self, replies: list[Reply]) -> Script:
        def answer(request: Recorded) -> Reply:
            return replies.pop(0) if replies else self._usual(request)

        return answer

    def _usual(self, request: Recorded) -> Reply:
        return f"Answer {len(self.requests)} of {request.model}."

    async def _serve(self, listening: socket.socket, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        application = web.Application(client_max_size=64 << 20)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=0.1, access_log=None, logger=_SILENT
        )
        await runner.setup()
        await web.SockSite(runner, listening, ssl_context=self._security).start()
        ready.set()
        await self._stop.wait()
        # A connection that is accepted while the server closes would belong to nobody.
        self._loop.remove_reader(listening)
        await asyncio.sleep(0.01)
        self._drop_all()
        await runner.cleanup()
        self._drop_all()
        # What was dropped is let go of in the loop's next turns.
        await asyncio.sleep(0.01)

    def _drop_all(self) -> None:
        """Drop every connection at once: closing waits for TLS, and for a client that does not read."""
        for transport in tuple(getattr(self._loop, "_transports", {}).values()):
            transport.abort()

    def _note(self, request: Recorded, **changes: Any) -> None:
        with self._changed:
            for name, value in changes.items():
                setattr(request, name, value)
            self._changed.notify_all()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        protocol = self._protocol
        if http.path.startswith(_MOVED):
            http = http.clone(rel_url=str(http.rel_url).removeprefix(_MOVED))
        elif self.redirect is not None:
            status, origin = self.redirect
            await http.read()
            return web.Response(status=status, headers={"location": f"{origin}{_MOVED}{http.rel_url}"})
        headers = {name.lower(): value for name, value in http.headers.items()}
        query = dict(http.query)
        if http.method == "GET" and http.path == protocol.list_path():
            self.listings += 1
            try:
                protocol.check_key(Asked("", {}, headers, query))
            except Refused as refused:
                return self._refuse(refused)
            return web.json_response(protocol.list_body())
        try:
            data = await http.read()
            body = json.loads(data) if data else {}
            if (told := protocol.told(http.method, http.path, body)) is not None:
                return web.json_response(told)
            body = json.loads(data)
        except ValueError:
            return web.json_response({"error": {"message": "not JSON", "code": 400}}, status=400)
        model = protocol.model_of(http.path, body) if http.method == "POST" else None
        if model is None:
            return web.Response(status=404, text="404 page not found")
        request = Recorded(self.kind, model, http.path, body, headers)
        asks_title = any(begin in json.dumps(body, ensure_ascii=False) for begin in _TITLE_PROMPTS)
        asks_check = json.dumps(_CHECK)[1:-1] in json.dumps(body)
        kept = self.check_requests if asks_check else self.title_requests if asks_title else self.requests
        with self._changed:
            kept.append(request)
            self._changed.notify_all()
        asked = Asked(model, body, headers, query)
        try:
            protocol.check_key(asked)
            self._check(request, asked)
            if asks_title and not self.title:
                raise protocol.refusal("e500", None, "")
            if asks_check:
                reply: Reply = Answer(self._choice(request.messages[-1].text), delay=self.check_delay)
            else:
                reply = self.title if asks_title else self._scripted(request)
            response = await self._reply(http, request, asked, reply)
        except Refused as refused:
            self._note(request, status=refused.status, done_at=time.monotonic())
            return self._refuse(refused)
        except (asyncio.CancelledError, ConnectionError):
            self._note(request, closed_at=time.monotonic())
            raise
        self._note(request, done_at=time.monotonic())
        return response

    def _choice(self, question: str) -> str:
        """Return the answer to a question with two options: the same option in any order, or always the first."""
        options = {line[3:]: line[0] for line in question.splitlines() if line[:3] in ("A: ", "B: ")}
        named = min(options)
        for sound, broken in PREMISES:
            if sound in options:
                named = sound if self.premises else broken
        return json.dumps({"choice": options[named] if self.stable else "A"})

    def _check(self, request: Recorded, asked: Asked) -> None:
        protocol = self._protocol
        try:
            protocol.check(asked)
        except Refused as refused:
            self._note(request, refused=json.dumps(refused.body, ensure_ascii=False))
            raise
        body = asked.body
        request.messages, request.tools = protocol.seen(body), protocol.tools(body)
        request.system = protocol.system(body)

    def _scripted(self, request: Recorded) -> Reply:
        try:
            reply = self._scripts.get(request.model, self._usual)(request)
            if isinstance(reply, Answer) and reply.calls and not request.tools:
                raise AssertionError("the script calls a function, but the request offered none")
        except Exception as error:
            # The client only hears of a server's fault: the test must be able to see whose it is.
            self._note(request, refused=f"the script failed: {error!r}", status=500)
            raise
        self._note(request, reply=reply)
        return reply

    def _refuse(self, refused: Refused) -> web.Response:
        return web.json_response(refused.body, status=refused.status, headers=refused.headers)

    async def _reply(
        self, http: web.Request, request: Recorded, asked: Asked, reply: Reply
    ) -> web.StreamResponse:
        if isinstance(reply, str):
            reply = Answer(reply)
        await asyncio.sleep(reply.delay)
        if isinstance(reply, Answer):
            return await self._answer(http, request, asked, reply)
        if isinstance(reply, Refusal):
            raise self._protocol.error(reply.status, reply.words)
        if isinstance(reply, Raw):
            self._note(request, status=reply.status)
            return web.Response(body=reply.body, status=reply.status, content_type=reply.content_type)
        if reply.name in _REFUSING:
            sent = request.headers.get("authorization", "").removeprefix("Bearer ")
            sent = request.headers.get("x-api-key") or request.headers.get("x-goog-api-key") or sent
            refused = self._protocol.refusal(reply.name, reply.retry_after, sent)
            if reply.retry_after is not None and refused.status >= 500:
                refused.headers["Retry-After"] = f"{reply.retry_after:g}"
            raise refused
        match reply.name:
            case "e503html":
                self._note(request, status=503)
                return web.Response(status=503, text=_HTML, content_type="text/html")
            case "html200":
                self._note(request, status=200)
                return web.Response(text=_HTML, content_type="text/html")
            case "rstearly":
                _reset(http)
                raise ConnectionResetError
            case "noheaders":
                await asyncio.Event().wait()
            case "empty":
                return await self._answer(http, request, asked, Answer(""))
            case "length" | "cfilterfinish":
                finish = "length" if reply.name == "length" else "content_filter"
                return await self._answer(http, request, asked, Answer(reply.text, finish=finish))
        return await self._break_off(http, request, asked, reply)

    async def _open(self, http: web.Request, request: Recorded, asked: Asked) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": self._protocol.content_type})
        await response.prepare(http)
        self._note(request, status=200)
        if opening := self._protocol.opening(asked):
            await response.write(opening)
        return response

    async def _answer(
        self, http: web.Request, request: Recorded, asked: Asked, answer: Answer
    ) -> web.StreamResponse:
        response = await self._open(http, request, asked)
        write = _byte_by_byte(response) if answer.split_bytes else response.write
        for _ in range(round(answer.pings / _PINGS_SECONDS)):
            await response.write(self._protocol.ping())
            await asyncio.sleep(_PINGS_SECONDS)
        if answer.thinking:
            await write(self._protocol.piece(asked, "", answer.thinking))
        if answer.redacted:
            await write(self._protocol.redacted(asked, answer.redacted))
        parts = answer.parts()
        for part in parts:
            await write(self._protocol.piece(asked, part))
            if answer.pace:
                await asyncio.sleep(answer.pace)
        for number, call in enumerate(answer.calls):
            for frame in self._protocol.call(asked, call, number, answer.odd):
                await write(frame)
                if answer.pace:
                    await asyncio.sleep(answer.pace)
        if not answer.output_tokens:
            answer = replace(answer, output_tokens=len(parts))
        finish = "tool_calls" if answer.calls and answer.finish == "stop" else answer.finish
        await write(self._protocol.ending(asked, answer, finish))
        await response.write_eof()
        return response

    async def _break_off(
        self, http: web.Request, request: Recorded, asked: Asked, fault: Fault
    ) -> web.StreamResponse:
        response = await self._open(http, request, asked)
        if fault.name != "pingsonly":
            for part in Answer(fault.text).parts():
                await response.write(self._protocol.piece(asked, part))
        if fault.call is not None:
            frames = self._protocol.call(asked, fault.call, 0)
            await response.write(b"".join(frames[: len(frames) // 2 + 1]))
        # The client must have read the words: a reset throws away what is still on its way.
        await asyncio.sleep(0.1)
        match fault.name:
            case "rstmid":
                _reset(http)
                raise ConnectionResetError
            case "eofmid":
                if http.transport is not None:
                    http.transport.write(b"40\r\ndata: {")
                    http.transport.close()
                raise ConnectionResetError
            case "stall":
                await asyncio.Event().wait()
            case "stallping" | "pingsonly":
                while True:
                    await response.write(self._protocol.ping())
                    await asyncio.sleep(_PINGS_SECONDS)
            case "badjson":
                await response.write(self._protocol.broken())
            case "inerror":
                await response.write(self._protocol.error_frame())
        await response.write_eof()
        return response


def _reset(http: web.Request) -> None:
    transport = http.transport
    if transport is None:
        return
    with contextlib.suppress(OSError):
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
    transport.abort()


def _byte_by_byte(response: web.StreamResponse) -> Callable[[bytes], Any]:
    async def write(data: bytes) -> None:
        for at in range(len(data)):
            await response.write(data[at : at + 1])
            await asyncio.sleep(0)

    return write
