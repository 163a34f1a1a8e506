"""The window's end of the tool host: starts it when first needed, asks it, hears its news."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from app.children.host_process import HostProcess, Line
from app.children.processes import TOOL_HOST
from app.core.events import utc_now
from app.core.ids import new_id
from app.core.text import clean_text
from app.core.tool import FAILED, ToolError
from app.tools.tool_host.process_groups import kill_group

_LOG_BYTES = 1_000_000

Ask = Callable[[Mapping[str, Any]], Awaitable[str | None]]


class HostError(ToolError):
    """The host could not do it; `problem` is a code of `core.tool`."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(text)
        self.problem = problem


class ToolHostClient:
    """Asks the tool host; starts it lazily, and anew after it died.

    `redact` removes the known keys from a text; `log_dir` is where the host's complaints go. `on_news`
    gets what a server says unasked, `on_death` is called when the host ended by itself.
    """

    def __init__(
        self,
        *,
        redact: Callable[[str], str] = lambda text: text,
        log_dir: Path | None = None,
        on_news: Callable[[Line], None] = lambda _: None,
        on_death: Callable[[], None] = lambda: None,
    ) -> None:
        self._redact = redact
        self._log_dir = log_dir
        self.on_news = on_news
        self.on_death = on_death
        self._host: HostProcess | None = None
        self._starting = asyncio.Lock()
        self._groups: list[int] = []
        self._closed = False

    async def call(self, service: str, arguments: Mapping[str, Any], timeout: float) -> dict[str, Any]:  # noqa: ASYNC109 - the limit is the caller's to say
        """Run a service of the host within `timeout` seconds; raises ToolError. Cancelling ends it there."""
        line = {"op": "service", "name": service, "arguments": dict(arguments)}
        try:
            async with asyncio.timeout(timeout):
                return await self.request(line)
        except TimeoutError:
            raise ToolError(f"It took longer than {timeout:.0f} seconds and was stopped.") from None

    async def request(self, line: Line, ask: Ask | None = None) -> dict[str, Any]:
        """Send one request and return its result; raises ToolError. Cancelling ends it in the host.

        `ask` puts the questions of a server to the user: `{"question", "type", "options"}` in, words
        or None (dismissed) out.
        """
        host = await self._running_host()
        call_id = new_id()
        queue = host.open(call_id, line)
        ended = False
        questions: list[asyncio.Task[None]] = []
        try:
            while True:
                answer = await queue.get()
                if answer is None:
                    ended = True
                    raise ToolError("The process that runs tools ended unexpectedly. Try again.")
                if "ask" in answer:
                    # Beside the reading: a host that dies or a server that answers ends the question.
                    questions.append(asyncio.create_task(_put(host, answer["ask"], ask)))
                    continue
                ended = True
                if "error" in answer:
                    raise HostError(self.clean(answer["error"]), answer.get("problem", FAILED))
                result: dict[str, Any] = answer["result"]
                return result
        finally:
            host.close_call(call_id, cancel=not ended)
            for question in questions:
                question.cancel()
            await asyncio.gather(*questions, return_exceptions=True)

    def clean(self, text: str) -> str:
        """Return a text without keys and without what no person could read."""
        return clean_text(self._redact(text))

    @property
    def host_pid(self) -> int | None:
        """The process number of the running host."""
        return self._host.pid if self._host is not None and self._host.alive else None

    async def close(self) -> None:
        """Stop the host, and with it every server, and wait until it is gone."""
        self._closed = True
        async with self._starting:
            if self._host is not None:
                await self._host.close()
                self._kill_groups()

    async def _running_host(self) -> HostProcess:
        async with self._starting:
            if self._closed:
                raise ToolError("Moot is closing.")
            if self._host is None or not self._host.alive:
                try:
                    self._host = await HostProcess.start(TOOL_HOST, self._log, self._on_died, self._on_line)
                except OSError as error:
                    raise ToolError(f"The process that runs tools could not be started: {error}") from error
            return self._host

    def _on_line(self, line: Line) -> None:
        if "groups" in line:
            self._groups = list(line["groups"])
        else:
            self.on_news(line)

    def _on_died(self, _: HostProcess) -> None:
        self._kill_groups()
        self.on_death()

    def _kill_groups(self) -> None:
        # A host that was killed could not end its servers.
        for group in self._groups:
            kill_group(group)
        self._groups = []

    async def _log(self, line: str) -> None:
        if self._log_dir is not None:
            # A full disk must not end the reading of the host's complaints.
            with contextlib.suppress(OSError):
                await asyncio.to_thread(_append, self._log_dir / "tool_host.log", self.clean(line))


async def _put(host: HostProcess, question: Mapping[str, Any], ask: Ask | None) -> None:
    words: str | None = None
    try:
        words = await ask(question) if ask is not None else None
    finally:
        if host.alive:
            host.send({"op": "answer", "ask": question["number"], "answer": words})


def _append(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{utc_now()} {line}\n")
