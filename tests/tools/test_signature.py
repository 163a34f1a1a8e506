"""A tool's schema is read off its function, and arguments are checked by it in words."""

from typing import Any, Literal

import pytest

from app.core.tool import ToolError
from app.tools.declared import MAX_CHARACTERS, Signature, signature_of


class Given:
    """Something Moot fills in."""


def every_kind(
    given: Given,
    text: str,
    kind: Literal["a", "b"],
    count: int = 3,
    share: float = 0.5,
    really: bool = False,
    names: list[str] | None = None,
    number: int | None = None,
) -> None:
    """Do something,
    and more.

    A second paragraph.

    Args:
        given: Not the model's.
        text: A text
            of two lines.
        kind: Which: a or b.
        count: How many.
        share: How much.
        really: Whether.
        names: Which ones.
        number: Any number.

    Returns:
        Nothing.
    """


@pytest.fixture
def signature() -> Signature:
    return signature_of(every_kind, (Given,))


def test_the_schema_is_flat_and_complete(signature: Signature) -> None:
    assert signature.description == "Do something, and more. A second paragraph."
    assert signature.given == {"given": Given}
    assert signature.parameters == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "A text of two lines."},
            "kind": {"type": "string", "enum": ["a", "b"], "description": "Which: a or b."},
            "count": {"type": "integer", "description": "How many."},
            "share": {"type": "number", "description": "How much."},
            "really": {"type": "boolean", "description": "Whether."},
            "names": {"type": "array", "items": {"type": "string"}, "description": "Which ones."},
            "number": {"type": "integer", "description": "Any number."},
        },
        "required": ["text", "kind"],
    }


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ({"text": "", "kind": "a"}, {"text": "", "kind": "a"}),
        ({"text": "t", "kind": "b", "count": 5.0}, {"text": "t", "kind": "b", "count": 5}),
        ({"text": "t", "kind": "b", "share": 1}, {"text": "t", "kind": "b", "share": 1}),
        ({"text": "t", "kind": "b", "count": None, "names": None}, {"text": "t", "kind": "b"}),
        (
            {"text": "t", "kind": "b", "names": ["x"], "really": True},
            {"text": "t", "kind": "b", "names": ["x"], "really": True},
        ),
        ({"text": "x" * MAX_CHARACTERS, "kind": "a"}, {"text": "x" * MAX_CHARACTERS, "kind": "a"}),
    ],
)
def test_right_arguments_are_taken(
    signature: Signature, arguments: dict[str, Any], taken: dict[str, Any]
) -> None:
    assert signature.checked("it", arguments) == taken


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "it: argument `text` is missing; it is a text."),
        ({"text": None, "kind": "a"}, "argument `text` is missing"),
        ({"text": "t"}, 'argument `kind` is missing; it is one of "a", "b".'),
        ({"text": 5, "kind": "a"}, "argument `text` must be a text, not a number."),
        ({"text": True, "kind": "a"}, "argument `text` must be a text, not true or false."),
        ({"text": ["t"], "kind": "a"}, "argument `text` must be a text, not a list."),
        ({"text": {"t": 1}, "kind": "a"}, "argument `text` must be a text, not an object."),
        ({"text": "t", "kind": "c"}, 'argument `kind` must be one of "a", "b", not \'c\'.'),
        ({"text": "t", "kind": "c" * 9_000}, "argument `kind` must be"),
        ({"text": "t", "kind": "a", "count": "5"}, "argument `count` must be a whole number, not a text."),
        (
            {"text": "t", "kind": "a", "count": True},
            "argument `count` must be a whole number, not true or false.",
        ),
        ({"text": "t", "kind": "a", "count": 5.5}, "argument `count` must be a whole number, not a number."),
        ({"text": "t", "kind": "a", "count": float("inf")}, "argument `count` must be a whole number"),
        ({"text": "t", "kind": "a", "share": float("nan")}, "argument `share` must be a number"),
        ({"text": "t", "kind": "a", "share": "x"}, "argument `share` must be a number, not a text."),
        ({"text": "t", "kind": "a", "really": 1}, "argument `really` must be true or false, not a number."),
        ({"text": "t", "kind": "a", "names": "x"}, "argument `names` must be a list, not a text."),
        ({"text": "t", "kind": "a", "names": ["x", 1]}, "argument `names`[1] must be a text, not a number."),
        ({"text": "t", "kind": "a", "names": [None]}, "argument `names`[0] must be a text, not null."),
        ({"text": "t", "kind": "a", "given": 1}, "there is no argument 'given'; it takes `text`, `kind`"),
        ({"text": "t", "kind": "a", "x" * 9_000: 1}, "there is no argument 'xxx"),
        ({"text": "x" * 10_000_000, "kind": "a"}, "`text` is 10,000,000 characters long; at most 100,000"),
        ({"text": "t", "kind": "a", "names": ["x" * 100_001]}, "`names`[0] is 100,001 characters long"),
    ],
)
def test_wrong_arguments_are_told_by_name_and_briefly(
    signature: Signature, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolError) as raised:
        signature.checked("it", arguments)
    assert words in str(raised.value)
    assert len(str(raised.value)) < 300
