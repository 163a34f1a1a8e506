"""Starts the tool host: `python -m app.tools.tool_host`, or `--tool-host` of a frozen build."""

import logging
import os
import sys
import threading
import time

from app.children.processes import run_host
from app.tools.tool_host.host import ToolHost
from app.tools.tool_host.server_processes import kill_all_groups

_PARENT_CHECK_SECONDS = 1.0
_ORDERLY_END_SECONDS = 8.0
_LOG_CHARACTERS = 2000


def main() -> int:
    """Serve until standard input closes."""
    if sys.platform != "win32":
        _watch_parent()
    handler = logging.StreamHandler()
    handler.setFormatter(_ShortLines("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    return run_host(ToolHost)


class _ShortLines(logging.Formatter):
    """Formats a record as one short line, so that text from a server cannot fill the log."""

    def formatException(self, ei: object) -> str:  # noqa: N802 - the name is that of logging
        return f"({ei[1]!r})" if isinstance(ei, tuple) else ""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", " ")[:_LOG_CHARACTERS]


def _watch_parent() -> None:
    # If the system killed this process with its parent, nobody would end the MCP servers and what they
    # started. The event loop sees the end of standard input; this thread acts when the loop is stuck.
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
