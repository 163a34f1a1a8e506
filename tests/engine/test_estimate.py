"""What is to come is estimated by arithmetic that can be checked by hand, and is honest about prices."""

from dataclasses import replace

import pytest

from app.core.council import ANY_JUDGE, NO_JUDGE
from app.core.definitions import Agent, Group, WorkflowDefinition, WorkflowStep
from app.core.provider import ModelRequest, Price
from app.core.session import DebateChoices
from app.engine.debate.estimates import (
    AGAIN,
    BALLOT,
    SAID,
    VERDICT,
    WRITTEN,
    Call,
    Speaker,
    calls_at_end,
    estimate,
    estimate_steps,
)
from app.engine.history import request_tokens, tokens_of
from tests.builders import a_bench, a_setup
from tests.memory import MemoryStore

A, B = ("p", "a"), ("p", "b")
CENT = Price(read=0.00001, written=0.0001)


def two(**fields: object) -> list[Speaker]:
    return [Speaker(pair=pair, sent=100, **fields) for pair in (A, B)]  # type: ignore[arg-type]


def test_the_sum_of_three_turns_by_hand() -> None:
    found = estimate(two(), 3, {A: CENT, B: CENT})
    read = [3 * 100 + (0 + 1 + 2) * said for said in SAID]
    written = [3 * one for one in WRITTEN]
    assert found.tokens == (read[0] + written[0], read[1] + written[1])
    assert found.usd == pytest.approx(
        tuple(r * CENT.read + w * CENT.written for r, w in zip(read, written, strict=True))
    )
    assert (found.turns, found.partly, found.free, found.unasked) == (3, False, False, ())


def test_ballots_and_a_verdict_by_hand() -> None:
    plain = estimate(two(), 2, {A: CENT, B: CENT})
    for length in (0, 1):
        before = 2 * (100 + BALLOT[length])
        after = 2 * (100 + 2 * SAID[length] + BALLOT[length])
        verdict = 2 * (500 + 2 * SAID[length]) + VERDICT[length] + AGAIN[length]
        # At most it says of moves whether they are argued for, and two who hold something else write their dissent.
        verdict += length * (500 + 2 * SAID[length] + BALLOT[length] + 2 * (500 + SAID[length] + 170))
        for what, used in (
            (DebateChoices(rounds=1, final_ballots=True, judge=NO_JUDGE), after),
            (DebateChoices(rounds=1, polls=True, judge=NO_JUDGE), before + after),
            (DebateChoices(rounds=1, judge=ANY_JUDGE), verdict),
            (DebateChoices(rounds=1, polls=True), before + after + verdict),
        ):

            def calls(size: int, what: DebateChoices = what) -> list[Call]:
                return calls_at_end(what, two(), "p/a", size)

            assert sum(read + written for _, read, written in calls(length)) == used
            whole = estimate(two(), 2, {A: CENT, B: CENT}, calls)
            assert (whole.tokens[length] - plain.tokens[length], whole.turns) == (used, plain.turns)
    assert calls_at_end(DebateChoices(rounds=1, judge=ANY_JUDGE), two(), "", 0) == []


def test_of_what_was_said_only_the_window_is_read_again() -> None:
    some = [Speaker(pair=A, sent=0, said=(1, 1), written=(0, 0))]
    assert estimate(some, 40, {}).tokens[0] == sum(min(turn, 15) for turn in range(40))


def test_free_is_free_an_unknown_price_is_none_and_one_not_asked_for_is_named() -> None:
    assert estimate(two(), 2, {A: Price(), B: Price()}).free
    unknown = estimate(two(), 2, {A: None, B: None})
    assert (unknown.usd, unknown.partly, unknown.free, unknown.unasked) == (None, True, False, ())
    beside = estimate(two(), 2, {A: Price(), B: None})
    assert (beside.usd, beside.partly, beside.free) == (None, True, False)
    partly = estimate(two(), 2, {A: CENT, B: None})
    assert partly.usd is not None
    assert partly.partly
    assert estimate(two(), 2, {A: CENT}).unasked == (B,)


async def test_a_debate_costs_more_with_rounds_people_and_context() -> None:
    bench = a_bench(MemoryStore())
    bench.models.prices = {f"model-{place}": CENT for place in range(3)}
    estimates = bench.engine.estimates
    small = estimates.debate(a_setup(2), 0)
    assert small.turns == 4
    assert small.unasked == (("remote0", "model-0"), ("remote1", "model-1"))
    await estimates.ask(small.unasked)
    small = estimates.debate(a_setup(2), 0)
    assert (small.unasked, small.partly) == ((), False)
    assert small.usd is not None
    assert 0 < small.usd[0] < small.usd[1]
    for larger in (a_setup(3), a_setup(2, rounds=4)):
        assert estimates.debate(larger, 0).tokens[0] > small.tokens[0]
    judge = "remote0/model-0"
    for wish, calls in (
        ({"polls": True, "judge": NO_JUDGE}, 6),
        ({"final_ballots": True, "judge": NO_JUDGE}, 2),
        ({"judge": judge}, 5),
        ({"final_ballots": True, "judge": judge}, 2 + 5),
        ({"judge": NO_JUDGE}, 0),
    ):
        setup = replace(a_setup(2), **wish)  # type: ignore[arg-type]
        whole, end = estimates.debate(setup, 0, judge), estimates.conclusion(setup, 0, judge)
        assert end.turns == calls and whole.tokens[1] - small.tokens[1] == end.tokens[1]
        assert (whole.usd or (0, 0))[1] == pytest.approx(small.usd[1] + (end.usd or (0, 0))[1])
    with_context = estimates.debate(a_setup(2), 1_000)
    assert with_context.tokens == tuple(one + 4 * 1_000 for one in small.tokens)


