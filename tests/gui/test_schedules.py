"""Schedules in the window: made from a session, listed in Work, changed, run, removed, and what ran meanwhile."""

import asyncio
import json
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from app.cli.control import end_other
from app.cli.printing.lines import load_texts
from app.cli.running import complaints_of
from app.cli.terminal import Nobody
from app.core.owned_tasks import end_tasks
from app.core.schedule import Every, RunState, Schedule, ScheduleRun
from app.engine.schedules import ALLOW_FILE
from app.engine.work import WorkRow
from app.gui.dialogs.repeat_dialog import RepeatDialog
from app.gui.pages.work.work_page import WorkTable
from app.gui.widgets.controls import Choice, MenuButton
from app.gui.widgets.notices import LoginLine, Toast
from app.gui.widgets.text import Paragraph
from app.storage.access import WriterLock
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from tests.app_driver import Person, at_window, until
from tests.stories.every_kind import furnish
from tests.stories.processes import moot
from tests.tools.serving import SERVERS, allow
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]


def toasts(person: Person) -> list[str]:
    return [toast.text for toast in person.window.findChildren(Toast)]


async def take_back(person: Person) -> None:
    """Undo what was done last; that is offered a moment after it was saved."""
    await person.settle(0.3)
    person.window.controller.undo()


async def ask_again(person: Person, row_id: str) -> None:
    """Press the button of a row of Work, which does nothing until it has been shown for a moment."""
    table = person.find("work_list", WorkTable)

    def asks() -> bool:
        if table.choose(row_id):
            table.act(row_id)
        return person.sees("repeat_remove")

    await until(asks)


