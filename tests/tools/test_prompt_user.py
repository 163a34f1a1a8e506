"""A question to the user is an MCP-UI resource that any client can show, and the loop waits (row P2)."""

from html.parser import HTMLParser
from typing import Any

import pytest

from app.core.ids import is_id
from app.core.message import Prompt
from app.core.tool import Control, ToolError, ToolResult
from app.tools.prompt_user import prompt_user

HOSTILE = "<script>steal()</script> {0} {question} </p><img src=x onerror=steal()> \"' & \u202e"


class Page(HTMLParser):
    """What a browser would make of the resource: its elements, its texts and the values of its buttons."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: dict[str, str] = {}
        self.values: list[str | None] = []
        self.attributes: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag == "button":
            self.values.append(dict(attrs).get("value"))

    def handle_data(self, data: str) -> None:
        self.texts[self.tags[-1] if self.tags else ""] = (
            self.texts.get(self.tags[-1] if self.tags else "", "") + data
        )


def page_of(result: ToolResult) -> Page:
    resource: Any = result.resources[0]
    return Page(resource["resource"]["text"])


async def test_the_result_is_a_resource_a_prompt_and_a_wait() -> None:
    result = await prompt_user("Which one?", "options", ["red", " blue "])
    resource: Any = result.resources[0]
    assert set(resource) == {"type", "resource"}
    assert resource["type"] == "resource"
    assert set(resource["resource"]) == {"uri", "mimeType", "text"}
    assert resource["resource"]["mimeType"] == "text/html"
    assert resource["resource"]["uri"].startswith("ui://prompt/")
    assert is_id(resource["resource"]["uri"].removeprefix("ui://prompt/"))
    assert result.control == Control.WAIT
    assert result.ok
    assert result.prompt == Prompt(question="Which one?", type="options", options=("red", "blue"))
    assert result.prompt.open
    assert result.content


async def test_the_resource_is_valid_for_the_protocol() -> None:
    from mcp.types import EmbeddedResource

    result = await prompt_user("Go on?", "yesno")
    item = EmbeddedResource.model_validate(result.resources[0])
    assert str(item.resource.uri).startswith("ui://prompt/")


async def test_every_question_has_an_address_of_its_own() -> None:
    first, second = await prompt_user("Go on?", "yesno"), await prompt_user("Go on?", "yesno")
    assert first.resources[0] != second.resources[0]


async def test_the_page_posts_the_answer_and_loads_nothing() -> None:
    html: Any = (await prompt_user("Which one?", "options", ["red", "blue"])).resources[0]
    text = html["resource"]["text"]
    assert 'postMessage({ type: "prompt", payload: { prompt: answer } }, "*")' in text
    assert "default-src 'none'" in text
    page = Page(text)
    assert page.values == ["red", "blue"]
    assert not {"src", "href", "action"} & set(page.attributes)
    # A frame that may run scripts and no more does not send forms.
    assert "form" not in page.tags


@pytest.mark.parametrize(
    ("question", "kind", "values", "buttons"),
    [
        ("Go on?", "yesno", ["Yes", "No"], "YesNo"),
        ("계속할까요?", "yesno", ["예", "아니요"], "예아니요"),
        ("Say why", "text", [None], "Send"),
        ("이유는? (why)", "text", [None], "보내기"),
    ],
)
async def test_the_buttons_speak_the_language_of_the_question(
    question: str, kind: Any, values: list[str | None], buttons: str
) -> None:
    page = page_of(await prompt_user(question, kind))
    assert page.values == values
    assert page.texts["button"].strip().startswith(buttons)
    assert ("textarea" in page.tags) == (kind == "text")


async def test_a_hostile_question_stays_text() -> None:
    result = await prompt_user(HOSTILE, "options", [HOSTILE, "b"])
    page = page_of(result)
    assert page.texts["p"].strip() == HOSTILE
    assert page.values == [HOSTILE, "b"]
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not [name for name in page.attributes if name.startswith("on")]


@pytest.mark.parametrize(
    ("question", "kind", "options", "words"),
    [
        ("", "text", None, "`question` is empty"),
        (" \n", "text", None, "`question` is empty"),
        ("q" * 4_001, "text", None, "`question` is 4,001 characters long; at most 4,000"),
        ("q", "options", None, 'type "options" needs argument `options`'),
        ("q", "options", [], 'type "options" needs argument `options`'),
        ("q", "options", ["a", " "], "`options`[1] is empty"),
        ("q", "options", ["a", "b", "a "], "`options`[2] is there twice: 'a'"),
        ("q", "options", [str(number) for number in range(51)], "`options` holds 51 texts; at most 50"),
        ("q", "options", ["a" * 501], "`options`[0] is 501 characters long; at most 500"),
        ("q", "yesno", ["a"], 'goes with type "options" only, not with "yesno"'),
        ("q", "text", ["a"], 'goes with type "options" only, not with "text"'),
    ],
)
async def test_a_question_that_cannot_be_asked_is_told_in_words(
    question: str, kind: Any, options: list[str] | None, words: str
) -> None:
    with pytest.raises(ToolError) as raised:
        await prompt_user(question, kind, options)
    assert words in str(raised.value)
    assert len(str(raised.value)) < 200


async def test_the_longest_question_and_the_most_options_are_asked() -> None:
    options = [f"{number}" + "x" * 400 for number in range(50)]
    result = await prompt_user("q" * 4_000, "options", options)
    assert page_of(result).values == options
