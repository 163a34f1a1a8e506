"""Starts the window: Qt, the first paint, and only then the event loop and the engine.

`run_window` is called by __main__; `open_window` by tests and others with a running loop. Slow imports are made
where they are used, after the paint.
"""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.storage.paths import DataPaths, default_data_dir, resources_dir

if TYPE_CHECKING:
    import asyncio

    from app.cli.control import ControlServer
    from app.core.errors import MootError
    from app.gui.display.i18n import Language
    from app.gui.display.style import Look
    from app.gui.main_window import MainWindow
    from app.wiring import Moot

BAD_INPUT = 2
SCREEN_LOST = 1
SAVE_WITHOUT_SCREEN_S = 10.0
FIRST_PAINT_S = 2.0
WARM_UP_AFTER_S = 0.4
BACK_UP_AFTER_S = 5.0


async def open_window(
    data_dir: Path | None = None, *, language: str | None = None, theme: str | None = None
) -> "MainWindow":
    """Open the window on a data directory and return it shown, with its engine.

    Runs on a Qt event loop (`app.gui.desktop.event_loop`). Raises Busy, StorageError.
    """
    import asyncio

    paths = DataPaths(data_dir or default_data_dir())
    window = _show_outline(paths, theme or "")
    painted = asyncio.Event()
    window.painted.connect(painted.set)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(painted.wait(), FIRST_PAINT_S)
    return await _complete(window, paths, language or "", theme or "")


def run_window(data_dir: Path, *, language: str = "", theme: str = "") -> int:
    """Open the window, run until it is closed, and return the exit status."""
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from app.gui.web_view.available import available
    from app.linux import choose_input_method

    through_ibus = choose_input_method()
    if available():
        # QtWebEngine draws with the graphics card; that must be set before the application is made.
        QApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    application = QApplication(sys.argv[:1])
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

    import asyncio

    from app.gui.desktop.event_loop import AppLoop, ScreenLostError

    with (
        contextlib.suppress(ScreenLostError),
        asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner,
    ):
        try:
            return runner.run(_run(window, paths, language, theme))
        except ScreenLostError as lost:
            _end_without_screen(window, runner.get_loop(), lost.future)
    return SCREEN_LOST


def _end_without_screen(
    window: "MainWindow", loop: "asyncio.AbstractEventLoop", running: "asyncio.Future[int]"
) -> None:
    """Pause and save what runs: each start of the loop does some work before Qt ends it again."""
    import time

    from PySide6.QtCore import qInstallMessageHandler

    # Qt has already reported that the screen is gone.
    qInstallMessageHandler(lambda *_: None)
    window.close_requested.emit()
    until = time.monotonic() + SAVE_WITHOUT_SCREEN_S
    while not running.done() and time.monotonic() < until:
        loop.run_forever()


def _show_outline(paths: DataPaths, theme: str) -> "MainWindow":
    """Show the empty window; it emits `painted` when it is on the screen."""
    from app.gui.display.theme import outline_tokens
    from app.gui.main_window import MainWindow
    from app.gui.window_state import WindowState

    window = MainWindow(outline_tokens(theme or _wanted(paths, "theme")), WindowState(paths.root))
    window.show()
    return window


async def _complete(window: "MainWindow", paths: DataPaths, language: str, theme: str) -> "MainWindow":
    """Add the widgets and the engine; close the window if that fails."""
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QApplication

    from app.core.errors import MootError
    from app.gui.display.i18n import Language
    from app.gui.display.style import Look

    application = QApplication.instance()
    assert isinstance(application, QApplication)
    resources = resources_dir()
    words = Language(resources / "i18n", language or _wanted(paths, "language"))
    look = Look(application, resources, theme or _wanted(paths, "theme"))
    words.setParent(window)
    look.setParent(window)
    window.setWindowIcon(QIcon(str(resources / "icons" / "moot.svg")))
    try:
        await _bring_to_life(window, paths, words, look)
    except MootError:
        await window.shutdown()
        raise
    look.add_korean_font()
    return window


