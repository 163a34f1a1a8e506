"""The built-in model really answers, in a process of its own that may die."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.errors import ProviderError
from app.core.provider import ModelRequest, Text
from app.providers.model_file import find_model
from app.providers.remote import RemoteModels
from tests.providers.asking import ask
from tests.providers.conftest import Book

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.embedded,
    # Its server is looked for below the host.
    pytest.mark.own_host,
    pytest.mark.timeout(300),
    pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not here"),
]

OPENER = "I support this motion because"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is no model; while it is not empty it is what is used."""
    return tmp_path_factory.mktemp("model") / "broken.gguf"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def models(broken: Path) -> AsyncIterator[RemoteModels]:
    book = Book()
    book.add(EMBEDDED, EMBEDDED)
    models = RemoteModels(
        providers=book.config, key=book.key, model_file=lambda: broken if broken.exists() else find_model()
    )
    await models.start()
    yield models
    await models.close()


def debate_turn(**changes: Any) -> ModelRequest:
    values: dict[str, Any] = {
        "messages": (
            {
                "role": "user",
                "content": "A debate. The motion: cities should ban private cars.\n\n"
                "Continue with the next statement by Ada, who argues for the motion.",
            },
        ),
        "max_tokens": 60,
        "temperature": 0.4,
        "stop": ("\n",),
        "opener": OPENER,
        "options": {"top_k": 40, "min_p": 0.05, "repeat_penalty": 1.15, "repeat_last_n": 256},
    }
    return ModelRequest(provider=EMBEDDED, model=EMBEDDED_MODEL, **(values | changes))


async def test_it_is_there(models: RemoteModels) -> None:
    assert models.embedded_problem() == ""


@pytest.mark.slow
async def test_a_file_that_is_no_model(models: RemoteModels, broken: Path) -> None:
    broken.write_bytes(b"GGUF" + bytes(1000))
    heard = await ask(models, debate_turn())
    broken.unlink()
    assert heard.error is not None
    assert (heard.outcome, heard.text) == ("host", "")
    assert "did not start" in heard.error.detail


async def test_it_answers_beginning_with_the_opener(models: RemoteModels) -> None:
    heard = await ask(models, debate_turn())
    assert heard.error is None and heard.finished is not None
    assert heard.outcome in ("stop", "length")
    assert heard.text.startswith(OPENER + " ")
    assert len(heard.text.removeprefix(OPENER).split()) >= 5
    assert "\n" not in heard.text
    assert 20 < heard.finished.usage.input_tokens < 200
    assert 5 <= heard.finished.usage.output_tokens <= 60
    assert heard.finished.usage.cost_usd == 0.0


TRIP = {
    "type": "object",
    "properties": {
        "tool": {"enum": ["web_search", "add_todo", "none"]},
        "title": {"type": "string", "maxLength": 40, "minLength": 1},
        "steps": {
            "type": "array",
            "items": {"type": "string", "maxLength": 30},
            "minItems": 1,
            "maxItems": 3,
        },
        "sure": {"type": "boolean"},
    },
    "required": ["tool", "title", "steps", "sure"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "wish", ["Plan a trip to the sea.", "Remind me to call Mum.", "바다로 가는 여행을 계획해 줘.", ""]
)
@pytest.mark.slow
async def test_with_a_schema_it_answers_with_an_object_that_fits(models: RemoteModels, wish: str) -> None:
    messages = ({"role": "user", "content": f"Fill in the form for this wish: {wish}"},)
    asked = debate_turn(messages=messages, schema=TRIP, opener="", stop=(), max_tokens=220)
    heard = await ask(models, asked)
    assert heard.error is None, heard.error
    assert heard.outcome == "stop"
    made = json.loads(heard.text)
    assert made.keys() == {"tool", "title", "steps", "sure"}
    assert made["tool"] in ("web_search", "add_todo", "none") and isinstance(made["sure"], bool)
    assert 1 <= len(made["title"]) <= 40 and 1 <= len(made["steps"]) <= 3
    assert all(isinstance(step, str) and len(step) <= 30 for step in made["steps"])


@pytest.mark.slow
async def test_an_object_cut_at_the_limit_says_so(models: RemoteModels) -> None:
    messages = ({"role": "user", "content": "Fill in the form for a trip to the sea."},)
    heard = await ask(models, debate_turn(messages=messages, schema=TRIP, opener="", stop=(), max_tokens=5))
    assert heard.outcome == "length"


@pytest.mark.slow
async def test_a_chat_with_calls_of_another_model_does_not_break_it(models: RemoteModels) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "web_search", "arguments": '{"q": "sea"}'}}
    messages = (
        {"role": "user", "content": "How deep is the sea?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "The sea is 11 km deep at most."},
    )
    heard = await ask(models, debate_turn(messages=messages, opener="", max_tokens=30))
    assert heard.outcome in ("stop", "length"), heard.error


@pytest.mark.slow
async def test_three_voices_at_once(models: RemoteModels) -> None:
    answers = await asyncio.gather(*(ask(models, debate_turn(max_tokens=20)) for _ in range(3)))
    assert [answer.outcome in ("stop", "length") for answer in answers] == [True] * 3


@pytest.mark.slow
async def test_a_prompt_that_is_too_long(models: RemoteModels) -> None:
    messages = ({"role": "user", "content": "many words and more " * 4_000},)
    heard = await ask(models, debate_turn(messages=messages))
    assert (heard.outcome, heard.text) == ("context_window", "")


@pytest.mark.slow
async def test_its_server_killed_in_the_middle_is_a_cut_connection_and_comes_back(
    models: RemoteModels,
) -> None:
    text = ""
    with pytest.raises(ProviderError) as raised:
        async with aclosing(models.stream(debate_turn(max_tokens=400, stop=()))) as deltas:
            async for delta in deltas:
                assert isinstance(delta, Text)
                text += delta.text
                if len(text) > len(OPENER) + 20:
                    for pid in _servers(models.host_pid):
                        os.kill(pid, signal.SIGKILL)
    assert raised.value.kind == "interrupted"
    assert text.startswith(OPENER)
    again = await ask(models, debate_turn())
    assert again.outcome in ("stop", "length")
    assert len(_servers(models.host_pid)) == 1


@pytest.mark.slow
async def test_the_test_button(models: RemoteModels) -> None:
    result = await models.test(EMBEDDED)
    assert (result.ok, result.models) == (True, (EMBEDDED_MODEL,))


async def test_without_the_file_it_is_not_installed() -> None:
    book = Book()
    book.add(EMBEDDED, EMBEDDED)
    models = RemoteModels(providers=book.config, key=book.key, model_file=lambda: None)
    assert models.embedded_problem() == "not_installed"
    assert (await ask(models, debate_turn())).outcome == "not_installed"
    assert models.host_pid is None


@pytest.mark.slow
async def test_closing_ends_its_server(models: RemoteModels) -> None:
    """The last test here: it closes what the others shared."""
    await ask(models, debate_turn(max_tokens=5))
    servers = _servers(models.host_pid)
    assert len(servers) == 1
    await models.close()
    assert not [pid for pid in servers if Path(f"/proc/{pid}").exists()]


def _servers(host: int | None) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{host}/task").glob("*/children"):
        found += [int(pid) for pid in path.read_text(encoding="ascii").split()]
    return found
