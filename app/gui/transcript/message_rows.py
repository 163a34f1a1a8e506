"""The rows of messages (header, thinking, text, state and actions) and of questions to the user.

`QuestionWidgets` are the widgets over the open questions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.core.errors import FailureKind
from app.core.message import Message, MessageState, PromptReason, PromptType, Role
from app.core.texts import size_text, visible
from app.core.tool import called
from app.engine.chat.commands import answer_words
from app.engine.council.record import quotes_of
from app.gui.markdown.blocks import PARAGRAPH, Block, Span, StreamingBlocks, blocks_of, break_words, clean
from app.gui.transcript import painted_row, row_words
from app.gui.transcript.pictures import PictureStrip, shown_pictures
from app.gui.transcript.row_text import COLUMN, MAX_COLUMN, Range, Segment
from app.gui.widgets.badge import fill_box, paint_box, paint_text
from app.gui.widgets.boxes import drop, put_in_tab_order, stops_in

FOLD_ABOVE = 100_000
FOLD_KEEPS = 20_000
SEPARATOR = 36
RETRY = "retry"
SETTINGS = "settings"
CONTINUE = "continue"
EARLIER = "earlier_version"
LATER = "later_version"
COMPARE = "compare_versions"
# Failures that another key, model or address mends.
_OF_KEY = FailureKind.AUTHENTICATION, FailureKind.PERMISSION, FailureKind.NO_KEY, FailureKind.QUOTA
_OF_MODEL = FailureKind.MODEL_NOT_FOUND, FailureKind.NOT_INSTALLED
_OF_WAY = FailureKind.WRONG_PATH, FailureKind.REDIRECTED, FailureKind.SOCKS, FailureKind.CERTIFICATE
_SETTINGS_HELP = (*_OF_KEY, *_OF_MODEL, *_OF_WAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext(painted_row.RowContext):
    """What a message's row shows besides the message: look of the speaker, role,
    and what the reader unfolded.

    `versions` is (number from 1, how many) of the turn; `thought_s` the seconds until the first word. Of a
    long text the beginning is shown, unless the reader wants the `whole`.
    """

    speaker: painted_row.RowSpeaker
    text: str = ""
    role: str = ""
    separator: str = ""
    can_retry: bool = False
    can_continue: bool = False
    whole: bool = False
    chat: bool = False
    pinned: bool = False
    headed: bool = True
    waiting: bool = False
    versions: tuple[int, int] = (1, 1)
    thought_open: bool = False
    thought_s: float | None = None


class MessageRow(painted_row.ContextRow[MessageContext]):
    """A message laid out in documents; its text may still stream."""

    fed = 0
    _stream: StreamingBlocks | None = None
    _thought: painted_row.ThoughtLine | None = None

    def _fill(self) -> None:
        if self.message.state == MessageState.STREAMING:
            self._stream = StreamingBlocks()
            self.feed(self.context.text)
            return
        text = self.context.text
        if self._folded:
            text = text[:FOLD_KEEPS].rsplit("\n", 1)[0] or text[:FOLD_KEEPS]
        self.text.set_blocks(blocks_of(self.message, text), 0)

    @property
    def _headed(self) -> bool:
        """Whether the row shows its speaker: a column has one speaker, who stands over it."""
        return self.context.headed and (self.style.layout != COLUMN or self.message.by_user)

    def feed(self, text: str) -> None:
        """Show the whole text so far, which only got longer."""
        self.add(text[self.fed :])

    def add(self, text: str) -> None:
        """Add streamed text at the end."""
        if self._stream is None or not text:
            return
        had_text, first = bool(self.text.blocks), self._stream.feed(text)
        self.fed += len(text)
        self.text.set_blocks(self._stream.blocks, first)
        changed = self.text.stale
        self.lay_out()
        below = had_text and changed < len(self.text.segments)
        self.changed_from = self.text.segments[changed].rect.top() - 2 if below else 0

    def show(self, message: Message, context: MessageContext) -> None:
        """Show the message as it is now; unchanged blocks keep their documents."""
        was_whole = self.context.whole
        self.message, self.context = message, context
        if message.state == MessageState.STREAMING:
            self.lay_out()
            self.feed(context.text)
            return
        if self._stream is not None and context.text.startswith(self._stream.source):
            self.feed(context.text)
            first = self._stream.finish()
            self.text.set_blocks(self._stream.blocks, first)
        elif self._stream is not None or context.whole != was_whole:
            self.fed = 0
            self._fill()
        self._stream = None
        self.lay_out()

    def _place(self) -> None:
        style, message, context = self.style, self.message, self.context
        top = self.top + (style.tall(SEPARATOR) if context.separator else 0)
        left, right, text_left = self.left, self.right, self.text_left
        self._content = QRect(left, top, right - left, 0)
        y = top
        self._pieces = []
        if self._headed:
            self._place_header(top)
            y += style.header + 3
        bubble = not style.barred and message.role == Role.USER
        inset = 12 if bubble else 0
        width = max(40, right - text_left - 2 * inset)
        y = self._place_thought(text_left, y, width)
        y += 9 if bubble else 0
        bottom = self.text.place(text_left + inset, y, width)
        shown = shown_pictures(message)
        places = {place for place, _, _ in shown}
        files = [attachment for place, attachment in enumerate(message.attachments) if place not in places]
        if not self.text.segments and not (bubble and files):
            silent = not message.tool_calls and self._thought is None
            waits = silent and message.state == MessageState.STREAMING
            bottom = y + style.text.line_height if waits else y - (9 if bubble else 0)
        self._chips = painted_row.attachment_chips(style, files)
        above = 8 if files and self.text.segments else 0
        bottom = self._chips.place(text_left + inset, bottom + above, width)
        bottom += 9 if bubble and (self.text.segments or files) else 0
        quotes = quotes_of(message)
        self._quotes = painted_row.quote_chips(style, quotes)
        bottom = self._quotes.place(text_left + inset, bottom + (8 if quotes else 0), width)
        self._pictures = PictureStrip(style, self.row_id, shown)
        above = 8 if shown and (self.text.segments or files) else 0
        bottom = self._pictures.place(text_left, bottom + above, width)
        self._links += self._pictures.links
        bottom = self._place_end(text_left, bottom, width)
        self._content.setBottom(bottom)
        # A message without visible text needs a height that does not cut the initial.
        least = style.avatar if self._headed and style.wide else 8
        self.height = max(bottom + self.below, top + least)

    def _place_header(self, top: int) -> None:
        style, message, context = self.style, self.message, self.context
        model = style.wide and row_words.model_of(message) != context.speaker.name
        begun, chat, pinned = bool(self.text.blocks), context.chat, context.pinned
        said = message, context.role, style.texts
        chips = row_words.chips_of(*said, model=model, begun=begun, chat=chat, pinned=pinned)
        if context.waiting:
            chips.append(painted_row.HeaderChip(style.texts("transcript.waiting_for_you"), "warn"))
        meta = row_words.meta_of(message, style.texts, time=style.wide)
        tip = row_words.tip_of(message, style.texts)
        right = self.right
        number, count = context.versions
        if count > 1:
            right = self._place_versions(f"{number}/{count}", top, right) - 8
        left = self.left + style.name_left
        line = QRect(left, top, right - left, style.header)
        self._pieces = painted_row.place_header(style, context.speaker, chips, meta, line, tip=tip)

    def _place_versions(self, words: str, top: int, right: int) -> int:
        """Place `‹ 2/3 ›` at the right end of the header; return its left edge."""
        style, number, count = self.style, *self.context.versions
        width = style.chip_metrics.horizontalAdvance(words) + 8
        after = QRect(right - 20, top, 20, style.header)
        middle = QRect(after.left() - width, top, width, style.header)
        before = QRect(middle.left() - 20, top, 20, style.header)
        if number > 1:
            self._links.append(painted_row.Link(EARLIER, "‹", before))
        self._links.append(painted_row.Link(COMPARE, words, middle))
        if number < count:
            self._links.append(painted_row.Link(LATER, "›", after))
        return before.left()

    @property
    def thinks(self) -> bool:
        """Whether the model thinks, as far as its thinking shows."""
        streams = self.message.state == MessageState.STREAMING
        return streams and bool(self.message.thinking) and not self.text.blocks

    def _place_thought(self, left: int, y: int, width: int) -> int:
        """Place the line that unfolds the thinking, and the thinking if it is unfolded."""
        message, context = self.message, self.context
        if not message.thinking or not context.chat:
            self._thought = None
            return y
        if self._thought is None:
            self._thought = painted_row.ThoughtLine(self.style)
        words = row_words.thought_of(self.style.texts, going=self.thinks, seconds=context.thought_s)
        self._thought.set_text(words, message.thinking if context.thought_open else "")
        bottom = self._thought.place(left, y, width)
        self._links.append(painted_row.Link(painted_row.THOUGHT, "", self._thought.line))
        return bottom + (6 if self.text.segments or message.state != MessageState.STREAMING else 0)

    def _place_end(self, left: int, y: int, width: int) -> int:
        """Place what stands under the text: the error and the actions."""
        style, message = self.style, self.message
        self._error = None
        wanted: list[tuple[str, str]] = []
        if message.state != MessageState.STREAMING and self._folded:
            size = size_text(style.texts, len(message.content))
            wanted.append((painted_row.SHOW_ALL, style.texts("transcript.show_all", size=size)))
        cut = message.state == MessageState.STOPPED or row_words.is_cut(message)
        if not self._headed and cut:
            stopped = message.state == MessageState.STOPPED
            key = "transcript.stopped" if stopped else f"transcript.note.{message.note}"
            wanted.append(("", style.texts(key)))
        if not self._headed and self.context.pinned:
            wanted.append(("", style.texts("transcript.pinned")))
        if self.context.can_continue and cut and message.role != Role.USER:
            wanted.append((CONTINUE, style.texts("transcript.continue")))
        if message.state == MessageState.FAILED:
            self._error = Segment(style, [Block(PARAGRAPH, (Span(self.error_text),))], 0, 0)
            self._error.place(left, y + 2, width)
            y = self._error.rect.bottom() + 3
            if message.error and message.error.kind in _SETTINGS_HELP:
                wanted.append((SETTINGS, style.texts("transcript.open_settings")))
            elif self.context.can_retry:
                wanted.append((RETRY, style.texts("transcript.retry")))
        return self._place_words(wanted, left, y) if wanted else y

    @property
    def _folded(self) -> bool:
        return len(self.context.text) > FOLD_ABOVE and not self.context.whole and self.fed == 0

    @property
    def error_text(self) -> str:
        """Why the message failed, in words."""
        return row_words.error_of(self.message, self.style.texts)

    def tip_at(self, point: QPoint) -> str:
        """Return the tool tip at a point of the row: what is elided, or what a mark does."""
        step = self.action_at(point)
        if step in (EARLIER, LATER, COMPARE):
            return self.style.texts(f"transcript.{step}")
        if self.text.is_source_at(point):
            return self.style.texts("transcript.formula_not_drawn")
        return super().tip_at(point)

    def range_of(self, hit: painted_row.SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the text or the thinking; None if it is not shown."""
        if hit.part == painted_row.THOUGHT:
            return self._thought.range_of(hit) if self._thought is not None else None
        return super().range_of(hit)

    def hit_rect(self, hit: painted_row.SearchHit) -> QRect:
        """Return the rectangle of a hit in the row."""
        shown = self.range_of(hit)
        if hit.part == painted_row.THOUGHT and shown is not None and self._thought is not None:
            return self._thought.position_rect(shown[0])
        return super().hit_rect(hit)

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        style, tokens, speaker = self.style, self.style.tokens, self.context.speaker
        if self.context.separator:
            self._paint_separator(painter)
        content = self._content
        user = self.message.role == Role.USER
        if style.barred and self._headed:
            colour = speaker.background if user else speaker.colour
            painter.fillRect(content.left(), content.top(), 3, content.height(), QColor(colour))
        avatar = QRect(content.left() + style.avatar_left, content.top(), style.avatar, style.avatar)
        if self._headed and clip.top() < content.top() + style.avatar:
            painted_row.paint_avatar(painter, style, speaker, avatar)
            painted_row.paint_header(painter, style, self._pieces)
        if not style.barred and user and (self.text.segments or not self._chips.rect.isNull()):
            pieces = self.text.segments
            used = max([s.document.idealWidth() if s.document else s.rect.width() for s in pieces], default=0)
            left, top, bottom = self.text_left + 12, self._content.bottom(), 0
            if self.text.segments:
                top, bottom = self.text.segments[0].rect.top(), self.text.bottom
            if not self._chips.rect.isNull():
                used, top = max(used, self._chips.rect.width()), min(top, self._chips.rect.top())
                bottom = self._chips.rect.bottom() + 1
            box = QRectF(left - 12, top - 9, used + 25, bottom - top + 18)
            fill_box(painter, box, self.style.tokens.hover, 10)
        if self._thought is not None:
            self._thought.paint(painter, clip, [each for each in ranges if each.thought])
        self.text.paint(painter, clip, [each for each in ranges if not each.thought])
        self._chips.paint(painter)
        self._quotes.paint(painter)
        self._pictures.paint(painter, clip)
        if self.message.state == MessageState.STREAMING:
            self._paint_caret(painter)
        if self._error is not None:
            everything = Range(0, self._error.length, "transparent", tokens.error)
            self._error.paint(painter, clip, [everything])

    def _paint_separator(self, painter: QPainter) -> None:
        style = self.style
        left, right = style.margin, min(self._width - style.margin, style.margin + MAX_COLUMN)
        box = QRect(left, self.top, right - left, style.tall(SEPARATOR) - 12)
        words, colour, centre = self.context.separator, style.tokens.text_2, Qt.AlignmentFlag.AlignHCenter
        paint_text(painter, style.label_font, colour, box, words, centre)
        width = painter.fontMetrics().horizontalAdvance(words)
        line = QColor(style.tokens.line)
        middle, half = box.center().y(), (box.width() - width) // 2 - 14
        if half > 0:
            painter.fillRect(left, middle, half, 1, line)
            painter.fillRect(right - half, middle, half, 1, line)

    def _paint_caret(self, painter: QPainter) -> None:
        if not self.text.segments and (self._thought is not None or self.message.tool_calls):
            return
        line = self.style.text.line_height
        place = QRect(self.text_left, self._content.bottom() - line, 1, line)
        if self.text.segments:
            last = self.text.segments[-1]
            place = last.position_rect(last.start + last.length)
        size = self.style.font.pixelSize()
        caret = QRect(place.left() + 1, place.bottom() - size - 3, 7, size + 2)
        painter.fillRect(caret, QColor(self.style.tokens.text_2))

    def describe(self) -> str:
        """Return speaker, chips and text for a screen reader."""
        chips = [piece.text for piece in self._pieces if piece.kind == painted_row.CHIP]
        if self.depth:
            chips.append(self.style.texts("transcript.card.depth", count=self.depth))
        head = f"{self.context.speaker.name} ({', '.join(chips)})" if chips else self.context.speaker.name
        failed = self.message.state == MessageState.FAILED
        text = self.error_text if failed else self.text.spoken(self.style.texts.language)
        attached = ", ".join(filter(None, (self._pictures.words, self._chips.words, self._quotes.words)))
        return f"{head}: {text} [{attached}]" if attached else f"{head}: {text}"


