"""The ledger of what calls used, on a real disk: torn, damaged, missing, and beside a second reader."""

import asyncio
import contextlib
import errno
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from app.core.council import Ballot, Verdict
from app.core.errors import StorageError
from app.core.events import EventBus
from app.core.message import Usage, UsageEntry
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from app.storage import usage_ledger
from app.storage.codec import plain
from app.storage.lines import decode_line, encode_line
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore, autosave
from app.storage.threads import run_in_thread
from app.storage.usage_ledger import UsageFile
from tests.builders import a_debate, a_session, people, said
from tests.storage.sim_fs import SimFS


class Place:
    """A data directory with a store and a ledger on it."""

    def __init__(self, folder: Path) -> None:
        self.paths = DataPaths(folder)
        self.begin()

    def begin(self) -> None:
        """Open both anew, as after a start."""
        self.store = JsonLogStore(self.paths)
        self.ledger = UsageFile(self.paths, self.store.in_turn)

    async def end(self) -> None:
        await self.ledger.close()
        await self.store.close()

    async def restart(self) -> None:
        await self.end()
        self.begin()

    async def costs(self) -> dict[str, float]:
        """Return the dollars of each month, as a start finds them."""
        return {month: total.known_usd for month, total in (await self.ledger.months()).items()}


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    yield place
    await place.end()


def an_entry(number: int, month: str = "2026-11", cost: float | None = 0.5) -> UsageEntry:
    return UsageEntry(
        message_id=f"e{number}",
        at=f"{month}-03T10:00:00.000Z",
        session_id="s",
        author="관리자",
        provider="openai",
        model="gpt-5.2",
        input_tokens=10,
        output_tokens=2,
        cached_tokens=8,
        cache_written_tokens=1,
        reasoning_tokens=1,
        cost_usd=cost,
        saved_usd=0.1,
    )


async def test_calls_are_there_after_a_restart_and_months_do_not_count_what_came_since(place: Place) -> None:
    for number, month in enumerate(("2026-10", "2026-11", "2026-11")):
        place.ledger.add(an_entry(number, month))
    assert await place.costs() == {}
    assert [one.message_id for one in await place.ledger.entries("2026-11")] == ["e1", "e2"]
    await place.restart()
    assert await place.costs() == {"2026-10": 0.5, "2026-11": 1.0}
    place.ledger.add(an_entry(4))
    assert await place.costs() == {"2026-10": 0.5, "2026-11": 1.0}
    assert await place.ledger.entries("2026-10") == [an_entry(0, "2026-10")]
    assert len(await place.ledger.entries("2026-11")) == 3


async def test_each_field_of_a_call_comes_back(place: Place) -> None:
    whole = replace(an_entry(1), author_id="a", cost_usd=None, estimated=True, subscribed=True)
    assert not [name for name, value in asdict(whole).items() if not value and name != "cost_usd"]
    place.ledger.add(whole)
    await place.restart()
    assert await place.ledger.entries("2026-11") == [whole]
    assert (await place.ledger.months())["2026-11"].subscribed == 1


async def test_what_has_no_known_price_stays_without_one_and_free_stays_free(place: Place) -> None:
    place.ledger.add(an_entry(1, cost=None))
    place.ledger.add(an_entry(2, cost=0.0))
    await place.restart()
    assert [one.cost_usd for one in await place.ledger.entries("2026-11")] == [None, 0.0]


async def test_a_torn_end_is_cut_and_a_damaged_line_is_passed_over(place: Place) -> None:
    for number in range(3):
        place.ledger.add(an_entry(number))
    await place.end()
    first, second, third = place.paths.usage.read_bytes().splitlines(keepends=True)
    place.paths.usage.write_bytes(first + second.replace(b"gpt", b"GPT") + third + first[:20])
    place.begin()
    assert await place.costs() == {"2026-11": 1.0}
    place.ledger.add(an_entry(9))
    await place.restart()
    assert await place.costs() == {"2026-11": 1.5}
    assert place.paths.usage.read_bytes().count(b"\n") == 4


async def test_a_line_that_lacks_only_its_newline_is_kept(place: Place) -> None:
    place.ledger.add(an_entry(1))
    await place.end()
    place.paths.usage.write_bytes(place.paths.usage.read_bytes().rstrip(b"\n"))
    place.begin()
    place.ledger.add(an_entry(2))
    await place.restart()
    assert await place.costs() == {"2026-11": 1.0}


async def test_a_message_that_was_written_twice_counts_once(place: Place) -> None:
    place.ledger.add(an_entry(1))
    await place.end()
    place.paths.usage.write_bytes(place.paths.usage.read_bytes() * 2)
    place.begin()
    place.ledger.add(an_entry(1))
    await place.restart()
    assert await place.costs() == {"2026-11": 0.5}


