"""The panel of debates, with the tabs Setup, Discussion and History, the list of past debates in History, and
the page of the main area for the form of Setup.

A row of History shows a `SessionSummary` (core/session.py), filled by `summarised` (storage/codec.py), kept
by storage/index.py (a new field raises its version); what is counted over messages by `_summarise` and `load`
(storage/sessions.py) and `read_summary` (storage/log.py). Calls without a message cost too: `usage`
(gui/display/descriptions.py), `_of_session` (storage/usage_ledger.py).
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt, Signal, SignalInstance
from PySide6.QtGui import QFocusEvent, QFontMetrics, QPainter, QShowEvent
from PySide6.QtWidgets import QFrame, QStyle, QStyleOptionViewItem, QWidget

from app.core.session import DebateMode, Folder, SessionSummary, resumable
from app.core.texts import unmarked
from app.engine.engine import Engine
from app.gui.commands import written
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.descriptions import state_of
from app.gui.navigation.session_list import matches
from app.gui.panels.conversation_view import empty_state
from app.gui.panels.debate.debate_controls import DebateSummary
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.panels.debate.setup_view import SetupView
from app.gui.panels.right_panel import RightPanel
from app.gui.tasks import Tasks
from app.gui.widgets import badge
from app.gui.widgets.boxes import STRETCH, centred, frame, hbox, stack, vbox
from app.gui.widgets.composer import SearchBox
from app.gui.widgets.controls import button, icon_button
from app.gui.widgets.item_list import ROW, Index, ItemDelegate, ItemList, ItemModel, ListStyle, RowItem
from app.gui.widgets.text import Paragraph, name_button, named, plain_label, say

CARD_HEIGHT = 76
STYLE = ListStyle(height=CARD_HEIGHT, gap=12)
MARGIN = 14
BESIDE = 10
MOST_AVATARS = 6
AVATAR_STEP = badge.AVATAR + 6


class DebateRows(ItemModel):
    """Debates that match the search, newest first."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language

    def item_of(self, row: SessionSummary) -> RowItem:
        return RowItem(id=row.id, title=row.title, tip=", ".join(row.speakers))

    def said_of(self, row: SessionSummary) -> str:
        words, speakers = self._language, ", ".join(row.speakers)
        return f"{row.title}, {state_of(row, words)[0]}, {speakers}, {words.day_and_time(row.updated_at)}"


