"""A message as a row of a transcript: header, what was thought, text, state and what it offers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from app.core.errors import FailureKind
from app.core.message import Message, MessageState, Role
from app.gui.markdown.blocks import PARAGRAPH, Block, Span
from app.gui.markdown.literal import blocks_of
from app.gui.markdown.streaming import StreamingBlocks
from app.gui.transcript.attachment_chips import AttachmentChips
from app.gui.transcript.painted_row import COPY_CODE, WORDS, Link, PaintedRow, RowFrame
from app.gui.transcript.row_header import CHIP, Chip, Piece, Speaker, paint_avatar, paint_header, place_header
from app.gui.transcript.row_style import MAX_COLUMN, RowStyle
from app.gui.transcript.row_words import chips_of, error_of, is_cut, meta_of, thought_of, tip_of
from app.gui.transcript.search_result import THOUGHT, Hit
from app.gui.transcript.segments import Range, Segment
from app.gui.transcript.thought_line import ThoughtLine

FOLD_ABOVE = 100_000
FOLD_KEEPS = 20_000
SEPARATOR = 36
RETRY = "retry"
SETTINGS = "settings"
CONTINUE = "continue"
UNFOLD = "unfold"

EARLIER = "earlier_version"
LATER = "later_version"
_SETTINGS_HELP = (
    FailureKind.AUTHENTICATION,
    FailureKind.PERMISSION,
    FailureKind.NO_KEY,
    FailureKind.QUOTA,
    FailureKind.MODEL_NOT_FOUND,
    FailureKind.NOT_INSTALLED,
    FailureKind.REDIRECTED,
)


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row cannot know from its message: speaker's look, role, place and what the reader opened.

    `versions` is (number from 1, how many) of the turn; `thought_s` the seconds until the first word.
    """

    speaker: Speaker
    role: str = ""
    separator: str = ""
    can_retry: bool = False
    can_continue: bool = False
    unfolded: bool = False
    frame: RowFrame = field(default_factory=RowFrame)
    chat: bool = False
    headed: bool = True
    waiting: bool = False
    versions: tuple[int, int] = (1, 1)
    thought_open: bool = False
    thought_s: float | None = None


