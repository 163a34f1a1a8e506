"""`moot models`: what is on this computer, fetched with progress and removed, and a window that takes notice."""

import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.children import processes
from app.cli.arguments import Arguments, parse_arguments
from app.cli.commands.sessions import run_command
from app.cli.control import hand_over
from app.cli.printing.lines import load_texts
from app.core.catalog import LOCAL
from app.core.errors import BadInput, FailureKind, NotFound, ProviderError
from app.core.provider import Finished, LocalModel, ModelRequest
from app.providers import model_file
from app.providers.model_file import find_model
from app.storage.paths import DataPaths, resources_dir
from app.wiring import Moot, open_moot
from tests.app_driver import at_window, until
from tests.asked import Answers, run
from tests.providers.test_model_file import downloader, small
from tests.wire.hub import catalogue_entry, hub

__all__ = ["small"]

ID = "smollm2-135m"
GET_IT = Arguments(command="models", values={"action": "get", "name": ID})
REMOVE_IT = Arguments(command="models", values={"action": "remove", "name": ID})


@pytest.fixture
async def moot(data_dir: Path, small: bytes) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    yield moot
    await moot.close()


async def listed(moot: Moot) -> dict[str, object]:
    _, out = await run(moot, Arguments(command="models", json=True))
    return json.loads(out.out)[0]


