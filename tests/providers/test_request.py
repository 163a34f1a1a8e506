"""How a request is put to LiteLLM, and what is learnt from a refusal; LiteLLM is not imported."""

from typing import Any

import pytest

from app.core.errors import ProviderError
from app.core.provider import ModelFacts, ModelQuirks
from app.providers.embedded_server import ServerSpec
from app.providers.endpoints import ModelLimits
from app.providers.model_host.request import (
    ModelCall,
    explain_refused_tools,
    fold_system,
    learnt,
    litellm_arguments,
)

SYSTEM = {"role": "system", "content": "Be Ada."}
USER = {"role": "user", "content": "Speak."}
NONE = ModelQuirks()


def call(**changes: Any) -> ModelCall:
    values: dict[str, Any] = {
        "id": "1",
        "kind": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "key": "",
        "model": "m",
        "messages": [SYSTEM, USER],
        "limits": ModelLimits(),
    }
    return ModelCall(**(values | changes))


@pytest.mark.threat("T2")
@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini", "ollama", "openai-compatible", "embedded"])
def test_a_key_and_an_address_are_always_given_and_nothing_is_tried_twice(kind: str) -> None:
    arguments = litellm_arguments(call(kind=kind), NONE)
    assert arguments["api_key"] and arguments["api_base"]
    assert (arguments["max_retries"], arguments["num_retries"], arguments["stream"]) == (0, 0, True)


def test_an_answer_may_be_as_long_as_its_provider_advises() -> None:
    big = ModelFacts(most_output=128_000, efforts=("low", "high"), default_effort="high")
    small = ModelFacts(most_output=8_192, efforts=())

    def limit(**changes: Any) -> object:
        return litellm_arguments(call(**changes), NONE).get("max_tokens")

    assert limit(kind="anthropic") == 64_000
    assert limit(kind="anthropic", facts=big) == 64_000
    assert limit(kind="anthropic", facts=big, effort="max") == 128_000
    assert limit(kind="anthropic", facts=small) == 8_192
    assert limit(kind="openai", facts=big) is None
    assert limit(kind="gemini", facts=big) is None
    routed = {"kind": "openai-compatible", "base_url": "https://openrouter.ai/api/v1"}
    assert limit(**routed) == 16_000
    assert limit(**routed, facts=small) == 8_192


def test_a_short_answer_leaves_room_for_the_thought_of_a_model_that_thinks() -> None:
    thinks = ModelFacts(most_output=128_000, efforts=("none", "low", "high"), default_effort="high")
    assert litellm_arguments(call(max_tokens=200, facts=thinks), NONE)["max_tokens"] == 4_200
    for quiet in (call(max_tokens=200, facts=thinks, effort="none"), call(max_tokens=200)):
        assert litellm_arguments(quiet, NONE)["max_tokens"] == 200


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (
            "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-x",
            8_192,
        ),
        ("max_tokens is too large: 64000. This model supports at most 16384 completion tokens", 16_384),
    ],
)
def test_the_longest_answer_is_learnt_from_a_refusal(words: str, most: int) -> None:
    asked = call(kind="anthropic")
    quirks = learnt(NONE, ProviderError("bad_request", words), litellm_arguments(asked, NONE))
    assert quirks is not None
    assert litellm_arguments(asked, quirks)["max_tokens"] == most


def test_only_the_embedded_model_gets_the_opener_and_the_options() -> None:
    asked = {"opener": "I oppose", "options": {"top_k": 40}}
    server = ServerSpec(model="m", file="m.gguf", n_ctx=512, slots=1, memory=1)
    arguments = litellm_arguments(call(kind="embedded", server=server, **asked), NONE)
    assert arguments["messages"][-1] == {"role": "assistant", "content": "I oppose"}
    assert arguments["extra_body"] == {"top_k": 40}
    arguments = litellm_arguments(call(**asked), NONE)
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
    asked = call(max_tokens=9, temperature=0.7)
    sent = litellm_arguments(asked, NONE)
    quirks = learnt(NONE, ProviderError("bad_request", refusal), sent)
    assert quirks is not None
    again = litellm_arguments(asked, quirks)
    assert changed <= again.keys()
    assert {name for name in sent if again.get(name) != sent[name]} != set()
    # A model that goes on refusing is not asked for ever.
    times = 0
    while quirks := learnt(quirks, ProviderError("bad_request", refusal), litellm_arguments(asked, quirks)):
        times += 1
        assert times < 3


