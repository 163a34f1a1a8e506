"""OpenAI's API of responses: for the models that have no chat completions, and for Codex, which streams it."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.wire.openai import OpenAI
from tests.wire.protocols import Asked, Body, pieces_of, sse, texts_of
from tests.wire.replies import Answer, WireCall
from tests.wire.views import Seen, check_calls, check_tools

_FIELDS = {
    "model", "input", "instructions", "stream", "max_output_tokens", "temperature", "tools", "tool_choice",
    "text", "store", "include", "parallel_tool_calls", "metadata", "reasoning", "user", "previous_response_id",
    "prompt_cache_key", "client_metadata",
}  # fmt: skip
_SYSTEM = ("system", "developer")


class Responses(OpenAI):
    """api.openai.com; models called `-pro` do not stream, and what they answer is what a test scripts.

    The tools of a namespace are called by its name, two underscores and their own.
    """

    def model_of(self, path: str, body: Body) -> str | None:
        return str(body.get("model", "")) if path == "/v1/responses" else None

    def check(self, asked: Asked) -> None:
        body = asked.body
        if asked.model not in self.models:
            raise self.refusal("e404", None, "")
        for name in body.keys() - _FIELDS:
            raise self.invalid(f"Unknown parameter: '{name}'.", "unknown_parameter", name)
        if body.get("stream") and asked.model.endswith("-pro"):
            raise self.invalid("This model does not support streaming.", "unsupported_value", "stream")
        functions = [(name, one) for name, one in _tools(body) if one["type"] == "function"]
        check_tools(
            [name for name, _ in functions], [one.get("parameters") for _, one in functions], self.invalid
        )
        check_calls(self.seen(body), self.invalid)

    def seen(self, body: Body) -> list[Seen]:
        seen: list[Seen] = []
        calls: list[WireCall] = []
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind == "function_call":
                calls.append(WireCall(item["name"], item["arguments"], item["call_id"]))
                continue
            seen += [Seen(role="assistant", calls=tuple(calls))] if calls else []
            calls = []
            if kind == "message" and item["role"] not in _SYSTEM:
                seen.append(Seen(role=item["role"], text="\n".join(_texts(item["content"]))))
            elif kind == "function_call_output":
                text = "\n".join(_texts(item["output"]))
                seen.append(Seen(role="tool", text=text, result_of=item["call_id"]))
        return seen + ([Seen(role="assistant", calls=tuple(calls))] if calls else [])

    def tools(self, body: Body) -> list[str]:
        return [name for name, _ in _tools(body)]

    def system(self, body: Body) -> str:
        said = [item for item in body["input"] if item.get("role") in _SYSTEM and "content" in item]
        texts = [str(body.get("instructions") or "")]
        texts += [text for item in said for text in _texts(item["content"])]
        return "\n".join(filter(None, texts))

    def opening(self, asked: Asked) -> bytes:
        return _event("response.created", response={"id": "resp_wire", "status": "in_progress"})

    def piece(self, asked: Asked, text: str, thinking: str = "") -> bytes:
        if not text:
            return b""
        begun = "text" in asked.answer
        asked.answer["text"] = asked.answer.get("text", "") + text
        opened = b"" if begun else _event("response.output_item.added", output_index=0, item=_message(""))
        return opened + _event("response.output_text.delta", item_id="msg_wire", output_index=0, delta=text)

    def call(self, asked: Asked, call: WireCall, number: int, odd: str = "") -> list[bytes]:
        ident = call.id or f"call_{uuid4().hex[:24]}"
        space, _, name = call.name.rpartition("__")
        spaces = [one["name"] for one in asked.body.get("tools") or [] if one["type"] == "namespace"]
        item: Body = {"type": "function_call", "id": f"fc_{ident}", "call_id": ident, "name": call.name}
        item |= {"name": name, "namespace": space} if space in spaces else {}
        begun = _event("response.output_item.added", output_index=number + 1, item=item | {"arguments": ""})
        pieces = [
            _event("response.function_call_arguments.delta", item_id=item["id"], delta=piece)
            for piece in pieces_of(call.arguments)
        ]
        whole = item | {"arguments": call.arguments, "status": "completed"}
        return [begun, *pieces, _event("response.output_item.done", output_index=number + 1, item=whole)]

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        text = asked.answer.get("text")
        said = _event("response.output_item.done", output_index=0, item=_message(text)) if text else b""
        usage = {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        }
        response = {"id": "resp_wire", "status": "completed", "usage": usage, "output": []}
        return said + _event("response.completed", response=response)


def _event(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, kind)


def _message(text: str) -> Body:
    content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    return {"type": "message", "id": "msg_wire", "role": "assistant", "content": content}


def _tools(body: Body) -> Iterator[tuple[str, Body]]:
    """Yield the tools that a request offers, with the names by which they are called."""
    more = [one for item in body["input"] if item.get("type") == "additional_tools" for one in item["tools"]]
    for one in [*(body.get("tools") or []), *more]:
        if one["type"] == "namespace":
            yield from ((f"{one['name']}__{inner['name']}", inner) for inner in one["tools"])
        else:
            yield one.get("name", one["type"]), one


def _texts(content: object) -> list[str]:
    if isinstance(content, list):
        return [str(part.get("text", "")) for part in content]
    return list(texts_of(content))
