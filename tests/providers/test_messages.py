"""How the messages of a chat are made legal for the provider they go to."""

import json
from typing import Any

import pytest

from app.providers.model_host.request import called_functions, fold_system, join_turns, legal_messages

KINDS = ("openai", "anthropic", "gemini", "ollama", "openai-compatible", "embedded")


def assistant(call_id: str = "c1", name: str = "f", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]} | more


def sent(kind: str, message: dict[str, Any]) -> dict[str, Any]:
    return legal_messages(kind, [message])[0]


@pytest.mark.parametrize("kind", KINDS)
def test_plain_messages_stay_as_they_are(kind: str) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": "Yes?"},
    ]
    assert legal_messages(kind, messages) == messages


@pytest.mark.parametrize("content", ["", None])
def test_no_empty_text_goes_beside_a_call(content: str | None) -> None:
    assert sent("gemini", assistant(content=content))["content"] is None
    assert sent("openai", assistant(content="Hm."))["content"] == "Hm."


def test_only_anthropic_gets_signed_thinking_and_nobody_foreign_fields() -> None:
    blocks = [{"type": "thinking", "thinking": "x", "signature": "s"}]
    message = assistant(thinking_blocks=blocks, reasoning_content="x", provider_state={})
    assert sent("anthropic", message)["thinking_blocks"] == blocks
    for kind in KINDS:
        extra = {"thinking_blocks"} if kind == "anthropic" else set()
        assert sent(kind, message).keys() == {"role", "content", "tool_calls"} | extra


def test_ids_fit_the_provider_and_call_and_result_still_agree() -> None:
    signed = "call_1__thought__" + "Ab+/=" * 100
    for kind in KINDS:
        call = sent(kind, assistant(signed))["tool_calls"][0]["id"]
        result = sent(kind, {"role": "tool", "tool_call_id": signed, "content": "x"})["tool_call_id"]
        assert call == result
        assert (call == signed) == (kind == "gemini")
        assert kind == "gemini" or len(call) <= 40
    assert sent("openai", assistant("toolu_01"))["tool_calls"][0]["id"] == "toolu_01"


@pytest.mark.parametrize(
    ("arguments", "legal"),
    [
        ("", "{}"),
        ("{", "{}"),
        ("[]", "{}"),
        ("null", "{}"),
        ('{"n": NaN}', "{}"),
        ("[" * 100_000, "{}"),
        ('{ "a":1 }', '{ "a":1 }'),
        ('{"a": "\\ud83d\\u0000"}', '{"a": "\\ufffd\\ufffd"}'),
        ('{"a": "\\ud83d\\ude00"}', '{"a": "\\ud83d\\ude00"}'),
    ],
)
def test_arguments_are_an_object(arguments: str, legal: str) -> None:
    assert sent("openai", assistant(arguments=arguments))["tool_calls"][0]["function"]["arguments"] == legal


@pytest.mark.parametrize(("name", "legal"), [("a.b/c:0", "a_b_c_0"), ("", "unnamed"), ("도구", "__")])
def test_names_are_legal(name: str, legal: str) -> None:
    assert sent("openai", assistant(name=name))["tool_calls"][0]["function"]["name"] == legal


def test_the_given_messages_are_left_alone() -> None:
    message = assistant("x" * 99, "a.b", "{")
    before = repr(message)
    sent("openai", message)
    assert repr(message) == before


def test_folding_copes_with_parts_and_calls() -> None:
    system = {"role": "system", "content": [{"type": "text", "text": "Be Ada."}]}
    parts = [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    user = {"role": "user", "content": parts}
    assert fold_system([system, user]) == [
        {"role": "user", "content": [{"type": "text", "text": "Be Ada."}, *parts]}
    ]
    assert fold_system([{"role": "system", "content": None}, user]) == [user]
    call = assistant(content=None)
    assert fold_system([system, call])[0] == {"role": "user", "content": "Be Ada."}


def test_the_functions_of_a_history() -> None:
    found = called_functions([assistant(name="f"), assistant(name="g"), assistant(name="f")])
    assert [tool["function"]["name"] for tool in found] == ["f", "g"]
    assert called_functions([{"role": "user", "content": "x"}]) == []


def test_one_side_in_a_row_becomes_one_message() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    call, result = assistant(content=None), {"role": "tool", "tool_call_id": "c1", "content": "x"}
    one, two, three = ({"role": "user", "content": text} for text in ("1", "2", "3"))
    answer = {"role": "assistant", "content": "So."}
    assert join_turns([one, two, answer, answer, call, call, result, result, three]) == [
        {"role": "user", "content": "1\n\n2"},
        {"role": "assistant", "content": "So.\n\nSo."},
        call,
        call,
        result,
        result,
        three,
    ]
    assert join_turns([one, {"role": "user", "content": [image]}]) == [
        {"role": "user", "content": [{"type": "text", "text": "1"}, image]}
    ]


def test_an_image_without_a_word() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    empty = {"type": "text", "text": " "}
    assert sent("openai", {"role": "user", "content": [empty, image]})["content"] == [image]
    assert sent("openai", {"role": "user", "content": [empty]})["content"] == [empty]


def test_gemini_gets_results_as_an_object() -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": "[1, NaN"}
    assert json.loads(sent("gemini", result)["content"]) == {"content": "[1, NaN"}
    assert sent("openai", result) == result
