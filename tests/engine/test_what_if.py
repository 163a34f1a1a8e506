"""What-if rounds: a message after the end of a debate or a council, the verdict that follows, and those before it."""

import asyncio
import json
import re
from dataclasses import replace

import pytest

from app.cli.printing.chats import decision_text
from app.core.council import ANY_JUDGE, Ends
from app.core.message import Message, MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import DebateMode, ExportFormat, Status
from app.engine.council.commands import Councils
from app.engine.council.outcome import outcome, vote_places
from app.engine.council.record import Record
from app.engine.council.verdicts import changed, outcomes
from app.engine.debate.commands import Debates
from app.engine.decisions import memo_as_markdown
from app.engine.live_session import LiveSession
from app.engine.session_kinds import session_document
from tests.builders import Bench, Hang, Script, a_bench, a_setup, until
from tests.engine.test_council import answer, wanted
from tests.engine.test_council_verdict import judging
from tests.engine.test_verdict import ONCE, STEP, TEXTS, ballot, judges, reading, votes
from tests.memory import MemoryStore

WHAT_IF = "What if we deploy five times a day?"


def text_of(request: ModelRequest) -> str:
    return json.dumps([*request.messages])


def debating(request: ModelRequest) -> Script:
    """Vote and judge; after the question the verdict is another one."""
    asked = WHAT_IF in text_of(request)
    if votes(request):
        return ballot(request, ONCE if asked else STEP)
    if judges(request):
        case = "Do it at once." if asked else "Do it step by step."
        return reading(request, ONCE if asked else STEP, 1, case=case)
    return ["I see it anew." if asked else "I say so."]


def a_debater(store: MemoryStore | None = None) -> Bench:
    made = a_bench(store or MemoryStore())
    made.models.otherwise = debating
    return made


def moved(request: ModelRequest) -> Script:
    """Answer, argue and judge as in the tests of the verdict; after the question everybody votes for SQLite."""
    said = "".join(str(one["content"]) for one in request.messages)
    if WHAT_IF in said and "secret ballot" in said:
        letters = {line[3:]: line[0] for line in said.splitlines() if line[1:3] == ": "}
        return [json.dumps({"choice": letters["SQLite"], "confidence": 80})]
    if "council" in said or request.schema is not None or "Write your dissent" in said:
        return judging(request)
    return judging(request) if "secret" in said or "Open, each" in said else answer(request)


def a_council(store: MemoryStore | None = None) -> Bench:
    made = a_bench(store or MemoryStore())
    made.models.otherwise = moved
    return made


def live_of(made: Bench, session_id: str) -> LiveSession:
    live = made.engine.live(session_id)
    assert live is not None
    return live


async def to_the_end(made: Bench, session_id: str) -> Status:
    session = await made.engine.wait(session_id)
    while session.status == Status.PAUSED:
        await made.engine.resume(session_id)
        session = await made.engine.wait(session_id)
    return Status(session.status)


async def decided(made: Bench, rounds: int = 1) -> str:
    """Hold a council that is debated without being asked for; return its id."""
    setup = wanted(rounds=rounds, ends=Ends.VERDICT, judge=ANY_JUDGE)
    session_id = await made.engine.councils.start(replace(setup, setup=replace(setup.setup, rounds=rounds)))
    await made.engine.wait(session_id)
    return session_id


async def judged_debate(made: Bench, **fields: object) -> str:
    wanted = {"final_ballots": True, "judge": ANY_JUDGE, "rounds": 1, "options": (STEP, ONCE), **fields}
    return await made.run(a_setup(3, **wanted))


# Debates


