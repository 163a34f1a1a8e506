"""The orchestrator's tools for a model that cannot choose one: plan, hand over step by step, report; pure.

Where the work stands decides which tool is offered; the model fills in the words. Used by the turn.
"""

import json
import re
from collections.abc import Mapping, Sequence

from app.core.agent import Agent
from app.core.ids import new_id
from app.core.message import Message, MessageState, Role, ToolCall
from app.core.plan import Plan
from app.engine.chat.branches import back_from, last_answer
from app.engine.chat.request import AgentTurn
from app.engine.group.director import ORCHESTRATOR, SWITCH_ASSISTANT
from app.engine.live_session import LiveSession
from app.engine.turns.guided import Offer, one_line

MOST_STEPS = 3
PLAN_TOKENS = 60
REPORT_TOKENS = 200

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_STEP = re.compile(r"(?:^|\n)\s*(?:\d+[.)]|[-*])\s*")


def lead_offer(turn: AgentTurn, live: LiveSession, members: Sequence[Agent], tools: Sequence[str]) -> Offer:
    """Return the tool that fits where a group's work stands."""
    task, notes, answered, handed = _so_far(turn, live)
    plan = live.session.plan
    own = {call.name for message in live.turn(turn.turn_id) for call in message.tool_calls}
    done = (
        (_call("checkDone", {"index": _next(plan)}),) if answered and plan and plan.open and not own else ()
    )
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
        return (*done, _call(SWITCH_ASSISTANT, {"assistant": member.id, "instruction": instruction}))

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
        # One long step took all the tokens there were: its sentences are steps as well.
        steps = _SENTENCE.split(steps[0])
    steps = steps[:MOST_STEPS] or [task[:200]]
    return _call("setPlan", {"items": steps})


def _next(plan: Plan | None) -> int:
    items = plan.items if plan else ()
    return next((place for place, item in enumerate(items) if not item.done), 0)


def _so_far(turn: AgentTurn, live: LiveSession) -> tuple[str, list[str], bool, int]:
    """Return the request, what members found, whether one has just answered, and how often it was handed over."""
    notes: list[str] = []
    task, handed, answered = "", 0, False
    for place, turn_id in enumerate(back_from(live, turn.follows or "")):
        messages = live.turn(turn_id)
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
    return message.role == Role.ASSISTANT and any(
        call.name == SWITCH_ASSISTANT for call in message.tool_calls
    )


def _call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=f"call_{new_id()}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))
