"""How often tests repeat what they try: examples of Hypothesis, kills of a process.

The short form is what `.ci/run` needs to find a plain mistake. MOOT_TIMES=10, which `.ci/full` sets, makes
ten times as many.
"""

import os

TIMES = int(os.environ.get("MOOT_TIMES", "1"))


def repeats(short: int) -> int:
    """Return how often to repeat what the short form does `short` times."""
    return short * TIMES
