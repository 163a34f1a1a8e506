"""What a small model wrote as a plan, read as steps."""

import json

import pytest

from app.engine.turns.tool_calls import _plan


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("1. Look around.\n2. Write it down.", ["Look around.", "Write it down."]),
        ("**Look** around\n- Write", ["Look around", "Write"]),
        ("1. Decorations: choose them. For this party, use balloons and", ["Decorations: choose them.", "For this party, use balloons and"]),
        ("a\n2. b\n3. c\n4. d", ["a", "b", "c"]),
        ("1. Only", ["Only"]),
        ("", ["The task"]),
    ],
)  # fmt: skip
def test_words_become_steps(words: str, steps: list[str]) -> None:
    [call] = _plan("The task", words)
    assert json.loads(call.arguments) == {"items": steps}
