"""What a page is, read from a resource a stranger made: each form, and what cannot be shown says why."""

import base64
from typing import Any

import pytest

from app.gui.web_view.mcp_page import (
    ADDRESS,
    HTML,
    MAX_PAGE,
    TOO_LARGE,
    UNKNOWN,
    UNREADABLE,
    UiPage,
    read_page,
)


def resource(**fields: Any) -> dict[str, object]:
    return {"type": "resource", "resource": {"uri": "ui://a/1", **fields}}


def read(**fields: Any) -> UiPage:
    return read_page([resource(**fields)])


REMOTE = "application/vnd.mcp-ui.remote-dom+javascript; framework=react"


@pytest.mark.parametrize(
    ("fields", "kind", "text", "app"),
    [
        ({"mimeType": "text/html", "text": "<p>x"}, HTML, "<p>x", False),
        ({"mimeType": "Text/HTML; charset=utf-8", "text": "<p>x"}, HTML, "<p>x", False),
        ({"mimeType": "text/html;profile=mcp-app", "text": "<p>x"}, HTML, "<p>x", True),
        ({"mimeType": 'text/html; profile="mcp-app"', "text": "<p>x"}, HTML, "<p>x", True),
        ({"mimeType": "text/html", "blob": base64.b64encode("<p>ü".encode()).decode()}, HTML, "<p>ü", False),
        ({"mimeType": "text/html", "text": ""}, HTML, "", False),
        ({"mimeType": "text/uri-list", "text": "# c\nfile:///x\r\nHTTPS://a.b/c\nhttp://d"}, ADDRESS, "HTTPS://a.b/c", False),
        ({"mimeType": "text/uri-list", "text": "javascript:x"}, UNREADABLE, "", False),
        ({"mimeType": REMOTE, "text": "x"}, UNKNOWN, "", False),
        ({"mimeType": "application/json", "text": "{}"}, UNKNOWN, "", False),
        ({"mimeType": "html", "text": "<p>"}, UNKNOWN, "", False),
        ({"mimeType": "text/html\r\nX: y", "text": "<p>"}, UNKNOWN, "", False),
        ({"mimeType": 5, "text": "<p>"}, UNKNOWN, "", False),
        ({"text": "<p>"}, UNKNOWN, "", False),
        ({"mimeType": "text/html"}, UNREADABLE, "", False),
        ({"mimeType": "text/html", "text": ["<p>"]}, UNREADABLE, "", False),
        ({"mimeType": "text/html", "blob": "no base 64!"}, UNREADABLE, "", False),
        ({"mimeType": "text/html", "blob": base64.b64encode(b"\xff\xfe").decode()}, UNREADABLE, "", False),
        ({"mimeType": "text/html", "text": "x" * (MAX_PAGE + 1)}, TOO_LARGE, "", False),
    ],
)  # fmt: skip
def test_a_resource_is_read_or_says_why_not(fields: dict[str, Any], kind: str, text: str, app: bool) -> None:
    page = read(**fields)
    assert (page.kind, page.text, page.app) == (kind, text, app)


def test_the_first_page_counts_and_no_page_is_unreadable() -> None:
    other = {"type": "resource", "resource": {"uri": "file:///x", "mimeType": "text/html", "text": "no"}}
    first = resource(mimeType="text/html", text="first")
    assert read_page([other, first, resource(mimeType="text/html", text="second")]).text == "first"
    for nothing in ([], [other], [{"type": "resource"}], [{"resource": "ui://x"}]):
        assert read_page(nothing).kind == UNREADABLE


@pytest.mark.parametrize(
    ("size", "height"),
    [(["300px", "200px"], 200), ([300, 240], 240), (["1", "-5px"], 0), (["1", "²"], 0), ("200px", 0), (None, 0), (["1", "9" * 400], 0), ([1], 0)],
)  # fmt: skip
def test_the_wish_for_a_height_is_a_number_or_none(size: object, height: int) -> None:
    page = read(mimeType="text/html", text="x", _meta={"mcpui.dev/ui-preferred-frame-size": size})
    assert page.height == height


def test_data_for_the_page_is_an_object_or_none() -> None:
    key = "mcpui.dev/ui-initial-render-data"
    assert read(mimeType="text/html", text="x", _meta={key: {"a": 1}}).data == {"a": 1}
    assert read(mimeType="text/html", text="x", _meta={key: [1]}).data is None
    assert read(mimeType="text/html", text="x", _meta="no").data is None