async def _run(window: "MainWindow", paths: DataPaths, language: str, theme: str) -> int:
    import asyncio
    import signal

    from app.core.errors import MootError

    closed = asyncio.Event()
    window.close_requested.connect(closed.set)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, closed.set)
    try:
        await _complete(window, paths, language, theme)
    except MootError as error:
        await _complain(error, language)
        return BAD_INPUT
    await closed.wait()
    window.hide()
    await window.shutdown()
    return 0


async def _bring_to_life(window: "MainWindow", paths: DataPaths, words: "Language", look: "Look") -> None:
    import functools

    from app.cli.control import ControlServer
    from app.cli.running import run_for_another
    from app.gui.controllers.window import WindowController
    from app.wiring import open_moot

    moot = await open_moot(paths.root, language=words.name, look_up_keys=False)
    server = ControlServer(paths.control, functools.partial(run_for_another, moot), window.come_forward)
    await server.start()
    await moot.engine.drafts.load()
    await _take_over_drafts(window, moot)
    with look.held():
        window.furnish(words, look)
        close = functools.partial(_close, moot, server)
        window.set_controller(WindowController(window, moot.engine, paths.root, close))
    window.controller.begin()
    # The keyring may wait for its user, or not answer; the window does not wait for it.
    window.controller.tasks.start("look up keys", moot.look_up_keys())
    window.controller.tasks.start("model host", _warm_up(moot))
    window.controller.tasks.start("backup of the day", _back_up(moot))


async def _take_over_drafts(window: "MainWindow", moot: "Moot") -> None:
    """Move the drafts of older versions from `window.ini` to files of their own, once."""
    from app.core.draft import SETUP, Draft
    from app.core.errors import StorageError

    old = window.state.old_drafts()
    if not old:
        return
    for name, text in old.items():
        # The topic of a debate belongs to the draft of its set-up.
        place = SETUP if name == "topic" else name
        if moot.engine.drafts.of(place) == Draft():
            moot.engine.drafts.keep(place, Draft(text=text))
    try:
        await moot.engine.drafts.save()
    except StorageError:
        return  # They stay there for the next start.
    window.state.forget_old_drafts()


async def _warm_up(moot: "Moot") -> None:
    """Start the child process that holds LiteLLM, after the window has had the processor to itself."""
    import asyncio

    await asyncio.sleep(WARM_UP_AFTER_S)
    starting = asyncio.create_task(moot.models.start())
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Let a child that is starting come up, so that closing can end it.
        await starting
        raise


async def _back_up(moot: "Moot") -> None:
    """Make the daily backup, after the window has had the disk to itself."""
    import asyncio

    await asyncio.sleep(BACK_UP_AFTER_S)
    await moot.engine.archive.back_up_if_due()


async def _close(moot: "Moot", server: "ControlServer") -> None:
    await server.close()
    await moot.close()


def _other_came_forward(paths: DataPaths) -> bool:
    """Bring the window of another Moot with this data directory to the front, if there is one."""
    import asyncio

    from app.cli.control import raise_other
    from app.storage.access import WriterLock

    return WriterLock(paths).is_held() and asyncio.run(raise_other(paths.control))


async def _complain(error: "MootError", language: str) -> None:
    """Say why there is no window: on standard error, and in a dialog for users without a terminal."""
    import asyncio

    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QMessageBox

    from app.cli.printing.lines import error_line, load_texts

    line = error_line(error, load_texts(language))
    sys.stderr.write(f"{line}\n")
    box = QMessageBox(QMessageBox.Icon.Warning, "Moot", line)
    box.setTextFormat(Qt.TextFormat.PlainText)
    closed = asyncio.Event()
    box.finished.connect(lambda _result: closed.set())
    box.open()
    await closed.wait()


def _wanted(paths: DataPaths, name: str) -> str:
    """Return the language or theme last chosen, without the modules that the first paint need not wait for."""
    import json

    try:
        return str(json.loads(paths.settings.read_text(encoding="utf-8"))[name])
    except (OSError, ValueError, TypeError, KeyError):
        return "system"