async def test_a_ledger_that_is_made_again_keeps_what_is_unknown(place: Place) -> None:
    place.ledger.add(an_entry(1))
    await place.ledger.months()
    later = {**plain(an_entry(2)), "later": {"a": [1]}, "cost_usd": "dear"}
    place.paths.usage.write_bytes(encode_line(0, [{"op": "usage", "usage": later}]))
    place.ledger.add(an_entry(3))
    await place.ledger.months()
    await place.restart()
    lines = [decode_line(line) for line in place.paths.usage.read_bytes().splitlines()]
    records = {line.ops[0]["usage"]["message_id"]: line.ops[0]["usage"] for line in lines if line is not None}
    assert records == {"e1": plain(an_entry(1)), "e2": later, "e3": plain(an_entry(3))}


async def test_a_ledger_that_is_replaced_while_it_is_made_again_is_read_whole(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_late(work: Callable[[], None], name: str) -> "Future[None]":
        """Let the thread end some time after its work was done, as it may on a busy computer."""
        return run_in_thread(lambda: (work(), time.sleep(0.3))[0], name)

    monkeypatch.setattr(usage_ledger, "run_in_thread", run_late)
    place.ledger.add(an_entry(1))
    while not place.paths.usage.exists() or not place.paths.usage.read_bytes():
        await asyncio.sleep(0.01)
    line = encode_line(0, [{"op": "usage", "usage": plain(an_entry(2))}])
    place.paths.usage.write_bytes(line * 3)
    place.ledger.add(an_entry(3))
    found = [entry.message_id for entry in await place.ledger.entries("2026-11")]
    assert sorted(found) == ["e1", "e2", "e3"]


async def test_a_reader_beside_the_writer_sees_all_and_writes_nothing(place: Place) -> None:
    place.ledger.add(an_entry(1))
    assert len(await place.ledger.entries("2026-11")) == 1
    store = JsonLogStore(place.paths, read_only=True)
    before = place.paths.usage.read_bytes()
    reader = UsageFile(place.paths, store.in_turn, read_only=True)
    assert {month: one.calls for month, one in (await reader.months()).items()} == {"2026-11": 1}
    await reader.close()
    assert place.paths.usage.read_bytes() == before


async def a_past(place: Place) -> list[str]:
    """Write two debates of two answers each, one of them to the bin; return the messages' ids."""
    bus = EventBus()
    await place.store.open()
    autosave(bus, place.store)
    ids = []
    for number in range(2):
        session = a_session(a_debate(2), id=f"{number}" * 26)
        live = LiveSession(StoredSession(session=session, messages=[]), bus)
        live.begin()
        for participant in people(2):
            message = said(participant, '"usage":{ is a word', created_at="2026-09-01T00:00:00.000Z")
            usage = Usage(provider="openai", model="gpt-5.2", input_tokens=9, output_tokens=1, cost_usd=0.25)
            live.finish_message(replace(message, usage=usage))
            live.finish_message(replace(message, usage=usage))
            ids.append(message.id)
        await place.store.flush(live.id)
    await place.store.delete("1" * 26)
    return ids


async def test_a_ledger_that_is_not_there_is_made_from_the_sessions_those_in_the_bin_too(
    place: Place,
) -> None:
    ids = await a_past(place)
    place.ledger.add(an_entry(1))
    place.ledger.add(replace(an_entry(2), message_id=ids[0], at="2026-09-01T00:00:00.000Z"))
    assert await place.costs() == {"2026-09": 0.75}
    entries = await place.ledger.entries("2026-09")
    assert sorted(one.message_id for one in entries) == sorted(ids)
    assert {one.session_id for one in entries} == {"0" * 26, "1" * 26, "s"}
    await place.restart()
    assert await place.costs() == {"2026-09": 1.25, "2026-11": 0.5}


def a_call(name: str, cost: float | None = 0.25, **fields: object) -> UsageEntry:
    entry = UsageEntry(
        message_id=name, at="2026-08-02T00:00:00.000Z", provider="openai", model="gpt-5.2", cost_usd=cost
    )
    return replace(entry, **fields)  # type: ignore[arg-type]


async def test_votes_verdicts_and_cut_calls_are_in_a_ledger_that_is_made_anew(place: Place) -> None:
    bus = EventBus()
    await place.store.open()
    autosave(bus, place.store)
    live = LiveSession(StoredSession(session=a_session(a_debate(2), id="7" * 26), messages=[]), bus)
    live.begin()
    cut = a_call("cut", author="GPT", session_id=live.id, estimated=True)
    live.note_unsaid(cut)
    votes = tuple(Ballot(participant=one.id, round=0, usage=a_call(f"vote {one.id}")) for one in people(2))
    live.change(debate=replace(a_debate(2), ballots=votes))
    first = Verdict(judge="GPT", usage=a_call("first", cost=1.0))
    live.change(debate=replace(live.debate_session.debate, verdict=first))
    # The next one differs in a part of what it used: the log holds that part alone.
    live.note_unsaid(a_call("first", cost=1.0))
    second = Verdict(judge="GPT", usage=a_call("second", cost=None, at="2026-09-02T00:00:00.000Z"))
    live.change(debate=replace(live.debate_session.debate, verdict=second))
    await place.store.flush(live.id)
    assert await place.costs() == {"2026-08": 1.75, "2026-09": 0.0}
    entries = {one.message_id: one for one in await place.ledger.entries("2026-08")}
    assert set(entries) == {"cut", "vote p0", "vote p1", "first"}
    assert entries["cut"] == cut
    assert {one.session_id for one in entries.values()} == {live.id}
    (last,) = await place.ledger.entries("2026-09")
    assert (last.message_id, last.cost_usd, last.model) == ("second", None, "gpt-5.2")


async def test_votes_of_before_are_found_by_when_they_were_written(place: Place) -> None:
    bus = EventBus()
    await place.store.open()
    autosave(bus, place.store)
    live = LiveSession(StoredSession(session=a_session(a_debate(2), id="7" * 26), messages=[]), bus)
    live.begin()
    for number in range(2):
        ballot = Ballot(participant="p0", round=number, usage=a_call("", at=""))
        debate = live.debate_session.debate
        live.change(debate=replace(debate, ballots=(*debate.ballots, ballot)))
    live.change(debate=replace(live.debate_session.debate, verdict=Verdict(usage=a_call("", at=""))))
    live.note_unsaid(a_call("later"))
    await place.store.flush(live.id)
    assert sum((await place.costs()).values()) == 1.0


async def test_calls_of_a_backup_are_added_once_and_what_is_here_stays(place: Place) -> None:
    place.ledger.add(an_entry(1))
    place.ledger.add(an_entry(2))
    added = await place.ledger.bring_in([replace(an_entry(2), cost_usd=9.0), an_entry(3), an_entry(3)])
    assert added == [an_entry(3)]
    assert await place.ledger.bring_in([an_entry(1), an_entry(3)]) == []
    assert [one.message_id for one in await place.ledger.entries("2026-11")] == ["e1", "e2", "e3"]
    await place.restart()
    assert await place.costs() == {"2026-11": 1.5}
    assert await place.ledger.bring_in([an_entry(2), an_entry(4)]) == [an_entry(4)]


@pytest.mark.parametrize(
    "fault", [{"at": "yesterday"}, {"at": "2026-13-01"}, {"cost_usd": -1.0}, {"message_id": ""}]
)
async def test_a_call_that_cannot_be_is_passed_over(place: Place, fault: dict[str, object]) -> None:
    place.ledger.add(an_entry(1))
    place.ledger.add(replace(an_entry(2), **fault))  # type: ignore[arg-type]
    await place.restart()
    assert await place.costs() == {"2026-11": 0.5}


async def test_a_reader_of_a_directory_without_a_ledger_makes_none(place: Place) -> None:
    await a_past(place)
    store = JsonLogStore(place.paths, read_only=True)
    reader = UsageFile(place.paths, store.in_turn, read_only=True)
    assert {month: one.calls for month, one in (await reader.months()).items()} == {"2026-09": 4}
    assert not place.paths.usage.exists()


async def test_the_ledger_of_a_new_directory_begins_empty(place: Place) -> None:
    assert await place.costs() == {}
    assert await place.ledger.entries("2026-11") == []
    assert place.paths.usage.read_bytes() == b""


async def on(disk: SimFS, *entries: UsageEntry) -> list[str]:
    """Add entries on a simulated disk, close, and return the ids that a new start finds there."""
    paths = DataPaths(Path("/data"))
    store = JsonLogStore(paths, file_system=disk)
    ledger = UsageFile(paths, store.in_turn, file_system=disk)
    with contextlib.suppress(StorageError):
        await ledger.months()
    for entry in entries:
        ledger.add(entry)
    with contextlib.suppress(OSError):
        await ledger.close()
    with contextlib.suppress(StorageError):
        await store.close()
    disk.fault = lambda *_: None
    disk.off_after = None
    return await found(disk)


async def found(disk: SimFS) -> list[str]:
    paths = DataPaths(Path("/data"))
    store = JsonLogStore(paths, file_system=disk)
    ledger = UsageFile(paths, store.in_turn, file_system=disk)
    ids = [one.message_id for one in await ledger.entries("2026-11")]
    await ledger.close()
    await store.close()
    return ids


SIX = tuple(an_entry(number) for number in range(6))
IDS = [one.message_id for one in SIX]


async def test_a_disk_that_refuses_once_loses_nothing() -> None:
    whole = SimFS()
    assert await on(whole, *SIX) == IDS
    for number in range(1, whole.calls + 1):
        disk = SimFS()
        disk.fault = lambda call, *_, at=number: OSError(errno.ENOSPC, "full") if call == at else None  # type: ignore[misc]
        assert await on(disk, *SIX) == IDS, number


@pytest.mark.parametrize("seed", range(3))
async def test_after_a_power_cut_what_is_there_is_what_came_first_and_more_can_be_added(seed: int) -> None:
    whole = SimFS()
    await on(whole, *SIX)
    for number in range(1, whole.calls + 1):
        disk = SimFS()
        disk.off_after = number
        await on(disk, *SIX)
        after = disk.after_power_cut(seed)
        kept = await found(after)
        assert kept == IDS[: len(kept)], number
        assert await on(after, an_entry(9)) == [*kept, "e9"], number
