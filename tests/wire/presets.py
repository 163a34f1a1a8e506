"""The providers of core/catalog.py: OpenAI's API, with what each of them refuses according to its documentation."""

import re
from typing import Any

from tests.wire.openai import OpenAI
from tests.wire.protocols import Asked, Body, Refused
from tests.wire.replies import Answer

_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")


class Preset(OpenAI):
    """A provider that refuses the arguments in `refused`."""

    refused: tuple[str, ...] = ()
    takes_pdf = False

    def check(self, asked: Asked) -> None:
        for name in self.refused:
            if name in asked.body:
                raise self.refuse(name)
        super().check(asked)

    def refuse(self, name: str) -> Refused:
        """Return the provider's own refusal of an argument."""
        return self.invalid(f"property '{name}' is unsupported", "unsupported_parameter", name)


class OpenRouter(Preset):
    """openrouter.ai, which passes on what the model takes; its models are named with their makers."""

    kind = "openrouter"
    takes_pdf = True

    def check(self, asked: Asked) -> None:
        if "/" not in asked.model:
            raise self.error(400, f"{asked.model} is not a valid model ID", "invalid_request_error")
        super().check(asked)

    def ending(self, asked: Asked, answer: Answer, finish: str) -> bytes:
        return super().ending(asked, answer, finish).replace(b'"usage": {', b'"usage": {"cost": 0.0123, ')


class WantsThought(Preset):
    """A provider that wants back what its model thought before its calls."""

    message_fields = OpenAI.message_fields | {"reasoning_content"}

    def check_messages(self, messages: Any, model: str) -> None:
        super().check_messages(messages, model)
        for message in messages:
            thought = message.get("reasoning_content")
            if "reasoning_content" in message and not (isinstance(thought, str) and thought):
                raise self.invalid("Invalid 'reasoning_content': expected a text.")
            if message.get("tool_calls") and thought is None:
                raise self.no_thought(messages.index(message))

    def no_thought(self, at: int) -> Refused:
        """Return the provider's own refusal of a call without its thought."""
        return self.invalid("The `reasoning_content` in the thinking mode must be passed back to the API.")


class DeepSeek(WantsThought):
    """api.deepseek.com: objects by request, but not by schema; no images."""

    kind = "deepseek"
    fields = OpenAI.fields | {"thinking"}

    def check(self, asked: Asked) -> None:
        if asked.body.get("response_format", {}).get("type") == "json_schema":
            raise self.invalid("This response_format type is unavailable now")
        if "image_url" in str(asked.body.get("messages")):
            raise self.invalid("Failed to deserialize the JSON body: unknown variant `image_url`")
        super().check(asked)


class Moonshot(WantsThought):
    """api.moonshot.ai, whose newer models have one temperature."""

    kind = "moonshot"

    def no_thought(self, at: int) -> Refused:
        return self.invalid(
            f"thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
        )

    def check(self, asked: Asked) -> None:
        if asked.body.get("temperature", 1) != 1:
            raise self.invalid("invalid temperature: only 1 is allowed for this model")
        super().check(asked)


class Mistral(Preset):
    """api.mistral.ai: refuses all that it does not document, other ids of calls, and users who speak after tools."""

    kind = "mistral"
    fields = {
        "model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed", "response_format",
        "tools", "tool_choice", "presence_penalty", "frequency_penalty", "n", "prediction", "parallel_tool_calls",
        "prompt_mode", "reasoning_effort", "safe_prompt",
    }  # fmt: skip

    def check(self, asked: Asked) -> None:
        for name in asked.body.keys() - self.fields:
            raise self._forbidden("body", name)
        super().check(asked)

    def check_messages(self, messages: Any, model: str) -> None:
        for at, message in enumerate(messages):
            for name in message.keys() - {"role", "content", "tool_calls", "tool_call_id"}:
                raise self._forbidden("body", "messages", at, message["role"], name)
            ids = [call["id"] for call in message.get("tool_calls") or []]
            for call_id in [*ids, *([message["tool_call_id"]] if "tool_call_id" in message else [])]:
                if not _SHORT_ID.fullmatch(call_id):
                    raise self._order(
                        f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9."
                    )
            if at and message["role"] == "user" and messages[at - 1]["role"] == "tool":
                raise self._order("Unexpected role 'user' after role 'tool'")
        super().check_messages(messages, model)

    def _forbidden(self, *place: object) -> Refused:
        detail = [{"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"}]
        message = {"detail": detail}
        return Refused(422, {"object": "error", "message": message, "type": "invalid_request_error"})

    def _order(self, message: str) -> Refused:
        return Refused(400, {"object": "error", "message": message, "type": "invalid_request_message_order"})


