"""`moot models`: what is on this computer, fetched with progress and removed, and a window that takes notice."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.cli.commands.sessions import run_command
from app.cli.control import hand_over
from app.cli.parser import Action, Arguments, CommandName, parse_arguments
from app.cli.printing.lines import load_texts
from app.core.errors import BadInput, NotFound
from app.providers import model_file
from app.storage.paths import DataPaths
from app.wiring import Moot, open_moot
from tests.app_driver import at_window, until
from tests.asked import Answers
from tests.providers.test_model_file import downloader, small

__all__ = ["small"]

ID = "smollm2-135m"
GET_IT = Arguments(command=CommandName.MODELS, action=Action.GET, name=ID)
REMOVE_IT = Arguments(command=CommandName.MODELS, action=Action.REMOVE, name=ID)


@pytest.fixture
async def moot(data_dir: Path, small: bytes) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    yield moot
    await moot.close()


async def run(moot: Moot, arguments: Arguments, *answers: str | None) -> tuple[int, Answers]:
    out = Answers(*answers)
    return await run_command(moot, arguments, out, asyncio.Event()), out


async def listed(moot: Moot) -> dict[str, object]:
    _, out = await run(moot, Arguments(command=CommandName.MODELS, json=True))
    [row] = json.loads(out.out)
    return row


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
    assert await listed(moot) == {"id": ID, "state": "installed", "size": len(small), "path": str(file)}
    assert (await run(moot, GET_IT))[0] == 0  # and nobody is asked

    with pytest.raises(BadInput, match="needs_yes"):
        await run(moot, REMOVE_IT, None)
    status, out = await run(
        moot, Arguments(command=CommandName.MODELS, action=Action.REMOVE, name=ID, yes=True, json=True)
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
    get = Arguments(command=CommandName.MODELS, action=Action.GET, name=ID, yes=True)
    getting = asyncio.create_task(run_command(moot, get, out, asyncio.Event()))
    await until(lambda: "100%" in out.out, 5)
    going.set()
    await getting
    assert out.out.splitlines()[:3] == ["10% of 100 MB", "50% of 100 MB", "100% of 100 MB"]


async def test_what_cannot_be_had_is_a_fault_with_its_reason(
    moot: Moot, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [sys.executable, "-c", "import sys; print('ERROR: no such host', file=sys.stderr); sys.exit(1)"]
    monkeypatch.setattr(model_file, "_installers", lambda *_: iter([failing]))
    status, out = await run(moot, GET_IT, "y")
    assert status == 1
    [line] = out.err
    assert line.startswith("The model could not be downloaded: ERROR: no such host.") and "try again" in line
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
        await run(moot, Arguments(command=CommandName.MODELS, action=Action.GET, name="gpt-9"))


def test_what_is_typed_is_read() -> None:
    texts = load_texts("en")
    assert parse_arguments(["models", "get", ID, "--yes"], texts) == Arguments(
        command=CommandName.MODELS, action=Action.GET, name=ID, yes=True
    )
    assert not parse_arguments(["models", "list", "--json"], texts).writes
    assert REMOVE_IT.writes


@pytest.mark.timeout(120)
async def test_a_window_takes_notice_at_once(
    qapp, data_dir: Path, small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloader(tmp_path, monkeypatch, small)
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("providers")
        dialog = person.find("settings_dialog")
        shown = dialog.page("providers").list

        def state() -> str:
            return shown.item(shown.count() - 1).text()

        before = state()
        control = DataPaths(data_dir).control
        assert await hand_over(control, GET_IT, Answers("y"), asyncio.Event()) == 0
        await until(lambda: state() != before)
        assert await hand_over(control, REMOVE_IT, Answers("y"), asyncio.Event()) == 0
        await until(lambda: state() == before)
        dialog.accept()
