"""Assistants' queues: who is busy, in the sidebar, and the dialog that steers what waits."""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal

from app.core.errors import MootError
from app.core.events import AvailabilityChanged
from app.engine.availability.policies import MADE_FOR
from app.engine.availability.slots import Job
from app.gui.controllers.controller import Controller, Parts
from app.gui.dialogs.queue_dialog import QueueDialog, QueueSection, QueueTask
from app.gui.display.descriptions import colours_of, time_text
from app.gui.panels.workflow.workflow_panel import busy_text
from app.gui.window_frame import WindowFrame

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
        self._language.changed.connect(self._say_all)
        self._say_all()

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
        words = self._language
        if job.place is None:
            state = words("queue.runs", time=time_text(int(job.seconds), words))
        else:
            parts = [words("queue.waits", time=time_text(int(job.seconds), words))]
            if job.expected is not None:
                parts.append(words("queue.expected", time=time_text(round(job.expected), words)))
            if job.left is not None:
                parts.append(words("queue.left", time=time_text(round(job.left), words)))
            state = " \u00b7 ".join(parts)
        about = " \u00b7 ".join(part for part in (job.work.about, title) if part)
        takers = tuple((one.id, one.name) for one in self._engine.queues.takers(job.id))
        return QueueTask(
            id=job.id,
            session_id=job.work.session_id,
            title=about,
            state=state,
            place=job.place,
            takers=takers,
        )


def _role_name(agent_id: str) -> str:
    """Return the name of an assistant made for a role: `QA`, `Designer`."""
    role = agent_id.removeprefix(MADE_FOR)
    return role.upper() if len(role) < 4 else role.capitalize()
