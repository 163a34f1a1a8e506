"""The servers of models on this computer: one process for each, as many as the memory takes."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from app.core.errors import FailureKind, ProviderError
from app.core.provider import ModelFacts
from app.providers.embedded_server import ServerSpec
from app.providers.endpoints import LOCAL
from app.providers.local_models import GgufError, read_header
from app.providers.model_file import find_model
from app.providers.model_host.host import LlamaServers
from app.providers.model_host.request import ModelCall
from app.storage.paths import resources_dir
from tests.repeats import repeats

pytestmark = pytest.mark.skipif(find_model() is None, reason="the built-in model is not there")
_NEED = 300
_FILE = str(find_model())
TEXTS = json.loads((resources_dir() / "i18n" / "en.json").read_text(encoding="utf-8"))


@pytest.fixture
async def servers() -> AsyncIterator[LlamaServers]:
    """Servers with memory for one model: what runs takes part of it."""
    made: LlamaServers

    def budget() -> int:
        return 400 - _NEED * len(made._servers)

    made = LlamaServers(budget)
    yield made
    await made.close()


def call(model: str, memory: int = _NEED) -> ModelCall:
    spec = ServerSpec(model=model, file=_FILE, n_ctx=2048, slots=2, memory=memory)
    return ModelCall(
        id="1", kind="local", base_url="", key="", model=model, messages=[], limits=LOCAL,
        facts=ModelFacts(), server=spec,
    )  # fmt: skip


async def answering(served: ModelCall) -> str:
    """Return the name of the model that answers at an address."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(
            f"{served.base_url}/models", headers={"authorization": f"Bearer {served.key}"}
        )
    return json.loads(answer.text)["data"][0]["id"]


@pytest.mark.timeout(120)
async def test_two_names_of_a_file_are_two_processes_and_one_makes_room_for_the_other(
    servers: LlamaServers,
) -> None:
    async with servers.serving(call("first")) as first:
        assert await answering(first) == "first"
        assert servers.facts("first") == {"window": 2048, "tools": False}
        other = asyncio.create_task(_name(servers, "second"))
        # The first answers still, so its memory is not free.
        for _ in range(20):
            await asyncio.sleep(0)
        assert not other.done() and list(servers._servers) == ["first"]
    assert await other == "second"
    assert list(servers._servers) == ["second"]
    with pytest.raises(httpx.ConnectError):
        await answering(first)


async def _name(servers: LlamaServers, model: str) -> str:
    async with servers.serving(call(model)) as served:
        return await answering(served)


async def test_a_model_that_never_fits_is_refused_with_the_numbers(servers: LlamaServers) -> None:
    with pytest.raises(ProviderError) as raised:
        await servers.start(call("huge", memory=9_000_000_000).server)
    assert raised.value.kind == FailureKind.NO_MEMORY
    assert "9.0 GB" in raised.value.detail


async def test_one_that_is_allowed_is_loaded_whatever_is_free_and_can_be_ended(servers: LlamaServers) -> None:
    huge = call("huge", memory=9_000_000_000).server
    assert huge is not None
    await servers.start(replace(huge, anyway=True))
    [process] = [one._process for one in servers._servers.values()]
    assert process is not None and process.returncode is None
    await servers.unload("another")
    await servers.unload("huge")
    assert (process.returncode, servers._servers) == (0, {})


async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    servers = LlamaServers(lambda: 1 << 40)
    with pytest.raises(ProviderError) as raised:
        await servers.start(ServerSpec(model="x", file=str(file), n_ctx=512, slots=1, memory=1, trial=True))
    assert raised.value.kind == FailureKind.HOST
    await servers.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_second_turn_reads_only_what_is_new(servers: LlamaServers) -> None:
    brief = "The council weighs whether the town should build a tram line along the river. " * 40
    said = ["Trams carry more people than buses do.", "Buses are cheaper and can go another way."]

    async def turn(served: ModelCall, voice: str, *others: str) -> tuple[int, int]:
        """Return how many tokens the server read again, and how many there are."""
        messages = [{"role": "system", "content": f"You are {voice}. {brief}"}]
        messages += [
            {"role": "user" if number % 2 else "assistant", "content": text}
            for number, text in enumerate(others)
        ]
        messages.append({"role": "user", "content": "Go on."})
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            answer = await client.post(
                f"{served.base_url}/chat/completions",
                headers={"authorization": f"Bearer {served.key}"},
                json={"messages": messages, "max_tokens": 4, "model": "first"},
            )
        answered = answer.json()
        return answered["timings"]["prompt_n"], answered["usage"]["prompt_tokens"]

    async with servers.serving(call("first")) as served:
        await turn(served, "Ada")
        await turn(served, "Ben")
        for voice in ("Ada", "Ben"):
            read, whole = await turn(served, voice, *said)
            assert whole > 600
            assert read <= 60, (voice, read)


@pytest.mark.parametrize(
    "template",
    [
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in (
                "{% for i in range(1000000000) %}{% endfor %}",
                "{% for i in range(99999) %}{% for j in range(99999) %}{{ j }}{% endfor %}{% endfor %}",
                "{{ ''.__class__.__mro__[1].__subclasses__() }}",
                "{{ messages[99999999] }}{{ nothing.at.all }}",
                "{% if %}",
                "{{ 'x' * 4000000000 }}",
                "{% set ns = namespace(t='x') %}{% for i in range(40) %}{% set ns.t = ns.t + ns.t %}{% endfor %}",
            )
        ),
    ],
)
@pytest.mark.timeout(200)
async def test_a_hostile_template_ends_its_own_process_alone(
    servers: LlamaServers, tmp_path: Path, template: str
) -> None:
    file = tmp_path / "hostile.gguf"
    content = Path(_FILE).read_bytes()
    begin = content.index(b"tokenizer.chat_template") + len(b"tokenizer.chat_template") + 4
    length = int.from_bytes(content[begin : begin + 8], "little")
    text = template.encode().ljust(length)
    assert len(text) == length
    file.write_bytes(content[: begin + 8] + text + content[begin + 8 + length :])
    spec = ServerSpec(model="hostile", file=str(file), n_ctx=512, slots=1, memory=_NEED, trial=True)
    refused = []
    try:
        await servers.start(spec)
    except ProviderError as error:
        refused.append((error.kind, error.detail.partition(" (")[0]))
    assert set(refused) <= {(FailureKind.HOST, "hostile did not start")}
    # Whatever became of it, another model runs.
    await servers.start(call("first").server)
    assert "first" in servers._servers


def test_mutated_headers_are_read_or_refused_in_words(tmp_path: Path) -> None:
    content = Path(_FILE).read_bytes()
    header = content[:400_000]
    rng = random.Random(3)
    problems = Counter()
    for number in range(repeats(20)):
        data = bytearray(header)
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(0, 24 if number % 2 else 2_000)
            data[place : place + rng.randrange(1, 9)] = rng.randbytes(rng.randrange(0, 9))
        file = tmp_path / "mutated.gguf"
        file.write_bytes(bytes(data[: rng.randrange(4, len(data))]) if number % 5 == 0 else bytes(data))
        try:
            read_header(file)
        except GgufError as error:
            problems[error.problem] += 1
    assert problems
    assert [problem for problem in problems if f"error.gguf_{problem}" not in TEXTS] == []
