"""A group under a user, models and crashes that do anything; what must hold are P1 to P12 of the loop.

The engine and the tools are the real ones; what is said and done is drawn up front. A picture of its own
of the plan is kept from the calls and their results. Used by test_group_machine, also with seeded faults.
"""

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

from app.core.criteria import Plan, PlanItem
from app.core.definitions import Group, Leader
from app.core.errors import BadInput, ProviderError
from app.core.events import ToolFinished
from app.core.message import Message, MessageState, Role, ToolCall
from app.core.provider import ModelRequest
from app.core.session import GroupSession, Status
from app.engine.live_session import LiveSession
from tests.builders import Bench, Hang, Script, a_bench
from tests.engine.group_tools import all_tools
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import agent, calling
from tests.memory import MemoryStore

DONE, FAILED, STREAMING = MessageState.DONE, MessageState.FAILED, MessageState.STREAMING
LIMIT = 5
MEMBERS = {"ann": "Ann", "bo": "Bo"}
ENDING = ("promptToUser", "switchAssistant", "reportResult")
Items = list[tuple[str, bool]]


class GroupPlay:
    """One group's session, everything that may happen to it, and what must hold whatever does."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seed: int) -> None:
        self.loop = loop
        self.draw = random.Random(seed)
        self.store = MemoryStore()
        self.broken: list[str] = []
        self.items: Items = []
        self.goal = ""
        self.stopped = False
        self.counted_from = ""
        self._open()
        self.session_id = self.run(self.made.engine.groups.start("crew", "Do it."))
        self.settle()

    def _open(self) -> None:
        crew = tuple(agent(one, name=name, tools=("planning", "promptUser")) for one, name in MEMBERS.items())
        self.made: Bench = a_bench(self.store, agents=crew, tools=all_tools())
        self.made.models.otherwise = self._reply
        leader = Leader(provider="remote0", model="m")
        group = Group(id="crew", name="Crew", members=tuple(MEMBERS), orchestrator=leader, turns_limit=LIMIT)
        self.made.documents.groups.kept = (group,)
        self.noted = 0

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something on the one loop of all examples."""
        return self.loop.run_until_complete(work)

    def settle(self) -> None:
        """Let the models work until nothing more happens; one that hangs is left alone."""

        async def a_while() -> None:
            for _ in range(3_000):
                await asyncio.sleep(0)
                if self.made.engine._sessions.running(self.session_id) is None:
                    return
                if self.made.models.hanging and self.made.models.open == self.made.models.hanging:
                    return

        self.run(a_while())

    @property
    def live(self) -> LiveSession:
        """The session."""
        live: LiveSession = self.run(self.made.engine.open(self.session_id))
        return live

    # What models say

    def _reply(self, request: ModelRequest) -> Script:
        self._check_request(request)
        if who(request) == "orchestrator":
            return self._of_lead(request)
        return self._of_member()

    def _of_lead(self, request: ModelRequest) -> Script:
        draw = self.draw
        kind = draw.random()
        if kind < 0.12:
            return draw.choice((["Hello."], [], [ProviderError("server", "500")]))
        calls = [self._lead_call() for _ in range(draw.choice((1, 1, 2, 3)))]
        return calling(*calls)

    def _lead_call(self) -> tuple[str, object]:
        draw = self.draw
        whom = draw.choice(("ann", "Ann", "BO", "zoe"))
        return draw.choice(
            (
                (
                    "setPlan",
                    {"items": [f"Step {draw.randrange(100)}" for _ in range(draw.choice((0, 1, 2, 3)))]},
                ),
                ("setPlan", {"items": ["Only"]}),
                *(("checkDone", {"index": draw.choice((0, 0, 0, 1, 1, 2, -1, 99, "0"))}),) * 3,
                ("clearPlan", {}),
                *(("switchAssistant", {"assistant": whom, "instruction": f"Go {draw.randrange(999)}."}),) * 4,
                ("promptToUser", {"prompt": f"Question {draw.randrange(999)}?"}),
                ("reportResult", {"result_in_detail": f"Report {draw.randrange(999)}."}),
                ("no_such_tool", {}),
            )
        )

    def _of_member(self) -> Script:
        draw = self.draw
        kind = draw.random()
        if kind < 0.45:
            return ["Great!"]
        if kind < 0.6:
            return draw.choice(([], [ProviderError("stall", "")], ["Half", ProviderError("server", "500")]))
        if kind < 0.66:
            return ["Well", Hang()]
        calls: list[tuple[str, object]] = [
            draw.choice(
                (
                    ("create_goal", {"goal": f"Goal {draw.randrange(9)}"}),
                    ("clear_goal", {}),
                    ("add_todo", {"name": f"Todo {draw.randrange(99)}"}),
                    ("toggle_todo", {"index": draw.choice((0, 0, 1, 7))}),
                    ("toggle_todo", {"index": 0}),
                    ("clear_todos", {}),
                    (
                        "promptUser",
                        {"question": "Which?", "type": "options", "options": draw.choice((["a", "b"], []))},
                    ),
                    ("checkDone", {"index": 0}),
                )
            )
            for _ in range(draw.choice((1, 2)))
        ]
        return calling(*calls)

    # What must hold when a model is asked

    def _say(self, broken: str) -> None:
        self.broken.append(broken)

    def _check_request(self, request: ModelRequest) -> None:
        waiting: list[str] = []
        for message in request.messages:
            if message["role"] == Role.TOOL:
                if message["tool_call_id"] not in waiting:
                    self._say("P8: a result without its call")
                    continue
                waiting.remove(str(message["tool_call_id"]))
                continue
            if waiting:
                self._say("P8: a call without a result")
            waiting = [str(call["id"]) for call in message.get("tool_calls", ())]  # type: ignore[attr-defined]
        if waiting:
            self._say("P8: a call without a result")
        live = self.made.engine.live(self.session_id) if hasattr(self, "session_id") else None
        if live is None:
            return
        head = live.turns.said(live.chat_session.chat.head)
        if any(one.asks for one in head):
            self._say("P3: asked while the user has a question to answer")
        if who(request) == "orchestrator":
            self._check_lead(request, live)

    def _check_lead(self, request: ModelRequest, live: LiveSession) -> None:
        # The turn that is asked about has perhaps no message yet: what it follows is then the head.
        path = list(live.turns.back_from(live.chat_session.chat.head))
        head = live.turns.said(path[0])
        ended = any(one.role == Role.TOOL and one.control == "end" and one.state == DONE for one in head)
        if ended and not self._came_back(live, head):
            self._say("P3: asked again after it had reported or handed over")
        begun = head[0].author.id == "orchestrator"
        before = live.turns.said(path[1]) if begun and len(path) > 1 else head
        last = before[-1]
        if before[0].author.id in MEMBERS and last.state == FAILED and last.role == Role.ASSISTANT:
            text = json.dumps(request.messages)
            if "no answer: " not in text:
                self._say("P12: a member's failure is met with silence")
        names = {str(one["function"]["name"]) for one in request.tools}  # type: ignore[index]
        used = self._used(live) + (not begun)
        if used > LIMIT:
            self._say("P2: more turns than the limit")
        if used == LIMIT and names != {"reportResult"}:
            self._say("P2: the last turn may do more than report")

    def _came_back(self, live: LiveSession, turn: Sequence[Message]) -> bool:
        """Whether members who worked side by side below a turn have answered."""
        calls = [call for message in turn for call in message.tool_calls if call.name == "switchAssistant"]
        return any(live.turns.called_by(turn[0].turn_id, call.id) for call in calls)

    def _used(self, live: LiveSession) -> int:
        used = 0
        for turn_id in live.turns.back_from(live.chat_session.chat.head):
            first = live.turns.said(turn_id)[0]
            if first.role == Role.USER:
                break
            used += first.author.id == "orchestrator" and first.id > self.counted_from
        return used

    # The plan as it must be

    def _note(self) -> None:
        """Take in what happened since the last time."""
        events, self.noted = self.made.events[self.noted :], len(self.made.events)
        for event in events:
            if isinstance(event, ToolFinished):
                live = self.made.engine.live(event.session_id)
                assert live is not None
                calls = [one for message in live.turns.said(event.turn_id) for one in message.tool_calls]
                self._apply(next(one for one in calls if one.id == event.tool_call_id), event)

    def _apply(self, call: ToolCall, event: ToolFinished) -> None:
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            arguments = {}
        known = {
            "setPlan",
            "checkDone",
            "clearPlan",
            "create_goal",
            "clear_goal",
            "add_todo",
            "toggle_todo",
            "clear_todos",
        }
        if call.name not in known:
            return
        if not event.ok:
            self._check_refusal(call.name, arguments, event.content)
            return
        index = arguments.get("index")
        match call.name:
            case "setPlan":
                if any(not done for _, done in self.items):
                    self._say("P5: an unfinished plan was replaced")
                self.items = [(item, False) for item in arguments["items"]]
            case "checkDone":
                if not (isinstance(index, int) and 0 <= index < len(self.items)):
                    self._say("P6: ticked what is not there")
                    return
                self.items[index] = (self.items[index][0], True)
            case "toggle_todo":
                if not (isinstance(index, int) and 0 <= index < len(self.items)):
                    self._say("P6: toggled what is not there")
                    return
                text, done = self.items[index]
                self.items[index] = (text, not done)
                if ("now open" in event.content) != done:
                    self._say("P6: a toggle says another state than it made")
            case "add_todo":
                self.items.append((arguments["name"], False))
            case "clearPlan":
                self.items, self.goal = [], ""
            case "clear_todos":
                self.items = []
            case "create_goal":
                self.goal = arguments["goal"]
            case "clear_goal":
                self.goal = ""
        if call.name in ("setPlan", "checkDone") and self._listed() not in event.content:
            self._say("P6: the result does not say the list")

    def _check_refusal(self, name: str, arguments: dict[str, Any], said: str) -> None:
        if (
            said.startswith(("Skipped", "There is no tool", "No tool calls", "The user stopped"))
            or "already" in said
        ):
            return
        if name == "setPlan" and arguments["items"] and not any(not done for _, done in self.items):
            self._say("P5: a plan was refused though none is open")
        index = arguments.get("index")
        if name == "checkDone" and isinstance(index, int) and 0 <= index < len(self.items):
            self._say("P6: ticking what is there was refused")
        if name in ("clearPlan", "clear_goal", "clear_todos"):
            self._say("P7: clearing was refused")

    def _listed(self) -> str:
        return "\n".join(
            f"{place}. [{'x' if done else ' '}] {text}" for place, (text, done) in enumerate(self.items)
        )

    # What a user does

    def do(self, work: Coroutine[Any, Any, object]) -> None:
        """Do what a user may try at any time; a refusal in words is fine."""
        with contextlib.suppress(BadInput):
            self.run(work)
        self.settle()

    def says(self, number: int) -> None:
        self.stopped = False
        text = ("Go on.", "@Ann, you?", "@bo?")[number % 3]
        self.do(self.made.engine.chats.send(self.session_id, text))

    def answers(self, number: int) -> None:
        questions = self.made.engine.chats.needs_you()
        if not questions:
            return
        _, question = questions[number % len(questions)]
        if number % 4 == 3:
            self.do(self.made.engine.chats.dismiss(self.session_id, question.id))
            return
        answer = "a" if question.prompt and question.prompt.options else "Blue"
        self.do(self.made.engine.chats.answer(self.session_id, question.id, answer))
        try:
            self.run(self.made.engine.chats.answer(self.session_id, question.id, answer))
        except BadInput:
            return
        self._say("P11: an answer was taken twice")

    def stops(self, number: int) -> None:
        self.stopped = True
        self.do(self.made.engine.stop(self.session_id))

    def goes_on_without(self, number: int) -> None:
        self.do(self.made.engine.groups.go_on_without(self.session_id))

    def changes_the_plan(self, number: int) -> None:
        self._note()
        items = [*self.items[1:], (f"Mine {number}", number % 2 == 0)][: number % 4]
        plan = Plan(goal=self.goal, items=tuple(PlanItem(text=text, done=done) for text, done in items))
        self.items = items
        self.do(self.made.engine.groups.change_plan(self.session_id, plan))

    def restarts(self, number: int) -> None:
        """As after a crash: what was written so far is there, and nothing else."""
        asked = self._open_questions()
        kept = MemoryStore()
        kept.batches = list(self.store.batches)
        old = self.made
        self.store = kept
        self.run(old.engine.shutdown())
        self._note()
        self._open()
        if self._open_questions() != asked:
            self._say("P11: a restart loses a question")
        last = max((one.id for one in self.live.messages), default="")
        if self.live.session.status == Status.PAUSED:
            self.stopped, self.counted_from = False, last
        self.do(self.made.engine.resume(self.session_id))

    def _open_questions(self) -> list[str]:
        return sorted(one.id for one in self.live.messages if one.asks)

    # What must hold after everything

    def check(self) -> None:
        """Look whether all is well."""
        self._note()
        live = self.live
        self._check_plan(live)
        for turn_id in live.turns.ids:
            self._check_turn(live, live.turns.said(turn_id))
        self._check_end(live)
        for message in live.messages:
            if not message.author.name:
                self._say("P1: a message without a name")
        answered = Counter(one.answers for one in live.messages if one.answers)
        if any(count > 1 for count in answered.values()):
            self._say("P11: a question was answered twice")
        assert not self.broken, "; ".join(dict.fromkeys(self.broken))

    def _check_plan(self, live: LiveSession) -> None:
        plan = live.session.plan
        items = [(item.text, item.done) for item in plan.items] if plan else []
        if items != self.items:
            self._say(f"P5: the plan is {items}, it must be {self.items}")
        if (plan.goal if plan else "") != self.goal:
            self._say("P5: the goal is another")

    def _check_turn(self, live: LiveSession, turn: Sequence[Message]) -> None:
        first = turn[0]
        if first.author.id == "orchestrator" and first.follows:
            before = live.turns.said(first.follows)
            if before and before[0].author.id == "orchestrator" and not self._came_back(live, before):
                self._say("P4: asked to answer its own words")
        results = Counter(one.tool_call_id for one in turn if one.role == Role.TOOL and one.ended)
        if any(count > 1 for count in results.values()):
            self._say("P8: a call has two results")
        told = {one.tool_call_id: one for one in turn if one.role == Role.TOOL}
        for message in turn:
            ended, called = False, ""
            for call in message.tool_calls:
                result = told.get(call.id)
                at_once = call.name == called == "switchAssistant"
                called = call.name
                if ended and not at_once and result is not None and result.state == DONE:
                    self._say("P9: a call behind the end was run")
                # In its last turn an orchestrator has one tool; a call of another is refused and ends nothing.
                refused = result is not None and result.content.startswith("There is no tool")
                ended = ended or (call.name in ENDING and message.author.id == "orchestrator" and not refused)
                if result is not None:
                    self._check_result(call, result)

    def _check_result(self, call: ToolCall, result: Message) -> None:
        if call.name != "promptUser" and result.resources:
            self._say("P10: a planning tool returned more than text")
        if call.name == "promptUser" and result.state == DONE:
            uris = [str(one["resource"]["uri"]) for one in result.resources]  # type: ignore[index]
            options = json.loads(call.arguments)["options"]
            if (
                len(uris) != 1
                or not uris[0].startswith("ui://prompt/")
                or result.prompt is None
                or not options
            ):
                self._say("P10: a question without its resource or its options")

    def _check_end(self, live: LiveSession) -> None:
        session = live.session
        assert isinstance(session, GroupSession)
        head = live.turns.said(session.chat.head)
        if session.status != Status.IDLE:
            return
        if any(one.state == STREAMING for one in live.messages):
            self._say("P8: something streams while nothing runs")
        if self.stopped:
            return
        if head[0].author.id in MEMBERS and self._used(live) < LIMIT:
            self._say("P4: a member's answer did not come back to the orchestrator")
        if head[0].role == Role.USER:
            self._say("P4: the user was not answered")
        for message in head:
            for call in message.tool_calls if message.author.id == "orchestrator" else ():
                handed = any(
                    one.tool_call_id == call.id and one.control == "end" and one.state == DONE for one in head
                )
                back = self._came_back(live, head) and self._used(live) >= LIMIT
                if call.name == "switchAssistant" and handed and not back:
                    self._say("P4: a hand-over led nowhere")

    def close(self) -> None:
        """Let go of the engine."""
        self.run(self.made.engine.shutdown())


ACTIONS = (
    *("says",) * 6,
    *("answers",) * 4,
    *("restarts",) * 2,
    *("goes_on_without",) * 2,
    "stops",
    "changes_the_plan",
)
