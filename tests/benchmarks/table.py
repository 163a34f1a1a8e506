"""What a benchmark is and what it found; every bench_*.py module and the runner use it.

A benchmark is a ratio of two things measured in one run, interleaved, so that a busy machine
slows both alike.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KNOWN_MISSES = Path(__file__).with_name("known_misses.toml")


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
    `short` makes it a part of the short form; the others are measured in the full form, or when asked for by name.
    """

    name: str
    target: float
    run: Callable[[bool], Result]
    short: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a benchmark's name and target, and its result or why there is none."""

    name: str
    target: float
    result: Result | None
    error: str = ""

    def met(self) -> bool:
        """Say whether the promise was kept."""
        return self.result is not None and self.result.ratio <= self.target


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run of benchmarks comes to, by their names.

    `failed` have no result, `missed` missed their target twice and are not known to, `kept` are known to miss it and
    did not, and `unknown` are known misses that no benchmark is named after.
    """

    failed: list[str]
    missed: list[str]
    kept: list[str]
    unknown: list[str]

    def good(self) -> bool:
        """Say whether the run has passed."""
        return not (self.failed or self.missed or self.unknown)


def known_misses() -> dict[str, str]:
    """Return why promises are known to be missed, by the names of their benchmarks."""
    with KNOWN_MISSES.open("rb") as file:
        return tomllib.load(file)


def measured_again(row: Row, known: Mapping[str, str], measure: Callable[[str], Row]) -> Row:
    """Return the second result of a row that misses its target and is not known to, the first one of any other."""
    if row.met() or row.result is None or row.name in known:
        return row
    return measure(row.name)


def judged(rows: Sequence[Row], known: Mapping[str, str], *, whole: bool = True) -> Verdict:
    """Judge rows that `measured_again` has returned; `whole` says that they are those of all benchmarks."""
    return Verdict(
        failed=[row.name for row in rows if row.result is None],
        missed=[row.name for row in rows if row.result and not row.met() and row.name not in known],
        kept=[row.name for row in rows if row.met() and row.name in known],
        unknown=sorted(known.keys() - {row.name for row in rows}) if whole else [],
    )


def markdown(rows: Sequence[Row], known: Mapping[str, str]) -> str:
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
        remarks = [result.extra, "" if row.met() else known.get(row.name, "")]
        if any(remarks):
            verdict += f" ({'; '.join(filter(None, remarks))})"
        measured, baseline = (f"{value:.4g} {result.unit}" for value in (result.measured, result.baseline))
        lines.append(f"| {row.name} | {measured} | {baseline} | {result.ratio:.2f} | {target} | {verdict} |")
    return "\n".join(lines) + "\n"
