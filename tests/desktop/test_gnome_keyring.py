"""A real gnome-keyring without its prompter: none yet, open, locked, stopped and gone."""

import asyncio
import gc
import time

import keyring
import pytest
from keyring.backends import SecretService

from app.core.store import KeyNews
from app.main import open_window
from app.storage import secrets as secrets_module
from app.storage.secrets import KeyringSecrets
from tests.app_driver import until
from tests.desktop.desktops import BUS_ADDRESS, Keyring, desktop, missing
from tests.stories.processes import moot

NEEDED = missing("dbus-daemon", "gnome-keyring-daemon", "secret-tool")
# Where a collection is locked or not there, the package keyring leaves its connection to the garbage collector.
LEFT_OPEN = "ignore:unclosed <socket.socket .*/dbus-:ResourceWarning"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.desktop,
    pytest.mark.filterwarnings(LEFT_OPEN),
    pytest.mark.skipif(bool(NEEDED), reason=NEEDED),
]
FIRST, SECOND = "sk-canary-first-0123456789", "sk-canary-second-0123456789"
USER = "provider:openai"
BACKEND = "keyring.backends.SecretService.Keyring"
OPENAI, GEMINI = ("openai", "openai"), ("gemini", "gemini")


@pytest.fixture
def desk(monkeypatch):
    with desktop() as desk:
        desk.start_bus()
        monkeypatch.setenv(BUS_ADDRESS, desk.environment[BUS_ADDRESS])
        yield desk
        gc.collect()


@pytest.fixture
def ring(desk):
    return Keyring(desk)


class Kept(KeyringSecrets):
    """Secrets in the real keyring, and what they tell without being asked."""

    def __init__(self) -> None:
        super().__init__(backend=SecretService.Keyring, environment={}, timeout=2.0)
        self.news: list[tuple[str, str]] = []
        self.on_news = lambda place, news: self.news.append((place, news))

    async def hear(self, *news: str) -> None:
        await until(lambda: news in self.news, 20, f"{news} in {self.news}")

    @property
    def key(self) -> tuple[str | None, str]:
        return self.get(*OPENAI), self.source(*OPENAI)


async def stored(ring: Keyring, *, locked: bool = False) -> None:
    """Leave a key in the keyring; `locked`, it is as after signing in without a password."""
    ring.start(unlocked=True)
    assert await Kept().keep("openai", FIRST)
    if locked:
        ring.start()


async def test_a_look_up_creates_no_keyring_and_asks_nobody(ring):
    ring.start()
    secrets, began = Kept(), time.monotonic()
    await secrets.refresh((OPENAI, GEMINI))
    assert time.monotonic() - began < 2
    assert (secrets.unread, secrets.takes_unasked, ring.collections()) == ({}, False, [])
    assert await secrets.remove("openai")
    # Without its prompter the keyring takes the question back.
    assert not await secrets.keep("openai", FIRST)
    assert (secrets.key, secrets.keyring_problem) == ((FIRST, "session"), "dismissed")
    assert ring.collections() == []


async def test_a_key_is_stored_where_others_find_it_and_removed(ring):
    ring.start(unlocked=True)
    secrets = Kept()
    assert await secrets.keep("openai", FIRST)
    assert await secrets.keep("openai", SECOND)
    assert ring.lookup(USER) == SECOND
    again = Kept()
    await again.refresh((OPENAI, GEMINI))
    assert (again.key, again.unread, again.takes_unasked) == ((SECOND, "keyring"), {}, True)
    assert SecretService.Keyring().get_password("Moot", USER) == SECOND
    assert await again.remove("openai")
    assert ring.lookup(USER) == ""


async def test_what_is_locked_is_named_and_nothing_else(ring):
    await stored(ring, locked=True)
    secrets, began = Kept(), time.monotonic()
    await secrets.refresh((OPENAI, GEMINI))
    assert time.monotonic() - began < 2
    assert (secrets.key, secrets.unread) == ((None, ""), {"openai": "locked"})
    assert not await secrets.unlock()
    assert not await secrets.remove("openai")
    assert secrets.keyring_problem == "dismissed"
    # What was never there can be forgotten without unlocking.
    assert await secrets.remove("gemini")


