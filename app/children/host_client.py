"""The parent's end of a host, a child process that serves requests: its process, its pipes and its log.

Also the proxy and certificates as variables in the environment of child processes (`HostNetwork`).

`child_process` is a child program for one request: it is sent a line of JSON, answers with such lines, ends.
"""

import asyncio
import contextlib
import json
import os
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # not in typeshed

import certifi

from app.children.private_files import HostLog, replace_text
from app.children.processes import (
    Lines,
    child_command,
    child_environment,
    start_program,
    stop_program,
    system_environment,
    use_variables,
)
from app.core.errors import BadInput
from app.core.files import Progress, regular_size
from app.core.ids import new_id
from app.core.json_values import object_in
from app.core.owned_tasks import start_owned
from app.core.servers import has_user, is_web_address
from app.core.texts import clean_text

_STOP_SECONDS = 3.0
_READ_BYTES = 1 << 16
# Far more than any answer has: a host that sends a longer line is broken.
_LINE_BYTES = 64 << 20
_ERROR_LINE_BYTES = 8_000
# What the lines of an answer before the last one hold.
_PIECES = {"text", "thinking", "calls", "images", "quirks", "act", "ask", "progress", "refused"}

Line = Mapping[str, Any]


class HostProcess:
    """One running host of a client; useless once it has died."""

    def __init__(self, process: asyncio.subprocess.Process, client: "HostClient") -> None:
        self._process = process
        self._client = client
        self._retired = False
        # The requests in flight: each gets the lines of its answer, and None when the host dies.
        self._calls: dict[str, asyncio.Queue[Line | None]] = {}
        self._closing = False
        self._ended = False
        self._idle = asyncio.Event()
        self.started_at = asyncio.get_running_loop().time()
        self.ready = asyncio.Event()
        self.warm = asyncio.Event()
        self._readers = (start_owned(self._read_lines()), start_owned(self._read_errors()))

    @classmethod
    async def start(cls, client: "HostClient") -> "HostProcess":
        """Start the program of a client; it answers a few seconds later. Raises OSError."""
        return cls(await _started(client.program, errors=asyncio.subprocess.PIPE), client)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether requests may be sent."""
        return not self._ended and not self._closing

    async def answer(self, line: Line) -> AsyncGenerator[Line | None, None]:
        """Send a request and yield the lines of its answer, None when the host dies.

        Closing the generator before the last line ends the request in the host too.
        """
        call_id, lines = new_id(), asyncio.Queue[Line | None]()
        self._calls[call_id] = lines
        self.send({"id": call_id, **line})
        ended = False
        try:
            while not ended:
                answer = await lines.get()
                ended = answer is None or not answer.keys() & _PIECES
                yield answer
        finally:
            del self._calls[call_id]
            if not ended and self.alive:
                self.send({"id": call_id, "op": "cancel"})
            if not self._calls:
                self._idle.set()

    def send(self, line: Line) -> None:
        """Write one line; if the host has just died, the reader notices."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, RuntimeError):
            self._process.stdin.write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")

    async def retire(self) -> None:
        """Answer the requests that are under way, then stop."""
        self._retired = True
        while self._calls and self.alive:
            self._idle.clear()
            await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        """Stop the host and wait until it is gone."""
        self._closing = True
        self._idle.set()
        # While it is still importing, which takes seconds, it has nothing to finish.
        await stop_program(self._process, _STOP_SECONDS if self.ready.is_set() else 0.0)
        await asyncio.gather(*self._readers)

    async def _read_lines(self) -> None:
        assert self._process.stdout is not None
        lines = Lines(_LINE_BYTES)
        while data := await self._process.stdout.read(_READ_BYTES):
            for line in lines.take(data):
                self._parse(line)
            if lines.cut:
                self._give_up(f"a line of more than {_LINE_BYTES >> 20} MB")
                break
        while await self._process.stdout.read(_READ_BYTES):
            pass
        self._ended = True
        self._idle.set()
        await self._process.wait()
        for lines_of_call in self._calls.values():
            lines_of_call.put_nowait(None)
        self.ready.set()
        self.warm.set()
        if not self._closing:
            self._client.log.write(f"{self._client.program} ended with {self._process.returncode}")
            self._client.on_host_died(self)

    def _parse(self, data: bytes) -> None:
        # An answer may be lost, or this task end, and no caller must wait for ever.
        try:
            if (line := object_in(data)) is None:
                self._give_up("a line that is no JSON object")
            else:
                self._take(line)
        except Exception as error:
            self._give_up(f"a line that could not be taken: {type(error).__name__}")

    def _take(self, line: Line) -> None:
        if (call_id := line.get("id")) is not None:
            # A cancelled call's last lines may still be on their way.
            if lines := self._calls.get(call_id):
                lines.put_nowait(line)
        elif "ready" in line:
            self.ready.set()
        elif "warm" in line:
            self.warm.set()
        elif not self._retired:
            self._client.on_line(line)

    def _give_up(self, why: str) -> None:
        self._client.log.write(f"{self._client.program} is ended: it sent {why}")
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _read_errors(self) -> None:
        """Log standard error to its end: a host blocks when nobody reads it."""
        assert self._process.stderr is not None
        lines = Lines(_ERROR_LINE_BYTES)
        while data := await self._process.stderr.read(_READ_BYTES):
            self._client.log.write_all(lines.take(data))
        self._client.log.write_all([lines.rest()])


