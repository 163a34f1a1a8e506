"""Answers with many tool calls: the first 32 are carried out, 8 at once, and looking at them takes linear time."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.core.message import MessageState, Role
from app.core.provider import ModelRequest
from app.core.session import Status
from app.core.settings import Settings
from app.core.tool import ToolContext, ToolResult
from app.engine.turns import context
from app.engine.turns.context import MOST_AT_ONCE, MOST_CALLS
from app.engine.turns.tool_calls import ToolCalls
from tests.builders import Bench, Script, a_bench, a_log_store, left_open, until
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import ANSWER, a_tool, agent, ask, bench, calling, results, status

MANY = 40


class Crowd:
    """A tool that notes which of its calls ran, and how many at once."""

    def __init__(self) -> None:
        self.ran: list[int] = []
        self.running = self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        self.running += 1
        self.most = max(self.most, self.running)
        number = arguments["n"]
        assert isinstance(number, int)
        self.ran.append(number)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        finally:
            self.running -= 1
        return ToolResult(content=f"page {number}")


def numbered(numbers: range, name: str = "fetch") -> Script:
    return calling(*((name, {"n": number}) for number in numbers))


async def test_of_forty_calls_thirty_two_run_eight_at_once_and_the_rest_when_sent_again(
    tmp_path: Path,
) -> None:
    crowd = Crowd()
    script = [numbered(range(MANY)), numbered(range(MOST_CALLS, MANY)), [ANSWER]]
    made = bench(tmp_path, script, a_tool("fetch", crowd.run))
    session_id = await ask(made)
    assert crowd.most == MOST_AT_ONCE
    assert sorted(crowd.ran) == list(range(MANY))
    # Each call has one result, which the model is sent; those that were left out say so.
    sent = [one for one in made.models.requests[1].messages if one["role"] == Role.TOOL]
    assert len(sent) == MANY
    texts = [str(one["content"]) for one in sent]
    assert sorted(texts)[-MOST_CALLS:] == sorted(f"page {n}" for n in range(MOST_CALLS))
    left_out = [text for text in texts if not text.startswith("page")]
    assert len(left_out) == MANY - MOST_CALLS
    says = "Not carried out: of the 40 calls of this answer the first 32 were. "
    says += "Look at their results, then send this call again if it is still needed."
    assert set(left_out) == {says}
    assert status(made, session_id) == Status.IDLE


async def test_what_was_left_out_counts_as_no_call_and_may_be_sent_until_it_is_carried_out(
    tmp_path: Path,
) -> None:
    crowd = Crowd()
    # All at first, then all that is left: the last are left out three times before they are carried out.
    script = [numbered(range(start, 128)) for start in range(0, 128, MOST_CALLS)]
    made = bench(tmp_path, [*script, [ANSWER]], a_tool("fetch", crowd.run))
    session_id = await ask(made)
    assert Counter(crowd.ran) == Counter(range(128))
    assert status(made, session_id) == Status.IDLE


async def test_who_sends_too_many_of_the_same_for_ever_is_stopped(tmp_path: Path) -> None:
    crowd = Crowd()
    made = bench(tmp_path, [], a_tool("fetch", crowd.run), agents=(agent(tools=("fetch",), max_steps=8),))
    made.models.otherwise = lambda _: numbered(range(MANY))
    session_id = await ask(made)
    last = made.messages(session_id)[-1]
    assert (last.state, last.error.kind if last.error else "") == (MessageState.FAILED, "repeated")
    assert Counter(crowd.ran) == Counter([*range(MOST_CALLS)] * 2)


async def test_of_forty_sub_agents_thirty_two_are_called_eight_at_once(tmp_path: Path) -> None:
    open_now: list[int] = []

    def answer(request: ModelRequest) -> Script:
        if who(request) != "main":
            open_now.append(made.models.open + 1)
            return ["part ", "done"]
        if any(one["role"] == Role.TOOL for one in request.messages):
            return [ANSWER]
        return calling(*[("subAgent", {"name": "a", "task": f"Part {n}"}) for n in range(MANY)])

    agents = (agent("main", tools=("subAgent",), sub_agents=("a",)), agent("a"))
    made = a_bench(a_log_store(tmp_path), agents=agents)
    made.models.otherwise = answer
    made.documents._settings = Settings(max_sub_agent_runs=0, max_model_calls=0)
    left_open.append(made)
    session_id = await ask(made)
    called = [one for one in made.models.requests if who(one) == "a"]
    assert len(called) == MOST_CALLS and max(open_now) <= MOST_AT_ONCE
    contents = [content for _, content in results(made, session_id)]
    assert sum(content.startswith("Not carried out") for content in contents) == MANY - MOST_CALLS
    assert sum(json.loads(one)["ok"] for one in contents if not one.startswith("Not")) == MOST_CALLS


async def test_of_forty_calls_that_need_approval_thirty_two_are_asked_about_together(tmp_path: Path) -> None:
    crowd = Crowd()
    tool = a_tool("delete", crowd.run, asks=True, repeatable=False)
    made = bench(tmp_path, [numbered(range(MANY), "delete"), [ANSWER]], tool)
    session_id = await ask(made)
    asked = [question.id for of, question in made.engine.chats.needs_you() if of == session_id]
    assert len(asked) == MOST_CALLS and not crowd.ran
    await made.engine.chats.answer_calls(session_id, asked, "allow")
    await made.engine.wait(session_id)
    assert sorted(crowd.ran) == list(range(MOST_CALLS)) and crowd.most <= MOST_AT_ONCE
    assert len(results(made, session_id)) == MANY


async def test_after_a_cut_in_the_middle_the_same_calls_are_carried_out_and_none_twice(
    tmp_path: Path,
) -> None:
    crowd = Crowd()
    tool = a_tool("delete", crowd.run, repeatable=False)
    made = bench(tmp_path, [numbered(range(MANY), "delete")], tool)
    crowd.gate.clear()
    session_id = await made.engine.chats.start("main", "Do it.")
    await until(lambda: crowd.running == MOST_AT_ONCE)
    begun = set(crowd.ran)
    assert len(begun) == MOST_AT_ONCE
    await made.engine.shutdown()
    left_open.remove(made)
    crowd.gate.set()
    again: Bench = bench(tmp_path, [[ANSWER]], tool)
    await again.engine.open(session_id)
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    # Those that had begun may have run: the user is asked about each, and the others have run.
    asked = [question for of, question in again.engine.chats.needs_you() if of == session_id]
    assert {json.loads(one.prompt.arguments)["n"] for one in asked if one.prompt} == begun
    for question in asked:
        await again.engine.chats.answer(session_id, question.id, "deny")
    await again.engine.wait(session_id)
    assert status(again, session_id) == Status.IDLE
    assert Counter(crowd.ran) == Counter(range(MOST_CALLS))
    ended = Counter(
        one.tool_call_id for one in again.messages(session_id) if one.role == Role.TOOL and one.ended
    )
    assert len(ended) == MANY and set(ended.values()) == {1}


@pytest.mark.slow
async def test_the_arguments_of_each_call_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = context.canonical
    monkeypatch.setattr(context, "canonical", lambda text: (read.append(text), real(text))[1])
    for rounds in (20, 40):
        read.clear()
        script = [numbered(range(5 * start, 5 * start + 5)) for start in range(rounds)]
        tools = (a_tool("fetch", Crowd().run),)
        made = bench(
            tmp_path / str(rounds), [*script, [ANSWER]], *tools,
            agents=(agent(tools=("fetch",), max_steps=rounds),), max_tool_rounds=0, max_model_calls=0,
        )  # fmt: skip
        session_id = await ask(made)
        assert status(made, session_id) == Status.PAUSED and len(results(made, session_id)) == 5 * rounds
        assert len(read) == 5 * rounds


async def test_the_work_grows_with_the_number_of_calls_and_not_with_its_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is counted are the functions that are called from the end of the answer to the last result."""
    steps, real = [0], ToolCalls.answer_all

    def note(*_: object) -> None:
        steps[0] += 1

    async def counted(*values: Any, **named: Any) -> Any:
        sys.setprofile(note)
        try:
            return await real(*values, **named)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(ToolCalls, "answer_all", counted)
    work = []
    for count in (100, 400):
        steps[0] = 0
        made = bench(tmp_path / str(count), [numbered(range(count)), [ANSWER]], a_tool("fetch", Crowd().run))
        assert len(results(made, await ask(made))) == count
        work.append(steps[0])
    assert work[1] < 6 * work[0]


