"""Options of a debate and a council on the command line: given or found, voted on, judged, and killed between ballots."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.repeats import slow_after
from tests.stories.processes import Running, look, moot, shown
from tests.stories.test_council import THREE, letters
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

QUESTION = "Which database should we use?"
FIRST, SECOND = OPTIONS = ("PostgreSQL", "SQLite")
GIVEN = ("--option", FIRST, "--option", SECOND)
HELD = {"openai": FIRST, "anthropic": SECOND, "gemini": FIRST}
NAMES = {"openai": "GPT", "anthropic": "Claude", "gemini": "제미나이"}
FINDS, VOTES, READS, DISSENTS = (
    "is about to be debated",
    "secret ballot",
    "You judge a question",
    "your dissent",
)
DEBATE = ("debate", QUESTION, *THREE, "--rounds", "1", "--seed", "5", "--ends", "verdict")
# Three turns, three ballots, two readings and what the minority writes.
CALLS = 3 + 3 + 2 + 1


def reply(kind: str, text: str) -> str:
    """Speak and vote for what one holds; find, compare and judge where that is asked."""
    if FINDS in text:
        return json.dumps({"options": OPTIONS})
    if "Compare their answers" in text:
        said = [line for line in text.splitlines() if line.startswith("(")]
        options = [
            {"text": option, "answers": [int(line[1]) for line in said if f") {option}," in line]}
            for option in OPTIONS
        ]
        return json.dumps({"options": options, "differ": [], "agreed": []})
    shown = letters(text)
    if READS in text:
        case = {"option": shown[FIRST], "text": "Many write at once.", "cites": [1]}
        return json.dumps({"choice": shown[FIRST], "confidence": 80, "cases": [case], "values": False})
    if VOTES in text:
        return json.dumps({"choice": shown[HELD[kind]], "text": "", "confidence": 70, "moved_by": []})
    if DISSENTS in text:
        return 'It is one file.\n@@ {"right_if": "one program writes"}'
    return f'{HELD[kind]}, said {kind}.\n@@ {{"answer": "{HELD[kind]}", "confidence": 80}}'


def script(servers: dict[str, WireServer], slow: set[str]) -> None:
    """Let all servers answer; what has one of the `slow` words is not answered to the end, of ballots Gemini's alone."""

    def answer(kind: str, request: Recorded) -> Answer:
        text = request.messages[-1].text
        waits = any(words in text and (words != VOTES or kind == "gemini") for words in slow)
        return Answer(reply(kind, text), pace=60.0 if waits else 0.0)

    for kind in HELD:
        for model in servers[kind].models:
            servers[kind].script(model, lambda one, kind=kind: answer(kind, one))


def asked(servers: dict[str, WireServer], words: str = "") -> list[Recorded]:
    """Return the requests of all servers that have these words."""
    found = [one for server in servers.values() for one in server.requests]
    return [one for one in found if words in one.messages[-1].text]


def ended(session_id: str) -> list[str]:
    """Return the ids of what was answered in a session, as it is on the disk."""
    return [one["id"] for one in shown(session_id)["messages"] if one["state"] == "done"]


