"""The names that MCP tools get for models: always legal, never the same for two."""

import re

from hypothesis import given
from hypothesis import strategies as st

from app.tools.toolbox import file_name, tool_key

NAMES = st.text(min_size=1, max_size=90)


def test_plain_names_stay_as_they_are() -> None:
    assert tool_key("time", "get_current_time") == "time__get_current_time"
    assert file_name("my-server") == "my-server"


@given(NAMES, NAMES)
def test_a_key_is_one_that_providers_take(server: str, tool: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool_key(server, tool))
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,49}", file_name(server))


@given(st.lists(st.tuples(NAMES, NAMES), unique=True, max_size=20))
def test_two_tools_never_share_a_key(names: list[tuple[str, str]]) -> None:
    assert len({tool_key(*name) for name in names}) == len(names)


def test_names_that_look_alike_stay_apart() -> None:
    pairs = [
        ("a", "b__c"),
        ("a__b", "c"),
        ("a b", "c"),
        ("a_b", "c"),
        ("a", "x" * 80),
        ("a", "x" * 81),
        ("a_", "_c"),
    ]
    assert len({tool_key(*pair) for pair in pairs}) == len(pairs)
