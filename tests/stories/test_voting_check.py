"""The voting check on the command line: once for a model at an address, counted, skipped, and killed."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.processes import Finished, Running, look, moot, shown
from tests.wire import Answer, WireServer, write_providers
from tests.wire.server import Recorded

FEW, ALL = 4, 24
SEATS = ("-p", "Own=own/small", "-p", "Known=openai/openai-wire")
DEBATE = ("debate", "Should cities ban cars?", "--rounds", "1", "--ballots", "final")


@pytest.fixture
def servers(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[WireServer, WireServer]]:
    """A server of the user's own, and one of a known provider; who is asked to vote or judge is for the motion."""
    with (
        WireServer("openai-compatible", models=("small",), provider_id="own") as own,
        WireServer("openai") as known,
    ):
        for name, value in write_providers(data_dir, [own, known]).items():
            monkeypatch.setenv(name, value)
        for server in (own, known):
            for model in server.models:
                server.script(model, votes)
        yield own, known


def votes(request: Recorded) -> Answer:
    lines = request.messages[-1].text.splitlines()
    if (letter := next((line[0] for line in lines if line[1:] == ": Yes"), "")) == "":
        return Answer("I say so.", delay=0.5)
    return Answer(json.dumps({"choice": letter, "text": "", "confidence": 70, "moved_by": []}))


def held(session: dict[str, Any]) -> dict[str, str]:
    """Return the option that each participant voted for, by its name."""
    names = {one["id"]: one["name"] for one in session["debate"]["participants"]}
    texts = {one["id"]: one["text"] for one in session["decision"]["options"]}
    return {names[one["participant"]]: texts.get(one["choice"], "") for one in session["decision"]["ballots"]}


def readers(servers: tuple[WireServer, WireServer]) -> list[Recorded]:
    """Return the requests that ask a judge to read."""
    return [one for server in servers for one in server.requests if "You judge a question" in str(one.body)]


def checked(done: Finished) -> dict[str, dict[str, Any]]:
    """Return the events of the check by the model."""
    return {one["model"]: one for one in done.events if one["event"] == "voting.checked"}


def test_a_model_is_checked_once_beside_the_answers_and_every_call_counts(
    servers: tuple[WireServer, WireServer], data_dir: Path
) -> None:
    own, known = servers
    done = moot(*DEBATE, *SEATS, "--json")
    assert done.status == 0, done.err
    assert (len(own.check_requests), len(known.check_requests)) == (ALL, FEW)
    assert len({one.messages[-1].text for one in own.check_requests}) == ALL, (
        "each question in both orders, each premise once"
    )
    # They began with the first statement, and did not wait for it.
    first = next(one for one in own.requests if not one.refused)
    assert own.check_requests[0].at < (first.done_at or 0)
    assert known.check_requests[0].at < (first.done_at or 0), "one beside the other"
    found = checked(done)
    assert set(found) == {"own/small", "openai/openai-wire"}
    for one in found.values():
        assert (one["may_vote"], one["may_judge"], one["reason"]) == (True, True, "")
    said = [str(one["reason"]) for one in done.events if one["event"] == "session.status"]
    assert f"checking_votes:{ALL}:{ALL + FEW}" in said and "checking_votes:0:28" in said
    session = shown(done.events[0]["session_id"])
    # Two statements and two ballots besides.
    month = look("usage", "--json").json[0]
    assert month["calls"] == ALL + FEW + 4
    used = month["input_tokens"] + month["output_tokens"]
    assert f"{used} tokens" in look("show", session["id"]).out, "the session counts them as well"
    assert held(session) == {"Own": "Yes", "Known": "Yes"}
    # After a restart all of it is known.
    again = moot(*DEBATE, *SEATS, "--json")
    assert again.status == 0 and not checked(again)
    assert (len(own.check_requests), len(known.check_requests)) == (ALL, FEW)
    # At another address it may be another model.
    with WireServer("openai-compatible", models=("small",), provider_id="own", key=own.key) as moved:
        moved.script("small", votes)
        write_providers(data_dir, [moved, known])
        assert moot(*DEBATE, *SEATS).status == 0
        assert (len(moved.check_requests), len(known.check_requests)) == (ALL, FEW)


def test_who_takes_no_part_is_not_checked_and_nobody_where_there_is_no_vote(
    servers: tuple[WireServer, WireServer],
) -> None:
    own, known = servers
    plain = ("debate", "Should cities ban cars?", "--rounds", "1")
    assert moot(*plain, *SEATS).status == 0
    assert not own.check_requests and not known.check_requests
    both = ("-p", "One=openai/openai-wire", "-p", "Two=openai/openai-wire")
    assert moot(*DEBATE, *both).status == 0
    assert (len(own.check_requests), len(known.check_requests)) == (0, FEW)
    assert {one.model for one in known.check_requests} == {"openai-wire"}


