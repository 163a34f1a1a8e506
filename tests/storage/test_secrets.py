"""Keys: where they come from, keyrings that fail, lock, stall or swallow, and what is taken out of texts."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from app.storage.secrets import MARK, KeyringSecrets, Redactor, variable_name

KEY = "sk-proj-Aa1+/=Bb2Cc3Dd4Ee5Ff6Gg7Hh8"


class Backend:
    """A keyring that keeps what it is given."""

    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, user: str) -> str | None:
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        from keyring.errors import PasswordDeleteError

        if self.kept.pop((service, user), None) is None:
            raise PasswordDeleteError


def _secrets(backend=None, **options) -> KeyringSecrets:
    return KeyringSecrets(backend=lambda: backend or Backend(), **{"environment": {}, **options})


class WindowsBackend(Backend):
    """Refuses what Windows' store of credentials refuses: more than 2,560 bytes of UTF-16 in an entry."""

    __module__ = "keyring.backends.Windows"

    def __init__(self) -> None:
        super().__init__()
        self.writes_left = -1

    def set_password(self, service: str, user: str, password: str) -> None:
        self.writes_left -= 1
        if len(password.encode("utf-16-le")) > 2_560 or self.writes_left == -1:
            raise OSError(1783, "CredWrite", "The stub received bad data")
        super().set_password(service, user, password)


async def _read_again(backend, place="mcp:site:login") -> str | None:
    secrets = _secrets(backend)
    await secrets.refresh(((place, ""),))
    return secrets.get(place, "")


async def test_a_long_login_is_kept_in_several_entries_where_an_entry_takes_little():
    backend, secrets = WindowsBackend(), None
    place, name = "mcp:site:login", ("Moot", "mcp:site:login")
    long, longer, short = "a1" * 1_500, "b2" * 2_500, "c" * 1_200
    secrets = _secrets(backend)
    for value, entries in ((long, 4), (longer, 6), (long, 4), (short, 1), (longer, 6)):
        assert await secrets.keep(place, value)
        assert await _read_again(backend) == value
        assert len(backend.kept) == entries
    # What is written last says where the value is: until then, the old one is whole.
    for writes in range(4):
        backend.writes_left = writes
        assert not await _secrets(backend).keep(place, long)
        assert await _read_again(backend) == longer
    backend.writes_left = -1
    # A part that somebody removed: there is no login rather than half of it.
    kept = dict(backend.kept)
    del backend.kept[next(entry for entry in kept if entry != name)]
    assert await _read_again(backend) is None
    backend.kept = kept
    assert await secrets.remove(place)
    assert backend.kept == {}


async def test_a_key_is_kept_in_the_keyring_alone():
    backend = Backend()
    secrets = _secrets(backend)
    assert await secrets.keep("openai", KEY)
    assert backend.kept == {("Moot", "provider:openai"): KEY}
    again = _secrets(backend)
    assert again.get("openai", "openai") is None
    await again.refresh((("openai", "openai"), ("gemini", "gemini")))
    assert (again.get("openai", "openai"), again.source("openai", "openai")) == (KEY, "keyring")
    await again.remove("openai")
    await again.remove("openai")
    assert (again.get("openai", "openai"), again.source("openai", "openai"), backend.kept) == (None, "", {})
    assert KEY not in again.redact(KEY)


async def test_the_environment_is_asked_after_the_keyring():
    backend = Backend()
    environment = {"OPENAI_API_KEY": "from-openai-variable", "MOOT_KEY_MY_BOX_2": "from-own-variable"}
    secrets = _secrets(backend, environment=environment)
    assert secrets.get("openai", "openai") == "from-openai-variable"
    assert secrets.source("openai", "openai") == "environment"
    assert secrets.get("my-box.2", "openai-compatible") == "from-own-variable"
    assert secrets.get("work", "openai") == "from-openai-variable"
    assert secrets.get("ollama", "ollama") is None
    assert "from-own-variable" not in secrets.redact("x from-own-variable x")
    await secrets.keep("openai", KEY)
    assert secrets.get("openai", "openai") == KEY
    assert variable_name("my-box.2") == "MOOT_KEY_MY_BOX_2"


class Locked(Backend):
    def _refuse(self, *_: str) -> None:
        from keyring.errors import KeyringLocked

        raise KeyringLocked("Failed to unlock the collection!")

    get_password = set_password = delete_password = _refuse


class Broken(Backend):
    def _refuse(self, *_: str) -> None:
        raise RuntimeError("D-Bus fell over")

    get_password = set_password = delete_password = _refuse


class PlaintextKeyring(Backend):
    pass


def _fail():
    from keyring.backends import fail

    return fail.Keyring()


def _null():
    from keyring.backends import null

    return null.Keyring()


