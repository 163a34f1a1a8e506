"""Moot is started before the panel, as at signing in: its icon comes with the panel."""

import json
import signal

import pytest

from tests.desktop.desktops import desktop, missing, wait
from tests.stories.processes import Running, children_of

NEEDED = missing("Xvfb", "dbus-daemon", "xdotool", "trayer")
pytestmark = [pytest.mark.slow, pytest.mark.desktop, pytest.mark.skipif(bool(NEEDED), reason=NEEDED)]


def test_the_icon_comes_with_the_panel(data_dir):
    data_dir.mkdir()
    (data_dir / "settings.json").write_text(json.dumps({"version": 1, "tray": True}), encoding="utf-8")
    with desktop() as desk:
        desk.start_screen()
        desk.start_bus()
        desk.environment["QT_QPA_PLATFORM"] = "xcb"
        with Running("--lang", "en", environment=desk.environment) as running:

            def windows() -> list[str]:
                return desk.run("xdotool", "search", "--onlyvisible", "--pid", str(running.pid)).split()

            # It has begun to work once it has started the child that asks models.
            wait(lambda: windows() and children_of(running.pid), "the working window")
            assert len(windows()) == 1
            desk.start("trayer", "--edge", "top", "--width", "20")
            wait(lambda: len(windows()) == 2, "the icon in the panel")
            running.send(signal.SIGTERM)
            assert running.finish().status == 0
