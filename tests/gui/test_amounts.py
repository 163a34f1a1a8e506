"""What a debate has cost: a sum with unknown parts never looks whole, a free one never looks unknown."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import Ballot, Participant, Verdict
from app.core.message import Author, Message, Usage, UsageEntry
from app.core.session import Debate, DebateSession
from app.core.texts import size_text
from app.gui.display.appearance import Language
from app.gui.display.descriptions import Spending

FOLDER = Path(__file__).parents[2] / "resources" / "i18n"


def turn(turn_id: str, name: str, cost: float | None, *, estimated: bool = False) -> Message:
    usage = Usage(
        provider="p", model="m", input_tokens=20, output_tokens=11, cost_usd=cost, estimated=estimated
    )
    author = Author(id=name, name=name, kind="participant")
    return Message(id=turn_id, turn_id=turn_id, role="assistant", author=author, usage=usage)


@pytest.fixture
def language(qapp):
    return Language(FOLDER, "en")


@pytest.mark.parametrize(
    ("costs", "text", "short"),
    [
        ((0.0003, 0.0004), "$0.0007 · 62 tokens", "$0.0007"),
        ((0.0003, None), "at least $0.0003 · 62 tokens", "at least $0.0003"),
        ((None, None), "no price known · 62 tokens", "no price known"),
        ((0.0, None), "no price known · 62 tokens", "no price known"),
        ((0.0, 0.0), "free · 62 tokens", "free"),
        ((0.00001, 0.00001), "$0.0001 · 62 tokens", "$0.0001"),
    ],
)
def test_the_sum(language, costs, text, short):
    spending = Spending()
    spending.add(turn(f"t{number}", "GPT", cost) for number, cost in enumerate(costs))
    assert spending.text(language) == text
    assert spending.short_text(language) == short


def test_what_the_cache_saved_stands_behind_the_sum(language):
    spending = Spending()
    spent = turn("1", "GPT", 0.02)
    assert spent.usage is not None
    spending.add([replace(spent, usage=replace(spent.usage, cached_tokens=15, saved_usd=0.03))])
    assert spending.text(language) == "$0.02 · 31 tokens · $0.03 saved by cache"
    assert spending.lines(language) == "GPT: $0.02 · 31 tokens · $0.03 saved by cache"
    # What was put into the cache and not read yet has cost more than it saved.
    spending.add([replace(turn("2", "GPT", 0.0), usage=replace(spent.usage, saved_usd=-0.05))])
    assert spending.text(language) == "$0.04 · 62 tokens"


def test_the_tool_tip_says_which_part_is_not_known(language):
    spending = Spending()
    spending.add([turn("1", "GPT", 0.02), turn("2", "GPT", None), turn("3", "Gemini", None)])
    assert spending.lines(language) == ("GPT: at least $0.02 · 62 tokens\nGemini: no price known · 31 tokens")
    unpriced = Spending()
    unpriced.add([turn("1", "GPT", None), turn("2", "Gemini", None)])
    assert unpriced.text(language) == "no price known · 62 tokens"
    assert unpriced.lines(language) == "GPT: 31 tokens\nGemini: 31 tokens"


def test_every_answer_of_a_turn_with_tools_counts(language):
    spending = Spending()
    spending.add([turn("1", "GPT", 0.02), replace(turn("2", "GPT", 0.03), turn_id="1")])
    assert spending.text(language) == "$0.05 · 62 tokens"


def test_a_turn_counts_once(language):
    spending = Spending()
    assert spending.text(language) == spending.short_text(language) == ""
    spending.add([turn("1", "GPT", 0.02)])
    spending.add([turn("1", "GPT", 0.02)])
    assert spending.text(language) == "$0.02 · 31 tokens"


@pytest.mark.parametrize(
    ("costs", "text"),
    [
        ((0.0003, 0.0004), "≈ $0.0007 · ≈ 62 tokens"),
        ((0.0003, None), "at least $0.0003 · ≈ 62 tokens"),
        ((None, None), "no price known · ≈ 62 tokens"),
        ((0.0, 0.0), "free · ≈ 62 tokens"),
    ],
)
def test_an_estimate_never_looks_like_a_count(language, costs, text):
    spending = Spending()
    spending.add(turn(f"t{number}", "GPT", cost, estimated=number == 1) for number, cost in enumerate(costs))
    assert spending.text(language) == text


def call(name: str, author: str = "") -> UsageEntry:
    return UsageEntry(message_id=name, author=author, input_tokens=20, output_tokens=11, cost_usd=0.01)


def test_what_made_no_message_counts_once(language):
    debate = Debate(
        topic="Cars",
        participants=(Participant(id="p0", name="GPT", provider="p", model="m"),),
        ballots=(
            Ballot(participant="p0", round=0, stance=1, usage=call("b")),
            Ballot(participant="p0", round=1),
        ),
        verdict=Verdict(judge="Claude", usage=call("v")),
    )
    session = DebateSession(id="s", title="Cars", debate=debate, unsaid=(call("u", "Gemini"), call("w")))
    spending = Spending()
    spending.add_session(session)
    spending.add_session(session)
    assert spending.text(language) == "$0.04 · 124 tokens"
    assert [line.partition(":")[0] for line in spending.lines(language).splitlines()] == [
        "Gemini",
        "Ballots and verdicts",
        "GPT",
        "Claude",
    ]


def test_votes_of_before_have_no_names_of_their_own_and_count_each(language):
    ballots = tuple(Ballot(participant="p0", round=number, usage=call("")) for number in range(3))
    session = DebateSession(id="s", title="Cars", debate=Debate(topic="Cars", ballots=ballots))
    spending = Spending()
    spending.add_session(session)
    assert spending.short_text(language) == "$0.03"


@pytest.mark.parametrize(
    ("count", "english", "korean"),
    [
        (0, "0 B", "0B"),
        (999, "999 B", "999B"),
        (1_000, "1.0 kB", "1.0kB"),
        (9_960, "10 kB", "10kB"),
        (19_400, "19 kB", "19kB"),
        (999_600, "1.0 MB", "1.0MB"),
        (12_345_678, "12 MB", "12MB"),
        (int(3.2e12), "3200 GB", "3200GB"),
    ],
)
def test_sizes_are_short_and_stand_as_the_language_writes_them(language, count, english, korean):
    assert size_text(language, count) == english
    assert size_text(Language(FOLDER, "ko"), count) == korean
