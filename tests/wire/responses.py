"""OpenAI's API of responses, for the models that have no chat completions."""

from tests.wire.openai import OpenAI
from tests.wire.protocols import Asked, Body, texts_of
from tests.wire.views import Seen

_FIELDS = {
    "model", "input", "instructions", "stream", "max_output_tokens", "temperature", "tools", "tool_choice",
    "text", "store", "include", "parallel_tool_calls", "metadata", "reasoning", "user", "previous_response_id",
}  # fmt: skip


class Responses(OpenAI):
    """api.openai.com for `gpt-5-pro` and `o1-pro`, which do not stream; its answers are what a test scripts."""

    def model_of(self, path: str, body: Body) -> str | None:
        return str(body.get("model", "")) if path == "/v1/responses" else None

    def check(self, asked: Asked) -> None:
        if asked.model not in self.models:
            raise self.refusal("e404", None, "")
        for name in asked.body.keys() - _FIELDS:
            raise self.invalid(f"Unknown parameter: '{name}'.", "unknown_parameter", name)
        if asked.body.get("stream"):
            raise self.invalid("This model does not support streaming.", "unsupported_value", "stream")

    def seen(self, body: Body) -> list[Seen]:
        items = [item for item in body["input"] if item.get("type", "message") == "message"]
        return [Seen(role=item["role"], text="\n".join(_texts(item["content"]))) for item in items]

    def tools(self, body: Body) -> list[str]:
        return [tool["name"] for tool in body.get("tools") or []]

    def system(self, body: Body) -> str:
        return str(body.get("instructions") or "")


def _texts(content: object) -> list[str]:
    if isinstance(content, list):
        return [str(part.get("text", "")) for part in content]
    return list(texts_of(content))
