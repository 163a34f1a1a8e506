"""What a server says about a model in its list, by the names that servers use."""

import math
from collections.abc import Mapping
from typing import Any

from app.core.model_facts import Effort

# OpenRouter and others; vLLM; Gemini; Anthropic; Groq; Mistral.
_WINDOWS = (
    "context_length", "max_model_len", "inputTokenLimit", "max_input_tokens", "context_window", "max_context_length",
)  # fmt: skip
_OUTPUTS = ("outputTokenLimit", "max_completion_tokens", "max_output_tokens", "max_tokens")
_MOST = 100_000_000


def told_facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `ModelFacts` that an entry of a server's list names."""
    top = entry.get("top_provider")
    takes = entry.get("supported_parameters")
    kinds = entry.get("architecture")
    inputs = kinds.get("input_modalities") if isinstance(kinds, Mapping) else None
    outputs = kinds.get("output_modalities") if isinstance(kinds, Mapping) else None
    facts: dict[str, Any] = {
        "window": _first(entry, _WINDOWS),
        "most_output": _first(entry, _OUTPUTS)
        or (_first(top, _OUTPUTS) if isinstance(top, Mapping) else None),
        "tools": "tools" in takes if isinstance(takes, list) else None,
        "images": "image" in inputs if isinstance(inputs, list) else None,
        "pdf": "file" in inputs if isinstance(inputs, list) else None,
        "picture_out": "image" in outputs if isinstance(outputs, list) else None,
        "prices": _prices(entry.get("pricing")),
    }
    if entry.get("thinking") is False or (isinstance(takes, list) and "reasoning" not in takes):
        facts |= {"efforts": [], "default_effort": Effort.NONE}
    return {name: value for name, value in facts.items() if value is not None}


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST:
            return value
    return None


def _prices(pricing: object) -> dict[str, Any] | None:
    """Return OpenRouter's prices, which are texts of US dollars for a token."""
    if not isinstance(pricing, Mapping):
        return None
    read, written = _dollars(pricing.get("prompt")), _dollars(pricing.get("completion"))
    if read is None or written is None:
        return None
    cached, write = _dollars(pricing.get("input_cache_read")), _dollars(pricing.get("input_cache_write"))
    return {"read": read, "written": written, "cached": cached, "cache_write": write}


def _dollars(text: object) -> float | None:
    try:
        dollars = float(str(text))
    except ValueError:
        return None
    return dollars if math.isfinite(dollars) and dollars >= 0 else None
