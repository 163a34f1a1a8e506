"""What Moot leaves and reaches outside of itself: files only the user can read, no other host, no handler of links."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.stories.processes import COMMAND, PROJECT, moot
from tests.wire import WireServer, write_providers

# Every Python process of Moot, the children too, notes whom it connects to and whom it looks up.
WATCH = """
import os, sys
_log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(_log, f"start {os.getpid()} {' '.join(sys.orig_argv)}\\n".encode())
def _hook(event, values):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        os.write(_log, f"{event} {values[1]!r}\\n".encode())
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        os.write(_log, f"{event} {values[0]!r}\\n".encode())
sys.addaudithook(_hook)
"""


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let every Python process that is started note its connections; return where."""
    folder = tmp_path / "watch"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WATCH.replace("{log!r}", repr(str(tmp_path / "connections"))))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return tmp_path / "connections"


def elsewhere(log: Path) -> list[str]:
    """Return every connection and look-up that is not to this computer."""
    near = (
        "'127.0.0.1'",
        "'::1'",
        "'localhost'",
        "b'127.0.0.1'",
        "('127.0.0.1'",
        "('::1'",
        "'/",
        "'\\x00",
        "b'/",
    )
    return [
        line
        for line in log.read_text().splitlines()
        if not line.startswith("start ") and not line.split(" ", 1)[1].startswith(near)
    ]


def processes(log: Path) -> str:
    return "\n".join(line for line in log.read_text().splitlines() if line.startswith("start "))


@pytest.mark.slow
@pytest.mark.threat("T24")
@pytest.mark.timeout(120)
@pytest.mark.own_host
def test_the_window_starts_and_idles_without_a_word_to_anybody(watched: Path, data_dir: Path) -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "OPENAI_API_KEY": "sk-canary-idle-000111222"}
    window = subprocess.Popen(
        COMMAND, cwd=PROJECT, env=environment, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while (
            "model_host" not in (processes(watched) if watched.exists() else "")
            and time.monotonic() < deadline
        ):
            time.sleep(0.2)
        # LiteLLM is imported and warmed up by now, or is about to be.
        time.sleep(12)
        assert window.poll() is None
        window.send_signal(signal.SIGTERM)
        _, errors = window.communicate(timeout=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(window.pid, signal.SIGKILL)
        window.wait(10)
    assert "model_host" in processes(watched)
    assert elsewhere(watched) == []
    assert b"Traceback" not in errors
    assert b"canary" not in errors


@pytest.mark.threat("T24")
@pytest.mark.own_host
def test_asking_reaches_the_configured_host_and_no_other(watched: Path, data_dir: Path) -> None:
    with WireServer("openai") as server:
        for name, value in write_providers(data_dir, [server]).items():
            os.environ[name] = value
        try:
            done = moot("ask", "assistant", "How are you?")
        finally:
            for name in write_providers(data_dir, [server]):
                os.environ.pop(name, None)
        assert len(server.requests) == 1, done.err
        port = server.address.split(":")[2].split("/")[0]
    lines = [line for line in watched.read_text().splitlines() if line.startswith("socket.connect ")]
    assert any(port in line for line in lines)
    assert elsewhere(watched) == []


@pytest.mark.threat("T24")
def test_the_watch_sees_a_connection_elsewhere(watched: Path) -> None:
    program = "import socket\ntry: socket.create_connection(('192.0.2.1', 9), 0.1)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
    assert any("192.0.2.1" in line for line in elsewhere(watched))


@pytest.mark.threat("T18")
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files private by the folder they are in")
def test_whatever_moot_writes_only_its_user_can_read(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WireServer("openai") as server:
        environment = write_providers(data_dir, [server])
        (data_dir / "providers.json").chmod(0o600)
        data_dir.chmod(0o700)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        done = moot("ask", "assistant", "How are you?", preexec_fn=lambda: os.umask(0))
        assert done.status == 0, done.err
    open_to_others = {
        str(path.relative_to(data_dir)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in (data_dir, *data_dir.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert open_to_others == {}
    assert list(data_dir.rglob("*.jsonl"))


@pytest.mark.threat("T18")
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files private by the folder they are in")
def test_a_new_data_directory_is_the_users_own(data_dir: Path) -> None:
    done = moot("debate", "t", "-p", "A=nobody/m", "-p", "B=nobody/m", preexec_fn=lambda: os.umask(0))
    assert done.status == 2
    if data_dir.exists():
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


@pytest.mark.threat("T19")
def test_no_link_of_a_web_page_starts_moot(data_dir: Path) -> None:
    marks = ("x-scheme-handler", "CFBundleURLTypes", "CFBundleURLSchemes", "URL Protocol", "setUrlHandler")
    files = [
        path
        for folder in ("app", "packaging", "resources")
        for path in (PROJECT / folder).rglob("*")
        if path.is_file()
        and path.suffix in {".py", ".desktop", ".plist", ".spec", ".nsi", ".xml", ".in", ".json"}
    ]
    assert len(files) > 100
    found = [
        (path.name, mark) for path in files for mark in marks if mark in path.read_text(encoding="utf-8")
    ]
    assert found == []
    for argument in ("moot://open/01m805kmw2bf1fxxf0v2q0jb90", "moot:ask?text=hello"):
        done = moot(argument)
        assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert not data_dir.exists()
