"""What answers and tokens cost, according to the provider or LiteLLM's list."""

from dataclasses import replace
from typing import Any

import litellm

from app.core.addresses import is_near
from app.core.catalog import provider_kind
from app.core.message import Usage
from app.providers.model_host.request import ModelCall

# So many that a price too small for one token is not rounded to zero.
_MANY = 1_000


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


def listed_price(kind: str, model: str) -> dict[str, float | None] | None:
    """Return the fields of `Price`, None if the list has no price."""
    row = provider_kind(kind)
    if row is None or row.local:
        return None
    found = (_listed(name) for name in row.priced(model))
    return next((price for price in found if price is not None), None)


def _listed(name: str) -> dict[str, float | None] | None:
    """Return the fields of `Price` of a model by its name in the list."""
    try:
        prompt, completion = litellm.cost_per_token(model=name, prompt_tokens=_MANY, completion_tokens=_MANY)
        listed = litellm.get_model_info(name)
    except Exception:
        # As above.
        return None
    if not prompt and not completion:
        return None
    return {
        "input_usd": prompt / _MANY,
        "output_usd": completion / _MANY,
        "cached_usd": listed.get("cache_read_input_token_cost"),
        "cache_write_usd": listed.get("cache_creation_input_token_cost"),
        "cache_hour_usd": listed.get("cache_creation_input_token_cost_above_1hr"),
    }
