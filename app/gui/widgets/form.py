"""Forms as data: a field says what takes its value, what it is called, and what of a record it shows.

A form makes a row of each field: its label, control, help, and what is wrong with the value. Long pages are
built in steps. Editors of definitions save automatically, a moment after a change.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Generic, NamedTuple, Self

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, QSignalBlocker, Qt, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QDoubleSpinBox, QSlider, QSpinBox

from app.core.session import Definition
from app.gui.display.appearance import Language, tall
from app.gui.tasks import timer
from app.gui.widgets import boxes
from app.gui.widgets.boxes import STRETCH, Frame, Part, Stretch, hbox, vbox
from app.gui.widgets.choices import ChipList
from app.gui.widgets.controls import Choice, TextBox, TickBox
from app.gui.widgets.model_choice import ModelChoice
from app.gui.widgets.text import Paragraph, plain_label, say, set_shown, show_as, show_or_hide

# A turn of the event loop begins no further step after this time.
TURN_S = 0.002


class Steps(QObject):
    """Runs a generator step by step: up to its first `yield` at once, the others in the next turns
    of the event loop.

    It ends with its owner. `finish` runs what is left at once, for code that needs the whole.
    """

    def __init__(self, owner: QObject, work: Iterator[None]) -> None:
        super().__init__(owner)
        self._work = work
        self._running = self.is_done = False
        self._turn = timer(self, 0, self._on_turn, once=True)
        self._step()
        if not self.is_done:
            self._turn.start()

    def finish(self) -> None:
        """Run what is left; nothing if called by a step."""
        while not (self.is_done or self._running):
            self._step()

    def _on_turn(self) -> None:
        until = time.perf_counter() + TURN_S
        while not self.is_done:
            self._step()
            if time.perf_counter() >= until:
                break
        if not self.is_done:
            self._turn.start()

    def _step(self) -> None:
        self._running = True
        # Also after an error nothing is left to run.
        self.is_done = True
        try:
            next(self._work)
            self.is_done = False
        except StopIteration:
            self._turn.stop()
        finally:
            self._running = False


NARROW = 560


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form; all its texts are keys of the catalogue."""

    # What the form and the record call it.
    name: str
    # What takes the value: a widget of one of the `KINDS`.
    control: Any
    _: KW_ONLY
    # The attributes of the record that it shows together, as a tuple, if it is not the one with its name.
    of: tuple[str, ...] = ()
    # Make the value of a record, and the attributes of the record of a value, where these are not the same.
    get: Callable[[Any], Any] | None = None
    put: Callable[[Any], Mapping[str, Any]] | None = None
    # Whether its row is shown; asked again after each change.
    shown_when: Callable[[], object] | None = None
    # Whether a value can be accepted, any but None if nothing is said, and the text that says why not.
    fits: Callable[[Any], object] = lambda value: value is not None
    error: str = ""
    # Over the control; it is also the control's name for screen readers, if `says` is none.
    label: str = ""
    says: str = ""
    # On the control itself.
    text: str = ""
    # In the control while it is empty.
    hint: str = ""
    # The help under the control, or over it.
    help: str = ""
    leads: bool = False
    # What a drop-down list offers: values with their texts.
    options: Sequence[tuple[Any, str]] = ()
    # What stands beside the control, and under the row.
    beside: tuple[QtWidgets.QWidget, ...] = ()
    under: tuple[QtWidgets.QWidget, ...] = ()
    # The share of a line that it has beside others.
    share: int = 1
    # Whether control and help stand in a card.
    card: bool = False

    def value(self, record: object) -> Any:
        """Return the value that a record has here."""
        if self.get is not None:
            return self.get(record)
        return tuple(getattr(record, name) for name in self.of) if self.of else getattr(record, self.name)

    def attributes(self) -> Mapping[str, Any]:
        """Return the attributes of a record that have the value in the control."""
        value = value_of(self.control)
        if self.put is not None:
            return self.put(value)
        return dict(zip(self.of, value, strict=True)) if self.of else {self.name: value}


class Kind(NamedTuple):
    """How a kind of control is read, filled and made read-only, and the signal that tells of a change."""

    read: Callable[[Any], Any]
    show: Callable[[Any, Any], None]
    fix: Callable[[Any, bool], None]
    changed: str


