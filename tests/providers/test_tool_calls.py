"""Tools over the four protocols: calls come back in one form, and a chat with calls stays legal everywhere."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from app.core.message import ToolCall
from app.core.provider import CallPiece, ModelRequest
from app.providers.remote import RemoteModels
from tests.providers.asking import Heard, ask, request_to
from tests.providers.conftest import Book
from tests.wire import Answer, Fault, Seen, WireCall, WireServer
from tests.wire.fixtures import FOUR
from tests.wire.replies import ODD_CALLS

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS: tuple[dict[str, Any], ...] = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name}.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["query"],
            },
        },
    }
    for name in ("search", "read_page", "now")
)
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is new? 뉴스?"}
SEARCH = WireCall("search", '{"query": "news, 뉴스 👩‍👩‍👧", "limit": 3}')
READ = WireCall("read_page", '{"query": "https://example.org/?a=1&b=\\"2\\""}')
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def request(server: WireServer, *messages: dict[str, Any], **changes: Any) -> ModelRequest:
    values: dict[str, Any] = {"messages": (SYSTEM, USER, *messages), "tools": TOOLS} | changes
    return request_to(server, **values)


async def ask_all(
    models: RemoteModels, servers: dict[str, WireServer], *messages: dict[str, Any], **changes: Any
) -> dict[str, Heard]:
    asked = (ask(models, request(servers[kind], *messages, **changes)) for kind in FOUR)
    return dict(zip(FOUR, await asyncio.gather(*asked), strict=True))


def said(heard: Heard) -> dict[str, Any]:
    """Return the assistant's message as a loop sends it back."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in heard.calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": heard.text, "tool_calls": calls}
    assert heard.finished is not None
    return message | dict(heard.finished.state or {})


def results(heard: Heard, *texts: str) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_call_id": call.id, "content": text}
        for call, text in zip(heard.calls, texts, strict=True)
    ]


def bare(calls: list[ToolCall]) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in calls]


def wanted(*calls: WireCall) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in calls]


def assert_all_legal(servers: dict[str, WireServer]) -> None:
    assert [(kind, seen.refused) for kind in servers for seen in servers[kind].requests if seen.refused] == []


async def test_text_then_two_calls(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [Answer("Let me see.", calls=(SEARCH, READ))])
    for kind, heard in (await ask_all(models, servers)).items():
        assert (heard.text, heard.outcome) == ("Let me see.", "tool_calls"), kind
        assert bare(heard.calls) == wanted(SEARCH, READ), kind
        assert len({call.id for call in heard.calls}) == 2 and all(call.id for call in heard.calls), kind
        assert heard.finished is not None and heard.finished.output_tokens == 3, kind
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


async def test_the_whole_round_with_signed_thinking(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    first = Answer("I look.", thinking="Where? 생각 ", redacted="b3BhcXVl", calls=(SEARCH, SEARCH, READ))
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [first, Answer(thinking="More.", calls=(READ,)), "Done."])
    rounds: list[dict[str, Any]] = []
    history: dict[str, list[dict[str, Any]]] = {kind: [] for kind in FOUR}
    for texts in (("one", "two", '{"ok": true}'), ("",), ()):
        heard = dict(
            zip(
                FOUR,
                await asyncio.gather(*(ask(models, request(servers[kind], *history[kind])) for kind in FOUR)),
                strict=True,
            )
        )
        rounds.append(heard)
        for kind in FOUR:
            assert heard[kind].error is None, (kind, heard[kind].error)
            if texts:
                history[kind] += [said(heard[kind]), *results(heard[kind], *texts)]
    assert_all_legal(servers)
    for kind in FOUR:
        assert rounds[2][kind].text == "Done." and rounds[2][kind].outcome == "stop"
        seen = servers[kind].requests[2].messages
        assert [message.role for message in seen] == [
            "user", "assistant", "tool", "tool", "tool", "assistant", "tool",
        ], kind  # fmt: skip
        assert seen[1].text == "I look." and len(seen[1].calls) == 3
        assert [message.result_of for message in seen[2:5]] == [call.id for call in seen[1].calls]
        assert "one" in seen[2].text and "two" in seen[3].text
    assert rounds[0]["anthropic"].finished.state is not None
    blocks = rounds[0]["anthropic"].finished.state["thinking_blocks"]
    assert [block["type"] for block in blocks] == ["thinking", "redacted_thinking"]
    assert blocks[0]["thinking"] == "Where? 생각 " and blocks[0]["signature"]
    assert "__thought__" in rounds[0]["gemini"].calls[0].id
    assert {kind: rounds[0][kind].finished.state for kind in FOUR if kind != "anthropic"} == dict.fromkeys(
        ("openai", "gemini", "ollama")
    )


