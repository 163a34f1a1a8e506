"""What follows from a council: the rules of its outcome, the judge, and what the minority holds and held."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from app.core.council import ANY_JUDGE, NO_JUDGE, Calibration, Option, Participant
from app.core.council_parts import BestCase, Differences, Dissent, JudgeReading, Position
from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.message import CouncilPart, Message
from app.core.provider import ModelRequest
from app.core.session import Debate, ExportFormat
from app.engine.council.outcome import CouncilOutcome, Tally, outcome, state_of
from app.engine.council.record import Record
from app.engine.council.requests import judge_view, read_reading
from app.engine.debate.families import without_names
from app.engine.debate.replies import NEITHER
from tests.builders import Bench, Script, a_bench, a_log_store, remotes, said
from tests.engine.test_council import SAYS, a_council, answer, asked, bench, held

PEOPLE = 4


def tally(votes: str) -> Tally:
    """Return a tally of one letter for each participant, "-" for a blank."""
    count = {one: votes.count(one) for one in "ABC"}
    return Tally(votes=count, weighted={}, missing=tuple("-" * votes.count("-")))


@pytest.mark.parametrize(
    ("before", "after", "headline", "choice", "families", "unstable", "state", "against"),
    [
        ("----", "A---", "A", "", 4, False, "none", ""),
        ("AB", "AB", "", "", 2, False, "tie", ""),
        ("AABB", "AABB", "", "none", 4, False, "tie", ""),
        # A tie that the judge breaks is held by half of them.
        ("AABB", "AABB", "A", "A", 4, False, "contested", "half"),
        ("AAAB", "AAAB", "A", "B", 4, False, "contested", "judge"),
        ("AAAA", "AAAA", "A", "none", 4, False, "contested", "judge"),
        ("BBBA", "AAAB", "A", "A", 4, False, "contested", "overturned"),
        ("AB--", "AA--", "A", "", 4, False, "contested", "half"),
        ("AAAA", "AAAA", "A", "A", 2, False, "settled", ""),
        ("AABB", "AAAA", "A", "", 2, False, "settled", ""),
        ("AAAA", "AAAA", "A", "", 2, True, "leaning", ""),
        ("AAAA", "AAA-", "A", "", 4, False, "leaning", ""),
        ("AAAA", "AAAA", "A", "A", 1, False, "agreed_one_family", ""),
        ("AAAA", "AAAA", "A", "", 1, True, "agreed_one_family", ""),
        ("AABB", "AAAB", "A", "A", 4, False, "leaning", ""),
        ("AAAB", "AAAB", "A", "", 1, False, "leaning", ""),
    ],
)
def test_the_first_state_that_fits(
    before: str, after: str, headline: str, choice: str, families: int, unstable: bool, state: str, against: str
) -> None:  # fmt: skip
    found = state_of(tally(before), tally(after), headline, choice, families, unstable=unstable)
    assert found == (state, against)


def opened(votes: str, models: tuple[str, ...] = ()) -> tuple[Debate, list[Message]]:
    """Return a council of as many people as letters, each of whom answers so; one round was wanted."""
    debate = a_council(len(votes), rounds=1, judges=("j/1",))
    people = tuple(replace(one, model=f"m{place}x") for place, one in enumerate(debate.participants))
    for place, model in enumerate(models):
        people = (*people[:place], replace(people[place], model=model), *people[place + 1 :])
    debate = replace(debate, participants=people)
    answers = [
        said(one, f"{one.id} says {vote}.", 0, part=CouncilPart.ANSWER, data=Position(confidence=60 + place))
        for place, (one, vote) in enumerate(zip(people, votes, strict=True))
    ]
    held = {vote: [one.id for one, each in zip(people, votes, strict=True) if each == vote] for vote in "ABC"}
    options = tuple(
        Option(id=f"o{vote}", text=f"Option {vote}", backers=tuple(who)) for vote, who in held.items() if who
    )
    compared = said(people[0], "", 0, part=CouncilPart.DIFFERENCES)
    data = Differences(order=tuple(one.id for one in answers), options=options)
    return debate, [asked(), *answers, replace(compared, data=data)]


def voted(debate: Debate, votes: str, cites: dict[int, list[str]] | None = None) -> list[Message]:
    """Return the turns and ballots of round 1."""
    made = []
    for place, (one, vote) in enumerate(zip(debate.participants, votes, strict=True)):
        moved_by = tuple((cites or {}).get(place, ()))
        data = Position(choice=f"o{vote}", confidence=80, moved_by=moved_by)
        made += [said(one, f"{one.id} argues {vote}.", 1, part=CouncilPart.TURN, data=data)]
        made += [said(one, "", 1, part=CouncilPart.BALLOT, data=data)]
    return made


def read(debate: Debate, *choices: str, judge: str = "j/1") -> list[Message]:
    return [
        replace(
            said(debate.participants[0], "", 1, part=CouncilPart.READING),
            data=JudgeReading(
                judge=judge, order=order, choice=choice, cases=(BestCase(option=choice, text=f"Case {order}."),)
            ),
        )
        for order, choice in enumerate(choices, 1)
    ]  # fmt: skip


def result_of(before: str, after: str, *choices: str, **cites: list[str]) -> CouncilOutcome:
    debate, messages = opened(before)
    return outcome(Record(debate, [*messages, *voted(debate, after), *read(debate, *choices)]))


def test_the_judge_breaks_ties_and_nothing_else() -> None:
    tied = result_of("AABB", "AABB", "oA", "oA")
    assert (tied.headline, tied.choice, tied.text, tied.state) == ("oA", "oA", "Case 1.", "contested")
    against = result_of("AAAB", "AAAB", "oB", "oB")
    assert (against.headline, against.state, against.against) == ("oA", "contested", "judge")
    # What the judge sides with comes first, and nobody is overruled.
    against = result_of("AACCB", "AACCA", "oB", "oB")
    assert against.headline == "oA" and [one.option for one in against.minority] == ["oB", "oC"]
    third = result_of("AABB", "AABB", "oC", "oC")
    assert (third.headline, third.state) == ("", "tie")


def test_hit_rates_take_the_place_of_confidence_and_break_a_tie_once_all_are_known() -> None:
    debate, messages = opened("AABB")
    messages += voted(debate, "AABB")
    plain = outcome(Record(debate, messages))
    assert plain.headline == "" and plain.after.weighted["oA"] < plain.after.weighted["oB"]
    # Those who hold A said 60 and 61, the others 62 and 63; of all of them it is known how often they were right.
    names = [f"{one.provider}/{one.model}" for one in debate.participants]
    rates = [
        Calibration(model=one, rates=(90, 90 - 70 * (place > 1), 50, 50)) for place, one in enumerate(names)
    ]
    assert debate.council is not None

    def weighed(known: list[Calibration], *choices: str) -> CouncilOutcome:
        told = replace(debate, council=replace(debate.council, calibrations=tuple(known)))
        return outcome(Record(told, [*messages, *read(debate, *choices)]))

    found = weighed(rates)
    assert found.after.weighted == {"oA": pytest.approx(1.9), "oB": pytest.approx(1.2)}
    assert (found.headline, found.state, found.against) == ("oA", "contested", "weighed")
    assert found.before.weighted == found.after.weighted
    # One of whom nothing is known leaves the tie, and so do equal weights; a stable judge comes first.
    assert weighed(rates[1:]).headline == ""
    assert weighed([replace(one, rates=(50, 50, 50, 50)) for one in rates]).headline == ""
    judged = weighed(rates, "oB", "oB")
    assert (judged.headline, judged.against) == ("oB", "half")


def test_a_judge_that_turns_with_the_order_or_read_once_is_silent() -> None:
    turned = result_of("AABB", "AABB", "oA", "oB")
    assert (turned.headline, turned.choice, turned.unstable) == ("", "", True)
    neither = result_of("AAAA", "AAAA", "oA", NEITHER)
    assert neither.unstable and neither.state == "leaning"
    once = result_of("AABB", "AABB", "oA")
    assert (once.headline, once.choice, once.unstable) == ("", "", False)
    assert once.degraded == ("second_reading",) and once.judge == "j/1"
    assert result_of("AABB", "AABB").degraded == ()


def test_views_held_now_come_first_then_those_given_up_with_what_moved() -> None:
    debate, messages = opened("ABCA")
    reason = messages[1].id
    messages += voted(debate, "ABAA", {2: [reason]})
    result = outcome(Record(debate, [*messages, *read(debate, "oA", "oA")]))
    now, gone = result.minority
    assert (now.option, now.holders, now.now, now.text) == ("oB", ("p1",), True, "p1 argues B.")
    assert (gone.option, gone.holders, gone.now, gone.text) == ("oC", ("p2",), False, "p2 says C.")
    assert gone.reason_named and gone.cites == (messages[3].id,)
    unnamed, others = opened("ABCA")
    result = outcome(Record(unnamed, [*others, *voted(unnamed, "ABAA")]))
    assert not result.minority[1].reason_named
    dissent = said(debate.participants[1], "Nobody tested it.", 1, part=CouncilPart.DISSENT)
    messages += [replace(dissent, data=Dissent(right_if="the log shows it"))]
    result = outcome(Record(debate, messages))
    assert (result.minority[0].text, result.minority[0].right_if) == ("Nobody tested it.", "the log shows it")


def test_families_count_not_participants() -> None:
    for models, state in (
        (("gpt-5", "o3", "gpt-4o"), "agreed_one_family"),
        (("gpt-5", "o3", "qwen"), "settled"),
    ):
        debate, messages = opened("AAA", models)
        assert outcome(Record(debate, [*messages, *voted(debate, "AAA")])).state == state
    # The last one has no vote: only one family agrees.
    assert debate.council is not None
    debate = replace(debate, council=replace(debate.council, voteless=("p2",)))
    assert outcome(Record(debate, [*messages, *voted(debate, "AAA")])).state == "agreed_one_family"


def test_nobody_agrees_with_an_answer_that_says_something_else_because_it_has_no_vote() -> None:
    for choices, state in (("AAB", "leaning"), ("AAA", "settled")):
        debate, messages = opened(choices, ("gpt-5", "qwen", "claude-opus-4-5"))
        assert debate.council is not None
        unargued = replace(debate.council, voteless=("p2",), rounds=0)
        assert outcome(Record(replace(debate, council=unargued), messages)).state == state


def test_the_second_order_reverses_letters_options_and_openings_but_not_the_replies() -> None:
    debate, messages = opened("ABCA")
    messages += voted(debate, "ABCA")
    first, second = (judge_view(Record(debate, messages), 1, order) for order in (1, 2))
    assert first.options == second.options[::-1]
    assert first.statements[:4] == second.statements[:4][::-1]
    assert first.statements[4:] == second.statements[4:]
    letters = [first.letters[one.id] + second.letters[one.id] for one in debate.participants]
    assert sorted(letters) == ["AD", "BC", "CB", "DA"]


def test_nothing_in_a_judges_request_tells_who_wrote_it() -> None:
    people = (
        Participant(id="a", name="Architect", provider="anthropic", model="claude-opus-5"),
        Participant(id="b", name="Backend", provider="openai", model="gpt-5.2"),
        Participant(id="c", name="지피티", provider="openai", model="gpt-5.2"),
    )
    debate = Debate(topic="Is GPT-5 fine?", participants=people)
    text = without_names(
        "As Claude by Anthropic, I, Architect, disagree with gpt-5.2 and 클로드는 said it.",
        debate,
        {"a": "A"},
    )
    assert text == "As A by A, I, A, disagree with … and A는 said it."
    # A word of the question is no secret, nor is an everyday word.
    assert without_names("Run a local command", debate) == "Run a local command"


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ("together", "We work together on it."),
        ("program", "The agent asks an external agent."),
        ("embedded", "It runs on this computer."),
        ("local", "They are downloaded models."),
    ],
)
def test_what_describes_a_provider_is_no_name(provider: str, words: str) -> None:
    one = Participant(id="a", name="Ada", provider=provider, model="m-1")
    assert (
        without_names(f"{words} Ada says so.", Debate(topic="Is it?", participants=(one,)))
        == f"{words} … says so."
    )


def test_what_a_reading_cites_is_there_and_a_doubtful_choice_is_none() -> None:
    debate, messages = opened("AB")
    view = judge_view(Record(debate, messages), 1, 1)
    letter = view.letters["p1"]
    found = read_reading(
        json.dumps({
            "choice": "A", "confidence": "70%", "cases": [{"option": "A", "text": "It holds.", "cites": [1, 9]}],
            "agreed": [{"text": "Yes", "cites": []}], "open": "nothing",
            "cruxes": [{"text": "Is it?", "yes": [f"Participant {letter}", "Z"], "no": [], "cites": [2]}, {"text": "No cite", "cites": [7]}],
            "claims": [
                {"text": "It is.", "who": letter, "for": [letter, "Z"], "against": [view.letters["p0"]], "cites": [2, 2]},
                {"text": "Both at once.", "who": letter, "for": [], "against": [letter], "cites": [1]},
                {"text": "No cite", "who": letter, "for": [], "against": [], "cites": []},
                *({"text": f"Claim {number}", "who": letter, "for": [], "against": [], "cites": [1]} for number in range(20)),
            ],
            "unsupported": [2, 9, "1"],
        }), view,
    )  # fmt: skip
    assert (found.choice, found.confidence) == (view.options[0].id, 70)
    assert found.cases == (
        BestCase(option=view.options[0].id, text="It holds.", cites=(view.statements[0].id,)),
    )
    (crux,) = found.questions
    assert crux.holds == ("p1",) and crux.cites == (view.statements[1].id,)
    first, both, *rest = found.claims
    assert (first.holds, first.denies, first.cites) == (("p1",), ("p0",), (view.statements[1].id,))
    # Who holds and denies the same is in doubt.
    assert (both.holds, both.denies) == ((), ()) and len(rest) == 10
    assert found.unsupported == (view.statements[1].id,)
    assert read_reading('{"choice": "other", "text": "Mine"}', view).choice == ""
    assert read_reading("Either A or B", view).choice == ""
    assert read_reading('{"choice": "none"}', view).choice == NEITHER


# The judge of a running council


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    one = bench(tmp_path)
    one.models.otherwise = judging
    yield one
    await one.engine.shutdown()


def judging(request: ModelRequest) -> Script:
    """Argue for Postgres against SQLite to the end; judge for the option that is asked for by its name."""
    text = str(request.messages[-1]["content"])
    letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
    if "You judge a question" in text:
        case = {"option": letters["SQLite"], "text": "It copies.", "cites": [1]}
        by = dict(re.findall(r"Participant (\w): (Postgres|SQLite)", text)[::-1])
        sides = [[one for one, held in by.items() if held == option] for option in ("Postgres", "SQLite")]
        claim = {"text": "It writes.", "who": "", "for": sides[0], "against": sides[1], "cites": [1, 2]}
        said = {"choice": letters["SQLite"], "confidence": 60, "cases": [case], "claims": [claim]}
        return [json.dumps(said | {"unsupported": [2]})]
    if "Write your dissent" in text:
        return ['Nobody tested it.\n@@ {"right_if": "a day of logs shows it"}']
    if "Test what they hold" in text:
        return ['The premise fails.\n@@ {"choice": "other", "text": "Files", "confidence": 50}']
    if "secret ballot" in text or "Open, each with its letter" in text:
        choice = {"choice": letters["SQLite" if request.model == "model-1" else "Postgres"], "confidence": 66}
        return [json.dumps(choice)] if request.schema else [f"I argue.\n@@ {json.dumps(choice)}"]
    if request.model not in ("model-0", "model-1", "model-2"):
        return ['Alone.\n@@ {"answer": "Postgres, one row", "confidence": 50}']
    return answer(request)


async def result(made: Bench, judge: str = "", rounds: int = 1) -> tuple[str, CouncilOutcome]:
    session_id = await held(made)
    await made.engine.councils.debate(session_id, rounds, judge)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    return session_id, outcome(Record(live.debate_session.debate, live.messages))


async def test_a_judge_reads_twice_and_learns_no_name_no_vote_and_no_confidence(made: Bench) -> None:
    session_id, found = await result(made)
    readings = [one for one in made.models.requests if "You judge a question" in str(one.messages)]
    assert len(readings) == 2 and {one.model for one in readings} == {"model-0"}
    for request in readings:
        text = json.dumps([*request.messages])
        assert all(says.split(",")[0] in text for says in SAYS.values())
        assert not any(
            word in text for word in ("GPT", "Claude", "Gemini", "model-", "remote", "70", "66", "@@")
        )
    first, second = (str(one.messages[-1]["content"]) for one in readings)
    assert first.index("Postgres, one row") < first.index("SQLite in") or second.index(
        "Postgres, one row"
    ) < second.index("SQLite in")
    assert (found.judge, found.choice, found.inside) == (
        "remote0/model-0",
        "o2" if found.headline == "o1" else "o1",
        True,
    )
    assert (found.state, found.against) == ("contested", "judge")
    (view,) = found.minority
    assert (view.text, view.right_if, view.holders) == (
        "Nobody tested it.",
        "a day of logs shows it",
        ("p1",),
    )
    (dissent,) = (one for one in made.models.requests if "Write your dissent" in str(one.messages))
    assert dissent.model == "model-1" and "Postgres" in str(dissent.messages)
    for file_format in ExportFormat:
        document = await made.engine.export(session_id, file_format)
        assert "Nobody tested it." in document and "a day of logs shows it" in document
        if file_format in (ExportFormat.MARKDOWN, ExportFormat.HTML):
            assert (
                "Minority report" in document and "both times" in document and "3 of 3 answered" in document
            )
            assert "yes: GPT, Gemini · no: Claude" in document and "It writes." in document
    shown = made.engine.live(session_id)
    assert shown is not None
    assert [
        asdict(one)["choice"] for one in Record(shown.debate_session.debate, shown.messages).readings()
    ] == [found.choice] * 2


async def test_the_next_judge_reads_where_one_fails_and_the_ballots_stand_where_all_do(made: Bench) -> None:
    broken = {"model-0"}

    def sometimes(request: ModelRequest) -> Script:
        if "You judge a question" in str(request.messages) and request.model in broken:
            return (
                [ProviderError(FailureKind.AUTHENTICATION)]
                if request.model != "model-1"
                else ["I cannot say."]
            )
        return judging(request)

    made.models.otherwise = sometimes
    session_id, found = await result(made)
    assert found.judge == "remote1/model-1" and "judge" not in found.degraded
    broken |= {"model-1", "model-2"}
    await made.engine.councils.debate(session_id, 1)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    found = outcome(Record(live.debate_session.debate, live.messages))
    assert found.degraded == ("judge",) and found.failure == FailureKind.AUTHENTICATION
    assert found.headline and found.minority[0].text == "I argue."
    readers = [one.model for one in made.models.requests if "You judge a question" in str(one.messages)]
    assert readers[4:] == ["model-0"] * 2 + ["model-1"] * 2 + ["model-2"] * 2
    # Another judge can be asked afterwards, who alone is paid for.
    broken.clear()
    await made.engine.councils.judge(session_id, "remote3/model-3")
    await made.engine.wait(session_id)
    assert outcome(Record(live.debate_session.debate, live.messages)).judge == "remote3/model-3"


async def test_one_failed_reading_is_read_once_and_silent(made: Bench) -> None:
    count = iter(range(9))

    def once(request: ModelRequest) -> Script:
        if "You judge a question" in str(request.messages) and next(count) == 1:
            return [ProviderError(FailureKind.AUTHENTICATION)]
        return judging(request)

    made.models.otherwise = once
    _, found = await result(made)
    assert (found.degraded, found.choice, found.state) == (("second_reading",), "", "leaning")


async def test_nobody_judges_where_that_is_not_wanted_and_a_chosen_judge_does(made: Bench) -> None:
    session_id, found = await result(made, NO_JUDGE)
    assert (found.judge, found.degraded) == ("", ())
    assert not any(
        "You judge" in str(one.messages) or "dissent" in str(one.messages) for one in made.models.requests
    )
    assert made.engine.councils.providers.outside(made.debate_of(session_id))[0] == "remote0/model-0"
    await made.engine.councils.judge(session_id, ANY_JUDGE)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    assert outcome(Record(live.debate_session.debate, live.messages)).judge == "remote0/model-0"


async def test_who_reads_from_outside_is_of_a_provider_that_may_read_any_session(tmp_path: Path) -> None:
    servers = [replace(one, models=("qwen-5",)) if one.id == "remote5" else one for one in remotes()]
    made = a_bench(a_log_store(tmp_path), providers=servers)
    made.models.otherwise = judging
    councils = made.engine.councils
    session_id, found = await result(made)
    assert (found.judge, found.inside) == ("remote0/model-0", True)
    with pytest.raises(BadInput, match="council_no_outsider"):
        await councils.further(session_id, "check")
    await made.engine.change_settings(lambda settings: replace(settings, may_read_any=("remote5",)))
    session_id, found = await result(made)
    assert (found.judge, found.inside) == ("remote5/qwen-5", False)
    live = made.engine.live(session_id)
    assert live is not None
    before = len(made.models.requests)
    for step in ("solo", "check"):
        await councils.further(session_id, step)
        await made.engine.wait(session_id)
    alone, outside = made.models.requests[before:]
    assert (alone.model, outside.model) == ("model-0", "qwen-5")
    assert "tokens to think in" in str(alone.messages) and "tokens" not in str(outside.messages)
    for request in (alone, outside):
        assert not any(says in str(request.messages) for says in SAYS.values())
    solo, checked = live.messages[-2:]
    postgres = next(
        one.id
        for one in Record(live.debate_session.debate, live.messages).options()
        if one.text == "Postgres"
    )
    assert [(one.part, one.data_as(Position).choice) for one in (solo, checked)] == [
        ("solo", postgres),
        ("check", postgres),
    ]
    await councils.further(session_id, "stress")
    await made.engine.wait(session_id)
    again = [one.part for one in live.messages[-7:]]
    assert again == ["check", *["ballot"] * 3, *["reading"] * 2, "dissent"]
    assert "Files" in [one.text for one in Record(live.debate_session.debate, live.messages).options()]
    await made.engine.shutdown()
