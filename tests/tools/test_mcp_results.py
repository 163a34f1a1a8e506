"""What servers offer and answer, made small and plain."""

import base64
import json
from typing import Any

import pytest

from app.core.files import size_in
from app.core.texts import visible
from app.tools.tool_host.mcp_results import (
    for_models,
    offered_tool,
    offered_tools,
    plain_result,
    plain_schema,
)
from tests.pictures import gif


def test_what_nobody_would_see_is_shown() -> None:
    assert visible("a\u202eb\u200bc\x1b[0m\U000e0041") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[0m⟨U+E0041⟩"
    assert visible("zwei\nZeilen\tund 한국어") == "zwei\nZeilen\tund 한국어"


@pytest.mark.threat("T12")
def test_a_tool_is_hashed_as_sent_and_shown_short() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "x\u202e"}}}
    tool = {"name": "t", "description": "d" * 9_000 + "\u202e", "inputSchema": schema}
    offer = offered_tool(tool)
    assert len(offer["description"]) == 4_000
    assert offered_tool({"name": "t", "description": "a" + "\n" * 200 + "b"})["description"] == "a\n\n\nb"
    assert offer["schema"]["properties"]["a"]["description"] == "x⟨U+202E⟩"
    told = plain_schema(
        {
            "properties": {
                "enum": {"default": "a\u200b", "examples": ["b" + "\n" * 9 + "c"], "$comment": "\u2060"},
                "b": {"enum": ["d\u200b"], "pattern": "[\u200b]", "x-note": {"say": "e\u202e"}},
            },
            "required": ["b\u200b"],
        }
    )
    assert told["properties"] == {
        "enum": {"default": "a⟨U+200B⟩", "examples": ["b\n\n\nc"], "$comment": "⟨U+2060⟩"},
        # A call must have these for the letter.
        "b": {"enum": ["d\u200b"], "pattern": "[\u200b]", "x-note": {"say": "e⟨U+202E⟩"}},
    }
    assert told["required"] == ["b\u200b"]
    hashes = {
        offered_tool(one)["hash"]
        for one in (
            tool,
            {**tool, "description": tool["description"] + "!"},
            {**tool, "inputSchema": {"type": "object"}},
            {**tool, "name": "u"},
            {**tool, "annotations": {"readOnlyHint": True}},
            {**tool, "annotations": {"title": "Harmless"}},
            {**tool, "_meta": {"ui": {"resourceUri": "ui://a"}}},
            {**tool, "_meta": {"ui": {"resourceUri": "ui://a", "csp": {"connectDomains": ["a.test"]}}}},
            {**tool, "_meta": {"ui/resourceUri": "ui://a"}},
        )
    }
    assert len(hashes) == 9
    assert offered_tool(dict(reversed(tool.items())))["hash"] == offer["hash"]


def test_a_tool_for_pages_only_is_not_for_models() -> None:
    assert for_models({"name": "a"})
    assert for_models({"name": "a", "_meta": {"ui": {"visibility": ["model", "app"]}}})
    assert not for_models({"name": "a", "_meta": {"ui": {"visibility": ["app"]}}})
    assert not for_models({"name": ""})
    assert not for_models({"name": "x" * 201})


def test_references_are_put_in_and_circles_end() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/Name"},
            "b": {"$ref": "#/$defs/Node"},
            "c": {"$ref": "http://x"},
        },
        "$defs": {"Name": {"type": "string"}, "Node": node},
    }
    assert plain_schema(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "object", "properties": {"next": {}}},
            "c": {},
        },
    }


def test_a_schema_that_grows_without_end_or_is_too_long_becomes_any_object() -> None:
    bomb: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {}}
    for level in range(12):
        inner = {"$ref": f"#/$defs/d{level + 1}"}
        bomb["$defs"][f"d{level}"] = {"properties": {str(number): inner for number in range(20)}}
    assert plain_schema(bomb) == {"type": "object"}
    assert plain_schema({"type": "object", "description": "x" * 30_000}) == {"type": "object"}
    assert plain_schema([]) == {"type": "object"}
    assert plain_schema({"$defs": [1], "properties": []}) == {"type": "object", "properties": []}
    assert plain_schema({"type": "string"})["type"] == "object"
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"items": deep}
    json.dumps(plain_schema(deep))


def test_a_property_may_have_the_name_of_a_word_of_schemas() -> None:
    properties = {"title": {"type": "string"}, "$id": {"type": "string"}, "definitions": {"type": "array"}}
    assert plain_schema({"type": "object", "properties": properties})["properties"] == properties