WIDEST = 640
PADDING = 14
ROOM = 120
"""Height kept for a widget that is not made, in pixels."""

WidgetFactory = Callable[[Message], QWidget]

HeightOf = Callable[[Message, int], int]
"""Gives the height of the widget for a question in a width; 0 where nobody makes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionContext(painted_row.RowContext):
    """The place of the question, and the function that gives the height of its widget."""

    height_of: HeightOf


class QuestionRow(painted_row.ContextRow[QuestionContext]):
    """A question, open or answered."""

    def show(self, message: Message, context: QuestionContext) -> None:
        """Show the question as it is now; the height of its widget may have changed."""
        self.message, self.context = message, context
        self.lay_out()

    @property
    def open(self) -> bool:
        """Whether the question has a widget, not an answer."""
        return self.message.prompt is not None and self.message.prompt.open

    def answer_text(self) -> str:
        """Return the answer in words."""
        prompt, texts = self.message.prompt, self.style.texts
        if prompt is None or prompt.dismissed:
            return texts("transcript.question.skipped")
        if prompt.type == PromptType.APPROVAL:
            return row_words.permission_of(prompt.answer, texts)
        answer = prompt.answer.strip().lower()
        if prompt.type == PromptType.YESNO and answer in ("yes", "no"):
            return texts(f"transcript.question.{answer}")
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
            high = self.context.height_of(self.message, width) or ROOM
        else:
            inner = max(40, width - 2 * PADDING)
            self._question = self._text(self.question_text())
            self._answer = self._text(self.answer_text())
            self._question.place(left + PADDING, top + 10, inner)
            self._answer.place(left + PADDING, self._question.rect.bottom() + 3, inner)
            high = self._answer.rect.bottom() + 11 - top
        self.box = QRect(left, top, width, high)
        self.height = top + high + self.below

    def _text(self, text: str) -> Segment:
        span = Span(break_words(clean(text[:4_000]).replace("\r", "")))
        return Segment(self.style, [Block(PARAGRAPH, (span,))], 0, 0)

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        if self.open:
            return
        tokens = self.style.tokens
        paint_box(painter, self.box, tokens.line, tokens.surface, 10)
        faint = Range(0, self._question.length, "transparent", tokens.text_2)
        self._question.paint(painter, clip, [faint])
        self._answer.paint(painter, clip, ())

    def describe(self) -> str:
        """Return question and answer for a screen reader."""
        if self.open:
            approval = self.message.prompt is not None and self.message.prompt.type == PromptType.APPROVAL
            waits = self.style.texts("transcript.waits.approval" if approval else "transcript.waits.answer")
            return f"{self.message.author.name} ({waits}): {self.question_text()}"
        return f"{self.message.author.name}: {self.question_text()} – {self.answer_text()}"


class QuestionWidgets(QObject):
    """The widgets over open questions by message id; emits `resized(message id)`
    when one wants another height.

    A widget is made when its question comes on screen, hidden off screen and deleted when it is answered.
    """

    resized = Signal(str)

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
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
        """Return the height of a question's widget for a width in pixels, and make it if needed;
        0 without a factory.
        """
        widget = self._widgets.get(message.id)
        if widget is None:
            if self._factory is None:
                return 0
            widget = self._factory(message)
            widget.setParent(self._area.viewport())
            widget.ensurePolished()
            widget.installEventFilter(self)
            self._widgets[message.id] = widget
            put_in_tab_order((self._area, *stops_in(widget)))
        self._heights[message.id] = (width, _height_in(widget, width))
        return self._heights[message.id][1]

    def place(self, boxes: Mapping[str, QRect]) -> None:
        """Show the widgets of these questions in their rectangles, and hide the others."""
        for message_id, widget in self._widgets.items():
            box = boxes.get(message_id)
            if box is not None:
                widget.setGeometry(box)
            widget.setVisible(box is not None)

    def keep(self, open_ids: set[str]) -> None:
        """Delete the widgets of all questions but these."""
        for message_id in [each for each in self._widgets if each not in open_ids]:
            widget = self._widgets.pop(message_id)
            self._heights.pop(message_id, None)
            widget.removeEventFilter(self)
            focused = self._area.window().focusWidget()
            if focused in (widget, *widget.findChildren(QWidget)):
                self._area.setFocus()
            drop(widget)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            for message_id, widget in self._widgets.items():
                width, height = self._heights.get(message_id, (0, 0))
                if widget is watched and width and _height_in(widget, width) != height:
                    self.resized.emit(message_id)
        return super().eventFilter(watched, event)


def _height_in(widget: QWidget, width: int) -> int:
    """Return the height that a widget takes in a width."""
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
