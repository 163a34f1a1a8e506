"""The transcript as a reader meets it: following, holding the place, selecting, links, finding."""

import gc
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStackedWidget, QWidget
from pytestqt.qtbot import QtBot

from app.core.council import Participant
from app.core.errors import Failure
from app.core.message import Author, Message, MessageState, Role
from app.core.session import Debate, DebateSession
from app.gui.display.theme import DARK, LIGHT
from app.gui.transcript.row_text import COMPACT
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.shown_view import shown_view, texts

I18N = Path(__file__).resolve().parents[2] / "resources" / "i18n"
PEOPLE = (
    Participant(id="g", name="GPT", provider="o", model="m", role="for"),
    Participant(id="c", name="Claude", provider="a", model="m", role="against"),
    Participant(id="k", name="세종", provider="a", model="m", role="공정한 심판"),
)
SESSION = DebateSession(id="s", title="Parser", debate=Debate(topic="Parser", participants=PEOPLE))


def said(number: int, content: str = "", speaker: int = 0, **values: object) -> Message:
    """Return a participant's message."""
    person = PEOPLE[speaker]
    author = Author(id=person.id, name=person.name, kind="participant")
    values.setdefault("round", 1)
    return Message(
        id=f"m{number}", turn_id=f"t{number}", role="assistant", author=author, content=content, **values
    )


def many(count: int) -> list[Message]:
    """Return messages of several heights."""
    return [
        said(number, f"Message {number}. " + "More words. " * (number % 40), number % 3)
        for number in range(count)
    ]


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    """Return a shown, empty view."""
    return shown_view(qtbot, 460, 500, COMPACT)


def on_screen(view: TranscriptView) -> dict[str, int]:
    """Return where the messages on screen stand."""
    rects = {each: view.message_rect(each) for each in view.message_ids}
    return {each: rect.top() for each, rect in rects.items() if rect is not None}


def read_middle(view: TranscriptView) -> None:
    """Scroll up by the wheel's way."""
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)


def at(view: TranscriptView, message_id: str, words: str) -> QPoint:
    """Return the point of the viewport where words of a message begin."""
    index = view.message_ids.index(message_id)
    row = view.canvas.row(index)
    rect = row.position_rect(row.text.plain_text.index(words))
    shown = view.message_rect(message_id)
    assert shown is not None
    return QPoint(rect.left() + 1, shown.top() + rect.center().y())


def clipboard() -> str:
    """Return what was copied."""
    return QGuiApplication.clipboard().text()


def test_it_opens_at_the_end_and_follows(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, many(100))
    assert "m99" in on_screen(view)
    view.feed.message_started(said(100, "The newest", 1))
    assert "m100" in on_screen(view)


def test_rows_are_centred_in_a_wide_view_that_is_shown_late(qtbot: QtBot) -> None:
    stack, late = QStackedWidget(), TranscriptView(LIGHT, texts())
    for page in (QWidget(), late):
        stack.addWidget(page)
    qtbot.addWidget(stack)
    stack.resize(1400, 500)
    stack.show()
    qtbot.waitExposed(stack)
    late.feed.show_session(SESSION, many(2))
    stack.setCurrentWidget(late)
    viewport = late.viewport().geometry()
    assert abs(viewport.center().x() - late.rect().center().x()) <= 1
    assert viewport.width() < 1_000
    picture = late.viewport().grab().toImage()
    background = QColor(LIGHT.bg)
    assert picture.pixelColor(picture.width() - 2, 2) == background


def test_it_never_scrolls_away_from_the_reader(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, many(100))
    read_middle(view)
    before = on_screen(view)
    view.feed.message_started(said(100, "", 1, state=MessageState.STREAMING))
    for _ in range(50):
        view.feed.append_text("m100", "some more words ")
    view.feed.flush()
    view.feed.message_finished(said(100, "some more words " * 50, 1))
    view.feed.message_started(said(101, "Another", 1))
    assert on_screen(view) == before
    qtbot.waitUntil(view.pill.isVisible)
    assert "2" in view.pill.text()
    QTest.mouseClick(view.pill, Qt.MouseButton.LeftButton)
    assert "m101" in on_screen(view)
    assert not view.pill.isVisible()