async def test_what_cannot_be_repeated_is_on_the_disk_before_it_runs(tmp_path: Path) -> None:
    on_disk: list[str] = []

    async def fire(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        log = tmp_path / "sessions" / f"{context.session_id}.jsonl"
        on_disk.append(await asyncio.to_thread(log.read_text, "utf-8"))
        return ToolResult(content="Fired.")

    tool = a_tool("fire", fire, repeatable=False)
    made = bench(tmp_path, [calling(("fire", {"n": 1}), ("fire", {"n": 2})), [ANSWER]], tool)
    session_id = await ask(made)
    ran = [one.id for one in made.messages(session_id) if one.role == Role.TOOL]
    assert len(on_disk) == len(ran) == 2
    assert all(f'"{message_id}"' in said for message_id, said in zip(ran, on_disk, strict=True))


@pytest.mark.parametrize("over", [0, 1])
async def test_a_result_is_cut_above_a_hundred_thousand_characters(tmp_path: Path, over: int) -> None:
    text = "ab" * 50_000 + "c" * over

    async def tell(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(content=text)

    made = bench(tmp_path, [calling(("tell", {})), [ANSWER]], a_tool("tell", tell))
    note = "\n… (cut; it had 100001 characters)" if over else ""
    assert results(made, await ask(made)) == [("done", "ab" * 50_000 + note)]
