"""The longest callback of the window: CPU of its thread within one event of Qt's loop, while 8 debates stream, on opening pages, and
while a model is downloaded.

An event is also a turn of the asyncio loop, which runs what is ready for 4 ms and what it has begun by then.
"""

import asyncio
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.council import Participant
from app.engine.debate.setup import DebateSetup
from app.engine.engine import Engine
from app.gui.desktop.event_loop import AppLoop
from app.storage.paths import DataPaths
from tests.app_driver import Person, at_window, until
from tests.benchmarks.bench_engine_streams import STREAMS, _server
from tests.benchmarks.bench_memory import resident
from tests.benchmarks.bench_storage import write_sessions
from tests.benchmarks.table import Benchmark, Result
from tests.gui.every_page import every_dialog, every_page, keep_all
from tests.wire import WireServer, write_providers
from tests.wire.hub import catalogue_entry, hub

MOST_MS = 8.0
# One frame of a screen that shows 60 a second.
FRAME_MS = 16.0
OPENING_MS = 50.0
# Of the page of work, in MB.
MOST_MEMORY = 15.0


class _Timed(QApplication):
    """An application that notes the longest event, in milliseconds of CPU of its thread."""

    longest = 0.0
    within = False

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        if self.within:
            return super().notify(receiver, event)
        self.within, began = True, time.thread_time()
        try:
            return super().notify(receiver, event)
        finally:
            self.within = False
            self.longest = max(self.longest, (time.thread_time() - began) * 1000)


def _application() -> _Timed:
    app = QApplication.instance() or _Timed(sys.argv[:1])
    assert isinstance(app, _Timed)
    app.setQuitOnLastWindowClosed(False)
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    return app


def _run(work: Callable[[], Awaitable[Result]]) -> Result:
    with asyncio.Runner(loop_factory=lambda: AppLoop(_application())) as runner:
        return runner.run(work())  # type: ignore[arg-type]


def _result(longest: float, extra: str, most: float = MOST_MS) -> Result:
    return Result(measured=longest, baseline=most, unit="ms", ratio=longest / most, extra=extra)


async def _begun(engine: Engine, model: str) -> list[str]:
    """Begin the debates that stream, and return their ids."""
    seats = tuple(
        Participant(id=f"p{place}", name=name, provider="openai", model=model)
        for place, name in enumerate(("Ada", "Ben"))
    )
    setups = (DebateSetup(topic=f"Topic {number}", participants=seats) for number in range(STREAMS))
    return [await engine.debates.start(setup) for setup in setups]


async def _all_speak(engine: Engine, started: list[str]) -> None:
    await until(lambda: all(engine.live(one).messages for one in started), 60)


async def _streams(folder: Path, model: str, seconds: float, *, work: bool = False) -> Result:
    app = _application()
    async with at_window(folder) as person:
        controller = person.window.controller
        started = await _begun(controller.engine, model)
        controller.show_session(started[0])
        if work:
            controller.work.show()
        else:
            await controller.debates.show_discussion(started[1])
        await _all_speak(controller.engine, started)
        await asyncio.sleep(1)
        app.longest = 0.0
        await asyncio.sleep(seconds)
        longest = app.longest
        for one in started:
            await controller.engine.stop(one)
    seen = "the page of all work on screen" if work else "two of them on screen"
    return _result(longest, f"{STREAMS} debates of 200 tokens/s, {seen}")


def streams(short: bool) -> Result:
    """The longest event while debates stream."""
    _application()
    server = WireServer("openai")
    with tempfile.TemporaryDirectory() as folder, _server() as server.address:
        os.environ.update(write_providers(Path(folder), [server]))
        return _run(lambda: _streams(Path(folder), server.model, 2.0 if short else 10.0))


def stream_at_work(short: bool) -> Result:
    """The longest event while debates stream and the page of work shows them with a thousand more."""
    _application()
    server = WireServer("openai")
    with tempfile.TemporaryDirectory() as folder, _server() as server.address:
        os.environ.update(write_providers(Path(folder), [server]))
        asyncio.run(write_sessions(DataPaths(Path(folder))))
        seconds = 2.0 if short else 10.0
        return _run(lambda: _streams(Path(folder), server.model, seconds, work=True))


