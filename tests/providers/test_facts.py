"""What is known about models: the host's list, what was refused, and what was kept on disk."""

import pytest

from app.core.definitions import Effort
from app.core.provider import FactSource, KnownFacts, KnownModels, ModelFacts, TakesTemperature
from app.providers.fact_book import FactBook
from app.providers.model_host.facts import told_facts
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import Refusal, WireServer

THOUGHT = ("low", "medium", "high")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("kind", "model", "expected"),
    [
        ("openai", "gpt-4o", (128_000, 16_384, (), "none", "yes")),
        ("openai", "gpt-5-mini", (272_000, 128_000, THOUGHT, "medium", "no")),
        ("openai", "gpt-5.2", (272_000, 128_000, ("none", *THOUGHT, "max"), "none", "without_effort")),
        (
            "anthropic",
            "claude-opus-4-5",
            (200_000, 64_000, ("none", *THOUGHT, "max"), "none", "without_effort"),
        ),
        ("anthropic", "claude-opus-4-7", (1_000_000, 128_000, ("none", *THOUGHT, "max"), "none", "no")),
        ("anthropic", "claude-sonnet-5", (1_000_000, 128_000, ("none", *THOUGHT, "max"), "high", "no")),
        ("anthropic", "claude-opus-5-5", (1_000_000, 128_000, (*THOUGHT, "max"), "high", "no")),
        ("gemini", "gemini-2.5-flash", (1_048_576, 65_536, ("none", *THOUGHT), "medium", "yes")),
        ("gemini", "gemini-3.1-pro-preview", (1_048_576, 65_536, THOUGHT, "medium", "no")),
    ],
)
async def test_the_list_knows_limits_and_thought(
    book: Book, models: RemoteModels, kind: str, model: str, expected: tuple[object, ...]
) -> None:
    facts = await models.facts(kind, model)
    known = (facts.window, facts.most_output, facts.efforts, facts.default_effort, facts.temperature)
    assert known == expected
    assert facts.source == FactSource.LIST
    assert facts.prices is not None
    assert 0 < facts.prices.read < facts.prices.written
    assert models.known_facts(kind, model) == facts


@pytest.mark.asyncio(loop_scope="module")
async def test_a_model_of_no_list_has_the_usual_window(book: Book, models: RemoteModels) -> None:
    facts = await models.facts("openai", "gpt-nobody-knows")
    assert (facts.window, facts.source, facts.efforts) == (128_000, FactSource.DEFAULT, None)
    assert (await models.facts("ollama", "llama3.2")).window == 8_192


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("address", "model", "expected"),
    [
        ("https://models.example.com/v1", "Llama-3.3-70b-versatile", (131_072, FactSource.LIST)),
        ("https://models.example.com/v1", "maker/glm-4.6", (200_000, FactSource.LIST)),
        ("https://models.example.com/v1", "nobody-knows", (8_192, FactSource.DEFAULT)),
        ("http://127.0.0.1:9/v1", "glm-4.6", (200_000, FactSource.LIST)),
        ("http://127.0.0.1:9/v1", "nobody-knows", (8_192, FactSource.DEFAULT)),
    ],
)
@pytest.mark.parametrize("kind", ["openai-compatible", "vllm"])
async def test_the_window_of_a_model_whose_server_does_not_say_it_is_looked_up_by_its_name(
    book: Book, models: RemoteModels, kind: str, address: str, model: str, expected: tuple[int, str]
) -> None:
    provider = f"{kind}-{address}"
    book.add(provider, kind, address, "key", (model,))
    facts = await models.facts(provider, model)
    assert (facts.window, facts.source) == expected


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("kind", ["ollama", "lm-studio"])
async def test_a_server_that_runs_a_model_with_less_than_it_was_made_for_is_not_believed_to_run_it_with_more(
    book: Book, models: RemoteModels, kind: str
) -> None:
    book.add(kind, kind, "http://127.0.0.1:9/v1", "", ("glm-4.6",))
    facts = await models.facts(kind, "glm-4.6")
    assert (facts.window, facts.source) == (8_192, FactSource.DEFAULT)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("words", "window"),
    [
        (
            "This model's maximum context length is 16,384 tokens. However, your messages resulted in 20000",
            16_384,
        ),
        ("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("prompt is too long: 212000 tokens > 200000 maximum", 200_000),
        ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072),
        ("The prompt (total length 40000) is too long to fit into the model (context length 32768).", 32_768),
        ("prompt token count of 140000 exceeds the limit of 128001", 128_001),
        ("Request body too large for gpt-4o model. Max size: 8000 tokens.", 8_000),
    ],
)
async def test_a_window_is_learnt_from_a_refusal(
    book: Book, models: RemoteModels, words: str, window: int
) -> None:
    model = f"window-{window}"
    with WireServer("openai", models=(model,), provider_id=model) as server:
        book.add(model, "openai", server.address, server.key, server.models)
        server.script(model, [Refusal(400, words)])
        heard = await ask(models, request_to(server))
    assert heard.outcome == "context_window"
    facts = models.known_facts(model, model)
    assert (facts.window, facts.source) == (window, FactSource.ERROR)


