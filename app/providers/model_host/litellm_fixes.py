"""Corrections of faults in LiteLLM 1.110 that no setting turns off; applied once.

Also what LiteLLM counts tokens with: tiktoken, from the files that come with it alone.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import litellm
import tiktoken.load
from litellm import CustomStreamWrapper
from litellm import main as litellm_main
from litellm.litellm_core_utils import core_helpers, streaming_chunk_builder_utils, streaming_handler
from litellm.llms.gemini.chat import transformation as gemini_chat
from litellm.llms.vertex_ai.gemini import transformation as gemini_transformation
from litellm.llms.vertex_ai.gemini import vertex_and_google_ai_studio_gemini as gemini_studio
from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import ModelResponseIterator
from openai import _models as openai_models
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import (
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
)

from app.core.errors import FailureKind, ProviderError
from app.providers.errors import readable

_MOST_TYPES = 4_096
_TYPE_LOOK_UPS = (
    "_get_extra_fields_type", "get_args", "get_model_config", "get_model_fields", "get_origin",
    "is_annotated_type", "is_literal_type", "is_type_alias_type", "is_union",
)  # fmt: skip
_MALFORMED = "MALFORMED_FUNCTION_CALL"
_CAMEL_CASE = {"function_call": "functionCall", "function_response": "functionResponse"}
_HEARS = "moot_hears"
_MOST_CHUNKS = 1_024
_KEPT_CHUNKS = 16
_TOKENIZERS = Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers"
# Which files of tiktoken's were missing or others.
_not_counted: set[str] = set()
_at_openai: ContextVar[bool] = ContextVar("at OpenAI", default=False)
_GEMINIS_POWERS = ("function_calling", "response_schema", "system_messages", "tool_choice", "vision")
_GEMINI = {"litellm_provider": "gemini", "mode": "chat"} | {f"supports_{it}": True for it in _GEMINIS_POWERS}


def apply_fixes() -> None:
    """Replace LiteLLM's faulty functions.

    Also makes the OpenAI library remember what it looks up about its types.
    """
    _remember_types()
    _note_geminis_finish()
    _join_geminis_turns()
    _read_other_deltas()
    _ask_responses_only_at_openai()
    # WORKAROUND: tiktoken deletes a file whose hash is wrong and downloads it.
    tiktoken.load.read_file_cached = tokenizer_file
    # WORKAROUND: LiteLLM 1.110 raises where a stream ends without a reason, and drops what it holds of the
    # answer.
    CustomStreamWrapper._should_fail_on_clean_eof = lambda _: False  # noqa: SLF001 - see above
    # WORKAROUND: LiteLLM 1.110 writes a price by the model's name into the usage, where it cannot be told
    # from one that the provider reported; a server of another maker may call its model anything.
    streaming_chunk_builder_utils._stamp_streaming_usage_cost = lambda *_: None  # noqa: SLF001 - see above
    streaming_handler._stamp_usage_cost = lambda *_: None  # noqa: SLF001 - see above
    # WORKAROUND: LiteLLM calls a refusal a filter of the provider, and a full context a good end.
    for reason in ("refusal", "model_context_window_exceeded"):
        core_helpers._FINISH_REASON_MAP[reason] = reason  # noqa: SLF001 - see above


@cache
def tokenizer_file(address: str, sha256: str | None = None) -> bytes:
    """Return a file of tiktoken's as it comes with LiteLLM; where that is missing or is another one, a file
    that makes each byte a token. Loads, writes and deletes nothing.
    """
    name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    try:
        # LiteLLM's package for Windows has other line ends.
        data = (_TOKENIZERS / name).read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        data = b""
    if hashlib.sha256(data).hexdigest() == sha256:
        return data
    _not_counted.add(name)
    return b"".join(b"%s %d\n" % (b64encode(bytes([byte])), byte) for byte in range(256))


def counts_tokens() -> bool:
    """Return whether LiteLLM's own counts are right; each byte is one where the files for them are not."""
    return not _not_counted


def ask_responses(kind: str) -> None:
    """Let the calls of this task use OpenAI's API of responses if they go to OpenAI, and no others."""
    _at_openai.set(kind == "openai")


