"""A call in one line with a mark that turns while it runs, and characters that hide made visible."""

import pytest
from PySide6.QtWidgets import QProxyStyle, QStyle
from pytestqt.qtbot import QtBot

from app.core.message import MessageState, ToolCall
from app.core.texts import Texts, visible
from app.gui.transcript.row_words import icon_of, title
from app.wiring import resources_dir
from tests.gui.chats import SESSION, asked, call, gave, spoke
from tests.gui.shown_view import shown_view
from tests.gui.test_transcript_feed import row

TEXTS = Texts.load(resources_dir() / "i18n", "en")


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("web_fetch", '{"url": "https://a.example/"}', "Read https://a.example/"),
        ("web_search", '{"query": "tea", "count": 3}', "Searched the web for “tea”"),
        ("read_file_part", '{"name": "notes.txt", "pages": "2-3"}', "Read notes.txt, pages 2-3"),
        ("subAgent", '{"name": "a-1", "task": "Look\\n  up"}', "Called Browser: Look up"),
        ("subAgent", '{"name": 1}', "Call other assistants: 1"),
        ("setPlan", '{"items": ["한 가지", 2]}', "Planned 2 steps"),
        ("setPlan", '{"items": "one"}', "Make a plan: one"),
        ("checkDone", '{"index": 0}', "Marked step 1 as done"),
        ("checkDone", '{"index": "0"}', "Check off a step: 0"),
        ("checkDone", '{"index": -1}', "Check off a step: -1"),
        ("toggle_todo", '{"index": 2}', "Changed to-do 3"),
        (
            "switchAssistant",
            '{"assistant": "A\u202e", "instruction": "Do\\n it"}',
            "Handed over to A⟨U+202E⟩: Do it",
        ),
        ("switchAssistant", '{"assistant": 1}', "Hand over: 1"),
        ("step", '{"step": "Draft", "assistant": "a-1"}', "Draft → Browser"),
        ("x", "null", "X"),
        ("get_pages", "", "Listed the web pages of this chat"),
        ("files__read_text_file", '{"path": "notes.txt", "head": 5}', "Read text file: notes.txt, 5 · files"),
        ("list", "{}", "List"),
        ("x", '"text"', "X: text"),
        ("x", '{"url": "https://a', "X: url : https://a…"),
        ("x", "[" * 1_500, "X: …"),
        ("x", "y" * 10_000_000, "X: " + "y" * 240 + "…"),
        ("a\u202eb\n", '{"k": "\x00\u200f"}', "A⟨U+202E⟩b: ⟨U+0000⟩⟨U+200F⟩"),
        ("x", '{"k": "e' + "\u0301" * 50 + '"}', "X: e" + "\u0301" * 4),
    ],
)
def test_title(name: str, arguments: str, shown: str) -> None:
    assert title(ToolCall(id="c", name=name, arguments=arguments), TEXTS, {"a-1": "Browser"}) == shown


def test_a_call_that_is_not_done_is_said_so() -> None:
    call = ToolCall(id="c", name="web_search", arguments='{"query": "tea"}')
    assert title(call, TEXTS, {}, done=False) == "Searching the web for “tea”"
    assert title(call, Texts.load(resources_dir() / "i18n", "ko"), {}, done=False) == "웹 검색: tea"


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


class Motion(QProxyStyle):
    """A style with or without animations."""

    def __init__(self, moves: bool) -> None:
        super().__init__("Fusion")
        self._moves = moves

    def styleHint(self, hint, option=None, widget=None, returned=None):  # noqa: N802 - the name is that of Qt
        if hint == QStyle.StyleHint.SH_Widget_Animation_Duration:
            return 200 if self._moves else 0
        return super().styleHint(hint, option, widget, returned)


@pytest.mark.parametrize("moves", [True, False])
def test_a_mark_turns_while_a_call_runs(qtbot: QtBot, moves: bool) -> None:
    view = shown_view(qtbot, 600, 400)
    style = Motion(moves)
    view.setStyle(style)
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "tm", "", [call("c")])])
    view.feed.message_started(gave("r", "tm", "c", "", state=MessageState.STREAMING))
    view.grab()
    assert row(view, "m1/0").turning and view.feed._turn.isActive() is moves
    view.feed.message_finished(gave("r", "tm", "c", "Page.", seconds=0.8))
    assert row(view, "m1/0").turning.isNull()
    qtbot.waitUntil(lambda: not view.feed._turn.isActive())
