"""The questions of servers: forms with all fields at once, and answers that become values again."""

from typing import Any

import pytest

from app.core.message import FormField
from app.tools.tool_host.mcp_elicitation import ask_form, ask_link


class Person:
    """Answers with the words it was made with."""

    def __init__(self, *words: str | None) -> None:
        self.words = list(words)
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, question: dict[str, Any]) -> str | None:
        self.asked.append(question)
        return self.words.pop(0)


async def one(rule: dict[str, Any], words: str) -> tuple[str, Any]:
    schema = {"type": "object", "properties": {"x": rule}, "required": ["x"]}
    action, content = await ask_form("m", schema, Person(words))
    return action, content.get("x") if content else content


@pytest.mark.parametrize(
    ("rule", "words", "value"),
    [
        ({"type": "string"}, "hello", "hello"),
        ({"type": "string", "format": "email"}, "ada@example.org", "ada@example.org"),
        ({"type": "string", "format": "date"}, "2026-02-28", "2026-02-28"),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "아니요", False),
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "1.5", 1.5),
        ({"enum": [1, 2]}, "2", 2),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["Ah", "Beh"]}, "Beh", "b"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "Ah"}]}, "Ah", "a"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, "a, c", ["a", "c"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '{"x": ["b"]}', ["b"]),
    ],
)
async def test_words_become_values_of_the_type(rule: dict[str, Any], words: str, value: object) -> None:
    assert await one(rule, words) == ("accept", value)


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ({"type": "string"}, " "),
        ({"type": "string", "format": "email"}, "ada at example"),
        ({"type": "string", "format": "date"}, "2026-02-30"),
        ({"type": "boolean"}, "perhaps"),
        ({"type": "integer"}, "1.5"),
        ({"type": "number", "maximum": 3}, "nan"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, "4"),
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "string", "enum": ["a"]}, "b"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}, "a"),
        ({"type": "string"}, '{"y": "of another field"}'),
    ],
)
async def test_what_does_not_fit_is_never_sent_to_the_server(rule: dict[str, Any], wrong: str) -> None:
    assert await one(rule, wrong) == ("decline", None)


async def test_all_fields_are_asked_for_at_once_and_optional_ones_may_stay_empty() -> None:
    properties = {
        "x": {"type": "integer", "default": 3, "title": "How many"},
        "y": {"type": "string", "description": "Said" + "\n" * 200 + "\u202ealoud", "default": "a\u200bb"},
    }
    person = Person('{"x": "", "y": "z"}')
    schema = {"properties": properties, "required": ["y"]}
    assert await ask_form("m", schema, person) == ("accept", {"y": "z"})
    [question] = person.asked
    first, second = (FormField(**one) for one in question["fields"])
    assert (first.label, first.kind, first.required, first.default) == ("How many", "integer", False, ("3",))
    assert (second.label, second.detail, second.required) == ("y", "Said\n\n\n⟨U+202E⟩aloud", True)
    assert second.default == ("a⟨U+200B⟩b",)


