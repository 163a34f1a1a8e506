"""The questions of servers: forms of one question a property, and words that become values again."""

from typing import Any

import pytest

from app.tools.tool_host.mcp_elicitation import ask_form, ask_link


class Person:
    """Answers with the words it was made with."""

    def __init__(self, *words: str | None) -> None:
        self.words = list(words)
        self.asked: list[tuple[str, str, list[str]]] = []

    async def __call__(self, question: str, kind: str, options: list[str]) -> str | None:
        self.asked.append((question, kind, options))
        return self.words.pop(0)


async def one(rule: dict[str, Any], *words: str | None) -> tuple[str, Any]:
    schema = {"type": "object", "properties": {"x": rule}, "required": ["x"]}
    action, content = await ask_form("m", schema, Person(*words))
    return action, content.get("x") if content else content


@pytest.mark.parametrize(
    ("rule", "words", "value"),
    [
        ({"type": "string"}, "hello", "hello"),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "아니요", False),
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "1.5", 1.5),
        ({"enum": [1, 2]}, "2", 2),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["Ah", "Beh"]}, "Beh", "b"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "Ah"}]}, "Ah", "a"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, "a, c", ["a", "c"]),
    ],
)
async def test_words_become_values_of_the_type(rule: dict[str, Any], words: str, value: object) -> None:
    assert await one(rule, words) == ("accept", value)


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ({"type": "boolean"}, "perhaps"),
        ({"type": "integer"}, "1.5"),
        ({"type": "number", "maximum": 3}, "nan"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, "4"),
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "string", "enum": ["a"]}, "b"),
    ],
)
async def test_wrong_words_are_asked_for_once_more(rule: dict[str, Any], wrong: str) -> None:
    assert await one(rule, wrong, wrong) == ("decline", None)
    person = Person(wrong, None)
    assert await ask_form("m", {"properties": {"x": rule}, "required": ["x"]}, person) == ("cancel", None)
    assert len(person.asked) == 2 and "(" in person.asked[1][0]


async def test_what_is_not_needed_may_be_left_out() -> None:
    properties = {"x": {"type": "integer"}, "y": {"type": "string"}}
    assert await ask_form("m", {"properties": properties}, Person(" ", "z")) == ("accept", {"y": "z"})


async def test_a_form_without_properties_is_a_yes_or_no() -> None:
    assert await ask_form("Go on?", {}, Person("yes")) == ("accept", {})
    assert await ask_form("Go on?", {}, Person("no")) == ("decline", None)
    assert await ask_form("Go on?", {}, Person(None)) == ("cancel", None)


async def test_the_words_of_a_server_hide_nothing_and_are_not_endless() -> None:
    person = Person("a")
    await ask_form("\u202e" + "x" * 9_000, {"properties": {"x": {"type": "string"}}}, person)
    assert person.asked[0][0].startswith("⟨U+202E⟩x") and len(person.asked[0][0]) <= 2_000


async def test_a_form_of_a_hundred_questions_is_declined() -> None:
    properties = {str(number): {"type": "string"} for number in range(100)}
    assert await ask_form("m", {"properties": properties}, Person()) == ("decline", None)


@pytest.mark.threat("T22")
@pytest.mark.parametrize("url", ["http://a.test", "javascript:alert(1)", "file:///etc/passwd", ""])
async def test_a_link_that_is_no_https_is_declined_unasked(url: str) -> None:
    assert await ask_link("m", url, Person()) == ("decline", None)


async def test_a_link_is_asked_about() -> None:
    assert await ask_link("m", "https://a.test", Person("no")) == ("decline", None)
    assert await ask_link("m", "https://a.test", Person("yes")) == ("accept", None)
