"""Questions to the user: their rows, and the widgets over the open ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.core.message import Message, PromptReason, PromptType
from app.core.texts import visible
from app.engine.chat.commands import answer_words
from app.gui.display.descriptions import called
from app.gui.markdown.blocks import PARAGRAPH, Block, Span, break_words, clean
from app.gui.transcript.painted_row import ContextRow, RowContext
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.row_words import permission_of
from app.gui.transcript.segments import Range, Segment
from app.gui.widgets.controls import put_in_tab_order

WIDEST = 640
PADDING = 14
ROOM = 120
"""Height kept for a widget that is not made, in pixels."""

_ANSWERS: dict[tuple[str, str], str] = {
    (PromptType.YESNO, "yes"): "transcript.question.yes",
    (PromptType.YESNO, "no"): "transcript.question.no",
}

WidgetFactory = Callable[[Message], QWidget]

HeightOf = Callable[[Message, int], int]
"""Gives the height of the widget for a question in a width; 0 where nobody makes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionContext(RowContext):
    """The place of the question, and the function that gives the height of its widget."""

    height_of: HeightOf


class QuestionRow(ContextRow[QuestionContext]):
    """A question, open or answered."""

    def __init__(
        self, row_id: str, message: Message, style: RowStyle, context: QuestionContext, width: int
    ) -> None:
        super().__init__(row_id, message, style, context, width)
        self.box = QRect()
        self._question: Segment | None = None
        self._answer: Segment | None = None
        self.lay_out()

    def show(self, message: Message, context: QuestionContext) -> None:
        """Show the question as it is now; the height of its widget may have changed."""
        self.message, self.context = message, context
        self.lay_out()

    @property
    def open(self) -> bool:
        """Whether the question has a widget, not an answer."""
        return self.message.prompt is not None and self.message.prompt.open

    @property
    def settled(self) -> bool:
        """Whether the row is painted the same until it is laid out again."""
        return super().settled and not self.open

    def answer_text(self) -> str:
        """Return the answer in words."""
        prompt, texts = self.message.prompt, self.style.texts
        if prompt is None or prompt.dismissed:
            return texts("transcript.question.skipped")
        if prompt.type == PromptType.APPROVAL:
            return permission_of(prompt.answer, texts)
        key = _ANSWERS.get((prompt.type, prompt.answer.strip().lower()))
        if key:
            return texts(key)
        words = [texts(f"transcript.question.{said}") for said in ("yes", "no", "hidden")]
        return visible(answer_words(prompt, *words), "\n")

    def question_text(self) -> str:
        """Return the question; of an approval, what was to be allowed."""
        prompt = self.message.prompt
        if prompt is None:
            return ""
        if prompt.type == PromptType.APPROVAL and (prompt.name or not prompt.question):
            return self.style.texts("transcript.question.approval", tool=called(prompt, self.style.texts))
        if prompt.reason == PromptReason.AGENT_WORKS:
            name, folder = visible(prompt.server), visible(prompt.question)
            return self.style.texts("transcript.question.agent_works", name=name, folder=folder)
        return visible(prompt.question)

    def _place(self) -> None:
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

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
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
        """Return question and answer for a screen reader."""
        if self.open:
            waits = self.style.texts("transcript.waiting_for_you")
            return f"{self.message.author.name} ({waits}): {self.question_text()}"
        return f"{self.message.author.name}: {self.question_text()} – {self.answer_text()}"


class QuestionWidgets(QObject):
    """The widgets over open questions by message id; emits `resized(message id)` when one wants another height.

    A widget is made when its question comes on screen, hidden off screen and deleted when it is answered.
    """

    resized = Signal(str)

    def __init__(self, area: QAbstractScrollArea, overlays: list[QWidget]) -> None:
        """The widgets add themselves to `overlays` and remove themselves from it."""
        super().__init__(area)
        self._area = area
        self._overlays = overlays
        self._factory: WidgetFactory | None = None
        self._widgets: dict[str, QWidget] = {}
        self._heights: dict[str, tuple[int, int]] = {}

    def set_factory(self, factory: WidgetFactory) -> None:
        """Set the function that makes the widget of a question; the widget is deleted when it is answered."""
        self._factory = factory

    def widget(self, message_id: str) -> QWidget | None:
        """Return the widget of a question, None if it is not made."""
        return self._widgets.get(message_id)

    def height(self, message: Message, width: int) -> int:
        """Return the height of a question's widget for a width in pixels, and make it if needed; 0 without a factory."""
        widget = self._widgets.get(message.id)
        if widget is None:
            if self._factory is None:
                return 0
            widget = self._factory(message)
            widget.setParent(self._area.viewport())
            widget.ensurePolished()
            widget.installEventFilter(self)
            self._widgets[message.id] = widget
            self._overlays.append(widget)
            put_in_tab_order((self._area, *_stops(widget)))
        height = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
        self._heights[message.id] = (width, height)
        return height

    def place(self, boxes: Mapping[str, QRect]) -> None:
        """Show the widgets of these questions in their rectangles, and hide the others."""
        for message_id, widget in self._widgets.items():
            box = boxes.get(message_id)
            if box is not None and widget.geometry() != box:
                widget.setGeometry(box)
            if widget.isHidden() == (box is not None):
                widget.setVisible(box is not None)

    def keep(self, open_ids: set[str]) -> None:
        """Delete the widgets of all questions but these."""
        for message_id in [each for each in self._widgets if each not in open_ids]:
            widget = self._widgets.pop(message_id)
            self._heights.pop(message_id, None)
            self._overlays.remove(widget)
            widget.removeEventFilter(self)
            focused = self._area.window().focusWidget()
            if focused in (widget, *widget.findChildren(QWidget)):
                self._area.setFocus()
            widget.hide()
            widget.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            for message_id, widget in self._widgets.items():
                width, height = self._heights.get(message_id, (0, 0))
                if widget is watched and width:
                    wanted = widget.heightForWidth(width) if widget.hasHeightForWidth() else -1
                    if (wanted if wanted >= 0 else widget.sizeHint().height()) != height:
                        self.resized.emit(message_id)
        return super().eventFilter(watched, event)


def _stops(card: QWidget) -> list[QWidget]:
    """Return a widget and what Tab stops at in it, in order."""
    # A widget with a focus proxy is no stop itself, or Qt would count the proxy twice.
    stops: list[QWidget] = [] if card.focusProxy() is not None else [card]
    part = card.nextInFocusChain()
    while part is not None and part is not card:
        if card.isAncestorOf(part) and part.focusPolicy() != Qt.FocusPolicy.NoFocus:
            stops.append(part)
        part = part.nextInFocusChain()
    return stops