def is_streamed(kind: str, model: str) -> bool:
    """Return whether a model is asked for a stream; a few of OpenAI's send the whole answer at its end."""
    return kind != "openai" or litellm.model_cost.get(model, {}).get("supports_native_streaming") is not False


def received_finish(stream: CustomStreamWrapper) -> bool:
    """Return whether the provider ended the answer; LiteLLM also calls a truncated answer finished."""
    return stream.received_finish_reason is not None or bool(_noted(stream, "received_finish"))


def without_answer(stream: CustomStreamWrapper) -> ProviderError | None:
    """Return why Gemini gave no answer, None where it does not say that."""
    told = _noted(stream, "no_answer")
    return told if isinstance(told, ProviderError) else None


def _noted(stream: CustomStreamWrapper, name: str) -> object:
    """Return what `parse_and_note` has kept of a stream, None for nothing."""
    # LiteLLM forgets `completion_stream` at the end of the answer.
    return getattr(getattr(stream, "_stream_iter", None), name, None)


def show_usage(stream: CustomStreamWrapper) -> None:
    """Let a stream yield the usage that the provider reports although it was not asked to."""
    # WORKAROUND: without `stream_options` in the request, which some providers refuse, LiteLLM drops it.
    stream.stream_options = {"include_usage": True}
    stream.send_stream_usage = True


def listen(stream: CustomStreamWrapper, hear: Callable[[Any], None]) -> None:
    """Let `hear` have each chunk of a stream as it came, before LiteLLM drops what it does not know."""
    stream.__dict__[_HEARS] = hear


def named_usage(stream: CustomStreamWrapper) -> bool:
    """Return whether the provider reported the tokens used; otherwise LiteLLM counts them itself."""
    return any(getattr(chunk, "usage", None) for chunk in stream.chunks)


def fields_of(part: object) -> dict[str, Any]:
    """Return what a chunk or a part of it has: asking pydantic for one field
    that is not there takes longer than this.
    """
    return {**getattr(part, "__dict__", {}), **(getattr(part, "__pydantic_extra__", None) or {})}


def forget_chunks(stream: CustomStreamWrapper) -> bool:
    """Remove most of the chunks that LiteLLM keeps, each of some kilobytes; return whether there were any.

    LiteLLM counts tokens with them when the provider reports none. Providers report tokens in the first or
    last ones.
    """
    if len(stream.chunks) < _MOST_CHUNKS:
        return False
    del stream.chunks[_KEPT_CHUNKS:-_KEPT_CHUNKS]
    return True


def make_known(kind: str, model: str) -> None:
    """Register a Gemini model that is newer than LiteLLM's list.

    LiteLLM would put the system text and the schema of an unknown Gemini into the user's message. A Gemma
    that refuses a system text is learnt like any other model that does.
    """
    name = f"gemini/{model}"
    if kind == "gemini" and name not in litellm.model_cost:
        litellm.register_model({name: _GEMINI})


def _remember_types() -> None:
    # WORKAROUND: for every chunk of a stream the OpenAI library analyses the types of its fields again, which
    # takes a tenth of the time that a token costs here.
    for name in _TYPE_LOOK_UPS:
        setattr(openai_models, name, _remembered(getattr(openai_models, name)))
    # It also asks whether a configuration is one of pydantic 1, which is slow for a protocol; none is.
    openai_models._ConfigProtocol = _OldConfiguration  # type: ignore[misc,assignment]  # noqa: SLF001


def _remembered(look_up: Callable[[Any], Any]) -> Callable[[Any], Any]:
    remembered = lru_cache(_MOST_TYPES)(look_up)

    def find(kind: Any) -> Any:
        try:
            return remembered(kind)
        except TypeError:  # The type cannot be hashed.
            return look_up(kind)

    return find


class _OldConfiguration:
    """Stands for a configuration of pydantic 1."""


