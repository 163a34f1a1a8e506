"""The desktop's settings for appearance: dark or light, high contrast, reduced motion.

Reads the settings portal (org.freedesktop.portal.Settings) and follows its changes. Without a portal (other systems,
no session bus) only Qt's own hints are known. Used by `Look`.
"""

import os
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher, QDBusVariant

SERVICE = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
INTERFACE = "org.freedesktop.portal.Settings"

_ANIMATIONS = ("org.gnome.desktop.interface", "enable-animations")
_COLOR_SCHEME = ("org.freedesktop.appearance", "color-scheme")
_CONTRAST = ("org.freedesktop.appearance", "contrast")
_SCHEMES = {1: True, 2: False}


class DesktopSettings(QObject):
    """The settings as the portal reports them; emits `changed`.

    `dark` is None if the desktop has no preference or no portal.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.reduced_motion = False
        self.dark: bool | None = None
        self.high_contrast = False
        self._asked: set[QDBusPendingCallWatcher] = set()
        # Without a bus, Qt would start one.
        if not _has_bus():
            return
        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        # The stubs of PySide want bytes; the call itself wants text.
        slot: Any = SLOT("_on_setting_changed(QDBusMessage)")
        bus.connect("", PATH, INTERFACE, "SettingChanged", self, slot)
        for setting in (_ANIMATIONS, _COLOR_SCHEME, _CONTRAST):
            self._ask(bus, setting)

    def _ask(self, bus: QDBusConnection, setting: tuple[str, str]) -> None:
        call = QDBusMessage.createMethodCall(SERVICE, PATH, INTERFACE, "Read")
        call.setArguments(list(setting))
        watcher = QDBusPendingCallWatcher(bus.asyncCall(call), self)
        self._asked.add(watcher)

        def take() -> None:
            self._asked.discard(watcher)
            reply = watcher.reply()
            if reply.type() == QDBusMessage.MessageType.ReplyMessage:
                self._take(setting, reply.arguments())

        watcher.finished.connect(take)

    @Slot(QDBusMessage)
    def _on_setting_changed(self, message: QDBusMessage) -> None:
        namespace, key, *value = message.arguments()[:3]
        self._take((str(namespace), str(key)), value)

    def _take(self, setting: tuple[str, str], arguments: list[object]) -> None:
        """Store a value; ignore unknown types and settings."""
        value = arguments[0] if arguments else None
        while isinstance(value, QDBusVariant):
            value = value.variant()
        before = (self.reduced_motion, self.dark, self.high_contrast)
        if setting == _ANIMATIONS and isinstance(value, bool):
            self.reduced_motion = not value
        elif setting == _COLOR_SCHEME and isinstance(value, int):
            self.dark = _SCHEMES.get(value)
        elif setting == _CONTRAST and isinstance(value, int):
            self.high_contrast = value == 1
        if before != (self.reduced_motion, self.dark, self.high_contrast):
            self.changed.emit()


def _has_bus() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    named = "DBUS_SESSION_BUS_ADDRESS" in os.environ
    return named or (Path(os.environ.get("XDG_RUNTIME_DIR", "/nowhere")) / "bus").exists()
