"""Asks a model once through LiteLLM, streams its answer, and reports how it ended."""

import asyncio
import logging
import time
from dataclasses import asdict, replace
from typing import Any

import httpx
import litellm

from app.core.errors import FailureKind, ProviderError
from app.core.model_facts import ModelFacts
from app.core.provider import FinishReason
from app.providers.errors import chain, classify
from app.providers.model_host.beside import BesideWords
from app.providers.model_host.deltas import AnswerPictures, Calls, DeltaBuffer, SignedThinking
from app.providers.model_host.facts import used_in
from app.providers.model_host.http_limits import OpenBodies, limit_bodies, refuse_other_origins
from app.providers.model_host.litellm_fixes import (
    apply_fixes,
    ask_responses,
    fields_of,
    forget_chunks,
    is_streamed,
    listen,
    make_known,
    named_usage,
    received_finish,
    show_usage,
    without_answer,
)
from app.providers.model_host.request import (
    OWN_PROTOCOLS,
    ModelCall,
    affordable_output,
    explain_refused_tools,
    learnt,
    litellm_arguments,
    tools_of,
    with_marks,
)
from app.providers.model_host.tool_schemas import LegalTools, refused_tool

litellm.suppress_debug_info = True
litellm.disable_hf_tokenizer_download = True
logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
apply_fixes()
refuse_other_origins()
limit_bodies()

# LiteLLM yields buffered chunks without ever giving the event loop to the other streams, so they wait for this long
# at most; in seconds of the processor.
_YIELD_SECONDS = 0.004
_MOST_ADAPTATIONS = 3
# The tools that the model at an address has refused, until the host ends.
_refused: dict[tuple[str, str], list[dict[str, Any]]] = {}

_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.REFUSAL,
    "model_context_window_exceeded": FinishReason.CONTEXT_FULL,
}


async def ask(call: ModelCall, buffer: DeltaBuffer) -> dict[str, Any]:
    """Ask a model as it accepts it, stream the answer into the buffer and return the fields of `Finished`.

    Raises ProviderError. Cancelling closes the connection to the provider.
    """
    make_known(call.kind, call.model)
    ask_responses(call.kind)
    quirks, afforded, adaptations = call.quirks, False, 0
    known = _refused.setdefault((call.base_url, call.model), [])
    refused = [str(tool["function"]["name"]) for tool in call.tools if tool in known]
    while True:
        tools = tools_of(call, refused)
        arguments = with_marks(call, litellm_arguments(call, quirks, tools), quirks)
        try:
            return await _Stream(call, buffer, tools).run(arguments)
        except ProviderError as error:
            name = refused_tool(error.detail, tools.tools)
            if name and error.kind == FailureKind.BAD_REQUEST and not buffer.spoke:
                refused.append(name)
                known += [tool for tool in call.tools if tool["function"]["name"] == name]
                continue
            adaptations += 1
            if adaptations > _MOST_ADAPTATIONS:
                raise
            most = affordable_output(error)
            if most is not None and not buffer.spoke and not afforded:
                # Not remembered: the account may be filled up at any time.
                call, afforded = replace(call, max_tokens=most, facts=ModelFacts()), True
                continue
            taught = None if buffer.spoke else learnt(quirks, error, arguments)
            if taught is None:
                raise explain_refused_tools(error, arguments) from None
            quirks = taught
            buffer.tell_quirks(asdict(quirks))


