"""What months used and cost, and the month's limit that every call of every run is held to."""

import csv
import io
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import ProviderError
from app.core.events import EventBus, Notice
from app.core.ids import utc_now
from app.core.message import AMOUNTS, MessageState, Total, Usage, UsageEntry, totals
from app.core.provider import Finished, ModelRequest, Price, Text
from app.core.session import Status
from app.core.settings import Settings
from app.engine.usage_book import UsageBook
from tests.builders import Bench, ScriptedModels, a_bench, a_log_store, a_setup
from tests.memory import MemoryLedger

CENTS = ["A point.", Finished(usage=Usage(input_tokens=100, output_tokens=50, cost_usd=0.04))]


def an_entry(number: int = 0, **fields: object) -> UsageEntry:
    known: dict[str, object] = {
        "message_id": f"m{number}",
        "at": utc_now(),
        "session_id": "s0",
        "author": "GPT",
        "provider": "openai",
        "model": "gpt-5.2",
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": 0.5,
    }
    return UsageEntry(**{**known, **fields})  # type: ignore[arg-type]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    agents = (Agent(id="ann", name="Ann", provider="remote0", model="model-0"),)
    bench = a_bench(a_log_store(tmp_path), agents=agents, ledger=MemoryLedger())
    yield bench
    await bench.engine.shutdown()


async def limit(bench: Bench, usd: float) -> None:
    await bench.engine.change_settings(lambda _: Settings(max_month_usd=usd, max_cost_usd=0))


async def test_a_month_is_the_sum_of_its_calls_and_says_who_made_them(bench: Bench) -> None:
    bench.models.otherwise = lambda request: CENTS
    session_id = await bench.run(a_setup(2, rounds=2))
    (month, total), *others = await bench.engine.usage.months()
    assert not others
    used = Usage(input_tokens=400, output_tokens=200, cost_usd=pytest.approx(0.16))
    assert total == Total(calls=4, used=used)
    report = await bench.engine.usage.of(month)
    assert report.total == total
    assert [(name, share.calls) for name, share in report.authors] == [("Claude", 2), ("GPT", 2)]
    assert [name for name, _ in report.models] == ["remote0/model-0", "remote1/model-1"]
    assert [(name, share.calls) for name, share in report.sessions] == [(session_id, 4)]


async def test_what_was_used_before_the_program_began_is_counted_once(tmp_path: Path) -> None:
    ledger = MemoryLedger(an_entry(1), an_entry(2, at="2020-01-05T00:00:00.000Z"))
    bench = a_bench(a_log_store(tmp_path), ledger=ledger)
    bench.models.otherwise = lambda request: CENTS
    await bench.run(a_setup(2, rounds=1))
    (_, this), (before, old) = await bench.engine.usage.months()
    assert (this.calls, this.known_usd) == (3, pytest.approx(0.58))
    assert (before, old.calls) == ("2020-01", 1)
    assert await bench.engine.usage.this_month() == this
    await bench.engine.shutdown()


async def test_a_price_that_is_not_known_is_none_and_never_nothing() -> None:
    total = Total()
    assert total.cost_usd == 0
    total += Total.of(an_entry(1, cost_usd=None))
    assert total.cost_usd is None
    total += Total.of(an_entry(2, cost_usd=0.0))
    assert (total.cost_usd, total.unpriced) == (0.0, 1)


PARTS = {
    "input_tokens": 1_100,
    "output_tokens": 220,
    "cached_tokens": 330,
    "cache_written_tokens": 44,
    "reasoning_tokens": 55,
    "cost_usd": 0.125,
    "saved_usd": 0.5,
}


def test_every_amount_of_a_call_is_added_to_that_of_the_next_one() -> None:
    assert tuple(PARTS) == AMOUNTS
    first = Usage(provider="openai", model="a", **PARTS)
    second = Usage(model="b", estimated=True, **{name: 3 * amount for name, amount in PARTS.items()})
    both = {name: 4 * amount for name, amount in PARTS.items()}
    assert first + second == Usage(provider="openai", model="a", estimated=True, **both)
    assert second + first == Usage(model="b", estimated=True, **both)
    assert (first + replace(second, cost_usd=None)).cost_usd is None
    assert (replace(first, cost_usd=None) + second).cost_usd is None
    assert first.tokens == 1_320