async def test_a_message_after_the_end_lets_all_speak_once_and_a_second_verdict_follows() -> None:
    made = a_debater()
    session_id = await judged_debate(made)
    before = len(made.models.requests)
    assert before == 3 + 3 + 2
    await made.engine.debates.say(session_id, WHAT_IF)
    assert await to_the_end(made, session_id) == Status.COMPLETED
    turns = made.models.requests[before : before + 3]
    for request in turns:
        text = text_of(request)
        # What any turn is sent, and the verdict.
        assert "I say so." in text and WHAT_IF in text and "Do it step by step." in text
    assert len(made.models.requests) == before + 3 + 3 + 2
    live = live_of(made, session_id)
    debate = live.debate_session.debate
    said = [(one.author.kind, one.round) for one in live.said]
    assert said == [*[("participant", 1)] * 3, ("user", 2), *[("participant", 2)] * 3]
    first, second = outcomes(debate, live.messages)
    assert [one.title(TEXTS) for one in (first, second)] == [
        "Verdict 1, after round 1",
        f"Verdict 2, after “{WHAT_IF}”",
    ]
    # The last message before each is the ballot that was cast last.
    cast = [[one.id for one in live.messages if one.part == "ballot" and one.round == n] for n in (1, 2)]
    assert [first.after_message, second.after_message] == [cast[0][-1], cast[1][-1]]
    assert changed([first, second], TEXTS) == [
        f"Verdict: {STEP} → {ONCE}",
        *(f"{one.name}: {STEP} → {ONCE}" for one in debate.participants),
    ]
    shown = session_document(live)["decision"]
    assert isinstance(shown, dict)
    assert [one["text"] for one in shown["outcomes"]] == ["Do it step by step.", "Do it at once."]
    assert shown["outcome"] == shown["outcomes"][-1]
    for file_format in ExportFormat:
        document = await made.engine.export(session_id, file_format)
        assert "Do it step by step." in document and "Do it at once." in document
    markdown = await made.engine.export(session_id, "md")
    assert "What changed since verdict 1" in markdown
    assert "Verdict 1, after round 1" in markdown
    await made.engine.shutdown()


async def test_only_who_is_named_speaks_and_everybody_votes() -> None:
    made = a_debater()
    session_id = await judged_debate(made)
    before, live = len(made.models.requests), live_of(made, session_id)
    steps = (("judge", ()), ("what_if", ("p1",)), ("what_if", ()))
    prices = (made.engine.councils.estimate(live.debate_session, live.messages, *step) for step in steps)
    # At most two readings, a word on moves, and two dissents come on top of who speaks and of three ballots.
    assert [price.turns for price in prices] == [5, 1 + 3 + 5, 3 + 3 + 5]
    await made.engine.debates.say(session_id, WHAT_IF, to=("p1",))
    assert await to_the_end(made, session_id) == Status.COMPLETED
    spoke = [one.author.id for one in live_of(made, session_id).said if one.round == 2]
    assert spoke[1:] == ["p1"]
    assert len(made.models.requests) == before + 1 + 3 + 2
    # Another one after that begins a round of its own.
    await made.engine.debates.say(session_id, "And at night?")
    await to_the_end(made, session_id)
    spoke = [one.author.id for one in live_of(made, session_id).said if one.round == 3]
    assert spoke[1:] == ["p0", "p1", "p2"]
    assert len(outcomes(made.debate_of(session_id).debate, live_of(made, session_id).messages)) == 3
    await made.engine.shutdown()


@pytest.mark.parametrize("mode", [DebateMode.FREE, DebateMode.ROLES])
async def test_in_every_mode_all_speak_once_and_a_debate_without_an_end_ends_with_the_round(
    mode: str,
) -> None:
    made = a_debater()
    people = tuple(replace(one, role="for") for one in a_setup(3).participants)
    setup = a_setup(3, mode=mode, participants=people, judge="none", rounds=1)
    session_id = await made.run(setup)
    before = len(made.models.requests)
    await made.engine.debates.say(session_id, WHAT_IF)
    assert await to_the_end(made, session_id) == Status.COMPLETED
    assert len(made.models.requests) == before + 3
    live = live_of(made, session_id)
    assert sorted(one.author.id for one in live.said[-3:]) == ["p0", "p1", "p2"]
    assert outcomes(live.debate_session.debate, live.messages) == []
    await made.engine.shutdown()


async def test_a_debate_that_is_judged_again_keeps_the_verdict_before() -> None:
    made = a_debater()
    session_id = await judged_debate(made)
    await made.engine.councils.judge(session_id, ANY_JUDGE)
    await made.engine.wait(session_id)
    live = live_of(made, session_id)
    found = outcomes(live.debate_session.debate, live.messages)
    assert [one.title(TEXTS) for one in found] == ["Verdict 1, after round 1", "Verdict 2, after round 1"]
    assert changed(found, TEXTS) == ["Neither the answer nor any vote changed."]
    await made.engine.shutdown()


