"""What LiteLLM's list says about a model."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import litellm

from app.core.catalog import COMPATIBLE, provider_kind
from app.core.model_facts import CacheKind, Effort, TakesTemperature
from app.core.provider_kind import ProviderKind

_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
# The Claudes that think by themselves are those of the fifth generation and later.
_QUIET_CLAUDE = re.compile(r"claude-\w+-4-|claude-3")
_MARKS = ("anthropic",)


def listed_facts(kind: str, model: str) -> dict[str, Any] | None:
    """Return the fields of `ModelFacts` that the list has for a model, None where it does not have the model."""
    row = provider_kind(kind)
    if kind == COMPATIBLE:
        return _window_by_name(model)
    usual = (row.listed(model), f"{row.kind}/{model}", model) if row is not None and not row.local else ()
    entry = _entry(usual)
    if row is None or entry is None:
        return _resold_facts(row, model) if row is not None and row.resells else None
    outputs = entry.get("supported_output_modalities")
    cached = entry.get("cache_read_input_token_cost")
    facts: dict[str, Any] = {
        "window": entry.get("max_input_tokens"),
        "most_output": entry.get("max_output_tokens"),
        "tools": entry.get("supports_function_calling"),
        "images": entry.get("supports_vision"),
        "pdf": entry.get("supports_pdf_input"),
        "picture_out": "image" in outputs if outputs else None,
        "cache": CacheKind.MARKS if row.kind in _MARKS else CacheKind.AUTO if cached is not None else None,
        "cache_min": entry.get("prompt_cache_min_tokens"),
        "prices": _prices(entry),
        "retires_on": entry.get("deprecation_date"),
        **_effort_facts(row.kind, model, entry),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _window_by_name(model: str) -> dict[str, Any] | None:
    """Return the smallest window that any server in the list gives a model of this name: the address says nothing of it."""
    name = model.lower().rpartition("/")[2]
    windows = [
        int(entry["max_input_tokens"])
        for listed, entry in litellm.model_cost.items()
        if listed.lower().rpartition("/")[2] == name and entry.get("max_input_tokens")
    ]
    return {"window": min(windows)} if windows else None


def _resold_facts(row: ProviderKind, model: str) -> dict[str, Any] | None:
    """Return the window and the prices of another maker's model; what it takes is up to who resells it."""
    entry = _entry(row.priced(model))
    prices = _prices(entry) if entry is not None else None
    return {"window": entry["max_input_tokens"], "prices": prices} if entry is not None and prices else None


def _entry(names: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the first of some names that the list has, with what it says."""
    for name in names:
        entry = litellm.model_cost.get(name)
        # Those that are registered while the host runs have no limits.
        if entry and entry.get("max_input_tokens"):
            return dict(entry)
    return None


def _prices(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not read or not written:
        return None
    tiers = [int(found[1]) * 1_000 for name in entry if (found := _TIER.fullmatch(name))]
    return {
        "read": read,
        "written": written,
        "cached": entry.get("cache_read_input_token_cost"),
        "cache_write": entry.get("cache_creation_input_token_cost"),
        "tier": min(tiers, default=0),
    }


def _effort_facts(kind: str, model: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return how much thought a model can be asked for, and whether it takes a temperature."""
    if not entry.get("supports_reasoning"):
        return {
            "efforts": [],
            "default_effort": Effort.NONE,
            "temperature": TakesTemperature.YES,
        }
    efforts = _efforts(kind, model, entry)
    default = _default_effort(kind, model, entry)
    if entry.get("supports_sampling_params") is False:
        temperature = TakesTemperature.NO
    elif kind == "gemini":
        temperature = TakesTemperature.YES if _is_gemini_2(model) else TakesTemperature.NO
    elif Effort.NONE in efforts:
        temperature = TakesTemperature.WITHOUT_EFFORT
    else:
        temperature = TakesTemperature.NO
    top = _top_effort(entry)
    return {"efforts": efforts, "default_effort": default, "top_effort": top, "temperature": temperature}


def _top_effort(entry: Mapping[str, Any]) -> str | None:
    levels = entry.get("reasoning_effort_levels") or [
        name for name in ("xhigh", "max") if entry.get(f"supports_{name}_reasoning_effort")
    ]
    return next((name for name in ("xhigh", "max") if name in levels), None)


def _efforts(kind: str, model: str, entry: Mapping[str, Any]) -> list[str]:
    if levels := entry.get("reasoning_effort_levels"):
        named = [Effort.MAX if level == "xhigh" else level for level in levels]
        return [effort for effort in Effort if effort in named]
    off, most = entry.get("supports_none_reasoning_effort"), entry.get("supports_xhigh_reasoning_effort")
    if kind == "anthropic":
        off, most = not entry.get("thinking_always_on"), True
    elif kind == "gemini":
        off = _is_gemini_2(model) and "pro" not in model
    elif kind == "deepseek":
        return [Effort.NONE, Effort.HIGH]
    efforts = [Effort.LOW, Effort.MEDIUM, Effort.HIGH]
    return [*([Effort.NONE] if off else []), *efforts, *([Effort.MAX] if most else [])]


def _default_effort(kind: str, model: str, entry: Mapping[str, Any]) -> str:
    if default := entry.get("default_reasoning_effort"):
        return str(default)
    if kind == "anthropic":
        return Effort.NONE if _QUIET_CLAUDE.match(model) else Effort.HIGH
    if kind == "gemini" and "2.5-flash-lite" in model:
        return Effort.NONE
    return Effort.MEDIUM


def _is_gemini_2(model: str) -> bool:
    return model.startswith("gemini-2")
