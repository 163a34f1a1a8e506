"""The card of a form that an MCP server puts to the user: all fields at once, each checked."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest

from PySide6.QtCore import QDate, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLayout, QLineEdit, QWidget

from app.core.bare_links import bare_links
from app.core.forms import FieldKind, FormField, form_text, problem_of
from app.core.message import Message
from app.core.text import exact, visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import ENTER
from app.gui.widgets.controls import Choice, IconButton, WrappedTick, button, icon_button, name_button
from app.gui.widgets.label import plain_label, show_or_hide
from app.gui.widgets.question_card import PromptCard

_EXAMPLES = {
    FieldKind.EMAIL: "name@example.org",
    FieldKind.URI: "https://example.org",
    FieldKind.DATE_TIME: "2026-11-23T14:30",
}


class FormCard(PromptCard):
    """Asks for the values of fields; optional ones may stay empty. Skip dismisses it.

    Emits written(text) with the values so far, without hidden ones, when one changes, and link_requested(address) of a link
    in its texts.
    """

    written = Signal(str)
    link_requested = Signal(str)

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        assert message.prompt is not None
        super().__init__(language, look, message, "circle-question-mark", message.prompt.question)
        self._warning = plain_label("warn", wrap=True)
        self._warning.setVisible(any(field.hidden for field in message.prompt.fields))
        self.column.addWidget(self._warning)
        self.fields = tuple(FieldRow(language, look, one) for one in message.prompt.fields)
        for row in self.fields:
            self.column.addWidget(row)
            row.changed.connect(lambda: self.written.emit(self._text()))
        texts = [
            visible(one) for one in (message.prompt.question, *(one.detail for one in message.prompt.fields))
        ]
        found = dict.fromkeys(text[begin:end] for text in texts for begin, end in bare_links(text))
        # A link says its address itself: texts of servers are shown as they are.
        for number, address in enumerate(found):
            link = button("link", f"form_link_{number}", partial(self.link_requested.emit, address))
            link.setText(address.replace("&", "&&"))
            self.column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        self._answer = button("primary", "prompt_answer", self._on_answer)
        self._skip = button("plain", "prompt_skip", self.dismissed)
        self.column.addSpacing(2)
        self.column.addLayout(hbox(self._answer, self._skip, STRETCH, spacing=6))
        if self.fields:
            self.setFocusProxy(self.fields[0].first)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def write(self, text: str) -> None:
        """Show unfinished values, as `written` told them; "" for none."""
        if not text or text == self._text():
            return
        values = json.loads(text)
        for row in self.fields:
            if not row.field.hidden:
                row.write(values.get(row.field.key, ()))

    def _text(self, *, hidden: bool = False) -> str:
        """Return the values, the `hidden` ones only for the answer: a draft is saved."""
        rows = (row for row in self.fields if hidden or not row.field.hidden)
        return form_text({row.field.key: row.values() for row in rows})

    def _retranslate(self) -> None:
        assert self.message.prompt is not None
        self._warning.setText(self._language("form.secret", server=exact(self.message.prompt.server)))
        self._answer.setText(self._language("prompt.answer"))
        self._skip.setText(self._language("prompt.skip"))

    def _take_key(self, event: QKeyEvent) -> bool:
        if event.key() in ENTER:
            self._on_answer()
            return True
        return False

    def _on_answer(self) -> None:
        wrong = [row for row in self.fields if not row.check()]
        self.updateGeometry()
        if wrong:
            wrong[0].first.setFocus()
        elif self._answer.isEnabled():
            # Only the first Enter answers.
            self._answer.setEnabled(False)
            self.answered.emit(self._text(hidden=True))


class FieldRow(QWidget):
    """A field: its label, what takes its value, and what is wrong with it; emits `changed` with each change."""

    changed = Signal()

    def __init__(self, language: Language, look: Look, field: FormField) -> None:
        super().__init__()
        self.field = field
        self._language = language
        self._label = plain_label("field", wrap=True)
        self._detail = plain_label("hint", wrap=True)
        self._wrong = plain_label("error", wrap=True)
        self._wrong.hide()
        self._own: list[Callable[[], None]] = []
        self._boxes = self._made(look)
        self.first = self._boxes[0] if self._boxes else self
        show_or_hide(self._detail, visible(field.detail))
        parts: list[QWidget | QLayout] = list(self._boxes)
        if field.hidden:
            reveal = icon_button(look, "eye", "form_reveal", checkable=True)
            reveal.clicked.connect(lambda: self._reveal(reveal))
            self._own.append(lambda: self._reveal(reveal))
            parts = [hbox((self._boxes[0], 1), reveal, spacing=4)]
        vbox(self._label, self._detail, *parts, self._wrong, inside=self, spacing=3)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def values(self) -> tuple[str, ...]:
        """Return what was entered or chosen."""
        if self.field.kind == FieldKind.MANY:
            pairs = zip(self._boxes, self.field.options, strict=True)
            return tuple(one for box, one in pairs if isinstance(box, WrappedTick) and box.isChecked())
        box = self._boxes[0]
        text = (
            box.currentData() if isinstance(box, Choice) else box.text() if isinstance(box, QLineEdit) else ""
        )
        return (text.strip(),) if text and text.strip() else ()

    def write(self, values: Sequence[str]) -> None:
        """Show values that were entered before."""
        for box, option in zip_longest(self._boxes, self.field.options):
            if isinstance(box, WrappedTick):
                box.setChecked(option in values)
            elif isinstance(box, Choice):
                box.setCurrentIndex(max(0, box.findData(values[0]) if values else 0))
            elif isinstance(box, QLineEdit):
                box.setText(visible(values[0]) if values else "")

    def check(self) -> bool:
        """Show what is wrong with the value; return whether it fits."""
        code, field = problem_of(self.field, self.values()), self.field
        if code in ("range", "length", "count"):
            code += "_from" if field.most is None else "_to" if field.least is None else ""
        bounds = {
            name: f"{value:g}"
            for name, value in (("least", field.least), ("most", field.most))
            if value is not None
        }
        show_or_hide(self._wrong, self._language(f"form.wrong.{code}", **bounds) if code else "")
        return not code

    def _made(self, look: Look) -> list[QWidget]:
        field = self.field
        if field.kind == FieldKind.MANY:
            ticks: list[QWidget] = []
            for option, label in zip(field.options, field.labels, strict=True):
                tick = WrappedTick(look)
                tick.setText(visible(label).replace("&", "&&"))
                tick.setChecked(option in field.default)
                tick.toggled.connect(self._recheck)
                ticks.append(tick)
            return ticks
        if field.kind in (FieldKind.ONE, FieldKind.YESNO):
            choice = Choice(look)
            choice.setObjectName("form_choice")
            choice.addItem("", "")
            yesno = field.kind == FieldKind.YESNO
            for option, label in zip(
                ("yes", "no") if yesno else field.options, ("", "") if yesno else field.labels, strict=True
            ):
                choice.addItem(visible(label), option)
            chosen = choice.findData(field.default[0]) if field.default else 0
            choice.setCurrentIndex(max(0, chosen))
            choice.currentIndexChanged.connect(self._recheck)
            self._own.append(lambda: self._name_choices(choice, yesno=yesno))
            return [choice]
        line = QLineEdit(visible(field.default[0]) if field.default else "")
        line.setObjectName("form_line")
        today = QDate.currentDate().toString("yyyy-MM-dd")
        line.setPlaceholderText(
            today if field.kind == FieldKind.DATE else _EXAMPLES.get(FieldKind(field.kind), "")
        )
        line.textChanged.connect(self._recheck)
        line.editingFinished.connect(lambda: self.check() if self.values() else None)
        return [line]

    def _reveal(self, reveal: IconButton) -> None:
        """Show what is typed into a hidden field while its button is on."""
        line, shown = self._boxes[0], reveal.isChecked()
        assert isinstance(line, QLineEdit)
        line.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        reveal.set_icon("eye-off" if shown else "eye")
        name_button(reveal, self._language("form.hide" if shown else "form.reveal"))

    def _name_choices(self, choice: Choice, *, yesno: bool) -> None:
        choice.setItemText(0, self._language("form.choose"))
        for place, key in enumerate(("prompt.yes", "prompt.no") if yesno else (), 1):
            choice.setItemText(place, self._language(key))

    def _recheck(self) -> None:
        """Take back what was wrong as soon as it is mended."""
        self.changed.emit()
        if not self._wrong.isHidden():
            self.check()

    def _retranslate(self) -> None:
        label = visible(self.field.label)
        shown = label if self.field.required else self._language("form.optional", label=label)
        self._label.setText(shown)
        for box in self._boxes:
            if not isinstance(box, WrappedTick):
                box.setAccessibleName(shown)
        for name in self._own:
            name()
        if not self._wrong.isHidden():
            self.check()
