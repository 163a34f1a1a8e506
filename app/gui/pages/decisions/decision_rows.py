"""The rows of the list of decisions: what each shows, its columns, and what a screen reader says."""

from dataclasses import dataclass
from datetime import date, datetime

from PySide6.QtCore import QObject, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from app.core.council import Decision
from app.core.session import CLASSIC_MODES, DebateMode
from app.core.texts import exact
from app.engine.decisions.journal import DecisionState, made_at, standing
from app.gui.display.appearance import Language, Look, sized
from app.gui.display.descriptions import KINDS
from app.gui.widgets.badge import AVATAR, initials, paint_avatar
from app.gui.widgets.item_list import ItemDelegate, ItemModel, ListStyle, RowItem

STYLE = ListStyle(
    height=54,
    heading=36,
    edge=8,
    size=14,
    weight=560,
    selected_weight=560,
    fill="surface",
    left=14,
    right=10,
    space=14,
)
MOST_AVATARS = 4
STATE, SURE, WHO = 158, 96, 112
"""The widths of the columns in pixels."""
FOR_SURE, FOR_WHO = 470, 640
"""How wide the list must be for the column of how sure, and for that of who took part."""
ICONS = {
    DecisionState.DUE: ("clock", "warn"),
    DecisionState.KEPT: ("calendar", "text"),
    DecisionState.CAME_TRUE: ("circle-check", "ok"),
    DecisionState.FAILED: ("circle-x", "text_2"),
    DecisionState.NOT_DECIDED: ("circle-dashed", "accent"),
}
"""Icon and colour of each state: to have been wrong is no fault, so it is never red."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionItem(RowItem):
    """What the row of a decision shows beside its two lines."""

    who: tuple[str, ...] = ()
    # In percent, -1 where that was not said.
    sure: int = -1
    state: DecisionState = DecisionState.KEPT
    state_text: str = ""
    # Under the state.
    when: str = ""


def icon_of(decision: Decision) -> str:
    """Return the icon of the kind of session in which something was decided."""
    kind = decision.kind if decision.kind in KINDS else "debate"
    return KINDS[kind].icon


def kind_text(decision: Decision, words: Language) -> str:
    """Return in what kind of session something was decided; for a debate, how it was held."""
    if decision.kind == DebateMode.COUNCIL:
        return words("first.answers")
    if decision.kind in CLASSIC_MODES:
        return words.mode(decision.kind)
    return words(f"kind.{decision.kind}") if decision.kind in KINDS else ""


def day_text(iso: str, today: date, words: Language) -> str:
    """Return the day of an ISO 8601 date or time, with its year where it is another one; "" for none."""
    try:
        moment = datetime.fromisoformat(iso.replace("Z", "+00:00"))
    except ValueError:
        return ""
    day = (moment.astimezone() if moment.tzinfo else moment).date()
    month = words(f"month.{day.month}")
    if day.year == today.year:
        return words("day.date", day=day.day, month=month)
    return words("day.date_year", day=day.day, month=month, year=day.year)


def when_text(decision: Decision, today: date, words: Language) -> str:
    """Return the date that belongs to the state of a decision, in words."""
    match standing(decision, today):
        case DecisionState.DUE:
            return words("journal.decided_on", date=day_text(made_at(decision), today, words))
        case DecisionState.KEPT:
            return words("journal.look_on", date=day_text(decision.due, today, words)) if decision.due else ""
        case DecisionState.NOT_DECIDED:
            return words("journal.verdict_of", date=day_text(made_at(decision), today, words))
        case _:
            return day_text(decision.known_at, today, words)


def state_text(decision: Decision, today: date, words: Language) -> str:
    """Return how a decision stands, in words."""
    state = standing(decision, today)
    if state == DecisionState.DUE:
        late = (today - date.fromisoformat(decision.due)).days
        return (
            words("journal.look_today")
            if not late
            else words("journal.look_since", date=day_text(decision.due, today, words))
        )
    return words(f"journal.state.{state}")


def decided_text(decision: Decision, words: Language) -> str:
    """Return what was decided; where nobody decided, what the verdict says."""
    return exact(decision.decided) or words("journal.verdict", text=verdict_text(decision, words))


def verdict_text(decision: Decision, words: Language) -> str:
    """Return what a verdict says, and how many held that."""
    held = sum(vote.after == decision.headline for vote in decision.votes)
    share = words("journal.held_by", count=held, all=len(decision.votes)) if held else ""
    return " · ".join(filter(None, (exact(decision.headline), share)))


class DecisionRows(ItemModel):
    """The decisions under their headings."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self.today = date.min

    def item_of(self, row: Decision) -> DecisionItem:
        words = self._language
        return DecisionItem(
            id=row.id,
            title=exact(row.name),
            second=decided_text(row, words),
            icon=icon_of(row),
            tip=", ".join(map(exact, row.who)),
            who=row.who,
            sure=row.sure,
            state=standing(row, self.today),
            state_text=state_text(row, self.today, words),
            when=when_text(row, self.today, words),
        )

    def text_of(self, row: Decision) -> str:
        return row.name

    def said_of(self, row: Decision) -> str:
        item, words = self.item_of(row), self._language
        sure = words("council.sure", percent=row.sure) if row.sure >= 0 else ""
        said = (item.title, item.second, sure, item.state_text, item.when, ", ".join(map(exact, row.who)))
        return ", ".join(filter(None, said))


