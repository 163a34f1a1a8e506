"""A call in one line, and characters that hide made visible."""

import pytest

from app.core.message import ToolCall
from app.core.text import visible
from app.core.texts import Texts
from app.gui.transcript.row_words import icon_of, title
from app.wiring import resources_dir

TEXTS = Texts.load(resources_dir() / "i18n", "en")


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("web_fetch", '{"url": "https://a.example/"}', 'web_fetch("https://a.example/")'),
        ("subAgent", '{"agent": "browser", "prompt": "Look\\n  up"}', 'subAgent(browser, "Look up")'),
        ("subAgent", '{"agent": 1}', "subAgent(1)"),
        ("setPlan", '{"items": ["한 가지", 2]}', "setPlan(2 items)"),
        ("setPlan", '{"items": "one"}', 'setPlan("one")'),
        ("checkDone", '{"index": 0}', "Marked step 1 as done"),
        ("checkDone", '{"index": "0"}', 'checkDone("0")'),
        ("checkDone", '{"index": -1}', "checkDone(-1)"),
        (
            "switchAssistant",
            '{"assistant": "A\u202e", "instruction": "Do\\n it"}',
            "switchAssistant → A⟨U+202E⟩ · “Do it”",
        ),
        ("switchAssistant", '{"assistant": 1}', "switchAssistant(1)"),
        ("x", "null", "x(null)"),
        ("get_pages", "", "get_pages()"),
        ("get_pages", "{}", "get_pages()"),
        ("x", '"text"', 'x("text")'),
        ("x", '{"url": "https://a', 'x({"url": "https://a…)'),
        ("x", "[" * 1_500, "x(" + "[" * 240 + "…)"),
        ("x", "y" * 10_000_000, "x(" + "y" * 240 + "…)"),
        ("a\u202eb\n", '{"k": "\x00\u200f"}', 'a⟨U+202E⟩b("⟨U+0000⟩⟨U+200F⟩")'),
        ("x", '{"k": "e' + "\u0301" * 50 + '"}', 'x("e' + "\u0301" * 4 + '")'),
    ],
)
def test_title(name: str, arguments: str, shown: str) -> None:
    assert title(ToolCall(id="c", name=name, arguments=arguments), TEXTS) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("a\r\nb\rc", "a\nb⟨U+000D⟩c"),
        ("\x1b[31m\x07\x7f\x9b", "⟨U+001B⟩[31m⟨U+0007⟩⟨U+007F⟩⟨U+009B⟩"),
        ("\u202e\u2066\u2069\ufeff\u2028", "⟨U+202E⟩⟨U+2066⟩⟨U+2069⟩⟨U+FEFF⟩⟨U+2028⟩"),
        ("👨\u200d👩 나는 می\u200cخواهم", "👨\u200d👩 나는 می\u200cخواهم"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_icons() -> None:
    assert icon_of("subAgent") == "workflow"
    assert icon_of("mcp_anything") == "wrench"