@pytest.mark.threat("T3")
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (_fail, "no_keyring"),
        (_null, "no_keyring"),
        (Locked, "locked"),
        (Broken, "stopped"),
        (PlaintextKeyring, "no_keyring"),
    ],
)
async def test_without_a_keyring_a_key_lives_for_this_run_only(make, problem, data_dir):
    backend = make()
    secrets = _secrets(backend)
    await secrets.refresh((("openai", "openai"),))
    assert secrets.keyring_problem == problem
    assert not await secrets.keep("openai", KEY)
    assert (secrets.get("openai", "openai"), secrets.source("openai", "openai")) == (KEY, "session")
    assert secrets.keyring_problem == problem
    # A keyring that is locked may have one still.
    assert await secrets.remove("openai") is (problem != "locked")
    assert secrets.get("openai", "openai") is None
    assert not data_dir.exists()
    assert getattr(backend, "kept", {}) == {}


@pytest.mark.threat("T3")
async def test_a_keyring_that_waits_for_a_person_does_not_hold_anything_up():
    opened = threading.Event()

    class Slow(Backend):
        def get_password(self, service: str, user: str) -> str | None:
            opened.wait(10)
            return KEY

    secrets = _secrets(Slow(), timeout=0.1)
    started = time.monotonic()
    await secrets.refresh((("openai", "openai"),))
    assert secrets.keyring_problem == "waiting"
    assert not await secrets.keep("gemini", "another-key")
    assert time.monotonic() - started < 2
    assert secrets.get("gemini", "gemini") == "another-key"
    opened.set()
    for _ in range(50):
        await asyncio.sleep(0.02)
        await secrets.refresh((("openai", "openai"),))
        if secrets.get("openai", "openai"):
            break
    assert secrets.source("openai", "openai") == "keyring"


@pytest.mark.threat("T3")
async def test_a_key_the_keyring_does_not_let_go_of_is_not_called_forgotten():
    from keyring.errors import KeyringLocked, PasswordDeleteError

    class Keeping(Backend):
        refusal: type[Exception] | None = KeyringLocked

        def delete_password(self, service: str, user: str) -> None:
            if self.refusal is not None:
                raise self.refusal
            super().delete_password(service, user)

    backend = Keeping()
    secrets = _secrets(backend)
    await secrets.keep("openai", KEY)
    for backend.refusal in (KeyringLocked, PasswordDeleteError):
        assert not await secrets.remove("openai")
        assert (secrets.get("openai", "openai"), secrets.source("openai", "openai")) == (KEY, "keyring")
    backend.refusal = None
    assert await secrets.remove("openai")
    assert (secrets.get("openai", "openai"), backend.kept) == (None, {})


@pytest.mark.threat("T3")
async def test_what_swallows_keys_is_no_keyring():
    class Swallowing(Backend):
        def set_password(self, service: str, user: str, password: str) -> None:
            pass

    secrets = _secrets(Swallowing())
    assert not await secrets.keep("openai", KEY)
    assert secrets.source("openai", "openai") == "session"


FORMS = {
    "plain": KEY,
    "url": quote(KEY, safe=""),
    "url, low": quote(KEY, safe="").replace("%2B", "%2b").replace("%2F", "%2f"),
    "url, loose": quote(KEY),
    "form": quote_plus(KEY),
    "json": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64, basic": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "base64, inside": base64.b64encode(f"ab{KEY}xyz".encode()).decode(),
    "base64, url": base64.urlsafe_b64encode(f"a{KEY}".encode()).decode(),
    "hex": KEY.encode().hex(),
    "hex, capitals": KEY.encode().hex().upper(),
    "prefix": KEY[:12] + "***",
    "cut": KEY[:20],
    "starred": KEY[:8] + "*" * 20 + KEY[-4:],
    "suffix": "***" + KEY[-10:],
    "bearer": f"Bearer {KEY}",
    "twice": KEY * 2,
}


@pytest.mark.threat("T1")
@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_a_known_key_is_removed_in_every_form(form):
    redactor = Redactor()
    redactor.add(KEY)
    left = redactor.redact(f'{{"error": "Incorrect key: {form} was given"}}')
    assert MARK in left
    assert left.startswith('{"error": ')
    pieces = {KEY[at : at + 8] for at in range(len(KEY) - 7)}
    encoded = {base64.b64encode(KEY.encode()).decode()[at : at + 12] for at in range(20)}
    assert not any(piece in left for piece in pieces | encoded)


@pytest.mark.threat("T1")
def test_a_key_with_several_slashes_is_removed_whole_from_json_that_escapes_them():
    redactor = Redactor()
    redactor.add("canary12345678/abcdefgh/ijklmnop/87654321yranac")
    said = '{"key": "canary12345678\\/abcdefgh\\/ijklmnop\\/87654321yranac"}'
    assert redactor.redact(said) == f'{{"key": "{MARK}"}}'