async def test_a_small_model_of_this_computer_is_free_and_says_little() -> None:
    bench = a_bench(MemoryStore())
    bench.models.prices = {"smollm2-135m": Price()}
    setup = a_setup(2)
    own = replace(
        setup,
        participants=tuple(
            replace(one, provider="embedded", model="smollm2-135m") for one in setup.participants
        ),
    )
    await bench.engine.estimates.ask((("embedded", "smollm2-135m"),))
    found = bench.engine.estimates.debate(own, 0)
    assert found.free
    assert found.tokens[1] < bench.engine.estimates.debate(setup, 0).tokens[0]


async def test_a_group_costs_at_most_a_hand_over_for_each_of_its_turns() -> None:
    agents = (
        Agent(id="ann", name="Ann", provider="remote0", model="model-0"),
        Agent(id="bob", name="Bob", provider="remote1", model="model-1"),
    )
    bench = a_bench(MemoryStore(), agents=agents)
    group = Group(id="g", name="G", members=("ann", "bob", "gone"), turns_limit=5)
    found = bench.engine.estimates.group(group)
    assert found.turns == 10
    assert set(found.unasked) == {("remote0", "model-0"), ("remote1", "model-1")}
    assert bench.engine.estimates.group(replace(group, members=())).turns == 0


def test_steps_by_hand() -> None:
    first, second = two()
    found = estimate_steps([(first, 0), (second, 2)], {A: CENT, B: CENT})
    least = 100 + 100 + 2 * SAID[0] + 2 * WRITTEN[0]
    again = sum(number * (WRITTEN[1] + 400) for number in range(3))
    most = 2 * (3 * 100 + again) + 3 * 2 * SAID[1] + 6 * WRITTEN[1]
    assert (found.turns, found.tokens) == (2, (least, most))
    assert found.usd is not None
    assert found.usd[0] == pytest.approx((least - 2 * WRITTEN[0]) * 0.00001 + 2 * WRITTEN[0] * 0.0001)


async def test_a_workflow_is_estimated_by_who_does_its_steps() -> None:
    bench = a_bench(
        MemoryStore(), agents=(Agent(id="one", name="Ann", role="QA", provider="remote1", model="model-1"),)
    )
    step = WorkflowStep(id="a", name="A", role="QA", prompt="Test it.")
    definition = WorkflowDefinition(id="w", name="W", steps=(step, replace(step, id="b", depends_on=("a",))))
    found = bench.engine.estimates.workflow(definition, "Do it")
    assert found.turns == 2
    assert found.unasked == (("remote1", "model-1"),)
    longer = bench.engine.estimates.workflow(definition, "Do it " * 100)
    assert longer.tokens[0] - found.tokens[0] == 2 * (tokens_of("Do it " * 100) - tokens_of("Do it"))
    nobody = replace(definition, steps=(replace(step, role="Nobody"),))
    assert bench.engine.estimates.workflow(nobody, "Do it").unasked == (("remote0", "model-0"),)
    called = replace(definition, steps=(replace(step, role="ann"),))
    assert bench.engine.estimates.workflow(called, "Do it").unasked == found.unasked
    bench.models.prices = {"model-1": CENT}
    await bench.engine.estimates.ask(found.unasked)
    priced = bench.engine.estimates.workflow(definition, "Do it")
    assert priced.usd is not None
    assert not priced.unasked


async def test_the_role_of_a_step_may_be_what_an_assistant_is_called() -> None:
    bench = a_bench(MemoryStore(), agents=(Agent(id="one", name="Translator", role="Puts it into Korean"),))
    step = WorkflowStep(id="a", name="A", role="translator", prompt="Translate it.")
    definition = WorkflowDefinition(id="w", name="W", steps=(step,))
    assert not bench.engine.workflows.faults(definition)
    [fault] = bench.engine.workflows.faults(replace(definition, steps=(replace(step, role="Poet"),)))
    assert fault.code == "unknown_role"


def test_a_request_is_counted_with_its_pictures_its_calls_and_its_tools() -> None:
    def tokens(message: dict[str, object], **fields: object) -> int:
        return request_tokens(ModelRequest(provider="p", model="m", messages=(message,), **fields))  # type: ignore[arg-type]

    text = tokens({"role": "user", "content": "x" * 400})
    assert text == 106 + 4
    parts = [
        {"type": "text", "text": "x" * 400},
        {"type": "image_url", "image_url": {"url": "data:" + "A" * 9_999}},
    ]
    assert tokens({"role": "user", "content": parts}) == text + 1_000
    called = {"role": "assistant", "content": None, "tool_calls": [{"function": {"arguments": "y" * 400}}]}
    assert 100 < tokens(called) < 130
    assert (
        tokens({"role": "user", "content": "x" * 400}, tools=({"function": {"name": "z" * 400}},))
        > text + 100
    )
