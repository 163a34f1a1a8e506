"""One long turn, an assistant's or a sub-agent's: notes by its model stand for its early calls, once shorter results do not do."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.core.errors import FailureKind, ProviderError
from app.core.message import Message, Role, SummaryNote
from app.core.provider import ModelFacts, ModelRequest
from app.core.session import Status
from app.core.settings import Settings
from app.core.tool import ToolContext, ToolResult
from app.engine.history import request_tokens
from tests.builders import Bench, Script, a_bench
from tests.engine.request_rules import as_sent, check_legal
from tests.engine.test_sub_agents import who
from tests.engine.test_turn import a_tool, agent, calling
from tests.memory import MemoryStore, cut_around_summary

WINDOW = 8_192
CALLS = 70
NOTES = "The key is under stone 3."
TASK = "Look under every stone."


def asks_for_notes(request: ModelRequest) -> bool:
    return "your work on this task becomes too long" in as_sent(request)


async def _look(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(content=f"Under stone {arguments['stone']} there is nothing. " + "Sand. " * 50)


def _bench(store: MemoryStore, worker: str, notes: Script = (NOTES,)) -> Bench:
    """Return an engine whose worker looks under one stone after the other; each call says how far it is."""
    people = (
        agent(sub_agents=("sub",), tools=("look", "subAgent"), max_steps=CALLS + 9),
        agent("sub", tools=("look",), max_steps=CALLS + 9),
    )
    made = a_bench(store, agents=people, tools=(a_tool("look", _look),))
    facts = ModelFacts(window=WINDOW, most_output=1_000)
    made.models.known_facts = lambda provider, model: facts  # type: ignore[method-assign]
    made.documents._settings = replace(
        Settings(), max_month_usd=0.0, max_model_calls=500, max_tool_rounds=500
    )

    def answer(request: ModelRequest) -> Script:
        if asks_for_notes(request):
            return notes
        if who(request) != worker:
            results = [one for one in request.messages if one["role"] == "tool"]
            return ["Done."] if results else calling(("subAgent", {"name": "sub", "task": TASK}))
        live = next(iter(made.engine._sessions._live.values()))
        stones = sum(one.role == Role.TOOL and one.author.id == worker for one in live.messages)
        return calling(("look", {"stone": stones})) if stones < CALLS else ["All seen."]

    made.models.otherwise = answer
    return made


async def _looked(made: Bench) -> str:
    session_id = await made.engine.chats.start("main", TASK)
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    return session_id


def _notes(made: Bench, session_id: str) -> list[Message]:
    return [one for one in made.messages(session_id) if one.role == Role.SUMMARY]


@pytest.mark.parametrize("worker", ["main", "sub"])
async def test_notes_stand_for_the_early_calls_and_the_task_stays(worker: str) -> None:
    made = _bench(MemoryStore(), worker)
    session_id = await _looked(made)
    found = _notes(made, session_id)
    assert found and {(one.note, one.agent_id, one.content) for one in found} == {("auto", worker, NOTES)}
    assert all(one.usage is not None and one.model == "remote0/model-0" for one in found)
    own = [one for one in made.models.requests if who(one) == worker]
    for request in own:
        check_legal(request)
        assert request_tokens(request) < WINDOW - 1_000 and TASK in as_sent(request)
    place = next(at for at, one in enumerate(own) if asks_for_notes(one))
    before, asked, after = own[place - 1 : place + 2]
    # All that is asked about is what the call before was sent.
    assert asked.tools == before.tools and asked.messages[:-1] == before.messages[: len(asked.messages) - 1]
    text = as_sent(after)
    assert NOTES in text and "is summarised here" in text and "Under stone 0 " not in text
    kept = [one for one in after.messages if one["role"] == "tool"]
    assert len(kept) == 10 and all(len(str(one["content"])) > 300 for one in kept)
    assert as_sent(own[-1]).count(NOTES) == 1 and f"Under stone {CALLS - 1} " in as_sent(own[-1])
    assert len([one for one in made.messages(session_id) if one.role == Role.TOOL]) >= CALLS, "all is kept"
    await made.engine.shutdown()


async def test_where_the_model_gives_none_the_calls_are_listed() -> None:
    made = _bench(MemoryStore(), "main", [ProviderError(FailureKind.SERVER)])
    session_id = await _looked(made)
    found = _notes(made, session_id)
    assert {one.note for one in found} == {SummaryNote.EXTRACT}
    assert '- look({"stone": 0}) → Under stone 0 there is nothing.' in found[-1].content
    for request in made.models.requests:
        check_legal(request)
    await made.engine.shutdown()


async def test_killed_at_any_point_it_comes_to_the_same_notes_and_asks_for_none_twice() -> None:
    store = MemoryStore()
    made = _bench(store, "main")
    session_id = await _looked(made)
    notes = _notes(made, session_id)[0]
    left = list(cut_around_summary(store))
    await made.engine.shutdown()
    for rest, saved in left:
        again = _bench(rest, "main")
        await again.engine.open(session_id)
        await again.engine.resume(session_id)
        await again.engine.wait(session_id)
        found = _notes(again, session_id)[0]
        assert (found.through_message, found.content) == (notes.through_message, notes.content)
        asked = sum(asks_for_notes(one) for one in again.models.requests)
        assert asked == len(_notes(again, session_id)) - saved
        stones = [
            json.loads(call.arguments)["stone"]
            for one in again.messages(session_id)
            for call in one.tool_calls
        ]
        assert stones == list(range(CALLS)), "no call was made twice"
        await again.engine.shutdown()
