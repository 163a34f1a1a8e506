"""The palette: what is typed finds commands, assistants and sessions at once, messages a moment later."""

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.definitions import Group
from app.core.session import Hit, SessionSummary
from app.core.texts import fits
from app.gui.dialogs.palette import PaletteEntry
from app.gui.widgets.item_list import ROW
from tests.app_driver import Person, at_window, until
from tests.gui.seen import saying
from tests.gui.test_session_export import long_chat
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401


@pytest.fixture(params=["ko", pytest.param("en", marks=pytest.mark.slow)])
async def person(qapp, data_dir, request):
    async with at_window(data_dir, language=request.param) as person:
        person.window.activateWindow()
        QTest.keyClick(person.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: person.sees("palette_box") and person.find("palette_box").hasFocus())
        yield person


def palette(person: Person):
    return person.window.controller.palette.palette


def lines(person: Person, section: str = "") -> list[str]:
    rows = [row for row in palette(person).rows.rows if isinstance(row, PaletteEntry)]
    return [row.text for row in rows if section in ("", row.section)]


def chosen(person: Person) -> str:
    return palette(person).list.currentIndex().data(ROW).text


async def test_a_command_and_a_setting_are_found_by_their_names_in_the_other_language(person):
    words = person.window.language
    typed = {"ko": ("Quick chat", "Summarise long"), "en": ("빠른 대화", "긴 대화 요약")}[words.name]
    for text, section, key in zip(
        typed, ("command", "setting"), ("palette.quick_chat", "setting.history"), strict=True
    ):
        person.find("palette_box").clear()
        person.find("palette_box").insert(text)
        assert lines(person, section) == [words(key)]


@pytest.mark.slow
async def test_words_find_assistants_and_enter_starts_a_chat(person):
    heard = []
    person.window.controller.palette.assistant_requested.connect(heard.append)
    checker = person.window.controller.engine.assistants.find("checker").name
    person.find("palette_box").insert(checker[:2])
    assert lines(person, "assistant") == [checker]
    while chosen(person) != checker:
        await person.press("palette_box", Qt.Key.Key_Down)
    await person.press("palette_box", Qt.Key.Key_Return)
    assert heard == ["checker"]
    assert not person.sees("palette")


@pytest.mark.slow
async def test_groups_are_listed_and_sessions_that_change_meanwhile(person):
    engine, heard = person.window.controller.engine, []
    person.window.controller.palette.group_requested.connect(heard.append)
    group = await engine.groups.save(Group(id="g", name="수리점", members=("checker",)))
    session = await long_chat(person, 1)
    await engine.chats.rename(session.id, "정원 일지")
    await until(lambda: "정원 일지" in lines(person, "session"), what="the session")
    await person.press("palette_box", Qt.Key.Key_Escape)
    person.window.controller.palette.search("ㅅㄹㅈ")
    assert lines(person, "group") == ["수리점"] and chosen(person) == "수리점"
    await person.press("palette_box", Qt.Key.Key_Return)
    assert heard == [group.id]


@pytest.mark.slow
async def test_a_setting_is_found_by_its_words_and_gone_to(person):
    words, box = person.window.language, person.find("palette_box")
    assert lines(person, "setting") == []
    box.insert(words("settings.usage.find").split()[0])
    assert words("settings.usage") in lines(person, "setting")
    box.clear()
    box.insert(words("setting.text_size"))
    assert lines(person, "setting") == [words("setting.text_size")]
    while chosen(person) != words("setting.text_size"):
        await person.press("palette_box", Qt.Key.Key_Down)
    await person.press("palette_box", Qt.Key.Key_Return)
    await until(lambda: person.sees("settings_page"))
    dialog = person.find("settings_page")
    await until(
        lambda: dialog.focusWidget() is not None and dialog.focusWidget().objectName() == "setting_text_size"
    )
    person.find("settings_close").click()


@pytest.mark.slow
async def test_a_command_is_done_and_shows_its_shortcut(person):
    words = person.window.language
    person.find("palette_box").insert(words("palette.side")[:8])
    assert words("palette.side") in lines(person, "command")
    entry = next(
        row for row in palette(person).rows.rows if isinstance(row, PaletteEntry) and row.note == "Ctrl+B"
    )
    assert entry.text == words("palette.side")
    while chosen(person) != entry.text:
        await person.press("palette_box", Qt.Key.Key_Down)
    await person.press("palette_box", Qt.Key.Key_Return)
    assert not person.window.side_bar.isVisible()


async def test_escape_leaves_and_gives_the_focus_back(person):
    await person.press("palette_box", Qt.Key.Key_Escape)
    assert not person.sees("palette")
    person.window.side_bar.search.setFocus()
    QTest.keyClick(person.window.side_bar.search, Qt.Key.Key_P)
    await until(lambda: person.sees("palette"))
    assert person.find("palette_box").text() == "p"
    await person.press("palette_box", Qt.Key.Key_Escape)
    assert person.window.focusWidget() is person.window.side_bar.search


async def test_while_an_input_method_composes_enter_chooses_nothing(person):
    box = person.find("palette_box")
    QApplication.sendEvent(box, QInputMethodEvent("검", []))
    await person.press("palette_box", Qt.Key.Key_Return)
    assert person.sees("palette")


