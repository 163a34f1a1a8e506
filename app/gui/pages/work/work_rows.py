"""The rows of the list of work: what each shows, its columns and its button, and what a screen reader says."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QResizeEvent

from app.core.session import RESTART
from app.core.texts import amount_text, exact
from app.engine.work import Needs, WorkRow, WorkState
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.descriptions import icon_of, kind_text
from app.gui.pages.list_page import ActingList
from app.gui.widgets.badge import AVATAR, initial, paint_avatar
from app.gui.widgets.item_list import ItemDelegate, ItemModel, ListStyle, RowItem

WIDE = ListStyle(
    height=54, heading=36, edge=8, size=14, weight=560, selected_weight=560, fill="surface", left=14, space=14
)
NARROW = replace(WIDE, height=76, edge=9)
LEAST_WIDE = 640
"""How wide the list must be for columns; else a row has three lines."""
BUTTON, COST, AGE, WHO = 96, 100, 66, 172
"""The widths of the columns in pixels."""
SHOWN_S = 0.5
"""For how long an action must have been shown before it is carried out: it can cost money."""
NEAR = 0.8
"""The share of a limit from which it is marked."""
_COLOURS = {Needs.FAILURE: "error", Needs.ANSWER: "warn", Needs.APPROVAL: "warn", Needs.LIMIT: "warn"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantRow:
    """An assistant over its work; `held` if the user lets it begin no more."""

    id: str
    name: str
    text: str
    held: bool
    colour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem(RowItem):
    """What the row of some work shows beside its lines."""

    button: str = ""
    who: str = ""
    # Whose colour that is.
    speaker: int = 0
    stands: str = ""
    age: str = ""
    cost: str = ""
    # Of the limit, from 0 to 1; below 0 where there is none.
    share: float = -1


def cost_text(row: WorkRow, words: Language) -> str:
    """Return what some work cost of its limit."""
    known = row.cost_usd is not None
    cost = words("cost.money", amount=amount_text(row.cost_usd or 0)) if known else words("work.no_price")
    limit = words("cost.money", amount=amount_text(row.limits.usd)) if row.limits.usd else ""
    return " / ".join(filter(None, (cost, limit)))


class WorkRows(ItemModel):
    """Work and assistants under headings."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self.narrow = False
        # Of assistants, by their names.
        self.colours: Mapping[str, int] = {}

    def item_of(self, row: WorkRow | AssistantRow) -> WorkItem:
        words = self._language
        if isinstance(row, AssistantRow):
            return WorkItem(
                id=row.id,
                title=exact(row.name),
                second=row.text,
                colour=row.colour,
                letters=initial(row.name),
                button=words("queue.go_on" if row.held else "queue.hold"),
            )
        who, age, limit = exact(", ".join(row.who)), words.age(row.since), row.limits.usd
        colour = _COLOURS.get(Needs(row.needs), "warn") if row.needs else "text_2"
        if row.state == WorkState.STOPPED and row.reason_code == RESTART:
            colour = "warn"
        return WorkItem(
            id=row.id,
            title=exact(row.title),
            second=exact(row.says),
            second_colour="ok" if row.state == WorkState.DONE else colour,
            third=" · ".join(filter(None, (who, row.stands, age))) if self.narrow else "",
            icon=icon_of(row.kind),
            button=words(f"work.do.{row.action}"),
            who=who,
            speaker=self.colours.get(row.who[0], 0) if row.who else 0,
            stands=row.stands,
            age=age,
            cost=cost_text(row, words),
            share=min(1.0, (row.cost_usd or 0) / limit) if limit else -1,
        )

    def text_of(self, row: WorkRow | AssistantRow) -> str:
        return row.name if isinstance(row, AssistantRow) else row.title

    def said_of(self, row: WorkRow | AssistantRow) -> str:
        item = self.item_of(row)
        if isinstance(row, AssistantRow):
            return f"{item.title}, {item.second}"
        kind, state = kind_text(row.kind, self._language), self._language(f"work.state.{row.state}")
        said = (item.title, kind, f"{state}: {item.second}", row.stands, item.who, item.cost, item.age)
        return ", ".join(filter(None, said))


