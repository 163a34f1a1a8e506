"""The rows of the sidebar's list of sessions and how they are painted: headings, folders, and sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.core.matching import fits
from app.core.session import Folder, SessionSummary, Status
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.descriptions import asked_by, failed, icon_of, kind_text, state_of, waits_its_turn
from app.gui.widgets.badge import paint_row, paint_row_text
from app.gui.widgets.text import plain_tip

Index = QModelIndex | QPersistentModelIndex
SUMMARY = Qt.ItemDataRole.UserRole
ASKS = Qt.ItemDataRole.UserRole + 1
COUNT = Qt.ItemDataRole.UserRole + 2
DRAGGED = "application/x-moot-session"
HEADER_HEIGHT = 34
ROW_HEIGHT = 33
INDENT = 14
MOST_NOW = 6
FOLD_WIDTH = 21


class SessionRows(QAbstractListModel):
    """Headers (text: now, pinned, days, folders, months), folders, and sessions (summaries), newest first.

    The sessions of a folder follow it unless it is one of `closed`; `inside` are the ids of those that do.
    """

    def __init__(self, language: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self._language = language
        self._rows: list[str | Folder | SessionSummary] = []
        self._asking: frozenset[str] = frozenset()
        self._counts: dict[str, int] = {}
        self.inside: frozenset[str] = frozenset()
        self.closed: set[str] = set()

    def show(
        self,
        summaries: list[SessionSummary],
        asking: frozenset[str],
        pinned: frozenset[str] = frozenset(),
        folders: Sequence[Folder] = (),
    ) -> None:
        """Replace the rows: now, pinned sessions, those of two days, folders with theirs, and the others.

        Now are those that need the user, then those that run, both by their beginning, so that none moves under the pointer.
        `asking` are the sessions with a question to the user, which may still run.
        """
        self._asking = asking
        self.beginResetModel()
        self._rows, self.inside = [], frozenset()
        begun = sorted(summaries, key=attrgetter("created_at"), reverse=True)
        asks = [one for one in begun if self._asks(one)]
        runs = [one for one in begun if one.status == Status.RUNNING and not self._asks(one)]
        summaries = self._take("side.now", [*asks, *runs][:MOST_NOW], summaries)
        summaries = self._take("side.pinned", [one for one in summaries if one.id in pinned], summaries)
        within = {one.id: [each for each in summaries if each.folder == one.id] for one in folders}
        others = [one for one in summaries if one.folder not in within]
        fresh = [self._language.period(moment) for moment in _two_days()]
        days = groupby(others, key=lambda one: self._language.period(one.updated_at))
        headed = [(heading, list(those)) for heading, those in days]
        for heading, those in headed:
            self._rows += [heading, *those] if heading in fresh else []
        if folders:
            self._add_folders(folders, within)
        for heading, those in headed:
            self._rows += [heading, *those] if heading not in fresh else []
        self.endResetModel()

    def _asks(self, summary: SessionSummary) -> bool:
        return summary.status == Status.WAITING or summary.id in self._asking

    def _take(
        self, key: str, those: Sequence[SessionSummary], summaries: Sequence[SessionSummary]
    ) -> list[SessionSummary]:
        """Add sessions under a heading, if there are any, and return the others."""
        if those:
            self._rows += [self._language(key), *those]
        taken = {one.id for one in those}
        return [one for one in summaries if one.id not in taken]

    def _add_folders(self, folders: Sequence[Folder], within: Mapping[str, Sequence[SessionSummary]]) -> None:
        """Add the rows of the folders, with the sessions in each."""
        self._counts = {folder_id: len(some) for folder_id, some in within.items()}
        self._rows.append(self._language("side.folders"))
        for folder in folders:
            self._rows += [folder, *(() if folder.id in self.closed else within[folder.id])]
        self.inside = frozenset(one.id for some in within.values() for one in some)

    def row_of(self, wanted: str) -> int:
        """Return the row of a session or a folder, -1 when it is not shown."""
        for row, content in enumerate(self._rows):
            if not isinstance(content, str) and content.id == wanted:
                return row
        return -1

    def height(self) -> int:
        """Return the height of all rows in pixels."""
        headers = sum(isinstance(content, str) for content in self._rows)
        return headers * tall(HEADER_HEIGHT) + (len(self._rows) - headers) * tall(ROW_HEIGHT)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        content = self._rows[index.row()]
        if role == SUMMARY:
            return content
        if role == ASKS and isinstance(content, SessionSummary):
            return self._asks(content)
        if role == Qt.ItemDataRole.DisplayRole:
            return content if isinstance(content, str) else name_of(content)
        if role == COUNT and isinstance(content, Folder):
            return self._counts.get(content.id, 0)
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(content, Folder):
            state = self._language("folder.closed" if content.id in self.closed else "folder.open")
            return self._language(
                "folder.said", name=content.name, count=self._counts.get(content.id, 0), state=state
            )
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(content, SessionSummary):
            kind = kind_text(content.kind, self._language)
            asks = index.data(ASKS)
            state = self._language("status.waiting") if asks else state_of(content, self._language)[0]
            return ", ".join(
                filter(None, (f"{kind}: {content.title}", state, asked_by(content, self._language)))
            )
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(content, SessionSummary):
            title = content.title if len(content.title) < 500 else content.title[:500] + "…"
            return plain_tip("\n".join(filter(None, (title, asked_by(content, self._language)))))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        content = self._rows[index.row()] if index.isValid() else ""
        if isinstance(content, str):
            return Qt.ItemFlag.NoItemFlags
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        dragged = isinstance(content, SessionSummary) and not content.read_only
        return usual | Qt.ItemFlag.ItemIsDragEnabled if dragged else usual

    def mimeTypes(self) -> list[str]:
        return [DRAGGED]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        data.setData(DRAGGED, str(indexes[0].data(SUMMARY).id).encode())
        return data

    def folder_at(self, row: int) -> str:
        """Return the folder that a session dropped on a row goes into, "" for none."""
        content = self._rows[row] if 0 <= row < len(self._rows) else ""
        if isinstance(content, SessionSummary):
            return content.folder if content.id in self.inside else ""
        return content.id if isinstance(content, Folder) else ""


def _two_days() -> tuple[str, str]:
    """Return a moment of today and one of yesterday."""
    now = datetime.now().astimezone()
    return now.isoformat(), (now - timedelta(days=1)).isoformat()


def name_of(content: Folder | SessionSummary) -> str:
    """Return the name of a row's content."""
    return content.name if isinstance(content, Folder) else content.title


