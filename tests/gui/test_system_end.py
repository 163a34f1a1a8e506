"""A logout, a shutdown and ⌘Q end Moot in order: nothing is asked, nothing cancels them, and all is saved."""

import json
import subprocess
import sys
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from tests.app_driver import at_window, until
from tests.stories.processes import PROJECT, Running
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

# What the screen of the tests cannot do.
pytestmark = pytest.mark.qt_log_ignore("does not support raise", "systemTrayWindowChanged", extend=True)


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("system", "how"), [("darwin", "quit"), ("linux", "quit"), ("win32", "logout")])
@pytest.mark.parametrize("tray", [False, True])
def test_what_runs_is_paused_and_saved_at_a_logout(
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    system,
    how,
    tray,
):
    """With `tray` closing the window hides it; without, closing asks what becomes of what runs."""
    for server in wire_servers.values():
        for model in server.models:
            server.script(model, lambda _request: Answer("one two three four five six seven", pace=0.05))
    (data_dir / "settings.json").write_text(json.dumps({"version": 1, "tray": tray}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.gui.ended_by_system", system]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=PROJECT, text=True, **pipes) as window:
        try:
            deadline = time.monotonic() + 90
            while not (data_dir / "control").exists():
                assert window.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            kinds = ("openai", "anthropic")
            speakers = [f"-p={kind}={kind}/{wire_servers[kind].models[0]}" for kind in kinds]
            with Running("debate", "Is it so?", *speakers, "--rounds", "10", "--json") as debate:
                debate.event("message.finished", count=3, seconds=90)
                out, err = window.communicate(f"{how}\n", timeout=60)
        finally:
            window.kill()
    assert (window.returncode, out) == (0, ""), err
    assert "Traceback" not in err, err
    assert not (data_dir / "control").exists()
    # Paused by the end of Moot and written down so, not only found so at the next start.
    [log] = (data_dir / "sessions").glob("*.jsonl")
    assert '"status": "paused"' in log.read_text("utf-8").replace('":"', '": "')
    assert "app_closed" in log.read_text("utf-8")


async def test_the_icon_in_the_dock_brings_a_hidden_window_back(qapp, data_dir, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    came = qapp.applicationStateChanged
    async with at_window(data_dir) as person:
        window = person.window
        window.controller.settings.change({"tray": True})
        window.close()
        assert not window.isVisible()
        # Elsewhere the program is active as soon as the menu of its icon is open.
        came.emit(Qt.ApplicationState.ApplicationActive)
        await person.settle()
        assert not window.isVisible()
        with monkeypatch.context() as mac:
            mac.setattr(sys, "platform", "darwin")
            came.emit(Qt.ApplicationState.ApplicationInactive)
            await person.settle()
            assert not window.isVisible()
            came.emit(Qt.ApplicationState.ApplicationActive)
            await until(window.isVisible)
            # The quick chat comes alone.
            window.controller.quick.show()
            window.hide()
            came.emit(Qt.ApplicationState.ApplicationActive)
            await person.settle()
            assert not window.isVisible()
            assert any(one.objectName() == "quick_window" for one in QApplication.topLevelWidgets())
