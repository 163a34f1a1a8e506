"""The main window from its first paint to its end. main gives it a controller; `shutdown` closes both."""

from typing import TYPE_CHECKING

from PySide6.QtGui import QCloseEvent

from app.gui.display.theme import Tokens
from app.gui.window_frame import WindowFrame, WindowState

if TYPE_CHECKING:
    from app.gui.controllers.window import WindowController


class MainWindow(WindowFrame):
    """The window of a running Moot; it has a `controller` as soon as main has opened the engine."""

    controller: "WindowController"

    def __init__(self, tokens: Tokens, state: WindowState) -> None:
        super().__init__(tokens, state)
        self._has_controller = False

    def set_controller(self, controller: "WindowController") -> None:
        """Set the controller that answers the user's requests."""
        self.controller = controller
        self._has_controller = True

    async def shutdown(self) -> None:
        """Save the state of the window, pause what runs, and close."""
        self.state.keep("geometry", self.saveGeometry())
        if self._has_controller:
            await self.controller.close()
            self._has_controller = False
        self.state.save()
        self.close()
        self.deleteLater()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._has_controller:
            event.accept()
            return
        event.ignore()
        self.controller.leave()
