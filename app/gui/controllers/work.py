"""Work: its page, with the queues of what waits for assistants, and the badge of what needs the user."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import Signal
from shiboken6 import isValid

from app.core.definitions import Agent
from app.core.errors import MootError
from app.core.events import MessageFinished
from app.core.ids import utc_now
from app.core.schedule import RunState, Schedule
from app.core.session import Session, at_limit
from app.core.texts import exact, unmarked, visible
from app.core.tool import tool_name
from app.engine.availability import Job
from app.engine.schedules import named_now, repeated
from app.engine.work import SCHEDULE, Needs, WorkAction, WorkRow, WorkState, name_of, questions_of
from app.gui.bridge import Bridge
from app.gui.controllers.beside_chats import FilesController, GroupController
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import MainPages, SessionController
from app.gui.dialogs.repeat_dialog import RepeatDialog
from app.gui.display.appearance import Language
from app.gui.display.descriptions import colours_of, names_of, time_text
from app.gui.pages.work import work_page
from app.gui.pages.work.work_page import AssistantRow, QueueTask, WorkPage
from app.gui.tasks import timer
from app.gui.widgets.approval_card import ViewerOffer
from app.gui.widgets.choices import WORK, ChipOption
from app.gui.widgets.controls import passing_menu
from app.gui.widgets.notices import LoginLine
from app.gui.widgets.text import set_shown
from app.gui.window_frame import WindowFrame

REFRESH_MS, TICK_MS, LATE_MS = 200, 1_000, 10_000
SEEN, RUNS_SEEN = "work_seen", "runs_seen"


class WorkController(Controller):
    """Keeps the page of work and the badge as the engine is, and carries out what is asked there.

    Emits counted(how much needs the user and was not opened yet).
    """

    counted = Signal(int)

    def __init__(
        self,
        parts: Parts[WindowFrame],
        pages: MainPages,
        sessions: SessionController,
        groups: GroupController,
        files: FilesController,
        viewer: ViewerOffer,
    ) -> None:
        super().__init__(parts)
        self._pages, self._sessions, self._groups, self._viewer = pages, sessions, groups, viewer
        self._files = files
        self._page: WorkPage | None = None
        # When today began, and what it cost, in dollars.
        self._since, self._spent = "", 0.0
        # What each session that the user has looked at needed then.
        self._seen: dict[str, str] = json.loads(self._state.text(SEEN, "{}"))
        self._soon = timer(self, REFRESH_MS, self.refresh, once=True)
        # Times that count up and down, while the page is seen.
        self._clock = timer(self, TICK_MS, self._on_tick)
        # Silence is no event.
        self._late = timer(self, LATE_MS, self._refresh_soon, once=True)
        self._wire(parts.bridge)

    def _wire(self, bridge: Bridge) -> None:
        sessions = (bridge.session_started, bridge.session_changed)
        gone = (bridge.session_deleted, bridge.session_restored)
        messages = (bridge.message_started, bridge.message_finished, bridge.prompt_asked, bridge.plan_changed)
        assistants = (bridge.step_changed, bridge.assistants_changed, bridge.availability_changed)
        schedules = (bridge.schedules_changed, bridge.schedule_missed)
        for changed in (*sessions, *gone, *messages, *assistants, *schedules, self._language.changed):
            changed.connect(self._refresh_soon)
        self._pages.shown.connect(self._refresh_soon)
        bridge.message_finished.connect(self._on_message_finished)
        bridge.file_written.connect(lambda event: self._start(self._count_files((event.session_id,))))
        self._window.side_bar.work_button.clicked.connect(lambda: self.show())
        self._run(self._window.side_bar.sessions.repeat_requested, self.repeat)
        bridge.schedule_missed.connect(lambda _event: self._tell_away())
        self._tell_away()
        # The questions that were open when the program last ended.
        self._start(self._then(self._engine.open_waiting, self.refresh))

    def show(self) -> None:
        """Show the page of all work."""
        page = self._shown_page()
        page.choose(page.list.current_id())
        page.take_focus()

    def show_assistant(self, assistant_id: str = "") -> None:
        """Show the work of each assistant, with one of them chosen."""
        page = self._shown_page()
        page.by_assistant(assistant_id)
        page.take_focus()

    def close(self) -> None:
        """Refresh no longer."""
        for each in (self._soon, self._clock, self._late):
            each.stop()

    def refresh(self) -> int:
        """Show all work as it is now, and return how much needs the user and was not opened yet."""
        self._soon.stop()
        page, engine = self._page, self._engine
        shown = page is not None and page.isVisible()
        since, texts = _today(), self._language.texts
        rows = engine.work.rows(texts, since) if shown else engine.work.needing(texts)
        needing = [row for row in rows if row.state == WorkState.NEEDS_YOU]
        asking = {row.id: row.needs for row in needing if row.needs in (Needs.ANSWER, Needs.APPROVAL)}
        self._window.top_bar.show_asking(asking)
        front = self._pages.session
        if front is not None and self._window.isActiveWindow():
            self._seen |= {row.id: _need(row) for row in needing if row.id == front.id}
        fresh = [row for row in needing if self._seen.get(row.id) != _need(row)]
        self._seen = {row.id: self._seen[row.id] for row in needing if row.id in self._seen}
        if (seen := json.dumps(self._seen)) != self._state.text(SEEN):
            self._state.keep(SEEN, seen)
        self._window.side_bar.show_counts(waiting=len(fresh))
        self.counted.emit(len(fresh))
        if page is None or not shown:
            self._clock.stop()
            return len(fresh)
        agents = engine.assistants.all()
        colours = colours_of(agents)
        page.show_work(rows, [self._row_of(agent, colours[agent.id]) for agent in agents if agent.enabled])
        scheduled = any(row.kind == SCHEDULE for row in rows)
        set_shown(self._login, scheduled and not self._login.show_state())
        top = self._window.top_bar
        top.show_title(self._language("side.work"))
        top.show_mode(page.show_totals(len(fresh), self._spent))
        self._clock.start()
        self._late.start()
        return len(fresh)

    def _row_of(self, agent: Agent, colour: int) -> AssistantRow:
        """Return the row of an assistant with its state: held, idle, or how much runs and waits."""
        words, held = self._language, self._engine.queues.is_held(agent.id)
        running, queued, waiting = self._engine.queues.counts(agent.id)
        counts = (("busy.running", running), ("busy.waiting", queued + waiting))
        busy = ", ".join(words(key, count=count) for key, count in counts if count)
        text = words("queue.held") if held else busy or words("busy.idle")
        return AssistantRow(id=agent.id, name=agent.name, text=text, held=held, colour=colour)

    # The page

    def _shown_page(self) -> WorkPage:
        if self._page is None:
            self._page = self._made_page()
        # They would lie over the buttons of its first rows, which say what happened.
        self._toasts.clear()
        self._window.show_page(self._page, self.refresh)
        self._start(self._count_files([*filter(None, self._page.list.ids())]))
        self._start(self._count_spent())
        return self._page

    async def _count_spent(self) -> None:
        """Show what today cost."""
        self._since = _today()
        self._spent = (await self._engine.usage.since(self._since)).known_usd
        self.refresh()

    async def _count_files(self, session_ids: Sequence[str]) -> None:
        """Show how many files sessions have."""
        if self._page is not None:
            # A folder of the user's that can't be read is said where its files are listed.
            with suppress(MootError):
                sizes = await self._engine.session_files.sizes(session_ids)
                self._page.list.work.files |= {id_: size.files for id_, size in sizes.items()}
            self._page.list.viewport().update()

    def _made_page(self) -> WorkPage:
        self._login = LoginLine(self._language, self._look, "work_login", self._engine.login_start)
        page = WorkPage(self._language, self._look, self._login)
        details, queues = page.details, self._engine.queues
        page.begin_requested.connect(partial(self._window.begin_requested.emit, WORK))
        page.opened.connect(self._on_opened)
        page.chosen.connect(lambda _id: self._show_details())
        page.list.acted.connect(self._on_acted)
        for name, shown in details.buttons.items():
            shown.clicked.connect(lambda _on, name=name: self._do(details.row_id, name))
        page.list.asked.connect(self._do)
        self._files.keep(details.files, lambda: details.session_id)
        details.changed.connect(self._files.refresh)
        details.means.file_wanted.connect(lambda path: details.files.asked.emit(path, work_page.OPEN))
        show = self._window.session_requested.emit
        details.means.message_wanted.connect(lambda _id: show(details.session_id))
        self._run(details.told, self._tell)
        self._run(details.hurried, self._send_now)
        self._run(details.extend.chosen, lambda limits: self._extend(details.session_id, limits))
        details.cards.viewer = self._viewer
        self._answer_cards(details)
        details.cards.link_requested.connect(lambda address: self._sessions.open_link(address, ""))
        groups = self._groups
        details.plan.plan_requested.connect(lambda plan: groups.change(details.session_id, plan))
        details.plan.item_removed.connect(lambda *gone: groups.offer_back(details.session_id, *gone))
        details.queue.opened.connect(self._window.session_requested)
        details.queue.moved_up.connect(lambda job: self._try(lambda: queues.move_to_front(job)))
        details.queue.given.connect(lambda job, who: self._try(lambda: queues.send(job, who)))
        details.queue.taken_out.connect(self._on_taken_out)
        self._window.add_page(page)
        return page

    def _show_details(self) -> None:
        page, engine = self._page, self._engine
        if page is None:
            return
        chosen = page.list.current_id()
        row, live = page.row(chosen), engine.live(chosen)
        asks = questions_of(live)
        session = live.session if live is not None else None
        chat = session.chat if session is not None else None
        # Of a session what waits, of an assistant also what it does.
        waiting = [job for job in engine.queues.jobs() if job.place is not None]
        jobs = [job for job in engine.queues.jobs() if job.agent_id == chosen]
        if row is not None:
            jobs = [job for job in waiting if job.work.session_id == row.id]
        page.details.extend.show_limits(chat.limits if chat is not None else None, engine.settings().limits)
        set_shown(page.details.extend, session is not None and at_limit(session))
        page.details.show_work(
            row,
            questions=live.turns.together(asks[0]) if asks and live is not None else (),
            names=names_of(engine.assistants.all()),
            plan=session.plan if session is not None else None,
            tasks=[self._task(job) for job in jobs],
            queued=len(chat.queue) if chat is not None else 0,
            can_tell=row is not None and _can_tell(row, session),
        )

    # Requests

    def _do(self, session_id: str, what: str) -> None:
        """Do what the user asks of some work."""
        row = self._page.row(session_id) if self._page is not None else None
        if row is not None and row.kind == SCHEDULE:
            schedules, pauses = self._engine.schedules, what == work_page.PAUSE
            runs = what == work_page.RUN_NOW
            self._start(schedules.run_now(row.id) if runs else schedules.pause(row.id, paused=pauses))
        elif what == work_page.REPEAT:
            self._start(self.repeat(session_id))
        elif what in (work_page.PAUSE, work_page.RESUME):
            (self._sessions.pause if what == work_page.PAUSE else self._sessions.resume)(session_id)
        elif what == work_page.STOP:
            resume = partial(self._sessions.resume, session_id)
            stop, said = partial(self._engine.stop, session_id), "status.stopped_by_user"
            self._start(self._then(stop, lambda: self._offer_undo(said, resume)))
        elif what == work_page.FRONT and row is not None:
            self._try(lambda: self._engine.queues.move_to_front(row.job))
        elif what == work_page.RAISE and self._page is not None and self._page.list.choose(session_id):
            ask = partial(self._ask_limits, session_id)
            self._start(self._then(partial(self._engine.open, session_id), ask))
        elif what == work_page.OPEN:
            self._window.session_requested.emit(session_id)

    def _ask_limits(self, session_id: str) -> None:
        """Ask how far some work may go, as long as it is the chosen one."""
        self._show_details()
        if self._page is not None and self._page.details.session_id == session_id:
            self._page.details.extend.ask()

    def _on_opened(self, session_id: str) -> None:
        """Keep that the user has looked at what some work needs; its question is then read from its log."""
        row = self._page.row(session_id) if self._page is not None else None
        if row is None:
            return
        self._seen |= {row.id: _need(row)} if row.needs else {}
        if self._engine.live(row.id) is None and row.kind != SCHEDULE:
            self._start(self._then(partial(self._engine.open, row.id), self.refresh))
        self._refresh_soon()

    def _on_acted(self, row_id: str) -> None:
        page = self._page
        row = page.row(row_id) if page is not None else None
        if page is None or row is None:
            queues = self._engine.queues
            self._start(queues.hold(row_id, not queues.is_held(row_id)))
        elif row.action == WorkAction.EDIT:
            schedules = self._engine.schedules
            self._ask_when(schedules.find(row.id), [run.session_id for run in schedules.runs(row.id)])
        elif row.action == WorkAction.ANSWER:
            page.list.details_requested.emit()
            page.details.take_question()
        elif row.action == WorkAction.GIVE:
            self._on_opened(row_id)
            self._offer_takers(page, row)
        else:
            self._on_opened(row_id)
            resumes = row.action == WorkAction.RESUME
            (self._sessions.resume if resumes else self._window.session_requested.emit)(row_id)

    def _offer_takers(self, page: WorkPage, row: WorkRow) -> None:
        """Open the menu of those who could take what waits, or the step that failed."""
        queues, workflows = self._engine.queues, self._engine.workflows
        menu = passing_menu(page.list, "work_takers")

        def give(agent_id: str) -> None:
            if row.step:
                self._start(workflows.give(row.id, row.step, agent_id))
            else:
                self._try(partial(queues.send, row.job, agent_id))

        for agent in workflows.takers(row.id, row.step) if row.step else queues.takers(row.job):
            menu.addAction(unmarked(visible(agent.name)), partial(give, agent.id))
        menu.popup(page.list.viewport().mapToGlobal(page.list.button_of(row.id).bottomLeft()))

    async def _tell(self, session_id: str, text: str) -> None:
        """Say something in a session; what cannot be said stays in its box."""
        live = await self._engine.open(session_id)
        try:
            if live.session.debate is not None:
                await self._engine.debates.say(session_id, text)
            else:
                await self._engine.chats.send(session_id, text)
        except MootError:
            if self._page is not None:
                self._page.details.give_back(session_id, text)
            raise

    async def _send_now(self, session_id: str) -> None:
        """Interrupt a turn with the first message that waits."""
        live = await self._engine.open(session_id)
        for queued in live.chat_session.chat.queue[:1]:
            await self._engine.chats.send_now(session_id, queued.id)

    def _try(self, command: Callable[[], None]) -> bool:
        """Carry out a command on what waits, and return whether it still waited."""
        try:
            command()
        except MootError as error:
            self._toasts.show_toast(self._language.problem(error.code, **error.details))
            return False
        finally:
            self._refresh_soon()
        return True

    def _on_taken_out(self, job_id: str) -> None:
        """Take a job out of its queue, and offer to open its session, where it can be asked for again."""
        words, queues = self._language, self._engine.queues
        session_id = next((job.work.session_id for job in queues.jobs() if job.id == job_id), "")
        if self._try(lambda: queues.take_out(job_id)):
            show = partial(self._window.session_requested.emit, session_id)
            self._toasts.show_toast(words("queue.taken_out"), words("queue.open"), show, undoes=False)

    # Schedules

    async def repeat(self, session_id: str) -> None:
        """Ask when something like a session runs by itself. Raises BadInput where that cannot be."""
        known = {tool.consent for tool in self._engine.permissions.tools()}
        self._ask_when(repeated(await self._engine.open(session_id), known), (session_id,))

    def _ask_when(self, schedule: Schedule, session_ids: Sequence[str]) -> None:
        """Ask when a schedule is due; the first of these sessions that is there is its last run."""
        engine, costs = self._engine, {each.id: each.cost_usd for each in self._engine.sessions()}
        cost = next((costs[each] for each in session_ids if each in costs), None)
        tools = [
            ChipOption(each.consent, tool_name(each.key, self._language.texts), group=exact(each.group))
            for each in engine.permissions.tools()
        ]
        about = (engine.schedules, engine.login_start, engine.settings().limits, cost, tools)
        names = {each.id: each.name for each in engine.groups.all()} | names_of(engine.assistants.all())
        shown = named_now(schedule, names)
        dialog = RepeatDialog(self._language, self._look, shown, *about, self._window)
        dialog.removed.connect(lambda: self._start(self._remove(schedule)))
        dialog.folder_chosen.connect(lambda path: self._start(self._allow_folder(dialog, path)))
        dialog.open_for(lambda chosen: self._start(self._keep(schedule, chosen)))

    async def _allow_folder(self, dialog: RepeatDialog, path: str) -> None:
        """Let a schedule use a folder, unless it may not be chosen or the user has closed the dialog."""
        try:
            folder = await self._engine.session_files.checked_folder(path)
        except MootError as error:
            if isValid(dialog):
                dialog.refuse(error)
        else:
            if isValid(dialog):
                dialog.allow_folder(folder)

    async def _keep(self, before: Schedule, chosen: Schedule) -> None:
        schedules = self._engine.schedules
        if before.id:
            # A run may have noted its folder meanwhile, or paused it.
            kept, _joined = await schedules.edit(before, chosen)
            undo: Callable[[], object] = partial(schedules.edit, chosen, before, anyway=True)
        else:
            kept = await schedules.make(chosen)
            undo = partial(schedules.delete, kept.id)
        said = schedules.stands(kept, self._language.texts)
        self._offer_undo("schedule.kept", undo, name=kept.name, when=said)

    async def _remove(self, schedule: Schedule) -> None:
        schedules = self._engine.schedules
        restore = partial(schedules.restore, schedules.find(schedule.id))
        await schedules.delete(schedule.id)
        self._offer_undo("schedule.removed", restore, lasts=True, name=schedule.name)

    def _tell_away(self) -> None:
        """Say what schedules have run and missed since the last look, and lead to it."""
        seen, now = self._state.text(RUNS_SEEN), utc_now()
        self._state.keep(RUNS_SEEN, now)
        count = Counter(run.state for run in self._engine.schedules.since(seen)) if seen else Counter()
        if count:
            ran, missed = count[RunState.RAN] + count[RunState.RUNNING], count[RunState.MISSED]
            words, failed = self._language, count[RunState.FAILED] + count[RunState.PAUSED]
            kinds = (
                ("schedule.away.ran", ran),
                ("schedule.away.missed", missed),
                ("schedule.away.failed", failed),
            )
            said = ", ".join(words(key, count=number) for key, number in kinds if number)
            text = words("schedule.away", what=said)
            self._toasts.show_toast(text, words("side.work"), self.show, undoes=False)

    # Events

    def _on_message_finished(self, event: MessageFinished) -> None:
        usage = event.message.usage
        self._spent += (usage.cost_usd or 0) if usage is not None else 0

    def _refresh_soon(self, _event: object = None) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _on_tick(self) -> None:
        if self._page is None or not self._page.isVisible():
            self._clock.stop()
            return
        if self._since != _today():
            self._start(self._count_spent())
        self._page.list.viewport().update()
        self._show_details()

    def _task(self, job: Job) -> QueueTask:
        engine, work = self._engine, job.work
        live = engine.live(work.session_id)
        title = live.session.title if live is not None else ""
        name = name_of(engine.assistants.get(job.agent_id), job.agent_id)
        title = " · ".join(filter(None, (work.about, title)))
        state = f"{visible(name)} · {_state_of(job, self._language)}"
        takers = tuple((taker.id, taker.name) for taker in engine.queues.takers(job.id))
        return QueueTask(
            id=job.id, session_id=work.session_id, title=title, state=state, place=job.place, takers=takers
        )


def _today() -> str:
    """Return when today began, in UTC (ISO 8601)."""
    today = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return today.astimezone(UTC).isoformat()


def _state_of(job: Job, words: Language) -> str:
    """Return for how long a job has run or waited, and how long it may yet."""
    so_far = "queue.runs" if job.place is None else "queue.waits"
    times = ((so_far, job.seconds), ("queue.expected", job.expected), ("queue.left", job.left))
    known = [(key, round(seconds)) for key, seconds in times if seconds is not None]
    # One that takes longer than expected may go on for long.
    shown = [(key, seconds) for key, seconds in known if seconds or key != "queue.expected"]
    return " · ".join(words(key, time=time_text(seconds, words)) for key, seconds in shown)


def _need(row: WorkRow) -> str:
    """Return what a session needs, so that something else is told from it."""
    return f"{row.needs} {row.says}"


def _can_tell(row: WorkRow, session: Session | None) -> bool:
    """Say whether something can be said in a session: in a workflow until it is done, in a debate but
    in no council.
    """
    if row.kind == SCHEDULE:
        return False
    if session is not None and session.debate is not None:
        return session.debate.council is None and row.state != WorkState.DONE
    return row.state != WorkState.DONE or row.kind in ("chat", "group")