class MessageRow(PaintedRow):
    """A message with its documents."""

    def __init__(self, message: Message, text: str, style: RowStyle, context: RowContext, width: int) -> None:
        super().__init__(message.id, message, style, context.frame, width)
        self.context = context
        self._pieces: list[Piece] = []
        self._error: Segment | None = None
        self._stream: StreamingBlocks | None = None
        self._thought: ThoughtLine | None = None
        self._chips: AttachmentChips | None = None
        self.fed = 0
        self._content = QRect()
        if message.state == MessageState.STREAMING:
            self._stream = StreamingBlocks()
            self.feed(text)
        else:
            self._stack.set_blocks(self._parsed(text), 0)
        self._place()

    def feed(self, text: str) -> None:
        """Show the text as it is now, longer than before."""
        self.add(text[self.fed :])

    def add(self, text: str) -> None:
        """Add text at the end of a message that grows."""
        if self._stream is None or not text:
            return
        had_text = bool(self.blocks)
        first = self._stream.feed(text)
        self.fed += len(text)
        self._stack.set_blocks(self._stream.blocks, first)
        changed = self._stack.stale
        self._place()
        self.changed_from = (
            self.segments[changed].rect.top() - 2 if had_text and changed < len(self.segments) else 0
        )

    def think(self, message: Message, context: RowContext) -> None:
        """Show what has been thought so far."""
        self.message, self.context = message, context
        self._place()

    def finish(self, message: Message, text: str, context: RowContext) -> None:
        """Show the message as it is stored; what already stands is kept where it is the same."""
        self.message = message
        self.context = context
        self.frame = context.frame
        if self._stream is not None and message.state != MessageState.STREAMING:
            if text.startswith(self._stream.source):
                self.feed(text)
                first = self._stream.finish()
                self._stack.set_blocks(self._stream.blocks, first)
            else:
                self._stack.set_blocks(self._parsed(text), 0)
            self._stream = None
        self._place()

    def set_context(self, context: RowContext) -> None:
        """Show another separator or look of the speaker."""
        if context != self.context:
            self.context = context
            self.frame = context.frame
            self._stack.stale = 0
            self._place()

    def _parsed(self, text: str) -> list[Block]:
        if len(text) > FOLD_ABOVE and not self.context.unfolded:
            text = text[:FOLD_KEEPS].rsplit("\n", 1)[0] or text[:FOLD_KEEPS]
        return blocks_of(self.message, text)

    def _place(self) -> None:
        self.version += 1
        self.counted = -1
        self._links = []
        style, message, context = self.style, self.message, self.context
        top = self.top + (style.tall(SEPARATOR) if context.separator else 0)
        left, right, text_left = self.left, self.right, self.text_left
        self._content = QRect(left, top, right - left, 0)
        y = top
        self._pieces = []
        if context.headed:
            self._place_header(top)
            y += style.header + 3
        bubble = style.wide and message.role == Role.USER
        inset = 12 if bubble else 0
        width = max(40, right - text_left - 2 * inset)
        y = self._place_thought(text_left, y, width)
        y += 9 if bubble else 0
        bottom = self._stack.place(text_left + inset, y, width)
        if not self.segments and not (bubble and message.attachments):
            waits = (
                message.state == MessageState.STREAMING and not message.tool_calls and self._thought is None
            )
            bottom = y + style.text.line_height if waits else y - (9 if bubble else 0)
        self._chips = None
        if message.attachments:
            self._chips = AttachmentChips(style, message.attachments)
            bottom = self._chips.place(text_left + inset, bottom + (8 if self.segments else 0), width)
        bottom += 9 if bubble and (self.segments or self._chips) else 0
        bottom = self._place_end(text_left, bottom, width)
        self._content.setBottom(bottom)
        # Text that shows nothing is still a row: a picture must not be empty, nor cut the initial.
        least = style.avatar if context.headed and style.wide else 8
        self.height = max(bottom + self.below, top + least)

    def _place_header(self, top: int) -> None:
        style, message, context = self.style, self.message, self.context
        name_left = self.text_left if style.wide else self.text_left + style.avatar + 9
        chips = chips_of(
            message,
            context.role,
            style.texts,
            model=style.wide,
            begun=bool(self.blocks),
            chat=context.chat,
        )
        if context.waiting:
            chips.append(Chip(style.texts("transcript.waiting_for_you"), "warn"))
        meta, tip = meta_of(message, style.texts, time=style.wide), tip_of(message, style.texts)
        right = self.right
        number, count = context.versions
        if count > 1:
            right = self._place_versions(f"{number}/{count}", top, right) - 8
        self._pieces = place_header(style, context.speaker, chips, meta, name_left, top, right, tip=tip)

    def _place_versions(self, words: str, top: int, right: int) -> int:
        """Place `‹ 2/3 ›` at the right end of the header; return its left edge."""
        style, number, count = self.style, *self.context.versions
        width = style.chip_metrics.horizontalAdvance(words) + 8
        after = QRect(right - 20, top, 20, style.header)
        middle = QRect(after.left() - width, top, width, style.header)
        before = QRect(middle.left() - 20, top, 20, style.header)
        if number > 1:
            self._links.append(Link(EARLIER, "‹", before))
        self._links.append(Link("", words, middle))
        if number < count:
            self._links.append(Link(LATER, "›", after))
        return before.left()

    def _place_thought(self, left: int, y: int, width: int) -> int:
        """Place the line about what was thought, and the thought itself where it is unfolded."""
        message, context = self.message, self.context
        if not message.thinking or not context.chat:
            self._thought = None
            return y
        if self._thought is None:
            self._thought = ThoughtLine(self.style)
        going = message.state == MessageState.STREAMING and not self.blocks
        words = thought_of(self.style.texts, going=going, seconds=context.thought_s)
        self._thought.set_text(words, message.thinking if context.thought_open else "")
        bottom = self._thought.place(left, y, width)
        self._links.append(Link(THOUGHT, "", self._thought.line))
        return bottom + (6 if self.segments or message.state != MessageState.STREAMING else 0)

    def _place_end(self, left: int, y: int, width: int) -> int:
        """Place what stands under the text: the error, and the words that ask for an action."""
        style, message = self.style, self.message
        self._error = None
        wanted: list[tuple[str, str]] = []
        if message.state != MessageState.STREAMING and not self.context.unfolded and self._folded:
            size = f"{len(message.content) / 1_000_000:.1f} MB" if len(message.content) >= 1_000_000 else ""
            size = size or f"{len(message.content) // 1000} kB"
            wanted.append((UNFOLD, style.texts("transcript.show_all", size=size)))
        cut = message.state == MessageState.STOPPED or is_cut(message)
        if not self.context.headed and cut:
            key = (
                "transcript.stopped"
                if message.state == MessageState.STOPPED
                else f"transcript.note.{message.note}"
            )
            wanted.append(("", style.texts(key)))
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
        x = left
        for action, text in wanted:
            wide = style.chip_metrics.horizontalAdvance(text) + 2
            self._links.append(Link(action, text, QRect(x, y, wide, style.tall(WORDS))))
            x += wide + 16
        return y + style.tall(WORDS) if wanted else y

    @property
    def _folded(self) -> bool:
        return len(self.message.content) > FOLD_ABOVE and self.fed == 0

    @property
    def error_text(self) -> str:
        """Why the message failed, in words."""
        return error_of(self.message, self.context.speaker.name, self.style.texts)

    def tip_at(self, point: QPoint) -> str:
        """Return the whole of what was elided, or what a mark does, under a point of the row."""
        step = self.action_at(point)
        if step in (EARLIER, LATER):
            return self.style.texts(f"transcript.{step}")
        return next((piece.tip for piece in self._pieces if piece.tip and piece.rect.contains(point)), "")

    def action_at(self, point: QPoint) -> str:
        """Return the action asked for by what is painted under a point of the row, or nothing."""
        action = super().action_at(point)
        if action:
            return action
        if any(segment.copy_rect.contains(point) for segment in self.segments):
            return COPY_CODE
        return ""

    def range_of(self, hit: Hit) -> tuple[int, int] | None:
        """Return from where to where a hit stands in the text, or in the thought where it is one of that."""
        if hit.part == THOUGHT:
            return self._thought.range_of(hit) if self._thought is not None else None
        return super().range_of(hit)

    def hit_rect(self, hit: Hit) -> QRect:
        """Return where a hit stands in the row."""
        shown = self.range_of(hit)
        if hit.part == THOUGHT and shown is not None and self._thought is not None:
            return self._thought.position_rect(shown[0])
        return super().hit_rect(hit)

    @property
    def settled(self) -> bool:
        """Whether the row stands as it is and is small enough to be kept as a picture."""
        return self.message.state != MessageState.STREAMING and super().settled

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""
        style, tokens, speaker = self.style, self.style.tokens, self.context.speaker
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_lines(painter)
        if self.context.separator:
            self._paint_separator(painter)
        content = self._content
        user = self.message.role == Role.USER
        if not style.wide and self.context.headed:
            colour = speaker.background if user else speaker.colour
            painter.fillRect(content.left(), content.top(), 3, content.height(), QColor(colour))
        if style.wide:
            avatar = QRect(content.left(), content.top(), style.avatar, style.avatar)
        else:
            avatar = QRect(content.left() + style.text_left, content.top(), style.avatar, style.avatar)
        if self.context.headed and clip.top() < content.top() + style.avatar:
            paint_avatar(painter, style, speaker, avatar)
            paint_header(painter, style, self._pieces, 0)
        if style.wide and user and (self.segments or self._chips):
            self._paint_bubble(painter)
        if self._thought is not None:
            self._thought.paint(painter, clip, [each for each in ranges if each.thought])
        self._stack.paint(painter, clip, [each for each in ranges if not each.thought])
        if self._chips is not None:
            self._chips.paint(painter)
        if self.message.state == MessageState.STREAMING:
            self._paint_caret(painter)
        if self._error is not None:
            everything = Range(0, self._error.length, "transparent", tokens.error)
            self._error.paint(painter, clip, [everything])
        self._paint_words(painter)

    def _paint_separator(self, painter: QPainter) -> None:
        style = self.style
        left, right = style.margin, min(self._width - style.margin, style.margin + MAX_COLUMN)
        top = style.lead if self.frame.first else self.frame.gap
        box = QRect(left, top, right - left, style.tall(SEPARATOR) - 12)
        painter.setFont(style.label_font)
        width = painter.fontMetrics().horizontalAdvance(self.context.separator)
        painter.setPen(QColor(style.tokens.text_2))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.context.separator)
        line = QColor(style.tokens.line)
        middle, half = box.center().y(), (box.width() - width) // 2 - 14
        if half > 0:
            painter.fillRect(left, middle, half, 1, line)
            painter.fillRect(right - half, middle, half, 1, line)

    def _paint_bubble(self, painter: QPainter) -> None:
        used = max(
            [s.document.idealWidth() if s.document else s.rect.width() for s in self.segments], default=0
        )
        left, top, bottom = self.text_left + 12, self._content.bottom(), 0
        if self.segments:
            top, bottom = self.segments[0].rect.top(), self._stack.bottom
        if self._chips is not None:
            used, top = max(used, self._chips.rect.width()), min(top, self._chips.rect.top())
            bottom = self._chips.rect.bottom() + 1
        box = QRectF(left - 12, top - 9, used + 25, bottom - top + 18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.style.tokens.hover))
        painter.drawRoundedRect(box, 10, 10)

    def _paint_caret(self, painter: QPainter) -> None:
        if not self.segments and (self._thought is not None or self.message.tool_calls):
            return
        line = self.style.text.line_height
        place = QRect(self.text_left, self._content.bottom() - line, 1, line)
        if self.segments:
            last = self.segments[-1]
            place = last.position_rect(last.start + last.length)
        size = self.style.font.pixelSize()
        painter.fillRect(
            place.left() + 1, place.bottom() - size - 3, 7, size + 2, QColor(self.style.tokens.text_2)
        )

    def describe(self) -> str:
        """Return what a screen reader says: who speaks, the chips and the text."""
        chips = [piece.text for piece in self._pieces if piece.kind == CHIP]
        if self.depth:
            chips.append(self.style.texts("transcript.card.depth", count=self.depth))
        head = f"{self.context.speaker.name} ({', '.join(chips)})" if chips else self.context.speaker.name
        text = self.error_text if self.message.state == MessageState.FAILED else self.plain_text
        files = f" [{self._chips.words}]" if self._chips is not None else ""
        return f"{head}: {text}{files}"
