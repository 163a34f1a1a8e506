"""The calls of one answer: they run side by side, and each gets exactly one result.

A call may wait for the user (an approval, a question, a sub-agent); it checks again whenever an answer comes.
Before a turn the MCP servers of its assistant are connected. For a model that cannot choose a tool, Moot
offers the tool that fits, and the model fills in the words.
"""

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from app.core import tool as core_tool
from app.core.criteria import Plan
from app.core.definitions import ORCHESTRATOR, SWITCH_ASSISTANT, Agent
from app.core.errors import StorageError
from app.core.events import Event, MemoryProposed, PromptAsked, ToolFinished, ToolProgressed
from app.core.frozen import Frozen
from app.core.ids import new_id
from app.core.json_values import object_in
from app.core.memory import Note
from app.core.message import Consent, Message, MessageState, Prompt, PromptReason, PromptType, Role, ToolCall
from app.core.owned_tasks import end_tasks
from app.core.provider import ModelRequest, asked_of
from app.core.session import OF_FOLDER, Reason, Status
from app.core.texts import clean_text
from app.core.tool import FILES, MAX_INSTRUCTION, Control, ServerState, Tool, ToolError, ToolResult, is_page
from app.core.turns import handed_at_once, last_answer, unanswered
from app.engine import request
from app.engine.availability import NotFree
from app.engine.library.agents import SUB_AGENT, AgentDirectory, Delegation, delegation, failed, succeeded
from app.engine.live_session import LiveSession
from app.engine.memory import origin_of, remembers
from app.engine.prompts import Lines, Prompts
from app.engine.request import AgentTurn, Attempt, in_mode, instruction_of, turn_below
from app.engine.turns import context as turns_context
from app.engine.turns.context import MOST_CALLS, Outcome, TurnState, about_call, carried_out, started
from app.engine.turns.speaker_turn import SpeakerTurn, lost_call

PROMPT_USER = "promptUser"

MOST_HELPERS = 3
HISTORY = 4
MAX_WORDS = 1_500
ANSWER_TOKENS = 200
SLOT_TOKENS = 40


class Offer(Frozen):
    """A tool to be called: the prompt that asks for its words, and the calls made from them.

    `most` is the limit of tokens for the words; they end with the line unless `lines` is true.
    """

    key: str
    values: Mapping[str, str]
    calls: Callable[[str], tuple[ToolCall, ...]]
    most: int = SLOT_TOKENS
    lines: bool = False


def guided_call(
    turn: AgentTurn, messages: Sequence[Message], helpers: Sequence[Agent], tools: Sequence[str]
) -> Offer | None:
    """Return the tool that fits the state of the turn, None when the answer is due.

    First all sub-agents at once, then one question to the user, then the answer. An assistant that has no
    model of its own and got such a model answers at once.
    """
    if not turn.agent.provider and not turn.task:
        return None
    called = {call.name for message in messages for call in message.tool_calls}
    if helpers and SUB_AGENT not in called:
        chosen = tuple(helpers[:MOST_HELPERS])
        names = " and ".join(helper.name for helper in chosen)
        return Offer(key="delegate", values={"names": names}, calls=lambda words: _delegations(chosen, words))
    if PROMPT_USER in tools and PROMPT_USER not in called:
        return Offer(key="ask", values={}, calls=_question)
    return None


def guided_request(
    turn: AgentTurn, live: LiveSession, offer: Offer | None, attempt: Attempt, prompts: Prompts
) -> ModelRequest:
    """Return the request for a tool's words, or for the answer."""
    words = {key: text.replace("\\n", "\n") for key, text in prompts.lines("en", "guided").items()}
    task = turn.task or _request_of(turn, live)
    system = words["system"].format(name=turn.agent.name, instructions=turn.agent.instructions)[:MAX_WORDS]
    messages: list[dict[str, object]] = [{"role": Role.SYSTEM, "content": system}]
    if offer is not None:
        text = words[offer.key].format(**{"task": task, **offer.values})
        opener, most = words[f"{offer.key}.opener"], offer.most
    else:
        notes = _notes(live.turns.said(turn.turn_id), words)
        text = words["notes"].format(task=task, notes="\n".join(notes)) if notes else task
        messages += [] if turn.task else _history(turn, live)
        opener, most = "", ANSWER_TOKENS
    messages.append({"role": Role.USER, "content": text})
    # The same request would give an empty answer again.
    temperature, stop = 0.8 if attempt.after_empty else 0.4, ("\n",) if offer and not offer.lines else ()
    how = {"temperature": temperature, "stop": stop, "opener": opener}
    options = dict(request.SMALL_MODEL_OPTIONS)
    return asked_of(turn.agent_model.seat, messages, max_tokens=most, options=options, **how)


