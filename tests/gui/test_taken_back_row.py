"""A row whose text turns out to have been thinking."""

from app.core.message import MessageState
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.test_transcript_feed import SESSION, asked, click, row, spoke, view

__all__ = ["view"]


def test_text_that_was_thinking_leaves_the_row_and_is_folded(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [asked(1)])
    view.feed.message_started(spoke("m1", "tm", state=MessageState.STREAMING))
    view.feed.append_text("m1", "Six times seven.")
    view.feed.flush()
    view.feed.message_started(spoke("m1", "tm", state=MessageState.STREAMING, thinking="Six times seven."))
    view.feed.append_text("m1", "It is ")
    view.feed.append_text("m1", "42.")
    view.feed.flush()
    assert row(view, "m1").text.plain_text == "It is 42."
    assert view.message_ids.count("m1") == 1
    folded = row(view, "m1").height
    click(view, "m1", "thought")
    assert row(view, "m1").height > folded
