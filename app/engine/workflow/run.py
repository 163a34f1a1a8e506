"""A workflow that runs: every ready step at once, each a turn of the assistant of its role;
and how a step says it is done.

The workflow itself is a turn whose calls are the steps' attempts; a step is the turn below that answers its
call. So restarts, questions of sub-agents and stopping one step work as in any chat.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.core import definitions
from app.core.criteria import CRITERIA, criteria_of, shown_by
from app.core.definitions import STEP, STEP_TOOLS, WORKFLOW, Agent, StepState, StepStatus, WorkflowStep
from app.core.events import Event, StepChanged
from app.core.files import with_files
from app.core.frozen import Frozen
from app.core.ids import new_id, utc_now
from app.core.message import Author, Message, Messages, MessageState, Role, ToolCall, new_message
from app.core.owned_tasks import end_tasks
from app.core.session import Reason, Status, WorkflowState
from app.core.tool import FILES, read_arguments
from app.engine.availability import NotFree, Refusal, SentTo
from app.engine.chat.run import ChatRun, close_turns, user_message
from app.engine.criteria.checking import MOOT, MOST_ROUNDS, Check, check, is_checked, told_missing
from app.engine.director import Ask, Call, Decision, Finish, Halt
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, file_tools
from app.engine.turns.context import Outcome, Services, TurnState
from app.engine.turns.speaker_turn import SpeakerTurn
from app.engine.turns.tool_calls import attach_servers
from app.engine.turns.turn_tree import TurnTree
from app.engine.workflow.director import call_id, changes, decide, last_again, last_workers, reopened, settled

MARKER = "[STEP_COMPLETE]"
STEP_COMPLETE: Final = "step_complete"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_NEXT_MARKER = re.compile(r"^\[[A-Z][A-Z0-9_]*\]")
_FIELD = re.compile(r"^\s*(?:[-*]\s*)?(산출물|상태|artifacts?|status)\s*[:：]\s*(.*)$", re.IGNORECASE)
_ARTIFACTS = ("산출물", "artifacts", "artifact")
# What the status words mean: "" for done, else why the step has failed.
_STATUS_WORDS = {
    **dict.fromkeys(("done", "완료"), ""),
    **dict.fromkeys(("failed", "실패"), Reason.SAID_FAILED),
    **dict.fromkeys(("blocked", "막힘"), Reason.SAID_BLOCKED),
}
_WORD = re.compile(r"[^\W_]+")


class StepComplete(Frozen, kw_only=False):
    """The fields after the marker; `before` is the text above it."""

    artifacts: str = ""
    status: str = ""
    before: str = ""

    @property
    def word(self) -> str:
        """The first word of the status."""
        found = _WORD.search(self.status)
        return found[0].casefold() if found else ""

    @property
    def failure(self) -> str:
        """Why the step has failed by its own word, "" where it is done."""
        return _STATUS_WORDS.get(self.word, "")


def step_complete(text: str) -> StepComplete | None:
    """Return the last completion a text states, None where it states none.

    The marker is read from a step's own final text only, on a line of its own outside code and quotations.
    Its body goes up to the next line that opens with a marker in capitals, so it may hold links, lists and
    check boxes. The tool `step_complete` says the same.
    """
    lines = _lines(text)
    found: int | None = None
    for number, (line, is_code) in enumerate(lines):
        if not is_code and line.strip() == MARKER and not line.startswith(("    ", "\t")):
            found = number
    if found is None:
        return None
    return _body(lines[found + 1 :], "\n".join(line for line, _ in lines[:found]).strip())


def read_by_people(text: str, *, ended: bool) -> tuple[str, str]:
    """Return a step's text without the lines that say it is done, and what it made.

    While the text streams, nothing from the possible start of these lines is shown.
    """
    if ended:
        complete = step_complete(text) if MARKER in text else None
        return (complete.before, complete.artifacts) if complete else (text, "")
    start = text.rfind("\n[") + 1
    line = text[start:].partition("\n")[0].rstrip()
    begins = line.startswith("[") and (line == MARKER or (MARKER.startswith(line) and text.endswith(line)))
    return (text[:start].rstrip() if begins else text), ""


def from_call(messages: Sequence[Message]) -> StepComplete | None:
    """Return the arguments of the tool in a step's turn, None where it was not called with success."""
    ended = {msg.tool_call_id for msg in messages if msg.role == Role.TOOL and msg.state == MessageState.DONE}
    for message in reversed(messages):
        for call in message.tool_calls:
            if call.name == STEP_COMPLETE and call.id in ended:
                told = {name: str(value).strip() for name, value in read_arguments(call.arguments).items()}
                before = told.get("result", "") or message.content
                return StepComplete(told.get("artifacts", ""), told.get("status", ""), before)
    return None


