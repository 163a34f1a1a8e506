"""What a benchmark is and what it found; every bench_*.py module and the runner use it.

A benchmark is a ratio of two things measured in one run, interleaved, so that a busy machine
slows both alike.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one run found: `measured` and `baseline` in `unit`, their `ratio`, and a remark."""

    measured: float
    baseline: float
    unit: str
    ratio: float
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A promise about speed or memory: `ratio` must be at most `target`.

    `run` takes whether to run the short form (fewer repeats, the same sizes where it can).
    """

    name: str
    target: float
    run: Callable[[bool], Result]


def markdown(rows: list[tuple[Benchmark, Result | Exception]]) -> str:
    """Return the results as one Markdown table, a failed benchmark with its error."""
    lines = [
        "| benchmark | measured | baseline | ratio | target | verdict |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for benchmark, result in rows:
        target = f"≤ {benchmark.target:g}"
        if isinstance(result, Exception):
            error = " ".join(f"{type(result).__name__}: {result}".split()).replace("|", "/")
            lines.append(f"| {benchmark.name} | – | – | – | {target} | failed: {error} |")
            continue
        verdict = "ok" if met(benchmark, result) else "MISSED"
        if result.extra:
            verdict += f" ({result.extra})"
        measured, baseline = f"{result.measured:.4g} {result.unit}", f"{result.baseline:.4g} {result.unit}"
        ratio = f"{result.ratio:.2f}"
        lines.append(f"| {benchmark.name} | {measured} | {baseline} | {ratio} | {target} | {verdict} |")
    return "\n".join(lines) + "\n"


def met(benchmark: Benchmark, result: Result | Exception) -> bool:
    """Say whether the promise was kept."""
    return isinstance(result, Result) and result.ratio <= benchmark.target
