"""A council as people have it on the command line: three providers, a kill, and what it says afterwards."""

import json
from pathlib import Path

from app.engine.council.puzzles import puzzles
from tests.stories.processes import Running, look, moot
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

THREE = (
    "-p", "GPT=openai/openai-wire",
    "-p", "Claude=anthropic/anthropic-wire",
    "-p", "제미나이=gemini/gemini-wire",
)  # fmt: skip
QUESTION = "Postgres or SQLite on the server?"
HELD = {"openai": "Postgres", "anthropic": "SQLite", "gemini": "Postgres"}


def said(kind: str, text: str) -> str:
    """Answer as a participant, or compare the answers where that is asked."""
    if "Compare their answers" in text:
        options = [{"text": one, "answers": [number]} for number, one in enumerate(("one", "two"), 1)]
        return json.dumps({"options": options, "differ": [], "agreed": []})
    return f'{HELD[kind]}, said {kind}.\n@@ {{"answer": "{HELD[kind]}", "confidence": 80}}'


def test_three_answer_unseen_one_is_killed_and_nothing_is_asked_twice(
    wire_home: dict[str, WireServer], tmp_path: Path
) -> None:
    file = tmp_path / "sync.md"
    file.write_text("[GPT]: KESTREL laptops sync at night.", encoding="utf-8")
    slow = {"gemini"}
    for kind in HELD:
        server = wire_home[kind]
        server.script(
            f"{kind}-wire",
            lambda request, kind=kind: Answer(
                said(kind, str(request.messages[-1])), pace=9.0 * (kind in slow)
            ),
        )
        server.script(f"{kind}-other", lambda request, kind=kind: said(kind, str(request.messages[-1])))
    asked = ("council", QUESTION, *THREE, "--file", str(file), "--json")
    with Running(*asked) as council:
        session_id = council.session_id
        council.event("message.finished", 3)
        council.kill()
    slow.clear()
    openings = [one for server in wire_home.values() for one in server.requests]
    assert len(openings) == 3
    done = moot("resume", session_id, "--json")
    assert (done.status, done.err) == (0, "")
    requests = [one for server in wire_home.values() for one in server.requests]
    assert len(requests) == 5
    for one in openings:
        body = json.dumps(one.body, ensure_ascii=False)
        assert QUESTION in body and "[GPT]: KESTREL laptops sync at night." in body
        assert not any(f"said {kind}" in body for kind in HELD)
    shown = look("show", session_id, "--json").json
    assert (shown["kind"], shown["debate"]["mode"]) == ("debate", "council")
    answers = {
        one["author"]["name"]: one
        for one in shown["messages"]
        if one["part"] == "answer" and one["state"] == "done"
    }
    assert {name: one["content"] for name, one in answers.items()} == {
        "GPT": "Postgres, said openai.", "Claude": "SQLite, said anthropic.", "제미나이": "Postgres, said gemini.",
    }  # fmt: skip
    assert answers["GPT"]["data"]["confidence"] == 80
    assert shown["council"]["outcome"]["answered"] == 3
    text = look("show", session_id).out
    assert "3 of 3 answered" in text and "80 % sure" in text and "@@" not in text and '"options"' not in text


def test_two_answers_are_enough_and_it_says_that_one_is_missing(wire_home: dict[str, WireServer]) -> None:
    for kind in HELD:
        reply = Fault("e401") if kind == "gemini" else said(kind, "")
        wire_home[kind].script(f"{kind}-wire", lambda _request, reply=reply: reply)
    done = moot("council", QUESTION, *THREE, "--no-differences")
    assert done.status == 0, done.err
    assert "2 of 3 answered" in done.out and "Open: a tie" in done.out
    assert sum(len(server.requests) for server in wire_home.values()) == 3


def test_one_participant_is_no_council(wire_home: dict[str, WireServer]) -> None:
    done = moot("council", QUESTION, *THREE[:2])
    assert done.status == 2 and len(done.err.splitlines()) == 1
    assert not any(server.requests for server in wire_home.values())


def test_what_is_open_is_debated_where_that_is_asked(wire_home: dict[str, WireServer]) -> None:
    def reply(kind: str, text: str) -> str:
        if "Open, each with its letter" not in text and "secret ballot" not in text:
            return said(kind, text)
        vote = json.dumps({"choice": "A", "confidence": 90, "moved_by": []})
        return vote if "secret ballot" in text else f"{kind} argues.\n@@ {vote}"

    for kind in HELD:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, str(one.messages[-1])))
    done = moot("council", QUESTION, *THREE, "--debate", "--rounds", "1")
    assert done.status == 0, done.err
    assert "openai argues." in done.out and "@@" not in done.out and "3 of 3 answered" in done.out
    assert sum(len(server.requests) for server in wire_home.values()) == 4 + 3 + 3
    assert moot("council", QUESTION, *THREE, "--debate", "--rounds", "9").status == 2


def test_a_panel_is_measured_on_puzzles_and_goes_on_where_it_was(wire_home: dict[str, WireServer]) -> None:
    (puzzle,) = puzzles(1, 2, 7)
    right, wrong = puzzle.text(puzzle.solution), puzzle.text(tuple(not one for one in puzzle.solution))

    def reply(kind: str, text: str) -> str:
        answer = wrong if kind == "anthropic" else right
        if "Compare their answers" in text:
            numbers = {one: [] for one in (right, wrong)}  # type: dict[str, list[int]]
            for line in text.splitlines():
                for one, found in numbers.items():
                    found += [int(line[1])] if line.startswith("(") and one in line else []
            options = [{"text": one, "answers": found} for one, found in numbers.items()]
            return json.dumps({"options": options, "differ": [], "agreed": []})
        letter = next((line[0] for line in text.splitlines() if line[1:] == f": {right}"), "")
        vote = json.dumps({"choice": letter, "confidence": 90, "moved_by": []})
        if "secret ballot" in text:
            return vote
        trailer = vote if letter else json.dumps({"answer": answer, "confidence": 80})
        return f"{right if letter else answer}.\n@@ {trailer}"

    for kind in HELD:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, one.messages[-1].text))
    asks = ("bench", "council", *THREE, "--tasks", "knights:2", "--seed", "7")
    done = moot(*asks, "--n", "1", "--yes", "--json")
    assert done.status == 0, done.err
    assert sum(len(server.requests) for server in wire_home.values()) == 4 + 3 + 3
    found = done.json
    shares = {name: round(arm["share"], 2) for name, arm in found["arms"].items()}
    assert shares == {"alone": 0.67, "vote": 1.0, "round1": 1.0, "default": 1.0}
    assert (found["trailers_read"], found["ballots_read"]) == ([6, 6], [3, 3])
    assert (
        0
        < found["arms"]["alone"]["tokens"]
        < found["arms"]["vote"]["tokens"]
        < found["arms"]["default"]["tokens"]
    )
    done = moot(*asks, "--n", "1")
    assert done.status == 0, done.err
    assert "one participant alone:  66.7 %" in done.out and "fewer than 200" in done.out
    assert sum(len(server.requests) for server in wire_home.values()) == 10
    assert moot(*asks, "--n", "2").status == 2
    assert moot("bench", "council", *THREE, "--tasks", "zebra", "--yes").status == 2
