"""What models cost: the host's list for those that are paid, and nothing started for those that are free."""

import pytest

from app.core.catalog import is_near, provider_kind
from app.core.message import Usage
from app.core.provider import Price
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Answer, Raw, WireServer
from tests.wire.protocols import sse


async def test_what_is_free_or_unknown_is_said_without_starting_the_host() -> None:
    book = Book()
    book.add("ollama", "ollama")
    book.add("lan", "openai-compatible", "http://192.168.1.20:8000/v1")
    book.add("far", "openai-compatible", "https://models.example.com/v1")
    book.add("embedded", "embedded")
    models = book.models()
    for provider in ("ollama", "lan", "embedded"):
        price = await models.price(provider, "any")
        assert price is not None
        assert price.free
        assert models.is_free(provider)
    assert await models.price("far", "any") is None
    assert await models.price("gone", "any") is None
    assert not models.is_free("far")
    assert not models.is_free("gone")
    assert models.host_pid is None
    await models.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-5-mini"])
async def test_a_listed_price_is_what_an_answer_is_charged(
    book: Book, models: RemoteModels, model: str
) -> None:
    with WireServer("openai", models=(model,), provider_id="priced") as server:
        book.add("priced", "openai", server.address, server.key, server.models)
        price = await models.price("priced", model)
        assert isinstance(price, Price)
        server.script(model, [Answer("Yes.", input_tokens=1_000, output_tokens=500)])
        heard = await ask(models, request_to(server, temperature=None))
        assert heard.finished is not None
        expected = 1_000 * price.read + 500 * price.written
        assert heard.finished.usage.cost_usd == pytest.approx(expected)
        assert await models.price("priced", model) is price
        assert await models.price("priced", "a-model-nobody-lists") is None


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("kind", "model", "cost"),
    [
        ("ollama", "gpt-4", 0.0),
        ("openai-compatible", "gpt-4", 0.0),
        ("vllm", "gpt-4", 0.0),
        ("groq", "gpt-4", None),
        ("groq", "openai/gpt-oss-120b", pytest.approx(1_000 * 1.5e-7 + 500 * 6e-7)),
        ("openrouter", "openai/gpt-4", 0.0123),
        ("openrouter", "maker/nobody-lists-it", 0.0123),
    ],
)
async def test_no_price_is_invented_for_a_model_with_a_known_name(
    kind: str, model: str, cost: float | None, book: Book, models: RemoteModels
) -> None:
    with WireServer(kind, models=(model,), provider_id=f"alias-{kind}") as server:
        book.add(server.provider_id, kind, server.address, server.key, server.models)
        server.script(model, [Answer("Yes.", input_tokens=1_000, output_tokens=500)])
        messages = [{"role": "user", "content": "Yes?"}]
        heard = await ask(models, request_to(server, messages=messages, temperature=None))
        assert heard.finished is not None, heard.error
        assert heard.finished.usage.cost_usd == cost


@pytest.mark.asyncio(loop_scope="module")
async def test_each_number_of_a_providers_report_has_its_place(book: Book, models: RemoteModels) -> None:
    report = {
        "prompt_tokens": 1_100,
        "completion_tokens": 220,
        "total_tokens": 1_320,
        "prompt_tokens_details": {"cached_tokens": 330, "cache_write_tokens": 44},
        "completion_tokens_details": {"reasoning_tokens": 55},
        "cost": 0.125,
    }
    answer = {"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [answer]}
    with WireServer("openrouter", models=("maker/m",), provider_id="reports") as server:
        book.add("reports", "openrouter", server.address, server.key, server.models)
        server.script("maker/m", [Raw(sse({**chunk, "usage": report}) + b"data: [DONE]\n\n")])
        heard = await ask(models, request_to(server))
    assert heard.finished is not None, heard.error
    assert heard.finished.usage == Usage(
        input_tokens=1_100,
        output_tokens=220,
        cached_tokens=330,
        cache_written_tokens=44,
        reasoning_tokens=55,
        cost_usd=0.125,
    )


@pytest.mark.asyncio(loop_scope="module")
async def test_what_openrouter_resells_has_the_prices_of_its_maker(book: Book, models: RemoteModels) -> None:
    row = provider_kind("openrouter")
    assert row is not None
    book.add("router", "openrouter", models=row.models)
    makers = (("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5.2"), ("gemini", "gemini-2.5-flash"))
    for name, (kind, model) in zip(row.models, makers, strict=True):
        book.add(f"its-{kind}", kind)
        price, maker = await models.price("router", name), await models.price(f"its-{kind}", model)
        assert price is not None and maker is not None, name
        assert (price.read, price.written) == (maker.read, maker.written)
        facts = await models.facts("router", name)
        assert facts.prices is not None and facts.prices.read == price.read
        assert facts.efforts is None, "what it takes is up to OpenRouter"
    assert await models.price("router", "nobody/knows-this") is None
    assert await models.price("its-openai", "anthropic/claude-sonnet-4.5") is None


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1", True),
        ("http://10.0.0.8", True),
        ("http://printer.local", True),
        ("http://box:8000", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8", False),
        ("api.openai.com/v1", False),
        ("lab:8000", True),
    ],
)
def test_near_is_this_computer_and_its_network(address: str, near: bool) -> None:
    assert is_near(address) is near
