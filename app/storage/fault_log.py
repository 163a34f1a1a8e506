"""The log of Moot's own process: warnings and faults of the program, with tracebacks and without keys."""

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

from app.children.private_files import HostLog


class FaultLog(logging.Handler):
    """Writes log records to `moot.log` in a folder, and not to standard error; `redact` removes keys."""

    def __init__(self, folder: Path, redact: Callable[[str], str]) -> None:
        super().__init__(logging.WARNING)
        self._log = HostLog(folder / "moot.log", redact)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        # A record that cannot be written must not become a fault of its own.
        with contextlib.suppress(Exception):
            self._log.write(self.format(record))

    def close(self) -> None:
        """Write what is left, and take no more records."""
        logging.getLogger().removeHandler(self)
        self._log.wait()
        super().close()
