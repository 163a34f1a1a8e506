"""The settings: providers with keys, MCP servers, limits, appearance and language, where the data is."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.errors import MootError
from app.core.provider import ProviderConfig
from app.core.settings import Settings
from app.core.texts import LANGUAGES
from app.engine.engine import Engine
from app.gui.dialogs.limits_page import LimitsPage
from app.gui.dialogs.provider_page import ProviderPage
from app.gui.dialogs.servers_page import ServersPage
from app.gui.dialogs.two_lines import TwoLineDelegate
from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.tasks import Tasks
from app.gui.widgets.controls import Choice, button
from app.gui.widgets.label import plain_label

PAGES = ("providers", "servers", "limits", "appearance", "data")
THEMES = ("system", "light", "dark")
SERVER_KIND = "openai-compatible"


class SettingsDialog(QDialog):
    """Shows the settings; emits what was chosen as soon as it is chosen."""

    providers_changed = Signal()
    settings_chosen = Signal(object)

    def __init__(
        self, language: Language, look: Look, engine: Engine, data_dir: Path, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("settings_dialog")
        self._language = language
        self._look = look
        self._engine = engine
        self._data_dir = data_dir
        # What was chosen here; the engine may still be writing it.
        self._settings = engine.settings()
        self._tasks = Tasks(self._on_task_failed)
        self.pages = QListWidget()
        self.pages.setObjectName("settings_pages")
        self.pages.setFixedWidth(190)
        self.pages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._stack = QStackedWidget()
        self.providers = QListWidget()
        self.providers.setObjectName("settings_providers")
        self.providers.setFixedWidth(210)
        self.providers.setItemDelegate(TwoLineDelegate(look, self.providers))
        self.providers.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._provider_stack = QStackedWidget()
        self._lead = plain_label("card_text", wrap=True)
        self._add = button("link", "settings_add_server")
        self._add.dress(look, "plus", "accent")
        self._theme = Choice(look)
        self._theme.setObjectName("settings_theme")
        self._language_choice = Choice(look)
        self._language_choice.setObjectName("settings_language")
        self._theme_label, self._language_label = plain_label("field"), plain_label("field")
        self.servers = ServersPage(language, look, engine, self._tasks)
        self.limits = LimitsPage(language, look, self._settings)
        self._data_text = plain_label("card_text", wrap=True)
        self._data_path = plain_label("value", wrap=True)
        self._data_path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._open_folder = button("", "settings_open_folder")
        self._problems = plain_label("hint", wrap=True)
        self._close = button("", "settings_close")
        self._lay_out()
        self._fill_providers("")
        self._connect()
        self._retranslate()
        self.resize(800, 560)

    def show_page(self, page: str, provider_id: str = "") -> None:
        """Go to a page of `PAGES`, and there to a provider."""
        self.pages.setCurrentRow(PAGES.index(page))
        for row in range(self.providers.count()):
            if self.providers.item(row).data(Qt.ItemDataRole.UserRole) == provider_id:
                self.providers.setCurrentRow(row)

    def provider_page(self) -> ProviderPage:
        """Return the page of the provider that is shown."""
        page = self._provider_stack.currentWidget()
        assert isinstance(page, ProviderPage)
        return page

    def _lay_out(self) -> None:
        providers = QWidget()
        column = _column(providers)
        column.addWidget(self._lead)
        row = QHBoxLayout()
        row.setSpacing(18)
        left = QVBoxLayout()
        left.addWidget(self.providers, 1)
        left.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)
        row.addLayout(left)
        row.addWidget(self._provider_stack, 1)
        column.addLayout(row, 1)
        appearance = QWidget()
        column = _column(appearance)
        for label, choice in (
            (self._theme_label, self._theme),
            (self._language_label, self._language_choice),
        ):
            column.addWidget(label)
            column.addWidget(choice)
            column.addSpacing(8)
        column.addStretch(1)
        data = QWidget()
        column = _column(data)
        for widget in (self._data_text, self._data_path):
            column.addWidget(widget)
        column.addWidget(self._open_folder, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._problems)
        column.addStretch(1)
        for page in (providers, self.servers, self.limits, appearance, data):
            self._stack.addWidget(page)
        side = QFrame()
        side.setProperty("kind", "side")
        side_column = QVBoxLayout(side)
        side_column.setContentsMargins(8, 14, 8, 8)
        side_column.addWidget(self.pages)
        foot = QHBoxLayout()
        foot.setContentsMargins(22, 0, 22, 16)
        foot.addStretch(1)
        foot.addWidget(self._close)
        right = QVBoxLayout()
        right.addWidget(self._stack, 1)
        right.addLayout(foot)
        body = QHBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addWidget(side)
        body.addLayout(right, 1)

    def _connect(self) -> None:
        self.pages.currentRowChanged.connect(self._stack.setCurrentIndex)
        self.providers.currentRowChanged.connect(self._provider_stack.setCurrentIndex)
        self._theme.activated.connect(self._on_chosen)
        self._language_choice.activated.connect(self._on_chosen)
        self._add.clicked.connect(lambda: self._tasks.start("add server", self._add_server()))
        self._open_folder.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._data_dir)))
        )
        self.limits.changed.connect(self._on_limits)
        self._close.clicked.connect(self.accept)
        self.finished.connect(self.servers.leave)
        self._language.changed.connect(self._retranslate)

    def _fill_providers(self, chosen: str) -> None:
        while self._provider_stack.count():
            if page := self._provider_stack.widget(0):
                self._provider_stack.removeWidget(page)
                page.deleteLater()
        self.providers.clear()
        for status in self._engine.providers():
            item = QListWidgetItem(status.label)
            item.setData(Qt.ItemDataRole.UserRole, status.config.id)
            self.providers.addItem(item)
            page = ProviderPage(self._language, self._look, self._engine, status, self._tasks)
            page.changed.connect(self._on_provider_changed)
            page.removed.connect(lambda: self._fill_providers(""))
            self._provider_stack.addWidget(page)
        self.providers.setCurrentRow(0)
        if chosen:
            self.show_page("providers", chosen)

    async def _add_server(self) -> None:
        taken = {status.config.id for status in self._engine.providers()}
        number = next(number for number in range(1, 1_000) if f"server-{number}" not in taken)
        label = f"Server {number}"
        config = ProviderConfig(id=f"server-{number}", kind=SERVER_KIND, label=label, enabled=False)
        await self._engine.save_provider(config)
        self._fill_providers(config.id)
        self.providers_changed.emit()

    def _on_provider_changed(self) -> None:
        self._mark_providers()
        self.providers_changed.emit()

    def _on_chosen(self) -> None:
        self._settings = replace(
            self._settings,
            theme=str(self._theme.currentData()),
            language=str(self._language_choice.currentData()),
        )
        self.settings_chosen.emit(self._settings)

    def _on_limits(self, chosen: Settings) -> None:
        # Theme and language may have been chosen after that page was made.
        self._settings = replace(chosen, theme=self._settings.theme, language=self._settings.language)
        self.settings_chosen.emit(self._settings)

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._lead.setText(self._language.problem(error.code, **error.details))

    def _mark_providers(self) -> None:
        for row, status in enumerate(self._engine.providers()):
            if row < self.providers.count():
                state = (
                    self._language("provider.ready")
                    if status.ready
                    else self._language.problem(status.problem)
                )
                self.providers.item(row).setText(f"{self._language.provider(status)}\n{state}")

    def _retranslate(self) -> None:
        words = self._language
        self.setWindowTitle(words("settings.title"))
        row = max(0, self.pages.currentRow())
        self.pages.clear()
        self.pages.addItems([words(f"settings.{page}") for page in PAGES])
        self.pages.setCurrentRow(row)
        self.pages.setAccessibleName(words("settings.title"))
        self.providers.setAccessibleName(words("settings.providers"))
        self._lead.setText(words("settings.providers.text"))
        self._add.setText(words("provider.add"))
        self._theme_label.setText(words("settings.theme"))
        self._language_label.setText(words("settings.language"))
        settings = self._settings
        _offer(self._theme, [(words(f"settings.theme.{name}"), name) for name in THEMES], settings.theme)
        languages = [(words(f"settings.language.{name}"), name) for name in ("system", *LANGUAGES)]
        _offer(self._language_choice, languages, settings.language)
        self._theme.setAccessibleName(words("settings.theme"))
        self._language_choice.setAccessibleName(words("settings.language"))
        self._data_text.setText(words("settings.data.text"))
        self._data_path.setText(str(self._data_dir))
        self._open_folder.setText(words("settings.data.open"))
        problems = [words.file_problem(problem) for problem in self._engine.problems()]
        self._problems.setText("\n".join([words("settings.data.problems"), *problems]) if problems else "")
        self._close.setText(words("settings.close"))
        self._mark_providers()


def _column(page: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(page)
    column.setContentsMargins(22, 20, 22, 14)
    column.setSpacing(10)
    return column


def _offer(choice: Choice, rows: list[tuple[str, str]], chosen: str) -> None:
    choice.clear()
    for text, value in rows:
        choice.addItem(text, value)
    choice.setCurrentIndex(max(0, choice.findData(chosen)))
