"""Starts the agent host: `python -m app.providers.agent_host`, or `--agent-host` of a frozen build.

On Linux it is two processes, of which either ends all programs where the other one is killed.
"""

import os
import sys

from app.children.processes import become_subreaper, end_processes, run_host
from app.providers.agent_host.host import AgentHost


def main() -> int:
    """Serve until standard input closes.

    The system does not kill this process with its parent: nobody would end the programs and what they have
    started.
    """
    # A signal to Moot's process group must not reach this process before it has ended the programs.
    if sys.platform != "win32" and os.getpgrp() != os.getpid():
        os.setsid()
    become_subreaper()
    if sys.platform.startswith("linux") and (served := os.fork()):
        # It ends once the process that serves has ended, and nothing of what that has started is left.
        for stream in (0, 1):
            os.close(stream)
        _, status = os.waitpid(served, 0)
        end_processes((), os.getpid())
        return os.waitstatus_to_exitcode(status)
    # This one is asked for itself: it does not inherit it.
    become_subreaper()
    return run_host(AgentHost)


if __name__ == "__main__":
    sys.exit(main())
