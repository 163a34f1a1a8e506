"""The sidebar's rows: what runs keeps its place while others speak."""

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from app.core.session import Folder, SessionSummary, Status
from app.engine.importing import CHATGPT, session_of
from app.gui.display.appearance import Language
from app.gui.navigation.session_list import SessionList, SessionRows
from app.gui.widgets.item_list import ROW
from tests.app_driver import at_window, until
from tests.builders import PROMPTS
from tests.engine.foreign_exports import chatgpt
from tests.gui.chats import bring_in

RESOURCES = Path(__file__).parents[2] / "resources"
FORMATS = (
    ("md", "Markdown…"),
    ("html", "Web page (HTML)…"),
    ("pdf", "PDF…"),
    ("docx", "Word document…"),
    ("json", "JSON…"),
    ("zip", "ZIP with the files…"),
)


@dataclass
class _Days:
    """All that the rows ask of a language here."""

    def period(self, iso: str, _now: datetime) -> str:
        return iso[:10]

    def __call__(self, key: str) -> str:
        return key


def summary(name: str, status: str, created: str, updated: str, **fields: object) -> SessionSummary:
    values = {"kind": "debate", "title": name, "created_at": created, "updated_at": updated, "messages": 1}
    return SessionSummary(id=name, status=status, **values | fields)


@pytest.mark.parametrize("speaking", ["a", "b"])
def test_running_debates_stand_first_and_do_not_change_places(qapp, speaking):
    rows = SessionRows(_Days(), None)
    late, early = "2026-11-21T10:09:00Z", "2026-11-21T10:05:00Z"
    summaries = [
        summary("a", Status.RUNNING, "2026-11-21T10:00:00Z", late if speaking == "a" else early),
        summary("b", Status.RUNNING, "2026-11-21T10:01:00Z", late if speaking == "b" else early),
        summary("c", Status.COMPLETED, "2026-11-21T09:00:00Z", "2026-11-21T10:10:00Z"),
    ]
    rows.show(sorted(summaries, key=lambda one: one.updated_at, reverse=True), frozenset())
    shown = [rows.data(rows.index(row), ROW) for row in range(rows.rowCount())]
    assert [one if isinstance(one, str) else one.id for one in shown] == [
        "side.now",
        "b",
        "a",
        "2026-11-21",
        "c",
    ]


def test_what_needs_you_stands_first_then_what_runs_six_in_all_and_folders_after_yesterday(qapp):
    rows, now = SessionRows(_Days(), None), datetime.now().astimezone()

    def at(hours: float) -> str:
        return (now - timedelta(hours=hours)).isoformat()

    begun = [summary(f"runs {one}", Status.RUNNING, at(9 - one), at(one / 10)) for one in range(7)]
    summaries = [
        *begun,
        summary("asks", Status.WAITING, at(20), at(1)),
        summary("marked", Status.RUNNING, at(30), at(2)),
        summary("inside", Status.IDLE, at(3), at(3), folder="f"),
        summary("pinned", Status.RUNNING, at(40), at(60)),
        summary("old", Status.IDLE, at(24 * 9), at(24 * 9)),
    ]
    rows.show(summaries, frozenset({"marked"}), frozenset({"pinned"}), (Folder(id="f", name="F"),))
    shown = [rows.data(rows.index(row), ROW) for row in range(rows.rowCount())]
    names = [one if isinstance(one, str) else one.id for one in shown]
    assert names[:7] == ["side.now", "asks", "marked", "runs 6", "runs 5", "runs 4", "runs 3"]
    assert names[7:9] == ["side.pinned", "pinned"]
    # The others that run stand in their days, which come before the folders.
    day = at(0)[:10]
    assert set(names[9 : names.index("side.folders")]) - {day, at(24)[:10]} == {"runs 0", "runs 1", "runs 2"}
    assert names[names.index("side.folders") :] == ["side.folders", "f", "inside", at(24 * 9)[:10], "old"]


def test_a_session_that_asks_is_marked_even_while_it_runs(qapp):
    rows = SessionRows(_Days(), None)
    at = "2026-11-21T10:00:00Z"
    rows.show(
        [
            summary("runs", Status.RUNNING, at, at),
            summary("waits", Status.WAITING, at, at),
            summary("done", Status.IDLE, at, at),
        ],
        frozenset({"runs"}),
    )
    shown = [rows.data(rows.index(row), ROW) for row in range(rows.rowCount())]
    sessions = [one for one in shown if not isinstance(one, str)]
    assert {one.id: rows.asks(one) for one in sessions} == {
        "runs": True,
        "waits": True,
        "done": False,
    }


