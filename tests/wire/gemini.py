"""Gemini's streamGenerateContent, version v1beta."""

import itertools
import re
from typing import Any

from tests.wire.protocols import Asked, Body, Protocol, Refused, sse
from tests.wire.replies import Answer

_PATH = re.compile(r"^/v1beta/models/([^/:]+):(streamGenerateContent|generateContent)$")
_FIELDS = {
    "contents", "systemInstruction", "system_instruction", "generationConfig", "generation_config", "tools",
    "toolConfig", "safetySettings", "cachedContent",
}  # fmt: skip
_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


class Gemini(Protocol):
    """generativelanguage.googleapis.com: user and model strictly in turns, the user last."""

    kind = "gemini"
    base_path = "/v1beta"

    def error(self, code: int, message: str, status: str, details: list[Body] | None = None) -> Refused:
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
        return {"models": [{"name": f"models/{model}", "displayName": model} for model in self.models]}

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
        self._check_contents(asked.body.get("contents"))

    def _check_contents(self, contents: Any) -> None:
        if not isinstance(contents, list) or not contents:
            raise self.invalid("GenerateContentRequest.contents: contents is not specified")
        roles = [content.get("role") for content in contents]
        for content in contents:
            if content.get("role") not in ("user", "model"):
                raise self.invalid("Please use a valid role: user, model.")
            parts = content.get("parts")
            if not parts or not all(str(part.get("text", "")).strip() for part in parts):
                raise self.invalid(
                    "Unable to submit request because it must have a non-empty text parameter."
                )
        if any(one == other for one, other in itertools.pairwise(roles)):
            raise self.invalid("Please ensure that multiturn requests alternate between user and model.")
        if roles[0] != "user" or roles[-1] != "user":
            raise self.invalid(
                "Please ensure that multiturn requests end with a user role or a function response."
            )

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
        parts: list[Body] = [{"text": thinking, "thought": True}] if thinking else []
        if text:
            parts.append({"text": text})
        return self._candidate(asked, {"content": {"role": "model", "parts": parts}, "index": 0})

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
