"""How soon the window is painted, against a bare PySide6 window; both in fresh processes, in turns."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.table import Benchmark, Result

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("litellm", "pydantic", "xllamacpp", "openai", "aiohttp")

# Both programs get an application that notes when the first window's first paint is done.
_NOTE_FIRST_PAINT = """
import os, sys, time
HEAVY = sys.argv[1].split(",")
from PySide6 import QtCore, QtWidgets

class FirstPaint(QtCore.QObject):
    def eventFilter(self, watched, event):
        if event.type() == QtCore.QEvent.Type.Paint and isinstance(watched, QtWidgets.QMainWindow):
            # The event arrives before its handler and its children's; the timer fires after them.
            QtCore.QTimer.singleShot(0, painted)
            watched.removeEventFilter(self)
            QtWidgets.QApplication.instance().removeEventFilter(self)
        return False

def painted():
    loaded = [name for name in HEAVY if name in sys.modules]
    print(time.time(), ",".join(loaded), flush=True)
    os._exit(0)

class Application(QtWidgets.QApplication):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.first_paint = FirstPaint()
        self.installEventFilter(self.first_paint)

QtWidgets.QApplication = Application
"""
_BARE = """
application = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QMainWindow()
window.resize(1280, 800)
window.show()
application.exec()
"""
_MOOT = """
os.environ["MOOT_DATA_DIR"] = sys.argv[2]
del sys.argv[1:]
from app.__main__ import main
main()
"""


def first_paint(program: str, data_dir: str) -> tuple[float, str]:
    """Return the seconds from the start of a new process to its first paint, and what it loaded."""
    command = [sys.executable, "-c", _NOTE_FIRST_PAINT + program, ",".join(HEAVY), data_dir]
    started = time.time()
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120, check=False
    )
    if not done.stdout.strip():
        raise RuntimeError(f"no window was painted: {done.stderr[-500:]}")
    at, _, loaded = done.stdout.strip().partition(" ")
    return float(at) - started, loaded


def start(short: bool) -> Result:
    """Compare the medians; fails when the window's process has loaded what it must not."""
    moot, bare = [], []
    with tempfile.TemporaryDirectory(prefix="moot-start-") as data_dir:
        for program in (_MOOT, _BARE):
            first_paint(program, data_dir)  # the disk's cache and the .pyc files
        for _ in range(5 if short else 15):
            seconds, loaded = first_paint(_MOOT, data_dir)
            if loaded:
                raise RuntimeError(f"loaded before the first paint: {loaded}")
            moot.append(seconds)
            bare.append(first_paint(_BARE, data_dir)[0])
    measured, baseline = statistics.median(moot) * 1000, statistics.median(bare) * 1000
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


BENCHMARKS = (Benchmark(name="start to first paint, against a bare PySide6 window", target=1.5, run=start),)
