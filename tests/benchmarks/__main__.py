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
from functools import partial
from pathlib import Path

from tests.benchmarks.table import Result, Row, judged, known_misses, markdown, measured_again

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
# Those that have benchmarks of the short form.
SHORT_MODULES = ("bench_startup", "bench_transcript", "bench_streaming", "bench_council")
OUTPUT = Path(__file__).resolve().parents[2] / "build" / "benchmarks.md"


def main() -> int:
    """Run what was asked; exit status 1 when a benchmark broke or, in the full form, a promise was missed twice.

    A row that misses its target is measured again at once, in a process of its own. What known_misses.toml names is
    shown only, and so are all misses of the short form, which repeats less.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer repeats, and only a few of them")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="only modules or benchmarks with this in them"
    )
    parser.add_argument("--module", help=argparse.SUPPRESS)
    parser.add_argument("--name", default="", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.module:
        write_rows(arguments.module, arguments.short, arguments.only or arguments.name, arguments.output)
        return 0
    known = known_misses()
    rows: list[Row] = []
    for module in SHORT_MODULES if arguments.short and not arguments.only else MODULES:
        found = run_module(module, arguments.short, "--only", arguments.only)
        if not arguments.short:
            found = [measured_again(row, known, partial(run_again, module)) for row in found]
        rows += found
    table = markdown(rows, known)
    print("\n" + table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(table, encoding="utf-8")
    verdict = judged(rows, known, whole=not (arguments.short or arguments.only))
    for name in verdict.kept if not arguments.short else ():
        print(f"no longer missed, take it out of known_misses.toml: {name}")
    for name in verdict.unknown:
        print(f"no benchmark has the name that known_misses.toml has: {name}")
    if arguments.short:
        return 0 if rows and not verdict.failed else 1
    for name in verdict.missed:
        print(f"missed twice: {name}")
    return 0 if rows and verdict.good() else 1


def run_again(module: str, name: str) -> Row:
    """Measure one benchmark once more, in its full form."""
    print(f"missed, measured again: {name}", flush=True)
    [row] = run_module(module, False, "--name", name)
    return row


def run_module(module: str, short: bool, choice: str, chosen: str) -> list[Row]:
    """Run one module's benchmarks, or those that are chosen, in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="moot-bench-") as folder:
        output = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "tests.benchmarks", "--module", module, "--output", str(output)]
        command += ["--short"] if short else []
        command += [choice, chosen] if chosen else []
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "MOOT_DATA_DIR": f"{folder}/data"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(command, env=environment, check=False)
        if done.returncode or not output.is_file():
            return [Row(chosen or module, 0, None, f"its process ended with {done.returncode}")]
        found = json.loads(output.read_text(encoding="utf-8"))
    return [
        Row(name, target, Result(**result) if result else None, error)
        for name, target, result, error in found
    ]


def write_rows(module_name: str, short: bool, only: str, output: Path) -> None:
    """Run the benchmarks of one module here and write what they found as JSON."""
    module = importlib.import_module(f"tests.benchmarks.{module_name}")
    rows = []
    for benchmark in module.BENCHMARKS:
        chosen = only in module_name or only in benchmark.name if only else benchmark.short or not short
        if not chosen:
            continue
        print(f"… {benchmark.name}", flush=True)
        result, problem = None, ""
        try:
            result = dataclasses.asdict(benchmark.run(short))
        except Exception as error:
            traceback.print_exc()
            problem = f"{type(error).__name__}: {error}"
        rows.append((benchmark.name, benchmark.target, result, problem))
    output.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
