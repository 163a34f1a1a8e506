"""The columns of a council side by side, one for each participant and one for the merged answer; they scroll sideways."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QScrollArea, QWidget

from app.core.council_parts import ChosenAnswer
from app.core.message import CouncilPart, MessageState
from app.engine.council.outcome import CouncilOutcome, votes_of
from app.engine.council.record import Record
from app.engine.debate.replies import LETTERS
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.council_column import CouncilColumn
from app.gui.pages.council.council_glance import Shown
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.boxes import hbox
from app.gui.widgets.text import say, tell_as

LEAST_HEIGHT = 320
MERGED = ""


class ColumnRow(QWidget):
    """The columns in their order; for screen readers a list of them."""

    def __init__(self, margin: int) -> None:
        super().__init__()
        tell_as(self, ColumnsAccessible)
        self.row = hbox(inside=self, margins=(margin, 6, margin, 6), spacing=12)

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

    def show_held(
        self, record: Record, result: CouncilOutcome, people: Mapping[str, Shown], *, compared: bool
    ) -> None:
        """Show what each participant holds, once the answers are `compared`, and which answer the user goes by."""
        letters = {one.id: (letter, one.text) for letter, one in zip(LETTERS, record.options(), strict=False)}
        votes = {one.participant: one for one in votes_of(record)}
        firsts = {who: vote.choice for who, vote in record.ballots.items()}
        chosen = record.held(ChosenAnswer, CouncilPart.CHOICE).message
        answers = record.answers()
        for who, shown in people.items():
            vote, column = votes.get(who), self.all[who]
            letter, text = letters.get(vote.choice, ("", "")) if vote and compared else ("", "")
            column.show_held(
                letter,
                text,
                leads=bool(vote) and vote.choice == result.headline,
                index=shown.colour,
                sure=vote.confidence if vote else None,
                first=letters.get(firsts.get(who, ""), ("", ""))[0] if vote and compared else "",
            )
            answer = answers.get(who)
            column.show_answer(answer, used=answer is not None and answer.id == chosen)
        merged = record.last(CouncilPart.MERGE)
        column = self.all[MERGED]
        column.setVisible(any(one.part == CouncilPart.MERGE for one in record.messages))
        column.show_speaker(self._language("council.merged"), merged.author.name if merged else "", None)
        column.show_held("", "", leads=False, index=None, sure=None)
        whole = merged if merged and merged.state == MessageState.DONE else None
        column.show_answer(whole, used=whole is not None and whole.id == chosen)

    def into_sight(self, who: str) -> None:
        """Scroll sideways to a column."""
        self.ensureWidgetVisible(self.all[who])
