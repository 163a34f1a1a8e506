"""Evidence in councils: answers that may search the web, and what was found in the requests of everybody."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import NO_JUDGE
from app.core.message import Role
from app.core.provider import ModelRequest
from app.core.session import DebateTools, Status
from app.core.tool import ToolContext, ToolResult
from app.engine.council.record import Record
from tests.builders import Script, a_bench, a_log_store
from tests.engine.test_council import SAYS, debated, held, wanted
from tests.engine.test_turn import a_tool, calling


@pytest.mark.parametrize("tools", [DebateTools.NONE, DebateTools.READING])
async def test_answers_may_read_the_web_and_everybody_is_shown_what_was_found(
    tmp_path: Path, tools: str
) -> None:
    runs: list[str] = []

    async def search(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        runs.append(str(arguments["query"]))
        return ToolResult(content=f"Found for {arguments['query']}.")

    def reading(request: ModelRequest) -> Script:
        read = any(one["role"] == Role.TOOL for one in request.messages)
        if request.tools and not read and request.model != "model-2":
            return calling(("web_search", {"query": request.model}))
        return debated(
            replace(request, messages=tuple(one for one in request.messages if one["role"] == "user"))
        )

    store = a_log_store(tmp_path)
    made = a_bench(store, tools=(a_tool("web_search", search, group="web"), a_tool("open_url", group="web")))
    made.models.otherwise = reading
    session_id = await held(made, wanted(setup=replace(wanted().setup, tools=tools)))
    assert sorted(runs) == (["model-0", "model-1"] if tools == DebateTools.READING else [])
    offered = {one["function"]["name"] for request in made.models.requests for one in request.tools}  # type: ignore[index]
    assert offered == ({"web_search"} if tools == DebateTools.READING else set())
    # Nobody reads what others found before all have answered.
    for request in made.models.requests:
        others = {"model-0", "model-1"} - {request.model}
        assert not any(f"Found for {one}" in str(request.messages) for one in others)
    before = len(made.models.requests)
    await made.engine.councils.debate(session_id, judge=NO_JUDGE)
    await made.engine.wait(session_id)
    rounds = made.models.requests[before:]
    live = made.engine.live(session_id)
    assert live is not None and live.session.status == Status.COMPLETED and len(rounds) == 6
    for request in rounds:
        assert request.tools == ()
        text = str(request.messages)
        found = 'e1 (web_search {"query": "model-0"})' in text and "Found for model-1." in text
        assert found is (tools == DebateTools.READING)
    record = Record(live.debate_session.debate, live.messages)
    assert [one.content for one in record.answers().values()] == [*SAYS.values()]
    await made.engine.shutdown()
