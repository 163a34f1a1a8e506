"""Text from outside is read in linear time: ten times the text takes nowhere near a hundred times as long."""

import time
from collections.abc import Callable

import pytest

from app.core.texts import fenced
from app.engine.council.record import first_sentence
from app.engine.debate.replies import without_marks
from app.engine.turns.tool_calls import _plan

SIGNS = [" ", "\n", "[", "[a](", "![", "`", "*", "a *", "\\", "<", "1. ", "- ", "7", "("]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    "read",
    [fenced, first_sentence, without_marks, lambda text: _plan("Plan.", text)],
    ids=["fenced", "first_sentence", "without_marks", "plan"],
)
def test_a_text_of_one_sign_is_read_in_linear_time(read: Callable[[str], object], sign: str) -> None:
    assert cost_of(read, sign, 80_000) < 40 * max(cost_of(read, sign, 8_000), 0.001)


def cost_of(read: Callable[[str], object], sign: str, size: int) -> float:
    """Return the seconds of the processor that a text takes, at best of two."""
    text, costs = f"x{(sign * size)[:size]}x", []
    for _ in range(2):
        begun = time.thread_time()
        read(text)
        costs.append(time.thread_time() - begun)
    return min(costs)


def test_a_block_of_code_has_a_longer_fence_than_what_it_holds() -> None:
    assert fenced("a") == "```\na\n```"
    assert fenced("a ``` b ````` c", "py") == "``````py\na ``` b ````` c\n``````"


def test_links_lose_their_marks_and_keep_their_words() -> None:
    assert without_marks("See [a b](http://x) and ![p](q), **bold** `c`.") == "See a b and p, bold c."


def test_the_steps_of_a_plan_are_told_apart_over_blank_lines() -> None:
    [call] = _plan("Plan.", "1. Read it.\n\n  2) Write it\n - Check it")
    assert '["Read it.", "Write it", "Check it"]' in call.arguments
