"""Secrets of MCP servers that stood in the file, and of those that went to the bin, from one start to the next."""

import json
from pathlib import Path

import pytest
from keyring.errors import KeyringLocked

from app.core.servers import McpServer
from app.core.tool import ServerProblem, ServerState
from tests.storage.test_secrets import Backend
from tests.stories.test_server_secrets import (
    CANARIES,
    a_process,
    by_hand,
    digest,
    given,
    keyring,
    leaks,
    opened,
    states,
    written,
)
from tests.tools.serving import allow

__all__ = ["keyring"]

pytestmark = [pytest.mark.threat("T13"), pytest.mark.timeout(240)]


def refused(*_: object) -> None:
    raise KeyringLocked("Failed to unlock the collection!")


async def test_what_stood_in_the_file_goes_to_the_keyring_at_the_next_start(
    keyring: Backend, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand(data_dir, a_process())
    file, before = data_dir / "mcp.json", (data_dir / "mcp.json").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(Backend, "get_password", refused)
        patch.setattr(Backend, "set_password", refused)
        async with opened(data_dir) as moot:
            await allow(moot.engine, "process")
            assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])
        assert (file.read_bytes(), keyring.kept) == (before, {}), "a locked keyring changes nothing"
        # One that is locked while it is asked loses nothing either.
        patch.setattr(Backend, "get_password", lambda *_: None)
        async with opened(data_dir) as moot:
            assert leaks(file.read_text("utf-8")) == ["variable", "argument"]
    async with opened(data_dir) as moot:
        assert keyring.kept == {
            ("Moot", "mcp:process:env.NOTES"): CANARIES["variable"],
            ("Moot", "mcp:process:args.token"): CANARIES["argument"],
        }
        assert [name for name, text in written(data_dir) if leaks(text)] == []
        await moot.engine.servers.attach(["process"])
        assert states(moot) == {"process": ServerState.CONNECTED}, "the same server does not ask again"
        assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])
    after = file.stat().st_mtime_ns
    assert json.loads(file.read_text("utf-8"))["mcpServers"]["process"]["autoApprove"] == []
    async with opened(data_dir):
        assert file.stat().st_mtime_ns == after, "once is enough"


async def test_a_file_that_is_linked_to_belongs_to_another_program_as_well(
    keyring: Backend, data_dir: Path, tmp_path: Path
) -> None:
    by_hand(data_dir, a_process())
    theirs = (data_dir / "mcp.json").replace(tmp_path / "theirs.json")
    (data_dir / "mcp.json").symlink_to(theirs)
    async with opened(data_dir):
        assert leaks(theirs.read_text("utf-8")) == ["variable", "argument"]
        assert keyring.kept == {}


async def test_a_server_comes_back_from_the_bin_without_its_secrets(keyring: Backend, data_dir: Path) -> None:
    async with opened(data_dir) as moot:
        engine = moot.engine
        await engine.servers.save((a_process(), McpServer(name="other", command="x")))
        await allow(engine, "process")
        await engine.servers.remove("process")
        assert (list(states(moot)), keyring.kept) == (["other"], {})
    async with opened(data_dir) as moot:
        engine = moot.engine
        (thrown,) = await engine.archive.files.thrown()
        assert (thrown.kind, thrown.title) == ("server", "process")
        await engine.archive.take_out(thrown.file)
        assert list(states(moot)) == ["process", "other"], "where it was"
        await engine.servers.attach(["process"])
        status = engine.servers.all()[0]
        assert (status.state, status.problem) == (ServerState.DOWN, ServerProblem.NO_VALUE)
        assert "env.NOTES" in status.detail and "args.token" in status.detail
        assert await engine.servers.replace("process", a_process())
        await engine.servers.attach(["process"])
        assert states(moot)["process"] == ServerState.CONNECTED, "it was allowed, and is the same"
        assert [name for name, text in written(data_dir) if leaks(text)] == []


async def test_what_stood_in_the_file_comes_back_by_undo_and_is_not_in_the_bin(data_dir: Path) -> None:
    by_hand(data_dir, a_process())
    before = json.loads((data_dir / "mcp.json").read_text("utf-8"))
    async with opened(data_dir) as moot:
        undo = await moot.engine.servers.remove("process")
        assert [name for name, text in written(data_dir) if leaks(text)] == []
        assert await undo()
        assert json.loads((data_dir / "mcp.json").read_text("utf-8")) == before
        assert await moot.engine.archive.files.thrown() == ()
        await allow(moot.engine, "process")
        assert (await given(moot, "process"))["NOTES"] == digest(CANARIES["variable"])