async def test_a_fork_has_the_verdicts_before_it_and_a_message_there_begins_a_round() -> None:
    made = a_debater()
    session_id = await judged_debate(made)
    await made.engine.debates.say(session_id, WHAT_IF)
    await to_the_end(made, session_id)
    messages = live_of(made, session_id).said
    fork = await made.engine.debates.fork(session_id, messages[-1].id)
    debate = live_of(made, fork).debate_session.debate
    [given] = outcomes(debate, live_of(made, fork).messages)
    assert outcome(Record(given.debate, given.messages)).text == "Do it step by step."
    assert debate.rounds == 2 and debate.what_ifs[0].message == live_of(made, fork).said[3].id
    before = len(made.models.requests)
    await made.engine.debates.say(fork, "And then?")
    await to_the_end(made, fork)
    # Three turns, three votes, two readings; before that the votes of the round it was cut behind.
    assert len(made.models.requests) == before + 8
    first = await made.engine.debates.fork(session_id, messages[2].id)
    debate = live_of(made, first).debate_session.debate
    assert (debate.rounds, debate.what_ifs, outcomes(debate, live_of(made, first).messages)) == (1, (), [])
    await made.engine.shutdown()


async def test_a_debate_that_was_stopped_goes_on_and_a_message_to_it_waits_for_that() -> None:
    made = a_debater()
    made.models.script = [["Half a", Hang()]]
    session_id = await made.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: bool(live_of(made, session_id).messages))
    await made.engine.stop(session_id)
    assert made.debate_of(session_id).status == Status.STOPPED
    await made.engine.debates.say(session_id, "Think of buses.")
    assert made.debate_of(session_id).status == Status.STOPPED
    await made.engine.resume(session_id)
    assert (await made.engine.wait(session_id)).status == Status.COMPLETED
    done = [one.author.id for one in live_of(made, session_id).messages if one.state == MessageState.DONE]
    assert done[1:] == ["p0", "p1"]
    await made.engine.shutdown()


async def test_a_pause_in_the_last_turn_is_heard_before_the_vote_and_the_verdict() -> None:
    made, pauses = a_debater(), list[asyncio.Task[None]]()

    def paused_in_the_second(request: ModelRequest) -> Script:
        if len(made.models.requests) == 2:
            pauses.append(asyncio.create_task(made.engine.pause(session_id)))
        return debating(request)

    made.models.otherwise = paused_in_the_second
    session_id = await made.engine.debates.start(
        a_setup(2, rounds=1, final_ballots=True, judge=ANY_JUDGE, options=(STEP, ONCE))
    )
    session = await made.engine.wait(session_id)
    assert len(pauses) == 1
    assert (session.status, session.reason) == (Status.PAUSED, "by_user")
    assert not any(votes(one) or judges(one) for one in made.models.requests)
    await made.engine.resume(session_id)
    assert (await made.engine.wait(session_id)).status == Status.COMPLETED
    assert len(outcomes(made.debate_of(session_id).debate, live_of(made, session_id).messages)) == 1
    await made.engine.shutdown()


async def test_a_debate_cut_after_each_record_of_a_what_if_round_ends_alike_and_asks_nothing_twice() -> None:
    store = MemoryStore()
    made = a_debater(store)
    session_id = await judged_debate(made)
    begun = len(store.batches)
    await made.engine.debates.say(session_id, WHAT_IF, to=("p0", "p2"))
    await to_the_end(made, session_id)
    live = live_of(made, session_id)
    ends = ends_of(live)
    assert len(ends) == 2 and "Do it at once." in ends[1]
    whole = list(store.batches)
    await made.engine.shutdown()
    calls = ended_calls(live.messages)
    for cut in range(begun + 1, len(whole) + 1):
        rest = MemoryStore()
        rest.batches = whole[:cut]
        again = a_debater(rest)
        live = await again.engine.open(session_id)
        ended = ended_calls(live.messages)
        await to_the_end(again, session_id)
        assert ends_of(live) == ends, cut
        assert len(again.models.requests) == calls - ended, cut
        await again.engine.shutdown()


def ends_of(live: LiveSession) -> list[str]:
    """Return what all verdicts of a session came to, without ids."""
    debate = live.debate_session.debate
    found = []
    for one in outcomes(debate, live.messages):
        record, result = Record(one.debate, one.messages), outcome(Record(one.debate, one.messages))
        texts = {each.id: each.text for each in record.options()}
        held = {who: texts[record.vote(who, record.rounds).choice] for who in record.voters()}
        found.append(
            f"{one.title(TEXTS)}: {texts.get(result.headline)} {held} {result.judge} {result.state} {result.text}"
        )
    return found


