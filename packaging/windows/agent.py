"""Starts a program with a child, as external agents are started, for try.sh: agent.py ended|left.

`ended` ends it as Moot does; `left` says that it runs and waits, so that this process can be killed itself.
"""

import asyncio
import subprocess
import sys

from app.children.processes import kill_group, start_program

# try.sh looks for it among the running programs.
CHILD = "import time; time.sleep(4321)"
AGENT = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {CHILD!r}])
print("begun", flush=True)
time.sleep(4321)
"""


async def main(how: str) -> None:
    """Start the program, and end it or wait."""
    agent = await start_program(sys.executable, "-c", AGENT, group=True, stdout=subprocess.PIPE)
    assert agent.stdout is not None
    await agent.stdout.readline()
    print("begun", flush=True)
    if how == "ended":
        kill_group(agent.pid)
    await agent.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