def _delegations(helpers: Sequence[Agent], words: str) -> tuple[ToolCall, ...]:
    names = [_called(helper, helpers) for helper in helpers]
    return tuple(_call(SUB_AGENT, {"name": name, "task": words.strip()}) for name in names)


def _called(agent: Agent, agents: Sequence[Agent]) -> str:
    """Return by what a call finds an assistant among others: its name, unless another has it too."""
    return agent.name if core_tool.assistants_called(agent.name, agents) == [agent] else agent.id


def _question(words: str) -> tuple[ToolCall, ...]:
    return (_call(PROMPT_USER, {"question": words.strip().split("?")[0].strip() + "?", "type": "text"}),)


def _call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=f"call_{new_id()}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _request_of(turn: AgentTurn, live: LiveSession) -> str:
    """Return what a turn is to answer: the user's words, or what a member was handed over."""
    messages = live.turns.said(turn.follows or "")
    handed = messages if messages and messages[0].author.id != turn.agent.id else ()
    for call in (call for message in handed for call in message.tool_calls):
        if call.name == SWITCH_ASSISTANT and turn.parent_call_id in (None, call.id):
            return instruction_of(call)[1][:MAX_WORDS]
    return messages[0].content[:MAX_WORDS] if messages else ""


def _history(turn: AgentTurn, live: LiveSession) -> list[dict[str, object]]:
    """Return the messages before the request, shortened for a small model."""
    found: list[dict[str, object]] = []
    before = live.turns.said(turn.follows or "")
    for turn_id in live.turns.back_from((before[0].follows or "") if before else ""):
        if len(found) >= HISTORY:
            break
        heard = (item for item in live.turns.said(turn_id) if item.role in (Role.USER, Role.ASSISTANT))
        said = [message for message in heard if message.content.strip()]
        if said:
            found.append({"role": said[-1].role, "content": said[-1].content[:MAX_WORDS]})
    while found and found[-1]["role"] != Role.USER:
        found.pop()
    return found[::-1]


def _notes(messages: Sequence[Message], words: Lines) -> list[str]:
    names = {call.id: call for message in messages for call in message.tool_calls}
    notes = []
    for message in messages:
        if message.role == Role.USER:
            notes.append(words["note.user"].format(text=one_line(message.content)))
        call = names.get(message.tool_call_id or "")
        if message.role != Role.TOOL or call is None or call.name != SUB_AGENT:
            continue
        name = str((object_in(call.arguments) or {}).get("name", ""))
        if message.state == MessageState.DONE:
            # A long result was cut, and is no JSON any more.
            summary = (object_in(message.content) or {}).get("summary", message.content)
            notes.append(words["note.helper"].format(name=name, text=one_line(str(summary))))
        elif message.state == MessageState.FAILED:
            notes.append(words["note.failed"].format(name=name))
    return notes


def one_line(text: str) -> str:
    """Return a text on one line, at most as long as a small model reads."""
    return " ".join(text.split())[:MAX_WORDS]


MOST_STEPS = 3
PLAN_TOKENS = 60
REPORT_TOKENS = 200

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_STEP = re.compile(r"(?:^|\n)[^\S\n]*(?:\d+[.)]|[-*])\s*")