# Councils


async def test_a_follow_up_loses_no_verdict_and_ends_with_its_own() -> None:
    made = a_council()
    session_id = await decided(made)
    live = live_of(made, session_id)
    before = len(made.models.requests)
    first = outcome(Record(live.debate_session.debate, live.messages))
    await made.engine.councils.ask(session_id, WHAT_IF)
    assert await to_the_end(made, session_id) == Status.COMPLETED
    # Three answers, the comparison, three ballots, two readings: no turn between.
    assert len(made.models.requests) == before + 3 + 1 + 3 + 2
    for request in made.models.requests[before : before + 3]:
        text = text_of(request)
        assert WHAT_IF in text and "What followed from the answers so far" in text
        assert "It copies." in text or "Postgres" in text
        assert not any(one.name in text for one in live.debate_session.debate.participants)
    # What is held as before stands under the words of before.
    compares = next(one for one in made.models.requests[before:] if "Compare their answers" in text_of(one))
    assert "The options are given: Postgres; SQLite." in text_of(compares)
    ballot = next(one for one in made.models.requests[before:] if "secret ballot" in text_of(one))
    assert "Postgres or SQLite?" in text_of(ballot) and WHAT_IF in text_of(ballot)
    found = outcomes(live.debate_session.debate, live.messages)
    assert [one.title(TEXTS) for one in found] == [
        "Verdict 1, after round 1",
        f"Verdict 2, after “{WHAT_IF}”",
    ]
    earlier = outcome(Record(found[0].debate, found[0].messages))
    assert (earlier.headline, earlier.judge, earlier.state) == (first.headline, first.judge, first.state)
    assert earlier.minority == first.minority
    assert changed(found, TEXTS) == [
        "Verdict: Postgres → SQLite",
        "GPT: Postgres → SQLite",
        "Gemini: Postgres → SQLite",
    ]
    places = {one.id: place for place, one in enumerate(live.messages)}
    asked = next(place for place, one in enumerate(live.messages) if one.content == WHAT_IF)
    assert places[found[0].after_message] < asked < places[found[1].after_message]
    shown = session_document(live)["council"]
    assert isinstance(shown, dict)
    assert len(shown["outcomes"]) == 2 and shown["outcome"] == shown["outcomes"][1]
    assert shown["outcomes"][0]["headline"] == first.headline
    for file_format in (ExportFormat.MARKDOWN, ExportFormat.HTML):
        document = await made.engine.export(session_id, file_format)
        assert "Verdict 1, after round 1" in document and WHAT_IF in document
        assert "Nobody tested it." in document, "the minority report of the first verdict"
    await made.engine.shutdown()


def moved_by_claude(request: ModelRequest) -> Script:
    """Vote as `moved` does; GPT names what Claude said since the question, Gemini what it says itself."""
    said = "".join(str(one["content"]) for one in request.messages)
    if "changes of position" in said:
        return [json.dumps({"moves": [{"move": 1, "argues": "(1) SQLite\n“SQLite in WAL mode.”" in said}]})]
    if WHAT_IF in said and "secret ballot" in said:
        vote = json.loads(str(moved(request)[0]))
        named = {"model-0": r"\((\d)\) Participant .: SQLite", "model-2": r"\((\d)\) Your own"}
        numbers = re.findall(named.get(request.model, "no one"), said)
        return [json.dumps(vote | {"moved_by": [*map(int, numbers)]})]
    return moved(request)


