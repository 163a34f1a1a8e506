"""Starts the tool host: `python -m app.tools.tool_host`, or `--tool-host` of a frozen build."""

import asyncio
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
import time

from app.children.pipes import Pipes
from app.tools.tool_host.host import Host
from app.tools.tool_host.process_groups import kill_all_groups

_PARENT_CHECK_SECONDS = 1.0
_ORDERLY_END_SECONDS = 8.0
_LOG_CHARACTERS = 2000


def main() -> int:
    """Serve until standard input closes."""
    if sys.platform != "win32":
        _watch_parent()
    pipes = Pipes.take_over_standard_streams()
    faulthandler.enable()
    # Ctrl-C in a terminal reaches the whole process group; it is for Moot to decide what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handler = logging.StreamHandler()
    handler.setFormatter(_ShortLines("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    gc.freeze()
    asyncio.run(Host(pipes).run())
    # Threads of libraries must not keep a host alive whose parent is gone.
    sys.stderr.flush()
    os._exit(0)


class _ShortLines(logging.Formatter):
    """Writes one short line a record: what a server sends must not fill the log."""

    def formatException(self, ei: object) -> str:  # noqa: N802 - the name is that of logging
        return f"({ei[1]!r})" if isinstance(ei, tuple) else ""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", " ")[:_LOG_CHARACTERS]


def _watch_parent() -> None:
    # The system could kill this process with its parent, but then nobody would end the MCP servers and
    # what they started. The end of standard input tells the event loop; this thread is for a loop
    # that no longer listens.
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_CHECK_SECONDS)
        time.sleep(_ORDERLY_END_SECONDS)
        kill_all_groups()
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
