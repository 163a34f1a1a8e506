"""What answers and tokens cost, by LiteLLM's list; used by the host and by whoever asks a model."""

from typing import Any

import litellm

from app.core.catalog import provider_kind
from app.providers.addresses import is_near
from app.providers.model_host.request import Call

# Enough that a price rounded to a token is none.
_MANY = 1_000


def cost_of(call: Call, usage: Any, input_tokens: int, output_tokens: int) -> float | None:
    """Return US dollars: what the provider said, 0 on this computer, LiteLLM's list, or None."""
    cost = getattr(usage, "cost", None)
    if isinstance(cost, int | float):
        return float(cost)
    if call.row.local:
        return 0.0 if is_near(call.base_url) else None
    if usage is None:
        return None
    try:
        prompt, completion = litellm.cost_per_token(
            model=f"{call.row.route}/{call.model}",
            prompt_tokens=input_tokens,
            completion_tokens=output_tokens,
            usage_object=usage,
        )
    except Exception:
        # LiteLLM raises whatever it likes for a model it has no price of.
        return None
    return float(prompt + completion) or None


def listed_price(kind: str, model: str) -> tuple[float, float] | None:
    """Return the US dollars of a token read and one written, None where the list has no price."""
    row = provider_kind(kind)
    if row is None or row.local:
        return None
    try:
        prompt, completion = litellm.cost_per_token(
            model=f"{row.route}/{model}", prompt_tokens=_MANY, completion_tokens=_MANY
        )
    except Exception:
        # As above.
        return None
    return (prompt / _MANY, completion / _MANY) if prompt or completion else None
