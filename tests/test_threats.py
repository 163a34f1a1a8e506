"""Every row of the table of threats and of the bad inputs has a test that shows it."""

import ast
from pathlib import Path

import pytest

from tests.threats import CORPUS, THREATS

TESTS = Path(__file__).parent


def marks(name: str) -> dict[str, list[object]]:
    """Return what each test of the suite is marked with, by its address: the rows of one table."""
    found: dict[str, list[object]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if f"pytest.mark.{name}" not in text:
            continue
        for test in ast.walk(ast.parse(text)):
            if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name.startswith("test_"):
                rows = [
                    ast.literal_eval(row)
                    for decorator in test.decorator_list
                    for call in ast.walk(decorator)
                    if isinstance(call, ast.Call) and ast.unparse(call.func) == f"pytest.mark.{name}"
                    for row in call.args
                ]
                if rows:
                    found[f"{path.relative_to(TESTS)}::{test.name}"] = rows
    return found


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param("threat", THREATS, marks=pytest.mark.threat),
        pytest.param("corpus", CORPUS, marks=pytest.mark.corpus),
    ],
    ids=["threat", "corpus"],
)
def test_every_row_is_shown_by_a_test(name: str, table: dict[object, str]) -> None:
    found = marks(name)
    shown = {row for rows in found.values() for row in rows}
    assert {row: text for row, text in table.items() if row not in shown} == {}
    assert {test: rows for test, rows in found.items() if not set(rows) <= set(table)} == {}