def menu_of(sessions: SessionList) -> QMenu:
    """Open the menu of the chosen session by the keyboard."""
    by_key = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(sessions, QContextMenuEvent(by_key, QPoint(0, 0), QPoint(0, 0)))
    return next(menu for menu in sessions.findChildren(QMenu) if menu.isVisible())


@pytest.mark.slow
@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_the_menu_renames_and_exports_a_session(qapp, data_dir, tmp_path):
    async with at_window(data_dir) as person:
        window = person.window
        engine = window.controller.engine
        session, messages = session_of(
            next(CHATGPT.chats(chatgpt(), PROMPTS.lines("en", "import"))), None, "en"
        )
        await bring_in(window.controller, session, messages)
        sessions = window.side_bar.sessions
        sessions.select(session.id)
        actions = menu_of(sessions).actions()
        assert [one.text() for one in actions] == [
            "Open",
            "Pin",
            "Rename…\tF2",
            "Move to folder",
            "Repeat…",
            "Save the decision…",
            "Export",
            "Delete\tDel",
        ]
        actions[2].trigger()
        await until(lambda: person.sees("rename_dialog"))
        assert person.find("rename_field").text() == "Cars in cities"
        await person.write("rename_field", "  Cars,   and bicycles ")
        await person.click("rename_save")
        await until(lambda: engine.sessions()[0].title == "Cars, and bicycles")
        await person.settle(0.3)  # the list follows
        for place, (name, text) in enumerate(FORMATS):
            exports = menu_of(sessions).actions()[6].menu().actions()
            assert [one.text() for one in exports] == [text for _, text in FORMATS]
            exports[place].trigger()
            dialogs = partial(window.findChildren, QFileDialog)
            await until(lambda find=dialogs: any(one.isVisible() for one in find()))
            dialog = next(one for one in dialogs() if one.isVisible())
            assert dialog.selectedFiles()[0].endswith(f"Cars_ and bicycles.{name}")
            written = tmp_path / f"out.{name}"
            dialog.fileSelected.emit(str(written))
            dialog.reject()
            await until(written.exists)
            for left in sessions.findChildren(QMenu):
                left.close()
            await person.settle()
        assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF-")
        assert (tmp_path / "out.docx").read_bytes().startswith(b"PK")
        assert "<script" not in (tmp_path / "out.html").read_text(encoding="utf-8")
        assert (tmp_path / "out.md").read_text(encoding="utf-8").startswith("# Cars, and bicycles")
        assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["id"] == session.id


def test_days_of_a_week_stand_alone_and_older_ones_together(qapp):
    words = Language(RESOURCES / "i18n", "en")
    now = datetime.fromisoformat("2026-11-23T12:00:00+00:00")
    ages = {0: "Today", 1: "Yesterday", 6: "17 Nov", 7: "Last 30 days", 29: "Last 30 days", 40: "Oct 2026"}
    assert {age: words.period((now - timedelta(days=age)).isoformat(), now) for age in ages} == ages


@pytest.mark.parametrize(("language", "months"), [("en", ["21", "3"]), ("ko", ["21일", "3일"])])
def test_below_a_month_a_session_says_the_day_alone(qapp, language, months):
    words = Language(RESOURCES / "i18n", language)
    rows = SessionRows(words, None)
    old = [summary(day, "completed", day, day) for day in ("2024-06-21T12:00:00Z", "2024-06-03T12:00:00Z")]
    pinned = summary("p", "completed", "2024-06-02T12:00:00Z", "2024-06-02T12:00:00Z")
    rows.show([*old, pinned], frozenset(), frozenset({"p"}))
    shown = [rows.data(rows.index(row), ROW) for row in range(rows.rowCount())]
    notes = [rows.item_of(one).note for one in shown if not isinstance(one, str)]
    # Below another heading the month and the year are said.
    assert notes == [words.day(pinned.updated_at), *months]
    assert words.day(pinned.updated_at) in ("2 Jun 2024", "2024년 6월 2일")


@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_a_session_is_pinned_and_one_that_is_opened_comes_into_sight(qapp, data_dir):
    async with at_window(data_dir, size=(900, 600)) as person:
        person.window.show_side(True)
        desk, side = person.window.controller, person.window.side_bar
        session, messages = session_of(
            next(CHATGPT.chats(chatgpt(), PROMPTS.lines("en", "import"))), None, "en"
        )
        for number in range(20):
            await bring_in(desk, replace(session, id=f"01j{number:023d}"), messages)
        oldest = desk.engine.sessions()[-1].id
        await person.settle()

        def in_sight() -> bool:
            row = side.sessions.visualRect(side.sessions.currentIndex())
            return side.sessions.viewport().visibleRegion().contains(row.center())

        side.sessions.select(oldest)
        assert not in_sight()
        await until(in_sight)
        next(one for one in menu_of(side.sessions).actions() if one.text() == "Pin").trigger()
        assert side.sessions.model().index(0, 0).data() == "Pinned"
        assert side.sessions.model().index(1, 0).data(ROW).id == oldest
        await until(lambda: not desk.tasks.running("save settings"))
        assert desk.engine.settings().pinned_sessions == (oldest,)
        for left in side.sessions.findChildren(QMenu):
            left.close()
        await person.settle()
        next(one for one in menu_of(side.sessions).actions() if one.text() == "Unpin").trigger()
        assert side.sessions.model().index(0, 0).data() != "Pinned"
        await until(lambda: not desk.tasks.running("save settings"))


