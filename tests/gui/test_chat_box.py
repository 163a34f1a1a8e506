"""The box of a chat and its foot: the words of its buttons, its height, and what it says under what is written."""

import pytest
from PySide6.QtCore import Qt

from tests.app_driver import until
from tests.gui.seen import saying
from tests.gui.test_chat_page import person
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

__all__ = ["person"]


@pytest.mark.slow
async def test_who_knows_english_only_says_so_under_what_is_written_in_korean(person):
    await person.click("new_button")
    composer = person.window.controller.chat_page.chat_composer
    composer.set_english_only(True)
    await person.write("composer", "What is a quorum?")
    assert not saying(composer, "only understands English")
    await person.write("composer", "정족수가 뭐야?")
    assert saying(composer, "only understands English")
    composer.set_english_only(False)
    assert not saying(composer, "only understands English")


@pytest.mark.slow
async def test_a_button_that_was_too_narrow_shows_all_its_words_again(person):
    await person.click("new_button")
    button = person.window.controller.chat_page.chat_composer.tools
    for words in ("2 tools", "도구 0개", "도구 0개", "no tools & none", "WAVAVA WAV"):
        button.show_words(words)
        whole = button.sizeHint()
        button.setFixedWidth(whole.width() - 12)
        assert button.text() != words
        assert button.sizeHint() == whole
        button.setFixedWidth(whole.width())
        assert button.text() == words


@pytest.mark.slow
async def test_the_foot_shortens_its_words_on_a_narrow_page(person):
    window = person.window
    window.resize(900, 600)
    window.top_bar.debate_button.setChecked(True)
    await person.settle(0.1)
    composer = window.chat_page.chat_composer
    assert composer.tools.isVisible()
    assert composer.minimumSizeHint().width() <= window.chat_page.width() - 56


async def test_an_empty_box_is_as_high_as_its_hint(person):
    await person.click("new_button")
    box = person.window.controller.chat_page.composer.box
    await person.settle(0.1)
    # That of a new session has room for two lines before anything is written.
    box.set_lines(1)
    low = box.height()
    box.setPlaceholderText("Step in: everyone reads it on the next turn. " * 6)
    assert box.height() == low + box.fontMetrics().lineSpacing()
    box.insertPlainText("One word")
    assert box.height() == low


@pytest.mark.slow
async def test_enter_on_the_send_button_sends(person):
    await person.click("new_button")
    await person.write("composer", "What is a quorum?")
    person.find("send_button").setFocus()
    await person.press("send_button", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: page.session is not None)
    assert page.session.title.startswith("What is a quorum?")
