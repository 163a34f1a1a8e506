"""The answers of a council, side by side, where they scroll sideways, or one alone with a switch
of all above it.

A column for each participant (what they hold, how sure they are, their answers, *Use this*) and one for the
merged answer.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from PySide6 import QtGui
from PySide6.QtCore import QSize, Qt, Signal
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
from app.gui.pages.council.decision_steps import MARGIN
from app.gui.transcript.row_text import COLUMN
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets import boxes
from app.gui.widgets.badge import Avatar, initials, paint_box
from app.gui.widgets.controls import ENTER, ShorteningButton, button, icon_button
from app.gui.widgets.text import (
    ElidedLabel,
    Paragraph,
    name_button,
    plain_label,
    plain_tip,
    say,
    show_as,
    tell_as,
)

LEAST_WIDTH, ROOMY = 260, 310
TILE = 20


class Letter(QWidget):
    """The letter of an option on a square, filled for the one that leads."""

    def __init__(self, look: Look, letter: str = "", *, leads: bool = False) -> None:
        super().__init__()
        self._look, self.letter, self._leads = look, letter, leads
        self.setFixedSize(QSize(TILE, TILE))
        look.changed.connect(self.update)

    def show_letter(self, letter: str, *, leads: bool) -> None:
        """Show a letter."""
        self.letter, self._leads = letter, leads
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        tokens, leads, painter = self._look.tokens, self._leads, QtGui.QPainter(self)
        line, ground = (tokens.text, tokens.text) if leads else (tokens.line_strong, tokens.surface)
        paint_box(painter, self.rect(), line, ground, 5)
        font = painter.font()
        font.setPixelSize(11)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(QtGui.QColor(tokens.surface if leads else tokens.text_2))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.letter)


class CouncilColumn(boxes.Fitting, QFrame):
    """A column: header, what is held, the transcript rows of one participant, and the actions.

    Signals: use_requested(message id, "" to take it back), retry_requested(message id), settings_requested(),
    more_requested() to ask it alone something more, alone_requested() to show it alone, or all again.
    """

    use_requested = Signal(str)
    more_requested = Signal()
    alone_requested = Signal()
    retry_requested = Signal(str)
    settings_requested = Signal()

    def __init__(self, language: Language, look: Look, place: int, *, asks: bool) -> None:
        """`asks` says that it is of a participant, who can be asked more."""
        super().__init__()
        tell_as(self, lambda column: QAccessibleWidget(column, QtGui.QAccessible.Role.ListItem))
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
        self._copy = icon_button(look, "copy", f"council_copy_{place}", self._on_copy)
        say(self._copy, language, tip="council.copy")
        self._more = icon_button(look, "message-circle", f"council_more_{place}", self.more_requested)
        say(self._more, language, tip="council.more")
        self._asks = asks
        self.enlarge = icon_button(look, "maximize-2", f"council_enlarge_{place}", self.alone_requested)
        self._use = button("", f"council_use_{place}", self._on_use)
        self.transcript.follow(look, language)
        self.transcript.action_requested.connect(self._on_action)
        self._held = QWidget()
        boxes.hbox(self._letter, (self._holds, 1), inside=self._held, spacing=8)
        for small in (self._copy, self._more, self.enlarge):
            small.setFixedSize(28, 28)
        buttons = boxes.hbox(self._copy, self._more, self._use, self.enlarge, spacing=2)
        head = boxes.hbox(self._avatar, (self._name, 1), buttons, margins=(14, 9, 10, 0), spacing=8)
        held = boxes.hbox((self._held, 1), margins=(14, 4, 14, 0))
        facts = boxes.hbox(self._sure, (self._model, 1), self._cost, margins=(14, 2, 14, 7), spacing=10)
        parts = head, held, facts, boxes.thin_line(), (self.transcript, 1)
        boxes.vbox(*parts, inside=self, margins=(0, 0, 0, 6), spacing=0)

    def show_speaker(self, name: str, model: str, index: int | None, letters: str = "") -> None:
        """Show whose column it is; `letters` stand on its mark.
        A model that the participant is named after is not named twice.
        """
        model = model if model != name else ""
        self._named = (name, model)
        self._avatar.set_speaker(name, index, letters=letters)
        self._name.setText(name)
        self._model.setText(model)
        self.transcript.setAccessibleName(name)

    def show_alone(self, *, alone: bool, offered: bool) -> None:
        """Show that it stands alone, in the whole width; `offered` says whether that can be changed."""
        self.enlarge.set_icon("minimize-2" if alone else "maximize-2")
        name_button(self.enlarge, self._language("council.side_by_side" if alone else "council.enlarge"))
        self.enlarge.setVisible(offered)

    @property
    def shown(self) -> tuple[str, str]:
        """The name, and the letter of what is held, "" where that is not known."""
        return self._named[0], self._letter.letter if not self._held.isHidden() else ""

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        self.alone_requested.emit()

    def show_messages(self, session: DebateSession, messages: Sequence[Message]) -> None:
        """Show the participant's messages."""
        self.transcript.feed.show_session(session, messages)
        for message in messages:
            if message.state == MessageState.STREAMING:
                self.transcript.feed.append_text(message.id, "")
        asked = [item for item in messages if item.part == CouncilPart.QUESTION]
        self._read_from(next((item.id for item in (*asked[-1:], *messages[:1])), ""))

    def show_finished(self, message: Message) -> None:
        """Show a finished message; a further question stands at the upper edge, above its answer."""
        self.transcript.feed.clear_speaking()
        self.transcript.feed.message_finished(message)
        if message.part == CouncilPart.QUESTION:
            self._read_from(message.id)

    def _read_from(self, message_id: str) -> None:
        """Put a message at the upper edge, where it stays while more comes."""
        model, scroller = self.transcript.model, self.transcript.canvas.scroller
        if message_id:
            scroller.read = model.index(message_id) if message_id in model else -1
            self.transcript.go_to(message_id, 0)
        scroller.follow = False

    def show_held(self, letter: str, option: str, *, leads: bool, sure: int | None, first: str = "") -> None:
        """Show the option that the participant holds, and how sure it is; `first` is the letter
        of what it held first.
        """
        words = self._language
        self._held.setVisible(bool(option))
        self._letter.show_letter(letter, leads=leads)
        self._holds.setText(option)
        said = [words("council.sure", percent=sure)] if sure is not None else []
        said += [words("council.first", letter=first)] if first and first != letter else []
        self._sure.setText(" · ".join(said))
        self._sure.setVisible(bool(said))
        name, model = self._named
        held = words("council.holds", letter=letter, option=option) if option else ""
        self.setAccessibleName(". ".join(filter(None, (name, model, held, self._sure.text()))))

    def show_answer(self, answer: Message | None, *, used: bool) -> None:
        """Show what the latest whole answer took and cost, and whether the user goes by it."""
        self._answer, self._used = answer, used
        words = self._language
        took, spent = "", Spending()
        if answer is not None:
            spent.add((answer,))
            if answer.seconds is not None:
                took = words("council.seconds", seconds=round(answer.seconds, 1))
        cost = spent.known_text(words) if answer is not None else ""
        self._cost.setText(" · ".join(filter(None, (took, cost))))
        show_as(self._use, "primary" if used else "", words("council.used" if used else "council.use"))
        self._use.setToolTip(plain_tip(words("council.use.hint")))
        self._use.setVisible(answer is not None)
        self._fit()

    def _fit(self) -> None:
        """Leave the room of a narrow column to the name; its menu and the input below do the same."""
        shown = self._answer is not None and self.width() >= ROOMY
        self._copy.setVisible(shown)
        self._more.setVisible(shown and self._asks)

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
    """How a participant is named and marked: by its own name and colour, or by a number
    where names are hidden.
    """

    name: str
    model: str
    colour: int
    letters: str


