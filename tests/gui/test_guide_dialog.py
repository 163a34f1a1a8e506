"""The guide in the window: its topics, the search, and links that lead to the settings."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.gui.dialogs.reading_dialogs import ADDRESS, TOPICS, read_guide
from app.gui.transcript.pictures import VIEW_PICTURE, pixels_of
from app.storage.paths import resources_dir
from tests.app_driver import Person, at_window, until


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        yield person
        if person.sees("guide_dialog"):
            person.find("guide_dialog").reject()


async def opened(person: Person):
    await person.click("help_button")
    await until(lambda: person.sees("guide_dialog"))
    return person.find("guide_dialog")


def shown(dialog) -> str:
    [message] = dialog.view.model.book.messages.values()
    return message.content


async def test_f1_opens_the_guide_once(person):
    person.window.activateWindow()
    await until(person.window.isActiveWindow)
    QTest.keyClick(person.window, Qt.Key.Key_F1)
    await until(lambda: person.sees("guide_dialog"))
    dialog = person.find("guide_dialog")
    assert dialog.topics.ids() == TOPICS
    assert dialog.topics.current_id() == "start" and shown(dialog).startswith("# Start\n")
    assert await opened(person) is dialog


async def test_a_search_lists_the_topics_that_have_the_words(person):
    dialog = await opened(person)
    dialog.search.setText("GGUF")
    assert dialog.topics.ids() == ("models-on-this-computer",)
    await until(lambda: shown(dialog).startswith("# Models on this computer\n"))
    await until(lambda: len(dialog.view.search.finder.hits) == 2)
    dialog.search.clear()
    assert dialog.topics.ids() == TOPICS


async def test_links_lead_to_topics_and_to_pages_of_the_settings(person):
    dialog = await opened(person)
    links = [span.link for row in dialog.view.canvas.rows.values() for _, span in row.text.links]
    assert f"{ADDRESS}deciding" in links and f"{ADDRESS}settings:local" in links
    dialog.view.link_requested.emit(f"{ADDRESS}deciding", "Deciding")
    assert dialog.topics.current_id() == "deciding" and shown(dialog).startswith("# Deciding\n")
    dialog.view.link_requested.emit(f"{ADDRESS}settings:models", "Settings, Models")
    await until(lambda: person.sees("settings_page"))
    assert person.find("settings_page").page("models").isVisible()
    assert dialog.isVisible()


async def test_a_page_ends_with_its_picture_which_is_shown_large(person):
    dialog = await opened(person)
    [page] = dialog.view.model.book.messages.values()
    [picture] = page.attachments
    assert (picture.name, picture.media_type) == ("Start", "image/png")
    dialog.view.picture_requested.emit(VIEW_PICTURE, [(picture, pixels_of(picture))], 0)
    await until(lambda: person.sees("picture_viewer"))
    person.find("picture_viewer").close()
    dialog.topics.choose("keys")
    [page] = dialog.view.model.book.messages.values()
    assert page.attachments == ()


def test_the_same_pages_have_pictures_in_both_languages():
    english, korean = (read_guide(resources_dir(), language) for language in ("en", "ko"))
    shown = [topic for topic, page in english.items() if page.pictures]
    assert shown == [topic for topic, page in korean.items() if page.pictures]
    assert {"start", "deciding", "groups-and-work"} <= {*shown}
    for page in (*english.values(), *korean.values()):
        assert all(pixels_of(picture) is not None for picture in page.pictures)
    files = {file.stem for file in (resources_dir() / "guide").rglob("*.png")}
    assert files == {*shown}, "a picture without its page is shown nowhere"


async def test_in_another_language_the_guide_is_another_one(person):
    await opened(person)
    person.window.controller.settings.change({"language": "ko"})
    await until(lambda: not person.sees("guide_dialog"))
    assert shown(await opened(person)).startswith("# 시작하기\n")
