"""The assistants' definitions on a real disk: their versions, what survives a save, what is refused."""

import dataclasses
import errno
import json
from functools import partial
from pathlib import Path

import pytest

from app.core.definitions import Agent, Busy
from app.core.errors import BadInput, StorageError
from app.storage.documents import KEPT_VERSIONS, JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.paths import DataPaths

pytestmark = pytest.mark.usefixtures("folder")

BROWSER = Agent(
    id="browser",
    name="브라우저",
    description="Reads the web.",
    role="Researcher",
    instructions="Cite your sources.\nNever paste HTML.",
    tools=("web_fetch", "web_search"),
    sub_agents=("checker",),
    mcp_servers=("files",),
    pages=("https://example.com",),
    max_depth=0,
    max_steps=4,
    enabled=False,
    busy=Busy(strategy="wait", timeout_s=60),
)


async def _loaded(paths: DataPaths, disk: FileSystem | None = None) -> JsonDocuments:
    documents = JsonDocuments(paths, file_system=disk)
    await documents.load()
    return documents


def _file(paths: DataPaths, name: str, value: object) -> Path:
    path = paths.root / "assistants" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value, indent=1).encode())
    return path


async def test_a_definition_is_saved_whole_and_each_save_is_the_next_version(paths):
    documents = await _loaded(paths)
    saved = await documents.assistants.change(lambda: dataclasses.replace(BROWSER, version=7))
    assert saved == dataclasses.replace(BROWSER, version=1)
    again = await documents.assistants.change(
        lambda: dataclasses.replace(saved, name="Browser", busy=None, tools=())
    )
    assert (again.version, again.name, again.busy, again.tools) == (2, "Browser", None, ())
    assert documents.assistants.all() == (again,)
    other = await _loaded(paths)
    assert (other.assistants.all(), other.problems()) == ((again,), ())
    assert await other.assistants.versions("browser") == (saved,)
    path = paths.root / "assistants" / "browser.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "브라우저" in (paths.root / "assistants" / ".versions" / "browser" / "1.json").read_text("utf-8")


async def test_unknown_fields_survive_a_save_and_the_file_keeps_its_name(paths):
    path = _file(
        paths,
        "my helper.json",
        {
            "id": "helper",
            "name": "Helper",
            "of_tomorrow": {"a": [1]},
            "busy": {"strategy": "queue", "x": 1, "depth": 2},
        },
    )
    documents = await _loaded(paths)
    [agent] = documents.assistants.all()
    await documents.assistants.change(
        lambda: dataclasses.replace(agent, role="Aide", busy=Busy(strategy="reject"))
    )
    after = json.loads(path.read_bytes())
    assert after["of_tomorrow"] == {"a": [1]}
    assert after["busy"] == {"strategy": "reject", "x": 1}
    assert (after["role"], after["version"]) == ("Aide", 2)
    assert [one.name for one in (paths.root / "assistants").iterdir() if one.is_file()] == ["my helper.json"]


async def test_the_newest_twenty_versions_are_kept(paths):
    documents = await _loaded(paths)
    for number in range(KEPT_VERSIONS + 5):
        await documents.assistants.change(partial(dataclasses.replace, BROWSER, role=f"role {number}"))
    kept = await documents.assistants.versions("browser")
    assert [one.version for one in kept] == list(range(KEPT_VERSIONS + 4, 4, -1))
    assert kept[0].role == f"role {KEPT_VERSIONS + 3}"


async def test_a_deleted_assistant_goes_to_the_bin_and_comes_back_as_the_next_version(paths):
    documents = await _loaded(paths)
    await documents.assistants.change(lambda: BROWSER)
    second = await documents.assistants.change(lambda: BROWSER)
    await documents.assistants.delete("browser")
    assert documents.assistants.all() == ()
    assert (await _loaded(paths)).assistants.all() == ()
    [thrown] = paths.trash.iterdir()
    assert thrown.name.startswith("browser.")
    assert [one.version for one in await documents.assistants.versions("browser")] == [2, 1]
    back = await documents.assistants.change(lambda: second)
    assert back == dataclasses.replace(BROWSER, version=3)
    await documents.assistants.delete("nobody")


