"""Keys that work while another program is in front: what Windows and Wayland share.

windows_keys and portal_keys hold them; elsewhere nothing does.
"""

from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, QObject, Signal
from PySide6.QtGui import QKeySequence

from app.gui.commands import PORTABLE
from app.gui.window_frame import AppWindow

TAKEN, UNKNOWN, REFUSED, NOWHERE = "taken", "unknown", "refused", "nowhere"


@dataclass(frozen=True, slots=True)
class Held:
    """Whether keys are held: `problem` is "", TAKEN by another program, UNKNOWN, REFUSED by the desktop,
    or NOWHERE.

    `shown` is what the desktop calls the keys where it chooses them itself.
    """

    problem: str = ""
    shown: str = ""


class KeyGrab(QObject):
    """Holds keys for Moot; emits pressed(token) when they are pressed.

    `token` is what a Wayland desktop wants from a window that comes to the front.
    """

    pressed = Signal(str)

    async def hold(self, keys: str, title: str) -> Held:
        """Hold `keys`, in Qt's portable form, in place of those held before; `title` says what they do."""
        raise NotImplementedError

    async def release(self) -> None:
        """Leave the keys to other programs."""
        raise NotImplementedError

    def bring_forward(self, window: AppWindow) -> None:
        """Show a window in front of other programs, after the keys were pressed."""
        window.come_forward()


def pressed_of(keys: str) -> QKeyCombination | None:
    """Return the one combination that `keys` are, None if they are none or several."""
    sequence = QKeySequence(keys, PORTABLE)
    return sequence[0] if sequence.count() == 1 else None  # type: ignore[index]