class WorkDelegate(ItemDelegate):
    """Paints work in columns: title and sentence, who holds it, since when, cost, and the button of its action."""

    def button_in(self, rect: QRect, item: RowItem) -> QRect:
        """Return where the button of a row is; that of an assistant has more words."""
        high, wide = tall(30), BUTTON if item.colour is None else 2 * BUTTON
        return QRect(rect.right() - wide, rect.center().y() - high // 2, wide - 10, high)

    def _paint_note(self, painter: QPainter, rect: QRect, item: RowItem, left: int) -> int:
        if not isinstance(item, WorkItem):
            return super()._paint_note(painter, rect, item, left)
        tokens, place = self._look.tokens, self.button_in(rect, item)
        painter.setPen(QPen(QColor(tokens.line_strong), 1))
        painter.setBrush(QColor(tokens.surface))
        painter.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        font, centre = sized(painter.font(), 13, 500), Qt.AlignmentFlag.AlignCenter
        self._write(painter, place.adjusted(6, 0, -6, 0), item.button, font, "text", centre)
        right = place.left() - 12
        if item.cost:
            right = self._paint_cost(painter, QRect(right - COST, rect.top(), COST, rect.height()), item) - 12
        if item.who and not item.third:
            lines = QRect(right - AGE, rect.top() + 8, AGE, rect.height() - 16)
            top = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
            self._write(painter, lines, item.age, sized(painter.font(), 12), "text_2", top)
            right = lines.left() - WHO
            self._paint_who(painter, QRect(right, rect.top(), WHO - 8, rect.height()), item)
        return right - 10

    def _paint_cost(self, painter: QPainter, column: QRect, item: WorkItem) -> int:
        near = item.share >= NEAR
        lines = QRect(column.left(), column.center().y() - tall(16), column.width(), tall(28))
        colour = "warn" if near else "text"
        self._write(painter, lines, item.cost, sized(painter.font(), 12), colour, Qt.AlignmentFlag.AlignTop)
        if item.share >= 0:
            tokens, bar = self._look.tokens, QRectF(lines.left(), lines.bottom(), lines.width(), 3)
            painter.setPen(Qt.PenStyle.NoPen)
            for share, fill in ((1.0, tokens.line), (item.share, tokens.warn if near else tokens.text_2)):
                painter.setBrush(QColor(fill))
                painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * share, 3), 1.5, 1.5)
        return column.left()

    def _paint_who(self, painter: QPainter, column: QRect, item: WorkItem) -> None:
        tile = QRect(column.left(), column.center().y() - AVATAR // 2, AVATAR, AVATAR)
        colours = self._look.tokens.speaker(item.speaker)
        paint_avatar(painter, tile, item.who, colours)
        lines, top = column.adjusted(AVATAR + 9, 8, 0, -8), Qt.AlignmentFlag.AlignTop
        line = top if item.stands else Qt.AlignmentFlag.AlignVCenter
        self._write(painter, lines, item.who, sized(painter.font(), 13), "text", line)
        bottom = Qt.AlignmentFlag.AlignBottom
        self._write(painter, lines, item.stands, sized(painter.font(), 12), "text_2", bottom)


class WorkList(ActingList):
    """The list of work; acts on a row once its action has been shown for half a second."""

    def __init__(self, language: Language, look: Look) -> None:
        self.work = WorkRows(language)
        super().__init__(look, "work_list", WIDE, self.work)
        self._look = look
        self._delegates = {style: WorkDelegate(look, style, self) for style in (WIDE, NARROW)}
        self.setItemDelegate(self._delegates[WIDE])
        # The action of each row, and since when it is shown.
        self._shown: dict[str, tuple[object, float]] = {}
        self._pressed = ""
        self.viewport().setMouseTracking(True)

    def show_work(self, rows: Sequence[WorkRow | AssistantRow | str]) -> None:
        """Show these rows; only what they say changes where their order is the same."""
        now, before, acts = time.monotonic(), self._shown, dict[str, tuple[object, float]]()
        for row in rows:
            if not isinstance(row, str):
                act = row.held if isinstance(row, AssistantRow) else (row.action, row.says)
                known = before.get(row.id)
                acts[row.id] = known if known is not None and known[0] == act else (act, now)
        self._shown = acts
        if _places(rows) == _places(self.work.rows):
            self.work.change_rows(rows)
        else:
            self.show_rows(rows)

    def act(self, row_id: str) -> None:
        _action, since = self._shown.get(row_id, (None, time.monotonic()))
        if time.monotonic() - since >= SHOWN_S:
            super().act(row_id)

    def button_of(self, row_id: str) -> QRect:
        """Return where the button of a row is, in the list."""
        row = self.rows.row_of(row_id)
        return self._delegates[self._style].button_in(self.visualRect(self.rows.index(row)), self.item(row))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        style = WIDE if self.width() >= LEAST_WIDE else NARROW
        if style is not self._style:
            self._style, self.work.narrow = style, style is NARROW
            self.setItemDelegate(self._delegates[style])
            self.scheduleDelayedItemsLayout()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed = self._button_at(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        row_id = self._button_at(event.position().toPoint())
        if row_id and row_id == self._pressed and event.button() == Qt.MouseButton.LeftButton:
            self.act(row_id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        over = self._button_at(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def _button_at(self, point: QPoint) -> str:
        """Return the id of the row whose button is at a point, "" for none."""
        index = self.indexAt(point)
        row_id = str(getattr(self.work.rows[index.row()], "id", "")) if index.isValid() else ""
        return row_id if row_id and self.button_of(row_id).contains(point) else ""


def _places(rows: Sequence[WorkRow | AssistantRow | str]) -> list[str]:
    return [row if isinstance(row, str) else row.id for row in rows]
