"""A chat as a person has it: writing, queueing, asking again, files, drafts; against a local provider."""

import pytest
from PySide6.QtCore import Qt

from tests.app_driver import Person, at_window, until
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


async def say(person: Person, text: str) -> None:
    """Write a message and press Enter."""
    await person.write("composer", text)
    await person.press("composer", Qt.Key.Key_Return)


async def test_new_writes_to_the_last_assistant_and_the_chat_begins(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    assert person.find("composer").hasFocus()
    assert not person.sees("stop_button")
    await say(person, "Tabs or spaces?")
    await until(lambda: len(person.transcript("transcript")) == 2, what="the answer")
    page = person.window.desk.chat_page
    await until(lambda: page.session.status == "idle")
    assert person.window.top_bar._title.text() == "Tabs or spaces?"