class _Stream:
    """One request to a provider, with its limits."""

    def __init__(self, call: ModelCall, buffer: DeltaBuffer, tools: LegalTools) -> None:
        self._call = call
        self._tools = tools
        self._buffer = buffer
        self._limits = call.limits
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + call.limits.total
        self._due = 0.0
        self._stream: Any = None
        self._usage: Any = None
        self._calls = Calls(tools.true_names)
        self._signed = SignedThinking()
        self._pictures = AnswerPictures()
        self._beside = BesideWords()
        self._sent_pictures = 0
        self._room = {"text": call.limits.answer_bytes, "thinking": call.limits.answer_bytes}
        self._full = False
        self._forgot_chunks = False
        self._bodies = OpenBodies()

    async def run(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Make the request and read the answer to its end; return the fields of `Finished`."""
        try:
            async with self._bodies, asyncio.timeout(None) as limit:
                streamed = is_streamed(self._call.kind, self._call.model)
                self._allow(limit, self._limits.first_token if streamed else self._limits.total)
                await self._read(arguments, limit)
        except TimeoutError as error:
            if not limit.expired():
                raise self._failure(error) from error
            # A server may leave the connection open after the end of its answer.
            if not self._whole and not self._full:
                raise self._too_slow() from error
        except Exception as error:
            self._rescue(error)
            raise self._failure(error) from error
        return self._finished()

    async def _read(self, arguments: dict[str, Any], limit: asyncio.Timeout) -> None:
        timeout = httpx.Timeout(self._limits.total + 5, connect=self._limits.connect)
        stream = await litellm.acompletion(timeout=timeout, _skip_mcp_handler=True, **arguments)
        self._stream = stream
        show_usage(stream)
        listen(stream, self._beside.hear)
        gave_way = time.thread_time()
        async for chunk in stream:
            if usage := fields_of(chunk).get("usage"):
                self._usage = usage
            if chunk.choices:
                delta = fields_of(chunk.choices[0].delta)
                text = delta.get("content") or ""
                thinking = delta.get("reasoning_content") or ""
                if text or thinking:
                    self._buffer.add(self._fitting("text", text), self._fitting("thinking", thinking))
                    self._allow(limit, self._limits.idle)
                if calls := delta.get("tool_calls"):
                    self._buffer.add_calls(self._calls.take(calls))
                    self._allow(limit, self._limits.idle)
                if images := delta.get("images"):
                    await self._take_pictures(images)
                    self._allow(limit, self._limits.idle)
                self._pictures.note_signatures(delta.get("provider_specific_fields"))
                if blocks := delta.get("thinking_blocks"):
                    self._signed.add(blocks)
                if max(self._calls.characters, self._signed.characters) > self._limits.answer_bytes:
                    self._full = True
            if self._full:
                return
            self._forgot_chunks |= forget_chunks(stream)
            if time.thread_time() - gave_way > _YIELD_SECONDS:
                await asyncio.sleep(0)
                gave_way = time.thread_time()

    async def _take_pictures(self, images: list[Any]) -> None:
        # A large one takes longer to check than the other streams may wait.
        for media_type, data in await asyncio.to_thread(self._pictures.take, images):
            self._buffer.add_picture(self._sent_pictures, media_type, data)
            self._sent_pictures += 1

    def _fitting(self, kind: str, text: str) -> str:
        """Return the part of a piece that the limit of the answer still allows."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        room, self._room[kind] = self._room[kind], self._room[kind] - size
        if size <= room:
            return text
        self._full = True
        return text.encode("utf-8", "surrogatepass")[: max(0, room)].decode("utf-8", "ignore")

    @property
    def _whole(self) -> bool:
        return self._stream is not None and received_finish(self._stream)

    def _allow(self, limit: asyncio.Timeout, seconds: float) -> None:
        due = min(self._loop.time() + seconds, self._deadline)
        # Moving a timer costs more than reading a token; a tenth of the limit is exact enough.
        if not self._due or due < self._due or due - self._due > seconds / 10:
            self._due = due
            limit.reschedule(due)

    def _finished(self) -> dict[str, Any]:
        stream = self._stream
        native = stream.received_finish_reason or stream.intermittent_finish_reason
        reason = (
            _REASONS.get(str(native).lower(), FinishReason.STOP) if self._whole else FinishReason.TRUNCATED
        )
        if self._full:
            reason = FinishReason.LENGTH
        if rest := self._calls.rest():
            self._buffer.add_calls(rest)
        if self._calls and reason == FinishReason.STOP:
            # Gemini and some local servers end a tool call like any other answer.
            reason = FinishReason.TOOL_CALLS
        if not self._buffer.characters and not self._calls and not self._pictures:
            if told := without_answer(stream):
                raise told
            if self._pictures.lost:
                raise ProviderError(FailureKind.PICTURE)
            if reason == FinishReason.TRUNCATED and not self._buffer.spoke:
                if self._bodies.streamed:
                    raise ProviderError(FailureKind.UNANSWERED)
                raise ProviderError(FailureKind.BAD_RESPONSE, "this is not an answer of a model")
            if reason in (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.TRUNCATED):
                raise ProviderError(FailureKind.EMPTY)
        estimated = self._full or not named_usage(stream)
        # Without the chunks LiteLLM's own count is too low; zero stands for an unknown number.
        unknown = self._full or (estimated and self._forgot_chunks)
        used = used_in(self._call, None if unknown else self._usage)
        return {
            "reason": reason,
            "usage": asdict(replace(used, estimated=estimated)),
            "state": self._signed.state() or self._pictures.state() or self._state() or None,
            "sources": self._beside.sources,
            "left_out": self._tools.left_out,
            "lost_pictures": self._pictures.lost,
        }

    def _state(self) -> dict[str, Any]:
        if self._call.kind in OWN_PROTOCOLS:
            return {}
        return self._beside.state(self._calls.extras())

    def _rescue(self, error: Exception) -> None:
        """Send what LiteLLM had read of the answer, but not yielded, when the connection broke."""
        for cause in chain(error):
            text = getattr(cause, "generated_content", None)
            if isinstance(text, str) and len(text) > self._buffer.characters:
                self._buffer.add(self._fitting("text", text[self._buffer.characters :]), "")

    def _failure(self, error: BaseException) -> ProviderError:
        failure = classify(error, self._call.secrets)
        if self._buffer.spoke and failure.kind != FailureKind.CONTENT_FILTER:
            return ProviderError(FailureKind.INTERRUPTED, failure.detail, failure.retry_after)
        return failure

    def _too_slow(self) -> ProviderError:
        if self._loop.time() >= self._deadline:
            return ProviderError(FailureKind.STALL, f"longer than {self._limits.total:g} s")
        if self._buffer.spoke:
            return ProviderError(FailureKind.STALL, f"silent for {self._limits.idle:g} s")
        return ProviderError(FailureKind.NO_ANSWER, f"no word within {self._limits.first_token:g} s")
