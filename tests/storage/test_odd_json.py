"""JSON that is odd or meant to harm, in every file a person may write: named, kept as it is, and slow for nobody."""

import json
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import BadInput, MootError
from app.core.tool import ToolError, read_arguments
from app.engine.library.definitions import read_document
from app.storage.codec import plain
from app.storage.foreign_file import read_foreign
from app.storage.lines import encode_line
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from app.storage.stored_data import OpenBackup
from tests.storage.samples import debate, loaded, message

pytestmark = pytest.mark.usefixtures("folder")

GENEROUS_S = 20.0

ODD = {
    17: "[" * 100_000,
    18: '{"id": "x", "name": "X", "max_depth": ' + "9" * 5_000 + "}",
    19: '{"id": "x", "name": "X", "max_depth": NaN}',
    20: '{"id": "x", "name": "X", "id": "y"}',
    21: '{"id": "x", "name": "X"} {"id": "y"}',
    22: "null",
    24: '{"id": "x", "na\\u0000me": "X"}',
    26: '{"id": "x", "name": "' + "x" * (64 << 20) + '"}',
}
MORE = {
    18: '{"id": "x", "name": "X", "max_depth": ' + "9" * 1_000_000 + "}",
    19: '{"id": "x", "name": "X", "max_depth": 1e999}',
    22: '["x"]',
}
FILES = ("providers.json", "mcp.json", "assistants/x.json", "groups/x.json", "workflows/x.json")


@pytest.mark.threat("T17")
@pytest.mark.corpus(17, 18, 19, 20, 21, 22, 24, 26)
@pytest.mark.allow_blocking
@pytest.mark.parametrize(
    "text", [*ODD.values(), *MORE.values()], ids=[*ODD, *(f"{one} again" for one in MORE)]
)
@pytest.mark.parametrize("name", FILES)
async def test_it_is_named_and_left_alone_and_hurts_no_other_file(
    paths: DataPaths, name: str, text: str
) -> None:
    path = paths.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    good = paths.root / "assistants" / "good.json"
    good.parent.mkdir(exist_ok=True)
    good.write_text('{"id": "good", "name": "Good"}', encoding="utf-8")
    began = time.monotonic()
    documents = await loaded(paths)
    assert time.monotonic() - began < GENEROUS_S
    assert [one.id for one in documents.assistants.all()] == ["good"]
    problems = documents.problems()
    assert problems and {one.path for one in problems} == {str(path)}
    assert all(len(one.detail) < 500 for one in problems)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.corpus(17, 18, 19, 20, 21, 22, 26)
@pytest.mark.allow_blocking
@pytest.mark.parametrize(
    "text", [ODD[17], ODD[18], ODD[19], ODD[20], ODD[21], ODD[22], ODD[26], *MORE.values()]
)
async def test_settings_of_that_kind_are_set_aside_and_not_lost(paths: DataPaths, text: str) -> None:
    paths.settings.write_text(text, encoding="utf-8")
    documents = await loaded(paths)
    assert documents.settings() == type(documents.settings())()
    assert [one.path for one in documents.problems()] == [str(paths.settings)]
    await documents.change_settings(lambda _: documents.settings())
    assert [one.read_text(encoding="utf-8") for one in paths.quarantine.iterdir()] == [text]


@pytest.mark.corpus(18, 19, 20, 24, 25, 26)
@pytest.mark.allow_blocking
async def test_a_log_with_such_records_keeps_every_other_message(paths: DataPaths) -> None:
    session = debate("01" + "b" * 24)
    odd = [
        {"round": float("nan")},
        {"round": 10**400},
        {"usage": {"cost_usd": float("inf")}},
        {"content": "a\x00b\u2028c\u2029d\x85e"},
        {"content": "x" * (64 << 20)},
        {"content": 7},
        {"author": None},
    ]
    head = {"op": "head", "version": 1, "min_reader": 1, "id": session.id}
    lines = [encode_line(1, [head, {"op": "session", "patch": plain(session)}])]
    for number, fields in enumerate(odd):
        record = plain(message(f"odd {number}", turn_id=f"t{number}")) | fields
        raw = json.dumps({"q": 2 * number + 2, "ops": [{"op": "message", "message": record}]})
        lines.append(_with_checksum(raw))
        good = plain(message(f"good {number}", turn_id=f"g{number}"))
        lines.append(encode_line(2 * number + 3, [{"op": "message", "message": good}]))
    twice = '{"q": 99, "ops": [{"op": "message", "op": "nothing", "message": 1}]}'
    lines.append(_with_checksum(twice))
    paths.sessions.mkdir()
    data = b"".join(lines)
    paths.session(session.id).write_bytes(data)
    store = JsonLogStore(paths)
    await store.open()
    stored = await store.load(session.id)
    said = [one.content for one in stored.messages]
    assert [one for one in said if one.startswith("good")] == [f"good {number}" for number in range(len(odd))]
    assert any("\u2028" in one for one in said)
    await store.search("good", 5)
    await store.close()
    assert paths.session(session.id).read_bytes() == data