def _read_line(line: QtWidgets.QLineEdit) -> str:
    # Blanks belong to a password.
    return line.text() if line.echoMode() == QtWidgets.QLineEdit.EchoMode.Password else line.text().strip()


def _show_line(line: QtWidgets.QLineEdit, text: str) -> None:
    line.setText(text)
    line.setCursorPosition(0)


KINDS: dict[type[QtWidgets.QWidget], Kind] = {
    QtWidgets.QLineEdit: Kind(_read_line, _show_line, QtWidgets.QLineEdit.setReadOnly, "textChanged"),
    TextBox: Kind(TextBox.text, TextBox.setPlainText, TextBox.setReadOnly, "textChanged"),
    TickBox: Kind(TickBox.isChecked, TickBox.setChecked, TickBox.setDisabled, "toggled"),
    QSpinBox: Kind(QSpinBox.value, QSpinBox.setValue, QSpinBox.setReadOnly, "valueChanged"),
    QDoubleSpinBox: Kind(
        lambda box: box.value(), QDoubleSpinBox.setValue, QDoubleSpinBox.setReadOnly, "valueChanged"
    ),
    QSlider: Kind(QSlider.value, QSlider.setValue, QSlider.setDisabled, "valueChanged"),
    Choice: Kind(Choice.value, Choice.choose, Choice.setDisabled, "currentTextChanged"),
    ModelChoice: Kind(
        ModelChoice.chosen, lambda box, pair: box.show_model(*pair), ModelChoice.set_fixed, "changed"
    ),
    ChipList: Kind(ChipList.chosen, ChipList.show_chosen, ChipList.set_fixed, "changed"),
    # Any other control does this itself.
    QtWidgets.QWidget: Kind(
        lambda box: box.value(),
        lambda box, value: box.show_value(value),
        lambda box, fixed: box.set_fixed(fixed),
        "changed",
    ),
}


def kind_of(control: QtWidgets.QWidget) -> Kind:
    """Return the kind of a control: that of the nearest class it is made from."""
    return next(KINDS[base] for base in type(control).__mro__ if base in KINDS)


def value_of(control: QtWidgets.QWidget) -> Any:
    """Return the value of a control."""
    return kind_of(control).read(control)


