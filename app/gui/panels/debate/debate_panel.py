"""The panel of debates, with the tabs Setup, Discussion and History."""

from PySide6.QtCore import Signal

from app.engine.engine import Engine
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.panels.debate.history_view import HistoryView
from app.gui.panels.debate.setup_view import SetupView
from app.gui.panels.right_panel import RightPanel
from app.gui.widgets.controls import icon_button
from app.gui.widgets.wording import say

SETUP, DISCUSSION, HISTORY = range(3)


class DebatePanel(RightPanel):
    """The three views of debates; emits `widen_requested` with the session to show in the main area."""

    widen_requested = Signal(str)

    def __init__(self, language: Language, look: Look, engine: Engine) -> None:
        setup = SetupView(language, look, engine)
        discussion = DiscussionView(
            language,
            look,
            compact=True,
            names=("debate_transcript", "debate_interject", "debate_send"),
            prefix="debate_",
        )
        history = HistoryView(language, look)
        names = ("setup", "discussion", "history")
        super().__init__(language, look, names, (setup, discussion, history), "debate_tabs")
        self.setup, self.discussion, self.history = setup, discussion, history
        self._widen = say(
            icon_button(
                look,
                "external-link",
                "debate_widen",
                lambda: self.widen_requested.emit(self.discussion.session_id),
            ),
            language,
            tip="panel.widen",
        )
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

    def show_discussion(self) -> None:
        """Show the debate that is open."""
        self.tabs.choose(DISCUSSION)

    def refresh_buttons(self) -> None:
        """Show the button for the main area while Discussion shows a debate."""
        self._widen.setVisible(self.tabs.current() == DISCUSSION and bool(self.discussion.session_id))
