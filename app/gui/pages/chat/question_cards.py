"""The cards over the open questions of a chat: which card a question gets, and what the user says with it."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal

from app.core.message import Message, PromptReason, PromptType
from app.gui.display.appearance import Language, Look
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.web_view.viewer_offer import ViewerOffer
from app.gui.widgets.approval_card import ApprovalCard, HandOverCard, is_hand_over
from app.gui.widgets.page_card import PageCard
from app.gui.widgets.question_card import FormCard, PromptCard, QuestionCard


class QuestionCards(QObject):
    """Makes the cards, and keeps unfinished answers in `answers` by message id.

    Signals: answered(message, answer), calls_answered(messages, answer), dismissed(message), handed_over(message,
    arguments), link_requested(address), written() after a change of an unfinished answer, came() when a card is
    shown for the first time, left() when the last card was answered.
    """

    answered = Signal(str, str)
    calls_answered = Signal(list, str)
    dismissed = Signal(str)
    handed_over = Signal(str, str)
    link_requested = Signal(str)
    written = Signal()
    came = Signal()
    left = Signal()

    def __init__(
        self, language: Language, look: Look, transcript: TranscriptView, answers: dict[str, str]
    ) -> None:
        super().__init__(transcript)
        self._language = language
        self._look = look
        self._transcript = transcript
        self._answers = answers
        self.viewer = ViewerOffer(self)
        """What offers to install the viewer of pages."""

    def make(self, message: Message) -> PromptCard:
        """Return the card of a question."""
        card = self._new(message)
        card.answered.connect(lambda answer: self.answered.emit(message.id, answer))
        card.dismissed.connect(lambda: self.dismissed.emit(message.id))
        for done in (card.answered, card.dismissed):
            done.connect(lambda *_: self._leave(card))
        if isinstance(card, QuestionCard | FormCard):
            card.link_requested.connect(self.link_requested)
            card.write(self._answers.get(message.id, ""))
            card.written.connect(lambda text: self._on_written(message.id, text or None))
            for done in (card.answered, card.dismissed):
                done.connect(lambda *_: self._on_written(message.id, None))
        # Only the first time: a card scrolled into view again takes no focus.
        card.came.connect(self.came, Qt.ConnectionType.SingleShotConnection)
        return card

    def refresh(self) -> None:
        """Show the calls that are asked about now: one more may have come, or one was answered."""
        for card in self._transcript.findChildren(ApprovalCard):
            if card.message.prompt is not None and card.message.prompt.joins:
                together = self._transcript.model.book.together(card.message)
                if together and together[0].id == card.message.id:
                    card.show_calls(together)

    def write(self, answers: Mapping[str, str]) -> None:
        """Show these unfinished answers."""
        kept = dict(answers)
        self._answers.clear()
        self._answers.update(kept)
        for card in self._transcript.findChildren(PromptCard):
            if isinstance(card, QuestionCard | FormCard):
                card.write(self._answers.get(card.message.id, ""))

    def shown(self) -> PromptCard | None:
        """Return the first card on screen."""
        return next((one for one in self._transcript.findChildren(PromptCard) if one.isVisible()), None)

    def _new(self, message: Message) -> PromptCard:
        prompt = message.prompt
        assert prompt is not None
        names, author = self._transcript.model.names, message.author
        path = tuple(names.get(step, step) for step in author.path)
        message = replace(message, author=replace(author, path=path))
        if is_hand_over(message):
            card = HandOverCard(self._language, self._look, message, names)
            card.changed_and_allowed.connect(lambda text: self.handed_over.emit(message.id, text))
            return card
        if prompt.reason == PromptReason.PAGE:
            # Decided by who asked, never by the content of the page.
            return PageCard(self._language, self._look, message, self.viewer)
        if prompt.type == PromptType.FORM:
            return FormCard(self._language, self._look, message)
        if prompt.type != PromptType.APPROVAL:
            return QuestionCard(self._language, self._look, message)
        approval = ApprovalCard(self._language, self._look, message)
        approval.show_calls(self._transcript.model.book.together(message))
        approval.call_answered.connect(self.answered)
        approval.all_answered.connect(self.calls_answered)
        approval.all_answered.connect(lambda *_: self._leave(approval))
        return approval

    def _leave(self, card: PromptCard) -> None:
        """Focus the next question, or have the composer focused."""
        others = (one for one in self._transcript.findChildren(PromptCard) if one is not card)
        following = next((one for one in others if one.isVisible()), None)
        if following is not None:
            following.setFocus()
        else:
            self.left.emit()

    def _on_written(self, message_id: str, text: str | None) -> None:
        """Keep an unfinished answer; None removes it."""
        if text is not None:
            self._answers[message_id] = text
        else:
            self._answers.pop(message_id, None)
        self.written.emit()