def _note_geminis_finish() -> None:
    parse = ModelResponseIterator.chunk_parser

    def parse_and_note(self: Any, chunk: dict[str, Any]) -> Any:
        # WORKAROUND: every chunk of Gemini is called finished ("stop"), and `received_finish_reason` is
        # never set, so that a truncated answer looks whole. It also hides why there is no answer.
        if blocked := (chunk.get("promptFeedback") or {}).get("blockReason"):
            self.no_answer = ProviderError(FailureKind.PROMPT_BLOCKED, str(blocked))
        for candidate in chunk.get("candidates") or ():
            if reason := candidate.get("finishReason"):
                self.received_finish = True
                if reason == _MALFORMED:
                    words = str(candidate.get("finishMessage") or reason)
                    self.no_answer = ProviderError(FailureKind.MALFORMED_CALL, readable(words))
            for part in (candidate.get("content") or {}).get("parts") or ():
                if "functionCall" in part:
                    # Google omits empty values; LiteLLM fails on a call without arguments.
                    part["functionCall"].setdefault("args", {})
        return parse(self, chunk)

    ModelResponseIterator.chunk_parser = parse_and_note


def _join_geminis_turns() -> None:
    convert = gemini_transformation.gemini_convert_messages_with_history

    def convert_and_join(*args: Any, **kwargs: Any) -> Any:
        # WORKAROUND: a user message after a tool's result becomes a second user turn in a row.
        joined: list[Any] = []
        for content in convert(*args, **kwargs):
            content["parts"] = _without_empty_text([_in_camel_case(part) for part in content["parts"]])
            if joined and joined[-1]["role"] == content["role"]:
                joined[-1]["parts"] = [*joined[-1]["parts"], *content["parts"]]
            else:
                joined.append(content)
        return joined

    # WORKAROUND: of two equal calls LiteLLM would send only the first, but the results of both.
    gemini_transformation.check_if_part_exists_in_parts = lambda *_, **__: False
    for module in (gemini_transformation, gemini_chat, gemini_studio):
        module.gemini_convert_messages_with_history = convert_and_join


def _in_camel_case(part: dict[str, Any]) -> dict[str, Any]:
    # WORKAROUND: LiteLLM 1.110 writes these names in snake case. Google reads both forms; other servers of
    # its protocol know only that of the documentation, and never see the call or its result.
    return {_CAMEL_CASE.get(name, name): value for name, value in part.items()}


def _without_empty_text(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # WORKAROUND: before an answer's pictures LiteLLM 1.110 sends its text even if there is none, which Gemini
    # refuses, and signs that text instead of the picture.
    first, *others = parts
    if first.get("text") != "" or not others:
        return parts
    if signature := first.get("thoughtSignature"):
        others[0]["thoughtSignature"] = signature
    return others


def _read_other_deltas() -> None:
    create = CustomStreamWrapper.chunk_creator

    def mend_and_create(self: Any, chunk: Any) -> Any:
        # WORKAROUND: LiteLLM 1.110 drops a refusal, text in parts, and a call in the form that preceded
        # `tool_calls`.
        for choice in chunk.choices[:1] if isinstance(chunk, ChatCompletionChunk) and chunk.choices else ():
            if choice.delta is None and isinstance(text := getattr(choice, "text", None), str):
                # The form of the completions before chats.
                choice.delta = ChoiceDelta(content=text)
            delta = choice.delta
            if delta is None:
                continue
            if isinstance(delta.content, list):
                delta.content = _text_of_parts(delta.content)
            if not delta.content and isinstance(refusal := getattr(delta, "refusal", None), str):
                delta.content = refusal
            if (function := getattr(delta, "function_call", None)) and not delta.tool_calls:
                called = ChoiceDeltaToolCallFunction(name=function.name, arguments=function.arguments)
                delta.tool_calls = [ChoiceDeltaToolCall(index=0, type="function", function=called)]
                delta.function_call = None
        if hear := self.__dict__.get(_HEARS):
            hear(chunk)
        return create(self, chunk)

    CustomStreamWrapper.chunk_creator = mend_and_create


def _text_of_parts(parts: list[Any]) -> str:
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _ask_responses_only_at_openai() -> None:
    check = litellm_main.responses_api_bridge_check

    def check_at_openai(model: str, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], str]:
        # WORKAROUND: LiteLLM 1.110 chooses OpenAI's API of responses by the model's name, at whatever server,
        # and removes `responses/` from the name. Servers of other makers have neither that API nor such a
        # model.
        return check(model, *args, **kwargs) if _at_openai.get() else ({}, model)

    litellm_main.responses_api_bridge_check = check_at_openai