@pytest.mark.parametrize("kind", ["rate_limit", "authentication", "network", "context_window"])
def test_other_failures_teach_nothing(kind: str) -> None:
    sent = litellm_arguments(call(max_tokens=9, temperature=0.7), NONE)
    failure = ProviderError(kind, "temperature, max_tokens, system role not supported")
    assert learnt(NONE, failure, sent) is None


@pytest.mark.parametrize(
    "refusal",
    [
        "System role not supported",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Only user and assistant roles are supported!",
    ],
)
def test_a_refused_system_role(refusal: str) -> None:
    quirks = learnt(NONE, ProviderError("bad_request", refusal), litellm_arguments(call(), NONE))
    assert quirks is not None
    assert litellm_arguments(call(), quirks)["messages"] == [{"role": "user", "content": "Be Ada.\n\nSpeak."}]


def test_a_model_that_insists_on_turns() -> None:
    asked = call(messages=[USER, USER])
    refusal = ProviderError("server", "Conversation roles must alternate user/assistant/user/...")
    quirks = learnt(NONE, refusal, litellm_arguments(asked, NONE))
    assert quirks is not None
    assert litellm_arguments(asked, quirks)["messages"] == [{"role": "user", "content": "Speak.\n\nSpeak."}]
    assert learnt(quirks, refusal, litellm_arguments(asked, quirks)) is None


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CALLED = [
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "x"},
]


@pytest.mark.parametrize(
    ("detail", "plain"),
    [
        ("registry.ollama.ai/library/gemma2:2b does not support tools", True),
        ("tools param requires --jinja flag", True),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', True),
        ("`tool calling` is not supported with this model", True),
        ("Function calling is not enabled for models/gemma-3-27b-it", True),
        ("No endpoints found that support tool use.", True),
        ("this model doesn't support function calling", True),
        ("messages.1: something is wrong", False),
        ("context size exceeded", False),
    ],
)
def test_a_model_without_tools_is_told_plainly_and_not_asked_without(detail: str, plain: bool) -> None:
    sent = litellm_arguments(call(tools=[TOOL]), NONE)
    failure = ProviderError("server" if plain else "bad_request", detail)
    assert learnt(NONE, failure, sent) is None
    told = explain_refused_tools(failure, sent)
    if plain:
        assert (told.kind, told.detail) == ("no_tools", detail)
    else:
        assert told == failure
    assert explain_refused_tools(failure, litellm_arguments(call(), NONE)) == failure


def test_tools_and_schema() -> None:
    schema = {"type": "object"}
    arguments = litellm_arguments(call(tools=[TOOL], schema=schema), NONE)
    form = {"type": "object", "properties": {}}
    assert arguments["tools"] == [{"type": "function", "function": {"name": "f", "parameters": form}}]
    assert TOOL["function"] == {"name": "f", "parameters": {"type": "object"}}
    assert arguments["response_format"]["json_schema"]["schema"] == schema
    assert litellm_arguments(call(), NONE).keys() & {"tools", "response_format", "tool_choice"} == set()


@pytest.mark.parametrize(
    "detail",
    ["This response_format type is unavailable now", "output_format: Extra inputs are not permitted"],
)
def test_a_refused_response_format_is_left_out(detail: str) -> None:
    asked = call(schema={"type": "object"})
    refusal = ProviderError("bad_request", detail)
    quirks = learnt(NONE, refusal, litellm_arguments(asked, NONE))
    assert quirks is not None
    assert "response_format" not in litellm_arguments(asked, quirks)


def test_a_history_of_calls_without_tools() -> None:
    messages = [USER, *CALLED]
    arguments = litellm_arguments(call(kind="anthropic", messages=messages), NONE)
    assert [tool["function"]["name"] for tool in arguments["tools"]] == ["f"]
    assert arguments["tool_choice"] == "none"
    assert "tools" not in litellm_arguments(call(messages=messages), NONE)


def test_folding() -> None:
    assert fold_system([USER]) == [USER]
    assert fold_system([SYSTEM]) == [{"role": "user", "content": "Be Ada."}]
    assistant = {"role": "assistant", "content": "Hm."}
    assert [message["role"] for message in fold_system([SYSTEM, assistant, USER])] == [
        "user",
        "assistant",
        "user",
    ]
