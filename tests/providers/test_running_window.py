"""The window of a model on the user's own server: asked of the server, which knows it once the model is loaded."""

import dataclasses

import pytest

from app.core.provider import FactSource
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import WireServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("ollama", 8_192, 4_096), ("lm-studio", 8_192, 12_288), ("openai-compatible", 6_144, 6_144)],
)
async def test_a_server_says_what_its_model_runs_with(
    book: Book, models: RemoteModels, kind: str, before: int, after: int
) -> None:
    with WireServer(kind, provider_id=f"my-{kind}") as server:
        book.add(server.provider_id, kind, server.address, server.key, server.models)
        assert (await models.facts(server.provider_id, server.model)).window == before
        assert (await ask(models, request_to(server))).outcome == "stop"
        known = models.known_facts(server.provider_id, server.model)
        assert (known.window, known.source) == (after, FactSource.SERVER)


async def test_what_a_server_says_is_believed_before_what_the_name_says(
    book: Book, models: RemoteModels
) -> None:
    with WireServer("openai-compatible", models=("glm-4.6",), provider_id="named") as server:
        book.add("named", "openai-compatible", "http://127.0.0.1:9/v1", server.key, server.models)
        assert (await models.facts("named", "glm-4.6")).window == 200_000, "it does not run yet"
        book.add("named", "openai-compatible", server.address, server.key, server.models)
        facts = await models.facts("named", "glm-4.6")
        assert (facts.window, facts.source) == (6_144, FactSource.SERVER)


async def test_what_the_user_says_is_believed_before_what_the_server_says(
    book: Book, models: RemoteModels
) -> None:
    with WireServer("ollama", provider_id="mine") as server:
        book.add("mine", "ollama", server.address, server.key, server.models)
        await ask(models, request_to(server))
        assert models.known_facts("mine", server.model).window == 4_096
        config = book.config("mine")
        assert config is not None
        book.put(dataclasses.replace(config, window=16_000))
        facts = models.known_facts("mine", server.model)
        assert (facts.window, facts.source) == (16_000, FactSource.USER)
        book.put(dataclasses.replace(config, window=16_000, windows={server.model: 32_000}))
        assert models.known_facts("mine", server.model).window == 32_000
        assert models.known_facts("mine", "another").window == 16_000


async def test_a_server_that_says_nothing_has_the_usual_window(book: Book, models: RemoteModels) -> None:
    with WireServer("vllm", provider_id="silent") as server:
        book.add("silent", "vllm", server.address, server.key, server.models)
        assert (await ask(models, request_to(server))).outcome == "stop"
        facts = models.known_facts("silent", server.model)
        assert (facts.window, facts.source) == (8_192, FactSource.DEFAULT)
