"""Settings mode: chosen in the middle of a turn it binds what is to come; it lasts over a restart."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.core.message import Role
from app.core.session import AgentMode
from app.core.tool import ToolContext, ToolResult
from tests.builders import until
from tests.engine.test_turn import ANSWER, a_tool, bench, calling

BOTH = (AgentMode.DEFAULT, AgentMode.SETTINGS)


async def test_chosen_in_the_middle_of_a_turn_it_binds_what_is_to_come(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def look(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await gate.wait()
        return ToolResult(content="seen")

    script = [calling(("look", {})), calling(("act", {})), [ANSWER]]
    made = bench(tmp_path, script, a_tool("look", look, modes=BOTH), a_tool("act"))  # type: ignore[arg-type]
    session_id = await made.engine.chats.start("main", "Look, then act.")
    await until(lambda: len(made.models.requests) == 1 and len(made.messages(session_id)) > 2)
    await made.engine.chats.choose_mode(session_id, AgentMode.SETTINGS)
    gate.set()
    await made.engine.wait(session_id)
    offered = [[one["function"]["name"] for one in request.tools] for request in made.models.requests]  # type: ignore[index]
    assert offered == [["act", "look"], ["look"], ["look"]]
    said = [one.content for one in made.messages(session_id) if one.role == Role.TOOL]
    assert said[0] == "seen"
    assert said[1].startswith("act may not be used in settings mode") and said[1].endswith("Available: look.")


async def test_it_lasts_over_a_restart_and_only_the_two_modes_are_any(tmp_path: Path) -> None:
    made = bench(tmp_path, [[ANSWER]], a_tool("act"))
    with pytest.raises(BadInput, match="unknown_mode"):
        await made.engine.chats.start("main", "Hello", mode="free")
    session_id = await made.engine.chats.start("main", "Hello", mode=AgentMode.SETTINGS)
    await made.engine.wait(session_id)
    await made.engine.shutdown()
    again = bench(tmp_path, [[ANSWER]], a_tool("act"))
    await again.engine.chats.send(session_id, "Again")
    await again.engine.wait(session_id)
    assert again.models.requests[0].tools == ()
    with pytest.raises(BadInput, match="unknown_mode"):
        await again.engine.chats.choose_mode(session_id, "free")
    await again.engine.chats.choose_mode(session_id, AgentMode.DEFAULT)
    await again.engine.chats.send(session_id, "Now")
    await again.engine.wait(session_id)
    assert len(again.models.requests[-1].tools) == 1
