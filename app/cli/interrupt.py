"""The wish that a command pauses what it runs; set by a signal, or by the Moot that ends."""

import asyncio


class Interrupt(asyncio.Event):
    """Set once a command is to pause; `closing` says that Moot ends, and not that the user wants a pause."""

    closing = False

    def close(self) -> None:
        """Ask for the pause because Moot ends."""
        self.closing = True
        self.set()
