"""What an answer brings beside its words: state that its provider wants back with it, and the sources that it names.

The state is whatever came under these names, at any server of OpenAI's API: the message's own, and all that a tool call has
beside its id, name and arguments. It is opaque, and goes back to the model it came from only.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from openai.types.chat import ChatCompletionChunk

from app.core.texts import visible
from app.providers.model_host.litellm_fixes import fields_of

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
        whole = fields_of(chunk)
        choices = whole.get("choices")
        delta = fields_of(getattr(choices[0], "delta", None)) if choices else {}
        if isinstance(chunk, ChatCompletionChunk):
            self._take_sources(whole.get("search_results"))
            self._take_sources(whole.get("citations"))
            self._take_state(delta)
        for field in whole.get("vertex_ai_grounding_metadata") or ():
            self._take_sources(field.get("groundingChunks") if isinstance(field, Mapping) else None)
        self._take_sources(delta.get("annotations"))
        fields = delta.get("provider_specific_fields")
        self._take_sources([fields.get("citation")] if isinstance(fields, Mapping) else None)

    def state(self, calls: Sequence[Json]) -> dict[str, Any]:
        """Return the message's state and that of its calls in their order; nothing where it is too long to be kept."""
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
        for one in found if isinstance(found, list) else ():
            source = one if isinstance(one, Mapping) else {"url": one}
            for inner in ("url_citation", "web"):
                if isinstance(source.get(inner), Mapping):
                    source = source[inner]
            address, title = source.get("url") or source.get("uri"), source.get("title")
            # Some providers send all sources again with each chunk.
            known = isinstance(address, str) and self._sources.get(address)
            if known or not isinstance(address, str) or not isinstance(title, str | None):
                continue
            fits = address in self._sources or len(self._sources) < _MOST_SOURCES
            if fits and _is_web_address(address):
                self._sources[address] = " ".join(visible(title or "").split())[:_LONGEST_TITLE]


def _add_part(parts: list[Any], part: Any) -> None:
    """Add a part of the state; a piece of a text continues the part before it."""
    last = parts[-1] if parts else None
    if not isinstance(part, Mapping):
        parts.append(part)
        return
    pieces = [name for name in _IN_PIECES if isinstance(part.get(name), str)]
    same = isinstance(last, dict) and all(
        last.get(name) == part.get(name) for name in ("type", "index") if name in part
    )
    if last is None or not pieces or not same or not all(isinstance(last.get(name), str) for name in pieces):
        parts.append(dict(part))
        return
    for name, value in part.items():
        if name in pieces:
            last[name] += value
        elif value is not None:
            last[name] = value


def _is_web_address(address: str) -> bool:
    if len(address) > _LONGEST_ADDRESS or any(sign.isspace() or not sign.isprintable() for sign in address):
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
