"""Hostile documents in every place of a chat: text, thought, arguments, result, question, names, files."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.message import Attachment, Message, MessageState, Prompt
from app.gui.transcript.message_rows import MessageRow
from app.gui.transcript.transcript_model import CARD, GROUP, MESSAGE, QUESTION
from app.gui.transcript.transcript_view import JumpPill, TranscriptView
from tests.gui.chats import SESSION, agent, asked, call, gave, question, spoke
from tests.gui.hostile_documents import DOCUMENTS, LEAST
from tests.gui.shown_view import shown_view
from tests.gui.test_transcript_hostile import reached  # noqa: F401

# They take seconds each; tests/gui/test_transcript_hostile.py shows them too.
LONG = ("rules and headings", "brackets and stars", "a long table", "many lines of code", "a wide table")


@pytest.fixture
def view(qtbot: QtBot) -> TranscriptView:
    """Return a shown view that has painted every kind of row once, so that all it imports is imported."""
    result = shown_view(qtbot, 900, 700)
    fill(result, "```python\nx\n```\n\n|a|\n|-|\n|b|\n\n- c")
    return result


def conversation(text: str) -> list[Message]:
    """Return a chat that carries a text wherever it can."""
    sub = replace(agent("browser", "master"), name=text[:5_000])
    file = Attachment(name=text[:5_000], media_type="image/png", data=text)
    return [
        replace(asked(1, text), attachments=(file,)),
        spoke(
            "m1",
            "tm",
            text,
            [call("c", text[:2_000], text), call("d"), call("e", "subAgent", text[:3_000])],
            thinking=text,
        ),
        gave("r", "tm", "c", text),
        question("q", "tm", "d", Prompt(question=text, type="text", answered_by="w", answer=text)),
        spoke("b", "tb", text[:4_000], author=sub, under=("tm", "e")),
    ]


def fill(view: TranscriptView, text: str) -> None:
    """Show a text everywhere, unfold all, and let it stream in as arguments and words too."""
    view.feed.show_session(SESSION, conversation(text))
    for row_id in ("m1", "m1/0", "m1/1", "m1/2"):
        view.feed.set_open(row_id, open_=True)
    for row_id in view.message_ids:
        view.go_to(row_id, 0)
        view.grab()
        view.describe(row_id)
    view.feed.message_started(spoke("s", "ts", state=MessageState.STREAMING))
    for start in range(0, min(len(text), 8_000), 1_000):
        view.feed.append_text("s", text[start : start + 1_000], text[start : start + 500])
        view.feed.flush()
    view.feed.message_finished(spoke("s", "ts", text[:8_000], [call("z", "x", text[:8_000])]))
    view.grab()


@pytest.mark.threat("T6", "T7", "T10")
@pytest.mark.corpus(46, 47)
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [pytest.param(DOCUMENTS[name], id=name, marks=[pytest.mark.slow] * (name in LONG)) for name in DOCUMENTS],
)
def test_nothing_is_opened_and_nothing_pretends(
    view: TranscriptView,
    text: str,
    reached: list[str],  # noqa: F811
) -> None:
    assert len(text) >= LEAST
    fill(view, text)
    assert not reached
    kinds = [entry.kind for entry in view.model.entries]
    assert kinds == [MESSAGE, MESSAGE, CARD, CARD, QUESTION, CARD, GROUP, MESSAGE, MESSAGE, CARD]
    for index, kind in enumerate(kinds):
        row = view.canvas.row(index)
        assert all(span.link.startswith(("http://", "https://")) for _, span in row.text.links)
        if kind != MESSAGE:
            assert row.text.links == []
            assert row.text.documents <= 200
            assert (
                sum(len(part.document.toPlainText()) for part in row.text.segments if part.document) <= 90_000
            )
            assert not any(mark in row.text.plain_text for mark in "\u202e\u2066\x00\x1b")
        assert not any(mark in view.describe(row.row_id) for mark in "\u202e\u2066\x00\x1b")
    assert {type(child) for child in view.viewport().findChildren(QWidget) if child.isVisible()} <= {JumpPill}


@pytest.mark.threat("T4", "T5")
@pytest.mark.corpus(50)
def test_a_forged_card_in_the_text_is_only_text(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [spoke("m1", "tm", DOCUMENTS["forged markers"])])
    row = view.canvas.row(0)
    assert isinstance(row, MessageRow)
    assert [entry.kind for entry in view.model.entries] == [MESSAGE]
    assert row.action_rects == []
    assert "[STEP_COMPLETE]" in row.text.plain_text
