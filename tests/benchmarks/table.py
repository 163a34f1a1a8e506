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
    `falls_short` says why a promise is not kept yet: it is shown as missed, but fails no run.
    `long` leaves it out of the short form, unless it is asked for by name.
    """

    name: str
    target: float
    run: Callable[[bool], Result]
    falls_short: str = ""
    long: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a benchmark's name and target, and its result or why there is none."""

    name: str
    target: float
    result: Result | None
    error: str = ""
    falls_short: str = ""

    def met(self) -> bool:
        """Say whether the promise was kept."""
        return self.result is not None and self.result.ratio <= self.target


def markdown(rows: list[Row]) -> str:
    """Return the results as one Markdown table."""
    lines = [
        "| benchmark | measured | baseline | ratio | target | verdict |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        target, result = f"≤ {row.target:g}", row.result
        if result is None:
            error = " ".join(row.error.split()).replace("|", "/")
            lines.append(f"| {row.name} | – | – | – | {target} | failed: {error} |")
            continue
        verdict = "ok" if row.met() else "MISSED"
        remarks = [result.extra, "" if row.met() else row.falls_short]
        if any(remarks):
            verdict += f" ({'; '.join(filter(None, remarks))})"
        measured, baseline = (f"{value:.4g} {result.unit}" for value in (result.measured, result.baseline))
        lines.append(f"| {row.name} | {measured} | {baseline} | {result.ratio:.2f} | {target} | {verdict} |")
    return "\n".join(lines) + "\n"
