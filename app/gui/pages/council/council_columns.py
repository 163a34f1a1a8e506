"""The answers of a council, side by side: they scroll sideways.

A column for each participant (what they hold, how sure they are, their answers, *Use this*) and one for the
merged answer.
"""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleInterface, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAccessibleWidget, QFrame, QScrollArea, QWidget

from app.core.council import Participant
from app.core.council_parts import ChosenAnswer
from app.core.message import CouncilPart, Message, MessageState
from app.core.session import DebateSession
from app.engine.council.outcome import CouncilOutcome, votes_of
from app.engine.council.record import Record
from app.engine.debate.replies import LETTERS
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending
from app.gui.transcript.row_text import COLUMN
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.badge import Avatar, initials
from app.gui.widgets.boxes import hbox, thin_line, vbox
from app.gui.widgets.controls import button, icon_button, put_where, stops_in
from app.gui.widgets.text import (
    ElidedLabel,
    Paragraph,
    plain_label,
    say,
    show_as,
    show_or_hide,
    tell_as,
)

LEAST_WIDTH = 260
TILE = 20


class Letter(QWidget):
    """The letter of an option on a square, filled for the one that leads."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._letter, self._leads = look, "", False
        self.setFixedSize(QSize(TILE, TILE))
        look.changed.connect(self.update)

    def show_letter(self, letter: str, *, leads: bool) -> None:
        """Show a letter."""
        self._letter, self._leads = letter, leads
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(tokens.text if self._leads else tokens.line_strong))
        painter.setBrush(QColor(tokens.text if self._leads else tokens.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        font = painter.font()
        font.setPixelSize(11)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QColor(tokens.surface if self._leads else tokens.text_2))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._letter)


class CouncilColumn(QFrame):
    """A column: header, what is held, the transcript rows of one participant, and the actions.

    Signals: use_requested(message id, "" to take it back), retry_requested(message id), settings_requested(), more_requested()
    to ask it alone something more.
    """

    use_requested = Signal(str)
    more_requested = Signal()
    retry_requested = Signal(str)
    settings_requested = Signal()

    def __init__(self, language: Language, look: Look, place: int, *, asks: bool) -> None:
        """`asks` says that it is of a participant, who can be asked more."""
        super().__init__()
        tell_as(self, lambda column: QAccessibleWidget(column, QAccessible.Role.ListItem))
        self._language = language
        self._answer: Message | None = None
        self._used = False
        self._named = ("", "")
        self.setProperty("kind", "column")
        self.setObjectName(f"council_column_{place}")
        self.setMinimumWidth(LEAST_WIDTH)
        self._avatar = Avatar(look, 26)
        self._name = ElidedLabel("card_title")
        self._model = ElidedLabel("hint")
        self._letter = Letter(look)
        self._holds = Paragraph("card_title")
        self._sure = plain_label("hint")
        self.transcript = TranscriptView(look.tokens, language.texts, layout=COLUMN, picture=look.picture)
        self._cost = plain_label("hint")
        self._copy = say(
            icon_button(look, "copy", f"council_copy_{place}", self._on_copy), language, tip="council.copy"
        )
        self._more = say(
            icon_button(look, "message-circle", f"council_more_{place}", self.more_requested),
            language,
            tip="council.more",
        )
        self._asks = asks
        self._use = button("", f"council_use_{place}", self._on_use)
        look.changed.connect(lambda: self.transcript.set_theme(look.tokens))
        language.changed.connect(lambda: self.transcript.set_texts(language.texts))
        self.transcript.action_requested.connect(self._on_action)
        self._held = QWidget()
        hbox(self._letter, (self._holds, 1), inside=self._held, spacing=8)
        for small in (self._copy, self._more):
            small.setFixedSize(28, 28)
        buttons = hbox(self._copy, self._more, self._use, spacing=2)
        vbox(
            hbox(self._avatar, (self._name, 1), buttons, margins=(14, 9, 10, 0), spacing=8),
            hbox((self._held, 1), margins=(14, 4, 14, 0)),
            hbox(self._sure, (self._model, 1), self._cost, margins=(14, 2, 14, 7), spacing=10),
            thin_line(),
            (self.transcript, 1),
            inside=self,
            margins=(0, 0, 0, 6),
            spacing=0,
        )

    def show_speaker(self, name: str, model: str, index: int | None, letters: str = "") -> None:
        """Show whose column it is; `letters` stand on its mark. A model that the participant is named after is not named twice."""
        model = model if model != name else ""
        self._named = (name, model)
        self._avatar.set_speaker(name, index, letters=letters)
        self._name.setText(name)
        self._model.setText(model)
        self.transcript.setAccessibleName(name)

    def show_messages(self, session: DebateSession, messages: Sequence[Message]) -> None:
        """Show the participant's messages."""
        self.transcript.feed.show_session(session, messages)
        for message in messages:
            if message.state == MessageState.STREAMING:
                self.transcript.feed.append_text(message.id, "")

    def show_held(self, letter: str, option: str, *, leads: bool, sure: int | None, first: str = "") -> None:
        """Show the option that the participant holds, and how sure it is; `first` is the letter of what it held first."""
        words = self._language
        self._held.setVisible(bool(option))
        self._letter.show_letter(letter, leads=leads)
        self._holds.setText(option)
        said = [words("council.sure", percent=sure)] if sure is not None else []
        said += [words("council.first", letter=first)] if first and first != letter else []
        show_or_hide(self._sure, " · ".join(said))
        name, model = self._named
        held = words("council.holds", letter=letter, option=option) if option else ""
        self.setAccessibleName(". ".join(filter(None, (name, model, held, self._sure.text()))))

    def show_answer(self, answer: Message | None, *, used: bool) -> None:
        """Show what the latest whole answer took and cost, and whether the user goes by it."""
        self._answer, self._used = answer, used
        words = self._language
        facts = []
        if answer is not None:
            if answer.seconds is not None:
                facts.append(words("council.seconds", seconds=round(answer.seconds, 1)))
            spent = Spending()
            spent.add((answer,))
            facts += filter(None, (spent.known_text(words),))
        self._cost.setText(" · ".join(facts))
        show_as(self._use, "primary" if used else "", words("council.used" if used else "council.use"))
        for part in (self._use, self._copy):
            part.setVisible(answer is not None)
        self._more.setVisible(answer is not None and self._asks)

    def _on_copy(self) -> None:
        if self._answer is not None:
            self.transcript.copy_message(self._answer.id)

    def _on_use(self) -> None:
        if self._answer is not None:
            self.use_requested.emit("" if self._used else self._answer.id)

    def _on_action(self, message_id: str, action: str) -> None:
        if action == "retry":
            self.retry_requested.emit(message_id)
        elif action == "settings":
            self.settings_requested.emit()


