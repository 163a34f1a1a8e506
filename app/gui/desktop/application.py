"""The program as the system sees it: ended outside its window, or by a logout, it ends in order."""

import sys
from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """An application that asks nothing when the system ends it: by ⌘Q, at a logout, at a shutdown."""

    _end: Callable[[], object] | None = None

    def end_by(self, end: Callable[[], object]) -> None:
        """Set what saves everything before it returns: the system may kill the process then."""
        self._end = end
        if sys.platform == "win32":
            # Windows tells of its end by this signal alone.
            self.aboutToQuit.connect(lambda: self.event(QEvent(QEvent.Type.Quit)))

    def event(self, event: QEvent) -> bool:
        # Qt would close the windows, and one that asks or only hides would cancel the logout.
        if event.type() != QEvent.Type.Quit or self._end is None:
            return super().event(event)
        end, self._end = self._end, None
        end()
        return True
