"""The order of a transcript's rows: as tables, and for any tree in any order of arrival."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.council import Participant
from app.core.message import Author, Consent, Message, MessageState, Prompt, PromptType
from app.core.session import Debate, DebateSession
from app.core.texts import Texts
from app.gui.display.theme import LIGHT
from app.gui.transcript.transcript_model import CARD, GROUP, MESSAGE, QUESTION, TranscriptModel, group_id
from tests.gui.chats import (
    MASTER,
    SESSION,
    USER,
    a_tree,
    agent,
    asked,
    call,
    gave,
    question,
    rows_of,
    spoke,
    stored,
)
from tests.repeats import examples

I18N = Path(__file__).parents[2] / "resources" / "i18n"
OPEN = Prompt(question="Which?", type="text")
APPROVE = Prompt(
    question="", type=PromptType.APPROVAL, tool="open_url", answered_by="w", answer=Consent.ALLOW
)

ASKED = replace(APPROVE, answered_by=None, answer="", reason="tool")


def ids(messages: list[Message], folded: tuple[str, ...] = ()) -> list[str]:
    return [entry.id for entry in rows_of(messages, folded)]


CASES = {
    "talk": ([asked(1), spoke("m1", "t1", "Hi.")], ["u1", "m1"]),
    "a call": (
        [spoke("m1", "t1", "Look.", [call("c")]), gave("r", "t1", "c"), spoke("m2", "t1", "Done.")],
        ["m1", "m1/0", "m2"],
    ),
    "steps without words have no row but the first": (
        [
            spoke("m1", "t1", "", [call("c")]),
            gave("r", "t1", "c"),
            spoke("m2", "t1", "", [call("d")]),
            gave("s", "t1", "d"),
        ],
        ["m1", "m1/0", "m2/0"],
    ),
    "a question instead of its call's card": (
        [spoke("m1", "t1", "", [call("c", "promptUser")]), question("q", "t1", "c", OPEN, role="tool")],
        ["m1", "q"],
    ),
    "an answered approval is told by its card": (
        [
            spoke("m1", "t1", "", [call("c", "open_url")]),
            question("q", "t1", "c", APPROVE),
            Message(id="w", turn_id="t1", role="user", author=USER, answers="q", content="allow"),
            gave("r", "t1", "c"),
        ],
        ["m1", "m1/0"],
    ),
    "open approvals of one answer are asked about together, after its cards": (
        [
            spoke("m1", "t1", "", [call("c", "open_url"), call("d", "open_url"), call("e")]),
            question("q", "t1", "c", ASKED),
            question("p", "t1", "d", ASKED),
            gave("r", "t1", "e"),
        ],
        ["m1", "m1/0", "m1/1", "m1/2", "q"],
    ),
    "whether it may run again is asked alone": (
        [
            spoke("m1", "t1", "", [call("c", "open_url"), call("d", "open_url")]),
            question("q", "t1", "c", replace(ASKED, reason="may_have_run")),
            question("p", "t1", "d", ASKED),
        ],
        ["m1", "m1/0", "q", "m1/1", "p"],
    ),
    "an answer whose question is not there is not lost": (
        [Message(id="w", turn_id="t1", role="user", author=USER, answers="gone", content="CSV")],
        ["w"],
    ),
    "two calls with one id": (
        [
            spoke("m1", "t1", "", [call("c"), call("c", "subAgent")]),
            gave("r", "t1", "c"),
            spoke("b", "tb", "x", author=agent("b", "master"), under=("t1", "c")),
        ],
        ["m1", "m1/0", "group tb", "b", "m1/1"],
    ),
    "a call that ran again shows its last result": (
        [
            spoke("m1", "t1", "", [call("c")]),
            gave("r", "t1", "c", state="stopped"),
            gave("r2", "t1", "c"),
        ],
        ["m1", "m1/0"],
    ),
    "two questions for one call are both asked": (
        [
            spoke("m1", "t1", "", [call("c")]),
            question("q", "t1", "c", OPEN, role="tool"),
            question("p", "t1", "c", OPEN, role="tool"),
        ],
        ["m1", "q", "p"],
    ),
    "a sub-agent whose caller is not there": (
        [spoke("b", "tb", "x", author=agent("b", "master"), under=("gone", "c"))],
        ["group tb", "b"],
    ),
    "a result nobody asked for": ([spoke("m1", "t1", "x"), gave("r", "t1", "nothing")], ["m1"]),
    "turns that call each other": (
        [
            spoke("a", "ta", "x", [call("c")], author=agent("a"), under=("tb", "d")),
            spoke("b", "tb", "y", [call("d")], author=agent("b"), under=("ta", "c")),
        ],
        ["group ta", "a", "a/0", "group tb", "b", "b/0"],
    ),
}


@pytest.mark.parametrize(("messages", "expected"), CASES.values(), ids=CASES)
def test_rows(messages, expected):
    assert ids(messages) == expected


def test_of_several_results_the_last_counts():
    messages = CASES["a call that ran again shows its last result"][0]
    assert rows_of(messages)[1].result_id == "r2"
    again = [*messages, spoke("m2", "t1", "", [call("c")]), gave("r3", "t1", "c")]
    assert [entry.result_id for entry in rows_of(again) if entry.kind == CARD] == ["r2", "r3"]


def test_a_tree_stands_in_the_order_of_its_calls_not_of_its_words():
    rows = rows_of(stored(a_tree()))
    assert [entry.id for entry in rows] == [
        "u1", "m1", "m1/0", "group tb", "b1/0", "b1/1", "group te", "e1", "b2", "m1/1", "group tk", "k1", "m2",
    ]  # fmt: skip
    by_id = {entry.id: entry for entry in rows}
    assert by_id["e1"].groups == ("tb", "te")
    assert by_id["b2"].groups == ("tb",)
    assert by_id["m2"].groups == ()
    assert by_id["b1/0"].result_id == "s0"
    assert [entry.kind for entry in rows[:4]] == [MESSAGE, MESSAGE, CARD, GROUP]
    assert not by_id["m2"].headed
    assert not by_id["b2"].headed


def test_the_space_over_rows_tells_what_belongs_together():
    gaps = {entry.id: entry.gap for entry in rows_of(stored(a_tree()))}
    assert gaps["m1/0"] < gaps["group tb"] < gaps["m1"] == gaps["u1"]
    assert gaps["m1/1"] == gaps["b2"] == gaps["group te"], "what comes back from deeper stands apart"
    assert gaps["b1/0"] == 0


def test_a_folded_group_leaves_only_its_head():
    assert ids(stored(a_tree()), ("tb",)) == ["u1", "m1", "m1/0", "group tb", "m1/1", "group tk", "k1", "m2"]


def test_a_chain_of_a_thousand_sub_agents_needs_no_recursion():
    messages = [spoke("m0", "t0", "x", [call("c", "subAgent")])]
    for depth in range(1, 1_500):
        under = (f"t{depth - 1}", "c")
        messages.append(
            spoke(f"m{depth}", f"t{depth}", "x", [call("c", "subAgent")], author=agent("a"), under=under)
        )
    assert len(rows_of(messages)) == 3 * 1_500 - 1


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Some root turns whose calls start sub-agents, in any legal order of arrival."""
    messages: list[Message] = []
    turns: list[tuple[str, tuple[str, str] | None, int]] = []
    free: list[tuple[str, str, int]] = []
    count = draw(st.integers(1, 25))
    for number in range(count):
        kind = draw(st.sampled_from(["user", "root", "step", "sub", "result", "question"]))
        calls = [
            call(f"c{number}.{each}", draw(st.sampled_from(["web_fetch", "subAgent"])))
            for each in range(draw(st.integers(0, 3)))
        ]
        text = draw(st.sampled_from(["", "words"]))
        state = draw(st.sampled_from(["done", MessageState.STREAMING, "failed"]))
        if kind == "user":
            messages.append(asked(number))
            continue
        if kind in ("result", "question") and free:
            turn_id, call_id, _ = draw(st.sampled_from(free))
            under = next(each[1] for each in turns if each[0] == turn_id)
            made = (
                gave(f"r{number}", turn_id, call_id, state=state, under=under)
                if kind == "result"
                else question(f"q{number}", turn_id, call_id, OPEN)
            )
            messages.append(made)
            continue
        if kind == "sub" and free:
            parent, call_id, depth = draw(st.sampled_from(free))
            turn = (f"t{number}", (parent, call_id), depth + 1)
            turns.append(turn)
        elif kind == "step" and turns:
            turn = draw(st.sampled_from(turns))
        else:
            turn = (f"t{number}", None, 0)
            turns.append(turn)
        turn_id, under, depth = turn
        author = agent(f"a{turn_id}") if under else MASTER
        messages.append(spoke(f"m{number}", turn_id, text, calls, author=author, under=under, state=state))
        free += [(turn_id, each.id, depth) for each in calls]
    return messages