def test_a_total_counts_the_calls_of_each_kind_apart() -> None:
    priced = [Usage(**PARTS), Usage(**PARTS, estimated=True)]
    unpriced = [
        Usage(input_tokens=1),
        Usage(input_tokens=1, estimated=True),
        Usage(output_tokens=2, saved_usd=0.25, subscribed=True, estimated=True),
    ]
    sums = {name: 2 * amount for name, amount in PARTS.items()} | {
        "input_tokens": 2_202,
        "output_tokens": 442,
    }
    used = Usage(estimated=True, **(sums | {"saved_usd": 1.25}))
    total = Total(calls=5, unpriced=3, subscribed=1, estimated=3, used=used)
    assert Total.of(*priced, *unpriced) == Total.of(*priced) + Total.of(*unpriced) == total
    assert (total.known_usd, total.cost_usd) == (0.25, 0.25)
    assert (Total.of(*unpriced).known_usd, Total.of(*unpriced).cost_usd) == (0.0, None)
    assert totals(zip("ababa", (*priced, *unpriced), strict=True)) == {
        "a": Total.of(priced[0], unpriced[0], unpriced[2]),
        "b": Total.of(priced[1], unpriced[1]),
    }


async def test_what_a_call_used_is_the_same_from_its_end_to_the_table_of_the_month(bench: Bench) -> None:
    told = Usage(**(PARTS | {"saved_usd": 0.0}))
    bench.models.prices = {"model-0": Price(read=0.5, cached=0.25, cache_write=1.0)}
    bench.models.script = [["A point.", Finished(usage=told)]]
    session_id = await bench.engine.chats.start("ann", "One")
    await bench.engine.wait(session_id)
    # 330 tokens at a quarter less, and 44 that were written for a half more.
    used = replace(told, provider="remote0", model="model-0", saved_usd=60.5)
    assert bench.messages(session_id)[-1].usage == used
    [(month, total)] = await bench.engine.usage.months()
    assert total == Total(calls=1, used=replace(used, provider="", model=""))
    head, row = (await bench.engine.usage.csv(month)).splitlines()
    cells = dict(zip(head.split(","), row.split(","), strict=True))
    assert {name: cells[name] for name in AMOUNTS} == {name: str(getattr(used, name)) for name in AMOUNTS}


async def test_a_debate_pauses_before_the_call_above_the_limit_and_goes_on_exactly_there(
    bench: Bench,
) -> None:
    bench.models.otherwise = lambda request: CENTS
    await limit(bench, 0.1)
    session_id = await bench.run(a_setup(2, rounds=3))
    session = bench.debate_of(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "budget_month")
    assert len(bench.models.requests) == 3
    assert (session.debate.round, session.debate.turn) == (2, 1)
    assert [state for _, state in bench.states(session_id)] == [MessageState.DONE] * 3
    notice = next(one for one in bench.events if isinstance(one, Notice))
    assert notice.details == {
        "name": "Claude",
        "kind": "budget_month",
        "detail": "$0.12 / $0.10",
        "provider": "remote1",
    }
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert len(bench.models.requests) == 3
    await limit(bench, 1)
    await bench.engine.resume(session_id)
    await bench.engine.wait(session_id)
    assert bench.debate_of(session_id).status == Status.COMPLETED
    assert len(bench.models.requests) == 6
    assert [name for name, _ in bench.states(session_id)] == ["GPT", "Claude"] * 3


