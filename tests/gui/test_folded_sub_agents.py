"""Sub-agents fold by themselves once their results are taken up, and say their results in one line."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core.message import MessageState
from app.gui.transcript.painted_row import FOLD
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.chats import SESSION, a_tree, agent, asked, call, gave, spoke, stored
from tests.gui.shown_view import shown_view
from tests.gui.test_transcript_feed import play

UNDER = ("tm", "c1")
BROWSER = agent("browser", "master")
LONG = "## Found **three** shops\n\n- one\n- two " + "and more " * 400


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    """Return a shown view."""
    return shown_view(qtbot, 900, 700)


def head(view: TranscriptView, turn_id: str):
    """Return the head of a sub-agent's turn."""
    return view.canvas.row(view.model.index(f"group {turn_id}"))


def with_answer(text: str) -> list:
    """Return the tree with another last answer of the browser."""
    return [replace(each, content=text) if each.id == "b2" else each for each in stored(a_tree())]


def test_a_folded_sub_agent_shows_the_first_line_of_its_result(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, with_answer(LONG))
    view.feed.fold("tb", False)
    open_height = head(view, "tb").height
    assert head(view, "tb").context.result == ""
    view.feed.fold("tb", True)
    row = head(view, "tb")
    assert row.context.result == "Found three shops"
    assert row.height == open_height + row.style.header
    assert row.describe().endswith("Found three shops")
    # A click on the line unfolds it too.
    rect = view.message_rect("group tb")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, rect.bottom() - 6))
    assert head(view, "tb").context.unfolded


def test_a_long_result_is_cut_to_one_line_with_a_tip(view: TranscriptView) -> None:
    words = "word " * 150
    view.feed.show_session(SESSION, with_answer(words + "\n\nsecond"))
    view.feed.fold("tb", True)
    row = head(view, "tb")
    assert row.tip_at(QPoint(300, row.height - 6)) == words.strip()


def test_one_that_runs_has_no_result_yet(view: TranscriptView) -> None:
    running = [
        asked(1),
        spoke("m1", "tm", "", [call("c1", "subAgent")]),
        spoke("b1", "tb", "Looking first.", [call("d0")], author=BROWSER, under=UNDER),
        gave("s0", "tb", "d0", "", state=MessageState.STREAMING, author=BROWSER, under=UNDER),
    ]
    view.feed.show_session(SESSION, running)
    view.feed.fold("tb", True)
    assert head(view, "tb").context.runs
    assert head(view, "tb").context.result == ""


@pytest.mark.parametrize("layout", ["compact", WIDE])
def test_the_buttons_never_cover_the_arrow_that_folds(qtbot: QtBot, layout: str) -> None:
    view = shown_view(qtbot, 900, 700, layout)
    view.feed.show_session(SESSION, stored(a_tree()))
    for turn_id in ("tb", "tk", "te"):
        view.feed.fold(turn_id, False)
    view.go_to("u1", 0)
    for message_id, above in (("k1", "group tk"), ("e1", "group te"), ("b2", None), ("m2", None)):
        rect = view.message_rect(message_id)
        QTest.mouseMove(view.viewport(), rect.center())
        assert view.action_bar.message_id == message_id
        assert view.action_bar.geometry().top() >= rect.top()
        if above:
            fold = dict(view.canvas.row(view.model.index(above)).action_rects)[FOLD]
            fold = QRect(fold).translated(0, view.message_rect(above).top())
            assert not fold.intersects(view.action_bar.geometry())


def folds(view: TranscriptView) -> dict[str, bool | None]:
    """Return which of the shown sub-agents are unfolded."""
    return {each: view.unfolded(each) for each in view.message_ids if each.startswith("group")}


def test_it_folds_once_the_answer_that_called_it_goes_on(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [])
    play(view, a_tree()[:-1])
    # The reader's was taken up by the browser; the answer to the user still waits for the other two.
    assert folds(view) == {"group tb": True, "group te": False, "group tk": True}
    play(view, a_tree()[-1:])
    assert folds(view) == {"group tb": False, "group tk": False}
    assert view.following
    # From the disk it looks the same.
    view.feed.show_session(SESSION, stored(a_tree()))
    assert folds(view) == {"group tb": False, "group tk": False}


def test_one_that_the_user_opened_or_that_failed_stays_open(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [])
    failed = [replace(each, state=MessageState.FAILED) if each.id == "k1" else each for each in a_tree()]
    play(view, failed[:-1])
    view.feed.fold("tb", True)
    view.feed.fold("tb", False)
    play(view, failed[-1:])
    assert folds(view) == {"group tb": True, "group te": False, "group tk": True}
    view.feed.reload(stored(failed))
    assert folds(view) == {"group tb": True, "group te": False, "group tk": True}


def test_nothing_folds_under_the_pointer_or_a_selection(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [])
    play(view, a_tree()[:-1])
    QTest.mouseMove(view.viewport(), view.message_rect("b2").center())
    play(view, a_tree()[-1:])
    assert folds(view)["group tb"] and folds(view)["group tk"]
    view.select_all()
    QApplication.sendEvent(view.viewport(), QEvent(QEvent.Type.Leave))
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert folds(view)["group tb"]
    view.selection.clear()
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert folds(view) == {"group tb": False, "group tk": False}


def test_what_is_read_higher_up_stays_open_and_in_its_place(view: TranscriptView) -> None:
    long = [replace(each, content="Words. " * 3_000) if each.id == "k1" else each for each in a_tree()]
    view.feed.show_session(SESSION, [])
    play(view, long[:-1])
    view.go_to("k1", 200)
    play(view, long[-1:])
    assert view.place == ("k1", 200)
    assert folds(view) == {"group tb": False, "group tk": True}
