"""A day at the window, played in minutes: what memory it costs, and what is left when the window is closed.

One process, the real window and the real store; only the models are scripted. The long form is 60
sessions with 4,000 messages and 6 debates of 25 turns, the short one a tenth of that.
"""

import asyncio
import contextlib
import ctypes
import gc
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

import app.wiring
from app.core.catalog import ProviderConfig
from app.core.council import Participant
from app.core.definitions import Agent
from app.core.errors import FailureKind, ProviderError
from app.core.message import Role, Usage
from app.core.provider import CallPiece, Delta, Finished, ModelRequest, Text
from app.engine.debate.setup import DebateSetup
from app.gui.desktop.event_loop import AppLoop
from app.gui.pages.settings.settings_view import PAGES as SETTINGS_PAGES
from app.providers.remote import RemoteModels
from tests import guards
from tests.app_driver import Person, at_window, until
from tests.benchmarks.table import Benchmark, Result

SESSIONS = 60
EXCHANGES = 34  # every second one with a call: three messages each on the average
DEBATES_EVERY = 10
VOICES = 5
ROUNDS = 5

PAGES = tuple(SETTINGS_PAGES)
WORDS = (
    "## The sea\n\nIt is **calm** today, and `the tide` comes in at noon. ",
    "- one boat\n- two boats\n- a [lighthouse](https://example.org/light)\n\n",
    "```python\nfor wave in sea:\n    print(wave.height)\n```\n\n",
    "| hour | height |\n|---|---|\n| 9 | 1.2 m |\n| 12 | 2.4 m |\n\n",
    "바다는 오늘 잔잔하고 물은 정오에 들어와요. ",
)


class DayModels(RemoteModels):
    """Answers at once: a text of every kind of block, a call now and then, a failure seldom."""

    asked = 0

    async def start(self) -> None:
        return None

    async def listens(self, provider: str) -> bool:
        return True

    async def local_servers(self) -> tuple[()]:
        return ()

    def embedded_problem(self) -> str:
        return "not_installed"

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:  # type: ignore[override]
        DayModels.asked += 1
        number = DayModels.asked
        last = request.messages[-1]
        await asyncio.sleep(0)
        if number % 997 == 0:
            raise ProviderError(FailureKind.BAD_REQUEST, "not today")
        if "look it up" in str(last["content"]) and last["role"] == "user":
            yield CallPiece(index=0, id=f"call-{number}", name="get_pages", arguments="{}")
        else:
            for place in range(10):
                yield Text(text=WORDS[(number + place) % len(WORDS)])
                await asyncio.sleep(0)
        yield Finished(usage=Usage(input_tokens=900, output_tokens=200))