async def _badge(folder: Path, model: str, repeats: int) -> Result:
    times: dict[str, list[float]] = {"badge": [], "rows": []}
    async with at_window(folder) as person:
        engine, texts = person.window.controller.engine, person.window.language.texts
        started = await _begun(engine, model)
        await _all_speak(engine, started)
        makes = {"badge": engine.work.needing, "rows": engine.work.rows}
        for _ in range(repeats):
            for name, make in makes.items():
                began = time.thread_time()
                make(texts)
                times[name].append((time.thread_time() - began) * 1000)
            await asyncio.sleep(0.02)
        for one in started:
            await engine.stop(one)
    badge, rows = (statistics.median(each) for each in times.values())
    return _result(badge, f"median of {repeats}, {badge / rows:.2f} of the {rows:.1f} ms of all rows")


def badge(short: bool) -> Result:
    """What the badge of work takes at each refresh while the page is not seen."""
    _application()
    server = WireServer("openai")
    with tempfile.TemporaryDirectory() as folder, _server() as server.address:
        os.environ.update(write_providers(Path(folder), [server]))
        asyncio.run(write_sessions(DataPaths(Path(folder))))
        return _run(lambda: _badge(Path(folder), server.model, 20 if short else 100))


async def _with_files(folder: Path, model: str, seconds: float) -> tuple[float, float, int]:
    """Return the longest event in milliseconds while the page of work is opened, counts files and shows streams,
    the memory in MB that it adds, and how many rows have files.
    """
    app = _application()
    async with at_window(folder) as person:
        controller = person.window.controller
        engine = controller.engine
        ids = [summary.id for summary in engine.sessions()]
        for session_id in ids:
            await engine.session_files.write(session_id, "report.md", lambda _version, _before: b"# Done")
        started = await _begun(engine, model)
        controller.show_session(started[0])
        await _all_speak(engine, started)
        await asyncio.sleep(1)
        # What the streams take by themselves in as long.
        sizes = [resident()]
        await asyncio.sleep(seconds)
        sizes.append(resident())
        app.longest = 0.0
        controller.work.show()
        counted = controller.work._page.list.work.files
        await until(lambda: sum(count > 0 for count in counted.values()) == len(ids), 120)
        await asyncio.sleep(seconds)
        longest = app.longest
        gc.collect()
        sizes.append(resident())
        for one in started:
            await engine.stop(one)
    before, between, after = sizes
    return longest, (after - between) - max(0.0, between - before), len(ids)


def _work_with_files(short: bool) -> tuple[float, float, int]:
    _application()
    server = WireServer("openai")
    with tempfile.TemporaryDirectory() as folder, _server() as server.address:
        os.environ.update(write_providers(Path(folder), [server]))
        asyncio.run(write_sessions(DataPaths(Path(folder))))
        seconds = 2.0 if short else 10.0
        with asyncio.Runner(loop_factory=lambda: AppLoop(_application())) as runner:
            return runner.run(_with_files(Path(folder), server.model, seconds))


def files_at_work(short: bool) -> Result:
    """The longest event while the page of work, opened before 8 streams, counts the files of a thousand rows."""
    longest, _added, rows = _work_with_files(short)
    return _result(longest, f"files counted in {rows} rows, opening included", OPENING_MS)


def memory_at_work(short: bool) -> Result:
    """The memory that the page of work adds, with the files of a thousand rows counted, while 8 debates stream."""
    _longest, added, rows = _work_with_files(short)
    seen = f"{rows} rows with files, {STREAMS} debates stream"
    return Result(
        measured=added, baseline=MOST_MEMORY, unit="MB", ratio=max(0.0, added) / MOST_MEMORY, extra=seen
    )


async def _open_work(folder: Path) -> Result:
    app = _application()
    await write_sessions(DataPaths(folder))
    async with at_window(folder) as person:
        controller = person.window.controller
        texts, began = person.window.language.texts, time.thread_time()
        rows = controller.engine.work.rows(texts)
        made = (time.thread_time() - began) * 1000
        # What is measured ends with the event of Qt's loop in which this runs.
        await asyncio.sleep(0.5)
        app.longest = 0.0
        QTest.mouseClick(person.find("work_button"), Qt.MouseButton.LeftButton)
        await asyncio.sleep(0.5)
        assert person.sees("work_page")
        longest = app.longest
    return _result(longest, f"{len(rows)} rows made in {made:.1f} ms, of the index alone", OPENING_MS)


