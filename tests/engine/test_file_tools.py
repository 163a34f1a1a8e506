"""Which turns are offered the tools for files of a session, and that no definition from elsewhere switches them on."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.provider import ModelRequest
from app.core.session import AgentMode, DebateTools
from app.core.tool import FILES
from app.tools import session_files
from tests.builders import Bench, a_bench, a_log_store, a_setup, left_open
from tests.engine.group_tools import bound
from tests.engine.test_turn import agent

TOOLS = bound(*(tool for tool in session_files.TOOLS if tool.group == FILES))
KEYS = {tool.key for tool in TOOLS}


def bench(folder: Path, *agents: Agent) -> Bench:
    made = a_bench(a_log_store(folder), agents=agents, tools=TOOLS)
    made.models.otherwise = lambda _request: ["Said."]
    left_open.append(made)
    return made


def offered(request: ModelRequest) -> set[str]:
    return {one["function"]["name"] for one in request.tools}  # type: ignore[index]


@pytest.mark.parametrize(
    ("tools", "mode", "found"),
    [
        ((FILES,), AgentMode.DEFAULT, KEYS),
        (("read_file", "list_files"), AgentMode.DEFAULT, {"read_file", "list_files"}),
        ((), AgentMode.DEFAULT, set()),
        ((FILES,), AgentMode.SETTINGS, set()),
    ],
)
async def test_a_chat_has_what_is_ticked_and_nothing_in_read_only_mode(
    tmp_path: Path, tools: tuple[str, ...], mode: str, found: set[str]
) -> None:
    made = bench(tmp_path, agent("ann", tools=tools))
    await made.engine.wait(await made.engine.chats.start("ann", "Hello", mode=mode))
    assert offered(made.models.requests[0]) == found


async def test_a_debate_has_none_whatever_is_ticked(tmp_path: Path) -> None:
    made = bench(tmp_path, agent("ann", tools=(FILES, "write_file")))
    first, second = a_setup(2).participants
    people = (replace(first, id="ann", name="Ann"), second)
    setup = a_setup(2, participants=people, rounds=1, tools=DebateTools.OWN)
    await made.engine.wait(await made.engine.debates.start(setup))
    assert len(made.models.requests) >= 2
    assert all(request.tools == () for request in made.models.requests)


async def test_a_tool_that_is_switched_off_for_an_assistant_stays_off(tmp_path: Path) -> None:
    made = bench(tmp_path, agent("ann", tools=(FILES,)))
    await made.documents.change_settings(lambda one: replace(one, tools_off=("ann/delete_file",)))
    await made.engine.wait(await made.engine.chats.start("ann", "Hello"))
    assert offered(made.models.requests[0]) == KEYS - {"delete_file"}


async def test_a_shared_assistant_comes_without_them(tmp_path: Path) -> None:
    made = bench(tmp_path, agent("ann", tools=(FILES, "write_file")))
    assert {tool.key for tool in made.engine.assistants.tools() if tool.group == FILES} == KEYS
    shared = made.engine.assistants.read_shared(made.engine.assistants.share("ann"))
    assert shared.definition.tools == ()
    assert shared.dropped == ("tools: files", "tools: write_file")