def lead_offer(turn: AgentTurn, live: LiveSession, members: Sequence[Agent], tools: Sequence[str]) -> Offer:
    """Return the tool that fits the state of a group's work."""
    task, notes, answered, handed = _so_far(turn, live)
    plan = live.session.plan
    own = {call.name for message in live.turns.said(turn.turn_id) for call in message.tool_calls}
    done: tuple[ToolCall, ...] = ()
    if answered and plan and plan.open and not own:
        done = (_call("checkDone", {"index": plan.items.index(plan.open[0])}),)
    left = len(plan.open) - len(done) if plan else 0
    if SWITCH_ASSISTANT not in tools or not members:
        return _report(task, notes, done)
    if plan is None or not plan.items or ("setPlan" not in own and not handed and not plan.open):
        plans = partial(_plan, task)
        return Offer(key="plan", values={"task": task}, calls=plans, most=PLAN_TOKENS, lines=True)
    if left <= 0:
        return _report(task, notes, done)
    step = plan.open[len(done)].text
    member = members[handed % len(members)]

    def hand_over(words: str) -> tuple[ToolCall, ...]:
        instruction = f"{one_line(words)}\nStep: {step}\nThe user's request: {task}"
        called = _called(member, members)
        return (*done, _call(SWITCH_ASSISTANT, {"assistant": called, "instruction": instruction}))

    values = {"task": task, "names": member.name, "step": step}
    return Offer(key="hand", values=values, calls=hand_over)


def _report(task: str, notes: Sequence[str], done: tuple[ToolCall, ...]) -> Offer:
    def report(words: str) -> tuple[ToolCall, ...]:
        return (*done, _call("reportResult", {"result_in_detail": words.strip()}))

    values = {"task": task, "notes": "\n".join(notes) or "- nothing yet"}
    return Offer(key="report", values=values, calls=report, most=REPORT_TOKENS, lines=True)


def _plan(task: str, words: str) -> tuple[ToolCall, ...]:
    text = words.replace("**", "").strip().removeprefix("1.").strip()
    steps = [step for part in _STEP.split("1. " + text) if (step := one_line(part)[:200])]
    if len(steps) == 1:
        # One long step took all the tokens: its sentences become steps.
        steps = _SENTENCE.split(steps[0])
    steps = steps[:MOST_STEPS] or [task[:200]]
    return (_call("setPlan", {"items": steps}),)


def _so_far(turn: AgentTurn, live: LiveSession) -> tuple[str, list[str], bool, int]:
    """Return the request, what members found, whether one has just answered, and the number of hand-overs."""
    notes: list[str] = []
    task, handed, answered = "", 0, False
    for place, turn_id in enumerate(live.turns.back_from(turn.follows or "")):
        messages = live.turns.said(turn_id)
        if messages[0].role == Role.USER:
            task = one_line(messages[0].content)
            break
        if messages[0].author.id == ORCHESTRATOR:
            calls = (call for item in messages if item.role == Role.ASSISTANT for call in item.tool_calls)
            handed += any(call.name == SWITCH_ASSISTANT for call in calls)
            continue
        answer = last_answer(messages)
        if answer is not None and answer.state == MessageState.DONE and answer.content.strip():
            notes.insert(0, f"- {messages[0].author.name}: {one_line(answer.content)[:400]}")
            answered = answered or place == 0
    return task, notes, answered, handed


MAX_QUESTION = 4_000
MAX_ABOUT = 600


def newest_approval(live: LiveSession, turn: AgentTurn, call: ToolCall, reason: str) -> Message | None:
    """Return the newest question of a kind about a call."""
    for message in reversed(live.turns.about(turn.turn_id, call.id)):
        prompt = message.prompt
        if reason == PromptReason.MAY_HAVE_RUN and message.state == MessageState.STOPPED:
            # An approval of an earlier run does not count for the next one.
            return None
        if prompt and prompt.reason == reason:
            return message
    return None


def approval(call: ToolCall, tool: Tool, reason: str, folder: str = "") -> Prompt:
    """Return the question whether a call may run; `folder` is one of the user's that it is about."""
    server, about = tool.group if tool.consent else "", tool.description[:MAX_ABOUT] if tool.name else folder
    asked = Prompt(question=call.name, type=PromptType.APPROVAL, reason=reason, arguments=call.arguments)
    asked = replace(asked, tool=tool.key, name=tool.name, consent=tool.consent, reads=tool.reads)
    return replace(asked, server=server, about=about)


def denied(prompt: Prompt) -> str:
    """Return what an assistant is told of a call that the user denied, with the user's reason
    if there is one.
    """
    if prompt.denied_because:
        said = f"The user did not allow this call, and says why: {prompt.denied_because}"
        return f"{said}\nDo not try it again as it is."
    return "The user did not allow this call. Do not try it again; go on without it, or ask why."


