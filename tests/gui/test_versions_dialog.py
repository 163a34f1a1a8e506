"""The versions of an answer side by side: opened by a click, read, left with Esc, and chosen, also at 900 × 600."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea

from app.core.message import Author, Message, Usage
from app.gui.dialogs.reading_dialogs import Version, VersionsDialog, facts_of
from tests.app_driver import Person, at_window, until
from tests.gui.test_other_answers import answered, page_text, said
from tests.gui.test_row_words import EN
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir, size=(900, 600)) as person:
        yield person


async def compare(person: Person) -> VersionsDialog:
    """Click `3/3` over the last answer."""
    view = person.window.controller.chat_page.transcript
    await until(lambda: view.canvas.row(len(view.model.entries) - 1).context.versions[1] > 1)
    row = view.canvas.row(len(view.model.entries) - 1)
    [rect] = [rect for action, rect in row.action_rects if action == "compare_versions"]
    place = view.message_rect(row.row_id).topLeft() + rect.center()
    assert row.tip_at(rect.center()) == "Compare versions"
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    await until(lambda: person.sees("version_column_3"))
    return person.find("versions_dialog", VersionsDialog)


async def test_versions_are_compared_and_one_is_used(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", ["**One**.", "Two.\n\n" + "Word.\n\n" * 60])
    wire_servers["openai"].script("openai-other", ["Three."])
    await person.click("new_button")
    await said(person, "Count.", "One.")
    engine, page = person.window.controller.engine, person.window.controller.chat_page
    first = engine.live(page.session_id).messages[-1]
    await engine.chats.retry(page.session_id, first.id, effort="high")
    await answered(person, "Two.")
    await engine.chats.retry(page.session_id, first.id, provider="openai", model="openai-other")
    await answered(person, "Three.")
    dialog = await compare(person)
    columns = [person.find(f"version_column_{number}") for number in (1, 2, 3)]
    read = [[one.transcript.describe(each) for each in one.transcript.message_ids] for one in columns]
    assert [[text.partition(": ")[2][:6].split("\n")[0] for text in texts] for texts in read] == [
        ["One."],
        ["Two."],
        ["Three."],
    ]
    long = columns[1].transcript
    assert long.verticalScrollBar().maximum() > 100 and long.verticalScrollBar().value() == 0
    names = [one.accessibleName() for one in columns]
    assert names[0].startswith("Version 1 of 3: openai-wire · ") and "effort" not in names[0]
    assert names[1].startswith("Version 2 of 3: openai-wire · High effort · ") and names[1].endswith(
        " tokens"
    )
    assert names[2].startswith("Version 3 of 3: openai-other · ")
    assert dialog.width() <= 900 and dialog.height() <= 600
    assert not columns[2].use.isEnabled() and columns[2].use.text() == "In use"
    bar = dialog.findChild(QScrollArea).horizontalScrollBar()
    await until(lambda: bar.value() == bar.maximum() > 0)
    columns[0].use.setFocus()
    for _ in range(2):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Backtab)
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Escape)
    await until(lambda: not person.sees("versions_dialog"))
    assert "Three." in page_text(person)
    await compare(person)
    QTest.keyClick(person.find("version_use_1"), Qt.Key.Key_Space)
    await answered(person, "One.")
    assert "Three." not in page_text(person)
    assert not person.sees("versions_dialog")


def test_a_version_says_what_all_its_answers_took_and_cost():
    usage = Usage(model="m", input_tokens=1_000, output_tokens=500, cost_usd=0.002)
    one = Message(
        id="1", turn_id="t", role="assistant", author=Author(id="a", name="Ada"), seconds=1.5, usage=usage
    )
    two = replace(one, id="2", effort="low", usage=replace(usage, model="n"))
    sub = replace(one, id="3", turn_id="s", parent_turn_id="t", usage=usage)
    said = Version("t", (one, sub, two), shown=False)
    assert facts_of(said, EN) == "m · n · Low effort · 3.0 s · 4.5k tokens · $0.0060"
