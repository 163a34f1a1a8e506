"""The title of a chat: who writes it, when, and that the user's own title wins."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import FailureKind, ProviderError
from app.core.events import EventBus
from app.core.store import StoredSession
from app.engine.chat.titles import title_in
from app.engine.live_session import LiveSession
from tests.builders import Bench, Script, a_bench, a_log_store
from tests.engine.test_turn import agent

Benches = Callable[..., Awaitable[Bench]]

QUESTION = "Could you please compare heat pumps and gas boilers for an old house in Busan?"


@pytest.fixture
async def bench_of(data_dir: Path) -> AsyncIterator[Benches]:
    made: list[Bench] = []

    async def bench(*script: Script) -> Bench:
        store = a_log_store(data_dir)
        await asyncio.to_thread(store.prepare)
        made.append(a_bench(store, script=list(script), agents=(agent(),)))
        return made[-1]

    yield bench
    for one in made:
        await one.engine.shutdown()


async def chat(bench: Bench) -> str:
    """Return the id of a chat with its first answer."""
    session_id = await bench.engine.chats.start("main", QUESTION)
    await bench.engine.wait(session_id)
    return session_id


def title(bench: Bench, session_id: str) -> str:
    live = bench.engine.live(session_id)
    assert live is not None
    return live.session.title


async def test_the_model_that_answered_writes_the_title(bench_of: Benches) -> None:
    bench = await bench_of(["Heat pumps win."], ['"Heat pump or gas boiler."'])
    session_id = await chat(bench)
    assert bench.engine.titles.wanted(session_id)

    await bench.engine.titles.write(session_id)

    assert title(bench, session_id) == "Heat pump or gas boiler"
    first, asked = bench.models.requests
    assert (asked.provider, asked.model) == (first.provider, first.model)
    assert QUESTION in str(asked.messages) and "Heat pumps win." in str(asked.messages)
    assert not bench.engine.titles.wanted(session_id)
    assert len(bench.engine.live(session_id).session.unsaid) == 1  # type: ignore[union-attr]


async def test_the_users_own_title_wins(bench_of: Benches) -> None:
    bench = await bench_of(["Heat pumps win."], ["Written too late"])
    session_id = await chat(bench)
    await bench.engine.chats.rename(session_id, "Heating")
    assert not bench.engine.titles.wanted(session_id)

    await bench.engine.titles.write(session_id)

    assert title(bench, session_id) == "Heating"
    assert len(bench.models.requests) == 1


async def test_a_title_that_comes_after_the_user_renamed_is_dropped(bench_of: Benches) -> None:
    bench = await bench_of(["Heat pumps win."], ["Written", " too", " late"])
    session_id = await chat(bench)
    writing = asyncio.create_task(bench.engine.titles.write(session_id))
    while len(bench.models.requests) < 2:
        await asyncio.sleep(0)
    await bench.engine.chats.rename(session_id, "Heating")
    assert not writing.done()
    await writing

    assert title(bench, session_id) == "Heating"


async def test_a_failed_call_leaves_the_title_and_is_not_repeated(bench_of: Benches) -> None:
    bench = await bench_of(["Heat pumps win."], [ProviderError(FailureKind.BAD_REQUEST)])
    session_id = await chat(bench)
    before = title(bench, session_id)

    await bench.engine.titles.write(session_id)

    assert title(bench, session_id) == before
    assert not bench.engine.titles.wanted(session_id)


async def test_the_setting_switches_titles_off(bench_of: Benches) -> None:
    bench = await bench_of(["Heat pumps win."])
    await bench.engine.change_settings(lambda settings: replace(settings, titles=False))
    assert not bench.engine.titles.wanted(await chat(bench))


@pytest.mark.parametrize(
    ("ticked", "asked"), [((), "remote0"), (("remote2",), "remote0"), (("remote1",), "remote1")]
)
async def test_another_model_writes_the_title_where_its_provider_may_read_the_chat(
    bench_of: Benches, ticked: tuple[str, ...], asked: str
) -> None:
    bench = await bench_of(["Heat pumps win."], ["Heat pump or gas boiler"])
    settings = replace(bench.engine.settings(), helper_model="remote1/model-1", may_read_any=ticked)
    await bench.engine.change_settings(lambda _: settings)
    session_id = await chat(bench)

    await bench.engine.titles.write(session_id)

    assert [one.provider for one in bench.models.requests] == ["remote0", asked]
    assert title(bench, session_id) == "Heat pump or gas boiler"


@pytest.mark.parametrize(("imported", "chosen"), [(False, "remote1"), (True, "remote0")])
async def test_a_provider_that_answered_may_read_the_chat_but_not_one_that_a_file_names(
    bench_of: Benches, imported: bool, chosen: str
) -> None:
    bench = await bench_of(["Heat pumps win."])
    await bench.engine.change_settings(lambda settings: replace(settings, helper_model="remote1/model-1"))
    session_id = await chat(bench)
    said = [replace(one, model="remote1/model-2") for one in bench.messages(session_id)]
    session = replace(bench.engine.live(session_id).session, source="chatgpt/1" if imported else "")
    live = LiveSession(StoredSession(session=session, messages=said), EventBus())
    (own,) = bench.engine.models_for(agent())
    assert bench.engine._directory.helper_for(live, own).provider == chosen


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Heat pumps", "Heat pumps"),
        ('"Heat pumps."\n\nBecause you asked.', "Heat pumps"),
        ("**Title: Heat   pumps**", "Heat pumps"),
        ("제목: 「히트펌프와 보일러」", "히트펌프와 보일러"),
        ("\n\n", ""),
        ("word " * 40, ""),
    ],
)
def test_a_title_is_the_first_line_without_marks(answer: str, expected: str) -> None:
    assert title_in(answer) == expected
