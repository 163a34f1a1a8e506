"""What the cards of pages show of the viewer's installation, which is one for all of them."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal


@dataclass(frozen=True, slots=True)
class ViewerState:
    """`offered` if the viewer can be installed, `done` bytes while that goes on, `installed` if a restart shows pages.

    `problem` is a text that says why it could not be installed.
    """

    offered: bool = False
    done: int | None = None
    installed: bool = False
    problem: str = ""


class ViewerOffer(QObject):
    """The state of the installation; emits changed(), and install_requested() and cancel_requested() for the cards."""

    changed = Signal()
    install_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ViewerState()

    def show(self, state: ViewerState) -> None:
        """Set the state."""
        self.state = state
        self.changed.emit()
