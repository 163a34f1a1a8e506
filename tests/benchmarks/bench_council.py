"""What a council is worth with simulated minds, and that it asks nothing twice and shows nobody what is not theirs.

The short form is 60 puzzles of one seed, and only what must hold exactly; the full one 300 puzzles of five seeds.
"""

import random
import re
from functools import cache
from typing import NamedTuple

from app.core.council_parts import Position
from app.core.message import CouncilPart
from app.engine.council.director import CouncilStep
from app.engine.council.record import Moved, Record
from tests.benchmarks.minds import (
    NAMES,
    REGIMES,
    Held,
    Minds,
    argued_and_merged,
    average_right,
    cheap,
    first_reading_right,
    forced,
    hold,
    merge_right,
    merged,
    share_right,
    three_rounds,
)
from tests.benchmarks.puzzles import puzzles
from tests.benchmarks.table import Benchmark, Result
from tests.builders import PROMPTS

PEOPLE = 3
INTERLEAVED = 50
SEEDS = range(1, 6)
COUNT, SHORT_COUNT = 300, 60


class Worth(NamedTuple):
    """Shares of questions in percent: right by the first answers and at the end; what got better, and worse; tokens.

    `once` is what is right at the end if a judge that reads once decides.
    """

    blind: float
    end: float
    better: float
    worse: float
    tokens: float
    once: float


def _minds(regime: str, seed: int, count: int) -> list[Minds]:
    return [
        Minds(REGIMES[regime], puzzle, f"{seed}/{regime}/{place}")
        for place, puzzle in enumerate(puzzles(count, PEOPLE, seed))
    ]


@cache
def worth(regime: str, rounds: str) -> Worth:
    """Return what a regime comes to over all seeds, with the `cheap` debate or three `forced` rounds."""
    rows = []
    for seed in SEEDS:
        for minds in _minds(regime, seed, COUNT):
            held = hold(minds, cheap if rounds == "cheap" else forced)
            first, end = share_right(held, minds, before=True), share_right(held, minds)
            once = first_reading_right(held, minds)
            rows.append(
                (first, end, end > first, end < first, held.tokens / 100, end if once is None else once)
            )
    return Worth(*(100 * sum(column) / len(rows) for column in zip(*rows, strict=True)))


def _shown(found: Worth) -> str:
    return (
        f"blind {found.blind:.1f} %, end {found.end:.1f} %, better {found.better:.1f}, worse {found.worse:.1f}, "
        f"{found.tokens:,.0f} tokens"
    )


def _calls(held: Held) -> list[CouncilStep]:
    return [step for step, _ in held.requests or ()]


def exact(short: bool) -> Result:
    """However calls interleave and are cut: the same outcome and no call twice; nobody reads what is not theirs."""
    made = alone = 0
    chance = random.Random(1)
    minds = _minds("sound", 1, SHORT_COUNT)
    for place, one in enumerate(minds):
        straight = hold(one, cheap, keep=True)
        _check_requests(straight)
        if place < INTERLEAVED:
            crooked = hold(one, cheap, chance, keep=True)
            assert crooked.result == straight.result, "another order of the calls led to another outcome"
            made, alone = made + len(_calls(crooked)), alone + len(set(_calls(straight)))
    assert made == alone, "a call was made twice"
    return Result(measured=made, baseline=alone, unit="calls", ratio=made / alone)


def _check_requests(held: Held) -> None:
    said = {one.author.id: one.content for one in held.messages if one.part == CouncilPart.ANSWER}
    question = held.debate.topic.splitlines()[0]
    for step, request in held.requests or ():
        text = "\n".join(str(one["content"]) for one in request.messages)
        assert not any(name in text for name in NAMES), f"{step.part} holds a name"
        if step.part == CouncilPart.READING:
            # What the prompt itself says holds a number too.
            own = PROMPTS.text("en", "council-judge" if step.order == 1 else "council-judge-again")
            told = "\n".join(line for line in text.splitlines() if line not in (*own.splitlines(), question))
            assert not any(str(sure) in re.findall(r"\d+", told) for sure in _sure(held)), "a confidence"
            assert not re.search(r"\d+ (?:of|votes?)\b|\bvoted\b", told), "a vote"
        if step.part == CouncilPart.ANSWER:
            others = [words for who, words in said.items() if who != step.who]
            assert not any(words in text for words in others), "an opening holds another's text"


