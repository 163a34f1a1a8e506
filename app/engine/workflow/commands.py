"""The commands of workflows: definitions, running them, and which one a command calls for;
`engine.workflows`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

from app.core import definitions as core_definitions
from app.core.criteria import accepted, criteria_of
from app.core.definitions import ROLES, Fault, StepState, StepStatus, WorkflowDefinition, faults, role_of
from app.core.errors import BadInput, NotFound, ProviderError
from app.core.events import WorkflowsChanged
from app.core.ids import utc_now
from app.core.message import Attachments, UsageEntry
from app.core.provider import one_message
from app.core.session import Reason, Status, WorkflowSession, WorkflowState
from app.core.texts import Texts, visible
from app.engine.chat.commands import begun_with, checked_text
from app.engine.chat.run import ChatRun, close_turns, user_message
from app.engine.director import Halt
from app.engine.library.agents import MADE_FOR, AgentDirectory
from app.engine.library.definitions import Definitions, LibraryKind, Shared
from app.engine.live_session import LiveSession
from app.engine.names import normal
from app.engine.runner import Sessions
from app.engine.turns.context import MeteredModels
from app.engine.workflow.director import Steps, begun, call_id, changes, decide, reopened, with_step
from app.engine.workflow.run import WorkflowRun, write_steps

NONE = "none"
NOBODY: Mapping[str, str] = {}

_HANGUL = re.compile("[\uac00-\ud7a3]")


def by_keyword(command: str, definitions: Sequence[WorkflowDefinition]) -> WorkflowDefinition | None:
    """Return the definition with most keywords in a command; None for none, or for a tie."""
    text = normal(command)
    counts = {workflow.id: sum(_holds(text, word) for word in workflow.keywords) for workflow in definitions}
    most = max(counts.values(), default=0)
    best = [definition for definition in definitions if counts[definition.id] == most]
    return best[0] if most and len(best) == 1 else None


def question(command: str, definitions: Sequence[WorkflowDefinition]) -> tuple[str, Mapping[str, object]]:
    """Return the prompt that asks a model for its choice, and the schema of the answer."""
    listed = "\n".join(f"- {definition.id}: {definition.name}" for definition in definitions)
    text = (
        "Which of these kinds of work does the command below ask for? Answer with its id alone, "
        f"or {NONE} if it is none of them.\n\n{listed}\n- {NONE}: something "
        f"else\n\nCommand: {command[:2_000]}"
    )
    choice = {"type": "string", "enum": [*(definition.id for definition in definitions), NONE]}
    return text, {"type": "object", "properties": {"id": choice}, "required": ["id"]}


def choice_of(answer: str, definitions: Sequence[WorkflowDefinition]) -> WorkflowDefinition | None:
    """Return the only definition that an answer names; None for any other answer."""
    words = set(re.findall(r"[\w-]+(?:\.[\w-]+)*", answer.casefold(), re.ASCII))
    named = [definition for definition in definitions if definition.id.casefold() in words]
    return named[0] if len(named) == 1 and NONE not in words - {named[0].id.casefold()} else None


def is_temporary(agent: core_definitions.Agent) -> bool:
    """Say whether an assistant is made for a role that nobody fits."""
    return agent.id.startswith(MADE_FOR)


def with_assistants(definition: WorkflowDefinition, assistants: Mapping[str, str]) -> WorkflowDefinition:
    """Return a definition in which these assistants do these steps, by the steps' ids."""
    steps = (replace(step, assistant=assistants.get(step.id, step.assistant)) for step in definition.steps)
    return replace(definition, steps=tuple(steps))


def _holds(text: str, keyword: str) -> bool:
    word = normal(keyword).strip()
    if not word:
        return False
    # Korean words are often written without spaces between them, and end in particles.
    left, right = ("", "") if _HANGUL.search(word) else (r"(?<![\w])", r"(?![\w])")
    return re.search(f"{left}{re.escape(word)}{right}", text, re.IGNORECASE) is not None


_SHARED = ("name", "keywords", "steps")
_KIND = LibraryKind(WorkflowDefinition, "workflow", attrgetter("workflows"), WorkflowsChanged, _SHARED)


