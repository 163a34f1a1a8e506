"""Chats on the disk: everything a message or a chat may hold there and back, and how a start mends them."""

import dataclasses

import pytest

from app.core.council_parts import Claim, JudgeReading
from app.core.criteria import Plan, PlanItem
from app.core.errors import Failure
from app.core.events import MessageStarted, SessionChanged, SessionStarted
from app.core.ids import new_id
from app.core.memory import Note, Origin
from app.core.message import (
    Attachment,
    Author,
    FormField,
    Message,
    MessageState,
    Prompt,
    PromptReason,
    PromptType,
    Role,
    ToolCall,
    Usage,
)
from app.core.session import AgentMode, Chat, ChatSession, QueuedMessage, Session, Status
from app.storage.codec import MessageReader, plain
from app.storage.lines import decode_line, encode_line
from app.storage.sessions import JsonLogStore
from tests.storage.samples import changed, finished, log_file, message, reopened

NOTES = Attachment(name="메모.txt", text="한글\n\u2028\0")
IMAGE = Attachment(name="a.png", media_type="image/png", data="aGVsbG8=")
MASTER = Author(id="assistant", name="Moot", path=("assistant",))
BROWSER = Author(id="browser", name="브라우저", kind="sub", path=("assistant", "browser"), depth=1)


def chat(**changes: object) -> ChatSession:
    whole = Chat(
        assistant_id="assistant",
        assistant_name="Moot",
        head="t2",
        mode=AgentMode.SETTINGS,
        queue=(
            QueuedMessage(id="q1", text="그리고?", attachments=(NOTES, IMAGE)),
            QueuedMessage(id="q2", text="2"),
        ),
        always=("web_fetch", "open_url"),
        budget_from="m1",
        language="ko",
        unused_summaries=("s0",),
        summarise=True,
        history="all",
    )
    values = {
        "id": new_id(),
        "title": "A chat",
        "status": Status.IDLE,
        "chat": whole,
        "created_at": "2026-11-21",
    }
    return ChatSession(**{**values, **changes})  # type: ignore[arg-type]


def part(turn_id: str, role: str, **fields: object) -> Message:
    """Return a message of a turn, the assistant's where nothing else is said."""
    return Message(**{"id": new_id(), "turn_id": turn_id, "role": role, "author": MASTER, **fields})  # type: ignore[arg-type]


def whole_messages() -> list[Message]:
    """Return one message of each form there is, with every field used somewhere."""
    asked = part(
        "u1",
        Role.USER,
        author=Author(id="user", name="User", kind="user"),
        content="Look.",
        follows="",
        attachments=(dataclasses.replace(NOTES, text="한글"), IMAGE),
    )
    calls = part(
        "t1",
        Role.ASSISTANT,
        follows="u1",
        retakes="m0",
        model="anthropic/claude-opus-4-5",
        thinking="hm",
        thinking_seconds=1.5,
        provider_state={"blocks": [{"signature": "x" * 40, "n": 1.5, "deep": {"a": [None, True]}}]},
        tool_calls=(
            ToolCall(id="c1", name="subAgent", arguments='{"name": "browser"}'),
            ToolCall(id="call_1__thought__AbC=", name="promptUser", arguments="{"),
        ),
        usage=Usage(provider="anthropic", model="m", input_tokens=1, output_tokens=2, cost_usd=0.1),
        seconds=1.5,
        first_word_seconds=0.5,
        effort="high",
        part="reading",
        data=JudgeReading(judge="한", order=1, shown=("o1",), claims=(Claim(text="한", holds=("p1",)),)),
        why="guided",
        told="You have 3 of 5 turns left.",
    )
    child = part(
        "s1",
        Role.ASSISTANT,
        author=BROWSER,
        content="Found.",
        parent_turn_id="t1",
        parent_call_id="c1",
        follows="u1",
        state=MessageState.FAILED,
        error=Failure(kind="server", detail="boom"),
    )
    question = part(
        "t1",
        Role.TOOL,
        tool_call_id="call_1__thought__AbC=",
        content="asked",
        control="wait",
        proposal=Note(
            id="", text="짧게 답해요.", agent="main", local=True, origin=Origin.FILE, source="a.md"
        ),
        plans=(Plan(), Plan(goal="Swifts", items=(PlanItem(text="Count.", done=True),))),
        created_at="2026-11-21T10:00:01.000Z",
        resources=({"type": "resource", "resource": {"uri": "ui://prompt/1", "text": "<p>"}},),
        prompt=Prompt(
            question="어느 것?",
            type=PromptType.OPTIONS,
            options=("하나", "둘"),
            answer="둘",
            answered_by="m9",
            fields=(FormField(key="k", label="몇 명", kind="integer", default=("2",), least=1.0, most=4.0),),
        ),
    )
    approval = part(
        "t1",
        "system",
        tool_call_id="c1",
        prompt=Prompt(
            question="Allow?",
            type=PromptType.APPROVAL,
            tool="open_url",
            arguments='{"url": "x"}',
            reason="may_have_run",
            dismissed=True,
        ),
    )
    answer = part(
        "t1",
        Role.USER,
        author=asked.author,
        content="둘",
        answers=question.id,
        note="x",
    )
    summary = part(
        "t1",
        Role.SUMMARY,
        content="그때까지의 요약",
        note="pruned",
        through="t1",
        through_message=question.id,
        agent_id="assistant",
        replaces=64_000,
    )
    return [asked, calls, child, question, approval, answer, summary]


