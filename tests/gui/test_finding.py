"""Finding in a session: all it holds is found, unfolded and marked; what comes in meanwhile is counted."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.core.events import CallsStreamed
from app.core.message import Attachment, Message, MessageState, Prompt
from app.core.turns import Turns
from app.gui.display.theme import LIGHT
from app.gui.transcript.message_rows import FOLD_ABOVE
from app.gui.transcript.painted_row import ARGUMENTS, REST, RESULT, TEXT, THOUGHT, THOUGHT_KEPT
from app.gui.transcript.row_words import SHOWN
from app.gui.transcript.search import MAX_HITS, SEARCH_S
from app.gui.transcript.transcript_model import group_id, whole_rows
from app.gui.transcript.transcript_view import TranscriptView
from tests.app_driver import at_window, until
from tests.gui.chats import SESSION, a_tree, asked, call, gave, question, rows_of, spoke, stored
from tests.gui.seen import texts_in
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401


def looked(view: TranscriptView, qtbot: QtBot) -> list[tuple[str, str]]:
    """Return (row, part) of all hits once everything has been looked into."""
    qtbot.waitUntil(lambda: not view.feed.loading and not view.search.active, timeout=60_000)
    return [(hit.row_id, hit.part) for hit in view.search.finder.hits]


def found(view: TranscriptView, qtbot: QtBot, words: str) -> list[tuple[str, str]]:
    """Find words; return (row, part) of all hits."""
    view.search.find(words)
    return looked(view, qtbot)


def marked(view: TranscriptView, row_id: str, words: str) -> None:
    """Fail unless just these words are marked in a row as the hit that is shown."""
    index = view.model.index(row_id)
    ranges = [each for each in view._ranges(index, view.canvas.row(index)) if each.background == LIGHT.accent]
    row = view.canvas.row(index)
    assert len(ranges) == 1, row_id
    text = row._thought._stack.plain_text if ranges[0].thought else row.text.plain_text
    assert text[ranges[0].start : ranges[0].end].casefold() == words.casefold()


def on_screen(view: TranscriptView, row_id: str) -> bool:
    """Say whether the hit shown is inside the viewport."""
    rect = view.message_rect(row_id)
    hit = view.search.finder.hits[view.search.finder.current]
    inside = view.canvas.row(view.model.index(row_id)).hit_rect(hit)
    return rect is not None and 0 <= rect.top() + inside.top() < view.viewport().height()


def lines(count: int) -> str:
    """Return paragraphs enough to scroll."""
    return "\n\n".join(f"Line {number} of many." for number in range(count))


def test_arguments_results_and_thoughts_are_found_unfolded_and_marked(
    view: TranscriptView, qtbot: QtBot
) -> None:
    messages = [
        asked(1),
        spoke(
            "m1",
            "t1",
            "Looking.",
            [call("c1", arguments='{"url": "https://marmot.example"}')],
            thinking=f"{lines(40)}\nPerhaps a badger.\n{lines(3)}",
        ),
        gave("r1", "t1", "c1", f"{lines(60)}\nThe vole is here."),
        spoke("m2", "t1", lines(80)),
    ]
    view.feed.show_session(SESSION, messages)
    for words, row_id, part in (
        ("marmot", "m1/0", ARGUMENTS),
        ("VOLE", "m1/0", RESULT),
        ("badger", "m1", THOUGHT),
    ):
        assert found(view, qtbot, words) == [(row_id, part)]
        marked(view, row_id, words)
        assert on_screen(view, row_id)
    assert view.unfolded("m1/0") is True
    view.grab()


def test_what_is_not_shown_letter_by_letter_is_found_as_well(view: TranscriptView, qtbot: QtBot) -> None:
    note = Attachment(name="otters.txt", text="All about the weasel.")
    messages = [
        replace(asked(1), attachments=(note,)),
        spoke("m1", "t1", "", [call("c1", "promptUser")]),
        question("q1", "t1", "c1", Prompt(question="Which stoat?", answer="the small one", answered_by="u2")),
    ]
    view.feed.show_session(SESSION, messages)
    for words, row_id in (("otters", "u1"), ("weasel", "u1"), ("stoat", "q1"), ("small one", "q1")):
        assert found(view, qtbot, words) == [(row_id, REST)]
    assert view.search.ranges(view.canvas.row(view.model.index("q1"))) == []


def test_a_folded_group_is_unfolded_to_the_hit_however_deep(view: TranscriptView, qtbot: QtBot) -> None:
    messages = stored(a_tree())
    below = [replace(one, content=f"{lines(40)}\n\nA lynx.") if one.id == "e1" else one for one in messages]
    view.feed.show_session(SESSION, below)
    view.feed.fold("te", True)
    view.feed.fold("tb", True)
    assert "e1" not in view.message_ids
    assert found(view, qtbot, "lynx") == [("e1", TEXT)]
    assert "e1" in view.message_ids
    marked(view, "e1", "lynx")
    assert on_screen(view, "e1")
    assert view.unfolded(group_id("tb")) and view.unfolded(group_id("te"))


def test_hits_are_in_the_order_of_the_rows(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, stored(a_tree()))
    view.feed.fold("tb", True)
    rows = [row for row, _part in found(view, qtbot, "e")]
    order = [entry.id for root in ("tu1", "tm") for entry in whole_rows(Turns(stored(a_tree())), root)]
    assert rows == sorted(rows, key=order.index)
    assert {"m1", "e1", "m2"} <= set(rows)
    assert order == [entry.id for entry in rows_of(stored(a_tree()))]


@pytest.mark.slow
def test_far_into_a_long_card_and_a_long_message(view: TranscriptView, qtbot: QtBot) -> None:
    long = lines(FOLD_ABOVE // 10)
    messages = [
        asked(1),
        spoke("m1", "t1", "", [call("c1", arguments="x " * SHOWN)]),
        gave("r1", "t1", "c1", "\x00" + "y\n" * SHOWN + "the gnu"),
        spoke("m2", "t1", f"{long}\n\nthe **okapi**", thinking=f"the tapir\n{'z ' * THOUGHT_KEPT}"),
    ]
    view.feed.show_session(SESSION, messages)
    assert found(view, qtbot, "gnu") == [("m1/0", RESULT)]
    marked(view, "m1/0", "gnu")
    assert found(view, qtbot, "okapi") == [("m2", TEXT)]
    marked(view, "m2", "okapi")
    assert on_screen(view, "m2")
    # Of a thought only the end is shown; that it is in there is told all the same.
    assert found(view, qtbot, "tapir") == [("m2", THOUGHT)]
    assert view.search.ranges(view.canvas.row(view.model.index("m2"))) == []
    assert len(found(view, qtbot, "z z")) == MAX_HITS
    marked(view, "m2", "z z")


def test_the_count_follows_what_streams_in(view: TranscriptView, qtbot: QtBot) -> None:
    told: list[tuple[int, int]] = []
    view.found.connect(lambda number, count: told.append((number, count)))
    view.feed.show_session(SESSION, [asked(1, "a heron")])
    assert found(view, qtbot, "heron") == [("u1", TEXT)]
    streams = spoke("m1", "t1", "", state=MessageState.STREAMING)
    view.feed.message_started(streams)
    view.feed.append_text("m1", "The her")
    view.feed.append_text("m1", "on, and a heron.")
    qtbot.waitUntil(lambda: told[-1] == (1, 3), timeout=60_000)
    view.feed.append_text("m1", "", "Which heron?")
    qtbot.waitUntil(lambda: told[-1] == (1, 4), timeout=60_000)
    calls = (call("c1", arguments='{"bird": "heron'),)
    view.feed.show_call(CallsStreamed(session_id="s", message_id="m1", tool_calls=calls))
    qtbot.waitUntil(lambda: told[-1] == (1, 5), timeout=60_000)
    # The text as it is stored has another one.
    view.feed.message_finished(replace(streams, state="done", content="A heron."))
    qtbot.waitUntil(lambda: told[-1] == (1, 2), timeout=60_000)
    marked(view, "u1", "heron")
    view.search.step(1)
    assert told[-1] == (2, 2)
    view.search.find("")
    view.feed.message_started(asked(2, "heron"))
    qtbot.waitUntil(lambda: not view.search.active)
    assert told[-1] == (0, 0)


def test_another_version_is_searched_without_leading_the_reader_away(
    view: TranscriptView, qtbot: QtBot
) -> None:
    told: list[tuple[int, int]] = []
    view.found.connect(lambda number, count: told.append((number, count)))
    view.feed.show_session(SESSION, [asked(1, "a crane")])
    assert len(found(view, qtbot, "crane")) == 1
    view.feed.reload([asked(1, "a crane"), spoke("m2", "t2", f"crane\n\n{lines(90)}\n\ncrane")])
    place = view.place
    assert len(looked(view, qtbot)) == 3
    assert told[-1] == (1, 3)
    assert view.place == place
    view.search.step(1)
    assert told[-1] == (2, 3)
    # The one that was shown is not in this version.
    view.feed.reload([asked(1, "a crane")])
    assert len(looked(view, qtbot)) == 1
    assert told[-1] == (0, 1)
    view.search.step(1)
    assert told[-1] == (1, 1)


def ten_thousand() -> list[Message]:
    """Return a long session with calls, thoughts and plain answers, the word in every fiftieth."""
    messages: list[Message] = []
    for number in range(2_500):
        word = "pangolin" if not number % 50 else "creature"
        text = f"Answer {number} about the **{word}**. " + "More of it. " * (number % 30)
        messages += [
            asked(number, f"Question {number}"),
            spoke(f"a{number}", f"t{number}", text, [call(f"c{number}")], thinking="Hm. " * 20),
            gave(f"r{number}", f"t{number}", f"c{number}", "page " * 50),
            spoke(f"b{number}", f"t{number}", "Done."),
        ]
    return messages


@pytest.mark.slow
def test_ten_thousand_messages_are_looked_through_in_small_pieces(view: TranscriptView, qtbot: QtBot) -> None:
    finder, advance = view.search.finder, view.search.finder.advance
    given: list[float] = []

    def noted(seconds: float) -> bool:
        given.append(seconds)
        return advance(seconds)

    finder.advance = noted  # type: ignore[method-assign]
    view.feed.show_session(SESSION, ten_thousand())
    view.search.find("pangolin")
    # Finding waits for nothing to be laid out: not for the rows, not for the end of the search.
    assert view.feed.loading
    assert len(finder.hits) < 50
    assert looked(view, qtbot) == [(f"a{number}", TEXT) for number in range(0, 2_500, 50)]
    assert finder.current == 49
    assert len(given) > 3
    assert set(given) == {SEARCH_S}
    assert SEARCH_S <= 0.003
    # With no time at all it goes one step, and that is no more than a row.
    finder.search("pangolin")
    steps, left = [], True
    while left:
        before = len(finder._known)
        left = advance(0.0)
        steps.append(len(finder._known) - before)
    assert max(steps) == 1
    assert sum(steps) == 12_500 - 2_500
    assert len(finder.hits) == 50


def test_a_hit_of_the_search_in_all_sessions_is_unfolded(view: TranscriptView, qtbot: QtBot) -> None:
    view.feed.show_session(SESSION, stored(a_tree()))
    view.feed.fold("tb", True)
    assert view.go_to("e1", 0)
    assert "e1" in view.message_ids
    assert view.go_to("s0", 0)
    assert view.place[0] == "b1/0" or view.message_rect("b1/0") is not None
    assert view.unfolded("b1/0") is True
    assert not view.go_to("nothing", 0)


@pytest.mark.timeout(180)
async def test_the_bar_counts_on_while_an_answer_comes_in(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    answers = iter(("A marmot.",))
    wire_servers["openai"].script(
        "openai-wire", lambda _request: Answer(next(answers, "The marmot and another marmot."))
    )
    async with at_window(data_dir, size=(900, 600)) as person:
        desk, words = person.window.controller, person.window.language
        session_id = await desk.engine.chats.start("assistant", "Who sleeps?")
        desk.show_session(session_id)
        page = desk.chat_page
        await until(lambda: page.isVisible() and page.session_id == session_id)
        await until(lambda: desk.engine.live(session_id).session.status == "idle", 90)
        desk.find_in_session()
        box = page.find_bar.findChild(QLineEdit, "find_box")
        await until(box.isVisible)
        QTest.keyClicks(box, "MARMOT")
        await until(lambda: texts_in(page.find_bar) == [words("find.count", number=1, count=1)], 60)
        await desk.engine.chats.send(session_id, "And?")
        await until(lambda: len(page.transcript.search.finder.hits) >= 3, 90)
        live = desk.engine.live(session_id)
        await until(lambda: live.session.status == "idle" and not page.transcript.search.active, 90)
        many = sum(one.content.count("marmot") for one in live.messages)
        await until(lambda: texts_in(page.find_bar) == [words("find.count", number=1, count=many)], 60)
        QTest.keyClick(box, Qt.Key.Key_Return)
        assert texts_in(page.find_bar) == [words("find.count", number=2, count=many)]
        QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        assert texts_in(page.find_bar) == [words("find.count", number=1, count=many)]
        words.choose("ko")
        assert texts_in(page.find_bar) == [f"1/{many}"]
        words.choose("en")
        # A session shown instead is looked through for the same words, and read where it was read.
        desk.show_new()
        await until(lambda: texts_in(page.find_bar) == [words("find.count", number=0, count=0)], 60)
