"""Tools as every provider accepts them: what they are sent as, and that their calls have the true names again."""

import json
from typing import Any

import pytest

from app.providers.model_host.tool_schemas import legal_tools, refused_tool
from app.providers.remote import RemoteModels
from tests.providers.asking import Heard, ask
from tests.providers.tool_chats import request
from tests.wire import Answer, Refusal, WireCall, WireServer
from tests.wire.fixtures import FOUR

TEXT = {"type": "string"}


def tool(name: str = "find", **schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "Finds.", "parameters": schema}}


def sent(schema: dict[str, Any], kind: str = "openai") -> dict[str, Any]:
    [legal] = legal_tools(kind, [tool(**schema)]).tools
    parameters: dict[str, Any] = legal["function"]["parameters"]
    return parameters


OBJECT = {"type": "object"}
ID_OR_URL = {"id": TEXT, "url": TEXT}


@pytest.mark.parametrize(
    ("schema", "legal"),
    [
        ({}, {**OBJECT, "properties": {}}),
        ({"properties": {"a": TEXT}}, {**OBJECT, "properties": {"a": TEXT}}),
        ({"type": "string"}, {**OBJECT, "properties": {}}),
        (
            {**OBJECT, "properties": ID_OR_URL, "anyOf": [{"required": ["id"]}, {"required": ["url"]}]},
            {**OBJECT, "properties": ID_OR_URL, "description": "Needs id or url."},
        ),
        (
            {"oneOf": [{"properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]},
                       {"properties": {"a": {"type": "integer"}, "c": TEXT}, "required": ["a"]}]},
            {**OBJECT, "properties": {"a": TEXT, "b": TEXT, "c": TEXT}, "required": ["a"], "description": "Needs a, b or a."},
        ),
        (
            {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": TEXT}, "required": ["b"]}]},
            {**OBJECT, "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]},
        ),
        (
            {**OBJECT, "properties": {"a": True, "b": {"type": "any"}, "c": {"type": "array"}, "d": {"type": ["string", "x"]}}},
            {**OBJECT, "properties": {"a": {}, "b": {}, "c": {"type": "array", "items": {}}, "d": {"type": ["string"]}}},
        ),
        (
            {**OBJECT, "properties": {"n": {"type": "number", "minimum": 1, "exclusiveMinimum": True, "required": True}},
             "required": ["n", "n", "gone"]},
            {**OBJECT, "properties": {"n": {"type": "number", "minimum": 1}}, "required": ["n"]},
        ),
        (
            {**OBJECT, "properties": {"$top": {"type": "integer", "description": "How many."}, "검색어": TEXT, "top": TEXT},
             "required": ["$top", "검색어"]},
            {**OBJECT, "properties": {
                "top_2": {"type": "integer", "description": "$top: How many."},
                "property": {"type": "string", "description": "검색어"},
                "top": TEXT,
             }, "required": ["top_2", "property"]},
        ),
    ],
)  # fmt: skip
def test_a_schema_becomes_one_that_all_accept(schema: dict[str, Any], legal: dict[str, Any]) -> None:
    before = json.dumps(schema)
    assert sent(schema) == legal
    assert json.dumps(schema) == before


def test_names_stay_apart_and_short() -> None:
    keys = ["x" * 80, "x" * 80 + "y", "@id", "#id", "id", "", "日本"]
    properties = sent({**OBJECT, "properties": dict.fromkeys(keys, TEXT)})["properties"]
    assert len(properties) == len(keys)
    assert all(0 < len(key) <= 64 and key.isascii() for key in properties)


def test_no_schema_is_too_deep() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    for kind in FOUR:
        assert len(json.dumps(sent(deep, kind))) < 3_000


def test_what_has_no_legal_form_is_left_out_and_named() -> None:
    odd = tool("odd", type="object", properties={"a": {"default": float("nan")}})
    found = legal_tools("openai", [tool("a"), odd, tool("b"), tool("a"), tool("c")], without=["c"])
    assert [one["function"]["name"] for one in found.tools] == ["a", "b"]
    assert found.left_out == ["odd", "a", "c"]
    many = legal_tools("openai", [tool(f"t{number}") for number in range(130)])
    assert (len(many.tools), many.left_out) == (128, ["t128", "t129"])


@pytest.mark.parametrize(
    ("detail", "name"),
    [
        ("tools.1.custom.input_schema: JSON schema is invalid", "b"),
        ("Invalid schema for function 'c': array schema missing items", "c"),
        ("tools[0].function.parameters", "a"),
        ("GenerateContentRequest.tools[0].function_declarations[2].parameters: is not valid", "c"),
        ("tools.9.custom", ""),
        ("Invalid schema for function 'gone'", ""),
    ],
)
def test_a_refusal_names_its_tool(detail: str, name: str) -> None:
    assert refused_tool(detail, [tool("a"), tool("b"), tool("c")]) == name


NESTED = tool(
    type="object",
    properties={
        "$filter": {"type": "object", "properties": {"날짜": TEXT, "plain": TEXT}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"@id": TEXT}}},
    },
)
TRUE = {"$filter": {"날짜": "오늘", "plain": "x"}, "list": [{"@id": "1"}, {"@id": "2", "more": [3]}]}
RENAMED = {"filter": {"property": "오늘", "plain": "x"}, "list": [{"id": "1"}, {"id": "2", "more": [3]}]}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("kind", FOUR)
async def test_calls_have_the_true_names_and_earlier_calls_those_that_are_sent(
    models: RemoteModels, servers: dict[str, WireServer], kind: str
) -> None:
    server = servers[kind]
    first = Answer("I look.", calls=(WireCall("find", json.dumps(RENAMED)), WireCall("find", "")))
    server.script(server.model, [first, "Done."])
    heard = await ask(models, request(server, tools=(NESTED,)))
    assert [json.loads(call.arguments or "{}") for call in heard.calls] == [TRUE, {}]
    await ask(models, request(server, said(heard), *results(heard), tools=(NESTED,)))
    body = json.dumps(server.requests[-1].body, ensure_ascii=False)
    assert '$filter\\":' not in body and '"$filter":' not in body
    assert server.requests[-1].refused == ""


def said(heard: Heard) -> dict[str, Any]:
    calls = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
        for one in heard.calls
    ]
    assert heard.finished is not None
    return {"role": "assistant", "content": heard.text, "tool_calls": calls} | dict(
        heard.finished.state or {}
    )


def results(heard: Heard) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": one.id, "content": "Found."} for one in heard.calls]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_refused_tool_is_left_out_and_the_model_answers(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    tools = tuple(tool(name, type="object") for name in ("good", "odd", "worse"))
    server.script(
        server.model,
        [
            Refusal(400, "Invalid schema for function 'odd': it is odd."),
            Refusal(400, "Invalid schema for function 'worse': it is worse."),
            "Hello.",
        ],
    )
    heard = await ask(models, request(server, tools=tools))
    assert heard.text == "Hello."
    assert heard.finished is not None and heard.finished.left_out == ("odd", "worse")
    offered = [one["function"]["name"] for one in server.requests[-1].body["tools"]]
    assert offered == ["good"]
    before = len(server.requests)
    server.script(server.model, ["Again."])
    again = await ask(models, request(server, tools=tools))
    assert again.finished is not None and again.finished.left_out == ("odd", "worse")
    assert len(server.requests) == before + 1