@pytest.mark.parametrize(
    ("name", "rule", "hidden"),
    [
        ("x", {"type": "string", "format": "password"}, True),
        ("password", {"type": "string"}, True),
        ("userPassword", {"type": "string"}, True),
        ("GITHUB_TOKEN", {"type": "string"}, True),
        ("x", {"type": "string", "title": "API-Key"}, True),
        ("apiKey", {"type": "string"}, True),
        ("x", {"type": "string", "description": "The passphrase of your key."}, True),
        ("x", {"type": "string", "title": "ＰＡＳＳＷＯＲＤ"}, True),
        ("x", {"type": "string", "title": "Client secret", "minLength": 8}, True),
        ("x", {"type": "string", "title": "비밀번호를 입력하세요"}, True),
        ("x", {"type": "string", "title": "접근 토큰"}, True),
        ("x", {"type": "string", "title": "암호"}, True),
        ("pin", {"type": "string"}, True),
        ("x", {"type": "integer", "title": "Your PIN"}, True),
        ("x", {"type": "string", "description": "Your PIN as it is on the letter"}, True),
        ("otp", {"type": "string"}, True),
        ("x", {"type": "string", "title": "Verification code"}, True),
        ("x", {"type": "integer", "title": "One-time code"}, True),
        ("x", {"type": "string", "title": "인증번호 6자리"}, True),
        ("x", {"type": "string", "title": "Country code"}, False),
        ("token_count", {"type": "integer"}, False),
        ("x", {"type": "integer", "title": "Number of tokens"}, False),
        ("x", {"type": "number", "title": "Price of a token"}, False),
        ("token_limit", {"type": "string"}, False),
        ("x", {"type": "integer", "title": "Password length"}, False),
        ("x", {"type": "string", "title": "Secretary"}, False),
        ("x", {"type": "string", "description": "Pin to the top of the list"}, False),
        ("shipping", {"type": "string"}, False),
        ("x", {"type": "string", "title": "암호화 방식"}, False),
        ("x", {"type": "string", "title": "토큰 수"}, False),
        ("x", {"type": "boolean", "title": "Use a password"}, False),
        ("x", {"type": "string", "enum": ["token", "password"], "title": "Kind of secret"}, False),
    ],
)
async def test_a_secret_is_asked_for_hidden(name: str, rule: dict[str, Any], hidden: bool) -> None:
    person = Person(None)
    await ask_form("m", {"properties": {name: {**rule, "default": "token"}}}, person)
    field = FormField(**person.asked[0]["fields"][0])
    assert (field.hidden, field.default) == (hidden, () if hidden else field.default)
    assert hidden or field.default


@pytest.mark.parametrize(
    ("message", "names", "hidden"),
    [
        ("Enter the password of ada@example.org", ["x"], True),
        ("문자로 받은 인증번호를 입력하세요", ["answer"], True),
        ("Enter your name", ["x"], False),
        ("Enter your name and password", ["name", "x"], False),
    ],
)
async def test_what_a_form_says_is_about_its_only_field(message: str, names: list[str], hidden: bool) -> None:
    person = Person(None)
    await ask_form(message, {"properties": {name: {"type": "string"} for name in names}}, person)
    assert [field["hidden"] for field in person.asked[0]["fields"]] == [hidden] * len(names)


async def test_a_form_that_is_skipped_is_cancelled() -> None:
    assert await ask_form("m", {"properties": {"x": {}}}, Person(None)) == ("cancel", None)


async def test_a_form_without_properties_is_a_yes_or_no() -> None:
    assert await ask_form("Go on?", {}, Person("yes")) == ("accept", {})
    assert await ask_form("Go on?", {}, Person("no")) == ("decline", None)
    assert await ask_form("Go on?", {}, Person(None)) == ("cancel", None)


async def test_the_words_of_a_server_hide_nothing_and_are_not_endless() -> None:
    person = Person("a")
    await ask_form("\u202e" + "x" * 9_000, {"properties": {"x": {"type": "string"}}}, person)
    question = person.asked[0]["question"]
    assert question.startswith("⟨U+202E⟩x") and len(question) <= 2_000


async def test_a_form_of_a_hundred_questions_is_declined() -> None:
    properties = {str(number): {"type": "string"} for number in range(100)}
    assert await ask_form("m", {"properties": properties}, Person()) == ("decline", None)


@pytest.mark.threat("T22")
@pytest.mark.parametrize("url", ["http://a.test", "javascript:alert(1)", "file:///etc/passwd", ""])
async def test_a_link_that_is_no_https_is_declined_unasked(url: str) -> None:
    assert await ask_link("m", url, Person()) == ("decline", None)


async def test_a_link_is_asked_about() -> None:
    person = Person("no")
    assert await ask_link("m", "https://a.test", person) == ("decline", None)
    assert person.asked[0]["link"] == "https://a.test"
    assert await ask_link("m", "https://a.test", Person("yes")) == ("accept", None)
