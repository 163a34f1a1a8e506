"""Skills on the command line: added, looked at, allowed, told to the assistant that has them, and read by it."""

import json
import zipfile
from pathlib import Path

import pytest

from app.core.skills import MOST_TOLD
from app.engine.history import tokens_of
from tests.stories.processes import look, moot
from tests.stories.test_ask import call, openai, wire_home, wire_servers
from tests.wire import Answer, WireServer

__all__ = ["openai", "wire_home", "wire_servers"]

REPLY = """---
name: guest-reply
description: >-
  Answers guests.
  For bookings.
---
# Guest replies
Rates: https://example.org/rates. Run `python scripts/fill.py`.
Ask for the\u200b date first.
"""


def a_skill(folder: Path, name: str = "guest-reply", text: str = REPLY, **files: str) -> Path:
    """Write a skill with further files into a folder and return its own."""
    place = folder / name
    for path, held in {"SKILL.md": text, **files}.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(held, encoding="utf-8")
    return place


def an_assistant(data_dir: Path, *skills: str) -> None:
    """Write an assistant that has these skills."""
    place = data_dir / "assistants" / "mina.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps({"id": "mina", "name": "Mina", "skills": list(skills)}))


def system_of(server: WireServer, number: int = -1) -> str:
    """Return the system text of a request."""
    message = server.requests[number].body["messages"][0]
    assert message["role"] == "system"
    return json.dumps(message["content"], ensure_ascii=False)


def names(server: WireServer) -> list[str]:
    """Return the names of the tools that the last request offers."""
    return [tool["function"]["name"] for tool in server.requests[-1].body.get("tools", ())]


def test_an_allowed_skill_is_told_and_read_and_a_changed_one_is_not(
    openai: WireServer, data_dir: Path, tmp_path: Path
) -> None:
    place = a_skill(tmp_path, **{"scripts/fill.py": "print('filled')\n"})
    done = moot("skills", "add", str(place), "--lang", "en")
    assert done.status == 0 and "Added, but not allowed yet" in done.out
    for said in ("1 invisible character", "https://example.org/rates", "python scripts/fill.py"):
        assert said in done.out
    an_assistant(data_dir, "guest-reply", "meeting-minutes")
    openai.script("openai-wire", ["No.", "No."])
    assert moot("ask", "mina", "Hello").status == 0
    assert "meeting-minutes" in system_of(openai) and "guest-reply" not in system_of(openai)

    assert moot("skills", "allow", "guest-reply").status == 0
    rows = {row["name"]: row["state"] for row in look("skills", "--json").json}
    assert rows["guest-reply"] == "allowed" and rows["meeting-minutes"] == "built_in" and len(rows) == 5
    calls = (
        call("read_skill", name="guest-reply"),
        call("read_skill", name="guest-reply", path="scripts/fill.py"),
        call("read_skill", name="guest-reply", path="../../consents.json"),
        call("read_skill", name="research-brief"),
    )
    openai.script("openai-wire", [Answer(calls=calls), "Done."])
    asked = moot("ask", "mina", "Answer the guest")
    assert (asked.status, asked.err) == (0, "")
    assert "- guest-reply: Answers guests. For bookings." in system_of(openai) and "read_skill" in names(
        openai
    )
    results = [item["content"] for item in openai.requests[-1].body["messages"] if item["role"] == "tool"]
    assert (
        "Ask for the⟨U+200B⟩ date first." in results[0] and "[Further files: scripts/fill.py]" in results[0]
    )
    assert results[1] == "guest-reply/scripts/fill.py:\nprint('filled')\n"
    assert "has no file '../../consents.json'" in results[2]
    assert "there is no skill 'research-brief' that you may read" in results[3]

    (data_dir / "skills" / "guest-reply" / "scripts" / "fill.py").write_text("import os\n")
    openai.script("openai-wire", [Answer(calls=(call("read_skill", name="guest-reply"),)), "Done."])
    assert moot("ask", "mina", "Again").status == 0
    assert "guest-reply" not in system_of(openai)
    assert "there is no skill 'guest-reply'" in openai.requests[-1].body["messages"][-1]["content"]
    assert {row["name"]: row["state"] for row in look("skills", "--json").json}["guest-reply"] == "changed"


def test_a_folder_gives_its_skills_to_every_assistant_there(openai: WireServer, data_dir: Path) -> None:
    folders = data_dir / "folders"
    folders.mkdir()
    folder = {"id": "hotel", "name": "Hotel", "kind": "folder", "skills": ["decision-memo"]}
    (folders / "hotel.json").write_text(json.dumps(folder))
    openai.script("openai-wire", ["Yes.", "Yes."])
    assert moot("ask", "guide", "Hello", "--folder", "Hotel").status == 0
    assert "decision-memo" in system_of(openai) and "read_skill" in names(openai)
    assert moot("ask", "guide", "Hello").status == 0
    assert "decision-memo" not in system_of(openai) and "read_skill" not in names(openai)


def test_what_is_told_of_many_skills_has_two_thousand_tokens(
    openai: WireServer, data_dir: Path, tmp_path: Path
) -> None:
    many = [f"skill-{number}" for number in range(50)]
    for name in many:
        a_skill(tmp_path / "all", name, f"---\nname: {name}\ndescription: {'word ' * 200}\n---\n")
    assert moot("skills", "add", str(tmp_path / "all"), "--yes", "--json").status == 0
    assert moot("skills", "add", str(a_skill(tmp_path))).status == 2
    an_assistant(data_dir, *many)
    openai.script("openai-wire", ["Yes."])
    assert moot("ask", "mina", "Hello").status == 0
    lines = [line for line in json.loads(system_of(openai)).splitlines() if line.startswith("- skill-")]
    assert MOST_TOLD * 0.9 < tokens_of("\n".join(lines)) <= MOST_TOLD
    assert any("word" in line for line in lines) and any("word" not in line for line in lines)


def test_a_removed_skill_comes_back_from_the_trash(data_dir: Path, tmp_path: Path) -> None:
    packed = tmp_path / "reply.zip"
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("guest-reply/SKILL.md", REPLY)
        file.writestr("guest-reply/notes/rates.md", "100")
    added = moot("skills", "add", str(packed), "--yes", "--json").json
    assert [(row["name"], row["state"], row["hidden"]) for row in added] == [("guest-reply", "allowed", 1)]
    assert moot("skills", "remove", "guest-reply").status == 0
    assert not (data_dir / "skills" / "guest-reply").exists()
    assert moot("skills", "show", "guest-reply").status == 2


@pytest.mark.parametrize("name", ["Guest", "a--b", "../out", "con", "x" * 65, "", "null"])
def test_a_skill_without_a_valid_name_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    place = a_skill(tmp_path, "any", f"---\nname: {name}\ndescription: Any.\n---\n")
    done = moot("skills", "add", str(place), "--lang", "en")
    valid = name == "null"
    assert (done.status, len(done.err.splitlines())) == ((0, 0) if valid else (2, 1))
    assert len(look("skills", "--json").json) == 4 + valid
