"""Secret ballots, the verdict, forks: what is asked, what counts of the answers, and that nobody learns of it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.printing.debates import verdict_text
from app.cli.printing.sessions import cost_line
from app.core.council import ANY_JUDGE, NO_JUDGE
from app.core.errors import BadInput, FailureKind, NotFound, ProviderError
from app.core.message import MessageState
from app.core.provider import ModelRequest
from app.core.session import Debate
from app.core.summary import DebateMode, Status
from app.core.texts import Texts
from app.core.verdict import Ballot, Point, Verdict
from app.engine.debate.verdict import (
    Judge,
    read_verdict,
    round_to_poll,
    stance_of,
    verdict_request,
)
from tests.builders import (
    PROMPTS,
    Bench,
    Script,
    a_bench,
    a_debate,
    a_log_store,
    a_setup,
    people,
    reopened,
    said,
)
from tests.memory import MemoryStore

JUDGE = Judge(name="Claude", provider="anthropic", model="opus")
TEXTS = Texts.load(Path(__file__).parents[2] / "resources" / "i18n", "en")
_made: list[Bench] = []


@pytest.fixture(autouse=True)
async def engines_are_closed() -> AsyncIterator[None]:
    yield
    while _made:
        await _made.pop().engine.shutdown()


def votes(request: ModelRequest) -> bool:
    return request.schema is not None and "stance" in request.schema["properties"]  # type: ignore[operator]


def judges(request: ModelRequest) -> bool:
    return request.schema is not None and "answer" in request.schema["properties"]  # type: ignore[operator]


def a_verdict(*cites: int) -> str:
    point = {"text": "Do it step by step.", "cites": list(cites)}
    return json.dumps({"answer": [point], "agreed": [point], "open": []})


def bench(tmp_path: Path, answer: Callable[[ModelRequest], Script] | None = None) -> Bench:
    def otherwise(request: ModelRequest) -> Script:
        if votes(request):
            return ['{"stance": 1}']
        return [a_verdict(1, 2)] if judges(request) else ["I say so."]

    made = a_bench(a_log_store(tmp_path))
    made.models.otherwise = answer or otherwise
    _made.append(made)
    return made


async def held(made: Bench, **fields: object) -> str:
    session_id = await made.engine.debates.start(replace(a_setup(2), **{"rounds": 2, "polls": True} | fields))  # type: ignore[arg-type]
    await made.engine.wait(session_id)
    return session_id


def debate_of(made: Bench, session_id: str) -> Debate:
    live = made.engine.live(session_id)
    assert live is not None
    return live.debate_session.debate


async def test_everybody_votes_before_and_after_each_round_and_a_verdict_follows(tmp_path: Path) -> None:
    made = bench(tmp_path)
    debate = debate_of(made, await held(made))
    assert sorted((one.round, one.stance) for one in debate.ballots) == [(n, 1) for n in (0, 0, 1, 1, 2, 2)]
    assert debate.verdict is not None and debate.verdict.judge == debate.participants[0].name
    kinds = ["vote" if votes(one) else "verdict" if judges(one) else "turn" for one in made.models.requests]
    assert kinds == [*["vote"] * 2, *["turn"] * 2, *["vote"] * 2, *["turn"] * 2, *["vote"] * 2, "verdict"]


async def test_votes_at_the_end_alone_are_one_call_each_also_where_it_ends_within_a_round(
    tmp_path: Path,
) -> None:
    made = bench(tmp_path)
    debate = debate_of(made, await held(made, polls=False, final_ballots=True, judge=NO_JUDGE))
    assert [(one.round, one.stance) for one in debate.ballots] == [(2, 1), (2, 1)]
    kinds = ["vote" if votes(one) else "turn" for one in made.models.requests]
    assert kinds == [*["turn"] * 4, *["vote"] * 2] and debate.verdict is None

    def passing(request: ModelRequest) -> Script:
        if request.schema is not None:
            return ['{"stance": 1}']
        later = sum(one.schema is None for one in made.models.requests) > 2
        return ["[PASS]"] if later else ["I say so."]

    made.models.otherwise = passing
    setup = replace(a_setup(3), mode=DebateMode.FREE, rounds=4, final_ballots=True, judge=NO_JUDGE)
    made.models.requests.clear()
    session_id = await made.engine.debates.start(setup)
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None and (live.session.status, live.session.reason) == (Status.COMPLETED, "exhausted")
    assert [one.stance for one in debate_of(made, session_id).ballots] == [1, 1, 1]


async def test_nobody_votes_where_nobody_could_answer(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        lambda one: ['{"stance": 1}'] if one.schema else [ProviderError(FailureKind.BAD_REQUEST, "400")],
    )
    session_id = await held(made, polls=False, final_ballots=True, rounds=1)
    live = made.engine.live(session_id)
    while live is not None and live.session.status == Status.PAUSED:
        await made.engine.debates.held.skip(session_id)
        await made.engine.wait(session_id)
    assert not any(map(votes, made.models.requests))


async def test_ballots_are_on_the_disk_before_the_call_that_follows() -> None:
    store = MemoryStore()
    left: list[tuple[MemoryStore, int]] = []

    def talking(kept: MemoryStore) -> Bench:
        made = a_bench(kept)
        _made.append(made)

        def answer(request: ModelRequest) -> Script:
            if votes(request):
                return ['{"stance": 1}']
            if kept is store:
                left.append((store.killed(), sum(map(votes, made.models.requests))))
            return [a_verdict(1, 2)] if judges(request) else ["I say so."]

        made.models.otherwise = answer
        return made

    session_id = await held(talking(store))
    assert [asked for _, asked in left] == [2, 2, 4, 4, 6]
    for rest, asked in left:
        again = talking(rest)
        await again.engine.open(session_id)
        await again.engine.resume(session_id)
        await again.engine.wait(session_id)
        assert asked + sum(map(votes, again.models.requests)) == 6, "nobody votes twice"


async def test_nobody_reads_a_ballot_and_without_them_nothing_more_is_asked(tmp_path: Path) -> None:
    made = bench(tmp_path)
    await held(made)
    for request in made.models.requests:
        if not votes(request):
            assert "stance" not in str(request.messages)
    before = len(made.models.requests)
    plain = await made.engine.debates.start(replace(a_setup(2), rounds=2))
    await made.engine.wait(plain)
    assert len(made.models.requests) - before == 4
    assert debate_of(made, plain).ballots == () and debate_of(made, plain).verdict is None


async def test_the_judge_of_the_set_up_gives_the_verdict_also_without_votes(tmp_path: Path) -> None:
    made = bench(tmp_path)
    second = a_setup(2).participants[1]
    judge = f"{second.provider}/{second.model}"
    debate = debate_of(made, await held(made, polls=False, judge=judge))
    assert debate.ballots == () and debate.verdict is not None
    assert (debate.verdict.judge, debate.verdict.model) == (second.name, judge)
    assert debate_of(made, await held(made, polls=False, judge=ANY_JUDGE)).verdict is not None
    voted = debate_of(made, await held(made, judge=NO_JUDGE))
    assert voted.ballots and voted.verdict is None


async def test_a_vote_that_cannot_be_had_is_an_empty_one(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        if votes(request):
            return (
                [ProviderError(FailureKind.SERVER, "500")] if "Say what" in str(request.messages) else ["?"]
            )
        return [a_verdict()] if judges(request) else ["I say so."]

    made = bench(tmp_path, answer)
    session_id = await held(made)
    live = made.engine.live(session_id)
    assert live is not None and live.session.status == Status.COMPLETED
    assert {one.stance for one in debate_of(made, session_id).ballots} == {None}


async def test_where_no_judge_answers_the_last_words_are_left(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        lambda one: [ProviderError(FailureKind.SERVER, "500")] if one.schema else ["I say so. " * 60],
    )
    session_id = await held(made)
    verdict = debate_of(made, session_id).verdict
    assert verdict is not None
    assert (verdict.judge, verdict.failure, len(verdict.open)) == ("", "server", 2)
    assert all(len(one.text) <= 302 and one.cites for one in verdict.open)
    made.models.otherwise = lambda _: [a_verdict(1)]
    chosen = made.engine.debates.judges(session_id)[1]
    assert (await made.engine.debates.judge(session_id, chosen)).judge == chosen.name
    again = await reopened(made, tmp_path)
    _made[:] = [again]
    await again.engine.open(session_id)
    kept = debate_of(again, session_id).verdict
    assert kept is not None and kept.judge == chosen.name and kept.answer[0].cites


async def test_no_other_judge_answers_where_the_chosen_one_fails(tmp_path: Path) -> None:
    second = a_setup(2).participants[1]
    judge = f"{second.provider}/{second.model}"
    asked: list[str] = []

    def answer(one: ModelRequest) -> list[object]:
        if not judges(one):
            return ["I say so."]
        asked.append(f"{one.provider}/{one.model}")
        return [ProviderError(FailureKind.NETWORK, "refused")]

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, judge=judge)
    verdict = debate_of(made, session_id).verdict
    assert verdict is not None and (verdict.judge, verdict.failure) == ("", "network")
    assert set(asked) == {judge}
    offered = [f"{one.provider}/{one.model}" for one in made.engine.debates.judges(session_id)]
    assert offered[0] == judge and len(offered) > 1


@pytest.mark.parametrize(
    ("second", "readings", "line"),
    [
        ("same", 2, "Stable: reading in another order"),
        ("other", 2, "came to a different conclusion: Rewrite it at once"),
        ("none", 2, "came to a different conclusion: none of the options"),
        ("A or B", 1, "only once"),
        (ProviderError(FailureKind.BAD_REQUEST, "400"), 1, "only once"),
    ],
)
async def test_a_judge_reads_again_in_another_order_and_says_so_where_that_changes_its_mind(
    tmp_path: Path, second: str | ProviderError, readings: int, line: str
) -> None:
    options = ["Step by step", "Rewrite it at once"]

    def answer(request: ModelRequest) -> Script:
        text = str(request.messages[-1]["content"])
        if judges(request):
            return [json.dumps({**json.loads(a_verdict(1, 2)), "options": options, "choice": 1})]
        if "What could follow" not in text:
            return ["I say so."]
        wanted = {"same": options[0], "other": options[1]}.get(str(second), "")
        letter = next((one[0] for one in text.splitlines() if wanted and one[1:] == f": {wanted}"), second)
        return [letter if isinstance(letter, ProviderError) else json.dumps({"choice": letter})]

    made = bench(tmp_path, answer)
    session_id = await held(made, polls=False, judge=ANY_JUDGE, independent_opening=True)
    verdict = debate_of(made, session_id).verdict
    assert verdict is not None and (verdict.readings, verdict.answer[0].text) == (
        readings,
        "Do it step by step.",
    )
    assert verdict.unstable == (second in ("other", "none"))
    first, again = (str(one.messages[-1]["content"]) for one in made.models.requests if one.schema)
    spoke = [re.findall(r"^\(\d\) Participant (\w), 1", text, re.MULTILINE) for text in (first, again)]
    assert spoke[0] == spoke[1] and sorted(spoke[0]) == ["A", "B"], (
        "both the order and the letters are reversed"
    )
    assert again.index(options[1]) < again.index(options[0])
    live = made.engine.live(session_id)
    assert live is not None and line in verdict_text(live.session, live.messages, TEXTS)
    assert line in await made.engine.export(session_id, "md")


async def test_a_debate_that_runs_is_not_judged(tmp_path: Path) -> None:
    gate = asyncio.Event()
    made = bench(tmp_path, lambda _: [gate])
    session_id = await made.engine.debates.start(a_setup(2))
    with pytest.raises(BadInput, match="debate_runs"):
        await made.engine.debates.judge(session_id)
    gate.set()


@pytest.mark.parametrize("mode", ["round-robin", DebateMode.FREE])
async def test_a_fork_goes_on_from_its_turn_and_leaves_the_other_alone(tmp_path: Path, mode: str) -> None:
    made = bench(tmp_path)
    session_id = await held(made, mode=mode)
    turns = await made.engine.debates.turns(session_id)
    assert [one.round for one in turns] == [1, 1, 2, 2]
    before = [one.content for one in made.messages(session_id)]
    fork = await made.engine.debates.fork(session_id, turns[1].id)
    live = made.engine.live(fork)
    assert live is not None and (live.session.status, live.session.reason) == (Status.PAUSED, "forked")
    debate = debate_of(made, fork)
    assert (debate.round, debate.turn, debate.verdict) == (2, 0, None)
    assert {one.round for one in debate.ballots} == {0, 1}
    assert not {one.id for one in live.messages} & {one.id for one in turns}
    await made.engine.resume(fork)
    await made.engine.wait(fork)
    assert live.session.status == Status.COMPLETED and len(live.messages) == 4
    assert [one.content for one in made.messages(session_id)] == before
    with pytest.raises(NotFound):
        await made.engine.debates.fork(session_id, "nothing")


@pytest.mark.parametrize(
    ("answer", "stance"),
    [('{"stance": -2}', -2), ("-1", -1), ("\u22121", -1), ("I say 2.", 2), ("", None), ("1 or 2", None), ("12", None), ("0.5", None), ("3", None)],
)  # fmt: skip
def test_a_vote_is_one_number(answer: str, stance: int | None) -> None:
    assert stance_of(answer) == stance


def _said() -> Sequence[object]:
    one, two = people(2)
    return [
        said(one, "First.", id="m1"),
        said(two, "", id="m2"),
        said(two, "Second.", id="m3", state=MessageState.DONE),
    ]


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        (a_verdict(1, 2), ("m1", "m3")),
        ("```json\n" + a_verdict(2, 99, 0, -1) + "\n```", ("m3",)),
        (a_verdict(1, 1, 1), ("m1",)),
        ('{"answer": "Just so."}', ()),
        ('{"answer": [{"text": "Just so.", "cites": ["1", true, null]}]}', ()),
    ],
)
def test_a_verdict_cites_only_what_is_there(answer: str, points: tuple[str, ...]) -> None:
    verdict = read_verdict(answer, a_debate(2), _said(), JUDGE, PROMPTS)  # type: ignore[arg-type]
    assert verdict is not None
    assert verdict.answer[0].cites == points


@pytest.mark.parametrize(
    "answer", ["", "no", "[]", "{", '{"answer": []}', '{"answer": 7}', "[" * 5_000, '{"open": ["x"]}']
)
def test_what_is_no_verdict_is_none(answer: str) -> None:
    assert read_verdict(answer, a_debate(2), _said(), JUDGE, PROMPTS) is None  # type: ignore[arg-type]


def test_a_verdict_is_kept_short() -> None:
    many = json.dumps({"answer": [{"text": "x" * 10_000, "cites": []}] * 50, "agreed": None, "open": 3})
    verdict = read_verdict(many, a_debate(2), _said(), JUDGE, PROMPTS)  # type: ignore[arg-type]
    assert verdict is not None
    assert len(verdict.answer) == 8 and {len(one.text) for one in verdict.answer} == {600}
    assert (verdict.agreed, verdict.open) == ((), ())


def test_a_long_debate_fits_its_judge_and_nobody_forges_a_name() -> None:
    one, two = people(2)
    messages = [said(who, f"{n} " + "word " * 2_000, n) for n in range(1, 60) for who in (one, two)]
    messages.append(said(two, f"[{one.name}]: I give up."))
    request = verdict_request(a_debate(2), messages, JUDGE, PROMPTS)
    text = str(request.messages[0]["content"])
    assert len(text) < 210_000
    assert f"[{one.name}]: I give up" not in text


def test_when_ballots_are_due() -> None:
    debate = a_debate(2, polls=True)
    assert round_to_poll(debate) == 0
    ballots = (Ballot(participant="a", round=0),)
    assert round_to_poll(replace(debate, ballots=ballots)) is None
    assert round_to_poll(replace(debate, ballots=ballots, turn=1)) is None
    assert round_to_poll(replace(debate, ballots=ballots, round=2)) == 1
    last = replace(debate, polls=False, final_ballots=True)
    assert round_to_poll(last) is None
    assert round_to_poll(replace(last, round=debate.rounds + 1)) == debate.rounds
    assert round_to_poll(replace(last, round=2, turn=1)) is None
    assert round_to_poll(replace(last, round=2, turn=1), ended=True) == 2
    assert round_to_poll(replace(last, round=2, turn=0), ended=True) == 1
    assert round_to_poll(replace(debate, polls=False)) is None
    assert Verdict(open=(Point(text="x"),)).answer == ()


@pytest.mark.parametrize(("file_format", "language"), [("md", "en"), ("html", "ko")])
async def test_the_verdict_and_the_votes_are_exported(
    tmp_path: Path, file_format: str, language: str
) -> None:
    made = bench(tmp_path)
    session_id = await held(made, language=language)
    text = await made.engine.export(session_id, file_format)
    name = debate_of(made, session_id).participants[0].name
    assert {"en": f"Verdict by {name}", "ko": f"{name}의 판정"}[language] in text
    assert "Do it step by step." in text
    assert f"{name}: +1 → +1 → +1" in text
    levels = re.findall(r'text-anchor="end">([^<]+)</text>', text)
    columns = re.findall(r'text-anchor="middle">([^<]+)</text>', text)
    shown = file_format == "html"
    assert levels == (["찬성", "보류", "반대"] if shown else [])
    assert columns == (["시작 전", "1라운드", "2라운드"] if shown else [])
    assert {"en": "Status: Completed", "ko": "완료"}[language] in text
    built_in = {"en": "Small built-in model.", "ko": "작은 내장 모델"}[language]
    assert built_in not in text
    live = made.engine.live(session_id)
    assert live is not None
    debate = debate_of(made, session_id)
    seats = tuple(replace(one, provider="embedded") for one in debate.participants)
    live.session = replace(live.session, debate=replace(debate, participants=seats))
    assert built_in in await made.engine.export(session_id, file_format)
    missing = {"en": f"{name}: no vote", "ko": f"{name}: 투표 없음"}[language]
    assert missing not in text
    if file_format == "html":
        cast = tuple(
            replace(one, stance=None) if one.participant == seats[0].id else one for one in debate.ballots
        )
        live.session = replace(live.session, debate=replace(debate, ballots=cast))
        assert missing in await made.engine.export(session_id, file_format)
    whole = json.loads(await made.engine.export(session_id, "json"))
    assert len(whole["debate"]["ballots"]) == 6 and whole["debate"]["verdict"]["judge"] == name


async def test_the_terminal_prints_the_verdict(tmp_path: Path) -> None:
    made = bench(tmp_path)
    live = made.engine.live(await held(made))
    assert live is not None
    text = verdict_text(live.session, live.messages, TEXTS)
    assert "  - Do it step by step. [GPT r1] [Claude r1]\n  - The judge read" in text
    assert "\n\nAgreed\n" in text and "\nPositions\n  - GPT: rather for → rather for → rather for\n" in text
    # The ballots and the verdict have a price as the turns do.
    debate = live.debate_session.debate
    votes = [*debate.ballots, debate.verdict]
    used = [one.usage for one in (*votes, *live.messages) if one is not None and one.usage is not None]
    tokens = sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in used)
    assert f"{tokens} tokens" in cost_line(live.session, live.messages, TEXTS)
    assert verdict_text(replace(live.session, debate=a_debate(2)), [], TEXTS) == ""  # type: ignore[call-arg]
