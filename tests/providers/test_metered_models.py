"""What a call used over the real wire: the provider's word, an estimate where there is none, nothing for a refusal."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from app.core.errors import ProviderError
from app.core.events import EventBus
from app.core.provider import Text
from app.core.settings import Settings
from app.engine.availability import Availability, Slots
from app.engine.engine import ANY_NUMBER
from app.engine.turns.context import MeteredCall
from app.engine.usage_book import UsageBook
from app.providers.remote import RemoteModels
from tests.memory import MemoryLedger
from tests.providers.asking import request_to
from tests.providers.conftest import Book
from tests.wire import Answer, Fault, Reply, WireServer
from tests.wire.fixtures import FOUR
from tests.wire.prompt_caches import PromptCache

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Priced by LiteLLM's list.
PRICED = "gpt-4o-mini"
LONG = "One word after the other, and never an end. " * 20


@pytest.fixture
async def priced(book: Book) -> AsyncIterator[WireServer]:
    with WireServer("openai", models=(PRICED, "a-model-nobody-lists"), provider_id="priced") as server:
        book.add("priced", "openai", server.address, server.key, server.models)
        yield server


def call(models: RemoteModels, server: WireServer, reply: Reply, model: str = PRICED) -> MeteredCall:
    """Return a call that is answered so."""
    server.script(model, [reply])
    usage = UsageBook(MemoryLedger(), models, Settings, EventBus())
    gate = Slots(Availability(lambda _: ANY_NUMBER), time.monotonic, asyncio.sleep)
    return MeteredCall(models, usage, gate, request_to(server, model=model, temperature=None))


async def cut(asked: MeteredCall) -> None:
    """Ask, and close the stream at the first words."""
    async with aclosing(asked.stream()) as stream:
        async for delta in stream:
            if isinstance(delta, Text):
                return


async def test_an_answer_that_is_cut_costs_about_what_was_sent_and_said(
    models: RemoteModels, priced: WireServer
) -> None:
    asked = call(models, priced, Answer(LONG, pace=0.05))
    assert asked.usage is None
    await cut(asked)
    assert priced.wait_for(lambda: priced.requests[-1].closed_at is not None)
    used, price = asked.usage, await models.price("priced", PRICED)
    assert used is not None
    assert price is not None
    assert used.estimated
    assert 15 < used.input_tokens < 60
    assert 0 < used.output_tokens < 100
    expected = used.input_tokens * price.read + used.output_tokens * price.written
    assert used.cost_usd == pytest.approx(expected)
    assert expected > 0


async def test_without_a_price_a_cut_answer_costs_nobody_knows_what(
    models: RemoteModels, priced: WireServer
) -> None:
    asked = call(models, priced, Answer(LONG, pace=0.05), "a-model-nobody-lists")
    await cut(asked)
    assert asked.usage is not None
    assert (asked.usage.cost_usd, asked.usage.estimated) == (None, True)
    assert asked.usage.output_tokens


async def test_a_local_model_stays_free_when_it_is_cut(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["ollama"]
    asked = call(models, server, Answer(LONG, pace=0.05), server.model)
    await cut(asked)
    assert asked.usage is not None
    assert (asked.usage.cost_usd, asked.usage.estimated) == (0.0, True)


@pytest.mark.parametrize("model", [PRICED, "a-model-nobody-lists"])
async def test_an_answer_whose_server_names_no_tokens_is_counted(
    models: RemoteModels, priced: WireServer, model: str
) -> None:
    asked = call(models, priced, Answer("Yes, and for a reason.", usage=False), model)
    assert await asked.text() == "Yes, and for a reason."
    used = asked.usage
    assert used is not None
    assert used.estimated
    assert 3 < used.output_tokens < 12
    assert used.input_tokens > 15
    assert (used.cost_usd is None) == (model != PRICED)


async def test_the_providers_own_count_is_taken_as_it_is(models: RemoteModels, priced: WireServer) -> None:
    asked = call(models, priced, Answer("Yes.", input_tokens=1_000, output_tokens=500))
    await asked.text()
    used, price = asked.usage, await models.price("priced", PRICED)
    assert used is not None
    assert price is not None
    assert (used.input_tokens, used.output_tokens, used.estimated) == (1_000, 500, False)
    assert used.cost_usd == pytest.approx(1_000 * price.read + 500 * price.written)


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ("e401", False),
        ("rate429", False),
        ("e500", False),
        ("rstearly", False),
        ("rstmid", True),
        ("empty", True),
    ],
)
async def test_only_a_call_that_was_answered_is_counted(
    models: RemoteModels, priced: WireServer, fault: str, counted: bool
) -> None:
    asked = call(models, priced, Fault(fault))
    with pytest.raises(ProviderError):
        # `text` would ask once more after some of them.
        _ = [delta async for delta in asked.stream()]
    assert (asked.usage is not None) == counted
    assert asked.usage is None or asked.usage.estimated


async def test_nobody_there_costs_nothing(models: RemoteModels, book: Book) -> None:
    with WireServer("openai", provider_id="gone") as server:
        book.add("gone", "openai", server.address, server.key, server.models)
    asked = call(models, server, "Never said.", server.model)
    with pytest.raises(ProviderError):
        await asked.text()
    assert asked.usage is None


@pytest.mark.parametrize("kind", FOUR)
async def test_what_a_provider_has_counted_is_no_estimate(
    models: RemoteModels, servers: dict[str, WireServer], kind: str
) -> None:
    server = servers[kind]
    asked = call(models, server, Answer("Yes.", input_tokens=70, output_tokens=30), server.model)
    await asked.text()
    assert asked.usage is not None
    assert (asked.usage.input_tokens, asked.usage.output_tokens) == (70, 30)
    assert not asked.usage.estimated


async def test_what_came_from_the_cache_is_counted_and_what_it_saved(
    models: RemoteModels, book: Book
) -> None:
    with WireServer("openai", models=(PRICED,), provider_id="priced", cache=PromptCache()) as server:
        book.add("priced", "openai", server.address, server.key, server.models)
        price = await models.price("priced", PRICED)
        assert price is not None
        assert price.cached == pytest.approx(price.read / 2)
        text = "A long story that is told again. " * 200
        spent = []
        for _ in range(2):
            server.script(PRICED, [Answer("Yes.", output_tokens=500, reasoning_tokens=300)])
            usage = UsageBook(MemoryLedger(), models, Settings, EventBus())
            gate = Slots(Availability(lambda _: ANY_NUMBER), time.monotonic, asyncio.sleep)
            request = request_to(server, messages=({"role": "user", "content": text},), temperature=None)
            asked = MeteredCall(models, usage, gate, request)
            await asked.text()
            spent.append(asked.usage)
    first, second = spent
    assert first is not None and second is not None
    assert (first.cached_tokens, first.saved_usd, first.reasoning_tokens) == (0, 0.0, 300)
    assert second.input_tokens == first.input_tokens
    assert 1_536 == second.cached_tokens < second.input_tokens
    saved = 1_536 * (price.read - price.cached)
    assert second.saved_usd == pytest.approx(saved)
    assert first.cost_usd is not None
    assert second.cost_usd == pytest.approx(first.cost_usd - saved)