def test_reaching_the_end_follows_again(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, many(60))
    read_middle(view)
    QTest.keyClick(view, Qt.Key.Key_End)
    view.feed.message_started(said(60, "Newest"))
    assert "m60" in on_screen(view)


def test_prepending_moves_nothing_on_screen(view: TranscriptView) -> None:
    messages = many(400)
    view.feed.show_session(SESSION, messages[340:])
    read_middle(view)
    before = on_screen(view)
    view.feed.prepend(messages[:340])
    assert on_screen(view) == before
    assert view.message_ids == [message.id for message in messages]
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert on_screen(view)["m0"] == 0


def test_the_place_does_not_drift_over_resizes(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, many(300))
    read_middle(view)
    before = view.place
    for width in (300, 800, 360, 1000, 500):
        view.resize(width, 500)
        QGuiApplication.processEvents()
    view.resize(460, 500)
    QGuiApplication.processEvents()
    assert view.place == before


def test_finishing_a_message_above_moves_nothing_below(view: TranscriptView) -> None:
    messages = many(100)
    messages[10] = replace(messages[10], state=MessageState.STREAMING)
    view.feed.show_session(SESSION, messages)
    read_middle(view)
    before = on_screen(view)
    view.feed.message_finished(
        replace(messages[10], state=MessageState.STOPPED, content="A much longer text. " * 200)
    )
    assert on_screen(view) == before


def test_only_what_is_near_the_screen_has_documents(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, many(2_000))
    bar = view.verticalScrollBar()
    for step in range(0, bar.maximum(), max(1, bar.maximum() // 200)):
        bar.setValue(step)
    assert sum(row.text.documents for row in view.canvas.rows.values()) <= 130


def test_a_stream_off_screen_only_gathers_text(view: TranscriptView) -> None:
    messages = [
        *many(5),
        said(5, "", 1, state=MessageState.STREAMING),
        *[replace(each, id=f"x{each.id}") for each in many(100)],
    ]
    view.feed.show_session(SESSION, messages)
    for _ in range(30):
        view.feed.append_text("m5", "words and *more*\n\n")
    view.feed.flush()
    assert view.canvas.rows.get("m5") is None
    assert view.model.text(5).count("words") == 30


def test_no_timer_runs_when_nothing_happens(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, [said(0, "", state=MessageState.STREAMING)])
    view.feed.append_text("m0", "first")
    view.feed.append_text("m0", " second")
    assert view.feed._frame.isActive()
    qtbot.waitUntil(lambda: not view.feed._frame.isActive())
    assert view.canvas.row(0).text.plain_text == "first second"
    assert not view.feed._frame.isActive()


def test_the_first_token_is_drawn_at_once(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "", state=MessageState.STREAMING)])
    view.feed.append_text("m0", "first")
    assert view.canvas.row(0).text.plain_text == "first"


def test_selecting_across_messages_copies_markdown_or_plain(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "One **two** three"), said(1, "- four\n- `five` six", 1)])
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at(view, "m0", "two"))
    QTest.mouseMove(view.viewport(), at(view, "m1", "six"))
    view._pointer._extend_to(at(view, "m1", "six"))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at(view, "m1", "six"))
    view.copy()
    assert clipboard() == "**GPT (For):**\n\n**two** three\n\n**Claude (Against):**\n\n- four\n- `five` "
    view.copy(markdown=False)
    assert clipboard() == "GPT (For):\n\ntwo three\n\nClaude (Against):\n\n• four\n• five "


def test_the_keyboard_selects(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "abc"), said(1, "def", 1)])
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.selected_text() == "**GPT (For):**\n\nabc\n\n**Claude (Against):**\n\ndef"
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at(view, "m0", "abc"))
    assert view.selected_text() == ""
    for _ in range(2):
        QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert view.selected_text() == "ab"
    point = at(view, "m1", "ef")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, point)
    assert view.selected_text(markdown=False) == "GPT (For):\n\nabc\n\nClaude (Against):\n\nd"
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard().endswith("d")