People = Mapping[str, Shown]
"""How each participant is shown, by its id."""


def shown_people(participants: Sequence[Participant], hidden: str, words: Language) -> dict[str, Shown]:
    """Return how each participant is shown; with names `hidden` by a key, in an order that tells nothing."""
    if not hidden:
        letters = initials([participant.name for participant in participants])
        marked = enumerate(zip(participants, letters, strict=True))
        return {item.id: Shown(item.name, item.model, place, letter) for place, (item, letter) in marked}
    drawn = random.Random(f"{hidden}/names").sample(participants, len(participants))
    names = ((item.id, place, words("council.number", number=place + 1)) for place, item in enumerate(drawn))
    return {item: Shown(name, "", place, str(place + 1)) for item, place, name in names}


def mark_of(look: Look, shown: Shown) -> Avatar:
    """Return the mark of a participant for a line that is about it."""
    avatar = Avatar(look, TILE)
    avatar.set_speaker(shown.name, shown.colour, letters=shown.letters)
    return avatar


LEAST_HEIGHT, NARROW, WIDEST_MERGED = 160, 700, 860
MERGED = ""


class ColumnRow(QWidget):
    """The columns in their order; for screen readers a list of them."""

    def __init__(self, takes: Callable[[QtGui.QKeyEvent], bool]) -> None:
        """`takes` says whether a key has been used: the area around the columns would scroll."""
        super().__init__()
        self._takes = takes
        tell_as(self, ColumnsAccessible)
        self.row = boxes.hbox(inside=self, margins=(MARGIN, 12, MARGIN, 6), spacing=12)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if not self._takes(event):
            super().keyPressEvent(event)

    def columns(self) -> list[QWidget]:
        """Return the columns that are shown, as they stand side by side."""
        return [column for column in boxes.widgets_in(self.row) if not column.isHidden()]


