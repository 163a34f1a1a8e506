"""Settings as rows made from the rules of `core/settings.py`, and the page of tools and limits.

A new field is a new row. Its texts are `setting.<name>`, `setting.<name>.hint` if it needs one, and
`setting.<name>.<choice>`.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QLineEdit, QWidget

from app.core.settings import Rule, Settings, rules
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import Choice, TextBox, TickBox, bring_into_sight
from app.gui.widgets.steps import Steps
from app.gui.widgets.text import Paragraph, named, plain_label, say, show_or_hide

NUMBER_WIDTH = 120
MONEY_PLACES = 2
ENGINES = ("duckduckgo", "searxng")
# The longest text of a setting, in characters.
MOST_TEXT = 4_000


def settings_of(page: str) -> list[str]:
    """Return the names of the settings of a page, in order."""
    return [name for name, rule in rules().items() if rule.page == page]


def defaults_of(page: str) -> dict[str, object]:
    """Return the defaults of the settings of a page."""
    return {one.name: one.default for one in fields(Settings) if one.name in settings_of(page)}


class AmountBox(QDoubleSpinBox):
    """A field for a number with its unit; the mouse wheel scrolls the page instead."""

    def __init__(self, rule: Rule, *, whole: bool) -> None:
        super().__init__()
        self.setDecimals(0 if whole else MONEY_PLACES)
        self.setRange(rule.least, rule.most)
        self.setSingleStep(rule.step)
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setFixedWidth(NUMBER_WIDTH)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class SettingRow(QWidget):
    """The row of a setting: name, hint, and a control for its value."""

    changed = Signal(str, object)

    def __init__(self, language: Language, look: Look, name: str, rule: Rule, value: object) -> None:
        super().__init__()
        self.name = name
        self._language, self._rule, self._value = language, rule, value
        self._title, self._hint = Paragraph("setting"), Paragraph("hint")
        self.control: Choice | TickBox | AmountBox | TextBox
        text = isinstance(value, str) and not rule.choices
        if text:
            self.control = box = TextBox(lines=4, most=10, submits=False, longest=MOST_TEXT)
            box.textChanged.connect(lambda: self._on_chosen(box.toPlainText()[:MOST_TEXT]))
        elif isinstance(value, bool):
            self.control = TickBox(look)
            self.control.toggled.connect(self._on_chosen)
        elif rule.choices:
            self.control = choice = Choice(look)
            choice.activated.connect(lambda _row: self._on_chosen(choice.currentData()))
        else:
            whole = isinstance(value, int)
            self.control = AmountBox(rule, whole=whole)
            self.control.valueChanged.connect(
                lambda number: self._on_chosen(int(number) if whole else number)
            )
        self.control.setObjectName(f"setting_{name}")
        if text:
            vbox(self._title, self._hint, 6, self.control, inside=self, margins=(14, 10, 14, 12), spacing=2)
        else:
            hbox(
                (vbox(STRETCH, self._title, self._hint, STRETCH, spacing=2), 1),
                (self.control, 0, Qt.AlignmentFlag.AlignVCenter),
                inside=self,
                margins=(14, 10, 14, 10),
                spacing=18,
            )
        self.retranslate()

    def show_value(self, value: object) -> None:
        """Show the value of the setting."""
        self._value = value
        with QSignalBlocker(self.control):
            if isinstance(self.control, TickBox):
                self.control.setChecked(bool(value))
            elif isinstance(self.control, Choice):
                self.control.setCurrentIndex(max(0, self.control.findData(value)))
                self.control.updateGeometry()
            elif isinstance(self.control, TextBox):
                # Setting the same text again would lose the cursor and the undo history.
                if self.control.toPlainText() != value:
                    self.control.setPlainText(str(value))
            else:
                self.control.setValue(float(str(value)))

    def take_focus(self) -> None:
        """Focus the control and scroll to it."""
        self.control.setFocus(Qt.FocusReason.OtherFocusReason)
        bring_into_sight(self)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        words, key = self._language, f"setting.{self.name}"
        hint = words(f"{key}.hint") if f"{key}.hint" in words.texts else ""
        self._title.setText(words(key))
        show_or_hide(self._hint, hint)
        self.control.setAccessibleName(words(key))
        self.control.setAccessibleDescription(hint)
        if isinstance(self.control, Choice):
            self.control.clear()
            for choice in self._rule.choices:
                self.control.addItem(words(f"{key}.{choice}"), choice)
        elif isinstance(self.control, AmountBox):
            unit = words(f"unit.{self._rule.unit}", amount="#") if self._rule.unit else "#"
            before, _, after = unit.partition("#")
            self.control.setPrefix(before)
            self.control.setSuffix(after)
            self.control.setSpecialValueText(words("setting.no_limit") if self._rule.least == 0 else "")
        self.show_value(self._value)

    def _on_chosen(self, value: object) -> None:
        if value != self._value:
            self._value = value
            self.changed.emit(self.name, value)


class SettingsRows(QFrame):
    """The settings of a page in a card; emits chosen({name: value}) with every change.

    `settings` returns the current settings; `refresh` shows them.
    """

    chosen = Signal(object)

    def __init__(self, language: Language, look: Look, settings: Callable[[], Settings], page: str) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._language, self._look = language, look
        self._settings = settings
        self._page = page
        self._rows: dict[str, SettingRow] = {}
        self._column = vbox(inside=self, spacing=0)
        self._steps = Steps(self, self._build())
        language.changed.connect(self.retranslate)

    @property
    def rows(self) -> dict[str, SettingRow]:
        """The rows by the names of their settings."""
        self._steps.finish()
        return self._rows

    def refresh(self) -> None:
        """Show the current settings."""
        for name, row in self._rows.items():
            row.show_value(getattr(self._settings(), name))

    def _build(self) -> Iterator[None]:
        for name in settings_of(self._page):
            if self._rows:
                line = QFrame()
                line.setProperty("kind", "line")
                line.setFixedHeight(1)
                self._column.addWidget(line)
            value = getattr(self._settings(), name)
            row = SettingRow(self._language, self._look, name, rules()[name], value)
            row.changed.connect(lambda changed, value: self.chosen.emit({changed: value}))
            self._rows[name] = row
            self._column.addWidget(row)
            row.show()
            yield

    def reset(self) -> dict[str, object]:
        """Reset the page to the defaults; return the previous values of the settings that changed."""
        before = {
            name: getattr(self._settings(), name)
            for name, value in defaults_of(self._page).items()
            if getattr(self._settings(), name) != value
        }
        if before:
            self.choose({name: defaults_of(self._page)[name] for name in before})
        return before

    def take_focus(self, name: str) -> None:
        """Focus a setting."""
        self.rows[name].take_focus()

    def choose(self, values: dict[str, object]) -> None:
        """Set and show settings."""
        for name, value in values.items():
            self.rows[name].show_value(value)
        self.chosen.emit(values)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        for row in self._rows.values():
            row.retranslate()


class SettingsPage(QWidget):
    """The base of pages with rows and, beside them, settings that are no rows (`own`); emits chosen({name: value})."""

    chosen = Signal(object)

    def __init__(
        self,
        language: Language,
        look: Look,
        settings: Callable[[], Settings],
        page: str,
        own: tuple[str, ...],
    ) -> None:
        super().__init__()
        self._language, self._settings, self._own = language, settings, own
        self.rows = SettingsRows(language, look, settings, page)
        self.rows.chosen.connect(self.chosen)

    def refresh(self) -> None:
        """Show the current settings."""
        self.rows.refresh()

    def reset(self) -> dict[str, object]:
        """Reset the page to the defaults; return the previous values of the settings that changed."""
        before = self.rows.reset()
        settings, usual = self._settings(), Settings()
        own = {
            name: getattr(settings, name)
            for name in self._own
            if getattr(settings, name) != getattr(usual, name)
        }
        if own:
            self.choose({name: getattr(usual, name) for name in own})
        return before | own

    def choose(self, values: dict[str, object]) -> None:
        """Set and show settings."""
        self.chosen.emit(values)
        self.refresh()

    def take_focus(self, name: str) -> None:
        """Focus a setting."""
        self.rows.take_focus(name)


class LimitsPage(SettingsPage):
    """Shows the search engine and the budget of a message."""

    def __init__(self, language: Language, look: Look, settings: Callable[[], Settings]) -> None:
        super().__init__(language, look, settings, "limits", ("search_engine",))
        self.engine = say(named("limits_engine", Choice(look)), language, name="limits.engine")
        self.address = say(
            named("limits_address", QLineEdit()),
            language,
            name="limits.engine.searxng",
            hint="limits.address.hint",
        )
        self.problem = plain_label("error")
        self._title = say(plain_label("field"), language, "limits.title")
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
        language.changed.connect(self.retranslate)
        self.refresh()

    def refresh(self) -> None:
        engine = self._settings().search_engine
        own = engine.startswith("http")
        self.address.setText(engine if own else "")
        self.address.setVisible(own)
        self.problem.hide()
        super().refresh()
        self.retranslate()
        self.engine.setCurrentIndex(1 if own else 0)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
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
