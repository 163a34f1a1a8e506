"""The parent's end of the tool host: sends requests, puts servers' questions to the user, passes on news."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from app.children.host_client import HostClient, HostProcess, Line
from app.children.processes import TOOL_HOST, kill_group
from app.core.ids import new_id
from app.core.owned_tasks import start_owned
from app.core.texts import clean_values
from app.core.tool import ServerProblem, ToolError, ToolProgress

Ask = Callable[[Mapping[str, Any]], Awaitable[str | None]]


class ToolHostClient(HostClient):
    """Asks the tool host; starts it when it is first needed, and again after it has died.

    `redact` removes the known keys from a text; `log_dir` is for the host's standard error. `on_news` gets
    the lines that answer no request, `on_death` is called when the host ended by itself.
    """

    def __init__(
        self, *, redact: Callable[[str], str] = lambda text: text, log_dir: Path | None = None
    ) -> None:
        super().__init__(TOOL_HOST, redact=redact, log_dir=log_dir)
        self.on_news: Callable[[Line], None] = lambda _: None
        self.on_death: Callable[[], None] = lambda: None
        self._groups: list[int] = []

    async def call(
        self,
        service: str,
        arguments: Mapping[str, Any],
        timeout: float,  # noqa: ASYNC109 - the limit is the caller's to say
    ) -> dict[str, Any]:
        """Run a service of the host within `timeout` seconds.
        Raises ToolError. Cancelling ends it in the host.
        """
        line = {"op": "service", "name": service, "arguments": dict(arguments)}
        try:
            async with asyncio.timeout(timeout):
                return await self.request(line)
        except TimeoutError:
            raise ToolError(f"It took longer than {timeout:.0f} seconds and was stopped.") from None

    async def request(
        self, line: Line, ask: Ask | None = None, report: Callable[[ToolProgress], None] = lambda _: None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises ToolError. Cancelling ends it in the host.

        `ask` puts a server's question to the user: it gets `{"question", "type"}`, of a form also its
        `fields`, and returns the answer, or None if the question was dismissed. `report` gets how far the
        work is.
        """
        host = await self._running_host()
        questions: list[asyncio.Task[None]] = []
        result: dict[str, Any] = {}
        try:
            async with aclosing(self._answer(line, host)) as answers:
                async for answer in answers:
                    if "ask" in answer:
                        # In a task, because the answer or the end of the host also ends the question.
                        questions.append(start_owned(_put(host, answer["ask"], ask)))
                    elif "progress" in answer:
                        told = answer["progress"]
                        report(ToolProgress(share=told["share"], text=self.clean(told["text"])))
                    elif "refused" in answer:
                        report(ToolProgress(refused=True))
                    else:
                        result = answer["result"]
            return result
        finally:
            for question in questions:
                question.cancel()
            await asyncio.gather(*questions, return_exceptions=True)

    async def renew(self) -> None:
        """Let a new host take what is asked from now on; its servers have to connect again."""
        before = self.host_pid
        await super().renew()
        if before is not None:
            self._groups = []
            self.on_death()

    async def close(self) -> None:
        """Stop the host and all its servers, and wait until it is gone."""
        await super().close()
        self._kill_groups()

    def cleaned(self, value: Any) -> Any:
        """Return a JSON value without secrets in its texts."""
        return clean_values(value, self.clean)

    def _failure(self, detail: str, *, spoke: bool = False) -> Exception:
        return ToolError(detail or "The process that runs tools ended unexpectedly. Try again.")

    async def _refusal(self, answer: Line) -> Exception:
        # In a thread: it may be long, and the event loop is the window's.
        text = await asyncio.to_thread(self.clean, answer["error"])
        return ToolError(text, answer.get("problem", ServerProblem.FAILED))

    def on_line(self, line: Line) -> None:
        if "groups" in line:
            self._groups = list(line["groups"])
        else:
            self.on_news(line)

    def on_host_died(self, host: HostProcess) -> None:
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
            host.send({"id": new_id(), "op": "answer", "ask": question["number"], "answer": words})
