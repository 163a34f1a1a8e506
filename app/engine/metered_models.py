"""The one way to a model: every call of every run goes through here, and past the month's limit."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from app.core.events import utc_now
from app.core.ids import new_id
from app.core.provider import Askable, Delta, Finished, ModelRequest
from app.core.usage import UsageEntry
from app.engine.usage import UsageBook


class MeteredModels(Askable):
    """Lets models answer while the month's limit allows it."""

    def __init__(self, models: Askable, usage: UsageBook) -> None:
        self._models = models
        self._usage = usage

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Ask a model. Raises ProviderError, of the kind budget_month where the limit forbids it."""
        await self._usage.check(request)
        async with aclosing(cast(AsyncGenerator[Delta, None], self._models.stream(request))) as stream:
            async for delta in stream:
                yield delta

    async def stream_noted(self, request: ModelRequest, session_id: str = "") -> AsyncGenerator[Delta, None]:
        """Ask a model for what becomes no message, and note what that used. Raises ProviderError."""
        async with aclosing(self.stream(request)) as stream:
            async for delta in stream:
                if isinstance(delta, Finished) and (delta.input_tokens or delta.output_tokens):
                    self._usage.note(
                        UsageEntry(
                            message_id=new_id(),
                            session_id=session_id,
                            at=utc_now(),
                            provider=request.provider,
                            model=request.model,
                            input_tokens=delta.input_tokens,
                            output_tokens=delta.output_tokens,
                            cost_usd=delta.cost_usd,
                        )
                    )
                yield delta
