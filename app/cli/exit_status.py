"""The exit statuses of commands, on which scripts rely."""

from collections.abc import Mapping

from app.core.session import Session, Status

OK = 0
FAULT = 1
BAD_INPUT = 2
WAITS = 3
PAUSED_OR_STOPPED = 4

_BY_STATUS: Mapping[str, int] = {Status.COMPLETED: OK, Status.WAITING: WAITS, Status.ERROR: FAULT}


def status_of(session: Session) -> int:
    """Return the exit status for a session that no longer runs."""
    return _BY_STATUS.get(session.status, PAUSED_OR_STOPPED)
