"""The base of the editors of assistants, groups and workflows, which save automatically, a moment after a change."""

from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from PySide6.QtCore import Qt, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from app.core.store import Definition
from app.gui.display.appearance import Language
from app.gui.widgets.text import show_as

SAVE_AFTER_MS = 700
KINDS = {"assistant.saving": "hint", "assistant.saved": "ok", "assistant.not_saved": "error"}


class SaveState(QLabel):
    """Shows the progress of saving; emits `due` when it is time to save.

    `unsaved`: there are changes not yet given to be saved, or that could not be. `saving`: how often they are being saved.
    """

    due = Signal()

    def __init__(self, language: Language, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._language = language
        self._key = ""
        self.unsaved = False
        self.saving = 0
        self._timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._timer.timeout.connect(self.due)
        language.changed.connect(lambda: self._say(self._key))

    def touch(self) -> None:
        """Note a change."""
        self.unsaved = True
        self._timer.start()
        self._say("assistant.saving")

    def take(self) -> bool:
        """Return whether there are changes to save, and count them as given to be saved."""
        self._timer.stop()
        was, self.unsaved = self.unsaved, False
        self.saving += was
        return was

    def show_saved(self) -> None:
        """Say that everything is saved, unless there are new changes."""
        self.saving -= 1
        if not (self.unsaved or self.saving):
            self._say("assistant.saved")

    def show_failed(self) -> None:
        """Say that it is not saved; the reason stands beside a field."""
        self.saving, self.unsaved = max(0, self.saving - 1), True
        self._say("assistant.not_saved")

    def start_over(self) -> None:
        """Clear: what is shown has not been edited here."""
        self._timer.stop()
        self.unsaved, self.saving = False, 0
        self._say("")

    def _say(self, key: str) -> None:
        self._key = key
        show_as(self, KINDS.get(key, "hint"), self._language(key) if key else "")


class DefinitionEditor(QWidget, Generic[Definition]):
    """Shows a definition; a moment after a change emits save_requested(as it was shown, as edited, anyway).

    `anyway` is whether the user's change goes before one of the same field that somebody else has made. Subclasses
    return the edited definition from `written` and show errors; `named` is the field for the name.
    """

    save_requested = Signal(object, object, bool)
    chat_requested = Signal(str)
    share_requested = Signal(str)
    duplicate_requested = Signal(str)
    named: QLineEdit

    def __init__(self, language: Language, name: str) -> None:
        super().__init__()
        self._language = language
        self._definition: Definition | None = None
        self.state = SaveState(language, name)
        self.state.due.connect(lambda: self.save_now())

    def asking(self, signal: SignalInstance) -> Callable[[], None]:
        """Return what a button calls that emits a signal with the id of the definition shown."""
        return lambda: signal.emit(self.definition_id)

    @property
    def definition_id(self) -> str:
        """The id of the definition that is shown, "" for none."""
        return self._definition.id if self._definition is not None else ""

    def written(self) -> Definition | None:
        """Return the edited definition, None if it has an error, which is shown beside its field."""
        raise NotImplementedError

    def show_error(self, field: str, text: str) -> None:
        """Show an error beside a field, "" for none."""
        raise NotImplementedError

    def show_stored(self, definition: Definition) -> None:
        """Show the definition as it is stored now, in place of what is written here."""
        raise NotImplementedError

    def name_it(self) -> None:
        """Focus the name, with its text selected."""
        self.named.setFocus(Qt.FocusReason.OtherFocusReason)
        self.named.selectAll()

    def save_now(self, *, anyway: bool = False) -> None:
        """Request saving of unsaved changes."""
        if self._definition is None or not self.state.take():
            return
        written: Definition | None = self.written()
        if written is None:
            self.state.show_failed()
        elif self._differs(written):
            self.save_requested.emit(self._definition, written, anyway)
        else:
            self.state.show_saved()

    def show_saved(self, saved: Definition, shown: Definition) -> None:
        """Note that what is written here is saved, and show it with the changes of others, which `shown` does not have."""
        # What was shown anew meanwhile does not have what was written.
        if saved.id == self.definition_id and self.state.saving:
            self._definition = shown
            self.state.show_saved()
            if self._is_changed_elsewhere(saved):
                self.show_stored(saved)

    def use_stored(self, definition: Definition) -> None:
        """Give up what is written here, if it is this definition, for what is stored."""
        if definition.id == self.definition_id:
            self.state.start_over()
            self.show_stored(definition)

    def show_failure(self, definition_id: str, text: str, field: str) -> None:
        """Show beside a field why a definition could not be saved; "" where the user is asked."""
        if definition_id == self.definition_id:
            if text:
                self.show_error(field, text)
            self.state.show_failed()

    def _is_changed_elsewhere(self, definition: Definition) -> bool:
        """Say whether the definition was changed elsewhere while nothing is being edited here."""
        return self._differs(definition) and not (self.state.unsaved or self.state.saving)

    def _differs(self, definition: Definition) -> bool:
        assert self._definition is not None
        return replace(definition, version=self._definition.version) != self._definition
