"""Only the account that owns the data directory may read it, whatever it found there and whatever the umask is."""

import json
import os
import stat
from pathlib import Path

import pytest

from app.children.private_files import append_log
from app.cli.arguments import Arguments
from app.cli.commands.doctor import examine
from app.cli.printing.lines import load_texts
from app.core.errors import StorageError
from app.storage import access
from app.storage.access import WriterLock, check_owner, make_private, open_to_others
from app.storage.paths import DataPaths
from app.wiring import open_moot
from tests.test_doctor import Lines

pytestmark = [pytest.mark.threat("T18"), pytest.mark.allow_blocking, pytest.mark.usefixtures("few_packages")]
needs_accounts = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")


def modes(root: Path) -> dict[str, int]:
    return {
        str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode) for path in (root, *root.rglob("*"))
    }


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


async def doctor(root: Path) -> tuple[bool, str]:
    lines = Lines()
    await examine(DataPaths(root), Arguments(command="doctor", json=True), lines, load_texts("en"))
    [row] = [one for one in json.loads(lines.out) if one["check"] == "permissions"]
    return row["ok"], f"{row['found']} → {row['remedy']}"


@needs_accounts
async def test_what_others_may_read_is_theirs_no_more_after_a_start(data_dir: Path, tmp_path: Path, no_umask):
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    for folder in ("sessions", "logs", "assistants/.versions/ada"):
        (data_dir / folder).mkdir(parents=True)
    for file in ("settings.json", "usage.jsonl", "logs/old.log", "assistants/.versions/ada/1.json"):
        (data_dir / file).write_text("{}")
    (data_dir / "assistants" / "linked.json").symlink_to(outside)
    assert modes(data_dir)["."] == 0o777
    assert await doctor(data_dir) == (
        False,
        "other accounts can read or write 10 files or folders → start Moot to remove these permissions",
    )
    moot = await open_moot(data_dir)
    try:
        await moot.engine.archive.back_up()
        found = {name: mode for name, mode in modes(data_dir).items() if not name.endswith("linked.json")}
        assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}
        assert found["logs"] == 0o700
        assert found["settings.json"] == found["logs/old.log"] == 0o600
        assert stat.S_IMODE(outside.stat().st_mode) == 0o666
    finally:
        await moot.close()
    assert await doctor(data_dir) == (True, "only your account can read the data → ")


@needs_accounts
def test_logs_are_the_users_with_any_umask(tmp_path: Path, no_umask):
    folder = tmp_path / "data" / "logs"
    append_log(folder / "host.log", ["line"], 1_000)
    assert modes(tmp_path / "data") == {".": 0o700, "logs": 0o700, "logs/host.log": 0o600}


@needs_accounts
def test_what_the_owner_may_not_do_stays_so(tmp_path: Path):
    (tmp_path / "read_only.json").write_text("{}")
    (tmp_path / "read_only.json").chmod(0o444)
    make_private(tmp_path)
    assert modes(tmp_path)["read_only.json"] == 0o400


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
async def test_the_folder_of_another_account_is_refused(data_dir: Path):
    data_dir.mkdir()
    os.chown(data_dir, 12345, 12345)
    for refused in (lambda: check_owner(data_dir), WriterLock(DataPaths(data_dir)).acquire):
        with pytest.raises(StorageError) as error:
            refused()
        assert (error.value.code, error.value.details["owner"]) == ("data_dir_foreign", "12345")
    with pytest.raises(StorageError, match="data_dir_foreign"):
        await open_moot(data_dir, write=False)
    assert list(data_dir.iterdir()) == []
    ok, found = await doctor(data_dir)
    assert not ok
    assert "belongs to another account (12345)" in found


async def test_a_file_system_without_permissions_is_used_and_said(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    """None can be mounted in a test: it would say 0777 of everything, and refuse to change that."""

    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(access, "_mode", lambda path: path.stat().st_mode | 0o777)
    monkeypatch.setattr(Path, "chmod", refuse)
    moot = await open_moot(data_dir)
    await moot.close()
    ok, found = await doctor(data_dir)
    assert not ok
    assert found.startswith("this file system does not support permissions")
    assert open_to_others(data_dir)
