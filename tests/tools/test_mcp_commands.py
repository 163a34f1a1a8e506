"""Where the commands of servers are found: the login shell is asked once, and never waited for long."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.children import processes
from app.core.tool import ServerProblem, ToolError
from app.tools.tool_host import server_processes

Shell = Callable[[str], None]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Make the user's shell one whose start file is given."""

    def make(start_file: str) -> None:
        script = tmp_path / "shell"
        script.write_text(f'#!/bin/sh\n{start_file}\nshift\neval "$1"\n')
        script.chmod(0o755)
        monkeypatch.setenv("SHELL", str(script))
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        processes._asked_once.cache_clear()

    yield make
    processes._asked_once.cache_clear()


async def test_ours_comes_first_and_nothing_twice(shell: Shell) -> None:
    shell("echo Hello; PATH=/bin:/opt/x:/usr/bin; echo no news >&2")
    assert await processes.search_path() == "/usr/bin:/bin:/opt/x"


async def test_what_a_start_file_leaves_running_is_not_waited_for(shell: Shell) -> None:
    shell("sleep 4 &\nPATH=/opt/y")
    started = time.monotonic()
    assert await processes.search_path() == "/usr/bin:/bin:/opt/y"
    assert time.monotonic() - started < 2


async def test_a_shell_that_hangs_is_given_up(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_SHELL_SECONDS", 0.5)
    shell("sleep 30")
    started = time.monotonic()
    assert await processes.search_path() == "/usr/bin:/bin"
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("start_file", ["exit 3", "exec /bin/false"])
async def test_a_shell_that_says_nothing_adds_nothing(shell: Shell, start_file: str) -> None:
    shell(start_file)
    assert await processes.search_path() == "/usr/bin:/bin"


async def test_a_shell_that_is_not_there_adds_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("")
    monkeypatch.setenv("SHELL", "/no/such/shell")
    assert await processes.search_path() == "/usr/bin:/bin"


async def test_a_command_with_a_folder_is_seen_from_where_the_server_runs(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "server"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert await server_processes.resolve("bin/server", str(tmp_path), "/usr/bin") == str(program)
    assert await server_processes.resolve(str(program), None, "/usr/bin") == str(program)
    program.chmod(0o644)
    with pytest.raises(ToolError, match="Looked in: /usr/bin") as refusal:
        await server_processes.resolve("bin/server", str(tmp_path), "/usr/bin")
    assert refusal.value.problem == ServerProblem.NOT_FOUND
