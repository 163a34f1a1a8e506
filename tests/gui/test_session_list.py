"""The side bar's rows: what runs keeps its place while others speak."""

from dataclasses import dataclass

import pytest

from app.core.session import COMPLETED, IDLE, RUNNING, WAITING, SessionSummary
from app.gui.session_list import ASKS, SUMMARY, SessionRows


@dataclass
class _Days:
    """All that the rows ask of a language here."""

    def day(self, iso: str) -> str:
        return iso[:10]


def summary(name: str, status: str, created: str, updated: str) -> SessionSummary:
    return SessionSummary(
        id=name, kind="debate", title=name, status=status, created_at=created, updated_at=updated, messages=1
    )


@pytest.mark.parametrize("speaking", ["a", "b"])
def test_running_debates_stand_first_and_do_not_change_places(qapp, speaking):
    rows = SessionRows(_Days(), None)
    late, early = "2026-11-21T10:09:00Z", "2026-11-21T10:05:00Z"
    summaries = [
        summary("a", RUNNING, "2026-11-21T10:00:00Z", late if speaking == "a" else early),
        summary("b", RUNNING, "2026-11-21T10:01:00Z", late if speaking == "b" else early),
        summary("c", COMPLETED, "2026-11-21T09:00:00Z", "2026-11-21T10:10:00Z"),
    ]
    rows.show(sorted(summaries, key=lambda one: one.updated_at, reverse=True), frozenset())
    shown = [rows.data(rows.index(row), SUMMARY) for row in range(rows.rowCount())]
    assert [one if isinstance(one, str) else one.id for one in shown] == ["2026-11-21", "b", "a", "c"]


def test_a_session_that_asks_is_marked_even_while_it_runs(qapp):
    rows = SessionRows(_Days(), None)
    at = "2026-11-21T10:00:00Z"
    rows.show(
        [summary("runs", RUNNING, at, at), summary("waits", WAITING, at, at), summary("done", IDLE, at, at)],
        frozenset({"runs"}),
    )
    shown = [rows.index(row) for row in range(1, rows.rowCount())]
    assert {rows.data(one, SUMMARY).id: rows.data(one, ASKS) for one in shown} == {
        "runs": True,
        "waits": True,
        "done": False,
    }