class Row(QtWidgets.QWidget):
    """A field in its form: its label, control, help, and what is wrong with the value."""

    def __init__(self, language: Language, field: Field, spacing: int, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.error = plain_label("error", wrap=True)
        self.error.hide()
        self._lay_out(language, field, spacing)

    def _lay_out(self, language: Language, field: Field, spacing: int) -> None:
        parts: list[Part] = [hbox((field.control, 1), *field.beside) if field.beside else field.control]
        if field.help:
            parts.insert(0 if field.leads else 1, say(Paragraph("hint"), language, field.help))
        if field.card:
            # With a parent from the start: in a window of its own it would leave the order of Tab.
            card = Frame("card", parent=self)
            vbox(*parts, *field.under, inside=card, margins=(12, 11, 12, 11), spacing=9)
            parts = [card, self.error, STRETCH]
        else:
            parts += [self.error, *field.under]
        if field.label:
            label = say(plain_label("field", wrap=True), language, field.label)
            label.setBuddy(field.control)
            parts.insert(0, label)
        vbox(*parts, inside=self, spacing=spacing)


Line = Field | tuple[Field, ...] | Part


class Form(QtWidgets.QFrame):
    """Shows the fields of a record; emits changed(name) when the user has changed the value of a field.

    A line is a field, several that stand side by side where they fit, or another part of a layout; `inner`
    are fields whose controls stand in such a part. `lay_out` makes the rows; `spacing` is between them, `gap`
    within them. A field without a text has that of the key `labels`, a dot and its name as its label.
    """

    changed = Signal(str)
    ROW: type[Row] = Row

    def __init__(
        self,
        language: Language,
        *lines: Line,
        inner: Sequence[Field] = (),
        labels: str = "",
        spacing: int = 10,
        gap: int = 5,
    ) -> None:
        super().__init__()
        self._language, self._lines, self._labels, self._gap = language, lines, labels, gap
        self.fields: dict[str, Field] = {}
        self._rows: dict[str, Row] = {}
        self._values: dict[str, Any] = {}
        self._fixed = False
        self._width = 0
        self._across: list[QtWidgets.QBoxLayout] = []
        self._steps: Steps | None = None
        self._column = vbox(inside=self, spacing=spacing)
        for field in (*(field for line in lines for field in _fields_of(line)), *inner):
            self._add(field)
        language.follow(self._retranslate)

    @property
    def rows(self) -> Mapping[str, Row]:
        """The rows by the names of their fields."""
        if self._steps is not None:
            self._steps.finish()
        return self._rows

    @property
    def complete(self) -> bool:
        """Whether all values can be accepted."""
        return all(field.fits(value_of(field.control)) for field in self.fields.values())

    def lay_out(self) -> Self:
        """Make all rows; return the form."""
        for _ in self._build():
            pass
        return self

    def lay_out_in_steps(self) -> None:
        """Make the first line of rows now, and the others in the next turns of the event loop."""
        # Tab follows the order of the fields, also while some have no row yet.
        waiting = QtWidgets.QWidget(self)
        waiting.hide()
        for line in self._lines:
            for field in _fields_of(line):
                for widget in (field.control, *field.beside, *field.under):
                    widget.setParent(waiting)
            if isinstance(line, QtWidgets.QWidget):
                line.setParent(waiting)
        self._steps = Steps(self, self._build())

    def fill(self, record: object, *, fixed: bool = False) -> None:
        """Show a record, without anything wrong; `fixed` makes the form read-only."""
        self._fixed = fixed
        for name, field in self.fields.items():
            self.show_field(name, field.value(record))
        for row in self._rows.values():
            row.error.hide()
        self._show_hints()
        self.show_rows()

    def show_field(self, name: str, value: object) -> None:
        """Show the value of a field; this is no change of the user's."""
        control = self.fields[name].control
        with QSignalBlocker(self):
            kind_of(control).show(control, value)
            kind_of(control).fix(control, self._fixed)
        self._values[name] = value_of(control)

    def values(self) -> dict[str, Any]:
        """Return what is entered, as attributes of the record."""
        return {name: value for field in self.fields.values() for name, value in field.attributes().items()}

    def check(self) -> bool:
        """Show beside each field why its value cannot be accepted; return whether all can."""
        for name in self.rows:
            field = self.fields[name]
            value = value_of(field.control)
            wrong = field.error and not field.fits(value)
            self.show_error(name, self._language(field.error) if wrong else "")
        return self.complete

    def show_error(self, name: str, text: str) -> None:
        """Show beside a field what is wrong with it, "" for nothing."""
        show_or_hide(self.rows[name].error, text)

    def show_rows(self) -> None:
        """Show the rows that are to be shown now, and hide the others."""
        for name, row in self._rows.items():
            self._show_row(row, self.fields[name])

    def _show_row(self, row: Row, field: Field) -> None:
        set_shown(row, field.shown_when is None or bool(field.shown_when()))

    def fit(self, width: int) -> None:
        """Lay out side by side what fits into `width` pixels.

        The form's own width cannot be used: the parts side by side keep it wide.
        """
        self._width = width
        for line in self._across:
            parts = [boxes.least_size(part).width() for part in boxes.widgets_in(line) if not part.isHidden()]
            least = max(tall(NARROW), sum(parts) + line.spacing() * (len(parts) - 1))
            boxes.set_across(line, width >= least)

    def _add(self, field: Field) -> None:
        if self._labels and not (field.label or field.says or field.text):
            field = replace(field, label=f"{self._labels}.{field.name}")
        self.fields[field.name] = field
        spoken = _spoken(field.control)
        # What holds several controls is no stop of its own.
        stops = spoken.focusPolicy() != Qt.FocusPolicy.NoFocus
        say(spoken, self._language, field.text, name=(field.says or field.label) if stops else "")
        changed: SignalInstance = getattr(field.control, kind_of(field.control).changed)
        changed.connect(partial(self._on_change, field.name))

    def _row(self, name: str) -> Row:
        field = self.fields[name]
        row = self._rows[name] = self.ROW(self._language, field, self._gap, self)
        self._show_row(row, field)
        return row

    def _build(self) -> Iterator[None]:
        for line in self._lines:
            fields = _fields_of(line)
            part: Any = self._row(fields[0].name) if len(fields) == 1 else line
            if len(fields) > 1:
                part = vbox(*((self._row(field.name), field.share) for field in fields), spacing=14)
                self._across.append(part)
            boxes.add_to(self._column, part)
            if self._width:
                self.fit(self._width)
            yield

    def _on_change(self, name: str, *_values: object) -> None:
        value = value_of(self.fields[name].control)
        if value != self._values.get(name):
            self._values[name] = value
            self.show_rows()
            self.changed.emit(name)

    def _show_hints(self) -> None:
        """Show in empty fields what they take, unless they are read-only."""
        for field in self.fields.values():
            spoken = _spoken(field.control)
            if field.hint and isinstance(spoken, QtWidgets.QLineEdit | QtWidgets.QPlainTextEdit):
                spoken.setPlaceholderText("" if self._fixed else self._language(field.hint))

    def _retranslate(self) -> None:
        words = self._language
        for field in self.fields.values():
            if field.help:
                _spoken(field.control).setAccessibleDescription(words(field.help))
            if isinstance(field.control, ChipList):
                field.control.set_words(words(field.label), words(field.hint))
            if field.options:
                field.control.offer((value, words(key)) for value, key in field.options)
        self._show_hints()


class Sentence(QtWidgets.QWidget):
    """Controls within a text, where they stand for its `{}`."""

    def __init__(self, language: Language, key: str, *controls: QtWidgets.QWidget, spacing: int = 6) -> None:
        super().__init__()
        self._language, self._key = language, key
        self._labels = [plain_label("hint") for _ in range(len(controls) + 1)]
        self._line = hbox(inside=self, spacing=spacing)
        before, *after = self._labels
        for place, (control, label) in enumerate(zip(controls, after, strict=True)):
            first = [] if place else [before]
            self._line.addLayout(hbox(*first, control, label, Stretch(0), spacing=spacing))
        self._line.addStretch(1)
        language.follow(self._retranslate)

    def set_across(self, across: bool) -> None:
        """Lay the controls out side by side, or one below the other."""
        boxes.set_across(self._line, across)

    def show_text(self, key: str) -> None:
        """Show another text."""
        self._key = key
        self._retranslate()

    def _retranslate(self) -> None:
        if self._key:
            for label, text in zip(self._labels, self._language(self._key).split("{}"), strict=True):
                show_or_hide(label, text.strip())


def _fields_of(line: Line) -> Sequence[Field]:
    if isinstance(line, tuple):
        return [field for field in line if isinstance(field, Field)]
    return [line] if isinstance(line, Field) else []


def _spoken(control: Any) -> QtWidgets.QWidget:
    """Return the widget that a screen reader is told of: the one that takes the focus for a control."""
    spoken: QtWidgets.QWidget = control.focusProxy() or control
    return spoken


SAVE_KINDS = {"assistant.saving": "hint", "assistant.saved": "ok", "assistant.not_saved": "error"}


class SaveState(QtWidgets.QLabel):
    """Shows the progress of saving; emits `due` when it is time to save.

    `unsaved`: there are changes not yet given to be saved, or that could not be. `saving`: how often they are
    being saved.
    """

    def __init__(self, language: Language, name: str) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self.setObjectName(name)
        self._language = language
        self._key = ""
        self.unsaved = False
        self.saving = 0
        self._timer = QTimer(self, singleShot=True, interval=700)
        self.due = self._timer.timeout
        language.changed.connect(self._say_again)

    def _say_again(self) -> None:
        self._say(self._key)

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
        show_as(self, SAVE_KINDS.get(key, "hint"), self._language(key) if key else "")


class DefinitionEditor(QtWidgets.QWidget, Generic[Definition]):
    """Shows a definition; a moment after a change emits save_requested(as it was shown, as edited, anyway).

    `anyway` is whether the user's change goes before one of the same field that somebody else has made.
    Subclasses return the edited definition from `written` and show errors; `named` is the field for the name.
    """

    save_requested = Signal(object, object, bool)
    chat_requested = Signal(str)
    share_requested = Signal(str)
    duplicate_requested = Signal(str)
    named: QtWidgets.QLineEdit

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
        """Note that what is written here is saved, and show it with the changes of others,
        which `shown` does not have.
        """
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
