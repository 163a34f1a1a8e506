"""One row of a transcript: a message laid out and painted, with its header, blocks and state."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

from app.core.errors import AUTHENTICATION, MODEL_NOT_FOUND, NO_KEY, NOT_INSTALLED, PERMISSION, QUOTA
from app.core.message import FAILED, STREAMING, USER, Message
from app.gui.chat.row_header import CHIP, Piece, Speaker, paint_avatar, paint_header, place_header
from app.gui.chat.row_style import MAX_COLUMN, RowStyle
from app.gui.chat.row_words import chips_of, error_of, meta_of, why_of
from app.gui.chat.segments import Range, Segment, group
from app.gui.markdown.blocks import CODE, PARAGRAPH, Block, Span, parse
from app.gui.markdown.streaming import StreamingBlocks

FOLD_ABOVE = 100_000
FOLD_KEEPS = 20_000
SEPARATOR = 36
MAX_PICTURE = 1_600
RETRY = "retry"
SETTINGS = "settings"
UNFOLD = "unfold"
COPY_CODE = "copy_code"
_WORD = re.compile(r"\w+")
_SETTINGS_HELP = (AUTHENTICATION, PERMISSION, NO_KEY, QUOTA, MODEL_NOT_FOUND, NOT_INSTALLED)


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row cannot know from its message: speaker's look, role and what stands above it."""

    speaker: Speaker
    role: str = ""
    separator: str = ""
    first: bool = False
    can_retry: bool = False
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class _Link:
    """A painted word that asks for an action."""

    action: str
    text: str
    rect: QRect