def open_work(short: bool) -> Result:
    """The longest event while the page of work is opened with a thousand rows."""
    _application()
    with tempfile.TemporaryDirectory() as folder:
        return _run(lambda: _open_work(Path(folder)))


async def _pages(folder: Path) -> Result:
    app = _application()
    await keep_all(folder)
    found: list[tuple[float, str]] = []
    async with at_window(folder) as person:

        async def note(steps: Callable[[Person], object]) -> None:
            app.longest = 0.0
            async for name, _ in steps(person):  # type: ignore[attr-defined]
                found.append((app.longest, name))
                app.longest = 0.0

        await note(every_page)
        await note(every_dialog)
    found.sort(reverse=True)
    widest = ", ".join(f"{name} {longest:.0f} ms" for longest, name in found[:6])
    over = sum(longest > MOST_MS for longest, _ in found)
    return _result(found[0][0], f"{over} of {len(found)} pages and dialogs over {MOST_MS:g} ms: {widest}")


def pages(short: bool) -> Result:
    """The longest event while each page and dialog is opened for the first time."""
    _application()
    with tempfile.TemporaryDirectory() as folder:
        return _run(lambda: _pages(Path(folder)))


async def _download(folder: Path, size: int) -> Result:
    app = _application()
    with hub(bytes(size)) as served:
        entry = catalogue_entry("tiny", served)
        catalogue = folder / "catalogue.json"
        catalogue.write_text(json.dumps([entry]))
        async with at_window(folder / "data", catalogue=catalogue) as person:
            controller = person.window.controller
            await controller.engine.change_settings(
                lambda settings: replace(settings, model_source=f"{served.address}/ok")
            )
            controller.settings.open("local")
            page = person.find("settings_page").page("local")
            await until(lambda: "tiny" in page.cards)
            card = page.cards["tiny"]
            told: list[str] = []
            await asyncio.sleep(1)
            app.longest, began = 0.0, time.monotonic()
            QTest.mouseClick(card.buttons["get"], Qt.MouseButton.LeftButton)
            async with asyncio.timeout(300):
                while card.state.text() != "Installed":
                    told.append(card.state.text())
                    await asyncio.sleep(0.02)
            seconds = time.monotonic() - began
            longest = app.longest
            person.find("settings_close").click()
    steps = len(set(told))
    return _result(longest, f"{size / seconds / 1e6:.0f} MB/s, {steps} states shown", FRAME_MS)


def download(short: bool) -> Result:
    """The longest event from the click on Download to the installed model, with its card on screen."""
    _application()
    with tempfile.TemporaryDirectory() as folder:
        return _run(lambda: _download(Path(folder), 200_000_000 if short else 1_000_000_000))


_NAME = "the window's longest callback, in CPU, against 8 ms: {}"
BENCHMARKS = (
    Benchmark(name=_NAME.format("8 debates of 200 tokens/s"), target=1.0, run=streams),
    Benchmark(
        name=_NAME.format("the same with all work on screen, 1,000 rows"), target=1.0, run=stream_at_work
    ),
    Benchmark(
        name="what the badge of work takes, in CPU of one callback, against 8 ms: 1,000 sessions, 8 streaming",
        target=1.0,
        run=badge,
    ),
    Benchmark(
        name="the page of all work opens, in CPU of one callback, against 50 ms: 1,000 rows",
        target=1.0,
        run=open_work,
    ),
    Benchmark(
        name="work with 8 debates that stream opens and counts the files of 1,000 rows, in CPU of one callback, against 50 ms",
        target=1.0,
        run=files_at_work,
    ),
    Benchmark(
        name="memory that the page of all work adds, against 15 MB: 1,000 rows with files, 8 streaming",
        target=1.0,
        run=memory_at_work,
    ),
    Benchmark(
        name=_NAME.format("opening every page and dialog"),
        target=1.0,
        run=pages,
    ),
    Benchmark(
        name="the window's longest frame, in CPU, against 16 ms: downloading a model at full speed",
        target=1.0,
        run=download,
    ),
)