async def test_a_session_is_repeated_changed_and_removed(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path, home: Path
) -> None:
    furnish(data_dir, wire_home)
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        session_id = await engine.chats.start("keeper", "Keep my list.")
        await engine.wait(session_id)
        await person.window.controller.work.repeat(session_id)
        dialog = person.find("repeat_dialog", RepeatDialog)
        assert dialog.windowTitle() == "Repeat “Keep my list.”"
        await person.choose("repeat_every", "Every week")
        await person.choose("repeat_day", "Thursday")
        await person.write("repeat_time", "25:00")
        assert not person.find("repeat_save").isEnabled()
        await person.write("repeat_time", "07:30")
        await person.click("repeat_login_accept")
        assert engine.login_start.is_installed() and home in Path(engine.login_start.place).parents
        await person.click("repeat_save")
        await until(lambda: len(engine.schedules.all()) == 1)
        (made,) = engine.schedules.all()
        assert (made.every, made.on, made.time, made.words) == (
            Every.WEEK,
            (3,),
            "07:30",
            ("ask", "--", "Keeper", "Keep my list."),
        )
        person.window.controller.work.show()
        table = person.find("work_list", WorkTable)
        await until(lambda: any(not isinstance(row, str) and row.id == made.id for row in table.work.rows))
        (row,) = [row for row in table.work.rows if isinstance(row, WorkRow) and row.id == made.id]
        assert re.fullmatch(r"Every Thursday at 07:30 · next on Thursday [\w -]+ at 07:30", row.says)
        await ask_again(person, made.id)
        await person.choose("repeat_every", "Every month")
        await person.choose("repeat_day", "day 31")
        assert "31" in person.find("repeat_day", Choice).currentText()
        person.find("repeat_dialog").activateWindow()
        await until(person.find("repeat_dialog").isActiveWindow)
        QTest.keyClick(person.find("repeat_time"), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(
            lambda: [(each.every, each.on) for each in engine.schedules.all()] == [(Every.MONTH, (31,))]
        )
        await take_back(person)
        await until(
            lambda: [(each.every, each.on) for each in engine.schedules.all()] == [(Every.WEEK, (3,))]
        )
        await ask_again(person, made.id)
        await person.click("repeat_remove")
        await until(lambda: engine.schedules.all() == ())
        await take_back(person)
        await until(lambda: [each.on for each in engine.schedules.all()] == [(3,)])
    # The window has started with the computer what goes on without it.
    lock = WriterLock(DataPaths(data_dir))
    await until(lock.is_held)
    assert (await asyncio.to_thread(moot, "quit", "--lang", "en")).out == "Moot is closed.\n"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "While you were away: 1 ran, 2 missed, 3 stopped or failed"),
        ("ko", "자리를 비운 동안: 1건 실행, 2건 놓침, 3건 중지 또는 실패"),
    ],
)
async def test_what_ran_meanwhile_is_said_at_the_next_start(
    qapp: object, data_dir: Path, language: str, said: str
) -> None:
    async with at_window(data_dir, language=language):
        pass
    documents = JsonDocuments(DataPaths(data_dir))
    await documents.load()
    later = (
        (datetime.now(UTC) + timedelta(minutes=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
    states = (RunState.RAN, *[RunState.MISSED] * 2, *[RunState.FAILED] * 2, RunState.PAUSED)
    runs = tuple(
        ScheduleRun(id=f"s {day}", schedule="s", due=f"2026-11-0{day}T08:00:00", state=state, at=later)
        for day, state in enumerate(states, 1)
    )
    await documents.change_schedule_runs(lambda _: runs)
    async with at_window(data_dir, language=language) as person:
        await until(lambda: said in toasts(person))


async def test_who_quits_leaves_nothing_behind(qapp: object, data_dir: Path, home: Path) -> None:
    """An installer asks for that, and then replaces the program."""
    closed = asyncio.Event()
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        engine.login_start.install()
        words = ("debate", "Tabs or spaces?")
        await engine.schedules.make(Schedule(id="", name="S", words=words, every=Every.DAY, time="08:00"))
        person.window.close_requested.connect(closed.set)
        texts = await asyncio.to_thread(load_texts, "en")
        quitting = asyncio.create_task(end_other(DataPaths(data_dir), Nobody(), texts))
        await closed.wait()
    assert WriterLock(DataPaths(data_dir)).is_held() is False
    assert not complaints_of(DataPaths(data_dir)).exists()
    # The process of this window is that of the test.
    await end_tasks(quitting)


async def test_a_time_that_is_being_typed_is_no_fault(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    furnish(data_dir, wire_home)
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        await engine.schedules.make(
            Schedule(id="", name="Taken", words=("ask", "keeper", "Hi"), every=Every.DAY, time="08:00")
        )
        session_id = await engine.chats.start("keeper", "Keep my list.")
        await engine.wait(session_id)
        await person.window.controller.work.repeat(session_id)
        for typed in ("", "0", "07", "07:", "07:3", "0730", "07:30:00"):
            await person.write("repeat_time", typed)
            assert not person.find("repeat_save").isEnabled()
        await person.write("repeat_time", "07:30")
        assert person.find("repeat_save").isEnabled()
        for name, fits in (("Taken", False), ("", False), ("x" * 81, False), ("Free", True)):
            await person.write("repeat_name", name)
            assert person.find("repeat_save").isEnabled() == fits
        await person.click("repeat_cancel")


async def test_what_ran_while_the_user_edited_is_kept(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    furnish(data_dir, wire_home)
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        made = await engine.schedules.make(
            Schedule(id="", name="S", words=("ask", "keeper", "Hi"), every=Every.DAY, time="08:00")
        )
        person.window.controller.work.show()
        await ask_again(person, made.id)
        await engine.schedules.pause(made.id)
        await person.write("repeat_time", "07:30")
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).time == "07:30")
        assert engine.schedules.find(made.id).paused
        await take_back(person)
        await until(lambda: engine.schedules.find(made.id).time == "08:00")
        assert engine.schedules.find(made.id).paused


async def test_what_the_terminal_can_say_of_a_schedule_can_be_edited(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    furnish(data_dir, wire_home)
    folder, criteria = str(tmp_path / "reports"), ("It is short.", "-5 degrees")
    work = ("--in", folder, "--allow-file", ".env", "--done-means", "It is long.", "--max-usd", "3")
    words = ("ask", *work, "--effort", "low", "--", "keeper", "Hi --in there")
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        made = Schedule(id="", name="S", words=words, every=Every.WEEK, on=(0, 3), time="08:00")
        made = await engine.schedules.make(made)
        person.window.controller.work.show()
        await ask_again(person, made.id)
        more = person.find("repeat_also", MenuButton)
        assert (person.find("repeat_day", Choice).currentText(), more.accessibleName()) == (
            "Monday",
            "and Thursday",
        )
        person.choose_from("repeat_also", "Sunday")
        assert more.accessibleName() == "and Thursday, Sunday"
        person.choose_from("repeat_also", "Thursday")
        person.choose_from("repeat_limits", "An hour unattended: 60 min · 500 calls · $5")
        await person.click("repeat_means")
        await person.write("done_means_text", "\n".join(criteria))
        await person.click("done_means_save")
        await person.click(f"repeat_may_{folder}")
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).on == (0, 6))
        (saved,) = engine.schedules.all()
        limits = ("--budget-minutes", "60", "--budget-calls", "500", "--budget-usd", "5.0")
        asked = ("--done-means", "It is short.", "--done-means=-5 degrees")
        assert sorted(saved.words[1:-5]) == sorted((*limits, *asked))
        assert saved.words[-5:] == ("--effort", "low", "--", "keeper", "Hi --in there")
        await take_back(person)
        await until(lambda: engine.schedules.all()[0].words == words)


async def test_who_is_renamed_is_asked_still(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    furnish(data_dir, wire_home)
    async with at_window(data_dir, language="en") as person:
        engine, work = person.window.controller.engine, person.window.controller.work
        session_id = await engine.chats.start("keeper", "Keep my list.")
        await engine.wait(session_id)
        await work.repeat(session_id)
        await person.click("repeat_save")
        await until(lambda: len(engine.schedules.all()) == 1)
        (made,) = engine.schedules.all()
        assert (made.who, made.words) == ("keeper", ("ask", "--", "Keeper", "Keep my list."))
        await engine.assistants.change("keeper", lambda found: replace(found, name="Mina"))
        # Who has its old name now is somebody else.
        await engine.assistants.duplicate("keeper", "Keeper")
        await (await engine.schedules.run_now(made.id))
        (run,) = engine.schedules.runs(made.id)
        assert (run.state, run.reason) == (RunState.RAN, "")
        chat = (await engine.open(run.session_id)).chat_session.chat
        assert (chat.assistant_id, chat.assistant_name) == ("keeper", "Mina")
        work.show()
        await ask_again(person, made.id)
        shown = [label.text() for label in person.find("repeat_dialog").findChildren(Paragraph)]
        assert "Each run is a new session: ask -- Mina 'Keep my list.'" in shown
        await person.write("repeat_time", "09:00")
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).time == "09:00")
        assert engine.schedules.find(made.id).words == ("ask", "--", "Mina", "Keep my list.")
        await take_back(person)
        await until(lambda: engine.schedules.find(made.id).time == "08:00")
        assert engine.schedules.find(made.id).words == made.words


async def test_work_and_settings_say_whether_it_starts_with_the_computer(
    qapp: object, data_dir: Path
) -> None:
    async with at_window(data_dir, language="en") as person:
        desk, login = person.window.controller, person.window.controller.engine.login_start
        desk.work.show()
        await person.settle()
        assert not person.sees("work_login")
        words = ("debate", "Tabs or spaces?")
        await desk.engine.schedules.make(
            Schedule(id="", name="S", words=words, every=Every.DAY, time="08:00")
        )
        await until(lambda: person.sees("work_login"))
        line = person.find("work_login", LoginLine)
        assert line.text() == "Start with the computer is off. While Moot is closed, nothing runs."
        await person.click("work_login_accept")
        assert login.is_installed()
        desk.settings.open("privacy")
        await until(lambda: person.sees("privacy_login"))
        line = person.find("privacy_login", LoginLine)
        assert line.text() == "Start with the computer is on."
        await person.click("privacy_login_accept")
        assert not login.is_installed() and line.text().startswith("Start with the computer is off.")
        await person.click("privacy_login_accept")
        assert login.is_installed()
        desk.work.show()
        await person.settle()
        assert not person.sees("work_login")
        await ask_again(person, desk.engine.schedules.all()[0].id)
        assert person.find("repeat_login", LoginLine).text() == "Start with the computer is on."
        assert not person.sees("repeat_login_accept")
        await person.click("repeat_cancel")
        login.remove()


@pytest.mark.timeout(120)
async def test_tools_of_a_server_are_allowed_in_the_dialog_and_taken_away(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    furnish(data_dir, wire_home)
    entry = {"command": sys.executable, "args": [str(SERVERS / "proper.py")]}
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"proper": entry}}), "utf-8")
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        await allow(engine, "proper")
        await until(lambda: len(engine.permissions.tools()) > 0, 60)
        consents = {tool.key: tool.consent for tool in engine.permissions.tools()}
        words = ("ask", "--", "keeper", "Keep my list.")
        made = await engine.schedules.make(
            Schedule(id="", name="S", words=words, every=Every.DAY, time="08:00")
        )
        person.window.controller.work.show()
        await ask_again(person, made.id)
        menu = person.find("repeat_may_add", QPushButton).menu()
        for name in ("add", "slow"):
            [action] = [each for each in menu.actions() if each.text() == name]
            action.trigger()
        adds = f"repeat_may_tool:{consents['proper__add']}"
        assert person.find(adds, QPushButton).text() == "add"
        await person.click(f"repeat_may_tool:{consents['proper__slow']}")
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).allowed == (consents["proper__add"],))
        await (await engine.schedules.run_now(made.id))
        session = (await engine.open(engine.schedules.runs(made.id)[0].session_id)).session
        assert (session.always, session.chosen_folder) == ((consents["proper__add"],), "")
        await ask_again(person, made.id)
        await person.click(adds)
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).allowed == ())


