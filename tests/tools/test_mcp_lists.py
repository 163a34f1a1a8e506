"""Lists of servers that hold to the protocol loosely: sound entries are used, the others are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.core.tool import ServerState
from app.tools.tool_host.mcp_transports import mend_lists
from tests.tools.serving import bench, rude

ECHO = {
    "name": "echo",
    "description": "Says it.",
    "inputSchema": {"type": "object", "properties": {"t": {"type": "string"}}},
}
ANY = {"type": "object"}


@pytest.mark.parametrize(
    ("tool", "mended"),
    [
        (ECHO, ECHO),
        ({"name": "a"}, {"name": "a", "inputSchema": ANY}),
        ({"name": "a", "inputSchema": None}, {"name": "a", "inputSchema": ANY}),
        ({"name": "a", "inputSchema": "object"}, {"name": "a", "inputSchema": ANY}),
        ({"name": "a", "inputSchema": {"properties": {}}}, {"name": "a", "inputSchema": {"properties": {}, **ANY}}),
        (
            {"name": "a", "title": None, "description": 7, "annotations": ["x"], "outputSchema": {"type": "string"}, "icons": {}},
            {"name": "a", "inputSchema": ANY},
        ),
    ],
)  # fmt: skip
def test_a_tool_is_taken_as_far_as_it_can_be_read(tool: dict[str, Any], mended: dict[str, Any]) -> None:
    result: dict[str, Any] = {"tools": [tool]}
    assert mend_lists(result) == []
    assert result == {"tools": [mended]}


def test_entries_without_a_name_are_named_by_their_place_and_doubles_are_left_out() -> None:
    result: dict[str, Any] = {
        "tools": [ECHO, {"description": "nameless"}, "text", {"name": 7}, {**ECHO, "description": "again"}],
        "prompts": [{"name": "p"}, {"name": ""}, None],
        "resources": [
            {"uri": "file:///a", "name": "a"},
            {"name": "without an address"},
            {"uri": "file:///b"},
        ],
        "nextCursor": "",
    }
    assert mend_lists(result) == ["#2", "#3", "#4", "#2", "#3", "#2", "file:///b"]
    assert result == {
        "tools": [ECHO],
        "prompts": [{"name": "p"}],
        "resources": [{"uri": "file:///a", "name": "a"}],
    }


def test_other_results_stay_as_they_are() -> None:
    for result in ({"content": [], "nextCursor": "x"}, {"tools": "no list"}, {}):
        before = json.dumps(result)
        assert mend_lists(result) == []
        assert json.dumps(result) == before


async def test_a_malformed_tool_does_not_take_its_server_down(data_dir: Path) -> None:
    async with bench(data_dir) as one:
        await one.connect(rude("loose"))
        status = one.status("loose")
        assert status.state == ServerState.CONNECTED, status.detail
        assert status.tools == ("loose__add", "loose__bare", "loose__odd")
        assert status.withheld == ("#3",)
        assert one.tool("loose", "bare").parameters == {"type": "object"}
