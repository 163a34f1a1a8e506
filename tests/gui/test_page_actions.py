"""What a page may ask for: the five actions in both tongues, and everything else is dropped."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.gui.web_view.mcp_page import MAX_MESSAGE, PageAction, PageFacts, PageTalk
from tests.repeats import examples

FACTS = PageFacts(
    dark=True, language="ko", arguments='{"which": "fair"}', content="Which day?", data={"a": 1}
)


class Talk:
    """A conversation with what was said to the page."""

    def __init__(self) -> None:
        self.said: list[Mapping[str, Any]] = []
        self._talk = PageTalk(FACTS, self.said.append)

    def take(self, message: object) -> PageAction | None:
        return self._talk.take(json.dumps(message))

    def raw(self, text: str) -> PageAction | None:
        return self._talk.take(text)


def ui(kind: str, **payload: object) -> dict[str, object]:
    return {"type": kind, "payload": payload}


def rpc(method: str, number: object = None, **params: object) -> dict[str, object]:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if number is None else {**message, "id": number}


@pytest.mark.parametrize(
    ("message", "kind", "text", "arguments"),
    [
        (ui("prompt", prompt=" Monday\0 "), "prompt", "Monday\ufffd", ""),
        (ui("link", url="https://a.b/"), "link", "https://a.b/", ""),
        (ui("tool", toolName="day", params={"n": 1}), "tool", "day", '{"n": 1}'),
        (ui("tool", toolName="day"), "tool", "day", "{}"),
        (ui("intent", intent="buy", params={"n": "ü"}), "intent", "buy", '{"n": "ü"}'),
        (ui("notify", message="a\n b" + "x" * 900), "notify", "a b" + "x" * 497, ""),
        (rpc("ui/message", 1, role="user", content=[{"type": "text", "text": "Monday"}]), "prompt", "Monday", ""),
        (rpc("ui/message", "a", content={"type": "text", "text": "Monday"}), "prompt", "Monday", ""),
        (rpc("ui/open-link", 0, url="https://a.b/"), "link", "https://a.b/", ""),
        (rpc("tools/call", 2, name="day", arguments={"n": 1}), "tool", "day", '{"n": 1}'),
        (rpc("notifications/message", level="info", data="hello"), "notify", "hello", ""),
        (rpc("notifications/message", data={"a": 1}), "notify", '{"a": 1}', ""),
    ],
)  # fmt: skip
def test_the_actions_are_read_in_both_tongues(message: object, kind: str, text: str, arguments: str) -> None:
    action = Talk().take(message)
    assert action is not None
    assert (action.kind, action.text, action.arguments) == (kind, text, arguments)


@pytest.mark.parametrize(
    "message",
    [
        None, 5, "prompt", [], {}, {"type": "prompt"}, {"type": ["prompt"]}, {"type": "prompt", "payload": "x"},
        ui("prompt"), ui("prompt", prompt=5), ui("prompt", prompt="  "), ui("prompt", prompt="x" * 20_001),
        ui("link", url="x" * 2_001), ui("tool", toolName="day", params=[1]), ui("tool", toolName="d" * 201),
        ui("tool", toolName={"a": 1}), ui("steal", steal="x"), ui("ui-size-change", height="9"),
        ui("ui-size-change", height=-1), ui("ui-size-change", height=10**9), ui("ui-size-change", height=True),
        rpc("ui/message", 1, content=[]), rpc("ui/message", 1, content=[{"type": "image"}]),
        rpc("ui/message", 1, content=[{"type": "text", "text": "a"}, {"type": "image"}, None]),
        rpc("ui/open-link", 1), rpc("tools/call", 1, name=5), rpc("tools/call", name="day"),
        rpc("ui/message", True, content="x"), rpc("ui/message", [1]), rpc("sampling/createMessage", 1),
        {"jsonrpc": "2.0", "method": 5, "id": 1}, {"jsonrpc": "2.0", "method": "ping", "id": 1, "params": []},
        {"jsonrpc": "2.0", "id": "x" * 101, "method": "ui/open-link", "params": {"url": "https://a"}},
        rpc("ui/notifications/size-changed", height=float("nan")),
    ],
)  # fmt: skip
def test_what_is_not_exactly_of_a_form_asks_for_nothing(message: object) -> None:
    assert Talk().take(message) is None


def test_text_that_is_no_message_asks_for_nothing() -> None:
    talk = Talk()
    for text in ("", "{", "[" * 50_000, "9" * 5_000, '{"type": "prompt", "payload": {"prompt": "\\ud800"'):
        assert talk.raw(text) is None
    assert talk.raw(json.dumps(ui("prompt", prompt="x", more="y" * MAX_MESSAGE))) is None
    assert talk.said == []


def test_a_page_is_welcomed_and_told_its_call_and_its_result() -> None:
    talk = Talk()
    assert talk.take(rpc("ui/initialize", 7, appInfo={}, appCapabilities={})) is None
    assert talk.take(rpc("ui/notifications/initialized")) is None
    welcome, call, result = talk.said
    assert (welcome["id"], welcome["result"]["protocolVersion"]) == (7, "2026-01-26")
    assert welcome["result"]["hostContext"]["theme"] == "dark"
    assert welcome["result"]["hostContext"]["locale"] == "ko"
    assert call["params"] == {"arguments": {"which": "fair"}}
    assert result["params"] == {"content": [{"type": "text", "text": "Which day?"}]}


def test_a_page_of_the_older_kind_gets_its_data_and_a_word_for_each_message() -> None:
    talk = Talk()
    talk.take({"type": "ui-lifecycle-iframe-ready"})
    assert talk.said.pop() == {"type": "ui-lifecycle-iframe-render-data", "payload": {"renderData": {"a": 1}}}
    talk.take({**ui("notify", message="x"), "messageId": "m1"})
    assert [(one["type"], one["messageId"]) for one in talk.said] == [
        ("ui-message-received", "m1"),
        ("ui-message-response", "m1"),
    ]
    size = talk.take(ui("ui-size-change", height=120.4))
    assert size is not None and (size.kind, size.height) == ("size", 120)


def test_a_tool_has_no_answer_before_the_user_has_spoken() -> None:
    talk = Talk()
    for message in (rpc("tools/call", 3, name="day"), {**ui("tool", toolName="day"), "messageId": "m"}):
        talk.said.clear()
        action = talk.take(message)
        assert action is not None and action.refusal is not None
        assert not any("result" in one or one.get("type") == "ui-message-response" for one in talk.said)
        assert "did not allow" in json.dumps(action.refusal)


def test_what_moot_does_not_do_is_said() -> None:
    talk = Talk()
    talk.take(rpc("sampling/createMessage", 9))
    assert talk.said == [{"jsonrpc": "2.0", "id": 9, "error": {"code": -32601, "message": "Not supported."}}]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
words = st.sampled_from(
    [
        "prompt",
        "link",
        "tool",
        "intent",
        "notify",
        "ui-size-change",
        "ui/initialize",
        "ui/message",
        "tools/call",
    ]
)


@settings(max_examples=examples(200), deadline=None)
@given(
    message=st.fixed_dictionaries(
        {},
        optional={
            "type": words | values, "method": words | values, "payload": values, "params": values,
            "id": values, "jsonrpc": st.just("2.0"), "messageId": values,
        },
    )
)  # fmt: skip
def test_no_message_breaks_anything(message: object) -> None:
    talk = Talk()
    action = talk.take(message)
    assert action is None or action.kind in ("prompt", "link", "tool", "intent", "notify", "size")
    json.dumps(talk.said)
