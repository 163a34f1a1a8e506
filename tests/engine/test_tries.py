"""What a chat says while it waits for its provider, and what it keeps of a try that failed."""

import asyncio
from pathlib import Path

import pytest

from app.core.errors import ProviderError
from app.core.events import Notice, RetryScheduled
from app.core.message import Usage
from app.core.provider import Finished, Text
from tests.builders import Bench, until
from tests.engine.test_turn import ANSWER, agent, ask, bench


@pytest.mark.parametrize("assistants", [("main", "other"), ("main", "main")])
async def test_a_chat_that_waits_because_another_was_told_to_wait_says_so(
    tmp_path: Path, assistants: tuple[str, str]
) -> None:
    refused = ProviderError("rate_limit", "slow down", 30.0)
    made = bench(tmp_path, [[refused], [ANSWER], [ANSWER]], agents=(agent(), agent("other")))
    made.time.on_sleep = asyncio.Event().wait
    first = await made.engine.chats.start(assistants[0], "One")
    await until(lambda: told(made, first) == [30.0])
    second = await made.engine.chats.start(assistants[1], "Two")
    await until(lambda: told(made, second) == [30.0])
    assert len(made.models.requests) == 1


def told(made: Bench, session_id: str) -> list[float]:
    """Return the seconds that a session was told to wait for its provider."""
    waits = (event for event in made.events if isinstance(event, RetryScheduled))
    return [event.seconds for event in waits if event.session_id == session_id]


async def test_the_thinking_of_two_tries_is_kept_apart(tmp_path: Path) -> None:
    made = bench(
        tmp_path, [[Text(thinking="One.")], [Text(thinking="Two."), Text(thinking="Three."), ANSWER]]
    )
    session_id = await ask(made)
    answer = made.messages(session_id)[-1]
    assert (answer.thinking, answer.content) == ("One.\n\nTwo.Three.", ANSWER)


async def test_a_stream_without_any_event_is_asked_again_with_less(tmp_path: Path) -> None:
    made = bench(tmp_path, [[ProviderError("unanswered")], [ANSWER]])
    session_id = await ask(made, "x" * 10)
    assert made.messages(session_id)[-1].content == ANSWER


WORDS = "Words about boats and harbours. " * 500


@pytest.mark.parametrize(
    ("text", "finished", "found"),
    [
        (WORDS, Finished(usage=Usage(input_tokens=2_000)), True),
        ("배와 항구에 대한 글입니다. " * 500, Finished(usage=Usage(input_tokens=1_500)), True),
        (WORDS, Finished(usage=Usage(input_tokens=3_200)), False),
        (WORDS, Finished(usage=Usage(input_tokens=200, cached_tokens=3_000)), False),
        ("Short.", Finished(usage=Usage(input_tokens=1)), False),
    ],
)
async def test_a_server_that_cuts_the_beginning_is_found_out(
    tmp_path: Path, text: str, finished: Finished, found: bool
) -> None:
    made = bench(tmp_path, [[ANSWER, finished]])
    made.models.may_cut = True
    await ask(made, text)
    told = [event for event in made.events if isinstance(event, Notice)]
    assert [one.code for one in told] == ["beginning_cut"] * found
    assert list(made.models.cut.values()) == [finished.usage.input_tokens] * found
    if found:
        assert told[0].details["tokens"] == f"{finished.usage.input_tokens:,}"


async def test_once_a_tokenizer_is_known_a_smaller_cut_is_found_too(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        [
            [ANSWER, Finished(usage=Usage(input_tokens=3_600))],
            [ANSWER, Finished(usage=Usage(input_tokens=5_000))],
        ],
    )
    made.models.may_cut = True
    session_id = await ask(made, WORDS)
    await made.engine.chats.send(session_id, WORDS * 2)
    await made.engine.wait(session_id)
    assert list(made.models.cut.values()) == [5_000]
