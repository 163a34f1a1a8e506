"""The icon beside the clock, where the user asked for one. Made by the background desk."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.gui.display.i18n import Language
from app.gui.display.style import Look

SIDES = (16, 22, 32, 64)
REASONS = (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick)


class Tray(QObject):
    """Shows the icon with its menu; emits what is chosen, and note_clicked() for a notification of its own."""

    open_requested = Signal()
    chat_requested = Signal()
    debate_requested = Signal()
    quit_requested = Signal()
    note_clicked = Signal()

    def __init__(self, language: Language, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._language = language
        self._waiting = 0
        self.icon = QSystemTrayIcon(moot_icon(look), self)
        self._menu = QMenu()
        self.icon.setContextMenu(self._menu)
        self.icon.activated.connect(self._on_activated)
        self.icon.messageClicked.connect(self.note_clicked)
        language.changed.connect(self.retranslate)
        self.retranslate()

    @property
    def menu(self) -> QMenu:
        """The menu of the icon."""
        return self._menu

    def show(self) -> None:
        """Put the icon beside the clock."""
        self.icon.show()

    def leave(self) -> None:
        """Take the icon away."""
        self._language.changed.disconnect(self.retranslate)
        self.icon.hide()
        self._menu.deleteLater()
        self.deleteLater()

    def show_note(self, title: str, text: str) -> None:
        """Show a notification in the way of the system."""
        self.icon.showMessage(title, text, self.icon.icon())

    def show_waiting(self, count: int) -> None:
        """Say how much needs the user."""
        self._waiting = count
        words = self._language
        name = words("app.name")
        self.icon.setToolTip(f"{name} — {words('needs_you.count', count=count)}" if count else name)

    def retranslate(self) -> None:
        """Draw every word anew."""
        words = self._language
        self._menu.clear()
        for text, chosen in (
            (words("tray.open"), self.open_requested),
            (words("palette.new_chat"), self.chat_requested),
            (words("palette.new_debate"), self.debate_requested),
            (words("tray.quit"), self.quit_requested),
        ):
            if chosen is self.quit_requested:
                self._menu.addSeparator()
            self._menu.addAction(text).triggered.connect(chosen)
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
