"""Tests a built program as users start it: empty homes, a debate in the terminal and one in the window.

`.ci/full` runs it with any Python after `dev.py build`; standard library only. On Linux it needs Xvfb, on
Windows and macOS the window opens on the machine's own screen. Exit status 1 on failure.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINUX, WINDOWS = sys.platform.startswith("linux"), sys.platform == "win32"
DIST = Path(__file__).resolve().parents[1] / "build" / "dist"
# The program for the terminal and the one that opens the window; on Windows these are two.
MOOT = DIST / "moot" / ("moot-cli.exe" if WINDOWS else "moot")
WINDOW = DIST / "moot" / "moot.exe" if WINDOWS else MOOT
TOPIC = "Should cities ban private cars from their centres?"
WINDOW_SECONDS = 60
DEBATE_SECONDS = 300
STARTED = time.monotonic()


def main() -> int:
    """Run everything; return 0 if all of it worked."""
    with tempfile.TemporaryDirectory(prefix="moot-try-", ignore_cleanup_errors=True) as folder:
        terminal, window = Path(folder) / "terminal", Path(folder) / "window"
        for home in (terminal, window):
            home.mkdir()
        # A new user's home has no keyring, which the doctor calls a problem.
        moot(terminal, "doctor", fine=(0, 1))
        debate(terminal)
        say("a debate in the terminal has run")
        if not LINUX:
            try_window(window, "")
            say("the built program works")
            return 0
        screen = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert screen.stdout is not None
            try_window(window, f":{screen.stdout.readline().strip()}")
        finally:
            screen.terminate()
            screen.wait()
    say("the built program works")
    return 0


def try_window(home: Path, display: str) -> None:
    """Open the window, run a debate in it, and end it as a system shutdown does."""
    process = subprocess.Popen([WINDOW, *place(home)], env={**environment(home), "DISPLAY": display})
    try:
        control = home / ".local" / "share" / "Moot" if LINUX else home
        deadline = time.monotonic() + WINDOW_SECONDS
        while not any(control.glob("control*")):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the window did not open; its status is {process.returncode}")
            time.sleep(0.1)
        say("the window is there, with its engine")
        # A debate is handed to the window that holds the data directory, and runs there.
        debate(home)
        say("a debate in the window has run")
        process.terminate()
        status = process.wait(30)
        # Windows has no signal that a window could answer.
        if status and not WINDOWS:
            raise SystemExit(f"the window ended with {status}")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def debate(home: Path) -> None:
    """Run one round with the built-in model; the last line says that it is completed."""
    said = moot(home, "debate", TOPIC, "--rounds", "1")
    if not said.splitlines()[-1].startswith("Completed ·"):
        raise SystemExit(f"the debate did not end well:\n{said}")


def moot(home: Path, *arguments: str, fine: tuple[int, ...] = (0,)) -> str:
    """Run a command of the built program, which shall end with one of the statuses, and return its output."""
    done = subprocess.run(
        [MOOT, *place(home), *arguments],
        env=environment(home),
        stdout=subprocess.PIPE,
        text=True,
        timeout=DEBATE_SECONDS,
        check=False,
    )
    if done.returncode not in fine:
        raise SystemExit(f"moot {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def place(home: Path) -> list[str]:
    """Return the options that name the data directory; on Linux it is the usual one of the home."""
    return [] if LINUX else ["--data-dir", str(home)]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a new user: no Python, no settings.
    Other systems keep what they need to start.
    """
    if not LINUX:
        return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}


def say(text: str) -> None:
    """Print a line with the seconds since the start."""
    print(f"try [{time.monotonic() - STARTED:3.0f} s] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
