"""The wire servers refuse calls, results, thinking and images that the real ones refuse."""

import base64
import json
from typing import Any

import pytest

from tests.files.documents import a_locked_pdf, a_pdf
from tests.wire import Answer, Fault, Seen, WireCall, WireServer
from tests.wire.test_wire import anthropic, gemini, openai, post

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HI = {"role": "user", "content": "Hi"}


def function(name: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {}}},
    }


def calling(*calls: tuple[str, str], arguments: str = "{}") -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


OPENAI_LEGAL: list[list[dict[str, Any]]] = [
    [HI, calling(("a", "f"), ("b", "g")), result("b"), result("a"), HI],
    [HI, calling(("a", "f")), result("a"), calling(("a", "f")), result("a")],
]
OPENAI_ILLEGAL: dict[str, list[dict[str, Any]]] = {
    "a result without its call": [HI, result("a")],
    "a result of another call": [HI, calling(("a", "f")), result("b")],
    "a result too late": [HI, calling(("a", "f")), HI, result("a")],
    "a call without a result, then the user": [HI, calling(("a", "f")), HI],
    "a call without a result, then the assistant": [
        HI,
        calling(("a", "f")),
        calling(("b", "f")),
        result("b"),
    ],
    "a call without a result at the end": [HI, calling(("a", "f"))],
    "one of two results is missing": [HI, calling(("a", "f"), ("b", "g")), result("a"), HI],
    "two results for one call": [HI, calling(("a", "f")), result("a"), result("a")],
    "two calls of one id": [HI, calling(("a", "f"), ("a", "g")), result("a"), result("a")],
    "a bad name": [HI, calling(("a", "f.g")), result("a")],
    "a long name": [HI, calling(("a", "f" * 65)), result("a")],
    "a long id": [HI, calling(("a" * 41, "f")), result("a" * 41)],
    "arguments that are no JSON": [HI, calling(("a", "f"), arguments='{"x": '), result("a")],
    "arguments that are no object": [HI, calling(("a", "f"), arguments="[1]"), result("a")],
    "no arguments at all": [HI, calling(("a", "f"), arguments=""), result("a")],
    "thinking of its own": [HI, {"role": "assistant", "content": "x", "reasoning_content": "y"}, HI],
}


def test_openai_takes_legal_calls() -> None:
    with WireServer("openai") as server:
        for messages in OPENAI_LEGAL:
            status, text = openai(server, messages=messages, tools=[function("f"), function("g")])
            assert status == 200, text
        seen = server.requests[0]
        assert seen.tools == ["f", "g"] and seen.refused == ""
        assert [message.role for message in seen.messages] == ["user", "assistant", "tool", "tool", "user"]
        assert seen.messages[1].calls == (WireCall("f", "{}", "a"), WireCall("g", "{}", "b"))
        assert seen.messages[2] == Seen(role="tool", text="done", result_of="b")


@pytest.mark.parametrize("what", OPENAI_ILLEGAL)
def test_openai_refuses(what: str) -> None:
    with WireServer("openai") as server:
        status, _ = openai(server, messages=OPENAI_ILLEGAL[what], tools=[function("f")])
        assert status == 400
        assert server.requests[0].refused and server.requests[0].status == 400


@pytest.mark.parametrize(
    "tools",
    [
        [],
        [function("f.g")],
        [function("")],
        [function("f"), function("f")],
        [{"type": "function", "function": {"name": "f", "parameters": {"type": "string"}}}],
    ],
)
def test_bad_tools_are_refused(tools: list[dict[str, Any]]) -> None:
    with WireServer("openai") as server:
        assert openai(server, tools=tools)[0] == 400
    if not tools:
        return
    with WireServer("anthropic") as server:
        sent = [
            {"name": tool["function"]["name"], "input_schema": tool["function"]["parameters"]}
            for tool in tools
        ]
        assert anthropic(server, tools=sent)[0] == 400
    with WireServer("gemini") as server:
        declared = [{"functionDeclarations": [tool["function"] for tool in tools]}]
        assert gemini(server, ["user"], tools=declared)[0] == 400


def test_a_form_without_fields_is_refused_by_openai() -> None:
    with WireServer("openai") as server:
        tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
        assert openai(server, tools=[tool])[0] == 400