class MessageRow:
    """A message with documents; made when it comes on screen, thrown away some time after."""

    def __init__(self, message: Message, text: str, style: RowStyle, context: RowContext, width: int) -> None:
        self.message = message
        self.context = context
        self.height = 0
        self.changed_from = 0
        self.counted = -1
        self._picture: QPixmap | None = None
        self.blocks: list[Block] = []
        self.style = style
        self._width = width
        self._segments: list[Segment] = []
        self._pieces: list[Piece] = []
        self._links: list[_Link] = []
        self._error: Segment | None = None
        self._stream: StreamingBlocks | None = None
        self._fed = 0
        self._stale = 0
        self._content = QRect()
        if message.state == STREAMING:
            self._stream = StreamingBlocks()
            self.feed(text)
        else:
            self._set_blocks(self._parsed(text), 0)
        self._place()

    @property
    def documents(self) -> int:
        """How many documents the row holds."""
        return sum([segment.document is not None for segment in self._segments])

    @property
    def segments(self) -> Sequence[Segment]:
        """The pieces of the text from top to bottom."""
        return self._segments

    @property
    def plain_text(self) -> str:
        """The message as it reads, without marks."""
        return "\n".join([block.text for block in self.blocks])

    def feed(self, text: str) -> None:
        """Take the text as it is now, longer than before."""
        if self._stream is None or len(text) == self._fed:
            return
        had_text = bool(self.blocks)
        first = self._stream.feed(text[self._fed :])
        self._fed = len(text)
        self._set_blocks(self._stream.blocks, first)
        changed = self._stale
        self._place()
        self.changed_from = (
            self._segments[changed].rect.top() - 2 if had_text and changed < len(self._segments) else 0
        )

    def finish(self, message: Message, text: str, context: RowContext) -> None:
        """Show the message as it is stored; what already stands is kept where it is the same."""
        self.message = message
        self.context = context
        if self._stream is not None and message.state != STREAMING:
            if text.startswith(self._stream.source):
                self.feed(text)
                first = self._stream.finish()
                self._set_blocks(self._stream.blocks, first)
            else:
                self._set_blocks(self._parsed(text), 0)
            self._stream = None
        self._place()

    def set_context(self, context: RowContext) -> None:
        """Show another separator or look of the speaker."""
        if context != self.context:
            self.context = context
            self._stale = 0
            self._place()

    def set_width(self, width: int) -> None:
        """Lay out anew."""
        if width != self._width:
            self._width = width
            self._stale = 0
            self._place()

    def _parsed(self, text: str) -> list[Block]:
        if len(text) > FOLD_ABOVE and not self.context.unfolded:
            text = text[:FOLD_KEEPS].rsplit("\n", 1)[0] or text[:FOLD_KEEPS]
        return parse(text)

    def _set_blocks(self, blocks: list[Block], first: int) -> None:
        """Bring the pieces up to date from the first changed block on."""
        kept = 0
        while kept < len(self._segments) - 1 and self._segments[kept + 1].first_block <= first:
            kept += 1
        start_block = self._segments[kept].first_block if self._segments else 0
        position = self._segments[kept].start if self._segments else 0
        self.blocks = list(blocks)
        segments = self._segments[:kept]
        for index, (begin, end) in enumerate(group(blocks, start_block)):
            part = list(blocks[begin:end])
            if kept + index < len(self._segments):
                segment = self._segments[kept + index]
                segment.update(part)
                segment.first_block, segment.start = begin, position
            else:
                segment = Segment(self.style, part, begin, position)
            segment.goes_on = end < len(blocks) and blocks[end].kind == CODE and not blocks[end].first
            position += segment.length + 1
            segments.append(segment)
        self._segments = segments
        self._stale = min(self._stale, kept)

    def _place(self) -> None:
        """Set everything in its place and find the height."""
        self._picture = None
        self.counted = -1
        style, message = self.style, self.message
        top = (style.lead if self.context.first else 0) + (SEPARATOR if self.context.separator else 0)
        indent = message.author.depth * 44 if style.wide else message.author.depth * 14
        left = style.margin + indent
        right = min(self._width - style.margin, style.margin + MAX_COLUMN)
        text_left = left + style.text_left
        name_left = text_left if style.wide else text_left + style.avatar + 9
        self._content = QRect(left, top, right - left, 0)
        chips = chips_of(message, self.context.role, style.texts, model=style.wide, begun=bool(self.blocks))
        meta, why = meta_of(message, style.texts, time=style.wide), why_of(message, style.texts)
        self._pieces = place_header(style, self.context.speaker, chips, meta, name_left, top, right, tip=why)
        y = top + style.header + 3
        bubble = style.wide and message.role == USER
        inset = 12 if bubble else 0
        y += 9 if bubble else 0
        width = max(40, right - text_left - 2 * inset)
        bottom, first = y, self._stale
        for number, segment in enumerate(self._segments):
            if number:
                upper = self._segments[number - 1]
                y = upper.rect.bottom() + 1 + segment.gap_below(upper)
            if number >= first or segment.rect.top() != y:
                segment.place(text_left + inset, y, width)
        if self._segments:
            bottom = self._segments[-1].rect.bottom() + 1
        self._stale = len(self._segments)
        if not self._segments and message.state == STREAMING:
            bottom = y + style.text.line_height
        bottom += 9 if bubble else 0
        bottom = self._place_end(text_left, bottom, width)
        self._content.setBottom(bottom)
        self.height = bottom + style.row_gap

    def _place_end(self, left: int, y: int, width: int) -> int:
        """Place what stands under the text: the error, and the words that ask for an action."""
        style, message = self.style, self.message
        self._error, self._links = None, []
        wanted: list[tuple[str, str]] = []
        if message.state != STREAMING and not self.context.unfolded and self._folded:
            size = f"{len(message.content) / 1_000_000:.1f} MB" if len(message.content) >= 1_000_000 else ""
            size = size or f"{len(message.content) // 1000} kB"
            wanted.append((UNFOLD, style.texts("transcript.show_all", size=size)))
        if message.state == FAILED:
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
            self._links.append(_Link(action, text, QRect(x, y, wide, 24)))
            x += wide + 16
        return y + 24 if wanted else y

    @property
    def _folded(self) -> bool:
        return len(self.message.content) > FOLD_ABOVE and self._fed == 0

    @property
    def error_text(self) -> str:
        """Why the message failed, in words."""
        return error_of(self.message, self.context.speaker.name, self.style.texts)

    def tip_at(self, point: QPoint) -> str:
        """Return the whole of what was elided under a point of the row."""
        return next((piece.tip for piece in self._pieces if piece.tip and piece.rect.contains(point)), "")

    def action_at(self, point: QPoint) -> str:
        """Return the action asked for by what is painted under a point of the row, or nothing."""
        for link in self._links:
            if link.rect.contains(point):
                return link.action
        if any(segment.copy_rect.contains(point) for segment in self._segments):
            return COPY_CODE
        return ""

    @property
    def length(self) -> int:
        """How long the plain text is."""
        return self._segments[-1].start + self._segments[-1].length if self._segments else 0

    @property
    def links(self) -> list[tuple[int, Span]]:
        """The links of the text and where they begin."""
        return [found for segment in self._segments for found in segment.links]

    @property
    def copy_rects(self) -> list[QRect]:
        """Where the copy buttons of code stand."""
        return [segment.copy_rect for segment in self._segments if not segment.copy_rect.isEmpty()]

    @property
    def action_rects(self) -> list[tuple[str, QRect]]:
        """Where the words that ask for an action stand."""
        return [(link.action, link.rect) for link in self._links]

    def word_at(self, position: int) -> tuple[int, int]:
        """Return where the word around a place begins and ends."""
        for match in _WORD.finditer(self.plain_text):
            if match.start() <= position <= match.end():
                return match.start(), match.end()
        return position, position

    @property
    def actions(self) -> list[tuple[str, str]]:
        """What the row offers: (action, words)."""
        return [(link.action, link.text) for link in self._links]

    def code_at(self, point: QPoint) -> str:
        """Return the code of the block whose copy button is under a point."""
        code: list[str] = []
        for segment in self._segments:
            if code and not segment.blocks[0].first:
                code.append(segment.blocks[0].text)
            elif code:
                break
            elif segment.copy_rect.contains(point):
                code.append(segment.blocks[0].text)
        return "\n".join(code)

    def link_at(self, point: QPoint) -> tuple[str, str]:
        """Return address and shown text of the link under a point, or two empty texts."""
        segment = self._segment_at(point.y())
        return segment.link_at(QPointF(point)) if segment and segment.rect.contains(point) else ("", "")

    def position_at(self, point: QPoint) -> int:
        """Return the place in the plain text nearest to a point of the row."""
        segment = self._segment_at(point.y())
        if segment is None:
            return 0
        if point.y() < segment.rect.top() and segment is self._segments[0]:
            return 0
        return segment.position_at(QPointF(point))

    def position_rect(self, position: int) -> QRect:
        """Return where a place of the plain text stands in the row."""
        for segment in reversed(self._segments):
            if position >= segment.start:
                return segment.position_rect(position)
        return self._content

    def _segment_at(self, y: int) -> Segment | None:
        for segment in self._segments:
            if y <= segment.rect.bottom():
                return segment
        return self._segments[-1] if self._segments else None

    @property
    def settled(self) -> bool:
        """Whether the row stands as it is and is small enough to be kept as a picture."""
        return self.message.state != STREAMING and self.height <= MAX_PICTURE

    @property
    def has_picture(self) -> bool:
        """Whether the picture is made."""
        return self._picture is not None

    def picture(self, ratio: float) -> QPixmap:
        """Return the row painted, in device pixels of that ratio; made once and kept."""
        if self._picture is None:
            size = QSize(self._width, self.height)
            self._picture = QPixmap(size * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(QColor(self.style.tokens.bg))
            painter = QPainter(self._picture)
            self.paint(painter, QRect(QPoint(), size), ())
            painter.end()
        return self._picture

    def drop_picture(self) -> None:
        """Give the picture's memory back."""
        self._picture = None

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint in the row's coordinates what lies inside `clip`."""
        style, tokens, speaker = self.style, self.style.tokens, self.context.speaker
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.context.separator:
            self._paint_separator(painter)
        content = self._content
        user = self.message.role == USER
        if not style.wide or self.message.author.depth:
            colour = speaker.background if user else speaker.colour
            painter.fillRect(content.left(), content.top(), 3, content.height(), QColor(colour))
        if style.wide:
            avatar = QRect(content.left(), content.top(), style.avatar, style.avatar)
        else:
            avatar = QRect(content.left() + style.text_left, content.top(), style.avatar, style.avatar)
        if clip.top() < content.top() + style.avatar:
            paint_avatar(painter, style, speaker, avatar)
            paint_header(painter, style, self._pieces, 0)
        if style.wide and user and self._segments:
            self._paint_bubble(painter)
        for segment in self._segments:
            if segment.rect.bottom() >= clip.top() and segment.rect.top() <= clip.bottom():
                segment.paint(painter, clip, ranges)
        if self.message.state == STREAMING:
            self._paint_caret(painter)
        if self._error is not None:
            everything = Range(0, self._error.length, "transparent", tokens.error)
            self._error.paint(painter, clip, [everything])
        painter.setFont(style.chip_font)
        painter.setPen(QColor(tokens.accent))
        for link in self._links:
            painter.drawText(link.rect, int(Qt.AlignmentFlag.AlignVCenter), link.text)

    def _paint_separator(self, painter: QPainter) -> None:
        style = self.style
        left, right = style.margin, min(self._width - style.margin, style.margin + MAX_COLUMN)
        top = style.lead if self.context.first else 0
        box = QRect(left, top, right - left, SEPARATOR - 12)
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
        first, last = self._segments[0].rect, self._segments[-1].rect
        used = max(
            (s.document.idealWidth() if s.document else s.rect.width() for s in self._segments), default=0
        )
        box = QRectF(first.left() - 12, first.top() - 9, used + 25, last.bottom() - first.top() + 19)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.style.tokens.hover))
        painter.drawRoundedRect(box, 10, 10)

    def _paint_caret(self, painter: QPainter) -> None:
        line = self.style.text.line_height
        place = QRect(self._content.left() + self.style.text_left, self._content.bottom() - line, 1, line)
        if self._segments:
            last = self._segments[-1]
            place = last.position_rect(last.start + last.length)
        size = self.style.font.pixelSize()
        painter.fillRect(
            place.left() + 1, place.bottom() - size - 3, 7, size + 2, QColor(self.style.tokens.text_2)
        )

    def describe(self) -> str:
        """Return what a screen reader says: who speaks, the chips and the text."""
        chips = ", ".join(piece.text for piece in self._pieces if piece.kind == CHIP)
        head = f"{self.context.speaker.name} ({chips})" if chips else self.context.speaker.name
        text = self.error_text if self.message.state == FAILED else self.plain_text
        return f"{head}: {text}"
