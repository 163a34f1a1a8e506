"""Which of our environment variables reach a child process: those of a list, which stands in the documentation."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.children import host_client
from app.children.processes import (
    OWN_VARIABLES,
    SYSTEM_PREFIXES,
    SYSTEM_VARIABLES,
    child_environment,
    system_environment,
)
from tests.children import stub_host
from tests.children.test_host_client import CLIENTS, answer, client_of

ROOT = Path(__file__).resolve().parents[2]
SECRETS = (
    "ANTHROPIC_BASE_URL",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "GITHUB_TOKEN",
    "HF_TOKEN",
    "LITELLM_MASTER_KEY",
    "MOOT_KEY_LAB",
    "NPM_TOKEN",
    "OPENAI_API_KEY",
    "PGPASSWORD",
    "SSH_AUTH_SOCK",
    "lower_case_token",
)
NEEDED = (
    "HTTPS_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "WAYLAND_DISPLAY",
    "XDG_DATA_DIRS",
    "LC_ALL",
    "SYSTEMROOT",
)


@pytest.fixture
def full_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what a user's environment may hold."""
    for name in SECRETS:
        monkeypatch.setenv(name, "canary-of-the-environment")
    for name in NEEDED:
        monkeypatch.setenv(name, "needed")


@pytest.mark.threat("T2", "T13")
@pytest.mark.usefixtures("full_environment")
def test_only_what_is_listed_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_OLD", "() { :; }; echo")
    foreign, own = system_environment(), child_environment()
    for environment in (foreign, own):
        assert {name: environment.get(name) for name in NEEDED} == dict.fromkeys(NEEDED, "needed")
        assert not set(SECRETS) & set(environment) and "canary" not in str(environment)
        assert "XDG_OLD" not in environment
    assert all(name in SYSTEM_VARIABLES or name.startswith(SYSTEM_PREFIXES) for name in foreign)
    assert set(own) - set(foreign) <= OWN_VARIABLES | {"MOOT_PARENT"}
    assert str(ROOT) in own["PYTHONPATH"] and "PYTHONPATH" not in foreign


@pytest.mark.threat("T13")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.usefixtures("full_environment")
@pytest.mark.parametrize("name", CLIENTS)
async def test_no_host_is_given_more(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-I", "-S", stub_host.__file__, "nothing", "well"]
    monkeypatch.setattr(host_client, "child_command", lambda _: command)
    async with client_of(name, tmp_path) as client:
        assert await answer(client, "first")
        given = Path(f"/proc/{client.host_pid}/environ").read_bytes()
    assert b"HTTPS_PROXY=needed\0" in given
    assert b"canary" not in given and b"TOKEN" not in given


def test_the_list_stands_in_the_documentation() -> None:
    text = (ROOT / "app" / "README.md").read_text(encoding="utf-8")
    section = text.partition("**Environment.**")[2].partition("\n\n## ")[0]
    system, own = section.split("Moot's own", 1)
    named = re.compile(r"`([A-Za-z_0-9()]+)\*?`")
    assert set(named.findall(system)) == SYSTEM_VARIABLES | set(SYSTEM_PREFIXES)
    assert set(named.findall(own)) >= OWN_VARIABLES


def test_windows_finds_the_libraries_that_come_with_qt_without_qt() -> None:
    """As where no program has installed them: those of C++ and OpenMP stand in shiboken6's folder in Windows' package."""
    code = """
import os, sys
from app.children import processes
added = []
os.add_dll_directory = added.append
sys.platform = "win32"
processes.find_libraries()
assert not {name for name in sys.modules if name.startswith(("PySide6", "shiboken6"))}
print(*added)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    [folder] = done.stdout.splitlines()
    assert Path(folder).name == "shiboken6" and any(
        Path(folder).glob("libshiboken6*" if os.name == "posix" else "*.dll")
    )
