"""The lists of models that were fetched: they outlive a restart, and a damaged file is only fetched again."""

from app.core.catalog import ModelList
from app.core.provider import (
    CacheKind,
    FactSource,
    KnownFacts,
    KnownModels,
    KnownQuirks,
    ModelFacts,
    ModelQuirks,
    Price,
)
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths

LISTS = (
    ModelList(provider="openai", fetched_at="2026-11-22T05:00:00Z", models=("gpt-5.2", "o3")),
    ModelList(provider="router", fetched_at="2026-11-22T05:00:01Z", models=("한국어/모델",)),
)

FACTS = (
    KnownFacts(
        provider="anthropic",
        model="claude-sonnet-5",
        facts=ModelFacts(
            window=1_000_000,
            most_output=128_000,
            images=True,
            pdf=False,
            efforts=("low", "high"),
            cache=CacheKind.MARKS,
            prices=Price(read=2e-06, written=1e-05, cached=2e-07),
            source=FactSource.LIST,
            at="2026-11-22T05:00:00Z",
        ),
    ),
    KnownFacts(provider="ollama", model="llama3.2", facts=ModelFacts(efforts=(), source=FactSource.SERVER)),
)

QUIRKS = (
    KnownQuirks(
        base_url="http://127.0.0.1:1/v1",
        model="kimi",
        at="2026-11-22T05:00:00Z",
        quirks=ModelQuirks(without=("temperature",), wants_thought=True, most_output=8_192),
    ),
)
KNOWN = KnownModels(facts=FACTS, quirks=QUIRKS)


async def opened(data_dir) -> JsonDocuments:
    documents = JsonDocuments(DataPaths(data_dir))
    await documents.load()
    return documents


async def test_lists_are_there_after_a_restart(data_dir):
    data_dir.mkdir()
    documents = await opened(data_dir)
    assert documents.model_lists() == ()
    await documents.change_model_lists(lambda _: LISTS)
    assert documents.model_lists() == LISTS
    assert (await opened(data_dir)).model_lists() == LISTS


async def test_what_cannot_be_read_is_left_out_and_written_over(data_dir):
    data_dir.mkdir()
    file = data_dir / "models.json"
    for damaged in ("", "[]", "{", '{"lists": 7}', '{"lists": [7, {"provider": 1}, {}]}'):
        file.write_text(damaged, encoding="utf-8")
        documents = await opened(data_dir)
        assert documents.model_lists() == ()
        assert documents.problems() == (), "a cache is nobody's problem"
        await documents.change_model_lists(lambda _: LISTS)
        assert (await opened(data_dir)).model_lists() == LISTS


async def test_lists_and_facts_are_kept_beside_each_other(data_dir):
    data_dir.mkdir()
    documents = await opened(data_dir)
    await documents.save_known_models(KNOWN)
    await documents.change_model_lists(lambda _: LISTS)
    documents = await opened(data_dir)
    assert documents.known_models() == KNOWN
    assert documents.model_lists() == LISTS
    (data_dir / "models.json").write_text('{"facts": [{"provider": "a", "model": 1}, 7]}', encoding="utf-8")
    assert (await opened(data_dir)).known_models() == KnownModels()
