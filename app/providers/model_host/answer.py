"""Asks a model once through LiteLLM, streams its answer, and reports how it ended.

The pieces of an answer are its tool calls put in order, its signed thinking, and the buffer that sends all of
it; beside its words come the sources that it names, and state that its provider wants back with it.
"""

import asyncio
import base64
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import uuid4

import httpx
import litellm
from openai.types.chat import ChatCompletionChunk

from app.core.errors import FailureKind, ProviderError
from app.core.files import MOST_ANSWER_PICTURES, BadPicture, PictureFault, picture_of
from app.core.provider import FinishReason, ModelFacts
from app.core.servers import is_web_address
from app.core.texts import visible
from app.providers.errors import chain, classify
from app.providers.model_host import litellm_fixes, request
from app.providers.model_host.facts import used_in
from app.providers.model_host.http_limits import OpenBodies, limit_bodies, refuse_other_origins
from app.providers.model_host.tool_schemas import LegalTools, TrueNames, refused_tool, renamed

litellm.suppress_debug_info = True
litellm.disable_hf_tokenizer_download = True
logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
litellm_fixes.apply_fixes()
refuse_other_origins()
limit_bodies()

# LiteLLM yields buffered chunks without ever giving the event loop to the other streams, so they wait for
# this long at most; in seconds of the processor.
_YIELD_SECONDS = 0.004
_MOST_ADAPTATIONS = 3
# The tools that the model at an address has refused, until the host ends.
_refused: dict[tuple[str, str], list[dict[str, Any]]] = {}

_REASONS = {
    **dict.fromkeys(("length", "max_tokens", "model_length"), FinishReason.LENGTH),
    **dict.fromkeys(("tool_calls", "function_call"), FinishReason.TOOL_CALLS),
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.REFUSAL,
    "model_context_window_exceeded": FinishReason.CONTEXT_FULL,
}

MOST_CALLS = 128
MOST_ARGUMENT_CHARACTERS = 1_000_000
# The window paints 60 times a second; shorter pieces would cost a line each and not be seen.
_GATHER_SECONDS = 0.016
_PICTURE_PIECE = 2_000_000

Piece = tuple[int, str, str, str]


@dataclass(slots=True)
class _OpenCall:
    number: int
    id: str = ""
    name: str = ""
    characters: int = 0
    arguments: list[str] = field(default_factory=list)
    untold: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    announced: bool = False

    def add(self, arguments: str) -> None:
        """Add a piece of the arguments."""
        if arguments:
            self.arguments.append(arguments)
            self.untold += arguments
            self.characters += len(arguments)


class Calls:
    """The tool calls of one answer, each with a number and an id of its own.

    The numbers give the order in which the calls are meant, which need not be that in which they arrive.

    Keeps the first 128 calls and the first million characters of their arguments, so that a broken model
    cannot fill the log; cut arguments are invalid JSON, which the model is told. `characters` counts
    everything that came. The arguments of the functions in `true_names` come as a whole at the end.
    """

    def __init__(self, true_names: Mapping[str, TrueNames] | None = None) -> None:
        self._true_names = true_names or {}
        self._calls: list[_OpenCall] = []
        self._at: dict[int, _OpenCall] = {}
        self._dropped = _OpenCall(-1)
        self.characters = 0

    def __len__(self) -> int:
        return len(self._calls)

    def take(self, deltas: Iterable[Any]) -> list[Piece]:
        """Add LiteLLM's pieces; return the new ones. Only a call's first piece has an id and a name."""
        pieces: list[Piece] = []
        for delta in deltas:
            function = getattr(delta, "function", None)
            name = getattr(function, "name", None) or ""
            arguments = getattr(function, "arguments", None) or ""
            self.characters += len(name) + len(arguments)
            call = self._call(delta.index or 0, getattr(delta, "id", None) or "", name)
            if call is self._dropped:
                continue
            call.name = call.name or name
            call.extra |= _beside(delta)
            call.add(arguments[: MOST_ARGUMENT_CHARACTERS - call.characters])
            pieces += self._news(call)
        return pieces

    def extras(self) -> list[dict[str, Any]]:
        """Return what came with each call beside its id, name and arguments, in the order of the calls."""
        return [call.extra for call in sorted(self._calls, key=lambda call: call.number)]

    def rest(self) -> list[Piece]:
        """Return the calls that never got a name, and what was kept for the end."""
        for call in self._calls:
            if names := self._true_names.get(call.name):
                call.untold = renamed("".join(call.arguments), names.restored)
        return [piece for call in self._calls for piece in self._news(call, last=True)]

    def _call(self, index: int, call_id: str, name: str) -> _OpenCall:
        call = self._at.get(index)
        if call is None or self._begins(call, call_id, name):
            if len(self._calls) >= MOST_CALLS:
                call = self._dropped
            else:
                taken = {other.id for other in self._calls}
                fresh = call_id if call_id and call_id not in taken else ""
                numbers = {other.number for other in self._calls}
                number = index if index not in numbers else max(numbers) + 1
                call = _OpenCall(number, fresh)
                self._calls.append(call)
            self._at[index] = call
        elif call_id and not call.id and not call.announced:
            call.id = call_id
        return call

    @staticmethod
    def _begins(call: _OpenCall, call_id: str, name: str) -> bool:
        # Some servers number every call 0, some send no ids, some repeat id and name with each piece.
        if call_id and call.id:
            return call_id != call.id
        named = bool(name and call.name)
        return named and (name != call.name or request.is_json("".join(call.arguments)))

    def _news(self, call: _OpenCall, last: bool = False) -> list[Piece]:
        waits = not last and call.name in self._true_names
        if not call.announced:
            if not call.name and not last:
                return []
            call.announced = True
            call.id = call.id or f"call_{uuid4().hex[:24]}"
            piece = call.number, call.id, call.name, "" if waits else call.untold
        elif call.untold and not waits:
            piece = call.number, "", "", call.untold
        else:
            return []
        call.untold = ""
        return [piece]


