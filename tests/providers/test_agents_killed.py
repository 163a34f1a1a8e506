"""Agents that run shell tools, and are killed at any moment with their host or with Moot: nothing of them is left."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import ProviderError
from app.core.provider import ModelRequest
from app.providers.agent_host.host import read_record
from app.providers.external_agents import ExternalAgents
from tests.app_driver import until
from tests.providers.external import parent_of, running, tiny, told

pytestmark = [pytest.mark.allow_blocking, pytest.mark.threat("T13")]

PROJECT = Path(__file__).parents[2]
# Of 20 shells this many have been started when the kill comes.
MOMENTS = (0, 3, 9)
EVERY_MOMENT = tuple(number for number in range(17))
OWNER = (
    "import sys, asyncio; from tests.providers.test_agents_killed import own; asyncio.run(own(*sys.argv[1:]))"
)


def shells(folder: Path, number: int) -> tuple[str, Path]:
    """Return a length of sleep that no other command has, and the agent's journal."""
    return f"6{os.getpid()}.{number}", folder / f"journal-{number}"


async def work(agents: ExternalAgents, folder: Path, sleep: str, journal: Path) -> str:
    """Let a tiny agent start its shells; returns why it was cut off."""
    config = tiny(f"shells={sleep}", journal, id="shells")
    request = ModelRequest(
        provider="shells", model="", messages=({"role": "user", "content": "Go."},), folder=str(folder)
    )
    try:
        async for _ in agents.stream(config, request):
            pass
    except ProviderError as error:
        return str(error)
    return ""


async def own(root: str, sleep: str, journal: str) -> None:
    """Be the process that owns the agents, as Moot is."""
    agents = ExternalAgents(allowed=lambda _: True, folder=Path(root) / "agents")
    await agents.end_left()
    await work(agents, Path(root), sleep, Path(journal))


def begun(journal: Path, moment: int) -> bool:
    return len(told(journal, "shell")) >= moment and told(journal, "prompt") != []


async def kill_agent_or_host(folder: Path, victim: str, moments: tuple[int, ...]) -> None:
    agents = ExternalAgents(allowed=lambda _: True, folder=folder / "agents")
    try:
        for moment in moments:
            sleep, journal = shells(folder, moment)
            working = asyncio.create_task(work(agents, folder, sleep, journal))
            await until(lambda: begun(journal, moment) or working.done())  # noqa: B023
            assert not working.done(), working.result()
            agent = told(journal, "start")[0]["pid"]
            os.kill(
                {"agent": agent, "host": parent_of(agent), "watcher": agents.host_pid}[victim], signal.SIGKILL
            )
            await working
            # A host that was killed is known to be gone when both of its processes are.
            await until(lambda: victim == "agent" or agents.host_pid is None)
            await until(lambda: not running(sleep) and not running(str(journal)))  # noqa: B023
    finally:
        await agents.close()


def start_owner(folder: Path, sleep: str, journal: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", OWNER, str(folder), sleep, str(journal)], cwd=PROJECT)


async def kill_moot(folder: Path, moments: tuple[int, ...]) -> None:
    for moment in moments:
        sleep, journal = shells(folder, moment)
        owner = await asyncio.to_thread(start_owner, folder, sleep, journal)
        await until(lambda: begun(journal, moment))  # noqa: B023
        owner.kill()
        await until(lambda: not running(sleep) and not running(str(journal)))  # noqa: B023
        owner.wait()


@pytest.mark.parametrize("victim", ["agent", "host", "watcher"])
async def test_nothing_is_left_when_an_agent_or_its_host_is_killed(tmp_path: Path, victim: str) -> None:
    await kill_agent_or_host(tmp_path, victim, MOMENTS[:1])


@pytest.mark.slow
async def test_nothing_is_left_when_moot_is_killed(tmp_path: Path) -> None:
    await kill_moot(tmp_path, MOMENTS[1:2])


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["agent", "host", "watcher", "moot"])
async def test_nothing_is_left_at_any_moment(tmp_path: Path, victim: str) -> None:
    if victim == "moot":
        await kill_moot(tmp_path, EVERY_MOMENT)
    else:
        await kill_agent_or_host(tmp_path, victim, EVERY_MOMENT)


async def test_what_is_left_when_all_were_killed_is_ended_at_the_next_start(tmp_path: Path) -> None:
    sleep, journal = shells(tmp_path, 20)
    owner = await asyncio.to_thread(start_owner, tmp_path, sleep, journal)
    record = tmp_path / "agents" / "processes.json"
    await until(lambda: begun(journal, 20) and record.exists())
    # Two a shell.
    command = f"sleep\0{sleep}"
    await until(lambda: len(running(command)) == 40 and set(running(command)) <= set(read_record(record)))
    agent = told(journal, "start")[0]["pid"]
    host = parent_of(agent)
    # As fast as they can be: none of them may see another one's end.
    all_of_them = (owner.pid, parent_of(host), host, agent)
    for pid in all_of_them:
        os.kill(pid, signal.SIGSTOP)
    for pid in all_of_them:
        os.kill(pid, signal.SIGKILL)
    owner.wait()
    assert running(sleep)
    agents = ExternalAgents(allowed=lambda _: True, folder=tmp_path / "agents")
    await agents.end_left()
    await until(lambda: not running(sleep))
    assert not record.exists()
    await agents.close()
