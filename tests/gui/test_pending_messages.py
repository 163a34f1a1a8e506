"""A long conversation comes in slices, and looks as if it had come at once."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.message import Message, MessageState
from app.gui.display.theme import LIGHT
from app.gui.transcript.feed import SLICE, PendingMessages
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.chats import SESSION, agent, asked, call, gave, rows_of, spoke
from tests.gui.shown_view import shown_view, texts


@st.composite
def logs(draw: st.DrawFn) -> list[Message]:
    """Turns that call each other, their messages in any order."""
    count = draw(st.integers(1, 8))
    parents = [draw(st.integers(-1, turn - 1)) for turn in range(count)]
    messages = []
    for number, turn in enumerate(draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=30))):
        under = (f"t{parents[turn]}", f"c{turn}") if parents[turn] >= 0 else None
        calls = [call(f"c{other}") for other in range(count) if parents[other] == turn]
        author = agent(f"a{turn}") if under else agent("master")
        messages.append(
            spoke(f"m{number}", f"t{turn}", f"Words {number}.", calls, author=author, under=under)
        )
    return messages


def slices(messages: Sequence[Message], least: int) -> list[list[Message]]:
    """Return all slices of pending messages, in the order of the log."""
    pending = PendingMessages(messages)
    found: list[list[Message]] = []
    while len(pending):
        found.insert(0, list(pending.take(least)))
    return found


@settings(deadline=None)
@given(logs(), st.integers(1, 6))
def test_the_rows_of_the_slices_are_those_of_the_whole(messages: list[Message], least: int) -> None:
    parts = slices(messages, least)
    assert [one for part in parts for one in part] == messages
    assert all(len(part) >= least for part in parts[1:])
    assert [row for part in parts for row in rows_of(part)] == rows_of(messages)


def test_what_is_still_to_come_is_known() -> None:
    messages = [asked(1), spoke("m1", "t1"), spoke("k1", "tk", under=("t1", "c1")), asked(2), asked(3)]
    pending = PendingMessages(messages)
    assert [one.id for one in pending.take(1)] == ["u3"]
    assert pending.holds_turn("tk") and not pending.take_to("u3")
    assert not pending.holds_turn("tu3") and not pending.holds_turn("new") and not pending.holds_turn(None)
    assert [one.id for one in pending.take_to("k1")] == ["m1", "k1", "u2"]
    assert len(pending) == 1


def a_chat(turns: int) -> list[Message]:
    """Return a chat of so many questions, each answered after a call."""
    messages = []
    for number in range(turns):
        turn_id = f"t{number}"
        messages += [
            asked(number),
            spoke(f"m{number}", turn_id, f"Looking, {number}.", [call(f"c{number}")]),
            gave(f"r{number}", turn_id, f"c{number}"),
            spoke(f"n{number}", turn_id, f"Found it, {number}. " * (number % 9)),
        ]
    return messages


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    """Return a shown, wide view."""
    return shown_view(qtbot, 900, 700)


def held(view: TranscriptView) -> int:
    """Return how many messages are laid out."""
    return len(view.model.book.messages)


def seen(view: TranscriptView) -> dict[str, int]:
    """Return where the rows on screen stand; asks for no other row."""
    return {view.model.id(each.row): each.top for each in view.canvas.placed}


def looks(view: TranscriptView) -> list[object]:
    """Return everything that places and paints the rows."""
    model = view.model
    contexts = [
        view.canvas.rows.context(index, view.canvas.style) for index in range(0, len(model.entries), 97)
    ]
    return [model.entries, list(model.book.messages), model._starts, model._speakers, contexts]


@pytest.mark.parametrize("opened", [SLICE // 2, 47])
def test_a_long_chat_comes_in_between_frames_and_moves_nothing(
    view: TranscriptView, qtbot: QtBot, opened: int
) -> None:
    messages = a_chat(500)
    view.feed.show_session(SESSION, messages[-opened:])
    before = seen(view)
    view.feed.prepend(messages[:-opened])
    assert held(view) < len(messages)
    qtbot.waitUntil(lambda: held(view) == len(messages))
    assert seen(view) == before
    assert view.following
    whole = TranscriptView(LIGHT, texts(), layout=WIDE)
    qtbot.addWidget(whole)
    whole.feed.show_session(SESSION, messages[-opened:])
    whole.feed.prepend(messages[:-opened])
    whole.message_ids  # noqa: B018 - whoever asks for all has all
    assert looks(view) == looks(whole)
    assert view.model.entries == rows_of(messages)
    assert view.canvas.scroller.heights.total == pytest.approx(whole.canvas.scroller.heights.total, rel=0.2)


def test_whoever_asks_for_a_row_has_it_at_once(view: TranscriptView, qtbot: QtBot) -> None:
    messages = a_chat(500)

    def opened() -> None:
        view.feed.show_session(SESSION, messages)
        assert held(view) < len(messages) // 2

    opened()
    assert view.go_to("m300", 3)
    assert view.place == ("m300", 3)
    assert held(view) < len(messages)
    opened()
    assert view.go_to("r7", 0), "a result is gone to in the card of its call"
    assert "m7/0" in seen(view)
    opened()
    assert view.go_to("m7/0", 0)
    opened()
    with qtbot.waitSignal(view.found, timeout=30_000, check_params_cb=lambda *told: told == (1, 1)):
        view.search.find("Looking, 7.")
    assert "m7" in seen(view)
    opened()
    view.select_all()
    assert "Looking, 0." in view.selected_text()
    opened()
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert seen(view)["u0"] == 0
    opened()
    assert view.message_ids == [row.id for row in rows_of(messages)]


def test_what_happens_in_a_turn_that_is_still_to_come_is_not_lost(view: TranscriptView) -> None:
    messages = a_chat(500)
    view.feed.show_session(SESSION, messages)
    view.feed.message_finished(spoke("k1", "tk", "Late.", author=agent("k"), under=("t3", "c3")))
    ids = view.message_ids
    assert ids[ids.index("m3/0") + 1 : ids.index("n3")] == ["group tk", "k1"]
    view.feed.show_session(SESSION, messages)
    view.feed.message_started(spoke("new", "tn", "A new turn.", state=MessageState.STREAMING))
    assert held(view) < len(messages)
    assert view.message_ids[-1] == "new"


def test_another_version_is_there_at_once_and_the_rest_later(view: TranscriptView, qtbot: QtBot) -> None:
    messages = a_chat(500)
    view.feed.show_session(SESSION, messages)
    view.message_ids  # noqa: B018
    view.feed.reload([*messages[:-1], spoke("other", "t499", "The other version.")])
    assert "other" in seen(view) and "n499" not in seen(view)
    assert held(view) < len(messages)
    view.go_to("m480", 5)
    view.feed.reload(messages)
    assert view.place == ("m480", 5)
    qtbot.waitUntil(lambda: held(view) == len(messages))
    assert view.place == ("m480", 5)


def test_rows_wait_while_the_bar_is_held(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, a_chat(500))
    bar = view.verticalScrollBar()
    bar.setSliderDown(True)
    first = held(view)
    for _ in range(20):
        QGuiApplication.processEvents()
    assert held(view) == first
    bar.setSliderDown(False)
    qtbot.waitUntil(lambda: held(view) == 2_000)