async def test_a_what_if_verdict_of_a_council_says_how_many_moves_cite_what_was_said_and_how_many_drift() -> (
    None
):
    made = a_council()
    made.models.otherwise = moved_by_claude
    session_id = await decided(made)
    await made.engine.councils.ask(session_id, WHAT_IF)
    assert await to_the_end(made, session_id) == Status.COMPLETED
    live = live_of(made, session_id)
    first, second = outcomes(live.debate_session.debate, live.messages)
    assert first.result.moves == ()
    answers = second.record.answers()
    found = [(one.participant, one.round, one.moved, one.cites, one.argues) for one in second.result.moves]
    assert found == [("p0", 1, "cited", (answers["p1"].id,), True), ("p2", 1, "drift", (), None)]
    # One call judges what cites something, in the what-if round as in a debate.
    assert sum("changes of position" in text_of(one) for one in made.models.requests) == 1
    told = (
        "Changes of position: 1 citing a statement that argues for the new one, as the judge read it,"
        " 1 without"
    )
    drifts = "Changed position without naming a statement for it: Gemini"
    for file_format in (ExportFormat.MARKDOWN, ExportFormat.HTML):
        document = await made.engine.export(session_id, file_format)
        assert document.count(told) == 1 and document.count(drifts) == 1
    printed = decision_text(live.debate_session, live.messages, TEXTS)
    assert printed.count(told) == 1 and printed.count(drifts) == 1
    shown = session_document(live)["council"]
    assert isinstance(shown, dict)
    assert [[move["moved"] for move in one["moves"]] for one in shown["outcomes"]] == [[], ["cited", "drift"]]
    assert told in memo_as_markdown(await made.engine.memo(session_id))
    # Asked once more, they stay: the verdict before keeps its moves.
    await made.engine.councils.ask(session_id, f"{WHAT_IF} At night?")
    await to_the_end(made, session_id)
    last = outcomes(live.debate_session.debate, live.messages)
    assert [len(one.result.moves) for one in last] == [0, 2, 0]
    # The votes stand in one line: by the answers, after the round and after each question.
    record = last[-1].record
    assert [number for _, number in record.polls] == [0, 1, 1, 1]
    assert record.every_option == ["Postgres", "SQLite"]
    assert vote_places(record) == {"p0": (0, 0, 1, 1), "p1": (1, 1, 1, 1), "p2": (0, 0, 1, 1)}
    assert vote_places(first.record) == {"p0": (0, 0), "p1": (1, 1), "p2": (0, 0)}
    notes = [note for part in (await made.engine.memo(session_id)).parts for note in part.notes]
    assert f"Verdict 2, after “{WHAT_IF}”: SQLite. {told}" in notes
    await made.engine.shutdown()


def without_postgres(request: ModelRequest) -> Script:
    """Compare as `moved` does; after the question nobody answers with Postgres."""
    if WHAT_IF in text_of(request) and "Compare their answers" in text_of(request):
        options = [{"text": "MySQL", "answers": [1]}, {"text": "SQLite", "answers": [2, 3]}]
        return [json.dumps({"options": options, "differ": [], "agreed": []})]
    return moved(request)


async def test_what_was_voted_for_before_a_what_if_round_alone_stands_behind_its_options() -> None:
    made = a_council()
    made.models.otherwise = without_postgres
    session_id = await decided(made)
    await made.engine.councils.ask(session_id, WHAT_IF)
    await made.engine.wait(session_id)
    live = live_of(made, session_id)
    record = Record(live.debate_session.debate, live.messages)
    assert [option.text for option in record.options()][:2] == ["MySQL", "SQLite"]
    assert record.every_option == [*(option.text for option in record.options()), "Postgres"]
    # An option is the same where its words are, whatever its number.
    gone = len(record.every_option) - 1
    assert {who: places[:2] for who, places in vote_places(record).items()} == {
        "p0": (gone, gone),
        "p1": (1, 1),
        "p2": (gone, gone),
    }
    await made.engine.shutdown()


async def test_who_is_not_asked_in_a_what_if_round_is_not_cited_with_what_it_said_before() -> None:
    made = a_council()
    made.models.otherwise = moved_by_claude
    session_id = await decided(made)
    # Claude says nothing since: what it said before the last vote moves nobody after it.
    await made.engine.councils.ask(session_id, WHAT_IF, to=("p0", "p2"))
    await to_the_end(made, session_id)
    live = live_of(made, session_id)
    *_, second = outcomes(live.debate_session.debate, live.messages)
    assert [(one.participant, one.moved) for one in second.result.moves] == [("p0", "drift"), ("p2", "drift")]
    await made.engine.shutdown()


