"""The bar over the main area: title, state and cost of what is in front, and the buttons of the panels."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QMenu, QSizePolicy, QWidget
from shiboken6 import isValid

from app.core.session import AgentMode, Session
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import TONES, asked_by, kind_of, state_of
from app.gui.navigation.session_list import EXPORTS
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import STRETCH, Frame, LayoutFitting, hbox, put_where, stops_in
from app.gui.widgets.controls import IconButton, icon_button
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_tip, restyle, say

MOST_CHARACTERS = 200


class TitleBox(QLineEdit):
    """The box a title is edited in; emits `left` when the user cancels."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


# In pixels; the edges are left and right of the text.
_LEAST_BOX, _BOX_EDGES = 260, 30


class TitleField(QWidget):
    """A title, elided if it does not fit; a double click or F2 edits it. Emits `renamed`."""

    renamed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._can_rename = False
        self._before: QWidget | None = None
        self._label = named("session_title", ElidedLabel("title"))
        self._box = named("title_box", TitleBox(maxLength=MOST_CHARACTERS))
        self._box.hide()
        hbox(self._label, self._box, inside=self)
        self._box.returnPressed.connect(self._on_written)
        self._box.left.connect(self.end)

    def text(self) -> str:
        """Return the whole title."""
        return self._label.text()

    def show_title(self, title: str, *, can_rename: bool) -> None:
        """Show a title."""
        self._can_rename = can_rename
        self._label.setText(title)

    def edit(self) -> None:
        """Edit the title if it can be renamed."""
        if self._can_rename:
            self._before = self.window().focusWidget()
            self._box.setText(self.text())
            self._box.setAccessibleName(self.text())
            wanted = self._label.sizeHint().width() + _BOX_EDGES
            self._box.setMinimumWidth(max(_LEAST_BOX, min(self.width(), wanted)))
            self._label.hide()
            self._box.show()
            self._box.setFocus()
            self._box.selectAll()

    def end(self) -> None:
        """Stop editing; the keyboard goes back to where it was."""
        before = self._before if self._box.hasFocus() else None
        self._before = None
        self._box.hide()
        self._label.show()
        if before is not None and isValid(before):
            before.setFocus()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.edit()

    def _on_written(self) -> None:
        title = self._box.text().strip()
        self.end()
        if title and title != self.text():
            self.renamed.emit(title)


HEIGHT = 52
MOST_TITLE = 200
"""The room that chips leave to a long title, in pixels."""

# Between what is in the bar, and at its ends, in pixels.
WIDE_GAPS, NARROW_GAPS = (10, 18), (4, 10)


