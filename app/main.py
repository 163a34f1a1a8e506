"""The window's start: Qt, the event loop, the first paint, and only then the engine behind it.

`open_window` is for tests and for `run_window`, which __main__ calls. Qt is imported here, late.
"""

import asyncio
import contextlib
import functools
import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import MootError
from app.storage.lock import WriterLock
from app.storage.paths import DataPaths, default_data_dir, resources_dir

if TYPE_CHECKING:
    from app.control import ControlServer
    from app.gui.main_window import MainWindow
    from app.wiring import Moot

BAD_INPUT = 2
FIRST_PAINT_S = 2.0
WARM_UP_AFTER_S = 0.4


async def open_window(
    data_dir: Path | None = None, *, language: str | None = None, theme: str | None = None
) -> "MainWindow":
    """Open the window on a data directory and return it shown, with its engine.

    Runs on a Qt event loop (`app.gui.event_loop`). Raises Busy, StorageError.
    """
    from PySide6.QtWidgets import QApplication

    from app.gui.i18n import Language
    from app.gui.main_window import MainWindow
    from app.gui.style import Look
    from app.gui.window_state import WindowState

    paths = DataPaths(data_dir or default_data_dir())
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    resources = resources_dir()
    wanted = _wanted(paths)
    words = Language(resources / "i18n", language or wanted.get("language", "system"))
    look = Look(application, resources, theme or wanted.get("theme", "system"))
    window = MainWindow(words, look, WindowState(paths.root))
    words.setParent(window)
    look.setParent(window)
    window.show()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(window.painted.wait(), FIRST_PAINT_S)
    try:
        await _bring_to_life(window, paths)
    except MootError:
        await window.shutdown()
        raise
    look.add_korean_font()
    return window


def run_window(data_dir: Path, *, language: str = "", theme: str = "") -> int:
    """Open the window, run until it is closed, and return the exit status."""
    from PySide6.QtWidgets import QApplication

    from app.gui.event_loop import AppLoop

    application = QApplication(sys.argv[:1])
    application.setApplicationName("Moot")
    application.setDesktopFileName("moot")
    # The last window closes before the work behind it has ended: we decide when it is over.
    application.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner:
        return runner.run(_run(data_dir, language, theme))


async def _run(data_dir: Path, language: str, theme: str) -> int:
    paths = DataPaths(data_dir)
    if WriterLock(paths).is_held() and await _show_other(paths):
        return 0
    try:
        window = await open_window(data_dir, language=language or None, theme=theme or None)
    except MootError as error:
        await _complain(error, language)
        return BAD_INPUT
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, window.closed.set)
    await window.closed.wait()
    window.hide()
    await window.shutdown()
    return 0


async def _bring_to_life(window: "MainWindow", paths: DataPaths) -> None:
    from app.cli import run_for_another
    from app.control import ControlServer
    from app.wiring import open_moot

    moot = await open_moot(paths.root)
    server = ControlServer(paths.control, functools.partial(run_for_another, moot), window.come_forward)
    await server.start()
    window.connect_engine(moot.engine, paths.root, functools.partial(_close, moot, server))
    window.desk.tasks.start("model host", _warm_up(moot))


async def _warm_up(moot: "Moot") -> None:
    """Start the child process that holds LiteLLM, once the window has had the processor to itself."""
    await asyncio.sleep(WARM_UP_AFTER_S)
    starting = asyncio.create_task(moot.models.start())
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        # A child half started would be nobody's: let it come up, so that closing can end it.
        await starting
        raise


async def _close(moot: "Moot", server: "ControlServer") -> None:
    await server.close()
    await moot.close()


async def _show_other(paths: DataPaths) -> bool:
    from app.control import raise_other

    return await raise_other(paths.control)


async def _complain(error: MootError, language: str) -> None:
    """Say why there is no window: on standard error, and in a box for whoever double-clicked."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QMessageBox

    from app.terminal import error_line, load_texts

    line = error_line(error, load_texts(language))
    sys.stderr.write(f"{line}\n")
    box = QMessageBox(QMessageBox.Icon.Warning, "Moot", line)
    box.setTextFormat(Qt.TextFormat.PlainText)
    closed = asyncio.Event()
    box.finished.connect(lambda _result: closed.set())
    box.open()
    await closed.wait()


def _wanted(paths: DataPaths) -> dict[str, str]:
    """Return language and theme as last chosen, read lightly so that the first paint need not wait."""
    try:
        settings = json.loads(paths.settings.read_text(encoding="utf-8"))
        return {name: str(settings[name]) for name in ("language", "theme") if name in settings}
    except (OSError, ValueError, TypeError):
        return {}
