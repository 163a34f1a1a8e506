"""Gathers the thinking that Anthropic signed, and wants back unchanged while tools run."""

from collections.abc import Iterable, Mapping
from typing import Any


class SignedThinking:
    """The thinking blocks of one answer, put together from LiteLLM's pieces."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Any]] = []
        self._text: list[str] = []
        self.characters = 0

    def add(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        """Take pieces: text, the signature that ends a block, or a whole block nobody may read."""
        for piece in pieces:
            self.characters += sum(len(piece.get(name) or "") for name in ("thinking", "data", "signature"))
            if piece.get("type") == "redacted_thinking":
                self._blocks.append({"type": "redacted_thinking", "data": piece.get("data") or ""})
                continue
            self._text.append(piece.get("thinking") or "")
            if signature := piece.get("signature"):
                block = {"type": "thinking", "thinking": "".join(self._text), "signature": signature}
                self._blocks.append(block)
                self._text.clear()

    def state(self) -> dict[str, Any] | None:
        """Return what must be sent back; thinking without a signature must not."""
        return {"thinking_blocks": self._blocks} if self._blocks else None
