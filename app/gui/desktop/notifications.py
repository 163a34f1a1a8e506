"""Notifications: which events the user is told of while another window is in front, and the tray icon.

`Attention` decides when, `Notifications` what to say and how. A new kind is a case in `Notifications._what`
and has its condition in `Attention`; one that belongs to no session is a method of its own that calls
`_note`. `NotificationBus` sends over D-Bus on Linux.
"""

import asyncio
import contextlib
import html
import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon, QWidget

from app.core.events import LimitNear, SessionChanged
from app.core.message import near_text
from app.core.session import Session, Status
from app.core.settings import Settings
from app.engine.engine import Engine
from app.engine.work import question_text
from app.gui.bridge import Bridge
from app.gui.commands import QUICK
from app.gui.desktop.session_bus import BusService
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import names_of
from app.gui.tasks import Tasks, timer
from app.gui.window_frame import WindowFrame

if TYPE_CHECKING:
    from jeepney import Message  # type: ignore[import-untyped]

QUIT = "quit"
SIDES = (16, 22, 32, 64)
REASONS = (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick)


class Tray(QObject):
    """The tray icon with its menu of commands; emits what is chosen."""

    open_requested = Signal()
    command_requested = Signal(str)

    def __init__(self, language: Language, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._language = language
        self._waiting = 0
        self.icon = QSystemTrayIcon(moot_icon(look), self)
        self.menu = QMenu()
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        language.follow(self.retranslate)

    def leave(self) -> None:
        """Remove the icon."""
        self._language.changed.disconnect(self.retranslate)
        self.icon.hide()
        self.menu.deleteLater()
        self.deleteLater()

    def show_note(self, title: str, text: str) -> None:
        """Show a notification through the system's tray."""
        # macOS would take it out of the notification centre again, before the user comes back.
        self.icon.showMessage(title, text, self.icon.icon(), 0 if sys.platform == "darwin" else 10_000)

    def show_waiting(self, count: int) -> None:
        """Show how much needs the user."""
        self._waiting = count
        words = self._language
        name = words("app.name")
        self.icon.setToolTip(f"{name} — {words('side.need_you', count=count)}" if count else name)

    def retranslate(self) -> None:
        """Set every text in the language in use."""
        words = self._language
        self.menu.clear()
        self.menu.addAction(words("tray.open"), self.open_requested.emit)
        for name in ("new_chat", QUICK, "new_debate"):
            self.menu.addAction(words(f"palette.{name}"), partial(self.command_requested.emit, name))
        self.menu.addSeparator()
        self.menu.addAction(words("tray.quit"), partial(self.command_requested.emit, QUIT))
        self.show_waiting(self._waiting)

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in REASONS:
            self.open_requested.emit()


def moot_icon(look: Look) -> QIcon:
    """Return the program's own icon."""
    icon = QIcon()
    for side in SIDES:
        icon.addPixmap(look.picture("moot", "accent", side))
    return icon


# Reasons that need no notification: the user caused them.
THE_USERS_DOING = ("by_user", "app_closed")
CALLING = (Status.COMPLETED, Status.ERROR, Status.WAITING, Status.PAUSED, Status.IDLE)
TOLD = "tray_told"
MOST_TITLE = 100
# How often to look for a tray while there is none, in ms.
PANEL_MS = 3_000


class Attention(QObject):
    """Marks the window in the task bar when a session ended, paused by itself, answered, or asks something.

    Emits called(session id) each time. Questions of sub-agents count too, also while the rest of the session
    runs.
    """

    called = Signal(str)

    def __init__(
        self, window: QWidget, bridge: Bridge, alert: Callable[[QWidget], None] = QApplication.alert
    ) -> None:
        super().__init__(bridge)
        self._window, self._alert = window, alert
        bridge.session_changed.connect(self._on_session_changed)
        bridge.prompt_asked.connect(lambda event: self._call(event.session_id))

    def _on_session_changed(self, event: SessionChanged) -> None:
        status, reason = event.session.status, event.session.reason
        if event.status_changed and status in CALLING and reason not in THE_USERS_DOING:
            self._call(event.session_id)

    def _call(self, session_id: str) -> None:
        # One of our dialogs in front counts as the window.
        if QApplication.activeWindow() is None:
            self._alert(self._window)
            self.called.emit(session_id)


class Notifications(QObject):
    """Shows notifications and the tray icon, as the settings `notifications` and `tray` say.

    Signals: session_requested(session id) when a notification is clicked, command_requested(name) for a
    command of `gui.commands` from the icon's menu.
    """

    command_requested = Signal(str)

    def __init__(self, window: WindowFrame, engine: Engine, bridge: Bridge, tasks: Tasks) -> None:
        super().__init__(window)
        self._window, self._engine, self._tasks = window, engine, tasks
        self._language = window.language
        self.count: Callable[[], int] = lambda: 0
        """What tells how much needs the user."""
        self._notifies = True
        self._noted = ""
        self._waiting = 0
        self._wants_tray: bool | None = None
        self.tray: Tray | None = None
        self._panel = timer(self, PANEL_MS, self._show_tray)
        self.notes = NotificationBus(self)
        self._attention = Attention(window, bridge)
        self._attention.called.connect(self._on_called)
        self.notes.clicked.connect(self._on_clicked)
        bridge.limit_near.connect(self._on_limit_near)
        window.hidden.connect(self._on_hidden)
        # Not at once: the icon's own click may have brought the user back.
        window.look.app.applicationStateChanged.connect(self._on_state, Qt.ConnectionType.QueuedConnection)

    def choose(self, settings: Settings) -> None:
        """Apply the settings."""
        self._notifies = settings.notifications
        newly, self._wants_tray = settings.tray and self._wants_tray is False, settings.tray
        # Also without an icon: the user wants the program to go on.
        self._window.hides_on_close = settings.tray
        if not settings.tray:
            self._leave_tray()
        elif self.tray is None:
            self._show_tray()
            if self.tray is None:
                self._panel.start()
                if newly:
                    self._window.toasts.show_toast(self._language("tray.no_place"))

    async def reaches(self) -> bool:
        """Return whether anything on this desktop shows notifications."""
        return QSystemTrayIcon.isSystemTrayAvailable() or await self.notes.reaches()

    async def close(self) -> None:
        """Remove the icon and disconnect from the bus."""
        self._window.look.app.applicationStateChanged.disconnect(self._on_state)
        self._leave_tray()
        await self.notes.close()

    def _show_tray(self) -> None:
        """Show the icon if the desktop has a tray by now; its panel may start after Moot."""
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return
        self._panel.stop()
        self.tray = tray = Tray(self._language, self._window.look, self)
        tray.open_requested.connect(self._window.come_forward)
        tray.icon.messageClicked.connect(lambda: self._on_clicked(self._noted))
        tray.command_requested.connect(self._on_command)
        tray.icon.show()
        tray.show_waiting(self._waiting)

    def _on_command(self, name: str) -> None:
        if name not in (QUICK, QUIT):
            self._window.come_forward()
        self.command_requested.emit(name)

    def _leave_tray(self) -> None:
        self._panel.stop()
        if self.tray is not None:
            self.tray.leave()
            self.tray = None

    def _on_state(self, state: Qt.ApplicationState) -> None:
        """Show the window to a user who is back, and remove an icon that only had a notification."""
        if state != Qt.ApplicationState.ApplicationActive:
            return
        # The icon in the Dock does no more than to activate the program.
        if sys.platform == "darwin" and not any(one.isVisible() for one in QApplication.topLevelWidgets()):
            self._window.come_forward()
        if not self._wants_tray:
            self._leave_tray()

    def _on_called(self, session_id: str) -> None:
        live = self._engine.live(session_id)
        if self._notifies and live is not None:
            count, text = self.count(), self._what(live.session)
            more = self._language("side.need_you", count=count) if count > 1 else ""
            self._note(session_id, live.session.title, "\n".join(filter(None, (text, more))))

    def _on_limit_near(self, event: LimitNear) -> None:
        live = self._engine.live(event.session_id)
        if self._notifies and live is not None and QApplication.activeWindow() is None:
            said = near_text(self._language, event.limit, event.spent, event.most)
            self._note(event.session_id, live.session.title, said)

    def _on_hidden(self) -> None:
        """Say that the program goes on without its window: once where its icon stays, else each time."""
        stays = self.tray is not None and self._wants_tray
        if not stays or not self._window.state.flag(TOLD, False):
            self._window.state.keep(TOLD, True)
            words = self._language
            self._note("", words("app.name"), words("tray.goes_on" if stays else "tray.goes_on_unseen"))

    def _note(self, session_id: str, title: str, text: str) -> None:
        self._tasks.add("note", self._show_note(session_id, title, text))

    async def _show_note(self, session_id: str, title: str, text: str) -> None:
        # The desktop may keep what it shows.
        title, text = (self._engine.keys.redact(said) for said in (title, text))
        title, action = " ".join(title[:MOST_TITLE].split()), self._language("tray.open")
        if sys.platform == "linux" and await self.notes.show(session_id, title, text, action):
            return
        if self.tray is None:
            # What Windows and macOS show belongs to an icon; this one stays until the user is back.
            self._show_tray()
        if self.tray is not None:
            self._noted = session_id
            self.tray.show_note(title, text)

    def _what(self, session: Session) -> str:
        """Return the text of a session's notification."""
        words = self._language
        for session_id, message in self._engine.chats.needs_you():
            if session_id == session.id:
                return question_text(message, words.texts, names_of(self._engine.assistants.all()))
        if session.status == Status.PAUSED:
            return words.paused(session) or words("status.paused")
        if session.status == Status.ERROR:
            return words("note.failed")
        if session.status == Status.RUNNING:
            return words("note.needs_you")
        return words("note.finished" if session.status == Status.COMPLETED else "note.answered")

    def _on_clicked(self, session_id: str) -> None:
        self._window.come_forward()
        if session_id:
            self._window.session_requested.emit(session_id)

    def show_waiting(self, count: int) -> None:
        """Show at the icon how much needs the user."""
        self._waiting = count
        if self.tray is not None:
            self.tray.show_waiting(count)


log = logging.getLogger(__name__)

SERVICE = "org.freedesktop.Notifications"
SERVICE_PATH = "/org/freedesktop/Notifications"


class NotificationBus(QObject):
    """Shows one notification a session; a newer one replaces it. Emits clicked(session id)."""

    clicked = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._service = BusService(SERVICE, SERVICE_PATH, SERVICE)
        self._notes: dict[str, int] = {}
        self._markup = False

    async def show(self, session_id: str, title: str, text: str, action: str) -> bool:
        """Show plain text with a button named `action`; return False
        if the desktop has no notification service.
        """
        try:
            if not self._service.connected:
                await self._connect()
            body = html.escape(text, quote=False) if self._markup else text
            actions, hints = ["default", action], {"desktop-entry": ("s", "moot")}
            values = ("Moot", self._notes.get(session_id, 0), "moot", title, body, actions, hints, -1)
            answer = await self._service.call("Notify", "susssasa{sv}i", *values)
        except Exception as error:
            # Of the library, the bus or the service; the next notification connects again.
            log.info("no notification: %r", error)
            await self.close()
            return False
        if answer is None:
            return False
        self._notes[session_id] = int(answer[0])
        return True

    async def reaches(self) -> bool:
        """Return whether the desktop has a notification service."""
        with contextlib.suppress(Exception):  # Errors of the library, the bus or the service.
            if not self._service.connected:
                await self._connect()
            return await self._service.call("GetCapabilities") is not None
        await self.close()
        return False

    async def close(self) -> None:
        """Disconnect from the bus."""
        await self._service.close()

    async def _connect(self) -> None:
        """Connect to the bus and listen for clicks. Raises ImportError, OSError, KeyError, TimeoutError."""
        await self._service.connect()
        clicks = await self._service.signals(SERVICE, "ActionInvoked", SERVICE_PATH)
        self._service.listen(self._listen(clicks))
        found = await self._service.call("GetCapabilities")
        self._markup = found is not None and "body-markup" in found[0]

    async def _listen(self, clicks: "asyncio.Queue[Message]") -> None:
        while True:
            number, *_ = (await clicks.get()).body or (0,)
            for session_id, note in self._notes.items():
                if note == number:
                    self.clicked.emit(session_id)
