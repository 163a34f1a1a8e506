"""A session of each kind that has something in every field a document shows."""

from dataclasses import replace

from app.core.council import Ballot, Option, Participant, Point, Verdict
from app.core.council_parts import BestCase, JudgeReading, Position
from app.core.criteria import Plan, PlanItem
from app.core.definitions import StepState, WorkflowDefinition, WorkflowStep
from app.core.errors import Failure
from app.core.ids import new_id
from app.core.message import Attachment, Author, Message, Prompt, ToolCall, Usage
from app.core.session import (
    Chat,
    ChatSession,
    Debate,
    DebateSession,
    GroupSession,
    GroupState,
    QueuedMessage,
    Session,
    WorkflowSession,
    WorkflowState,
)

AT = "2026-11-21T10:00:00.000Z"
USER = Author(id="user", name="User", kind="user")
ADA = Author(id="ada", name="Ada", path=("ada",))
BEN = Author(id="ben", name="벤", kind="sub", path=("ada", "ben"), depth=1)
PLAN = Plan(goal="A plan", items=(PlanItem(text="one", done=True), PlanItem(text="둘", done=False)))


def messages() -> list[Message]:
    """Return a conversation with calls, a sub-agent, a question, an approval and what was cut or failed."""
    base = {"created_at": AT, "author": ADA, "role": "assistant"}
    say = lambda one, turn, **fields: Message(id=one, turn_id=turn, **{**base, **fields})  # noqa: E731
    call = ToolCall(id="c1", name="subAgent", arguments='{"assistant": "ben", "task": "look"}')
    run = ToolCall(id="c2", name="run", arguments='{"line": "ls"}')
    picture = Attachment(name="a.png", media_type="image/png", data="aGk=")
    approval = Prompt(
        question="May it run?", type="approval", tool="run", arguments=run.arguments, reason="tool", answer="allow",
        answered_by="m7",
    )  # fmt: skip
    options = Prompt(question="Which?", type="options", options=("a", "b"), answered_by="m9", answer="a")
    return [
        say("m1", "t1", role="user", author=USER, content="Look *here*.", follows="", attachments=(picture,)),
        say("m2", "t2", content="I ask Ben.", follows="t1", tool_calls=(call, run), thinking="hm", note="length"),
        say("m3", "t3", author=BEN, content="> 보았다", parent_turn_id="t2", parent_call_id="c1", state="stopped"),
        say("m4", "t2", role="tool", content="Ben said so.", tool_call_id="c1"),
        say("m5", "t2", role="tool", content="", tool_call_id="c2", prompt=approval),
        say("m7", "t2", role="user", author=USER, content="allow", answers="m5"),
        say("m8", "t2", role="system", prompt=options),
        say("m9", "t2", role="user", author=USER, content="a", answers="m8"),
        say("m10", "t2", state="failed", error=Failure(kind="network", detail="gone")),
        say("m11", "t2", content="Done.", note="truncated", usage=Usage(provider="p", model="m", cost_usd=0.5)),
    ]  # fmt: skip


def sessions() -> list[tuple[Session, list[Message]]]:
    """Return a chat, a group, a workflow and a debate, each with its messages."""
    chat = Chat(
        assistant_id="ada",
        assistant_name="Ada",
        head="t2",
        queue=(QueuedMessage(id="q", text="next"),),
        always=("tool.x",),
    )
    fields = {"title": "A *title*", "status": "idle", "created_at": AT, "updated_at": AT, "plan": PLAN}
    group = GroupState(id="crew", name="Crew", members=("ada", "ben"))
    steps = (
        WorkflowStep(id="a", name="First", role="PO", prompt="Do."),
        WorkflowStep(id="b", name="Next", role="BE", prompt="Do.", depends_on=("a",)),
    )
    states = (
        StepState(id="a", state="done", result="r", artifacts="x", assistant_id="ada", attempt=1),
        StepState(id="b", state="failed", reason="network", attempt=2),
    )
    work = WorkflowState(
        definition=WorkflowDefinition(id="w", name="Work", keywords=("do",), steps=steps),
        command="Go",
        steps=states,
    )
    seats = tuple(
        Participant(id=one, name=one.title(), provider="p", model="m", role="for") for one in ("ada", "ben")
    )
    debate = Debate(
        topic="A topic?",
        participants=seats,
        context=(Attachment(name="f.txt", text="read"),),
        polls=True,
        options=(Option(id="u1", text="Yes", origin="user"), Option(id="u2", text="아니요", origin="user")),
        ballots=(Ballot(round=0, participant="ada", stance=1), Ballot(round=1, participant="ada", stance=-1)),
        verdict=Verdict(judge="Ben", answer=(Point(text="Yes.", cites=("d1",)),), open=(Point(text="But?"),)),
    )
    said = [
        Message(
            id=f"d{place}",
            turn_id=f"t{place}",
            role="assistant",
            author=replace(ADA, kind="participant"),
            content=f"Word {place}",
            round=1 + place // 2,
            state=state,
            note=note,
            created_at=AT,
        )
        for place, (state, note) in enumerate(
            [("done", ""), ("done", "passed"), ("stopped", ""), ("failed", "")]
        )
    ]
    vote = Position(shown=("u2", "u1"), choice="u1", confidence=70, moved_by=("d1",))
    cases = (BestCase(option="u1", text="It is right.", cites=("d0",)),)
    reads = [JudgeReading(judge="p/m", order=order, choice="u1", cases=cases) for order in (1, 2)]
    said += [
        Message(
            id=one, turn_id=one, role="assistant", author=ADA, part=part, round=2, data=data, created_at=AT
        )
        for one, part, data in (
            ("b1", "ballot", vote),
            ("r1", "reading", reads[0]),
            ("r2", "reading", reads[1]),
        )
    ]
    return [
        (ChatSession(id=new_id(), chat=chat, **fields), messages()),
        (GroupSession(id=new_id(), chat=chat, group=group, **fields), messages()),
        (WorkflowSession(id=new_id(), chat=chat, workflow=work, **fields), messages()),
        (DebateSession(id=new_id(), debate=debate, **{**fields, "status": "completed"}), said),
    ]
