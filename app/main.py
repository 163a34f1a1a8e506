"""Starts the window: Qt and the first paint, and then the event loop and the rest, which is in startup.

`run_window` is called by __main__; `open_window` by tests and others with a running loop. Slow imports are
made after the paint.
"""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.storage.paths import DataPaths, default_data_dir

if TYPE_CHECKING:
    import asyncio

    from app.gui.main_window import MainWindow

SCREEN_LOST = 1
SAVE_S = 10.0
FIRST_PAINT_S = 2.0


async def open_window(
    data_dir: Path | None = None,
    *,
    language: str | None = None,
    theme: str | None = None,
    catalogue: Path | None = None,
) -> "MainWindow":
    """Open the window on a data directory and return it shown, with its engine.

    `catalogue` lists other models for download than those that come with Moot. Runs on a Qt event loop
    (`app.gui.desktop.event_loop`). Raises DataDirectoryBusy, StorageError.
    """
    import asyncio

    paths = DataPaths(data_dir or default_data_dir())
    window = _show_outline(paths, theme)
    painted = asyncio.Event()
    window.painted.connect(painted.set)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(painted.wait(), FIRST_PAINT_S)

    from app.startup import complete

    return await complete(window, paths, *_chosen(paths, language, theme), catalogue)


def run_window(data_dir: Path, *, language: str = "", theme: str = "", catalogue: Path | None = None) -> int:
    """Open the window, run until it is closed, and return the exit status.

    `catalogue` lists other models for download than those that come with Moot.
    """
    from PySide6.QtCore import Qt, QTimer

    from app.gui.desktop.application import Application
    from app.gui.web_view import available
    from app.linux import choose_input_method

    through_ibus = choose_input_method()
    if available():
        # QtWebEngine draws with the graphics card; that must be set before the application is made.
        Application.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    application = Application(sys.argv[:1])
    if through_ibus:
        from app.gui.desktop.key_order import KeyOrder

        KeyOrder(application)
    application.setApplicationName("Moot")
    application.setDesktopFileName("moot")
    # The window may close before its work has ended.
    application.setQuitOnLastWindowClosed(False)
    paths = DataPaths(data_dir)
    if paths.control.exists() and _other_came_forward(paths):
        return 0
    window = _show_outline(paths, theme)
    # After the paint has reached the screen; `quit` instead of `exit` would close the window.
    window.painted.connect(lambda: QTimer.singleShot(0, application.exit))
    application.exec()
    application.end_by(lambda: _save_and_end(window))

    import asyncio

    from app.gui.desktop.event_loop import AppLoop, ScreenLostError
    from app.startup import run

    with (
        contextlib.suppress(ScreenLostError),
        asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner,
    ):
        try:
            return runner.run(run(window, paths, *_chosen(paths, language, theme), catalogue))
        except ScreenLostError as lost:
            _end_without_screen(window, runner.get_loop(), lost.future)
    return SCREEN_LOST


def _save_and_end(window: "MainWindow") -> None:
    """Pause and save what runs, and return once that is done."""
    import os

    from PySide6.QtCore import QEventLoop, QTimer

    window.close_requested.emit()
    saving = QEventLoop()
    QTimer.singleShot(int(SAVE_S * 1000), saving, lambda: saving.exit(1))
    if saving.exec() == 0 and sys.platform == "darwin":
        # Qt would answer macOS that this program stays, which cancels a logout.
        os._exit(0)


def _end_without_screen(
    window: "MainWindow", loop: "asyncio.AbstractEventLoop", running: "asyncio.Future[int]"
) -> None:
    """Pause and save what runs: each start of the loop does some work before Qt ends it again."""
    import time

    from PySide6.QtCore import qInstallMessageHandler

    # Qt has already reported that the screen is gone.
    qInstallMessageHandler(lambda *_: None)
    window.close_requested.emit()
    until = time.monotonic() + SAVE_S
    while not running.done() and time.monotonic() < until:
        loop.run_forever()


def _show_outline(paths: DataPaths, theme: str | None) -> "MainWindow":
    """Show the empty window; it emits `painted` when it is on the screen."""
    from app.gui.display.theme import outline_tokens
    from app.gui.main_window import MainWindow
    from app.gui.window_frame import WindowState

    window = MainWindow(outline_tokens(_chosen(paths, "", theme)[1]), WindowState(paths.root))
    window.show()
    return window


def _other_came_forward(paths: DataPaths) -> bool:
    """Bring the window of another Moot with this data directory to the front, if there is one."""
    import asyncio

    from app.cli.control import owner_pid, raise_other
    from app.storage.access import WriterLock

    held = WriterLock(paths).is_held()
    if held and sys.platform == "win32":
        import ctypes

        # Windows lets the program come to the front that was started last, and whom that names.
        ctypes.windll.user32.AllowSetForegroundWindow(owner_pid(paths.control) or 0)
    return held and asyncio.run(raise_other(paths.control))


def _chosen(paths: DataPaths, language: str | None, theme: str | None) -> tuple[str, str]:
    """Return the language and theme given, else those of the settings, read without slow imports."""
    import json

    try:
        settings = dict(json.loads(paths.settings.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        settings = {}
    return language or str(settings.get("language", "system")), theme or str(settings.get("theme", "system"))