class ColumnsAccessible(QAccessibleWidget):
    """The columns as a list: in the order in which they stand, which hides who is who where names are
    hidden.
    """

    def __init__(self, row: ColumnRow) -> None:
        super().__init__(row, QtGui.QAccessible.Role.List)
        self._row = row

    def childCount(self) -> int:
        return len(self._row.columns())

    def child(self, index: int) -> QtGui.QAccessibleInterface | None:
        columns = self._row.columns()
        there = 0 <= index < len(columns)
        return QtGui.QAccessible.queryAccessibleInterface(columns[index]) if there else None

    def indexOfChild(self, child: QtGui.QAccessibleInterface) -> int:
        columns: list[object] = list(self._row.columns())
        return columns.index(child.object()) if child.object() in columns else -1


class CouncilColumns(QWidget):
    """Has a column by each participant's id, and MERGED; passes on what their buttons and rows ask for.

    All stand side by side. A double-click on the head of one, Enter in it or its button shows it alone, with
    a switch of all above it; Escape shows all again. Where there is no room for all, one is always alone.
    Left and Right go to the one before and the next.

    Signals: use_requested(message id, "" to take it back), retry_requested(message id),
    settings_requested(participant id), more_requested(participant id), found(participant id, number, count),
    link_requested and picture_requested as of a transcript.
    """

    use_requested = Signal(str)
    retry_requested = Signal(str)
    settings_requested = Signal(str)
    more_requested = Signal(str)
    found = Signal(str, int, int)
    link_requested = Signal(str, str)
    picture_requested = Signal(str, object, int)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self.all: dict[str, CouncilColumn] = {}
        # What Tab stops at in each column.
        self._is_merged = False
        # Whom the user chose to read alone.
        self._chosen: str | None = None
        self._tabs: object = None
        self._order: list[str] = []
        body = say(ColumnRow(self._on_key), language, name="council.tab.answers")
        self.row = body.row
        self.setObjectName("council_columns")
        self._area = QScrollArea()
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(body)
        self._switch = say(QWidget(), language, name="council.switch")
        self._switch.setObjectName("council_switch")
        self._names = boxes.hbox(spacing=14)
        boxes.hbox(self._names, boxes.STRETCH, inside=self._switch, margins=(MARGIN, 8, MARGIN, 0))
        boxes.vbox(self._switch, (self._area, 1), inside=self, spacing=0)
        self.setMinimumHeight(LEAST_HEIGHT)
        language.changed.connect(self._show_columns)

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
            boxes.drop(column)
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
            column.alone_requested.connect(partial(self._choose, who, leaves=True))
        self._chosen, self._is_merged = None, False
        return True

    def name(self, people: People) -> None:
        """Put the columns in this order, each with its name."""
        for place, (who, shown) in enumerate(people.items()):
            column = self.all[who]
            column.show_speaker(shown.name, shown.model, shown.colour, shown.letters)
            self.row.removeWidget(column)
            self.row.insertWidget(place, column, 1)
        self._order = [*people, MERGED]
        boxes.put_where(self, [stop for who in self._order for stop in boxes.stops_in(self.all[who])])
        self._show_columns()

    def show_held(self, record: Record, result: CouncilOutcome, people: People, *, compared: bool) -> None:
        """Show what each participant holds, once the answers are `compared`, and
        which answer the user goes by.
        """
        letters = {opt.id: (letter, opt.text) for letter, opt in zip(LETTERS, record.options(), strict=False)}
        votes = {item.participant: item for item in votes_of(record)}
        firsts = {who: vote.choice for who, vote in record.ballots.items()}
        chosen = record.held(ChosenAnswer, CouncilPart.CHOICE).message
        answers = record.answers()
        for who in people:
            vote, column = votes.get(who), self.all[who]
            letter, text = letters.get(vote.choice, ("", "")) if vote and compared else ("", "")
            leads, sure = bool(vote) and vote.choice == result.headline, vote.confidence if vote else None
            first = letters.get(firsts.get(who, ""), ("", ""))[0] if vote and compared else ""
            column.show_held(letter, text, leads=leads, sure=sure, first=first)
            answer = answers.get(who)
            column.show_answer(answer, used=answer is not None and answer.id == chosen)
        merged = record.last(CouncilPart.MERGE)
        column = self.all[MERGED]
        # One of the answers before the last question is no merge of what they are now.
        self._is_merged = any(message.part == CouncilPart.MERGE for message in record.since)
        column.show_speaker(self._language("council.merged"), merged.author.name if merged else "", None)
        column.show_held("", "", leads=False, sure=None)
        whole = merged if merged and merged.state == MessageState.DONE else None
        column.show_answer(whole, used=whole is not None and whole.id == chosen)
        self._show_columns()

    def into_sight(self, who: str) -> None:
        """Scroll sideways to a column, or show it in place of the one that is alone."""
        if self.alone is not None:
            self._chosen = who
            self._show_columns()
        self._area.ensureWidgetVisible(self.all[who])

    @property
    def alone(self) -> str | None:
        """Whose column is shown alone, None where all stand side by side."""
        there = self._there()
        if self._chosen in there:
            return self._chosen
        return there[0] if there and self._is_narrow() else None

    def _there(self) -> list[str]:
        return [who for who in self._order if who in self.all and (who != MERGED or self._is_merged)]

    def _is_narrow(self) -> bool:
        return self.width() < NARROW and len(self._there()) * LEAST_WIDTH > self.width()

    def read_merged(self) -> None:
        """Show the merged answer alone, wherever the focus is."""
        self._is_merged, self._chosen = True, MERGED
        self._show_columns()

    def _choose(self, who: str | None, *, leaves: bool = False) -> None:
        """Show a column alone, or all with None; one that is alone already `leaves` that."""
        self._chosen = None if leaves and who == self._chosen else who
        self._show_columns()
        if who is not None and not self.all[who].isHidden():
            self.all[who].transcript.setFocus()

    def _show_columns(self) -> None:
        """Show the column that is alone, or all, and the switch over it."""
        alone, there, narrow = self.alone, self._there(), self._is_narrow()
        for who, column in self.all.items():
            column.setVisible(who in there and alone in (None, who))
            column.show_alone(alone=who == alone, offered=len(there) > 1 and not narrow)
            column.setMaximumWidth(WIDEST_MERGED if who == MERGED and alone == MERGED else boxes.ANY_SIZE)
        self._switch.setVisible(alone is not None and len(there) > 1)
        shown = [(who, *self.all[who].shown) for who in there] if alone is not None else []
        tabs = (self._language.texts.language, alone, shown)
        if tabs != self._tabs:
            self._tabs = tabs
            self._fill_switch(shown, alone)

    def _fill_switch(self, shown: Sequence[tuple[str, str, str]], alone: str | None) -> None:
        focused = any(widget.hasFocus() for widget in self._switch.findChildren(QWidget))
        boxes.empty(self._names)
        for place, (who, name, letter) in enumerate(shown, 1):
            tab = ShorteningButton("tab", f"council_switch_{place}")
            tab.show_words(" · ".join(filter(None, (name, letter))))
            tab.setCheckable(True)
            tab.setChecked(who == alone)
            tab.clicked.connect(lambda _on, who=who: self._choose(who))
            self._names.addWidget(tab)
            if focused and who == alone:
                tab.setFocus()
        if self._switch.isVisible():
            boxes.put_where(self._switch, self._switch.findChildren(ShorteningButton))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.all:
            self._show_columns()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if not self._on_key(event):
            super().keyPressEvent(event)

    def _on_key(self, event: QtGui.QKeyEvent) -> bool:
        key, everybody = event.key(), self._there()
        held = (who for who in everybody if boxes.focused_in(self.all[who]) is not None)
        at = next(held, self.alone)
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(key), 0)
        if step and at is not None:
            who = everybody[max(0, min(everybody.index(at) + step, len(everybody) - 1))]
            self.into_sight(who)
            self.all[who].transcript.setFocus()
        elif key in ENTER and at is not None and self.all[at].transcript.hasFocus():
            self._choose(at, leaves=True)
        elif key == Qt.Key.Key_Escape and self._chosen is not None:
            self._choose(None)
        else:
            return False
        return True