async def test_a_keyring_that_is_stopped_stores_the_newest_key_once_it_goes_on(ring, monkeypatch):
    monkeypatch.setattr(secrets_module, "SILENT_SECONDS", 0.3)
    await stored(ring)
    secrets = Kept()
    ring.stop()
    await secrets.refresh((OPENAI,))
    assert secrets.unread == {"openai": "stopped"}
    for key in (FIRST, SECOND):
        assert not await secrets.keep("openai", key)
        assert secrets.keyring_problem == "stopped"
    ring.go_on()
    await secrets.hear("openai", KeyNews.KEPT)
    assert (secrets.key, secrets.unread, ring.lookup(USER)) == ((SECOND, "keyring"), {}, SECOND)


async def test_a_key_that_is_removed_from_a_stopped_keyring_is_gone_in_the_end(ring, monkeypatch):
    monkeypatch.setattr(secrets_module, "SILENT_SECONDS", 0.3)
    await stored(ring)
    secrets = Kept()
    await secrets.refresh((OPENAI,))
    ring.stop()
    assert not await secrets.keep("openai", SECOND)
    assert not await secrets.remove("openai")
    ring.go_on()
    await secrets.hear("openai", KeyNews.REMOVED)
    assert (secrets.key, ring.lookup(USER)) == ((None, ""), "")


async def test_a_keyring_that_has_ended_is_said_to_and_used_again_when_it_is_back(ring):
    await stored(ring)
    ring.kill()
    secrets = Kept()
    await secrets.refresh((OPENAI,))
    assert secrets.unread == {"openai": "stopped"}
    assert not await secrets.keep("openai", SECOND)
    assert secrets.keyring_problem == "stopped"
    ring.start(unlocked=True)
    assert await secrets.keep("openai", SECOND)
    assert (secrets.key, ring.lookup(USER)) == ((SECOND, "keyring"), SECOND)


async def test_the_window_opens_before_a_stopped_keyring_answers_and_takes_its_keys(
    qapp, data_dir, ring, monkeypatch
):
    await stored(ring)
    real = SecretService.Keyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: real)
    ring.stop()
    window = await open_window(data_dir, language="en")
    try:
        engine = window.controller.engine

        def status():
            return next(one for one in engine.providers() if one.config.id == "openai")

        assert not status().ready
        await until(lambda: status().problem == "keyring_stopped", 20)
        ring.go_on()
        await until(lambda: status().ready, 20)
        assert status().key_source == "keyring"
    finally:
        ring.go_on()
        await window.shutdown()


@pytest.mark.parametrize("state", ["none", "open", "locked", "stopped"])
async def test_the_command_line_does_not_wait_for_the_keyring_and_says_how_it_is(desk, ring, state, data_dir):
    ring.start() if state == "none" else await stored(ring, locked=state == "locked")
    if state == "stopped":
        ring.stop()
    environment = {BUS_ADDRESS: desk.environment[BUS_ADDRESS], "PYTHON_KEYRING_BACKEND": BACKEND}
    began = time.monotonic()
    done = await asyncio.to_thread(moot, "providers", "--lang", "en", environment=environment)
    assert time.monotonic() - began < 8
    said = {"none": "needs a key", "open": "ready", "locked": "keyring is locked"}
    [line] = [line for line in done.out.splitlines() if line.startswith("openai ")]
    assert said.get(state, "keyring does not respond") in line
    doctor = await asyncio.to_thread(moot, "doctor", "--lang", "en", environment=environment)
    [found] = [line for line in doctor.out.splitlines() if " Keyring: " in line]
    assert found.startswith("ok" if state in ("none", "open") else "problem"), found
    assert "SecretService" in found
    if state == "none":
        assert ring.collections() == []