class HostClient:
    """Starts a host when it is first needed, restarts it after it has ended, and stops it.

    `program` is one of `processes`; `redact` removes the known keys from a text; `log_dir` is where the
    host's standard error is kept.
    """

    def __init__(self, program: str, *, redact: Callable[[str], str], log_dir: Path | None) -> None:
        self.program = program
        self._redact = redact
        path = log_dir / f"{program.rpartition('.')[2]}.log" if log_dir is not None else None
        self.log = HostLog(path, self.clean)
        self._host: HostProcess | None = None
        self._starting = asyncio.Lock()
        self._retiring: dict[asyncio.Task[None], HostProcess] = {}
        self._closed = False

    def clean(self, text: str) -> str:
        """Return a text without keys and without characters that cannot be stored."""
        return clean_text(self._redact(text))

    @property
    def host_pid(self) -> int | None:
        """The process id of the running host."""
        return self._host.pid if self._host is not None and self._host.alive else None

    async def renew(self) -> None:
        """Let a new host take what is asked from now on; the running one answers what it was asked and
        ends.
        """
        async with self._starting:
            host, self._host = self._host, None
        if host is not None and host.alive:
            task = asyncio.create_task(host.retire())
            self._retiring[task] = host
            task.add_done_callback(self._retiring.pop)

    async def close(self) -> None:
        """Stop the host and wait until it is gone."""
        self._closed = True
        async with self._starting:
            if self._host is not None:
                await self._host.close()
        await asyncio.gather(*(host.close() for host in self._retiring.values()))
        await asyncio.gather(*self._retiring)
        await asyncio.to_thread(self.log.wait)

    async def _running_host(self) -> HostProcess:
        async with self._starting:
            if self._closed:
                raise self._failure("Moot is closing.")
            if self._host is None or not self._host.alive:
                try:
                    self._host = await HostProcess.start(self)
                except OSError as error:
                    raise self._failure(f"The process could not be started: {error}") from error
            return self._host

    async def _answer(self, line: Line, host: HostProcess | None = None) -> AsyncGenerator[Line, None]:
        """Send a request and yield the lines of its answer. Raises what `_failure` and `_refusal` return.

        Closing the generator before the last line ends the request in the host.
        """
        spoke, host = False, host or await self._running_host()
        async with contextlib.aclosing(host.answer(line)) as answers:
            async for answer in answers:
                if answer is None:
                    raise self._failure("", spoke=spoke)
                if "error" in answer:
                    raise await self._refusal(answer)
                spoke = spoke or "quirks" not in answer
                yield answer

    async def _last_line(self, line: Line) -> Line:
        """Send a request and return the last line of its answer; as `_answer`.

        Cancelling ends the request in the host.
        """
        last: Line = {}
        async with contextlib.aclosing(self._answer(line)) as answers:
            async for answer in answers:
                last = answer
        return last

    def _failure(self, detail: str, *, spoke: bool = False) -> Exception:
        """Return the error for a host that cannot be asked, or has died; `spoke` if an answer had begun."""
        raise NotImplementedError

    async def _refusal(self, answer: Line) -> Exception:
        """Return the error that a line of the host tells of."""
        raise NotImplementedError

    def on_host_died(self, host: HostProcess) -> None:
        """Called when a host ended by itself."""

    def on_line(self, line: Line) -> None:
        """Called with a line that answers no request."""


async def _started(program: str, *, errors: int) -> asyncio.subprocess.Process:
    """Start a child program; `errors` is where its standard error goes. Raises OSError."""
    command, pipe = child_command(program), asyncio.subprocess.PIPE
    return await start_program(*command, stdin=pipe, stdout=pipe, stderr=errors, env=child_environment())


@contextlib.asynccontextmanager
async def child_process(program: str, request: Line) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a program and send it its request; end it when the block is left before it has ended.
    Raises OSError.
    """
    process = await _started(program, errors=asyncio.subprocess.DEVNULL)
    assert process.stdin is not None
    ended = False
    try:
        # A request may hold a long text.
        line = await asyncio.to_thread(json.dumps, request)
        with contextlib.suppress(OSError):
            process.stdin.write(line.encode("ascii") + b"\n")
            await process.stdin.drain()
        yield process
        ended = True
    finally:
        # It ends by itself after its answer, at once.
        await asyncio.shield(stop_program(process, None if ended else 0.0))


async def child_answer(
    program: str, request: Line, on_progress: Progress = lambda _read, _all: None
) -> tuple[dict[str, Any], bytes] | None:
    """Run a program for one request, and return its last line and the bytes that follow it.

    Returns None if it ended without that. Raises OSError.
    """
    async with child_process(program, request) as process:
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError):
            async for answer in answer_lines(process):
                if "progress" not in answer:
                    return answer, await process.stdout.readexactly(answer["bytes"])
                on_progress(*answer["progress"])
        return None


async def answer_lines(process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, Any]]:
    """Yield the lines of a program's answer."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        yield json.loads(line)


