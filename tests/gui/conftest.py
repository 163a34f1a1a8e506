"""The tests of this folder have hosts that need not load LiteLLM and MCP each time, and a view of a chat."""

import pytest
from pytestqt.qtbot import QtBot

from app.gui.display.appearance import Look
from app.storage.paths import resources_dir
from tests.gui.shown_view import shown_view
from tests.split_hosts import loaded_host, loaded_tool_host, own_host, split_hosts

__all__ = ["loaded_host", "loaded_tool_host", "own_host", "split_hosts"]


@pytest.fixture(autouse=True)
def late_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a window start its model host when it needs it, not ahead of that: most tests here ask no model."""
    if not request.node.get_closest_marker("own_host"):
        monkeypatch.setattr("app.startup.WARM_UP_AFTER_S", 3_600.0)


@pytest.fixture
def view(qtbot: QtBot):
    """Return a shown, empty view of a chat."""
    return shown_view(qtbot, 700, 500)


@pytest.fixture
def look(qapp):
    """Return the light theme."""
    result = Look(qapp, resources_dir(), "light")
    yield result
    result.deleteLater()