async def test_the_last_files_of_one_other_schedule_are_given(qapp: object, data_dir: Path) -> None:
    async with at_window(data_dir, language="en") as person:
        schedules, made = person.window.controller.engine.schedules, []
        for name in ("Mine", "First", "Second"):
            words = ("ask", "--", "assistant", "Hi")
            made.append(
                await schedules.make(Schedule(id="", name=name, words=words, every=Every.DAY, time="08:00"))
            )
        person.window.controller.work.show()
        await ask_again(person, made[0].id)
        menu = person.find("repeat_may_add", QPushButton).menu()
        for name in ("First", "Second"):
            [action] = [each for each in menu.actions() if each.text() == f"Last files of “{name}”"]
            action.trigger()
        await until(
            lambda: person.sees("repeat_may_files:second") and not person.sees("repeat_may_files:first")
        )
        await person.click("repeat_save")
        await until(lambda: schedules.find("Mine").files_of == "second")
        await ask_again(person, made[0].id)
        await person.click("repeat_may_files:second")
        await person.click("repeat_save")
        await until(lambda: schedules.find("Mine").files_of == "")


async def test_a_folder_and_hidden_files_in_it_are_allowed_in_the_dialog(
    qapp: object, data_dir: Path, tmp_path: Path
) -> None:
    mine, other = tmp_path / "reports", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        words = ("ask", "--effort", "low", "--", "assistant", "Hi")
        made = await engine.schedules.make(
            Schedule(id="", name="S", words=words, every=Every.DAY, time="08:00")
        )
        person.window.controller.work.show()
        await ask_again(person, made.id)
        may, says = person.find("repeat_may_says", Paragraph), "Without asking, in these runs only."
        dialog = person.find("repeat_dialog", RepeatDialog)

        def offers() -> dict[str, QAction]:
            found = person.find("repeat_may_add", QPushButton)
            assert found.text() == "Allow…"
            return {each.text(): each for each in found.menu().actions() if each.isVisible()}

        async def choose(folder: Path) -> None:
            offers()["Work in a folder of yours…"].trigger()
            await until(lambda: person.window.findChildren(QFileDialog))
            person.choose_file(folder)

        async def name_files(names: str) -> None:
            offers()["Allow a hidden file or one with keys…"].trigger()
            await until(lambda: person.sees("rename_field"))
            await person.write("rename_field", names)
            await person.click("rename_save")
            await until(lambda: not person.sees("rename_field"))

        assert list(offers()) == ["Work in a folder of yours…"] and may.text().startswith(says)
        await choose(data_dir)
        await until(lambda: "Moot" in may.text())
        assert dialog.value().words == words
        await choose(mine)
        await until(lambda: person.sees(f"repeat_may_{mine}"))
        assert person.find(f"repeat_may_{mine}", QPushButton).text() == "reports (read and write)"
        assert may.text().startswith(says)
        await name_files("../.env")
        assert "../.env" in may.text() and ALLOW_FILE not in dialog.value().words
        await name_files(".env, keys/id_rsa")
        assert dialog.value().words == (
            *("ask", "--in", str(mine), "--allow-file", ".env", "--allow-file", "keys/id_rsa"),
            *words[1:],
        )
        await person.click("repeat_may_.env")
        assert dialog.value().words == ("ask", "--in", str(mine), "--allow-file", "keys/id_rsa", *words[1:])
        # What was allowed in one folder is not allowed in another.
        await choose(other)
        await until(lambda: person.sees(f"repeat_may_{other}"))
        assert not person.sees("repeat_may_keys/id_rsa")
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).words == ("ask", "--in", str(other), *words[1:]))


