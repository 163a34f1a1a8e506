"""Groups at work: the orchestrator box and the plan of the session in front."""

from PySide6.QtCore import QTimer

from app.core.events import Event
from app.core.session import Plan, PlanItem, Session
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import MainPages
from app.gui.display.descriptions import colours_of
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.member_list import work_of
from app.gui.panels.right_panel import PlanPanel
from app.gui.window_frame import WindowFrame

SILENT_MS = 20_000
UNFOLDED = "orchestrator_unfolded"
PLAN_SHOWN = "plan_panel"


class GroupController(Controller):
    """Shows the group and the plan of the session in front, and changes them as the user asks."""

    def __init__(self, parts: Parts[WindowFrame], page: ChatPage, pages: MainPages) -> None:
        super().__init__(parts)
        self._page, self._pages = page, pages
        self.panel = PlanPanel(self._language, self._look)
        self._add_panel(self.panel, parts.window.top_bar.plan_button, PLAN_SHOWN)
        self._silence = QTimer(self, singleShot=True, interval=SILENT_MS)
        self._silence.timeout.connect(lambda: page.box.show_silent(True))
        self._wire(parts.bridge)
        page.box.unfold(self._state.flag(UNFOLDED, False))
        self.refresh()

    def refresh(self) -> None:
        """Show the session in front as it is now."""
        page, session = self._page, self._page.session
        live = self._engine.live(session.id) if session else None
        leads = live is not None and live.session.group is not None
        page.box.setVisible(leads)
        if live is not None and leads:
            group, agents = live.group_session, self._engine.assistants.all()
            work = work_of(live, group, agents)
            page.box.show_work(group, work, colours_of(agents), editable=not live.read_only)
            # Where no price is known, the top bar says so once.
            words = self._language
            page.box.show_spent(page.spending.text(words) if page.spending.known_text(words) else "")
            self._watch(bool(work.hands_on))
        else:
            self._watch(False)
        self._show_plan()

    def _wire(self, bridge: Bridge) -> None:
        box = self._page.box
        # After these something is drawn again; streaming only shows that the group is alive.
        turns = (bridge.turn_started, bridge.turn_finished, bridge.message_started, bridge.message_finished)
        for changed in (bridge.session_changed, bridge.plan_changed, bridge.prompt_asked, *turns):
            changed.connect(self._on_changed)
        for sign in (bridge.tool_started, bridge.tool_finished):
            sign.connect(lambda event: self._on_sign_of_life(event.session_id))
        bridge.text_arrived.connect(lambda session_id, *_: self._on_sign_of_life(session_id))
        bridge.calls_streamed.connect(lambda event: self._on_sign_of_life(event.session_id))
        bridge.session_deleted.connect(lambda _event: self.refresh())
        bridge.assistants_changed.connect(self.refresh)
        self._pages.shown.connect(lambda _page: self.refresh())
        self._window.main_area.currentChanged.connect(lambda _place: self._show_plan())
        self._language.changed.connect(self.refresh)
        box.unfolded.connect(lambda on: self._state.keep(UNFOLDED, on))
        box.plan_requested.connect(lambda plan: self.change(self._page.session_id, plan))
        box.item_removed.connect(lambda item, place: self.offer_back(self._page.session_id, item, place))
        groups = self._engine.groups
        self._run(box.asking_chosen, lambda on: groups.ask_before_hand_over(self._page.session_id, on))
        self._run(box.given_up, lambda: groups.go_on_without(self._page.session_id))
        self.panel.plan_requested.connect(lambda plan: self.change(self._planned_id, plan))
        self.panel.item_removed.connect(lambda item, place: self.offer_back(self._planned_id, item, place))

    # Events

    def _on_changed(self, event: Event) -> None:
        if event.session_id in (self._page.session_id, self._planned_id):
            self._on_sign_of_life(event.session_id)
            self.refresh()

    def _on_sign_of_life(self, session_id: str) -> None:
        session = self._page.session
        if session is not None and session.id == session_id and session.group is not None:
            self._page.box.show_silent(False)
            if self._silence.isActive():
                self._silence.start()

    def _watch(self, awaited: bool) -> None:
        """Measure the silence while a member's answer is awaited."""
        if not awaited:
            self._silence.stop()
            self._page.box.show_silent(False)
        elif not self._silence.isActive():
            self._silence.start()

    # The plan

    @property
    def _planned(self) -> Session | None:
        """The session whose plan the panel shows: the one in the main area."""
        return self._pages.session

    @property
    def _planned_id(self) -> str:
        return self._planned.id if self._planned else ""

    def _show_plan(self) -> None:
        session = self._planned
        live = self._engine.live(session.id) if session else None
        session = live.session if live else session
        chat = session if session is not None and session.chat is not None else None
        self.panel.show_session(chat, read_only=live is None or live.read_only)

    def change(self, session_id: str, plan: Plan) -> None:
        """Change the plan of a session."""
        if session_id:
            self._start(self._engine.groups.change_plan(session_id, plan))

    def offer_back(self, session_id: str, item: PlanItem, place: int) -> None:
        """Offer to put an item back that was removed from a plan."""
        self._offer_undo(self._language("plan.removed"), lambda: self._put_back(session_id, item, place))

    def _put_back(self, session_id: str, item: PlanItem, place: int) -> None:
        """Put an item back at its place in the current plan."""
        live = self._engine.live(session_id)
        if live is not None:
            plan = live.session.plan or Plan()
            items = (*plan.items[:place], item, *plan.items[place:])
            self.change(session_id, Plan(goal=plan.goal, items=items))