@pytest.mark.threat("T1")
@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-abcdefghijklmnop",
        "AIzaSyA1234567890abcdefghijklmnopqrs",
        "Authorization: Bearer abcdefgh12345678",
        "x-api-key: 0123456789abcdef",
        '"api_key": "0123456789abcdef"',
        "https://host/v1?key=0123456789abcdef&x=1",
        "gsk_abcdefghijklmnopqrstuvwx",
        "csk-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwx",
    ],
)
def test_what_looks_like_a_key_is_removed_unknown(text):
    left = Redactor().redact(f"before {text} after")
    assert MARK in left
    assert not {"abcdefgh", "01234567", "12345678"} & {left[at : at + 8] for at in range(len(left))}
    assert left.startswith("before")


@pytest.mark.parametrize(
    "text",
    [
        "Cities should ban cars; the basic idea is old, and a token gesture is not enough.",
        "도시는 자동차를 금지해야 한다. 열쇠는 교통이다.",
        "skateboarders-and-skeletons everywhere",
        "rate limit reached for gpt-5.2 in organization org-1, try again in 20s",
    ],
)
def test_ordinary_text_is_left_alone(text):
    redactor = Redactor()
    redactor.add(KEY)
    redactor.add("abc")
    assert redactor.redact(text) == text
    assert redactor.redact("abc abcd") == f"{MARK} abcd"


def test_a_key_without_signs_is_removed_in_any_case():
    redactor = Redactor()
    redactor.add("plainkey123456abcdef")
    assert redactor.redact("in capitals: PLAINKEY123456ABCDEF") == f"in capitals: {MARK}"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", ["a", KEY[-8:], KEY[:8], "sk-", "token ", "authorization", "?key=", "%41"])
def test_a_long_text_of_one_piece_is_looked_through_in_linear_time(piece):
    redactor = Redactor()
    redactor.add(KEY)
    # What is quadratic takes minutes here.
    redactor.redact(piece * (400_000 // len(piece)))
    assert redactor.redact(f"{piece * 50_000} {KEY}").endswith(f" {MARK}")


@pytest.mark.threat("T1")
def test_of_a_text_that_is_hidden_whole_the_ends_may_be_said():
    redactor = Redactor()
    redactor.add_whole("production-database-of-2026")
    left = redactor.redact("the production database says: postgres://production-database-of-2026/x")
    assert left == f"the production database says: postgres://{MARK}/x"
    assert redactor.redact(base64.b64encode(b"production-database-of-2026").decode()) == MARK


async def test_a_server_s_secret_is_kept_to_the_letter_beside_the_keys():
    backend, place = Backend(), "mcp:@me/notes: 1:env.PEM"
    secrets = _secrets(backend)
    value = "-----BEGIN KEY-----\nabc 열쇠\n"
    assert await secrets.keep(place, value)
    assert backend.kept == {("Moot", place): value}
    again = _secrets(
        backend, environment={"MOOT_KEY_MCP__ME_NOTES__1_ENV_OTHER": "word word-of-the-environment"}
    )
    await again.refresh(((place, ""),))
    assert (again.get(place, ""), again.source(place, "")) == (value, "keyring")
    assert "열쇠" not in again.redact(value)
    assert again.get("mcp:@me/notes: 1:env.OTHER", "") == "word word-of-the-environment"
    assert again.redact("word word") == "word word"
    assert await again.remove(place)
    assert backend.kept == {}


REAL = """
import asyncio, sys
from app.storage.secrets import KeyringSecrets
async def main():
    one = KeyringSecrets(environment={}, service="Moot test")
    assert await one.keep("openai", "sk-canary-real-keyring"), one.keyring_problem
    two = KeyringSecrets(environment={}, service="Moot test")
    await two.refresh((("openai", "openai"),))
    assert two.get("openai", "openai") == "sk-canary-real-keyring"
    assert two.source("openai", "openai") == "keyring"
    await two.remove("openai")
    await one.refresh((("openai", "openai"),))
    assert one.get("openai", "openai") is None
    print("kept and removed")
asyncio.run(main())
"""


SHELL = """
printf pw | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1
"$0" -c "$1"; status=$?
dbus-send --session --print-reply --dest=org.freedesktop.DBus / \\
    org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets \\
    | sed -n 's/.*uint32 //p' | xargs -r kill
exit $status
"""


@pytest.mark.slow  # .ci/full installs the keyring.
@pytest.mark.skipif(
    not (shutil.which("gnome-keyring-daemon") and shutil.which("dbus-run-session")),
    reason="needs gnome-keyring-daemon and dbus-run-session",
)
def test_a_real_keyring_keeps_a_key(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_KEYRING_BACKEND"}
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        environment[name] = str(folder)
    done = subprocess.run(
        [
            "dbus-run-session",
            "--",
            "bash",
            "-c",
            SHELL,
            sys.executable,
            REAL,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.stdout.startswith("kept and removed"), done.stdout + done.stderr