async def test_a_council_that_was_not_to_be_debated_keeps_its_verdict_and_ends_with_the_answers() -> None:
    made = a_council()
    session_id = await made.engine.councils.start(wanted())
    await made.engine.wait(session_id)
    await made.engine.councils.debate(session_id, 1)
    await made.engine.wait(session_id)
    live = live_of(made, session_id)
    first = outcome(Record(live.debate_session.debate, live.messages))
    before = len(made.models.requests)
    await made.engine.councils.ask(session_id, WHAT_IF)
    await to_the_end(made, session_id)
    assert len(made.models.requests) == before + 4
    (given,) = outcomes(live.debate_session.debate, live.messages)
    assert outcome(Record(given.debate, given.messages)) == first
    fork = await made.engine.councils.fork(session_id, 0, verdict=1)
    forked = live_of(made, fork)
    again = outcome(Record(forked.debate_session.debate, forked.messages))
    assert (again.headline, again.judge) == (first.headline, first.judge)
    assert not any(one.content == WHAT_IF for one in forked.messages)
    # Judged once more: both verdicts stay, and the fork's is asked for.
    await made.engine.councils.judge(fork, ANY_JUDGE)
    await to_the_end(made, fork)
    found = outcomes(forked.debate_session.debate, forked.messages)
    assert [one.title(TEXTS) for one in found] == ["Verdict 1, after round 1", "Verdict 2, after round 1"]
    await made.engine.shutdown()


async def test_of_those_who_are_named_in_a_what_if_round_only_they_answer_and_all_vote() -> None:
    made = a_council()
    session_id = await decided(made)
    before = len(made.models.requests)
    await made.engine.councils.ask(session_id, WHAT_IF, to=("p1",))
    assert await to_the_end(made, session_id) == Status.COMPLETED
    assert len(made.models.requests) == before + 1 + 1 + 3 + 2
    live = live_of(made, session_id)
    record = Record(live.debate_session.debate, live.messages)
    assert [*record.openings] == ["p0", "p1", "p2"]
    assert len(outcomes(live.debate_session.debate, live.messages)) == 2
    await made.engine.shutdown()


async def test_a_council_cut_after_each_record_of_a_what_if_round_ends_alike_and_asks_nothing_twice() -> None:
    store = MemoryStore()
    made = a_council(store)
    session_id = await decided(made)
    begun = len(store.batches)
    await made.engine.councils.ask(session_id, WHAT_IF)
    await to_the_end(made, session_id)
    ends = ends_of(live_of(made, session_id))
    assert len(ends) == 2
    calls = ended_calls(live_of(made, session_id).messages)
    whole = list(store.batches)
    await made.engine.shutdown()
    for cut in range(begun + 1, len(whole) + 1):
        rest = MemoryStore()
        rest.batches = whole[:cut]
        again = a_council(rest)
        live = await again.engine.open(session_id)
        ended = ended_calls(live.messages)
        await to_the_end(again, session_id)
        assert ends_of(live) == ends, cut
        assert len(again.models.requests) == calls - ended, cut
        await again.engine.shutdown()


def ended_calls(messages: list[Message]) -> int:
    return sum(one.role == Role.ASSISTANT and one.state == MessageState.DONE for one in messages)


# The memo


async def test_the_memo_says_who_held_what_before_the_first_verdict_and_which_verdicts_there_were() -> None:
    for made, begin, ask in (
        (a_debater(), judged_debate, Debates.say),
        (a_council(), decided, Councils.ask),
    ):
        session_id = await begin(made)
        council = begin is decided
        once = await made.engine.memo(session_id)
        # Whoever voted once held nothing before that anybody knows of.
        assert [bool(one.first[0][0]) for one in once.options if one.last][:1] == [council]
        assert once.labels[2] == ("held at first by" if council else "")
        assert ("| held at first by |" in memo_as_markdown(once)) == council
        await ask(made.engine.councils if council else made.engine.debates, session_id, WHAT_IF)
        await to_the_end(made, session_id)
        memo = await made.engine.memo(session_id)
        before, now = ("Postgres", "SQLite") if council else (STEP, ONCE)
        held = {
            one.text: [[name for name, _sure in part] for part in (one.first, one.last)]
            for one in memo.options
        }
        changed_it = ["GPT", "Gemini"] if council else ["GPT", "Claude", "Gemini"]
        assert held[before][0] == changed_it and set(changed_it) <= set(held[now][1])
        assert held[before][1] == []
        verdict = next(part for part in memo.parts if part.label == "The verdict")
        assert f"Verdict 1, after round 1: {before}" in verdict.notes
        assert verdict.paragraphs[0][0] == f"{now}, by 3 of 3."
        said = "answered unseen by each other, argued in one round," if council else "debated in 2 rounds."
        assert said in memo.foot[0]
        await made.engine.shutdown()