@pytest.mark.slow
async def test_sections_fold_and_stay_so_and_new_offers_what_can_be_started(qapp, data_dir):
    async with at_window(data_dir) as person:
        side = person.window.side_bar
        assert not side.assistants.isVisible() and side.team.title.accessibleName() == "Show Team"
        await person.click("team_title")
        assert side.assistants.isVisible() and side.team.title.accessibleName() == "Hide Team"
        await person.click("assistant_title")
        assert not side.assistants.isVisible() and person.sees("assistant_title")
        assert side.assistant_section.title.accessibleName() == "Show Assistants"
        begins = {one.text(): one for one in side.new_menu.menu().actions()}
        assert [text for text in begins if text] == ["Chat", "Decide", "Work", "Import…", "New folder…"]
        begins["Decide"].trigger()
        assert person.find("composer_mode").value() == "decide"
        begins["Import…"].trigger()
        await until(lambda: person.sees("settings_page"))
        person.find("settings_close").click()
    async with at_window(data_dir) as person:
        assert person.sees("assistant_title") and not person.window.side_bar.assistants.isVisible()
        assert person.find("composer_mode").value() == "decide", "the mode used last"


async def test_work_and_decisions_say_what_waits_and_open_it(qapp, data_dir):
    async with at_window(data_dir) as person:
        side = person.window.side_bar
        side.show_counts(waiting=2, due=1)
        assert side.work_button.accessibleName() == "Work, 2 need you"
        assert side.decisions_button.accessibleName() == "Decisions, 1 due"
        side.show_counts(waiting=0)
        assert side.work_button.accessibleName() == "Work"
        await person.click("work_button")
        await until(lambda: person.sees("work_page") and person.sees("work_none"))
        await person.click("work_begin")
        await until(lambda: person.find("composer_mode").value() == "work")
        await person.click("decisions_button")
        await until(lambda: person.sees("decisions_page"))


@pytest.mark.parametrize(
    ("language", "answers", "verdict", "decided"),
    [("en", "answers", "verdict", "decided"), ("ko", "답변", "판정", "결정됨")],
)
def test_a_decision_shows_its_step_and_a_fork_its_icon(qapp, language, answers, verdict, decided):
    words, now = Language(RESOURCES / "i18n", language), datetime.now().astimezone().isoformat()
    rows = SessionRows(words, None)
    rows.steps = {
        "judged": "verdict",
        "kept": "decided",
        "argued": "verdict",
        "runs": "verdict",
        "chat": "decided",
    }
    over = partial(summary, status=Status.COMPLETED, created=now, updated=now)
    council = partial(over, mode="council")
    shown = [
        council("answered"),
        council("judged"),
        council("kept"),
        over("argued", mode="free"),
        over("talk", mode="free"),
        council("runs", status=Status.RUNNING),
        over("chat", kind="chat"),
        council("copy", status=Status.PAUSED, reason="forked", is_fork=True),
        council("gone on", is_fork=True),
    ]
    rows.show(shown, frozenset())
    items = {one: rows.item(rows.row_of(one)) for one in (summary.id for summary in shown)}
    age = words.age(now)
    assert {name: item.note for name, item in items.items()} == {
        "answered": answers, "judged": verdict, "kept": decided, "argued": verdict, "talk": age,
        "runs": words("status.short.running"), "chat": age, "copy": words("status.short.paused"),
        "gone on": answers,
    }  # fmt: skip
    assert {
        name: item.icon for name, item in items.items() if name in ("copy", "gone on", "kept", "chat")
    } == {
        "copy": "git-branch",
        "gone on": "git-branch",
        "kept": "scale",
        "chat": "message-circle",
    }
    assert decided in rows.said_of(shown[2]) and verdict not in rows.said_of(shown[4])
    # A screen reader tells it from what it is a copy of, too.
    assert words("side.fork") in rows.said_of(shown[-1]) and words("side.fork") not in rows.said_of(shown[0])
