"""A chat with calls, images and signed thinking stays legal with every provider."""

import asyncio
import base64
import json
from typing import Any

import pytest

from app.providers.remote import RemoteModels
from tests.files.documents import a_pdf
from tests.providers.asking import ask
from tests.providers.conftest import Book
from tests.providers.tool_chats import (
    PIXEL,
    READ,
    SEARCH,
    SYSTEM,
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
from tests.wire import Answer, Seen, WireCall, WireServer
from tests.wire.fixtures import FOUR

pytestmark = pytest.mark.asyncio(loop_scope="module")


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


async def test_a_pdf_file_before_the_words(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    url = "data:application/pdf;base64," + base64.b64encode(a_pdf(["Sales rose"])).decode()
    parts = [
        {"type": "file", "file": {"filename": "매출.pdf", "file_data": url}, "pages": 1},
        {"type": "text", "text": "What is in it?"},
    ]
    heard = await ask_all(models, servers, messages=(SYSTEM, {"role": "user", "content": parts}), tools=())
    for kind in ("openai", "anthropic", "gemini"):
        assert heard[kind].outcome == "stop", (kind, heard[kind].error)
        seen = Seen(role="user", text="What is in it?", images=("application/pdf",))
        assert servers[kind].requests[0].messages == [seen], kind
    assert heard["ollama"].outcome == "bad_request"


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


@pytest.mark.parametrize(
    "text",
    [
        '{"value": NaN, "other": 1e999}',
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"half": "\\ud83d"}',
        "data:image/png;base64,AAAA",
        "data:application/pdf;base64,AAAA",
        '{"content": "x"}',
        '{"ok": true, "messageId": "1"}',
        "null",
        " ",
        "",
        "<tool_result>가 👩‍👩‍👧 \u2028</tool_result>",
        "9" * 10_000,
    ],
    ids=lambda text: text[:12],
)
async def test_a_result_arrives_as_it_is_whatever_it_looks_like(
    text: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    history = (
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
    )
    for kind, heard in (await ask_all(models, servers, *history)).items():
        assert heard.outcome == "stop", (kind, heard.error)
        assert servers[kind].requests[0].messages[2].text == text, kind
    assert_all_legal(servers)
