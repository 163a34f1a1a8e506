"""The exit statuses of commands, on which scripts rely."""

from collections.abc import Mapping

from app.core.session import Status

OK = 0
FAULT = 1
BAD_INPUT = 2
WAITS = 3
PAUSED_OR_STOPPED = 4

# Of a session that no longer runs; any other status is PAUSED_OR_STOPPED.
BY_STATUS: Mapping[str, int] = {Status.COMPLETED: OK, Status.WAITING: WAITS, Status.ERROR: FAULT}
