"""The quick chat: a small window with a chat of its own, by keys that work while another program is in front.

The window and what serves it are made when they are first needed.
"""

import asyncio
import os
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.core.errors import MootError
from app.core.session import SessionSummary
from app.core.settings import Settings
from app.gui.commands import QUICK, chosen_keys, written
from app.gui.controllers.chats import ChatController, VersionController
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.palette import SavedPromptController
from app.gui.controllers.sessions import SessionController, SessionViews
from app.gui.controllers.settings import SettingsController
from app.gui.controllers.summaries import SummaryController
from app.gui.desktop.key_grab import NOWHERE, Held, KeyGrab
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.quick_window import QuickWindow
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame

HOLD = "hold keys"


@dataclass(frozen=True, slots=True)
class Serving:
    """The window of the quick chat and what serves it."""

    window: QuickWindow
    tasks: Tasks
    chats: ChatController


class QuickChatController(Controller):
    """Opens the quick chat, and holds its keys; emits session_requested(session id) or new_requested() to go on in the main window."""

    session_requested = Signal(str)
    new_requested = Signal()

    def __init__(
        self,
        parts: Parts[WindowFrame],
        views: SessionViews,
        chats: ChatController,
        settings: SettingsController,
    ) -> None:
        super().__init__(parts)
        self._views, self._main_chats, self._settings = views, chats, settings
        self._serving: Serving | None = None
        self._keys: str | None = None
        self._held: Held | None = None
        self._holding = asyncio.Lock()
        self.grab: KeyGrab | None = _key_grab(self)
        if self.grab is not None:
            self.grab.pressed.connect(lambda _token: self.show())
        settings.applied.connect(self._choose)
        self._language.changed.connect(self._show_held)

    async def close(self) -> None:
        """Leave the keys to other programs, and close the window."""
        self._tasks.cancel(HOLD)
        if self.grab is not None:
            async with self._holding:
                await self.grab.release()
        if self._serving is not None:
            self._views.keep_place(self._serving.window.page)
            await self._serving.tasks.close()
            self._serving.window.hide()
            self._serving.window.deleteLater()
            self._serving = None

    def show(self) -> None:
        """Show the quick chat in front, as it was left."""
        if self._serving is None:
            self._serving = self._serve()
            self._serving.chats.show_new()
        window = self._serving.window
        if self.grab is not None:
            self.grab.bring_forward(window)
        else:
            window.come_forward()
        window.page.take_focus()

    # The keys

    def _choose(self, settings: Settings) -> None:
        """Hold the keys of the settings."""
        keys = chosen_keys(settings.shortcuts)[QUICK]
        if keys != self._keys:
            self._keys, self._held = keys, None
            self._tasks.replace(HOLD, self._hold(keys))

    async def _hold(self, keys: str) -> None:
        async with self._holding:
            if self.grab is None:
                self._held = Held(NOWHERE)
            elif keys:
                self._held = await self.grab.hold(keys, self._language("palette.quick_chat"))
            else:
                await self.grab.release()
        self._show_held()

    def _show_held(self) -> None:
        """Say in the settings where the keys work."""
        words, held, keys = self._language, self._held, written(self._keys or "")
        text, fails = words("keys.quick.held"), False
        if held is None:
            text = "" if keys else words("keys.quick")
        elif held.problem:
            text, fails = words(f"keys.quick.{held.problem}", keys=keys), bool(keys)
        elif held.shown:
            text = words("keys.quick.desktop", keys=held.shown)
        self._settings.show_quick_keys(text, fails=fails)

    # The window

    def _serve(self) -> Serving:
        """Make the window, and what answers the user there."""
        window = QuickWindow(self._language, self._look, self._state)
        page, tasks = window.page, Tasks(self._on_task_failed)
        parts = Parts(window, self._engine, self._bridge, tasks)
        self._views.add(page)
        chats, sessions = ChatController(parts, page), SessionController(parts)
        prompts = SavedPromptController(parts, page.chat_composer.message_box)
        prompts.files_given.connect(chats.files.attach)
        VersionController(parts, page)
        SummaryController(parts, page, (), self._views, chats)
        page.link_requested.connect(sessions.open_link)
        for pictures in (page.picture_requested, chats.files.picture_requested):
            pictures.connect(sessions.on_picture)
        composer, main = page.chat_composer, self._main_chats
        self._settings.keep_favourites(composer.model)
        page.cards.viewer = main.page.cards.viewer
        chats.session_started.connect(
            lambda session_id: tasks.replace("open", self._open(page, sessions.summary(session_id)))
        )
        for signal, answered in (
            (chats.several_requested, main.several_requested),
            (chats.settings_requested, main.settings_requested),
            (composer.allow_requested, main.page.chat_composer.allow_requested),
        ):
            # These ask or show more than the small window has room for.
            signal.connect(self._leave)
            signal.connect(answered)
        composer.folder_left.connect(main.page.chat_composer.folder_left)
        composer.folder_left.connect(chats.refresh)
        window.new_requested.connect(partial(self._on_new, page, chats))
        window.main_requested.connect(partial(self._on_main, page))
        for show in (chats.show_new_draft, chats.refresh):
            window.came.connect(show)
        window.left.connect(self._main_chats.show_new_draft)
        return Serving(window, tasks, chats)

    async def _open(self, page: ChatPage, summary: SessionSummary | None) -> None:
        if summary is not None:
            await self._views.open(page, summary)
            page.take_focus()

    def _on_new(self, page: ChatPage, chats: ChatController) -> None:
        self._views.keep_place(page)
        chats.show_new()
        page.take_focus()

    def _on_main(self, page: ChatPage) -> None:
        """Go on with the chat in the main window; one that has not begun has its draft there too."""
        session_id = page.session_id
        self._leave()
        if session_id:
            self.session_requested.emit(session_id)
        else:
            self.new_requested.emit()

    def _leave(self) -> None:
        if self._serving is not None:
            self._serving.window.hide()
        self._window.come_forward()

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        if self._serving is not None:
            text = self._language.problem(error.code, **error.details)
            self._serving.window.toasts.show_toast(text)


def _key_grab(parent: QObject) -> KeyGrab | None:
    """Return what holds keys on this desktop, None where nothing can; only that is imported, for a quick start."""
    platform = QGuiApplication.platformName()
    # X11 programs under Wayland get keys only from each other.
    if platform in ("wayland", "xcb") and os.environ.get("WAYLAND_DISPLAY"):
        from app.gui.desktop.portal_keys import PortalGrab

        return PortalGrab(parent)
    if platform == "windows":
        from app.gui.desktop.windows_keys import WindowsGrab

        return WindowsGrab(parent)
    return None
