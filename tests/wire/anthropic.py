"""Anthropic's messages, version 2023-06-01."""

import itertools
from typing import Any

from tests.wire.protocols import Asked, Body, Protocol, Refused, sse, texts_of
from tests.wire.replies import Answer

_FIELDS = {
    "model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences",
    "tools", "tool_choice", "metadata", "thinking", "service_tier",
}  # fmt: skip
_MOST_TOKENS = 64_000
_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


class Anthropic(Protocol):
    """api.anthropic.com: the first and the last message are the user's, and no text is empty."""

    kind = "anthropic"
    base_path = ""

    def error(self, status: int, message: str, type_: str = "invalid_request_error") -> Refused:
        """Return a refusal in Anthropic's form."""
        body = {"type": "error", "error": {"type": type_, "message": message}, "request_id": "req_wire"}
        return Refused(status, body)

    def model_of(self, path: str, body: Body) -> str | None:
        return str(body.get("model", "")) if path == "/v1/messages" else None

    def list_path(self) -> str:
        return "/v1/models"

    def list_body(self) -> Body:
        rows = [{"type": "model", "id": model, "display_name": model} for model in self.models]
        return {"data": rows, "has_more": False}

    def check_key(self, asked: Asked) -> None:
        if asked.headers.get("x-api-key") != self.key:
            raise self.refusal("e401", None, asked.headers.get("x-api-key", ""))
        if asked.headers.get("anthropic-version") != "2023-06-01":
            raise self.error(400, "anthropic-version: header is required")

    def check(self, asked: Asked) -> None:
        body = asked.body
        if asked.model not in self.models:
            raise self.refusal("e404", None, "")
        for name in body.keys() - _FIELDS:
            raise self.error(400, f"{name}: Extra inputs are not permitted")
        most = body.get("max_tokens")
        if not isinstance(most, int) or most < 1:
            raise self.error(400, "max_tokens: Field required")
        if most > _MOST_TOKENS:
            raise self.error(
                400,
                f"max_tokens: {most} > {_MOST_TOKENS}, which is the maximum allowed number of output tokens",
            )
        if not 0 <= body.get("temperature", 1) <= 1:
            raise self.error(400, "temperature: range: 0..1")
        if "system" in body and not all(text.strip() for text in texts_of(body["system"])):
            raise self.error(400, "system: text content blocks must be non-empty")
        if not all(text.strip() for text in body.get("stop_sequences", [])):
            raise self.error(400, "stop_sequences: each stop sequence must contain non-whitespace")
        self._check_messages(body.get("messages"))

    def _check_messages(self, messages: Any) -> None:
        if not isinstance(messages, list) or not messages:
            raise self.error(400, "messages: at least one message is required")
        roles = [message.get("role") for message in messages]
        for at, message in enumerate(messages):
            if message.get("role") not in ("user", "assistant"):
                raise self.error(400, f"messages.{at}.role: Input should be 'user' or 'assistant'")
            if message.keys() - {"role", "content"}:
                raise self.error(400, f"messages.{at}: Extra inputs are not permitted")
            if not all(text.strip() for text in texts_of(message.get("content"))):
                raise self.error(400, f"messages.{at}: text content blocks must be non-empty")
        if roles[0] != "user":
            raise self.error(400, 'messages: first message must use the "user" role')
        if any(one == other for one, other in itertools.pairwise(roles)):
            raise self.error(400, 'messages: roles must alternate between "user" and "assistant"')
        if roles[-1] != "user":
            raise self.error(
                400,
                "This model does not support assistant message prefill."
                " The conversation must end with a user message.",
            )

    def refusal(self, fault: str, retry_after: float | None, sent_key: str) -> Refused:
        match fault:
            case "rate429":
                refused = self.error(429, "This request would exceed your rate limit.", "rate_limit_error")
                if retry_after is not None:
                    refused.headers["retry-after"] = f"{retry_after:g}"
                return refused
            case "quota429":
                return self.error(400, "Your credit balance is too low to access the Anthropic API.")
            case "e500":
                return self.error(500, "Internal server error", "api_error")
            case "e529":
                return self.error(529, "Overloaded", "overloaded_error")
            case "e401":
                return self.error(401, f"invalid x-api-key: {sent_key}", "authentication_error")
            case "e403":
                return self.error(403, "Your key may not use this resource.", "permission_error")
            case "e404":
                return self.error(404, "model: nothing", "not_found_error")
            case "ctx":
                return self.error(400, "prompt is too long: 208310 tokens > 200000 maximum")
            case _:
                return self.error(400, "Output blocked by content filtering policy")

    def opening(self, asked: Asked) -> bytes:
        message = {
            "id": "msg_wire",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 12, "output_tokens": 1},
        }
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        return sse({"type": "message_start", "message": message}, "message_start") + sse(
            block, "content_block_start"
        )

    def piece(self, asked: Asked, text: str, thinking: str = "") -> bytes:
        frames = b""
        if thinking:
            frames += self._delta({"type": "thinking_delta", "thinking": thinking})
        return frames + (self._delta({"type": "text_delta", "text": text}) if text else b"")

    def _delta(self, delta: Body) -> bytes:
        return sse({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        delta = {
            "type": "message_delta",
            "delta": {"stop_reason": _REASONS[finish], "stop_sequence": None},
            "usage": {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens},
        }
        return (
            sse({"type": "content_block_stop", "index": 0}, "content_block_stop")
            + sse(delta, "message_delta")
            + sse({"type": "message_stop"}, "message_stop")
        )

    def ping(self) -> bytes:
        return sse({"type": "ping"}, "ping")

    def broken(self) -> bytes:
        return b'event: content_block_delta\ndata: {"type": "content_block_del\n\n'

    def error_frame(self) -> bytes:
        return sse(
            {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}, "error"
        )
