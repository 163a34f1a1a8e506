"""How benchmarks are judged: `tests/benchmarks`. What they measure is not tried here."""

import importlib

import pytest

from tests.benchmarks import __main__ as runner
from tests.benchmarks.table import Result, Row, judged, known_misses, markdown, measured_again


def row(name, ratio, target=1.5):
    result = None if ratio is None else Result(measured=ratio, baseline=1.0, unit="ms", ratio=ratio)
    return Row(name, target, result)


def run(monkeypatch, tmp_path, ratios, *arguments, known=()):
    """Run the program with one module of benchmarks that come to these ratios, one after the other."""
    asked = []

    def run_module(module, short, choice, chosen):
        asked.append((choice, chosen))
        return [row(name, found.pop(0)) for name, found in ratios.items() if chosen in ("", name)]

    monkeypatch.setattr(runner, "MODULES", ("bench_any",))
    monkeypatch.setattr(runner, "SHORT_MODULES", ("bench_any",))
    monkeypatch.setattr(runner, "OUTPUT", tmp_path / "benchmarks.md")
    monkeypatch.setattr(runner, "run_module", run_module)
    monkeypatch.setattr(runner, "known_misses", lambda: dict(known))
    monkeypatch.setattr("sys.argv", ["benchmarks", *arguments])
    return runner.main(), [chosen for choice, chosen in asked if choice == "--name"]


@pytest.mark.parametrize(
    ("ratios", "status", "again"),
    [
        ({"a": [1.5], "b": [1.0]}, 0, []),
        ({"a": [1.6, 1.5], "b": [1.0]}, 0, ["a"]),
        ({"a": [1.6, 1.6], "b": [1.0]}, 1, ["a"]),
        ({"a": [1.0], "b": [1.6, None]}, 1, ["b"]),
        ({"a": [None], "b": [1.0]}, 1, []),
    ],
)
def test_a_promise_missed_twice_in_a_row_fails_the_run(monkeypatch, tmp_path, ratios, status, again):
    assert run(monkeypatch, tmp_path, ratios) == (status, again)


def test_a_known_miss_fails_no_run_and_is_shown_with_its_reason(monkeypatch, tmp_path, capsys):
    known = [("a", "the disk is slow")]
    assert run(monkeypatch, tmp_path, {"a": [1.6], "b": [1.0]}, known=known) == (0, [])
    assert "| a | 1.6 ms | 1 ms | 1.60 | ≤ 1.5 | MISSED (the disk is slow) |" in capsys.readouterr().out
    assert run(monkeypatch, tmp_path, {"a": [1.6], "b": [1.6, 1.7]}, known=known) == (1, ["b"])
    assert "missed twice: b" in capsys.readouterr().out


def test_a_known_miss_that_is_kept_again_is_printed(monkeypatch, tmp_path, capsys):
    assert run(monkeypatch, tmp_path, {"a": [1.4]}, known=[("a", "the disk is slow")]) == (0, [])
    said = capsys.readouterr().out
    assert "no longer missed, take it out of known_misses.toml: a" in said
    assert "the disk is slow" not in said


def test_a_known_miss_of_no_benchmark_fails_the_whole_run(monkeypatch, tmp_path):
    known = [("gone", "the disk is slow")]
    assert run(monkeypatch, tmp_path, {"a": [1.4]}, known=known)[0] == 1
    assert run(monkeypatch, tmp_path, {"a": [1.4]}, "--only", "a", known=known)[0] == 0


def test_the_short_form_fails_only_where_a_benchmark_breaks(monkeypatch, tmp_path):
    assert run(monkeypatch, tmp_path, {"a": [9.0]}, "--short") == (0, [])
    assert run(monkeypatch, tmp_path, {"a": [None]}, "--short") == (1, [])
    assert run(monkeypatch, tmp_path, {}, "--short") == (1, [])


def test_only_what_misses_is_measured_again():
    second = row("a", 1.1)
    assert measured_again(row("a", 1.6), {}, lambda _: second) is second
    for first, known in ((row("a", 1.5), {}), (row("a", 1.6), {"a": "why"}), (row("a", None), {})):
        assert measured_again(first, known, lambda _: pytest.fail("it was measured")) is first


def test_the_table_has_one_row_for_each():
    rows = [row("a", 1.0), row("b", 1.6)]
    assert judged(rows, {}).missed == ["b"]
    assert [line.split("|")[-2].strip() for line in markdown(rows, {}).splitlines()[2:]] == ["ok", "MISSED"]


@pytest.mark.slow  # It imports them all.
def test_the_short_form_has_modules_of_its_own_and_each_known_miss_a_benchmark():
    found = {
        module: importlib.import_module(f"tests.benchmarks.{module}").BENCHMARKS for module in runner.MODULES
    }
    short = {module for module, ones in found.items() if any(one.short for one in ones)}
    assert short == set(runner.SHORT_MODULES)
    names = {one.name for ones in found.values() for one in ones}
    assert known_misses().keys() <= names
