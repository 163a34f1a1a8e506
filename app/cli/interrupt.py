"""The request that a command pauses what it runs, and ends."""

import asyncio


class Interrupt(asyncio.Event):
    """Set when a command shall pause what it runs, the session `session_id`; `closing` if Moot itself ends."""

    closing = False
    session_id = ""

    def close(self) -> None:
        """Set the event because Moot ends."""
        self.closing = True
        self.set()
