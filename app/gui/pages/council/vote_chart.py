"""The chart of the votes of a debate or a council: a line for each who votes from poll to poll,
over the options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QToolTip

from app.engine.council.outcome import vote_places
from app.engine.council.record import Moved, Record
from app.engine.debate.replies import LETTERS
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.pages.council.council_columns import Shown
from app.gui.widgets.badge import paint_box
from app.gui.widgets.text import PaintedText, plain_tip

PADDING = 4
GAP = 12
LEVEL = 34
"""The least distance between two options in pixels."""
MARK = 18
DOT = 3.0
LABEL_PART = 0.42
"""The part of the width that the texts of the options take at most."""


@dataclass(frozen=True, slots=True)
class VoteLine:
    """The place of the option that a participant chose in each poll; None for a blank.

    `drifted` are the polls in which it came to another option without a statement that argues for it.
    """

    shown: Shown
    places: tuple[int | None, ...]
    drifted: frozenset[int]

    def level(self, at: int) -> float | None:
        """Return the option's place in a poll, interpolated for a blank; None for who never chose one."""
        known = [number for number, place in enumerate(self.places) if place is not None]
        if not known:
            return None
        before = max((number for number in known if number <= at), default=known[0])
        after = min((number for number in known if number >= at), default=known[-1])
        start, end = float(self.places[before] or 0), float(self.places[after] or 0)
        return start if before >= after else start + (end - start) * (at - before) / (after - before)


