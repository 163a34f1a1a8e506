"""Moot's window, which the system of the first argument ends at a line on standard input; run by test_system_end.

`quit` is what Qt makes of ⌘Q and of a logout on macOS, and of the end of an X session; `logout` what it does on Windows.
"""

import sys
import threading

from PySide6.QtCore import QCoreApplication, QEvent, QTimer

from app.gui.desktop.application import Application
from app.main import run_window
from app.storage.paths import default_data_dir


def listen(system: str) -> None:
    """End the window as that system does."""
    said = sys.stdin.readline().strip()
    application = QCoreApplication.instance()
    assert application is not None
    sys.platform = system
    if said == "quit":
        QCoreApplication.postEvent(application, QEvent(QEvent.Type.Quit))
    else:
        QTimer.singleShot(0, application, application.aboutToQuit.emit)


def main() -> int:
    """Run the window to its end."""
    system, end_by = sys.argv[1], Application.end_by

    def as_there(self, end):  # type: ignore[no-untyped-def]
        here, sys.platform = sys.platform, system
        end_by(self, end)
        sys.platform = here

    Application.end_by = as_there  # type: ignore[method-assign]
    threading.Thread(target=listen, args=(system,), daemon=True).start()
    return run_window(default_data_dir(), language="en")


if __name__ == "__main__":
    sys.exit(main())
