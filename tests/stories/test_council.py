"""A council as people have it on the command line: three providers, a kill, and what it says afterwards."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.repeats import slow_after
from tests.stories.processes import Running, look, moot
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import call_count, wire_home, wire_servers

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
    assert "3 of 3 answered" in text and "80% sure" in text and "@@" not in text and '"options"' not in text


def test_two_answers_are_enough_and_it_says_that_one_is_missing(wire_home: dict[str, WireServer]) -> None:
    for kind in HELD:
        reply = Fault("e401") if kind == "gemini" else said(kind, "")
        wire_home[kind].script(f"{kind}-wire", lambda _request, reply=reply: reply)
    done = moot("council", QUESTION, *THREE, "--no-differences")
    assert done.status == 0, done.err
    assert "2 of 3 answered" in done.out and "Open: a tie" in done.out
    assert call_count(wire_home) == 3


FIVE = {
    "GPT": ("openai/openai-wire", "Postgres"),
    "GPT mini": ("openai/openai-other", "SQLite"),
    "Claude": ("anthropic/anthropic-wire", "SQLite"),
    "Haiku": ("anthropic/anthropic-other", "Postgres"),
    "Gemini": ("gemini/gemini-wire", "Files"),
}
OPTIONS = ("Postgres", "SQLite", "Files")


def five_minds(home: dict[str, WireServer]) -> None:
    """Script five participants, of whom the second is won over in round 1, and a judge who holds to the first option.

    The second names an answer that holds the option; the judge says that it does not argue for it.
    """

    def reply(model: str, text: str) -> str:
        held = next((option for one, option in FIVE.values() if one.endswith(model)), "Postgres")
        if "Compare their answers" in text:
            by = {option: [] for option in OPTIONS}  # type: dict[str, list[int]]
            for line in text.splitlines():
                for option in OPTIONS:
                    by[option] += [int(line[1])] if line.startswith("(") and f") {option}," in line else []
            options = [{"text": option, "answers": found} for option, found in by.items()]
            return json.dumps({"options": options, "differ": [], "agreed": []})
        if "changes of position in a debate" in text:
            return json.dumps({"moves": [{"move": 1, "argues": False}]})
        letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
        if "You did not take part" in text:
            case = {"option": letters["Postgres"], "text": "It fits.", "cites": [1]}
            lists = {"agreed": [], "open": [], "cruxes": [], "claims": [], "unsupported": []}
            return json.dumps({"choice": letters["Postgres"], "confidence": 80, "cases": [case], **lists})
        if "the strongest reason" in text.casefold() or not letters:
            trailer = {"answer": held, "confidence": 70, "right_if": "It breaks."}
            return f"{held}, because.\n@@ {json.dumps(trailer)}"
        moved_by = []
        if model == "openai-other":
            held, cited = "Postgres", re.findall(r"^\((\d+)\) Participant \w: Postgres", text, re.MULTILINE)
            moved_by = [int(cited[0])]
        vote = json.dumps({"choice": letters[held], "confidence": 70, "moved_by": moved_by})
        return vote if "secret ballot" in text else f"I argue for {held}.\n@@ {vote}"

    for server in home.values():
        for model in server.models:
            server.script(model, lambda one, model=model: reply(model, one.messages[-1].text))


def _calls_ended(shown: dict[str, object]) -> int:
    messages = shown["messages"]
    return sum(one["role"] == "assistant" and one["state"] == "done" for one in messages)  # type: ignore[attr-defined,index]


def _came_out(shown: dict[str, object]) -> object:
    """Return an outcome in words, without ids."""
    names = {one["id"]: one["name"] for one in shown["debate"]["participants"]}  # type: ignore[index]
    council = shown["council"]
    texts = {one["id"]: one["text"] for one in council["options"]}  # type: ignore[index]
    found = council["outcome"]  # type: ignore[index]
    minority = [
        (texts[one["option"]], [names[who] for who in one["holders"]], one["now"])
        for one in found["minority"]
    ]
    votes = [
        {texts[one]: count for one, count in found[part]["votes"].items()} for part in ("before", "after")
    ]
    moves = [
        (names[one["participant"]], one["round"], texts[one["option"]], one["moved"], one["argues"])
        for one in found["moves"]
    ]
    return found["state"], texts.get(found["headline"]), found["unstable"], votes, minority, moves


SPECS = tuple(part for name, (model, _) in FIVE.items() for part in ("-p", f"{name}={model}"))
DEBATED = (
    "council",
    QUESTION,
    *SPECS,
    "--debate",
    "--rounds",
    "2",
    "--seed",
    "5",
    "--judge",
    "ollama/ollama-wire",
)


@pytest.mark.parametrize("records", slow_after(1, [((7, 17, 24),), *(((cut,),) for cut in range(1, 27))]))
def test_a_council_of_26_calls_is_killed_after_a_record_and_asks_nothing_twice(
    wire_home: dict[str, WireServer], records: tuple[int, ...]
) -> None:
    five_minds(wire_home)
    whole = moot(*DEBATED, "--json")
    assert whole.status == 0, whole.err
    shown = look("show", whole.events[0]["session_id"], "--json").json
    calls = call_count(wire_home)
    # Five answers, the comparison, two rounds of five turns, five ballots, two readings, a move judged, and two dissents.
    assert calls == _calls_ended(shown) == 26
    assert _came_out(shown)[-1] == [("GPT mini", 1, "Postgres", "drift", False)]
    judged = [
        one.messages[-1].text
        for server in wire_home.values()
        for one in server.requests
        if "changes of position in a debate" in one.messages[-1].text
    ]
    assert len(judged) == 1 and re.search(r"^\(1\) Postgres\n“Postgres, because\.”$", judged[0], re.MULTILINE)
    assert not any(name in judged[0] for name in FIVE)
    text = look("show", whole.events[0]["session_id"]).out
    assert "0 citing a statement that argues for the new one, as the judge read it, 1 without" in text
    assert (
        shown["council"]["helpers"]["moves"] == shown["council"]["helpers"]["judge"] == "ollama/ollama-wire"
    )
    for cut in records:
        with Running(*DEBATED, "--json") as council:
            session_id = council.session_id
            council.event("message.finished", cut + 1)
            council.kill()
        ended = _calls_ended(look("show", session_id, "--json").json)
        before = call_count(wire_home)
        done = moot("resume", session_id, "--json")
        assert done.status == 0 or ended == calls, done.err
        again = look("show", session_id, "--json").json
        assert call_count(wire_home) - before == calls - ended
        assert _came_out(again) == _came_out(shown)


def test_a_merged_answer_is_told_which_side_is_better_supported(wire_home: dict[str, WireServer]) -> None:
    five_minds(wire_home)
    done = moot("council", QUESTION, *SPECS[:6], "--ends", "merge", "--json")
    assert done.status == 0, done.err
    texts = [one.messages[-1].text for server in wire_home.values() for one in server.requests]
    [sent] = [one for one in texts if "Make one answer of theirs" in one]
    numbers = {option: re.findall(rf"^\((\d)\) {option}, because", sent, re.M) for option in OPTIONS}
    postgres, sqlite = numbers["Postgres"], ", ".join(numbers["SQLite"])
    assert (
        "What supports each side:\n"
        f"- SQLite: 2 of 3 hold it; held by answers ({sqlite})\n"
        f"- Postgres: 1 of 3 hold it; held by answers ({postgres[0]})\n"
        "Better supported: SQLite\n"
    ) in sent
    assert "take the side that is better supported, never a middle value" in sent
    assert not any(name in sent for name in FIVE)


def test_a_saved_panel_is_asked_by_its_name(wire_home: dict[str, WireServer], data_dir: Path) -> None:
    for kind in HELD:
        wire_home[kind].script(f"{kind}-wire", lambda _request, kind=kind: said(kind, ""))
    names = {"openai": "GPT", "anthropic": "Claude"}
    seats = [
        {"id": kind, "name": name, "provider": kind, "model": f"{kind}-wire"} for kind, name in names.items()
    ]
    (data_dir / "panels").mkdir()
    panel = {"id": "two", "name": "Two families", "participants": seats, "compare": False}
    (data_dir / "panels" / "two.json").write_text(json.dumps(panel))
    done = moot("council", QUESTION, "--panel", "Two families")
    assert done.status == 0, done.err
    assert "2 of 2 answered" in done.out
    assert [len(wire_home[kind].requests) for kind in HELD] == [1, 1, 0]
    assert moot("council", QUESTION, "--panel", "Three").status == 2
    # A panel may debate what is open without being told to; a flag is stronger than the panel.
    panel |= {"debates": True, "rounds": 1, "judge": "none"}
    (data_dir / "panels" / "two.json").write_text(json.dumps(panel))
    for more, rounds in (((), 1), (("--rounds", "2", "--judge", "any"), 2)):
        done = moot("council", QUESTION, "--panel", "two", "--json", *more)
        assert done.status == 0, done.err
        shown = look("show", done.events[0]["session_id"], "--json").json["debate"]
        assert (shown["council"]["rounds"], shown["judge"]) == (rounds, "any" if more else "none")
    listed = moot("panels")
    assert "Two families" in listed.out and "Claude=anthropic/anthropic-wire" in listed.out
    assert json.loads(moot("--json", "panels").out)[0]["id"] == "two"


def test_the_journal_lists_decisions_and_how_often_such_results_held_up(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    assert moot("journal", "--lang", "en").out.startswith("No decisions yet.")
    (data_dir / "journal").mkdir()
    for place in range(12):
        vote = {"model": "openai/gpt", "before": "A", "before_sure": 80, "after": "A", "after_sure": 80}
        kept = {
            "id": f"d{place}",
            "name": f"Question {place}",
            "decided": "A",
            "headline": "A",
            "panel": "Two",
        }
        kept |= {
            "state": "settled",
            "right": "A" if place else "",
            "result": "held" if place else "failed",
            "votes": [vote],
        }
        (data_dir / "journal" / f"d{place}.json").write_text(json.dumps(kept | {"due": "2026-06-30"}))
    listed = moot("journal").out
    assert re.search("Came true  2026-06-30  d3 +Question 3 +A\n", listed)
    assert "openai/gpt: right 11 of 12, a little less sure than it could be" in listed
    assert "Panel Two: right 11 of 12, a little less sure than it could be" in listed
    assert "Two: 11 of 12 held up (95% interval: 65 to 99%)" in listed
    record = json.loads(moot("--json", "journal").out)
    assert record["panel_scores"]["Two"] == record["scores"]["openai/gpt"]
    assert record["scores"]["openai/gpt"]["count"] == 12 and len(record["decisions"]) == 12
    assert {one["of"]: (one["held"], one["count"]) for one in record["held_up"]}["settled"] == (11, 12)


@pytest.mark.parametrize("compared", ["I cannot compare these.", Fault("e401")], ids=["unreadable", "failed"])
def test_answers_that_nobody_compared_are_grouped_and_it_says_so_first(
    wire_home: dict[str, WireServer], compared: str | Fault
) -> None:
    def reply(kind: str, text: str) -> str | Fault:
        return compared if "Compare their answers" in text else said(kind, text)

    for kind in HELD:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, str(one.messages[-1])))
    done = moot("council", QUESTION, *THREE)
    assert done.status == 0, done.err
    places = [
        done.out.index(one) for one in ("3 of 3 answered", "Grouped by their short answers", "A  Postgres")
    ]
    assert places == sorted(places)
    assert call_count(wire_home) == 4


def test_models_of_one_family_that_agree_are_never_settled(wire_home: dict[str, WireServer]) -> None:
    for model in wire_home["openai"].models:
        wire_home["openai"].script(model, lambda _one: said("openai", ""))
    done = moot(
        "council", QUESTION, "-p", "A=openai/openai-wire", "-p", "B=openai/openai-other", "--no-differences"
    )
    assert done.status == 0, done.err
    assert "2 of 2 answered" in done.out and "All agree, one family of models" in done.out


def test_one_participant_is_no_council(wire_home: dict[str, WireServer]) -> None:
    done = moot("council", QUESTION, *THREE[:2])
    assert done.status == 2 and len(done.err.splitlines()) == 1
    assert not any(server.requests for server in wire_home.values())


def letters(text: str) -> dict[str, str]:
    """Return the letter of each option as this reader sees them."""
    return {words: letter for letter, words in re.findall(r"^([A-Z]): (.+)$", text, re.MULTILINE)}


def argued(kind: str, text: str, chosen: Callable[[dict[str, str], str], str | Fault]) -> str | Fault:
    """Answer, argue and vote for what one said at first; the judge says what `chosen` makes of the letters."""
    if "You judge a question" in text:
        return chosen(letters(text), text)
    if "Write your dissent" in text:
        return 'Nobody tested it.\n@@ {"right_if": "a day of logs shows it"}'
    if "Open, each with its letter" not in text and "secret ballot" not in text:
        return said(kind, text)
    vote = json.dumps({"choice": letters(text)[HELD[kind]], "confidence": 90, "moved_by": []})
    return vote if "secret ballot" in text else f"{kind} argues.\n@@ {vote}"


def verdict(
    servers: dict[str, WireServer], chosen: Callable[[dict[str, str], str], str | Fault], *more: str,
    ballot: Callable[[str], str | None] = lambda _kind: None,
) -> tuple[str, Any]:  # fmt: skip
    """Debate one round over the wires; return what was printed, and the council as JSON."""

    def reply(kind: str, request: Any) -> str | Fault:
        text = request.messages[-1].text
        own = ballot(kind) if "secret ballot" in text else None
        return own if own is not None else argued(kind, text, chosen)

    for kind in HELD:
        for model in servers[kind].models:
            servers[kind].script(model, lambda one, kind=kind: reply(kind, one))
    done = moot("council", QUESTION, *THREE, "--no-differences", "--debate", "--rounds", "1", *more)
    assert done.status == 0, done.err
    session_id = re.findall(r"^  (\w{26})$", done.out, re.MULTILINE)[0]
    return done.out, look("show", session_id, "--json").json["council"]


def for_(option: str) -> Callable[[dict[str, str], str], str]:
    return lambda shown, _text: json.dumps({"choice": shown[option], "confidence": 70})


def test_what_is_open_is_debated_where_that_is_asked(wire_home: dict[str, WireServer]) -> None:
    out, council = verdict(wire_home, for_("Postgres"))
    assert "openai argues." in out and "@@" not in out and "3 of 3 answered" in out
    assert out.count("── Round 1 ──") == 1 and "Claude (Dissent):" in out
    assert re.search(r"^.*\d tokens.*$", out, re.MULTILINE), "what it has cost"
    assert call_count(wire_home) == 3 + 3 + 3 + 2 + 1
    result, (first, second) = council["outcome"], council["readings"]
    assert (result["state"], result["choice"], result["unstable"]) == ("leaning", result["headline"], False)
    assert first["shown"] == second["shown"][::-1] and (first["order"], second["order"]) == (1, 2)
    (minority,) = result["minority"]
    assert (minority["text"], minority["right_if"]) == ("Nobody tested it.", "a day of logs shows it")
    assert "A both times" in out or "B both times" in out
    assert "Nobody tested it." in out and "Right if a day of logs shows it" in out
    readings = [
        one for server in wire_home.values() for one in server.requests if "You judge" in json.dumps(one.body)
    ]
    for one in readings:
        text = one.messages[-1].text
        names = ("GPT", "Claude", "제미나이", "openai", "anthropic", "gemini", "-wire", "90", "80")
        assert len(one.messages) == 1 and not any(name in text for name in names)
    assert moot("council", QUESTION, *THREE, "--debate", "--rounds", "9").status == 2
    refused = moot("council", QUESTION, *THREE, "--debate", "--judge", "nobody")
    assert refused.status == 2 and "nobody" in refused.err


@pytest.mark.parametrize(
    ("ends", "calls"), [("none", 3), ("merge", 3 + 1), ("vote", 3 + 3 + 3), ("verdict", 3 + 3 + 3 + 2 + 1)]
)
def test_a_council_ends_as_was_chosen(wire_home: dict[str, WireServer], ends: str, calls: int) -> None:
    def chosen(shown: dict[str, str], _text: str) -> str:
        return json.dumps({"choice": shown["Postgres"], "confidence": 70})

    for kind in HELD:
        for model in wire_home[kind].models:
            said_by = partial(argued, kind)
            wire_home[kind].script(model, lambda one, said_by=said_by: said_by(one.messages[-1].text, chosen))
    done = moot("council", QUESTION, *THREE, "--no-differences", "--rounds", "1", "--ends", ends)
    assert done.status == 0, done.err
    assert call_count(wire_home) == calls
    session_id = re.findall(r"^  (\w{26})$", done.out, re.MULTILINE)[0]
    decision = look("show", session_id, "--json").json["decision"]
    assert (decision["how"], decision["ends"]) == ("answers", ends)
    assert [one["choice"] != "" for one in decision["readings"]] == (
        [True, True] if ends == "verdict" else []
    )


@pytest.mark.parametrize(
    ("more", "ends"),
    [
        (("--ends", "none", "--debate"), ("none", "verdict")),
        (("--ends", "vote", "--judge", "any"), ("vote", "verdict")),
        (("--ends", "verdict", "--debate", "--judge", "none"), ("verdict", "vote")),
    ],
)
def test_options_that_contradict_the_end_are_refused(
    wire_home: dict[str, WireServer], more: tuple[str, ...], ends: tuple[str, str]
) -> None:
    refused = moot("council", QUESTION, *THREE, *more)
    assert refused.status == 2 and call_count(wire_home) == 0
    assert all(f"“--ends {one}”" in refused.err for one in ends)


def test_judges_that_fail_leave_the_ballots_and_say_why(wire_home: dict[str, WireServer]) -> None:
    out, council = verdict(wire_home, lambda _shown, _text: Fault("e401"))
    result = council["outcome"]
    assert (result["degraded"], result["failure"], result["judge"]) == (["judge"], "authentication", "")
    assert result["headline"] and result["minority"][0]["text"] == "anthropic argues."
    assert "No judge:" in out
    readings = [
        one for server in wire_home.values() for one in server.requests if "You judge" in json.dumps(one.body)
    ]
    assert len(readings) == 6


def test_a_judge_that_contradicts_itself_or_fails_once_is_silent(wire_home: dict[str, WireServer]) -> None:
    _, council = verdict(wire_home, lambda _shown, _text: '{"choice": "A"}')
    assert council["outcome"]["unstable"] and council["outcome"]["choice"] == ""
    asked = iter(range(9))
    out, council = verdict(
        wire_home, lambda shown, text: Fault("e401") if next(asked) else for_("SQLite")(shown, text)
    )
    result = council["outcome"]
    assert (result["degraded"], result["choice"], result["state"]) == (["second_reading"], "", "leaning")
    assert "Read only once" in out


def test_a_judge_against_the_ballots_overrules_nobody(wire_home: dict[str, WireServer]) -> None:
    out, council = verdict(wire_home, for_("SQLite"))
    result = council["outcome"]
    texts = {one["id"]: one["text"] for one in council["options"]}
    assert (result["state"], result["against"]) == ("contested", "judge")
    assert (texts[result["headline"]], texts[result["choice"]]) == ("Postgres", "SQLite")
    assert "Contested" in out


def test_a_claim_of_several_parts_is_judged_as_several(wire_home: dict[str, WireServer]) -> None:
    def chosen(shown: dict[str, str], text: str) -> str:
        by = dict(re.findall(r"^\(\d+\) Participant (\w): (Postgres|SQLite), said", text, re.MULTILINE))
        holds = [letter for letter, held in by.items() if held == "Postgres"]
        claims = [
            {"text": "Postgres takes many writers. SQLite takes one.", "for": holds, "against": []},
            {"text": "Rows are kept. Logs are kept.", "for": holds, "against": [*({*by} - {*holds})]},
        ]
        claims = [claim | {"who": "", "cites": [1]} for claim in claims]
        return json.dumps({"choice": shown["Postgres"], "confidence": 70, "claims": claims})

    out, council = verdict(wire_home, chosen)
    found = [(one["text"], len(one["holds"]), len(one["denies"])) for one in council["outcome"]["claims"]]
    assert found == [
        ("Postgres takes many writers.", 2, 0),
        ("SQLite takes one.", 2, 0),
        ("Rows are kept. Logs are kept.", 2, 1),
    ]
    assert "SQLite takes one. (held by GPT, 제미나이)" in out


def test_a_ballot_that_cannot_be_read_is_asked_for_once_more_and_then_a_blank(
    wire_home: dict[str, WireServer],
) -> None:
    tries = dict.fromkeys(HELD, 0)

    def ballot(kind: str) -> str | None:
        tries[kind] += 1
        return {"openai": "Either A or B.", "gemini": "I pass." if tries[kind] == 1 else None}.get(kind)

    out, council = verdict(wire_home, for_("Postgres"), "--judge", "none", ballot=ballot)
    assert tries == {"openai": 2, "gemini": 2, "anthropic": 1}
    assert council["readings"] == [] and council["outcome"]["judge"] == ""
    # What it said in its turn counts, and that is said before the result.
    assert council["outcome"]["degraded"] == ["ballots"] and council["outcome"]["after"]["missing"] == []
    assert out.index("counted from the last turn: GPT") < out.rindex("Their positions")
