"""Prints how the window looks, at the start and after every change; run as a process by test_desktop_settings.

A process has one session bus for life, so each test needs its own.
"""

import asyncio
import json
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.gui.desktop.event_loop import AppLoop
from app.gui.display.appearance import Look

RESOURCES = Path(__file__).parents[2] / "resources"


def main() -> None:
    """Follow the desktop until the process is ended."""
    application = QApplication(["look"])
    look = Look(application, RESOURCES, "system")

    def tell() -> None:
        tokens = look.tokens
        print(json.dumps({"dark": tokens.dark, "text": tokens.text, "moves": look.moves}), flush=True)

    look.changed.connect(tell)
    tell()
    with asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner:
        runner.run(asyncio.Event().wait())


if __name__ == "__main__":
    main()
