"""The rows of tool calls, of the turns and steps below them, and of summaries.

A card for each call, with the pictures and files that it returned; what a tool was given and returned is
plain text, never Markdown and never a link. A head over the turn of a sub-agent or a step of a workflow. A
summary is a thin line that unfolds to the text that models are sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.core.message import Consent, Message, ToolCall
from app.core.texts import clock_text, size_text, visible
from app.core.tool import ToolProgress
from app.engine.history import NOTES, summary_line
from app.gui.markdown.blocks import CODE, Block, code_chunks, parse
from app.gui.transcript import painted_row
from app.gui.transcript.pictures import SAVE_FILE, PictureStrip, Shown, pixels_of
from app.gui.transcript.row_text import MAX_CARD, Range
from app.gui.transcript.row_words import SHOWN, icon_of, permission_of
from app.gui.widgets.badge import chip_colours, fill_box, paint_box, paint_chip, paint_text

OPEN_LINK = "open_link"


class CallState(StrEnum):
    """The state of a call; GROWING means that its arguments still stream, LEFT that it never ran."""

    GROWING = "growing"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    LEFT = "left"


_TONES = {CallState.WAITING: "warn", CallState.STOPPED: "warn", CallState.FAILED: "error"}
ICON, BESIDE_TITLE = 23, 35
"""The room of a card's icon, and of the icon and the gap behind the title, in pixels."""

_WEB = ("http:", "https:", "mailto:")


@dataclass(frozen=True, slots=True, kw_only=True)
class CardContext(painted_row.RowContext):
    """What a card shows: the call, its state and its result.

    `result` is the tool message with the result. `depth` is that of the sub-agent it starts, else 0;
    `permission` the user's answer if the call needed one, `elapsed_s` for how long it has been running, None
    if it does not run, `progress` how far it says it is. `title` is the call in one line.
    """

    call: ToolCall
    title: str
    state: CallState = CallState.DONE
    result: Message | None = None
    depth: int = 0
    permission: str = ""
    elapsed_s: int | None = None
    progress: ToolProgress | None = None
    whole: bool = False


