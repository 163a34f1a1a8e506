"""The question of a real gnome-keyring, shown by gcr's prompter and answered late: with the keyboard or a click."""

import pytest
from keyring.backends import SecretService

from app.core.store import KeyNews
from app.storage.secrets import KeyringSecrets
from tests.app_driver import until
from tests.desktop.desktops import BUS_ADDRESS, PASSWORD, PROMPTER, Keyring, desktop, missing, wait

NEEDED = missing("dbus-daemon", "gnome-keyring-daemon", "secret-tool", "Xvfb", "xdotool", str(PROMPTER))
pytestmark = [pytest.mark.slow, pytest.mark.desktop, pytest.mark.skipif(bool(NEEDED), reason=NEEDED)]
FIRST, SECOND = "sk-canary-first-0123456789", "sk-canary-second-0123456789"
USER = "provider:openai"
OPENAI = ("openai", "openai")


@pytest.fixture
def desk(monkeypatch):
    with desktop() as desk:
        desk.start_screen()
        names = ("org.gnome.keyring.SystemPrompter", "org.gnome.keyring.PrivatePrompter")
        desk.start_bus(**dict.fromkeys(names, str(PROMPTER)))
        monkeypatch.setenv(BUS_ADDRESS, desk.environment[BUS_ADDRESS])
        yield desk


class Late:
    """Secrets in the real keyring, for which nobody waits long."""

    def __init__(self) -> None:
        self.secrets = KeyringSecrets(backend=SecretService.Keyring, environment={}, timeout=1.0)
        self.news: list[tuple[str, str]] = []
        self.secrets.on_news = lambda place, news: self.news.append((place, news))

    async def hear(self, *news: str) -> None:
        await until(lambda: news in self.news, 30, f"{news} in {self.news}")

    @property
    def key(self) -> tuple[str | None, str]:
        return self.secrets.get(*OPENAI), self.secrets.source(*OPENAI)


def prompt(desk) -> str:
    """Return the window of the question, once it is there and has the keyboard."""
    found = wait(
        lambda: desk.run("xdotool", "search", "--onlyvisible", "--class", "gcr-prompter").split(),
        "a question",
    )
    desk.run("xdotool", "windowfocus", "--sync", found[-1])
    return found[-1]


def click_cancel(desk, window: str) -> None:
    """Click the left of the two buttons in the corner of the question."""
    lines = desk.run("xdotool", "getwindowgeometry", "--shell", window).splitlines()
    place = dict(line.split("=") for line in lines if "=" in line)
    x, y, width, height = (int(place[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
    desk.run("xdotool", "mousemove", str(x + width - 135), str(y + height - 20), "click", "1")


async def test_a_key_is_stored_when_the_first_keyring_is_made_however_late(desk):
    ring, late = Keyring(desk), Late()
    ring.start()
    assert not await late.secrets.keep("openai", FIRST)
    assert (late.key, late.secrets.keyring_problem) == ((FIRST, "session"), "waiting")
    # Nobody waits as long again, and the newest key counts.
    assert not await late.secrets.keep("openai", SECOND)
    assert late.secrets.keyring_problem == "waiting"
    prompt(desk)
    desk.write(PASSWORD)
    desk.keys("Tab")
    desk.write(PASSWORD)
    desk.keys("Return")
    await late.hear("openai", KeyNews.KEPT)
    assert (late.key, ring.lookup(USER)) == ((SECOND, "keyring"), SECOND)


async def test_a_locked_keyring_is_unlocked_and_its_keys_are_used(desk):
    ring, late = Keyring(desk), Late()
    ring.start(unlocked=True)
    assert await Late().secrets.keep("openai", FIRST)
    ring.start()
    await late.secrets.refresh((OPENAI,))
    assert late.secrets.unread == {"openai": "locked"}
    late.news.clear()
    assert not await late.secrets.unlock()
    assert late.secrets.unread == {"openai": "waiting"}
    late.news.clear()
    prompt(desk)
    desk.write(PASSWORD)
    desk.keys("Return")
    await late.hear("", KeyNews.LOOKED_UP)
    assert (late.key, late.secrets.unread) == ((FIRST, "keyring"), {})


async def test_a_question_that_is_dismissed_with_a_click_stores_nothing(desk):
    ring, late = Keyring(desk), Late()
    ring.start()
    assert not await late.secrets.keep("openai", FIRST)
    click_cancel(desk, prompt(desk))
    await late.hear("openai", KeyNews.NOT_KEPT)
    assert (late.key, late.secrets.keyring_problem) == ((FIRST, "session"), "dismissed")
    assert ring.collections() == []


async def test_storing_a_key_unlocks_what_could_not_be_read(desk):
    ring, late = Keyring(desk), Late()
    ring.start(unlocked=True)
    assert await Late().secrets.keep("openai", FIRST)
    ring.start()
    await late.secrets.refresh((OPENAI,))
    assert not await late.secrets.keep("gemini", SECOND)
    prompt(desk)
    desk.write(PASSWORD)
    desk.keys("Return")
    await late.hear("gemini", KeyNews.KEPT)
    await until(lambda: late.key == (FIRST, "keyring"), 20)