@pytest.mark.allow_blocking  # tail is read at once: the first paint shows it
async def test_a_chat_and_all_its_messages_come_back_as_they_were(store, paths):
    session = chat()
    said = whole_messages()
    store.append((SessionStarted(session_id=session.id, session=session),))
    for one in said:
        store.append((finished(session.id, one),))
    await store.flush(session.id)
    stored = await reopened(paths, session.id)
    queue = (
        dataclasses.replace(
            session.chat.queue[0], attachments=(dataclasses.replace(NOTES, text="한글\n\u2028\0"), IMAGE)
        ),
        session.chat.queue[1],
    )
    assert stored.session == dataclasses.replace(session, chat=dataclasses.replace(session.chat, queue=queue))
    assert stored.messages == said
    assert (stored.read_only, stored.damaged) == (False, 0)
    assert store.tail(session.id, 20) == said


@pytest.mark.parametrize("reason", ["sampling", "of a later version"])
def test_a_question_for_an_unknown_reason_waits_for_nobody(reason):
    prompt = Prompt(question="think", type=PromptType.APPROVAL, tool="mill__think", reason=reason)
    answered = dataclasses.replace(prompt, answer="allow", answered_by="m1")
    known = dataclasses.replace(prompt, reason=PromptReason.TOOL)
    read = MessageReader().read
    [old, done, now] = [read(plain(message(prompt=one))) for one in (prompt, answered, known)]
    assert (old.asks, old.prompt) == (False, dataclasses.replace(prompt, dismissed=True))
    assert (done.asks, done.prompt) == (False, answered)
    assert (now.asks, now.prompt) == (True, known)


def test_each_field_survives():
    used: set[str] = set()
    for one in whole_messages():
        line = decode_line(encode_line(1, [{"op": "message", "message": plain(one)}])[:-1])
        assert line is not None
        assert MessageReader().read(line.ops[0]["message"]) == one
        used |= set(plain(one))
    assert used == {field.name for field in dataclasses.fields(Message)}


@pytest.mark.allow_blocking
async def test_the_list_shows_the_assistants_name_with_its_cache_and_without(store, paths):
    session = chat(status=Status.WAITING)
    store.append((SessionStarted(session_id=session.id, session=session),))
    store.append((finished(session.id, message("x")),))
    await store.flush(session.id)
    shown = store.summaries()
    assert (shown[0].kind, shown[0].speakers, shown[0].messages) == ("chat", ("Moot",), 1)
    await store.close()
    for _ in ("from index.json", "from the log"):
        again = JsonLogStore(paths, read_only=True)
        await again.open()
        assert again.summaries() == shown
        paths.index.unlink(missing_ok=True)


