"""`moot keys`: a key is typed unseen or piped in, kept in the keyring alone, and never in any text."""

import asyncio
import json
import os
import pty
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import keyring
import pytest
from keyring.errors import KeyringLocked

from app.cli.arguments import Arguments, parse_arguments
from app.cli.commands.debates import _participant as participant
from app.cli.commands.sessions import run_command
from app.cli.control import ControlServer, hand_over
from app.cli.printing.lines import error_line, load_texts
from app.cli.terminal import Out, TerminalOut
from app.core.errors import BadInput, NotFound
from app.storage.paths import DataPaths
from app.wiring import open_moot
from tests.app_driver import at_window, until
from tests.asked import Answers
from tests.storage.test_keyring_late import Slow
from tests.storage.test_secrets import SHELL, Backend
from tests.stories.processes import PROJECT, moot

KEY = "sk-canary-typed-7Qx0ZlV9pT3mKw8R"
TEXTS = load_texts("en")
SET_IT = Arguments(command="keys", values={"action": "set", "name": "openai"})
REMOVE_IT = Arguments(command="keys", values={"action": "remove", "name": "openai"})


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Backend:
    ring = Backend()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    return ring


@pytest.mark.threat("T1")
@pytest.mark.parametrize(
    "typed",
    [
        ["keys", "set", "openai", KEY],
        ["keys", "set", "openai", f"--key={KEY}"],
        ["keys", "set", "openai", "--key", KEY],
        ["keys", KEY],
        ["keys", "set"],
    ],
    ids=str,
)
def test_a_key_as_an_argument_is_refused_and_not_repeated(typed: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        parse_arguments(typed, TEXTS)
    assert KEY not in error_line(error.value, TEXTS)
    assert "canary" not in error_line(error.value, TEXTS)


def test_what_is_typed_is_read() -> None:
    assert parse_arguments(["keys", "set", "openai"], TEXTS) == SET_IT
    assert SET_IT.writes and REMOVE_IT.writes
    assert not parse_arguments(["keys", "--json"], TEXTS).writes
    assert not parse_arguments(["keys", "list"], TEXTS).writes


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_window_takes_notice_of_a_key_at_once(qapp, data_dir: Path, ring: Backend) -> None:
    data_dir.mkdir(exist_ok=True)
    (data_dir / "providers.json").write_text(
        '{"version": 1, "providers": [{"id": "openai", "kind": "openai"}]}'
    )
    async with at_window(data_dir) as person:
        engine, control = person.window.controller.engine, DataPaths(data_dir).control
        person.window.controller.settings.open("providers")
        dialog = person.find("settings_page")
        shown = dialog.page("providers").list

        def ready() -> bool:
            return engine.providers()[0].ready and "ready" in shown.item(0).text

        assert not ready()
        out = Answers(f" {KEY}\n")
        assert await hand_over(control, SET_IT, out, asyncio.Event()) == 0, out.err
        assert out.questions == [("Key for OpenAI (hidden): ", True)]
        await until(ready)
        assert ring.kept == {("Moot", "provider:openai"): KEY}
        assert await hand_over(control, REMOVE_IT, out, asyncio.Event()) == 0, out.err
        await until(lambda: not ready())
        assert ring.kept == {}
        assert await hand_over(control, REMOVE_IT, out, asyncio.Event()) == 2
        assert out.err == ["No key is saved for openai."]
        assert KEY not in out.out
        person.find("settings_close").click()


async def test_a_provider_that_is_known_by_name_is_added_with_its_key(data_dir: Path, ring: Backend) -> None:
    running = await open_moot(data_dir)
    before = [one.config.id for one in running.engine.providers()]
    out = Answers(f" {KEY}\n")
    command = Arguments(command="keys", values={"action": "set", "name": "openrouter"})
    assert await run_command(running, command, out, asyncio.Event()) == 0, out.err
    assert out.questions == [("Key for OpenRouter (hidden): ", True)]
    assert [one.config.id for one in running.engine.providers()] == [*before, "openrouter"]
    assert running.engine.providers()[-1].ready
    assert ring.kept == {("Moot", "provider:openrouter"): KEY}
    saved = json.loads((data_dir / "providers.json").read_text())["providers"]
    assert saved[-1] == {"id": "openrouter", "kind": "openrouter", "enabled": True}
    nobody = Arguments(command="keys", values={"action": "set", "name": "no-such-provider"})
    with pytest.raises(NotFound):
        await run_command(running, nobody, out, asyncio.Event())
    await running.close()


async def test_a_tag_of_a_model_that_is_offered_is_no_mistyped_role(data_dir: Path) -> None:
    data_dir.mkdir()
    models = ["deepseek/deepseek-r1", "deepseek/deepseek-r1:free"]
    entry = {"id": "openrouter", "kind": "openrouter", "models": models}
    (data_dir / "providers.json").write_text(json.dumps({"version": 1, "providers": [entry]}))
    running = await open_moot(data_dir)
    try:
        seat = participant(running, "R1=openrouter/deepseek/deepseek-r1:free:against")
        assert (seat.model, seat.role) == ("deepseek/deepseek-r1:free", "against")
        with pytest.raises(BadInput):
            participant(running, "R1=openrouter/deepseek/deepseek-r1:agianst")
    finally:
        await running.close()


REAL = """
import io, json, os, sys
from contextlib import redirect_stdout
from app.cli.arguments import parse_arguments
from app.cli.main import run
from app.cli.printing.lines import load_texts
def moot(*words, typed=""):
    reading, writing = os.pipe()
    os.write(writing, typed.encode())
    os.close(writing)
    os.dup2(reading, 0)
    with redirect_stdout(io.StringIO()) as out:
        status = run(parse_arguments(words, load_texts("en")))
    return status, out.getvalue()
def source():
    return json.loads(moot("keys", "--json")[1])[0]
[status, said] = moot("keys", "set", "openai", typed=KEY + "\\n")
assert status == 0, said
assert source() == {"provider": "openai", "needs_key": True, "source": "keyring", "problem": ""}
assert moot("keys", "remove", "openai")[0] == 0
assert source()["source"] == ""
print("kept and removed")
"""


@pytest.mark.parametrize("unlocks", [True, False])
async def test_a_keyring_that_asks_its_user_is_waited_for(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, unlocks: bool
) -> None:
    ring = Slow()
    ring.open.set()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    running = await open_moot(data_dir)
    running.secrets._queue._timeout = 0.05
    ring.open.clear()
    out = Answers(KEY)
    storing = asyncio.create_task(run_command(running, SET_IT, out, asyncio.Event()))
    await until(lambda: out.err, 10)
    ring.error = None if unlocks else KeyringLocked()
    ring.open.set()
    assert await asyncio.wait_for(storing, 10) == (0 if unlocks else 1)
    assert out.err[0].startswith("The keyring is waiting for your response")
    assert ring.kept == ({("Moot", "provider:openai"): KEY} if unlocks else {})
    await running.close()


@pytest.mark.threat("T1")
@pytest.mark.slow  # .ci/full installs the keyring.
@pytest.mark.skipif(
    not (shutil.which("gnome-keyring-daemon") and shutil.which("dbus-run-session")),
    reason="needs gnome-keyring-daemon and dbus-run-session",
)
def test_a_real_keyring_keeps_a_key_from_standard_input(data_dir: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_KEYRING_BACKEND"}
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        environment[name] = str(folder)
    done = subprocess.run(
        ["dbus-run-session", "--", "bash", "-c", SHELL, sys.executable, f"KEY = {KEY!r}\n{REAL}"],
        capture_output=True, text=True, timeout=120, env=environment, cwd=PROJECT, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("kept and removed"), done.stdout + done.stderr
    assert KEY not in done.stderr
    assert not any(KEY.encode() in one.read_bytes() for one in data_dir.rglob("*") if one.is_file())


@pytest.mark.slow
def test_without_a_keyring_the_key_is_not_said_to_be_stored(data_dir: Path) -> None:
    # No standard input: nobody types, nothing is piped in.
    assert moot("keys", "set", "openai").status == 2
    reading, writing = os.pipe()
    os.write(writing, KEY.encode())
    os.close(writing)
    done = subprocess.run(
        [sys.executable, "-m", "app", "keys", "set", "openai"],
        stdin=reading, capture_output=True, text=True, cwd=PROJECT, check=False,
    )  # fmt: skip
    os.close(reading)
    assert (done.returncode, done.stdout) == (1, "")
    assert "No keyring" in done.stderr and "MOOT_KEY_OPENAI" in done.stderr and KEY not in done.stderr


def test_a_key_of_the_environment_is_not_removed(data_dir: Path) -> None:
    done = moot("keys", "remove", "openai", environment={"OPENAI_API_KEY": KEY})
    assert done.status == 2 and "environment variable" in done.err and KEY not in done.out + done.err


class Terminal:
    """A terminal of its own as standard input."""

    def __init__(self) -> None:
        self.user, self.program = pty.openpty()

    def fileno(self) -> int:
        return self.program

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.program)[3] & termios.ECHO)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdin", terminal)
    yield terminal
    # A thread that still reads ends with the terminal.
    os.close(terminal.user)
    os.close(terminal.program)


async def test_a_terminal_does_not_show_a_secret_while_it_is_typed(terminal: Terminal) -> None:
    asking = asyncio.create_task(TerminalOut().ask("Key: ", secret=True))
    await until(lambda: not terminal.echoes, 5)
    os.write(terminal.user, f"{KEY}\n".encode())
    assert await asyncio.wait_for(asking, 5) == KEY
    assert terminal.echoes
    os.set_blocking(terminal.user, False)
    with pytest.raises(BlockingIOError):
        os.read(terminal.user, 1000)


async def test_a_terminal_shows_again_what_is_typed_when_the_question_is_given_up(terminal: Terminal) -> None:
    asking = asyncio.create_task(TerminalOut().ask("Key: ", secret=True))
    await until(lambda: not terminal.echoes, 5)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert terminal.echoes
    os.write(terminal.user, b"\n")


async def test_a_question_is_answered_where_the_command_was_typed(tmp_path: Path) -> None:
    async def ask(_arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
        answers = [await out.ask("one?"), await out.ask("two?", secret=True), await out.ask("three?")]
        await out.write(json.dumps(answers))
        return 0 if not interrupted.is_set() else 4

    server = ControlServer(tmp_path / "control", ask)
    await server.start()
    out = Answers("하나", KEY, None)
    assert await hand_over(tmp_path / "control", SET_IT, out, asyncio.Event()) == 0
    assert json.loads(out.out) == ["하나", KEY, None]
    assert out.questions == [("one?", False), ("two?", True), ("three?", False)]
    await server.close()


async def test_ctrl_c_while_another_moot_asks_gives_the_question_up(tmp_path: Path) -> None:
    async def ask(_arguments: Arguments, out: Out, interrupted: asyncio.Event) -> int:
        asking = asyncio.create_task(out.ask("?"))
        await interrupted.wait()
        asking.cancel()
        return 4

    server = ControlServer(tmp_path / "control", ask)
    await server.start()
    out, interrupted = Answers(), asyncio.Event()
    handed = asyncio.create_task(hand_over(tmp_path / "control", SET_IT, out, interrupted))
    await asyncio.wait_for(out.asked.wait(), 5)
    interrupted.set()
    assert await asyncio.wait_for(handed, 5) == 4
    assert out.given_up == 1
    await server.close()