@settings(max_examples=examples(200), deadline=None)
@given(conversations())
def test_every_message_and_call_has_its_place_once(messages):
    rows = rows_of(messages)
    shown = [entry.id for entry in rows]
    assert len(shown) == len(set(shown))
    for message in messages:
        if message.content and message.role != "tool":
            assert message.id in shown
        if message.prompt is not None:
            assert shown.count(message.id) == 1
        for place in range(len(message.tool_calls)):
            card = f"{message.id}/{place}"
            assert card in shown or any(entry.kind == QUESTION for entry in rows)
    for entry in rows:
        for turn_id in entry.groups:
            head = shown.index(group_id(turn_id))
            assert head <= shown.index(entry.id)
            between = rows[head : shown.index(entry.id) + 1]
            assert all(turn_id in each.groups for each in between), "a group is one stretch of rows"


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(conversations(), st.data())
def test_rows_built_live_are_those_read_from_the_disk(messages, data):
    model = TranscriptModel()
    model.reset(SESSION)
    model.load(messages[:1])
    for message in messages[1:]:
        before = [entry.id for entry in model.entries]
        splice = model.put(
            replace(message, content="", state=MessageState.STREAMING)
            if data.draw(st.booleans())
            else message
        )
        after = [entry.id for entry in model.entries]
        gone = [entry.id for entry in splice.removed]
        assert before[splice.start : splice.start + len(gone)] == gone
        before[splice.start : splice.start + len(gone)] = [entry.id for entry in splice.added]
        assert before == after
        model.put(message)
        assert all(model.index(entry.id) == index for index, entry in enumerate(model.entries))
    if data.draw(st.booleans()) and messages[-1].parent_turn_id:
        model.folded.add(messages[-1].turn_id)
        model.arrange(messages[-1].turn_id)
    assert sorted(entry.id for entry in model.entries) == sorted(
        entry.id for entry in rows_of(messages, model.folded)
    )
    assert model.entries == rows_of(messages, model.folded)


def test_speakers_with_the_same_initial_are_told_apart_unless_their_names_are_hidden() -> None:
    model, texts = TranscriptModel(), Texts.load(I18N, "en")
    seats = tuple(
        Participant(id=name, name=name, provider="openai", model="m") for name in ("Ada", "Alan", "Ben")
    )
    model.reset(DebateSession(id="d", title="T", debate=Debate(topic="T", participants=seats)))

    def letters(author_id: str, name: str) -> str:
        author = Author(id=author_id, name=name, kind="participant")
        return model.speaker(author, "assistant", LIGHT, texts).initial

    assert [letters(one.id, one.name) for one in seats] == ["Ad", "Al", "B"]
    assert letters("Ada", "Participant 1") == "P"