class DebateCardDelegate(ItemDelegate):
    """Paints a debate as a card: title, status, speakers, mode, rounds and day."""

    def __init__(self, language: Language, look: Look, actions: "CardActions", parent: QWidget) -> None:
        """`actions` lie before the day, on the card under the mouse or with the focus."""
        super().__init__(look, STYLE, parent)
        self._language, self._actions = language, actions

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        summary: SessionSummary = index.data(ROW)
        tokens, words = self._look.tokens, self._language
        card = QRect(option.rect.left(), option.rect.top(), option.rect.width(), tall(CARD_HEIGHT))
        active = bool(option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver))
        focused = self._look.ringed(option)
        painter.save()
        line = tokens.accent if focused else tokens.line_strong if active else tokens.line
        badge.paint_box(painter, card, line, tokens.surface, 9)
        inner = card.adjusted(MARGIN, 12, -MARGIN, -12)
        painter.setFont(sized(painter.font(), 12, 500))
        status, tone = state_of(summary, words)
        width = QFontMetrics(painter.font()).horizontalAdvance(status) + 20
        chip = QRect(inner.right() - width + 1, inner.top() - 1, width, tall(22))
        badge.paint_chip(painter, chip, status, badge.chip_colours(tokens, tone))
        font = sized(painter.font(), 14, 620)
        room = QRect(inner.left(), inner.top(), inner.width() - width - 12, tall(20))
        title = " ".join(summary.title[:200].split())
        shown = QFontMetrics(font).elidedText(title, Qt.TextElideMode.ElideRight, room.width())
        badge.paint_text(painter, font, tokens.text, room, shown)
        self._paint_foot(painter, inner, summary, active=active)
        painter.restore()

    def _paint_foot(self, painter: QPainter, inner: QRect, summary: SessionSummary, *, active: bool) -> None:
        tokens, words = self._look.tokens, self._language
        font = sized(painter.font(), 12, 400)
        metrics = QFontMetrics(font)
        day = words.day_and_time(summary.updated_at)
        line = QRect(inner.left(), inner.bottom() - badge.AVATAR + 1, inner.width(), badge.AVATAR)
        badge.paint_text(painter, font, tokens.text_2, line, day, Qt.AlignmentFlag.AlignRight)
        line.setRight(line.right() - metrics.horizontalAdvance(day) - BESIDE)
        if active:
            line.setRight(line.right() - self._actions.width_for(summary) - BESIDE)
        count, more = avatars(summary, line.width(), metrics)
        letters = badge.initials(summary.speakers)
        for place, name in enumerate(summary.speakers[:count]):
            place_of = QRect(line.left(), line.top(), badge.AVATAR, badge.AVATAR)
            badge.paint_avatar(painter, place_of, name, tokens.speaker(place), letters[place])
            line.setLeft(line.left() + AVATAR_STEP)
        mode = words.mode(summary.mode or DebateMode.ROUND_ROBIN)
        detail = words("history.detail", mode=mode, count=summary.rounds)
        line.setLeft(line.left() + 2)
        if more:
            badge.paint_text(painter, font, tokens.text_2, line, more)
            line.setLeft(line.left() + metrics.horizontalAdvance(more) + BESIDE)
        if line.width() >= 40:
            shown = metrics.elidedText(detail, Qt.TextElideMode.ElideRight, line.width())
            badge.paint_text(painter, font, tokens.text_2, line, shown)


