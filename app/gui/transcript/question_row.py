"""A question to the user as a row: room for the widget that answers it, later what was answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter

from app.core.message import Consent, Message, PromptType
from app.core.text import visible
from app.gui.markdown.blocks import PARAGRAPH, Block, Span, break_words, clean
from app.gui.transcript.painted_row import PaintedRow, RowFrame
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.segments import Range, Segment

WIDEST = 640
PADDING = 14
ROOM = 120
"""Height kept for a widget that is not made, in pixels."""

_ANSWERS: dict[tuple[str, str], str] = {
    (PromptType.APPROVAL, Consent.ALLOW): "transcript.question.allowed",
    (PromptType.APPROVAL, Consent.ALWAYS): "transcript.question.allowed_always",
    (PromptType.APPROVAL, Consent.DENY): "transcript.question.denied",
    (PromptType.YESNO, "yes"): "transcript.question.yes",
    (PromptType.YESNO, "no"): "transcript.question.no",
}

HeightOf = Callable[[Message, int], int]
"""Gives the height of the widget for a question in a width; 0 where nobody makes one."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """Where the question stands, and who knows how tall its widget is."""

    height_of: HeightOf
    frame: RowFrame = field(default_factory=RowFrame)


class QuestionRow(PaintedRow):
    """A question, open or answered."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: QuestionContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context.frame, width)
        self.context = context
        self.box = QRect()
        self._question: Segment | None = None
        self._answer: Segment | None = None
        self._place()

    def set_context(self, context: QuestionContext) -> None:
        """Take another place; the height of the widget may be another."""
        self.context, self.frame = context, context.frame
        self._place()

    @property
    def open(self) -> bool:
        """Whether the widget stands here."""
        return self.message.prompt is not None and self.message.prompt.open

    @property
    def settled(self) -> bool:
        """Whether the row stands as it is."""
        return super().settled and not self.open

    def answer_text(self) -> str:
        """Return what was answered, in words."""
        prompt, texts = self.message.prompt, self.style.texts
        if prompt is None or prompt.dismissed:
            return texts("transcript.question.skipped")
        key = _ANSWERS.get((prompt.type, prompt.answer.strip().lower()))
        if prompt.type == PromptType.APPROVAL and key is None:
            return texts("unknown")
        return texts(key) if key else visible(prompt.answer)

    def question_text(self) -> str:
        """Return what was asked; of an approval, what was to be allowed."""
        prompt = self.message.prompt
        if prompt is None:
            return ""
        if prompt.type == PromptType.APPROVAL and not prompt.question:
            return self.style.texts("transcript.question.approval", tool=visible(prompt.tool))
        return visible(prompt.question)

    def _place(self) -> None:
        self.version += 1
        self.counted = -1
        self.changed_from = 0
        left, top = self.text_left, self.top
        width = min(WIDEST, self.right - left)
        if self.open:
            height = self.context.height_of(self.message, width) or ROOM
            self.box = QRect(left, top, width, height)
            self.height = top + height + self.below
            return
        inner = max(40, width - 2 * PADDING)
        self._question = self._text(self.question_text())
        self._answer = self._text(self.answer_text())
        self._question.place(left + PADDING, top + 10, inner)
        self._answer.place(left + PADDING, self._question.rect.bottom() + 3, inner)
        self.box = QRect(left, top, width, self._answer.rect.bottom() + 11 - top)
        self.height = top + self.box.height() + self.below

    def _text(self, text: str) -> Segment:
        span = Span(break_words(clean(text[:4_000]).replace("\r", "")))
        return Segment(self.style, [Block(PARAGRAPH, (span,))], 0, 0)

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_lines(painter)
        if self._question is None or self._answer is None:
            return
        tokens = self.style.tokens
        painter.setPen(QColor(tokens.line))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(QRectF(self.box).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        faint = Range(0, self._question.length, "transparent", tokens.text_2)
        self._question.paint(painter, clip, [faint])
        self._answer.paint(painter, clip, ())

    def describe(self) -> str:
        """Return what a screen reader says: the question and the answer."""
        if self.open:
            waits = self.style.texts("transcript.waiting_for_you")
            return f"{self.message.author.name} ({waits}): {self.question_text()}"
        return f"{self.message.author.name}: {self.question_text()} – {self.answer_text()}"
