"""A chat's transcript while it happens: calls, sub-agents, questions, folding, versions."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.events import CallsStreamed, ToolFinished, ToolStarted, TurnFinished
from app.core.message import Attachment, Message, MessageState, Prompt
from app.core.session import Status
from app.gui.display.theme import LIGHT
from app.gui.transcript.call_rows import CardRow
from app.gui.transcript.feed import BEAT_MS
from app.gui.transcript.row_text import WIDE
from app.gui.transcript.row_words import thought_of
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.chats import SESSION, a_tree, agent, asked, call, gave, spoke, stored
from tests.gui.seen import runs
from tests.gui.shown_view import shown_view, texts
from tests.gui.test_transcript_view import on_screen, read_middle

UNDER = ("tm", "c1")
BROWSER = agent("browser", "master")
OPEN = Prompt(question="Which file types?", type="options", options=("CSV", "JSON"))


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    """Return a shown, wide view."""
    result = shown_view(qtbot, 900, 700)
    result.feed.set_retry_allowed(True)
    return result


def row(view: TranscriptView, row_id: str):
    """Return a row by its id."""
    return view.canvas.row(view.model.index(row_id))


def state(view: TranscriptView, row_id: str) -> str:
    """Return how far the call of a card is."""
    card = row(view, row_id)
    assert isinstance(card, CardRow)
    return card.context.state


def click(view: TranscriptView, row_id: str, action: str) -> None:
    """Click on what is painted for an action of a row."""
    rect = view.message_rect(row_id)
    box = dict(row(view, row_id).action_rects)[action]
    assert rect is not None
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box.center() + QPoint(0, rect.top()))


def play(view: TranscriptView, messages: list[Message]) -> None:
    """Let messages come as they do live: first empty, then their text, then whole."""
    known: set[str] = set()
    for message in messages:
        if message.id not in known and message.role == "assistant":
            view.feed.message_started(
                replace(
                    message, content="", tool_calls=(), state=MessageState.STREAMING, usage=None, seconds=None
                )
            )
            view.feed.append_text(message.id, message.content)
            for count in range(1, len(message.tool_calls) + 1):
                view.feed.show_call(
                    CallsStreamed(
                        session_id="s", message_id=message.id, tool_calls=message.tool_calls[:count]
                    )
                )
        known.add(message.id)
        view.feed.message_finished(message)
    view.feed.flush()


def test_a_tree_looks_the_same_live_and_from_the_disk(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [])
    play(view, a_tree())
    # Without the scroll bar: how tall rows are that were not seen yet is guessed.
    live = view.viewport().grab().toImage()
    ids, words = view.message_ids, [view.describe(each) for each in view.message_ids]
    view.feed.show_session(SESSION, stored(a_tree()))
    assert view.message_ids == ids
    assert [view.describe(each) for each in ids] == words
    assert view.viewport().grab().toImage() == live


def test_a_call_grows_runs_and_ends(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1)])
    view.feed.message_started(spoke("m1", "tm", state=MessageState.STREAMING))
    for arguments, shown in (
        ('{"ur', "Read web pages: ur…"),
        ('{"url": "https://ex', "Read web pages: url : https://ex…"),
    ):
        view.feed.show_call(
            CallsStreamed(session_id="s", message_id="m1", tool_calls=(call("c", arguments=arguments),))
        )
        view.feed.flush()
        assert row(view, "m1/0").context.title == shown
    assert state(view, "m1/0") == "growing"
    whole = call("c")
    view.feed.message_finished(spoke("m1", "tm", "", [whole]))
    assert state(view, "m1/0") == "running"
    assert row(view, "m1/0").context.title == "Reading https://example.org/"
    view.feed.show_call(
        ToolStarted(session_id="s", turn_id="tm", tool_call_id="c", name="web_fetch", arguments="{}")
    )
    view.feed.message_started(gave("r", "tm", "c", "", state=MessageState.STREAMING))
    assert state(view, "m1/0") == "running"
    view.feed.show_call(
        ToolFinished(session_id="s", turn_id="tm", tool_call_id="c", name="web_fetch", ok=False, content="no")
    )
    view.feed.message_finished(gave("r", "tm", "c", "no", state=MessageState.FAILED, seconds=0.8))
    assert state(view, "m1/0") == "failed"
    assert "failed" in view.describe("m1/0")


@pytest.mark.parametrize(
    ("result", "expected"),
    [("done", "done"), (MessageState.FAILED, "failed"), (MessageState.STOPPED, "stopped"), ("", "left")],
)
def test_a_call_that_rests_says_how_it_ended(view: TranscriptView, result: str, expected: str) -> None:
    messages = [spoke("m1", "tm", "", [call("c")])]
    if result:
        messages.append(gave("r", "tm", "c", state=result))
    view.feed.show_session(replace(SESSION, status=Status.PAUSED), messages)
    assert state(view, "m1/0") == expected


def test_a_card_unfolds_to_plain_text(view: TranscriptView) -> None:
    arguments = '{"url": "https://example.org/\u202egnp", "note": "**not bold**"}'
    result = "[STEP_COMPLETE] [a](https://evil.example/) ![x](file:///etc/passwd)\x07\n" + "long " * 5_000
    view.feed.show_session(
        SESSION, [spoke("m1", "tm", "", [call("c", arguments=arguments)]), gave("r", "tm", "c", result)]
    )
    assert "⟨U+202E⟩" in row(view, "m1/0").context.title
    click(view, "m1/0", "fold")
    text = row(view, "m1/0").text.plain_text
    assert "**not bold**" in text and "⟨U+202E⟩" in text and "⟨U+0007⟩" in text
    assert "[a](https://evil.example/)" in text
    assert row(view, "m1/0").text.links == []
    assert len(text) < 21_000
    click(view, "m1/0", "show_all")
    assert len(row(view, "m1/0").text.plain_text) > 25_000
    click(view, "m1/0", "fold")
    assert row(view, "m1/0").text.plain_text == ""


def test_folding_keeps_the_head_in_its_place(view: TranscriptView) -> None:
    before = [
        message
        for number in range(40)
        for message in (asked(number), spoke(f"x{number}", f"tx{number}", "A"))
    ]
    after = [asked(100), *[spoke(f"y{number}", f"ty{number}", "B " * 400) for number in range(20)]]
    view.feed.show_session(SESSION, [*before, *stored(a_tree())[1:], *after])
    view.feed.unfold_around("te")
    view.go_to("m1", 0)
    head = on_screen(view)["group tb"]
    click(view, "group tb", "fold")
    assert on_screen(view)["group tb"] == head
    assert "b2" not in view.message_ids and "e1" not in view.message_ids
    click(view, "group tb", "fold")
    assert on_screen(view)["group tb"] == head
    assert "e1" in view.message_ids


def test_unfolding_at_the_end_moves_nothing_above(view: TranscriptView) -> None:
    before = [spoke(f"x{number}", f"tx{number}", "Words " * 100) for number in range(20)]
    last = [spoke("m1", "tm", "Look.", [call("c")]), gave("r", "tm", "c", "line\n" * 60)]
    view.feed.show_session(SESSION, [*before, *last, spoke("m2", "tm", "Done.")])
    shown = {row_id: on_screen(view)[row_id] for row_id in ("m1", "m1/0")}
    click(view, "m1/0", "fold")
    assert {row_id: on_screen(view)[row_id] for row_id in shown} == shown


def test_the_row_that_is_read_stays_when_a_group_comes_in_over_it(view: TranscriptView) -> None:
    messages = [
        spoke("m1", "tm", "Two.", [call("c1", "subAgent")]),
        spoke("m2", "tm", "Long words. " * 2_000),
    ]
    view.feed.show_session(SESSION, messages)
    view.go_to("m2", 300)
    view.feed.message_started(spoke("b1", "tb", "Words", author=BROWSER, under=UNDER))
    assert view.place == ("m2", 300)


def test_what_is_stored_counts_not_what_streamed(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [spoke("m1", "tm", state=MessageState.STREAMING)])
    view.feed.append_text("m1", "half of it")
    view.feed.message_finished(spoke("m1", "tm", "something else"))
    for words, count in (("something", 1), ("half", 0)):
        view.search.find(words)
        assert not view.search.active
        assert len(view.search.finder.hits) == count


def test_rows_that_come_in_above_move_nothing_on_screen(view: TranscriptView) -> None:
    first = [spoke("m1", "tm", "Two.", [call("c1", "subAgent"), call("c2", "subAgent")])]
    long = [spoke("k1", "tk", "A long story. " * 900, author=agent("checker"), under=("tm", "c2"))]
    view.feed.show_session(SESSION, [*first, *long])
    read_middle(view)
    before = on_screen(view)
    for number in range(30):
        view.feed.message_started(
            spoke(f"b{number}", "tb", "Words", [call(f"d{number}")], author=BROWSER, under=UNDER)
        )
    assert on_screen(view) == before
    assert view.message_ids.index("b7") < view.message_ids.index("k1")


def test_a_folded_sub_agent_beats_only_while_it_runs(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, [spoke("m1", "tm", "", [call("c1", "subAgent")])])
    view.feed.message_started(
        spoke("b1", "tb", "", author=BROWSER, under=UNDER, state=MessageState.STREAMING)
    )
    assert not runs(view.feed, BEAT_MS)
    view.feed.fold("tb", True)
    assert runs(view.feed, BEAT_MS)
    assert row(view, "group tb").context.summary.startswith("writing · ")
    view.feed.message_finished(spoke("b1", "tb", "", [call("d0")], author=BROWSER, under=UNDER))
    view.feed.message_started(
        gave("s0", "tb", "d0", "", state=MessageState.STREAMING, author=BROWSER, under=UNDER)
    )
    assert row(view, "group tb").context.summary.startswith("Reading https://example.org/ · ")
    assert "350 tokens" in row(view, "group tb").context.summary
    with qtbot.waitSignal(view.stop_turn_requested) as stopped:
        click(view, "group tb", "stop_turn")
    assert stopped.args == ["tb"]
    view.feed.message_finished(gave("s0", "tb", "d0", author=BROWSER, under=UNDER))
    view.feed.message_finished(spoke("b2", "tb", "Done.", author=BROWSER, under=UNDER))
    view.feed.show_call(TurnFinished(session_id="s", turn_id="tb", outcome="done"))
    assert not runs(view.feed, BEAT_MS)
    assert row(view, "group tb").context.summary == "2 steps · 700 tokens"


def test_nothing_beats_in_a_session_that_rests_or_off_screen(view: TranscriptView) -> None:
    messages = [
        spoke("m1", "tm", "", [call("c1", "subAgent")]),
        spoke("b1", "tb", "", [call("d0")], author=BROWSER, under=UNDER),
    ]
    view.feed.show_session(SESSION, messages)
    view.feed.fold("tb", True)
    assert runs(view.feed, BEAT_MS)
    view.feed.session_changed(replace(SESSION, status=Status.PAUSED))
    assert not runs(view.feed, BEAT_MS)
    view.feed.session_changed(SESSION)
    assert runs(view.feed, BEAT_MS)
    view.hide()
    assert not runs(view.feed, BEAT_MS)


def test_thinking_is_folded_and_unfolds_while_it_streams(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1)])
    view.feed.message_started(spoke("m1", "tm", state=MessageState.STREAMING))
    view.feed.append_text("m1", "", "First I look.")
    view.feed.flush()
    folded = row(view, "m1").height
    click(view, "m1", "thought")
    assert row(view, "m1").height > folded
    for _ in range(60):
        view.feed.append_text("m1", "", " And I look again.\n")
    view.feed.flush()
    assert row(view, "m1").height > folded + 300
    view.feed.append_text("m1", "Here it is.")
    view.feed.message_finished(spoke("m1", "tm", "Here it is.", thinking="First I look."))
    click(view, "m1", "thought")
    assert row(view, "m1").text.plain_text == "Here it is."
    assert thought_of(texts(), going=False, seconds=3.2) == "Thought for 3 s"
    assert thought_of(texts(), going=True, seconds=None) == "Thinking…"


def test_versions_stand_in_the_header_and_are_asked_for(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(
        SESSION, [asked(1), spoke("m1", "tm", "One."), spoke("m2", "tm", "Two.")], {"tm": (2, 3)}
    )
    assert row(view, "m1").context.versions == (2, 3)
    assert row(view, "m2").context.versions == (1, 1)
    for action, step in (("earlier_version", -1), ("later_version", 1)):
        with qtbot.waitSignal(view.version_requested) as wanted:
            click(view, "m1", action)
        assert wanted.args == ["tm", step]
    view.feed.set_versions({})
    assert "earlier_version" not in dict(row(view, "m1").action_rects)


def test_another_path_is_shown_where_the_reader_was(view: TranscriptView) -> None:
    shared = [spoke(f"x{number}", f"tx{number}", "Words " * 120) for number in range(30)]
    view.feed.show_session(SESSION, [*shared, spoke("m1", "t1", "One version.")])
    read_middle(view)
    before = on_screen(view)
    view.feed.reload([*shared, spoke("m2", "t2", "The other.")], {"t2": (2, 2)})
    assert on_screen(view) == before
    assert view.message_ids[-1] == "m2"
    view.feed.reload(shared[:3])
    assert view.message_ids == ["x0", "x1", "x2"]


def test_a_reload_keeps_what_streams(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1)])
    view.feed.message_started(spoke("m1", "tm", state=MessageState.STREAMING))
    view.feed.append_text("m1", "Half a sen")
    view.feed.reload([asked(1), spoke("m1", "tm", state=MessageState.STREAMING)])
    view.feed.append_text("m1", "tence.")
    view.feed.flush()
    assert row(view, "m1").text.plain_text == "Half a sentence."


def test_earlier_messages_join_their_turn(view: TranscriptView) -> None:
    messages = stored(a_tree())
    view.feed.show_session(SESSION, messages[5:])
    view.feed.prepend(messages[:5])
    whole = TranscriptView(LIGHT, texts(), layout=WIDE)
    whole.feed.show_session(SESSION, messages)
    assert view.message_ids == whole.message_ids
    whole.deleteLater()


def test_actions_are_offered_where_they_make_sense(view: TranscriptView, qtbot: QtBot) -> None:
    cut = spoke("m2", "t2", "Half a", state=MessageState.STOPPED)
    sub = spoke("b1", "tb", "Sub words.", author=BROWSER, under=("t1", "c1"))
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "t1", "One.", [call("c1", "subAgent")]), sub, cut])

    def names(message_id: str) -> list[str]:
        rect = view.message_rect(message_id)
        assert rect is not None
        menu = view.context_menu(QPoint(200, rect.center().y()))
        found = [action.text() for action in menu.actions() if action.text()][2:-1]
        menu.close()
        return found

    assert names("u1") == ["Copy message", "Edit", "Retry", "Retry with…", "Continue from here", "Pin"]
    assert names("m1") == [
        *("Copy message", "Retry", "Retry with…", "Continue from here", "Pin"),
        "Save the decision…",
    ]
    assert names("b1") == ["Copy message"]
    assert names("m2") == ["Copy message", "Retry", "Retry with…", "Continue"]
    rect = view.message_rect("u1")
    assert rect is not None
    QTest.mouseMove(view.viewport(), rect.center())
    assert view.action_bar.message_id == "u1"
    with qtbot.waitSignal(view.action_requested) as wanted:
        QTest.mouseClick(view.action_bar.findChild(QWidget, "message_edit"), Qt.MouseButton.LeftButton)
    assert wanted.args == ["u1", "edit"]
    with qtbot.waitSignal(view.action_requested) as wanted:
        click(view, "m2", "continue")
    assert wanted.args == ["m2", "continue"]


def test_attachments_are_named_not_opened(view: TranscriptView) -> None:
    files = (
        Attachment(name="notes.md", text="x" * 4_200),
        Attachment(name="\u202ecod.exe", media_type="image/png", data="A" * 4_000),
    )
    view.feed.show_session(SESSION, [replace(asked(1), attachments=files)])
    view.grab()
    assert "[notes.md 4.2 kB, cod.exe 3.0 kB]" in view.describe("u1")


def test_the_keyboard_reaches_and_folds(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, stored(a_tree()))
    view.setFocus()
    for _ in range(20):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        if view.keyboard.target and view.keyboard.target.row_id == "group tb":
            break
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert "b2" not in view.message_ids
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert "b2" not in view.message_ids
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert "b2" in view.message_ids
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert view.keyboard.target is not None and view.keyboard.target.row_id == "b1/0"
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert row(view, "b1/0").context.unfolded


def test_a_screen_reader_hears_the_tree(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, stored(a_tree()))
    view.feed.unfold_around("te")
    view.feed.unfold_around("tk")
    told = QAccessible.queryAccessibleInterface(view)
    items = [told.child(index) for index in range(told.childCount())]
    names = [item.text(QAccessible.Text.Name) for item in items]
    states = [item.state() for item in items]
    assert names[3].startswith("Browser (sub-agent): depth 1, Master › Browser, 2 steps")
    assert states[3].expanded and not states[3].collapsed
    assert names[4] == "Read https://example.org/, done, collapsed"
    assert states[4].collapsed
    assert names[7] == "Reader (depth 2): Read."
    assert not states[7].expandable


def test_the_initial_of_one_who_only_calls_is_whole(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "t1", calls=[call("c1")])])
    assert row(view, "m1").height >= row(view, "m1").top + row(view, "m1").style.avatar


def test_a_speaker_has_the_colour_it_has_elsewhere(view: TranscriptView) -> None:
    view.feed.set_assistants({"other": 0, "master": 2, "browser": 1}, {})
    told = spoke("m2", "t2", "Found.", author=agent("browser", "master"), under=("t1", "c1"))
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "t1", "Hello.", [call("c1", "subAgent")]), told])
    tokens = row(view, "m1").style.tokens
    assert row(view, "m1").context.speaker.colour == tokens.speaker(2)[0]
    assert row(view, "group t2").context.speaker.colour == tokens.speaker(1)[0]
    view.feed.set_assistants({"master": 3}, {})
    assert row(view, "m1").context.speaker.colour == tokens.speaker(3)[0]
    assert row(view, "group t2").context.speaker.colour not in (tokens.speaker(3)[0], tokens.speaker(1)[0])


def test_how_long_was_thought_is_still_known_a_week_later(view: TranscriptView) -> None:
    told = spoke("m1", "t1", "Here.", thinking="First I look.", thinking_seconds=3.2)
    view.feed.show_session(SESSION, [asked(1), told])
    assert row(view, "m1")._thought._words == "Thought for 3 s"


def test_the_caret_of_a_table_stands_behind_its_last_word(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1)])
    view.feed.message_started(spoke("m1", "t1", state=MessageState.STREAMING))
    view.feed.append_text("m1", "| case | today |\n| --- | --- |\n| disk full | half a file |\n")
    view.feed.flush()
    table = row(view, "m1").text.segments[-1]
    caret = table.position_rect(table.start + table.length)
    assert caret.left() > table.rect.center().x() and caret.top() > table.rect.center().y()


def test_the_buttons_over_a_message_go_with_it(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, [asked(1), spoke("m1", "t1", "One.")])
    rect = view.message_rect("m1")
    assert rect is not None
    QTest.mouseMove(view.viewport(), rect.center())
    assert view.action_bar.message_id == "m1"
    view.feed.reload([asked(1)])
    assert view.action_bar.message_id == ""
    QTest.mouseMove(view.viewport(), QPoint(200, view.message_rect("u1").center().y()))
    assert view.action_bar.message_id == "u1"


def test_what_went_on_after_a_cut_offers_no_continue(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1), cut := spoke("m1", "t1", "Half", state=MessageState.STOPPED)])

    def offers() -> list[str]:
        row = view.canvas.row(view.model.index("m1"))
        return [name for name, _ in row.actions if name]

    assert offers() == ["continue"]
    view.feed.message_started(asked(2, "Now in Korean."))
    assert offers() == [], "it would take back what was said since"
    view.feed.reload([asked(1), cut])
    view.feed.message_finished(spoke("m2", "t1", "The other half."))
    assert offers() == []
