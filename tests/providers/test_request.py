"""How a request is put to LiteLLM, and what is learnt from a refusal; LiteLLM is not imported."""

from typing import Any

import pytest

from app.providers.errors import Classified
from app.providers.limits import Limits
from app.providers.model_host.request import Call, Quirks, fold_system, litellm_arguments

SYSTEM = {"role": "system", "content": "Be Ada."}
USER = {"role": "user", "content": "Speak."}


def call(**changes: Any) -> Call:
    values: dict[str, Any] = {
        "call_id": "1",
        "kind": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "key": "",
        "model": "m",
        "messages": [SYSTEM, USER],
        "limits": Limits(),
    }
    return Call(**(values | changes))


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini", "ollama", "openai-compatible", "embedded"])
def test_a_key_and_an_address_are_always_given_and_nothing_is_tried_twice(kind: str) -> None:
    arguments = litellm_arguments(call(kind=kind), Quirks())
    assert arguments["api_key"] and arguments["api_base"]
    assert (arguments["max_retries"], arguments["num_retries"], arguments["stream"]) == (0, 0, True)


def test_anthropic_is_told_how_much_at_most() -> None:
    assert litellm_arguments(call(kind="anthropic"), Quirks())["max_tokens"] == 4096
    assert "max_tokens" not in litellm_arguments(call(), Quirks())


def test_only_the_embedded_model_gets_the_opener_and_the_options() -> None:
    asked = {"opener": "I oppose", "options": {"top_k": 40}}
    arguments = litellm_arguments(call(kind="embedded", **asked), Quirks())
    assert arguments["messages"][-1] == {"role": "assistant", "content": "I oppose"}
    assert arguments["extra_body"] == {"top_k": 40}
    arguments = litellm_arguments(call(**asked), Quirks())
    assert arguments["messages"] == [SYSTEM, USER]
    assert "extra_body" not in arguments


@pytest.mark.parametrize(
    ("refusal", "changed"),
    [
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            {"max_completion_tokens"},
        ),
        ("'temperature' does not support 0.7", {"max_tokens"}),
        ("gpt-9 models don't support temperature=0.7.", {"max_tokens"}),
    ],
)
def test_a_refused_parameter(refusal: str, changed: set[str]) -> None:
    quirks = Quirks()
    asked = call(max_tokens=9, temperature=0.7)
    sent = litellm_arguments(asked, quirks)
    assert quirks.learn(Classified(kind="bad_request", detail=refusal), sent)
    again = litellm_arguments(asked, quirks)
    assert changed <= again.keys()
    assert {name for name in sent if again.get(name) != sent[name]} != set()
    # A model that goes on refusing is not asked for ever.
    learnt = 0
    while quirks.learn(Classified(kind="bad_request", detail=refusal), litellm_arguments(asked, quirks)):
        learnt += 1
        assert learnt < 3


@pytest.mark.parametrize("kind", ["rate_limit", "authentication", "network", "context_window"])
def test_other_failures_teach_nothing(kind: str) -> None:
    sent = litellm_arguments(call(max_tokens=9, temperature=0.7), Quirks())
    failure = Classified(kind=kind, detail="temperature, max_tokens, system role not supported")
    assert not Quirks().learn(failure, sent)


@pytest.mark.parametrize(
    "refusal",
    [
        "System role not supported",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Only user and assistant roles are supported!",
    ],
)
def test_a_refused_system_role(refusal: str) -> None:
    quirks = Quirks()
    assert quirks.learn(Classified(kind="bad_request", detail=refusal), litellm_arguments(call(), quirks))
    assert litellm_arguments(call(), quirks)["messages"] == [{"role": "user", "content": "Be Ada.\n\nSpeak."}]


def test_folding() -> None:
    assert fold_system([USER]) == [USER]
    assert fold_system([SYSTEM]) == [{"role": "user", "content": "Be Ada."}]
    assistant = {"role": "assistant", "content": "Hm."}
    assert [message["role"] for message in fold_system([SYSTEM, assistant, USER])] == [
        "user",
        "assistant",
        "user",
    ]
