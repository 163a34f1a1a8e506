"""The pages of sessions in the main area: which one shows, and what the top bar says of it. Used by the desk."""

from PySide6.QtCore import QObject, Signal

from app.core.session import Session, SessionSummary
from app.gui.display.session_state import modes_of
from app.gui.panels.conversation_view import ConversationView
from app.gui.widgets.label import plain_tip
from app.gui.window_frame import WindowFrame


class MainPages(QObject):
    """Knows the page of each kind of session; emits `shown` with the page that comes to the front."""

    shown = Signal(object)

    def __init__(self, window: WindowFrame, *, debates: ConversationView, chats: ConversationView) -> None:
        super().__init__(window)
        self._window = window
        self._debates, self._chats = debates, chats
        self._last_ids: dict[ConversationView, str] = {debates: "", chats: ""}
        for page in self._last_ids:
            window.main_area.addWidget(page)
        window.main_area.currentChanged.connect(lambda _place: self._give_names())
        self._give_names()

    @property
    def current(self) -> ConversationView | None:
        """The page of a session that is shown, None while the main area shows something else."""
        page = self._window.main_area.currentWidget()
        return page if isinstance(page, ConversationView) else None

    @property
    def session(self) -> Session | None:
        """The session shown."""
        return self.current.session if self.current else None

    def page_of(self, summary: SessionSummary) -> ConversationView:
        """Return the page that shows sessions of a kind."""
        return self._debates if summary.kind == "debate" else self._chats

    def refresh(self) -> bool:
        """Draw anew what the top bar says; false where no session's page is shown."""
        if self.current is not None:
            self.show(self.current)
        return self.current is not None

    def follow(self, view: ConversationView) -> None:
        """Take note that a view shows something new: a session that was opened comes to the front."""
        if view not in self._last_ids:
            return
        opened = self._last_ids[view] != view.session_id
        self._last_ids[view] = view.session_id
        if view.session is None:
            if view is self.current:
                self._window.show_welcome()
        elif opened or view is self.current:
            self.show(view)

    def _give_names(self) -> None:
        """Let the page in front have the names a session's page is known by, a chat's where none is."""
        in_front = self._debates if self.current is self._debates else self._chats
        for page in self._last_ids:
            page.bear_names(page is in_front)

    def show(self, view: ConversationView) -> None:
        """Show a session, or the page for a new one, with its title, state and cost."""
        window, session, top = self._window, view.session, self._window.top_bar
        window.main_area.setCurrentWidget(view)
        window.side_bar.sessions.select(view.session_id)
        self.shown.emit(view)
        if session is None:
            top.show_title(window.language("chat.new"))
            top.show_session_tools(False)
            top.show_mode(modes_of(window.language, group=view.in_group_mode, settings=view.in_settings_mode))
            return
        top.show_title(session.title, can_rename=True)
        top.show_session_tools(True)
        top.show_state(session)
        top.cost.set_text(
            view.spending.text(window.language), short=view.spending.short_text(window.language)
        )
        top.cost.setToolTip(plain_tip(view.spending.lines(window.language)))
        top.fit()