def _lines(text: str) -> list[tuple[str, bool]]:
    """Return each line, and whether it is part of fenced code."""
    lines: list[tuple[str, bool]] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        lines.append((line, bool(fence or opened)))
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1][0] == fence[0] and len(opened[1]) >= len(fence):
            fence = ""
    return lines


def _body(lines: list[tuple[str, bool]], before: str) -> StepComplete:
    fields: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line, is_code in lines:
        if not is_code and _NEXT_MARKER.match(line):
            break
        field = None if is_code else _FIELD.match(line)
        if field:
            name = "artifacts" if field[1].casefold() in _ARTIFACTS else "status"
            current = fields.setdefault(name, [])
            current.append(field[2])
        elif current is not None:
            current.append(line)
    texts = {name: "\n".join(part).strip() for name, part in fields.items()}
    return StepComplete(texts.get("artifacts", ""), texts.get("status", ""), before)


MAX_RESULT = 6_000


def write_steps(
    live: LiveSession, changed: Sequence[StepState], messages: Messages = (), *extra: Event, **fields: object
) -> None:
    """Write steps, the messages that belong to them and changed `fields` of the session in one batch."""
    by_id = {state.id: state for state in changed}
    work = live.workflow_session.workflow
    steps = tuple(by_id.get(state.id, state) for state in work.steps)
    events = tuple(StepChanged(session_id=live.id, step=state) for state in changed)
    live.finish_messages(messages, *extra, *events, workflow=replace(work, steps=steps), **fields)


