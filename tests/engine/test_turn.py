"""The agent loop: calls with exactly one result each, limits, approvals, and going on after a kill."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import ProviderError
from app.core.events import Event, SessionChanged
from app.core.message import Author, Message, MessageState, Prompt, PromptType, Role, Usage
from app.core.provider import CallPiece, Finished
from app.core.session import Status
from app.core.settings import Settings
from app.core.tool import Control, Tool, ToolContext, ToolError, ToolResult
from app.engine.turns.context import Budget
from tests.builders import Bench, Script, a_bench, a_log_store, left_open, remotes

ANSWER = "All done."


def calling(*calls: tuple[str, object], text: str = "") -> Script:
    """Return an answer that asks for tools: (name, arguments)."""
    pieces: list[object] = [text] if text else []
    for index, (name, arguments) in enumerate(calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        pieces.append(CallPiece(index=index, id=f"call_{index}", name=name))
        pieces.append(CallPiece(index=index, arguments=written))
    return [*pieces, Finished(reason="tool_calls", usage=Usage(input_tokens=10, output_tokens=5))]


def agent(agent_id: str = "main", **fields: object) -> Agent:
    """Return an assistant with a provider of its own."""
    base = Agent(id=agent_id, name=agent_id.title(), provider="remote0", model="model-0")
    return replace(base, **fields)  # type: ignore[arg-type]


def a_tool(key: str, run: object = None, **fields: object) -> Tool:
    """Return a tool that says its arguments back."""

    async def say_back(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(content=json.dumps(arguments))

    base = Tool(key=key, description=key, parameters={"type": "object"}, run=say_back, repeatable=True)
    fields = {**fields, "run": run} if run else fields
    return replace(base, **fields)  # type: ignore[arg-type]


def bench(
    tmp_path: Path, script: Sequence[Script], *tools: Tool, agents: Sequence[Agent] = (), **limits: object
) -> Bench:
    """Return an engine on a real log whose models follow a script."""
    keys = tuple(tool.key for tool in tools)
    made = a_bench(
        a_log_store(tmp_path), script=list(script), agents=agents or (agent(tools=keys),), tools=tools
    )
    left_open.append(made)
    if limits:
        made.documents._settings = replace(Settings(), **limits)  # type: ignore[arg-type]
    return made


async def ask(made: Bench, text: str = "Do it.", assistant: str = "main") -> str:
    """Start a chat and wait until nothing runs any more."""
    session_id = await made.engine.chats.start(assistant, text)
    await made.engine.wait(session_id)
    return session_id


def results(made: Bench, session_id: str) -> list[tuple[str, str]]:
    """Return (state, content) of every tool result."""
    return [(one.state, one.content) for one in made.messages(session_id) if one.role == Role.TOOL]


def status(made: Bench, session_id: str) -> str:
    live = made.engine.live(session_id)
    assert live is not None
    return live.session.status


async def test_a_call_is_run_and_its_result_is_sent_back(tmp_path: Path) -> None:
    made = bench(tmp_path, [calling(("echo", {"word": "hi"}), text="Let me see."), [ANSWER]], a_tool("echo"))
    session_id = await ask(made)
    assert [(one.role, one.state) for one in made.messages(session_id)] == [
        (Role.USER, MessageState.DONE),
        (Role.ASSISTANT, MessageState.DONE),
        (Role.TOOL, MessageState.DONE),
        (Role.ASSISTANT, MessageState.DONE),
    ]
    sent = made.models.requests[1].messages
    assert [one["role"] for one in sent] == ["system", "user", "assistant", "tool"]
    assert sent[3]["content"] == '{"word": "hi"}'
    assert status(made, session_id) == Status.IDLE


async def test_calls_run_side_by_side(tmp_path: Path) -> None:
    meeting = asyncio.Barrier(3)

    async def meet(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        async with asyncio.timeout(5):
            await meeting.wait()
        return ToolResult(content="met")

    script = [calling(("meet", {"n": 1}), ("meet", {"n": 2}), ("meet", {"n": 3})), [ANSWER]]
    made = bench(tmp_path, script, a_tool("meet", meet))
    session_id = await ask(made)
    assert results(made, session_id) == [(MessageState.DONE, "met")] * 3


@pytest.mark.corpus(59)
@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("echo", "{not json", "not valid JSON"),
        ("echo", '{"a": [1', "not valid JSON"),
        ("echo", "[]", "one JSON object"),
        ("echo", '"text"', "one JSON object"),
        ("echo", '{"a": NaN}', "not valid JSON"),
        ("echo", json.dumps({"text": "x" * 10_000_000}), "at most 200000"),
        ("echo", "[" * 5000, "nested too deeply|not valid JSON"),
        ("rm", "{}", "There is no tool 'rm' here. Available: echo"),
        ("", "{}", "There is no tool"),
    ],
)
async def test_what_a_model_garbles_is_answered_to_it(
    tmp_path: Path, name: str, arguments: str, says: str
) -> None:
    made = bench(tmp_path, [calling((name, arguments)), [ANSWER]], a_tool("echo"))
    session_id = await ask(made)
    [(state, content)] = results(made, session_id)
    assert state == MessageState.FAILED
    assert any(word in content for word in says.split("|"))
    assert made.messages(session_id)[-1].content == ANSWER


@pytest.mark.corpus(60)
async def test_two_calls_with_one_id_get_a_result_each(tmp_path: Path) -> None:
    twins = [
        CallPiece(index=0, id="same", name="echo", arguments='{"n": 1}'),
        CallPiece(index=1, id="same", name="echo", arguments='{"n": 2}'),
        Finished(reason="tool_calls"),
    ]
    made = bench(tmp_path, [twins, [ANSWER]], a_tool("echo"))
    session_id = await ask(made)
    assert results(made, session_id) == [(MessageState.DONE, '{"n": 1}'), (MessageState.DONE, '{"n": 2}')]
    ids = [one["tool_call_id"] for one in made.models.requests[1].messages if one["role"] == "tool"]
    assert len(set(ids)) == 2


async def test_a_model_that_only_calls_tools_comes_to_an_end(tmp_path: Path) -> None:
    numbers = iter(range(1000))
    made = bench(tmp_path, [], a_tool("echo"), agents=(agent(tools=("echo",), max_steps=4),))
    made.models.otherwise = lambda _: calling(("echo", {"n": next(numbers)}))
    session_id = await ask(made)
    last = made.messages(session_id)[-1]
    assert last.state == MessageState.FAILED
    assert last.error is not None
    assert last.error.kind == "steps"
    assert len(made.models.requests) == 5
    assert len(results(made, session_id)) == 5
    assert status(made, session_id) == Status.PAUSED


async def test_a_tool_that_fails_is_told_to_the_model(tmp_path: Path) -> None:
    async def refuse(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        raise ToolError("No such page.")

    made = bench(tmp_path, [calling(("refuse", {})), [ANSWER]], a_tool("refuse", refuse))
    session_id = await ask(made)
    assert results(made, session_id) == [(MessageState.FAILED, "No such page.")]


@pytest.mark.allow_logs
async def test_a_fault_of_a_tool_harms_nobody(tmp_path: Path) -> None:
    async def burst(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        raise ZeroDivisionError("secret detail")

    made = bench(tmp_path, [calling(("burst", {})), [ANSWER]], a_tool("burst", burst))
    session_id = await ask(made)
    assert results(made, session_id) == [(MessageState.FAILED, "The tool failed: ZeroDivisionError.")]


async def test_a_budget_pauses_and_resuming_gives_another(tmp_path: Path) -> None:
    numbers = iter(range(1000))
    made = bench(
        tmp_path, [], a_tool("echo"), agents=(agent(tools=("echo",), max_steps=50),), max_model_calls=3
    )
    made.models.otherwise = lambda _: calling(("echo", {"n": next(numbers)}))
    session_id = await ask(made)
    live = made.engine.live(session_id)
    assert live is not None
    assert (live.session.status, live.session.reason) == (Status.PAUSED, "budget_model_calls:3")
    assert len(made.models.requests) == 3
    made.models.otherwise = lambda _: [ANSWER]
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.IDLE
    assert made.messages(session_id)[-1].content == ANSWER


def _question(made: Bench, session_id: str) -> Message:
    [question] = [one for one in made.messages(session_id) if one.asks]
    return question


@pytest.mark.parametrize(("answer", "ran"), [("allow", True), ("deny", False)])
async def test_a_tool_that_asks_runs_only_when_allowed(tmp_path: Path, answer: str, ran: bool) -> None:
    made = bench(tmp_path, [calling(("open", {"url": "x"})), [ANSWER]], a_tool("open", asks=True))
    session_id = await ask(made)
    assert status(made, session_id) == Status.WAITING
    question = _question(made, session_id)
    assert question.prompt is not None
    assert (question.prompt.type, question.prompt.tool, question.prompt.arguments) == (
        PromptType.APPROVAL,
        "open",
        '{"url": "x"}',
    )
    assert len(made.models.requests) == 1
    await made.engine.chats.answer(session_id, question.id, answer)
    await made.engine.wait(session_id)
    [(state, content)] = results(made, session_id)
    assert (state == MessageState.DONE) is ran
    assert ran or "did not allow" in content
    assert status(made, session_id) == Status.IDLE


@pytest.mark.threat("T14")
async def test_always_is_for_the_tool_and_the_session(tmp_path: Path) -> None:
    script = [calling(("open", {"n": 1})), calling(("open", {"n": 2}), ("other", {})), [ANSWER]]
    made = bench(tmp_path, script, a_tool("open", asks=True), a_tool("other", asks=True))
    session_id = await ask(made)
    await made.engine.chats.answer(session_id, _question(made, session_id).id, "always")
    await made.engine.wait(session_id)
    question = _question(made, session_id)
    assert question.prompt is not None
    assert question.prompt.tool == "other"


def _asker() -> Tool:
    async def put(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        prompt = Prompt(question=str(arguments.get("question")), type=PromptType.TEXT)
        return ToolResult(content="asked", prompt=prompt, control=Control.WAIT)

    return a_tool("promptUser", put)


async def test_a_question_waits_and_its_answer_goes_on(tmp_path: Path) -> None:
    script = [calling(("promptUser", {"question": "Which?"}), ("echo", {})), [ANSWER]]
    made = bench(tmp_path, script, _asker(), a_tool("echo"))
    session_id = await ask(made)
    assert status(made, session_id) == Status.WAITING
    assert len(results(made, session_id)) == 2
    await made.engine.chats.send(session_id, "The red one.")
    await made.engine.wait(session_id)
    sent = made.models.requests[1].messages
    assert [one["role"] for one in sent[2:]] == ["assistant", "tool", "tool", "user"]
    assert sent[-1]["content"] == "The red one."
    assert status(made, session_id) == Status.IDLE


async def test_a_question_survives_a_restart(tmp_path: Path) -> None:
    made = bench(tmp_path, [calling(("promptUser", {"question": "Which?"}))], _asker())
    session_id = await ask(made)
    await made.engine.shutdown()
    again = bench(tmp_path, [[ANSWER]], _asker())
    await asyncio.to_thread(again.store.prepare)  # type: ignore[attr-defined]
    assert not again.engine.chats.needs_you()
    await again.engine.open_waiting()
    [(_, question)] = again.engine.chats.needs_you()
    await again.engine.chats.answer(session_id, question.id, "Blue")
    await again.engine.wait(session_id)
    assert status(again, session_id) == Status.IDLE
    assert again.models.requests[0].messages[-1]["content"] == "Blue"


async def test_a_tool_that_may_have_run_is_not_run_again_unasked(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def send(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        return ToolResult(content="sent")

    made = bench(tmp_path, [calling(("send", {}))], a_tool("send", send, repeatable=False))
    session_id = await made.engine.chats.start("main", "Send it.")
    await asyncio.wait_for(started.wait(), 5)
    await made.engine.shutdown()
    ran: list[int] = []

    async def sent(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        ran.append(1)
        return ToolResult(content="sent")

    again = bench(tmp_path, [[ANSWER]], a_tool("send", sent, repeatable=False))
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    assert status(again, session_id) == Status.WAITING
    question = _question(again, session_id)
    assert question.prompt is not None
    assert question.prompt.reason == "may_have_run"
    assert not ran
    await again.engine.chats.answer(session_id, question.id, "allow")
    await again.engine.wait(session_id)
    assert ran == [1]
    states = [one.state for one in again.messages(session_id) if one.role == Role.TOOL]
    assert states == [MessageState.STOPPED, MessageState.DONE]


async def test_a_stopped_turn_leaves_every_call_with_a_result(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def hang(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        return ToolResult(content="never")

    made = bench(tmp_path, [calling(("hang", {}), ("hang", {"n": 2})), [ANSWER]], a_tool("hang", hang))
    session_id = await made.engine.chats.start("main", "Wait.")
    await asyncio.wait_for(started.wait(), 5)
    await made.engine.stop(session_id)
    assert status(made, session_id) == Status.STOPPED
    await made.engine.chats.send(session_id, "Never mind. Hello?")
    await made.engine.wait(session_id)
    roles = [one["role"] for one in made.models.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]


async def test_what_is_said_while_busy_queues_and_is_sent_in_order(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def wait(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await gate.wait()
        return ToolResult(content="ok")

    made = bench(tmp_path, [calling(("wait", {}))], a_tool("wait", wait))
    chats = made.engine.chats
    session_id = await chats.start("main", "First")
    live = made.engine.live(session_id)
    assert live is not None
    for text in ("Second", "Third", "Fourth"):
        await chats.send(session_id, text)
    second, third, fourth = live.chat_session.chat.queue
    await chats.edit_queued(session_id, second.id, "Second, better")
    await chats.move_queued(session_id, fourth.id, 0)
    await chats.remove_queued(session_id, third.id)
    gate.set()
    await made.engine.wait(session_id)
    said = [one.content for one in made.messages(session_id) if one.role == Role.USER]
    assert said == ["First", "Fourth", "Second, better"]
    assert not live.chat_session.chat.queue


async def test_send_now_stops_what_runs(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def hang(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        return ToolResult(content="never")

    made = bench(tmp_path, [calling(("hang", {})), [ANSWER]], a_tool("hang", hang))
    session_id = await made.engine.chats.start("main", "First")
    await asyncio.wait_for(started.wait(), 5)
    await made.engine.chats.send(session_id, "Stop that")
    live = made.engine.live(session_id)
    assert live is not None
    await made.engine.chats.send_now(session_id, live.chat_session.chat.queue[0].id)
    await made.engine.wait(session_id)
    assert made.messages(session_id)[-1].content == ANSWER
    assert not live.chat_session.chat.queue


async def test_the_first_ready_provider_speaks_for_an_assistant_without_one(tmp_path: Path) -> None:
    made = bench(tmp_path, [[ANSWER]], agents=(agent(provider="", model=""),))
    await ask(made)
    assert made.models.requests[0].provider == remotes()[0].id


@pytest.mark.parametrize("ends", [[ProviderError("auth", "401")], [ANSWER]])
async def test_a_turn_that_is_over_keeps_its_signed_thoughts(tmp_path: Path, ends: Script) -> None:
    thoughts = {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}
    call = [*calling(("echo", {}))[:-1], Finished(reason="tool_calls", state=thoughts)]
    made = bench(tmp_path, [call, ends, [ANSWER]], a_tool("echo"))
    session_id = await ask(made)
    await made.engine.chats.send(session_id, "Go on.")
    await made.engine.wait(session_id)
    [asked] = [one for one in made.models.requests[-1].messages if "tool_calls" in one]
    assert asked["thinking_blocks"] == thoughts["thinking_blocks"]


async def test_who_writes_in_the_moment_it_becomes_idle_gets_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(tmp_path, [[ANSWER], [ANSWER]])
    flush = made.store.flush

    async def slow_disk(session_id: str) -> None:
        await asyncio.sleep(0.05)
        await flush(session_id)

    monkeypatch.setattr(made.store, "flush", slow_disk)
    sent: list[asyncio.Task[None]] = []

    def write_at_once(events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, SessionChanged) and event.session.status == Status.IDLE and not sent:
                sent.append(asyncio.create_task(made.engine.chats.send(event.session_id, "And?")))

    made.engine.bus.subscribe(write_at_once)
    session_id = await ask(made)
    await asyncio.gather(*sent)
    await made.engine.wait(session_id)
    assert [one.role for one in made.messages(session_id)] == [
        Role.USER,
        Role.ASSISTANT,
        Role.USER,
        Role.ASSISTANT,
    ]
    assert len(made.models.requests) == 2
    assert status(made, session_id) == Status.IDLE


@pytest.mark.parametrize(
    ("failed", "calls", "allowed"), [("paid", 3, 0), ("free", 3, 1), ("paid", 4, 1), ("free", 2, 0)]
)
def test_a_call_that_failed_counts_where_it_was_paid(failed: str, calls: int, allowed: int) -> None:
    """Two answers and a call that failed: as many more as the limit leaves."""
    author = Author(id="main", name="Main", kind="assistant")
    said = Message(id="m0", turn_id="t", role=Role.ASSISTANT, author=author, state=MessageState.DONE)
    used = Usage(input_tokens=3, cost_usd=0.5) if failed == "paid" else None
    lost = replace(said, id="m2", state=MessageState.FAILED, usage=used)
    budget = Budget(
        lambda: replace(Settings(), max_model_calls=calls, max_cost_usd=0),
        (said, replace(said, id="m1"), lost),
        lambda: 0.0,
    )
    assert [budget.take_model_call() for _ in range(allowed + 1)] == [True] * allowed + [False]