class CardRow(painted_row.ContextRow[CardContext]):
    """The card of a tool call: one line with its state, which unfolds to the arguments and the result."""

    _turning = QRect()

    @property
    def _returned(self) -> str:
        """The text of the result."""
        return self.context.result.content if self.context.result is not None else ""

    @property
    def _longest(self) -> int:
        return max(len(self.context.call.arguments), len(self._returned))

    def _fill(self) -> None:
        """Set the text of an unfolded card."""
        context, texts = self.context, self.style.texts
        blocks: list[Block] = []
        self._parts: dict[str, tuple[int, int]] = {}
        if context.unfolded:
            parts = [(painted_row.ARGUMENTS, context.call.arguments)]
            if context.state not in (CallState.GROWING, CallState.RUNNING, CallState.WAITING, CallState.LEFT):
                parts.append((painted_row.RESULT, self._returned))
            start = 0
            for part, text in parts:
                shown = visible(text if context.whole else text[:SHOWN])
                chunks = code_chunks(shown, Block(CODE, language=texts(f"transcript.card.{part}")))
                end = start + sum([len(chunk.text) + 1 for chunk in chunks])
                self._parts[part] = (start, end - 1)
                start = end
                blocks += chunks
        self.text.set_blocks(blocks, 0)
        self.text.stale = 0

    def range_of(self, hit: painted_row.SearchHit) -> tuple[int, int] | None:
        """Return the range of a hit in the unfolded text; None if it is not shown."""
        start, end = self._parts.get(hit.part, (0, 0))
        return (start + hit.start, start + hit.end) if start + hit.start < end else None

    @property
    def _cut(self) -> bool:
        return bool(self.context.unfolded) and not self.context.whole and self._longest > SHOWN

    def _place(self) -> None:
        left, right = self.text_left, min(self.right, self.text_left + MAX_CARD)
        self._line = QRect(left, self.top, right - left, self.style.tall(32))
        self._links = [painted_row.Link(painted_row.FOLD, "", self._line)]
        bottom = self._line.bottom() + 1
        self._progress_line = QRect()
        if self.context.progress is not None:
            high = self.style.tall(painted_row.WORDS)
            self._progress_line = QRect(left + 34, bottom - 4, self._line.width() - 46, high)
            bottom += high
        if self.context.unfolded:
            bottom = self.text.place(left + 12, bottom + 4, self._line.width() - 24) + 12
        if self._cut:
            words = self.style.texts("transcript.show_all", size=size_text(self.style.texts, self._longest))
            bottom = self._place_words([(painted_row.SHOW_ALL, words)], left + 12, bottom - 6) + 6
        bottom = self._place_files(left + 12, bottom, self._line.width() - 24)
        self._box = QRect(left, self.top, right - left, bottom - self.top)
        self.height = bottom + self.below

    def _place_files(self, left: int, top: int, width: int) -> int:
        """Lay out the pictures, and a chip for each other file and link; return the lower edge in pixels."""
        result, texts = self.context.result, self.style.texts
        shown: list[Shown] = []
        chips: list[painted_row.NamedChip] = []
        for place, attachment in enumerate(result.attachments if result is not None else ()):
            if (size := pixels_of(attachment)) is not None:
                shown.append((place, attachment, size))
                continue
            said = texts("transcript.file_chip", size=size_text(texts, painted_row.size_of(attachment)))
            chips.append(painted_row.NamedChip(visible(attachment.name), said, action=f"{SAVE_FILE}/{place}"))
        for place, (name, *_) in enumerate(self._returned_links()):
            said, action = texts("transcript.link_chip"), f"{OPEN_LINK}/{place}"
            chips.append(painted_row.NamedChip(visible(name), said, action=action))
        self._chips = painted_row.Chips(self.style, chips)
        self._pictures = PictureStrip(self.style, self.row_id, shown)
        if shown:
            top = self._pictures.place(left, top + 2, width) + 10
        if chips:
            top = self._chips.place(left, top + 2, width) + 10
        self._links += [*self._pictures.links, *self._chips.links]
        return top

    @property
    def source_id(self) -> str:
        """The message with the result: its pictures and files are what the card's actions name."""
        return self.context.result.id if self.context.result is not None else self.message.id

    def link(self, action: str) -> tuple[str, str, str]:
        """Return the name and the address that an action opens, and the server to read it through."""
        return self._returned_links()[int(action.partition("/")[2])]

    def _returned_links(self) -> list[tuple[str, str, str]]:
        """Return name, address and server of each link of the result; a link to the web has no server."""
        links = []
        for link in self.context.result.resources if self.context.result is not None else ():
            if link.get("type") == "resource_link":
                name, uri, server = (str(link.get(field, "")) for field in ("name", "uri", "server"))
                links.append((name, uri, "" if uri.lower().startswith(_WEB) else server))
        return links

    def state_words(self) -> str:
        """Return the state of the call in words, after what the user said to it."""
        permission, texts = self.context.permission, self.style.texts
        if permission.partition("-")[0] == Consent.DENY:
            return permission_of(permission, texts)
        state = texts(f"transcript.card.{self.context.state}")
        if self.context.elapsed_s:
            state += f" · {clock_text(self.context.elapsed_s)}"
        return f"{self._permission()} · {state}" if permission else state

    def _permission(self) -> str:
        """Return what the user said to the call in words."""
        kind = self.context.permission.partition("-")[0]
        return self.style.texts.named("transcript.permission", kind) if kind else ""

    @property
    def turning(self) -> QRect:
        """Where a mark turns while the call runs; of a sub-agent its head tells."""
        runs = self.context.state == CallState.RUNNING and not self.context.depth
        return self._turning if runs else QRect()

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        tokens = self.style.tokens
        paint_box(painter, self._box, tokens.line, tokens.surface, 8)
        line = self._line.adjusted(11, 0, -12, 0)
        if self.style.picture is not None:
            ratio = painter.device().devicePixelRatioF()
            picture = self.style.picture(icon_of(self.context.call.name), "text_2", 15, ratio)
            painter.drawPixmap(line.left(), line.center().y() - 7, picture)
        painter.setFont(self.style.font)
        metrics, title = painter.fontMetrics(), self.context.title
        right = self._paint_state(painter, line)
        if self.context.depth:
            least = line.left() + BESIDE_TITLE + metrics.horizontalAdvance(title)
            right = self._paint_depth(painter, line, right, least)
        room = QRect(line.left() + ICON, line.top(), right - line.left() - BESIDE_TITLE, line.height())
        shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room.width())
        paint_text(painter, self.style.font, tokens.text, room, shown)
        if self.context.progress is not None:
            self._paint_progress(painter, self.context.progress)
        self.text.paint(painter, clip, ranges)
        self._pictures.paint(painter, clip)
        self._chips.paint(painter)

    def _paint_progress(self, painter: QPainter, progress: ToolProgress) -> None:
        """Paint what the tool does now, and under it a bar with how far it is."""
        tokens, line = self.style.tokens, self._progress_line
        metrics = self.style.meta_metrics
        words = metrics.elidedText(self.progress_words(progress), Qt.TextElideMode.ElideRight, line.width())
        paint_text(painter, self.style.meta_font, tokens.text_2, line.adjusted(0, 0, 0, -6), words)
        if progress.share is not None:
            bar = QRectF(line.left(), line.bottom() - 4, line.width(), 3)
            fill_box(painter, bar, tokens.line, 1.5)
            bar.setWidth(bar.width() * progress.share)
            fill_box(painter, bar, tokens.accent, 1.5)

    @staticmethod
    def progress_words(progress: ToolProgress) -> str:
        """Return how far the tool is, and what it does now."""
        share = f"{progress.share:.0%}" if progress.share is not None else ""
        return " · ".join(filter(None, (share, " ".join(progress.text.split()))))

    def _paint_state(self, painter: QPainter, line: QRect) -> int:
        """Paint marks and words at the right end of the line; return their left edge."""
        style, tokens, state = self.style, self.style.tokens, self.context.state
        right = line.right() + 1
        if self.context.unfolded:
            at = QPointF(right - 4, line.center().y() + 0.5)
            painted_row.paint_chevron(painter, at, True, tokens.text_2)
            right -= 18
        words = self._permission()
        by_head = state == CallState.RUNNING and self.context.depth
        seconds = self.context.result.seconds if self.context.result is not None else None
        if state == CallState.DONE and seconds is not None and seconds >= 0.05:
            taken = style.texts("transcript.seconds", seconds=f"{seconds:.1f}")
            words = " · ".join(filter(None, (words, taken)))
        elif not (by_head or state in (CallState.DONE, CallState.LEFT)):
            words = self.state_words()
        if words:
            colour = getattr(tokens, _TONES.get(state, "text_2"))
            room = QRect(line.left(), line.top(), right - line.left(), line.height())
            paint_text(painter, style.meta_font, colour, room, words, Qt.AlignmentFlag.AlignRight)
            right -= style.meta_metrics.horizontalAdvance(words) + 8
        if state in (CallState.DONE, CallState.FAILED):
            at = QPointF(right - 7, line.center().y() + 0.5)
            self._paint_mark(painter, at, failed=state == CallState.FAILED)
            right -= 20
        elif state == CallState.RUNNING and not self.context.depth:
            self._turning = QRect(right - 15, line.center().y() - 7, 15, 15)
            painter.setPen(QPen(QColor(tokens.line_strong), 1.8))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            circle = QRectF(self._turning).adjusted(2, 2, -2, -2)
            painter.drawEllipse(circle)
            painter.setPen(QPen(QColor(tokens.accent), 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            turned = monotonic() % 1 if style.moves() else 0
            painter.drawArc(circle, round((0.25 - turned) * 360 * 16), -90 * 16)
            right -= 22
        return right

    def _paint_depth(self, painter: QPainter, line: QRect, right: int, least: int) -> int:
        """Paint how deep the called sub-agent is nested, unless the chip would begin before `least`;
        return its left edge.
        """
        style = self.style
        chip = style.texts("transcript.card.depth", count=self.context.depth)
        wide, high = style.chip_metrics.horizontalAdvance(chip) + 18, style.tall(21)
        left = right - wide
        if left - 8 < least:
            return right
        box = QRect(left, line.center().y() - high // 2, wide, high)
        painter.setFont(style.chip_font)
        paint_chip(painter, box, chip, chip_colours(style.tokens, "neutral"))
        return left - 8

    def _paint_mark(self, painter: QPainter, at: QPointF, *, failed: bool) -> None:
        tokens = self.style.tokens
        colour = QColor(tokens.error if failed else tokens.ok)
        painter.setPen(QPen(colour, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        if failed:
            painter.drawLine(at + QPointF(-4, -4), at + QPointF(4, 4))
            painter.drawLine(at + QPointF(4, -4), at + QPointF(-4, 4))
        else:
            painter.drawPolyline([at + QPointF(x, y) for x, y in ((-5, 0), (-1.5, 3.5), (5, -4))])

    def tip_at(self, point: QPoint) -> str:
        """Return the whole line under a point of the row, with the name of the tool."""
        if self._line.contains(point):
            return f"{self.context.title}\n{visible(self.context.call.name)}"
        action = self.action_at(point)
        return visible(self.link(action)[1]) if action.startswith(OPEN_LINK) else ""

    def describe(self) -> str:
        """Return the tool, the state of the call and the unfolded text for a screen reader."""
        texts = self.style.texts
        said = f"{self.context.title}, {self.state_words()}"
        if self.context.depth:
            said += ", " + texts("transcript.card.depth", count=self.context.depth)
        said += f", {self.fold_words}"
        if self.context.progress is not None:
            said += f", {self.progress_words(self.context.progress)}"
        returned = ", ".join(filter(None, (self._pictures.words, self._chips.words)))
        said += f", [{returned}]" if returned else ""
        return f"{said}: {self.text.plain_text}" if self.context.unfolded else said


STOP_TURN = "stop_turn"
HEAD_HEIGHT = 26
HEAD_AVATAR = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContext(painted_row.RowContext):
    """What the head of a turn shows; `path` says on whose behalf it is.

    `summary` says what a folded one that runs does and since when, of others the number of steps. `result` is
    the first line of what a folded one that is over has answered.
    """

    speaker: painted_row.RowSpeaker
    chips: tuple[painted_row.HeaderChip, ...]
    path: str
    summary: str
    result: str
    runs: bool
    waiting: bool


class GroupRow(painted_row.ContextRow[GroupContext]):
    """The head over a sub-agent's turn: who, on whose behalf, its cost, what it does now, and Stop."""

    def _place(self) -> None:
        style, context, top = self.style, self.context, self.top
        left, right = self.left + style.text_left - 33, self.right
        high = style.tall(HEAD_HEIGHT)
        below = style.header if context.result else 0
        self._line_top = top
        self._links = [painted_row.Link(painted_row.FOLD, "", QRect(left, top, right - left, high + below))]
        x = right - 22
        if context.runs or context.waiting:
            words = style.texts("transcript.group.stop")
            wide = style.chip_metrics.horizontalAdvance(words) + 2
            self._links.insert(0, painted_row.Link(STOP_TURN, words, QRect(x - wide, top, wide, high)))
            x -= wide + 12
        summary, metrics = context.summary, style.meta_metrics
        name_left = self.text_left
        room = max(0, (x - name_left) * 3 // 5)
        shown = metrics.elidedText(summary, Qt.TextElideMode.ElideRight, room)
        wide = metrics.horizontalAdvance(shown) + 2
        names = QRect(name_left, top + 2, x - wide - 12 - name_left, style.header)
        said = context.speaker, context.chips, context.path
        self._pieces = painted_row.place_header(style, *said, names)
        if shown:
            tip, at = summary if shown != summary else "", QRect(x - wide, top + 2, wide, style.header)
            self._pieces.append(painted_row.Piece(painted_row.META, at, shown, tip=tip))
        if result := context.result:
            at = QRect(name_left, top + high, right - name_left, below)
            shown = metrics.elidedText(result, Qt.TextElideMode.ElideRight, at.width())
            tip = result if shown != result else ""
            self._pieces.append(painted_row.Piece(painted_row.META, at, shown, tip=tip))
        self.height = top + high + below + 2 + self.below

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        avatar = QRect(self.text_left - 33, self.top + 2, HEAD_AVATAR, HEAD_AVATAR)
        painted_row.paint_avatar(painter, self.style, self.context.speaker, avatar)
        painted_row.paint_header(painter, self.style, self._pieces)
        at = QPointF(self.right - 8, self.top + self.style.tall(HEAD_HEIGHT) / 2 + 0.5)
        painted_row.paint_chevron(painter, at, bool(self.context.unfolded), self.style.tokens.text_2)

    def describe(self) -> str:
        """Return name, depth, path and fold state for a screen reader."""
        context, texts = self.context, self.style.texts
        chips = [piece.text for piece in self._pieces if piece.kind == painted_row.CHIP]
        depth = texts("transcript.card.depth", count=self.depth)
        said = [depth, context.path, context.summary, self.fold_words, context.result]
        return f"{context.speaker.name} ({', '.join(chips)}): {', '.join(filter(None, said))}"


LINE_HEIGHT = 28
_AROUND = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryContext(painted_row.RowContext):
    """What the line shows; `unused` says that the user does not want the summary used."""

    unused: bool = False


class SummaryRow(painted_row.ContextRow[SummaryContext]):
    """A line "Summarised here" between two turns, with its text below it where it is unfolded."""

    def _fill(self) -> None:
        """Set the text of an unfolded summary."""
        self.text.set_blocks(parse(self.message.content) if self.context.unfolded else [], 0)
        self.text.stale = 0

    def words(self) -> str:
        """Return the words of the line."""
        words = summary_line(self.message, self.style.texts)
        return self.style.texts("summary.unused", line=words) if self.context.unused else words

    def _place(self) -> None:
        self._line = QRect(self.left, self.top, self.right - self.left, self.style.tall(LINE_HEIGHT))
        self._links = [painted_row.Link(painted_row.FOLD, "", self._line)]
        bottom = self._line.bottom() + 1
        if self.context.unfolded:
            bottom = self.text.place(self.text_left, bottom + 4, self.right - self.text_left) + 8
        self.height = bottom + self.below

    def _paint(self, painter: QPainter, clip: QRect, ranges: Sequence[Range]) -> None:
        tokens, line = self.style.tokens, self._line
        metrics, most = self.style.meta_metrics, max(40, line.width() - 4 * _AROUND - 20)
        words = metrics.elidedText(self.words(), Qt.TextElideMode.ElideRight, most)
        wide = metrics.horizontalAdvance(words) + 18
        begin, middle = line.center().x() - wide // 2, line.center().y()
        painter.setPen(QColor(tokens.line_strong))
        painter.drawLine(line.left(), middle, begin - _AROUND, middle)
        painter.drawLine(begin + wide + _AROUND, middle, line.right(), middle)
        room = QRect(begin, line.top(), wide, line.height())
        paint_text(painter, self.style.meta_font, tokens.text_2, room, words)
        at = QPointF(begin + wide - 6, middle + 0.5)
        painted_row.paint_chevron(painter, at, bool(self.context.unfolded), tokens.text_2)
        self.text.paint(painter, clip, ranges)

    def tip_at(self, point: QPoint) -> str:
        """Return what the line means, under a point of it."""
        tip = "summary.turn.tip" if self.message.through_message else "summary.tip"
        tip = "summary.notes.tip" if self.message.author.kind == NOTES else tip
        return self.style.texts(tip) if self._line.contains(point) else ""

    def describe(self) -> str:
        """Return the words of the line and the unfolded text for a screen reader."""
        said = f"{self.words()}, {self.fold_words}"
        return f"{said}: {self.text.plain_text}" if self.context.unfolded else said