async def test_what_is_kept_is_known_before_the_host_runs() -> None:
    book = Book()
    book.add("claude", "anthropic", key="k")
    book.add("built-in", "embedded")
    kept = ModelFacts(source=FactSource.LIST, window=200_000, efforts=(), at="2026-11-01T00:00:00Z")
    known = FactBook(KnownModels(facts=(KnownFacts(provider="claude", model="claude-x", facts=kept),)))
    models = RemoteModels(providers=book.config, key=book.key, book=known)
    assert (await models.facts("claude", "claude-x")).window == 200_000
    built_in = await models.facts("built-in", "smollm2-135m")
    assert (built_in.window, built_in.tools, built_in.images) == (8_192, False, False)
    assert (built_in.default_effort, built_in.temperature) == (Effort.NONE, TakesTemperature.YES)
    assert models.host_pid is None
    await models.close()


async def test_a_book_saves_what_is_new_and_only_that() -> None:
    saved: list[KnownModels] = []

    async def save(facts: KnownModels) -> None:
        saved.append(facts)

    book = FactBook(save=save)
    book.note("a", "m", ModelFacts(source=FactSource.LIST, window=1_000))
    book.note("a", "n", ModelFacts(source=FactSource.SERVER, window=2_000))
    await book.close()
    assert [one.facts.window for one in saved[-1].facts] == [1_000, 2_000]
    before = len(saved)
    book.note("a", "m", ModelFacts(source=FactSource.LIST, window=1_000))
    await book.close()
    assert len(saved) == before


@pytest.mark.asyncio(loop_scope="module")
async def test_what_a_server_tells_in_its_list_is_kept_and_believed(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["gemini"]
    assert models.known_facts("gemini", server.model).window == 128_000
    assert (await models.list_models("gemini")).models == server.models
    facts = models.known_facts("gemini", server.model)
    assert (facts.window, facts.most_output, facts.source) == (1_048_576, 65_536, FactSource.SERVER)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"id": "a"}, {}),
        ({"id": "a", "max_model_len": 32_768}, {"window": 32_768}),
        (
            {"id": "a", "max_input_tokens": 200_000, "max_tokens": 64_000},
            {"window": 200_000, "most_output": 64_000},
        ),
        ({"id": "a", "context_length": "many", "pricing": {"prompt": "free"}, "top_provider": 7}, {}),
        ({"id": "a", "context_window": -1, "architecture": []}, {}),
        (
            {
                "id": "maker/model",
                "context_length": 1_000_000,
                "top_provider": {"max_completion_tokens": 64_000},
                "supported_parameters": ["tools", "temperature"],
                "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
                "pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000002"},
            },
            {
                "window": 1_000_000,
                "most_output": 64_000,
                "tools": True,
                "images": True,
                "pdf": False,
                "picture_out": False,
                "prices": {"read": 2e-06, "written": 1e-05, "cached": 2e-07, "cache_write": None},
                "efforts": [],
                "default_effort": "none",
            },
        ),
    ],
)
def test_an_entry_of_a_list_is_read_by_the_names_that_servers_use(
    entry: dict[str, object], told: dict[str, object]
) -> None:
    assert told_facts(entry) == told


@pytest.mark.parametrize(("kind", "believed"), [("openai-compatible", 3_000), ("openai", 128_000)])
async def test_only_a_server_of_the_user_s_own_cuts_requests(kind: str, believed: int) -> None:
    book = Book()
    book.add("own", kind, "http://127.0.0.1:9/v1", "k")
    models = RemoteModels(providers=book.config, key=book.key)
    assert models.note_cut("own", "m", 3_000) == (kind == "openai-compatible")
    assert models.known_facts("own", "m").window == believed
    await models.close()


@pytest.mark.parametrize(("listed", "refused", "believed"), [(9_000, 4_000, 4_000), (3_000, 4_000, 3_000)])
def test_a_refusal_is_believed_rather_than_what_the_server_listed(
    listed: int, refused: int, believed: int
) -> None:
    book = FactBook()
    book.note("a", "m", ModelFacts(source=FactSource.LIST, window=90_000))
    book.note_window("a", "m", listed)
    book.note_refusal("a", "m", f"maximum context length is {refused} tokens")
    assert book.believed("a", "m", local=True).window == believed