class XAI(Preset):
    """api.x.ai, whose models that think refuse these."""

    kind = "xai"
    refused = ("stop", "presence_penalty", "frequency_penalty")

    def refuse(self, name: str) -> Refused:
        return Refused(
            400, {"code": "invalid-argument", "error": f"Argument not supported on this model: {name}"}
        )


class Groq(Preset):
    """api.groq.com: no schema while it streams."""

    kind = "groq"
    base_path = "/openai/v1"
    refused = ("logprobs", "logit_bias", "top_logprobs")

    def check(self, asked: Asked) -> None:
        if asked.body.get("stream") and asked.body.get("response_format", {}).get("type") == "json_schema":
            raise self.invalid("response_format json_schema does not support streaming")
        super().check(asked)


class Together(Preset):
    """api.together.ai, whose list of models is a plain array."""

    kind = "together"

    def list_body(self) -> Any:
        return [{"id": model, "object": "model", "type": "chat"} for model in self.models]


class Zai(Preset):
    """api.z.ai: neither options of a stream nor schemas."""

    kind = "zai"
    base_path = "/api/paas/v4"
    refused = ("stream_options", "max_completion_tokens", "presence_penalty", "frequency_penalty")

    def check(self, asked: Asked) -> None:
        if asked.body.get("response_format", {}).get("type") == "json_schema":
            raise self.refuse("response_format")
        super().check(asked)

    def refuse(self, name: str) -> Refused:
        return Refused(400, {"error": {"code": "1210", "message": f"Invalid API parameter: {name}"}})


class Cerebras(Preset):
    """api.cerebras.ai: only the newer name for the most tokens."""

    kind = "cerebras"
    refused = (
        "max_tokens", "frequency_penalty", "logit_bias", "presence_penalty", "parallel_tool_calls", "service_tier",
    )  # fmt: skip


class Azure(Preset):
    """NAME.openai.azure.com: lists what could be deployed, and is asked for what was."""

    kind = "azure"
    takes_pdf = True
    base_path = "/openai/v1"
    refused = ("max_tokens",)

    def list_body(self) -> Body:
        rows = [{"id": name, "object": "model"} for name in ("gpt-4.1", "gpt-5.2", "text-embedding-3-large")]
        return {"object": "list", "data": rows}


class Vllm(Preset):
    """A vLLM on this computer: any key, and roles as its templates take them."""

    kind = "vllm"

    def check_key(self, asked: Asked) -> None:
        return


class LMStudio(Vllm):
    """An LM Studio on this computer."""

    kind = "lm-studio"

    def __init__(self, key: str, models: tuple[str, ...]) -> None:
        super().__init__(key, models)
        self._loaded: set[str] = set()

    def told(self, method: str, path: str, body: Body) -> Body | None:
        if (method, path) != ("GET", "/api/v0/models"):
            return None
        rows = [
            {"id": one, "object": "model", "state": "not-loaded", "max_context_length": 40_960}
            | ({"state": "loaded", "loaded_context_length": 12_288} if one in self._loaded else {})
            for one in self.models
        ]
        return {"object": "list", "data": rows}

    def check(self, asked: Asked) -> None:
        super().check(asked)
        self._loaded.add(asked.model)


PROTOCOLS = (
    OpenRouter, DeepSeek, Moonshot, Mistral, XAI, Groq, Together, Zai, Cerebras, Azure, Vllm, LMStudio,
)  # fmt: skip