class DecisionDelegate(ItemDelegate):
    """Paints a decision in columns: title and decision, who took part, how sure, and how it stands."""

    def __init__(self, language: Language, look: Look, parent: QObject) -> None:
        super().__init__(look, STYLE, parent)
        self._language = language

    def _paint_note(self, painter: QPainter, rect: QRect, item: RowItem, left: int) -> int:
        if not isinstance(item, DecisionItem):
            return super()._paint_note(painter, rect, item, left)
        right = rect.right() - self._style.right
        column = QRect(right - STATE, rect.top(), STATE, rect.height())
        self._paint_state(painter, column, item)
        right = column.left()
        if rect.width() >= FOR_SURE:
            column = QRect(right - SURE, rect.top(), SURE, rect.height())
            if item.sure >= 0:
                self._paint_sure(painter, column, item.sure)
            right = column.left()
        if rect.width() >= FOR_WHO:
            right -= WHO
            for place, (name, letters) in enumerate(
                zip(item.who[:MOST_AVATARS], initials(item.who), strict=False)
            ):
                tile = QRect(right + place * (AVATAR + 4), rect.center().y() - AVATAR // 2, AVATAR, AVATAR)
                paint_avatar(painter, tile, name, self._look.tokens.speaker(place), letters)
        return right - 10

    def _paint_state(self, painter: QPainter, column: QRect, item: DecisionItem) -> None:
        icon, colour = ICONS[item.state]
        picture = self._look.picture(icon, colour, 15, painter.device().devicePixelRatioF())
        lines = column.adjusted(22, 8, 0, -8)
        painter.drawPixmap(column.left(), lines.top() + 2, picture)
        self._write(
            painter, lines, item.state_text, sized(painter.font(), 13), colour, Qt.AlignmentFlag.AlignTop
        )
        self._write(
            painter, lines, item.when, sized(painter.font(), 12), "text_2", Qt.AlignmentFlag.AlignBottom
        )

    def _paint_sure(self, painter: QPainter, column: QRect, sure: int) -> None:
        """Paint how sure the user was, as a number over a bar."""
        tokens, text = self._look.tokens, self._language("council.sure", percent=sure)
        lines = column.adjusted(0, 10, -24, -14)
        self._write(painter, lines, text, sized(painter.font(), 12), "text", Qt.AlignmentFlag.AlignTop)
        bar = QRectF(lines.left(), lines.bottom(), lines.width(), 3)
        painter.setPen(Qt.PenStyle.NoPen)
        for width, colour in ((bar.width(), tokens.line), (bar.width() * sure / 100, tokens.text_2)):
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(bar.left(), bar.top(), width, 3), 1.5, 1.5)