def test_a_whole_message_is_copied_as_it_was_written(view: TranscriptView) -> None:
    source = "# Title\n\n* a\n* b\n\n|x|y|\n|-|-|\n|1|2|\n"
    view.feed.show_session(SESSION, [said(0, source)])
    view.copy_message("m0")
    assert clipboard() == source


@pytest.mark.threat("T8")
def test_links_are_only_asked_for(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, [said(0, "See [the paper](https://example.org/p) now")])
    with qtbot.waitSignal(view.link_requested) as asked:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at(view, "m0", "paper"))
    assert asked.args == ["https://example.org/p", "the paper"]
    assert view.focusNextPrevChild(True)
    with qtbot.waitSignal(view.link_requested) as asked:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert asked.args == ["https://example.org/p", "the paper"]


def test_a_code_block_is_copied_by_its_button(view: TranscriptView) -> None:
    code = "\n".join(f"line {number}" for number in range(250))
    view.feed.show_session(SESSION, [said(0, f"Look:\n\n```python\n{code}\n```\n\nDone.")])
    row = view.canvas.row(0)
    point = row.text.copy_rects[0].center()
    assert len(row.text.copy_rects) == 1
    assert row.text.code_at(point) == code


def test_code_gets_its_colours_once_it_is_read(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(
        SESSION, [said(0, "```python\nreturn 1  # why\n```"), said(1, "```nosuch\nx\n```", 1)]
    )
    view.grab()
    qtbot.waitUntil(lambda: not view.canvas.rows.plain_code(view.canvas.row(1)))
    document = view.canvas.row(0).text.segments[0].document
    assert document is not None
    formats = document.firstBlock().layout().formats()
    colours = {(each.start, each.length): each.format.foreground().color().name() for each in formats}
    assert colours[0, 6] == LIGHT.accent.lower()
    assert colours[10, 5] == LIGHT.text_2.lower()


def test_a_failed_message_says_why_and_offers_one_action(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(
        SESSION,
        [
            said(
                0,
                state=MessageState.FAILED,
                error=Failure(kind="authentication", detail="key <b>refused</b>"),
            )
        ],
    )
    row = view.canvas.row(0)
    assert "key <b>refused</b>" in row.error_text
    assert [action for action, _ in row.actions] == ["settings"]
    point = row.action_rects[0][1].center()
    with qtbot.waitSignal(view.action_requested) as asked:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert asked.args == ["m0", "settings"]
    view.feed.show_session(SESSION, [said(1, state=MessageState.FAILED, error=Failure(kind="network"))])
    assert view.canvas.row(0).actions == []
    view.feed.set_retry_allowed(True)
    assert [action for action, _ in view.canvas.row(0).actions] == ["retry"]


def test_finding_shows_and_counts(view: TranscriptView, qtbot: QtBot) -> None:
    told: list[tuple[int, int]] = []
    view.found.connect(lambda number, count: told.append((number, count)))

    def count_of(words: str) -> int:
        view.search.find(words)
        qtbot.waitUntil(lambda: not view.search.active, timeout=60_000)
        return told[-1][1]

    messages = many(200)
    messages[17] = said(17, "The **Quick** brown *fox*")
    messages[120] = said(120, "quick and quick", 1)
    view.feed.show_session(SESSION, messages)
    assert count_of("QUICK") == 3
    assert "m120" in on_screen(view)
    view.search.step(1)
    assert told[-1] == (1, 3)
    assert "m17" in on_screen(view)
    view.search.step(-1)
    assert told[-1] == (3, 3)
    assert count_of("quick brown") == 1
    assert count_of("nowhere") == 0
    assert count_of("") == 0


def test_rounds_are_parted_and_roles_named(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "a"), said(1, "b", 2), said(2, "c", 0, round=2)])
    rows = [view.canvas.row(index) for index in range(3)]
    assert [row.context.separator for row in rows] == ["ROUND 1", "", "ROUND 2"]
    assert rows[0].context.role == "For"
    assert rows[1].context.role == "공정한 심판"
    assert rows[1].describe() == "세종 (공정한 심판): b"


