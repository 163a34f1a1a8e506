"""Gemini's streamGenerateContent, version v1beta."""

import base64
import itertools
import json
import re
from hashlib import sha256
from typing import Any

from tests.wire.protocols import Asked, Body, Protocol, Refused, sse
from tests.wire.replies import Answer, WireCall
from tests.wire.views import PDF, Seen, check_calls, check_image, check_pdf, check_tools

_PATH = re.compile(r"^/v1beta/models/([^/:]+):(streamGenerateContent|generateContent)$")
_FIELDS = {
    "contents", "systemInstruction", "system_instruction", "generationConfig", "generation_config", "tools",
    "toolConfig", "safetySettings", "cachedContent",
}  # fmt: skip
_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
# What Google lets a client send when the call came from another model; both forms are in use.
_SKIPPED = "skip_thought_signature_validator"
_NO_SIGNATURES = {_SKIPPED, base64.b64encode(_SKIPPED.encode()).decode()}
_REASONS = {"tool_calls": "STOP", "stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


class Gemini(Protocol):
    """generativelanguage.googleapis.com: user and model strictly in turns, the user last."""

    kind = "gemini"
    base_path = "/v1beta"

    def __init__(self, key: str, models: tuple[str, ...]) -> None:
        super().__init__(key, models)
        self._issued = set(_NO_SIGNATURES)
        self._signatures: dict[tuple[str, str], set[str | None]] = {}

    def error(
        self, code: int, message: str, status: str = "INVALID_ARGUMENT", details: list[Body] | None = None
    ) -> Refused:
        """Return a refusal in Google's form."""
        error: Body = {"code": code, "message": message, "status": status}
        if details:
            error["details"] = details
        return Refused(code, {"error": error})

    def invalid(self, message: str) -> Refused:
        """Return a refusal of a malformed request."""
        return self.error(400, message, "INVALID_ARGUMENT")

    def model_of(self, path: str, body: Body) -> str | None:
        match = _PATH.match(path)
        return match[1] if match else None

    def list_path(self) -> str:
        return "/v1beta/models"

    def list_body(self) -> Body:
        limits = {"inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
        rows = [{"name": f"models/{model}", "displayName": model, **limits} for model in self.models]
        return {"models": rows}

    def check_key(self, asked: Asked) -> None:
        sent = asked.headers.get("x-goog-api-key") or asked.query.get("key", "")
        if sent != self.key:
            raise self.refusal("e401", None, sent)

    def check(self, asked: Asked) -> None:
        if asked.model not in self.models:
            raise self.refusal("e404", None, "")
        for name in asked.body.keys() - _FIELDS:
            raise self.invalid(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
        config = asked.body.get("generationConfig") or asked.body.get("generation_config") or {}
        most = config.get("maxOutputTokens", config.get("max_output_tokens", 1))
        if not isinstance(most, int) or most < 1:
            raise self.invalid("max_output_tokens must be positive")
        functions = _functions(asked.body)
        schemas = [function.get("parameters", {}) for function in functions]
        check_tools(self.tools(asked.body), schemas, self.invalid)
        for schema in schemas:
            self._check_schema(schema)
        self._check_contents(asked.body.get("contents"))
        check_calls(self.seen(asked.body), self.invalid)
        self._check_signatures(asked.body["contents"])

    def _check_contents(self, contents: Any) -> None:
        if not isinstance(contents, list) or not contents:
            raise self.invalid("GenerateContentRequest.contents: contents is not specified")
        roles = [content.get("role") for content in contents]
        for content in contents:
            if content.get("role") not in ("user", "model"):
                raise self.invalid("Please use a valid role: user, model.")
            parts = content.get("parts")
            # A lone image may have an empty text beside it.
            texts = [part["text"] for part in parts or () if "text" in part and not _image(parts[0])]
            if not parts or not all(str(text).strip() for text in texts):
                raise self.invalid(
                    "Unable to submit request because it must have a non-empty text parameter."
                )
            for part in parts:
                if image := _image(part):
                    media_type = image.get("mimeType") or image.get("mime_type") or ""
                    if media_type == PDF:
                        check_pdf(image["data"], self.invalid)
                    else:
                        check_image(media_type, image["data"], _IMAGES, self.invalid)
            self._check_results(parts)
        if any(one == other for one, other in itertools.pairwise(roles)):
            raise self.invalid("Please ensure that multiturn requests alternate between user and model.")
        if roles[0] != "user" or roles[-1] != "user":
            raise self.invalid(
                "Please ensure that multiturn requests end with a user role or a function response."
            )

    def _check_schema(self, schema: Any) -> None:
        if not isinstance(schema, dict):
            raise self.invalid("Invalid JSON payload received. A schema must be an object.")
        for name in schema.keys() & {"$ref", "$defs", "additionalProperties", "const", "oneOf", "allOf"}:
            raise self.invalid(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
        if not all(isinstance(value, str) for value in schema.get("enum", [])):
            raise self.invalid("Invalid value at 'enum' (TYPE_STRING)")
        inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
        for one in inner + ([schema["items"]] if "items" in schema else []):
            self._check_schema(one)

    def _check_results(self, parts: list[Body]) -> None:
        kinds = [_result(part) is not None for part in parts]
        if kinds != sorted(kinds, reverse=True):
            raise self.invalid("Please ensure that function responses come first in their turn.")

    def _check_signatures(self, contents: list[Body]) -> None:
        # Only the turn that still runs must be signed: it begins with the user's last words.
        spoke = [
            at
            for at, content in enumerate(contents)
            if content["role"] == "user" and not any(_result(part) for part in content["parts"])
        ]
        begins = max(spoke, default=0)
        for at, content in enumerate(contents):
            for part in content["parts"]:
                given = part.get("thoughtSignature") or part.get("thought_signature")
                if given is not None and given not in self._issued:
                    raise self.invalid("Thought signature is not valid.")
                call = _call(part)
                known = None if given in _NO_SIGNATURES else given
                if at > begins and call and known not in self._signatures.get(_key(call), {known}):
                    raise self.invalid(
                        f"Function call `{call['name']}` in the {at}. content block is missing a"
                        " `thought_signature`."
                    )

    def seen(self, body: Body) -> list[Seen]:
        seen: list[Seen] = []
        for content in body["contents"]:
            parts = content["parts"]
            for result in filter(None, map(_result, parts)):
                response = result["response"]
                text = response["content"] if response.keys() == {"content"} else json.dumps(response)
                seen.append(Seen(role="tool", text=text, result_of=result["name"]))
            said = [part for part in parts if _result(part) is None]
            if not said:
                continue
            calls = filter(None, map(_call, said))
            images = filter(None, map(_image, said))
            seen.append(
                Seen(
                    role="user" if content["role"] == "user" else "assistant",
                    text="\n".join(part["text"] for part in said if part.get("text", "").strip()),
                    calls=tuple(
                        WireCall(call["name"], json.dumps(call["args"], ensure_ascii=False), call["name"])
                        for call in calls
                    ),
                    images=tuple(image.get("mimeType") or image.get("mime_type") for image in images),
                )
            )
        return seen

    def tools(self, body: Body) -> list[str]:
        return [function["name"] for function in _functions(body)]

    def system(self, body: Body) -> str:
        system = body.get("systemInstruction") or body.get("system_instruction") or {"parts": []}
        return "\n".join(part["text"] for part in system["parts"])

    def refusal(self, fault: str, retry_after: float | None, sent_key: str) -> Refused:
        match fault:
            case "rate429":
                delay = {
                    "@type": "type.googleapis.com/google.rpc.RetryInfo",
                    "retryDelay": f"{retry_after or 1:g}s",
                }
                return self.error(
                    429,
                    "You exceeded your current quota, please check your plan and billing details.",
                    "RESOURCE_EXHAUSTED",
                    [delay],
                )
            case "quota429":
                return self.error(
                    429,
                    "You exceeded your current quota, please check your plan and billing details.",
                    "RESOURCE_EXHAUSTED",
                )
            case "e500":
                return self.error(500, "An internal error has occurred.", "INTERNAL")
            case "e529":
                return self.error(503, "The model is overloaded. Please try again later.", "UNAVAILABLE")
            case "e401":
                reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
                return self.error(
                    400,
                    f"API key not valid: {sent_key}. Please pass a valid API key.",
                    "INVALID_ARGUMENT",
                    [reason],
                )
            case "e403":
                return self.error(403, "Permission denied on resource project.", "PERMISSION_DENIED")
            case "e404":
                return self.error(404, "models/nothing is not found for API version v1beta.", "NOT_FOUND")
            case "ctx":
                return self.invalid(
                    "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576)."
                )
            case _:
                return self.invalid("The request was blocked by content management policy.")

    def piece(self, asked: Asked, text: str, thinking: str = "") -> bytes:
        asked.answer["thought"] = bool(thinking) or asked.answer.get("thought", False)
        parts: list[Body] = [{"text": thinking, "thought": True}] if thinking else []
        if text:
            parts.append({"text": text})
        return self._candidate(asked, {"content": {"role": "model", "parts": parts}, "index": 0})

    def call(self, asked: Asked, call: WireCall, number: int, odd: str = "") -> list[bytes]:
        function: Body = {"name": call.name, "args": json.loads(call.arguments or "{}")}
        if call.id:
            function["id"] = call.id
        part: Body = {"functionCall": function}
        signature: str | None = None
        if asked.answer.get("thought") and number == 0:
            signature = base64.b64encode(sha256(f"{self.key} {_key(function)}".encode()).digest()).decode()
            part["thoughtSignature"] = signature
            self._issued.add(signature)
        # Nothing tells equal calls apart, and of those of one answer only the first is signed.
        self._signatures.setdefault(_key(function), set()).add(signature)
        if not call.arguments:
            del function["args"]
        return [self._candidate(asked, {"content": {"role": "model", "parts": [part]}, "index": 0})]

    def _candidate(self, asked: Asked, candidate: Body, usage: Body | None = None) -> bytes:
        return sse(
            {"candidates": [candidate], "modelVersion": asked.model, "responseId": "wire"}
            | ({"usageMetadata": usage} if usage else {})
        )

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        usage = {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": answer.input_tokens + answer.output_tokens,
        }
        candidate = {
            "content": {"role": "model", "parts": [{"text": ""}]},
            "finishReason": _REASONS[finish],
            "index": 0,
        }
        return self._candidate(asked, candidate, usage)

    def ping(self) -> bytes:
        # Google sends no comments; an event without a candidate is all that may come.
        return sse({"usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12}})

    def broken(self) -> bytes:
        return b'data: {"candidates": [{"content\n\n'

    def error_frame(self) -> bytes:
        return sse(
            {"error": {"code": 500, "message": "An internal error has occurred.", "status": "INTERNAL"}}
        )


def _functions(body: Body) -> list[Body]:
    names = ("functionDeclarations", "function_declarations")
    return [function for tool in body.get("tools", []) for name in names for function in tool.get(name, [])]


# Google also reads names in snake case, which most servers of its protocol do not.
def _call(part: Body) -> Body | None:
    return part.get("functionCall")


def _result(part: Body) -> Body | None:
    return part.get("functionResponse")


def _image(part: Body) -> Body | None:
    return part.get("inlineData") or part.get("inline_data")


def _key(call: Body) -> tuple[str, str]:
    return call["name"], json.dumps(call.get("args", {}), sort_keys=True)
