"""Files from elsewhere are read within their limits, or refused with what is wrong and where."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import BadInput
from app.storage import foreign_file
from app.storage.foreign_file import MAX_DEPTH, read_foreign


def values_of(path: Path) -> list[Any]:
    return list(read_foreign(path))


def written(folder: Path, data: bytes | str, name: str = "export.json") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zipped(**entries: bytes | str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name.replace("_json", ".json"), content)
    return data.getvalue()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('[{"a": 1}, 2, [3]]', [{"a": 1}, 2, [3]]),
        (" [ ] ", []),
        ('\ufeff{"a": [1, 2]}\n', [{"a": [1, 2]}]),
        ('"x"', ["x"]),
        ("[1,\n2]\n", [1, 2]),
    ],
)
def test_a_list_is_read_item_by_item_and_all_else_whole(tmp_path: Path, text: str, values: list[object]):
    assert values_of(written(tmp_path, text)) == values


def test_of_a_zip_all_json_is_read_whatever_it_is_called(tmp_path: Path):
    path = written(
        tmp_path, zipped(conversations_json="[1, 2]", user_json='{"a": 3}', page="<html>"), "x.bin"
    )
    assert values_of(path) == [1, 2, {"a": 3}]


@pytest.mark.threat("T17")
@pytest.mark.corpus(17, 18, 19, 21)
@pytest.mark.parametrize(
    ("data", "where"),
    [
        ("", "export.json:1"),
        ("[1, 2", "export.json:1"),
        ("[1 2]", "export.json:1"),
        ('{"a":\n\n x}', "export.json:3"),
        ("[1] 2", "export.json:1"),
        ('{"a": 1} {}', "export.json:1"),
        ("[NaN]", "export.json"),
        ('{"a": Infinity}', "export.json"),
        ("[" * 100_000, "export.json"),
        ('{"a":' * (MAX_DEPTH + 5) + "1" + "}" * (MAX_DEPTH + 5), "export.json"),
        ("[" + "1" * 10_000 + "]", "export.json"),
        (b"\xff\xfe[\x001\x00]\x00", "export.json"),
        (b"[\xed\xa0\x80]", "export.json"),
        (b"\0" * 100, "export.json:1"),
    ],
)
def test_what_is_no_sound_json_is_refused_with_its_place(tmp_path: Path, data: bytes | str, where: str):
    with pytest.raises(BadInput) as refused:
        values_of(written(tmp_path, data))
    assert (refused.value.code, refused.value.details["where"]) == ("import_wrong", where)


def test_depth_is_allowed_up_to_the_limit(tmp_path: Path):
    text = "[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH
    assert len(values_of(written(tmp_path, text))) == 1


def test_what_cannot_be_opened_is_said_to_be_so(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "pipe.json"):
        with pytest.raises(BadInput, match="file_unreadable"):
            values_of(path)


@pytest.mark.threat("T17")
@pytest.mark.corpus(37, 38, 39)
def test_bombs_and_odd_zips_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bomb = written(tmp_path, zipped(a_json=b" " * 30_000_000))
    with pytest.raises(BadInput, match="zip_unpacks_too_large"):
        values_of(bomb)
    many = written(tmp_path, zipped(**{f"a{number}_json": "1" for number in range(10_001)}))
    with pytest.raises(BadInput, match="zip_too_many"):
        values_of(many)
    up = io.BytesIO()
    with zipfile.ZipFile(up, "w") as file:
        file.writestr("../x.json", "1")
    with pytest.raises(BadInput, match="zip_odd_entry"):
        values_of(written(tmp_path, up.getvalue()))
    with pytest.raises(BadInput, match="zip_damaged"):
        values_of(written(tmp_path, b"PK\x03\x04" + bytes(100)))
    monkeypatch.setattr(foreign_file, "LIMITS", foreign_file.LIMITS._replace(file=1_000))
    with pytest.raises(BadInput, match="file_too_large_mb"):
        values_of(written(tmp_path, json.dumps(["x" * 2_000])))
