"""OpenAI's chat completions, and its relatives: Ollama's `/v1`, and a server with a Gemma template."""

import re
from typing import Any
from uuid import uuid4

from tests.wire.protocols import Asked, Body, Protocol, Refused, pieces_of, sse, texts_of
from tests.wire.replies import Answer, WireCall
from tests.wire.views import (
    PDF,
    TEXT_ONLY,
    Seen,
    check_calls,
    check_ids,
    check_image,
    check_pdf,
    check_tools,
    media_of,
)

_FIELDS = {
    "model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature",
    "top_p", "stop", "tools", "tool_choice", "response_format", "seed", "n", "user", "parallel_tool_calls",
    "presence_penalty", "frequency_penalty", "reasoning_effort", "modalities",
}  # fmt: skip
_LOCAL_FIELDS = {"top_k", "min_p", "repeat_penalty", "repeat_last_n"}
_ROLES = {"system", "developer", "user", "assistant", "tool"}
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_SYSTEM = ("system", "developer")
_MESSAGE_FIELDS = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal"}
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_LONGEST_ID = 40
_LONGEST_KEY = 64
_REASONING = re.compile(r"^(gpt-5|o\d)")


class OpenAI(Protocol):
    """api.openai.com: tolerant about the order of roles, not about anything else."""

    kind = "openai"
    base_path = "/v1"
    fields = _FIELDS | {"prompt_cache_key"}
    message_fields = _MESSAGE_FIELDS
    takes_pdf = True

    def error(
        self,
        status: int,
        message: str,
        type_: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
    ) -> Refused:
        """Return a refusal in OpenAI's form."""
        return Refused(status, {"error": {"message": message, "type": type_, "param": param, "code": code}})

    def invalid(self, message: str, code: str | None = None, param: str | None = None) -> Refused:
        """Return a refusal of a malformed request."""
        return self.error(400, message, "invalid_request_error", code, param)

    def model_of(self, path: str, body: Body) -> str | None:
        return str(body.get("model", "")) if path == f"{self.base_path}/chat/completions" else None

    def list_path(self) -> str:
        return f"{self.base_path}/models"

    def list_body(self) -> Body:
        rows = [{"id": model, "object": "model", "created": 0, "owned_by": "wire"} for model in self.models]
        return {"object": "list", "data": rows}

    def check_key(self, asked: Asked) -> None:
        sent = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if sent != self.key:
            raise self.refusal("e401", None, sent)

    def check(self, asked: Asked) -> None:
        body = asked.body
        if asked.model not in self.models:
            raise self.refusal("e404", None, "")
        for name in body.keys() - self.fields:
            raise self.invalid(f"Unrecognized request argument supplied: {name}")
        if "max_tokens" in body and _REASONING.match(asked.model):
            raise self.invalid(
                "Unsupported parameter: 'max_tokens' is not supported with this model."
                " Use 'max_completion_tokens' instead.",
                "unsupported_parameter",
                "max_tokens",
            )
        if _REASONING.match(asked.model) and body.get("temperature", 1) != 1:
            raise self.invalid(
                f"Unsupported value: 'temperature' does not support {body['temperature']} with this model."
                " Only the default (1) value is supported.",
                "unsupported_value",
                "temperature",
            )
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body and (not isinstance(body[name], int) or body[name] < 1):
                raise self.invalid(f"Invalid '{name}': integer below minimum value.", None, name)
        if len(body.get("stop") or []) > 4:
            raise self.invalid("Invalid 'stop': array too long. Expected an array with maximum length 4.")
        tools = [tool["function"] for tool in body.get("tools", [])]
        if "tools" in body and not tools:
            raise self.invalid("Invalid 'tools': empty array. Expected an array with minimum length 1.")
        for tool in tools:
            if "properties" not in tool.get("parameters", {"properties": {}}):
                raise self.invalid(
                    f"Invalid schema for function '{tool['name']}': object schema missing properties."
                )
        check_tools(self.tools(body), [tool.get("parameters", {}) for tool in tools], self.invalid)
        self.check_messages(body.get("messages"), asked.model)
        check_ids(self.seen(body), self.invalid)
        check_calls(self.seen(body), self.invalid)
        if len(str(body.get("prompt_cache_key", ""))) > _LONGEST_KEY:
            raise self.invalid(f"Invalid 'prompt_cache_key': string too long, at most {_LONGEST_KEY}.")
        if self.cache is not None:
            asked.answer["counted"] = self.cache.count_beginning(asked.model, body)

    def _check_file(self, part: Body, model: str) -> None:
        if TEXT_ONLY.search(model):
            raise self.invalid("Invalid content type. file is not supported by this model.")
        if part.keys() != {"type", "file"} or not part["file"].get("filename"):
            raise self.invalid("Missing required parameter: 'file.filename'.")
        media_type, data = media_of(part["file"].get("file_data", ""))
        if media_type != PDF:
            raise self.invalid(f"Invalid file data: unsupported MIME type '{media_type}'.")
        check_pdf(data, self.invalid)

    def check_messages(self, messages: Any, model: str) -> None:
        """Raise Refused unless the messages are legal."""
        if not isinstance(messages, list) or not messages:
            raise self.invalid("Invalid 'messages': empty array. Expected an array with minimum length 1.")
        for at, message in enumerate(messages):
            if message.get("role") not in _ROLES:
                raise self.invalid(f"Invalid value: '{message.get('role')}'.", None, f"messages[{at}].role")
            for name in message.keys() - self.message_fields:
                raise self.invalid(f"Additional properties are not allowed ('{name}' was unexpected)")
            if message["role"] != "tool" and not message.get("tool_calls"):
                if not all(text.strip() for text in texts_of(message.get("content"))):
                    raise self.invalid("Invalid content: expected a text.", None, f"messages[{at}].content")
            elif not isinstance(message.get("content", ""), str | list | None):
                raise self.invalid("Invalid content: expected a text.", None, f"messages[{at}].content")
            for part in message.get("content") if isinstance(message.get("content"), list) else []:
                if part.get("type") == "image_url":
                    check_image(*media_of(part["image_url"]["url"]), _IMAGES, self.invalid)
                elif part.get("type") == "file" and self.takes_pdf:
                    self._check_file(part, model)
                elif part.get("type") != "text":
                    raise self.invalid(
                        f"Invalid value: '{part.get('type')}'.", None, f"messages[{at}].content"
                    )
            if message["role"] == "tool" and not message.get("tool_call_id"):
                raise self.invalid(f"Missing required parameter: 'messages[{at}].tool_call_id'.")
            for call in message.get("tool_calls") or []:
                if len(call["id"]) > _LONGEST_ID:
                    raise self.invalid(
                        f"Invalid 'messages[{at}].tool_calls[0].id': string too long. Expected a string with"
                        f" maximum length {_LONGEST_ID}."
                    )
            if "name" in message and not _NAME.match(str(message["name"])):
                raise self.invalid(
                    f"Invalid 'messages[{at}].name': string does not match pattern.", "invalid_value"
                )

    def seen(self, body: Body) -> list[Seen]:
        return [_seen(message) for message in body["messages"] if message["role"] not in _SYSTEM]

    def tools(self, body: Body) -> list[str]:
        return [tool["function"]["name"] for tool in body.get("tools", [])]

    def system(self, body: Body) -> str:
        return "\n".join(
            text
            for message in body["messages"]
            if message["role"] in _SYSTEM
            for text in texts_of(message["content"])
        )

    def refusal(self, fault: str, retry_after: float | None, sent_key: str) -> Refused:
        match fault:
            case "rate429":
                refused = self.error(
                    429, "Rate limit reached for requests.", "requests", "rate_limit_exceeded"
                )
                if retry_after is not None:
                    refused.headers["Retry-After"] = f"{retry_after:g}"
                return refused
            case "quota429":
                return self.error(
                    429,
                    "You exceeded your current quota, please check your plan and billing details.",
                    "insufficient_quota",
                    "insufficient_quota",
                )
            case "e500":
                return self.error(
                    500, "The server had an error while processing your request.", "server_error"
                )
            case "e529":
                return self.error(
                    529, "The engine is currently overloaded, please try again later.", "overloaded"
                )
            case "e401":
                return self.error(
                    401,
                    f"Incorrect API key provided: {sent_key}. You can find your API key in your account.",
                    "invalid_request_error",
                    "invalid_api_key",
                )
            case "e403":
                return self.error(403, "Country, region, or territory not supported", "request_forbidden")
            case "e404":
                return self.error(
                    404,
                    "The model `nothing` does not exist or you do not have access to it.",
                    "invalid_request_error",
                    "model_not_found",
                )
            case "ctx":
                return self.invalid(
                    "This model's maximum context length is 8192 tokens. However, your messages resulted in"
                    " 9001 tokens. Please reduce the length of the messages.",
                    "context_length_exceeded",
                    "messages",
                )
            case _:
                return self.invalid(
                    "Your request was rejected as a result of our safety system.", "content_policy_violation"
                )

    def _chunk(self, asked: Asked, delta: Body, finish: str | None = None) -> bytes:
        return sse(
            {
                "id": "chatcmpl-wire",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": asked.model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
        )

    def opening(self, asked: Asked) -> bytes:
        return self._chunk(asked, {"role": "assistant", "content": ""})

    def piece(self, asked: Asked, text: str, thinking: str = "") -> bytes:
        delta = {"content": text} if text else {}
        return self._chunk(asked, delta | ({"reasoning_content": thinking} if thinking else {}))

    def call(self, asked: Asked, call: WireCall, number: int, odd: str = "") -> list[bytes]:
        head: Body = {
            "index": 0 if odd == "same_index" else number,
            "id": "call_same" if odd == "duplicate_id" else call.id or f"call_{uuid4().hex[:24]}",
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }
        if odd == "no_index":
            del head["index"]
        if odd == "no_id":
            del head["id"]
        if odd in ("whole", "same_index", "no_index"):
            head["function"]["arguments"] = call.arguments
            return [self._chunk(asked, {"tool_calls": [head]})]
        frames = [self._chunk(asked, {"tool_calls": [head]})]
        for piece in pieces_of(call.arguments):
            more = {"index": number, "function": {"arguments": piece}}
            if odd == "every_name":
                more = head | {"function": {"name": call.name, "arguments": piece}}
            frames.append(self._chunk(asked, {"tool_calls": [more]}))
        return frames

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        counted = asked.answer.get("counted")
        read = counted.all if counted else answer.input_tokens
        usage: Body = {
            "prompt_tokens": read,
            "completion_tokens": answer.output_tokens,
            "total_tokens": read + answer.output_tokens,
        }
        if counted:
            usage["prompt_tokens_details"] = {"cached_tokens": counted.cached, "audio_tokens": 0}
        if answer.reasoning_tokens:
            usage["completion_tokens_details"] = {"reasoning_tokens": answer.reasoning_tokens}
        last = {"id": "chatcmpl-wire", "object": "chat.completion.chunk", "created": 1, "model": asked.model}
        named = sse(last | {"choices": [], "usage": usage}) if answer.usage else b""
        return self._chunk(asked, {}, finish) + named + b"data: [DONE]\n\n"

    def error_frame(self) -> bytes:
        return sse({"error": {"message": "The server had an error.", "type": "server_error", "code": None}})


class Ollama(OpenAI):
    """A local Ollama: any key will do, and models are called by their tag."""

    kind = "ollama"
    fields = _FIELDS
    takes_pdf = False
    runs_with = 4_096

    def __init__(self, key: str, models: tuple[str, ...]) -> None:
        super().__init__(key, models)
        self._loaded: list[str] = []

    def told(self, method: str, path: str, body: Body) -> Body | None:
        if (method, path) == ("GET", "/api/ps"):
            rows = [{"name": one, "model": one, "context_length": self.runs_with} for one in self._loaded]
            return {"models": rows}
        if (method, path) == ("POST", "/api/show") and body.get("model") in self.models:
            return {"parameters": 'stop "<eot>"', "model_info": {"llama.context_length": 131_072}}
        return None

    def check(self, asked: Asked) -> None:
        super().check(asked)
        self._loaded.append(asked.model)

    def check_key(self, asked: Asked) -> None:
        return

    def refusal(self, fault: str, retry_after: float | None, sent_key: str) -> Refused:
        if fault == "e404":
            return self.error(404, 'model "nothing" not found, try pulling it first', "api_error")
        return super().refusal(fault, retry_after, sent_key)


class Gemma(OpenAI):
    """A server whose chat template knows user and assistant only, strictly in turns."""

    kind = "openai-compatible"
    fields = _FIELDS | _LOCAL_FIELDS
    takes_pdf = False

    def told(self, method: str, path: str, body: Body) -> Body | None:
        # As llama.cpp does: the room of one slot.
        settings = {"default_generation_settings": {"n_ctx": 6_144}, "total_slots": 4}
        return settings if (method, path) == ("GET", "/props") else None

    def check(self, asked: Asked) -> None:
        if "tools" in asked.body:
            raise self.error(500, "tools param requires --jinja flag", "server_error")
        super().check(asked)

    def check_key(self, asked: Asked) -> None:
        if self.key:
            super().check_key(asked)

    def check_messages(self, messages: Any, model: str) -> None:
        super().check_messages(messages, model)
        if any(message["role"] == "tool" or message.get("tool_calls") for message in messages):
            raise self.invalid("Only user and assistant roles are supported!")
        roles = [message["role"] for message in messages]
        if "system" in roles:
            raise self.invalid("System role not supported")
        if roles != [("user", "assistant")[at % 2] for at in range(len(roles))] or roles[-1] != "user":
            raise self.invalid("Conversation roles must alternate user/assistant/user/assistant/...")


def _seen(message: Body) -> Seen:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return Seen(
        role=message["role"],
        text="\n".join(texts_of(content)),
        calls=tuple(
            WireCall(call["function"]["name"], call["function"]["arguments"], call["id"])
            for call in message.get("tool_calls") or []
        ),
        result_of=message.get("tool_call_id", ""),
        images=tuple(
            PDF if part["type"] == "file" else media_of(part["image_url"]["url"])[0]
            for part in parts
            if part["type"] in ("image_url", "file")
        ),
    )
