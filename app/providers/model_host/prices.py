"""What answers and tokens cost, according to the provider or LiteLLM's list."""

from typing import Any

import litellm

from app.core.addresses import is_near
from app.core.catalog import provider_kind
from app.providers.model_host.request import ModelCall

# So many that a price too small for one token is not rounded to zero.
_MANY = 1_000


def tokens_in(usage: Any) -> dict[str, int]:
    """Return the tokens of a reported usage as the fields of `Finished`, 0 where it does not say."""
    read, written = (
        getattr(usage, "prompt_tokens_details", None),
        getattr(usage, "completion_tokens_details", None),
    )
    # Anthropic names the tokens that are put into its cache otherwise than OpenAI.
    stored = _count(read, "cache_write_tokens") or _count(read, "cache_creation_tokens")
    return {
        "input_tokens": _count(usage, "prompt_tokens"),
        "output_tokens": _count(usage, "completion_tokens"),
        "cached_tokens": _count(read, "cached_tokens"),
        "cache_written_tokens": stored,
        "reasoning_tokens": _count(written, "reasoning_tokens"),
    }


def _count(report: Any, name: str) -> int:
    return max(0, int(getattr(report, name, 0) or 0))


def cost_of(call: ModelCall, usage: Any, input_tokens: int, output_tokens: int) -> float | None:
    """Return US dollars: 0 on this computer, what the provider reported, LiteLLM's price, or None."""
    if call.row.local and is_near(call.base_url):
        return 0.0
    cost = getattr(usage, "cost", None)
    if isinstance(cost, int | float):
        return float(cost)
    if call.row.local:
        return None
    if usage is None:
        return None
    try:
        prompt, completion = litellm.cost_per_token(
            model=call.row.listed(call.model),
            prompt_tokens=input_tokens,
            completion_tokens=output_tokens,
            usage_object=usage,
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