async def test_what_ran_is_paused_what_waits_still_waits_and_a_started_tool_is_stopped(store, paths):
    for status, after in (
        (Status.RUNNING, Status.PAUSED),
        (Status.WAITING, Status.WAITING),
        (Status.IDLE, Status.IDLE),
    ):
        session = chat(status=status)
        tool = message(
            state=MessageState.STREAMING,
            role=Role.TOOL,
            tool_call_id="c1",
            author=MASTER,
            turn_id="t1",
            follows="u1",
        )
        asked = message(role="system", prompt=Prompt(question="?", type=PromptType.APPROVAL, tool="open_url"))
        done = message("said")
        store.append((SessionStarted(session_id=session.id, session=session),))
        store.append((finished(session.id, done), finished(session.id, asked)))
        store.append((MessageStarted(session_id=session.id, message=tool),))
        await store.flush(session.id)
        stored = await reopened(paths, session.id)
        assert (stored.session.status, stored.session.reason) == (
            after,
            "app_restart" if status == Status.RUNNING else "",
        )
        assert [one.state for one in stored.messages] == [
            MessageState.DONE,
            MessageState.DONE,
            MessageState.STOPPED,
        ]
        assert stored.messages[1].prompt is not None
        assert stored.messages[1].prompt.open
        assert stored.messages[2] == dataclasses.replace(tool, state=MessageState.STOPPED)


async def test_a_queue_that_shrinks_and_a_head_that_goes_back_are_kept(store, paths):
    session = chat()
    store.append((SessionStarted(session_id=session.id, session=session),))
    smaller = dataclasses.replace(
        session, chat=dataclasses.replace(session.chat, queue=(), head="", always=())
    )
    store.append((SessionChanged(session_id=session.id, session=smaller),))
    await store.flush(session.id)
    assert (await reopened(paths, session.id)).session == smaller


async def test_a_chat_of_before_there_were_chats_is_read_only_and_not_lost(paths):
    old = Session(id=new_id(), title="Old", kind="chat", status=Status.RUNNING)
    data = encode_line(
        1, [{"op": "head", "version": 1, "min_reader": 1}, {"op": "session", "patch": plain(old)}]
    )
    session_id = log_file(
        paths, data + encode_line(2, [{"op": "message", "message": plain(message("said"))}])
    )
    store = JsonLogStore(paths)
    await store.open()
    assert [(one.title, one.read_only) for one in store.summaries()] == [("Old", True)]
    stored = await store.load(session_id)
    assert (stored.read_only, stored.session.title, len(stored.messages)) == (True, "Old", 1)
    await store.close()


async def test_a_chat_with_a_part_of_the_wrong_kind_is_read_only(paths):
    for fields in (
        {"chat": 7},
        {"chat": {"assistant_name": "x"}},
        {"chat": {"assistant_id": 1}},
    ):
        record = {**plain(chat()), **fields}
        session_id = log_file(paths, encode_line(1, [{"op": "session", "patch": record}]))
        store = JsonLogStore(paths)
        assert (await store.load(session_id)).read_only
        await store.close()


async def test_a_chat_with_a_wrong_part_is_read_without_that_part(paths):
    record = {**plain(chat()), "chat": {"assistant_id": "a", "head": "t1", "queue": [1]}}
    session_id = log_file(paths, encode_line(1, [{"op": "session", "patch": record}]))
    store = JsonLogStore(paths)
    stored = await store.load(session_id)
    await store.close()
    assert (stored.read_only, stored.damaged) == (False, 1)
    assert stored.session.chat == Chat(assistant_id="a", head="t1")


async def test_a_chat_that_cannot_be_stored_is_said_and_the_rest_goes_on(store, paths):
    session = chat()
    store.append((SessionStarted(session_id=session.id, session=session),))
    await store.flush(session.id)
    _, event = changed(session, title="new")  # type: ignore[arg-type]
    store.append((event,))
    await store.flush(session.id)
    assert (await reopened(paths, session.id)).session.title == "new"
