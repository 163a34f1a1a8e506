"""`moot memory`: listed, added and deleted, in both languages; what may not be kept ends with 2."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.cli.arguments import parse_arguments
from app.cli.printing.lines import load_texts
from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.session import Folder
from app.wiring import Moot, open_moot
from tests.asked import run


@pytest.fixture
async def moot(data_dir: Path) -> AsyncIterator[Moot]:
    moot = await open_moot(data_dir)
    await moot.engine.assistants.save(Agent(id="mina", name="Mina"))
    await moot.engine.folders.save(Folder(id="", name="House"))
    yield moot
    await moot.close()


async def _typed(moot: Moot, *words: str, language: str = "en") -> tuple[int, str]:
    texts = load_texts(language)
    status, out = await run(moot, parse_arguments(["memory", *words, "--lang", language], texts))
    return status, out.out


async def test_a_note_is_added_listed_and_deleted(moot: Moot) -> None:
    assert await _typed(moot) == (0, "Nothing remembered yet. It asks you before it keeps something.\n")
    status, note_id = await _typed(moot, "add", "Check-in is from 3 pm.", "--for", "Mina", "--local")
    assert status == 0
    _, out = await _typed(moot, "add", "Breakfast is at 8.", "--folder", "House", "--json")
    second = json.loads(out)
    assert (second["for"], second["folder"], second["from"], second["local"]) == ("", "House", "Typed", False)
    _, out = await _typed(moot, "list", "--json")
    rows = json.loads(out)
    assert [(row["text"], row["for"], row["folder"], row["local"]) for row in rows] == [
        ("Breakfast is at 8.", "", "House", False),
        ("Check-in is from 3 pm.", "Mina", "", True),
    ]
    assert [rows[0]["id"], rows[1]["id"]] == [second["id"], note_id.strip()]
    assert (await _typed(moot, "list", language="ko"))[1].count("직접 입력") == 2
    assert await _typed(moot, "remove", note_id.strip()) == (0, "Deleted the note.\n")
    assert [note.text for note in moot.engine.memory.all()] == ["Breakfast is at 8."]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["add", "x" * 501, "--for", "Mina"], "text_too_long"),
        (["add", "sk-ant-api03-" + "Ab3" * 30, "--for", "Mina"], "note_has_key"),
        (["add", "No one"], "usage_missing"),
        (["add", "Hm", "--for", "Nobody"], "assistant_not_found"),
        (["add", "Hm", "--folder", "Nowhere"], "folder_not_found"),
        (["remove", "nothing"], "note_not_found"),
    ],
)
async def test_what_may_not_be_kept_ends_with_2(moot: Moot, words: list[str], code: str) -> None:
    with pytest.raises((BadInput, NotFound)) as refused:
        await _typed(moot, *words)
    assert refused.value.code == code
    assert moot.engine.memory.all() == ()
