"""The side bar's list of sessions, grouped by day."""

import functools
from operator import attrgetter

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.core.matching import fits
from app.core.session import ExportFormat, SessionSummary, Status
from app.gui.display.i18n import Language
from app.gui.display.session_kinds import failed, icon_of, kind_text, state_of, waits_its_turn
from app.gui.display.style import Look, sized, tall
from app.gui.widgets.badge import paint_row, paint_row_text
from app.gui.widgets.label import plain_tip

Index = QModelIndex | QPersistentModelIndex
SUMMARY = Qt.ItemDataRole.UserRole
ASKS = Qt.ItemDataRole.UserRole + 1
PDF = "pdf"
EXPORTS = (ExportFormat.MARKDOWN, ExportFormat.HTML, PDF, ExportFormat.JSON)
HEADER_HEIGHT = 34
ROW_HEIGHT = 33


class SessionRows(QAbstractListModel):
    """Headers (text: pinned, days, months) and sessions (summaries), newest first."""

    def __init__(self, language: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self._language = language
        self._rows: list[str | SessionSummary] = []
        self._asking: frozenset[str] = frozenset()

    def show(
        self, summaries: list[SessionSummary], asking: frozenset[str], pinned: frozenset[str] = frozenset()
    ) -> None:
        """Replace the rows; pinned sessions come first, then running ones, ordered by their start.

        So a running session does not move under the pointer. `asking` are the sessions with a question to the user, which
        may still run.
        """
        self._asking = asking
        self.beginResetModel()
        self._rows = []
        heading = ""
        first = [one for one in summaries if one.id in pinned]
        if first:
            self._rows += [self._language("side.pinned"), *first]
            summaries = [one for one in summaries if one.id not in pinned]
        running = sorted(
            (one for one in summaries if one.status == Status.RUNNING), key=attrgetter("created_at")
        )
        for summary in [*reversed(running), *(one for one in summaries if one.status != Status.RUNNING)]:
            its_heading = self._language.period(summary.updated_at)
            if its_heading != heading:
                heading = its_heading
                self._rows.append(heading)
            self._rows.append(summary)
        self.endResetModel()

    def row_of(self, session_id: str) -> int:
        """Return the row of a session, -1 when it is not shown."""
        for row, content in enumerate(self._rows):
            if isinstance(content, SessionSummary) and content.id == session_id:
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
            return content.status == Status.WAITING or content.id in self._asking
        if role == Qt.ItemDataRole.DisplayRole:
            return content if isinstance(content, str) else content.title
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(content, SessionSummary):
            kind = kind_text(content.kind, self._language)
            asks = index.data(ASKS)
            state = self._language("status.waiting") if asks else state_of(content, self._language)[0]
            return f"{kind}: {content.title}, {state}"
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(content, SessionSummary):
            return plain_tip(content.title if len(content.title) < 500 else content.title[:500] + "…")
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self._rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


def matches(summary: SessionSummary, search: str) -> bool:
    """Say whether every word of a search is in the title or a speaker's name."""
    return fits(" ".join((summary.title, *summary.speakers)), search)


class SessionRowDelegate(QStyledItemDelegate):
    """Paints the header of a day, or a session: icon, title, and its age or state."""

    def __init__(self, language: Language, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._language = language
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, tall(HEADER_HEIGHT if isinstance(index.data(SUMMARY), str) else ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        content = index.data(SUMMARY)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(content, str):
            self._paint_header(painter, option.rect, content)
        else:
            self._paint_session(painter, option, content, asks=bool(index.data(ASKS)))
        painter.restore()

    def _paint_header(self, painter: QPainter, rect: QRect, text: str) -> None:
        font = sized(painter.font(), 11, 620)
        font.setLetterSpacing(font.SpacingType.AbsoluteSpacing, 0.6)
        painter.setFont(font)
        painter.setPen(QColor(self._look.tokens.text_2))
        painter.drawText(rect.adjusted(8, 8, -8, 0), Qt.AlignmentFlag.AlignVCenter, text.upper())

    def _paint_session(
        self, painter: QPainter, option: QStyleOptionViewItem, summary: SessionSummary, *, asks: bool
    ) -> None:
        tokens = self._look.tokens
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        paint_row(painter, option, self._look, selected=selected)
        ratio = painter.device().devicePixelRatioF()
        icon = self._look.picture(icon_of(summary.kind), "text_2", 16, ratio)
        painter.drawPixmap(rect.left() + 8, rect.center().y() - 7, icon)
        note = self._language("status.short.waiting") if asks else self._meta(summary)
        colour = tokens.error if failed(summary.status, summary.reason) else tokens.text_2
        colour = tokens.warn if asks else tokens.accent if summary.status == Status.RUNNING else colour
        title = " ".join(summary.title[:200].split())
        paint_row_text(painter, rect, self._look, title, note, colour, left=32, bold=selected)

    def _meta(self, summary: SessionSummary) -> str:
        if failed(summary.status, summary.reason):
            return self._language("status.short.error")
        if waits_its_turn(summary):
            return self._language("status.short.busy")
        if summary.status in ("running", "paused"):
            return self._language(f"status.short.{summary.status}")
        return self._language.age(summary.updated_at)


class SessionList(QListView):
    """The list of sessions; emits the action the user chose for one.

    It is as tall as its rows and does not scroll; `row_reached` tells the parent which part to show.
    """

    session_requested = Signal(str)
    rename_requested = Signal(str)
    export_requested = Signal(str, str)
    delete_requested = Signal(str)
    pin_requested = Signal(str, bool)
    row_reached = Signal(QRect)

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("session_list")
        self._language = language
        self._selected = self._shown = ""
        self._pinned: frozenset[str] = frozenset()
        self._rows = SessionRows(language, self)
        self.setModel(self._rows)
        self.setItemDelegate(SessionRowDelegate(language, look, self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.clicked.connect(self._on_chosen)
        self.activated.connect(self._on_chosen)
        look.changed.connect(self._fit)

    def show_sessions(
        self,
        summaries: list[SessionSummary],
        asking: frozenset[str] = frozenset(),
        pinned: frozenset[str] = frozenset(),
    ) -> None:
        """Show sessions, keeping the selection; mark those with a question to the user."""
        self._pinned = pinned
        self._rows.show(summaries, asking, pinned)
        self._fit()
        # An empty list has no row that could show the focus.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if summaries else Qt.FocusPolicy.NoFocus)
        self.select(self._selected)

    def _fit(self) -> None:
        self.setFixedHeight(self._rows.height())
        self.viewport().update()

    def select(self, session_id: str) -> None:
        """Select the session in front; "" selects none."""
        self._selected = session_id
        row = self._rows.row_of(session_id)
        if row >= 0:
            self.setCurrentIndex(self._rows.index(row))
            if self._shown != session_id:
                self._shown = session_id
                # A new row has its place only after the layout.
                QTimer.singleShot(0, self, self._reach)
        else:
            self.clearSelection()

    def _reach(self) -> None:
        if self.currentIndex().isValid():
            self.row_reached.emit(self.visualRect(self.currentIndex()))

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and self.hasFocus():
            self.row_reached.emit(self.visualRect(current))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        summary = self._summary_at(self.currentIndex())
        if summary is not None and event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit(summary.id)
        elif summary is not None and event.key() == Qt.Key.Key_F2 and not summary.read_only:
            self.rename_requested.emit(summary.id)
        elif summary is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.session_requested.emit(summary.id)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        summary = self._summary_at(index)
        if summary is None:
            return
        place = self.viewport().mapToGlobal(self.visualRect(index).center()) if by_key else event.globalPos()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._language("side.open"), lambda: self.session_requested.emit(summary.id))
        pinned = summary.id in self._pinned
        menu.addAction(
            self._language("side.unpin" if pinned else "side.pin"),
            lambda: self.pin_requested.emit(summary.id, not pinned),
        )
        if not summary.read_only:
            menu.addAction(
                f"{self._language('side.rename')}\tF2", lambda: self.rename_requested.emit(summary.id)
            )
        exports = menu.addMenu(self._language("top.export"))
        for name in EXPORTS:
            export = functools.partial(self.export_requested.emit, summary.id, name)
            exports.addAction(self._language(f"export.{name}"), export)
        menu.addAction(self._language("side.delete"), lambda: self.delete_requested.emit(summary.id))
        menu.popup(place)

    def _summary_at(self, index: QModelIndex) -> SessionSummary | None:
        content = index.data(SUMMARY) if index.isValid() else None
        return content if isinstance(content, SessionSummary) else None

    def _on_chosen(self, index: QModelIndex) -> None:
        summary = self._summary_at(index)
        if summary is not None:
            self.session_requested.emit(summary.id)
