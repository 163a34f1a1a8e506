"""What providers are told to keep of a request, on the wire: marks for Claude alone, and a key for OpenAI."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from app.core.provider import CachePlan, ModelFacts, ModelQuirks, ModelRequest
from app.providers.endpoints import ModelLimits
from app.providers.model_host.request import ModelCall, litellm_arguments, with_marks
from app.providers.remote import RemoteModels
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.wire import WireServer
from tests.wire.prompt_caches import PromptCache, blocks

CLAUDE = "claude-sonnet-4-5"
PLAN = CachePlan(key="k" * 32)
LONG = "You look things up before you answer. " * 150
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in ("look", "say")
)
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.fixture
async def claude(book: Book) -> AsyncIterator[WireServer]:
    with WireServer("anthropic", models=(CLAUDE,), provider_id="marked", cache=PromptCache()) as server:
        book.add("marked", "anthropic", server.address, server.key, server.models)
        yield server


def a_request(server: WireServer, *said: dict[str, Any], **fields: Any) -> ModelRequest:
    messages = ({"role": "system", "content": LONG}, *said)
    values: dict[str, Any] = {
        "messages": messages,
        "tools": TOOLS,
        "cache": PLAN,
        "temperature": None,
    } | fields
    return request_to(server, **values)


def marks_of(body: dict[str, Any]) -> list[tuple[int, str]]:
    """Return where the marks of a request are, as (block, life)."""
    found = [mark for _, mark in blocks(body)]
    return [(at, mark.get("ttl", "5m")) for at, mark in enumerate(found) if mark is not None]


def user(text: object) -> dict[str, Any]:
    return {"role": "user", "content": text}


def parts(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_growing_turn_reads_all_it_was_sent_from_the_cache(
    models: RemoteModels, claude: WireServer
) -> None:
    said: list[dict[str, Any]] = [user("Look it up. " * 50)]
    heard = []
    for number in range(4):
        heard.append(await ask(models, a_request(claude, *said)))
        call = CALL | {"id": f"call_{number}"}
        said += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "Found. " * 100},
        ]
    used = [one.finished.usage for one in heard if one.finished is not None]
    assert len(used) == len(heard)
    assert used[0].cached_tokens == 0 and used[0].cache_written_tokens > 1_400
    for before, after in zip(used, used[1:], strict=False):
        assert after.cached_tokens == before.cached_tokens + before.cache_written_tokens
        assert 0 < after.cache_written_tokens < 300
        assert after.input_tokens == after.cached_tokens + after.cache_written_tokens
    # The tools and the system text, and the newest message.
    assert [[at for at, _ in marks_of(one.body)] for one in claude.requests] == [
        [2, 3],
        [2, 5],
        [2, 7],
        [2, 9],
    ]
    assert not any(one.refused for one in claude.requests)


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_for_one_call_alone_stands_behind_the_last_mark(
    models: RemoteModels, claude: WireServer
) -> None:
    brief = "The topic and the files. " * 100
    plan = replace(PLAN, life="1h", brief=True, tail=True)
    await ask(models, a_request(claude, user(parts(brief, "[Ben]: No.", "It is your turn.")), cache=plan))
    again = [user(parts(brief, "[Ben]: No.")), {"role": "assistant", "content": "Yes."}]
    said = [*again, user(parts("[Ben]: Why?", "It is your last turn."))]
    heard = await ask(models, a_request(claude, *said, cache=plan))
    assert [marks_of(one.body) for one in claude.requests] == [
        [(2, "1h"), (3, "1h"), (4, "1h")],
        [(2, "1h"), (3, "1h"), (6, "1h")],
    ]
    assert heard.finished is not None
    assert heard.finished.usage.cached_tokens > 1_400 and 0 < heard.finished.usage.cache_written_tokens < 40
    price = await models.price("marked", CLAUDE)
    assert price is not None and price.cache_hour == pytest.approx(2 * price.read)
    used = heard.finished.usage
    rest = used.input_tokens - used.cached_tokens - used.cache_written_tokens
    listed = rest * price.read + used.cached_tokens * (price.cached or 0)
    listed += used.cache_written_tokens * price.cache_hour + used.output_tokens * price.written
    assert used.cost_usd == pytest.approx(listed)
    saved = price.saved(used.cached_tokens, used.cache_written_tokens, for_hour=True)
    plain = used.input_tokens * price.read + used.output_tokens * price.written
    assert plain - listed == pytest.approx(saved)
    # Where nothing but the brief comes again, the rest is not written.
    await ask(models, a_request(claude, *said, cache=replace(plan, grows=False)))
    assert [at for at, _ in marks_of(claude.requests[-1].body)] == [2, 3]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_step_of_many_calls_is_found_behind_a_mark_half_way(
    models: RemoteModels, claude: WireServer
) -> None:
    before = [user("Look it up. " * 50)]
    first = await ask(models, a_request(claude, *before))
    calls = [CALL | {"id": f"call_{number}"} for number in range(12)]
    results = [{"role": "tool", "tool_call_id": one["id"], "content": "Found."} for one in calls]
    after = [*before, {"role": "assistant", "content": "", "tool_calls": calls}, *results]
    heard = await ask(models, a_request(claude, *after))
    assert len(marks_of(claude.requests[-1].body)) == 3
    assert heard.finished is not None and first.finished is not None
    assert heard.finished.usage.cached_tokens == first.finished.usage.cache_written_tokens
    assert not any(one.refused for one in claude.requests)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("cache", [None, replace(PLAN, life="")])
async def test_a_call_that_is_asked_once_is_not_kept(
    models: RemoteModels, claude: WireServer, cache: CachePlan | None
) -> None:
    heard = await ask(models, a_request(claude, user("Yes or no?"), cache=cache))
    assert marks_of(claude.requests[-1].body) == []
    assert heard.finished is not None and heard.finished.usage.cache_written_tokens == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_openai_gets_a_key_and_others_nothing(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    for kind, server in servers.items():
        said = (user(parts("The brief.", "It is your turn.")),)
        request = request_to(server, messages=({"role": "system", "content": LONG}, *said), cache=PLAN)
        heard = await ask(models, request)
        assert heard.error is None
        body = server.requests[-1].body
        assert body.get("prompt_cache_key") == (PLAN.key if kind == "openai" else None)
        assert ("cache_control" in str(body)) == (kind == "anthropic")
        if kind in ("openai", "ollama"):
            assert body["messages"][1]["content"] == "The brief.\n\nIt is your turn."


def a_call(kind: str, base_url: str, model: str, **fields: Any) -> ModelCall:
    messages = [{"role": "system", "content": LONG}, user(parts("Told again. " * 20, "For now."))]
    values: dict[str, Any] = {"facts": ModelFacts(), "cache": replace(PLAN, tail=True)} | fields
    limits = ModelLimits()
    return ModelCall(
        id="1",
        kind=kind,
        base_url=base_url,
        key="",
        model=model,
        messages=messages,
        limits=limits,
        **values,
    )


def sent(call: ModelCall) -> list[Any]:
    arguments = with_marks(call, litellm_arguments(call, ModelQuirks()), ModelQuirks())
    return [message["content"] for message in arguments["messages"]]


def test_a_claude_behind_open_router_is_marked_and_nothing_else_there() -> None:
    address = "https://openrouter.ai/api/v1"
    system, said = sent(a_call("openrouter", address, "anthropic/claude-sonnet-4.5"))
    assert system[0]["cache_control"] == said[0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in said[1]
    for model in ("google/gemini-2.5-pro", "openai/gpt-5.2"):
        assert "cache" not in str(sent(a_call("openrouter", address, model)))


def test_models_that_keep_up_to_breakpoints_get_them_from_openai_alone() -> None:
    system, said = sent(a_call("openai", "https://api.openai.com/v1", "gpt-5.6"))
    assert system[0]["prompt_cache_breakpoint"] == said[0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    assert "prompt_cache_breakpoint" not in said[1]
    for address, model in (("https://api.openai.com/v1", "gpt-5.2"), ("http://127.0.0.1:1/v1", "gpt-5.6")):
        assert "breakpoint" not in str(sent(a_call("openai", address, model)))


def test_nothing_shorter_than_the_model_keeps_is_marked() -> None:
    call = a_call("anthropic", "https://api.anthropic.com", CLAUDE, facts=ModelFacts(cache_min=4_096))
    arguments = with_marks(call, litellm_arguments(call, ModelQuirks()), ModelQuirks())
    assert "cache_control" not in str(arguments)


def test_the_brief_is_marked_behind_the_files_that_come_before_it() -> None:
    call = a_call(
        "anthropic", "https://api.anthropic.com", CLAUDE, cache=replace(PLAN, brief=True, grows=False)
    )
    file = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    call = replace(call, messages=[call.messages[0], user([file, *parts("The brief. " * 20, "For now.")])])
    _, (seen, brief, cue) = sent(call)
    assert "cache_control" in brief and "cache_control" not in seen and "cache_control" not in cue
