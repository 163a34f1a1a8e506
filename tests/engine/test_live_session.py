"""The only mutator: one batch a change, text beside the message, nothing where nothing may be written."""

import pytest

from app.core.errors import BadInput
from app.core.events import Event, EventBus, MessageDelta, MessageFinished, SessionChanged
from app.core.message import MessageState
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from tests.builders import a_debate, a_session, people, said


def opened(*, read_only: bool = False) -> tuple[LiveSession, list[tuple[Event, ...]]]:
    batches: list[tuple[Event, ...]] = []
    bus = EventBus()
    bus.subscribe(batches.append)
    stored = StoredSession(session=a_session(a_debate(2)), messages=[], read_only=read_only)
    return LiveSession(stored, bus), batches


def test_a_message_and_the_cursor_are_one_batch() -> None:
    live, batches = opened()
    live.finish_message(said(people(1)[0], "Hello."), debate=a_debate(2, turn=1))
    assert [type(event) for event in batches[0]] == [MessageFinished, SessionChanged]
    assert len(batches) == 1
    assert live.debate_session.debate.turn == 1


def test_text_grows_in_pieces_with_the_right_offsets() -> None:
    live, batches = opened()
    message = said(people(1)[0], "")
    live.start_message(message)
    for piece in ("Hel", "lo\ufffd", "!"):
        live.append_text(message.id, piece)
    deltas = [event for batch in batches for event in batch if isinstance(event, MessageDelta)]
    assert [(one.offset, one.text) for one in deltas] == [(0, "Hel"), (3, "lo\ufffd"), (6, "!")]
    assert live.text_of(message.id) == "Hello\ufffd!"
    assert live.messages[0].content == "" and live.messages[0].state == MessageState.STREAMING
    assert [one.content for one in live.whole_messages()] == ["Hello\ufffd!"]
    live.settle()
    assert (live.messages[0].state, live.messages[0].content) == (MessageState.STOPPED, "Hello\ufffd!")
    live.append_text(message.id, "late")
    assert live.text_of(message.id) == "Hello\ufffd!"


def test_the_same_message_twice_is_one_message_in_its_place() -> None:
    live, _ = opened()
    first, second = said(people(1)[0], "One."), said(people(1)[0], "Two.")
    live.finish_message(first)
    live.finish_message(second)
    live.finish_message(first)
    assert [one.content for one in live.messages] == ["One.", "Two."]
    assert live.messages[0].state == MessageState.DONE


def test_what_a_newer_version_wrote_is_never_changed() -> None:
    live, batches = opened(read_only=True)
    message = said(people(1)[0], "Hello.")
    for change in (
        lambda: live.finish_message(message),
        lambda: live.start_message(message),
        lambda: live.change(title="x"),
    ):
        with pytest.raises(BadInput, match="session_read_only"):
            change()
    assert batches == [] and live.messages == []