class Shown(NamedTuple):
    """How a participant is named and marked: by its own name and colour, or by a number where names are hidden."""

    name: str
    model: str
    colour: int
    letters: str


def shown_people(participants: Sequence[Participant], hidden: str, words: Language) -> dict[str, Shown]:
    """Return how each participant is shown; with names `hidden` by a key, in an order that tells nothing."""
    if not hidden:
        letters = initials([one.name for one in participants])
        return {
            one.id: Shown(one.name, one.model, place, letters[place])
            for place, one in enumerate(participants)
        }
    drawn = random.Random(f"{hidden}/names").sample(participants, len(participants))
    return {
        one.id: Shown(words("council.number", number=place + 1), "", place, str(place + 1))
        for place, one in enumerate(drawn)
    }


LEAST_HEIGHT = 160
MERGED = ""


class ColumnRow(QWidget):
    """The columns in their order; for screen readers a list of them."""

    def __init__(self, margin: int) -> None:
        super().__init__()
        tell_as(self, ColumnsAccessible)
        self.row = hbox(inside=self, margins=(margin, 12, margin, 6), spacing=12)

    def columns(self) -> list[QWidget]:
        """Return the columns that are shown, as they stand side by side."""
        found = (self.row.itemAt(place).widget() for place in range(self.row.count()))
        return [one for one in found if one is not None and not one.isHidden()]


class ColumnsAccessible(QAccessibleWidget):
    """The columns as a list: in the order in which they stand, which hides who is who where names are hidden."""

    def __init__(self, row: ColumnRow) -> None:
        super().__init__(row, QAccessible.Role.List)
        self._row = row

    def childCount(self) -> int:
        return len(self._row.columns())

    def child(self, index: int) -> QAccessibleInterface | None:
        columns = self._row.columns()
        return QAccessible.queryAccessibleInterface(columns[index]) if 0 <= index < len(columns) else None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        columns: list[object] = list(self._row.columns())
        return columns.index(child.object()) if child.object() in columns else -1


