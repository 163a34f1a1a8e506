"""Tools and limits in the settings: where the web is searched, and what one message may cost."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.settings import Settings
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.settings.settings_rows import SettingsRows
from app.gui.widgets.boxes import Stretch, hbox, vbox
from app.gui.widgets.controls import Choice
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named, say

ENGINES = ("duckduckgo", "searxng")


class LimitsPage(QWidget):
    """Shows the search engine and the budget of a message; emits chosen({name: value})."""

    chosen = Signal(object)

    def __init__(self, language: Language, look: Look, settings: Callable[[], Settings]) -> None:
        super().__init__()
        self._language, self._settings = language, settings
        self.engine = say(named("limits_engine", Choice(look)), language, name="limits.engine")
        self.address = say(
            named("limits_address", QLineEdit()),
            language,
            name="limits.engine.searxng",
            hint="limits.address.hint",
        )
        self.problem = plain_label("error")
        self._title = say(plain_label("field"), language, "limits.title")
        self.rows = SettingsRows(language, look, settings, "limits")
        vbox(
            say(plain_label("field"), language, "limits.engine"),
            hbox(self.engine, (self.address, 1), Stretch(0)),
            self.problem,
            6,
            self._title,
            say(Paragraph("hint"), language, "limits.text"),
            self.rows,
            inside=self,
            spacing=8,
        )
        self.engine.activated.connect(self._on_engine)
        self.address.editingFinished.connect(self._on_address)
        self.rows.chosen.connect(self.chosen)
        language.changed.connect(self.retranslate)
        self.refresh()

    def refresh(self) -> None:
        """Show the settings as they are now."""
        engine = self._settings().search_engine
        own = engine.startswith("http")
        self.address.setText(engine if own else "")
        self.address.setVisible(own)
        self.problem.hide()
        self.rows.refresh()
        self.retranslate()
        self.engine.setCurrentIndex(1 if own else 0)

    def reset(self) -> dict[str, object]:
        """Make everything here what it was at first, and return what each was that differed."""
        before = self.rows.reset()
        if self._settings().search_engine != Settings().search_engine:
            before["search_engine"] = self._settings().search_engine
            self.choose({"search_engine": Settings().search_engine})
        return before

    def choose(self, values: dict[str, object]) -> None:
        """Make settings what they are to be, and show it."""
        self.chosen.emit(values)
        self.refresh()

    def take_focus(self, name: str) -> None:
        """Go to a setting."""
        self.rows.take_focus(name)

    def retranslate(self) -> None:
        """Draw every word anew."""
        words, row = self._language, max(0, self.engine.currentIndex())
        self.engine.clear()
        for name in ENGINES:
            self.engine.addItem(words(f"limits.engine.{name}"), name)
        self.engine.setCurrentIndex(row)

    def _on_engine(self) -> None:
        own = self.engine.currentData() == ENGINES[1]
        self.address.setVisible(own)
        if own:
            self.address.setFocus()
            self._on_address()
        else:
            self.problem.hide()
            self._keep(ENGINES[0])

    def _on_address(self) -> None:
        address = self.address.text().strip()
        wrong = bool(address) and not address.startswith(("http://", "https://"))
        self.problem.setText(self._language("limits.address.wrong"))
        self.problem.setVisible(wrong)
        if address and not wrong:
            self._keep(address)

    def _keep(self, engine: str) -> None:
        if engine != self._settings().search_engine:
            self.chosen.emit({"search_engine": engine})
