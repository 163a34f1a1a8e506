"""What keeps an MCP server from flooding the host: limits of lines and messages, and why it was let go."""

import time
from collections import deque
from collections.abc import Callable

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from app.core.tool import ENDED, TOO_MUCH

LINE_BYTES = 8_000_000
_WINDOW_SECONDS = 10.0
_UNASKED_MESSAGES = 5_000
_GARBAGE_BYTES = 2_000_000


class Guard:
    """Counts what a server sends; `reason` says why the connection ended, `on_end` is called once then.

    `http_status` is the last refusal of a server at an address, `garbage_lines` counts what was no message.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.reason = ""
        self.problem = ENDED
        self.ended = False
        self.http_status = ""
        self._on_end = on_end
        self._unasked: deque[float] = deque(maxlen=_UNASKED_MESSAGES)
        self._garbage = 0
        self.garbage_lines = 0

    def end(self, reason: str = "", problem: str = ENDED) -> None:
        """Take note that the connection ended; the first reason counts."""
        if not self.ended:
            self.ended = True
            self.reason = reason
            self.problem = problem
            self._on_end()

    def allows(self, item: SessionMessage | Exception) -> bool:
        """Say whether a message may pass: one that answers nothing may not come too often."""
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(item, SessionMessage) and not isinstance(message, JSONRPCNotification | JSONRPCRequest):
            return True
        now = time.monotonic()
        full = len(self._unasked) == _UNASKED_MESSAGES
        if full and now - self._unasked[0] < _WINDOW_SECONDS:
            self.end(
                f"It sent more than {_UNASKED_MESSAGES} messages within {_WINDOW_SECONDS:.0f} seconds.",
                TOO_MUCH,
            )
            return False
        self._unasked.append(now)
        return True

    def allows_garbage(self, size: int) -> bool:
        """Say whether what is no message may be passed over: some print a greeting, none prints for ever."""
        self._garbage += size
        self.garbage_lines += 1
        if self._garbage > _GARBAGE_BYTES:
            self.end(
                f"It wrote more than {_GARBAGE_BYTES // 1_000_000} MB that is no MCP to its output.", TOO_MUCH
            )
            return False
        return True
