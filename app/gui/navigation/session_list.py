"""The sidebar's list of sessions: pinned ones, those in folders, and the others grouped by day."""

import functools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QDragMoveEvent, QDropEvent, QGuiApplication, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QPlainTextEdit, QWidget

from app.core import session
from app.core.session import ExportFormat as Format
from app.core.session import Folder, SessionSummary
from app.core.texts import fits, unmarked
from app.gui.commands import deletes, written
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import asked_by, kind_text, state_of, summary_icon, tone_of, waits_its_turn
from app.gui.widgets.controls import ENTER, ticked
from app.gui.widgets.item_list import DRAGS, ROW, Index, ItemList, ItemModel, ListStyle, RowItem

Ids = frozenset[str]
Folders = Sequence[Folder]
NONE: Ids = frozenset()
DRAGGED = "application/x-moot-session"
STYLE = ListStyle(height=33, heading=34, left=8, note=11, selected_weight=520, fill="surface")
INDENT = 14
MOST_TITLE = 200
MORE = QItemSelectionModel.SelectionFlag.Select
# How a paused session is called in short, by the code of its reason; and what is said in place of a session's
# age.
_SHORT = {session.RESTART: "closed", session.Reason.CRITERIA_UNMET: "unmet"}
_SHORT |= dict.fromkeys(session.LIMITS, "limit")
_SAID = (session.Status.RUNNING, session.Status.PAUSED, session.Status.STOPPED, *_SHORT.values())