async def test_a_chat_pauses_at_the_limit_and_answers_once_it_is_raised(bench: Bench) -> None:
    bench.models.otherwise = lambda request: CENTS
    await limit(bench, 0.04)
    session_id = await bench.engine.chats.start("ann", "One")
    await bench.engine.wait(session_id)
    await bench.engine.chats.send(session_id, "Two")
    session = await bench.engine.wait(session_id)
    assert (session.status, session.reason) == (Status.PAUSED, "budget_month")
    assert len(bench.models.requests) == 1
    await limit(bench, 0)
    await bench.engine.resume(session_id)
    assert (await bench.engine.wait(session_id)).status == Status.IDLE
    assert [state for name, state in bench.states(session_id) if name == "Ann"] == [
        MessageState.DONE,
        MessageState.DONE,
    ]


async def test_a_model_that_is_free_goes_on_and_one_without_a_price_does_not(bench: Bench) -> None:
    bench.models.free = frozenset({"remote0"})
    bench.models.otherwise = lambda request: CENTS
    await limit(bench, 0.01)
    bench.engine.usage.note(an_entry())
    session_id = await bench.run(a_setup(2, rounds=1))
    assert [request.model for request in bench.models.requests] == ["model-0"]
    assert bench.debate_of(session_id).reason == "budget_month"


async def test_an_answer_that_was_cut_is_paid_for_as_well(bench: Bench) -> None:
    # A thought that was shown keeps the model from being asked again.
    end = Finished(reason="truncated", usage=Usage(input_tokens=7, output_tokens=0, cost_usd=0.01))
    bench.models.script = [[Text(thinking="Well"), end]]
    session_id = await bench.engine.chats.start("ann", "One")
    await bench.engine.wait(session_id)
    assert bench.states(session_id)[-1] == ("Ann", MessageState.FAILED)
    assert (await bench.engine.usage.this_month()).known_usd == 0.01
    assert MessageState.STOPPED not in [state for _, state in bench.states(session_id)]


async def test_the_month_is_what_counts_and_the_next_begins_at_nothing() -> None:
    now = ["2026-11-30T23:59:59.000Z"]
    settings = Settings(max_month_usd=1)
    book = UsageBook(MemoryLedger(), ScriptedModels(), lambda: settings, EventBus(), lambda: now[0])
    book.note(an_entry(1, at=now[0], cost_usd=1.0))
    request = ModelRequest(provider="openai", model="gpt-5.2", messages=())
    with pytest.raises(ProviderError) as refused:
        await book.check(request)
    assert (refused.value.kind, refused.value.detail) == ("budget_month", "$1.00 / $1.00")
    now[0] = "2026-12-01T00:00:00.000Z"
    await book.check(request)
    assert [month for month, _ in await book.months()] == ["2026-12", "2026-11"]


async def test_what_was_used_since_a_time_is_of_its_month_and_of_this_one() -> None:
    times = ("2026-11-30T22:59:59.999Z", "2026-11-30T23:00:00.000Z", "2026-12-01T08:00:00.000Z")
    entries = (an_entry(place, at=at, cost_usd=10.0**place) for place, at in enumerate(times))
    now = "2026-12-01T09:00:00.000Z"
    book = UsageBook(MemoryLedger(*entries), ScriptedModels(), Settings, EventBus(), lambda: now)
    # Where the user is, 1 December began while it was November in UTC.
    assert (await book.since("2026-11-30T23:00:00+00:00")).known_usd == 110.0
    assert (await book.since("2026-12-01T00:00:00+00:00")).known_usd == 100.0
    assert (await book.since("2026-11-01T00:00:00+00:00")).known_usd == 111.0


@pytest.mark.parametrize("begins", ["=", "+", "-", "@"])
async def test_no_name_in_the_table_is_a_formula(begins: str) -> None:
    entry = an_entry(1, author=f"{begins}HYPERLINK()", model=f"{begins}1", cost_usd=None, input_tokens=7)
    book = UsageBook(MemoryLedger(entry), ScriptedModels(), Settings, EventBus())
    names, row = csv.reader(io.StringIO(await book.csv(entry.month)))
    said = dict(zip(names, row, strict=True))
    assert (said["author"], said["model"]) == (f"'{begins}HYPERLINK()", f"'{begins}1")
    assert (said["provider"], said["input_tokens"], said["cost_usd"]) == ("openai", "7", "n/a")
