"""What the doctor says of assistants and MCP servers; nothing of them runs, and no secret is shown."""

import importlib.metadata
import json
import os
import sys
from pathlib import Path

import keyring
import pytest
from keyring.errors import KeyringLocked

from app import __version__
from app.cli.arguments import Arguments
from app.cli.commands.doctor import examine
from app.cli.exit_status import FAULT, OK
from app.cli.printing.lines import load_texts
from app.providers import new_version
from app.storage.paths import DataPaths
from tests.storage.samples import log_bytes, log_file
from tests.wire.versions import NEWS, version_server


@pytest.fixture(autouse=True)
def seldom_all_packages(request: pytest.FixtureRequest) -> None:
    """Import all packages only where they are what a test is about."""
    if "package" not in request.node.name:
        request.getfixturevalue("few_packages")


class Lines:
    """What was printed."""

    def __init__(self) -> None:
        self.out = ""

    async def write(self, text: str) -> None:
        self.out += text

    async def complain(self, line: str) -> None:
        raise AssertionError(line)


async def _rows(data_dir: Path, language: str = "en") -> list[dict[str, object]]:
    lines = Lines()
    arguments = Arguments(command="doctor", json=True)
    status = await examine(DataPaths(data_dir), arguments, lines, load_texts(language))
    rows = json.loads(lines.out)
    assert status == (OK if all(row["ok"] for row in rows) else FAULT)
    return rows


@pytest.mark.allow_blocking
async def test_assistants_are_listed_with_what_they_name_that_is_not_there(data_dir: Path) -> None:
    (data_dir / "assistants").mkdir(parents=True)
    whole = {"id": "helper", "name": "도우미", "provider": "openai", "model": "m", "enabled": False}
    odd = {"id": "odd", "name": "Odd", "provider": "gone", "model": "m", "tools": ["web", "nope"]}
    odd |= {"sub_agents": ["helper", "nobody"], "mcp_servers": ["missing"]}
    for one in (whole, odd):
        (data_dir / "assistants" / f"{one['id']}.json").write_text(json.dumps(one))
    (data_dir / "assistants" / "bad.json").write_text('{"id": "bad", "name": "Bad",\n"script": "x"}')
    rows = await _rows(data_dir)
    found = {str(row["found"]).split(":")[0]: row for row in rows if row["check"] == "assistant"}
    assert found["도우미 (helper)"]["ok"] is True
    assert "openai/m, disabled" in str(found["도우미 (helper)"]["found"])
    assert found["Odd (odd)"]["ok"] is False
    remedy = str(found["Odd (odd)"]["remedy"])
    assert all(name in remedy for name in ("nope", "nobody", "missing", "gone"))
    assert "helper" not in remedy
    assert "web" not in remedy.split("correct", maxsplit=1)[0]
    assert found["Assistant (assistant)"]["ok"] is True
    [file] = [row for row in rows if row["check"] == "files"]
    assert "bad.json:2 script" in str(file["found"])


@pytest.mark.allow_blocking
async def test_servers_are_listed_and_none_is_started(data_dir: Path, tmp_path: Path) -> None:
    data_dir.mkdir()
    mark = tmp_path / "ran"
    servers = {
        "touch": {
            "command": "/usr/bin/env",
            "args": ["touch", str(mark)],
            "env": {"KEY": "sk-canary-in-env"},
        },
        "gone": {"command": "no-such-command-here", "args": ["--key", "sk-canary-0123456789abcdef0123"]},
        "off": {"command": "no-such-command-either", "disabled": True},
        "web": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer sk-canary-header"}},
        "bad": {"type": "carrier pigeon"},
    }
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=1))
    rows = await _rows(data_dir)
    found = {str(row["found"]).split(":")[0]: row for row in rows if row["check"] == "server"}
    assert list(found) == ["touch", "gone", "off", "web"]
    # It may run once it is allowed, but its key stands in the file.
    assert found["touch"]["ok"] is False
    assert "servers allow" in str(found["touch"]["remedy"]) and "env.KEY" in str(found["touch"]["remedy"])
    assert "--key '•••'" in str(found["gone"]["found"]) and "args.key" in str(found["gone"]["remedy"])
    assert found["gone"]["ok"] is False
    assert "no-such-command-here" in str(found["gone"]["remedy"])
    assert found["off"]["ok"] is True
    assert not mark.exists()
    assert "sk-canary" not in json.dumps(rows)
    [file] = [row for row in rows if row["check"] == "files"]
    assert "mcpServers.bad.type" in str(file["found"])
    assert all(row["found"] for row in await _rows(data_dir, "ko"))


class Ring:
    """A keyring that answers with an error."""

    priority = 5

    def __init__(self, error: Exception) -> None:
        self._error = error

    def get_password(self, service: str, user: str) -> str | None:
        raise self._error


@pytest.mark.allow_blocking
@pytest.mark.parametrize(
    ("error", "found", "remedy"),
    [
        (KeyringLocked("locked"), "keyring is locked", "unlock it"),
        (RuntimeError("the bus is gone"), "keyring does not respond", "restart the keyring"),
    ],
)
async def test_the_keyring_is_asked_and_not_believed_by_its_name(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, found: str, remedy: str
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: Ring(error))
    [row] = [row for row in await _rows(data_dir) if row["check"] == "keyring"]
    assert row["ok"] is False
    assert found in str(row["found"]) and remedy in str(row["remedy"])


