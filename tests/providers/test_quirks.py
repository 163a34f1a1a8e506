"""What models refuse or insist on is learnt from their refusals, and outlives a restart."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core.provider import KnownModels
from app.providers.fact_book import FactBook
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.providers.tool_chats import SEARCH, request, results, said
from tests.wire import Answer, Refusal, WireServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("kind", ["deepseek", "moonshot"])
async def test_a_server_gets_back_what_its_model_thought_before_its_calls(
    kind: str, models: RemoteModels, book: Book
) -> None:
    with WireServer(kind) as server:
        book.add(kind, kind, server.address, server.key, server.models)
        server.script(server.model, [Answer(thinking="I must look.", calls=(SEARCH,)), "Much.", "More."])
        heard = await ask(models, request(server, temperature=None))
        assert heard.thinking == "I must look."
        called = said(heard) | {"reasoning_content": heard.thinking}
        answered = await ask(models, request(server, called, *results(heard, "News."), temperature=None))
        assert (answered.outcome, answered.text) == ("stop", "Much.")
        assert [one.status for one in server.requests] == [200, 400, 200], "it is learnt from the refusal"
        sent = server.requests[-1].body["messages"][2]
        assert sent["reasoning_content"] == "I must look."
        # A call that another model made comes without a thought.
        foreign = said(heard)
        answered = await ask(models, request(server, foreign, *results(heard, "News."), temperature=None))
        assert answered.text == "More."
        assert len(server.requests) == 4
        assert server.requests[-1].body["messages"][2]["reasoning_content"].strip() == ""


async def test_no_other_server_gets_thoughts_back(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    server.script(server.model, [Answer(thinking="I must look.", calls=(SEARCH,)), "Much."])
    heard = await ask(models, request(server))
    called = said(heard) | {"reasoning_content": heard.thinking}
    assert (await ask(models, request(server, called, *results(heard, "News.")))).text == "Much."
    assert [one.status for one in server.requests] == [200, 200]


async def test_what_was_learnt_outlives_a_restart(book: Book, servers: dict[str, WireServer]) -> None:
    server = servers["openai"]
    saved: list[KnownModels] = []

    async def save(known: KnownModels) -> None:
        saved.append(known)

    first = RemoteModels(providers=book.config, key=book.key, book=FactBook(save=save))
    server.script(server.model, [Refusal(400, "Unsupported parameter: 'temperature'"), "Yes."])
    assert (await ask(first, request_to(server))).text == "Yes."
    await first.close()
    assert [one.quirks.without for one in saved[-1].quirks] == [("temperature",)]
    server.script(server.model, ["Again."])
    second = RemoteModels(providers=book.config, key=book.key, book=FactBook(saved[-1]))
    assert (await ask(second, request_to(server))).text == "Again."
    await second.close()
    assert ["temperature" in one.body for one in server.requests] == [True, False, False]


async def test_quirks_are_forgotten_after_a_month() -> None:
    fields = {"without": ["stop"]}
    book = FactBook()
    book.note_quirks("http://a", "m", fields)
    (known,) = book._quirks.values()
    assert FactBook(KnownModels(quirks=(known,))).quirks("http://a", "m") == known.quirks
    long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat()
    old = KnownModels(quirks=(type(known)(base_url="http://a", model="m", at=long_ago, quirks=known.quirks),))
    assert FactBook(old).quirks("http://a", "m") is None