def _sure(held: Held) -> set[object]:
    return {one.data_as(Position).confidence for one in held.messages if one.part == CouncilPart.ANSWER}


def tokens(short: bool) -> Result:
    """Tokens of the default against three forced rounds, with sound minds."""
    default, three = worth("sound", "cheap"), worth("sound", "forced")
    ratio = default.tokens / three.tokens
    return Result(
        measured=default.tokens, baseline=three.tokens, unit="tokens", ratio=ratio, extra=_shown(three)
    )


def accuracy(short: bool) -> Result:
    """What three forced rounds get right against what the default does, with sound minds."""
    default, three = worth("sound", "cheap"), worth("sound", "forced")
    return Result(
        measured=three.end,
        baseline=default.end,
        unit="%",
        ratio=three.end / default.end,
        extra=_shown(default),
    )


def sound(short: bool) -> Result:
    """Sound minds gain at least 4 points over the blind vote."""
    found = worth("sound", "cheap")
    return Result(measured=found.blind + 4, baseline=found.end, unit="%", ratio=(found.blind + 4) / found.end)


def conformist(short: bool) -> Result:
    """Minds that follow the majority gain at most 3 points over the blind vote."""
    found = worth("conformist", "cheap")
    ratio = found.end / (found.blind + 3)
    return Result(measured=found.end, baseline=found.blind + 3, unit="%", ratio=ratio, extra=_shown(found))


def voter(short: bool) -> Result:
    """Minds that copy anybody make more worse than better."""
    found = worth("voter", "cheap")
    ratio = found.better / found.worse
    return Result(measured=found.better, baseline=found.worse, unit="%", ratio=ratio, extra=_shown(found))


def judge(short: bool) -> Result:
    """A judge that reads once and decides gets less right than one that reads twice and breaks ties only."""
    found = worth("sound", "cheap")
    return Result(measured=found.once, baseline=found.end, unit="%", ratio=found.once / found.end)


def moves(short: bool) -> Result:
    """Of the changes of position at least 90 % are told rightly as moved or drift, where a fifth cites falsely."""
    right = made = 0
    for seed in SEEDS[:1] if short else SEEDS:
        for minds in _minds("false citers", seed, SHORT_COUNT if short else COUNT):
            held = hold(minds, three_rounds)
            record = Record(held.debate, held.messages)
            for (seat, number), cited in minds.changes.items():
                moved, _ = record.moved(f"p{seat}", number)
                made, right = made + 1, right + (moved == (Moved.CITED if cited else Moved.DRIFT))
    share = 100 * right / made
    return Result(measured=90, baseline=share, unit="%", ratio=90 / share, extra=f"{made} changes")


def supported(short: bool) -> Result:
    """A merged answer, of the first answers or after a debate, is right more often than the average, and than who answered."""
    rows = []
    for seed in SEEDS[:1] if short else SEEDS:
        for goes_on in (merged, argued_and_merged):
            for minds in _minds("two sides", seed, SHORT_COUNT if short else COUNT):
                held = hold(minds, goes_on)
                rows.append((merge_right(held, minds), *average_right(held, minds)))
    side, middle, one = (100 * sum(column) / len(rows) for column in zip(*rows, strict=True))
    most = max(middle, one)
    assert side > most, "an average is right as often as the better supported side"
    extra = f"average {middle:.1f} %, one alone {one:.1f} %"
    return Result(measured=most, baseline=side, unit="%", ratio=most / side, extra=extra)


BENCHMARKS = [
    Benchmark(name="Council: calls of runs that are cut", target=1.0, run=exact, short=True),
    Benchmark(name="Council: moves told from drift", target=1.0, run=moves, short=True),
    Benchmark(name="Council: average to better supported side", target=0.999, run=supported, short=True),
    Benchmark(name="Council: tokens, default to three rounds", target=0.45, run=tokens),
    Benchmark(name="Council: right, three rounds to default", target=1 / 0.95, run=accuracy),
    Benchmark(name="Council: sound minds, blind + 4 to default", target=1.0, run=sound),
    Benchmark(name="Council: conformists, default to blind + 3", target=1.0, run=conformist),
    Benchmark(name="Council: judge, one order to two", target=0.999, run=judge),
    Benchmark(name="Council: voters, better to worse", target=0.999, run=voter),
]
