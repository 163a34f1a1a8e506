"""What is cut is paid for: stopped answers, answers nobody counted, votes and verdicts that came to nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.council import ANY_JUDGE
from app.core.definitions import Agent
from app.core.errors import FailureKind, ProviderError
from app.core.message import MessageState, Total, Usage
from app.core.provider import Finished, ModelRequest, Price
from app.core.session import Status
from app.core.settings import Settings
from app.engine.history import request_tokens
from tests.builders import Bench, Hang, Script, a_bench, a_log_store, a_setup, until
from tests.engine import test_verdict
from tests.memory import MemoryLedger

PRICE = Price(read=0.001, written=0.01)
SAID = "One two three four five six seven eight."
UNCOUNTED = Finished()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    agents = (Agent(id="ann", name="Ann", provider="remote0", model="model-0"),)
    bench = a_bench(a_log_store(tmp_path), agents=agents, ledger=MemoryLedger())
    bench.models.prices = {"model-0": PRICE, "model-1": PRICE}
    yield bench
    await bench.engine.shutdown()


async def stopped_chat(bench: Bench, *pieces: object) -> str:
    """Begin a chat whose answer hangs behind these pieces, and stop it there."""
    bench.models.script = [[*pieces, Hang()]]
    session_id = await bench.engine.chats.start("ann", "A question of some length")
    await until(lambda: bench.models.hanging == 1)
    await bench.engine.stop(session_id)
    return session_id


async def test_an_answer_that_is_stopped_costs_what_was_sent_and_said(bench: Bench) -> None:
    session_id = await stopped_chat(bench, SAID)
    (message,) = [one for one in bench.messages(session_id) if one.author.name == "Ann"]
    assert message.state == MessageState.STOPPED
    used, sent = message.usage, request_tokens(bench.models.requests[0])
    assert used is not None
    assert (used.input_tokens, used.output_tokens, used.estimated) == (sent, 10, True)
    assert used.cost_usd == pytest.approx(sent * 0.001 + 10 * 0.01)
    month = await bench.engine.usage.this_month()
    assert (month.calls, month.estimated, month.known_usd) == (1, 1, used.cost_usd)


async def test_what_was_cut_counts_towards_the_months_limit(bench: Bench) -> None:
    await stopped_chat(bench, SAID * 10)
    await bench.engine.change_settings(lambda _: Settings(max_month_usd=1.0))
    session_id = await bench.engine.chats.start("ann", "Again")
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "budget_month")
    assert len(bench.models.requests) == 1


async def test_without_a_price_it_costs_nobody_knows_what_and_a_free_model_nothing(bench: Bench) -> None:
    bench.models.prices = {}
    await stopped_chat(bench, SAID)
    month = await bench.engine.usage.this_month()
    assert (month.cost_usd, month.unpriced, month.estimated) == (None, 1, 1)
    bench.models.prices = {"model-0": Price()}
    session_id = await stopped_chat(bench, SAID)
    usage = bench.messages(session_id)[-1].usage
    assert usage is not None
    assert (usage.cost_usd, usage.estimated) == (0.0, True)


async def test_stopped_before_the_first_word_it_is_counted_in_the_session_and_the_month(
    bench: Bench,
) -> None:
    session_id = await stopped_chat(bench)
    assert [one.author.name for one in bench.messages(session_id)] == ["User"]
    live = bench.engine.live(session_id)
    assert live is not None
    (entry,) = live.session.unsaid
    assert live.session.status == Status.STOPPED
    assert (entry.author, entry.session_id, entry.estimated) == ("Ann", session_id, True)
    assert (entry.input_tokens, entry.output_tokens) == (request_tokens(bench.models.requests[0]), 0)
    assert (await bench.engine.usage.this_month()).known_usd == entry.cost_usd
    stored = await bench.store.load(session_id)
    assert stored.session.unsaid == (entry,)


async def test_an_answer_nobody_counted_is_counted_by_its_words(bench: Bench) -> None:
    bench.models.script = [[SAID, UNCOUNTED]]
    session_id = await bench.engine.chats.start("ann", "One")
    await bench.engine.wait(session_id)
    message = bench.messages(session_id)[-1]
    assert message.state == MessageState.DONE
    assert message.usage is not None
    assert (message.usage.output_tokens, message.usage.estimated) == (10, True)
    assert (await bench.engine.usage.this_month()).estimated == 1


async def test_of_two_attempts_both_are_paid_for_and_of_a_refused_one_none(bench: Bench) -> None:
    counted = Finished(usage=Usage(input_tokens=100, output_tokens=50, cost_usd=0.04))
    bench.models.script = [[ProviderError(FailureKind.EMPTY)], [SAID, counted]]
    session_id = await bench.engine.chats.start("ann", "One")
    await bench.engine.wait(session_id)
    usage = bench.messages(session_id)[-1].usage
    assert usage is not None
    sent = request_tokens(bench.models.requests[0])
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (100 + sent, 50, True)
    assert usage.cost_usd == pytest.approx(0.04 + sent * 0.001)
    bench.models.script = [[ProviderError(FailureKind.RATE_LIMIT)], [SAID, counted]]
    session_id = await bench.engine.chats.start("ann", "Two")
    await bench.engine.wait(session_id)
    usage = bench.messages(session_id)[-1].usage
    assert usage is not None
    assert (usage.input_tokens, usage.cost_usd, usage.estimated) == (100, 0.04, False)


@pytest.mark.parametrize("kind", ["auth", "rate_limit", "unreachable"])
async def test_a_refused_call_costs_nothing(bench: Bench, kind: str) -> None:
    bench.models.otherwise = lambda request: [ProviderError(kind)]
    session_id = await bench.engine.chats.start("ann", "One")
    await bench.engine.wait(session_id)
    assert await bench.engine.usage.this_month() == Total()
    live = bench.engine.live(session_id)
    assert live is not None
    assert not live.session.unsaid
    assert not any(one.usage for one in bench.messages(session_id))


async def test_a_debate_that_is_cut_in_a_turn_counts_the_turn(bench: Bench) -> None:
    bench.models.script = [[SAID, ProviderError(FailureKind.INTERRUPTED)]]
    bench.models.otherwise = lambda request: [SAID, Hang()]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: bench.models.hanging == 1)
    await bench.engine.stop(session_id)
    usages = [one.usage for one in bench.messages(session_id)]
    assert [(one.output_tokens, one.estimated) for one in usages if one] == [(10, True), (10, True)]
    month = await bench.engine.usage.this_month()
    assert month.calls == 2
    assert month.known_usd == pytest.approx(sum(one.cost_usd or 0 for one in usages if one))


def answers(request: ModelRequest) -> Script:
    return test_verdict.concluding(request, "Yes")


async def test_votes_that_are_cut_and_readings_nobody_can_read_are_kept_with_the_debate(
    bench: Bench,
) -> None:
    hung: list[ModelRequest] = []

    def one_hangs(request: ModelRequest) -> Script:
        if test_verdict.votes(request) and request.model == "model-1" and not hung:
            hung.append(request)
            return [Hang()]
        if test_verdict.judges(request) and request.model == "model-0":
            return ["No verdict at all."]
        return answers(request)

    bench.models.otherwise = one_hangs
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1, polls=True))
    await until(lambda: bench.models.hanging == 1 and len(bench.models.requests) == 2)
    await bench.engine.pause(session_id)
    await bench.engine.pause(session_id)
    session = bench.debate_of(session_id)
    assert session.status == Status.PAUSED
    cast = [one for one in bench.messages(session_id) if one.part == "ballot"]
    assert [(one.model.partition("/")[2], one.ended) for one in cast if one.ended] == [("model-0", True)]
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    session = bench.debate_of(session_id)
    assert session.status == Status.COMPLETED
    month, calls = await bench.engine.usage.this_month(), len(bench.models.requests)
    assert month.calls == calls
    used = [one.usage for one in bench.messages(session_id) if one.usage is not None]
    assert len(used) + len(session.unsaid) == calls
    result = test_verdict.result_of(bench, session_id)
    assert (result.judge, result.headline) == ("remote1/model-1", "o1")


async def test_a_verdict_that_another_one_follows_stays_paid(bench: Bench) -> None:
    bench.models.otherwise = answers
    session_id = await bench.run(a_setup(2, rounds=1, polls=True))
    await bench.engine.councils.judge(session_id, ANY_JUDGE)
    await bench.engine.wait(session_id)
    read = [one for one in bench.messages(session_id) if one.part == "reading"]
    assert len(read) == 4 and all(one.usage is not None for one in read)
    assert (await bench.engine.usage.this_month()).calls == len(bench.models.requests)


async def test_what_a_fork_takes_along_was_paid_for_once(bench: Bench) -> None:
    bench.models.otherwise = answers
    session_id = await bench.run(a_setup(2, rounds=2, polls=True))
    turns = await bench.engine.debates.turns(session_id)
    fork = await bench.engine.debates.fork(session_id, turns[-1].id)
    assert not bench.debate_of(fork).unsaid
    assert not any(one.usage for one in bench.messages(fork))
    assert sum(one.part == "ballot" for one in bench.messages(fork)) == 4
