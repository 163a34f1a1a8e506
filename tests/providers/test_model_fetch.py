"""Downloads of models: a real child process against a hub on loopback with every fault."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.children.processes import MODEL_FETCH, child_command, child_environment
from app.core.errors import MootError
from app.core.provider import LocalModel
from app.providers.local_models import ModelFolder
from app.storage.paths import resources_dir
from tests.repeats import repeats
from tests.wire.hub import Hub, hub

LICENCES = resources_dir() / "models" / "licences"
CONTENT = random.Random(1).randbytes(3_000_000)


@pytest.fixture
def served() -> Iterator[Hub]:
    with hub(CONTENT) as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path) -> ModelFolder:
    return ModelFolder(tmp_path / "models", None)


def offered(served: Hub) -> LocalModel:
    return LocalModel(
        id="tiny",
        name="Tiny",
        size=len(CONTENT),
        sha256=served.sha256,
        repo="a/b",
        revision="0" * 40,
        file="t.gguf",
    )


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "models").rglob("*") if path.is_file())


async def test_a_file_is_downloaded_through_a_redirect_and_kept_with_what_is_known_of_it(
    served: Hub, folder: ModelFolder, tmp_path: Path
) -> None:
    seen = []
    await folder.fetch(offered(served), f"{served.address}/slow", seen.append)
    [model] = await asyncio.to_thread(folder.models)
    assert Path(model.path).read_bytes() == CONTENT
    assert (Path(model.path).stat().st_mode & 0o777) == 0o600
    assert model.id == "tiny" and left(tmp_path) == ["LICENCE.txt", "NOTICE.txt", "model.json", "t.gguf"]
    assert [one.done for one in seen] == sorted(one.done for one in seen) and seen[0].rate > 0
    await folder.check(model)
    await folder.remove("tiny")
    assert (left(tmp_path), await asyncio.to_thread(folder.models)) == ([], ())


async def test_the_licence_and_the_origin_are_kept_beside_a_file(served: Hub, tmp_path: Path) -> None:
    for licence, begins in (("Apache-2.0", "Apache License"), ("Other", "Other\nhttps://a.b/c")):
        folder = ModelFolder(tmp_path / licence, None, LICENCES)
        model = replace(offered(served), maker="Us", licence=licence, licence_page="https://a.b/c")
        await folder.fetch(model, f"{served.address}/ok", lambda _: None)
        kept = tmp_path / licence / "tiny"
        assert (kept / "LICENCE.txt").read_text("utf-8").strip().startswith(begins)
        notice = (kept / "NOTICE.txt").read_text("utf-8")
        assert "Tiny, by Us" in notice and "a/b, revision 000" in notice and licence in notice


@pytest.mark.slow
async def test_faults_are_refused_with_their_reason(served: Hub, folder: ModelFolder, tmp_path: Path) -> None:
    for fault, problem, rest in (
        ("gated", "gated", []),
        ("missing", "missing", []),
        ("loop", "redirects", []),
        ("corrupt", "wrong_hash", []),
        ("short", "wrong_size", []),
    ):
        with pytest.raises(MootError) as raised:
            await folder.fetch(offered(served), f"{served.address}/{fault}", lambda _: None)
        assert raised.value.code == f"model_fetch_{problem}", fault
        whole = [name for name in left(tmp_path) if not name.endswith(".part")]
        assert whole == rest, fault
        await folder.remove("tiny")


@pytest.mark.slow
async def test_cuts_busy_servers_and_servers_without_ranges_end_well(
    served: Hub, folder: ModelFolder, tmp_path: Path
) -> None:
    part = tmp_path / "models" / "tiny" / "t.gguf.part"
    for fault, begun in (("cut", 0), ("busy", 1_000), ("norange", 500_000), ("ok", len(CONTENT) + 5)):
        served.ranges.clear()
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes((CONTENT + b"12345")[:begun])
        await folder.fetch(offered(served), f"{served.address}/{fault}", lambda _: None)
        [model] = await asyncio.to_thread(folder.models)
        assert Path(model.path).read_bytes() == CONTENT, fault
        if fault == "busy":
            assert served.ranges == ["bytes=1000-"]
        await folder.remove("tiny")


async def test_the_next_mirror_is_asked_after_three_failures_or_a_refusal(
    served: Hub, folder: ModelFolder
) -> None:
    sources = " ".join(f"{served.address}/{one}" for one in ("missing", "down", "ok"))
    await folder.fetch(offered(served), sources, lambda _: None)
    assert (served.asked["missing"], served.asked["down"]) == (1, 3)
    [model] = await asyncio.to_thread(folder.models)
    assert Path(model.path).read_bytes() == CONTENT


async def test_numbers_in_headers_that_are_none_or_without_end_stop_no_download(
    served: Hub, folder: ModelFolder, tmp_path: Path
) -> None:
    part = tmp_path / "models" / "tiny" / "t.gguf.part"
    for fault in ("odd", "zeros", "nines"):
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(CONTENT[:1_000])
        if fault == "nines":
            with pytest.raises(MootError) as raised:
                await folder.fetch(offered(served), f"{served.address}/{fault}", lambda _: None)
            assert raised.value.code == "model_fetch_wrong_size"
            continue
        await folder.fetch(offered(served), f"{served.address}/{fault}", lambda _: None)
        [model] = await asyncio.to_thread(folder.models)
        assert Path(model.path).read_bytes() == CONTENT, fault
        await folder.remove("tiny")


async def test_a_full_disk_is_noticed_before_the_first_byte(served: Hub, tmp_path: Path) -> None:
    huge = replace(offered(served), size=1 << 60)
    with pytest.raises(MootError) as raised:
        await ModelFolder(tmp_path / "models", None).fetch(huge, f"{served.address}/ok", lambda _: None)
    assert raised.value.code == "model_fetch_no_space"
    assert served.asked["ok"] == 0


async def test_cancelling_pauses_and_fetching_again_goes_on(
    served: Hub, folder: ModelFolder, tmp_path: Path
) -> None:
    catalogue = tmp_path / "catalogue.json"
    catalogue.write_text(json.dumps([{"id": "tiny", "size": len(CONTENT), "file": "t.gguf"}]))
    begun = asyncio.Event()
    fetching = asyncio.create_task(
        folder.fetch(offered(served), f"{served.address}/slow", lambda _: begun.set())
    )
    await begun.wait()
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    [paused] = await asyncio.to_thread(ModelFolder(tmp_path / "models", catalogue).models)
    assert 0 < paused.done < len(CONTENT) and not paused.path
    served.ranges.clear()
    await folder.fetch(offered(served), f"{served.address}/ok", lambda _: None)
    assert served.ranges == [f"bytes={paused.done}-"]
    assert (tmp_path / "models" / "tiny" / "t.gguf").read_bytes() == CONTENT


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
def test_a_disk_that_takes_no_more_is_told_and_what_it_took_stays(served: Hub, tmp_path: Path) -> None:
    import resource

    target = tmp_path / "t.gguf"
    job = {"urls": [f"{served.address}/ok/resolve/x"], "size": len(CONTENT), "sha256": served.sha256}

    def fetch(most: int) -> dict[str, object]:
        """Download where a file may have so many bytes; return the last line."""
        with subprocess.Popen(
            child_command(MODEL_FETCH),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            cwd=Path(__file__).parents[2],
            preexec_fn=lambda: resource.setrlimit(  # noqa: PLW1509
                resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY)
            ),
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps(job | {"target": str(target)}).encode() + b"\n")
            # Its end would be a pause.
            process.stdin.flush()
            return json.loads(process.stdout.readlines()[-1])

    assert fetch(1_000_000)["failed"] == "disk"
    assert not target.exists() and target.with_name("t.gguf.part").stat().st_size == 1_000_000
    assert fetch(10_000_000) == {"finished": True}
    assert served.ranges[-1] == "bytes=1000000-" and target.read_bytes() == CONTENT


@pytest.mark.slow
def test_a_download_that_is_killed_goes_on_from_the_bytes_on_the_disk(served: Hub, tmp_path: Path) -> None:
    target = tmp_path / "t.gguf"
    part = tmp_path / "t.gguf.part"
    job = {"urls": [f"{served.address}/slow/resolve/x"], "size": len(CONTENT), "sha256": served.sha256}
    line = json.dumps(job | {"target": str(target)}).encode() + b"\n"
    rng = random.Random(7)
    kills = repeats(4)
    for number in range(kills + 1):
        process = subprocess.Popen(
            child_command(MODEL_FETCH),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            cwd=Path(__file__).parents[2],
        )
        process.stdin.write(line)
        process.stdin.flush()
        if number == kills:
            last = process.stdout.readlines()[-1]
            process.communicate()
            assert json.loads(last) == {"finished": True}
            break
        before = part.stat().st_size if part.exists() else 0
        while (part.stat().st_size if part.exists() else 0) <= before + rng.randrange(1, 60_000):
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert target.read_bytes() == CONTENT
    # Only the first began at the beginning.
    assert [wanted for wanted in served.ranges if not wanted] == [""]
