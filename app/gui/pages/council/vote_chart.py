"""The chart of a debate's secret ballots: a line for each participant from round to round."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip

from app.core.session import Debate
from app.core.verdict import AGAINST, FOR
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.widgets.text import PaintedText, plain_tip

HEIGHT = 206
PADDING = 8
TOP = PADDING + 12
LEVELS = (FOR, 0, AGAINST)
MARK, MARK_CLOSE, CLOSE = 4.5, 3.0, 24
APART = 4.0
MOST_APART = 20.0
LABEL_PART = 0.3
# A circle, a square, a triangle and a diamond, so that participants can be told apart without colours.
SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0.0, -1.0), (1.0, 0.85), (-1.0, 0.85)),
    ((0.0, -1.1), (1.1, 0.0), (0.0, 1.1), (-1.1, 0.0)),
)
GAP = 12


@dataclass(frozen=True, slots=True)
class StanceLine:
    """The stances of a participant, one for each round after which there was a vote; None for a missing ballot."""

    name: str
    stances: tuple[int | None, ...]

    @property
    def voted(self) -> bool:
        """Whether there is any valid ballot."""
        return any(stance is not None for stance in self.stances)

    def height(self, place: int) -> float:
        """Return the stance at a position, interpolated if it is missing."""
        known = [number for number, stance in enumerate(self.stances) if stance is not None]
        before = max((number for number in known if number <= place), default=None)
        after = min((number for number in known if number >= place), default=None)
        if before is None or after is None:
            nearest = after if before is None else before
            return float(self.stances[nearest] or 0) if nearest is not None else 0.0
        start, end = float(self.stances[before] or 0), float(self.stances[after] or 0)
        return start if before == after else start + (end - start) * (place - before) / (after - before)


def stance_lines(debate: Debate) -> list[StanceLine]:
    """Return a line for each participant, in their order, through all rounds with a vote."""
    return [StanceLine(one.name, stances) for one, stances in debate.stances]


def spread(wanted: list[float], least: float, low: float, high: float) -> list[float]:
    """Return positions near those wanted, in the same order, at least `least` apart, between `low` and `high`."""
    order = sorted(range(len(wanted)), key=lambda number: (wanted[number], number))
    places = list(wanted)
    for at, number in enumerate(order):
        lowest = low if at == 0 else places[order[at - 1]] + least
        places[number] = max(wanted[number], lowest)
    highest = high
    for number in reversed(order):
        places[number] = min(places[number], highest)
        highest = places[number] - least
    return places


class StanceChart(PaintedText):
    """Paints the ballots; mouse and arrow keys show the values of a round, a screen reader reads all of them."""

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._language = language
        self._look = look
        self._lines: list[StanceLine] = []
        self._rounds: list[int] = []
        self._chosen: int | None = None
        look.changed.connect(self.update)
        language.changed.connect(self._name)

    def show_debate(self, debate: Debate) -> None:
        """Show the ballots of a debate."""
        self._lines, self._rounds = stance_lines(debate), debate.voted_rounds
        self._chosen = None
        self._name()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        labels = (len(self._lines) + 1) * self._label_height()
        return QSize(320, max(tall(HEIGHT), labels + TOP + self._foot() + PADDING))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def text(self) -> str:
        """Return all ballots as text."""
        count = len(self._lines[0].stances) if self._lines else 0
        return ". ".join(self.values(place).replace("\n", "; ") for place in range(count))

    def values(self, place: int) -> str:
        """Return how everybody voted at a position, one per line."""
        words = self._language
        votes = [
            words("verdict.vote", name=line.name, stance=self._stance(line.stances[place]))
            for line in self._lines
        ]
        return "\n".join((self._round(self._rounds[place]), *votes))

    def labels(self) -> list[QRectF]:
        """Return the rectangles of the names at the right, in the participants' order."""
        room, height = self._room(), self._label_height()
        low, high = PADDING + height / 2, self.height() - self._foot() - PADDING
        # Who never voted stands below all levels, not beside one of them.
        last = [
            self._point(number, len(line.stances) - 1).y() if line.voted else high
            for number, line in enumerate(self._lines)
        ]
        left = room.right() + 2 * GAP + 4
        return [
            QRectF(left, y - height / 2, max(0.0, self.width() - left - PADDING), height)
            for y in spread(last, height, low, high)
        ]

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._lines:
            return
        painter, tokens, room = QPainter(self), self._look.tokens, self._room()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(sized(self.font(), 12))
        for level in LEVELS:
            y = self._y(level)
            painter.setPen(QPen(QColor(tokens.line), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(QColor(tokens.text_2))
            words = self._language(f"verdict.axis.{level}")
            side = QRectF(PADDING, y - 12, room.left() - GAP, 24)
            painter.drawText(side, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        self._paint_rounds(painter)
        for number in reversed(range(len(self._lines))):
            self._paint_line(painter, number)
        painter.setFont(self._label_font())
        for number, rect in enumerate(self.labels()):
            self._paint_label(painter, number, rect)
        if self.property("ring"):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)

    def _paint_rounds(self, painter: QPainter) -> None:
        """Paint the names of the rounds under the lines, as many as fit."""
        tokens, room = self._look.tokens, self._room()
        if self._chosen is not None:
            painter.setPen(QPen(QColor(tokens.text_3), 1, Qt.PenStyle.DotLine))
            x = self._x(self._chosen)
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
        metrics = painter.fontMetrics()
        painter.setPen(QColor(tokens.text_2))
        step = self._x(1) - self._x(0)
        whole = metrics.horizontalAdvance(self._round(self._rounds[-1])) + 8 <= step
        free = -1.0e9
        for place, number in enumerate(self._rounds):
            text = self._round(number) if whole or not place else str(number)
            width = metrics.horizontalAdvance(text) + 2
            left = min(max(PADDING, self._x(place) - width / 2), self.width() - PADDING - width)
            if left >= free:
                rect = QRectF(left, self.height() - self._foot() - PADDING, width, self._foot())
                painter.drawText(rect, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignHCenter, text)
                free = left + width + 6

    def _paint_line(self, painter: QPainter, number: int) -> None:
        line = self._lines[number]
        if not line.voted:
            return
        colour = QColor(self._look.tokens.speaker(number)[0])
        for place in range(len(line.stances) - 1):
            voted = line.stances[place] is not None and line.stances[place + 1] is not None
            style = Qt.PenStyle.SolidLine if voted else Qt.PenStyle.DotLine
            painter.setPen(QPen(colour, 2, style))
            painter.drawLine(self._point(number, place), self._point(number, place + 1))
        for place, stance in enumerate(line.stances):
            self._paint_mark(painter, self._point(number, place), number, hollow=stance is None)

    def _paint_label(self, painter: QPainter, number: int, rect: QRectF) -> None:
        """Paint a name at the right, its mark, and a thin line to the end of its line."""
        colour = QColor(self._look.tokens.speaker(number)[0])
        end = self._point(number, len(self._lines[number].stances) - 1)
        middle = rect.center().y()
        voted = self._lines[number].voted
        painter.setPen(QPen(colour, 1))
        if voted:
            painter.drawLine(end, QPointF(rect.left() - 14, middle))
        self._paint_mark(painter, QPointF(rect.left() - 9, middle), number, hollow=not voted)
        painter.setPen(colour)
        shown = self._label(self._lines[number], rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_mark(self, painter: QPainter, centre: QPointF, number: int, *, hollow: bool) -> None:
        """Paint a participant's mark."""
        colour = QColor(self._look.tokens.speaker(number)[0])
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(QColor(self._look.tokens.surface) if hollow else colour)
        close = self._x(1) - self._x(0) < CLOSE
        shape, size = SHAPES[number % len(SHAPES)], MARK_CLOSE if close else MARK
        if not shape:
            painter.drawEllipse(centre, size - 0.5, size - 0.5)
        else:
            painter.drawPolygon(QPolygonF([centre + QPointF(x, y) * size for x, y in shape]))

    # Geometry

    def _label_font(self) -> QFont:
        return sized(self.font(), 12, 500)

    def _label(self, line: StanceLine, width: float = 1e6) -> str:
        """Return a name as it is drawn: shortened to the width; that there is no vote stays."""
        whole = "{}" if line.voted else self._language("verdict.no_vote", name="{}")
        metrics = QFontMetrics(self._label_font())
        rest = int(width) - metrics.horizontalAdvance(whole.replace("{}", ""))
        name = metrics.elidedText(" ".join(line.name.split()), Qt.TextElideMode.ElideRight, rest)
        return whole.replace("{}", name)

    def _label_height(self) -> int:
        return QFontMetrics(self._label_font()).height()

    def _foot(self) -> int:
        return QFontMetrics(sized(self.font(), 12)).height() + 10

    def _room(self) -> QRectF:
        """Return the rectangle of the lines, without levels, names and rounds around it."""
        metrics = QFontMetrics(sized(self.font(), 12))
        left = max(metrics.horizontalAdvance(self._language(f"verdict.axis.{level}")) for level in LEVELS)
        names = QFontMetrics(self._label_font())
        widest = max((names.horizontalAdvance(self._label(line)) for line in self._lines), default=0) + 3
        right = min(widest, self.width() * LABEL_PART) + 2 * GAP + 4
        top = TOP + MOST_APART / 2
        bottom = self.height() - self._foot() - MOST_APART / 2 - PADDING
        left += PADDING + 2 * GAP
        return QRectF(left, top, max(20.0, self.width() - left - right - PADDING), bottom - top)

    def _x(self, place: int) -> float:
        room, last = self._room(), len(self._lines[0].stances) - 1
        # The only vote is that at the end, beside the names.
        part = place / last if last else place + 1
        return room.left() + GAP + (room.width() - 2 * GAP) * part

    def _y(self, stance: float) -> float:
        room = self._room()
        return room.top() + room.height() * (FOR - stance) / (FOR - AGAINST)

    def _point(self, number: int, place: int) -> QPointF:
        """Return the point of a ballot; equal stances are drawn slightly apart, so that all lines are visible."""
        count = len(self._lines)
        apart = min(APART, MOST_APART / max(1, count - 1))
        shift = (number - (count - 1) / 2) * apart
        return QPointF(self._x(place), self._y(self._lines[number].height(place)) + shift)

    # Values under the mouse and the keyboard

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._lines:
            places = range(len(self._lines[0].stances))
            nearest = min(places, key=lambda place: abs(self._x(place) - event.pos().x()))
            QToolTip.showText(event.globalPos(), plain_tip(self.values(nearest)), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step or not self._lines:
            super().keyPressEvent(event)
            return
        last = len(self._lines[0].stances) - 1
        chosen = (0 if step > 0 else last) if self._chosen is None else self._chosen + step
        self._chosen = min(max(0, chosen), last)
        self.update()
        place = self.mapToGlobal(QPoint(round(self._x(self._chosen)), self.height() // 2))
        QToolTip.showText(place, plain_tip(self.values(self._chosen)), self)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._chosen = None
        self.update()
        super().focusOutEvent(event)

    def _round(self, number: int) -> str:
        return self._language("verdict.round", round=number) if number else self._language("verdict.before")

    def _stance(self, stance: int | None) -> str:
        return self._language("verdict.stance.none" if stance is None else f"verdict.stance.{stance}")

    def _name(self) -> None:
        """Set the accessible description to all ballots in words."""
        self.setAccessibleName(self._language("verdict.chart"))
        self.setAccessibleDescription(self.text())
        self.update()
