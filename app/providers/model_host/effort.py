"""What a wished effort becomes in a request, according to what is known about the model."""

from typing import Any

from app.core.model_facts import Effort, ModelFacts, TakesTemperature

_THINKING = (Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.MAX)
# Claudes before 4.6 are told how many tokens their thought may have, and need some for the answer.
_BUDGETS = {Effort.LOW: 4_000, Effort.MEDIUM: 8_000, Effort.HIGH: 16_000, Effort.MAX: 32_000}
_ANSWER_TOKENS = 4_000
_SMALLEST_BUDGET = 1_024


def effort_arguments(kind: str, facts: ModelFacts, effort: str, max_tokens: int | None) -> dict[str, Any]:
    """Return the arguments for an effort; without any the model does as it does by itself."""
    if facts.efforts == ():
        return {}
    if kind == "anthropic":
        return _claude_arguments(facts, effort, max_tokens or 0)
    named = _named(facts, effort)
    if not named:
        return {}
    if kind == "deepseek" and named == Effort.NONE:
        return {"extra_body": {"thinking": {"type": "disabled"}}}
    if kind in ("openai", "gemini"):
        return {"reasoning_effort": named}
    # LiteLLM refuses, changes or sends elsewhere what it believes to know of a model of that name.
    return {"extra_body": {"reasoning_effort": named}}


def takes_temperature(facts: ModelFacts, effort: str) -> bool:
    """Return whether a model takes a temperature while it is asked for an effort; if that is not known, it does."""
    if facts.temperature == TakesTemperature.WITHOUT_EFFORT:
        return not facts.thinks_at(effort)
    return facts.temperature != TakesTemperature.NO


def _named(facts: ModelFacts, effort: str) -> str:
    """Return the effort that comes nearest to the wish, by the provider's name for it, "" for the model's own."""
    known = facts.efforts
    if effort == Effort.NONE:
        return Effort.NONE if known is None or Effort.NONE in known else ""
    if effort not in _THINKING:
        return ""
    if known is not None and effort not in known:
        able = [one for one in _THINKING if one in known]
        place = _THINKING.index(Effort(effort))
        effort = min(able, key=lambda one: abs(_THINKING.index(one) - place), default=Effort.AUTO)
    if effort == Effort.AUTO:
        return ""
    return facts.top_effort or Effort.HIGH if effort == Effort.MAX else str(effort)


def _claude_arguments(facts: ModelFacts, effort: str, max_tokens: int) -> dict[str, Any]:
    known = facts.efforts
    if effort == Effort.NONE:
        switched_off = known is not None and Effort.NONE in known and facts.thinks_at(Effort.AUTO)
        return {"thinking": {"type": "disabled"}} if switched_off else {}
    if effort not in _THINKING:
        # It thinks by itself, but shows its thought only if asked.
        thinks = known is not None and facts.thinks_at(Effort.AUTO)
        return {"thinking": {"type": "adaptive", "display": "summarized"}} if thinks else {}
    if known is not None and not facts.top_effort:
        budget = min(_BUDGETS[Effort(effort)], max_tokens - _ANSWER_TOKENS)
        enough = budget >= _SMALLEST_BUDGET
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if enough else {}
    return {"reasoning_effort": _named(facts, effort)}
