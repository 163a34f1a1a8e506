"""Tools for a model that cannot choose one: Moot offers the tool that fits, and the model fills in the words.

The messages and events are those of any other model. Pure.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.core.definitions import SWITCH_ASSISTANT, Agent
from app.core.ids import new_id
from app.core.json_values import object_in
from app.core.message import Message, MessageState, Role, ToolCall
from app.core.provider import ModelRequest
from app.core.tool import assistants_called
from app.core.turns import last_answer
from app.engine.library.agents import SUB_AGENT
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.request import ORCHESTRATOR, SMALL_MODEL_OPTIONS, AgentTurn, Attempt

PROMPT_USER = "promptUser"

MOST_HELPERS = 3
HISTORY = 4
MAX_WORDS = 1_500
ANSWER_TOKENS = 200
SLOT_TOKENS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
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

    First all sub-agents at once, then one question to the user, then the answer. An assistant that has no model of
    its own and got such a model answers at once.
    """
    if not turn.agent.provider and not turn.parent_turn_id:
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
        messages += [] if turn.parent_turn_id else _history(turn, live)
        opener, most = "", ANSWER_TOKENS
    messages.append({"role": Role.USER, "content": text})
    return ModelRequest(
        provider=turn.agent_model.provider,
        model=turn.agent_model.model,
        messages=tuple(messages),
        max_tokens=most,
        # The same request would give an empty answer again.
        temperature=0.8 if attempt.after_empty else 0.4,
        stop=("\n",) if offer and not offer.lines else (),
        opener=opener,
        options=dict(SMALL_MODEL_OPTIONS),
    )


def _delegations(helpers: Sequence[Agent], words: str) -> tuple[ToolCall, ...]:
    names = [_called(helper, helpers) for helper in helpers]
    return tuple(_call(SUB_AGENT, {"name": name, "task": words.strip()}) for name in names)


def _called(agent: Agent, agents: Sequence[Agent]) -> str:
    """Return by what a call finds an assistant among others: its name, unless another has it too."""
    return agent.name if assistants_called(agent.name, agents) == [agent] else agent.id


def _question(words: str) -> tuple[ToolCall, ...]:
    question = words.strip().split("?")[0].strip() + "?"
    return (_call(PROMPT_USER, {"question": question, "type": "text"}),)


def _call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=f"call_{new_id()}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _request_of(turn: AgentTurn, live: LiveSession) -> str:
    messages = live.turns.said(turn.follows or "")
    return messages[0].content[:MAX_WORDS] if messages else ""


def _history(turn: AgentTurn, live: LiveSession) -> list[dict[str, object]]:
    """Return the messages before the request, shortened for a small model."""
    found: list[dict[str, object]] = []
    before = live.turns.said(turn.follows or "")
    for turn_id in live.turns.back_from((before[0].follows or "") if before else ""):
        if len(found) >= HISTORY:
            break
        said = [
            one
            for one in live.turns.said(turn_id)
            if one.role in (Role.USER, Role.ASSISTANT) and one.content.strip()
        ]
        if said:
            found.append({"role": said[-1].role, "content": said[-1].content[:MAX_WORDS]})
    while found and found[-1]["role"] != Role.USER:
        found.pop()
    return found[::-1]


def _notes(messages: Sequence[Message], words: Mapping[str, str]) -> list[str]:
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
        return Offer(
            key="plan",
            values={"task": task},
            calls=lambda words: (_plan(words, task),),
            most=PLAN_TOKENS,
            lines=True,
        )
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
    return Offer(
        key="report",
        values={"task": task, "notes": "\n".join(notes) or "- nothing yet"},
        calls=lambda words: (*done, _call("reportResult", {"result_in_detail": words.strip()})),
        most=REPORT_TOKENS,
        lines=True,
    )


def _plan(words: str, task: str) -> ToolCall:
    text = words.replace("**", "").strip().removeprefix("1.").strip()
    steps = [one_line(part)[:200] for part in _STEP.split("1. " + text)]
    steps = [step for step in steps if step]
    if len(steps) == 1:
        # One long step took all the tokens: its sentences become steps.
        steps = _SENTENCE.split(steps[0])
    steps = steps[:MOST_STEPS] or [task[:200]]
    return _call("setPlan", {"items": steps})


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
            handed += any(_hands_over(message) for message in messages)
            continue
        answer = last_answer(messages)
        if answer is not None and answer.state == MessageState.DONE and answer.content.strip():
            notes.insert(0, f"- {messages[0].author.name}: {one_line(answer.content)[:400]}")
            answered = answered or place == 0
    return task, notes, answered, handed


def _hands_over(message: Message) -> bool:
    called = {call.name for call in message.tool_calls}
    return message.role == Role.ASSISTANT and SWITCH_ASSISTANT in called