@pytest.mark.parametrize(
    ("cost", "said"),
    [(None, "What a run costs: n/a"), (0.44, "The last one cost $0.44. A month is about $13.20.")],
)
async def test_a_session_is_repeated_from_its_details_and_says_what_it_cost(
    qapp: object,
    wire_home: dict[str, WireServer],
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    cost: float | None,
    said: str,
) -> None:
    furnish(data_dir, wire_home)
    two = [word for name in ("Ann", "Bo") for word in ("-p", f"{name}=openai/{wire_home['openai'].model}")]
    assert (await asyncio.to_thread(moot, "debate", "Tabs?", "--rounds", "1", *two)).status == 0
    async with at_window(data_dir, language="en") as person:
        engine, work = person.window.controller.engine, person.window.controller.work
        ((session_id, found),) = [(each.id, each.cost_usd) for each in engine.sessions()]
        summaries = [each._replace(cost_usd=cost) for each in engine.sessions()]
        monkeypatch.setattr(engine, "sessions", lambda: summaries)
        work.show()
        table = person.find("work_list", WorkTable)
        await until(lambda: table.choose(session_id))
        await until(lambda: person.sees("work_repeat"))
        await person.click("work_repeat")
        await until(lambda: person.sees("repeat_time"))
        assert found is None
        assert said in [label.text() for label in person.find("repeat_dialog").findChildren(Paragraph)]
        await person.click("repeat_cancel")


