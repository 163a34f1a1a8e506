"""The asyncio event loop on the Qt event loop: qasync's, with the parts of asyncio's contract that it lacks.

Callbacks and timers run in order, at their full delay, not after they are cancelled, and never inside a
nested Qt loop. Used by main for the window, and by tests.
"""

import asyncio
import heapq
import math
import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

_WAKE = QEvent.Type(QEvent.registerEventType())
_LONGEST_TIMER_MS = 86_400_000
_SLICE_S = 0.004
_COMPACT_AT = 64
_LEAST_WAIT_S = 0.01


class _Waker(QObject):
    """Receives the posted event that makes the loop run what is ready."""

    def __init__(self, drain: Callable[[], None]) -> None:
        super().__init__()
        self._drain = drain

    def customEvent(self, event: QEvent) -> None:
        self._drain()


class ScreenLostError(Exception):
    """Qt ended its loop, as it does when the X server is gone; `future` is the unfinished main task."""

    def __init__(self, future: "asyncio.Future[Any]") -> None:
        super().__init__()
        self.future = future


class EventWait:
    """Takes the place of a proactor's `select`, which a thread of qasync calls a hundred times a second.

    It waits for an event without an end, until `ends` is set and an event has woken it.
    """

    def __init__(self, select: Callable[[float | None], Any]) -> None:
        self._select = select
        self.ends = False

    def __call__(self, _timeout: float | None = None) -> Any:
        return self._select(_LEAST_WAIT_S if self.ends else None)


class AppLoop(qasync.QEventLoop):
    """An asyncio event loop on a QApplication that fulfils asyncio's contract."""

    def __init__(self, app: QApplication) -> None:
        self._soon: deque[asyncio.Handle] = deque()
        self._later: list[asyncio.TimerHandle] = []
        self._cancelled_timers = 0
        self._posted = self._draining = False
        self._waker = _Waker(self._drain)
        self._alarm = QTimer(singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._alarm.timeout.connect(self._on_alarm)
        # What waits for the events of Windows.
        self._wait: EventWait | None = None
        super().__init__(app)
        if sys.platform == "win32":
            self._wait = self._proactor.select = EventWait(self._proactor.select)
        self.set_default_executor(ThreadPoolExecutor(max_workers=4, thread_name_prefix="moot"))

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, context)
        self._add_callback(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._check_closed()
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._later, handle)
        handle._scheduled = True
        if self._later[0] is handle:
            self._arm()
        return handle

    def stop(self) -> None:
        """Stop the loop, but keep Qt from announcing the end of the program, which would end QtWebEngine
        for good.
        """
        if self.is_running():
            QCoreApplication.instance().blockSignals(True)
        super().stop()

    def run_until_complete(self, future: Any) -> Any:
        """Run until a future is done. Raises ScreenLostError when Qt ends the loop before."""
        future = asyncio.ensure_future(future, loop=self)
        try:
            return super().run_until_complete(future)
        except RuntimeError:
            if future.done():
                raise
            raise ScreenLostError(future) from None

    def run_forever(self) -> object:
        """Run until stopped, closing abandoned asynchronous generators inside the loop."""
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(self._asyncgen_firstiter_hook, self._asyncgen_finalizer_hook)
        if self._soon:
            self._wake()
        if self._wait is not None:
            self._wait.ends = False
        try:
            return super().run_forever()
        finally:
            QCoreApplication.instance().blockSignals(False)
            sys.set_asyncgen_hooks(*hooks)

    def close(self) -> None:
        """Drop every callback, timer and notifier."""
        if self.is_closed():
            return
        self._alarm.stop()
        self._soon.clear()
        self._later.clear()
        super().close()

    def _after_run_forever(self) -> None:
        if self._wait is not None:
            import _overlapped  # type: ignore[import-not-found, unused-ignore]

            self._wait.ends = True
            # An event of no request, which stays until the thread takes it.
            _overlapped.PostQueuedCompletionStatus(self._proactor._iocp, 0, 0, 0)
        super()._after_run_forever()

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        self._soon.append(handle)
        # A thread that finds the event posted has appended before the loop looks, so no callback is missed.
        if not self._posted:
            self._wake()
        return handle

    def _wake(self) -> None:
        self._posted = True
        QCoreApplication.postEvent(self._waker, QEvent(_WAKE), Qt.EventPriority.LowEventPriority.value)

    def _drain(self) -> None:
        self._posted = False
        if self._draining or not self.is_running():
            # Inside a nested Qt loop, or while Qt runs without us, the callbacks wait.
            return
        self._draining = True
        until = time.monotonic() + _SLICE_S
        try:
            for _ in range(len(self._soon)):
                handle = self._soon.popleft()
                if not handle.cancelled():
                    handle._run()
                if time.monotonic() >= until or not self._soon:
                    break
        finally:
            self._draining = False
            if self._soon and not self._posted:
                self._wake()

    def _on_alarm(self) -> None:
        now = self.time()
        while self._later and self._later[0].when() <= now:
            handle = heapq.heappop(self._later)
            handle._scheduled = False
            if handle.cancelled():
                self._cancelled_timers -= 1
            else:
                self._add_callback(handle)
        self._arm()

    def _arm(self) -> None:
        if self._later:
            wait_ms = min((self._later[0].when() - self.time()) * 1000, _LONGEST_TIMER_MS)
            self._alarm.start(max(0, math.ceil(wait_ms)))
        else:
            self._alarm.stop()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if not handle._scheduled:
            return
        self._cancelled_timers += 1
        if self._cancelled_timers >= _COMPACT_AT and self._cancelled_timers * 2 > len(self._later):
            for timer in self._later:
                timer._scheduled = not timer.cancelled()
            self._later = [timer for timer in self._later if not timer.cancelled()]
            heapq.heapify(self._later)
            self._cancelled_timers = 0
            self._arm()
