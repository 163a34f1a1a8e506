"""A session of any kind exported as JSON comes back whole: what is exported then is the same again."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.council import Participant
from app.core.criteria import Plan, PlanItem
from app.core.definitions import StepState, WorkflowDefinition, WorkflowStep
from app.core.errors import BadInput, Failure
from app.core.events import EventBus
from app.core.ids import is_id, new_id
from app.core.message import Attachment, Author, Message, MessageState, Prompt, ToolCall, Usage
from app.core.session import (
    Chat,
    ChatSession,
    Debate,
    DebateSession,
    GroupSession,
    GroupState,
    QueuedMessage,
    Session,
    Status,
    WorkflowSession,
    WorkflowState,
)
from app.core.store import StoredSession
from app.engine.importing import Arrival, Surroundings, arrivals
from app.engine.live_session import LiveSession
from app.storage.foreign_file import read_exported
from tests.builders import PROMPTS, export
from tests.repeats import examples

# What is kept has no lone surrogates and no NULs: they are replaced when it comes in.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
DATE = st.sampled_from(["", "2026-11-21T10:00:00.000Z", "2025-01-01T00:00:00.123Z"])
JSON = st.dictionaries(
    TEXT, TEXT | st.integers(-5, 5) | st.booleans() | st.lists(TEXT, max_size=2), max_size=2
)
SECONDS = st.none() | st.floats(0, 1e6)
NAMES = st.lists(TEXT, max_size=2).map(tuple)

AUTHORS = st.builds(
    Author,
    id=TEXT,
    name=TEXT,
    kind=st.sampled_from(["main", "sub", "user"]),
    path=NAMES,
    depth=st.integers(0, 3),
)
PROMPT = st.builds(
    Prompt,
    question=TEXT,
    type=st.sampled_from(["text", "options", "yesno", "approval"]),
    options=NAMES,
    answered_by=st.none() | TEXT,
    answer=TEXT,
    dismissed=st.booleans(),
    tool=TEXT,
    arguments=TEXT,
)
MESSAGES = st.lists(
    st.builds(
        Message,
        id=st.uuids().map(str),
        turn_id=TEXT,
        role=st.sampled_from(["user", "assistant", "system", "tool"]),
        author=AUTHORS,
        content=TEXT,
        parent_turn_id=st.none() | TEXT,
        follows=st.none() | TEXT,
        model=TEXT,
        thinking=TEXT,
        thinking_seconds=SECONDS,
        tool_calls=st.lists(st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=2).map(tuple),
        tool_call_id=st.none() | TEXT,
        provider_state=st.none() | JSON,
        told=TEXT,
        resources=st.lists(JSON, max_size=1).map(tuple),
        prompt=st.none() | PROMPT,
        attachments=st.lists(st.builds(Attachment, name=TEXT, text=TEXT, data=TEXT), max_size=2).map(tuple),
        round=st.integers(0, 9),
        state=st.sampled_from([MessageState.DONE, MessageState.STOPPED, MessageState.FAILED]),
        note=st.sampled_from(["", "length"]),
        error=st.none() | st.builds(Failure, kind=TEXT, detail=TEXT),
        usage=st.none() | st.builds(Usage, model=TEXT, input_tokens=st.integers(0), cost_usd=SECONDS),
        seconds=SECONDS,
        first_word_seconds=SECONDS,
        created_at=DATE,
    ),
    max_size=4,
    unique_by=lambda message: message.id,
)

COMMON: dict[str, Any] = {
    "id": st.builds(new_id),
    "title": TEXT,
    "reason": TEXT,
    "created_at": DATE,
    "updated_at": DATE,
    "plan": st.none()
    | st.builds(
        Plan,
        goal=TEXT,
        items=st.lists(st.builds(PlanItem, text=TEXT, done=st.booleans()), max_size=3).map(tuple),
    ),
}
CHAT = st.builds(
    Chat,
    assistant_id=TEXT,
    assistant_name=TEXT,
    head=TEXT,
    queue=st.lists(st.builds(QueuedMessage, id=TEXT, text=TEXT), max_size=2).map(tuple),
    budget_from=TEXT,
    language=st.sampled_from(["en", "ko"]),
)
SETTLED = st.sampled_from([Status.IDLE, Status.WAITING, Status.PAUSED])
CHATS = st.builds(ChatSession, **COMMON, status=SETTLED, chat=CHAT)
GROUPS = st.builds(
    GroupSession,
    **COMMON,
    status=SETTLED,
    chat=CHAT,
    group=st.builds(
        GroupState,
        id=TEXT,
        name=TEXT,
        members=NAMES,
        turns_limit=st.integers(1, 99),
        ask_before_hand_over=st.booleans(),
    ),
)
DEBATES = st.builds(
    DebateSession,
    **COMMON,
    status=st.sampled_from([Status.PAUSED, Status.COMPLETED]),
    debate=st.builds(
        Debate,
        topic=TEXT,
        mode=st.sampled_from(["round-robin", "free", "roles"]),
        round=st.integers(1, 9),
        turn=st.integers(0, 5),
        seed=st.integers(0, 9),
        failures=st.integers(0, 2),
        participants=st.lists(
            st.builds(
                Participant,
                id=TEXT,
                name=TEXT,
                provider=TEXT,
                model=TEXT,
                role=TEXT,
                persona=TEXT,
                system_prompt=TEXT,
            ),
            max_size=3,
        ).map(tuple),
        context=st.lists(
            st.builds(Attachment, name=TEXT, text=TEXT, data=TEXT, pages=st.just(("x",))), max_size=1
        ).map(tuple),
    ),
)


def _workflow(names: list[str], command: str, **common: Any) -> WorkflowSession:
    steps = tuple(
        WorkflowStep(id=f"s{place}", name=name, role=name, prompt=name) for place, name in enumerate(names)
    )
    states = tuple(StepState(id=step.id, result=command, artifacts=command, attempt=1) for step in steps)
    definition = WorkflowDefinition(id="w", name=command, keywords=tuple(names), steps=steps)
    state = WorkflowState(definition=definition, command=command, steps=states)
    return WorkflowSession(**common, workflow=state)


WORKFLOWS = st.builds(_workflow, st.lists(TEXT, max_size=3), TEXT, **COMMON, status=SETTLED, chat=CHAT)


def exported(session: Session, messages: list[Message]) -> dict[str, Any]:
    live = LiveSession(StoredSession(session=session, messages=messages), EventBus())
    document: dict[str, Any] = json.loads(export(live, "json", PROMPTS, with_folder=True))
    return document


def read(document: object, *taken: str) -> Arrival:
    around = Surroundings(
        words=PROMPTS.lines("en", "import"),
        language="en",
        agent=None,
        taken=taken,
        read_exported=read_exported,
    )
    (one,) = arrivals("file", [document], around).sessions
    return one


def from_a_file(session: Session) -> Session:
    """Return a session as it comes back: it says that it was in a file."""
    return dataclasses.replace(session, source=session.source or f"moot/{session.id}"[:200])


@pytest.mark.parametrize(
    "kind", [CHATS, GROUPS, DEBATES, WORKFLOWS], ids=["chat", "group", "debate", "workflow"]
)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_what_was_exported_comes_back_whole(kind: st.SearchStrategy[Session], data: st.DataObject):
    session, messages = data.draw(kind), data.draw(MESSAGES)
    document = exported(session, messages)
    arrival = read(document)
    # What nobody sees of a message does not come in, see test_foreign_instructions.
    messages = [dataclasses.replace(one, told="", provider_state=None) for one in messages]
    session = from_a_file(session)
    document = exported(session, messages)
    back, said = arrival.make()
    if not arrival.unapproved:
        assert (back, list(said)) == (session, messages)
        assert exported(back, list(said)) == document
    else:
        # What is not taken over is told of in test_foreign_approvals; all else is as it was.
        assert [one.content for one in said[: len(messages)]] == [one.content for one in messages]
        assert dataclasses.replace(back, status=session.status, reason=session.reason) == session
        assert not read(exported(back, list(said))).unapproved


@pytest.mark.parametrize("kind", [CHATS, DEBATES], ids=["chat", "debate"])
def test_a_session_whose_id_is_taken_comes_back_under_another(kind: st.SearchStrategy[Session]):
    session = _plain(debate=kind is DEBATES)
    document = exported(session, [])
    one = read(document, session.id)
    assert one.session_id != session.id
    assert is_id(one.session_id)
    back, _ = one.make()
    assert dataclasses.replace(back, id=session.id) == from_a_file(session)


def _plain(*, debate: bool) -> Session:
    if debate:
        return DebateSession(id=new_id(), title="t", status=Status.COMPLETED, debate=Debate(topic="t"))
    return ChatSession(id=new_id(), title="t", chat=Chat(assistant_id="ada"))


@pytest.mark.threat("T14", "T16")
@pytest.mark.parametrize("session_id", ["../../x", "", "A" * 26, "x" * 3_000, 5, None])
def test_an_id_is_ours_whatever_the_file_says(session_id: object):
    document = exported(_plain(debate=False), [])
    document["session"]["id"] = session_id
    assert is_id(read(document).session_id)


@pytest.mark.threat("T14")
def test_what_was_allowed_elsewhere_is_not_allowed_here():
    session = ChatSession(id=new_id(), title="t", chat=Chat(assistant_id="ada", always=("tool.run",)))
    document = exported(session, [])
    assert document["session"]["chat"]["always"] == []
    document["session"]["chat"]["always"] = ["tool.run"]
    back, _ = read(document).make()
    assert isinstance(back, ChatSession)
    assert back.chat.always == ()


def test_what_ran_when_it_was_exported_comes_back_paused_and_stopped():
    session = dataclasses.replace(_plain(debate=True), status=Status.RUNNING)
    message = Message(
        id="m", turn_id="t", role="assistant", author=Author(id="a", name="A"), state=MessageState.STREAMING
    )
    back, said = read(exported(session, [message])).make()
    assert (back.status, said[0].state) == (Status.PAUSED, MessageState.STOPPED)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda document: document.pop("session"), "session"),
        (lambda document: document["session"].update(kind="of tomorrow"), "session"),
        (lambda document: document["session"].pop("chat"), "session"),
        (lambda document: document["session"].update(title=["no"]), "session"),
        (lambda document: document["messages"].append({"id": "x"}), "messages[1]"),
        (lambda document: document["messages"].append(document["messages"][0]), "messages[1]"),
        (lambda document: document["messages"].append("x"), "messages[1]"),
    ],
)
def test_a_changed_export_is_refused_with_its_place(change: Any, where: str):
    message = Message(id="m", turn_id="t", role="user", author=Author(id="a", name="A"))
    document = exported(_plain(debate=False), [message])
    change(document)
    with pytest.raises(BadInput) as refused:
        read(document)
    assert refused.value.details["where"] == f"[0] {where}"