def _with_checksum(text: str) -> bytes:
    import zlib

    rest = text[1:].encode()
    return b'{"c":"%08x",%b\n' % (zlib.crc32(rest), rest)


@pytest.mark.corpus(17, 18, 19, 21, 22, 26)
@pytest.mark.parametrize("number", [17, 18, 19, 21, 22, 26])
def test_shared_files_and_arguments_of_that_kind_are_refused_in_words(number: int) -> None:
    if number != 19:  # Whether a number is one is looked at field by field.
        with pytest.raises(BadInput):
            read_document(ODD[number])
    with pytest.raises(ToolError) as refused:
        read_arguments(ODD[number])
    assert len(str(refused.value)) < 500


@pytest.mark.threat("T17")
@pytest.mark.corpus(17, 18, 19, 21, 26)
@pytest.mark.parametrize("number", [17, 18, 19, 21, 26])
def test_what_is_brought_in_of_that_kind_is_refused_in_words(tmp_path: Path, number: int) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(ODD[number], encoding="utf-8")
    with pytest.raises(BadInput):
        list(read_foreign(path))


# Archives


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


def linked(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("conversations.json")
        info.external_attr = 0o120777 << 16
        file.writestr(info, "/etc/passwd")
    return path


def lying(path: Path) -> Path:
    """Return an archive that says of a bomb that it unpacks to ten bytes."""
    zipped(path, {"conversations.json": b" " * (300 << 20)})
    data = path.read_bytes()
    size = (300 << 20).to_bytes(4, "little")
    path.write_bytes(data.replace(size, (10).to_bytes(4, "little")))
    return path


ARCHIVES = {
    "bomb": (37, lambda path: zipped(path, {"conversations.json": b"[" + b" " * (300 << 20)})),
    "bomb that lies": (37, lying),
    "many bombs": (37, lambda path: zipped(path, {f"{n}.json": b" " * (30 << 20) for n in range(10)})),
    "parents": (38, lambda path: zipped(path, {"../../evil.json": b"{}"})),
    "root": (38, lambda path: zipped(path, {"/etc/evil.json": b"{}"})),
    "windows": (38, lambda path: zipped(path, {"..\\..\\evil.json": b"{}"})),
    "drive": (38, lambda path: zipped(path, {"C:evil.json": b"{}"})),
    "link": (38, linked),
    "many": (39, lambda path: zipped(path, {f"{number}.json": b"" for number in range(100_000)})),
    "no archive": (37, lambda path: path.write_bytes(b"PK\x03\x04" + bytes(100)) and path),
}


@pytest.mark.threat("T16", "T17")
@pytest.mark.corpus(37, 38, 39)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "many" else []) for name in ARCHIVES]
)
def test_a_harmful_archive_is_refused_before_it_is_unpacked(
    paths: DataPaths, tmp_path: Path, name: str
) -> None:
    import resource

    from app.storage.file_system import FileSystem

    _, make = ARCHIVES[name]
    archive = make(tmp_path / "export.zip")
    before = sorted(tmp_path.rglob("*"))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    with pytest.raises(BadInput):
        list(read_foreign(archive))
    with pytest.raises(BadInput):
        OpenBackup(paths, FileSystem(), archive)
    assert time.monotonic() - began < GENEROUS_S
    if "bomb" in name:
        assert (
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 250_000
        )  # kB, less than it unpacks to
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.threat("T16")
@pytest.mark.corpus(38)
@pytest.mark.parametrize(
    "name",
    ["evil.py", "sessions/../evil", "keys.json", "consents.json", "logs/x.log", "lock", "sessions/x.jsonl"],
)
def test_a_backup_brings_nothing_but_what_a_backup_holds(paths: DataPaths, tmp_path: Path, name: str) -> None:
    from app.storage.file_system import FileSystem

    manifest = {"version": 1, "made_at": "2026-01-01T00:00:00.000Z", "why": "daily", "files": 1}
    archive = zipped(tmp_path / "b.zip", {name: b"{}", "moot-backup.json": json.dumps(manifest).encode()})
    with pytest.raises(BadInput):
        OpenBackup(paths, FileSystem(), archive)


