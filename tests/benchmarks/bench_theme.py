"""What a switch between light and dark costs the thread of the window, with every page made."""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.gui.desktop.event_loop import AppLoop
from tests.app_driver import at_window
from tests.benchmarks.table import Benchmark, Result

MOST_MS = 150


async def switches(folder: Path, count: int) -> list[float]:
    """Return the milliseconds of processor time of each switch, the paint after it included."""
    costs = []
    async with at_window(folder) as person:
        desk = person.window.controller
        for show in (
            desk.show_new,
            desk.debates.show_new,
            desk.assistants.show_page,
        ):
            show()
            await person.settle(0.2)
        for _ in range(count):
            # What was hidden has been styled since the last switch.
            await person.settle(1.0)
            before = time.thread_time()
            desk.settings.switch_theme()
            QApplication.processEvents()
            costs.append((time.thread_time() - before) * 1000)
    return costs


def switch(short: bool) -> Result:
    """Return the median cost, against the 150 milliseconds it may take."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    with (
        tempfile.TemporaryDirectory(prefix="moot-theme-") as folder,
        asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner,
    ):
        costs = runner.run(switches(Path(folder), 2 if short else 12))
    median = statistics.median(costs)
    return Result(
        measured=median,
        baseline=MOST_MS,
        unit="ms",
        ratio=median / MOST_MS,
        extra=f"longest {max(costs):.0f} ms",
    )


BENCHMARKS = (Benchmark(name="switch of the theme, against 150 ms", target=1.0, run=switch),)
