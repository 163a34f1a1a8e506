"""The second half of the window's start, after its first paint: widgets, engine and controllers.
Used by main.
"""

import asyncio
import contextlib
import functools
import gc
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from app.cli.commands.schedules import begin_in
from app.cli.control import ControlServer
from app.cli.printing.lines import error_line, load_texts
from app.cli.running import close_and_go_on, open_in_window, run_for_another
from app.core.draft import SETUP, Draft
from app.core.errors import MootError, StorageError
from app.gui.controllers.window import WindowController
from app.gui.display.appearance import Language, Look
from app.gui.main_window import MainWindow
from app.storage.paths import DataPaths, resources_dir
from app.wiring import Moot

BAD_INPUT = 2
LAYOUT_TURNS = 4
"""In how many turns of the event loop a new window's layouts settle: a text
that gets its width may need another height.
"""
OLD_OBJECTS_AFTER = 30
"""After how many collections of younger objects Python looks through all; 10 is its default.
One pass over a session of 10,000 messages takes 50 ms, which is three frames.
"""
WARM_UP_AFTER_S = 0.4
BACK_UP_AFTER_S = 5.0


async def run(window: MainWindow, paths: DataPaths, language: str, theme: str, catalogue: Path | None) -> int:
    """Complete the window, run until it is closed, and return the exit status.

    Garbage is collected only from when the window is complete.
    """
    gc.disable()
    closed = asyncio.Event()
    window.close_requested.connect(closed.set)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, closed.set)
    try:
        await complete(window, paths, language, theme, catalogue)
    except MootError as error:
        await _show_error(error, language)
        return BAD_INPUT
    # What there is now stays: looking through it for garbage would stop the window for more than a frame each
    # time.
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], OLD_OBJECTS_AFTER)
    gc.enable()
    await closed.wait()
    window.hide()
    await window.shutdown()
    return 0


async def complete(
    window: MainWindow, paths: DataPaths, language: str, theme: str, catalogue: Path | None = None
) -> MainWindow:
    """Add the widgets, the engine and the controllers. Closes the window and raises MootError if that fails.

    `catalogue` is that of `open_moot`.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    resources = resources_dir()
    words = Language(resources / "i18n", language)
    look = Look(application, resources, theme)
    words.setParent(window)
    look.setParent(window)
    look.add_korean_font()
    # Also that of the quick chat, which has no parent.
    application.setWindowIcon(QIcon(str(resources / "icons" / "moot.svg")))
    try:
        await _connect_engine(window, paths, words, look, catalogue)
    except MootError:
        await window.shutdown()
        raise
    return window


async def _connect_engine(
    window: MainWindow, paths: DataPaths, words: Language, look: Look, catalogue: Path | None
) -> None:
    moot, left = await open_in_window(paths, words.name, catalogue)
    moot.engine.schedules.begin = begin_in(moot)
    run, end = functools.partial(run_for_another, moot), window.close_requested.emit
    server = ControlServer(paths.control, run, window.come_forward, keeps=True, end=end)
    await server.start()
    await moot.engine.drafts.load()
    await _take_over_drafts(window, moot)
    # Its outline stays on the screen until everything has its place.
    window.setUpdatesEnabled(False)
    try:
        with look.held():
            window.furnish(words, look)
            close = functools.partial(_close, moot, server)
            window.set_controller(WindowController(window, moot.engine, paths.root, close))
        window.controller.begin()
        for _ in range(LAYOUT_TURNS):
            await asyncio.sleep(0)
    finally:
        window.setUpdatesEnabled(True)
    # The keyring may wait for its user, or not answer; the window does not wait for it.
    window.controller.tasks.start("look up keys", moot.look_up_keys())
    window.controller.tasks.start("model host", _warm_up(moot))
    window.controller.tasks.start("backup of the day", _back_up(moot))
    window.controller.tasks.start("take over sessions", _take_over_sessions(moot, left))
    window.controller.tasks.start("schedules", moot.engine.schedules.keep())


async def _take_over_drafts(window: MainWindow, moot: Moot) -> None:
    """Move the drafts of older versions from `window.ini` to files of their own, once."""
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


async def _take_over_sessions(moot: Moot, session_ids: Sequence[str]) -> None:
    """Go on with the sessions that a Moot without a window has paused for this one."""
    for session_id in session_ids:
        with contextlib.suppress(MootError):  # It is in the list, paused.
            await moot.engine.resume(session_id)


async def _warm_up(moot: Moot) -> None:
    """Start the child process that holds LiteLLM, after the window has had the processor to itself."""
    await asyncio.sleep(WARM_UP_AFTER_S)
    starting = asyncio.create_task(moot.models.start())
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Let a child that is starting come up, so that closing can end it.
        await starting
        raise


async def _back_up(moot: Moot) -> None:
    """Make the daily backup, after the window has had the disk to itself."""
    await asyncio.sleep(BACK_UP_AFTER_S)
    await moot.engine.archive.files.back_up_if_due()


async def _close(moot: Moot, server: ControlServer) -> None:
    await server.close()
    # One that has started with the computer gave way to this window.
    await close_and_go_on(moot, server)


async def _show_error(error: MootError, language: str) -> None:
    """Say why there is no window: on standard error, and in a dialog for users without a terminal."""
    line = error_line(error, load_texts(language))
    sys.stderr.write(f"{line}\n")
    box = QMessageBox(QMessageBox.Icon.Warning, "Moot", line)
    box.setTextFormat(Qt.TextFormat.PlainText)
    closed = asyncio.Event()
    box.finished.connect(lambda _result: closed.set())
    box.open()
    await closed.wait()