@pytest.mark.allow_blocking
@pytest.mark.skipif(sys.platform != "linux", reason="input methods are chosen so on Linux only")
@pytest.mark.parametrize(
    ("name", "ok", "said"), [("fcitx", True, "plugin for ibus"), ("nimf", False, "use ibus or fcitx5")]
)
async def test_it_is_said_how_korean_is_typed(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, name: str, ok: bool, said: str
) -> None:
    monkeypatch.setenv("QT_IM_MODULE", name)
    [row] = [row for row in await _rows(data_dir) if row["check"] == "input_method"]
    assert row["ok"] is ok
    assert name in str(row["found"]) and said in f"{row['found']} {row['remedy']}"


BROKEN = {
    # As Python says where a library that another one needs is missing on Windows.
    "xllamacpp": (
        "raise ImportError('DLL load failed while importing xllamacpp')",
        "ImportError: DLL load failed",
    ),
    "keyring": ("import no_such_library", "No module named 'no_such_library'"),
    "pypdfium2": ("import os, signal; os.kill(os.getpid(), signal.SIGABRT)", "exit -6"),
    "office_oxide": ("import os; os._exit(7)", "exit 7"),
}


@pytest.mark.allow_blocking
@pytest.mark.skipif(sys.platform == "win32", reason="the program ends itself by a signal of POSIX")
async def test_a_package_that_is_there_and_cannot_be_loaded_is_named(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (code, _) in BROKEN.items():
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    rows = await _rows(data_dir)
    [packages] = [row for row in rows if row["check"] == "packages"]
    [runtime] = [row for row in rows if row["check"] == "runtime"]
    assert not packages["ok"] and not runtime["ok"]
    for name, (_, said) in BROKEN.items():
        version = importlib.metadata.version(name)
        assert f"{name} {version} ({said}" in str(packages["found"]).replace("ModuleNotFoundError: ", "")
    assert str(packages["remedy"]).endswith(": " + ", ".join(BROKEN))
    assert str(runtime["found"]).startswith("ImportError: DLL load failed") and "xllamacpp" in str(
        runtime["remedy"]
    )


@pytest.mark.allow_blocking
async def test_every_session_log_is_read_and_what_is_damaged_is_named(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    whole, damaged = log_file(paths, log_bytes()), log_file(paths, b"")
    paths.session(damaged).write_bytes(log_bytes().replace(b"said", b"lied"))
    [row] = [row for row in await _rows(data_dir) if row["check"] == "sessions"]
    assert row["ok"] is False
    assert row["found"] == f"{paths.session(damaged)}:2: damaged; lost: a message"
    assert "moot restore" in str(row["remedy"])
    [row] = [row for row in await _rows(data_dir, "ko") if row["check"] == "sessions"]
    assert "메시지 1개" in str(row["found"])
    paths.session(damaged).unlink()
    [row] = [row for row in await _rows(data_dir) if row["check"] == "sessions"]
    assert (row["ok"], row["found"]) == (True, "1 checked; nothing is damaged or missing")
    assert paths.session(whole).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own is POSIX")
@pytest.mark.allow_blocking
async def test_progress_is_shown_on_a_terminal_alone(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log_file(DataPaths(data_dir), log_bytes())
    await _rows(data_dir)
    assert "Checking session logs" not in capsys.readouterr().err
    reader, writer = os.openpty()
    with os.fdopen(reader, "rb", buffering=0) as shown, os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        await _rows(data_dir)
        # Not every console of Windows knows a code that clears a line.
        blank = b" " * 70
        wanted, found = b"\r" + blank + b"\rChecking session logs: 1 of 1\r" + blank + b"\r", b""
        # The system passes on a moment later what was written to a terminal.
        while len(found) < len(wanted):
            found += shown.read(1_000)
        assert found == wanted


@pytest.mark.allow_blocking
async def test_a_newer_version_is_named_as_the_window_found_it_last_and_nobody_is_asked(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def said(language: str = "en") -> tuple[object, object, object]:
        [row] = [row for row in await _rows(data_dir, language) if row["check"] == "newer"]
        return row["ok"], row["unused"], row["found"]

    data_dir.mkdir()
    # A checkout.
    assert await said() == (True, True, "this build has no address to ask")
    assert await said("ko") == (True, True, "이 빌드에는 확인할 주소가 없음")
    with version_server(tmp_path) as server:
        monkeypatch.setattr(new_version, "ADDRESS_FILE", str(tmp_path / "version_address.txt"))
        assert await said() == (True, True, "not asked yet")
        file = data_dir / "new_version.json"
        file.write_text(json.dumps({"day": "2026-11-29"}))
        assert await said() == (True, False, "none known, last asked on 2026-11-29")
        assert await said("ko") == (True, False, "없음, 마지막 확인 2026-11-29")
        link = f"https://{server.host}/new"
        found = {"version": "9.1.0", "date": "2026-11-20", "news": NEWS, "link": link}
        file.write_text(json.dumps({"day": "2026-11-29", "found": found}))
        assert await said() == (True, False, f"Moot 9.1.0 (2026-11-20), {link}")
        # What somebody wrote into the file is believed no more than an answer.
        file.write_text(json.dumps({"day": "2026-11-29", "found": found | {"version": __version__}}))
        assert await said() == (True, False, "none known, last asked on 2026-11-29")
        assert server.requests == []