async def test_a_long_hostile_command_leaves_the_dialog_small(qapp: object, data_dir: Path) -> None:
    async with at_window(data_dir, language="en") as person:
        engine = person.window.controller.engine
        name, text = "\u202e" + "ㅎ" * 70, "\u202eevil\n" * 2_000
        words = ("ask", "--done-means", text, "--", "assistant", text)
        made = Schedule(id="", name=name, words=words, every=Every.DAY, time="08:00")
        made = await engine.schedules.make(made)
        person.window.controller.work.show()
        await ask_again(person, made.id)
        dialog = person.find("repeat_dialog", RepeatDialog)
        assert dialog.height() <= person.window.height() - 40 and dialog.width() == 580
        shown = "".join(label.text() for label in dialog.findChildren(QLabel))
        assert "\u202e" not in shown and "\u202e" not in dialog.windowTitle()
        await person.click("repeat_cancel")


async def test_a_decision_has_no_limits_or_criteria_of_work(qapp: object, data_dir: Path) -> None:
    async with at_window(data_dir, language="en") as person:
        engine, words = (
            person.window.controller.engine,
            ("debate", "--option", "Tabs", "--", "Tabs or spaces?"),
        )
        made = Schedule(id="", name="S", words=words, every=Every.MONTH, on=(15, 31), time="08:00")
        made = await engine.schedules.make(made)
        person.window.controller.work.show()
        await ask_again(person, made.id)
        assert person.find("repeat_dialog").findChild(MenuButton, "repeat_limits") is None
        assert person.find("repeat_also", MenuButton).accessibleName() == "and day 31"
        await person.write("repeat_time", "09:00")
        await person.click("repeat_save")
        await until(lambda: engine.schedules.find(made.id).time == "09:00")
        assert (engine.schedules.find(made.id).words, engine.schedules.find(made.id).on) == (words, (15, 31))