def by_name(session: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """Return after which round each participant voted last, and for what, by its name."""
    names = {one["id"]: one["name"] for one in session["debate"]["participants"]}
    texts = {one["id"]: one["text"] for one in session["decision"]["options"]}
    ballots = session["decision"]["ballots"]
    return {names[one["participant"]]: (one["round"], texts[one["choice"]]) for one in ballots}


def came_out(session: dict[str, Any]) -> object:
    """Return what a session came to, without the ids of what was said."""
    names = {one["id"]: one["name"] for one in session["debate"]["participants"]}
    options, found = session["decision"]["options"], session["decision"]["outcome"]
    views = [
        (one["option"], [names[who] for who in one["holders"]], one["text"]) for one in found["minority"]
    ]
    parts = ("state", "headline", "text", "choice", "judge", "degraded", "unread")
    return (
        [(one["id"], one["text"]) for one in options],
        [found[part] for part in parts],
        views,
        by_name(session),
    )


def test_a_debate_on_given_options_ends_with_votes_two_readings_and_what_leads(
    wire_home: dict[str, WireServer],
) -> None:
    script(wire_home, set())
    done = moot(*DEBATE, *GIVEN, "--json")
    assert done.status == 0, done.err
    session = shown(done.events[0]["session_id"])
    decision = session["decision"]
    assert decision["question"] == QUESTION
    assert [(one["id"], one["text"], one["origin"]) for one in decision["options"]] == [
        ("u1", FIRST, "user"),
        ("u2", SECOND, "user"),
    ]
    assert by_name(session) == {NAMES[kind]: (1, HELD[kind]) for kind in HELD}
    assert [(one["choice"], one["confidence"]) for one in decision["ballots"]] == [
        ("u1", 70),
        ("u2", 70),
        ("u1", 70),
    ]
    readings = decision["readings"]
    assert [(one["order"], one["choice"]) for one in readings] == [(1, "u1"), (2, "u1")]
    result = decision["outcome"]
    assert (result["headline"], result["state"]) == ("u1", "leaning")
    assert result["after"]["votes"] == {"u1": 2, "u2": 1}
    assert result["text"] == "Many write at once."
    assert result["judge"] == readings[0]["judge"] == readings[1]["judge"]
    [view] = result["minority"]
    assert (view["option"], view["text"], view["right_if"]) == ("u2", "It is one file.", "one program writes")
    assert [len(asked(wire_home, words)) for words in (FINDS, VOTES, READS, DISSENTS)] == [0, 3, 2, 1]
    assert len(asked(wire_home)) == CALLS and not any(one.refused for one in asked(wire_home))
    for one in (*asked(wire_home, VOTES), *asked(wire_home, READS)):
        assert set(letters(one.messages[-1].text)) == {*OPTIONS}
    # A judge learns neither names nor votes.
    assert not any(
        name in one.messages[-1].text for one in asked(wire_home, READS) for name in NAMES.values()
    )
    printed = look("show", session["id"]).out
    assert "A  PostgreSQL" in printed and "B  SQLite" in printed
    assert "Claude: B (70% sure)" in printed and "Many write at once." in printed


def test_a_single_option_is_refused_with_its_count(wire_home: dict[str, WireServer]) -> None:
    for command in (DEBATE, ("council", QUESTION, *THREE)):
        # The same words twice are one option.
        for words, count in ((GIVEN[:2], 1), ((*GIVEN[:2], "--option", "postgresql."), 1)):
            refused = moot(*command, *words, "--lang", "en")
            assert refused.status == 2 and len(refused.err.splitlines()) == 1
            assert f"Options given: {count}. Give 2 to 5 different ones." in refused.err
        many = (word for number in range(6) for word in ("--option", f"Database {number}"))
        refused = moot(*command, *many, "--lang", "en")
        assert refused.status == 2 and "Options given: 6." in refused.err
    assert asked(wire_home) == [] and look("sessions", "--json").json == []


@pytest.mark.parametrize("compared", [True, False], ids=["compared", "grouped"])
def test_the_answers_of_a_council_stand_under_the_given_options(
    wire_home: dict[str, WireServer], compared: bool
) -> None:
    script(wire_home, set())
    more = () if compared else ("--no-differences",)
    done = moot("council", QUESTION, *THREE, *GIVEN, "--option", "A file", "--ends", "none", *more, "--json")
    assert done.status == 0, done.err
    session = shown(done.events[0]["session_id"])
    names = {one["id"]: one["name"] for one in session["debate"]["participants"]}
    options = session["decision"]["options"]
    held = [(one["id"], one["text"], {names[who] for who in one["backers"]}) for one in options]
    assert held == [
        ("u1", FIRST, {"GPT", "제미나이"}),
        ("u2", SECOND, {"Claude"}),
        # What nobody holds stays an option.
        ("u3", "A file", set()),
    ]
    assert by_name(session) == {NAMES[kind]: (0, HELD[kind]) for kind in HELD}
    assert session["decision"]["outcome"]["headline"] == "u1"
    comparing = asked(wire_home, "Compare their answers")
    assert len(comparing) == compared and len(asked(wire_home)) == 3 + compared
    assert all("PostgreSQL; SQLite; A file" in one.messages[-1].text for one in comparing)
    answering = [one for one in asked(wire_home) if one not in comparing]
    assert not any("A file" in json.dumps(one.body) for one in answering), "nobody answers from a list"


def test_without_given_options_one_call_finds_them(wire_home: dict[str, WireServer]) -> None:
    script(wire_home, set())
    done = moot(*DEBATE, "--json")
    assert done.status == 0, done.err
    session = shown(done.events[0]["session_id"])
    options = session["decision"]["options"]
    assert [(one["id"], one["text"], one["origin"]) for one in options] == [
        ("o1", FIRST, "question"),
        ("o2", SECOND, "question"),
    ]
    [finding] = asked(wire_home, FINDS)
    assert QUESTION in finding.messages[-1].text
    assert by_name(session) == {NAMES[kind]: (1, HELD[kind]) for kind in HELD}
    assert session["decision"]["outcome"]["headline"] == "o1"
    assert len(asked(wire_home)) == CALLS + 1
    # Where nobody votes and nothing is judged nobody looks for options.
    assert moot(*DEBATE[:-1], "none").status == 0
    assert len(asked(wire_home)) == CALLS + 1 + 3 and len(asked(wire_home, FINDS)) == 1


def test_who_helps_is_chosen_and_named_before_anybody_speaks(wire_home: dict[str, WireServer]) -> None:
    script(wire_home, set())
    helper = "anthropic/anthropic-other"
    council = ("council", QUESTION, *THREE)
    for command, words in ((DEBATE, FINDS), (council, "Compare their answers")):
        done = moot(*command, "--helper", helper, "--lang", "en")
        assert done.status == 0, done.err
        named = done.out.splitlines()[0]
        assert named.endswith(f"Helper: {helper}") and named.startswith("Judge: ") == (command is DEBATE)
        *_, called = asked(wire_home, words)
        assert called.model == "anthropic-other"
        newest = look("sessions", "--json").json[0]["id"]
        assert shown(newest)["decision"]["helpers"]["differences"] == helper
        # Without a choice it is another.
        assert f"Helper: {helper}" not in moot(*command, "--lang", "en").out
        before = len(asked(wire_home))
        for wrong in ("anthropic", "nobody/model", "deepseek/deepseek-v4-pro"):
            refused = moot(*command, "--helper", wrong, "--lang", "en")
            assert refused.status == 2 and f"“{wrong}” can’t help" in refused.err, wrong
            assert len(refused.err.splitlines()) == 1 and len(asked(wire_home)) == before
    # What may read the web says beforehand how many calls that takes at most.
    reading = moot(*council, "--tools", "reading", "--lang", "en")
    assert reading.status == 0, reading.err
    assert reading.out.splitlines()[0].endswith(" · web: up to + 9 calls")
    offered = [one for one in asked(wire_home) if "web_search" in str(one.body.get("tools"))]
    assert len(offered) == 3, "the answers alone"
    priced = moot("extend", newest, "merge", "--json")
    estimate = next(one for one in priced.events if one["event"] == "estimate")
    assert estimate["helpers"]["merge"] == helper
    assert asked(wire_home, "Make one answer")[-1].model == "anthropic-other"
    # Another is chosen with what is asked further, and stays.
    other = "openai/openai-wire"
    priced = moot("extend", newest, "merge", "--helper", other, "--json")
    estimate = next(one for one in priced.events if one["event"] == "estimate")
    assert estimate["helpers"]["merge"] == other
    assert {one.model for one in asked(wire_home, "Make one answer")} == {"anthropic-other", "openai-wire"}
    before = len(asked(wire_home))
    for command in (("extend", newest, "merge"), ("reply", newest, "What if it rains?")):
        refused = moot(*command, "--helper", "nobody/model", "--lang", "en")
        assert refused.status == 2 and "“nobody/model” can’t help" in refused.err, command
        assert len(asked(wire_home)) == before
    replied = moot("reply", newest, "What if it rains?", "--helper", helper, "--json")
    assert replied.status == 0, replied.err
    assert (
        next(one for one in replied.events if one["event"] == "estimate")["helpers"]["differences"] == helper
    )
    assert asked(wire_home, "Compare their answers")[-1].model == "anthropic-other"
    assert shown(newest)["decision"]["helpers"]["differences"] == helper


def test_a_verdict_that_was_printed_is_kept_as_read(wire_home: dict[str, WireServer], tmp_path: Path) -> None:
    slow: set[str] = set()
    script(wire_home, slow)

    def read_at(session_id: str) -> str:
        return str(shown(session_id)["debate"]["council"]["read_at"])

    def begun() -> str:
        return str(moot(*DEBATE, *GIVEN, "--json").events[0]["session_id"])

    first, second, third = begun(), begun(), begun()
    quiet = (("show", first, "--json"), ("export", first, "--format", "json"))
    written = ("export", first, "--format", "md", "-o", str(tmp_path / "whole.md"))
    for command in (*quiet, written, ("export", first, "--format", "html"), ("sessions",)):
        assert look(*command).status == 0
        assert read_at(first) == "", command
    assert "Many write at once." in look("show", first).out and read_at(first)
    since = read_at(first)
    assert look("show", first).status == 0 and read_at(first) == since
    assert look("export", second, "--memo", "--format", "md").status == 0 and read_at(second)
    # Another process holds the data directory, and keeps it there.
    slow.add(READS)
    with Running(*DEBATE, *GIVEN, "--json") as holder:
        running = holder.session_id
        assert holder.wait_for(lambda: len(ended(running)) == 6)
        assert read_at(third) == "" and look("show", third).status == 0 and read_at(third)
        holder.kill()


@pytest.mark.parametrize(
    ("words", "options"), slow_after(1, [(VOTES, GIVEN), (VOTES, ()), (READS, GIVEN), (DISSENTS, GIVEN)])
)
def test_a_debate_killed_beside_its_turns_comes_to_the_same_and_asks_nothing_twice(
    wire_home: dict[str, WireServer], words: str, options: tuple[str, ...]
) -> None:
    slow: set[str] = set()
    script(wire_home, slow)
    command = (*DEBATE, "--judge", "anthropic/anthropic-other", *options, "--json")
    whole = moot(*command)
    assert whole.status == 0, whole.err
    before = asked(wire_home)
    assert len(before) == CALLS + (not options)
    # What was said and answered by then, and how many calls are cut.
    said, cut = {VOTES: (5, 1), READS: (6, 2), DISSENTS: (8, 1)}[words]
    slow.add(words)
    with Running(*command) as debate:
        session_id = debate.session_id
        place = wire_home["gemini" if words == VOTES else "anthropic"]
        sent = len(asked({"": place}, words))
        assert place.wait_for(lambda: len(asked({"": place}, words)) == sent + cut, 30)
        assert debate.wait_for(lambda: len(ended(session_id)) == said + (not options))
        debate.kill()
    slow.clear()
    assert moot("resume", session_id).status == 0
    assert came_out(shown(session_id)) == came_out(shown(whole.events[0]["session_id"]))
    requests = [one for one in asked(wire_home) if one not in before]
    answered = Counter((one.model, json.dumps(one.body)) for one in requests if one.done_at)
    assert set(answered.values()) == {1} and len(answered) == len(before)
    assert len(requests) == len(before) + cut