@dataclass(eq=False, repr=False)
class Workflows(Definitions[WorkflowDefinition]):
    """The commands of workflows; all raise BadInput, NotFound or StorageError in words."""

    _kind: LibraryKind[WorkflowDefinition] = field(default=_KIND, init=False)
    _sessions: Sessions
    _directory: AgentDirectory
    _models: MeteredModels
    # The usage of choosing a workflow for a command, until its session starts.
    _asked: dict[str, UsageEntry] = field(default_factory=dict, init=False)

    def faults(self, definition: WorkflowDefinition) -> list[Fault]:
        """Return what keeps a definition from running, each with its place."""
        # A temporary assistant can be made for a known role that nobody has.
        roles = frozenset(ROLES).union(*map(core_definitions.roles_of, self._directory.agents()))
        found, directory = faults(definition), self._directory
        for place, step in enumerate(definition.steps):
            if step.gate:
                continue
            if step.assistant and directory.named(step.assistant) is None:
                found.append(Fault("unknown_assistant", place, "assistant", step.assistant))
            elif role_of(step.role) not in roles and is_temporary(directory.workers(step)[0]):
                found.append(Fault("unknown_role", place, "role", step.role))
        return found

    async def duplicate(self, definition_id: str, name: str) -> WorkflowDefinition:
        """Save a copy under another name, without keywords: two definitions
        with the same keywords would not be recognised.
        """
        return await self.save(replace(self.find(definition_id), id="", name=name, keywords=(), version=1))

    # Work

    async def classify(self, command: str) -> WorkflowDefinition | None:
        """Return the workflow for a command: by keyword, else by a model; None where the user must choose."""
        found = by_keyword(command, self.all())
        if found is not None:
            return found
        first = self._directory.first_model()
        if first.guided or not self.all():
            return None
        text, schema = question(command, self.all())
        request = one_message(first.provider, first.model, text, max_tokens=200, schema=schema)
        try:
            answer = await self._models.ask(request, used=partial(self._asked.__setitem__, command.strip()))
        except ProviderError:
            return None
        return choice_of(answer, self.all())

    async def start(
        self,
        command: str,
        definition_id: str,
        attachments: Attachments = (),
        folder: str = "",
        done_means: Sequence[str] = (),
        assistants: Mapping[str, str] = NOBODY,
        **own: Any,
    ) -> str:
        """Start a workflow and return its session's id; `own` are fields of its Chat, as in `Chats.start`.

        `assistants` are who the user chose for steps, by their ids. Raises BadInput for one that cannot run.
        """
        definition = with_assistants(self.find(definition_id), assistants)
        self._check_runs(definition)
        message = user_message(checked_text(command, attachments), attachments, "")
        who = {"assistant_id": core_definitions.WORKFLOW, "assistant_name": definition.name}
        work = WorkflowState(definition=definition, command=message.content, steps=begun(definition))
        asked = self._asked.pop(command.strip(), None)
        unsaid = () if asked is None else (asked,)
        begins = begun_with(message, folder, "", done_means, language=self._language(), **who, **own)
        return await self._sessions.start(WorkflowSession(**begins, workflow=work, unsaid=unsaid), message)

    def who_does_what(self, definition: WorkflowDefinition, texts: Texts) -> str:
        """Return one line that says who would do which steps; those of temporary assistants stand
        together.
        """
        parts: dict[str, list[str]] = {}
        for step in definition.steps:
            workers = () if step.gate else self._directory.workers(step)
            names = " / ".join(visible(worker.name) for worker in workers if not is_temporary(worker))
            if workers:
                parts.setdefault(names or texts("workflow.who.temporary"), []).append(visible(step.name))
        listed = ((name, ", ".join(steps)) for name, steps in parts.items())
        each = (texts("workflow.who.part", name=name, steps=steps) for name, steps in listed)
        return texts("workflow.who", parts=", ".join(each))

    def takers(self, session_id: str, step_id: str) -> list[core_definitions.Agent]:
        """Return the assistants that a step of an open session can be given to, those
        that fit its role first.
        """
        live = self._sessions.live(session_id)
        work = self._work(live) if live is not None else None
        for step, state in zip(work.definition.steps, work.steps, strict=False) if work else ():
            if step.id == step_id:
                fitting = self._directory.fitting(step.role)
                return [agent for agent in fitting if agent.id != state.assistant_id]
        return []

    async def give(self, session_id: str, step_id: str, assistant: str) -> None:
        """Let another assistant, by id or name, go on at once with a step that failed, waits or was stopped.

        Raises BadInput for any other step, NotFound where there is no such step or assistant.
        """
        live, state = await self._at(session_id, step_id)
        agent, run, work = self._directory.taker(assistant), self._sessions.running(live.id), self._work(live)
        if isinstance(run, WorkflowRun) and run.give(step_id, agent):
            return
        ended = state.state in (StepStatus.FAILED, StepStatus.CANCELLED, StepStatus.WAITING)
        cut = state.state == StepStatus.READY and live.session.status != Status.RUNNING
        if not (ended or cut) or any(step.gate for step in work.definition.steps if step.id == step_id):
            raise BadInput("step_not_given", step=step_id)
        given = tuple(replace(item, given_to=agent.id) if item is state else item for item in work.steps)
        self._change(live, changes(work.steps, reopened(work.definition, given, step_id)), closed=state)

    async def accept(self, session_id: str, step_id: str) -> None:
        """Accept a step that did not say it was done, or whose criteria are not met."""
        live, state = await self._at(session_id, step_id)
        unmet = (state.state, state.reason) == (StepStatus.FAILED, Reason.CRITERIA_UNMET)
        if not unmet and (state.state != StepStatus.WAITING or state.queued):
            raise BadInput("step_not_waiting", step=step_id)
        criteria = accepted(state.criteria)
        done = replace(state, state=StepStatus.DONE, reason="", ended_at=utc_now(), criteria=criteria)
        self._put(live, done)

    async def retry(self, session_id: str, step_id: str) -> None:
        """Retry a step and the steps that it blocked; finished steps stay."""
        live, state = await self._at(session_id, step_id)
        if state.queued or state.state not in (*core_definitions.STEP_ENDED, StepStatus.WAITING):
            raise BadInput("step_not_ended", step=step_id)
        work = self._work(live)
        steps = reopened(work.definition, work.steps, step_id)
        self._change(live, changes(work.steps, steps), closed=state)

    def reopen(self, live: LiveSession) -> None:
        """Make every failed or stopped step ready again, where the workflow cannot go on without them."""
        work = self._work(live)
        steps = work.steps
        for state in work.steps if isinstance(decide(steps, ()), Halt) else ():
            if state.state in (StepStatus.FAILED, StepStatus.CANCELLED):
                steps = reopened(work.definition, steps, state.id)
        write_steps(live, changes(work.steps, steps))

    async def stop_step(self, session_id: str, step_id: str) -> None:
        """Stop one step; steps that do not depend on it go on. It can be retried or skipped."""
        live, _ = await self._at(session_id, step_id)
        run = self._sessions.running(live.id)
        if not (isinstance(run, WorkflowRun) and run.stop_step(step_id)):
            raise BadInput("step_not_running", step=step_id)

    async def skip(self, session_id: str, step_id: str) -> None:
        """Skip a step; steps that depend on it go on or are blocked, as the definition says."""
        live, state = await self._at(session_id, step_id)
        run = self._sessions.running(live.id)
        runs = state.state == StepStatus.RUNNING and run is not None
        if runs or state.state in (StepStatus.DONE, StepStatus.SKIPPED):
            raise BadInput("step_not_skippable", step=step_id)
        if isinstance(run, WorkflowRun):
            run.leave_out(step_id)
        self._put(live, replace(state, state=StepStatus.SKIPPED, reason=Reason.BY_USER, ended_at=utc_now()))

    async def _at(self, session_id: str, step_id: str) -> tuple[LiveSession, StepState]:
        live = await self._sessions.open_chat(session_id)
        states = {state.id: state for state in self._work(live).steps}
        if step_id not in states:
            raise NotFound("step_not_found", step=step_id, steps=", ".join(states))
        return live, states[step_id]

    def _work(self, live: LiveSession) -> WorkflowState:
        return live.workflow_session.workflow

    def _put(self, live: LiveSession, state: StepState) -> None:
        work = self._work(live)
        self._change(live, changes(work.steps, with_step(work.definition, work.steps, state)))

    def _change(self, live: LiveSession, changed: Steps, closed: StepState | None = None) -> None:
        """Write steps and resume the workflow with them."""
        by_id = {state.id: state for state in changed}
        if closed is not None and closed.id in by_id:
            # Its attempt is over, whatever its result: the next one is another.
            by_id[closed.id] = replace(by_id[closed.id], fresh=True)
        for state in self._work(live).steps:
            # Questions of a step that no longer waits need no answer.
            ended = state.id in by_id and state.state == StepStatus.WAITING
            if ended and (turn_id := live.turns.child_turn(live.turns.work_turn, call_id(state))):
                close_turns(live, turn_id)
        run = self._sessions.running(live.id)
        # A run that has just stopped, and still saves that, goes on by itself with this status; one that is
        # cut does not.
        goes_on = run is None or (run.looping and live.session.status != Status.RUNNING)
        fields = {"status": Status.RUNNING, "reason": ""} if goes_on else {}
        write_steps(live, tuple(by_id.values()), (), **fields)
        if isinstance(run, ChatRun):
            run.answered()
        else:
            self._sessions.run(live)

    def _checked(self, definition: WorkflowDefinition) -> WorkflowDefinition:
        self._check_runs(definition)
        return super()._checked(definition)

    def _check_runs(self, definition: WorkflowDefinition) -> None:
        """Raise BadInput that names the first fault and its place."""
        for step in definition.steps:
            criteria_of(step.done_means)
        for fault in self.faults(definition):
            raise BadInput(f"workflow_{fault.code}", field=fault.path, detail=fault.detail)

    def _to_share(self, definition: WorkflowDefinition) -> dict[str, Any]:
        # An assistant of the same name is somebody else there.
        return super()._to_share(with_assistants(definition, {step.id: "" for step in definition.steps}))

    def _from_shared(self, document: Mapping[str, Any]) -> Shared[WorkflowDefinition]:
        shared, steps = super()._from_shared(document), document["steps"]
        known = {described.name for described in fields(core_definitions.WorkflowStep)}
        unknown = dict.fromkeys(name for step in steps for name in step if name not in known)
        return replace(shared, dropped=(*shared.dropped, *(f"steps: {name[:40]}" for name in unknown)))
