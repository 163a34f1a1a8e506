"""Runs every benchmark and prints one Markdown table: `python -m tests.benchmarks [--short]`.

Each module runs in a process of its own, so that none pays for what another left in memory. The
table is kept in build/benchmarks.md.
"""

import argparse
import dataclasses
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from tests.benchmarks.table import Result, Row, markdown

MODULES = (
    "bench_startup",
    "bench_command_line",
    "bench_transcript",
    "bench_memory",
    "bench_scrolling",
    "bench_theme",
    "bench_streaming",
    "bench_hostile",
    "bench_engine_streams",
    "bench_callbacks",
    "bench_providers",
    "bench_chats",
    "bench_workflows",
    "bench_council",
    "bench_first_token",
    "bench_storage",
    "bench_files",
    "bench_local_models",
    "bench_day",
)
OUTPUT = Path(__file__).resolve().parents[2] / "build" / "benchmarks.md"


def main() -> int:
    """Run what was asked; exit status 1 when a benchmark broke or, in the full form, a promise was missed.

    Short runs repeat less and share the machine with whatever else runs: their misses are shown only,
    as are those of a promise that is known to be missed.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer repeats, and without the longest")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="only modules or benchmarks with this in them"
    )
    parser.add_argument("--module", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.module:
        write_rows(arguments.module, arguments.short, arguments.only, arguments.output)
        return 0
    rows: list[Row] = []
    for module in MODULES:
        rows += run_module(module, arguments.short, arguments.only)
    table = markdown(rows)
    print("\n" + table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(table, encoding="utf-8")
    broken = not rows or any(row.result is None for row in rows)
    missed = not arguments.short and not all(row.met() or row.falls_short for row in rows)
    return 1 if broken or missed else 0


def run_module(module: str, short: bool, only: str) -> list[Row]:
    """Run one module's benchmarks in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="moot-bench-") as folder:
        output = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "tests.benchmarks", "--module", module, "--output", str(output)]
        command += ["--short"] if short else []
        command += ["--only", only] if only else []
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "MOOT_DATA_DIR": f"{folder}/data"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(command, env=environment, check=False)
        if done.returncode or not output.is_file():
            return [Row(module, 0, None, f"its process ended with {done.returncode}")]
        found = json.loads(output.read_text(encoding="utf-8"))
    return [
        Row(name, target, Result(**result) if result else None, error, falls_short)
        for name, target, result, error, falls_short in found
    ]


def write_rows(module_name: str, short: bool, only: str, output: Path) -> None:
    """Run the benchmarks of one module here and write what they found as JSON."""
    module = importlib.import_module(f"tests.benchmarks.{module_name}")
    rows = []
    for benchmark in module.BENCHMARKS:
        chosen = only in module_name or only in benchmark.name if only else not (short and benchmark.long)
        if not chosen:
            continue
        print(f"… {benchmark.name}", flush=True)
        result, problem = None, ""
        try:
            result = dataclasses.asdict(benchmark.run(short))
        except Exception as error:
            traceback.print_exc()
            problem = f"{type(error).__name__}: {error}"
        rows.append((benchmark.name, benchmark.target, result, problem, benchmark.falls_short))
    output.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
