"""A PDF of 1,158 pages to text, while the window is open: how long it takes, and what the window's thread does meanwhile."""

import asyncio
import tempfile
import time
from functools import cache
from pathlib import Path
from statistics import median

from app.gui.desktop.event_loop import AppLoop
from tests.app_driver import Person, at_window, until
from tests.benchmarks.table import Benchmark, Result
from tests.benchmarks.transcripts import application
from tests.files.documents import a_pdf

PAGES = 1_158
MOST_SECONDS = 3.0
FRAME_MS = 16.0


def a_manual(folder: Path) -> Path:
    """Write the file; its whole text is just under the limit."""
    lines = [
        f"Line {number:02} of a page with words from one side to the other, and on" for number in range(12)
    ]
    path = folder / "manual.pdf"
    path.write_bytes(a_pdf([f"Page {number}\n" + "\n".join(lines) for number in range(PAGES)]))
    return path


async def _attach(person: Person, path: Path) -> tuple[float, float]:
    """Attach the file to a new chat; return the seconds, and the longest stretch of CPU of the window's thread in ms."""
    page = person.window.controller.chat_page
    strip = page.chat_composer.strip
    longest, going = 0.0, True

    async def watch() -> None:
        nonlocal longest
        before = time.thread_time()
        while going:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            longest, before = max(longest, now - before), now

    watching = asyncio.create_task(watch())
    started = time.perf_counter()
    page.chat_composer.files_given.emit([path])
    await until(lambda: strip.attachments())
    seconds = time.perf_counter() - started
    going = False
    await watching
    (attachment,) = strip.attachments()
    assert attachment.text.count("\f") == PAGES - 1
    strip.show_attachments(())
    return seconds, longest * 1000


async def _measure(folder: Path, times: int) -> list[tuple[float, float]]:
    path = a_manual(folder)
    async with at_window(folder / "data") as person:
        await person.click("new_button")
        await person.settle(0.5)
        return [await _attach(person, path) for _ in range(times)]


@cache
def _found(short: bool) -> list[tuple[float, float]]:
    """Measure what both rows are about, once."""
    app = application()
    app.setQuitOnLastWindowClosed(False)
    with (
        tempfile.TemporaryDirectory(prefix="moot-files-") as folder,
        asyncio.Runner(loop_factory=lambda: AppLoop(app)) as runner,
    ):
        return runner.run(_measure(Path(folder), 2 if short else 5))


def read_pdf(short: bool) -> Result:
    """Compare the time until the text is attached with three seconds."""
    seconds = median(found[0] for found in _found(short))
    return Result(measured=seconds, baseline=MOST_SECONDS, unit="s", ratio=seconds / MOST_SECONDS)


def frames_meanwhile(short: bool) -> Result:
    """Compare the longest stretch of the window's thread while the file is read with a frame."""
    longest = median(found[1] for found in _found(short))
    return Result(measured=longest, baseline=FRAME_MS, unit="ms", ratio=longest / FRAME_MS)


BENCHMARKS = (
    Benchmark(name="1,158 pages of PDF attached as text, against 3 s", target=1.0, run=read_pdf),
    Benchmark(
        name="longest stretch of the window meanwhile, against a frame", target=1.0, run=frames_meanwhile
    ),
)
