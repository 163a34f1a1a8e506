"""How long a model may think without a word, how long its answer may be, and why it ended."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from app.core.definitions import Effort
from app.core.provider import FactSource, KnownFacts, KnownModels, ModelFacts
from app.providers.endpoints import LOCAL, REMOTE, ModelLimits, usual_limits
from app.providers.fact_book import FactBook
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Answer, Fault, Refusal, WireServer
from tests.wire.fixtures import FOUR

pytestmark = pytest.mark.asyncio(loop_scope="module")

THINKS = ModelFacts(
    source=FactSource.LIST, default_effort=Effort.MEDIUM, efforts=("none", "low", "high", "max")
)
QUIET = ModelFacts(source=FactSource.LIST, default_effort=Effort.NONE, efforts=())
# A hundredth of what a model that thinks is given.
THIRD = 3.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def patient(book: Book) -> AsyncIterator[RemoteModels]:
    """Models with a hundredth of the limits of a model that thinks."""
    models = book.models(limits=ModelLimits(first_token=THIRD, idle=THIRD, total=36))
    await models.warm()
    yield models
    await models.close()


async def test_a_model_that_thinks_has_more_time() -> None:
    def times(facts: ModelFacts, effort: str, *, local: bool = False) -> tuple[float, float, float]:
        limits = usual_limits(facts, effort, local=local)
        return limits.first_token, limits.idle, limits.total

    usual = (REMOTE.first_token, REMOTE.idle, REMOTE.total)
    assert times(QUIET, Effort.AUTO) == usual == (60, 60, 600)
    assert times(THINKS, Effort.NONE) == usual
    assert times(THINKS, Effort.AUTO) == times(THINKS, Effort.LOW) == (300, 300, 3_600)
    assert times(ModelFacts(), Effort.AUTO) == (300, 300, 3_600), "it may be one that thinks"
    assert times(THINKS, Effort.HIGH) == times(THINKS, Effort.MAX) == (900, 900, 3_600)
    assert usual_limits(THINKS, Effort.MAX, local=True) == LOCAL


async def test_pings_do_not_end_a_silent_thought(
    patient: RemoteModels, servers: dict[str, WireServer]
) -> None:
    async def listen(server: WireServer) -> None:
        server.script(server.model, [Answer("At last.", pings=THIRD / 2), Fault("pingsonly")])
        heard = await ask(patient, request_to(server))
        assert (heard.outcome, heard.text) == ("stop", "At last."), server.kind
        heard = await ask(patient, request_to(server))
        assert heard.outcome == "no_answer", f"{server.kind}: pings alone keep nothing alive for ever"

    # At once: this waits in real time.
    await asyncio.gather(*(listen(servers[kind]) for kind in FOUR))


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_thought_of_two_hundred_seconds_is_waited_for(
    book: Book, servers: dict[str, WireServer]
) -> None:
    server = servers["anthropic"]
    server.script(server.model, [Answer("At last.", pings=200)])
    kept = KnownFacts(provider=server.provider_id, model=server.model, facts=THINKS)
    models = RemoteModels(providers=book.config, key=book.key, book=FactBook(KnownModels(facts=(kept,))))
    heard = await ask(models, request_to(server))
    await models.close()
    assert (heard.outcome, heard.text) == ("stop", "At last.")


async def test_a_request_that_is_too_dear_is_made_again_with_what_can_be_afforded(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    words = (
        "This request requires more credits, or fewer max_tokens. You requested up to 200 tokens, but can only "
        "afford 81. To increase, visit the page of your credits."
    )
    server.script(server.model, [Refusal(402, words), "Short.", Refusal(402, words), Refusal(402, words)])
    heard = await ask(models, request_to(server))
    assert (heard.outcome, heard.text) == ("stop", "Short.")
    assert [_limit(request.body) for request in server.requests] == [200, 81]
    heard = await ask(models, request_to(server))
    assert heard.outcome == "quota"
    assert [_limit(request.body) for request in server.requests[2:]] == [200, 81], "it is asked again once"


def _limit(body: dict[str, object]) -> object:
    return body.get("max_tokens") or body.get("max_completion_tokens")


@pytest.mark.parametrize(
    ("finish", "reason"), [("content_filter", "refusal"), ("context_full", "context_full")]
)
async def test_the_reasons_of_claude_are_told_apart(
    finish: str, reason: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["anthropic"]
    server.script(server.model, [Answer("A few words", finish=finish)])
    heard = await ask(models, request_to(server))
    assert (heard.outcome, heard.text) == (reason, "A few words")