def test_the_language_and_theme_change_while_it_is_open(view: TranscriptView) -> None:
    you = Message(
        id="u", turn_id="u", role=Role.USER, author=Author(id="user", name="You", kind="user"), content="hi"
    )
    view.feed.show_session(SESSION, [said(0, "a"), you])
    view.dress(DARK, texts("ko"))
    assert view.canvas.row(0).context.role == "찬성"
    assert view.canvas.row(1).context.speaker.name == "나"
    assert view.canvas.row(0).context.speaker.colour == DARK.speakers[0][0]


def test_the_typing_indicator_gives_way_to_the_message(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, many(30))
    before = on_screen(view)["m29"]
    view.feed.set_speaking(Author(id="g", name="GPT"), "For")
    assert on_screen(view)["m29"] == before - view.typing.height
    assert view.typing.moving
    view.feed.message_started(said(30, "", state=MessageState.STREAMING))
    assert not view.typing.active
    assert not view.typing.moving


def test_unknown_messages(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, many(10))
    view.feed.append_text("nobody", "text")
    view.feed.message_finished(said(77, "never started"))
    assert "m77" in on_screen(view)


def test_the_menu_pops_up_and_copies(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "Hello [x](https://a.example/)")])
    menu = view.context_menu(at(view, "m0", "x"))
    names = [action.text() for action in menu.actions() if action.text()]
    assert names == [
        "Copy",
        "Copy as plain text",
        "Copy message",
        "Fork from here",
        "Copy link address",
        "Select all",
    ]
    next(action for action in menu.actions() if action.text() == "Copy link address").trigger()
    assert clipboard() == "https://a.example/"
    menu.close()


@pytest.mark.threat("T8")
def test_what_a_label_or_link_pretends_is_seen_through(view: TranscriptView) -> None:
    author = Author(id="x", name="<b>You</b>\n\u202egnp", kind="participant")
    forged = Message(
        id="f", turn_id="f", role="assistant", author=author, content="[bank.com](https://evil.io/)"
    )
    view.feed.show_session(SESSION, [forged])
    row = view.canvas.row(0)
    assert row.context.speaker.name == "<b>You</b> gnp"
    assert row.text.plain_text == "bank.com (evil.io)"


@pytest.mark.threat("T10")
@pytest.mark.corpus(48)
def test_a_large_message_is_folded_and_unfolds(view: TranscriptView) -> None:
    text = "\n\n".join(f"Paragraph {number} with words." for number in range(8_000))
    view.feed.show_session(SESSION, [said(0, text)])
    row = view.canvas.row(0)
    assert [action for action, _ in row.actions] == ["show_all"]
    assert len(row.text.plain_text) <= 20_000
    view._act(row, "show_all", QPoint())
    assert "Paragraph 7999" in view.canvas.row(0).text.plain_text


def test_views_come_and_go_while_code_is_being_coloured(qtbot: QtBot) -> None:
    code = "```python\n" + "def step(value):\n    return value + 1  # next\n" * 10 + "```"
    messages = [said(number, code, number % 3) for number in range(500)]
    gone: list[str] = []
    for turn in range(3):
        view = TranscriptView(LIGHT, texts())
        view.destroyed.connect(lambda: gone.append("view"))
        view.resize(460, 500)
        view.show()
        view.feed.show_session(SESSION, messages)
        for step in range(0, 100, 4):
            view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() * step // 100)
            qtbot.wait(5 if step % 20 else 100)
        view.hide()
        view.deleteLater()
        del view
        gc.collect()
        qtbot.waitUntil(lambda turn=turn: len(gone) == turn + 1)
