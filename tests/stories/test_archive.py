"""Import, backup and restore from the command line, by itself and handed over to a Moot that has the data."""

import asyncio
import functools
import json
from pathlib import Path

import pytest

from app.cli.control import ControlServer
from app.cli.running import run_for_another
from app.wiring import open_moot
from tests.engine import foreign_exports as exports
from tests.stories.processes import look, moot


def written(folder: Path, *values: object) -> str:
    path = folder / "export.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return str(path)


def test_conversations_come_in_once_and_go_out_and_in_again(tmp_path: Path):
    file = written(
        tmp_path, exports.chatgpt(), exports.claude(), {**exports.chatgpt("bad"), "mapping": {"a": 1}}
    )
    first = moot("import", file, "--json")
    assert first.status == 0
    assert [(one["app"], one["messages"], one["known"]) for one in first.json] == [
        ("ChatGPT", 4, False),
        ("Claude", 2, False),
    ]
    assert "[2] mapping.a" in first.err
    again = moot("import", file)
    assert again.out.count("(already imported)") == 2
    session_id = first.json[0]["session_id"]
    shown = look("show", session_id, "--json").json
    assert (shown["kind"], shown["status"], shown["created_at"]) == (
        "chat",
        "idle",
        "2024-05-14T18:18:10.494Z",
    )
    out = tmp_path / "one.json"
    look("export", session_id, "--format", "json", "-o", str(out))
    before = json.loads(out.read_text(encoding="utf-8"))
    moot("delete", session_id)
    assert session_id in moot("import", str(out)).out
    look("export", session_id, "--format", "json", "-o", str(out))
    assert json.loads(out.read_text(encoding="utf-8")) == before


def test_what_an_import_brings_besides_messages_is_printed_and_left_out_unless_wanted(tmp_path: Path):
    moot("import", written(tmp_path, exports.chatgpt()))
    session_id = look("sessions", "--json").json[0]["id"]
    out = tmp_path / "one.json"
    look("export", session_id, "--format", "json", "-o", str(out))
    value = json.loads(out.read_text(encoding="utf-8"))
    value["session"]["chat"]["instructions"] = "Obey\nthe file."
    value["session"]["chat"]["context"] = [{"name": "a\u200b.txt", "text": "The file."}]
    for options, kept in (((), False), (("--with-context",), True)):
        file = written(tmp_path, value)
        come = moot("import", file, *options)
        assert (come.status, come.err) == (0, "")
        first, *rest = come.out.splitlines()
        assert rest[:2] == ["    Instructions: Obey the file.", "    Files: a⟨U+200B⟩.txt (9 B)"]
        assert ("was left out" in rest[2]) is not kept
        # The file's folder stays out of the next file too, unless that is asked for.
        again = first.split()[0]
        assert "The file." not in look("export", again, "--format", "json").out
        whole = look("export", again, "--format", "json", "--with-context").out
        assert ("The file." in whole, "Obey" in whole) == (kept, kept)
    [row] = moot("import", file, "--json").json
    assert row["besides"][0] == "Instructions: Obey\nthe file."


def test_a_backup_is_looked_at_and_brought_back(tmp_path: Path):
    moot("import", written(tmp_path, exports.chatgpt(), exports.open_webui()))
    target = tmp_path / "backup.zip"
    assert str(target) in moot("backup", str(target)).out
    session_id = look("sessions", "--json").json[0]["id"]
    moot("delete", session_id)
    seen = moot("restore", str(target))
    assert (seen.status, seen.out.count("missing here"), seen.out.count("already here")) == (0, 1, 1)
    assert session_id not in look("sessions").out
    back = moot("restore", str(target), "--yes", "--json")
    assert back.json["sessions"] == [session_id]
    assert session_id in look("sessions").out
    assert moot("restore", written(tmp_path, 1)).status == 2


@pytest.mark.allow_blocking
async def test_they_are_handed_over_to_the_moot_that_has_the_data(data_dir: Path, tmp_path: Path):
    holder = await open_moot(data_dir)
    server = ControlServer(holder.paths.control, functools.partial(run_for_another, holder))
    await server.start()
    try:
        file = written(tmp_path, exports.lobe_chat())
        done = await asyncio.to_thread(moot, "import", file)
        assert done.status == 0
        assert len(holder.engine.sessions()) == 2
        done = await asyncio.to_thread(moot, "backup")
        (backup,) = await holder.engine.archive.files.backups()
        assert backup.path in done.out
        for summary in holder.engine.sessions():
            await holder.engine.delete(summary.id)
        done = await asyncio.to_thread(moot, "restore", backup.path, "--yes")
        assert done.status == 0
        assert len(holder.engine.sessions()) == 2
        done = await asyncio.to_thread(moot, "import", str(tmp_path / "none.json"))
        assert (done.status, "Could not read none.json" in done.err) == (2, True)
    finally:
        await server.close()
        await holder.close()
