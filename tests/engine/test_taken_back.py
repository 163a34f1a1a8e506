"""An answer whose beginning turns out to be thinking: only the closing tag comes. Screen, memory and log agree."""

from pathlib import Path

import pytest

from app.core.errors import ProviderError
from app.core.events import Event, MessageDelta, MessageFinished, MessageStarted
from app.core.provider import Finished, Text
from tests.builders import a_log_store
from tests.engine.test_turn import ask, bench

THOUGHT = ("Six times", " seven.\n")
SCRIPT = (*THOUGHT, "</th", "ink>\n\n", "4", "2.")


def on_screen(events: list[Event]) -> tuple[str, str]:
    """Return the text and the thinking that a listener has gathered before the last message was finished."""
    text = thinking = ""
    for event in events:
        if isinstance(event, MessageStarted):
            text, thinking = event.message.content, event.message.thinking
        elif isinstance(event, MessageDelta):
            assert event.offset == len(text)
            text, thinking = text + event.text, thinking + event.thinking
    return text, thinking


async def test_what_was_shown_moves_into_thinking(tmp_path: Path) -> None:
    made = bench(tmp_path, [[*SCRIPT, Finished()]])
    session_id = await ask(made)
    answer = made.messages(session_id)[-1]
    assert (answer.content, answer.thinking) == ("42.", "".join(THOUGHT))
    assert on_screen(made.events) == ("42.", "".join(THOUGHT))
    shown = [event.text for event in made.events if isinstance(event, MessageDelta) and event.text]
    assert shown[: len(THOUGHT)] == list(THOUGHT), "the thought streams as text until its end comes"


async def test_an_answer_that_breaks_off_behind_the_tag_keeps_both(tmp_path: Path) -> None:
    made = bench(tmp_path, [[*SCRIPT[:-1], ProviderError("bad_key")]])
    session_id = await ask(made)
    answer = made.messages(session_id)[-1]
    assert (answer.state, answer.content, answer.thinking) == ("failed", "4", "".join(THOUGHT))


async def test_thinking_in_a_field_of_its_own_leaves_the_tag_in_the_text(tmp_path: Path) -> None:
    made = bench(tmp_path, [[Text(thinking="Hm."), "It ends\n", "</think>\n", "a thought.", Finished()]])
    session_id = await ask(made)
    answer = made.messages(session_id)[-1]
    assert (answer.content, answer.thinking) == ("It ends\n</think>\na thought.", "Hm.")


@pytest.mark.parametrize("lost", range(4))
async def test_a_kill_at_any_time_keeps_the_log_as_the_screen_was(tmp_path: Path, lost: int) -> None:
    made = bench(tmp_path, [[*SCRIPT, Finished()]])
    session_id = await ask(made)
    # The log as it would be without its last records.
    finished = next(place for place, event in enumerate(made.events) if _is_end(event))
    events = made.events[: finished - lost]
    store = a_log_store(tmp_path / "killed")
    for event in events:
        store.append((event,))
    await store.flush(session_id)
    await store.close()
    again = a_log_store(tmp_path / "killed")
    stored = await again.load(session_id)
    await again.close()
    assert (stored.messages[-1].content, stored.messages[-1].thinking) == on_screen(events)


def _is_end(event: Event) -> bool:
    return isinstance(event, MessageFinished) and event.message.role == "assistant"
