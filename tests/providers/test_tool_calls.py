"""Tools over the four protocols: calls come back in one form, whatever happens to them."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from app.core.provider import CallPiece
from app.providers.remote import RemoteModels
from tests.providers.asking import ask
from tests.providers.tool_chats import (
    READ,
    SEARCH,
    TOOLS,
    USER,
    ask_all,
    assert_all_legal,
    bare,
    request,
    results,
    said,
    wanted,
)
from tests.wire import Answer, Fault, Seen, WireCall, WireServer
from tests.wire.fixtures import FOUR
from tests.wire.replies import ODD_CALLS

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_text_then_two_calls(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [Answer("Let me see.", calls=(SEARCH, READ))])
    for kind, heard in (await ask_all(models, servers)).items():
        assert (heard.text, heard.outcome) == ("Let me see.", "tool_calls"), kind
        assert bare(heard.calls) == wanted(SEARCH, READ), kind
        assert len({call.id for call in heard.calls}) == 2 and all(call.id for call in heard.calls), kind
        assert heard.finished is not None and heard.finished.usage.output_tokens == 3, kind
        seen = servers[kind].requests[0]
        assert seen.tools == ["search", "read_page", "now"], kind
        assert seen.system == "Be brief." and seen.messages == [Seen(role="user", text=USER["content"])], kind
    assert_all_legal(servers)


@pytest.mark.parametrize("arguments", ["{}", "", '{"query": ""}'])
async def test_a_call_and_no_word_is_a_whole_answer(
    arguments: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [Answer(calls=(WireCall("now", arguments),))])
    for kind, heard in (await ask_all(models, servers)).items():
        assert (heard.text, heard.outcome) == ("", "tool_calls"), kind
        assert bare(heard.calls) == wanted(WireCall("now", arguments)), kind
        if arguments == "" and kind in ("openai", "ollama"):
            assert heard.calls[0].arguments == ""


async def test_stopping_in_the_middle_of_a_call_closes_the_connection(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in ("openai", "anthropic"):
        server = servers[kind]
        server.script(server.model, [Answer("Hm.", calls=(SEARCH, READ), pace=0.2)])
        async with aclosing(models.stream(request(server))) as deltas:
            async for delta in deltas:
                if isinstance(delta, CallPiece):
                    break
        closed = await asyncio.to_thread(
            server.wait_for, lambda server=server: server.requests[0].closed_at is not None
        )
        assert closed, kind


@pytest.mark.parametrize("odd", ODD_CALLS)
async def test_servers_that_number_calls_badly(
    odd: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["ollama"]
    calls = (SEARCH, READ, SEARCH)
    server.script(server.model, [Answer("Hm.", calls=calls, odd=odd), "Fine."])
    heard = await ask(models, request(server))
    assert bare(heard.calls) == wanted(*calls)
    assert len({call.id for call in heard.calls}) == 3
    again = await ask(models, request(server, said(heard), *results(heard, "1", "2", "3")))
    assert again.text == "Fine.", again.error


# What each fault is called when it strikes in the middle of a call; Gemini's calls come whole.
MID_CALL = {
    "rstmid": "interrupted",
    "eofmid": "interrupted",
    "stall": "stall",
    "stallping": "stall",
    "cleancut": "truncated",
    "inerror": "interrupted",
}


@pytest.mark.parametrize("words", ["", "Let me"])
@pytest.mark.parametrize("fault", MID_CALL)
async def test_a_fault_in_the_middle_of_a_call(
    fault: str, words: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [Fault(fault, text=words, call=SEARCH)])
    for kind, heard in (await ask_all(models, servers)).items():
        assert (heard.text, heard.outcome) == (words, MID_CALL[fault]), kind
        assert [call.name for call in heard.calls] == ["search"], kind
        if kind != "gemini":
            assert SEARCH.arguments.startswith(heard.calls[0].arguments) and heard.calls[0].arguments, kind
            assert heard.calls[0].arguments != SEARCH.arguments, kind
        assert len(servers[kind].requests) == 1


async def test_a_call_cut_at_the_token_limit(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [Answer("", calls=(SEARCH,), finish="length")])
    for kind, heard in (await ask_all(models, servers)).items():
        assert heard.outcome == "length" and [call.name for call in heard.calls] == ["search"], kind


@pytest.mark.corpus(59)
async def test_huge_arguments_are_cut_and_the_call_still_arrives(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    huge = json.dumps({"query": "x" * 1_200_000})
    for kind in ("openai", "gemini"):
        server = servers[kind]
        server.script(server.model, [Answer("", calls=(WireCall("search", huge), READ), odd="whole")])
        heard = await ask(models, request(server))
        assert heard.outcome == "tool_calls" and len(heard.calls) == 2
        assert heard.calls[0].arguments == huge[:1_000_000]
        assert bare(heard.calls[1:]) == wanted(READ)


async def test_of_too_many_calls_the_first_arrive(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    calls = tuple(WireCall("search", json.dumps({"query": str(number)})) for number in range(140))
    server.script(server.model, [Answer("", calls=calls, odd="whole")])
    heard = await ask(models, request(server))
    assert bare(heard.calls) == wanted(*calls[:128])


async def test_byte_by_byte(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    for kind in FOUR:
        servers[kind].script(
            servers[kind].model, [Answer("가", thinking="나", calls=(SEARCH, READ), split_bytes=True)]
        )
    for kind, heard in (await ask_all(models, servers)).items():
        assert (heard.text, heard.thinking) == ("가", "나"), kind
        assert bare(heard.calls) == wanted(SEARCH, READ), kind


async def test_the_order_of_words_and_calls_and_few_lines(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    long = WireCall("search", json.dumps({"query": "word " * 2000}))
    for kind in ("openai", "anthropic"):
        server = servers[kind]
        server.script(server.model, [Answer("First words.", calls=(long, READ))])
        heard = await ask(models, request(server))
        assert bare(heard.calls) == wanted(long, READ)
        # About 1,700 pieces came over the wire.
        assert len(heard.call_pieces) < 400
        assert heard.kinds == ["text", "calls"]


async def test_a_model_that_cannot_call_tools_says_so(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai-compatible"]
    heard = await ask(models, request(server, messages=(USER,)))
    assert heard.outcome == "no_tools" and heard.error is not None
    assert heard.error.detail == "tools param requires --jinja flag"
    assert len(server.requests) == 1
    assert (await ask(models, request(server, messages=(USER,), tools=()))).outcome == "stop"


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


TREE = {"type": "object", "properties": {"c": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"n": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": TREE}},
        {"type": "object", "properties": {"n": {"$ref": "#/$defs/Nowhere"}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"type": ["string", "null"]},
                "c": {"const": 3},
                "d": {"enum": [1, 2]},
                "e": True,
                "f": {"type": "array"},
                "g": {"type": "array", "items": False},
            },
            "additionalProperties": False,
        },
        {"type": "object", "oneOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}},
        _deep(60),
    ],
    ids=("empty", "bare", "tree", "nowhere", "mixed", "one_of", "deep"),
)
async def test_forms_as_mcp_servers_write_them(
    parameters: dict[str, Any], models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    odd = {"type": "function", "function": {"name": "odd", "description": "Odd.", "parameters": parameters}}
    for kind, heard in (await ask_all(models, servers, tools=(*TOOLS, odd))).items():
        assert heard.outcome == "stop", (kind, heard.error)
        assert servers[kind].requests[0].tools == ["search", "read_page", "now", "odd"]
    assert_all_legal(servers)
