"""The quick chat comes by its keys while another program is in front, on a real X server with a window manager."""

import json
import subprocess

import pytest

from tests.desktop.desktops import missing as lacking
from tests.desktop.desktops import wait
from tests.desktop.test_walks import at_the_screen
from tests.desktop.user import KeyboardUser
from tests.screen_reader import missing
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

NEEDED = missing() or lacking("xdotool", "xclip", "openbox")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.desktop,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(NEEDED), reason=NEEDED),
]
TITLE = "Quick chat – Moot"


def test_a_question_is_asked_while_moot_is_minimized(data_dir, wire_home, tmp_path):  # noqa: F811
    wire_home["openai"].script("openai-wire", ["It is read."])
    data_dir.mkdir(exist_ok=True)
    settings = {"version": 1, "shortcuts": ["quick_chat=Ctrl+Alt+Space"]}
    (data_dir / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    with at_the_screen(KeyboardUser, tmp_path) as user:

        def xdotool(*words):
            done = subprocess.run(
                ("xdotool", *words), env=user._environment, capture_output=True, text=True, check=False
            )
            return done.stdout.strip()

        def in_front():
            return xdotool("getwindowfocus", "getwindowname")

        # Another program has the keyboard: Moot's window is out of the way.
        xdotool("getactivewindow", "windowminimize")
        wait(lambda: in_front() != "Moot", "the window to be minimized")
        user.presses("ctrl+alt+space")
        wait(lambda: in_front() == TITLE, "the quick chat in front")
        user.writes("Message ", "Is this read?")
        user.presses("Return")
        user.reads("It is read.")
        user.presses("Escape")
        wait(lambda: not xdotool("search", "--onlyvisible", "--name", TITLE), "the quick chat to go")
        user.presses("ctrl+alt+space")
        wait(lambda: in_front() == TITLE, "the quick chat in front again")
        user.uses("Open in the main window", "push button")
        wait(lambda: in_front() == "Moot", "the main window")
        user.reads("It is read.")
