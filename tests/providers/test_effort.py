"""What the wish for an effort becomes on the wire, for models that each want it in another way."""

from typing import Any

import pytest

from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Refusal, WireServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUMMARIZED = {"type": "adaptive", "display": "summarized"}
WANTED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("anthropic", "claude-sonnet-5", "auto", {"thinking": SUMMARIZED}),
    ("anthropic", "claude-sonnet-5", "none", {"thinking": {"type": "disabled"}}),
    ("anthropic", "claude-sonnet-5", "low", {"thinking": SUMMARIZED, "output_config": {"effort": "low"}}),
    ("anthropic", "claude-sonnet-5", "max", {"thinking": SUMMARIZED, "output_config": {"effort": "xhigh"}}),
    ("anthropic", "claude-opus-4-6", "auto", {}),
    ("anthropic", "claude-opus-4-6", "max", {"thinking": SUMMARIZED, "output_config": {"effort": "max"}}),
    ("anthropic", "claude-opus-4-5", "auto", {}),
    ("anthropic", "claude-opus-4-5", "none", {}),
    ("anthropic", "claude-opus-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 4_000}}),
    ("anthropic", "claude-opus-4-5", "max", {"thinking": {"type": "enabled", "budget_tokens": 32_000}}),
    ("openai", "gpt-4o", "high", {}),
    ("openai", "gpt-5-mini", "auto", {}),
    ("openai", "gpt-5-mini", "none", {}),
    ("openai", "gpt-5-mini", "max", {"reasoning_effort": "high"}),
    ("openai", "gpt-5.2", "none", {"reasoning_effort": "none"}),
    ("openai", "gpt-5.2", "max", {"reasoning_effort": "xhigh"}),
    ("openai", "gpt-nobody-knows", "low", {"reasoning_effort": "low"}),
    ("ollama", "qwen3", "none", {"reasoning_effort": "none"}),
    ("ollama", "gpt-4o", "high", {"reasoning_effort": "high"}),
    ("deepseek", "deepseek-v4-pro", "none", {"thinking": {"type": "disabled"}}),
    ("deepseek", "deepseek-v4-pro", "low", {"reasoning_effort": "high"}),
    ("moonshot", "kimi-k3", "medium", {"reasoning_effort": "low"}),
    ("moonshot", "kimi-k3", "max", {"reasoning_effort": "max"}),
]
FIELDS = ("thinking", "output_config", "reasoning_effort")


@pytest.mark.parametrize(("kind", "model", "effort", "wanted"), WANTED)
async def test_an_effort_is_asked_for_as_the_model_takes_it(
    kind: str, model: str, effort: str, wanted: dict[str, Any], models: RemoteModels, book: Book
) -> None:
    with WireServer(kind, models=(model,), provider_id=f"effort-{kind}") as server:
        book.add(server.provider_id, kind, server.address, server.key, server.models)
        heard = await ask(models, request_to(server, effort=effort, temperature=None, max_tokens=None))
        assert heard.outcome == "stop", heard.error
        (request,) = server.requests
        assert {name: request.body[name] for name in FIELDS if name in request.body} == wanted


@pytest.mark.parametrize(
    ("model", "effort", "wanted"),
    [
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0, "includeThoughts": False}),
        ("gemini-2.5-flash", "high", {"thinkingBudget": 4_096, "includeThoughts": True}),
        ("gemini-2.5-pro", "none", None),
        ("gemini-3.1-pro-preview", "max", {"thinkingLevel": "high", "includeThoughts": True}),
    ],
)
async def test_gemini_is_given_a_budget_or_a_level(
    model: str, effort: str, wanted: dict[str, Any] | None, models: RemoteModels, book: Book
) -> None:
    with WireServer("gemini", models=(model,), provider_id="effort-gemini") as server:
        book.add(server.provider_id, "gemini", server.address, server.key, server.models)
        heard = await ask(models, request_to(server, effort=effort, temperature=None))
        assert heard.outcome == "stop", heard.error
        given = server.requests[0].body.get("generationConfig", {}).get("thinkingConfig")
        assert given == wanted


@pytest.mark.parametrize(
    ("kind", "model", "effort", "sent"),
    [
        ("openai", "gpt-4o", "high", True),
        ("openai", "gpt-5-mini", "auto", False),
        ("openai", "gpt-5.2", "auto", True),
        ("openai", "gpt-5.2", "low", False),
        ("anthropic", "claude-opus-4-5", "auto", True),
        ("anthropic", "claude-opus-4-5", "low", False),
        ("anthropic", "claude-sonnet-5", "none", False),
        ("ollama", "llama3.2", "auto", True),
    ],
)
async def test_a_temperature_is_sent_only_to_models_that_take_it(
    kind: str, model: str, effort: str, sent: bool, models: RemoteModels, book: Book
) -> None:
    with WireServer(kind, models=(model,), provider_id=f"warm-{kind}") as server:
        book.add(server.provider_id, kind, server.address, server.key, server.models)
        heard = await ask(models, request_to(server, effort=effort, temperature=0.2, max_tokens=None))
        assert heard.outcome == "stop", heard.error
        assert server.requests[0].body.get("temperature") == (0.2 if sent else None)


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_a_model_that_takes_no_effort_is_asked_again_without(
    kind: str, models: RemoteModels, book: Book
) -> None:
    with WireServer(kind, models=("nobody-knows",), provider_id=f"plain-{kind}") as server:
        book.add(server.provider_id, kind, server.address, server.key, server.models)
        refusal = Refusal(400, "Unrecognized request argument supplied: reasoning_effort")
        server.script("nobody-knows", [refusal, "Yes.", "Again."])
        for _ in range(2):
            assert (await ask(models, request_to(server, effort="low", temperature=None))).outcome == "stop"
        assert ["reasoning_effort" in request.body for request in server.requests] == [True, False, False]