@pytest.mark.slow
async def test_only_the_last_search_is_shown_and_typing_never_waits(person, monkeypatch):
    asked, gate = [], asyncio.Event()

    async def search(text: str, limit: int) -> list[Hit]:
        asked.append(text)
        if text == "par":
            await gate.wait()
        parser = SessionSummary("s", "chat", "Parser", "idle", "", 1)
        return [Hit(session=parser, message_id="m", excerpt=f"…{text}…")]

    opened = []
    monkeypatch.setattr(person.window.controller.engine, "search", search)
    monkeypatch.setattr(person.window.controller.palette, "open_hit", lambda *hit: opened.append(hit))
    box = person.find("palette_box")
    QTest.keyClicks(box, "par")
    await until(lambda: asked == ["par"])
    QTest.keyClicks(box, "ser")
    await until(lambda: lines(person, "message") == ["…parser…"])
    gate.set()
    await person.settle()
    assert asked == ["par", "parser"]
    assert lines(person, "message") == ["…parser…"]
    while chosen(person) != "…parser…":
        await person.press("palette_box", Qt.Key.Key_Down)
    await person.press("palette_box", Qt.Key.Key_Return)
    assert opened == [("s", "m")]


@pytest.mark.slow
async def test_nothing_found_is_said(person):
    QTest.keyClicks(person.find("palette_box"), "zzqq")
    await until(lambda: saying(palette(person), person.window.language("palette.nothing")))
    assert lines(person) == []


async def test_it_fits_the_smallest_window(person):
    await person.press("palette_box", Qt.Key.Key_Escape)
    person.window.resize(900, 600)
    person.window.controller.palette.search()
    await person.settle()
    assert person.window.rect().contains(palette(person).geometry())


@pytest.mark.parametrize(
    ("typed", "found"), [("", True), ("parser REWRITE", True), ("rewrite cars", False), ("파서", False)]
)
def test_every_word_must_occur(typed, found):
    assert fits("Should we rewrite the parser?", typed) is found


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_message_is_found_and_opened_where_it_stands(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    long = "\n\n".join(f"Line {number} of much." for number in range(60))
    wire_servers["openai"].script("openai-wire", lambda _request: Answer(f"{long} The marmot sleeps."))
    async with at_window(data_dir, size=(900, 600)) as person:
        engine = person.window.controller.engine
        session_id = await engine.chats.start("assistant", "What do you know?")
        await until(lambda: engine.live(session_id).session.status == "idle", 90)
        await engine.chats.send(session_id, "And then?")
        await until(lambda: len(engine.live(session_id).messages) == 4, 90)
        await until(lambda: engine.live(session_id).session.status == "idle", 90)
        first = engine.live(session_id).messages[1].id
        person.window.controller.palette.search("marmot")
        await until(lambda: len(lines(person, "message")) == 2, 60)
        row = next(
            row for row in palette(person).rows.rows if isinstance(row, PaletteEntry) and row.id == first
        )
        assert "marmot" in row.text
        session = engine.live(session_id).session
        assert row.note == f"{session.chat.assistant_name} · {session.title}"
        while palette(person).list.currentIndex().data(ROW) is not row:
            await person.press("palette_box", Qt.Key.Key_Down)
        await person.press("palette_box", Qt.Key.Key_Return)
        page = person.window.controller.chat_page
        await until(lambda: page.isVisible() and page.session_id == session_id)
        await until(lambda: page.place.startswith(first))
        # Read on, look at something else, find it again.
        page.go_to(f"{engine.live(session_id).messages[3].id}:0")
        person.window.controller.assistants.show_page("browser")
        person.window.controller.palette.open_hit(session_id, first)
        await until(lambda: page.isVisible() and page.place.startswith(first))


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_message_of_another_version_is_shown_in_that_one(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    marmots = iter(("A marmot sleeps.", "An otter swims."))
    wire_servers["openai"].script(
        "openai-wire", lambda _request: Answer(next(marmots, "Slow words. " * 400), pace=0.05)
    )
    async with at_window(data_dir, size=(900, 600)) as person:
        engine, page = person.window.controller.engine, person.window.controller.chat_page
        session_id = await engine.chats.start("assistant", "What do you know?")
        await until(lambda: engine.live(session_id).session.status == "idle", 90)
        live = engine.live(session_id)
        first = live.messages[1].id
        await engine.chats.retry(session_id, first)
        await until(lambda: len(live.messages) == 3 and live.session.status == "idle", 90)
        person.window.controller.show_session(session_id)
        await until(lambda: page.isVisible() and page.session_id == session_id)
        assert "otter" in "".join(person.transcript("transcript"))
        person.window.controller.palette.search("marmot")
        person.window.controller.palette.open_hit(session_id, first)
        await until(lambda: "marmot" in "".join(person.transcript("transcript")), 60)
        assert "otter" not in "".join(person.transcript("transcript"))
        # While an answer is written in this version nothing is stopped before the user says so.
        second = live.messages[2].id
        await engine.chats.send(session_id, "And then?")
        await until(lambda: live.session.status == "running", 60)
        person.window.controller.palette.open_hit(session_id, second)
        await until(lambda: person.sees("toast"), 60)
        assert person.find("toast").accessibleName() == person.window.language("palette.other_version")
        assert live.session.status == "running"
        assert "otter" not in "".join(person.transcript("transcript"))
        await person.click("toast_action")
        await until(lambda: "otter" in "".join(person.transcript("transcript")), 60)
        assert live.session.status == "idle"
