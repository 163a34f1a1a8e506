"""The side bar: the way to something new, the search, the assistants, the sessions and the settings."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.core.agent import Agent
from app.core.provider import ProviderStatus
from app.core.session import SessionSummary
from app.gui.assistant_list import AssistantList
from app.gui.i18n import Language
from app.gui.session_list import SessionList
from app.gui.style import Look
from app.gui.widgets.controls import FootButton, button, icon_button, name_button, scrolling
from app.gui.widgets.label import plain_label
from app.gui.widgets.search_field import SearchField

WIDTH = 248


class SideBar(QFrame):
    """Shows the assistants and the sessions in one scrolled column; emits what the user wants."""

    new_requested = Signal()
    hide_requested = Signal()
    providers_requested = Signal()
    settings_requested = Signal()
    search_requested = Signal(str)
    new_assistant_requested = Signal()
    bring_in_requested = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "side")
        self.setMinimumWidth(200)
        self._language = language
        self._summaries: list[SessionSummary] = []
        self._asking: frozenset[str] = frozenset()
        self._agents: tuple[Sequence[Agent], Sequence[ProviderStatus], frozenset[str]] = ((), (), frozenset())
        self._providers = self._servers = 0
        self._brand = plain_label("brand")
        self._toggle = icon_button(look, "panel-left", "side_toggle")
        self._new = button("", "new_button")
        self._new.dress(look, "plus", "text")
        self.search = SearchField(look, "search_everything", "Ctrl+K")
        self._assistants_title = plain_label("section")
        self._add = icon_button(look, "plus", "assistant_add")
        self._add.setFixedSize(26, 24)
        self._add_menu = QMenu(self._add)
        self._add.setMenu(self._add_menu)
        self._add.setPopupMode(self._add.ToolButtonPopupMode.InstantPopup)
        self.assistants = AssistantList(language, look)
        self.sessions = SessionList(language, look)
        self._empty = plain_label("hint", wrap=True)
        self._empty.setContentsMargins(8, 10, 4, 0)
        self._foot_providers = FootButton(look, "plug", "providers_button")
        self._foot_settings = FootButton(look, "settings", "settings_button", "Ctrl+,")
        self._lay_out()
        self._toggle.clicked.connect(self.hide_requested)
        self._new.clicked.connect(self.new_requested)
        self.search.typed.connect(self.search_requested)
        self._foot_providers.clicked.connect(self.providers_requested)
        self._foot_settings.clicked.connect(self.settings_requested)
        self.sessions.row_reached.connect(lambda rect: self._keep_in_sight(self.sessions, rect))
        self.assistants.currentItemChanged.connect(lambda _now, _before: self._show_current_assistant())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_sessions(self, summaries: list[SessionSummary], asking: frozenset[str] = frozenset()) -> None:
        """Show these sessions, those marked in which something asks the user."""
        self._summaries, self._asking = summaries, asking
        self.sessions.show_sessions(summaries, asking)
        self._empty.setVisible(not summaries)

    def show_assistants(
        self, agents: Sequence[Agent], providers: Sequence[ProviderStatus], built_in: frozenset[str]
    ) -> None:
        """Show these assistants in this order; those `built_in` come with Moot."""
        self._agents = (agents, providers, built_in)
        self.assistants.show_assistants(agents, providers, built_in)

    def show_providers(self, ready: int) -> None:
        """Say how many providers are ready."""
        self._providers = ready
        self._show_foot()

    def show_servers(self, count: int) -> None:
        """Say how many MCP servers are switched on."""
        self._servers = count
        self._show_foot()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(5, 0, 0, 0)
        head.addWidget(self._brand)
        head.addStretch(1)
        head.addWidget(self._toggle)
        head.addWidget(self._new)
        section = QHBoxLayout()
        section.setContentsMargins(8, 2, 3, 0)
        section.addWidget(self._assistants_title, 1)
        section.addWidget(self._add)
        self._body = QWidget()
        lists = QVBoxLayout(self._body)
        lists.setContentsMargins(0, 0, 0, 0)
        lists.setSpacing(2)
        lists.addLayout(section)
        lists.addWidget(self.assistants)
        lists.addWidget(self._empty)
        lists.addWidget(self.sessions)
        lists.addStretch(1)
        self._area = scrolling(self._body)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 12, 10, 10)
        column.setSpacing(9)
        column.addLayout(head)
        column.addWidget(self.search)
        column.addWidget(self._area, 1)
        foot = QVBoxLayout()
        foot.setSpacing(1)
        foot.addWidget(self._foot_providers)
        foot.addWidget(self._foot_settings)
        column.addLayout(foot)

    def _show_current_assistant(self) -> None:
        if self.assistants.hasFocus() and self.assistants.current_id():
            rect = self.assistants.visualItemRect(self.assistants.currentItem())
            self._keep_in_sight(self.assistants, rect)

    def _keep_in_sight(self, holder: QWidget, rect: QRect) -> None:
        """Scroll as far as a row of a list needs; the lists themselves are as tall as their rows."""
        place = holder.mapTo(self._body, rect.center())
        self._area.ensureVisible(0, place.y(), 0, rect.height())

    def _show_foot(self) -> None:
        parts = [self._language("side.providers", count=self._providers)]
        if self._servers:
            parts.append(self._language("side.servers", count=self._servers))
        self._foot_providers.setText(" · ".join(parts))

    def _retranslate(self) -> None:
        words = self._language
        self._brand.setText(words("app.name"))
        self._new.setText(words("side.new"))
        name_button(self._new, words("side.new_session"), "Ctrl+N")
        name_button(self._toggle, words("side.toggle"), "Ctrl+B")
        self.search.setText(words("side.search"))
        name_button(self.search, words("side.search"), "Ctrl+K")
        self._assistants_title.setText(words("side.assistants").upper())
        name_button(self._add, words("assistant.add"))
        self._add_menu.clear()
        self._add_menu.addAction(words("assistant.new"), self.new_assistant_requested.emit)
        self._add_menu.addAction(words("assistant.bring_in"), self.bring_in_requested.emit)
        self.assistants.setAccessibleName(words("side.assistants"))
        self.sessions.setAccessibleName(words("side.sessions"))
        self._empty.setText(words("side.empty"))
        self._foot_settings.setText(words("side.settings"))
        self._show_foot()
        self.assistants.show_assistants(*self._agents)
        self.show_sessions(self._summaries, self._asking)