class CouncilColumns(QScrollArea):
    """Has a column by each participant's id, and MERGED; passes on what their buttons and rows ask for.

    Signals: use_requested(message id, "" to take it back), retry_requested(message id), settings_requested(participant
    id), more_requested(participant id), found(participant id, number, count), link_requested and picture_requested as of a transcript.
    """

    use_requested = Signal(str)
    retry_requested = Signal(str)
    settings_requested = Signal(str)
    more_requested = Signal(str)
    found = Signal(str, int, int)
    link_requested = Signal(str, str)
    picture_requested = Signal(str, object, int)

    def __init__(self, language: Language, look: Look, margin: int) -> None:
        super().__init__()
        self._language, self._look = language, look
        self.all: dict[str, CouncilColumn] = {}
        body = say(ColumnRow(margin), language, name="council.tab.answers")
        self.row = body.row
        self.setObjectName("council_columns")
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(body)
        self.setMinimumHeight(LEAST_HEIGHT)

    @property
    def transcripts(self) -> dict[str, TranscriptView]:
        """The transcript of each column."""
        return {who: column.transcript for who, column in self.all.items()}

    def are_of(self, participants: Sequence[str]) -> bool:
        """Say whether there is a column for each of these ids, and for nobody else."""
        return list(self.all) == [*participants, MERGED]

    def make(self, participants: Sequence[str]) -> bool:
        """Make a column for each of these ids; return whether they are new."""
        if self.are_of(participants):
            return False
        for column in self.all.values():
            column.hide()
            column.deleteLater()
        self.all = {}
        for place, who in enumerate((*participants, MERGED), 1):
            column = self.all[who] = CouncilColumn(self._language, self._look, place, asks=who != MERGED)
            self.row.addWidget(column, 1)
            column.transcript.found.connect(partial(self.found.emit, who))
            column.use_requested.connect(self.use_requested)
            column.retry_requested.connect(self.retry_requested)
            column.transcript.link_requested.connect(self.link_requested)
            column.transcript.picture_requested.connect(self.picture_requested)
            column.settings_requested.connect(partial(self.settings_requested.emit, who))
            column.more_requested.connect(partial(self.more_requested.emit, who))
        return True

    def name(self, people: Mapping[str, Shown]) -> None:
        """Put the columns in this order, each with its name."""
        for place, (who, shown) in enumerate(people.items()):
            column = self.all[who]
            column.show_speaker(shown.name, shown.model, shown.colour, shown.letters)
            self.row.removeWidget(column)
            self.row.insertWidget(place, column, 1)
        put_where(self, [stop for who in (*people, MERGED) for stop in stops_in(self.all[who])])

    def show_held(
        self, record: Record, result: CouncilOutcome, people: Mapping[str, Shown], *, compared: bool
    ) -> None:
        """Show what each participant holds, once the answers are `compared`, and which answer the user goes by."""
        letters = {one.id: (letter, one.text) for letter, one in zip(LETTERS, record.options(), strict=False)}
        votes = {one.participant: one for one in votes_of(record)}
        firsts = {who: vote.choice for who, vote in record.ballots.items()}
        chosen = record.held(ChosenAnswer, CouncilPart.CHOICE).message
        answers = record.answers()
        for who in people:
            vote, column = votes.get(who), self.all[who]
            letter, text = letters.get(vote.choice, ("", "")) if vote and compared else ("", "")
            column.show_held(
                letter,
                text,
                leads=bool(vote) and vote.choice == result.headline,
                sure=vote.confidence if vote else None,
                first=letters.get(firsts.get(who, ""), ("", ""))[0] if vote and compared else "",
            )
            answer = answers.get(who)
            column.show_answer(answer, used=answer is not None and answer.id == chosen)
        merged = record.last(CouncilPart.MERGE)
        column = self.all[MERGED]
        column.setVisible(any(one.part == CouncilPart.MERGE for one in record.messages))
        column.show_speaker(self._language("council.merged"), merged.author.name if merged else "", None)
        column.show_held("", "", leads=False, sure=None)
        whole = merged if merged and merged.state == MessageState.DONE else None
        column.show_answer(whole, used=whole is not None and whole.id == chosen)

    def into_sight(self, who: str) -> None:
        """Scroll sideways to a column."""
        self.ensureWidgetVisible(self.all[who])
