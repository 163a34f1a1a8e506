"""The side bar: the way to a new debate, the sessions, the providers and the settings."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.core.session import SessionSummary
from app.gui.i18n import Language
from app.gui.session_list import SessionList
from app.gui.style import Look
from app.gui.widgets.controls import FootButton, SearchBox, button, icon_button, name_button
from app.gui.widgets.label import plain_label

WIDTH = 248


class SideBar(QFrame):
    """Shows the sessions; emits what the user wants."""

    new_requested = Signal()
    hide_requested = Signal()
    providers_requested = Signal()
    settings_requested = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "side")
        self.setMinimumWidth(200)
        self._language = language
        self._summaries: list[SessionSummary] = []
        self._providers = 0
        self._brand = plain_label("brand")
        self._toggle = icon_button(look, "panel-left", "side_toggle")
        self._new = button("", "new_button")
        self._new.dress(look, "plus", "text")
        self.search = SearchBox(look, "session_search", "Ctrl+K")
        self.sessions = SessionList(language, look)
        self._empty = plain_label("hint", wrap=True)
        self._foot_providers = FootButton(look, "plug", "providers_button")
        self._foot_settings = FootButton(look, "settings", "settings_button", "Ctrl+,")
        self._lay_out()
        self.search.textChanged.connect(self._refresh)
        self._toggle.clicked.connect(self.hide_requested)
        self._new.clicked.connect(self.new_requested)
        self._foot_providers.clicked.connect(self.providers_requested)
        self._foot_settings.clicked.connect(self.settings_requested)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_sessions(self, summaries: list[SessionSummary]) -> None:
        """Show these sessions, as far as they match the search box."""
        self._summaries = summaries
        self._refresh()

    def show_providers(self, ready: int) -> None:
        """Say how many providers are ready."""
        self._providers = ready
        self._foot_providers.setText(self._language("side.providers", count=ready))

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(5, 0, 0, 0)
        head.addWidget(self._brand)
        head.addStretch(1)
        head.addWidget(self._toggle)
        head.addWidget(self._new)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 12, 10, 10)
        column.setSpacing(9)
        column.addLayout(head)
        column.addWidget(self.search)
        column.addWidget(self._empty)
        column.addWidget(self.sessions, 1)
        foot = QVBoxLayout()
        foot.setSpacing(1)
        foot.addWidget(self._foot_providers)
        foot.addWidget(self._foot_settings)
        column.addLayout(foot)

    def _refresh(self) -> None:
        self.sessions.show_sessions(self._summaries, self.search.text())
        empty = self.sessions.count() == 0
        self._empty.setVisible(empty)
        # An empty list has nothing to show the focus on.
        self.sessions.setFocusPolicy(Qt.FocusPolicy.NoFocus if empty else Qt.FocusPolicy.StrongFocus)
        if empty:
            self._empty.setText(self._language("side.nothing_found" if self._summaries else "side.empty"))

    def _retranslate(self) -> None:
        self._brand.setText(self._language("app.name"))
        self._new.setText(self._language("side.new"))
        name_button(self._new, self._language("side.new_debate"), "Ctrl+N")
        name_button(self._toggle, self._language("side.toggle"), "Ctrl+B")
        self.search.setPlaceholderText(self._language("side.search"))
        self.search.setAccessibleName(self._language("side.search"))
        self.sessions.setAccessibleName(self._language("side.sessions"))
        self._foot_settings.setText(self._language("side.settings"))
        self.show_providers(self._providers)
        self._refresh()