@dataclass
class Day:
    """What the day found: memory by its hours, what grew, and what was left over."""

    resident: list[float] = field(default_factory=list)
    private: list[float] = field(default_factory=list)
    messages: int = 0
    debate_turns: int = 0
    seconds: float = 0.0
    grown: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def memory() -> tuple[float, float]:
    """Return the resident and the private memory of this process in MB, after what is free was given back."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    private = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return resident * os.sysconf("SC_PAGE_SIZE") / 1e6, private / 1e3


def open_files() -> Counter[str]:
    """Return what this process holds open, each with how often."""
    found: Counter[str] = Counter()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            name = str(link.readlink())
            found[name.partition(":[")[0] if ":[" in name else name] += 1
    return found


def kinds() -> Counter[str]:
    """Return how many objects of Qt and of Python there are, by type."""
    count: Counter[str] = Counter()
    for window in QApplication.topLevelWidgets():
        count[f"Qt {window.metaObject().className()}"] += 1
        count.update(f"Qt {child.metaObject().className()}" for child in window.findChildren(QObject))
    count.update(type(item).__name__ for item in gc.get_objects())
    return count


@cache
def the_day(short: bool) -> Day:
    """Play the day once; both benchmarks look at it."""
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    application = QApplication.instance() or QApplication(["moot-day"])
    assert isinstance(application, QApplication)
    application.setQuitOnLastWindowClosed(False)
    app.wiring.RemoteModels = DayModels  # type: ignore[attr-defined,misc]
    day = Day()
    # In memory where there is such a place: that a disk is slow is measured elsewhere.
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="moot-day-", dir=fast) as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        with asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner:
            # What the first window loads for good is no leftover of the second.
            runner.run(_work(Path(folder) / "first", 1, Day()))
            threads, files = guards.Snapshot.take(qt=True), open_files()
            began = time.monotonic()
            runner.run(_work(Path(folder) / "day", SESSIONS // 10 if short else SESSIONS, day))
            day.seconds = time.monotonic() - began
            day.left = threads.leftovers(runner.get_loop())
        gc.collect()
        more = open_files() - files
        day.left += [f"{name} ×{count}" for name, count in more.items()]
    return day


async def _work(data_dir: Path, sessions: int, day: Day) -> None:
    before: Counter[str] = Counter()
    async with at_window(data_dir, size=(1280, 800)) as person:
        engine = person.window.controller.engine
        await engine.save_provider(
            ProviderConfig(
                id="lab", kind="openai-compatible", base_url="http://127.0.0.1:9/v1", models=("day",)
            )
        )
        await engine.assistants.save(
            Agent(id="day", name="Day", provider="lab", model="day", tools=("get_pages",))
        )
        seen: list[str] = []
        for number in range(sessions):
            seen.append(await _chat(person, number, day))
            if number % DEBATES_EVERY == 0:
                seen.append(await _debate(person, number, day))
            if number % 4 == 0:
                await _look_around(person, number // 4, seen, data_dir)
            if number + 1 == max(1, sessions // 10) or number + 1 == sessions:
                await person.settle(1.0)
                for kept, value in zip((day.resident, day.private), memory(), strict=True):
                    kept.append(value)
                now = kinds()
                day.grown = [
                    f"{name} +{count - before[name]}" for name, count in (now - before).most_common(40)
                ]
                before = now
            if number % 10 == 9:
                print(f"  {number + 1} sessions, {day.messages} messages", file=sys.stderr, flush=True)


async def _chat(person: Person, number: int, day: Day) -> str:
    """Talk through a chat, every second one on the screen."""
    desk = person.window.controller
    engine = desk.engine
    session_id = await engine.chats.start("day", f"Session {number}: how is the sea?")
    if number % 2 == 0:
        desk.show_session(session_id)
    for exchange in range(1, EXCHANGES):
        await engine.wait(session_id)
        ask = "And tomorrow? Please look it up." if exchange % 2 else f"And at {exchange} o'clock?"
        await engine.chats.send(session_id, ask)
    await engine.wait(session_id)
    live = await engine.open(session_id)
    day.messages += len(live.messages)
    if number % 5 == 0:
        answers = [one for one in live.messages if one.role == Role.ASSISTANT]
        await engine.chats.retry(session_id, answers[-1].id)
        await engine.wait(session_id)
    await person.settle()
    return session_id


async def _debate(person: Person, number: int, day: Day) -> str:
    """Watch a debate in the panel."""
    desk = person.window.controller
    people = tuple(
        Participant(id=f"p{place}", name=f"Voice {place}", provider="lab", model="day")
        for place in range(VOICES)
    )
    setup = DebateSetup(topic=f"Is the sea blue? ({number})", participants=people, rounds=ROUNDS)
    session_id = await desk.engine.debates.start(setup)
    await desk.debates.show_discussion(session_id)
    await desk.engine.wait(session_id)
    live = await desk.engine.open(session_id)
    day.debate_turns += len(live.messages)
    return session_id


async def _look_around(person: Person, number: int, seen: list[str], data_dir: Path) -> None:
    """Switch, scroll, find, search, open and close what can be opened, as a person does between two chats."""
    window, desk = person.window, person.window.controller
    for session_id in (seen[number], seen[len(seen) // 3], seen[-1]):
        desk.show_session(session_id)
        await person.settle(0.02)
        bar = person.find("transcript").verticalScrollBar()  # type: ignore[attr-defined]
        for place in (0, bar.maximum() // 2, bar.maximum()):
            bar.setValue(place)
            await person.settle(0.01)
    top = window.top_bar
    for panel in (top.debate_button, top.plan_button, top.workflow_button):
        panel.toggle()
        await person.settle(0.01)
    for shown in (False, True):
        window.show_side(shown)
        await person.settle(0.01)
    desk.palette.search()
    await until(lambda: person.sees("palette_box"))
    QTest.keyClicks(person.find("palette_box"), f"tide {number}")
    await person.settle(0.05)
    QTest.keyClick(person.find("palette_box"), Qt.Key.Key_Escape)
    desk.settings.open(PAGES[number % len(PAGES)])
    await until(lambda: person.sees("settings_page"))
    await person.settle(0.02)
    person.find("settings_close").click()
    await until(lambda: not person.sees("settings_page"))
    if number % 3 == 0:
        desk.assistants.show_page()
        await person.settle(0.02)
        desk.show_new()
        await person.settle(0.02)
    if number % 4 == 0:
        now = desk.engine.settings()
        language, theme = ("ko", "dark") if now.language != "ko" else ("en", "light")
        desk.settings.change({"language": language, "theme": theme})
        await person.settle(0.05)
    await desk.engine.search(f"lighthouse {number}", 20)
    if number % 5 == 0:
        for form in ("md", "html", "json"):
            (data_dir / f"export.{form}").write_text(
                await desk.engine.export(seen[-1], form), encoding="utf-8"
            )
    if number % 5 == 4:
        gone = seen.pop(3)
        await desk.engine.delete(gone)
        await desk.engine.restore(gone)
        seen.append(gone)


def _memory_of_the_day(short: bool) -> Result:
    day = the_day(short)
    extra = (
        f"private {day.private[0]:.0f} → {day.private[1]:.0f} MB; {day.messages} messages, "
        f"{day.debate_turns} turns of debates in {day.seconds:.0f} s"
    )
    print("  grown since the first tenth: " + ", ".join(day.grown), file=sys.stderr)
    return Result(
        measured=day.resident[1],
        baseline=day.resident[0],
        unit="MB",
        ratio=day.resident[1] / day.resident[0],
        extra=extra,
    )


def _left_over(short: bool) -> Result:
    left = the_day(short).left
    return Result(
        measured=len(left), baseline=1.0, unit="left", ratio=float(len(left)), extra="; ".join(left)[:600]
    )


BENCHMARKS = (
    Benchmark(
        name="the day: memory at the end, against that after its first tenth",
        target=1.2,
        run=_memory_of_the_day,
    ),
    Benchmark(
        name="the day: timers, tasks, threads, files and children left after the window closed",
        target=0.0,
        run=_left_over,
    ),
)
