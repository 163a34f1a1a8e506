"""How far calls and sub-agents are, by what was said: after a restart, while one waits, once it goes on."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core.events import TurnFinished
from app.core.message import MessageState, Prompt, Usage
from app.gui.transcript.call_rows import CallState
from app.gui.transcript.transcript_model import TurnBook
from tests.gui.chats import a_tree, agent, call, gave, question, spoke, stored

UNDER = ("tm", "c1")
BROWSER = agent("browser", "master")
ASKED = spoke("m1", "tm", "", [call("c1", "subAgent")])
OPEN = Prompt(question="Which?")


def sub(message_id: str, text: str = "", calls=(), **fields):
    return spoke(message_id, "tb", text, calls, author=BROWSER, under=UNDER, **fields)


def over(turn_id: str, outcome: str = "done") -> TurnFinished:
    return TurnFinished(session_id="s", turn_id=turn_id, outcome=outcome)


@pytest.mark.parametrize(
    ("messages", "goes_on"),
    [
        ([sub("b1", "Words", state=MessageState.STREAMING)], True),
        ([sub("b1", "", [call("d")])], True),
        ([sub("b1", "", [call("d")]), gave("s", "tb", "d", author=BROWSER, under=UNDER)], True),
        ([sub("b1", "All said.")], False),
        ([sub("b1", "Half", state=MessageState.STOPPED)], False),
        ([sub("b1", state=MessageState.FAILED)], False),
        ([sub("b1", "", [call("d")]), gave("r1", "tm", "c1", "{}")], False),
        ([sub("b1", "", [call("d")]), gave("r1", "tm", "c1", "", state=MessageState.STOPPED)], True),
    ],
)
def test_a_turn_goes_on_while_something_is_due(messages, goes_on):
    assert TurnBook([ASKED, *messages]).goes_on("tb") is goes_on


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("The user stopped this.", CallState.STOPPED),
        ('{"ok": false, "error": "The user stopped it."}', CallState.STOPPED),
        ("by_user", CallState.STOPPED),
        ("There is no such file.", CallState.FAILED),
    ],
)
def test_what_the_user_stopped_has_not_failed(said, state):
    result = gave("r1", "tm", "c1", said, state=MessageState.FAILED)
    book = TurnBook([ASKED, result])
    assert book.call_state(ASKED, ASKED.tool_calls[0], "r1", runs=False) == state


def test_a_turn_that_ended_goes_on_when_it_says_more():
    book = TurnBook([ASKED, sub("b1", "", [call("d")])])
    book.note(over("tb", "waiting"))
    assert book.goes_on("tb")
    book.note(over("tb", "held"))
    assert not book.goes_on("tb")
    book.put(sub("b2", state=MessageState.STREAMING))
    assert book.goes_on("tb")


def test_all_above_an_open_question_waits():
    messages = [
        ASKED,
        gave("r1", "tm", "c1", "", state=MessageState.STOPPED),
        sub("b1", "", [call("d")]),
        replace(question("q", "tb", "d", OPEN), parent_turn_id="tm", parent_call_id="c1"),
    ]
    book = TurnBook(messages)
    assert book.waits("tb") and book.waits("tm")
    assert book.call_state(ASKED, ASKED.tool_calls[0], "r1", runs=False) == "waiting"
    assert book.asks_in(messages[2])
    book.put(replace(messages[3], prompt=replace(OPEN, dismissed=True)))
    assert not book.waits("tm")
    assert book.call_state(ASKED, ASKED.tool_calls[0], "r1", runs=False) == "stopped"


def test_steps_tokens_and_roots_of_a_tree():
    book = TurnBook(stored(a_tree()))
    assert (book.steps("tb"), book.steps("tm")) == (2, 2)
    assert book.tokens("te") == 350
    assert book.tokens("tb") == 3 * 350
    assert [book.root(turn) for turn in ("te", "tk", "tm", "tu1")] == ["tm", "tm", "tm", "tu1"]
    assert list(book.above("te")) == ["te", "tb", "tm"]
    assert set(book.below("tm")) == {"tm", "tb", "tk", "te"}


def test_turns_in_a_ring_end():
    book = TurnBook(
        [
            spoke("a", "ta", author=BROWSER, under=("tb", "c")),
            spoke("b", "tb", author=BROWSER, under=("ta", "d")),
        ]
    )
    assert book.root("ta") in ("ta", "tb")
    assert set(book.below("ta")) == set(book.above("ta")) == {"ta", "tb"}


def test_the_time_since_a_turn_began():
    book = TurnBook([ASKED])
    assert book.elapsed("tm", datetime(2026, 11, 21, 14, 2, 12, 900_000, tzinfo=UTC)) == 12
    assert TurnBook([replace(ASKED, created_at="")]).elapsed("tm") == 0
    assert TurnBook([replace(ASKED, created_at="2026-11-21T14:02:00")]).elapsed("tm") == 0


def test_usage_that_is_not_known_counts_nothing():
    assert TurnBook([replace(ASKED, usage=None)]).tokens("tm") == 0
    assert TurnBook([replace(ASKED, usage=Usage(input_tokens=7))]).tokens("tm") == 7
