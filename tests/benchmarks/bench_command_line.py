"""How long a command takes from its start to its end, against a Python that does nothing."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from app.storage.paths import DataPaths
from tests.benchmarks.bench_storage import write_sessions
from tests.benchmarks.table import Benchmark, Result

ROOT = Path(__file__).resolve().parents[2]
NOTHING = ("-c", "pass")
SESSIONS = ("-m", "app", "sessions", "--json")


def sessions(short: bool) -> Result:
    """List 1,000 sessions with `moot sessions`, in turns with an empty Python program."""
    times: dict[tuple[str, ...], list[float]] = {SESSIONS: [], NOTHING: []}
    with tempfile.TemporaryDirectory(prefix="moot-sessions-") as folder:
        asyncio.run(write_sessions(DataPaths(Path(folder))))
        assert len(json.loads(_run(SESSIONS, folder)[1])) == 1_000  # and the disk's cache is filled
        for _ in range(7 if short else 21):
            for program, taken in times.items():
                taken.append(_run(program, folder)[0])
    measured, baseline = (statistics.median(times[program]) * 1000 for program in (SESSIONS, NOTHING))
    return Result(measured=measured, baseline=baseline, unit="ms", ratio=measured / baseline)


def _run(program: tuple[str, ...], folder: str) -> tuple[float, str]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *program],
        cwd=ROOT,
        env={**os.environ, "MOOT_DATA_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - started, done.stdout


BENCHMARKS = [
    Benchmark(
        name="moot sessions with 1,000 sessions, against a Python that does nothing",
        target=15.0,
        run=sessions,
    )
]