class WorkflowRun(ChatRun):
    """A running workflow, in a task of its own."""

    def __init__(self, live: LiveSession, services: Services) -> None:
        super().__init__(live, services)
        self._at_work: dict[str, asyncio.Task[None]] = {}
        self._stopped: set[str] = set()
        self._left_out: set[str] = set()
        # The workflow's own turn; it begins with its first step.
        self._root = live.turns.work_turn or new_id()
        # Why the session must pause once the steps in flight have ended.
        self._held: list[str] = []

    async def pause(self) -> None:
        """Pause after the steps in flight; a step that waits for a slot does not begin."""
        for state in self._work.steps:
            if state.state == StepStatus.WAITING and state.reason == Reason.BUSY:
                self.leave_out(state.id)
                self._change_steps(replace(state, state=StepStatus.READY, reason=""))
        await super().pause()

    @property
    def only_waits(self) -> bool:
        return self._waiting >= sum(state.state == StepStatus.RUNNING for state in self._work.steps)

    def go_on(self) -> None:
        """Withdraw a pause that has not happened yet."""
        super().go_on()
        self._news.set()

    def stop_turn(self, turn_id: str) -> bool:
        """Stop one step, or a sub-agent of one."""
        for step_id in self._at_work:
            if self._turn_of(step_id) == turn_id:
                return self.stop_step(step_id)
        return super().stop_turn(turn_id)

    def stop_step(self, step_id: str) -> bool:
        """Stop a step that runs or waits for its turn; false where it does neither."""
        taken = self._state(step_id).state in (StepStatus.RUNNING, StepStatus.WAITING)
        if not taken or not self._cancel_step(step_id):
            return False
        self._stopped.add(step_id)
        return True

    def leave_out(self, step_id: str) -> None:
        """Let a step stop waiting for a slot; the caller writes its state."""
        if self._state(step_id).state == StepStatus.WAITING and self._cancel_step(step_id):
            self._left_out.add(step_id)

    def give(self, step_id: str, agent: Agent) -> bool:
        """Let a step that waits for a slot go to another assistant; false where it does not wait."""
        if not self._state(step_id).queued or not self._cancel_step(step_id):
            return False
        self._left_out.add(step_id)
        self._hand_on(step_id, agent)
        return True

    def _hand_on(self, step_id: str, agent: Agent) -> None:
        state = replace(self._state(step_id), given_to=agent.id)
        self._finish(state, StepStatus.READY, "", f"Given to {agent.name}.")

    def _cancel_step(self, step_id: str) -> bool:
        task = self._at_work.get(step_id)
        return task is not None and not task.done() and task.cancel()

    def _begin(self) -> None:
        if self._live.session.status == Status.COMPLETED:
            # What the user says after the end is for the last steps that were done.
            self._write(last_again(self._work.definition, self._work.steps))
        super()._begin()

    def _settle(self, status: str) -> None:
        super()._settle(status)
        self._write(definitions.put_down(self._work.steps))

    @property
    def _work(self) -> WorkflowState:
        return self._live.workflow_session.workflow

    async def _step(self) -> None:
        """Run every step that can, until none can any more."""
        tree = TurnTree(self._tree_context(()))
        self._trees, self._held, running = [tree], [], self._at_work
        try:
            while True:
                self._wake()
                self._write(settled(self._work.definition, self._work.steps))
                decision = decide(self._work.steps, running)
                if isinstance(decision, Call) and not (self._pausing or self._held):
                    for step_id in decision.steps:
                        running[step_id] = asyncio.create_task(self._take_step(tree, step_id))
                if not running:
                    break
                news = asyncio.create_task(self._news.wait())
                try:
                    await asyncio.wait({*running.values(), news}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    news.cancel()
                for step_id in [item for item, task in running.items() if task.done()]:
                    running.pop(step_id).result()
                if self._news.is_set():
                    self._news.clear()
        finally:
            await end_tasks(*running.values())
            running.clear()
            self._trees = []
        await self._end(decision)

    async def _end(self, decision: Decision) -> None:
        if self._held:
            self._live.change(status=Status.PAUSED, reason=self._held[0])
        elif isinstance(decision, Finish) and not self._live.session.criteria:
            self._live.change(status=Status.COMPLETED, reason=decision.reason)
        elif isinstance(decision, Finish) and not self._pausing:
            # Each time after other attempts.
            await self._check(self._root, f"{CRITERIA}:{sum(step.attempt for step in self._work.steps)}")
        elif self._pausing:
            self._live.change(status=Status.PAUSED, reason=Reason.BY_USER)
        elif isinstance(decision, Ask):
            self._live.change(status=Status.WAITING, reason=Reason.QUESTION)
        elif isinstance(decision, Halt):
            self._live.change(status=Status.PAUSED, reason=decision.reason)

    def _send_back(self, missing: str) -> bool:
        """Let the last steps mend what is not met."""
        work, workers = self._work, last_workers(self._work.definition)
        last = [step for step in work.steps if step.id in workers and step.state == StepStatus.DONE]
        made = (self._titled(state.id, state.result) for state in last)
        text, steps = "\n\n".join((missing, *made)), work.steps
        for state in last:
            steps = reopened(work.definition, steps, state.id)
        told = user_message(text, (), self._command().turn_id, author=MOOT, turn_id=self._root)
        if last:
            self._change_steps(*changes(work.steps, steps), messages=(told,))
        return bool(last)

    def _wake(self) -> None:
        """Make the steps ready whose questions have been answered."""
        for state in self._work.steps:
            if state.state == StepStatus.WAITING and state.reason == Reason.QUESTION:
                turn_id = self._turn_of(state.id)
                if not any(message.asks for message in self._live.turns.said_below(turn_id or "")):
                    self._change_steps(replace(state, state=StepStatus.READY, reason=""))

    def _write(self, steps: tuple[StepState, ...]) -> None:
        if steps != self._work.steps:
            self._change_steps(*changes(self._work.steps, steps))

    def _change_steps(self, *changed: StepState, messages: Sequence[Message] = ()) -> None:
        write_steps(self._live, changed, messages)

    def _state(self, step_id: str) -> StepState:
        return next(state for state in self._work.steps if state.id == step_id)

    def _turn_of(self, step_id: str) -> str | None:
        """Return the turn of a step's attempt, None before it begins."""
        return self._live.turns.child_turn(self._root, call_id(self._state(step_id)))

    # One step

    async def _take_step(self, tree: TurnTree, step_id: str) -> None:
        """Take a step with the assistant that has least to do, or with the one the user gives it to
        while it waits.
        """
        step = next(item for item in self._work.definition.steps if item.id == step_id)
        if step.gate:
            await self._take_gate(step)
            return
        # It may have stopped waiting since it was found ready.
        while self._state(step_id).state == StepStatus.READY:
            agent = self._agent_for(step)
            self._begin_attempt(step, agent)
            try:
                await self._attempt(tree, step, agent)
            except NotFree as refused:
                state = StepStatus.CANCELLED if refused.reason == Refusal.DEQUEUED else StepStatus.FAILED
                reason = Reason.BY_USER if state == StepStatus.CANCELLED else refused.reason
                self._finish(self._state(step_id), state, reason)
            except SentTo as sent:
                self._hand_on(step_id, self._services.directory.agent(sent.agent_id) or agent)
                continue
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if step_id not in self._stopped | self._left_out or task is None:
                    raise
                task.uncancel()
                if step_id in self._stopped:
                    if turn_id := self._turn_of(step_id):
                        close_turns(self._live, turn_id)
                    self._finish(self._state(step_id), StepStatus.CANCELLED, Reason.BY_USER)
                self._stopped.discard(step_id)
                self._left_out.discard(step_id)
            return

    async def _attempt(self, tree: TurnTree, step: WorkflowStep, agent: Agent) -> None:
        def busy(waits: bool) -> None:
            if waits:
                state = self._state(step.id)
                self._change_steps(replace(state, state=StepStatus.WAITING, reason=Reason.BUSY))

        author = Author(id=agent.id, name=agent.name)
        speaker = SpeakerTurn(
            self._live, self._services, author, waits=self._waits, busy=busy, about=step.name, may_move=True
        )
        async with speaker.slot():
            begun = self._services.clock()
            running = replace(self._state(step.id), state=StepStatus.RUNNING, reason="", started_at=utc_now())
            self._change_steps(running)
            await attach_servers(self._live, self._services.directory, agent)
            model = self._services.directory.model_of(agent)
            turn_id, mode = self._turn_of(step.id) or new_id(), self._live.chat_session.chat.mode
            able = self._services.directory.in_folder(agent, self._live.session.folder)
            able, stack = replace(able, tools=(*agent.tools, STEP_TOOLS, FILES)), (WORKFLOW, agent.id)
            given = (STEP_TOOLS, *file_tools(self._live, model))
            turn = AgentTurn(turn_id=turn_id, agent=able, agent_model=model, stack=stack, mode=mode)
            turn = replace(turn, task=self._prompt(step), given=given, follows=self._command().turn_id)
            turn = replace(turn, parent_turn_id=self._root, parent_call_id=call_id(running))
            outcome, complete = await self._taken_to_end(tree, turn, speaker, step.id)
            reason = ""
            while complete is not None and step.done_means and not complete.failure:
                number = 1 + sum(message.author == MOOT for message in self._live.turns.said(turn.turn_id))
                reason = await self._check_step(step, turn.turn_id, f"{CRITERIA}:{number}", number)
                criteria = self._state(step.id).criteria
                if reason or number >= MOST_ROUNDS or all(criterion.settled for criterion in criteria):
                    break
                told = told_missing(criteria, self._services.prompts, self._live.session.language)
                self._live.finish_message(turn.message(Role.USER, author=MOOT, content=told))
                outcome, complete = await self._taken_to_end(tree, turn, speaker, step.id)
            seconds = running.seconds + self._services.clock() - begun
        if reason and reason != Reason.CRITERIA_UNMET:
            outcome = Outcome(TurnState.HELD, reason)
        self._note(step, outcome, complete, seconds)

    async def _taken_to_end(
        self, tree: TurnTree, turn: AgentTurn, speaker: SpeakerTurn, step_id: str
    ) -> tuple[Outcome, StepComplete | None]:
        """Take a step's turn, and return how it says it ended; it is asked once where it does not say."""
        outcome = await tree.take(turn, speaker)
        complete = self._completion(turn, outcome)
        if outcome.state == TurnState.FINISHED and complete is None and not self._state(step_id).asked_again:
            self._ask_again(turn, step_id)
            outcome = await tree.take(turn, speaker)
            complete = self._completion(turn, outcome)
        return outcome, complete

    async def _take_gate(self, step: WorkflowStep) -> None:
        """Check what was made so far; where that is not met, the gate has failed."""
        state = self._begin_attempt(step, Agent(id="", name=MOOT.name))
        self._change_steps(replace(state, state=StepStatus.RUNNING, reason="", started_at=utc_now()))
        reason = await self._check_step(step, self._root, call_id(state), 1)
        state = self._state(step.id)
        if reason and reason != Reason.CRITERIA_UNMET:
            self._held.append(reason)
            self._change_steps(replace(state, state=StepStatus.READY, reason=reason))
            return
        words = self._services.prompts.lines(self._live.session.language, "criteria")
        shown = ((item.text, shown_by(item, words.__getitem__) or words["unmet"]) for item in state.criteria)
        text = "\n".join(f"- {what}: {why}" for what, why in shown)
        met = all(criterion.settled for criterion in state.criteria)
        ended = StepStatus.DONE if met else StepStatus.FAILED
        self._finish(state, ended, Reason.CRITERIA_UNMET, text)

    async def _check_step(self, step: WorkflowStep, turn_id: str, call: str, number: int) -> str:
        """Have criteria checked in what a turn made, unless they are; return why that can't be, ""
        where it is done.
        """
        if is_checked(self._live, turn_id, call):
            return ""
        criteria, asked = self._state(step.id).criteria, f"{self._work.command}\n\n{step.prompt}"
        wanted = Check(criteria, asked, [turn_id], turn_id, call, number, step_id=step.id)
        checked = await check(self._tree_context(()), wanted)
        state = replace(self._state(step.id), criteria=checked.criteria)
        write_steps(self._live, (state,), checked.messages, *checked.events)
        return checked.reason

    def _note(self, step: WorkflowStep, outcome: Outcome, complete: StepComplete | None, took: float) -> None:
        state = replace(self._state(step.id), seconds=took)
        text = outcome.message.content if outcome.message else ""
        if outcome.state == TurnState.HELD:
            self._held.append(outcome.reason)
            self._change_steps(replace(state, state=StepStatus.READY, reason=outcome.reason))
        elif outcome.state == TurnState.BROKEN:
            error = outcome.message.error if outcome.message else None
            self._finish(state, StepStatus.FAILED, error.kind if error else Reason.STEP_FAILED, text)
        elif outcome.state != TurnState.FINISHED:
            self._change_steps(replace(state, state=StepStatus.WAITING, reason=Reason.QUESTION))
        elif complete is None:
            self._change_steps(replace(state, state=StepStatus.WAITING, reason=Reason.NO_MARKER, result=text))
        else:
            unmet = not all(criterion.settled for criterion in state.criteria)
            failure = complete.failure or (Reason.CRITERIA_UNMET if unmet else "")
            if complete.word and complete.word not in _STATUS_WORDS:
                self._live.notice("step_status", step=step.name, status=complete.status[:80])
            ended = StepStatus.FAILED if failure else StepStatus.DONE
            result = complete.before or text
            self._finish(state, ended, failure or complete.status, result, complete.artifacts)

    def _completion(self, turn: AgentTurn, outcome: Outcome) -> StepComplete | None:
        """Return how a step says it ended, by the tool or in its own final text; the answer
        of a model too small to say it counts as its end.
        """
        if outcome.state != TurnState.FINISHED or outcome.message is None:
            return None
        text, messages = outcome.message.content, self._live.turns.said(turn.turn_id)
        sent_back = max((place for place, item in enumerate(messages) if item.author == MOOT), default=0)
        said = from_call(messages[sent_back:]) or step_complete(text)
        return said or (StepComplete(before=text) if turn.agent_model.guided else None)

    def _ask_again(self, turn: AgentTurn, step_id: str) -> None:
        text = self._services.prompts.line(self._live.session.language, "assistant", "step_again")
        message = turn.message(Role.USER, author=self._author(), content=text)
        self._change_steps(replace(self._state(step_id), asked_again=True), messages=(message,))

    def _begin_attempt(self, step: WorkflowStep, agent: Agent) -> StepState:
        """Write the start of a step's attempt; a step that was interrupted continues its attempt."""
        state = self._state(step.id)
        if state.attempt and not state.fresh and not self._answered(state):
            return state
        state = replace(state, attempt=state.attempt + 1, fresh=False, assistant_id=agent.id)
        state = replace(state, reason="", result="", artifacts="", asked_again=False)
        state = replace(state, started_at="", ended_at="", seconds=0.0)
        state = replace(state, criteria=criteria_of(step.done_means))
        arguments = {"step": step.name, "role": step.role, "assistant": agent.name, "attempt": state.attempt}
        call = ToolCall(id=call_id(state), name=STEP, arguments=json.dumps(arguments, ensure_ascii=False))
        self._change_steps(state, messages=(self._own(Role.ASSISTANT, tool_calls=(call,)),))
        return state

    def _answered(self, state: StepState) -> bool:
        about = self._live.turns.about(self._root, call_id(state))
        return any(message.role == Role.TOOL and message.ended for message in about)

    def _finish(self, was: StepState, state: str, reason: str, text: str = "", artifacts: str = "") -> None:
        """End a step's attempt: its result and its state are one batch. A step that is ready begins
        another.
        """
        result, ready = text[:MAX_RESULT], state == StepStatus.READY
        why = reason if state in (StepStatus.FAILED, StepStatus.CANCELLED) else ""
        after = replace(was, state=state, reason=why, result=result, artifacts=artifacts)
        after = replace(after, fresh=ready, ended_at="" if ready else utc_now())
        done = MessageState.DONE if state == StepStatus.DONE else MessageState.FAILED
        told = self._own(Role.TOOL, tool_call_id=call_id(was), content=result or reason, state=done)
        self._change_steps(after, messages=(told,))

    def _own(self, role: str, **fields: object) -> Message:
        """Return a message of the workflow itself."""
        return new_message(role, self._author(), self._root, follows=self._command().turn_id, **fields)

    def _author(self) -> Author:
        name = self._work.definition.name
        return Author(id=WORKFLOW, name=name, kind="orchestrator", path=(WORKFLOW,))

    def _command(self) -> Message:
        return self._live.messages[0]

    def _titled(self, step_id: str, result: str) -> str:
        """Return what a step made, below its name."""
        name = next(step.name for step in self._work.definition.steps if step.id == step_id)
        prompts, language = self._services.prompts, self._live.session.language
        return f"{prompts.line(language, 'assistant', 'step_result', name=name)}\n{result}"

    def _prompt(self, step: WorkflowStep) -> str:
        language, prompts = self._live.session.language, self._services.prompts
        before, words = map(self._state, step.depends_on), prompts.lines(language, "assistant")
        results = "\n\n".join(self._titled(item.id, item.result) for item in before if item.result)
        said = self._live.turns.said(self._root)
        added = "\n".join(with_files(message, words) for message in said if message.role == Role.USER)
        command = with_files(self._command(), words)
        if added:
            state = self._state(step.id)
            call = call_id(replace(state, attempt=state.attempt - 1))
            made = (item for item in said if item.tool_call_id == call and item.state == MessageState.DONE)
            results += "".join(f"\n\n{self._titled(step.id, message.content)}" for message in made)
            results = f"{words['step_added']}\n{added}\n\n{results}"
        means = (words["done_means"], *(f"- {item}" for item in step.done_means))
        prompt = "\n".join((step.prompt, "", *means)) if step.done_means else step.prompt
        return prompts.text(language, "step", step=step.name, command=command, prompt=prompt, results=results)

    def _agent_for(self, step: WorkflowStep) -> Agent:
        """Return who may do a step and has least to do."""
        had = self._state(step.id)
        agents = self._services.directory.workers(step, had.given_to)
        if had.assistant_id and not self._answered(had):
            agents = [agent for agent in agents if agent.id == had.assistant_id] or agents
        return min(agents, key=lambda agent: self._services.slots.load(agent.id))