_PROXY = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_NO_PROXY = ("NO_PROXY", "no_proxy")
_HERE = ("localhost", "127.0.0.1", "::1")
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
# Node adds these to its own.
_MORE_CERTIFICATES = "NODE_EXTRA_CA_CERTS"
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_MOST_BYTES = 5_000_000


def proxy_for(address: str) -> str:
    """Return the proxy through which child processes reach an address, "" where they ask its server directly.

    As in their HTTP clients, a variable in lower case comes before the same one in upper case.
    """
    variables = {name.lower(): value for name, value in sorted(system_environment().items())}
    parts = urlsplit(address)
    host = parts.hostname or ""
    # An IPv6 address stands in brackets in some lists, in others without.
    direct = ",".join((variables.get("no_proxy", ""), *_HERE)).replace("[", "").replace("]", "")
    if "*" in direct.split(",") or proxy_bypass_environment(host, {"no": direct}):
        return ""
    return variables.get(f"{parts.scheme}_proxy") or variables.get("all_proxy") or ""


def unsupported_proxy(address: str) -> str:
    """Return the SOCKS proxy through which child processes would have to reach an address, "" for none;
    without a password.
    """
    scheme, _, place = proxy_for(address).partition("://")
    return f"{scheme}://{place.rpartition('@')[2]}" if scheme.lower().startswith("socks") else ""


def missing_certificates() -> str:
    """Return the variable that names a file of certificates that is not there, as "NAME=file"; ""
    where there is none.
    """
    file = system_environment().get(CERTIFICATES[0], "")
    return f"{CERTIFICATES[0]}={file}" if file and not Path(file).exists() else ""


class HostNetwork:
    """Lets `hosts` and what they start use the user's proxy and certificates.

    `bundle` is the file in which the user's certificates are joined with the usual ones.
    """

    def __init__(self, bundle: Path, hosts: Sequence[HostClient] = ()) -> None:
        self._bundle = bundle
        self._hosts = hosts
        self._used: dict[str, str] = {}
        use_variables({})

    async def use(self, proxy: str, certificates: str) -> None:
        """Use a proxy and certificates; see `core.provider.Network`."""
        variables = _proxy_variables(proxy) if proxy else {}
        if certificates:
            variables |= await asyncio.to_thread(self._trust, certificates)
        # Other certificates in the same file change no variable.
        changed = variables != self._used or bool(certificates)
        self._used = variables
        use_variables(variables)
        if changed:
            for host in self._hosts:
                await host.renew()

    def _trust(self, certificates: str) -> dict[str, str]:
        file = Path(certificates).expanduser()
        own = _read(file)
        usual = Path(os.environ.get(CERTIFICATES[0]) or certifi.where())
        try:
            if not usual.is_file():
                usual = Path(certifi.where())
            replace_text(self._bundle, usual.read_text(encoding="utf-8") + "\n" + own)
        except OSError as error:
            detail = error.strerror or str(error)
            raise BadInput("certificates_unreadable", path=self._bundle, detail=detail) from error
        return dict.fromkeys(CERTIFICATES, str(self._bundle)) | {_MORE_CERTIFICATES: str(file)}


def _read(file: Path) -> str:
    """Return the certificates of a PEM file. Raises BadInput."""
    try:
        regular_size(file)
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise BadInput("certificates_unreadable", path=file, detail=detail) from error
    # Only certificates: such a file may have a private key too.
    found = "\n".join(_PEM.findall(data.decode("utf-8", "replace"))) + "\n"
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=found)
    except (ssl.SSLError, ValueError) as error:
        raise BadInput("certificates_none", path=file) from error
    return found


def _proxy_variables(proxy: str) -> dict[str, str]:
    """Return the variables for a proxy. Raises BadInput, with no text that may hold a password."""
    if has_user(proxy) or "@" in proxy:
        raise BadInput("proxy_password")
    parts = urlsplit(proxy) if is_web_address(proxy) else None
    if parts is None or parts.path.strip("/") or parts.query or parts.fragment:
        raise BadInput("proxy_invalid", address=proxy[:200])
    given = next(filter(None, map(os.environ.get, _NO_PROXY)), "")
    direct = ",".join(dict.fromkeys(filter(None, (*map(str.strip, given.split(",")), *_HERE))))
    return dict.fromkeys(_PROXY, proxy) | dict.fromkeys(_NO_PROXY, direct)