# Names


@pytest.mark.corpus(34, 35)
async def test_ids_that_would_be_one_file_on_some_system_are_one(paths: DataPaths) -> None:
    documents = await loaded(paths)
    await documents.assistants.change(lambda: Agent(id="\u1112\u1161\u11ab", name="Decomposed"))
    await documents.assistants.change(lambda: Agent(id="\ud55c", name="Other"))
    await documents.assistants.change(lambda: Agent(id="Browser", name="One"))
    await documents.assistants.change(lambda: Agent(id="browser", name="Two"))
    assert len([one for one in (paths.root / "assistants").iterdir() if one.is_file()]) == 2
    (paths.root / "assistants" / "twin.json").write_text(
        '{"id": "BROWSER", "name": "Three"}', encoding="utf-8"
    )
    documents = await loaded(paths)
    assert sorted(one.name for one in documents.assistants.all()) == ["Other", "Two"]
    assert [(one.code, Path(one.path).name) for one in documents.problems()] == [
        ("duplicate_id", "twin.json")
    ]


@pytest.mark.corpus(64)
async def test_copies_that_a_synchronised_folder_leaves_are_no_sessions_and_stay(paths: DataPaths) -> None:
    store = JsonLogStore(paths)
    session = debate("01" + "c" * 24)
    from app.core.events import SessionStarted

    store.append((SessionStarted(session_id=session.id, session=session),))
    await store.close()
    documents = await loaded(paths)
    await documents.assistants.change(lambda: Agent(id="ann", name="Ann"))
    copies = []
    for path in (paths.session(session.id), paths.root / "assistants" / "ann.json", paths.index):
        for mark in (" (conflicted copy 2026-11-22)", ".sync-conflict-20261122-120000-ABCDEF", " (1)"):
            copy = path.with_name(path.stem + mark + path.suffix)
            shutil.copyfile(path, copy)
            copies.append((copy, copy.read_bytes()))
    store = JsonLogStore(paths)
    await store.open()
    assert [one.id for one in store.summaries()] == [session.id]
    await store.close()
    documents = await loaded(paths)
    assert [one.name for one in documents.assistants.all()] == ["Ann"]
    assert {one.code for one in documents.problems()} == {"duplicate_id"}
    assert all(copy.read_bytes() == data for copy, data in copies)


@pytest.mark.threat("T1", "T11")
@pytest.mark.corpus(40, 41)
async def test_a_key_or_a_command_in_a_definition_is_not_kept(paths: DataPaths) -> None:
    """Whatever a file from elsewhere carries beside what Moot knows: it is not used, and a command not kept."""
    for folder in (paths.root / "assistants", paths.root / "groups"):
        folder.mkdir()
        (folder / "x.json").write_text(
            '{"id": "x", "name": "X", "command": "rm -rf /", "mcpServers": {"evil": {"command": "sh"}}}'
        )
    documents = await loaded(paths)
    assert {one.code for one in documents.problems()} == {"no_commands"}
    assert documents.mcp_servers() == ()
    await documents.assistants.change(lambda: documents.assistants.all()[0])
    assert b"rm -rf" not in (paths.root / "assistants" / "x.json").read_bytes()
    assert b'"sh"' not in (paths.root / "assistants" / "x.json").read_bytes()
    paths.providers.write_text(
        '{"version": 1, "providers": [{"id": "openai", "kind": "openai", "api_key": "sk-canary-in-a-file-000"}]}'
    )
    documents = await loaded(paths)
    assert "sk-canary" not in repr(documents.providers())
    with pytest.raises(MootError):
        await documents.assistants.change(lambda: Agent(id="../x", name="X"))
