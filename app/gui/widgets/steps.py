"""Building a page in steps, so that no callback of the window takes long."""

import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

# A turn of the event loop begins no further step after this time.
TURN_S = 0.002


class Steps(QObject):
    """Runs a generator step by step: up to its first `yield` at once, the others in the next turns of the event loop.

    It ends with its owner. `finish` runs what is left at once, for code that needs the whole.
    """

    def __init__(self, owner: QObject, work: Iterator[None]) -> None:
        super().__init__(owner)
        self._work = work
        self._running = False
        self.is_done = False
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._on_turn)
        self._step()
        if not self.is_done:
            self._turn.start()

    def finish(self) -> None:
        """Run what is left; nothing if called by a step."""
        while not (self.is_done or self._running):
            self._step()

    def _on_turn(self) -> None:
        until = time.perf_counter() + TURN_S
        while not self.is_done:
            self._step()
            if time.perf_counter() >= until:
                break
        if not self.is_done:
            self._turn.start()

    def _step(self) -> None:
        self._running = True
        # Also after an error nothing is left to run.
        self.is_done = True
        try:
            next(self._work)
            self.is_done = False
        except StopIteration:
            self._turn.stop()
        finally:
            self._running = False
