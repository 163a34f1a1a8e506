"""`moot mcp` and the window: opened before what an agent begins, after it, and closed meanwhile."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.cli.control import owner_pid
from app.core.session import ExportFormat
from app.gui.widgets.notices import Toast
from app.storage.paths import DataPaths
from tests.app_driver import Person, at_window, until
from tests.mcp_caller import begun, calling, first_session, numbered
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import WireServer

__all__ = ["wire_home", "wire_servers"]


async def statements_in(person: Person, session_id: str, count: int) -> list[str]:
    """Show a debate in the window, and return what is said of its statements once they are so many."""
    person.window.controller.show_session(session_id)
    await until(lambda: person.sees("debate_transcript"))

    def shown() -> list[str]:
        return [one for one in person.transcript() if "Point" in one or "I say" in one]

    await until(lambda: len(shown()) >= count)
    return shown()


@pytest.mark.slow
async def test_a_window_that_is_open_shows_the_debate_and_steps_in(
    qapp: object, asked: WireServer, data_dir: Path
) -> None:
    numbered(asked, pace=0.2)
    async with at_window(data_dir) as person, calling(data_dir) as caller:
        call = await begun(caller)
        await until(lambda: asked.requests)
        session_id = first_session(data_dir)
        [toast] = person.window.toasts.findChildren(Toast)
        assert toast.text == "Claude Code began “Tea or coffee?”."
        await person.click("toast_action")
        await until(lambda: person.sees("debate_interject"))
        await person.write("debate_interject", "I say this in the window.")
        await person.press("debate_interject", Qt.Key.Key_Return)
        await caller.call("say", session_id=session_id, text="I say this from outside.")
        found = await caller.to_the_end(await call)
        shown = await statements_in(person, session_id, 6)
        assert person.window.top_bar.mode.text() == "Round robin · Asked by Claude Code"
        assert len(shown) == len(set(shown)) == 6
        [outside] = [one for one in shown if "I say this from outside." in one]
        assert "Claude Code (through MCP)" in outside
        [inside] = [one for one in shown if "I say this in the window." in one]
        assert "You" in inside and "MCP" not in inside
        engine = person.window.controller.engine
        document = await engine.export(session_id, ExportFormat.MARKDOWN)
        assert "Claude Code (through MCP)" in str(document)
    asked = str([one.body for one in asked.requests])
    assert "[Claude Code (through MCP)]: I say this from outside." in asked
    assert "[User]: I say this in the window." in asked
    assert found["status"] == "completed"
    # What the caller said itself is not told to it again.
    assert sorted(one["name"] for one in caller.statements) == ["Ada", "Ada", "Ben", "Ben", "User"]
    assert len(set(caller.said())) == 5


async def test_a_window_that_opens_later_takes_the_debate_over(
    qapp: object, asked: WireServer, data_dir: Path
) -> None:
    numbered(asked, pace=0.2)
    async with calling(data_dir) as caller:
        call = await begun(caller)
        await until(lambda: len(asked.requests) == 2)
        owner = owner_pid(DataPaths(data_dir).control)
        async with at_window(data_dir) as person:
            assert owner_pid(DataPaths(data_dir).control) == os.getpid() != owner
            session_id = first_session(data_dir)
            found = await caller.to_the_end(await call)
            shown = await statements_in(person, session_id, 4)
            # What was cut off when the window opened is marked so, and said again.
            whole = [one for one in shown if "stopped" not in one]
            assert len(whole) == len(set(whole)) == 4
    assert found["status"] == "completed"
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert len(set(caller.said())) == 4


@pytest.mark.slow
async def test_what_a_closed_window_leaves_goes_on_without_one(
    qapp: object, asked: WireServer, data_dir: Path
) -> None:
    numbered(asked, pace=0.2)
    async with calling(data_dir) as caller:
        async with at_window(data_dir):
            call = await begun(caller)
            await until(lambda: len(asked.requests) == 2)
        found = await caller.to_the_end(await call)
    assert found["status"] == "completed"
    assert [one["name"] for one in caller.statements] == ["Ada", "Ben", "Ada", "Ben"]
    assert len(set(caller.said())) == 4
