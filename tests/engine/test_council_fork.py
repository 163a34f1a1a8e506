"""Forks of councils: what is taken along, and that no call is made for it."""

import pytest

from app.core.errors import BadInput
from app.core.message import CouncilPart
from app.engine.council.director import next_steps
from app.engine.council.judging import tokens_written
from app.engine.council.outcome import outcome
from app.engine.council.record import Record
from tests.builders import Bench
from tests.engine.test_council_verdict import made, result

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
        assert Record(debate, fork.messages).rounds == number and not next_steps(debate, fork.messages)
    with pytest.raises(BadInput, match="council_no_round"):
        await councils.fork(session_id, 3)
    assert len(made.models.requests) == asked_for and live.messages == before
    answers, first, last = forks
    held_at_first = outcome(answers.debate_session.debate, answers.messages)
    assert held_at_first.answered == 3 and held_at_first.is_open and not held_at_first.judge
    # The judge read after the second round; what it cites, and what was held, is the same in the copy.
    assert not outcome(first.debate_session.debate, first.messages).judge
    texts = {one.id: one.content for one in (*before, *last.messages)}
    (ours, copy) = (outcome(one.debate_session.debate, one.messages) for one in (live, last))
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
    assert outcome(first.debate_session.debate, first.messages).judge
    assert len([one for one in first.messages if one.part == CouncilPart.TURN and one.round == 1]) == 3
    assert live.messages == before
    # What one model alone may think with is as much as was written before the fork, though it was paid elsewhere.
    assert tokens_written(last.messages) > 0