def matches(summary: SessionSummary, search: str) -> bool:
    """Say whether every word of a search is in the title or a speaker's name."""
    return fits(" ".join((summary.title, *summary.speakers)), search)


class SessionRowDelegate(QStyledItemDelegate):
    """Paints the header of a day, a folder, or a session: icon, title, and its age or state."""

    def __init__(self, language: Language, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._language = language
        self._look = look
        self.current = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, tall(HEADER_HEIGHT if isinstance(index.data(SUMMARY), str) else ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        content = index.data(SUMMARY)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(content, str):
            self._paint_header(painter, option.rect, content)
        elif isinstance(content, Folder):
            self._paint_folder(painter, option, index, content)
        else:
            rows = index.model()
            assert isinstance(rows, SessionRows)
            inset = INDENT if content.id in rows.inside else 0
            self._paint_session(painter, option, content, inset, asks=bool(index.data(ASKS)))
        painter.restore()

    def _paint_header(self, painter: QPainter, rect: QRect, text: str) -> None:
        font = sized(painter.font(), 11, 620)
        font.setLetterSpacing(font.SpacingType.AbsoluteSpacing, 0.6)
        painter.setFont(font)
        painter.setPen(QColor(self._look.tokens.text_2))
        painter.drawText(rect.adjusted(8, 8, -8, 0), Qt.AlignmentFlag.AlignVCenter, text.upper())

    def _paint_folder(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, folder: Folder
    ) -> None:
        rows, rect, ratio = index.model(), QRect(option.rect), painter.device().devicePixelRatioF()
        assert isinstance(rows, SessionRows)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        paint_row(painter, option, self._look, selected=selected)
        top = rect.center().y() - 7
        chevron = "chevron-right" if folder.id in rows.closed else "chevron-down"
        painter.drawPixmap(rect.left() + 7, top + 2, self._look.picture(chevron, "text_2", 11, ratio))
        tone = "accent" if folder.id == self.current else "text_2"
        painter.drawPixmap(rect.left() + 22, top, self._look.picture("folder-open", tone, 16, ratio))
        if hovered:
            painter.drawPixmap(rect.right() - 21, top, self._look.picture("plus", "text", 15, ratio))
        note = "" if hovered else str(index.data(COUNT))
        name = " ".join(folder.name.split())
        paint_row_text(
            painter, rect, self._look, name, note, self._look.tokens.text_2, left=45, bold=selected
        )

    def _paint_session(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        summary: SessionSummary,
        inset: int,
        *,
        asks: bool,
    ) -> None:
        tokens = self._look.tokens
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        paint_row(painter, option, self._look, selected=selected)
        ratio = painter.device().devicePixelRatioF()
        icon = self._look.picture(icon_of(summary.kind), "text_2", 16, ratio)
        painter.drawPixmap(rect.left() + 8 + inset, rect.center().y() - 7, icon)
        note = self._language("status.short.waiting") if asks else self._meta(summary)
        colour = tokens.error if failed(summary.status, summary.reason) else tokens.text_2
        colour = tokens.warn if asks else tokens.accent if summary.status == Status.RUNNING else colour
        title = " ".join(summary.title[:200].split())
        paint_row_text(painter, rect, self._look, title, note, colour, left=32 + inset, bold=selected)

    def _meta(self, summary: SessionSummary) -> str:
        if failed(summary.status, summary.reason):
            return self._language("status.short.error")
        if waits_its_turn(summary):
            return self._language("status.short.busy")
        if summary.status in ("running", "paused"):
            return self._language(f"status.short.{summary.status}")
        return self._language.age(summary.updated_at)
