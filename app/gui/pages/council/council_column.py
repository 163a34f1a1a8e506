"""One participant of a council: what they hold, how sure they are, their answers, and *Use this*."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAccessibleWidget, QFrame, QWidget

from app.core.message import Message, MessageState
from app.core.session import DebateSession
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending
from app.gui.transcript.row_style import COLUMN
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.badge import Avatar
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button, icon_button
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, say, show_as, show_or_hide, tell_as

LEAST_WIDTH = 260
BAR = 4
TILE = 20


class SureBar(QWidget):
    """How sure a participant is, in its colour; the number stands beside it."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look, self._index, self._percent = look, 0, 0
        self.setFixedHeight(BAR)
        look.changed.connect(self.update)

    def show_percent(self, index: int, percent: int) -> None:
        """Show a confidence in the colour of a participant."""
        self._index, self._percent = index, percent
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        room = QRectF(self.rect())
        painter.setBrush(QColor(self._look.tokens.line))
        painter.drawRoundedRect(room, BAR / 2, BAR / 2)
        room.setWidth(room.width() * self._percent / 100)
        painter.setBrush(QColor(self._look.tokens.speaker(self._index)[0]))
        painter.drawRoundedRect(room, BAR / 2, BAR / 2)


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
        self._bar = SureBar(look)
        self._sure = plain_label("hint")
        self.transcript = TranscriptView(look.tokens, language.texts, layout=COLUMN, picture=look.picture)
        self._cost = ElidedLabel("hint")
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
        vbox(
            hbox(self._letter, (self._holds, 1), spacing=8),
            hbox((self._bar, 1), self._sure, spacing=10),
            inside=self._held,
            spacing=8,
        )
        line = QFrame()
        line.setProperty("kind", "line")
        line.setFixedHeight(1)
        vbox(
            hbox(self._avatar, self._name, (self._model, 1), margins=(14, 12, 14, 0), spacing=8),
            hbox((self._held, 1), margins=(14, 8, 14, 8)),
            line,
            (self.transcript, 1),
            hbox(
                (self._cost, 1),
                STRETCH,
                self._copy,
                self._more,
                self._use,
                margins=(14, 6, 10, 10),
                spacing=6,
            ),
            inside=self,
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
        self._bar.show_percent(index or 0, 0)

    def show_messages(self, session: DebateSession, messages: Sequence[Message]) -> None:
        """Show the participant's messages."""
        self.transcript.feed.show_session(session, messages)
        for message in messages:
            if message.state == MessageState.STREAMING:
                self.transcript.feed.append_text(message.id, "")

    def show_held(
        self, letter: str, option: str, *, leads: bool, index: int | None, sure: int | None, first: str = ""
    ) -> None:
        """Show the option that the participant holds, and how sure it is; `first` is the letter of what it held first."""
        words = self._language
        self._held.setVisible(bool(option) or sure is not None)
        self._letter.setVisible(bool(option))
        self._letter.show_letter(letter, leads=leads)
        show_or_hide(self._holds, option)
        self._bar.setVisible(sure is not None)
        self._bar.show_percent(index or 0, sure or 0)
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
        # A name in the composer would tell whose answer it is where names are hidden.
        self._more.setVisible(answer is not None and self._asks and bool(self._named[1]))

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
