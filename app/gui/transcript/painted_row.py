"""The base class of rows, which are laid out and painted without widgets, and the parts that rows share.

`MessageRow`, `CardRow`, `GroupRow` and `QuestionRow` differ in what they lay out. The parts: the line that
says who speaks, the typing indicator, the line that unfolds thinking, and chips.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QWidget

from app.core.council_parts import FileQuote
from app.core.message import Attachment, Message
from app.core.texts import clock_text, size_text
from app.engine.council.outcome import quote_words
from app.engine.council.record import QuoteState
from app.gui.markdown.blocks import PARAGRAPH, Block, Span, break_words, clean, same_start
from app.gui.tasks import timer
from app.gui.transcript.row_text import MAX_COLUMN, Range, RowStyle, SegmentStack
from app.gui.widgets.badge import chip_colours, fill_box, paint_box, paint_chip, paint_text

NAME = "name"
CHIP = "chip"
META = "meta"


@dataclass(frozen=True, slots=True)
class HeaderChip:
    """A rounded label; `tone` is one of `chip_colours`."""

    text: str
    tone: str = "neutral"


@dataclass(frozen=True, slots=True)
class RowSpeaker:
    """How a speaker is painted: the colours are foreground and background of the initial.

    `icon` is the name of a picture shown in place of the initial.
    """

    name: str
    initial: str
    colour: str
    background: str
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A placed part of the line; `tip` is its full text if it is elided."""

    kind: str
    rect: QRect
    text: str
    tone: str = "neutral"
    tip: str = ""


def place_header(
    style: RowStyle, speaker: RowSpeaker, chips: Sequence[HeaderChip], meta: str, line: QRect, tip: str = ""
) -> list[Piece]:
    """Place name, chips and meta text side by side in a line; what does not fit is elided or left out.

    `tip` is the tool tip of the meta text.
    """
    pieces: list[Piece] = []
    top, right, height = line.top(), line.left() + line.width(), line.height()
    elide = Qt.TextElideMode.ElideRight

    def text_piece(kind: str, text: str, x: int, said: str = "") -> int:
        metrics = style.name_metrics if kind == NAME else style.meta_metrics
        width = metrics.horizontalAdvance(text) + 2
        room = right - x
        if width > room:
            if room < 32:
                return x
            shown = metrics.elidedText(text, elide, room)
            pieces.append(Piece(kind, QRect(x, top, room, height), shown, tip=said or text))
            return right
        pieces.append(Piece(kind, QRect(x, top, width, height), text, tip=said))
        return x + width

    x = text_piece(NAME, speaker.name, line.left())
    for chip in chips:
        width = style.chip_metrics.horizontalAdvance(chip.text) + 18
        room = min(right - x - 8, 220)
        if width > room and room < 44:
            break
        shown = style.chip_metrics.elidedText(chip.text, elide, min(width, room) - 16)
        tip = chip.text if shown != chip.text else ""
        pieces.append(Piece(CHIP, QRect(x + 8, top + 1, min(width, room), height - 2), shown, chip.tone, tip))
        x += 8 + min(width, room)
    if meta:
        text_piece(META, meta, x + 8, tip)
    return pieces


def paint_header(painter: QPainter, style: RowStyle, pieces: list[Piece]) -> None:
    """Paint the placed parts."""
    for piece in pieces:
        if piece.kind == CHIP:
            painter.setFont(style.chip_font)
            paint_chip(painter, piece.rect, piece.text, chip_colours(style.tokens, piece.tone))
        elif piece.kind == NAME:
            paint_text(painter, style.name_font, style.tokens.text, piece.rect, piece.text)
        else:
            paint_text(painter, style.meta_font, style.tokens.text_2, piece.rect, piece.text)


def paint_avatar(painter: QPainter, style: RowStyle, speaker: RowSpeaker, rect: QRect) -> None:
    """Paint the square with the speaker's initial."""
    fill_box(painter, QRectF(rect), speaker.background, 7 if style.wide else 5)
    if speaker.icon and style.picture is not None:
        side = round(rect.height() * 0.54)
        picture = style.picture(speaker.icon, "accent", side, painter.device().devicePixelRatioF())
        painter.drawPixmap(rect.center().x() - (side - 1) // 2, rect.center().y() - (side - 1) // 2, picture)
        return
    font = QFont(style.name_font)
    font.setPixelSize(round(rect.height() * 0.46))
    paint_text(painter, font, speaker.colour, rect, speaker.initial, Qt.AlignmentFlag.AlignHCenter)


TICK_MS = 350
THINKS_AFTER_S = 10
"""A model that has said nothing for so long most likely thinks."""


def animated(widget: QWidget) -> bool:
    """Say whether the user wants things to move."""
    return widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget) > 0