def page_question(call: ToolCall, tool: Tool | None, content: str) -> Prompt:
    """Return a page's question to the user: the text that came with the page, never its HTML."""
    question = content[:MAX_QUESTION] or call.name
    asked = Prompt(question=question, type=PromptType.TEXT, reason=PromptReason.PAGE)
    asked = replace(asked, tool=call.name, arguments=call.arguments)
    return asked if tool is None else replace(asked, server=tool.group, name=tool.name)


async def attach_servers(live: LiveSession, directory: AgentDirectory, agent: Agent) -> None:
    """Connect the servers that an assistant names; one that it cannot use is named once in each run.

    One that waits for the user's permission is named once for as long as the session is open. Both hold for
    each assistant.
    """
    await directory.attach(directory.in_folder(agent, live.session.folder))
    for status in directory.servers(agent):
        name = status.server.name
        waits = status.state == ServerState.ASKING
        told = (name, agent.id, waits)
        if status.state in (ServerState.CONNECTED, ServerState.OFF) or told in live.servers_told:
            continue
        live.servers_told.add(told)
        if waits:
            live.notice("server_waits", name=name, who=agent.name)
            continue
        # One that still connects has taken longer than a turn waits for it.
        problem, detail = status.problem or core_tool.ServerProblem.NO_ANSWER, status.detail
        code, count = "server_down" if status.known else "server_down_unknown", status.known
        live.notice(code, name=name, who=agent.name, count=count, problem=problem, detail=detail)


MAX_RESULT = 100_000

_log = logging.getLogger(__name__)


Take = Callable[[AgentTurn, SpeakerTurn], Awaitable[Outcome]]


