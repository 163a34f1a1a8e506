"""Tests a built program as users start it: the doctor, a debate in the terminal and the window, and its end.

usage: try_build.py [PROGRAM]; by default what `dev.py build` has made, on Windows what is installed
PROGRAM is the program on Linux, Moot.app on macOS, on Windows the folder with Moot.exe. On Linux the homes
are empty and the window opens in Xvfb, elsewhere on the machine's own screen. Exit status 1 on failure.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

LINUX, WINDOWS = sys.platform.startswith("linux"), sys.platform == "win32"
DIST = Path(__file__).resolve().parents[1] / "build" / "dist"
TOPIC = "Should cities ban private cars from their centres?"
WINDOW_SECONDS = 60
DEBATE_SECONDS = 300
END_SECONDS = 60
STARTED = time.monotonic()


def main(arguments: Sequence[str]) -> int:
    """Run everything; return 0 if all of it worked."""
    program = Path(arguments[0]).absolute() if arguments else installed()
    with tempfile.TemporaryDirectory(prefix="moot-try-", ignore_cleanup_errors=True) as folder:
        terminal, window = Path(folder) / "terminal", Path(folder) / "window"
        for home in (terminal, window):
            home.mkdir()
        examine(program, terminal)
        say("the doctor finds no problem")
        debate(program, terminal)
        say("a debate in the terminal has run")
        if not LINUX:
            try_window(program, window, "")
            say(f"{program} works")
            return 0
        screen = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
        )
        try:
            assert screen.stdout is not None
            try_window(program, window, f":{screen.stdout.readline().strip()}")
        finally:
            screen.terminate()
            screen.wait()
    say(f"{program} works")
    return 0


def installed() -> Path:
    """Return the program where the installer puts it, or where `dev.py build` does."""
    if WINDOWS:
        return Path(os.environ["LOCALAPPDATA"], "Programs", "Moot")
    return DIST / ("moot/moot" if LINUX else "Moot.app")


def command_of(program: Path) -> Path:
    """Return the program for the terminal."""
    if LINUX:
        return program
    return program / ("bin/moot.exe" if WINDOWS else "Contents/MacOS/moot")


def window_of(program: Path, home: Path) -> list[str]:
    """Return what opens the window as a double-click does; it runs until the window has ended."""
    if LINUX:
        return [str(program)]
    if WINDOWS:
        return [str(program / "Moot.exe")]
    log = str(home / "output.txt")
    # `-n`: not one that runs already, whose data directory is another one.
    return ["open", "-n", "-W", "--stdout", log, "--stderr", log, str(program), "--args"]


def examine(program: Path, home: Path) -> None:
    """Let the doctor look at the program; a new user's home on Linux has no keyring, which is a problem."""
    said = moot(program, home, "doctor", fine=(0, 1))
    problems = [line for line in said.splitlines() if line.startswith("problem · ")]
    if LINUX:
        problems = [line for line in problems if not line.startswith("problem · Keyring")]
    if problems or "ok · Built-in model: " not in said:
        raise SystemExit(f"the doctor found a problem:\n{said}")


def try_window(program: Path, home: Path, display: str) -> None:
    """Open the window, run a debate in it, and ask it to end."""
    environ = {**environment(home), "DISPLAY": display} if display else environment(home)
    process = subprocess.Popen([*window_of(program, home), *place(home)], env=environ)
    # Whoever holds the data directory writes this file, and removes it at its end.
    control = (home / ".local" / "share" / "Moot" if LINUX else home) / "control"
    try:
        deadline = time.monotonic() + WINDOW_SECONDS
        while not control.is_file():
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the window did not open; its status is {process.returncode}{log_of(home)}")
            time.sleep(0.1)
        say("the window is there, with its engine")
        # A debate is handed to the window that holds the data directory, and runs there.
        debate(program, home)
        say("a debate in the window has run")
        ask_to_end(json.loads(control.read_text(encoding="utf-8"))["pid"])
        status = process.wait(END_SECONDS)
        if status or control.exists():
            raise SystemExit(f"the window did not end well; its status is {status}{log_of(home)}")
        say("the window has ended")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def ask_to_end(pid: int) -> None:
    """Ask a window to end, which saves everything first; nothing is forced."""
    if WINDOWS:
        # Without /F its windows are told to close.
        subprocess.run(["taskkill", "/PID", str(pid)], check=True)
    else:
        os.kill(pid, signal.SIGTERM)


def log_of(home: Path) -> str:
    """Return what a window on macOS has written; others write to this program's output."""
    log = home / "output.txt"
    return f"\n{log.read_text(encoding='utf-8')}" if log.is_file() else ""


def debate(program: Path, home: Path) -> None:
    """Run one round with the built-in model; the last line says that it is completed."""
    said = moot(program, home, "debate", TOPIC, "--rounds", "1")
    if not said.splitlines()[-1].startswith("Completed ·"):
        raise SystemExit(f"the debate did not end well:\n{said}")


def moot(program: Path, home: Path, *arguments: str, fine: tuple[int, ...] = (0,)) -> str:
    """Run a command of the built program, which shall end with one of the statuses, and return its output.

    Moot writes UTF-8 on every system, whatever the system's own encoding is.
    """
    done = subprocess.run(
        [command_of(program), *arguments, "--lang", "en", *place(home)],
        env=environment(home),
        stdout=subprocess.PIPE,
        encoding="utf-8",
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
    sys.exit(main(sys.argv[1:]))