async def test_what_is_restored_leaves_no_copy_in_the_trash_and_keeps_unknown_fields(paths):
    documents = await _loaded(paths)
    _file(paths, "browser.json", {"id": "browser", "name": "Browser", "field_of_tomorrow": 1})
    _file(paths, "other.json", {"id": "other", "name": "Other"})
    await documents.load()
    one, other = documents.assistants.all()
    await documents.assistants.delete("browser")
    await documents.assistants.delete("other")
    await documents.assistants.change(lambda: one, restores=True)
    assert [path.name.partition(".")[0] for path in paths.trash.iterdir()] == ["other"]
    assert '"field_of_tomorrow": 1' in (paths.root / "assistants" / "browser.json").read_text()
    await documents.assistants.change(lambda: dataclasses.replace(other, name="Another"), restores=True)
    assert len(list(paths.trash.iterdir())) == 1, "what the trash holds is not the same"


async def test_a_version_written_by_hand_with_a_number_that_is_taken_replaces_none(paths):
    documents = await _loaded(paths)
    await documents.assistants.change(lambda: BROWSER)
    await documents.assistants.change(lambda: dataclasses.replace(BROWSER, role="second"))
    _file(paths, "browser.json", {"id": "browser", "name": "By hand", "version": 1})
    saved = await documents.assistants.change(lambda: BROWSER)
    kept = await documents.assistants.versions("browser")
    assert {one.name for one in kept} == {"By hand", BROWSER.name}
    assert {one.role for one in kept if one.name == BROWSER.name} == {BROWSER.role, "second"}
    assert saved.version == 4


@pytest.mark.threat("T16")
@pytest.mark.corpus(27, 28, 29, 30, 31, 32)
@pytest.mark.parametrize(
    "agent_id",
    ["", "../../x", "/etc/x", "C:\\x", "a:b", "x.", ".x", "a\n", "CON", "nul", "com1.x", "가" * 65, "a/b"],
)
async def test_an_id_that_can_name_no_file_is_refused_and_reported(paths, agent_id):
    documents = await _loaded(paths)
    with pytest.raises(BadInput, match="assistant_id_invalid"):
        await documents.assistants.change(lambda: dataclasses.replace(BROWSER, id=agent_id))
    with pytest.raises(BadInput, match="assistant_id_invalid"):
        await documents.assistants.delete(agent_id)
    assert await documents.assistants.versions(agent_id) == ()
    assert list(paths.root.iterdir()) == []
    _file(paths, "x.json", {"id": agent_id, "name": "X"})
    documents = await _loaded(paths)
    assert [(one.code, one.field) for one in documents.problems()] == [("bad_id", "id")]
    assert documents.assistants.all() == ()


async def test_korean_ids_are_fine(paths):
    documents = await _loaded(paths)
    await documents.assistants.change(lambda: dataclasses.replace(BROWSER, id="검색-도우미"))
    assert [one.id for one in (await _loaded(paths)).assistants.all()] == ["검색-도우미"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"id": "other", "name": "Other"}', b'{"id": "browser"}']
)
async def test_what_could_not_be_read_is_never_overwritten_nor_deleted(paths, data):
    path = _file(paths, "browser.json", data)
    documents = await _loaded(paths)
    with pytest.raises(StorageError, match="unreadable_file"):
        await documents.assistants.change(lambda: BROWSER)
    with pytest.raises(StorageError, match="unreadable_file"):
        await documents.assistants.delete("browser")
    assert path.read_bytes() == data


@pytest.mark.parametrize("version", [-3, 0, 10**299])
async def test_a_version_that_names_no_file_is_kept_with_a_number_of_its_own(paths, version):
    record = {"id": "trip", "name": "Trip", "version": version}
    (paths.root / "folders").mkdir()
    (paths.root / "folders" / "trip.json").write_text(json.dumps(record))
    documents = await _loaded(paths)
    [trip] = documents.folders.all()
    saved = await documents.folders.change(partial(dataclasses.replace, trip, name="Tour"))
    assert saved.version == 2
    assert [kept.name for kept in await documents.folders.versions("trip")] == ["Trip"]


async def test_a_definition_that_could_not_be_read_back_is_not_written(paths):
    documents = await _loaded(paths)
    for faulty in ({"name": " "}, {"provider": "openai"}, {"max_steps": 0}, {"tools": (1,)}):
        with pytest.raises(StorageError, match="invalid_record"):
            await documents.assistants.change(partial(dataclasses.replace, BROWSER, **faulty))
    assert not (paths.root / "assistants" / "browser.json").exists()


