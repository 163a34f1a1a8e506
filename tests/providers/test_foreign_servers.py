"""Answers as servers of other makers send them, beside what the protocols say."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from app.providers.remote import RemoteModels
from tests.providers.asking import Heard, ask, request_to
from tests.providers.conftest import LIMITS, Book
from tests.providers.tool_chats import READ, SEARCH, bare, request, results, said, wanted
from tests.wire import Answer, Raw, WireServer
from tests.wire.certificates import own_certificates
from tests.wire.fixtures import FOUR
from tests.wire.protocols import sse

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Each is legal in a stream of events, and none is an answer.
WITHOUT_DATA = (b"retry: 3000\n\n", b"event: ping\n\n", b"id: 7\n: comment\n\n", b"data:\n\n", b"data: \n\n")
CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": '{"query": "x"}'}}


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return sse(
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
    )


def stream(*chunks: bytes) -> Raw:
    return Raw(b"".join(chunks) + b"data: [DONE]\n\n")


def whole(body: object, content_type: str = "application/json") -> Raw:
    return Raw(json.dumps(body).encode(), content_type)


WORDS = {
    "openai": stream(chunk({"content": "Hello."}), chunk({}, "stop")).body,
    "ollama": stream(chunk({"content": "Hello."}), chunk({}, "stop")).body,
    "anthropic": b"".join(
        sse(data, data["type"])
        for data in (
            {
                "type": "message_start",
                "message": {
                    "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                    "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1},
                },
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        )
    ),
    "gemini": sse(
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}
            ],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
        }
    ),
}  # fmt: skip


async def hear(models: RemoteModels, server: WireServer, *replies: Any, **changes: Any) -> Heard:
    server.script(server.model, list(replies))
    return await ask(models, request_to(server, **changes))


@pytest.mark.parametrize("event", WITHOUT_DATA)
@pytest.mark.parametrize("kind", FOUR)
async def test_an_event_without_data_is_skipped(
    kind: str, event: bytes, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    events = WORDS[kind].split(b"\n\n")
    raw = event + b"\n\n".join([*events[:1], event.strip(b"\n"), *events[1:]])
    heard = await hear(models, servers[kind], Raw(raw))
    assert (heard.text, heard.outcome) == ("Hello.", "stop"), heard.error


WHOLE: dict[str, Any] = {
    "openai": {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello.", "reasoning_content": "Hm.",
                            "tool_calls": [CALL, CALL | {"id": "call_2"}]},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    },
    "anthropic": {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
            {"type": "text", "text": "Hello."},
            {"type": "tool_use", "id": "call_1", "name": "now", "input": {"query": "x"}},
            {"type": "tool_use", "id": "call_2", "name": "now", "input": {"query": "x"}},
        ],
        "usage": {"input_tokens": 11, "output_tokens": 7},
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {"text": "Hello."},
                        {"functionCall": {"name": "now", "args": {"query": "x"}}},
                        {"functionCall": {"name": "now", "args": {"query": "x"}}},
                    ],
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
    },
}  # fmt: skip


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "text/event-stream"])
@pytest.mark.parametrize("kind", WHOLE)
async def test_a_whole_answer_to_a_streamed_request_is_read(
    kind: str, content_type: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers[kind]
    server.script(server.model, [whole(WHOLE[kind], content_type)])
    heard = await ask(models, request(server))
    assert (heard.text, heard.thinking, heard.outcome) == ("Hello.", "Hm.", "tool_calls"), heard.error
    assert [(call.name, json.loads(call.arguments)) for call in heard.calls] == [("now", {"query": "x"})] * 2
    assert heard.finished is not None
    assert (heard.finished.usage.input_tokens, heard.finished.usage.output_tokens) == (11, 7)


async def test_a_whole_list_of_geminis_pieces_is_read(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    def piece(text: str, **more: str) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **more}]}

    pieces = [piece("Hel"), piece("lo.", finishReason="STOP")]
    heard = await hear(models, servers["gemini"], whole(pieces))
    assert (heard.text, heard.outcome) == ("Hello.", "stop"), heard.error


@pytest.mark.parametrize("kind", WHOLE)
async def test_json_that_is_no_answer_is_not_taken_for_one(
    kind: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for body in ({"status": "ok"}, [], [1], {"choices": []}, {"type": "message"}):
        assert (await hear(models, servers[kind], whole(body))).outcome == "bad_response", body


@pytest.mark.parametrize("kind", WHOLE)
async def test_an_error_with_status_200_is_told_in_its_own_words(
    kind: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    heard = await hear(
        models, servers[kind], whole({"error": {"message": "Unexpected endpoint", "code": 500}})
    )
    assert heard.error is not None and "Unexpected endpoint" in heard.error.detail, heard


async def test_geminis_results_are_sent_in_camel_case(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["gemini"]
    server.script(server.model, [Answer(calls=(SEARCH, READ)), "Fine."])
    heard = await ask(models, request(server))
    again = await ask(models, request(server, said(heard), *results(heard, "one", "two")))
    assert again.text == "Fine.", again.error
    sent = json.dumps(server.requests[-1].body["contents"])
    assert sent.count('"functionCall"') == sent.count('"functionResponse"') == 2
    assert "function_" not in sent


async def test_a_refusal_is_the_answer(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    refusal = stream(chunk({"refusal": "I can’t "}), chunk({"refusal": "help with that."}), chunk({}, "stop"))
    heard = await hear(models, servers["openai"], refusal)
    assert (heard.text, heard.outcome) == ("I can’t help with that.", "stop"), heard.error


async def test_content_in_parts_is_read(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    parts = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}]
    heard = await hear(models, servers["ollama"], stream(chunk({"content": parts}), chunk({}, "stop")))
    assert (heard.text, heard.outcome) == ("Hello.", "stop"), heard.error


async def test_an_old_function_call_is_read(models: RemoteModels, servers: dict[str, WireServer]) -> None:
    server = servers["ollama"]
    old = stream(
        chunk({"function_call": {"name": "search", "arguments": ""}}),
        chunk({"function_call": {"arguments": SEARCH.arguments[:9]}}),
        chunk({"function_call": {"arguments": SEARCH.arguments[9:]}}),
        chunk({}, "function_call"),
    )
    server.script(server.model, [old])
    heard = await ask(models, request(server))
    assert heard.outcome == "tool_calls" and bare(heard.calls) == wanted(SEARCH), heard.error


@pytest.mark.parametrize("reason", ["max_tokens", "MAX_TOKENS", "model_length"])
async def test_other_names_of_the_token_limit(
    reason: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    heard = await hear(models, servers["ollama"], stream(chunk({"content": "Hel"}), chunk({}, reason)))
    assert (heard.text, heard.outcome) == ("Hel", "length"), heard.error


async def test_calls_are_in_the_order_of_their_numbers(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    def call(index: int, name: str) -> bytes:
        function = {"name": name, "arguments": "{}"}
        return chunk(
            {"tool_calls": [{"index": index, "id": f"c{index}", "type": "function", "function": function}]}
        )

    server = servers["ollama"]
    server.script(server.model, [stream(call(1, "second"), call(0, "first"), chunk({}, "tool_calls"))])
    heard = await ask(models, request(server))
    assert [call.name for call in heard.calls] == ["first", "second"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"detail": "Not Found"}, "Not Found"),
        ({"error": "Unexpected endpoint or method."}, "Unexpected endpoint or method."),
        ({"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}, "File Not Found"),
        ({"detail": [{"loc": ["body"], "msg": "Field required"}]}, "Field required"),
    ],
)
async def test_a_wrong_path_is_not_an_unknown_model(
    body: dict[str, Any], words: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind in FOUR:
        raw = Raw(json.dumps(body).encode(), "application/json", 404)
        heard = await hear(models, servers[kind], raw)
        assert heard.error is not None
        assert (kind, heard.outcome, heard.error.detail) == (kind, "wrong_path", words)


@pytest.mark.parametrize("kind", FOUR)
async def test_an_error_in_korean_is_readable(
    kind: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for ascii_only in (True, False):
        body = {
            "error": {"type": "api_error", "code": 500, "message": '서버에 "문제"가\n생겼어요. It\'s down.'}
        }
        raw = Raw(json.dumps(body, ensure_ascii=ascii_only).encode(), "application/json", 500)
        heard = await hear(models, servers[kind], raw)
        assert heard.error is not None
        assert heard.error.detail == '서버에 "문제"가 생겼어요. It\'s down.', kind


async def test_a_server_on_this_computer_is_free_whatever_its_model_is_called(
    book: Book, models: RemoteModels
) -> None:
    with WireServer("ollama", provider_id="alias", models=("gpt-4",)) as server:
        book.add("alias", "ollama", server.address)
        heard = await ask(models, request_to(server))
    assert heard.finished is not None and heard.finished.usage.cost_usd == 0.0


async def test_the_calls_of_a_model_that_does_not_stream_are_whole(book: Book, models: RemoteModels) -> None:
    output = [
        {
            "type": "function_call",
            "id": f"fc_{at}",
            "call_id": f"call_{at}",
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for at, call in enumerate((SEARCH, READ))
    ]
    said_first = {
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}],
    }  # fmt: skip
    body = {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "output": [said_first, *output], "tools": [], "tool_choice": "auto", "parallel_tool_calls": True,
        "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
    }  # fmt: skip

    async def listen(model: str) -> None:
        with WireServer("responses", provider_id=f"whole-{model}", models=(model,)) as server:
            book.add(server.provider_id, "openai", server.address, server.key)
            # Longer than the limit for the first word: the whole answer comes at once.
            whole = json.dumps({**body, "model": model}).encode()
            server.script(model, [Raw(whole, "application/json", delay=LIMITS.first_token + 0.5)])
            heard = await ask(models, request(server, temperature=None))
        assert (heard.text, heard.outcome) == ("Let me see.", "tool_calls"), (heard.error, server.requests)
        assert bare(heard.calls) == wanted(SEARCH, READ)

    # At once: this waits in real time.
    await asyncio.gather(listen("gpt-5-pro"), listen("o1-pro"))


@pytest.mark.parametrize("model", ["gpt-5-codex", "openai/gpt-5-codex", "responses/foo", "o1-pro"])
async def test_only_openai_is_asked_for_responses(model: str, book: Book, models: RemoteModels) -> None:
    with WireServer("ollama", provider_id=f"alias-{model}", models=(model,)) as server:
        book.add(server.provider_id, "ollama", server.address)
        heard = await ask(models, request(server, temperature=None))
    assert heard.outcome == "stop", heard.error
    assert [seen.path for seen in server.requests][-1] == "/v1/chat/completions"


@pytest.mark.parametrize("kind", FOUR)
async def test_a_stream_of_nothing_is_no_web_page(
    kind: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for body in (b"", b": ping\n\n"):
        assert (await hear(models, servers[kind], Raw(body))).outcome == "unanswered", body


async def test_a_certificate_of_ones_own_is_named_with_what_to_do(
    tmp_path: Path, book: Book, models: RemoteModels
) -> None:
    security = own_certificates(tmp_path).server
    for kind in (*FOUR, "openai-compatible"):
        with WireServer(kind, provider_id=f"own-{kind}", security=security) as server:
            book.add(server.provider_id, kind, server.address, server.key, server.models)
            heard = await ask(models, request_to(server))
            assert heard.outcome == "certificate", heard.error
            listed = await models.list_models(server.provider_id)
            assert listed.failure == "certificate"
            assert "unable to get local issuer certificate" in listed.detail


@pytest.mark.parametrize(
    ("end", "kind", "words"),
    [
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "prompt_blocked", "PROHIBITED_CONTENT"),
        (
            {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x"}]},
            "malformed_call",
            "print(x",
        ),
    ],
)
async def test_why_gemini_gives_no_answer_is_said(
    models: RemoteModels, servers: dict[str, WireServer], end: dict[str, Any], kind: str, words: str
) -> None:
    server = servers["gemini"]
    server.script(server.model, [Raw(sse(end))])
    heard = await ask(models, request(server))
    assert heard.error is not None
    assert (heard.error.kind, words in heard.error.detail) == (kind, True)
