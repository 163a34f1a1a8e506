"""Anthropic's messages, version 2023-06-01."""

import itertools
import json
import re
from hashlib import sha256
from typing import Any
from uuid import uuid4

from tests.wire.prompt_caches import marks_problem
from tests.wire.protocols import Asked, Body, Protocol, Refused, pieces_of, sse, texts_of
from tests.wire.replies import Answer, WireCall
from tests.wire.views import PDF, TEXT_ONLY, Seen, check_calls, check_ids, check_image, check_pdf, check_tools

_FIELDS = {
    "model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences",
    "tools", "tool_choice", "metadata", "thinking", "service_tier", "output_config",
}  # fmt: skip
# Fields that need a word in the header `anthropic-beta`, and the word of messages with the role system.
_BETA_FIELDS = {
    "output_format": "structured-outputs-",
    "context_management": "context-management-",
    "safeguards": "dangerous-tool-use-",
}
_SYSTEM_MESSAGES = "mid-conversation-"
_MOST_TOKENS = 128_000
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_THINKING = ("thinking", "redacted_thinking")
_BLOCKS = {
    "user": ("text", "image", "document", "tool_result"),
    "assistant": ("text", "tool_use", *_THINKING),
}
_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "context_full": "model_context_window_exceeded",
}


class Anthropic(Protocol):
    """api.anthropic.com: the first and the last message are the user's, and no text is empty."""

    kind = "anthropic"
    base_path = ""

    def __init__(self, key: str, models: tuple[str, ...]) -> None:
        super().__init__(key, models)
        self._thoughts: dict[str, list[Body]] = {}

    def error(self, status: int, message: str, type_: str = "invalid_request_error") -> Refused:
        """Return a refusal in Anthropic's form."""
        body = {"type": "error", "error": {"type": type_, "message": message}, "request_id": "req_wire"}
        return Refused(status, body)

    def invalid(self, message: str) -> Refused:
        """Return a refusal of a malformed request."""
        return self.error(400, message)

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
        betas = asked.headers.get("anthropic-beta", "")
        allowed = _FIELDS | {name for name, beta in _BETA_FIELDS.items() if beta in betas}
        for name in body.keys() - allowed:
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
        schemas = [tool.get("input_schema") for tool in body.get("tools", [])]
        check_tools(self.tools(body), schemas, self.invalid)
        if "tool_choice" in body and not body.get("tools"):
            raise self.error(400, "tool_choice may only be specified while providing tools")
        if _SYSTEM_MESSAGES in betas:
            body = body | {"messages": _spoken(body.get("messages") or [])}
        self._check_messages(body.get("messages"), asked.model)
        self._check_calls(body)
        if problem := marks_problem(asked.body):
            raise self.error(400, problem)
        if self.cache is not None:
            counted = self.cache.count_marked(asked.model, asked.body)
            asked.answer["usage"] = {
                "input_tokens": counted.rest,
                "cache_read_input_tokens": counted.cached,
                "cache_creation_input_tokens": counted.written + counted.written_for_hour,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": counted.written,
                    "ephemeral_1h_input_tokens": counted.written_for_hour,
                },
            }

    def _check_messages(self, messages: Any, model: str) -> None:
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
            for block in _blocks(message):
                if block.get("type") not in _BLOCKS[message["role"]]:
                    raise self.error(400, f"messages.{at}: `{block.get('type')}` blocks are not allowed here")
                if block["type"] == "image":
                    source = block["source"]
                    check_image(source.get("media_type", ""), source.get("data", ""), _IMAGES, self.invalid)
                if block["type"] == "document":
                    if TEXT_ONLY.search(model):
                        raise self.error(400, f"'{model}' does not support PDF input.")
                    if block["source"].get("media_type") != PDF:
                        raise self.error(
                            400, f"messages.{at}.document.source.media_type: Input should be '{PDF}'"
                        )
                    check_pdf(block["source"].get("data", ""), self.invalid)
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

    def _check_calls(self, body: Body) -> None:
        blocks = [block for message in body["messages"] for block in _blocks(message)]
        called = any(block["type"] in ("tool_use", "tool_result") for block in blocks)
        if called and not body.get("tools"):
            raise self.error(
                400, "Requests which include `tool_use` or `tool_result` blocks must define tools"
            )
        for block in blocks:
            if block["type"] == "tool_use" and not _ID.match(block["id"]):
                raise self.error(400, f"tool_use.id: String should match pattern '{_ID.pattern}'")
        for at, message in enumerate(body["messages"]):
            kinds = [block["type"] == "tool_result" for block in _blocks(message)]
            if kinds != sorted(kinds, reverse=True):
                raise self.error(400, f"messages.{at}: `tool_result` blocks must come first")
        check_ids(self.seen(body), self.invalid)
        check_calls(self.seen(body), self.invalid)
        self._check_thinking(body["messages"])

    def _check_thinking(self, messages: list[Body]) -> None:
        for message in messages:
            for block in _blocks(message):
                if block["type"] == "thinking" and block.get("signature") != self._sign(block["thinking"]):
                    raise self.error(400, "Invalid `signature` in `thinking` block")
        # Only the turn that still runs must have its thinking: it begins with the user's last words.
        spoke = [
            at
            for at, message in enumerate(messages)
            if message["role"] == "user"
            and not any(block["type"] == "tool_result" for block in _blocks(message))
        ]
        begins = max(spoke, default=0)
        for message in messages[begins:]:
            blocks = _blocks(message)
            given = [block for block in blocks if block["type"] in _THINKING]
            for block in blocks:
                if block["type"] == "tool_use" and self._thoughts.get(block["id"], given) != given:
                    raise self.error(
                        400,
                        "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is"
                        " enabled, a final `assistant` message must start with its thinking blocks as they were.",
                    )
            if given and blocks[: len(given)] != given:
                raise self.error(400, "A final `assistant` message must start with a thinking block.")

    def _sign(self, thinking: str) -> str:
        return sha256(f"{self.key} {thinking}".encode()).hexdigest()

    def seen(self, body: Body) -> list[Seen]:
        seen: list[Seen] = []
        for message in _spoken(body["messages"]):
            blocks = _blocks(message)
            seen += [
                Seen(
                    role="tool",
                    text="\n".join(texts_of(block.get("content"))),
                    result_of=block["tool_use_id"],
                )
                for block in blocks
                if block["type"] == "tool_result"
            ]
            said = [block for block in blocks if block["type"] != "tool_result"]
            if not said:
                continue
            seen.append(
                Seen(
                    role=message["role"],
                    text="\n".join(block["text"] for block in said if block["type"] == "text"),
                    calls=tuple(
                        WireCall(block["name"], json.dumps(block["input"], ensure_ascii=False), block["id"])
                        for block in said
                        if block["type"] == "tool_use"
                    ),
                    images=tuple(
                        b["source"]["media_type"] for b in said if b["type"] in ("image", "document")
                    ),
                )
            )
        return seen

    def tools(self, body: Body) -> list[str]:
        return [tool["name"] for tool in body.get("tools", [])]

    def system(self, body: Body) -> str:
        texts = list(texts_of(body["system"])) if "system" in body else []
        told = [message for message in body["messages"] if message["role"] == "system"]
        texts += [text for message in told for text in texts_of(message["content"])]
        return "\n".join(texts)

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
            "usage": {"input_tokens": 12, "output_tokens": 1, **asked.answer.get("usage", {})},
        }
        return sse({"type": "message_start", "message": message}, "message_start")

    def piece(self, asked: Asked, text: str, thinking: str = "") -> bytes:
        frames = b""
        if thinking:
            frames += self._block(asked, {"type": "thinking", "thinking": "", "signature": ""})
            asked.answer["thinking"] = asked.answer.get("thinking", "") + thinking
            frames += self._delta(asked, {"type": "thinking_delta", "thinking": thinking})
        if text:
            frames += self._block(asked, {"type": "text", "text": ""})
            frames += self._delta(asked, {"type": "text_delta", "text": text})
        return frames

    def redacted(self, asked: Asked, data: str) -> bytes:
        block = {"type": "redacted_thinking", "data": data}
        frames = self._block(asked, block) + self._end_block(asked)
        asked.answer.setdefault("thoughts", []).append(block)
        return frames

    def call(self, asked: Asked, call: WireCall, number: int, odd: str = "") -> list[bytes]:
        call_id = call.id or f"toolu_{uuid4().hex[:24]}"
        block: Body = {"type": "tool_use", "id": call_id, "name": call.name, "input": {}}
        frames = [self._end_block(asked) + self._block(asked, block)]
        self._thoughts[call_id] = asked.answer.get("thoughts", [])
        pieces = pieces_of("" if call.arguments == "{}" else call.arguments)
        return frames + [
            self._delta(asked, {"type": "input_json_delta", "partial_json": piece}) for piece in pieces
        ]

    def _block(self, asked: Asked, block: Body) -> bytes:
        """Return the frames that begin a block, unless one of its kind is open."""
        if asked.answer.get("open") == block["type"]:
            return b""
        ended = self._end_block(asked)
        asked.answer["open"] = block["type"]
        start = {"type": "content_block_start", "index": self._index(asked), "content_block": block}
        return ended + sse(start, "content_block_start")

    def _end_block(self, asked: Asked) -> bytes:
        frames = b""
        opened = asked.answer.pop("open", "")
        if not opened:
            return frames
        if opened == "thinking":
            thinking = asked.answer.pop("thinking")
            thought = {"type": "thinking", "thinking": thinking, "signature": self._sign(thinking)}
            asked.answer.setdefault("thoughts", []).append(thought)
            frames += self._delta(asked, {"type": "signature_delta", "signature": thought["signature"]})
        frames += sse({"type": "content_block_stop", "index": self._index(asked)}, "content_block_stop")
        asked.answer["index"] = self._index(asked) + 1
        return frames

    def _index(self, asked: Asked) -> int:
        return int(asked.answer.get("index", 0))

    def _delta(self, asked: Asked, delta: Body) -> bytes:
        frame = {"type": "content_block_delta", "index": self._index(asked), "delta": delta}
        return sse(frame, "content_block_delta")

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        delta = {
            "type": "message_delta",
            "delta": {"stop_reason": _REASONS[finish], "stop_sequence": None},
            "usage": {
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
                **asked.answer.get("usage", {}),
            },
        }
        return (
            self._end_block(asked)
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


def _spoken(messages: list[Body]) -> list[Body]:
    """Return the messages without those of the system, which Claude Code puts between them."""
    return [message for message in messages if message.get("role") != "system"]


def _blocks(message: Body) -> list[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