class TypingIndicator(QObject):
    """Shows under a transcript who speaks next, with moving dots; after some seconds it counts them.

    Emits `ticked` while the dots move; they do not if animations are off. With `can_stop` it offers to stop a
    model that thinks for long.
    """

    ticked = Signal()

    def __init__(self, style: RowStyle, parent: QWidget) -> None:
        super().__init__(parent)
        self.style, self._widget = style, parent
        self._speaker: RowSpeaker | None = None
        self._role = self._words = ""
        self._begun = 0.0
        self._step = 0
        self._stop_rect = QRect()
        self.can_stop = False
        self._timer = timer(self, TICK_MS, self._on_timeout)

    @property
    def active(self) -> bool:
        """Whether a speaker is shown."""
        return self._speaker is not None

    @property
    def height(self) -> int:
        """The height in pixels."""
        return self.style.tall(52)

    @property
    def moving(self) -> bool:
        """Whether its dots move."""
        return self._timer.isActive()

    def dress(self, speaker: RowSpeaker) -> None:
        """Show the same speaker in other colours or words; the seconds go on."""
        self._speaker = speaker

    def start(self, speaker: RowSpeaker, role: str, words: str = "") -> None:
        """Show a speaker, and in words what is waited for."""
        if speaker != self._speaker:
            self._begun = monotonic()
        self._speaker, self._role, self._words = speaker, role, words
        self.wake()
        self.ticked.emit()

    def say(self, words: str) -> None:
        """Show what is waited for now; the seconds are counted anew."""
        self._words, self._begun = words, monotonic()
        self.ticked.emit()

    def wake(self) -> None:
        """Start the timer if the transcript is on the screen."""
        if self._speaker is not None and self._widget.isVisible():
            self._timer.start(TICK_MS if animated(self._widget) else 1_000)

    def waiting_text(self) -> str:
        """Return what is waited for, and how long it has taken."""
        seconds = int(monotonic() - self._begun)
        texts = self.style.texts
        if self._thinks():
            return texts("transcript.thinking_for", time=clock_text(seconds))
        if seconds < 3:
            return self._words
        return texts("transcript.waited", text=self._words or texts("transcript.waiting"), seconds=seconds)

    def stops_at(self, point: QPoint) -> bool:
        """Return whether a click at a point of the viewport stops the model."""
        return self.active and self._stop_rect.contains(point)

    def _thinks(self) -> bool:
        return not self._words and monotonic() - self._begun >= THINKS_AFTER_S

    def stop(self) -> None:
        """Show no speaker."""
        self._speaker = None
        self._stop_rect = QRect()
        self._timer.stop()

    def paint(self, painter: QPainter, rect: QRect) -> None:
        """Paint into the space under the last row."""
        if self._speaker is None:
            return
        style = self.style
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = rect.left() + style.margin
        text_left = left + style.text_left
        if style.barred:
            painter.fillRect(left, rect.top(), 3, self.height - 6, QColor(self._speaker.colour))
        avatar = QRect(left + style.avatar_left, rect.top(), style.avatar, style.avatar)
        paint_avatar(painter, style, self._speaker, avatar)
        chips, right = [HeaderChip(self._role)] if self._role else [], rect.right() - style.margin
        name_left = left + style.name_left
        line = QRect(name_left, rect.top(), right - name_left, style.header)
        paint_header(painter, style, place_header(style, self._speaker, chips, "", line))
        painter.setPen(Qt.PenStyle.NoPen)
        for dot in range(3):
            lit = not animated(self._widget) or dot == self._step % 3
            painter.setBrush(QColor(style.tokens.text_2 if lit else style.tokens.line_strong))
            painter.drawEllipse(QRectF(text_left + dot * 12, rect.top() + style.header + 10, 6, 6))
        wide = right - text_left - 44
        room = QRect(text_left + 44, rect.top() + style.header + 3, wide, style.tall(20))
        shown = style.meta_metrics.elidedText(self.waiting_text(), Qt.TextElideMode.ElideRight, wide)
        paint_text(painter, style.meta_font, style.tokens.text_2, room, shown)
        self._stop_rect = QRect()
        if self.can_stop and self._thinks():
            stop = style.texts("transcript.group.stop")
            at = room.left() + style.meta_metrics.horizontalAdvance(shown) + 16
            self._stop_rect = QRect(at, room.top(), style.meta_metrics.horizontalAdvance(stop), room.height())
            paint_text(painter, style.meta_font, style.tokens.accent, self._stop_rect, stop)

    def _on_timeout(self) -> None:
        if not self._widget.isVisible():
            self._timer.stop()
            return
        self._step += 1
        self.ticked.emit()