async def test_a_model_is_fetched_and_removed(
    moot: Moot, small: bytes, tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloader(tmp_path, monkeypatch, small, seconds=0.6)
    file = data_dir / "models" / model_file.FILE_NAME
    assert (await listed(moot))["state"] == "missing"
    status, out = await run(moot, GET_IT, "n")
    assert (status, out.questions[0][0]) == (4, "Download smollm2-135m (98 MB)? [y/N] ")
    assert not file.exists()

    status, out = await run(moot, GET_IT, "y")
    assert (status, out.out.splitlines()[-1]) == (0, f"Installed smollm2-135m: {file}")
    row = await listed(moot)
    assert (row["id"], row["state"], row["size"], row["path"]) == (ID, "installed", len(small), str(file))
    assert (await run(moot, GET_IT))[0] == 0  # and nobody is asked

    with pytest.raises(BadInput, match="needs_yes"):
        await run(moot, REMOVE_IT, None)
    status, out = await run(
        moot, Arguments(command="models", json=True, values={"action": "remove", "name": ID, "yes": True})
    )
    assert (status, json.loads(out.out)["state"], file.exists()) == (0, "missing", False)
    with pytest.raises(BadInput, match="model_not_here"):
        await run(moot, REMOVE_IT)


async def test_how_far_it_is_is_said(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    going = asyncio.Event()

    async def fetch(progress) -> None:
        for done in (0, 5, 10, 11, 50, 100):
            progress(done * 1_000_000, 100_000_000)
        await going.wait()

    monkeypatch.setattr(moot.models, "fetch_embedded", fetch)
    out = Answers()
    get = Arguments(command="models", values={"action": "get", "name": ID, "yes": True})
    getting = asyncio.create_task(run_command(moot, get, out, asyncio.Event()))
    await until(lambda: "100%" in out.out, 5)
    going.set()
    await getting
    assert out.out.splitlines()[:3] == ["10% of 100 MB", "50% of 100 MB", "100% of 100 MB"]


async def test_what_cannot_be_had_is_a_fault_with_its_reason(
    moot: Moot, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [sys.executable, "-c", "import sys; print('ERROR: no such host', file=sys.stderr); sys.exit(1)"]
    monkeypatch.setattr(processes, "installers", lambda *_: iter([failing]))
    status, out = await run(moot, GET_IT, "y")
    assert status == 1
    [line] = out.err
    assert line.startswith("The model could not be downloaded: no such host.") and "try again" in line
    assert list((data_dir / "models").iterdir()) == []


async def test_ctrl_c_ends_the_download(
    moot: Moot, small: bytes, tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloader(tmp_path, monkeypatch, small, seconds=60)
    out, interrupted = Answers("y"), asyncio.Event()
    getting = asyncio.create_task(run_command(moot, GET_IT, out, interrupted))
    await until(lambda: any(data_dir.rglob("said.txt")), 20)
    interrupted.set()
    assert await asyncio.wait_for(getting, 10) == 4
    assert list((data_dir / "models").iterdir()) == []


async def test_a_file_that_moot_did_not_fetch_is_left_alone(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"x")
    monkeypatch.setenv("MOOT_MODEL", str(own))
    with pytest.raises(BadInput, match="model_not_ours"):
        await run(moot, REMOVE_IT, "y")
    assert own.exists()
    monkeypatch.setenv("MOOT_MODEL", str(tmp_path / "gone.gguf"))
    with pytest.raises(BadInput, match="model_named"):
        await run(moot, GET_IT, "y")


async def test_a_model_that_nobody_knows_is_named(moot: Moot) -> None:
    with pytest.raises(NotFound, match="model_not_found"):
        await run(moot, Arguments(command="models", values={"action": "get", "name": "gpt-9"}))


@pytest.mark.slow
async def test_a_model_of_the_catalogue_is_downloaded_offered_checked_and_removed(
    data_dir: Path, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 4_000
    with hub(content) as served:
        entry = catalogue_entry("tiny", served, memory=1, computer_gb=0)
        catalogue = tmp_path / "catalogue.json"
        catalogue.write_text(json.dumps([entry, entry | {"id": "huge", "computer_gb": 9_000}]))
        moot = await open_moot(data_dir, catalogue=catalogue)
        engine = moot.engine
        await engine.change_settings(lambda settings: replace(settings, model_source=f"{served.address}/ok"))
        get = Arguments(command="models", values={"action": "get", "name": "tiny", "yes": True})
        status, out = await run(moot, get)
        assert (status, out.out.splitlines()[-1].startswith("Installed tiny: ")) == (0, True)
        [local] = [one for one in engine.providers() if one.config.kind == LOCAL]
        assert (local.models, local.ready, moot.models.is_free(LOCAL)) == (("tiny",), True, True)
        check = Arguments(command="models", values={"action": "check", "name": "tiny"})
        assert (await run(moot, check))[0] == 0

        file = data_dir / "models" / "tiny" / "t.gguf"
        file.write_bytes(content[:-1] + b"x")
        with pytest.raises(BadInput, match="model_damaged"):
            await run(moot, check)
        with pytest.raises(BadInput, match="model_too_large"):
            await run(moot, replace(get, values={**get.values, "name": "huge"}))

        status, out = await run(moot, replace(get, values={**get.values, "action": "remove"}, json=True))
        assert (status, json.loads(out.out)["state"], file.exists()) == (0, "missing", False)
        assert not [one for one in engine.providers() if one.config.kind == LOCAL]

        await engine.change_settings(
            lambda settings: replace(settings, model_source=f"{served.address}/missing")
        )
        status, out = await run(moot, replace(get, json=True))
        assert (status, json.loads(out.out)["code"]) == (1, "model_fetch_missing")
        assert "Tiny" in out.err[0]

        await engine.change_settings(
            lambda settings: replace(settings, model_source=f"{served.address}/slow")
        )
        interrupted = asyncio.Event()
        getting = asyncio.create_task(run_command(moot, get, Answers(), interrupted))
        await until(lambda: any((data_dir / "models" / "tiny").glob("*.part")), 20)
        interrupted.set()
        assert await asyncio.wait_for(getting, 10) == 4
        await moot.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_file_of_the_users_own_answers_before_it_is_listed(data_dir: Path, tmp_path: Path) -> None:
    moot = await open_moot(data_dir)
    own = await asyncio.to_thread(find_model)
    assert own is not None
    add = Arguments(command="models", values={"action": "add", "name": str(own)})
    status, _ = await run(moot, add)
    [local] = [one for one in moot.engine.providers() if one.config.kind == LOCAL]
    [name] = local.models
    assert status == 0
    # It has told what it can do: the small model chooses no tools, so Moot offers them one at a time.
    assert moot.models.known_facts(LOCAL, name).tools is False
    request = ModelRequest(
        provider=LOCAL, model=name, messages=({"role": "user", "content": "Say yes."},), max_tokens=8
    )
    pieces = [piece async for piece in moot.models.stream(request)]
    assert isinstance(pieces[-1], Finished) and any(getattr(piece, "text", "") for piece in pieces)

    status, _ = await run(moot, replace(add, values={"action": "check", "name": name}))
    _, out = await run(moot, replace(add, values={"action": "list"}))
    assert status == 0 and "answers alike in both orders · does not vote or judge" in out.out
    _, out = await run(moot, replace(add, values={"action": "list"}, json=True))
    own_record = next(one for one in json.loads(out.out) if one["id"] == name)
    assert own_record["votes"] is False and 0 <= own_record["stable"] < 6
    # A better one that takes broken premises for true votes.
    moot.models.note_stable(LOCAL, name, 8, "r" * 16 + "w" * 3 + "r" * 5)
    _, out = await run(moot, replace(add, values={"action": "list"}))
    found = "8 of 8 answers alike in both orders · breaks no ties: missed 3 of 8 false premises"
    assert found in out.out
    _, out = await run(moot, replace(add, values={"action": "list"}, json=True))
    own_record = next(one for one in json.loads(out.out) if one["id"] == name)
    assert (own_record["votes"], own_record["stable"]) == (True, 8)

    for content, code in ((b"no model", "not_gguf"), (own.read_bytes()[:5_000], "damaged")):
        bad = tmp_path / "bad.gguf"
        bad.write_bytes(content)
        with pytest.raises(BadInput, match=f"gguf_{code}"):
            await run(moot, replace(add, values={**add.values, "name": str(bad)}))
    await run(moot, Arguments(command="models", values={"action": "remove", "name": name, "yes": True}))
    assert own.exists()
    await moot.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_model_that_writes_is_ended_before_its_file_is_deleted(
    data_dir: Path, tmp_path: Path
) -> None:
    content = (await asyncio.to_thread(find_model)).read_bytes()
    catalogue = tmp_path / "catalogue.json"
    with hub(content) as served:
        catalogue.write_text(json.dumps([catalogue_entry("tiny", served, memory=10**15)]))
        moot = await open_moot(data_dir, catalogue=catalogue)
        await moot.engine.change_settings(
            lambda settings: replace(settings, model_source=f"{served.address}/ok")
        )
        get = Arguments(command="models", values={"action": "get", "name": "tiny", "yes": True})
        assert (await run(moot, get))[0] == 0
    request = ModelRequest(
        provider=LOCAL, model="tiny", messages=({"role": "user", "content": "Tell a story."},)
    )
    # It needs more memory than there is, until that is allowed.
    with pytest.raises(ProviderError) as refused:
        await anext(moot.models.stream(request))
    assert (refused.value.kind, "1000000.0 GB" in refused.value.detail) == (FailureKind.NO_MEMORY, True)
    allow = replace(get, values={"action": "allow", "name": "tiny"})
    _, out = await run(moot, replace(get, values={"action": "list"}))
    assert "needs 1000000 GB of memory" in out.out
    assert (await run(moot, allow, "n"))[0] == 4
    assert (await run(moot, allow, "y"))[0] == 0

    answer = moot.models.stream(request)
    await anext(answer)
    servers = [one for one in psutil.Process().children(recursive=True) if "tiny" in " ".join(one.cmdline())]
    assert len(servers) == 1
    await moot.engine.local_models.remove("tiny")
    assert not servers[0].is_running() and not (data_dir / "models" / "tiny").exists()
    with pytest.raises(ProviderError):
        async for _ in answer:
            pass
    await moot.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_mutated_files_are_listed_or_refused_in_words_and_nothing_else_ends(
    data_dir: Path, tmp_path: Path
) -> None:
    """61 files, each damaged somewhere else: a byte of the header, its end, or what it says of the model."""
    whole = await asyncio.to_thread(Path(str(find_model())).read_bytes)
    file = tmp_path / "mutated.gguf"
    await asyncio.to_thread(file.write_bytes, whole)
    texts = json.loads(await asyncio.to_thread((resources_dir() / "i18n" / "en.json").read_text, "utf-8"))
    rng = random.Random(11)
    moot = await open_moot(data_dir)
    ends: Counter[str] = Counter()

    def patch(place: int, data: bytes) -> None:
        with file.open("r+b") as opened:
            opened.seek(place)
            opened.write(data)

    for number in range(61):
        place = rng.randrange(4, (24, 2_000, 1_800_000)[number % 3])
        bad = rng.randbytes(rng.choice((1, 1, 2, 8)))
        await asyncio.to_thread(patch, place, bad)
        try:
            model = await moot.engine.local_models.add(file)
            await moot.engine.local_models.remove(model.id)
            ends["listed"] += 1
        except BadInput as error:
            ends[error.code] += 1
        await asyncio.to_thread(patch, place, whole[place : place + len(bad)])
    assert sum(ends.values()) == 61 and len(ends) > 1
    assert {f"error.{code}" for code in ends if code != "listed"} <= texts.keys()
    # It is none of those, and it answers.
    assert (await moot.engine.local_models.add(file)).path == str(file)
    await moot.close()


def test_the_catalogue_names_what_it_offers_exactly() -> None:
    entries = json.loads((resources_dir() / "models" / "catalogue.json").read_text(encoding="utf-8"))
    closed = ("google/", "meta-llama/", "mistralai/")
    wrong = []
    for entry in entries:
        model = LocalModel(**entry)
        pinned = re.fullmatch(r"[0-9a-f]{40}", model.revision) and re.fullmatch(r"[0-9a-f]{64}", model.sha256)
        whole = (
            model.size > 0
            and model.memory > model.size
            and model.computer_gb
            and model.file.endswith(".gguf")
        )
        told = model.licence and model.licence_page.startswith("https://") and model.languages
        said = set(model.about) == {"en", "ko"} and all(model.about.values())
        if not (pinned and whole and told and said) or model.repo.startswith(closed):
            wrong.append(model.id)
    assert wrong == []
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_what_is_typed_is_read() -> None:
    texts = load_texts("en")
    assert parse_arguments(["models", "get", ID, "--yes"], texts) == Arguments(
        command="models", values={"action": "get", "name": ID, "yes": True}
    )
    assert not parse_arguments(["models", "list", "--json"], texts).writes
    assert REMOVE_IT.writes


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_window_takes_notice_at_once(
    qapp, data_dir: Path, small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloader(tmp_path, monkeypatch, small)
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("providers")
        dialog = person.find("settings_page")
        shown = dialog.page("providers").list

        def state() -> str:
            return shown.item(shown.count() - 1).text

        before = state()
        control = DataPaths(data_dir).control
        assert await hand_over(control, GET_IT, Answers("y"), asyncio.Event()) == 0
        await until(lambda: state() != before)
        assert await hand_over(control, REMOVE_IT, Answers("y"), asyncio.Event()) == 0
        await until(lambda: state() == before)
        person.find("settings_close").click()
