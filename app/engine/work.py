"""All work as rows: what needs the user, what stopped, what runs and waits, and what is done; `engine.work`.

A row is made of the index, and of a session that is open anyway; no log is read for it. Also what a question
to the user is about, in a few words.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from operator import attrgetter

from app.core import session as core_session
from app.core.criteria import Criterion, count_met, met_text
from app.core.definitions import QUEUED_STEP, SWITCH_ASSISTANT, Agent, StepStatus
from app.core.frozen import Frozen
from app.core.json_values import object_in
from app.core.message import Message, Prompt, PromptReason, PromptType
from app.core.session import LIMITS, Reason, SessionSummary, Status, code_of_session, reason_code, reason_text
from app.core.settings import RunLimits, Settings
from app.core.store import Documents, SessionStore
from app.core.texts import Texts, exact, visible
from app.core.tool import called
from app.engine.availability import Job, Queues
from app.engine.chat.run import open_questions
from app.engine.debate.replies import without_marks
from app.engine.export.event_lines import fields_of
from app.engine.group.director import silent_members
from app.engine.library.agents import MADE_FOR, AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.runner import Sessions

MOST_QUESTION = 300
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]*)\)")
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}|>)\s+")


def question_text(message: Message, texts: Texts, names: Mapping[str, str]) -> str:
    """Return a question on one line; for an approval, the tool or the hand-over to allow.

    `names` are those of the assistants by id.
    """
    prompt = message.prompt
    assert prompt is not None
    if is_hand_over(message):
        member = str(arguments_of(prompt.arguments)["assistant"])
        text = texts("hand_over.question", name=exact(names.get(member, member)))
    elif prompt.type == PromptType.APPROVAL:
        text = texts("approval.question", tool=called(prompt, texts))
    else:
        text = visible(asked_text(prompt))
    return " ".join(text[:MOST_QUESTION].split())


def asked_text(prompt: Prompt) -> str:
    """Return what an assistant asks without the marks of Markdown, and what a server asks as it is."""
    if prompt.type == PromptType.FORM or prompt.link:
        return prompt.question
    lines = without_marks(_LINK.sub(r"\1 (\2)", prompt.question)).splitlines()
    return "\n".join(_HEADING.sub("", line) for line in lines)


def arguments_of(text: str) -> dict[str, object]:
    """Return the arguments of a hand-over from JSON, empty if they are no object."""
    return object_in(text) or {}


def is_hand_over(message: Message) -> bool:
    """Say whether a question is a hand-over whose member and instruction are texts."""
    prompt = message.prompt
    if prompt is None or prompt.tool != SWITCH_ASSISTANT or prompt.reason == PromptReason.MAY_HAVE_RUN:
        return False
    arguments = arguments_of(prompt.arguments)
    return all(isinstance(arguments.get(name), str) for name in ("assistant", "instruction"))


class WorkState(StrEnum):
    """How work stands, in the order of the list."""

    NEEDS_YOU = "needs_you"
    STOPPED = "stopped"
    RUNNING = "running"
    WAITING = "waiting"
    SCHEDULED = "scheduled"
    DONE = "done"


class Needs(StrEnum):
    """What work needs the user for."""

    ANSWER = "answer"
    APPROVAL = "approval"
    LIMIT = "limit"
    FAILURE = "failure"
    CRITERIA = "criteria"


class WorkAction(StrEnum):
    """The one action that fits."""

    ANSWER = "answer"
    RESUME = "resume"
    GIVE = "give"
    OPEN = "open"
    EDIT = "edit"


class WorkRow(Frozen):
    """The work of one session, or one schedule, whose kind is SCHEDULE.

    `of` are the names of whose work it is, such as the group's, and `who` of those who hold it; `says` is
    what happens now as a sentence, `since` when it last changed (ISO 8601). `stands` says how far it is.
    `job` is the task that waits in a queue, `step` the step that failed and can be given to somebody else,
    "" for none. `criteria` are those of a session that is open, and of its plan.
    """

    id: str
    kind: str
    title: str
    state: WorkState
    says: str
    needs: str = ""
    action: WorkAction = WorkAction.OPEN
    of: tuple[str, ...] = ()
    who: tuple[str, ...] = ()
    since: str = ""
    cost_usd: float | None = 0.0
    limits: RunLimits
    reason_code: str = ""
    stands: str = ""
    job: str = ""
    step: str = ""
    criteria: tuple[Criterion, ...] = ()

    @property
    def seconds(self) -> int:
        """For how many seconds it has been so."""
        try:
            return max(0, round((datetime.now(UTC) - datetime.fromisoformat(self.since)).total_seconds()))
        except (ValueError, TypeError):
            return 0


SCHEDULE = "schedule"
# Later than every time in ISO 8601.
NEVER = "~"
_ORDER = {state: place for place, state in enumerate(WorkState)}
# Why work was put aside without anything being wrong.
_PUT_ASIDE = ("", Reason.BY_USER, Reason.FORKED, Reason.FROM_FILE)


@dataclass(eq=False, repr=False)
class AllWork:
    """Makes the rows; those of sessions that are not open are made once."""

    _store: SessionStore
    _sessions: Sessions
    _queues: Queues
    _directory: AgentDirectory
    _documents: Documents
    # The rows of the schedules, those that are due first.
    _schedules: Callable[[Texts], Sequence[WorkRow]]
    _kept: dict[str, tuple[SessionSummary, WorkRow | None]] = field(default_factory=dict, init=False)
    _made_with: tuple[Texts, Settings] | None = field(default=None, init=False)

    def rows(self, texts: Texts, done_since: str = "") -> list[WorkRow]:
        """Return all work by its state, the newest first, which so never changes places while it goes on.

        Of what is done, only what was done since then (ISO 8601).
        """
        found = [row for row in self._rows(texts) if row.state != WorkState.DONE or row.since >= done_since]
        # By age, as ids begin with their time, and then by state.
        found.sort(key=attrgetter("id"), reverse=True)
        found += self._schedules(texts)
        found.sort(key=lambda row: _ORDER[row.state])
        return found

    def needing(self, texts: Texts) -> list[WorkRow]:
        """Return what needs the user; no rows are made of what only runs."""
        return [row for row in self._rows(texts, needing=True) if row.state == WorkState.NEEDS_YOU]

    def _rows(self, texts: Texts, *, needing: bool = False) -> Iterator[WorkRow]:
        settings = self._documents.settings()
        if self._made_with != (texts, settings):
            self._kept, self._made_with = {}, (texts, settings)
        jobs: dict[str, list[Job]] = {}
        for job in self._queues.jobs():
            jobs.setdefault(job.work.session_id, []).append(job)
        for summary in self._store.summaries():
            live = self._sessions.live(summary.id)
            known = self._kept.get(summary.id) if live is None else None
            if known is not None and known[0] == summary:
                row = known[1]
            elif needing and _only_runs(summary, live):
                continue
            else:
                row = _Maker(texts, settings, self._directory, summary, live, jobs.get(summary.id, ())).row()
                if live is None:
                    self._kept[summary.id] = (summary, row)
            if row is not None:
                yield row


def questions_of(live: LiveSession | None) -> Sequence[Message]:
    """Return what a session asks the user, the oldest first; nothing where it is not open, or has ended."""
    if live is None or not (live.session.chat or live.session.debate):
        return ()
    # An answer to one that is paused is kept until it is resumed.
    asks = live.session.status in (Status.RUNNING, Status.WAITING, Status.PAUSED)
    return tuple(open_questions(live)) if asks else ()


def _only_runs(summary: SessionSummary, live: LiveSession | None) -> bool:
    """Say whether a session runs and needs nobody; a step of a workflow may have failed meanwhile."""
    return summary.status == Status.RUNNING and summary.kind != "workflow" and not questions_of(live)


def name_of(agent: Agent | None, agent_id: str) -> str:
    """Return the name of an assistant, also of one made for a role: `QA`, `Designer`."""
    if agent is not None:
        return agent.name
    role = agent_id.removeprefix(MADE_FOR)
    return role.upper() if len(role) < 4 else role.capitalize()


@dataclass(slots=True)
class _Maker:
    """Makes the row of one session."""

    texts: Texts
    settings: Settings
    directory: AgentDirectory
    summary: SessionSummary
    live: LiveSession | None
    jobs: Sequence[Job]

    def row(self) -> WorkRow | None:
        """Return the row, None for what is no work: a chat in which it is the user's turn,
        and what cannot be changed.
        """
        summary, status, code = self.summary, self.summary.status, core_session.main_code(self.summary.reason)
        if summary.read_only:
            return None
        if asked := questions_of(self.live):
            return self._asks(asked[0])
        if status == Status.WAITING:
            _place, unsure, _why = self._step(StepStatus.WAITING)
            text = self.texts("work.unsure", step=unsure) if unsure else self.texts("work.asks_something")
            action = WorkAction.OPEN if unsure else WorkAction.ANSWER
            return self._make(WorkState.NEEDS_YOU, text, Needs.ANSWER, action=action)
        if status == Status.RUNNING:
            return self._running()
        if status in (Status.PAUSED, Status.IDLE) and self._code in LIMITS:
            return self._make(WorkState.NEEDS_YOU, self._limit(), Needs.LIMIT)
        began = summary.kind == "group" or summary.asked_by
        if status == Status.ERROR or (status, code) == (Status.COMPLETED, Reason.TOO_FEW):
            return self._failed()
        if began and core_session.not_answered(status, code):
            return self._failed()
        if (status, code) == (Status.PAUSED, Reason.CRITERIA_UNMET):
            return self._make(WorkState.NEEDS_YOU, self._met(reason_text(code, self.texts)), Needs.CRITERIA)
        if status == Status.PAUSED:
            aside = self._code == core_session.RESTART or code in _PUT_ASIDE
            return self._make(WorkState.STOPPED, self._put_aside()) if aside else self._failed()
        if status == Status.STOPPED or (status == Status.IDLE and code == Reason.BY_USER):
            # An answer that was stopped in a chat is none that waits to go on.
            is_chat = status == Status.IDLE and summary.kind == "chat"
            return None if is_chat else self._make(WorkState.STOPPED, self._put_aside())
        if status == Status.COMPLETED or (status == Status.IDLE and began and summary.messages):
            return self._make(WorkState.DONE, self._met(self.texts("status.completed")))
        return None

    @property
    def _session(self) -> core_session.Session | None:
        return self.live.session if self.live is not None else None

    @property
    def _code(self) -> str:
        return code_of_session(self._session) if self._session else reason_code(self.summary.reason)

    def _make(
        self, state: WorkState, says: str, needs: str = "", *, action: WorkAction | None = None, **own: object
    ) -> WorkRow:
        summary = self.summary
        if action is None:
            ended = state in (WorkState.NEEDS_YOU, WorkState.STOPPED) and core_session.resumable(summary)
            action = WorkAction.RESUME if ended else WorkAction.OPEN
        chat = self._session.chat if self._session else None
        limits = (chat and chat.limits) or self.settings.limits
        if summary.kind == "debate":
            debate = self._session.debate if self._session else None
            limits = RunLimits(usd=debate.council.max_usd if debate and debate.council else 0)
        same = {name: getattr(summary, name) for name in ("id", "kind", "title", "cost_usd")}
        row = WorkRow(state=state, says=" ".join(says.split()), needs=needs, limits=limits, **same)
        row = replace(row, action=action, of=summary.speakers, since=summary.updated_at)
        criteria = self._session.all_criteria() if self._session else ()
        row = replace(row, reason_code=self._code, criteria=criteria)
        fields: dict[str, object] = {"who": self._who(), "stands": self._stands(), **own}
        return replace(row, **fields)  # type: ignore[arg-type]

    def _asks(self, question: Message) -> WorkRow:
        names = {agent.id: agent.name for agent in self.directory.agents()}
        name = visible(question.author.name)
        text = self.texts("work.asks", name=name, question=question_text(question, self.texts, names))
        approval = question.prompt is not None and question.prompt.type == PromptType.APPROVAL
        needs = Needs.APPROVAL if approval else Needs.ANSWER
        return self._make(WorkState.NEEDS_YOU, text, needs, action=WorkAction.ANSWER, who=(name,))

    def _running(self) -> WorkRow:
        texts, waits = self.texts, [job for job in self.jobs if job.place is not None]
        if self._step(StepStatus.FAILED)[0]:
            return self._failed()
        work = self._session.workflow if self._session else None
        for state, step in zip(work.steps, work.definition.steps, strict=True) if work else ():
            if (state.state, state.reason) == (StepStatus.WAITING, Reason.NO_MARKER):
                text = texts("work.unsure", step=visible(step.name))
                return self._make(WorkState.NEEDS_YOU, text, Needs.ANSWER, action=WorkAction.OPEN)
        writing = self.live.streaming() if self.live is not None else ()
        # While some members work side by side, another one of them may wait.
        busy = self.summary.reason == Reason.BUSY and not writing
        if waits and (busy or len(waits) == len(self.jobs)):
            job = waits[0]
            name, place = name_of(self.directory.agent(job.agent_id), job.agent_id), (job.place or 0) + 1
            held = job.agent_id in self.settings.held_back
            text = texts("work.held" if held else "work.waits", name=name, place=place)
            others = (item for item in self.directory.agents() if item.enabled and item.id != job.agent_id)
            action = WorkAction.GIVE if job.work.may_move and any(others) else WorkAction.OPEN
            return self._make(WorkState.WAITING, text, action=action, who=(name,), job=job.id)
        if busy and self.summary.kind != "workflow":
            return self._make(WorkState.WAITING, texts("status.busy"))
        if core_session.main_code(self.summary.reason) == Reason.CHECKING_VOTES:
            return self._make(WorkState.RUNNING, reason_text(self.summary.reason, texts))
        if self.live is not None and (silent := silent_members(self.live, self.directory)):
            names = ", ".join(visible(agent.name) for agent in silent)
            return self._make(WorkState.RUNNING, texts("work.silent", name=names))
        who = [*dict.fromkeys(visible(message.author.name) for message in writing)]
        said = texts("work.writes", count=len(who), name=", ".join(who)) if who else self._stands()
        return self._make(WorkState.RUNNING, said or texts("status.running"))

    def _failed(self) -> WorkRow:
        """Return the row of what cannot go on by itself; of a workflow with the step that failed."""
        place, name, why = self._step(StepStatus.FAILED)
        reason = reason_text(why or self.summary.reason, self.texts) or self.texts("status.error")
        says = self.texts("work.failed", reason=f"{name}: {reason}" if place else reason)
        work = self._session.workflow if self._session else None
        step = work.definition.steps[place - 1] if work and place else None
        if step is None or step.gate:
            return self._make(WorkState.NEEDS_YOU, says, Needs.FAILURE)
        return self._make(WorkState.NEEDS_YOU, says, Needs.FAILURE, action=WorkAction.GIVE, step=step.id)

    def _put_aside(self) -> str:
        summary, texts = self.summary, self.texts
        return core_session.paused_text(summary, texts) or texts.named("status", summary.status)

    def _met(self, otherwise: str) -> str:
        """Return how many criteria are met, and how many to-dos are open, `otherwise` where there are
        none, or the session is not open.
        """
        met = met_text(self._session.all_criteria(), self.texts) if self._session else ""
        left = len(self._session.plan.open) if self._session and self._session.plan else 0
        said = (met, self.texts("plan.left", count=left) if left else "")
        return " · ".join(filter(None, said)) or otherwise

    def _limit(self) -> str:
        """Return at which limit it is paused: `Paused at 100 calls`."""
        _place, _name, why = self._step(StepStatus.FAILED)
        reason = why or self.summary.reason
        stopped = self.summary._replace(reason=reason)
        return core_session.short_reason(stopped, self.texts) or reason_text(reason, self.texts)

    def _who(self) -> tuple[str, ...]:
        works = (job.agent_id for job in self.jobs if job.place is None)
        names = [name_of(self.directory.agent(key), key) for key in works if self.directory.is_assistant(key)]
        writing = self.live.streaming() if self.live is not None and not names else ()
        names += [visible(message.author.name) for message in writing]
        if self.live is not None and self.summary.kind == "group" and not names:
            # While nobody writes, the member who has done so last holds it.
            is_member, said = self.directory.is_assistant, reversed(self.live.messages)
            names = [next((visible(one.author.name) for one in said if is_member(one.author.id)), "")]
        return tuple(dict.fromkeys(filter(None, names))) or self.summary.speakers

    def _step(self, *states: str) -> tuple[int, str, str]:
        """Return the first step of a workflow in one of these states: its place from 1, name and reason;
        0 for none.

        One that is held, as its provider does not answer, is as one that failed.
        """
        work, rests = self._session.workflow if self._session else None, self.summary.status == Status.PAUSED
        for place, state in enumerate(work.steps if work else (), 1):
            held = rests and state.state == StepStatus.READY and state.reason
            if work and (StepStatus.FAILED if held else state.said) in states:
                return place, visible(work.definition.steps[place - 1].name), state.reason
        return 0, "", ""

    def _stands(self) -> str:
        """Return how far it is: the step of a workflow or a plan, or the round of a debate."""
        summary, session = self.summary, self._session
        is_debate = summary.rounds and summary.mode != core_session.DebateMode.COUNCIL
        if is_debate and summary.status != Status.COMPLETED:
            return self.texts("discussion.round", round=summary.round, rounds=summary.rounds)
        place, name, _why = self._step(StepStatus.RUNNING, StepStatus.WAITING, StepStatus.FAILED, QUEUED_STEP)
        done: list[bool] = []
        if session is not None and session.workflow is not None:
            done = [state.state == StepStatus.DONE for state in session.workflow.steps]
        elif session is not None and session.plan is not None:
            done = [item.done for item in session.plan.items]
            if False in done:
                place, name = done.index(False) + 1, visible(session.plan.open[0].text)
        if place:
            return self.texts("work.step", step=place, steps=len(done), name=name)
        return self.texts("work.steps_done", done=sum(done), count=len(done)) if done else ""


def work_object(row: WorkRow, files: int) -> Mapping[str, object]:
    """Return a row as `moot work --json` prints it, with the number of the session's files."""
    return {
        **fields_of(row, "id", "kind", "title", "state", "needs", "action", "who", "says", "since"),
        **fields_of(row, "seconds", "cost_usd", "limits", "reason_code"),
        "files": files,
        "criteria": {"met": count_met(row.criteria), "all": len(row.criteria)} if row.criteria else None,
    }
