"""Starts the agent host: `python -m app.providers.agent_host`, or `--agent-host` of a frozen build."""

import os
import sys

from app.children.pipes import run_host
from app.children.process_tree import become_subreaper
from app.providers.agent_host.host import AgentHost


def main() -> int:
    """Serve until standard input closes.

    The system does not kill this process with its parent: nobody would end the programs and what they have started.
    """
    # A signal to Moot's process group must not reach this process before it has ended the programs.
    if hasattr(os, "setsid") and os.getpgrp() != os.getpid():
        os.setsid()
    become_subreaper()
    return run_host(AgentHost)


if __name__ == "__main__":
    sys.exit(main())