def _beside(delta: Any) -> dict[str, Any]:
    extra = getattr(delta, "model_extra", None) or {}
    return {name: value for name, value in extra.items() if value is not None}


class SignedThinking:
    """The thinking blocks of one answer that Anthropic signs and wants back unchanged while tools run."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Any]] = []
        self._text: list[str] = []
        self.characters = 0

    def add(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        """Add pieces: text, the signature that ends a block, or a whole redacted block."""
        for piece in pieces:
            self.characters += sum(len(piece.get(name) or "") for name in ("thinking", "data", "signature"))
            if piece.get("type") == "redacted_thinking":
                self._blocks.append({"type": "redacted_thinking", "data": piece.get("data") or ""})
                continue
            self._text.append(piece.get("thinking") or "")
            if signature := piece.get("signature"):
                block = {"type": "thinking", "thinking": "".join(self._text), "signature": signature}
                self._blocks.append(block)
                self._text.clear()

    def state(self) -> dict[str, Any] | None:
        """Return what the next request must contain; thinking without a signature must not be sent back."""
        return {"thinking_blocks": self._blocks} if self._blocks else None


class AnswerPictures:
    """The pictures of one answer, checked and without metadata, and what
    of each provider must be sent back with them.
    """

    def __init__(self) -> None:
        self._kept = 0
        self.lost: list[str] = []
        self.signatures: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._kept)

    def take(self, images: Iterable[Any]) -> list[tuple[str, str]]:
        """Return the media type and the data in base 64 of those that can be kept.
        Loads nothing by its address.
        """
        kept: list[tuple[str, str]] = []
        for image in images:
            address = image.get("image_url") if isinstance(image, Mapping) else None
            address = address.get("url") if isinstance(address, Mapping) else address
            if self._kept >= MOST_ANSWER_PICTURES:
                self.lost.append(PictureFault.TOO_MANY)
                continue
            try:
                media_type, data = picture_of(address if isinstance(address, str) else "")
            except BadPicture as error:
                self.lost.append(error.fault)
                continue
            self._kept += 1
            kept.append((media_type, base64.b64encode(data).decode("ascii")))
        return kept

    def note_signatures(self, fields: object) -> None:
        """Remember the signatures that Gemini wants back when a picture is edited."""
        signatures = fields.get("thought_signatures") if isinstance(fields, Mapping) else None
        if isinstance(signatures, list):
            self.signatures += [signature for signature in signatures if isinstance(signature, str)]

    def state(self) -> dict[str, Any] | None:
        """Return what the next request must contain."""
        return {"thought_signatures": self.signatures} if self._kept and self.signatures else None


class DeltaBuffer:
    """Sends the first piece of an answer at once and later ones together, at most 16 ms later.

    `write` takes the lines.
    """

    def __init__(self, write: Callable[[Mapping[str, object]], None], opener: str = "") -> None:
        self._write = write
        self._opener = opener
        self._loop = asyncio.get_running_loop()
        self._text = self._thinking = ""
        self._calls: dict[int, list[str]] = {}
        self._sent_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.characters = 0
        self.spoke = False

    def add(self, text: str, thinking: str) -> None:
        """Add a piece of text and of thinking."""
        self._begin()
        if self._calls:
            # The calls of a line follow its text, but this text follows the calls.
            self._send()
        self._text += text
        self._thinking += thinking
        self.characters += len(text)
        self._send_soon()

    def add_calls(self, pieces: list[Piece]) -> None:
        """Add pieces of tool calls."""
        self._begin()
        for number, call_id, name, arguments in pieces:
            call = self._calls.setdefault(number, ["", "", ""])
            for at, piece in enumerate((call_id, name, arguments)):
                call[at] += piece
        self._send_soon()

    def tell_quirks(self, quirks: dict[str, Any]) -> None:
        """Send how the model must be asked from now on."""
        self._write({"quirks": quirks})

    def add_picture(self, number: int, media_type: str, data: str) -> None:
        """Send a picture in lines short enough to be read at once; `data` is in base 64."""
        self._begin()
        self._send()
        for at in range(0, len(data), _PICTURE_PIECE):
            self._write({"images": [[number, "" if at else media_type, data[at : at + _PICTURE_PIECE]]]})

    def _begin(self) -> None:
        if not self.spoke:
            self.spoke = True
            if self._opener:
                self._write({"text": self._opener})

    def _send_soon(self) -> None:
        if self._timer is not None:
            return
        wait = self._sent_at + _GATHER_SECONDS - self._loop.time()
        if wait <= 0:
            self._send()
        else:
            self._timer = self._loop.call_later(wait, self._send)

    def close(self) -> None:
        """Send the rest."""
        self._send(last=True)

    def _send(self, last: bool = False) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        half = "" if last else _half_at_end(self._text)
        parts: dict[str, object] = {"text": self._text.removesuffix(half), "thinking": self._thinking}
        self._text, self._thinking = half, ""
        line = {name: part for name, part in {**parts, "calls": self._taken_calls(last)}.items() if part}
        if line:
            self._write(line)
            self._sent_at = self._loop.time()

    def _taken_calls(self, last: bool) -> list[list[int | str]]:
        calls, self._calls = self._calls, {}
        taken: list[list[int | str]] = []
        for number, (call_id, name, arguments) in calls.items():
            half = "" if last else _half_at_end(arguments)
            if half:
                self._calls[number] = ["", "", half]
            if call_id or arguments != half:
                taken.append([number, call_id, name, arguments.removesuffix(half)])
        return taken


def _half_at_end(text: str) -> str:
    """Return the first half of a surrogate pair at the end of a text, which must wait for its second half."""
    return text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""


# What comes under these names is state, at any server of OpenAI's API: the message's own, and all that a tool
# call has beside its id, name and arguments. It is opaque, and goes back to the model it came from only.
_STATE = (
    "reasoning_details", "extra_content", "thought_signature", "thought_signatures", "reasoning_opaque",
    "encrypted_content", "encrypted_reasoning",
)  # fmt: skip
# The parts of `reasoning_details` that come in pieces; all others come whole.
_IN_PIECES = ("text", "summary")
_MOST_STATE = 1_000_000
_MOST_SOURCES = 50
_LONGEST_TITLE = 200
_LONGEST_ADDRESS = 2_000

Json = Mapping[str, Any]


class BesideWords:
    """Gathers the state and the sources of one answer from the chunks of its stream."""

    def __init__(self) -> None:
        self._state: dict[str, Any] = {}
        self._characters = 0
        self._sources: dict[str, str] = {}

    def hear(self, chunk: object) -> None:
        """Take what a chunk has, as it came."""
        whole = litellm_fixes.fields_of(chunk)
        choices = whole.get("choices")
        delta = litellm_fixes.fields_of(getattr(choices[0], "delta", None)) if choices else {}
        if isinstance(chunk, ChatCompletionChunk):
            self._take_sources(whole.get("search_results"))
            self._take_sources(whole.get("citations"))
            self._take_state(delta)
        for grounds in whole.get("vertex_ai_grounding_metadata") or ():
            self._take_sources(grounds.get("groundingChunks") if isinstance(grounds, Mapping) else None)
        self._take_sources(delta.get("annotations"))
        fields = delta.get("provider_specific_fields")
        self._take_sources([fields.get("citation")] if isinstance(fields, Mapping) else None)

    def state(self, calls: Sequence[Json]) -> dict[str, Any]:
        """Return the message's state and that of its calls in their order; nothing where it is too long
        to be kept.
        """
        state: dict[str, Any] = {"sent_back": self._state} if self._state else {}
        if any(calls):
            state["calls_sent_back"] = [dict(call) for call in calls]
        too_long = self._characters > _MOST_STATE or len(json.dumps(state, default=str)) > _MOST_STATE
        return {} if too_long else state

    @property
    def sources(self) -> list[list[str]]:
        """The address and the title of each source, in the order in which they came."""
        return [[address, title] for address, title in self._sources.items()]

    def _take_state(self, extra: Json) -> None:
        for name in _STATE:
            value = extra.get(name)
            if value is None or self._characters > _MOST_STATE:
                continue
            self._characters += len(json.dumps(value, default=str))
            known = self._state.setdefault(name, [] if isinstance(value, list) else value)
            if isinstance(known, list) and isinstance(value, list):
                for part in value:
                    _add_part(known, part)
            elif isinstance(known, dict) and isinstance(value, dict):
                self._state[name] = known | value
            else:
                self._state[name] = value

    def _take_sources(self, found: object) -> None:
        for item in found if isinstance(found, list) else ():
            source = item if isinstance(item, Mapping) else {"url": item}
            for inner in ("url_citation", "web"):
                if isinstance(source.get(inner), Mapping):
                    source = source[inner]
            address, title = source.get("url") or source.get("uri"), source.get("title")
            # Some providers send all sources again with each chunk.
            known = isinstance(address, str) and self._sources.get(address)
            if known or not isinstance(address, str) or not isinstance(title, str | None):
                continue
            fits = address in self._sources or len(self._sources) < _MOST_SOURCES
            shown = len(address) <= _LONGEST_ADDRESS and address.isprintable()
            if fits and shown and is_web_address(address):
                self._sources[address] = " ".join(visible(title or "").split())[:_LONGEST_TITLE]


def _add_part(parts: list[Any], part: Any) -> None:
    """Add a part of the state; a piece of a text continues the part before it."""
    last = parts[-1] if parts else None
    if not isinstance(part, Mapping):
        parts.append(part)
        return
    pieces = [name for name in _IN_PIECES if isinstance(part.get(name), str)]
    told = [name for name in ("type", "index") if name in part]
    same = isinstance(last, dict) and all(last.get(name) == part.get(name) for name in told)
    if last is None or not pieces or not same or not all(isinstance(last.get(name), str) for name in pieces):
        parts.append(dict(part))
        return
    for name, value in part.items():
        if name in pieces:
            last[name] += value
        elif value is not None:
            last[name] = value


async def ask(call: request.ModelCall, buffer: DeltaBuffer) -> dict[str, Any]:
    """Ask a model as it accepts it, stream the answer into the buffer and return the fields of `Finished`.

    Raises ProviderError. Cancelling closes the connection to the provider.
    """
    litellm_fixes.make_known(call.kind, call.model)
    litellm_fixes.ask_responses(call.kind)
    quirks, afforded, adaptations = call.quirks, False, 0
    known = _refused.setdefault((call.base_url, call.model), [])
    refused = [str(tool["function"]["name"]) for tool in call.tools if tool in known]
    while True:
        tools = request.tools_of(call, refused)
        arguments = request.with_marks(call, request.litellm_arguments(call, quirks, tools), quirks)
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
            most = request.affordable_output(error)
            if most is not None and not buffer.spoke and not afforded:
                # Not remembered: the account may be filled up at any time.
                call, afforded = replace(call, max_tokens=most, facts=ModelFacts()), True
                continue
            taught = None if buffer.spoke else request.learnt(quirks, error, arguments)
            if taught is None:
                raise request.explain_refused_tools(error, arguments) from None
            quirks = taught
            buffer.tell_quirks(asdict(quirks))


class _Stream:
    """One request to a provider, with its limits."""

    def __init__(self, call: request.ModelCall, buffer: DeltaBuffer, tools: LegalTools) -> None:
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
                streamed = litellm_fixes.is_streamed(self._call.kind, self._call.model)
                self._allow(limit, self._limits.first_token if streamed else self._limits.total)
                await self._read(arguments, limit)
        except TimeoutError as error:
            if not limit.expired():
                raise self._failure(error) from error
            # A server may leave the connection open after the end of its answer.
            if not self._whole and not self._full:
                raise self._too_slow() from error
        except Exception as error:
            # Send what LiteLLM had read of the answer, but not yielded, when the connection broke.
            for cause in chain(error):
                text = getattr(cause, "generated_content", None)
                if isinstance(text, str) and len(text) > self._buffer.characters:
                    self._buffer.add(self._fitting("text", text[self._buffer.characters :]), "")
            raise self._failure(error) from error
        return self._finished()

    async def _read(self, arguments: dict[str, Any], limit: asyncio.Timeout) -> None:
        timeout = httpx.Timeout(self._limits.total + 5, connect=self._limits.connect)
        stream = await litellm.acompletion(timeout=timeout, _skip_mcp_handler=True, **arguments)
        self._stream = stream
        litellm_fixes.show_usage(stream)
        litellm_fixes.listen(stream, self._beside.hear)
        gave_way = time.thread_time()
        async for chunk in stream:
            if usage := litellm_fixes.fields_of(chunk).get("usage"):
                self._usage = usage
            if chunk.choices:
                delta = litellm_fixes.fields_of(chunk.choices[0].delta)
                text = delta.get("content") or ""
                thinking = delta.get("reasoning_content") or ""
                if text or thinking:
                    self._buffer.add(self._fitting("text", text), self._fitting("thinking", thinking))
                    self._allow(limit, self._limits.idle)
                if calls := delta.get("tool_calls"):
                    self._buffer.add_calls(self._calls.take(calls))
                    self._allow(limit, self._limits.idle)
                if images := delta.get("images"):
                    # A large one takes longer to check than the other streams may wait.
                    for media_type, data in await asyncio.to_thread(self._pictures.take, images):
                        self._buffer.add_picture(self._sent_pictures, media_type, data)
                        self._sent_pictures += 1
                    self._allow(limit, self._limits.idle)
                self._pictures.note_signatures(delta.get("provider_specific_fields"))
                if blocks := delta.get("thinking_blocks"):
                    self._signed.add(blocks)
                if max(self._calls.characters, self._signed.characters) > self._limits.answer_bytes:
                    self._full = True
            if self._full:
                return
            self._forgot_chunks |= litellm_fixes.forget_chunks(stream)
            if time.thread_time() - gave_way > _YIELD_SECONDS:
                await asyncio.sleep(0)
                gave_way = time.thread_time()

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
        return self._stream is not None and litellm_fixes.received_finish(self._stream)

    def _allow(self, limit: asyncio.Timeout, seconds: float) -> None:
        due = min(self._loop.time() + seconds, self._deadline)
        # Moving a timer costs more than reading a token; a tenth of the limit is exact enough.
        if not self._due or due < self._due or due - self._due > seconds / 10:
            self._due = due
            limit.reschedule(due)

    def _finished(self) -> dict[str, Any]:
        stream = self._stream
        native = stream.received_finish_reason or stream.intermittent_finish_reason
        known = _REASONS.get(str(native).lower(), FinishReason.STOP)
        reason = FinishReason.LENGTH if self._full else known if self._whole else FinishReason.TRUNCATED
        if rest := self._calls.rest():
            self._buffer.add_calls(rest)
        if self._calls and reason == FinishReason.STOP:
            # Gemini and some local servers end a tool call like any other answer.
            reason = FinishReason.TOOL_CALLS
        if not self._buffer.characters and not self._calls and not self._pictures:
            if told := litellm_fixes.without_answer(stream):
                raise told
            if self._pictures.lost:
                raise ProviderError(FailureKind.PICTURE)
            if reason == FinishReason.TRUNCATED and not self._buffer.spoke:
                if self._bodies.streamed:
                    raise ProviderError(FailureKind.UNANSWERED)
                raise ProviderError(FailureKind.BAD_RESPONSE, "this is not an answer of a model")
            if reason in (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.TRUNCATED):
                raise ProviderError(FailureKind.EMPTY)
        estimated = self._full or not litellm_fixes.named_usage(stream)
        # Without the chunks LiteLLM's own count is too low; zero stands for an unknown number.
        uncounted = self._forgot_chunks or not litellm_fixes.counts_tokens()
        unknown = self._full or (estimated and uncounted)
        used = used_in(self._call, None if unknown else self._usage)
        own_protocol = self._call.kind in request.OWN_PROTOCOLS
        beside = {} if own_protocol else self._beside.state(self._calls.extras())
        return {
            "reason": reason,
            "usage": asdict(replace(used, estimated=estimated)),
            "state": self._signed.state() or self._pictures.state() or beside or None,
            "sources": self._beside.sources,
            "left_out": self._tools.left_out,
            "lost_pictures": self._pictures.lost,
        }

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