class CardActions(QFrame):
    """The buttons laid over the card under the mouse or with the focus."""

    open_requested = Signal(str)
    continue_requested = Signal(str)
    delete_requested = Signal(str)

    def __init__(self, language: Language, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._language = language
        self._session_id = ""

        def asking(signal: SignalInstance) -> Callable[[], None]:
            return lambda: signal.emit(self._session_id)

        opens = button("link", "history_open", asking(self.open_requested))
        go_on = button("link", "history_continue", asking(self.continue_requested))
        self._open = say(opens, language, "history.open")
        self._continue = say(go_on, language, "history.continue")
        self._delete = icon_button(look, "trash-2", "history_delete", asking(self.delete_requested))
        self._delete.setFixedSize(28, 26)
        hbox(STRETCH, self._open, self._continue, self._delete, inside=self, spacing=2)
        language.changed.connect(self._retranslate)
        self._retranslate()
        self.hide()

    def show_for(self, summary: SessionSummary, card: QRect) -> None:
        """Show the buttons on a debate's card."""
        self._session_id = summary.id
        self._continue.setVisible(_continues(summary))
        day = self._language.day_and_time(summary.updated_at)
        day_width = QFontMetrics(sized(self.font(), 12, 400)).horizontalAdvance(day)
        width = self.width_for(summary)
        right = card.right() - MARGIN - day_width - BESIDE
        self.setGeometry(right - width + 1, card.top() + tall(CARD_HEIGHT) - 38, width, 30)
        self.show()

    def width_for(self, summary: SessionSummary) -> int:
        """Return the width of a debate's buttons, in pixels."""
        shown = [self._open, self._delete]
        if _continues(summary):
            shown.append(self._continue)
        for item in shown:
            item.ensurePolished()
        return sum(max(item.sizeHint().width(), item.minimumWidth()) + 2 for item in shown)

    def _retranslate(self) -> None:
        name_button(self._delete, self._language("history.delete"), written("Del"))


def avatars(summary: SessionSummary, width: int, metrics: QFontMetrics) -> tuple[int, str]:
    """Return how many speakers fit on a card as initials, and the rest as text, such as "+2"."""
    everybody = len(summary.speakers)
    for count in range(min(everybody, MOST_AVATARS, max(0, width // AVATAR_STEP)), -1, -1):
        more = f"+{everybody - count}" if count < everybody else ""
        if count * AVATAR_STEP + metrics.horizontalAdvance(more) + 2 <= width:
            return count, more
    return 0, ""


def _continues(summary: SessionSummary) -> bool:
    return resumable(summary) and not summary.read_only


class HistoryView(QWidget):
    """Lists the debates; emits the user's requests."""

    rename_requested = Signal(str)
    setup_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._summaries: list[SessionSummary] = []
        self._folder: Folder | None = None
        self._narrow = True
        self.scope = button("link", "history_scope", self._on_scope)
        search = SearchBox(look, "history_search")
        self.search = say(search, language, name="history.search", hint="history.search")
        self._rows = DebateRows(language)
        self.list = say(ItemList(look, "debate_history", STYLE, self._rows), language, name="history.list")
        self.card_actions = actions = CardActions(language, look, self.list.viewport())
        self.open_requested, self.continue_requested = actions.open_requested, actions.continue_requested
        self.delete_requested = actions.delete_requested
        self.list.setItemDelegate(DebateCardDelegate(language, look, self.card_actions, self.list))
        self._nothing = say(named("history_nothing", plain_label("hint")), language, "side.nothing_found")
        self._lay_out()
        self._connect()

    def show_sessions(self, summaries: list[SessionSummary], folder: Folder | None = None) -> None:
        """Show the debates among these sessions; where a folder is chosen, those in it
        unless all are asked for.
        """
        self._narrow = self._narrow or folder is None
        self._folder = folder
        self._summaries = [summary for summary in summaries if summary.kind == "debate"]
        self._refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave and watched is self.list.viewport():
            self._show_actions(self.list.currentIndex())
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        head = hbox(self.search, margins=(0, 0, 10, 0)), hbox(self.scope, STRETCH)
        page = vbox(*head, self._nothing, (self.list, 1), margins=(18, 16, 8, 8), spacing=12)
        words = self._language
        set_up = say(button("primary", "history_empty", self.setup_requested), words, "history.empty.button")
        empty = empty_state(say(Paragraph("card_text", centred=True), words, "history.empty"), set_up)
        self._stack = stack(frame("", page), empty)
        vbox(self._stack, inside=self)
        self.list.setContentsMargins(0, 0, 0, 0)
        self.list.setViewportMargins(0, 0, 10, 0)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._refresh)
        self.list.activated.connect(lambda index: self.open_requested.emit(index.data(ROW).id))
        self.list.entered.connect(self._show_actions)
        self.list.selectionModel().currentChanged.connect(lambda current, _: self._show_actions(current))
        self.list.verticalScrollBar().valueChanged.connect(self.card_actions.hide)
        self.list.delete_requested.connect(self.delete_requested)
        self.list.edit_requested.connect(self._on_edit)
        self.list.viewport().installEventFilter(self)
        self._language.changed.connect(self._refresh)

    def _show_actions(self, index: QModelIndex) -> None:
        if index.isValid():
            self.card_actions.show_for(index.data(ROW), self.list.visualRect(index))
        else:
            self.card_actions.hide()

    def _on_edit(self, session_id: str) -> None:
        if not self.list.currentIndex().data(ROW).read_only:
            self.rename_requested.emit(session_id)

    def _on_scope(self) -> None:
        self._narrow = not self._narrow
        self._refresh()

    def _refresh(self) -> None:
        self.card_actions.hide()
        folder = self._folder
        self.scope.setVisible(folder is not None)
        if folder is not None:
            name = unmarked(" ".join(folder.name.split()))
            self.scope.setText(self._language("history.all" if self._narrow else "history.folder", name=name))
        inside = folder.id if folder is not None and self._narrow else ""
        found = (row for row in self._summaries if not inside or row.folder == inside)
        self.list.show_rows([row for row in found if matches(row, self.search.text())])
        self._nothing.setVisible(self._rows.rowCount() == 0)
        self._stack.setCurrentIndex(0 if self._summaries else 1)


SETUP, DISCUSSION, HISTORY = range(3)
COLUMN = 720
"""The greatest width of the form in the main area."""


class DebatePanel(RightPanel):
    """The three views of debates; emits `widen_requested` with the session to show in the main area,
    `came` when shown.

    While the main area shows a debate, Discussion shows the summary of that one instead of another
    transcript.
    """

    widen_requested = Signal(str)
    came = Signal()

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        setup = SetupView(language, look, engine, tasks)
        discussion = DiscussionView(language, look)
        history = HistoryView(language, look)
        self.summary = DebateSummary(language, look)
        self._discussions = stack(discussion, self.summary)
        self._setup_place = QWidget()
        self._setup_column = vbox(setup, inside=self._setup_place)
        pages = {"setup": self._setup_place, "discussion": self._discussions, "history": history}
        super().__init__(language, look, "debate_tabs", pages)
        self.setup, self.discussion, self.history = setup, discussion, history
        self._widen = say(icon_button(look, "external-link", "debate_widen"), language, tip="panel.widen")
        self._widen.clicked.connect(lambda: self.widen_requested.emit(self.discussion.session_id))
        self.add_button(self._widen)
        self._widen.setVisible(False)
        self.tab_chosen.connect(lambda _place: self.refresh_buttons())
        self.history.setup_requested.connect(self.show_setup)
        self.discussion.setup_requested.connect(self.show_setup)

    def show_setup(self, topic: str = "") -> None:
        """Show Setup, with a topic if given."""
        if topic:
            self.setup.set_topic(topic)
        self.tabs.choose(SETUP)
        self.setup.topic.setFocus()

    def take_form(self) -> None:
        """Take the form of Setup back from the main area."""
        if not self._setup_place.isAncestorOf(self.setup):
            self._setup_column.addWidget(self.setup)
            self.setup.show()

    @property
    def shows_setup(self) -> bool:
        """Whether Setup is what the panel shows."""
        return self.isVisible() and self.tabs.current() == SETUP

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.came.emit()

    def show_discussion(self) -> None:
        """Show the debate that is open."""
        self.tabs.choose(DISCUSSION)

    def refresh_buttons(self) -> None:
        """Show the button for the main area while Discussion shows a debate."""
        here = self.tabs.current() == DISCUSSION and not self.shows_summary
        self._widen.setVisible(here and bool(self.discussion.session_id))

    @property
    def shows_summary(self) -> bool:
        """Whether the main area shows the debate itself."""
        return self._discussions.currentWidget() is self.summary

    def show_summary(self, shown: bool) -> None:
        """Show the summary of the debate in the main area, or the debate of the panel."""
        self._discussions.setCurrentWidget(self.summary if shown else self.discussion)
        self.discussion.use_names(not shown)
        self.refresh_buttons()


class SetupPage(QWidget):
    """The page of the main area in which a debate is set up: shows the one form there is, centred.

    The form moves between this page and the panel, with all that was set up.
    """

    def __init__(self, setup: SetupView) -> None:
        super().__init__()
        self._setup = setup
        self._place = QWidget()
        vbox(centred(self._place, COLUMN), inside=self)
        self._column = vbox(inside=self._place)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @property
    def holds_form(self) -> bool:
        """Whether the form is here."""
        return self.isAncestorOf(self._setup)

    def take_form(self) -> None:
        """Take the form from the panel."""
        self._column.addWidget(self._setup)
        self._setup.show()
        self._setup.topic.setFocus()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._setup.topic.setFocus()
