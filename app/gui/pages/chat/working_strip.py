"""The strip over the input with the sub-agents that work, each in a row that stays at its place until none works."""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.core.usage import Total, money_text
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import time_text
from app.gui.transcript.transcript_model import TurnBook, shown_name
from app.gui.widgets.boxes import drop, hbox, vbox
from app.gui.widgets.controls import icon_button, keep_place, scrolling
from app.gui.widgets.text import ElidedLabel, name_button, plain_label

ROW, MOST_ROWS = 30, 4


class WorkingStrip(QFrame):
    """Shows who works below the last turn; emits stop_requested(turn id), and left() when it goes with the focus."""

    stop_requested = Signal(str)
    left = Signal()

    def __init__(self, language: Language, look: Look, book: Callable[[], TurnBook]) -> None:
        super().__init__()
        self.setObjectName("working_strip")
        self.setProperty("kind", "composer")
        self._language, self._look, self._book = language, look, book
        self._root = ""
        self._rows: dict[str, AgentRow] = {}
        body = QWidget()
        self._column = vbox(inside=body, spacing=0)
        vbox(scrolling(body), inside=self, margins=(12, 2, 4, 2))
        self._clock = QTimer(self, interval=1_000)
        self._clock.timeout.connect(self._refresh)
        language.changed.connect(self._refresh)
        self.hide()

    def show_turn(self, root: str) -> None:
        """Show who works below a turn, "" for nobody."""
        self._root = root
        self._refresh()

    def _refresh(self) -> None:
        book, root = self._book(), self._root
        turns = book.below(root)[1:] if root else []
        if root and root == book.work_turn:
            # A step has its Stop in the list of steps.
            turns = [turn for turn in turns if book.whole(turn)[0].parent_turn_id != root]
        works = [turn for turn in turns if book.goes_on(turn)]
        for turn in works:
            if turn not in self._rows:
                self._add(turn)
        for turn, row in self._rows.items():
            row.show_turn(self._language, book, turn, works=turn in works)
        if not works:
            self._clear()
        elif not self._clock.isActive():
            self._clock.start()
        self.setFixedHeight(min(MOST_ROWS, len(self._rows)) * ROW + 6)
        self.setVisible(bool(works))

    def _add(self, turn: str) -> None:
        row = self._rows[turn] = AgentRow(self._look, len(self._rows))
        row.stop.clicked.connect(lambda: self.stop_requested.emit(turn))
        self._column.addWidget(row)

    def _clear(self) -> None:
        self._clock.stop()
        if any(row.stop.hasFocus() for row in self._rows.values()):
            self.left.emit()
        while self._rows:
            drop(self._rows.popitem()[1])


class AgentRow(QWidget):
    """A sub-agent's name, time, cost and Stop."""

    def __init__(self, look: Look, place: int) -> None:
        super().__init__()
        self.setFixedHeight(ROW)
        self._name, self._done = ElidedLabel("value"), plain_label("meta")
        self.stop = icon_button(look, "square", f"agent_stop_{place}")
        keep_place(self.stop)
        hbox((self._name, 1), self._done, self.stop, inside=self, spacing=10)

    def show_turn(self, words: Language, book: TurnBook, turn: str, *, works: bool) -> None:
        """Show how far a turn is; one that no longer works keeps its place, without Stop."""
        said = [message for each in book.below(turn) for message in book.whole(each)]
        name = shown_name(said[0].author, words.texts)
        used = [message.usage for message in said if message.usage is not None]
        cost = money_text(words, Total.of(*used)) if used else ""
        time = time_text(book.elapsed(turn), words) if works else words("strip.over")
        self._name.setText(name)
        self._done.setText(" · ".join(filter(None, (time, cost))))
        name_button(self.stop, words("strip.stop", name=name))
        self.stop.setVisible(works)
