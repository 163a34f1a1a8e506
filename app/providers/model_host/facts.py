"""What is known about a model: what LiteLLM's list says, what its server says, what answers and tokens cost.

A server says things in its list of models, by the names that servers use; Ollama, LM Studio and llama.cpp say
in ways of their own how many tokens they read at once.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import litellm

from app.core.catalog import SILENT, ProviderKind, is_near, provider_kind
from app.core.definitions import Effort
from app.core.json_values import as_object, objects_in
from app.core.message import Usage
from app.core.provider import LOCAL_WINDOW, CacheKind, TakesTemperature
from app.providers.model_host.request import ModelCall

_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
# The Claudes that think by themselves are those of the fifth generation and later.
_QUIET_CLAUDE = re.compile(r"claude-\w+-4-|claude-3")
_MARKS = ("anthropic",)
# The facts that the list has as they are, by its names for them.
_AS_LISTED = {
    "window": "max_input_tokens", "most_output": "max_output_tokens", "tools": "supports_function_calling",
    "images": "supports_vision", "pdf": "supports_pdf_input", "retires_on": "deprecation_date",
}  # fmt: skip


def listed_facts(kind: str, model: str) -> dict[str, Any] | None:
    """Return the fields of `ModelFacts` that the list has for a model, None where it does not have the
    model.
    """
    row = provider_kind(kind)
    if kind in SILENT:
        return _window_by_name(model)
    usual = (row.listed(model), f"{row.kind}/{model}", model) if row is not None and not row.local else ()
    entry = _entry(usual)
    if row is None or entry is None:
        return _resold_facts(row, model) if row is not None and row.resells else None
    outputs = entry.get("supported_output_modalities")
    cached = entry.get("cache_read_input_token_cost")
    facts: dict[str, Any] = {name: entry.get(listed) for name, listed in _AS_LISTED.items()}
    facts |= {
        "picture_out": "image" in outputs if outputs else None,
        "cache": CacheKind.MARKS if row.kind in _MARKS else CacheKind.AUTO if cached is not None else None,
        # Of some models it is a float.
        "cache_min": int(entry.get("prompt_cache_min_tokens") or 0) or None,
        "prices": _prices(entry),
        **_effort_facts(row.kind, model, entry),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _window_by_name(model: str) -> dict[str, Any] | None:
    """Return the smallest window that any server in the list gives a model of this name:
    the address says nothing of it.
    """
    name = model.lower().rpartition("/")[2]
    known = litellm.model_cost.items()
    same = [entry for listed, entry in known if listed.lower().rpartition("/")[2] == name]
    windows = [int(entry["max_input_tokens"]) for entry in same if entry.get("max_input_tokens")]
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
    if not read and not written:
        return None
    tiers = [int(found[1]) * 1_000 for name in entry if entry[name] and (found := _TIER.fullmatch(name))]
    made = "cache_creation_input_token_cost"
    cache = {"cached": "cache_read_input_token_cost", "cache_write": made, "cache_hour": f"{made}_above_1hr"}
    prices = {"read": read or 0.0, "written": written or 0.0, "tier": min(tiers, default=0)}
    return prices | {name: entry.get(listed) for name, listed in cache.items()}


def _effort_facts(kind: str, model: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return how much thought a model can be asked for, and whether it takes a temperature."""
    if not entry.get("supports_reasoning"):
        return {"efforts": [], "default_effort": Effort.NONE, "temperature": TakesTemperature.YES}
    efforts = _efforts(kind, model, entry)
    default = _default_effort(kind, model, entry)
    temperature = TakesTemperature.NO
    if entry.get("supports_sampling_params") is not False:
        if kind == "gemini" and _is_gemini_2(model):
            temperature = TakesTemperature.YES
        elif kind != "gemini" and Effort.NONE in efforts:
            temperature = TakesTemperature.WITHOUT_EFFORT
    tops = ("xhigh", "max")
    able = [name for name in tops if entry.get(f"supports_{name}_reasoning_effort")]
    levels = entry.get("reasoning_effort_levels") or able
    top = next((name for name in tops if name in levels), None)
    return {"efforts": efforts, "default_effort": default, "top_effort": top, "temperature": temperature}


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


# OpenRouter and others; vLLM; Gemini; Anthropic; Groq; Mistral.
_WINDOWS = (
    "context_length", "max_model_len", "inputTokenLimit", "max_input_tokens", "context_window",
    "max_context_length",
)  # fmt: skip
_OUTPUTS = ("outputTokenLimit", "max_completion_tokens", "max_output_tokens", "max_tokens")
_MOST_TOKENS = 100_000_000


def told_facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `ModelFacts` that an entry of a server's list names."""
    takes = entry.get("supported_parameters")
    kinds = as_object(entry.get("architecture"))
    inputs, outputs = kinds.get("input_modalities"), kinds.get("output_modalities")
    facts: dict[str, Any] = {
        "window": _first(entry, _WINDOWS),
        "most_output": _first(entry, _OUTPUTS) or _first(as_object(entry.get("top_provider")), _OUTPUTS),
        "tools": "tools" in takes if isinstance(takes, list) else None,
        "images": "image" in inputs if isinstance(inputs, list) else None,
        "pdf": "file" in inputs if isinstance(inputs, list) else None,
        "picture_out": "image" in outputs if isinstance(outputs, list) else None,
        "prices": _told_prices(entry.get("pricing")),
    }
    if entry.get("thinking") is False or (isinstance(takes, list) and "reasoning" not in takes):
        facts |= {"efforts": [], "default_effort": Effort.NONE}
    return {name: value for name, value in facts.items() if value is not None}


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next(filter(None, (_number(entry.get(name)) for name in names)), None)


