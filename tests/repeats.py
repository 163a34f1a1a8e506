"""How often tests repeat what they try: examples of Hypothesis, kills of a process.

The short form is what `.ci/run` needs to find a plain mistake; state machines and fuzz tests try half of what they
name there. MOOT_TIMES=4, which `.ci/full` sets, makes four times as many.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

TIMES = int(os.environ.get("MOOT_TIMES", "1"))


def repeats(short: int) -> int:
    """Return how often to repeat what the short form does `short` times."""
    return short * TIMES


def tries(short: int, long: int) -> int:
    """Return how many of something cheap to try: `long` in the long form, which takes them all."""
    return short if TIMES == 1 else long


def examples(whole: int) -> int:
    """Return how many examples a state machine or a fuzz test tries: half of the whole in the short form."""
    return max(1, whole * TIMES // 2)


def slow_after(quick: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize` of which the first few run in the short form, the others are slow."""
    found = [case if isinstance(case, ParameterSet) else pytest.param(*case) for case in cases]
    slow = [
        pytest.param(*one.values, marks=[*one.marks, pytest.mark.slow], id=one.id) for one in found[quick:]
    ]
    return [*found[:quick], *slow]
