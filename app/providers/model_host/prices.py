"""What answers and tokens cost, according to the provider or LiteLLM's list."""

from typing import Any

import litellm

from app.core.catalog import provider_kind
from app.providers.endpoints import is_near
from app.providers.model_host.request import ModelCall

# So many that a price too small for one token is not rounded to zero.
_MANY = 1_000


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


def listed_price(kind: str, model: str) -> tuple[float, float] | None:
    """Return the US dollars of one input token and of one output token, None if the list has no price."""
    row = provider_kind(kind)
    if row is None or row.local:
        return None
    try:
        prompt, completion = litellm.cost_per_token(
            model=row.listed(model), prompt_tokens=_MANY, completion_tokens=_MANY
        )
    except Exception:
        # As above.
        return None
    return (prompt / _MANY, completion / _MANY) if prompt or completion else None
