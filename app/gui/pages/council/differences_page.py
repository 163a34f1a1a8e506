"""What the answers of a council differ on: the options and who holds them, and the claims;
and the dialog for the options.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.engine.council.outcome import holders_of
from app.engine.debate.replies import MOST_OPTION, MOST_OPTIONS
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.council_box import Judged
from app.gui.pages.council.council_columns import Letter, mark_of
from app.gui.pages.council.verdict_page import WIDEST, ClaimsPage
from app.gui.widgets.badge import HeadingIcon
from app.gui.widgets.boxes import STRETCH, empty, frame, hbox, set_across, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.form import Field
from app.gui.widgets.text import Paragraph, named, plain_label, say, show_as

SIDE_BY_SIDE = 720
BULLET = "•  "


class Glance(QFrame):
    """A card of three parts, side by side where there is room, else under each other; emits edit_requested()
    for the options.
    """

    edit_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._language, self._look = language, look
        self._lacks = Paragraph("warn")
        self._options = named("council_options", QWidget())
        self._rows = vbox(inside=self._options, spacing=6)
        edit = button("link", "council_edit", self.edit_requested).dress(look, "pencil", "accent")
        self.edit = say(edit, language, "council.options.edit")
        self._parts: dict[str, tuple[QWidget, Paragraph]] = {}
        title = say(plain_label("card_title"), language, "council.options")
        held = vbox(title, self._options, hbox(self.edit, STRETCH), STRETCH, spacing=8)
        self._row = hbox((held, 5), spacing=24)
        for kind, tone, icon in (("differ", "warn", "circle-alert"), ("agreed", "ok", "circle-check")):
            text = Paragraph("card_text")
            title = say(plain_label("open" if kind == "differ" else "agreed"), language, f"council.{kind}")
            head = hbox(HeadingIcon(look, icon, tone), title, STRETCH, spacing=6)
            part = frame("", vbox(head, text, STRETCH, spacing=8))
            self._parts[kind] = part, text
            self._row.addWidget(part, 4)
        vbox(self._lacks, self._row, inside=self, margins=(16, 12, 16, 12), spacing=8)

    def show_outcome(self, judged: Judged, *, helped: bool) -> None:
        """Show what the answers hold; over it stands how many answered, and what the result lacks.

        `helped` is false where all models are too small to compare answers.
        """
        words, record, result, people = self._language, judged.record, judged.result, judged.people
        lacks = [words("council.answered", count=result.answered, asked=result.asked)]
        if "differences" in result.degraded:
            lacks.append(words("council.grouped" if helped else "council.grouped_small"))
        if result.names_visible:
            lacks.append(words("council.names_visible"))
        show_as(self._lacks, "warn" if result.degraded else "hint", " · ".join(lacks))
        empty(self._rows)
        holders = holders_of(record)
        for option in record.letters:
            self._rows.addWidget(self._option(judged, option, holders[option]))
        for kind, (part, text) in self._parts.items():
            lines = []
            for point in record.points(kind):
                alone = kind == "differ" and point.only in people
                only = words("council.only", name=people[point.only].name) if alone else ""
                lines.append(BULLET + point.text + (f" ({only})" if only else ""))
            text.setText("\n".join(lines))
            part.setVisible(bool(lines))

    def _option(self, judged: Judged, option: str, holders: Sequence[str]) -> QWidget:
        row, held = QWidget(), [judged.people[holder] for holder in holders if holder in judged.people]
        letter, said = judged.record.letters[option], judged.record.texts[option]
        tile = Letter(self._look, letter, leads=option == judged.result.headline)
        marks, count = [mark_of(self._look, one) for one in held], plain_label("hint", text=str(len(holders)))
        hbox(tile, (Paragraph("card_title", text=said), 1), *marks, count, inside=row, spacing=6)
        who = ", ".join(shown.name for shown in held)
        row.setAccessibleName(f"{letter}: {said} ({who})")
        return row

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across = self.width() >= SIDE_BY_SIDE
        set_across(self._row, across)
        self._row.setSpacing(24 if across else 10)


class DifferencesPage(ClaimsPage):
    """The whole question, what the answers hold at a glance, and under it the claims."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look)
        self.glance = Glance(language, look)
        self.question = Paragraph()
        bubble = frame("bubble", hbox((self.question, 1), margins=(14, 8, 14, 8)))
        column = QWidget()
        column.setMaximumWidth(WIDEST)
        around = self._inside.parentWidget().layout()
        around.setContentsMargins(18, 12, 8, 12)
        around.replaceWidget(self._inside, column)
        vbox(bubble, self.glance, (self._inside, 1), inside=column, spacing=12)


class OptionsDialog(AskDialog):
    """A line for each option, and empty ones for more; emits `given` with (id, text) of each, ""
    where it is new.
    """

    given = Signal(object)

    def __init__(self, words: Language, options: Sequence[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(words, parent, "options", words("council.options"))
        self._fields = []
        for number in range(1, max(MOST_OPTIONS, len(options)) + 2):
            option, text = options[number - 1] if number <= len(options) else ("", "")
            line = named(f"option_{number}", QLineEdit(text, maxLength=MOST_OPTION))
            line.setAccessibleName(words("council.options.number", number=number))
            line.setPlaceholderText("" if option else words("council.options.add"))
            self._fields.append((option, line))
        said = Paragraph("card_text", text=words("council.options.hint"))
        fields = (Field(line.objectName(), line) for _option, line in self._fields)
        self.ask(said, 4, *fields, width=520, spacing=6)

    def _check(self) -> None:
        self.go.setEnabled(any(self.form.values().values()))

    def _on_go(self) -> None:
        self.accept()
        self.given.emit([(option, field.text()) for option, field in self._fields])
