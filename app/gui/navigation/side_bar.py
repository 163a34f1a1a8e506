"""The side bar: something new, the search, groups, assistants and sessions, and the settings."""

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.core.session import SessionSummary
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.navigation.partner_list import PartnerList
from app.gui.navigation.session_list import SessionList
from app.gui.navigation.side_section import SideSection
from app.gui.widgets.controls import FootButton, button, icon_button, name_button, scrolling
from app.gui.widgets.label import plain_label
from app.gui.widgets.search_field import SearchField

WIDTH = 248


class SideBar(QFrame):
    """Shows groups, assistants and sessions in one scrolled column; emits what the user wants."""

    new_requested = Signal()
    hide_requested = Signal()
    providers_requested = Signal()
    settings_requested = Signal()
    search_requested = Signal(str)
    new_assistant_requested = Signal()
    bring_in_requested = Signal()
    new_group_requested = Signal()
    ready_groups_requested = Signal()
    bring_in_group_requested = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "side")
        self.setMinimumWidth(200)
        self._language = language
        self._summaries: list[SessionSummary] = []
        self._asking: frozenset[str] = frozenset()
        self._providers = -1
        self._servers = 0
        self._brand = plain_label("brand")
        self._toggle = icon_button(look, "panel-left", "side_toggle")
        self._new = button("", "new_button")
        self._new.dress(look, "plus", "text")
        self.search = SearchField(look, "search_everything")
        self.groups = PartnerList(language, look, "group_list")
        self.assistants = PartnerList(language, look, "assistant_list")
        self.group_section = SideSection(look, self.groups, "group")
        self.assistant_section = SideSection(look, self.assistants, "assistant")
        self.sessions = SessionList(language, look)
        self._empty = plain_label("hint", wrap=True)
        self._empty.setContentsMargins(8, 10, 4, 0)
        self._foot_providers = FootButton(look, "plug", "providers_button")
        self._foot_settings = FootButton(look, "settings", "settings_button")
        self._lay_out()
        self._toggle.clicked.connect(self.hide_requested)
        self._new.clicked.connect(self.new_requested)
        self.search.typed.connect(self.search_requested)
        self._foot_providers.clicked.connect(self.providers_requested)
        self._foot_settings.clicked.connect(self.settings_requested)
        self.sessions.row_reached.connect(lambda rect: self._keep_in_sight(self.sessions, rect))
        self.group_section.first.clicked.connect(self.ready_groups_requested)
        for partners in (self.groups, self.assistants):
            partners.currentItemChanged.connect(
                lambda _now, _before, shown=partners: self._show_current(shown)
            )
        language.changed.connect(self._retranslate)
        look.changed.connect(self._fit_head)
        self._retranslate()

    def show_sessions(self, summaries: list[SessionSummary], asking: frozenset[str] = frozenset()) -> None:
        """Show these sessions, those marked in which something asks the user."""
        self._summaries, self._asking = summaries, asking
        self.sessions.show_sessions(summaries, asking)
        self._empty.setVisible(not summaries)

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
        self._body = QWidget()
        lists = QVBoxLayout(self._body)
        lists.setContentsMargins(0, 0, 0, 0)
        lists.setSpacing(2)
        lists.addWidget(self.group_section)
        lists.addSpacing(6)
        lists.addWidget(self.assistant_section)
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

    def _show_current(self, partners: PartnerList) -> None:
        if partners.hasFocus() and partners.current_id():
            self._keep_in_sight(partners, partners.visualItemRect(partners.currentItem()))

    def _keep_in_sight(self, holder: QWidget, rect: QRect) -> None:
        """Scroll as far as a row of a list needs; the lists themselves are as tall as their rows."""
        place = holder.mapTo(self._body, rect.center())
        self._area.ensureVisible(0, place.y(), 0, rect.height())

    def _show_foot(self) -> None:
        # Nothing is said of them before anything is known.
        parts = [self._language("side.providers", count=self._providers)] if self._providers >= 0 else []
        if self._servers:
            parts.append(self._language("side.servers", count=self._servers))
        self._foot_providers.show_words(" · ".join(parts))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self) -> None:
        """Let the button for something new be its icon alone where its word has no room."""
        self._new.setText(self._language("side.new"))
        wanted = self._brand.sizeHint().width() + self._toggle.width() + self._new.sizeHint().width() + 40
        if wanted > self.width():
            self._new.setText("")

    def _retranslate(self) -> None:
        words = self._language
        self._brand.setText(words("app.name"))
        self._fit_head()
        name_button(self._new, words("side.new_session"), words.keys("new_chat"))
        name_button(self._toggle, words("side.toggle"), words.keys("side"))
        self.search.set_keys(words.keys("search"))
        name_button(self.search, words("side.search"), words.keys("search"))
        self.search.show_words(words("side.search"), self.search.toolTip())
        self.group_section.set_words(
            words("side.groups"),
            words("group.add"),
            (
                (words("group.new"), self.new_group_requested.emit),
                (words("group.ready"), self.ready_groups_requested.emit),
                (words("group.bring_in"), self.bring_in_group_requested.emit),
            ),
            words("group.none"),
            words("group.ready"),
        )
        self.assistant_section.set_words(
            words("side.assistants"),
            words("assistant.add"),
            (
                (words("assistant.new"), self.new_assistant_requested.emit),
                (words("assistant.bring_in"), self.bring_in_requested.emit),
            ),
        )
        self.sessions.setAccessibleName(words("side.sessions"))
        self._empty.setText(words("side.empty"))
        self._foot_settings.show_words(words("side.settings"), words.keys("settings"))
        self._show_foot()
        self.show_sessions(self._summaries, self._asking)
