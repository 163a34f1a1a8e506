"""The rows of the sidebar's list of sessions: headings, folders, and sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from PySide6.QtCore import QMimeData, QModelIndex, Qt
from PySide6.QtWidgets import QWidget

from app.core.session import (
    ENDED,
    LIMITS,
    RESTART,
    DebateMode,
    Folder,
    Reason,
    SessionSummary,
    Status,
    main_code,
    reason_code,
)
from app.core.texts import fits
from app.gui.display.appearance import Language
from app.gui.display.descriptions import asked_by, icon_of, kind_text, state_of, tone_of, waits_its_turn
from app.gui.widgets.item_list import DRAGS, ROW, Index, ItemModel, ListStyle, RowItem

DRAGGED = "application/x-moot-session"
STYLE = ListStyle(height=33, heading=34, left=8, note=11, selected_weight=520, fill="surface")
INDENT = 14
MOST_TITLE = 200
MOST_NOW = 6
# How a paused session is called in short, by the code of its reason; and what is said in place of a session's age.
_SHORT = {RESTART: "closed", **dict.fromkeys(LIMITS, "limit")}
_SAID = (Status.RUNNING, Status.PAUSED, Status.STOPPED, *_SHORT.values())


class SessionRows(ItemModel):
    """Headings (now, pinned, days, folders, months), folders, and sessions (summaries), newest first.

    The sessions of a folder follow it unless it is one of `closed`; `inside` are the ids of those that do, `current`
    the folder in which new sessions begin. `steps` are those that decisions have reached, by session ids.
    """

    def __init__(self, language: Language, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._asking: frozenset[str] = frozenset()
        self._counts: dict[str, int] = {}
        self.inside: frozenset[str] = frozenset()
        self.closed: set[str] = set()
        self.steps: Mapping[str, str] = {}
        self.current = ""

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
        asks = [one for one in begun if self.asks(one)]
        runs = [one for one in begun if one.status == Status.RUNNING and not self.asks(one)]
        summaries = self._take("side.now", [*asks, *runs][:MOST_NOW], summaries)
        summaries = self._take("side.pinned", [one for one in summaries if one.id in pinned], summaries)
        within: dict[str, list[SessionSummary]] = {one.id: [] for one in folders}
        others: list[SessionSummary] = []
        for summary in summaries:
            within.get(summary.folder, others).append(summary)
        now = datetime.now().astimezone()
        fresh = [self._language.period((now - timedelta(days=back)).isoformat(), now) for back in (0, 1)]
        days = groupby(others, key=lambda one: self._language.period(one.updated_at, now))
        headed = [(heading, list(those)) for heading, those in days]
        for heading, those in headed:
            self._rows += [heading, *those] if heading in fresh else []
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
        taken = {one.id for one in those}
        return [one for one in summaries if one.id not in taken]

    def _add_folders(self, folders: Sequence[Folder], within: Mapping[str, Sequence[SessionSummary]]) -> None:
        """Add the rows of the folders, with the sessions in each."""
        self._counts = {folder_id: len(some) for folder_id, some in within.items()}
        self._rows.append(self._language("side.folders"))
        for folder in folders:
            self._rows += [folder, *(() if folder.id in self.closed else within[folder.id])]
        self.inside = frozenset(one.id for some in within.values() for one in some)

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
        return ", ".join(filter(None, (title, state, self._step(row), asked_by(row, words))))

    def asks(self, summary: SessionSummary) -> bool:
        """Say whether a session has a question to the user."""
        return summary.status == Status.WAITING or summary.id in self._asking

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
            # A copy of a question differs from it at first sight, until it has gone on by itself.
            icon="git-branch" if main_code(summary.reason) == Reason.FORKED else icon_of(summary.kind),
            indent=INDENT if summary.id in self.inside else 0,
            tip="\n".join(filter(None, (title, asked_by(summary, words)))),
        )

    def _meta(self, summary: SessionSummary) -> tuple[str, str]:
        """Return a session's age or state in short, and its colour."""
        words, status = self._language, summary.status
        tone = tone_of(summary)
        colour = "text_2" if tone in ("neutral", "ok") else tone
        if tone == "error":
            return words("status.short.error"), colour
        if waits_its_turn(summary):
            return words("status.short.busy"), colour
        key = _SHORT.get(reason_code(summary.reason), status) if status == Status.PAUSED else status
        said = words(f"status.short.{key}") if key in _SAID else ""
        return self._step(summary) or said or words.age(summary.updated_at), colour

    def _step(self, summary: SessionSummary) -> str:
        """Return the step that a decision which is over has reached, "" for a debate without a verdict."""
        first = "answers" if summary.mode == DebateMode.COUNCIL else ""
        step = self.steps.get(summary.id, first) if summary.mode and summary.status in ENDED else ""
        return self._language(f"side.step.{step}") if step else ""

    def flags(self, index: Index) -> Qt.ItemFlag:
        content = self._rows[index.row()] if index.isValid() else None
        dragged = isinstance(content, SessionSummary) and not content.read_only
        return DRAGS if dragged else super().flags(index)

    def mimeTypes(self) -> list[str]:
        return [DRAGGED]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        data.setData(DRAGGED, str(indexes[0].data(ROW).id).encode())
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
