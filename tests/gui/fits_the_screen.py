"""Opens the window on the screen it is given, and prints its frame and the screen's room; run as a process.

`python -m tests.gui.fits_the_screen DATA_DIR`. A process has one scale for life, so each test needs its own.
"""

import asyncio
import json
import sys
from pathlib import Path

from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from app.gui.desktop.event_loop import AppLoop
from app.main import open_window

NAMES = ("new_button", "debate_button", "settings_button", "send_button")


async def _open(data_dir: Path) -> None:
    window = await open_window(data_dir)
    window.show_side(True)
    for _ in range(20):
        await asyncio.sleep(0.05)
    room = window.screen().availableGeometry()
    frame = window.frameGeometry()
    area = window.centralWidget()
    assert isinstance(area, QAbstractScrollArea)
    found = {
        "room": [room.x(), room.y(), room.right(), room.bottom()],
        "frame": [frame.x(), frame.y(), frame.right(), frame.bottom()],
        "scrolls": [area.horizontalScrollBar().maximum() > 0, area.verticalScrollBar().maximum() > 0],
        "reached": [_reached(area, window, name) for name in NAMES],
    }
    print(json.dumps(found), flush=True)
    await window.shutdown()


def _reached(area: QAbstractScrollArea, window: QWidget, name: str) -> bool:
    """Say whether a widget can be scrolled into view, whole, as the Tab key does."""
    shown = [one for one in window.findChildren(QWidget, name) if one.isVisible()]
    if not shown:
        return False
    widget = shown[0]
    area.ensureWidgetVisible(widget, 0, 0)  # type: ignore[attr-defined]
    QApplication.sendPostedEvents()
    place = widget.mapTo(area.viewport(), widget.rect().topLeft())
    return area.viewport().rect().contains(widget.rect().translated(place))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=lambda: AppLoop(QApplication(["fits"]))) as runner:
        runner.run(_open(Path(sys.argv[1])))
