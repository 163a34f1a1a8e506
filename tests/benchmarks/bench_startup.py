"""How soon the window is painted, against a bare PySide6 window; both in fresh processes, in turns.

Where `dev.py build` has made the program: its start against the same from source, and its size.
"""

import mmap
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.table import Benchmark, Result

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "dist" / "moot" / "moot"
MOST_MB = 450
HEAVY = ("litellm", "pydantic", "xllamacpp", "openai", "aiohttp")

# Both programs get a main window that notes when its first paint is done. The filter is on that window alone:
# one on the application would be told of Qt's own objects too, and naming those to Python costs 80 ms.
_NOTE_FIRST_PAINT = """
import os, sys, time
HEAVY = sys.argv[1].split(",")
from PySide6 import QtCore, QtWidgets

class FirstPaint(QtCore.QObject):
    def eventFilter(self, watched, event):
        if event.type() == QtCore.QEvent.Type.Paint:
            # The event arrives before its handler and its children's; the timer fires after them.
            QtCore.QTimer.singleShot(0, painted)
            watched.removeEventFilter(self)
        return False

def painted():
    loaded = [name for name in HEAVY if name in sys.modules]
    print(time.time(), ",".join(loaded), flush=True)
    os._exit(0)

class MainWindow(QtWidgets.QMainWindow):
    def showEvent(self, event):
        self.first_paint = FirstPaint()
        self.installEventFilter(self.first_paint)
        super().showEvent(event)

QtWidgets.QMainWindow = MainWindow
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


def built_start(short: bool) -> Result:
    """Compare the medians from a new process to the first pixels on a real X server, seen from outside."""
    times: dict[str, list[float]] = {"built": [], "source": []}
    commands = {"built": [str(BUILT)], "source": [sys.executable, "-m", "app"]}
    with tempfile.TemporaryDirectory(prefix="moot-screen-") as folder:
        screen = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-fbdir", folder, "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert screen.stdout is not None
            display = f":{screen.stdout.readline().strip()}"
            for turn in range(6 if short else 16):
                for name, command in commands.items():
                    with tempfile.TemporaryDirectory(prefix="moot-start-") as data_dir:
                        seconds = first_pixels(command, display, Path(folder) / "Xvfb_screen0", data_dir)
                    if turn:  # the first of each fills the disk's cache
                        times[name].append(seconds)
        finally:
            screen.terminate()
            screen.wait()
    measured, baseline = (statistics.median(times[name]) * 1000 for name in ("built", "source"))
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


def first_pixels(command: list[str], display: str, memory: Path, data_dir: str) -> float:
    """Return the seconds from the start of a program until the middle of the screen changes."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "xcb", "DISPLAY": display, "MOOT_DATA_DIR": data_dir}
    with memory.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as screen:
        # One line of pixels, somewhat above the middle.
        line = slice(len(screen) * 2 // 5, len(screen) * 2 // 5 + 1440 * 4)
        before = screen[line]
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while screen[line] == before:
                if process.poll() is not None or time.monotonic() - started > 60:
                    raise RuntimeError(f"no window was painted by {command[0]}")
                time.sleep(0.001)
            return time.monotonic() - started
        finally:
            process.kill()
            process.wait()
            while screen[line] != before:  # the screen is empty again for the next one
                time.sleep(0.01)


def built_size(_short: bool) -> Result:
    """Compare the size of the built folder, without the model, with what it may be."""
    files = [path for path in BUILT.parent.rglob("*") if path.is_file() and not path.is_symlink()]
    size = sum(path.stat().st_size for path in files if path.suffix != ".gguf") / 1e6
    return Result(measured=size, baseline=MOST_MB, unit="MB", ratio=size / MOST_MB)


BENCHMARKS = [
    Benchmark(name="start to first paint, against a bare PySide6 window", target=1.5, run=start, short=True)
]
if BUILT.is_file():
    BENCHMARKS.append(Benchmark(name="size of the build without the model", target=1.0, run=built_size))
    if shutil.which("Xvfb"):
        BENCHMARKS.append(
            Benchmark(name="built program to first pixels, against from source", target=1.3, run=built_start)
        )