@pytest.mark.parametrize(
    "field",
    [
        True,
        {"$ref": "#/x"},
        {"enum": [1]},
        {"type": "array", "items": {"const": 1}},
        {"anyOf": [{"oneOf": []}]},
    ],
)
def test_gemini_refuses_what_its_schemas_cannot_say(field: Any) -> None:
    with WireServer("gemini") as server:
        form = {"type": "object", "properties": {"x": field}}
        declared = [{"functionDeclarations": [{"name": "f", "parameters": form}]}]
        assert gemini(server, ["user"], tools=declared)[0] == 400


def test_gemma_takes_no_tools() -> None:
    with WireServer("openai-compatible") as server:
        status, text = openai(server, tools=[function("f")])
        assert status == 500 and "--jinja" in text and server.requests[0].refused
        assert openai(server, messages=OPENAI_LEGAL[1])[0] == 400


def use(*calls: tuple[str, str], before: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": call_id, "name": name, "input": {}} for call_id, name in calls]
    return {"role": "assistant", "content": [*before, *blocks]}


def gives(*call_ids: str, after: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": "done"} for call_id in call_ids]
    return {"role": "user", "content": [*blocks, *after]}


TEXT = {"type": "text", "text": "And?"}
F = [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]

ANTHROPIC_ILLEGAL: dict[str, dict[str, Any]] = {
    "no tools": {"messages": [HI, use(("a", "f")), gives("a")], "tools": None},
    "a choice of no tools": {"messages": [HI], "tools": None, "tool_choice": {"type": "none"}},
    "a result without its call": {"messages": [gives("a")]},
    "a result of another call": {"messages": [HI, use(("a", "f")), gives("b")]},
    "no result": {"messages": [HI, use(("a", "f")), HI]},
    "results in two messages": {
        "messages": [HI, use(("a", "f"), ("b", "f")), gives("a"), use(("c", "f")), gives("b", "c")]
    },
    "text before the result": {
        "messages": [HI, use(("a", "f")), {"role": "user", "content": [TEXT, *gives("a")["content"]]}]
    },
    "two results for one call": {"messages": [HI, use(("a", "f")), gives("a", "a")]},
    "two calls of one id": {"messages": [HI, use(("a", "f"), ("a", "f")), gives("a")]},
    "a bad name": {"messages": [HI, use(("a", "f.g")), gives("a")]},
    "a bad id": {"messages": [HI, use(("a b", "f")), gives("a b")]},
    "arguments that are no object": {
        "messages": [
            HI,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "{}"}]},
            gives("a"),
        ]
    },
    "an empty text beside a call": {
        "messages": [HI, use(("a", "f"), before=({"type": "text", "text": ""},)), gives("a")]
    },
    "a call of the user": {"messages": [{"role": "user", "content": use(("a", "f"))["content"]}]},
    "thinking nobody signed": {
        "messages": [
            HI,
            use(("a", "f"), before=({"type": "thinking", "thinking": "Hm.", "signature": "no"},)),
            gives("a"),
        ]
    },
}


def test_anthropic_takes_legal_calls() -> None:
    with WireServer("anthropic") as server:
        messages = [HI, use(("a", "f"), ("b", "f")), gives("b", "a", after=(TEXT,))]
        status, text = anthropic(server, messages=messages, tools=F)
        assert status == 200, text
        assert [message.role for message in server.requests[0].messages] == [
            "user", "assistant", "tool", "tool", "user",
        ]  # fmt: skip


@pytest.mark.parametrize("what", ANTHROPIC_ILLEGAL)
def test_anthropic_refuses(what: str) -> None:
    changes = {"tools": F} | ANTHROPIC_ILLEGAL[what]
    if changes["tools"] is None:
        del changes["tools"]
    with WireServer("anthropic") as server:
        status, _ = anthropic(server, **changes)
        assert status == 400 and server.requests[0].refused


