"""Korean typed into the real program, with ibus-hangul and with fcitx5-hangul."""

import json
import signal
from pathlib import Path

import pytest

from tests.desktop.desktops import Desktop, desktop, missing, wait
from tests.stories.processes import Running

pytestmark = [pytest.mark.slow, pytest.mark.desktop]
PROFILE = """[Groups/0]
Name=Default
Default Layout=us
DefaultIM=hangul

[Groups/0/Items/0]
Name=hangul
Layout=

[GroupOrder]
0=Default
"""


@pytest.fixture
def desk():
    with desktop() as desk:
        desk.start_screen()
        desk.start_bus()
        desk.environment |= {"QT_QPA_PLATFORM": "xcb", "LANG": "C.UTF-8"}
        yield desk


def drafts(data_dir: Path) -> str:
    """Return what is written and not sent."""
    files = (data_dir / "drafts").glob("*.json")
    return "".join(json.loads(file.read_text("utf-8")).get("text", "") for file in files)


def typed(desk: Desktop, data_dir: Path, *switch: str, engine: str = "") -> str:
    """Write 한글 and a space into a new chat; return what Moot has of it."""
    with Running("--lang", "en", environment=desk.environment) as running:

        def windows() -> list[str]:
            return desk.run("xdotool", "search", "--onlyvisible", "--pid", str(running.pid)).split()

        desk.run("xdotool", "windowfocus", "--sync", wait(windows, "the window")[-1])
        if engine:
            wait(
                lambda: desk.run("ibus", "engine", engine) or desk.run("ibus", "engine").strip() == engine,
                engine,
            )

        def begin() -> str:
            desk.keys("ctrl+n", "1")
            return drafts(data_dir)

        # The window takes keys once it is furnished.
        wait(begin, "a first letter")
        desk.keys("ctrl+a", "BackSpace", *switch, *"gksrmf", "space", "1")
        # On a busy machine several first letters are still to come.
        wait(lambda: drafts(data_dir).endswith("1") and " " in drafts(data_dir), "the word")
        running.send(signal.SIGTERM)
        assert running.finish().status == 0
        return drafts(data_dir)


NO_IBUS = missing(
    "Xvfb", "dbus-daemon", "xdotool", "ibus-daemon", "ibus", "/usr/share/ibus/component/hangul.xml"
)


@pytest.mark.skipif(bool(NO_IBUS), reason=NO_IBUS)
def test_korean_is_typed_with_ibus(desk, data_dir):
    desk.environment |= {"QT_IM_MODULE": "ibus", "XMODIFIERS": "@im=ibus"}
    desk.start("ibus-daemon", "--panel=disable")
    wait(lambda: "hangul" in desk.run("ibus", "list-engine"), "ibus")
    assert typed(desk, data_dir, "Hangul", engine="hangul") == "한글 1"


NO_FCITX = missing("Xvfb", "dbus-daemon", "xdotool", "fcitx5", "/usr/share/fcitx5/inputmethod/hangul.conf")


@pytest.mark.skipif(bool(NO_FCITX), reason=NO_FCITX)
def test_korean_is_typed_with_fcitx5_and_a_space_stands_behind_the_word(desk, data_dir):
    folder = Path(desk.environment["XDG_CONFIG_HOME"]) / "fcitx5"
    folder.mkdir()
    (folder / "profile").write_text(PROFILE)
    desk.environment |= {"QT_IM_MODULE": "fcitx", "XMODIFIERS": "@im=fcitx"}
    desk.start("fcitx5", "--disable=wayland,waylandim,kimpanel,notifications")
    wait(lambda: desk.has_name("org.freedesktop.IBus"), "fcitx5")
    assert typed(desk, data_dir) == "한글 1"
