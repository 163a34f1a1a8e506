"""The page of the main area in which a debate is set up: the form of the panel, centred."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget

from app.gui.panels.debate.setup_view import SetupView
from app.gui.widgets.boxes import centred, vbox

COLUMN = 720


class SetupPage(QWidget):
    """Shows the one form there is: it moves between this page and the panel, with all that was set up."""

    def __init__(self, setup: SetupView) -> None:
        super().__init__()
        self._setup = setup
        self._place = QWidget()
        vbox(centred(self._place, COLUMN), inside=self)
        self._column = vbox(inside=self._place)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @property
    def holds_form(self) -> bool:
        """Whether the form is here."""
        return self.isAncestorOf(self._setup)

    def take_form(self) -> None:
        """Take the form from the panel."""
        self._column.addWidget(self._setup)
        self._setup.show()
        self._setup.topic.setFocus()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._setup.topic.setFocus()
