"""A keyring that answers late, or no: the newest key counts, a delete is not forgotten, and what came of it is told."""

import asyncio
import threading

import pytest
from keyring.errors import InitError, KeyringLocked, NoKeyringError, PasswordDeleteError

from app.core.store import KeyNews
from app.storage.secrets import KeyringSecrets

FIRST, SECOND = "sk-canary-first-0123456789", "sk-canary-second-0123456789"
PLACE = ("Moot", "provider:openai")
OPENAI = ("openai", "openai")


class Slow:
    """A keyring that answers once it is `open`, with an error where it has one."""

    def __init__(self, **kept: str) -> None:
        self.kept = {("Moot", f"provider:{name}"): value for name, value in kept.items()}
        self.written: list[str] = []
        self.open = threading.Event()
        self.error: Exception | None = None

    def get_password(self, service: str, user: str) -> str | None:
        self._enter()
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self._enter()
        self.kept[service, user] = password
        self.written.append(password)

    def delete_password(self, service: str, user: str) -> None:
        self._enter()
        if self.kept.pop((service, user), None) is None:
            raise PasswordDeleteError

    def _enter(self) -> None:
        assert self.open.wait(30)
        if self.error is not None:
            raise self.error


class Late:
    """Secrets over a slow keyring, and what they tell without being asked."""

    def __init__(self, ring: Slow) -> None:
        self.ring = ring
        self.secrets = KeyringSecrets(backend=lambda: ring, environment={}, timeout=0.05)
        self.news: list[tuple[str, str]] = []
        self._told = asyncio.Event()
        self.secrets.on_news = self._tell

    def _tell(self, place: str, news: str) -> None:
        self.news.append((place, news))
        self._told.set()

    async def hear(self, place: str, news: str) -> None:
        """Return once this was told."""
        while (place, news) not in self.news:
            self._told.clear()
            await asyncio.wait_for(self._told.wait(), 30)

    @property
    def key(self) -> tuple[str | None, str]:
        return self.secrets.get(*OPENAI), self.secrets.source(*OPENAI)


async def test_a_key_that_is_removed_while_it_is_stored_is_not_there_in_the_end():
    late = Late(Slow())
    assert not await late.secrets.keep("openai", FIRST)
    assert (late.key, late.secrets.keyring_problem) == ((FIRST, "session"), "waiting")
    # Not called forgotten: the keyring is about to store it.
    assert not await late.secrets.remove("openai")
    assert late.key == (None, "")
    late.ring.open.set()
    await late.hear("openai", KeyNews.REMOVED)
    assert (late.ring.kept, late.key) == ({}, (None, ""))
    assert ("openai", KeyNews.KEPT) not in late.news


async def test_the_newest_key_is_stored_and_that_is_told():
    late = Late(Slow())
    assert not await late.secrets.keep("openai", FIRST)
    assert not await late.secrets.keep("openai", SECOND)
    assert late.key == (SECOND, "session")
    late.ring.open.set()
    await late.hear("openai", KeyNews.KEPT)
    assert (late.ring.kept, late.key) == ({PLACE: SECOND}, (SECOND, "keyring"))
    assert late.news.count(("openai", KeyNews.KEPT)) == 1


async def test_of_keys_that_wait_only_the_newest_is_stored():
    late = Late(Slow(gemini="another"))
    await late.secrets.refresh((("gemini", "gemini"),))
    for key in (FIRST, "sk-canary-between-0123456789", SECOND):
        assert not await late.secrets.keep("openai", key)
    late.ring.open.set()
    await late.hear("openai", KeyNews.KEPT)
    assert late.ring.written == [SECOND]


async def test_a_key_that_is_entered_again_after_its_removal_stays():
    late = Late(Slow(openai=FIRST))
    assert not await late.secrets.remove("openai")
    assert not await late.secrets.keep("openai", SECOND)
    late.ring.open.set()
    await late.hear("openai", KeyNews.KEPT)
    assert (late.ring.kept, late.key) == ({PLACE: SECOND}, (SECOND, "keyring"))


async def test_what_the_keyring_says_late_is_taken_and_told():
    late = Late(Slow(openai=FIRST))
    await late.secrets.refresh((OPENAI,))
    assert (late.key, late.secrets.unread) == ((None, ""), {"openai": "waiting"})
    late.news.clear()
    late.ring.open.set()
    await late.hear("", KeyNews.LOOKED_UP)
    assert (late.key, late.secrets.unread) == ((FIRST, "keyring"), {})


async def test_what_was_read_before_a_key_was_entered_does_not_replace_it():
    late = Late(Slow(openai=FIRST))
    await late.secrets.refresh((OPENAI,))
    assert not await late.secrets.keep("openai", SECOND)
    late.ring.open.set()
    await late.hear("openai", KeyNews.KEPT)
    assert late.key == (SECOND, "keyring")


async def test_what_was_read_before_a_key_was_removed_does_not_bring_it_back():
    late = Late(Slow(openai=FIRST))
    await late.secrets.refresh((OPENAI,))
    assert not await late.secrets.remove("openai")
    late.ring.open.set()
    await late.hear("openai", KeyNews.REMOVED)
    assert (late.ring.kept, late.key) == ({}, (None, ""))


async def test_a_question_that_is_dismissed_late_leaves_the_key_for_this_run():
    late = Late(Slow())
    assert not await late.secrets.keep("openai", FIRST)
    late.ring.error = dismissed()
    late.ring.open.set()
    await late.hear("openai", KeyNews.NOT_KEPT)
    assert (late.key, late.secrets.keyring_problem) == ((FIRST, "session"), "dismissed")


def dismissed() -> Exception:
    secretstorage = pytest.importorskip("secretstorage")
    error = InitError("Failed to create the collection")
    error.__cause__ = secretstorage.PromptDismissedException("Prompt dismissed.")
    return error


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (dismissed, "dismissed"),
        (lambda: KeyringLocked("Failed to unlock the collection!"), "locked"),
        (lambda: NoKeyringError("none"), "no_keyring"),
        (lambda: RuntimeError("the bus is gone"), "stopped"),
    ],
)
async def test_each_cause_has_its_name(error, problem):
    late = Late(Slow())
    late.ring.error = error()
    late.ring.open.set()
    assert not await late.secrets.keep("openai", FIRST)
    assert (late.key, late.secrets.keyring_problem) == ((FIRST, "session"), problem)


async def test_unlocking_reads_what_could_not_be_read():
    late = Late(Slow(openai=FIRST))
    late.ring.open.set()
    late.ring.error = KeyringLocked("Failed to unlock the collection!")
    await late.secrets.refresh((OPENAI,))
    assert (late.key, late.secrets.unread) == ((None, ""), {"openai": "locked"})
    assert not await late.secrets.unlock()
    late.ring.error = None
    assert await late.secrets.unlock()
    assert (late.key, late.secrets.unread) == ((FIRST, "keyring"), {})


async def test_behind_a_question_that_is_late_nobody_waits_again():
    late = Late(Slow())
    assert not await late.secrets.keep("openai", FIRST)
    second = asyncio.create_task(late.secrets.keep("anthropic", SECOND))
    # No time passes: it does not wait for what the first has waited for already.
    for _ in range(20):
        await asyncio.sleep(0)
    assert second.done() and not second.result()
    late.ring.open.set()
    await late.hear("anthropic", KeyNews.KEPT)
    assert late.ring.written == [FIRST, SECOND]
