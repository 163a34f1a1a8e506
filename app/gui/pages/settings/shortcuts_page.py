"""Shortcuts in the settings: every command with its keys, which can be changed."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.core.settings import Settings
from app.gui.commands import COMMANDS, PORTABLE, QUICK, Command, chosen_keys, kept_shortcuts, written
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import frame, hbox, vbox
from app.gui.widgets.controls import bring_into_sight, button, icon_button
from app.gui.widgets.form import Steps
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_label, restyle, say, show_or_hide

KEYS_WIDTH = 150
# Keys a text box needs for itself.
WRITING = (
    QKeySequence.StandardKey.Copy,
    QKeySequence.StandardKey.Cut,
    QKeySequence.StandardKey.Paste,
    QKeySequence.StandardKey.SelectAll,
    QKeySequence.StandardKey.Undo,
    QKeySequence.StandardKey.Redo,
)
# All other keys write text, or have a meaning for the focused widget.
COMMANDING = re.compile(r"(Ctrl|Alt|Meta)\+|^(Shift\+)?F\d+$")
# Keys that cannot be changed, with the <name> of their text `keys.<name>`.
FIXED = (
    ("Return", "send"),
    ("Shift+Return", "line"),
    ("Esc", "stop"),
    ("Del", "delete"),
    ("Alt+Up", "up"),
    ("Alt+Down", "down"),
)


class KeysBox(QKeySequenceEdit):
    """Records one key combination; Escape cancels, Backspace removes the keys."""

    given = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setMaximumSequenceLength(1)
        self.setFixedWidth(KEYS_WIDTH)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if plain and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif plain and event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self.given.emit("")
        else:
            super().keyPressEvent(event)
            keys = self.keySequence().toString(PORTABLE)
            if keys:
                self.clear()
                self.given.emit(keys)


class ShortcutRow(QWidget):
    """The row of a command; emits given(name, keys) with new keys."""

    given = Signal(str, str)

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self._language, self.name = language, name
        self._title, self.problem = ElidedLabel("name"), plain_label("error", wrap=True)
        self._note = plain_label("hint", wrap=True)
        self.keys = button("", f"keys_{name}", self._on_asked)
        self.keys.setFixedWidth(KEYS_WIDTH)
        self.reset = icon_button(look, "rotate-ccw", f"reset_{name}")
        self._both = QStackedWidget()
        self._both.setFixedWidth(KEYS_WIDTH)
        self._both.addWidget(self.keys)
        head = hbox((self._title, 1), self.reset, self._both, spacing=8)
        vbox(head, self._note, self.problem, inside=self, margins=(14, 5, 14, 5), spacing=2)
        self.problem.hide()
        self._note.hide()

    @cached_property
    def box(self) -> KeysBox:
        """What records the keys; made when they are first changed, for there are many rows."""
        made = say(KeysBox(), self._language, name="keys.press")
        self._both.addWidget(made)
        QWidget.setTabOrder(self.keys, made)
        made.left.connect(self.leave)
        made.given.connect(lambda keys: self.given.emit(self.name, keys))
        made.editingFinished.connect(self.leave)
        return made

    def show_keys(self, keys: str, *, first: bool) -> None:
        """Show the keys; `first` if they are the defaults."""
        words = self._language
        title = words(f"palette.{self.name}")
        self._title.setText(title)
        self.keys.setText(written(keys) or words("keys.none"))
        self.keys.setAccessibleName(words("keys.of", command=title, keys=self.keys.text()))
        self.keys.setToolTip(words("keys.change"))
        name_button(self.reset, words("keys.reset", command=title))
        self.reset.setVisible(not first)

    def say(self, text: str) -> None:
        """Show why keys were refused."""
        show_or_hide(self.problem, text)

    def note(self, text: str, *, fails: bool) -> None:
        """Say under the command where its keys work; `fails` if they do not."""
        restyle(self._note, kind="error" if fails else "hint")
        show_or_hide(self._note, text)

    def leave(self) -> None:
        """End recording, and show the keys again."""
        if self._both.currentWidget() is not self.keys:
            had_focus = self.box.hasFocus()
            self._both.setCurrentWidget(self.keys)
            if had_focus:
                self.keys.setFocus()

    def _on_asked(self) -> None:
        self.say("")
        self.box.clear()
        self._both.setCurrentWidget(self.box)
        self.box.setFocus()


class ShortcutsPage(QWidget):
    """Lists the commands with their keys; emits chosen({"shortcuts": …}) with every change."""

    chosen = Signal(object)

    def __init__(self, language: Language, look: Look, settings: Callable[[], Settings]) -> None:
        super().__init__()
        self._language, self._look, self._settings = language, look, settings
        self._keys = chosen_keys(settings().shortcuts)
        self._quick_note = ("", False)
        self._rows: dict[str, ShortcutRow] = {}
        self._fixed: dict[str, QLabel] = {}
        self._column = vbox(say(Paragraph("card_text"), language, "keys.text"), inside=self, spacing=10)
        self._steps = Steps(self, self._build())
        language.changed.connect(self.retranslate)

    @property
    def rows(self) -> dict[str, ShortcutRow]:
        """The rows by the names of their commands."""
        self._steps.finish()
        return self._rows

    def note_quick(self, text: str, *, fails: bool) -> None:
        """Say where the keys of the quick chat work; `fails` if they do not."""
        self._quick_note = text, fails
        if QUICK in self._rows:
            self._rows[QUICK].note(text, fails=fails)

    def _build(self) -> Iterator[None]:
        lines = self._add_card()
        for one in COMMANDS:
            row = self._rows[one.name] = ShortcutRow(self._language, self._look, one.name)
            row.given.connect(self._on_given)
            row.reset.clicked.connect(lambda _on=False, name=one.name: self._on_reset(name))
            self._show_keys(one)
            if one.name == QUICK:
                row.note(self._quick_note[0], fails=self._quick_note[1])
            lines.addWidget(row)
            row.show()
            yield
        self._column.addSpacing(6)
        self._column.addWidget(say(plain_label("field"), self._language, "keys.fixed"))
        lines = self._add_card()
        for keys, name in FIXED:
            label = say(plain_label("hint"), self._language, f"keys.{name}")
            shown = self._fixed[keys] = plain_label("hint", text=written(keys))
            lines.addLayout(hbox((label, 1), shown, margins=(14, 4, 14, 4)))
            yield

    def _add_card(self) -> QVBoxLayout:
        """Add an empty card; return the layout of its lines."""
        lines = vbox(margins=(0, 6, 0, 6), spacing=0)
        self._column.addWidget(frame("card", lines))
        return lines

    def refresh(self) -> None:
        """Show the current keys."""
        self._keys = chosen_keys(self._settings().shortcuts)
        self.retranslate()

    def reset(self) -> dict[str, object]:
        """Reset all keys to the defaults; return the previous choice."""
        before = self._settings().shortcuts
        if before:
            self.choose({"shortcuts": ()})
        return {"shortcuts": before} if before else {}

    def choose(self, values: dict[str, object]) -> None:
        """Set and show the shortcuts."""
        lines = values["shortcuts"]
        assert isinstance(lines, tuple)
        self._keys = chosen_keys(lines)
        for row in self._rows.values():
            row.say("")
        self.retranslate()
        self.chosen.emit(values)

    def take_focus(self, name: str) -> None:
        """Focus a command."""
        self.rows[name].keys.setFocus(Qt.FocusReason.OtherFocusReason)
        bring_into_sight(self.rows[name])

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        for one in COMMANDS:
            if one.name in self._rows:
                self._show_keys(one)
        for keys, shown in self._fixed.items():
            shown.setText(written(keys))

    def _show_keys(self, command: Command) -> None:
        keys = self._keys[command.name]
        self._rows[command.name].show_keys(keys, first=keys == command.keys)

    def _on_given(self, name: str, keys: str) -> None:
        row = self.rows[name]
        problem = self._problem(name, keys)
        row.say(problem)
        row.leave()
        if not problem:
            self._keys[name] = keys
            self.choose({"shortcuts": kept_shortcuts(self._keys)})

    def _on_reset(self, name: str) -> None:
        keys = next(one.keys for one in COMMANDS if one.name == name)
        self._on_given(name, keys)
        self.rows[name].keys.setFocus()

    def _problem(self, name: str, keys: str) -> str:
        """Return why a command cannot have these keys, "" if it can."""
        words, wanted = self._language, QKeySequence(keys, PORTABLE)
        if not keys:
            return ""
        other = next((one for one, taken in self._keys.items() if taken == keys and one != name), "")
        if other:
            return words("keys.taken", keys=written(keys), command=words(f"palette.{other}"))
        if any(one.name == name and one.keys == keys for one in COMMANDS):
            return ""
        own = {written(fixed) for fixed, _name in FIXED}
        standard = any(wanted in QKeySequence.keyBindings(one) for one in WRITING)
        if not COMMANDING.search(keys) or standard or written(keys) in own:
            return words("keys.writing", keys=written(keys))
        return ""