def test_an_animation_is_a_picture_for_the_user_alone() -> None:
    data = base64.b64encode(gif((208, 48, 48), (48, 208, 48))).decode()
    result = plain_result({"content": [{"type": "image", "data": data, "mimeType": "image/gif"}]})
    [file] = result["files"]
    assert (file["name"], file["media_type"], size_in(file["data"])) == ("image-1.gif", "image/gif", (60, 40))
    assert "shown to the user" in result["text"]


def test_parts_become_text_and_pages_resources() -> None:
    page = {"uri": "ui://a/1", "mimeType": "text/html", "text": "<p>"}
    result = plain_result(
        {
            "content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "audio", "data": "AAAAAAAA", "mimeType": "audio/wav"},
                {"type": "resource", "resource": page},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
                {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
                {"type": "resource_link", "uri": "file:///c", "name": "c"},
            ],
            "structuredContent": {"n": 1},
        }
    )
    assert result == {
        "ok": True,
        "text": "one\n[image-1.png, image/png, 3 bytes: broken, not shown]\n"
        "[audio-1.wav, audio/wav, 6 bytes: shown to the user]\ntwo\n"
        "[b, application/octet-stream, 3 bytes: shown to the user]\n[c](file:///c)",
        "resources": [
            {"type": "resource", "resource": page},
            {"type": "resource_link", "uri": "file:///c", "mimeType": "", "name": "c", "description": ""},
        ],
        "files": [
            {"name": "audio-1.wav", "media_type": "audio/wav", "text": "", "data": "AAAAAAAA"},
            {"name": "a", "media_type": "text/plain", "text": "two", "data": ""},
            {"name": "b", "media_type": "application/octet-stream", "text": "", "data": "AAAA"},
        ],
    }


def test_structured_content_stands_in_for_a_text_that_is_not_there() -> None:
    result = plain_result({"content": [], "structuredContent": {"n": "ü"}, "isError": True})
    assert result == {"ok": False, "text": '{"n": "ü"}', "resources": [], "files": []}


@pytest.mark.parametrize(
    ("texts", "structured", "shown"),
    [
        (["Two rooms are free."], {"rooms": [4, 7]}, 'Two rooms are free.\n{"rooms": [4, 7]}'),
        (['{ "rooms": [4, 7] }'], {"rooms": [4, 7]}, '{ "rooms": [4, 7] }'),
        (["3"], {"result": 3}, "3"),
        (["3"], {"result": "3"}, "3"),
        (["done"], {"result": "done"}, "done"),
        (["a", "b"], {"result": ["a", "b"]}, "a\nb"),
        (["3"], {"result": 4}, '3\n{"result": 4}'),
        ([], {"result": []}, '{"result": []}'),
        (["[" * 100_000], {"n": 1}, "[" * 100_000 + '\n{"n": 1}'),
    ],
)
def test_structured_content_reaches_the_model_once(
    texts: list[str], structured: dict[str, object], shown: str
) -> None:
    content = [{"type": "text", "text": text} for text in texts]
    assert plain_result({"content": content, "structuredContent": structured})["text"] == shown


def test_a_tool_that_runs_only_as_a_task_is_not_offered() -> None:
    tools = [
        {"name": support, "execution": {"taskSupport": support}}
        for support in ("required", "optional", "forbidden")
    ]
    assert [tool["name"] for tool in offered_tools([*tools, {"name": "plain", "execution": None}])] == [
        "optional",
        "forbidden",
        "plain",
    ]


def test_what_is_too_long_is_cut_and_says_so() -> None:
    text = plain_result({"content": [{"type": "text", "text": "x" * 200_007}]})["text"]
    assert text.endswith("x\n[cut: 7 more characters]")
    page = {"type": "resource", "resource": {"uri": "ui://a", "text": "x" * 1_000_001}}
    result = plain_result({"content": [page]})
    assert result["resources"] == [] and "not shown" in result["text"]
    half = {"type": "resource", "resource": {"uri": "ui://a", "text": "x" * 400_000}}
    assert len(plain_result({"content": [half] * 9})["resources"]) == 2


def test_a_server_of_endless_tools_offers_some_of_them() -> None:
    assert len(offered_tools([{"name": str(number)} for number in range(500)])) == 200
    long = {"type": "object", "description": "x" * 19_000}
    offers = offered_tools([{"name": str(number), "inputSchema": long} for number in range(100)])
    assert 15 < len(offers) < 25
