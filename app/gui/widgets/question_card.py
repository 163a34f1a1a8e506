"""Cards that ask the user: the base of them all, the card of a question, and the form of an MCP server.

A question has options, yes or no, or a text; the fields of a form are shown all at once, each checked.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest

from PySide6 import QtGui
from PySide6.QtCore import QDate, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QLayout, QLineEdit, QWidget

from app.core.message import Author, FieldKind, FormField, Message, PromptType, form_text, problem_of
from app.core.texts import bare_links, exact, unmarked, visible
from app.engine.work import asked_text
from app.gui.display.appearance import Language, Look, sized
from app.gui.widgets import controls
from app.gui.widgets.badge import HeadingIcon, paint_box
from app.gui.widgets.boxes import STRETCH, Frame, add_to, follow_width, hbox, vbox
from app.gui.widgets.form import value_of
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label, say, show_or_hide

WIDEST = 640


class PromptCard(Frame):
    """A question over its message. Emits `came` when it is shown, `answered` or `dismissed`."""

    answered = Signal(str)
    dismissed = Signal()
    came = Signal()

    def __init__(
        self, language: Language, look: Look, message: Message, icon: str, question: str = ""
    ) -> None:
        """`question` stands in place of the one in the message."""
        super().__init__("prompt", "prompt_card")
        assert message.prompt is not None
        self.prompt = message.prompt
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaximumWidth(WIDEST)
        self.message, self._language, self._look = message, language, look
        self._shown_at = time.monotonic()
        picture = HeadingIcon(look, icon, "text", side=17)
        picture.setContentsMargins(0, 2, 0, 0)
        self._question = Paragraph("card_title")
        self.ask(question or self.prompt.question)
        self._who = ElidedLabel("meta")
        head = hbox((picture, 0, Qt.AlignmentFlag.AlignTop), (self._question, 1), spacing=8)
        self.column = vbox(self._who, head, 2, inside=self, margins=(15, 13, 15, 12), spacing=6)
        self._who.setVisible(message.author.depth > 0)
        language.follow(self._say_who)

    def ask(self, question: str) -> None:
        """Set the question."""
        question = visible(question)
        self._question.setText(question)
        self.setAccessibleName(question)

    def sizeHint(self) -> QSize:
        width = min(WIDEST, max(320, self.width()))
        return QSize(width, self.heightForWidth(width))

    def heightForWidth(self, width: int) -> int:
        return self.layout().totalHeightForWidth(min(width, WIDEST))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        self._shown_at = time.monotonic()
        super().showEvent(event)
        self.came.emit()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        # A held key, or one pressed just when the card came, was meant for something else.
        fresh = event.key() in controls.ENTER and time.monotonic() - self._shown_at < 0.5
        if event.isAutoRepeat() or fresh or self._take_key(event):
            event.accept()
        else:
            super().keyPressEvent(event)

    def _take_key(self, event: QtGui.QKeyEvent) -> bool:
        """Handle a key; return False if the card has no use for it."""
        return False

    def _say_who(self) -> None:
        author = self.message.author
        path = visible(path_of(author))
        self._who.setText(self._language("prompt.asks", name=visible(author.name), path=path))


def path_of(author: Author) -> str:
    """Return the path from the root to a sub-agent as text."""
    return " › ".join(author.path)


LEFT = 36
RIGHT = 46
AIR = 9
WRAP = int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignVCenter)


class OptionRow(QAbstractButton):
    """A row to choose with a click or its number; its text is never read as markup."""

    def __init__(self, look: Look, text: str, number: int) -> None:
        super().__init__(checkable=True, autoExclusive=True)
        self.setObjectName(f"prompt_option_{number}")
        self._look, self._words = look, text
        self._number = str(number) if number <= 9 else ""
        self.setAccessibleName(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        follow_width(self)

    def words(self) -> str:
        """Return the text."""
        return self._words

    def setText(self, text: str) -> None:
        """Set the text."""
        self._words = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, max(40, width - LEFT - RIGHT), 10_000)
        return QtGui.QFontMetrics(self.font()).boundingRect(room, WRAP, self._words).height() + 2 * AIR

    def sizeHint(self) -> QSize:
        return QSize(320, self.heightForWidth(max(320, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, QtGui.QFontMetrics(self.font()).height() + 2 * AIR)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        tokens, painter = self._look.tokens, QtGui.QPainter(self)
        on, ring = self.isChecked(), bool(self.property("ring"))
        border = tokens.accent if on or ring else tokens.edge
        ground = tokens.accent_bg if on else tokens.hover if self.underMouse() else tokens.surface
        around = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        paint_box(painter, around, border, ground, 8, wide=1.5 if ring else 1)
        box = QRectF(12.5, (self.height() - controls.TICK) / 2 + 0.5, controls.TICK - 1, controls.TICK - 1)
        controls.paint_tick(painter, self._look, box, on)
        painter.setPen(QtGui.QColor(tokens.text))
        painter.setFont(self.font())
        painter.drawText(self.rect().adjusted(LEFT, 0, -RIGHT, 0), WRAP, self._words)
        if self._number:
            key = QRectF(self.width() - 31.5, (self.height() - 17) / 2, 19, 17)
            paint_box(painter, key, tokens.line_strong, tokens.surface, 4)
            painter.setPen(QtGui.QColor(tokens.text_2))
            painter.setFont(sized(self.font(), 11))
            painter.drawText(key, Qt.AlignmentFlag.AlignCenter, self._number)


YES, NO = "yes", "no"


class AnswerCard(PromptCard):
    """Asks for an answer; Skip dismisses it. Emits written(text) while it is being written.

    Emits link_requested(address) of a link of the question.
    """

    written = Signal(str)
    link_requested = Signal(str)

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        super().__init__(language, look, message, "circle-question-mark")

    def _add_link(self, name: str, address: str) -> controls.Button:
        link = controls.button("link", name, partial(self.link_requested.emit, address))
        self.column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        return link

    def _add_buttons(self) -> None:
        answer = controls.button("primary", "prompt_answer", self._on_answer)
        skip = controls.button("plain", "prompt_skip", self.dismissed)
        self._answer = say(answer, self._language, "prompt.answer")
        self._skip = say(skip, self._language, "prompt.skip")
        add_to(self.column, 2, hbox(self._answer, self._skip, STRETCH, spacing=6))

    def _give(self, answer: str) -> None:
        # Only the first Enter answers.
        self._answer.setEnabled(False)
        self.answered.emit(answer)

    def _on_answer(self) -> None:
        raise NotImplementedError


class QuestionCard(AnswerCard):
    """Asks for a text, or for one of several answers; 1 to 9 choose, Enter answers."""

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        super().__init__(language, look, message)
        prompt = self.prompt
        self.ask(asked_text(prompt))
        link = say(self._add_link("prompt_link", prompt.link), language, "prompt.link")
        link.setVisible(bool(prompt.link))
        self._answers: list[str] = []
        self._rows: list[OptionRow] = []
        self._box = named("prompt_text", controls.TextBox(lines=1, most=6))
        say(self._box, language, hint="prompt.write")
        self._box.setAccessibleName(self.accessibleName())
        if prompt.type == PromptType.YESNO:
            self._add("", YES, "prompt.yes")
            self._add("", NO, "prompt.no")
        elif prompt.type == PromptType.OPTIONS and prompt.options:
            for option in prompt.options:
                self._add(visible(option), option)
            self._add("", "", "prompt.other")
        self.column.addWidget(self._box)
        self._add_buttons()
        if prompt.type == PromptType.OPTIONS and self._rows:
            self._rows[0].setChecked(True)
        elif not self._rows:
            self.setFocusProxy(self._box)
        self._box.submitted.connect(self._on_answer)
        self._box.textChanged.connect(self._on_text)
        self._show_state()

    def choose(self, number: int) -> None:
        """Choose an answer by its number, from 1."""
        self._rows[number - 1].setChecked(True)
        if self._writes():
            self._box.setFocus()

    def write(self, text: str) -> None:
        """Show an answer that was not finished before."""
        if text and text != self._box.toPlainText():
            if self._rows:
                self._rows[-1].setChecked(True)
            self._box.setPlainText(text)
            self._box.moveCursor(self._box.textCursor().MoveOperation.End)

    def _add(self, words: str, answer: str, key: str = "") -> None:
        """Add an answer in the words of the question, or with the text of a `key`."""
        row = OptionRow(self._look, words, len(self._rows) + 1)
        if key:
            say(row, self._language, key)
        self._answers.append(answer)
        self._rows.append(row)
        row.toggled.connect(lambda _on: self._show_state())
        row.clicked.connect(lambda: self._box.setFocus() if self._writes() else None)
        self.column.addWidget(row)

    def _take_key(self, event: QtGui.QKeyEvent) -> bool:
        number = event.key() - Qt.Key.Key_0
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and 1 <= number <= min(9, len(self._rows)):
            self.choose(number)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self._rows:
            step = 1 if event.key() == Qt.Key.Key_Down or self._chosen() < 0 else -1
            self.choose((self._chosen() + step) % len(self._rows) + 1)
        elif event.key() in controls.ENTER:
            self._on_answer()
        else:
            return False
        return True

    def _chosen(self) -> int:
        return next((place for place, row in enumerate(self._rows) if row.isChecked()), -1)

    def _writes(self) -> bool:
        """Say whether the answer is typed, not chosen."""
        return not self._rows or (self._chosen() >= 0 and not self._answers[self._chosen()])

    def _show_state(self) -> None:
        shown = self._writes()
        if self._box.isHidden() is shown:
            self._box.setVisible(shown)
            self.updateGeometry()
        self._answer.setEnabled(bool(self._box.text()) if shown else self._chosen() >= 0)

    def _on_text(self) -> None:
        self._show_state()
        self.written.emit(self._box.toPlainText())

    def _on_answer(self) -> None:
        answer = self._box.text() if self._writes() else self._answers[self._chosen()]
        if answer and self._answer.isEnabled():
            self._give(answer)


_EXAMPLES = {
    FieldKind.EMAIL: "name@example.org",
    FieldKind.URI: "https://example.org",
    FieldKind.DATE_TIME: "2026-11-23T14:30",
}


class FormCard(AnswerCard):
    """Asks for the values of fields; optional ones may stay empty.
    What is `written` is without hidden values.
    """

    def __init__(self, language: Language, look: Look, message: Message) -> None:
        super().__init__(language, look, message)
        prompt = self.prompt
        self._warning = plain_label("warn", wrap=True)
        self._warning.setVisible(any(field.hidden for field in prompt.fields))
        self.column.addWidget(self._warning)
        self.fields = tuple(FieldRow(language, look, item) for item in prompt.fields)
        for row in self.fields:
            self.column.addWidget(row)
            row.changed.connect(lambda: self.written.emit(self._text()))
        texts = [visible(item) for item in (prompt.question, *(item.detail for item in prompt.fields))]
        found = dict.fromkeys(text[begin:end] for text in texts for begin, end in bare_links(text))
        # A link says its address itself: texts of servers are shown as they are.
        for number, address in enumerate(found):
            self._add_link(f"form_link_{number}", address).setText(unmarked(address))
        self._add_buttons()
        if self.fields:
            self.setFocusProxy(self.fields[0].first)
        language.follow(self._retranslate)

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
        self._warning.setText(self._language("form.secret", server=exact(self.prompt.server)))

    def _take_key(self, event: QtGui.QKeyEvent) -> bool:
        enters = event.key() in controls.ENTER
        if enters:
            self._on_answer()
        return enters

    def _on_answer(self) -> None:
        wrong = [row for row in self.fields if not row.check()]
        self.updateGeometry()
        if wrong:
            wrong[0].first.setFocus()
        elif self._answer.isEnabled():
            self._give(self._text(hidden=True))


class FieldRow(QWidget):
    """A field: its label, what takes its value, and what is wrong with it; emits `changed` with each
    change.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look, field: FormField) -> None:
        super().__init__()
        self.field, self._language = field, language
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
            reveal = controls.icon_button(look, "eye", "form_reveal", checkable=True)
            reveal.clicked.connect(lambda: self._reveal(reveal))
            self._own.append(lambda: self._reveal(reveal))
            parts = [hbox((self._boxes[0], 1), reveal, spacing=4)]
        vbox(self._label, self._detail, *parts, self._wrong, inside=self, spacing=3)
        language.follow(self._retranslate)

    def values(self) -> tuple[str, ...]:
        """Return what was entered or chosen."""
        if self.field.kind == FieldKind.MANY:
            pairs = zip(self._boxes, self.field.options, strict=True)
            return tuple(pair for box, pair in pairs if value_of(box))
        text = str(value_of(self._boxes[0]) or "").strip()
        return (text,) if text else ()

    def write(self, values: Sequence[str]) -> None:
        """Show values that were entered before."""
        for box, option in zip_longest(self._boxes, self.field.options):
            if isinstance(box, controls.WrappedTick):
                box.setChecked(option in values)
            elif isinstance(box, controls.Choice):
                box.choose(values[0] if values else "")
            elif isinstance(box, QLineEdit):
                box.setText(visible(values[0]) if values else "")

    def check(self) -> bool:
        """Show what is wrong with the value; return whether it fits."""
        code, field = problem_of(self.field, self.values()), self.field
        if code in ("range", "length", "count"):
            code += "_from" if field.most is None else "_to" if field.least is None else ""
        limits = ("least", field.least), ("most", field.most)
        bounds = {name: f"{value:g}" for name, value in limits if value is not None}
        show_or_hide(self._wrong, self._language(f"form.wrong.{code}", **bounds) if code else "")
        return not code

    def _made(self, look: Look) -> list[QWidget]:
        field = self.field
        if field.kind == FieldKind.MANY:
            ticks: list[QWidget] = []
            for option, label in zip(field.options, field.labels, strict=True):
                tick = controls.WrappedTick(look)
                tick.setText(unmarked(visible(label)))
                tick.setChecked(option in field.default)
                tick.toggled.connect(self._recheck)
                ticks.append(tick)
            return ticks
        if field.kind in (FieldKind.ONE, FieldKind.YESNO):
            choice = named("form_choice", controls.Choice(look))
            yesno = field.kind == FieldKind.YESNO
            labels = ("", "") if yesno else map(visible, field.labels)
            offered = zip(("yes", "no") if yesno else field.options, labels, strict=True)
            choice.offer([("", ""), *offered], field.default[0] if field.default else "")
            choice.currentIndexChanged.connect(self._recheck)
            self._own.append(lambda: self._name_choices(choice, yesno=yesno))
            return [choice]
        line = named("form_line", QLineEdit(visible(field.default[0]) if field.default else ""))
        examples = {**_EXAMPLES, FieldKind.DATE: QDate.currentDate().toString("yyyy-MM-dd")}
        line.setPlaceholderText(examples.get(FieldKind(field.kind), ""))
        line.textChanged.connect(self._recheck)
        line.editingFinished.connect(lambda: self.check() if self.values() else None)
        return [line]

    def _reveal(self, reveal: controls.IconButton) -> None:
        """Show what is typed into a hidden field while its button is on."""
        line, shown = self._boxes[0], reveal.isChecked()
        assert isinstance(line, QLineEdit)
        line.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        reveal.set_icon("eye-off" if shown else "eye")
        name_button(reveal, self._language("form.hide" if shown else "form.reveal"))

    def _name_choices(self, choice: controls.Choice, *, yesno: bool) -> None:
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
            if not isinstance(box, controls.WrappedTick):
                box.setAccessibleName(shown)
        for name in self._own:
            name()
        if not self._wrong.isHidden():
            self.check()
