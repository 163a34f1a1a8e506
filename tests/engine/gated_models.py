"""Models that say nothing of themselves: the debate machine holds every request until it answers it."""

import asyncio
from collections.abc import AsyncIterator

from app.core.message import Usage
from app.core.provider import Delta, Finished, ModelFacts, ModelRequest, Models, TestResult, Text, believed


class Call:
    """A request in flight, answered by the machine."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        self.items: asyncio.Queue[Delta | Exception] = asyncio.Queue()
        self.sent = ""
        self.too_long = False


class GatedModels(Models):
    """Models whose every word is the machine's, but for the running notes, which they write at once."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.open: list[Call] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        if "Write the running notes" in str(request.messages[-1]["content"]):
            yield Text(text="Noted.")
            yield Finished(usage=Usage(input_tokens=1, output_tokens=1))
            return
        call = Call(request)
        self.calls.append(call)
        self.open.append(call)
        try:
            while True:
                item = await call.items.get()
                if isinstance(item, Exception):
                    raise item
                yield item
                if isinstance(item, Finished):
                    return
        finally:
            self.open.remove(call)

    async def test(self, provider: str) -> TestResult:
        return TestResult(ok=True)

    def known_facts(self, provider: str, model: str) -> ModelFacts:
        return believed([], local=False)

    def note_cut(self, provider: str, model: str, read: int) -> bool:
        return False

    async def listens(self, provider: str) -> bool:
        return True

    def is_subscribed(self, provider: str) -> bool:
        return False
