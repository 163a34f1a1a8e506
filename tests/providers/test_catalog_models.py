"""The models of the catalogue are in LiteLLM's list, with limits and a price, and stay."""

import pytest

from app.core.catalog import KINDS
from app.providers.remote import RemoteModels
from tests.providers.conftest import Book

# The list has no current models of the others.
LISTED = ("openai", "anthropic", "gemini", "deepseek", "moonshot", "mistral", "xai", "groq")
PAID = [(row.kind, model) for row in KINDS if row.kind in LISTED for model in row.models]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("kind", "model"), PAID)
async def test_a_model_that_is_offered_first_is_listed_and_stays(
    book: Book, models: RemoteModels, kind: str, model: str
) -> None:
    book.add(f"paid-{kind}", kind)
    facts = await models.facts(f"paid-{kind}", model)
    assert facts.source == "list", "not in the list"
    assert facts.window and facts.prices is not None, "without a limit or a price"
    assert facts.retires_on == "", "about to be switched off"
    assert facts.tools
