"""Forks of councils: what is taken along, and that no call is made for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.core.message import Author, CouncilPart, Message, Prompt, Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.engine.council.director import forked, next_steps
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from app.engine.council.requests import tokens_written
from app.engine.debate.director import copied
from tests.builders import Bench, Script, a_bench, a_log_store, remotes
from tests.engine.test_council import held
from tests.engine.test_council_verdict import judging, made, result

__all__ = ["made"]


async def test_a_fork_stands_as_the_council_did_and_makes_no_call(made: Bench) -> None:
    councils = made.engine.councils
    session_id, whole = await result(made)
    live = made.engine.live(session_id)
    assert live is not None and whole.judge
    await councils.debate(session_id, 1)
    await made.engine.wait(session_id)
    before, asked_for = list(live.messages), len(made.models.requests)
    forks = []
    for number in range(3):
        fork = made.engine.live(await councils.fork(session_id, number))
        assert fork is not None
        forks.append(fork)
        assert (fork.session.status, fork.session.reason) == ("completed", "compared")
        assert not any(one.usage for one in fork.messages)
        assert not {one.id for one in fork.messages} & {one.id for one in before}
        debate = fork.debate_session.debate
        assert Record(debate, fork.messages).rounds == number and not next_steps(
            Record(debate, fork.messages)
        )
    with pytest.raises(BadInput, match="council_no_round"):
        await councils.fork(session_id, 3)
    assert len(made.models.requests) == asked_for and live.messages == before
    answers, first, last = forks
    held_at_first = outcome(Record(answers.debate_session.debate, answers.messages))
    assert held_at_first.answered == 3 and held_at_first.is_open and not held_at_first.judge
    # The judge read after each round; what it cites, and what was held, is the same in the copy.
    then = outcome(Record(first.debate_session.debate, first.messages))
    assert (then.headline, then.state, then.judge, then.text) == (
        whole.headline,
        whole.state,
        whole.judge,
        whole.text,
    )
    texts = {one.id: one.content for one in (*before, *last.messages)}
    (ours, copy) = (outcome(Record(one.debate_session.debate, one.messages)) for one in (live, last))
    assert (copy.headline, copy.state, copy.judge, copy.text) == (
        ours.headline,
        ours.state,
        ours.judge,
        ours.text,
    )
    assert [texts[one] for one in copy.cites] == [
        texts[one] for one in ours.cites
    ] and copy.cites != ours.cites
    # Each goes its own way: the fork is debated again, from where it stood.
    await councils.debate(first.id, 1)
    await made.engine.wait(first.id)
    assert Record(first.debate_session.debate, first.messages).rounds == 2
    assert outcome(Record(first.debate_session.debate, first.messages)).judge
    assert len([one for one in first.messages if one.part == CouncilPart.TURN and one.round == 1]) == 3
    assert live.messages == before
    # What one model alone may think with is as much as was written before the fork, though it was paid elsewhere.
    assert tokens_written(last.messages) > 0


async def test_a_fork_is_what_the_council_was_also_before_somebody_joined(tmp_path: Path) -> None:
    servers = [replace(one, models=("qwen-5",)) if one.id == "remote5" else one for one in remotes()]
    made = a_bench(a_log_store(tmp_path), providers=servers)
    made.models.otherwise = outside
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote5",)))
    councils = made.engine.councils
    session_id = await held(made)
    live = made.engine.live(session_id)
    assert live is not None
    was = [outcome(Record(live.debate_session.debate, live.messages))]
    for step in (councils.debate, lambda one: councils.further(one, "stress")):
        await step(session_id)
        await made.engine.wait(session_id)
        while len(was) <= Record(live.debate_session.debate, live.messages).rounds:
            was.append(outcome(Record(live.debate_session.debate, live.messages)))
    await councils.further(session_id, "check")
    await made.engine.wait(session_id)
    await councils.further(session_id, "join")
    count = len(made.models.requests)
    for number in (0, len(was) - 2, len(was) - 1):
        fork = made.engine.live(await councils.fork(session_id, number))
        assert fork is not None
        debate = fork.debate_session.debate
        assert fork.session.status == "completed"
        if number < len(was) - 1:
            assert not next_steps(Record(debate, fork.messages))
            assert [one.id for one in debate.participants] == ["p0", "p1", "p2"]
            found = outcome(Record(debate, fork.messages))
            for name in ("state", "headline", "choice", "judge", "against", "answered", "text"):
                assert getattr(found, name) == getattr(was[number], name), (number, name)
    assert len(made.models.requests) == count
    await made.engine.shutdown()


async def test_who_joins_is_asked_nothing_about_rounds_that_are_over(tmp_path: Path) -> None:
    servers = [replace(one, models=("qwen-5",)) if one.id == "remote5" else one for one in remotes()]
    made = a_bench(a_log_store(tmp_path), providers=servers)
    made.models.otherwise = outside
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote5",)))
    councils = made.engine.councils
    session_id = await held(made)
    live = made.engine.live(session_id)
    assert live is not None
    # Nobody moves, so that it ends before its last round.
    await councils.debate(session_id, 3)
    await made.engine.wait(session_id)
    assert Record(live.debate_session.debate, live.messages).rounds < 3
    await councils.further(session_id, "check")
    await made.engine.wait(session_id)
    await councils.further(session_id, "join")
    count = len(made.models.requests)
    await councils.further(session_id, "merge")
    await made.engine.wait(session_id)
    assert len(made.models.requests) == count + 1
    council = live.debate_session.debate.council
    assert council is not None and (council.rounds, council.debated) == (1, 1)
    # In a round that is not over it speaks as the others do.
    live = made.engine.live(session_id := await held(made))
    assert live is not None
    await councils.debate(session_id, 3)
    await made.engine.wait(session_id)
    await councils.further(session_id, "check")
    await made.engine.wait(session_id)
    live.change(status=Status.PAUSED)
    await councils.further(session_id, "join")
    (step,) = next_steps(Record(live.debate_session.debate, live.messages))
    assert (step.part, step.number) == (CouncilPart.TURN, 1)
    assert step.who == live.debate_session.debate.participants[-1].id
    await made.engine.shutdown()


async def test_a_fork_of_what_is_not_over_is_paused_and_goes_on(made: Bench) -> None:
    session_id, _ = await result(made)
    live = made.engine.live(session_id)
    assert live is not None
    session, whole = replace(live.debate_session, status=Status.PAUSED), list(live.messages)
    for end in range(2, len(whole) + 1):
        before = Record(session.debate, whole[:end])
        fork, kept = forked(session, before, before.rounds)
        due = next_steps(Record(fork.debate, kept))
        assert (fork.status == "paused") == bool(due), end
        assert fork.debate.fork_of == session_id and not session.debate.fork_of
    # Before all have answered, the rest is asked for when the fork goes on.
    fork, kept = forked(session, Record(session.debate, whole[:2]), 0)
    assert (fork.status, fork.reason, fork.debate.council.judges) == ("paused", "forked", ())


def outside(request: ModelRequest) -> Script:
    """Say something else from outside; see `judging` for the others."""
    text = str(request.messages[-1]["content"])
    argues = ("secret ballot", "Open, each with its letter", "Test what they hold", "You judge a question")
    alone = request.model == "qwen-5" and request.schema is None and "Make one answer" not in text
    if alone and not any(words in text for words in argues):
        return ['Alone.\n@@ {"answer": "Files", "confidence": 50}']
    return judging(request)


def test_a_copy_names_the_copies() -> None:
    author = Author(id="p0", name="Ada", kind="participant")
    question = Prompt(question="Go on?", answered_by="m2")
    asked = Message(id="m1", turn_id="t1", role=Role.ASSISTANT, author=author, prompt=question)
    answered = Message(
        id="m2", turn_id="t2", role=Role.USER, author=author, answers="m1", parent_turn_id="t1"
    )
    (first, second), ids = copied([asked, answered])
    assert first.prompt is not None and first.prompt.answered_by == second.id == ids["m2"]
    assert (second.answers, second.parent_turn_id) == (first.id, first.turn_id)
    (alone,), _ = copied([asked])
    assert alone.prompt is not None and not alone.prompt.open
