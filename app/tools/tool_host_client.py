"""The window's end of the tool host: starts it when first needed, asks it, hears its news."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from app.children.host_client import HostClient
from app.children.host_process import HostProcess, Line
from app.children.processes import TOOL_HOST
from app.core.ids import new_id
from app.core.tool import FAILED, ToolError
from app.tools.tool_host.process_groups import kill_group

Ask = Callable[[Mapping[str, Any]], Awaitable[str | None]]


class HostError(ToolError):
    """The host could not do it; `problem` is a code of `core.tool`."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(text)
        self.problem = problem


class ToolHostClient(HostClient):
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
        super().__init__(TOOL_HOST, redact=redact, log_dir=log_dir)
        self.on_news = on_news
        self.on_death = on_death
        self._groups: list[int] = []

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
                    # It may be long; the loop is the window's.
                    text = await asyncio.to_thread(self.clean, answer["error"])
                    raise HostError(text, answer.get("problem", FAILED))
                result: dict[str, Any] = answer["result"]
                return result
        finally:
            host.close_call(call_id, cancel=not ended)
            for question in questions:
                question.cancel()
            await asyncio.gather(*questions, return_exceptions=True)

    async def close(self) -> None:
        """Stop the host, and with it every server, and wait until it is gone."""
        await super().close()
        self._kill_groups()

    def _failure(self, detail: str) -> Exception:
        return ToolError(detail)

    def _on_line(self, line: Line) -> None:
        if "groups" in line:
            self._groups = list(line["groups"])
        else:
            self.on_news(line)

    def _on_died(self, host: HostProcess) -> None:
        self._kill_groups()
        self.on_death()

    def _kill_groups(self) -> None:
        # A host that was killed could not end its servers.
        for group in self._groups:
            kill_group(group)
        self._groups = []


async def _put(host: HostProcess, question: Mapping[str, Any], ask: Ask | None) -> None:
    words: str | None = None
    try:
        words = await ask(question) if ask is not None else None
    finally:
        if host.alive:
            host.send({"op": "answer", "ask": question["number"], "answer": words})
