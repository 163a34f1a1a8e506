"""The look of rows: fonts, distances in pixels, colours and texts of one layout."""

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QMargins, QSize
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QImage, QPixmap

from app.core.message import Attachment
from app.core.texts import Texts
from app.gui.display.appearance import BODY_PX
from app.gui.display.theme import Tokens
from app.gui.markdown.document import TextStyle
from app.gui.transcript.row_heights import RowEstimate

COMPACT = "compact"
WIDE = "wide"
DEBATE = "debate"
"""As wide, with bars in the speakers' colours."""
COLUMN = "column"
"""Of one speaker, beside others: rows without names."""
MAX_COLUMN = 860
MAX_CARD = 700
DEEP = 4
BAR = 14
"""The room of a bar in a speaker's colour."""

Picture = Callable[[str, str, int, float], QPixmap]
"""Gives an icon's picture: its name, a colour's token, side in points, device pixels a point."""


Thumbnail = Callable[[str, int, Attachment, QSize], QImage | None]
"""Gives a picture of a row in a size: the row's id, the attachment's place, the attachment, device pixels."""


def _sized(font: QFont, pixels: int, weight: int = 400) -> QFont:
    result = QFont(font)
    result.setPixelSize(pixels)
    result.setWeight(QFont.Weight(weight))
    return result


def body_font(font: QFont) -> QFont:
    """Return a widget's font with its size in pixels."""
    font = QFont(font)
    if font.pixelSize() <= 0:
        font.setPixelSize(BODY_PX)
    return font


def code_font(pixels: int) -> QFont:
    """Return the system's fixed font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(pixels)
    return font


@dataclass(slots=True)
class RowStyle:
    """Fonts, metrics and distances (pixels) of one layout in one theme."""

    layout: str
    font: QFont
    tokens: Tokens
    texts: Texts
    picture: Picture | None = None
    thumbnail: Thumbnail | None = None
    moves: Callable[[], bool] = lambda: False
    text: TextStyle = field(init=False)
    name_font: QFont = field(init=False)
    meta_font: QFont = field(init=False)
    chip_font: QFont = field(init=False)
    label_font: QFont = field(init=False)
    name_metrics: QFontMetrics = field(init=False)
    meta_metrics: QFontMetrics = field(init=False)
    code_metrics: QFontMetrics = field(init=False)
    chip_metrics: QFontMetrics = field(init=False)

    def __post_init__(self) -> None:
        body = self.font.pixelSize()
        fixed = code_font(max(9, body - 1))
        self.text = TextStyle(self.font, fixed, self.tokens)
        self.name_font = _sized(self.font, body, 620)
        self.meta_font = _sized(self.font, body - 2)
        self.chip_font = _sized(self.font, body - 2, 500)
        self.label_font = _sized(self.font, body - 3, 600)
        self.label_font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.6)
        self.name_metrics = QFontMetrics(self.name_font)
        self.meta_metrics = QFontMetrics(self.meta_font)
        self.code_metrics = QFontMetrics(fixed)
        self.chip_metrics = QFontMetrics(self.chip_font)

    def colour(self, token: str) -> QColor:
        """Return a colour of the theme by the name of its token."""
        return QColor(getattr(self.tokens, token))

    def side_margins(self, width: int, bar: int) -> QMargins:
        """Return the margins that centre the widest row in a view of a width with a scroll bar at its right."""
        row = MAX_COLUMN + 2 * self.margin
        left = max(0, (width - row) // 2)
        return QMargins(left, 0, max(0, width - bar - left - row), 0)

    def estimate(self, width: int) -> RowEstimate:
        """Return the estimate of row heights for a width in pixels."""
        column = min(width - 2 * self.margin, MAX_COLUMN) - self.text_left
        per_line = max(10.0, column / (self.font.pixelSize() * 0.52))
        line = self.text.line_height
        return RowEstimate(self.header + self.row_gap + line, line * 0.8, line / per_line)

    def indent(self, depth: int) -> int:
        """Return the indent of rows of sub-agents in pixels; beyond DEEP levels it grows slowly."""
        step = 51 if self.wide else 20
        return step * min(depth, DEEP) + 8 * min(max(0, depth - DEEP), 8)

    def tall(self, pixels: int) -> int:
        """Return a height for text, scaled up for larger fonts."""
        return round(pixels * max(1.0, self.font.pixelSize() / BODY_PX))

    @property
    def wide(self) -> bool:
        """Whether the layout is the one of the main area."""
        return self.layout in (WIDE, DEBATE)

    @property
    def barred(self) -> bool:
        """Whether a bar beside each row has its speaker's colour."""
        return self.layout != WIDE

    @property
    def avatar_left(self) -> int:
        """The left edge of the initial, from the row's left edge."""
        return BAR if self.barred else 0

    @property
    def margin(self) -> int:
        """The space left and right of the rows."""
        return 28 if self.wide else 14 if self.layout == COLUMN else 18

    @property
    def avatar(self) -> int:
        """The side of the square with the initial."""
        return 30 if self.wide else 22

    @property
    def text_left(self) -> int:
        """The left edge of text, from the row's left edge."""
        return 0 if self.layout == COLUMN else self.avatar_left + (41 if self.wide else 0)

    @property
    def header(self) -> int:
        """The height of the line with name and chips."""
        return self.tall(22)

    @property
    def lead(self) -> int:
        """The space over the first row."""
        return 14 if self.wide else 4

    @property
    def row_gap(self) -> int:
        """The space under a row."""
        return 22 if self.wide else 13
