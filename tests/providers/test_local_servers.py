"""Servers of models on this computer: found by what they answer, and never taken for another."""

import asyncio
import time
from contextlib import ExitStack
from dataclasses import replace

import pytest

from app.core.catalog import LOCAL_SERVERS
from app.core.provider import FoundServer
from app.providers.local_models import clean_names, find_servers
from tests.wire.local_servers import ANSWERS, LocalFake

MODELS = ("llama3.2:3b", "qwen3:8b", "gemma3:4b")


async def test_all_five_are_found_at_once_each_under_its_name():
    with ExitStack() as stack:
        fakes = [stack.enter_context(LocalFake(name, MODELS)) for name in ANSWERS]
        found = await find_servers([fake.row for fake in fakes], 2.0)
    kinds = {"Ollama": "ollama", "LM Studio": "lm-studio", "vLLM": "vllm"}
    assert found == tuple(
        FoundServer(name=name, kind=kinds.get(name, "openai-compatible"), address=fake.address, models=MODELS)
        for name, fake in zip(ANSWERS, fakes, strict=True)
    )


@pytest.mark.parametrize("place", [row.name for row in LOCAL_SERVERS])
async def test_a_web_page_at_such_a_port_is_no_server(place):
    with LocalFake("website", at=place) as fake:
        assert await find_servers([fake.row], 2.0) == ()


@pytest.mark.parametrize("place", [row.name for row in LOCAL_SERVERS])
async def test_a_server_that_says_nothing_of_itself_has_no_name(place):
    with LocalFake("unnamed", MODELS, at=place) as fake:
        (found,) = await find_servers([fake.row], 2.0)
    assert (found.name, found.kind, found.models) == ("", "openai-compatible", MODELS)


@pytest.mark.parametrize(("name", "place"), [("vLLM", "llama.cpp"), ("llama.cpp", "vLLM"), ("vLLM", "Jan")])
async def test_a_server_at_the_place_of_another_keeps_its_own_name(name, place):
    with LocalFake(name, MODELS, at=place) as fake:
        rows = [row for row in LOCAL_SERVERS if row.name != place]
        found = await find_servers(
            [fake.row, *(replace(row, address="http://127.0.0.1:9") for row in rows)], 2
        )
    assert [one.name for one in found] == [name]


async def test_one_that_wants_a_key_is_offered_without_models():
    with LocalFake("Jan", MODELS, key="secret-key-123") as fake:
        (found,) = await find_servers([fake.row], 2.0)
    assert found.needs_key
    assert (found.name, found.models) == ("Jan", ())


async def test_models_that_are_not_for_chat_are_no_models():
    with LocalFake("LM Studio", ()) as fake:
        assert await find_servers([fake.row], 2.0) == ()


async def test_nothing_but_a_get_is_sent(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with LocalFake("LM Studio", MODELS) as fake:
        assert await find_servers([fake.row], 2.0)
    assert sorted(fake.asked) == ["/lmstudio-greeting", "/v1/models"]
    assert all(set(headers) == {"host", "accept"} for headers in fake.headers)


async def test_only_this_computer_is_asked():
    row = replace(LOCAL_SERVERS[0], address="http://192.0.2.1:11434/v1")
    began = time.monotonic()
    assert await find_servers([row], 5.0) == ()
    assert time.monotonic() - began < 0.5


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000,
        b"HTTP/1.1 200 OK\r\n\r\n" + b'{"object":"list","data":' * 50_000,
        b'HTTP/1.1 200 OK\r\n\r\n{"object":"list","data":[1,null,{"id":7},{"id":"\\u0007"},{}]}',
        b'HTTP/1.1 200 OK\r\n\r\n{"object":"list","data":"vllm"}',
        b'HTTP/1.1 200 OK\r\n\r\n\xff\xfe{"owned_by":"vllm"}',
        b"x" * 3_000_000,
    ],
)
async def test_what_is_no_answer_is_no_server(answer):
    async def serve(reader, writer):
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        rows = [replace(row, address=address) for row in LOCAL_SERVERS]
        assert await find_servers(rows, 2.0) == ()


async def test_one_that_never_ends_costs_the_limit_only():
    async def drip(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await asyncio.sleep(0.01)

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        began = time.monotonic()
        assert await find_servers([replace(LOCAL_SERVERS[0], address=address)], 0.3) == ()
        assert time.monotonic() - began < 2
        await asyncio.sleep(0.1)


def test_names_are_plain_short_and_not_endless():
    names = ["ok", "ok", 7, None, "a\nb", "x" * 201, "", " spaced ", *(f"m{n}" for n in range(30_000))]
    clean = clean_names(names)
    assert clean[:3] == ("ok", "spaced", "m0")
    assert len(clean) == 20_000
