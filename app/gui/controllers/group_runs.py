"""Groups at work and plans: the orchestrator's box, the plan panel, and the list of questions to the user."""

from PySide6.QtCore import QTimer, Signal

from app.core.events import Event
from app.core.session import Plan, PlanItem, Session
from app.core.text import visible
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.session_views import MainPages
from app.gui.display.descriptions import colours_of, names_of
from app.gui.navigation.needs_you import Waiting, question_text
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.member_list import work_of
from app.gui.panels.right_panel import PlanPanel
from app.gui.transcript.transcript_model import shown_name
from app.gui.window_frame import WindowFrame

SILENT_MS = 20_000
UNFOLDED = "orchestrator_unfolded"
PLAN_SHOWN = "plan_panel"


class GroupController(Controller):
    """Shows the group and the plan of the session in front, and changes them as the user asks.

    Emits session_requested(session id) for a question in another session.
    """

    session_requested = Signal(str)

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
        self._show_waiting()

    def _wire(self, bridge: Bridge) -> None:
        box = self._page.box
        # After these something is drawn again; streaming only shows that the group is alive.
        for changed in (
            bridge.session_changed,
            bridge.plan_changed,
            bridge.turn_started,
            bridge.turn_finished,
            bridge.message_started,
            bridge.message_finished,
            bridge.prompt_asked,
        ):
            changed.connect(self._on_changed)
        for sign in (bridge.tool_started, bridge.tool_finished):
            sign.connect(lambda event: self._on_sign_of_life(event.session_id))
        bridge.text_arrived.connect(lambda session_id, *_: self._on_sign_of_life(session_id))
        bridge.calls_streamed.connect(lambda event: self._on_sign_of_life(event.session_id))
        bridge.session_deleted.connect(lambda _event: self.refresh())
        bridge.assistants_changed.connect(self.refresh)
        bridge.journal_changed.connect(lambda _event: self._show_waiting())
        self._pages.shown.connect(lambda _page: self.refresh())
        self._window.main_area.currentChanged.connect(lambda _place: self._show_plan())
        self._language.changed.connect(self.refresh)
        box.unfolded.connect(lambda on: self._state.keep(UNFOLDED, on))
        box.plan_requested.connect(lambda plan: self._change(self._page.session_id, plan))
        box.item_removed.connect(lambda item, place: self._offer_back(self._page.session_id, item, place))
        box.asking_chosen.connect(self._on_asking_chosen)
        box.given_up.connect(self._on_given_up)
        self.panel.plan_requested.connect(lambda plan: self._change(self._planned_id, plan))
        self.panel.item_removed.connect(lambda item, place: self._offer_back(self._planned_id, item, place))
        self._window.top_bar.needs_you.question_requested.connect(self._on_question_requested)
        self._start(self._look_for_waiting())

    # Events

    def _on_changed(self, event: Event) -> None:
        if event.session_id in (self._page.session_id, self._planned_id):
            self._on_sign_of_life(event.session_id)
            self.refresh()
        else:
            self._show_waiting()

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

    def _change(self, session_id: str, plan: Plan) -> None:
        if session_id:
            self._start(self._engine.groups.change_plan(session_id, plan))

    def _offer_back(self, session_id: str, item: PlanItem, place: int) -> None:
        self._offer_undo(self._language("plan.removed"), lambda: self._put_back(session_id, item, place))

    def _put_back(self, session_id: str, item: PlanItem, place: int) -> None:
        """Put an item back at its place in the current plan."""
        live = self._engine.live(session_id)
        if live is not None:
            plan = live.session.plan or Plan()
            items = (*plan.items[:place], item, *plan.items[place:])
            self._change(session_id, Plan(goal=plan.goal, items=items))

    # Hand-overs

    def _on_asking_chosen(self, on: bool) -> None:
        self._start(self._engine.groups.ask_before_hand_over(self._page.session_id, on))

    def _on_given_up(self) -> None:
        self._start(self._engine.groups.go_on_without(self._page.session_id))

    # Questions to the user

    async def _look_for_waiting(self) -> None:
        """Show the questions that were open when the program last ended."""
        await self._engine.open_waiting()
        self._show_waiting()

    def _show_waiting(self) -> None:
        words = self._language
        due = [
            Waiting(
                session_id=one.id,
                message_id="",
                who=words("journal.button"),
                session=visible(one.name),
                question=words("journal.due_now", option=visible(one.decided)),
            )
            for one in self._engine.councils.journal.due()
        ]
        self._window.top_bar.show_waiting(
            [
                Waiting(
                    session_id=session_id,
                    message_id=message.id,
                    who=shown_name(message.author, words.texts),
                    session=visible(live.session.title),
                    question=question_text(message, self._language, names_of(self._engine.assistants.all())),
                )
                for session_id, message in self._engine.chats.needs_you()
                if (live := self._engine.live(session_id)) is not None
            ]
            + due
        )

    def _on_question_requested(self, session_id: str, message_id: str) -> None:
        place, page = f"{message_id}:0", self._page
        if session_id == page.session_id:
            self._pages.show(page)
            page.go_to(place)
            page.take_focus()
        else:
            # Opening a session scrolls to where it was last read.
            if message_id:
                self._state.keep_place(session_id, place)
            self.session_requested.emit(session_id)
