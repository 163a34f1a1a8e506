"""What memory a long conversation needs; in a process of its own, where nothing lies about to be reused."""

import gc
import os
import time
from pathlib import Path

from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import (
    application,
    closed,
    conversation,
    new_view,
    settle,
)


def resident() -> float:
    """Return this process's resident memory in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


REST_S = 0.25


def rest() -> None:
    """Read what is on screen for a moment: code gets its colours, what comes next is made ready."""
    end = time.monotonic() + REST_S
    while time.monotonic() < end:
        settle()
        time.sleep(0.004)


def memory(short: bool) -> Result:
    """Memory of the window over the text, after opening it and resting at many places of it."""
    application()
    new_view(conversation(30)).close()
    messages = conversation(10_000)
    gc.collect()
    before = resident()
    view = new_view(messages[-60:])
    view.feed.prepend(messages[:-60])
    settle()
    bar = view.verticalScrollBar()
    for step in range(20 if short else 60):
        bar.setValue(bar.maximum() * step // 60)
        rest()
    gc.collect()
    added = resident() - before
    closed(view)
    return Result(measured=added, baseline=25.0, unit="MB", ratio=added / 25.0, extra="with coloured code")


BENCHMARKS = (
    Benchmark(
        name="memory it adds to the window, over its text, against 25 MB",
        target=1.0,
        run=memory,
    ),
)