class VoteChart(PaintedText):
    """Paints the votes; mouse and arrow keys show those of a poll, a screen reader reads all of them."""

    def __init__(self, language: Language, look: Look, record: Record, people: Mapping[str, Shown]) -> None:
        super().__init__()
        self.setObjectName("debate_stances")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._language, self._look = language, look
        lettered = zip(LETTERS, record.every_option, strict=False)
        self._options = [f"{letter}  {text}" for letter, text in lettered]
        self._lines, polls = list[VoteLine](), record.polls
        for who, places in vote_places(record).items():
            moves = [stood.moved(who, number)[0] for stood, number in polls]
            drifted = frozenset(at for at, moved in enumerate(moves) if moved == Moved.DRIFT)
            self._lines.append(VoteLine(people[who], places, drifted))
        # When each poll was: in words, and in narrow charts.
        self._polls = [self._name(stood, number) for stood, number in polls]
        self._levels = [[line.level(at) for at in range(len(polls))] for line in self._lines]
        self._chosen: int | None = None
        self.setAccessibleName(language("council.plain"))
        self.setAccessibleDescription(self.text())
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(280, round(sum(self._heights())) + self._foot() + 2 * PADDING)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def text(self) -> str:
        """Return all votes as text."""
        return ". ".join(self.values(at).replace("\n", "; ") for at in range(len(self._polls)))

    def values(self, at: int) -> str:
        """Return how everybody voted in a poll, one per line."""
        words, said = self._language, []
        for line in self._lines:
            place, name = line.places[at], line.shown.name
            option = " ".join(self._options[place].split()) if place is not None else ""
            said.append(words("verdict.vote" if option else "verdict.no_vote", name=name, option=option))
        return "\n".join((self._polls[at][0], *said))

    # Painting

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        painter, tokens, room = QtGui.QPainter(self), self._look.tokens, self._room()
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.setFont(self._small())
        for level, option in enumerate(self._options):
            y = self._y(level)
            painter.setPen(QtGui.QPen(QtGui.QColor(tokens.line), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(QtGui.QColor(tokens.text_2))
            side = QRectF(PADDING, y - 12, room.left() - GAP - PADDING, 24)
            elide = Qt.TextElideMode.ElideRight
            shown = painter.fontMetrics().elidedText(option, elide, round(side.width()) + 1)
            painter.drawText(side, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        self._paint_polls(painter)
        for number in reversed(range(len(self._lines))):
            self._paint_line(painter, number)
        if self.property("ring"):
            paint_box(painter, self.rect(), tokens.accent, "transparent", 7)

    def _paint_polls(self, painter: QtGui.QPainter) -> None:
        """Paint when the polls were under the lines, as many as fit, the last one first."""
        tokens, room = self._look.tokens, self._room()
        if self._chosen is not None:
            painter.setPen(QtGui.QPen(QtGui.QColor(tokens.text_3), 1, Qt.PenStyle.DotLine))
            x = self._x(self._chosen)
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
        metrics = painter.fontMetrics()
        painter.setPen(QtGui.QColor(tokens.text_2))
        whole = all(metrics.horizontalAdvance(name) + 8 <= self._step() for name, _ in self._polls[1:])
        free = 1.0e9
        for at, (name, short) in reversed([*enumerate(self._polls)]):
            text = name if whole else short
            width = metrics.horizontalAdvance(text) + 2
            left = min(max(PADDING, self._x(at) - width / 2), self.width() - PADDING - width)
            if left + width <= free:
                rect = QRectF(left, self.height() - self._foot() - PADDING, width, self._foot())
                painter.drawText(rect, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignHCenter, text)
                free = left - 6

    def _paint_line(self, painter: QtGui.QPainter, number: int) -> None:
        line = self._lines[number]
        points = [self.point(number, at) for at in range(len(line.places))]
        if None in points:
            return
        colour, behind = map(QtGui.QColor, self._look.tokens.speaker(line.shown.colour))
        spots = [point for point in points if point is not None]
        for at, (start, end) in enumerate(zip(spots, spots[1:], strict=False)):
            voted = line.places[at] is not None and line.places[at + 1] is not None
            drifted = at + 1 in line.drifted
            style = Qt.PenStyle.DashLine if drifted else Qt.PenStyle.SolidLine
            painter.setPen(QtGui.QPen(colour, 2, style if voted else Qt.PenStyle.DotLine))
            painter.drawLine(start, end)
        for at, spot in enumerate(spots):
            blank = line.places[at] is None
            painter.setPen(QtGui.QPen(colour, 1.4))
            painter.setBrush(behind)
            # The last mark says whose line it is where there is no room for all.
            if not blank and (self._step() >= tall(MARK) + 4 or at == len(spots) - 1):
                side = tall(MARK)
                rect = QRectF(spot.x() - side / 2, spot.y() - side / 2, side, side)
                painter.drawRoundedRect(rect, 5, 5)
                painter.setFont(sized(self.font(), 9.5, 600))
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, line.shown.letters)
            else:
                painter.setBrush(QtGui.QColor(self._look.tokens.surface) if blank else colour)
                painter.drawEllipse(spot, DOT, DOT)

    # Geometry

    def point(self, number: int, at: int) -> QPointF | None:
        """Return where a vote is drawn: those for the same option stand below one another; None
        for who never voted.
        """
        level = self._levels[number][at]
        if level is None:
            return None
        same = [place for place, levels in enumerate(self._levels) if levels[at] == level]
        shift = (same.index(number) - (len(same) - 1) / 2) * (tall(MARK) + 1)
        return QPointF(self._x(at), self._y(level) + shift)

    def _heights(self) -> Sequence[float]:
        """Return how high each option's row is, so that all marks of one poll have room in it."""
        found = []
        for level in range(len(self._options)):
            polls = zip(*self._levels, strict=True)
            most = max((sum(item == level for item in levels) for levels in polls), default=0)
            found.append(max(tall(LEVEL), most * (tall(MARK) + 1) + 8))
        return found

    def _y(self, level: float) -> float:
        heights, top = self._heights(), float(PADDING)
        middles = []
        for height in heights:
            middles.append(top + height / 2)
            top += height
        low = min(int(level), len(middles) - 1)
        high = min(low + 1, len(middles) - 1)
        return middles[low] + (middles[high] - middles[low]) * (level - low)

    def _small(self) -> QtGui.QFont:
        return sized(self.font(), 12)

    def _foot(self) -> int:
        return QtGui.QFontMetrics(self._small()).height() + 8

    def _room(self) -> QRectF:
        """Return the rectangle of the lines, without the options and polls around it."""
        metrics = QtGui.QFontMetrics(self._small())
        widest = max((metrics.horizontalAdvance(option) for option in self._options), default=0) + 1
        left = PADDING + min(widest, self.width() * LABEL_PART) + GAP
        height = self.height() - self._foot() - 2 * PADDING
        return QRectF(left, PADDING, max(20.0, self.width() - left - PADDING), height)

    def _step(self) -> float:
        """Return the distance between two polls."""
        return (self._room().width() - tall(MARK) - 2) / max(1, len(self._polls) - 1)

    def _x(self, at: int) -> float:
        return self._room().left() + tall(MARK) / 2 + 1 + self._step() * at

    # Values under the mouse and the keyboard

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            nearest = min(range(len(self._polls)), key=lambda at: abs(self._x(at) - event.pos().x()))
            QToolTip.showText(event.globalPos(), plain_tip(self.values(nearest)), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        last = len(self._polls) - 1
        chosen = (0 if step > 0 else last) if self._chosen is None else self._chosen + step
        self._chosen = min(max(0, chosen), last)
        self.update()
        place = self.mapToGlobal(QPoint(round(self._x(self._chosen)), self.height() // 2))
        QToolTip.showText(place, plain_tip(self.values(self._chosen)), self)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        self._chosen = None
        self.update()
        super().focusOutEvent(event)

    def _name(self, stood: Record, number: int) -> tuple[str, str]:
        """Return when a poll was, in words and shortened."""
        words = self._language
        if stood.debate.what_if(number) is not None or (stood.concludes and number == 1):
            return (words("council.what_if"),) * 2
        if not number:
            return (words("verdict.before"),) * 2
        return words("verdict.round", round=number), str(number)
