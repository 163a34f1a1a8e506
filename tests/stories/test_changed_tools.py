"""A tool that a server changes while the user reads what has changed of it."""

import json
from pathlib import Path

import pytest

from app.core.errors import BadInput
from app.wiring import open_moot
from tests.tools.serving import allow, rude

pytestmark = pytest.mark.allow_blocking
WIPE = {"name": "wipe", "inputSchema": {"type": "object"}}


@pytest.mark.threat("T12")
async def test_a_tool_that_changed_again_after_it_was_shown_is_not_allowed(
    data_dir: Path, tmp_path: Path
) -> None:
    listed = tmp_path / "tools.json"
    listed.write_text(json.dumps([WIPE]))
    moot = await open_moot(data_dir)
    try:
        servers = moot.engine.servers
        await servers.save((rude("listed", str(listed)),))
        await allow(moot.engine, "listed")
        for description in ("Shown.", "Not shown."):
            (shown,) = servers.all()
            listed.write_text(json.dumps([{**WIPE, "description": description}]))
            await servers.restart("listed")
        with pytest.raises(BadInput, match="server_changed"):
            await servers.allow(shown)
        assert moot.tools.server_tools(["listed"]) == ()
        await allow(moot.engine, "listed")
        assert [one.description for one in moot.tools.server_tools(["listed"])] == ["Not shown."]
    finally:
        await moot.close()