class TopBar(LayoutFitting, Frame):
    """Title, chips and the buttons of the panels, of which at most one is on; emits the user's requests."""

    export_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("top")
        self.setFixedHeight(HEIGHT)
        self._language = language
        self.side_button = icon_button(look, "panel-left", "side_button")
        self.side_button.setVisible(False)
        self._title = TitleField()
        self._title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.mode = Chip(look)
        self.status = Chip(look)
        self.cost = Chip(look, icon="coins")
        for chip in (self.mode, self.status, self.cost):
            chip.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._export = say(icon_button(look, "share", "export_button"), language, tip="top.export")
        self._export_menu = QMenu(self._export)
        self._export.setMenu(self._export_menu)
        self._export.setVisible(False)
        self.debate_button = icon_button(look, "scale", "debate_button", checkable=True)
        self.workflow_button = icon_button(look, "spline", "workflow_button", checkable=True)
        self.plan_button = icon_button(look, "list-checks", "plan_button", checkable=True)
        self.panel_buttons = (self.debate_button, self.workflow_button, self.plan_button)
        # Those panels that have something to show. The others are opened by their keys and by name.
        self._useful = {self.debate_button}
        self._page_tools: QWidget | None = None
        self._session: Session | None = None
        self._asking: Mapping[str, str] = {}
        parts = (self.side_button, self._title, self.mode, self.status, STRETCH, self.cost, self._export)
        gap, ends = WIDE_GAPS
        self._row = row = hbox(*parts, inside=self, margins=(ends, 0, ends, 0), spacing=gap)
        for button in self.panel_buttons:
            row.addWidget(button)
            button.toggled.connect(partial(self._on_panel_toggled, button))
            self._show_panel_button(button)
        self.rename_requested = self._title.renamed
        language.follow(self._retranslate)

    def fit(self) -> None:
        """Hide the chips that leave the title too little room: first the cost, then the mode, then the state.

        A bar that has too little room without them has narrower gaps.
        """
        self._fit()

    def _fit(self) -> None:
        chips = (self.status, self.mode, self.cost)
        buttons = (self.side_button, self._export, *self.panel_buttons)
        tools = [button.width() for button in buttons if not button.isHidden()]
        if self._page_tools:
            tools.append(self._page_tools.sizeHint().width())
        gap, edge = WIDE_GAPS
        title = min(self._title.sizeHint().width(), MOST_TITLE)
        room = self.width() - 2 * edge - title - sum(tools) - gap * len(tools)
        if room < 0:
            gap, edge = NARROW_GAPS
        if gap != self._row.spacing():
            self._row.setSpacing(gap)
            self._row.setContentsMargins(edge, 0, edge, 0)
        for chip in chips:
            room -= chip.sizeHint().width() + 10 if chip.text() else 0
            chip.setVisible(bool(chip.text()) and room >= 0)

    def show_title(self, title: str, *, can_rename: bool = False) -> None:
        """Show a title; a double click or F2 edits it if it can be renamed.
        Without one there is no line under the bar.
        """
        restyle(self, bare=not title)
        self._title.show_title(title, can_rename=can_rename)

    def rename(self) -> None:
        """Edit the title if it can be renamed."""
        self._title.edit()

    def show_state(self, session: Session) -> None:
        """Show a session's mode, who asked for it, and its state: the round of a running debate,
        otherwise its status.

        A chat that waits for the user's next message shows no state. Where a question of the session is open,
        the state says what it needs of the user.
        """
        self._session = session
        words, kind = self._language, kind_of(session)
        mode = " · ".join(filter(None, (kind.mode(session, words), asked_by(session, words))))
        self.mode.set_text(mode, kind.tone)
        settings = session.chat is not None and session.chat.mode == AgentMode.SETTINGS
        self.mode.setToolTip(plain_tip(words("chat.settings_mode") if settings else ""))
        asks = self._asking.get(session.id)
        state = words(f"status.needs.{asks}") if asks else kind.title_state(session, words)
        self.status.set_text(state, TONES["waiting"] if asks else state_of(session, words)[1])

    def show_asking(self, asking: Mapping[str, str]) -> None:
        """Show in the state of the session in front what it needs of the user: an `answer` or an `approval`,
        by the ids of those that need one.
        """
        if asking != self._asking:
            self._asking = asking
            if self._session is not None:
                self.show_state(self._session)
            self.fit()

    def show_mode(self, mode: str) -> None:
        """Show the mode of a new chat."""
        self.mode.set_text(mode, "accent")
        self.fit()

    def show_page_tools(self, tools: QWidget | None) -> None:
        """Show the buttons of the page in front instead of those of another page."""
        if tools is self._page_tools:
            return
        if self._page_tools is not None:
            self._row.removeWidget(self._page_tools)
            self._page_tools.hide()
        self._page_tools = tools
        if tools is not None:
            # The title gives way before the words of buttons do.
            tools.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
            self._row.insertWidget(self._row.indexOf(self.cost), tools)
            tools.show()
            put_where(self.cost, stops_in(tools))
        self.fit()

    def open_panel(self) -> QAbstractButton | None:
        """Return the button of the panel that is shown, None for none."""
        return next((button for button in self.panel_buttons if button.isChecked()), None)

    def offer_panel(self, button: IconButton, *, useful: bool) -> None:
        """Show the button of a panel that has something to show; one that is open keeps it."""
        (self._useful.add if useful else self._useful.discard)(button)
        self._show_panel_button(button)

    def _show_panel_button(self, button: IconButton) -> None:
        shown = button in self._useful or button.isChecked()
        if shown == button.isHidden():
            button.setVisible(shown)
            self.fit()

    def show_session_tools(self, shown: bool) -> None:
        """Show or hide the buttons that need an open session."""
        self._export.setVisible(shown)
        if not shown:
            self._session = None
            self._title.end()
            for chip in (self.mode, self.status, self.cost):
                chip.set_text("")

    def _on_panel_toggled(self, button: IconButton, on: bool) -> None:
        for other in self.panel_buttons if on else ():
            if other is not button:
                other.setChecked(False)
        self._show_panel_button(button)

    def _retranslate(self) -> None:
        name_button(self.side_button, self._language("side.toggle"), self._language.keys("side"))
        name_button(self.debate_button, self._language("top.panel"), self._language.keys("panel"))
        name_button(self.workflow_button, self._language("top.workflow"), self._language.keys("workflow"))
        name_button(self.plan_button, self._language("top.plan"), self._language.keys("plan"))
        self._export_menu.clear()
        for name in EXPORTS:
            export = partial(self.export_requested.emit, name)
            self._export_menu.addAction(self._language(f"export.{name}"), export)
