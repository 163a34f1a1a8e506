"""Asks a model and gathers what came back, for the tests of the providers."""

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from app.core.errors import ProviderError
from app.core.message import ToolCall
from app.core.provider import CallPiece, Finished, ModelRequest, Text
from app.providers.remote import RemoteModels
from tests.wire import WireServer

MESSAGES = (
    {"role": "system", "content": "You are Ada. Be brief."},
    {"role": "user", "content": "[Ben]: Should cities ban private cars? 도시?"},
)


@dataclass(slots=True)
class Heard:
    """What a request brought."""

    text: str = ""
    thinking: str = ""
    pieces: int = 0
    call_pieces: list[CallPiece] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    finished: Finished | None = None
    error: ProviderError | None = None

    def note(self, kind: str) -> None:
        """Keep the order in which words and calls took turns."""
        if kind not in self.kinds[-1:]:
            self.kinds.append(kind)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls, put together from their pieces."""
        put_together: dict[int, list[str]] = {}
        for piece in self.call_pieces:
            if piece.index not in put_together:
                assert piece.id, "a call began without its id"
                put_together[piece.index] = [piece.id, piece.name, piece.arguments]
            else:
                assert not piece.id and not piece.name, "a call was named twice"
                put_together[piece.index][2] += piece.arguments
        return [
            ToolCall(id=id_, name=name, arguments=text)
            for _, (id_, name, text) in sorted(put_together.items())
        ]

    @property
    def outcome(self) -> str:
        """The reason it finished, or the kind of failure."""
        return self.finished.reason if self.finished else self.error.kind if self.error else "nothing"


def request_to(server: WireServer, **changes: Any) -> ModelRequest:
    """Return a request in the normal form to the server's first model."""
    values: dict[str, Any] = {"messages": MESSAGES, "max_tokens": 200, "temperature": 0.7} | changes
    return ModelRequest(provider=server.provider_id, model=values.pop("model", server.model), **values)


async def ask(models: RemoteModels, request: ModelRequest) -> Heard:
    """Ask to the end."""
    heard = Heard()
    try:
        async with aclosing(models.stream(request)) as deltas:
            async for delta in deltas:
                assert heard.finished is None, "something came after the end"
                if isinstance(delta, Text):
                    heard.note("text")
                    heard.text += delta.text
                    heard.thinking += delta.thinking
                    heard.pieces += 1
                elif isinstance(delta, CallPiece):
                    heard.note("calls")
                    heard.call_pieces.append(delta)
                else:
                    heard.finished = delta
    except ProviderError as error:
        heard.error = error
    return heard
