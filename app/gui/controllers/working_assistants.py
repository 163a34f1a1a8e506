"""Assistants at work: a group's orchestrator box and plan, the list of questions to the user, and assistants' queues.

A queue says in the sidebar who is busy; its dialog steers what waits.
"""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal

from app.core.errors import MootError
from app.core.events import AvailabilityChanged, Event
from app.core.session import Plan, PlanItem, Session
from app.core.texts import visible
from app.engine.availability import MADE_FOR, Job
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import MainPages
from app.gui.dialogs.queue_dialog import QueueDialog, QueueSection, QueueTask
from app.gui.display.descriptions import colours_of, names_of, time_text
from app.gui.navigation.needs_you import Waiting, question_text
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.member_list import work_of
from app.gui.panels.right_panel import PlanPanel
from app.gui.panels.workflow.workflow_panel import busy_text
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
        turns = (bridge.turn_started, bridge.turn_finished, bridge.message_started, bridge.message_finished)
        for changed in (bridge.session_changed, bridge.plan_changed, bridge.prompt_asked, *turns):
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
        groups = self._engine.groups
        self._run(box.asking_chosen, lambda on: groups.ask_before_hand_over(self._page.session_id, on))
        self._run(box.given_up, lambda: groups.go_on_without(self._page.session_id))
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
            for one in self._engine.journal.due()
        ]
        asked = [
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
        self._window.top_bar.show_waiting(asked + due)
        self._window.side_bar.show_waiting(len(asked))

    def _on_question_requested(self, session_id: str, message_id: str) -> None:
        if not message_id:
            # A decision that is due, which has a page of its own.
            return
        place, page = f"{message_id}:0", self._page
        if session_id == page.session_id:
            self._pages.show(page)
            page.go_to(place)
            page.take_focus()
        else:
            # Opening a session scrolls to where it was last read.
            self._state.keep_place(session_id, place)
            self.session_requested.emit(session_id)


TICK_MS = 1_000


class QueueController(Controller):
    """Shows how busy assistants are, and opens the dialog of their queues.

    Emits changed() when an assistant is more or less busy than before, session_requested(session id).
    """

    changed = Signal()
    session_requested = Signal(str)

    def __init__(self, parts: Parts[WindowFrame]) -> None:
        super().__init__(parts)
        # The assistants whose load the sidebar shows.
        self._known = set(parts.engine.queues.held())
        self._agent_id = ""
        self._dialog: QueueDialog | None = None
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._refresh)
        parts.bridge.availability_changed.connect(self._on_availability)
        self._language.follow(self._say_all)

    def show(self, agent_id: str = "") -> None:
        """Open the dialog for one assistant, or for all that have work."""
        if self._dialog is not None:
            self._dialog.close()
        self._agent_id = agent_id
        dialog = self._dialog = QueueDialog(self._language, self._look, self._window)
        queues = self._engine.queues
        dialog.opened.connect(self._on_opened)
        dialog.moved_up.connect(lambda job_id: self._try(lambda: queues.move_to_front(job_id)))
        dialog.taken_out.connect(self._on_taken_out)
        dialog.given.connect(lambda job_id, who: self._try(lambda: queues.send(job_id, who)))
        dialog.held.connect(lambda who, held: self._tasks.add("hold", queues.hold(who, held)))
        dialog.finished.connect(self._on_closed)
        self._refresh()
        self._clock.start()
        dialog.open()

    def text_of(self, agent_id: str) -> str:
        """Return the state of an assistant: held, idle, or how much runs and waits."""
        if self._engine.queues.is_held(agent_id):
            return self._language("queue.held")
        return busy_text(self._engine.queues.counts(agent_id), self._language)

    def close(self) -> None:
        """Stop refreshing."""
        self._clock.stop()

    def _try(self, command: Callable[[], None]) -> None:
        try:
            command()
        except MootError as error:
            toasts = self._dialog.toasts if self._dialog is not None else self._toasts
            toasts.show_toast(self._language.problem(error.code, **error.details))
        self._refresh()

    def _on_taken_out(self, job_id: str) -> None:
        """Take a job out of its queue, and offer to open its session, where it can be asked for again."""
        session_id = next((job.work.session_id for job in self._engine.queues.jobs() if job.id == job_id), "")
        self._try(lambda: self._take_out(job_id, session_id))

    def _take_out(self, job_id: str, session_id: str) -> None:
        self._engine.queues.take_out(job_id)
        if self._dialog is not None:
            self._dialog.toasts.show_toast(
                self._language("queue.taken_out"),
                self._language("queue.open"),
                lambda: self._on_opened(session_id),
                undoes=False,
            )

    def _on_opened(self, session_id: str) -> None:
        if self._dialog is not None:
            self._dialog.close()
        self.session_requested.emit(session_id)

    def _on_closed(self) -> None:
        self._clock.stop()
        self._dialog = None

    def _on_availability(self, event: AvailabilityChanged) -> None:
        self._known.add(event.assistant_id)
        self._say_busy(event.assistant_id)
        self.changed.emit()
        self._refresh()

    def _say_all(self) -> None:
        for assistant_id in self._known:
            self._say_busy(assistant_id)

    def _say_busy(self, assistant_id: str) -> None:
        queues = self._engine.queues
        worth_saying = any(queues.counts(assistant_id)) or queues.is_held(assistant_id)
        text = self.text_of(assistant_id) if worth_saying else ""
        self._window.side_bar.assistants.show_busy(assistant_id, text)

    def _refresh(self) -> None:
        if self._dialog is not None:
            self._dialog.show_queues(self._sections())

    def _sections(self) -> list[QueueSection]:
        queues = self._engine.queues
        agents = {agent.id: agent for agent in self._engine.assistants.all()}
        colours = colours_of(tuple(agents.values()))
        jobs: dict[str, list[Job]] = {self._agent_id: []} if self._agent_id else {}
        for job in queues.jobs(self._agent_id):
            jobs.setdefault(job.agent_id, []).append(job)
        for one in queues.held() if not self._agent_id else ():
            jobs.setdefault(one, [])
        titles = {one.id: one.title for one in self._engine.sessions()}
        return [
            QueueSection(
                agent_id=agent_id,
                name=agents[agent_id].name if agent_id in agents else _role_name(agent_id),
                text=self.text_of(agent_id),
                held=queues.is_held(agent_id),
                colour=colours.get(agent_id),
                rows=tuple(self._row(job, titles.get(job.work.session_id, "")) for job in own),
            )
            for agent_id, own in jobs.items()
        ]

    def _row(self, job: Job, title: str) -> QueueTask:
        words, work = self._language, job.work
        if job.place is None:
            state = words("queue.runs", time=time_text(int(job.seconds), words))
        else:
            parts = [words("queue.waits", time=time_text(int(job.seconds), words))]
            if job.expected is not None:
                parts.append(words("queue.expected", time=time_text(round(job.expected), words)))
            if job.left is not None:
                parts.append(words("queue.left", time=time_text(round(job.left), words)))
            state = " \u00b7 ".join(parts)
        about = " \u00b7 ".join(part for part in (work.about, title) if part)
        takers = tuple((one.id, one.name) for one in self._engine.queues.takers(job.id))
        return QueueTask(
            id=job.id, session_id=work.session_id, title=about, state=state, place=job.place, takers=takers
        )


def _role_name(agent_id: str) -> str:
    """Return the name of an assistant made for a role: `QA`, `Designer`."""
    role = agent_id.removeprefix(MADE_FOR)
    return role.upper() if len(role) < 4 else role.capitalize()
