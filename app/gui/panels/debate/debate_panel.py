"""The panel of debates, with the tabs Setup, Discussion and History, and the page of the main area
for its form.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.engine.engine import Engine
from app.gui.display.appearance import Language, Look
from app.gui.panels.debate.debate_controls import DebateSummary
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.panels.debate.history_view import HistoryView
from app.gui.panels.debate.setup_view import SetupView
from app.gui.panels.right_panel import RightPanel
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import centred, vbox
from app.gui.widgets.controls import icon_button
from app.gui.widgets.text import say

SETUP, DISCUSSION, HISTORY = range(3)
COLUMN = 720
"""The greatest width of the form in the main area."""


class DebatePanel(RightPanel):
    """The three views of debates; emits `widen_requested` with the session to show in the main area,
    `came` when shown.

    While the main area shows a debate, Discussion shows the summary of that one instead of another
    transcript.
    """

    widen_requested = Signal(str)
    came = Signal()

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        setup = SetupView(language, look, engine, tasks)
        discussion = DiscussionView(language, look)
        history = HistoryView(language, look)
        self.summary = DebateSummary(language, look)
        self._discussions = QStackedWidget()
        for view in (discussion, self.summary):
            self._discussions.addWidget(view)
        self._setup_place = QWidget()
        self._setup_column = vbox(setup, inside=self._setup_place)
        names, views = ("setup", "discussion", "history"), (self._setup_place, self._discussions, history)
        super().__init__(language, look, names, views, "debate_tabs")
        self.setup, self.discussion, self.history = setup, discussion, history
        self._widen = say(icon_button(look, "external-link", "debate_widen"), language, tip="panel.widen")
        self._widen.clicked.connect(lambda: self.widen_requested.emit(self.discussion.session_id))
        self.add_button(self._widen)
        self._widen.setVisible(False)
        self.tab_chosen.connect(lambda _place: self.refresh_buttons())
        self.history.setup_requested.connect(self.show_setup)
        self.discussion.setup_requested.connect(self.show_setup)

    def show_setup(self, topic: str = "") -> None:
        """Show Setup, with a topic if given."""
        if topic:
            self.setup.set_topic(topic)
        self.tabs.choose(SETUP)
        self.setup.topic.setFocus()

    def take_form(self) -> None:
        """Take the form of Setup back from the main area."""
        if not self._setup_place.isAncestorOf(self.setup):
            self._setup_column.addWidget(self.setup)
            self.setup.show()

    @property
    def shows_setup(self) -> bool:
        """Whether Setup is what the panel shows."""
        return self.isVisible() and self.tabs.current() == SETUP

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.came.emit()

    def show_discussion(self) -> None:
        """Show the debate that is open."""
        self.tabs.choose(DISCUSSION)

    def refresh_buttons(self) -> None:
        """Show the button for the main area while Discussion shows a debate."""
        here = self.tabs.current() == DISCUSSION and not self.shows_summary
        self._widen.setVisible(here and bool(self.discussion.session_id))

    @property
    def shows_summary(self) -> bool:
        """Whether the main area shows the debate itself."""
        return self._discussions.currentWidget() is self.summary

    def show_summary(self, shown: bool) -> None:
        """Show the summary of the debate in the main area, or the debate of the panel."""
        self._discussions.setCurrentWidget(self.summary if shown else self.discussion)
        self.discussion.use_names(not shown)
        self.refresh_buttons()


class SetupPage(QWidget):
    """The page of the main area in which a debate is set up: shows the one form there is, centred.

    The form moves between this page and the panel, with all that was set up.
    """

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