def events(text: str) -> list[dict[str, Any]]:
    return [
        json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: {")
    ]


def test_anthropic_wants_its_signed_thinking_back() -> None:
    with WireServer("anthropic") as server:
        server.script(server.model, [Answer(thinking="Hm.", calls=(WireCall("f"),))])
        frames = events(anthropic(server, tools=F)[1])
        (signature,) = (
            frame["delta"]["signature"] for frame in frames if "signature" in frame.get("delta", {})
        )
        (call_id,) = (
            frame["content_block"]["id"] for frame in frames if frame.get("content_block", {}).get("id")
        )
        assert [frame["index"] for frame in frames if frame["type"] == "content_block_start"] == [0, 1]
        thought = {"type": "thinking", "thinking": "Hm.", "signature": signature}
        for before, status in (
            ((thought,), 200),
            ((), 400),
            ((thought | {"thinking": "Hm!"},), 400),
            ((thought | {"signature": "x"},), 400),
        ):
            messages = [HI, use((call_id, "f"), before=before), gives(call_id)]
            assert anthropic(server, messages=messages, tools=F)[0] == status, before
        # A turn that is over may have lost its thinking.
        over = [HI, use((call_id, "f")), gives(call_id), {"role": "assistant", "content": "So."}, HI]
        assert anthropic(server, messages=over, tools=F)[0] == 200


def contents(*given: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": parts} for role, parts in given]}


SAY = {"text": "Hi"}
CALL = {"functionCall": {"name": "f", "args": {}}}
DONE = {"functionResponse": {"name": "f", "response": {"content": "done"}}}

GEMINI_ILLEGAL: dict[str, dict[str, Any]] = {
    "a result without its call": contents(("user", [DONE])),
    "fewer results than calls": contents(("user", [SAY]), ("model", [CALL, CALL]), ("user", [DONE])),
    "more results than calls": contents(("user", [SAY]), ("model", [CALL]), ("user", [DONE, DONE])),
    "no result": contents(("user", [SAY]), ("model", [CALL]), ("user", [SAY])),
    "a result of another function": contents(
        ("user", [SAY]),
        ("model", [CALL]),
        ("user", [{"functionResponse": {"name": "g", "response": {}}}]),
    ),
    "text before the result": contents(("user", [SAY]), ("model", [CALL]), ("user", [SAY, DONE])),
    "a bad name": contents(
        ("user", [SAY]),
        ("model", [{"functionCall": {"name": "f g", "args": {}}}]),
        ("user", [{"functionResponse": {"name": "f g", "response": {}}}]),
    ),
    "arguments that are no object": contents(
        ("user", [SAY]), ("model", [{"functionCall": {"name": "f", "args": "{}"}}]), ("user", [DONE])
    ),
    "an empty text beside a call": contents(
        ("user", [SAY]), ("model", [{"text": ""}, CALL]), ("user", [DONE])
    ),
    "a made-up signature": contents(
        ("user", [SAY]), ("model", [CALL | {"thoughtSignature": "eHg="}]), ("user", [DONE])
    ),
}


def test_gemini_takes_legal_calls() -> None:
    with WireServer("gemini") as server:
        legal = contents(("user", [SAY]), ("model", [CALL, CALL]), ("user", [DONE, DONE, SAY]))
        status, text = gemini(server, [], **legal)
        assert status == 200, text
        assert [message.role for message in server.requests[0].messages] == [
            "user", "assistant", "tool", "tool", "user",
        ]  # fmt: skip


@pytest.mark.parametrize("what", GEMINI_ILLEGAL)
def test_gemini_refuses(what: str) -> None:
    with WireServer("gemini") as server:
        assert gemini(server, [], **GEMINI_ILLEGAL[what])[0] == 400
        assert server.requests[0].refused


def test_gemini_wants_the_signature_of_its_call_back() -> None:
    tools = [{"functionDeclarations": [{"name": "f"}]}]
    with WireServer("gemini") as server:
        server.script(
            server.model, [Answer(thinking="Hm.", calls=(WireCall("f"), WireCall("f", '{"n": 1}')))]
        )
        frames = events(gemini(server, ["user"], tools=tools)[1])
        parts = [part for frame in frames for part in frame["candidates"][0]["content"]["parts"]]
        first, second = (part for part in parts if "functionCall" in part)
        assert "thoughtSignature" in first and "thoughtSignature" not in second
        unsigned = {"functionCall": first["functionCall"]}
        for called, status in ((first, 200), (unsigned, 400), (unsigned | {"thoughtSignature": "x"}, 400)):
            body = contents(("user", [SAY]), ("model", [called, second]), ("user", [DONE, DONE]))
            assert gemini(server, [], **body)[0] == status
        over = contents(
            ("user", [SAY]), ("model", [unsigned]), ("user", [DONE]), ("model", [SAY]), ("user", [SAY])
        )
        assert gemini(server, [], **over)[0] == 200


@pytest.mark.parametrize(
    ("media_type", "data", "kinds"),
    [
        ("image/png", PIXEL, ("openai", "anthropic", "gemini")),
        ("image/gif", "R0lGODlhAQABAAAAACw=", ("openai", "anthropic")),
        ("image/tiff", "SUkqAAgAAAA=", ()),
        ("image/jpeg", PIXEL, ()),
        ("image/png", "not base 64", ()),
        ("image/png", "", ()),
    ],
)
def test_images(media_type: str, data: str, kinds: tuple[str, ...]) -> None:
    url = {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
    source = {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
    text = {"type": "text", "text": "Hi"}
    with WireServer("openai") as server:
        status = openai(server, messages=[{"role": "user", "content": [text, url]}])[0]
        assert (status == 200) == ("openai" in kinds)
    with WireServer("anthropic") as server:
        status = anthropic(server, messages=[{"role": "user", "content": [text, source]}])[0]
        assert (status == 200) == ("anthropic" in kinds)
    with WireServer("gemini") as server:
        image = {"inlineData": {"mimeType": media_type, "data": data}}
        status = gemini(server, [], **contents(("user", [SAY, image])))[0]
        assert (status == 200) == ("gemini" in kinds)


@pytest.mark.parametrize(
    ("data", "model", "status"),
    [
        (a_pdf(["Hi"]), "", 200),
        (a_pdf(["Hi"]), "-text", 400),
        (a_locked_pdf(), "", 400),
        (b"no PDF file", "", 400),
    ],
)
def test_pdf_files(data: bytes, model: str, status: int) -> None:
    text, media_type = {"type": "text", "text": "Hi"}, "application/pdf"
    encoded = base64.b64encode(data).decode()
    file = {"filename": "a.pdf", "file_data": f"data:{media_type};base64,{encoded}"}
    said = [{"type": "file", "file": file}, text]
    with WireServer("openai", models=(f"openai-wire{model}",)) as server:
        assert openai(server, model=server.model, messages=[{"role": "user", "content": said}])[0] == status
    with WireServer("ollama") as server:
        assert openai(server, model=server.model, messages=[{"role": "user", "content": said}])[0] == 400
    source = {"type": "base64", "media_type": media_type, "data": encoded}
    said = [{"type": "document", "source": source}, text]
    with WireServer("anthropic", models=(f"anthropic-wire{model}",)) as server:
        assert (
            anthropic(server, model=server.model, messages=[{"role": "user", "content": said}])[0] == status
        )
    if not model:
        with WireServer("gemini") as server:
            part = {"inlineData": {"mimeType": media_type, "data": encoded}}
            assert gemini(server, [], **contents(("user", [SAY, part])))[0] == status


def test_a_script_may_look_at_what_was_asked() -> None:
    with WireServer("openai") as server:
        server.script(
            server.model,
            lambda request: (
                Answer(calls=(WireCall("f", '{"n": 1}'),))
                if request.messages[-1].role == "user"
                else f"Got {request.messages[-1].text}."
            ),
        )
        status, text = openai(server, tools=[function("f")])
        assert status == 200 and '"finish_reason": "tool_calls"' in text
        status, text = openai(server, messages=[HI, calling(("a", "f")), result("a")])
        assert "Got" in text and "done." in text


def test_a_script_that_calls_what_was_not_offered_is_a_mistake_of_the_test() -> None:
    with WireServer("openai") as server:
        server.script(server.model, [Answer(calls=(WireCall("f"),))])
        assert openai(server)[0] == 500
        assert "offered none" in server.requests[0].refused


def test_a_fault_breaks_off_in_the_middle_of_a_call() -> None:
    with WireServer("openai") as server:
        server.script(server.model, [Fault("cleancut", call=WireCall("f", '{"text": "a long text"}'))])
        body = {"model": server.model, "messages": [HI], "stream": True, "tools": [function("f")]}
        status, text = post(server, "/chat/completions", body, {"authorization": f"Bearer {server.key}"})
        assert status == 200 and "Partial" in text and '"name": "f"' in text and "long text" not in text
