"""What a long chat costs with a warm cache, at the price of a real model."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.providers.remote import RemoteModels
from tests.engine.long_chats import chat_of, in_window
from tests.providers.asking import ask
from tests.providers.conftest import Book
from tests.wire import WireServer
from tests.wire.prompt_caches import BYTES_PER_TOKEN, PromptCache

CLAUDE = "claude-sonnet-4-5"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_whole_chat_costs_less_than_its_newest_messages_did(
    models: RemoteModels, book: Book, tmp_path: Path
) -> None:
    requests = await chat_of(tmp_path, 40)
    with WireServer("anthropic", models=(CLAUDE,), provider_id="costs", cache=PromptCache()) as server:
        book.add("costs", "anthropic", server.address, server.key, server.models)
        price = await models.price("costs", CLAUDE)
        assert price is not None and price.cached and price.cache_write
        now = saved = 0.0
        for request in requests:
            heard = await ask(models, replace(request, provider="costs", model=CLAUDE))
            assert heard.finished is not None
            used = heard.finished.usage
            assert used.cost_usd is not None
            now += used.cost_usd - used.output_tokens * price.written
            saved += price.saved(used.cached_tokens, used.cache_written_tokens)
        assert not any(one.refused for one in server.requests)
    before = sum(map(in_window, requests)) / BYTES_PER_TOKEN * price.read
    print(
        f"chat of 40 turns: input ${now:.3f}, was ${before:.3f}: {now / before:.2f}; the cache saved ${saved:.3f}"
    )
    assert now <= 0.4 * before
    assert saved > now