class SessionRows(ItemModel):
    """Headings (now, pinned, days, folders, months), folders, and sessions (summaries), newest first.

    The sessions of a folder follow it unless it is one of `closed`; `inside` are the ids of those that do,
    `current` the folder in which new sessions begin. `steps` are those that decisions have reached, by
    session ids.
    """

    def __init__(self, language: Language, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._asking: Ids = NONE
        self._counts: dict[str, int] = {}
        # The heading of each session that stands below a day, the last 30 days or a month.
        self._headings: dict[str, str] = {}
        self.inside: Ids = NONE
        self.closed: set[str] = set()
        self.steps: Mapping[str, str] = {}
        self.current = ""

    def show(
        self, summaries: list[SessionSummary], asking: Ids, pinned: Ids = NONE, folders: Folders = ()
    ) -> None:
        """Replace the rows: now, pinned sessions, those of two days, folders with theirs, and the others.

        Now are those that need the user, then those that run, both by their beginning, so that none moves
        under the pointer. `asking` are the sessions with a question to the user, which may still run.
        """
        self._asking, self._headings = asking, {}
        self.beginResetModel()
        self._rows, self.inside = [], frozenset()
        begun = sorted(summaries, key=attrgetter("created_at"), reverse=True)
        asks = [item for item in begun if self.asks(item)]
        runs = [item for item in begun if item.status == session.Status.RUNNING and not self.asks(item)]
        summaries = self._take("side.now", [*asks, *runs][:6], summaries)
        summaries = self._take("side.pinned", [item for item in summaries if item.id in pinned], summaries)
        within: dict[str, list[SessionSummary]] = {folder.id: [] for folder in folders}
        others: list[SessionSummary] = []
        for summary in summaries:
            within.get(summary.folder, others).append(summary)
        now = datetime.now().astimezone()
        fresh = [self._language.period((now - timedelta(days=back)).isoformat(), now) for back in (0, 1)]
        days = groupby(others, key=lambda item: self._language.period(item.updated_at, now))
        headed = [(heading, list(those)) for heading, those in days]
        for heading, those in headed:
            self._rows += [heading, *those] if heading in fresh else []
            self._headings |= {item.id: heading for item in those}
        if folders:
            self._add_folders(folders, within)
        for heading, those in headed:
            self._rows += [heading, *those] if heading not in fresh else []
        self.endResetModel()

    def _take(
        self, key: str, those: Sequence[SessionSummary], summaries: Sequence[SessionSummary]
    ) -> list[SessionSummary]:
        """Add sessions under a heading, if there are any, and return the others."""
        if those:
            self._rows += [self._language(key), *those]
        taken = {summary.id for summary in those}
        return [summary for summary in summaries if summary.id not in taken]

    def _add_folders(self, folders: Sequence[Folder], within: Mapping[str, Sequence[SessionSummary]]) -> None:
        """Add the rows of the folders, with the sessions in each."""
        self._counts = {folder_id: len(some) for folder_id, some in within.items()}
        self._rows.append(self._language("side.folders"))
        for folder in folders:
            self._rows += [folder, *(() if folder.id in self.closed else within[folder.id])]
        self.inside = frozenset(summary.id for some in within.values() for summary in some)

    def item_of(self, row: Folder | SessionSummary) -> RowItem:
        return self._folder(row) if isinstance(row, Folder) else self._session(row)

    def text_of(self, row: Folder | SessionSummary) -> str:
        return row.name if isinstance(row, Folder) else row.title

    def said_of(self, row: Folder | SessionSummary) -> str:
        words = self._language
        if isinstance(row, Folder):
            state = words("folder.closed" if row.id in self.closed else "folder.open")
            return words("folder.said", name=row.name, count=self._counts.get(row.id, 0), state=state)
        state = words("status.waiting") if self.asks(row) else state_of(row, words)[0]
        title = f"{kind_text(row.kind, words)}: {row.title}"
        fork = words("side.fork") if row.is_fork else ""
        return ", ".join(filter(None, (title, fork, state, self._step(row), asked_by(row, words))))

    def asks(self, summary: SessionSummary) -> bool:
        """Say whether a session has a question to the user."""
        return summary.status == session.Status.WAITING or summary.id in self._asking

    def _folder(self, folder: Folder) -> RowItem:
        return RowItem(
            id=folder.id,
            title=" ".join(folder.name.split()),
            note=str(self._counts.get(folder.id, 0)),
            icon="folder-open",
            icon_colour="accent" if folder.id == self.current else "text_2",
            chevron="chevron-right" if folder.id in self.closed else "chevron-down",
            indent=INDENT,
            action="plus",
        )

    def _session(self, summary: SessionSummary) -> RowItem:
        words, waits = self._language, self.asks(summary)
        note, colour = (words("status.short.waiting"), "warn") if waits else self._meta(summary)
        title = summary.title if len(summary.title) < 500 else summary.title[:500] + "…"
        return RowItem(
            id=summary.id,
            title=" ".join(summary.title[:MOST_TITLE].split()),
            note=note,
            note_colour=colour,
            icon=summary_icon(summary),
            indent=INDENT if summary.id in self.inside else 0,
            tip="\n".join(filter(None, (title, asked_by(summary, words)))),
        )

    def _meta(self, summary: SessionSummary) -> tuple[str, str]:
        """Return a session's age or state in short, and its colour."""
        words, status = self._language, summary.status
        tone, heading = tone_of(summary), self._headings.get(summary.id, "")
        colour = "text_2" if tone in ("neutral", "ok") else tone
        if tone == "error":
            return words("status.short.error"), colour
        if waits_its_turn(summary):
            return words("status.short.busy"), colour
        paused = status == session.Status.PAUSED
        key = _SHORT.get(session.reason_code(summary.reason), status) if paused else status
        said = words(f"status.short.{key}") if key in _SAID else ""
        return self._step(summary) or said or words.age_below(heading, summary.updated_at), colour

    def _step(self, summary: SessionSummary) -> str:
        """Return the step that a decision which is over has reached, "" for a debate without a verdict."""
        first = "answers" if summary.mode == session.DebateMode.COUNCIL else ""
        step = self.steps.get(summary.id, first) if summary.mode and summary.status in session.ENDED else ""
        return self._language(f"side.step.{step}") if step else ""

    def flags(self, index: Index) -> Qt.ItemFlag:
        content = self._rows[index.row()] if index.isValid() else None
        dragged = isinstance(content, SessionSummary) and not content.read_only
        return DRAGS if dragged else super().flags(index)

    def mimeTypes(self) -> list[str]:
        return [DRAGGED]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        data.setData(DRAGGED, " ".join(index.data(ROW).id for index in indexes).encode())
        return data

    def folder_at(self, row: int) -> str:
        """Return the folder that a session dropped on a row goes into, "" for none."""
        content = self._rows[row] if 0 <= row < len(self._rows) else ""
        if isinstance(content, SessionSummary):
            return content.folder if content.id in self.inside else ""
        return content.id if isinstance(content, Folder) else ""


def matches(summary: SessionSummary, search: str) -> bool:
    """Say whether every word of a search is in the title or a speaker's name."""
    return fits(" ".join((summary.title, *summary.speakers)), search)


BEGIN, RENAME, CONTENTS, DELETE = "begin", "rename", "contents", "delete"
EXPORTS = (Format.MARKDOWN, Format.HTML, session.PDF, session.DOCX, Format.JSON, session.ZIP)


class SessionList(ItemList):
    """The list of sessions and their folders; emits the action the user chose for one.

    Signals: move_requested(session id, folder id, "" for none), new_folder_requested(session id),
    folder_requested(action, folder id), decision_requested(session id), several_deleted(session ids) and
    folded() when folders were opened or closed.

    It is as tall as its rows and does not scroll; `row_reached` tells the parent which part to show.

    After a click on a session the keyboard is in its page, where the user goes on writing; until another key
    or button is pressed, Delete still means the row, unless the page's box has text.
    """

    session_requested = Signal(str)
    rename_requested = Signal(str)
    export_requested = Signal(str, str)
    pin_requested = Signal(str, bool)
    row_reached = Signal(QRect)
    move_requested = Signal(str, str)
    new_folder_requested = Signal(str)
    folder_requested = Signal(str, str)
    decision_requested = Signal(str)
    repeat_requested = Signal(str)
    folded = Signal()
    several_deleted = Signal(object)

    def __init__(self, language: Language, look: Look) -> None:
        rows = SessionRows(language)
        super().__init__(look, "session_list", STYLE, rows)
        self._language, self._rows = language, rows
        self._selected = self._shown = ""
        self._pinned: Ids = NONE
        self._asking: Ids = NONE
        self.summaries: list[SessionSummary] = []
        self._folders: Folders = ()
        self._pressed = QPoint()
        self._clicked = ""
        self.setSelectionMode(self.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._on_chosen)
        self.activated.connect(self._on_chosen)
        self.doubleClicked.connect(self._on_double_click)
        look.changed.connect(self._fit)
        self.show_sessions([])

    def show_sessions(
        self, summaries: list[SessionSummary], asking: Ids = NONE, pinned: Ids = NONE, folders: Folders = ()
    ) -> None:
        """Show sessions, keeping the selection; mark those with a question to the user."""
        several = self._several()
        self.summaries, self._asking, self._pinned, self._folders = summaries, asking, pinned, folders
        self._rows.show(summaries, asking, pinned, folders)
        self._fit()
        # An empty list has no row that could show the focus.
        policy = Qt.FocusPolicy.StrongFocus if summaries or folders else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(policy)
        self.select(self._selected)
        for row in map(self._rows.row_of, several):
            if row >= 0:
                self.selectionModel().select(self._rows.index(row), MORE)

    @property
    def closed(self) -> frozenset[str]:
        """The ids of the folders whose sessions are not listed."""
        return frozenset(self._rows.closed)

    def fold(self, folder_id: str, *, closed: bool) -> None:
        """Close a folder, or open it."""
        (self._rows.closed.add if closed else self._rows.closed.discard)(folder_id)
        self.show_sessions(self.summaries, self._asking, self._pinned, self._folders)
        self.folded.emit()

    def show_steps(self, steps: Mapping[str, str]) -> None:
        """Show at decisions, by their sessions' ids, the step they have reached: verdict or decided."""
        self._rows.steps = steps
        self.viewport().update()

    def mark(self, folder_id: str) -> None:
        """Mark the folder in which new sessions begin, "" for none."""
        self._rows.current = folder_id
        self.viewport().update()

    def _fit(self) -> None:
        self.setFixedHeight(self.rows_height())
        self.viewport().update()

    def select(self, session_id: str) -> None:
        """Select the session in front; "" selects none."""
        self._selected = session_id
        row = self._rows.row_of(session_id)
        if row < 0 and session_id != self._shown and session_id in self._rows.inside:
            folder = next(summary.folder for summary in self.summaries if summary.id == session_id)
            self._shown = session_id
            self.fold(folder, closed=False)
            self._shown, row = "", self._rows.row_of(session_id)
        if row >= 0:
            self.setCurrentRow(row)
            if self._shown != session_id:
                self._shown = session_id
                # A new row has its place only after the layout.
                QTimer.singleShot(0, self, self._reach)
        else:
            self.clearSelection()

    def beside(self, step: int) -> str:
        """Return the id of the session listed after the one in front, or before it for -1, round the ends.

        "" where no session is listed.
        """
        ids = [row.id for row in self._rows.rows if isinstance(row, SessionSummary)]
        place = ids.index(self._selected) if self._selected in ids else min(0, -step)
        return ids[(place + step) % len(ids)] if ids else ""

    def _reach(self) -> None:
        if self.currentIndex().isValid():
            self.row_reached.emit(self.visualRect(self.currentIndex()))

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and self.hasFocus():
            self.row_reached.emit(self.visualRect(current))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().data(ROW), Qt.Key(event.key())
        if deletes(key) and (several := self._several()):
            self.several_deleted.emit(several)
            return
        if isinstance(row, Folder) and self._on_folder_key(row.id, key):
            return
        if not isinstance(row, SessionSummary):
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_F2 and not row.read_only:
            self.rename_requested.emit(row.id)
        elif key in (*ENTER, Qt.Key.Key_Space):
            self.session_requested.emit(row.id)
        elif key == Qt.Key.Key_Left and row.id in self._rows.inside:
            self.choose(row.folder)
        else:
            super().keyPressEvent(event)

    def _on_folder_key(self, folder_id: str, key: Qt.Key) -> bool:
        """Do what a key means for a folder; say whether it means anything."""
        closed = folder_id in self._rows.closed
        if deletes(key):
            self.folder_requested.emit(DELETE, folder_id)
        elif key == Qt.Key.Key_F2:
            self.folder_requested.emit(RENAME, folder_id)
        elif key in ENTER:
            self._begin_in(folder_id)
        elif key in (Qt.Key.Key_Space, Qt.Key.Key_Right if closed else Qt.Key.Key_Left):
            self._switch(folder_id)
        else:
            return False
        return True

    def _switch(self, folder_id: str) -> None:
        """List the sessions of a folder, or hide them."""
        self.fold(folder_id, closed=folder_id not in self._rows.closed)
        self.choose(folder_id)

    def _begin_in(self, folder_id: str) -> None:
        """List the sessions of a folder, and begin another one in it."""
        if folder_id in self._rows.closed:
            self._switch(folder_id)
        self.folder_requested.emit(BEGIN, folder_id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress) or not self._clicked:
            return super().eventFilter(watched, event)
        clicked, self._clicked = self._clicked, ""
        watched.removeEventFilter(self)
        writes = _has_text(self.window().focusWidget())
        if isinstance(event, QKeyEvent) and deletes(event.key()) and not (event.modifiers() or writes):
            self.delete_requested.emit(clicked)
            return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if event.mimeData().hasFormat(DRAGGED):
            event.acceptProposedAction()
            # The list itself does not scroll.
            self.row_reached.emit(QRect(event.position().toPoint() - QPoint(0, 40), QSize(1, 80)))

    def dropEvent(self, event: QDropEvent) -> None:
        folder_id = self._rows.folder_at(self.indexAt(event.position().toPoint()).row())
        event.acceptProposedAction()
        self._move_all(event.mimeData().data(DRAGGED).toStdString().split(), folder_id)

    def _several(self) -> tuple[str, ...]:
        """Return the ids of the selected sessions, none unless there are at least two."""
        sessions = {summary.id for summary in self.summaries}
        chosen = tuple(row_id for row_id in self.selected_ids() if row_id in sessions)
        return chosen if len(chosen) > 1 else ()

    def _move_all(self, session_ids: Sequence[str], folder_id: str) -> None:
        for session_id in session_ids:
            self._move(session_id, folder_id)

    def _move(self, session_id: str, folder_id: str) -> None:
        summary = next((item for item in self.summaries if item.id == session_id), None)
        before = summary.folder if summary is not None and session_id in self._rows.inside else ""
        if summary is not None and before != folder_id:
            self.move_requested.emit(session_id, folder_id)

    def menu_of(self, row_id: str) -> QMenu | None:
        menu, words, row = self.new_menu(), self._language, self._rows.rows[self._rows.row_of(row_id)]
        if isinstance(row, Folder):
            keys = {RENAME: "\tF2", DELETE: f"\t{written('Del')}"}
            for action in (BEGIN, RENAME, CONTENTS, DELETE):
                ask = functools.partial(self.folder_requested.emit, action, row_id)
                menu.addAction(words(f"folder.{action}") + keys.get(action, ""), ask)
            return menu
        if row_id in (several := self._several()):
            self._add_folders(menu, several)
            delete = words("side.delete_several", count=len(several))
            menu.addAction(f"{delete}\t{written('Del')}", lambda: self.several_deleted.emit(several))
            return menu
        menu.addAction(words("side.open"), lambda: self.session_requested.emit(row_id))
        pinned = row_id in self._pinned
        pin = functools.partial(self.pin_requested.emit, row_id, not pinned)
        menu.addAction(words("side.unpin" if pinned else "side.pin"), pin)
        if not row.read_only:
            menu.addAction(f"{words('side.rename')}\tF2", lambda: self.rename_requested.emit(row_id))
            self._add_folders(menu, (row_id,))
        menu.addAction(words("repeat.ask"), lambda: self.repeat_requested.emit(row_id))
        menu.addAction(words("journal.keep_decision"), lambda: self.decision_requested.emit(row_id))
        exports = menu.addMenu(words("top.export"))
        for name in EXPORTS:
            export = functools.partial(self.export_requested.emit, row_id, name)
            exports.addAction(words(f"export.{name}"), export)
        self.add_delete(menu, words("side.delete"), row_id)
        return menu

    def _add_folders(self, menu: QMenu, session_ids: Sequence[str]) -> None:
        """Add the menu that moves sessions into a folder, or out of it."""
        words, moves = self._language, menu.addMenu(self._language("folder.move"))
        moved = [summary for summary in self.summaries if summary.id in session_ids]
        inside = {summary.folder for summary in moved} & {folder.id for folder in self._folders}
        for folder in self._folders:
            name = unmarked(" ".join(folder.name.split()))
            move = functools.partial(self._move_all, session_ids, folder.id)
            ticked(moves, name, inside == {folder.id}, move)
        moves.addSeparator()
        if len(session_ids) == 1:
            moves.addAction(words("folder.new"), lambda: self.new_folder_requested.emit(session_ids[0]))
        if inside:
            moves.addAction(words("folder.out"), functools.partial(self._move_all, session_ids, ""))

    def _on_double_click(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if isinstance(row, SessionSummary) and not row.read_only:
            self.rename_requested.emit(row.id)

    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        picks = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if QGuiApplication.keyboardModifiers() & picks:
            # The click has selected one more, or one less.
            return
        if isinstance(row, SessionSummary):
            # Let Delete mean the row that was clicked, if it is the next key.
            self._clicked = row.id
            # The window's own events are few: those of all widgets would slow down the whole program.
            self.window().windowHandle().installEventFilter(self)
            self.session_requested.emit(row.id)
        elif isinstance(row, Folder):
            folds = self._pressed.x() < self.visualRect(index).left() + 21
            (self._switch if folds else self._begin_in)(row.id)


def _has_text(box: QWidget | None) -> bool:
    """Say whether the widget with the focus has text that Delete edits; an input method's text counts."""
    if isinstance(box, QPlainTextEdit):
        return not box.document().isEmpty() or bool(box.textCursor().block().layout().preeditAreaText())
    return isinstance(box, QLineEdit)
