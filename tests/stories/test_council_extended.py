"""What a council can be asked further on the command line: each with its price first, and the exit status of what came of it."""

import json
import re
from pathlib import Path

import pytest

from tests.stories.processes import moot, shown
from tests.stories.test_council import HELD, QUESTION, THREE, letters
from tests.wire import Fault, WireServer
from tests.wire.fixtures import call_count, wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

TWO = THREE[:4]
FILES = "Plain files"


def reply(kind: str, text: str) -> str:
    """Answer, argue, vote and object; who is asked from outside says something else."""
    held = FILES if kind == "gemini" else HELD[kind]
    shown = letters(text)
    if "You judge a question" in text:
        return json.dumps({"choice": shown["Postgres"], "confidence": 70})
    trailer = json.dumps({"answer": held, "confidence": 80})
    if "Open, each with its letter" not in text and "secret ballot" not in text:
        return f"{held}, said {kind}.\n@@ {trailer}"
    vote = json.dumps({"choice": shown.get(held, "A"), "confidence": 90, "moved_by": []})
    return vote if "secret ballot" in text else f"{kind} argues.\n@@ {vote}"


@pytest.fixture
def council(wire_home: dict[str, WireServer], data_dir: Path) -> str:
    """Ask two of three families; the third may be asked from outside. Return the session's id."""
    (data_dir / "settings.json").write_text(json.dumps({"version": 1, "may_read_any": ["gemini"]}), "utf-8")
    for kind in HELD:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, one.messages[-1].text))
    done = moot("council", QUESTION, *TWO, "--no-differences")
    assert done.status == 0, done.err
    return re.findall(r"^  (\w{26})$", done.out, re.MULTILINE)[0]


def test_an_outside_answer_takes_part_and_what_is_open_is_debated(
    wire_home: dict[str, WireServer],
    council: str,
) -> None:
    before = call_count(wire_home)
    assert moot("extend", council, "join").status == 2
    checked = moot("extend", council, "check", "--json")
    assert checked.status == 0, checked.err
    price = checked.events[0]
    assert (price["event"], price["step"], price["calls"]) == ("estimate", "check", 1)
    assert price["session_id"] == council and price["tokens"][0] > 0  # type: ignore[index]
    assert call_count(wire_home) == before + 1 == before + len(wire_home["gemini"].requests)
    seated = moot("extend", council, "join")
    assert seated.status == 0, seated.err
    assert "3 of 3 answered" in seated.out and call_count(wire_home) == before + 1, "no call for that"
    session = shown(council)
    joined = session["debate"]["participants"][2]
    assert (joined["provider"], joined["name"]) == ("gemini", "gemini-wire")
    votes = {one["participant"]: one["choice"] for one in session["council"]["ballots"]}
    texts = {one["id"]: one["text"] for one in session["council"]["options"]}
    assert texts[votes[joined["id"]]] == FILES
    again = moot("extend", council, "join")
    assert again.status == 2 and "outside answer" in again.err
    # It argues and votes as everybody does: three turns and three ballots, and no call for what it held at first.
    debated = moot("extend", council, "debate", "--rounds", "1", "--judge", "none")
    assert debated.status == 0, debated.err
    assert debated.out.startswith("Debate what is open: 6 calls · ")
    # Three models of known providers are checked before they vote, this once.
    assert debated.out.splitlines()[0].endswith(" · first time: + 12 calls")
    assert sum(len(one.check_requests) for one in wire_home.values()) == 12
    assert call_count(wire_home) == before + 1 + 6
    assert "gemini argues." in debated.out
    assert sum(shown(council)["council"]["outcome"]["after"]["votes"].values()) == 3


@pytest.mark.slow
def test_one_model_alone_a_stress_test_and_a_judge_are_asked_with_their_price_first(
    wire_home: dict[str, WireServer],
    council: str,
) -> None:
    before = call_count(wire_home)
    alone = moot("extend", council, "solo")
    assert alone.status == 0, alone.err
    assert alone.out.startswith("One model alone: 1 call · ") and call_count(wire_home) == before + 1
    assert "tokens to think in" in "".join(
        json.dumps(one.body) for kind in ("openai", "anthropic") for one in wire_home[kind].requests
    )
    stressed = moot("extend", council, "stress", "--json")
    assert stressed.status == 0, stressed.err
    assert stressed.events[0]["step"] == "stress"
    assert len(wire_home["gemini"].requests) >= 1, "the one from outside objects"
    letter = next(iter(shown(council)["council"]["options"]))
    assert letter["id"]
    argued = moot("extend", council, "argue", "--option", "b", "--json")
    assert argued.status == 0, argued.err
    judged = moot("extend", council, "judge", "--judge", "gemini/gemini-wire", "--json")
    assert judged.status == 0, judged.err
    assert shown(council)["council"]["outcome"]["judge"] == "gemini/gemini-wire"


@pytest.mark.slow
def test_what_cannot_be_done_is_said_and_starts_nothing(
    wire_home: dict[str, WireServer],
    council: str,
    data_dir: Path,
) -> None:
    before = call_count(wire_home)
    for words in (
        ("debate", "--rounds", "9"),
        ("debate", "--judge", "nobody"),
        ("argue", "--option", "Z"),
        ("argue",),
        ("dance",),
    ):
        refused = moot("extend", council, *words)
        assert refused.status == 2 and len(refused.err.splitlines()) == 1, words
    # With one provider fewer there is nobody outside, and that is said.
    (data_dir / "settings.json").write_text(json.dumps({"version": 1}), "utf-8")
    refused = moot("extend", council, "check")
    assert refused.status == 2 and "no model of another family" in refused.err
    assert call_count(wire_home) == before
    debate = moot("debate", QUESTION, *TWO, "--rounds", "1", "--json")
    assert moot("extend", str(debate.events[0]["session_id"]), "solo").status == 2
    # A call that fails is a fault, and the event that says so has its code.
    for kind in ("openai", "anthropic"):
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda _request: Fault("e401"))
    failed = moot("extend", council, "solo", "--json")
    assert failed.status == 1
    [message] = [one["message"] for one in failed.events if one["event"] == "message.finished"]
    assert message["error"]["kind"] == "authentication"  # type: ignore[index]
