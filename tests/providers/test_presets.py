"""Providers that are rows of core/catalog.py: each is asked at once as its own documentation wants it."""

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core import catalog
from app.core.catalog import PRESETS
from app.providers.remote import RemoteModels
from tests.providers.asking import MESSAGES, ask, request_to
from tests.providers.conftest import Book
from tests.providers.tool_chats import SYSTEM, TOOLS, USER
from tests.wire import Answer, WireCall, WireServer
from tests.wire.presets import PROTOCOLS

KINDS = [row.kind for row in PRESETS]
NAMES = ("maker/model-1", "maker/model-2:free")
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
# As another provider would have named it.
CALL = {
    "id": "call_0123456789abcdef01234567",
    "type": "function",
    "function": {"name": "search", "arguments": '{"query": "news"}'},
}
AFTER_TOOLS = (
    SYSTEM,
    USER,
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": CALL["id"], "content": "Nothing."},
    {"role": "user", "content": "Then stop."},
)


@pytest.fixture
def served(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, book: Book
) -> Iterator[WireServer]:
    """A preset whose own address is that of a wire server."""
    kind = request.param
    with WireServer(kind, models=NAMES, provider_id=f"own-{kind}") as server:
        rows = tuple(
            replace(row, base_url=server.address) if row.kind == kind else row for row in catalog.KINDS
        )
        monkeypatch.setattr(catalog, "KINDS", rows)
        book.add(server.provider_id, kind, "", server.key, NAMES)
        yield server


def refusals(server: WireServer) -> list[str]:
    return [one.refused for one in server.requests if one.refused]


def test_every_preset_has_a_server_that_refuses_what_it_documents() -> None:
    assert {protocol.kind for protocol in PROTOCOLS} == set(KINDS)


@pytest.mark.parametrize("row", PRESETS, ids=KINDS)
def test_the_models_of_a_row_are_in_the_list_of_prices(row: catalog.ProviderKind) -> None:
    found = importlib.util.find_spec("litellm")
    assert found is not None and found.origin is not None
    file = Path(found.origin).parent / "model_prices_and_context_window_backup.json"
    listed = json.loads(file.read_text(encoding="utf-8"))
    unlisted = [model for model in row.models if row.listed(model) not in listed]
    # OpenRouter reports what each call costs.
    assert unlisted == [] or row.kind == "openrouter"
    assert row.local or row.key_page.startswith("https://")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("served", KINDS, indirect=True)
async def test_a_preset_refuses_nothing_that_it_is_asked(served: WireServer, models: RemoteModels) -> None:
    for name in NAMES:
        served.script(name, [Answer("Yes.", input_tokens=10, output_tokens=5)])
        heard = await ask(models, request_to(served, model=name, stop=("END",), schema=SCHEMA))
        assert heard.text == "Yes.", heard.error
        assert heard.finished is not None and not heard.finished.usage.estimated
        assert (heard.finished.usage.input_tokens, heard.finished.usage.output_tokens) == (10, 5)
        assert served.requests[-1].model == name
    assert refusals(served) == []


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("served", KINDS, indirect=True)
async def test_a_preset_takes_tools_and_a_chat_that_began_elsewhere(
    served: WireServer, models: RemoteModels
) -> None:
    served.script(served.model, [Answer("", calls=(WireCall("search", '{"query": "news"}'),))])
    heard = await ask(models, request_to(served, messages=MESSAGES, tools=TOOLS))
    assert [call.name for call in heard.calls] == ["search"], heard.error
    served.script(served.model, ["Stopped."])
    heard = await ask(models, request_to(served, messages=AFTER_TOOLS, tools=TOOLS))
    assert heard.text == "Stopped.", heard.error
    assert refusals(served) == []


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("served", KINDS, indirect=True)
async def test_a_preset_is_tried_and_lists_its_models(served: WireServer, models: RemoteModels) -> None:
    tested = await models.test(served.provider_id)
    assert tested.ok, tested
    assert tested.model == NAMES[0]
    listed: Any = () if served.kind == "azure" else NAMES
    assert tested.models == listed
    assert refusals(served) == []


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("kind", ["mistral", "cerebras", "moonshot"])
async def test_another_address_has_no_rules_of_the_presets(
    kind: str, book: Book, models: RemoteModels
) -> None:
    with WireServer("openai", models=("m",), provider_id=f"moved-{kind}") as server:
        book.add(server.provider_id, kind, server.address, server.key, server.models)
        heard = await ask(models, request_to(server, model="m"))
        assert heard.finished is not None, heard.error
        assert {"stream_options", "max_tokens", "temperature"} <= set(server.requests[0].body)