def _told_prices(pricing: object) -> dict[str, Any] | None:
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


_SECONDS = 1.0
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)


async def running_window(kind: str, base_url: str, key: str, model: str) -> tuple[int, bool]:
    """Return the window of a model, 0 where the server does not say it, and whether it is that
    of the running model.

    What a model was made for is more than what it runs with, so that it counts only where it is little.
    """
    parts = urlsplit(base_url)
    headers = {"authorization": f"Bearer {key or 'no-key'}"}
    address = f"{parts.scheme}://{parts.netloc}"
    async with httpx.AsyncClient(base_url=address, timeout=_SECONDS, headers=headers) as client:
        if kind == "ollama":
            return await _of_ollama(client, model)
        found = await _of_lm_studio(client, model) if kind != "vllm" else (0, False)
        return found if found[0] else await _of_llama_cpp(client, model)


async def _of_ollama(client: httpx.AsyncClient, model: str) -> tuple[int, bool]:
    running = await _asked(client, "GET", "/api/ps")
    for row in objects_in(running.get("models")):
        if {model, f"{model}:latest"} & {row.get("name"), row.get("model")}:
            return _number(row.get("context_length")), True
    shown = await _asked(client, "POST", "/api/show", json={"model": model})
    if match := _NUM_CTX.search(str(shown.get("parameters") or "")):
        return _number(int(match[1])), True
    info = shown.get("model_info")
    named = info.items() if isinstance(info, dict) else ()
    return _least(next((value for name, value in named if name.endswith(".context_length")), 0))


async def _of_lm_studio(client: httpx.AsyncClient, model: str) -> tuple[int, bool]:
    listed = await _asked(client, "GET", "/api/v0/models")
    row = next((item for item in objects_in(listed.get("data")) if item.get("id") == model), {})
    loaded = _number(row.get("loaded_context_length"))
    return (loaded, True) if loaded else _least(row.get("max_context_length"))


async def _of_llama_cpp(client: httpx.AsyncClient, model: str) -> tuple[int, bool]:
    # A server of several models would load one to answer.
    props = await _asked(client, "GET", "/props", params={"model": model, "autoload": "false"})
    window = _number(as_object(props.get("default_generation_settings")).get("n_ctx"))
    return window, bool(window)


def _least(made_for: object) -> tuple[int, bool]:
    window = _number(made_for)
    return (window if window < LOCAL_WINDOW else 0), False


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_TOKENS else 0


async def _asked(client: httpx.AsyncClient, method: str, path: str, **more: Any) -> dict[str, Any]:
    """Return the object that a server answers with; an empty one where it answers otherwise."""
    try:
        response = await client.request(method, path, **more)
        found = response.json() if response.status_code == 200 else {}
    except (httpx.HTTPError, ValueError, RecursionError):
        return {}
    return as_object(found)


def used_in(call: ModelCall, reported: Any) -> Usage:
    """Return what a reported usage comes to; the tokens are 0 and the cost None where it does not say."""
    read = getattr(reported, "prompt_tokens_details", None)
    written = getattr(reported, "completion_tokens_details", None)
    used = Usage(
        input_tokens=_count(reported, "prompt_tokens"),
        output_tokens=_count(reported, "completion_tokens"),
        cached_tokens=_count(read, "cached_tokens"),
        # Anthropic names the tokens that are put into its cache otherwise than OpenAI.
        cache_written_tokens=_count(read, "cache_write_tokens") or _count(read, "cache_creation_tokens"),
        reasoning_tokens=_count(written, "reasoning_tokens"),
    )
    return replace(used, cost_usd=_cost_of(call, reported, used))


def _count(report: Any, name: str) -> int:
    return max(0, int(getattr(report, name, 0) or 0))


def _cost_of(call: ModelCall, reported: Any, used: Usage) -> float | None:
    """Return US dollars: 0 on this computer, what the provider reported, LiteLLM's price, or None."""
    if call.row.local and is_near(call.base_url):
        return 0.0
    cost = getattr(reported, "cost", None)
    if isinstance(cost, int | float):
        return float(cost)
    if call.row.local or reported is None:
        return None
    try:
        prompt, completion = litellm.cost_per_token(
            model=call.row.listed(call.model),
            prompt_tokens=used.input_tokens,
            completion_tokens=used.output_tokens,
            usage_object=reported,
        )
    except Exception:
        # LiteLLM raises any kind of exception for a model that is not in its list.
        return None
    return float(prompt + completion) or None


def listed_price(kind: str, model: str) -> dict[str, Any] | None:
    """Return the fields of `Price`, None if the list has no price."""
    row = provider_kind(kind)
    names = row.priced(model) if row is not None and not row.local else ()
    return next(filter(None, (_prices(_listed(name)) for name in names)), None)


def _listed(name: str) -> Mapping[str, Any]:
    """Return what the list says of a model by its name in it, nothing where it does not have the model."""
    try:
        found: Mapping[str, Any] = litellm.get_model_info(name)
    except Exception:
        # As above.
        return {}
    return found
