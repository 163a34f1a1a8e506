"""The groups' definitions on a real disk: what a person may have written by hand, and what is said of it."""

import json
from pathlib import Path

import pytest

from app.cli.arguments import Arguments
from app.cli.commands.doctor import examine
from app.cli.exit_status import FAULT
from app.cli.printing.lines import load_texts
from app.core.definitions import Group, Leader
from app.core.errors import BadInput, StorageError
from app.storage.paths import DataPaths
from tests.storage.samples import loaded
from tests.test_doctor import Lines

pytestmark = pytest.mark.usefixtures("folder", "few_packages")

CREW = Group(
    id="crew",
    name="출시 팀",
    members=("browser", "checker"),
    orchestrator=Leader(provider="openai", model="gpt-5.2"),
    instructions="Test before you tell.",
    turns_limit=7,
    ask_before_hand_over=True,
)


def _file(paths: DataPaths, name: str, value: object) -> Path:
    path = paths.root / "groups" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value, indent=1).encode())
    return path


async def test_a_group_is_saved_whole_deleted_to_the_bin_and_saved_again(paths: DataPaths) -> None:
    documents = await loaded(paths)
    first = await documents.groups.change(lambda: CREW)
    assert (await loaded(paths)).groups.all() == (first,)
    await documents.groups.delete("crew")
    assert documents.groups.all() == ()
    [thrown] = paths.trash.iterdir()
    assert thrown.name.startswith("crew.")
    back = await documents.groups.change(lambda: first)
    assert (back.version, back.members) == (2, CREW.members)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"{", "not_json"),
        (b"[]", "not_an_object"),
        (b"\xff\xfe", "encoding"),
        (b'{"id": "crew"}', "missing"),
        (b'{"id": "crew", "id": "crew", "name": "Crew"}', "duplicate_key"),
    ],
)
async def test_what_cannot_be_read_is_reported_and_never_overwritten(
    paths: DataPaths, data: bytes, code: str
) -> None:
    path = _file(paths, "crew.json", data)
    documents = await loaded(paths)
    assert documents.groups.all() == ()
    [problem] = documents.problems()
    assert (problem.code, Path(problem.path).name) == (code, "crew.json")
    with pytest.raises(StorageError):
        await documents.groups.change(lambda: CREW)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"name": 7}, "wrong_type", "name"),
        ({"name": " "}, "missing", "name"),
        ({"members": "browser"}, "wrong_type", "members"),
        ({"members": ["browser", 3]}, "wrong_type", "members[1]"),
        ({"members": {"a": 1}}, "wrong_type", "members"),
        ({"orchestrator": "gpt"}, "wrong_type", "orchestrator"),
        ({"orchestrator": {"provider": 1, "model": "m"}}, "wrong_type", "orchestrator.provider"),
        ({"orchestrator": {"provider": "openai"}}, "missing", "orchestrator"),
        ({"turns_limit": 0}, "bad_number", "turns_limit"),
        ({"turns_limit": "20"}, "wrong_type", "turns_limit"),
        ({"ask_before_hand_over": "yes"}, "wrong_type", "ask_before_hand_over"),
        ({"instructions": []}, "wrong_type", "instructions"),
        ({"id": "../../x"}, "bad_id", "id"),
    ],
)
async def test_a_field_of_the_wrong_kind_is_named_and_the_others_are_used(
    paths: DataPaths, fields: dict[str, object], code: str, field: str
) -> None:
    _file(paths, "a.json", {"id": "a", "name": "A", **fields})
    _file(paths, "b.json", {"id": "b", "name": "B"})
    documents = await loaded(paths)
    assert [one.id for one in documents.groups.all()] == ["b"]
    [problem] = documents.problems()
    assert (problem.code, problem.field) == (code, field)


@pytest.mark.corpus(11)
async def test_two_of_one_id_are_one_and_the_second_is_reported(paths: DataPaths) -> None:
    _file(paths, "a.json", {"id": "crew", "name": "First"})
    _file(paths, "b.json", {"id": "CREW", "name": "Second"})
    documents = await loaded(paths)
    assert [one.name for one in documents.groups.all()] == ["First"]
    [problem] = documents.problems()
    assert (problem.code, problem.field, Path(problem.path).name) == ("duplicate_id", "id", "b.json")


@pytest.mark.threat("T11")
@pytest.mark.corpus(40)
async def test_a_command_is_reported_and_not_kept(paths: DataPaths) -> None:
    _file(paths, "crew.json", {"id": "crew", "name": "Crew", "command": "rm -rf /"})
    documents = await loaded(paths)
    assert [(one.code, one.field) for one in documents.problems()] == [("no_commands", "command")]
    await documents.groups.change(lambda: documents.groups.all()[0])
    assert b"rm -rf" not in b"".join(one.read_bytes() for one in paths.root.rglob("*") if one.is_file())


@pytest.mark.threat("T16")
async def test_an_id_that_can_name_no_file_is_refused(paths: DataPaths) -> None:
    documents = await loaded(paths)
    with pytest.raises(BadInput):
        await documents.groups.change(lambda: Group(id="../x", name="X"))
    assert not list(paths.root.iterdir())


@pytest.mark.allow_blocking
async def test_the_doctor_names_each_faulty_group_and_who_is_missing(paths: DataPaths) -> None:
    _file(paths, "crew.json", {"id": "crew", "name": "Crew", "members": ["browser", "nobody"]})
    _file(
        paths, "lost.json", {"id": "lost", "name": "Lost", "orchestrator": {"provider": "gone", "model": "m"}}
    )
    _file(paths, "half.json", b'{"id": "half",')
    _file(paths, "twin.json", {"id": "crew", "name": "Twin"})
    lines = Lines()
    arguments = Arguments(command="doctor", json=True)
    assert await examine(paths, arguments, lines, load_texts("en")) == FAULT
    rows = json.loads(lines.out)
    groups = {str(row["found"]).split(":")[0]: row for row in rows if row["check"] == "group"}
    assert groups["Crew (crew)"]["ok"] is False
    assert "nobody" in str(groups["Crew (crew)"]["remedy"])
    assert "gone" in str(groups["Lost (lost)"]["remedy"])
    files = " ".join(str(row["found"]) for row in rows if row["check"] == "files")
    assert "half.json" in files
    assert "twin.json" in files
