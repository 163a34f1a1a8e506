"""What asyncio promises and plain qasync does not keep."""

import asyncio
import contextvars
import gc
import math
import queue
import sys
import threading
import time

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.gui.desktop.event_loop import AppLoop, EventWait


def run(coroutine):
    app = QApplication.instance() or QApplication([])
    with asyncio.Runner(loop_factory=lambda: AppLoop(app)) as runner:
        return runner.run(coroutine)


def test_call_soon_keeps_the_order(qapp):
    async def main():
        seen = []
        loop = asyncio.get_running_loop()
        for number in range(500):
            loop.call_soon(seen.append, number)
        await asyncio.sleep(0.05)
        return seen

    assert run(main()) == list(range(500))


def test_sleep_never_ends_early(qapp):
    async def main():
        for seconds in (0.01, 0.05, 0.3):
            start = time.monotonic()
            await asyncio.sleep(seconds)
            assert time.monotonic() - start >= seconds

    run(main())


def test_an_infinite_delay_is_a_timer_like_any_other(qapp):
    async def main():
        handle = asyncio.get_running_loop().call_later(math.inf, print)
        assert handle.when() == math.inf
        await asyncio.sleep(0)
        handle.cancel()

    run(main())


def test_cancelled_timers_are_let_go(qapp):
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(5_000):
            loop.call_later(600, print).cancel()
        assert len(loop._later) < 200
        assert len(loop._alarm.children()) == 0
        start = time.monotonic()
        await asyncio.sleep(0.02)
        assert time.monotonic() - start >= 0.02

    run(main())


def test_an_abandoned_generator_is_closed_inside_the_loop(qapp):
    closed = []

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def main():
        async for _ in numbers():
            break
        gc.collect()
        await asyncio.sleep(0.01)

    run(main())
    assert closed == [True]
    assert sys.get_asyncgen_hooks().finalizer is None


def test_context_follows_a_call_from_a_thread(qapp):
    name = contextvars.ContextVar("name", default="none")

    async def main():
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def from_thread():
            name.set("thread")
            context = contextvars.copy_context()
            loop.call_soon_threadsafe(lambda: done.set_result(name.get()), context=context)

        thread = threading.Thread(target=from_thread)
        thread.start()
        result = await asyncio.wait_for(done, 5)
        thread.join()
        return result

    assert run(main()) == "thread"


def test_calls_from_many_threads_all_arrive(qapp):
    async def main():
        loop = asyncio.get_running_loop()
        seen = []
        threads = [
            threading.Thread(target=lambda: [loop.call_soon_threadsafe(seen.append, 1) for _ in range(500)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for _ in range(200):
            await asyncio.sleep(0.01)
            if len(seen) == 2_000:
                break
        for thread in threads:
            thread.join()
        return len(seen)

    assert run(main()) == 2_000


def test_a_nested_qt_loop_pauses_the_tasks_and_hurts_none(qapp):
    async def main():
        ticks = []

        async def other():
            for _ in range(5):
                ticks.append(1)
                await asyncio.sleep(0.01)

        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        nested = QEventLoop()
        QTimer.singleShot(60, nested.quit)
        before = len(ticks)
        nested.exec()
        assert len(ticks) == before
        await task
        return len(ticks)

    assert run(main()) == 5


def test_the_window_is_not_starved_by_a_busy_task(qapp):
    async def main():
        ticks = []
        timer = QTimer()
        timer.setInterval(10)
        timer.timeout.connect(lambda: ticks.append(time.monotonic()))
        timer.start()
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            await asyncio.sleep(0)
        timer.stop()
        return len(ticks)

    assert run(main()) >= 25


def test_a_child_process_speaks_over_its_pipes(qapp):
    async def main():
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "import sys; [print(line.strip()[::-1], flush=True) for line in sys.stdin]",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        process.stdin.write(b"abc\n")
        await process.stdin.drain()
        line = await asyncio.wait_for(process.stdout.readline(), 10)
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 10)
        return line

    assert run(main()) == b"cba\n"


def test_nothing_runs_while_only_qt_runs(qapp):
    seen = []
    with asyncio.Runner(loop_factory=lambda: AppLoop(qapp)) as runner:
        loop = runner.get_loop()
        loop.call_soon(lambda: seen.append(asyncio.get_running_loop() is loop))
        qapp.processEvents()
        assert seen == []
        runner.run(asyncio.sleep(0.01))
    assert seen == [True]


def test_on_windows_the_wait_for_events_is_no_poll_and_ends_when_it_is_woken():
    """A queue stands for the events of a proactor, and a thread waits as that of qasync does."""
    events, waits, seen = queue.Queue(), [], []

    def select(timeout):
        waits.append(timeout)
        try:
            return events.get(timeout=timeout)
        except queue.Empty:
            return None

    wait = EventWait(select)
    stopped = threading.Event()

    def poll():
        while not stopped.is_set():
            seen.append(wait(0.01))

    thread = threading.Thread(target=poll)
    thread.start()
    events.put("read")
    time.sleep(0.3)
    assert (seen, waits) == (["read"], [None, None])
    wait.ends = True
    events.put("")
    time.sleep(0.05)
    stopped.set()
    thread.join(1)
    assert not thread.is_alive() and set(waits[2:]) == {0.01}
