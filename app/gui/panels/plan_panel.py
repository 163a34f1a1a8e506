"""The panel of the plan: the goal and the todos of the session shown."""

from dataclasses import replace

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QLineEdit

from app.core.session import Plan, Session
from app.engine.group.commands import MAX_ITEM
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.panels.right_panel import TAB_ROW_HEIGHT, WIDTH
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import icon_button, name_button, put_in_tab_order, scrolling
from app.gui.widgets.label import ElidedLabel, Paragraph, plain_label
from app.gui.widgets.plan_list import PlanList
from app.gui.widgets.wording import named, say


class PlanPanel(QFrame):
    """Shows a session's plan and lets it be changed.

    Signals: plan_requested(plan), item_removed(item, place), close_requested().
    """

    plan_requested = Signal(object)
    item_removed = Signal(object, int)
    close_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("plan_panel")
        self.setProperty("kind", "right")
        self.setMinimumWidth(300)
        self._language = language
        self._session: Session | None = None
        self._read_only = False
        self._title = say(ElidedLabel("title"), language, "plan.title")
        self._close = icon_button(look, "x", "plan_close", self.close_requested)
        self._session_title = ElidedLabel("meta")
        self._goal_title = say(plain_label("section"), language, "plan.goal")
        self.goal = say(named("plan_goal", QLineEdit()), language, name="plan.goal", hint="plan.goal.hint")
        self.goal.setMaxLength(MAX_ITEM)
        self._todo_title = say(plain_label("section"), language, "plan.todos")
        self._done = plain_label("hint")
        self._teach = Paragraph("hint")
        self.list = PlanList(language, look, "panel_plan")
        self._lay_out()
        self.goal.editingFinished.connect(self._on_goal)
        self.list.plan_requested.connect(self.plan_requested)
        self.list.item_removed.connect(self.item_removed)
        self.list.stops_changed.connect(lambda: put_in_tab_order((self.goal, *self.list.stops())))
        language.changed.connect(self._refresh)
        self._refresh()

    def show_session(self, session: Session | None, *, read_only: bool) -> None:
        """Show the plan of a session, or None; a goal that is being edited stays."""
        if session is None or self._session is None or session.id != self._session.id:
            self.goal.setModified(False)
        self._session, self._read_only = session, read_only
        self._refresh()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH - 110, 600)

    def _lay_out(self) -> None:
        head = QFrame()
        head.setProperty("kind", "tabs")
        head.setFixedHeight(TAB_ROW_HEIGHT)
        hbox((self._title, 1), self._close, inside=head, margins=(18, 0, 12, 0))
        body = QFrame()
        vbox(
            self._session_title,
            self._goal_title,
            self.goal,
            6,
            hbox(self._todo_title, STRETCH, self._done),
            self._teach,
            self.list,
            STRETCH,
            inside=body,
            margins=(18, 14, 14, 18),
            spacing=8,
        )
        vbox(head, (scrolling(body), 1), inside=self, margins=(1, 0, 0, 0), spacing=0)

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
        for part in (self._session_title, self._goal_title, self.goal, self._todo_title, self.list):
            part.setVisible(session is not None)
        self.goal.setEnabled(editable)
        self._teach.setText(words("plan.empty" if session else "plan.no_session"))
        self._teach.setVisible(not count)
        self.list.show_plan(plan, editable=editable)

    def _on_goal(self) -> None:
        text = " ".join(self.goal.text().split())
        if self._session is not None and self.goal.isModified():
            self.goal.setModified(False)
            plan = self._session.plan or Plan()
            if text != plan.goal:
                self.plan_requested.emit(replace(plan, goal=text))
