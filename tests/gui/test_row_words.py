"""What a row says besides its text: reasons only where they tell something, seconds only where there were any."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.errors import Failure
from app.core.message import Author, Message, ToolCall, Usage
from app.core.texts import Texts
from app.gui.transcript.row_words import chips_of, error_of, is_cut, meta_of, tip_of, why_of

I18N = Path(__file__).parents[2] / "resources" / "i18n"
EN = Texts.load(I18N, "en")


def said(**values: object) -> Message:
    author = Author(id="a", name="Ada", kind="participant")
    return Message(id="m", turn_id="t", role="assistant", author=author, content="Yes.", **values)


@pytest.mark.parametrize(
    ("why", "seconds", "meta"),
    [
        ("in_order", 4.04, "4.0 s"),
        ("only_one", 4.04, "4.0 s"),
        ("addressed", 4.04, "4.0 s · addressed"),
        ("asked_by_user", None, "asked by you"),
        ("longest_silent", 0.01, "silent longest"),
        ("", 0.01, ""),
        ("a_rule_of_a_newer_version", None, ""),
    ],
)
def test_reasons_and_seconds(why, seconds, meta):
    assert meta_of(said(why=why, seconds=seconds), EN) == meta


def test_what_a_message_used_and_cost():
    usage = Usage(provider="p", model="m", input_tokens=1_200, output_tokens=300, cost_usd=0.0042)
    assert meta_of(said(usage=usage, seconds=4.04), EN, time=True) == "4.0 s · 1.5k tokens · $0.0042"
    assert meta_of(said(usage=usage, seconds=4.04), EN) == "4.0 s"
    assert tip_of(said(usage=usage, why="in_order"), EN) == "next in order · 1.2k tokens in, 300 out, $0.0042"
    unknown = said(usage=replace(usage, cost_usd=None))
    assert meta_of(unknown, EN, time=True) == "1.5k tokens"
    assert tip_of(said(), EN) == ""


def test_the_tip_says_how_fast_an_answer_came():
    usage = Usage(input_tokens=10, output_tokens=90, reasoning_tokens=6, cost_usd=0.0)
    used = tip_of(said(usage=usage), EN)
    assert tip_of(said(usage=usage, seconds=2.8, first_word_seconds=0.8), EN) == (
        f"{used} · 0.8 s to first word · 42 tokens/s"
    )
    at_once = said(usage=usage, seconds=0.81, first_word_seconds=0.8)
    assert tip_of(at_once, EN) == f"{used} · 0.8 s to first word"
    thought = said(usage=usage, seconds=2.8, first_word_seconds=1.8, thinking_seconds=1.0)
    assert tip_of(thought, EN).endswith("1.8 s to first word · 45 tokens/s")
    guessed = replace(thought, usage=replace(usage, estimated=True))
    assert tip_of(guessed, EN).endswith("≈ 45 tokens/s")
    only_calls = replace(at_once, content="")
    assert tip_of(only_calls, EN) == used


def test_a_quiet_reason_is_still_there_for_the_tip():
    assert why_of(said(why="in_order"), EN) == "next in order"


def test_chips_say_the_state():
    def words(message: Message, *, begun: bool = True) -> list[str]:
        return [chip.text for chip in chips_of(message, "For", EN, model=False, begun=begun)]

    assert words(said(state="streaming")) == ["For", "writing"]
    assert words(said(state="streaming", thinking="hm"), begun=False) == ["For", "thinking"]
    assert words(said(state="stopped")) == ["For", "stopped"]
    assert words(said(note="length")) == ["For", "cut at the length limit"]
    assert words(said(part="dissent")) == ["For", "Dissent"]


def test_an_error_is_said_once():
    message = said(
        state="failed", error=Failure(kind="rate_limit", detail="slow down"), model="openai/gpt-5.2"
    )
    assert error_of(message, EN).splitlines() == [
        "Rate-limited by the provider.",
        "OpenAI’s message: slow down",
    ]
    assert error_of(said(state="failed"), EN) == "No answer."


def test_an_answer_that_became_calls_is_not_said_to_be_cut():
    call = ToolCall(id="c", name="setPlan", arguments="{}")
    assert is_cut(said(note="length"))
    assert not is_cut(said(note="length", tool_calls=(call,)))
    assert [
        chip.text
        for chip in chips_of(said(note="length", tool_calls=(call,)), "", EN, model=False, begun=True)
    ] == []


@pytest.mark.parametrize("wide", [True, False])
def test_an_effort_of_its_own_stands_beside_the_models_name(wide):
    def chips(**values: object) -> list[str]:
        message = said(model="openai/gpt-5.2", **values)
        return [one.text for one in chips_of(message, "For", EN, model=wide, begun=True)]

    model = ["gpt-5.2"] if wide else []
    assert chips() == ["For", *model]
    assert chips(effort="high") == ["For", *model, "High effort"]
    assert chips(effort="none") == ["For", *model, "Thinking off"]
    assert chips(effort="{of a newer version}") == ["For", *model, "unknown"]