@pytest.mark.threat("T11")
@pytest.mark.corpus(40)
async def test_a_command_is_reported_and_not_kept(paths):
    path = _file(
        paths,
        "evil.json",
        b'{"id": "evil", "name": "Evil",\n "command": "rm -rf /",\n'
        b' "x": [{"Script": "x", "kept": 1}],\n "code": {"a": 1}}',
    )
    documents = await _loaded(paths)
    [agent] = documents.assistants.all()
    assert [(one.code, one.line, one.field) for one in documents.problems()] == [
        ("no_commands", 2, "command"),
        ("no_commands", 3, "x[0].Script"),
        ("no_commands", 4, "code"),
    ]
    await documents.assistants.change(lambda: agent)
    assert documents.problems() == ()
    assert json.loads(path.read_bytes())["x"] == [{"kept": 1}]
    everything = b"".join(one.read_bytes() for one in paths.root.rglob("*") if one.is_file())
    assert b"rm -rf" not in everything
    assert b"code" not in everything


FAULTS = [
    ({"name": 7}, "wrong_type", "name"),
    ({"name": ""}, "missing", "name"),
    ({"tools": "web_fetch"}, "wrong_type", "tools"),
    ({"tools": [None]}, "wrong_type", "tools[0]"),
    ({"sub_agents": {"a": 1}}, "wrong_type", "sub_agents"),
    ({"mcp_servers": [{"x": 1}]}, "wrong_type", "mcp_servers[0]"),
    ({"pages": 1}, "wrong_type", "pages"),
    ({"max_steps": "10"}, "wrong_type", "max_steps"),
    ({"max_steps": 0}, "bad_number", "max_steps"),
    ({"max_depth": -1}, "bad_number", "max_depth"),
    ({"max_depth": 1.5}, "wrong_type", "max_depth"),
    ({"version": "1"}, "wrong_type", "version"),
    ({"enabled": 1}, "wrong_type", "enabled"),
    ({"busy": []}, "wrong_type", "busy"),
    ({"provider": "openai"}, "missing", "model"),
    ({"model": "gpt-5.2"}, "missing", "provider"),
]


@pytest.mark.corpus(57)
@pytest.mark.parametrize(("fields", "code", "field"), FAULTS)
async def test_a_field_of_the_wrong_kind_is_named(paths, fields, code, field):
    _file(paths, "a.json", {"id": "a", "name": "A", **fields})
    _file(paths, "b.json", {"id": "b", "name": "B", "provider": "", "model": ""})
    documents = await _loaded(paths)
    assert [one.id for one in documents.assistants.all()] == ["b"]
    [problem] = documents.problems()
    assert (problem.code, problem.field) == (code, field)
    [name, *_] = fields
    assert (problem.line or 0) > 2 or (not field.startswith(name) and problem.line == 1)


class _Dying(FileSystem):
    """The disk of a process that is killed at a call; every call after it is refused."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._left = calls

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise OSError(errno.EIO, "the process is gone")

    def create(self, path):
        self._count()
        return super().create(path)

    def write(self, descriptor, data):
        self._count()
        return super().write(descriptor, bytes(data)[: max(1, len(data) // 2)])

    def sync(self, descriptor):
        self._count()
        super().sync(descriptor)

    def replace(self, source, target):
        self._count()
        super().replace(source, target)

    def remove(self, path):
        self._count()
        super().remove(path)


async def test_a_kill_at_any_call_leaves_the_old_definition_or_the_new(paths):
    before = await (await _loaded(paths)).assistants.change(lambda: BROWSER)
    finished = False
    for calls in range(60):
        saved = None
        documents = await _loaded(paths, _Dying(calls))
        try:
            saved = await documents.assistants.change(
                partial(dataclasses.replace, BROWSER, role=f"after {calls}")
            )
        except StorageError:
            finished = False
        else:
            finished = True
        again = await _loaded(paths)
        [kept] = again.assistants.all()
        assert again.problems() == ()
        assert kept in (
            before,
            dataclasses.replace(BROWSER, role=f"after {calls}", version=before.version + 1),
        )
        assert saved is None or kept == saved
        if kept != before:
            assert (await again.assistants.versions("browser"))[0] == before
        before = kept
        if finished:
            break
    assert finished