COPY_CODE = "copy_code"
FOLLOW = "follow"
"""Opens a link of the text, whose address stands behind it."""
FOLD = "fold"
SHOW_ALL = "show_all"

TEXT = "text"
THOUGHT = "thought"
ARGUMENTS = "arguments"
RESULT = "result"
REST = "rest"
"""Texts a row stands for but does not show in full: files, questions, errors, the name of a tool."""

_WORD = re.compile(r"\w+")
WORDS = 24
"""The height of a line of words that ask for an action."""


@dataclass(frozen=True, slots=True)
class RowFrame:
    """The place of a row: the space over and under it in pixels, and the sub-agents around it.

    `lines` are the colours of their group lines, outermost first; a `below` of None means the style's gap.
    """

    gap: int = 0
    below: int | None = None
    lines: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A painted word that does something when clicked."""

    action: str
    text: str
    rect: QRect


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A found range of one of a row's texts; `part` names the text, `start` and `end` are positions in it."""

    row_id: str
    part: str
    start: int
    end: int

    @property
    def message_id(self) -> str:
        """The message the row is drawn from."""
        return self.row_id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row shows besides its message; every kind of row has a subclass of it."""

    frame: RowFrame = field(default_factory=RowFrame)
    # None if the row cannot be folded.
    unfolded: bool | None = None


ContextT = TypeVar("ContextT", bound=RowContext)


class ContextRow(ABC, Generic[ContextT]):
    """A row drawn from one message; made when it comes on screen, dropped some time later."""

    def __init__(self, row_id: str, message: Message, style: RowStyle, context: ContextT, width: int) -> None:
        self.row_id, self.message, self.style, self.context = row_id, message, style, context
        self.height = self.changed_from = 0
        self._width = width
        self.text = SegmentStack(style)
        self._links: list[Link] = []
        self._pieces: list[Piece] = []
        self._line_top = 0
        self._fill()
        self.lay_out()

    @abstractmethod
    def _place(self) -> None:
        """Lay everything out and set the height in pixels."""

    @abstractmethod
    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint everything but the group lines and the links."""

    def _fill(self) -> None:  # Not all rows have text.
        """Set the text, at first and for a new context."""

    @abstractmethod
    def describe(self) -> str:
        """Return the row as text for a screen reader."""

    def show(self, message: Message, context: ContextT) -> None:
        """Show another state of the message."""
        changed = context != self.context
        self.message, self.context = message, context
        if changed:
            self._fill()
            self.lay_out()

    def lay_out(self) -> None:
        """Lay everything out anew."""
        self.changed_from = 0
        self._links = []
        self._take_edges()
        self._place()

    def set_width(self, width: int) -> None:
        """Lay out in another width."""
        if width != self._width:
            self._width = width
            self.text.stale = 0
            self.lay_out()

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`, in the row's coordinates, with `ranges` marked."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # Of the group lines the innermost begins at `_line_top`.
        for depth, colour in enumerate(self.context.frame.lines):
            x = self.style.margin + self.style.indent(depth) + self.style.text_left
            top = self._line_top if depth == self.depth - 1 else 0
            painter.fillRect(x, top, 2, self.height - top, QColor(colour))
        self._paint(painter, clip, ranges)
        self._paint_words(painter)

    def _take_edges(self) -> None:
        """Set the edges of the row, in pixels."""
        style, frame = self.style, self.context.frame
        # The number of sub-agents around the row.
        self.depth = len(frame.lines)
        # Of the content and of the column.
        self.left = style.margin + style.indent(self.depth)
        self.right = max(self.left + 120, min(self._width - style.margin, style.margin + MAX_COLUMN))
        # Of text and cards.
        self.text_left = self.left + style.text_left
        self.top = style.lead if frame.first else frame.gap
        # The space under the content.
        self.below = style.row_gap if frame.below is None else frame.below

    def _place_words(self, words: Sequence[tuple[str, str]], x: int, y: int) -> int:
        """Place actions and their words side by side; return the lower edge in pixels."""
        high = self.style.tall(WORDS)
        for action, text in words:
            wide = self.style.chip_metrics.horizontalAdvance(text) + 2
            self._links.append(Link(action, text, QRect(x, y, wide, high)))
            x += wide + 16
        return y + high

    def _paint_words(self, painter: QPainter) -> None:
        style = self.style
        for link in self._links:
            colour = style.tokens.accent if link.action else style.tokens.text_2
            paint_text(painter, style.chip_font, colour, link.rect, link.text)

    # Text

    def position_rect(self, position: int) -> QRect:
        """Return the rectangle of a position of the plain text in the row."""
        return self.text.position_rect(position) or QRect(self.text_left, self.top, 1, 1)

    def range_of(self, hit: SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the plain text; None if the row does not show it."""
        return (hit.start, hit.end) if hit.part == TEXT and hit.start < self.text.length else None

    def hit_rect(self, hit: SearchHit) -> QRect:
        """Return the rectangle of a hit in the row; of a hit that is not shown, the row's upper edge."""
        shown = self.range_of(hit)
        return self.position_rect(shown[0]) if shown else QRect(self.text_left, self.top, 1, 1)

    def word_at(self, position: int) -> tuple[int, int]:
        """Return start and end of the word around a position."""
        for match in _WORD.finditer(self.text.plain_text):
            if match.start() <= position <= match.end():
                return match.start(), match.end()
        return position, position

    # Actions

    @property
    def source_id(self) -> str:
        """The message whose parts the actions of the row name."""
        return self.message.id

    @property
    def action_rects(self) -> list[tuple[str, QRect]]:
        """The actions of the row and their rectangles."""
        return [(link.action, link.rect) for link in self._links if link.action]

    @property
    def actions(self) -> list[tuple[str, str]]:
        """The actions of the row and their labels."""
        return [(link.action, link.text) for link in self._links if link.action and link.text]

    def action_at(self, point: QPoint) -> str:
        """Return the action at a point of the row, or nothing."""
        if any(rect.contains(point) for rect in self.text.copy_rects):
            return COPY_CODE
        action = next((link.action for link in self._links if link.rect.contains(point)), "")
        url = "" if action else self.text.link_at(point)
        return f"{FOLLOW}/{url}" if url else action

    def tip_at(self, point: QPoint) -> str:
        """Return the tool tip at a point of the row: the full text of what is elided, or nothing."""
        return next((piece.tip for piece in self._pieces if piece.tip and piece.rect.contains(point)), "")

    @property
    def fold_words(self) -> str:
        """Whether the row is unfolded, in words."""
        return self.style.texts("transcript.expanded" if self.context.unfolded else "transcript.collapsed")


PaintedRow: TypeAlias = ContextRow[Any]
"""A row of any kind."""


THOUGHT_KEPT = 20_000
"""Characters of a thought that are shown: its end."""


def thought_blocks(text: str) -> list[Block]:
    """Return the thinking text as blocks, one per line, without empty lines."""
    return [Block(PARAGRAPH, (Span(break_words(clean(line))),), quote=1) for line in text.split("\n") if line]


class ThoughtLine:
    """A line that unfolds to a message's thinking, which is plain text, never Markdown."""

    def __init__(self, style: RowStyle) -> None:
        self._style = style
        self._words = self._text = ""
        self._cut: int | None = None
        self._stack = SegmentStack(style)
        self.line = QRect()

    def set_text(self, words: str, text: str) -> None:
        """Set the words of the line and the text under it; an empty text means folded."""
        self._words = words
        if text == self._text:
            return
        blocks = thought_blocks(text[-THOUGHT_KEPT:])
        self._text = text
        self._cut = None
        self._stack.set_blocks(blocks, same_start(self._stack.blocks, blocks))

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge in pixels."""
        wide = self._style.meta_metrics.horizontalAdvance(self._words) + 18
        high = self._style.tall(22)
        self.line = QRect(left, top, min(wide, width), high)
        self._stack.stale = 0
        bottom = self._stack.place(left + 3, top + high + 2, width - 3)
        return bottom + 4 if self._text else top + high

    def range_of(self, hit: SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the unfolded end of the thinking; None if the hit is not in it."""
        if self._cut is None:
            whole = sum([len(block.text) + 1 for block in thought_blocks(self._text)]) - 1
            self._cut = max(0, whole - self._stack.length) if len(self._text) > THOUGHT_KEPT else 0
        start = hit.start - self._cut
        return (start, hit.end - self._cut) if 0 <= start < self._stack.length else None

    def position_rect(self, position: int) -> QRect:
        """Return the rectangle of a position of the unfolded text in the row."""
        return self._stack.position_rect(position) or self.line

    def paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        """Paint what lies inside `clip`, in the row's coordinates."""
        style, colour = self._style, self._style.tokens.text_2
        room = self.line.adjusted(16, 0, 0, 0)
        paint_text(painter, style.meta_font, colour, room, self._words, Qt.TextFlag.TextDontClip)
        at = QPointF(self.line.left() + 5, self.line.center().y() + 0.5)
        paint_chevron(painter, at, bool(self._text), colour)
        if self._text:
            self._stack.paint(painter, clip, ranges)


def paint_chevron(painter: QPainter, at: QPointF, open_: bool, colour: str) -> None:
    """Paint a small mark that points down if something is open, else to the right."""
    painter.save()
    painter.setPen(QPen(QColor(colour), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    points = ((-4, -2), (0, 2), (4, -2)) if open_ else ((-2, -4), (2, 0), (-2, 4))
    painter.drawPolyline([at + QPointF(x, y) for x, y in points])
    painter.restore()


CHIP_GAP = 6


def size_of(attachment: Attachment) -> int:
    """Return the size of an attachment in bytes."""
    if encoded := len(attachment.data) or sum(map(len, attachment.pages)):
        return encoded * 3 // 4
    return len(attachment.text.encode("utf-8", "replace"))


class NamedChip(NamedTuple):
    """A name and what is said of it, in a colour of the theme; `action` is what a click does."""

    name: str
    said: str
    tone: str = "text_2"
    action: str = ""


class Chips:
    """Chips, as many side by side as fit."""

    def __init__(self, style: RowStyle, chips: Sequence[NamedChip], widest: int = 260) -> None:
        self._style, self._widest, self._chips = style, widest, chips
        self._placed: list[tuple[QRect, str]] = []
        self.rect = QRect()

    def place(self, left: int, top: int, width: int) -> int:
        """Lay out; return the lower edge in pixels."""
        metrics, high = self._style.chip_metrics, self._style.tall(26)
        x, y, right, bottom = left, top, left, top
        self._placed = []
        for chip in self._chips:
            said = metrics.horizontalAdvance(f"  {chip.said}") + 20
            room = min(self._widest, width) - said
            shown = metrics.elidedText(chip.name, Qt.TextElideMode.ElideMiddle, room)
            wide = metrics.horizontalAdvance(shown) + said
            if x > left and x + wide > left + width:
                x, y = left, y + high + CHIP_GAP
            self._placed.append((QRect(x, y, wide, high), shown))
            right, bottom = max(right, x + wide), y + high
            x += wide + CHIP_GAP
        self.rect = QRect(left, top, right - left, bottom - top)
        return bottom

    def paint(self, painter: QPainter) -> None:
        """Paint the chips."""
        tokens, font, right = self._style.tokens, self._style.chip_font, Qt.AlignmentFlag.AlignRight
        for (rect, shown), chip in zip(self._placed, self._chips, strict=True):
            paint_box(painter, rect, tokens.line_strong, tokens.surface, 7)
            inner = rect.adjusted(9, 0, -9, 0)
            paint_text(painter, font, tokens.text, inner, shown)
            paint_text(painter, font, getattr(tokens, chip.tone), inner, chip.said, right)

    @property
    def links(self) -> list[Link]:
        """What a click on each chip does."""
        pairs = zip(self._placed, self._chips, strict=True)
        return [Link(chip.action, "", rect) for (rect, _), chip in pairs]

    @property
    def words(self) -> str:
        """Name of each and what is said of it, for a screen reader."""
        return ", ".join(f"{chip.name} {chip.said}" for chip in self._chips)


def attachment_chips(style: RowStyle, attachments: Sequence[Attachment]) -> Chips:
    """Return chips with name and size of attachments, which are never decoded."""
    said = [(" ".join(clean(each.name).split())[:120], size_of(each)) for each in attachments]
    return Chips(style, [NamedChip(name, size_text(style.texts, size)) for name, size in said])


_TONES = {QuoteState.EXACT: "ok", QuoteState.NEARLY: "warn", QuoteState.MISSING: "error"}


def quote_chips(style: RowStyle, quotes: Sequence[FileQuote]) -> Chips:
    """Return chips with the quotes of a statement, and where they are in the files."""
    texts, chips = style.texts, list[NamedChip]()
    for quote in quotes:
        tone = _TONES[QuoteState(quote.found)]
        chips.append(NamedChip(f"“{clean(quote.text)}”", quote_words(quote, texts), tone))
    return Chips(style, chips, widest=520)
