"""A group is proposed from the command line: printed, and made by `--yes` alone, on a real server."""

import json
from pathlib import Path

import pytest

from tests.stories.processes import moot
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

TASK = "Plan the opening of our hanok."
COOK = {
    "name": "Cook",
    "role": "Breakfast",
    "instructions": "You plan breakfasts.",
    "tools": ["web_search"],
    "why": "Guests eat.",
}
PROPOSED = {
    "name": "Hanok desk",
    "instructions": "Begin with the guests.",
    "orchestrator": "anthropic/anthropic-wire",
    "members": [
        {"name": "Dana", "role": "", "instructions": "", "tools": [], "why": "She knows them."},
        COOK,
    ],
}


@pytest.fixture
def server(wire_home: dict[str, WireServer], data_dir: Path) -> WireServer:
    folder = data_dir / "assistants"
    folder.mkdir(parents=True)
    dana = {"version": 1, "id": "dana-1", "name": "Dana", "role": "Guests"}
    (folder / "dana-1.json").write_text(json.dumps(dana), encoding="utf-8")
    server = wire_home["openai"]
    server.script(server.model, lambda _request: Answer(json.dumps(PROPOSED)))
    return server


def kept(data_dir: Path) -> tuple[list[str], list[str]]:
    folders = (data_dir / "assistants", data_dir / "groups")
    first, second = (sorted(one.name for one in folder.glob("*.json")) for folder in folders)
    return first, second


@pytest.mark.parametrize("language", ["en", "ko"])
def test_it_is_printed_with_its_price_and_nothing_is_made(
    server: WireServer, data_dir: Path, language: str
) -> None:
    done = moot("propose", TASK, "--lang", language)
    assert done.status == 0, done.err
    assert "openai-wire" in done.err and done.err.count("\n") == 1, "who is asked, and for how much"
    assert "- Dana (Guests): She knows them.\n" in done.out
    assert "- Cook (Breakfast): Guests eat. · files, web_search · You plan breakfasts.\n" in done.out
    assert done.out.splitlines()[0].startswith("Hanok desk · ")
    assert "--yes" in done.out.splitlines()[-1]
    assert kept(data_dir) == (["dana-1.json"], [])
    [request] = server.requests
    assert request.refused == "" and TASK in request.messages[-1].text


def test_yes_makes_the_group_and_its_new_members(server: WireServer, data_dir: Path) -> None:
    looked = moot("propose", TASK, "--json")
    assert (looked.status, looked.json["id"], looked.json["name"]) == (0, "", "Hanok desk")
    assert [(one["name"], one["why"]) for one in looked.json["members"]] == [
        ("Dana", "She knows them."),
        ("Cook", "Guests eat."),
    ]
    assert kept(data_dir) == (["dana-1.json"], [])
    made = moot("propose", TASK, "--json", "--yes")
    assert made.status == 0, made.err
    assert kept(data_dir) == (["cook.json", "dana-1.json"], [f"{made.json['id']}.json"])
    group = json.loads((data_dir / "groups" / f"{made.json['id']}.json").read_text("utf-8"))
    assert group["members"] == ["dana-1", "cook"]
    assert group["orchestrator"]["provider"] == "anthropic"


def test_what_goes_wrong_is_said_with_what_to_do(server: WireServer, data_dir: Path) -> None:
    server.script(server.model, lambda _request: Answer("I would ask Dana."))
    wrong = moot("propose", TASK, "--yes", "--lang", "en")
    assert (wrong.status, wrong.out) == (2, "")
    assert "choose another model" in wrong.err.splitlines()[-1]
    server.script(server.model, lambda _request: Fault("e401"))
    refused = moot("propose", TASK, "--yes", "--lang", "en")
    assert (refused.status, refused.out) == (2, "")
    assert "does not accept the key" in refused.err.splitlines()[-1]
    assert kept(data_dir) == (["dana-1.json"], [])


def test_the_built_in_model_says_that_it_cannot(data_dir: Path) -> None:
    done = moot("propose", TASK, "--lang", "en")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "too small to propose a group" in done.err
