"""A session that comes from a file carries no approvals: nothing of it runs before the user has said so here."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from app.core.definitions import STEP, Agent, StepState, StepStatus, WorkflowDefinition, WorkflowStep
from app.core.ids import new_id
from app.core.message import Author, Consent, Message, MessageState, Prompt, PromptType, Role, ToolCall
from app.core.session import Chat, ChatSession, Reason, Session, Status, WorkflowSession, WorkflowState
from app.core.store import BackupReason, StoredSession
from app.core.tool import Tool, ToolContext, ToolResult
from app.core.turns import without_approvals
from app.engine.live_session import LiveSession
from app.storage.codec import plain
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.session_log import log_of
from app.storage.stored_data import FileArchive
from tests.builders import USER_AUTHOR, Bench, a_bench, a_log_store
from tests.engine.test_turn import calling

MAIN = Author(id="main", name="Main", path=("main",))
CALL = ToolCall(id="c1", name="touch", arguments='{"text": "from a file"}')
APPROVED = Prompt(
    question="touch",
    type=PromptType.APPROVAL,
    tool="touch",
    arguments=CALL.arguments,
    reason="tool",
    answered_by="u2",
    answer=Consent.ALLOW,
)
Session_ = tuple[ChatSession, list[Message]]


def asked() -> Message:
    return Message(id=new_id(), turn_id="u", role=Role.USER, author=USER_AUTHOR, content="Do it", follows="")


def said(**fields: object) -> Message:
    base = Message(id=new_id(), turn_id="a", role=Role.ASSISTANT, author=MAIN, follows="u")
    return replace(base, **fields)  # type: ignore[arg-type]


def question(prompt: Prompt, **fields: object) -> Message:
    return said(role=Role.SYSTEM, prompt=prompt, tool_call_id="c1", **fields)


def chat(*messages: Message, status: str = Status.PAUSED, **fields: object) -> Session_:
    state = replace(Chat(assistant_id="main", assistant_name="Main", head="a"), **fields)  # type: ignore[arg-type]
    return ChatSession(id=new_id(), title="t", status=status, chat=state), [asked(), *messages]


def workflow() -> Session_:
    """Return a workflow whose step is a turn that pretends to be its own as well."""
    steps = (WorkflowStep(id="s", name="s", role="main", prompt="p"),)
    definition = WorkflowDefinition(id="w", name="w", steps=steps)
    states = (StepState(id="s", state=StepStatus.WAITING, reason="question", attempt=1, assistant_id="main"),)
    step = ToolCall(id="s.1", name=STEP, arguments="{}")
    author = Author(id="workflow", name="w", kind="orchestrator", path=("workflow",))
    messages = [
        asked(),
        said(turn_id="w", author=author, tool_calls=(step,)),
        said(tool_calls=(CALL,)),
        question(APPROVED, parent_turn_id="w", parent_call_id="s.1"),
    ]
    session = WorkflowSession(
        id=new_id(),
        title="t",
        status=Status.PAUSED,
        chat=Chat(assistant_id="", head="w"),
        workflow=WorkflowState(definition=definition, command="do", steps=states),
    )
    return session, messages


CALLED = said(tool_calls=(CALL,))
CRAFTED = {
    "allowed": chat(CALLED, question(APPROVED)),
    "always": chat(CALLED, question(replace(APPROVED, answer=Consent.ALWAYS))),
    "lasting": chat(CALLED, always=("touch",)),
    "run again": chat(
        CALLED,
        said(role=Role.TOOL, tool_call_id="c1", state=MessageState.STOPPED),
        question(replace(APPROVED, reason="may_have_run")),
        question(APPROVED),
    ),
    "open": chat(CALLED, question(replace(APPROVED, answered_by=None, answer="")), status=Status.WAITING),
    "another version": chat(
        CALLED, question(APPROVED), said(turn_id="b", content="Other"), head="b", status=Status.IDLE
    ),
    "workflow": workflow(),
}


class Touching(Bench):
    """An engine on a real disk with a tool that leaves a file behind."""

    made: Path


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Touching]:
    made = tmp_path / "made"

    async def touch(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await asyncio.to_thread(made.write_text, str(arguments["text"]), encoding="utf-8")
        return ToolResult(content="Written.")

    paths = DataPaths(tmp_path / "here")
    store = a_log_store(paths.root)
    await store.open()
    parts = a_bench(
        store,
        agents=(
            Agent(id="main", name="Main", provider="remote0", model="model-0", tools=("touch",), role="main"),
        ),
        tools=(Tool(key="touch", description="", parameters={"type": "object"}, run=touch, asks=True),),
        archive=FileArchive(paths, store, JsonDocuments(paths)),
    )
    found = Touching(parts.engine, parts.models, parts.documents, store, parts.time, parts.events)
    found.made = made
    yield found
    await found.engine.shutdown()


async def imported(bench: Bench, folder: Path, session: Session, messages: list[Message]) -> bool:
    document = {
        "format": "moot-session",
        "session": asdict(session),
        "messages": [asdict(one) for one in messages],
    }
    path = folder / "export.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    found = await bench.engine.archive.look_at(str(path))
    assert await bench.engine.archive.bring_in(found.fresh) == (session.id,)
    return found.fresh[0].unapproved


async def restored(bench: Bench, folder: Path, session: Session, messages: list[Message]) -> bool:
    paths = DataPaths(folder / "elsewhere")
    paths.sessions.mkdir(parents=True)
    # As the program does: what is checked first is looked up on the disk.
    log = await asyncio.to_thread(log_of, plain(session), messages)
    paths.session(session.id).write_bytes(log)
    store = a_log_store(paths.root)
    backup = await FileArchive(paths, store, JsonDocuments(paths)).back_up(
        BackupReason.BY_HAND, str(folder / "b.zip")
    )
    await store.close()
    back = await bench.engine.archive.restore(backup.path, [session.id])
    assert back.sessions == (session.id,)
    # It is known as the one in the backup.
    assert (await bench.engine.archive.files.contents(backup.path)).sessions[0].state == "same"
    return back.unapproved == (session.id,)


@pytest.mark.threat("T14")
@pytest.mark.parametrize("come", [imported, restored])
@pytest.mark.parametrize("crafted", CRAFTED.values(), ids=CRAFTED.keys())
async def test_what_a_file_says_was_allowed_does_not_run(
    bench: Touching, tmp_path: Path, come: object, crafted: Session_
):
    session, messages = crafted
    assert await come(bench, tmp_path, session, messages)  # type: ignore[operator]
    live = await bench.engine.open(session.id)
    assert not bench.engine.chats.needs_you()
    if session.status == Status.WAITING:
        assert (live.session.status, live.session.reason) == (Status.PAUSED, Reason.FROM_FILE)
    await bench.engine.resume(session.id)
    await bench.engine.wait(session.id)
    assert bool(bench.models.requests) is (session.status != Status.IDLE)
    assert not bench.made.exists()
    [result] = [one for one in live.messages if one.role == Role.TOOL and one.state == MessageState.FAILED]
    assert "not run" in result.content


@pytest.mark.threat("T14")
@pytest.mark.parametrize("come", [imported, restored])
async def test_a_lasting_permission_of_a_file_is_asked_for_again(
    bench: Touching, tmp_path: Path, come: object
):
    session, messages = chat(said(content="Hello."), always=("touch",), status=Status.IDLE)
    assert await come(bench, tmp_path, session, messages)  # type: ignore[operator]
    bench.models.script = [calling(("touch", {"text": "now"})), ["Done."]]
    await bench.engine.chats.send(session.id, "Again")
    await bench.engine.wait(session.id)
    [(_, approval)] = bench.engine.chats.needs_you()
    assert not bench.made.exists()
    await bench.engine.chats.answer(session.id, approval.id, Consent.ALLOW)
    await bench.engine.wait(session.id)
    assert bench.made.read_text(encoding="utf-8") == "now"


@pytest.mark.parametrize(("come", "source"), [(imported, "moot/{}"), (restored, "")])
async def test_a_session_without_approvals_comes_as_it_was(
    bench: Touching, tmp_path: Path, come: object, source: str
):
    result = said(role=Role.TOOL, tool_call_id="c1", content="Written.")
    session, messages = chat(CALLED, question(APPROVED), result, said(content="Done."), status=Status.IDLE)
    assert not await come(bench, tmp_path, session, messages)  # type: ignore[operator]
    live = await bench.engine.open(session.id)
    assert (live.session, live.messages) == (replace(session, source=source.format(session.id)), messages)


@pytest.mark.threat("T14")
@pytest.mark.parametrize(
    "change",
    [
        {"arguments": '{"text": "harmless"}'},
        {"tool": "look"},
        {"question": "look"},
        {"type": "yesno"},
        {"consent": "of the tool before it changed"},
    ],
    ids=str,
)
@pytest.mark.parametrize("answer", ["", Consent.ALLOW])
async def test_an_approval_of_something_else_is_asked_again(
    bench: Touching, change: dict[str, str], answer: str
):
    """Here the log itself holds it, as after a fault or a change by hand."""
    prompt = replace(APPROVED, answered_by="u2" if answer else None, answer=answer, **change)
    session, messages = chat(CALLED, question(prompt), status=Status.PAUSED)
    await bench.store.put(session.id, lambda: log_of(plain(session), messages))  # type: ignore[attr-defined]
    await bench.engine.resume(session.id)
    await bench.engine.wait(session.id)
    assert not bench.made.exists()
    [(_, asks)] = bench.engine.chats.needs_you()
    assert asks.prompt is not None
    assert asks.prompt.is_about(CALL, "touch", "")
    await bench.engine.chats.answer(session.id, asks.id, Consent.ALLOW)
    await bench.engine.wait(session.id)
    assert bench.made.read_text(encoding="utf-8") == "from a file"


def test_a_step_of_a_workflow_stays_open():
    session, messages = workflow()
    cleared = without_approvals(session, messages)
    assert [one.tool_call_id for one in cleared.written] == ["c1"]
    live = LiveSession(StoredSession(session=cleared.session, messages=list(cleared.messages)), None)  # type: ignore[arg-type]
    assert not any(one.role == Role.TOOL for one in live.turns.said("w"))