# LiteLLM knows these by name and asks each in another way; the last is newer than LiteLLM.
KNOWN_MODELS = (
    ("openai", "gpt-5.2"),
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-opus-4-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-3-pro-preview"),
    ("gemini", "gemini-2.5-flash"),
    ("gemini", "gemini-3.8-flash"),
    ("gemini", "gemini-99-new"),
)


@pytest.mark.parametrize(("kind", "model"), KNOWN_MODELS)
async def test_a_round_with_the_models_by_their_real_names(
    kind: str, model: str, models: RemoteModels, book: Book
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    provider_id = f"real-{model.replace('.', '-')}"
    with WireServer(kind, models=(model,), provider_id=provider_id) as server:
        book.add(provider_id, kind, server.address, server.key, server.models)
        calls = (SEARCH, SEARCH, WireCall("read_page", READ.arguments, "one-id"))
        server.script(
            model, [Answer("Hm.", thinking="Deep.", redacted="eA==", calls=calls), "So.", '{"n": 1}']
        )
        first = await ask(models, request(server, temperature=None))
        assert first.outcome == "tool_calls" and bare(first.calls) == wanted(*calls), first.error
        again = await ask(
            models, request(server, said(first), *results(first, "1", "2", "3"), temperature=None)
        )
        assert again.text == "So.", again.error
        formed = await ask(models, request(server, tools=(), schema=schema, temperature=None))
        assert formed.text == '{"n": 1}', formed.error
        assert_all_legal({kind: server})
        for seen in server.requests:
            assert seen.system == "Be brief." and seen.messages[0].text == USER["content"]
        seen = server.requests[1]
        assert [len(message.calls) for message in seen.messages] == [0, 3, 0, 0, 0]
        assert '"n"' in json.dumps(server.requests[2].body)


async def test_what_the_user_says_after_a_result(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in FOUR:
        servers[kind].script(servers[kind].model, [Answer("", calls=(SEARCH,)), "Fine."])
    first = await ask_all(models, servers)
    for kind in FOUR:
        steer = {"role": "user", "content": "Only today's."}
        heard = await ask(
            models, request(servers[kind], said(first[kind]), *results(first[kind], "found"), steer)
        )
        assert heard.text == "Fine.", (kind, heard.error)
        seen = servers[kind].requests[1].messages
        assert [message.role for message in seen] == ["user", "assistant", "tool", "user"], kind
        assert seen[3].text == "Only today's."
    assert_all_legal(servers)


async def test_a_chat_that_was_with_another_provider(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in FOUR:
        servers[kind].script(
            servers[kind].model, [Answer("Hm.", thinking="Deep.", redacted="eA==", calls=(SEARCH, READ))]
        )
    first = await ask_all(models, servers)
    for tools in (TOOLS, ()):
        for was in FOUR:
            history = said(first[was]), *results(first[was], "one", "two")
            goes_on = {"role": "assistant", "content": "So."}, {"role": "user", "content": "And?"}
            heard = await ask_all(models, servers, *history, *goes_on, tools=tools)
            assert {kind: heard[kind].outcome for kind in FOUR} == dict.fromkeys(FOUR, "stop"), was
    assert_all_legal(servers)
    # Without tools Anthropic is shown those of the history, and may not call them.
    last = servers["anthropic"].requests[-1]
    assert sorted(last.tools) == ["read_page", "search"] and last.body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", '{"query": "cut o'),
        ("search", "[1]"),
        ("search", "NaN"),
        ("search", "[" * 5000),
        ("functions.search:0", '{"query": "\\ud83d \\u0000"}'),
        ("", "{}"),
        ("x" * 90, ""),
    ],
)
async def test_bad_calls_in_the_history_are_made_legal(
    name: str, arguments: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    call = {"id": "call/1 a", "type": "function", "function": {"name": name, "arguments": arguments}}
    history = (
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call/1 a", "content": "That was no JSON."},
    )
    for kind, heard in (await ask_all(models, servers, *history)).items():
        assert heard.outcome == "stop", (kind, heard.error)
    assert_all_legal(servers)


async def test_parts_with_an_image(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]
    heard = await ask_all(models, servers, messages=(SYSTEM, {"role": "user", "content": parts}), tools=())
    for kind in FOUR:
        assert heard[kind].outcome == "stop", (kind, heard[kind].error)
        assert servers[kind].requests[0].messages == [
            Seen(role="user", text="What is this?", images=("image/png",))
        ], kind
    assert_all_legal(servers)


async def test_an_image_without_a_word(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    parts = [
        {"type": "text", "text": ""},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]
    heard = await ask_all(models, servers, messages=({"role": "user", "content": parts},), tools=())
    for kind in FOUR:
        assert heard[kind].outcome == "stop", (kind, heard[kind].error)
        assert servers[kind].requests[0].messages == [Seen(role="user", images=("image/png",))], kind
    assert_all_legal(servers)


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


async def test_a_strict_local_server_is_asked_in_turns(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai-compatible"]
    messages = (SYSTEM, USER, USER, {"role": "assistant", "content": "Yes?"}, USER)
    heard = await ask(models, request(server, messages=messages, tools=()))
    assert heard.outcome == "stop", heard.error
    assert [message.role for message in server.requests[-1].messages] == ["user", "assistant", "user"]


async def test_an_image_of_an_unknown_kind_is_refused(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,SUkqAAgAAAA="}}
    parts = [{"type": "text", "text": "What is this?"}, image]
    heard = await ask_all(models, servers, messages=({"role": "user", "content": parts},), tools=())
    for kind in FOUR:
        assert heard[kind].outcome == "bad_request", kind


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
    assert heard.outcome == "bad_request" and heard.error is not None
    assert heard.error.detail == "this model cannot call tools: tools param requires --jinja flag"
    assert len(server.requests) == 1
    assert (await ask(models, request(server, messages=(USER,), tools=()))).outcome == "stop"


async def test_a_schema_is_sent_as_a_response_format(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    for kind in FOUR:
        servers[kind].script(servers[kind].model, ['{"n": 1}'])
    heard = await ask_all(models, servers, tools=(), schema=schema)
    for kind in FOUR:
        assert (heard[kind].text, heard[kind].outcome) == ('{"n": 1}', "stop"), (kind, heard[kind].error)
        assert '"n"' in json.dumps(servers[kind].requests[0].body), kind
    sent = servers["openai"].requests[0].body["response_format"]
    assert sent["type"] == "json_schema" and sent["json_schema"]["schema"] == schema


async def test_half_characters_anywhere_do_no_harm(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "search", "arguments": '{"query": "\ud83d"}'},
    }
    history = (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "half \ud83d"},
        {"role": "user", "content": [{"type": "text", "text": "and \ud83d\0"}]},
    )
    for kind, heard in (await ask_all(models, servers, *history)).items():
        assert heard.outcome == "stop", (kind, heard.error)
    assert_all_legal(servers)