class ToolCalls:
    """Answers the calls of a tree's turns; `take` continues a sub-agent's turn."""

    def __init__(self, context: turns_context.TreeContext, take: Take) -> None:
        self._context = context
        self._services = context.services
        self._live = context.live
        self._take = take
        self._news = asyncio.Event()
        self._running: dict[str, asyncio.Task[Outcome | None]] = {}
        self._stopped: set[str] = set()
        # The turns of sub-agents that wait for a slot.
        self._waiting: set[str] = set()
        self.repeated = turns_context.RepeatedCalls(context.live)

    def answered(self) -> None:
        """Let waiting calls check again."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    def stop_turn(self, turn_id: str) -> bool:
        """Stop a running sub-agent; false where it does not run."""
        task = self._running.get(turn_id)
        if task is None:
            return False
        self._stopped.add(turn_id)
        task.cancel()
        return True

    async def answer_all(self, turn: AgentTurn, answer: Message, *, refuse: bool) -> Outcome | None:
        """Give every call its result; return why the turn cannot go on, None when it can.

        Of an answer's own calls the first MOST_CALLS are carried out.
        """
        self._skip_after_end(turn, answer)
        open_calls = unanswered(answer, self._live.turns.said(turn.turn_id))
        if refuse:
            self._refuse(turn, dict.fromkeys(open_calls, "No tool calls are left for this turn."))
            return self._after_results(turn, answer)
        kept = {call.id for call in carried_out(answer)}
        number = len(answer.own_calls)
        text = f"Not carried out: of the {number} calls of this answer the first {MOST_CALLS} were. "
        text += "Look at their results, then send this call again if it is still needed."
        left_out = (call for call in open_calls if not call.by and call.id not in kept)
        self._refuse(turn, dict.fromkeys(left_out, text))
        open_calls = [call for call in open_calls if call.by or call.id in kept]
        if open_calls and (blocked := await self._answer_side_by_side(turn, answer, open_calls)):
            return blocked
        return self._after_results(turn, answer)

    def _refuse(self, turn: AgentTurn, texts: Mapping[ToolCall, str]) -> None:
        """Write the results of calls that are not carried out, in one batch."""
        refused = partial(turn.message, Role.TOOL, state=MessageState.FAILED)
        written = [refused(tool_call_id=call.id, content=text) for call, text in texts.items()]
        told = ((about_call(self._live, turn, call), text) for call, text in texts.items())
        events = [ToolFinished(**about, ok=False, content=text) for about, text in told]
        if written:
            self._live.finish_messages(written, *events)

    def _skip_after_end(self, turn: AgentTurn, answer: Message) -> None:
        """Give the calls after one that ends the turn a result that says so, but for further hand-overs."""
        tools = self._services.directory.tools(turn.agent, turn.mode, turn.given)
        ended_by, at_once = "", handed_at_once(answer)
        missing = {call.id for call in unanswered(answer, self._live.turns.said(turn.turn_id))}
        skipped: dict[ToolCall, str] = {}
        for call in answer.tool_calls:
            goes_along = ended_by == SWITCH_ASSISTANT and call.id in at_once
            if ended_by and call.id in missing and not goes_along:
                skipped[call] = f"Skipped: {ended_by} came before it and ends the turn."
            elif not ended_by and call.name in tools and tools[call.name].ends:
                ended_by = call.name
        self._refuse(turn, skipped)

    def _after_results(self, turn: AgentTurn, answer: Message) -> Outcome | None:
        ids = {call.id for call in answer.tool_calls}
        said = self._live.turns.said(turn.turn_id)
        results = [message for message in said if message.role == Role.TOOL and message.tool_call_id in ids]
        if any(result.control == Control.END for result in results):
            return Outcome(TurnState.FINISHED, message=answer)
        return Outcome(TurnState.WAITING) if any(result.asks for result in results) else None

    async def _answer_side_by_side(
        self, turn: AgentTurn, answer: Message, calls: Sequence[ToolCall]
    ) -> Outcome | None:
        """Answer calls, MOST_AT_ONCE at a time; one that waits for the user lets another run."""
        places, alike = asyncio.Semaphore(turns_context.MOST_AT_ONCE), self.repeated.before(turn, answer)
        at_once = handed_at_once(answer)

        async def answer_in_place(call: ToolCall) -> Outcome | None:
            async with places:
                turn_now = in_mode(turn, self._live.session.mode)
                # The user may have changed it while others went on.
                calls = self._live.turns.messages[answer.id].tool_calls
                now = next(item for item in calls if item.id == call.id)
                return await self._answer(turn_now, now, alike.get(call.id, 0), at_once=call.id in at_once)

        def start(call: ToolCall) -> "asyncio.Task[Outcome | None]":
            return asyncio.create_task(answer_in_place(call), name=f"call {call.name[:40]}")

        tasks = {start(call): call for call in calls}
        blocked: dict[str, tuple[ToolCall, Outcome]] = {}
        try:
            while tasks:
                news = self._news
                waiting = asyncio.create_task(news.wait())
                try:
                    await asyncio.wait({*tasks, waiting}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waiting.cancel()
                for task in [item for item in tasks if item.done()]:
                    call = tasks.pop(task)
                    if outcome := task.result():
                        blocked[call.id] = (call, outcome)
                if news.is_set():
                    for call in [call for call, item in blocked.values() if item.state == TurnState.WAITING]:
                        del blocked[call.id]
                        tasks[start(call)] = call
        finally:
            await end_tasks(*tasks)
        outcomes = (outcome for _, outcome in blocked.values())
        return min(outcomes, key=lambda item: item.state != TurnState.HELD, default=None)

    async def _answer(self, turn: AgentTurn, call: ToolCall, alike: int, *, at_once: bool) -> Outcome | None:
        """Answer one call, `alike` calls before it being the same; return why it has no result yet.

        A hand-over `at_once` with others has its result when the member has answered.
        """
        try:
            arguments = core_tool.read_arguments(call.arguments)
            if not call.by:
                turns_context.check_not_repeated(call, alike)
                if call.name == SUB_AGENT and self._services.directory.may_delegate(turn.agent):
                    return await self._delegate(turn, call, arguments)
            tool = lost_call(call) if call.by else self._tool(turn, call.name)
            if not self._may_run(turn, call, tool, arguments):
                return Outcome(TurnState.WAITING)
            if at_once:
                return await self._delegate(turn, call, arguments, at_once=True)
            await self._run(turn, call, tool, arguments)
        except ToolError as error:
            self._write(turn, call, ToolResult(content=str(error), ok=False))
        return None

    def _tool(self, turn: AgentTurn, name: str) -> Tool:
        directory = self._services.directory
        tools = directory.tools(turn.agent, turn.mode, turn.given)
        if name not in tools:
            raise ToolError(directory.refusal(name, turn.agent, turn.stack, turn.mode, turn.given))
        return tools[name]

    # Approval

    def _may_run(self, turn: AgentTurn, call: ToolCall, tool: Tool, arguments: Mapping[str, object]) -> bool:
        """Return whether a call may run now; false while the user has not answered.
        Raises ToolError where they deny it.

        This is the only place that decides whether a call needs a question.
        """
        reason, session = "", self._live.session
        folder, of_folder = session.chosen_folder, OF_FOLDER[0 if tool.reads else 1]
        before = self._live.turns.about(turn.turn_id, call.id)
        asks = tool.asks and (tool.consent or tool.key) not in session.always
        # It began to run and was cut, so that it may have run.
        if not tool.repeatable and any(message.state == MessageState.STOPPED for message in before):
            reason = PromptReason.MAY_HAVE_RUN
        elif tool.key in self._context.asks_too or asks:
            reason = PromptReason.TOOL
        elif folder and tool.group == FILES and not tool.consent and of_folder not in session.always:
            reason = of_folder
        elif folder and tool.strays and tool.strays(arguments, self._live.messages):
            reason = PromptReason.ADDRESS
        if not reason:
            return True
        asked = newest_approval(self._live, turn, call, reason)
        if asked is None or asked.prompt is None or not asked.prompt.is_about(call, tool.key, tool.consent):
            if asked is not None and asked.asks:
                self._live.finish_message(asked.dismissed())
            about = folder if reason in (*OF_FOLDER, PromptReason.ADDRESS) else ""
            self._put_question(turn, call, approval(call, tool, reason, about))
            return False
        if asked.prompt.open:
            return False
        if asked.prompt.answer in tuple(Consent) and asked.prompt.answer != Consent.DENY:
            return True
        raise ToolError(denied(asked.prompt))

    def _put_question(self, turn: AgentTurn, call: ToolCall, prompt: Prompt) -> Message:
        question = turn.message(Role.SYSTEM, tool_call_id=call.id, prompt=prompt)
        asked = PromptAsked(session_id=self._live.id, message_id=question.id, prompt=prompt)
        self._live.finish_message(question, asked)
        return question

    # Running

    def _report(self, turn: AgentTurn, call: ToolCall, tool: Tool, progress: core_tool.ToolProgress) -> None:
        if progress.refused:
            called = Prompt(question="", tool=tool.key, name=tool.name, server=tool.group).called
            self._live.notice("questions_refused", name=called)
        else:
            self._live.tell(ToolProgressed(**about_call(self._live, turn, call), progress=progress))

    async def _run(self, turn: AgentTurn, call: ToolCall, tool: Tool, given: Mapping[str, object]) -> None:
        self._forget_questions(turn, call)
        message = self._started(turn, call)
        self._live.start_message(message, started(self._live, turn, call))
        run = core_tool.ToolContext(
            session_id=self._live.id,
            author=turn.author,
            message_id=message.id,
            mode=turn.mode,
            pages=turn.agent.pages,
            members=self._context.members,
            messages=lambda: self._live.messages,
            plan_before=lambda: self._live.session.plan,
            ask=partial(self.ask, turn, call),
            report=partial(self._report, turn, call, tool),
            check=partial(self._services.check_item, self._context, turn.turn_id, call.id),
            skill=partial(self._services.directory.skills.read_for, turn.agent),
        )
        plan: tuple[Plan | None, ...] = ()
        try:
            if not tool.repeatable:
                # From here on the tool may have run, and that must be on the disk before it does.
                await self._services.store.flush(self._live.id)
            result = await tool.run(given, run)
            plan = run.new_plan
            if result.proposal is not None:
                result = replace(result, proposal=self._proposed(turn, result.proposal))
        except ToolError as error:
            result = ToolResult(content=str(error), ok=False)
        except StorageError:
            result = ToolResult(content="It was not run: the disk is full or cannot be written.", ok=False)
        except asyncio.CancelledError:
            self._live.finish_message(replace(message, state=MessageState.STOPPED))
            raise
        except Exception as fault:
            _log.exception("A tool failed in a way nobody foresaw")
            result = ToolResult(content=f"The tool failed: {type(fault).__name__}.", ok=False)
        self._write(turn, call, result, plan)

    def _proposed(self, turn: AgentTurn, wanted: Note) -> Note:
        """Return a proposed note with whom it is for and where it is from. Raises ToolError."""
        if not remembers(turn.agent, self._live):
            raise ToolError("remember: the user has switched this off here.")
        folder = self._services.directory.folder(self._live.session.folder).id if wanted.folder else ""
        if wanted.folder and not folder:
            raise ToolError('remember: this conversation is in no folder; use "me".')
        origin, source = origin_of(self._live, self._services.directory.own_tools())
        whom = {"agent": "" if folder else turn.agent.id, "folder": folder}
        made = replace(wanted, local=turn.agent_model.local, origin=origin, source=source, **whom)
        return self._services.memory.proposed(made, self._live, turn.turn_id)

    def _started(self, turn: AgentTurn, call: ToolCall) -> Message:
        """Return the call's message that is being written; a run that was cut reuses its own,
        otherwise it is a new one.
        """
        for message in self._live.turns.about(turn.turn_id, call.id):
            if message.role == Role.TOOL and message.state == MessageState.STREAMING:
                return message
        return turn.message(Role.TOOL, tool_call_id=call.id)

    def _forget_questions(self, turn: AgentTurn, call: ToolCall) -> None:
        """Dismiss the questions of a run that was cut, because nothing waits for their answers."""
        for message in self._live.turns.about(turn.turn_id, call.id):
            if message.role == Role.SYSTEM and message.asks:
                self._live.finish_message(message.dismissed())

    def _write(
        self, turn: AgentTurn, call: ToolCall, result: ToolResult, plan: tuple[Plan | None, ...] = ()
    ) -> None:
        """Write a call's one result, with the session's plan where the tool changed it."""
        content = clean_text(result.content)
        if len(content) > MAX_RESULT and result.control != Control.END:
            content = content[:MAX_RESULT] + f"\n… (cut; it had {len(content)} characters)"
        prompt, control = result.prompt, result.control
        if prompt is None and any(map(is_page, result.resources)):
            tool = self._services.directory.tools(turn.agent, turn.mode, turn.given).get(call.name)
            prompt, control = page_question(call, tool, content), Control.WAIT
        state = MessageState.DONE if result.ok else MessageState.FAILED
        message = replace(self._started(turn, call), content=content, state=state, prompt=prompt)
        message = replace(message, resources=result.resources, attachments=result.attachments)
        message = replace(message, control="" if control == Control.CONTINUE else control)
        ended = ToolFinished(**about_call(self._live, turn, call), ok=result.ok, content=content)
        extra: list[Event] = [ended]
        if prompt is not None:
            extra.append(PromptAsked(session_id=self._live.id, message_id=message.id, prompt=prompt))
        said = [turn.message(content=result.say)] if result.say else []
        fields: dict[str, object] = {"plan": plan[0]} if plan else {}
        if (proposal := result.proposal) is not None and (chat := self._live.session.chat) is not None:
            message = replace(message, proposal=proposal)
            fields["chat"] = replace(chat, proposed=(*chat.proposed, message.id))
            extra.append(MemoryProposed(session_id=self._live.id, message_id=message.id, proposal=proposal))
        if plan:
            message = replace(message, plans=(self._live.session.plan or Plan(), plan[0] or Plan()))
        self._live.finish_messages((message, *said), *extra, **fields)

    async def ask(self, turn: AgentTurn, call: ToolCall, prompt: Prompt) -> str | None:
        """Put a question of a running tool to the user and wait; None when it was dismissed."""
        question = self._put_question(turn, call, prompt)
        try:
            with contextlib.suppress(StorageError):
                await self._services.store.flush(self._live.id)
            while True:
                asked = self._live.turns.messages[question.id].prompt
                if asked is None or not asked.open:
                    given = self._live.hidden_answers
                    return given.get(question.id, asked.answer) if asked and asked.answered_by else None
                await self._news.wait()
        except asyncio.CancelledError:
            # The tool went on or ended without it: an answer would have no effect.
            left = self._live.turns.messages[question.id]
            if left.asks:
                self._live.finish_message(left.dismissed())
            raise
        finally:
            self._live.hidden_answers.pop(question.id, None)

    # Sub-agents

    def _hand_over(self, turn: AgentTurn, call: ToolCall) -> Delegation:
        """Return what a member is to do. Raises ToolError."""
        wanted, instruction = instruction_of(call)
        if not instruction.strip():
            raise ToolError("switchAssistant: argument `instruction` is empty: say what the member shall do.")
        if (length := len(instruction)) > MAX_INSTRUCTION:
            most = f"at most {MAX_INSTRUCTION:,} are taken"
            raise ToolError(f"switchAssistant: argument `instruction` is {length:,} characters long; {most}.")
        member = core_tool.assistant_called(wanted, self._context.members, "is not a member")
        return Delegation(agent=member, task=instruction, mode=turn.mode)

    async def _delegate(
        self, turn: AgentTurn, call: ToolCall, arguments: Mapping[str, object], *, at_once: bool = False
    ) -> Outcome | None:
        """Let a sub-agent, or a member `at_once` with others, answer a call.
        Raises ToolError where it cannot begin.
        """
        context, live, directory = self._context, self._live, self._services.directory
        if at_once:
            job = self._hand_over(turn, call)
        else:
            try:
                job = delegation(arguments, turn.agent, turn.stack, turn.mode, directory.agents())
            except ToolError as error:
                raise ToolError(failed(str(error))) from error
        child_id = self._live.turns.child_turn(turn.turn_id, call.id)
        if child_id is None and not at_once and not context.budget.take_sub_agent():
            limit = "The limit of sub-agents for one message is reached. Go on with what you have."
            raise ToolError(failed(limit))
        # A member reads what it is to do in the conversation.
        child = turn_below(turn, call.id, replace(job, task="") if at_once else job, live, directory)
        child = replace(child, turn_id=child_id or child.turn_id)
        busy = partial(self._show_busy, child.turn_id)
        shared = (live, self._services, child.author)
        speaker = SpeakerTurn(*shared, waits=context.waits, busy=busy, about=job.task)
        running: asyncio.Task[Outcome | None] | None = asyncio.current_task()
        assert running is not None
        self._running[child.turn_id] = running
        self._live.tell(started(self._live, turn, call))
        try:
            await attach_servers(self._live, directory, job.agent)
            async with speaker.slot():
                outcome = await self._take(child, speaker)
        except NotFree as refused:
            full = f"{job.agent.name} has too much to do now ({refused.reason})."
            raise ToolError(failed(full)) from refused
        except asyncio.CancelledError:
            if child.turn_id not in self._stopped:
                raise
            running.uncancel()
            self._stopped.discard(child.turn_id)
            outcome = None
        finally:
            self._running.pop(child.turn_id, None)
        if outcome is not None and outcome.state not in (TurnState.FINISHED, TurnState.BROKEN):
            return outcome
        self._write(turn, call, self._summary(child, outcome))
        return None

    def _show_busy(self, turn_id: str, busy: bool) -> None:
        """Say in the session's reason whether any sub-agent waits for a slot."""
        before = bool(self._waiting)
        (self._waiting.add if busy else self._waiting.discard)(turn_id)
        if before != bool(self._waiting) and self._live.session.status == Status.RUNNING:
            self._live.change(reason=Reason.BUSY if self._waiting else "")

    def _summary(self, child: AgentTurn, outcome: Outcome | None) -> ToolResult:
        messages = self._live.turns.said(child.turn_id)
        if outcome is None:
            return ToolResult(content=failed("The user stopped it.", messages), ok=False)
        steps = f"It stopped at its limit of steps ({child.agent.max_steps})"
        if outcome.state == TurnState.FINISHED and outcome.message is not None:
            text = outcome.message.content
            if not child.task:
                return ToolResult(content=f"[{child.agent.name}]: {text}", control=Control.END)
            note = f"{steps}, so the answer may be incomplete." if outcome.reason else ""
            return ToolResult(content=succeeded(outcome.message.id, text, note))
        error = outcome.message.error if outcome.message else None
        words = ": ".join(filter(None, (error.kind, error.detail))) if error else "failed"
        ended = f"{steps}, before it had finished." if words == Reason.STEPS else ""
        return ToolResult(content=failed(ended or f"It could not finish ({words}).", messages), ok=False)
