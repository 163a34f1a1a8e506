"""A group that is cut after each of its batches: every start from there comes to the same end."""

from collections.abc import Callable

from app.core.definitions import Group, Leader
from app.core.message import MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.engine.live_session import LiveSession
from tests.builders import Bench, Script, a_bench
from tests.engine.group_tools import TOOLS, hand
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import agent, calling
from tests.memory import MemoryStore

STEPS = ["Colour", "Design", "Build", "Check"]


def _answer(request: ModelRequest) -> Script:
    """Act as the group: what comes next is a function of what was said."""
    text = "\n".join(str(one["content"]) for one in request.messages)
    if who(request) == "ann":
        return _ann(request)
    if who(request) == "bo":
        return ["Built."]
    if "[ ] Colour" not in text and "[x] Colour" not in text:
        return calling(("setPlan", {"items": STEPS}))
    if "Blue" not in text:
        return calling(("promptToUser", {"prompt": "Which colour?"}))
    if "[Ann]: Designed." not in text:
        return calling(("checkDone", {"index": 0}), hand("ann", "Design it."))
    if "[Bo]: Built." not in text:
        return calling(("checkDone", {"index": 1}), hand("bo", "Build it."))
    return calling(
        ("checkDone", {"index": 2}),
        ("checkDone", {"index": 3}),
        ("reportResult", {"result_in_detail": "Blue!"}),
    )


def _ann(request: ModelRequest) -> Script:
    """Ann works with a todo of her own, which must not be toggled twice."""
    done = [one for one in request.messages if one["role"] == "tool"]
    steps: list[Script] = [
        calling(("add_todo", {"name": "Sketch"})),
        calling(("toggle_todo", {"index": 4})),
        ["Designed."],
    ]
    return steps[len(done)]


def _bench(store: MemoryStore, answer: Callable[[ModelRequest], Script] = _answer) -> Bench:
    made = a_bench(
        store, agents=(agent("ann", name="Ann", tools=("planning",)), agent("bo", name="Bo")), tools=TOOLS
    )
    made.models.otherwise = answer
    leader = Leader(provider="remote0", model="m")
    made.documents.groups.kept = (Group(id="crew", name="Crew", members=("ann", "bo"), orchestrator=leader),)
    return made


async def _to_the_end(made: Bench, session_id: str) -> None:
    """Answer whatever is asked until the user's turn."""
    for _ in range(10):
        session = await made.engine.wait(session_id)
        if session.status == Status.IDLE:
            return
        if session.status == Status.PAUSED:
            await made.engine.resume(session_id)
        for _, question in made.engine.chats.needs_you() if session.status == Status.WAITING else ():
            assert question.prompt is not None
            assert question.prompt.reason == "", "nothing here need be asked about again"
            await made.engine.chats.answer(session_id, question.id, "Blue")
    raise AssertionError("it never came to an end")


def _check_end(live: LiveSession, cut: int) -> None:
    plan = live.session.plan
    assert plan is not None
    items = [(item.text, item.done) for item in plan.items]
    assert items[:4] == [(step, True) for step in STEPS], cut
    assert items[4:] == [("Sketch", True)], cut
    messages = live.messages
    said = [
        one.content
        for one in messages
        if one.role == Role.ASSISTANT and one.state == MessageState.DONE and one.content
    ]
    assert said == ["Designed.", "Built.", "Blue!"], cut
    assert len({one.id for one in messages}) == len(messages), cut
    calls = [
        (one.turn_id, call) for one in messages if one.state == MessageState.DONE for call in one.tool_calls
    ]
    results = [one for one in messages if one.role == Role.TOOL and one.ended]
    told = sorted((one.turn_id, one.tool_call_id) for one in results)
    assert told == sorted((turn_id, call.id) for turn_id, call in calls), cut
    assert [one.content for one in results if one.state == MessageState.FAILED] == [], cut
    assert [call.name for _, call in calls] == [
        *("setPlan", "promptToUser", "checkDone", "switchAssistant", "add_todo", "toggle_todo"),
        *("checkDone", "switchAssistant", "checkDone", "checkDone", "reportResult"),
    ], cut


async def test_every_cut_leads_to_the_same_end() -> None:
    store = MemoryStore()
    made = _bench(store)
    session_id = await made.engine.groups.start("crew", "Make it.")
    await _to_the_end(made, session_id)
    live = made.engine.live(session_id)
    assert live is not None
    _check_end(live, 0)
    whole = list(store.batches)
    assert len(whole) > 50
    for cut in range(2, len(whole) + 1):
        rest = MemoryStore()
        rest.batches = whole[:cut]
        resumed = _bench(rest)
        live = await resumed.engine.open(session_id)
        await resumed.engine.resume(session_id)
        await _to_the_end(resumed, session_id)
        _check_end(live, cut)