def test_no_vote_has_its_reason_wherever_it_is_shown(servers: tuple[WireServer, WireServer]) -> None:
    own, _ = servers
    own.stable = False
    done = moot(*DEBATE, *SEATS)
    why = "only 0 of 8 answers stayed the same when the options were listed in the other order"
    assert done.status == 0 and f"Own: no vote, {why}" in done.out and "Known: A (70% sure)" in done.out
    assert "small: no votes and no judging" in done.err
    [session_id] = re.findall(r"^  (\w{26})$", done.out, re.MULTILINE)
    assert f"Own: no vote, {why}" in look("show", session_id).out
    assert f"Own: no vote, {why}" in look("export", session_id, "--format", "md").out
    kept = shown(session_id)["debate"]["no_votes"]
    assert kept == [{"model": "own/small", "reason": "follows_order:0:8"}]


def test_who_misses_broken_premises_votes_and_where_it_was_named_says_why_it_does_not_judge(
    servers: tuple[WireServer, WireServer],
) -> None:
    own, known = servers
    own.premises = known.premises = False
    why = "breaks no ties, missed 8 of 8 false premises"
    done = moot(*DEBATE, *SEATS, "--judge", "own/small", "--json")
    assert done.status == 0, done.err
    found = checked(done)
    one = found["own/small"]
    assert (one["may_vote"], one["may_judge"], one["reason"]) == (True, False, "missed_premises:8:8")
    # A known provider's is asked none.
    one = found["openai/openai-wire"]
    assert (one["may_vote"], one["may_judge"], one["reason"]) == (True, True, "")
    assert (len(own.check_requests), len(known.check_requests)) == (ALL, FEW)
    session = shown(done.events[0]["session_id"])
    assert held(session) == {"Own": "Yes", "Known": "Yes"}
    assert session["debate"]["no_votes"] == [{"model": "own/small", "reason": "missed_premises:8:8"}]
    assert session["decision"]["readings"] == [] and session["decision"]["outcome"]["judge"] == ""
    assert not readers(servers)
    read = look("show", session["id"]).out
    assert "Own: A (70% sure)" in read and f"Own: {why}" in read and "Known: A (70% sure)" in read
    # Of one that takes no part it is said at once, and kept.
    both = ("-p", "One=openai/openai-wire", "-p", "Two=openai/openai-wire")
    done = moot(*DEBATE, *both, "--judge", "own/small")
    assert done.status == 0 and "small: no judging, because it missed false premises" in done.err
    [session_id] = re.findall(r"^  (\w{26})$", done.out, re.MULTILINE)
    kept = shown(session_id)["debate"]["no_votes"]
    assert kept == [{"model": "own/small", "reason": "missed_premises:8:8"}] and not readers(servers)
    # Chosen by Moot itself, it is another one.
    done = moot(*DEBATE, *SEATS, "--verdict")
    assert done.status == 0 and why not in done.out
    assert [one.model for one in readers(servers)] == ["openai-other"] * 2
    assert len(own.check_requests) == ALL


def test_what_is_skipped_does_not_vote_and_the_debate_goes_on(servers: tuple[WireServer, WireServer]) -> None:
    own, known = servers
    own.check_delay = 1.0
    with Running(*DEBATE, *SEATS, "--json") as running:
        session_id = running.session_id
        assert running.wait_for(lambda: any("checking_votes:" in one for one in running.lines))
        assert known.wait_for(lambda: len(known.check_requests) == FEW)
        running.event("voting.checked")
        assert moot("resume", session_id, "--skip-check").status == 0
        done = running.finish()
    assert done.status == 0, done.err
    assert len(own.check_requests) < ALL
    session = shown(session_id)
    assert held(session) == {"Known": "Yes"}
    assert session["debate"]["no_votes"] == [{"model": "own/small", "reason": "check_skipped"}]
    assert "Own: no vote, the check was skipped" in look("show", session_id).out
    # The next session goes on with the questions that are left.
    own.check_delay = 0.0
    assert moot(*DEBATE, *SEATS).status == 0
    answered = [one for one in own.check_requests if one.done_at and one.closed_at is None]
    # The skip may have come just behind an answer, which was not noted then.
    assert len({one.messages[-1].text for one in answered}) == ALL and len(answered) <= ALL + 1


@pytest.mark.slow
@pytest.mark.own_host
def test_a_kill_asks_nothing_twice_that_was_answered(servers: tuple[WireServer, WireServer]) -> None:
    own, known = servers
    own.check_delay = 0.2
    with Running(*DEBATE, *SEATS, "--json") as running:
        session_id = running.session_id
        assert own.wait_for(lambda: len(own.check_requests) == 5, 30)
        # Killed while one is being answered, however slow this computer is.
        own.check_delay = 60.0
        assert own.wait_for(lambda: len(own.check_requests) == 6, 30)
        time.sleep(0.1)
        running.kill()
    own.check_delay = 0.0
    assert moot("resume", session_id).status == 0
    answered = Counter(one.messages[-1].text for one in own.check_requests if one.done_at)
    assert len(answered) == ALL and set(answered.values()) == {1}
    assert len(own.check_requests) <= ALL + 1 and len(known.check_requests) == FEW
    assert held(shown(session_id)) == {"Own": "Yes", "Known": "Yes"}
