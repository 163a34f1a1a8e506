"""The right panel: the base with a row of tabs, and the panel of a session's plan.

DebatePanel and WorkflowPanel are subclasses of the base.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QLineEdit, QWidget

from app.core.criteria import Plan
from app.core.session import Session
from app.engine.group.commands import MAX_ITEM
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import works
from app.gui.widgets import boxes
from app.gui.widgets.boxes import STRETCH, Frame, frame, hbox, vbox
from app.gui.widgets.controls import button, icon_button, scrolling
from app.gui.widgets.editable_lists import PlanList
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label, say, show_if

WIDTH = 470
TAB_ROW_HEIGHT = 52
SPACE, LEAST_SPACE = 20, 4


class TabRow(boxes.LayoutFitting, Frame):
    """The tabs and buttons of a panel; emits `chosen` with the index of a tab."""

    chosen = Signal(int)

    def __init__(self, language: Language, names: tuple[str, ...], object_name: str) -> None:
        super().__init__("tabs", object_name)
        self.setFixedHeight(TAB_ROW_HEIGHT)
        self.row = hbox(inside=self, margins=(18, 0, 12, 0), spacing=SPACE)
        self._group = QButtonGroup(self)
        for place, name in enumerate(names):
            tab = say(button("tab", f"tab_{name}"), language, f"tab.{name}")
            tab.setCheckable(True)
            self._group.addButton(tab, place)
            self.row.addWidget(tab)
        self.row.addStretch(1)
        self._group.button(0).setChecked(True)
        self._group.idClicked.connect(self.chosen)

    def current(self) -> int:
        """Return the index of the chosen tab."""
        return self._group.checkedId()

    def choose(self, place: int) -> None:
        """Choose a tab."""
        self._group.button(place).setChecked(True)
        self.chosen.emit(place)

    def _fit(self) -> None:
        """Reduce the spacing if larger texts do not fit."""
        gaps = sum(not widget.isHidden() for widget in boxes.widgets_in(self.row)) - 1
        lacking = self.row.minimumSize().width() - self.width()
        space = max(LEAST_SPACE, min(SPACE, self.row.spacing() - math.ceil(lacking / gaps)))
        if space != self.row.spacing():
            self.row.setSpacing(space)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        place = self.current() + step
        if step and 0 <= place < len(self._group.buttons()):
            self.choose(place)
            self._group.button(place).setFocus()
        else:
            super().keyPressEvent(event)


class RightPanel(Frame):
    """A closable panel of tabbed pages; emits `close_requested`."""

    close_requested = Signal()
    tab_chosen = Signal(int)

    # The command that opens and closes it, and what its tabs are called, a key of the catalogue.
    COMMAND = "panel"
    WORDS = "panel.tabs"

    def __init__(self, language: Language, look: Look, tabs_name: str, pages: Mapping[str, QWidget]) -> None:
        super().__init__("right")
        self.setMinimumWidth(360)
        self._language = language
        self.tabs = say(TabRow(language, tuple(pages), tabs_name), language, name=self.WORDS)
        self._close = icon_button(look, "x", "panel_close", self.close_requested)
        self._be_named(shown=False)
        self.tabs.row.addWidget(self._close)
        self._pages = boxes.stack(*pages.values())
        vbox(self.tabs, (self._pages, 1), inside=self, margins=(1, 0, 0, 0), spacing=0)
        self.tabs.chosen.connect(self._on_chosen)
        language.follow(self._retranslate)

    def add_button(self, widget: QWidget) -> None:
        """Insert a button before the one that closes the panel."""
        self.tabs.row.insertWidget(self.tabs.row.count() - 1, widget)
        QWidget.setTabOrder(next(boxes.focus_chain(self._close, back=True)), widget)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def showEvent(self, event: QShowEvent) -> None:
        self._be_named(shown=True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        if not event.spontaneous():
            self._be_named(shown=False)
        super().hideEvent(event)

    def _be_named(self, *, shown: bool) -> None:
        """Set the object name of the visible panel; hidden panels have another."""
        away = "" if shown else "_away"
        self.setObjectName(f"right_panel{away}")
        self._close.setObjectName(f"panel_close{away}")

    def _on_chosen(self, place: int) -> None:
        self._pages.setCurrentIndex(place)
        self.tab_chosen.emit(place)

    def _retranslate(self) -> None:
        name_button(self._close, self._language("panel.close"), self._language.keys(self.COMMAND))


class PlanPanel(Frame):
    """Shows a session's plan and lets it be changed.

    Signals: plan_requested(plan), item_removed(item, place), close_requested().
    """

    close_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("right", "plan_panel")
        self.setMinimumWidth(300)
        self._language = language
        self._session: Session | None = None
        self._read_only = False
        self._title = say(ElidedLabel("title"), language, "plan.title")
        self._close = icon_button(look, "x", "plan_close", self.close_requested)
        self._session_title = ElidedLabel("meta")
        self._goal_title = say(plain_label("section"), language, "plan.goal")
        self.goal = named("plan_goal", QLineEdit(maxLength=MAX_ITEM))
        say(self.goal, language, name="plan.goal", hint="plan.goal.hint")
        self._todo_title = say(plain_label("section"), language, "plan.todos")
        self._done = plain_label("hint")
        self._teach = Paragraph("hint")
        self.list = PlanList(language, look, "panel_plan")
        self.plan_requested, self.item_removed = self.list.plan_requested, self.list.item_removed
        head = frame("tabs", hbox((self._title, 1), self._close, margins=(18, 0, 12, 0)))
        head.setFixedHeight(TAB_ROW_HEIGHT)
        todo = hbox(self._todo_title, STRETCH, self._done)
        parts = self._session_title, self._goal_title, self.goal, 6, todo, self._teach, self.list
        body = frame("", vbox(*parts, STRETCH, margins=(18, 14, 14, 18), spacing=8))
        vbox(head, (scrolling(body), 1), inside=self, margins=(1, 0, 0, 0), spacing=0)
        self.goal.editingFinished.connect(self._on_goal)
        self.list.stops_changed.connect(lambda: boxes.put_in_tab_order((self.goal, *self.list.stops())))
        language.follow(self._refresh)

    def show_session(self, session: Session | None, *, read_only: bool) -> None:
        """Show the plan of a session, or None; a goal that is being edited stays."""
        if session is None or self._session is None or session.id != self._session.id:
            self.goal.setModified(False)
        self._session, self._read_only = session, read_only
        self._refresh()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH - 110, 600)

    def _refresh(self) -> None:
        words, session = self._language, self._session
        plan = (session.plan if session else None) or Plan()
        editable = session is not None and not self._read_only
        name_button(self._close, words("panel.close"), words.keys("plan"))
        self._session_title.setText(session.title if session else "")
        if not (self.goal.hasFocus() and self.goal.isModified()) and self.goal.text() != plan.goal:
            self.goal.setText(plan.goal)
        count, done = len(plan.items), len(plan.items) - len(plan.open)
        self._done.setText(words("box.done", done=done, count=count) if count else "")
        show_if(session, self._session_title, self._goal_title, self.goal, self._todo_title, self.list)
        self.goal.setEnabled(editable)
        self._teach.setText(words("plan.empty" if session else "plan.no_session"))
        self._teach.setVisible(not count)
        self.list.show_plan(plan, editable=editable, working=session is not None and works(session))

    def _on_goal(self) -> None:
        text = " ".join(self.goal.text().split())
        if self._session is not None and self.goal.isModified():
            self.goal.setModified(False)
            plan = self._session.plan or Plan()
            if text != plan.goal:
                self.plan_requested.emit(replace(plan, goal=text))
