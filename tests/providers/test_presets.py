"""Providers that are rows of the catalogue only: each is asked as its own documentation wants it."""

from dataclasses import replace

import pytest

from app.core import catalog
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Answer, WireServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


def at_wire(monkeypatch: pytest.MonkeyPatch, kind: str, address: str) -> None:
    """Let a preset's own address be that of a wire server."""
    rows = tuple(replace(row, base_url=address) if row.kind == kind else row for row in catalog.KINDS)
    monkeypatch.setattr(catalog, "KINDS", rows)


async def test_openrouter_is_asked_for_the_model_by_its_whole_name(
    book: Book, models: RemoteModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("anthropic/claude-sonnet-4.5", "openai/gpt-4.1", "deepseek/deepseek-r1:free")
    with WireServer("openai", models=names, provider_id="openrouter") as server:
        at_wire(monkeypatch, "openrouter", server.address)
        book.add("openrouter", "openrouter", "", server.key, names)
        for name in names:
            server.script(name, [Answer("Yes.", input_tokens=10, output_tokens=5)])
            heard = await ask(models, request_to(server, model=name))
            assert heard.text == "Yes.", heard.error
            assert server.requests[-1].model == name
        tested = await models.test("openrouter")
        assert tested.ok
        assert tested.models == names
        assert not [one.refused for one in server.requests if one.refused]
