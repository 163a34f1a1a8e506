"""Whether the desktop asks programs to move less; asked of the settings portal, followed while Moot runs.

Used by `Look`. Where there is no portal (other systems, no session bus) nothing is asked for.
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
SETTING = ["org.gnome.desktop.interface", "enable-animations"]


class SystemMotion(QObject):
    """What the desktop says about motion; emits `changed` when it says something else."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.reduced = False
        self._asked: QDBusPendingCallWatcher | None = None
        # Qt would start a bus of its own where there is none.
        if not _has_bus():
            return
        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        # The types of PySide want bytes here; the call itself wants text.
        slot: Any = SLOT("_on_setting_changed(QDBusMessage)")
        bus.connect("", PATH, INTERFACE, "SettingChanged", self, slot)
        call = QDBusMessage.createMethodCall(SERVICE, PATH, INTERFACE, "Read")
        call.setArguments(SETTING)
        self._asked = QDBusPendingCallWatcher(bus.asyncCall(call), self)
        self._asked.finished.connect(self._on_answer)

    def _on_answer(self, watcher: QDBusPendingCallWatcher) -> None:
        self._asked = None
        self._take(watcher.reply().arguments())

    @Slot(QDBusMessage)
    def _on_setting_changed(self, message: QDBusMessage) -> None:
        if message.arguments()[:2] == SETTING:
            self._take(message.arguments()[2:])

    def _take(self, arguments: list[object]) -> None:
        value = arguments[0] if arguments else True
        while isinstance(value, QDBusVariant):
            value = value.variant()
        if isinstance(value, bool) and self.reduced is value:
            self.reduced = not value
            self.changed.emit()


def _has_bus() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    named = "DBUS_SESSION_BUS_ADDRESS" in os.environ
    return named or (Path(os.environ.get("XDG_RUNTIME_DIR", "/nowhere")) / "bus").exists()
