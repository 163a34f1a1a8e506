"""The welcome page as a person uses it: what is written there begins a chat."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.core.agent import Group
from app.core.draft import NEW
from app.gui.display.appearance import Language, Look
from app.gui.display.theme import LIGHT
from app.gui.main_window import MainWindow
from app.gui.window_frame import SIDE_WIDTH, WindowState
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


def texts_of(person: Person) -> str:
    """Return every label of the welcome page."""
    return "\n".join(label.text() for label in person.window.welcome.findChildren(QLabel))


@pytest.mark.slow
async def test_what_is_asked_on_the_welcome_page_begins_a_chat(person):
    await person.write("welcome_composer", "What is a moot?")
    await person.press("welcome_composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: len(person.transcript("transcript")) == 2, what="the answer")
    await until(lambda: page.session.status == "idle")
    assert page.session.title == "What is a moot?"
    assert person.window.welcome.composer.box.toPlainText() == page.composer.box.toPlainText() == ""
    assert person.window.focusWidget() is page.composer.box


@pytest.mark.slow
async def test_the_switch_makes_what_is_written_a_debate_in_the_main_area(person):
    welcome, debate_page = person.window.welcome, person.window.controller.session_page
    QTest.mouseClick(welcome.mode._segments[1], Qt.MouseButton.LeftButton)
    assert welcome.mode.value() == "debate" and not person.sees("welcome_attach")
    setup = person.window.controller.panel.setup.setup()
    assert len(setup.participants) >= 2
    assert all(one.name in welcome._debaters.text() for one in setup.participants)
    # As long as there is room beside it, it is whole.
    welcome.show_mode("debate", "garam-large, naru-mini, judge-one · 3 rounds", compares=False)
    await person.settle()
    assert welcome._debaters.width() >= welcome._debaters.sizeHint().width()
    await person.write("welcome_composer", "Should cities ban cars?")
    await person.press("welcome_composer", Qt.Key.Key_Return)
    await until(lambda: debate_page.session and debate_page.isVisible(), what="the debate")
    session = debate_page.session
    assert session.debate.topic == "Should cities ban cars?"
    assert session.debate.participants == setup.participants
    assert not person.window.controller.panel.isVisible()
    assert person.window.controller.panel.setup.topic.toPlainText() == ""
    await person.window.controller.engine.stop(session.id)


@pytest.mark.slow
async def test_what_is_pasted_or_dropped_where_a_debate_begins_goes_to_the_debate(person, tmp_path):
    desk, welcome = person.window.controller, person.window.welcome
    setup, composer, engine = desk.panel.setup, welcome.composer, desk.engine
    QTest.mouseClick(welcome.mode._segments[1], Qt.MouseButton.LeftButton)
    long, picture, file = QMimeData(), QMimeData(), QMimeData()
    long.setText("Tabs are one character. " * 400)
    picture.setImageData(QImage(8, 8, QImage.Format.Format_RGB32))
    notes = tmp_path / "notes.md"
    notes.write_text("Three rules.", encoding="utf-8")
    file.setUrls([QUrl.fromLocalFile(str(notes))])
    composer.message_box.insertFromMimeData(long)
    assert [one.text for one in composer.attachments()] == [long.text()] and person.sees(
        "welcome_attachments"
    )
    removing = composer.strip.findChild(QWidget, "attachment_remove_1")
    QTest.mouseClick(removing, Qt.MouseButton.LeftButton)
    assert not composer.attachments() and not setup.pasted.attachments()
    await person.click("toast_action")
    assert composer.attachments() == setup.pasted.attachments() != ()
    QTest.mouseClick(welcome.mode._segments[0], Qt.MouseButton.LeftButton)
    assert not composer.attachments() and not engine.drafts.of(NEW).attachments, "it is the debate's"
    QTest.mouseClick(welcome.mode._segments[1], Qt.MouseButton.LeftButton)
    composer.message_box.insertFromMimeData(picture)
    assert any("with an image" in one.text() for one in person.window.toasts.findChildren(QLabel))
    await person.write("welcome_composer", "Tabs?")
    composer.message_box.insertFromMimeData(file)
    assert setup.context_paths == (str(notes),) and person.sees("debate_topic")
    await person.press("welcome_composer", Qt.Key.Key_Return)
    await until(lambda: desk.session_page.session is not None, what="the debate")
    debate = desk.session_page.session.debate
    assert [one.text for one in debate.context] == [long.text(), "Three rules."]
    assert not composer.attachments() and composer.box.toPlainText() == ""
    await engine.stop(desk.session_page.session_id)


@pytest.mark.slow
async def test_the_page_for_a_new_chat_has_the_same_switch(person):
    await person.click("new_button")
    page, welcome = person.window.controller.chat_page, person.window.welcome
    await person.write("composer", "Tea or coffee?")
    QTest.mouseClick(page.mode._segments[1], Qt.MouseButton.LeftButton)
    await until(welcome.isVisible)
    assert welcome.mode.value() == "debate" and welcome.composer.box.toPlainText() == "Tea or coffee?"
    assert welcome.composer.box.hasFocus()
    await person.click("new_button")
    assert page.mode.isVisible() and page.mode.value() == "chat"
    await person.write("composer", "Hello")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None)
    assert not page.mode.isVisible()


@pytest.mark.slow
async def test_a_debate_that_cannot_start_opens_setup_with_its_topic(person):
    person.window.welcome.mode.set_value("debate")
    for card in person.window.controller.panel.setup.seats.cards:
        if card.chosen:
            card.tick.click()
    await person.write("welcome_composer", "Should cities ban cars?")
    await person.press("welcome_composer", Qt.Key.Key_Return)
    await until(lambda: person.sees("debate_topic"))
    desk = person.window.controller
    setup = desk.panel.setup
    assert desk.debates._form.isAncestorOf(setup) and not desk.panel.isVisible(), "in the main area"
    assert setup.topic.toPlainText() == "Should cities ban cars?"
    assert "two" in setup._estimate.text()
    # The panel has the same form, and what was typed.
    await person.click("debate_button")
    assert desk.panel.isAncestorOf(setup) and person.sees("debate_topic")
    assert setup.topic.toPlainText() == "Should cities ban cars?"
    assert person.window.main_area.currentWidget() is person.window.welcome
    assert not person.window.controller.engine.sessions()


async def test_whom_it_writes_to_is_chosen_there(person, wire_servers):  # noqa: F811
    await person.window.controller.engine.assistants.save(architect(model="openai-wire"))
    composer = person.window.welcome.composer
    await until(lambda: "Architect" in [one.text() for one in composer.assistant.choices.actions()])
    next(one for one in composer.assistant.choices.actions() if one.text() == "Architect").trigger()
    assert composer.assistant.text() == "Architect"
    await person.write("welcome_composer", "Hello.")
    await person.click("welcome_send")
    page = person.window.controller.chat_page
    await until(lambda: page.session and page.session.chat.assistant_id == "architect")


async def test_a_group_with_a_long_name_is_shortened_and_stays_chosen_when_the_window_changes(person):
    desk, composer = person.window.controller, person.window.welcome.composer
    name = "The very patient reviewers & friends"
    await desk.engine.groups.save(Group(id="patient", name=name, members=("assistant", "browser")))
    await until(
        lambda: any(one.text().startswith("The very") for one in composer.assistant.choices.actions())
    )
    next(one for one in composer.assistant.choices.actions() if one.text().startswith("The very")).trigger()
    for size in ((1000, 700), (1440, 900)):
        person.window.resize(*size)
        await person.settle()
        assert composer.assistant.text() == "The very patient reviewe…"
        assert "reviewers &amp; friends" in composer.assistant.toolTip()
        assert composer.assistant.accessibleName() == name


@pytest.mark.slow
async def test_words_and_files_go_along_to_the_page_for_a_new_chat(person, tmp_path):
    desk, composer = person.window.controller, person.window.welcome.composer
    await person.write("welcome_composer", "Sum this up")
    file = tmp_path / "notes.md"
    file.write_text("Three rules.", encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    composer.message_box.insertFromMimeData(data)
    await until(lambda: desk.chat_page.chat_composer.attachments())
    assert desk.pages.current is desk.chat_page
    assert desk.chat_page.composer.box.toPlainText() == "Sum this up"
    assert composer.box.toPlainText() == ""
    desk.show_new()
    assert desk.chat_page.composer.box.toPlainText() == "Sum this up", "an empty box is no draft"
    assert person.window.controller.engine.drafts.of(NEW).text == "Sum this up"


async def test_it_says_who_hears_what_is_written(person):
    assert "goes only to the providers you use" in texts_of(person)
    assert "Nothing leaves it" not in texts_of(person)


@pytest.mark.slow
async def test_without_a_provider_it_says_that_the_model_is_small(qapp, data_dir):
    async with at_window(data_dir) as person:
        assert "Nothing leaves it until you add a provider" in texts_of(person)
        await person.click("new_button")
        empty = person.window.controller.chat_page._empty
        await person.window.controller._refresh_one_by_one()
        assert empty.isVisible() and "small" in empty.text() and "add a provider" in empty.text()
        welcome = person.window.welcome
        person.window.show_welcome()
        QTest.mouseClick(welcome.mode._segments[2], Qt.MouseButton.LeftButton)
        # It cannot compare answers, so nothing offers that.
        assert welcome._debaters.text().endswith("2 calls") and not welcome.compare.isVisible()
        assert not any(one.isHidden() for one in welcome._examples)
        person.window.language.choose("ko")
        assert all(one.isHidden() for one in welcome._examples)


@pytest.mark.slow
async def test_a_topic_that_the_small_model_does_not_understand_is_asked_about(qapp, data_dir):
    async with at_window(data_dir) as person:
        welcome, controller = person.window.welcome, person.window.controller
        welcome.mode.set_value("debate")
        await person.write("welcome_composer", "재택근무를 늘려야 할까?")
        await person.click("welcome_send")
        await until(lambda: person.sees("confirm_dialog"))
        await person.click("confirm_cancel")
        setup = controller.panel.setup
        await until(setup.isVisible)
        assert setup.setup().topic == "재택근무를 늘려야 할까?" and not controller.engine.sessions()
        await person.click("debate_start")
        await until(lambda: person.sees("confirm_dialog"))
        await person.click("confirm_agree")
        page = controller.session_page
        await until(lambda: page.session is not None and page.isVisible())
        assert "did not understand the topic" in page.controls._honesty.text()


@pytest.mark.slow
async def test_the_group_card_offers_ready_made_ones_and_then_opens_the_first(person):
    button = person.find("welcome_group_open")
    assert "Ready-made" in button.text()
    await person.click("welcome_group_open")
    await until(lambda: person.sees("ready_groups_dialog"))
    person.find("ready_groups_dialog").reject()
    crew = Group(id="crew", name="Release crew that has a name of some length", members=("assistant",))
    await person.window.controller.engine.groups.save(crew)
    await until(lambda: button.text() == "Open Release crew that has a …")
    assert "some length" in button.toolTip()
    await person.click("welcome_group_open")
    page = person.window.controller.chat_page
    await until(lambda: person.window.controller.pages.current is page)
    await until(lambda: page.chat_composer.group.text().startswith("Release crew"))


@pytest.mark.slow
async def test_what_is_told_in_passing_hides_nothing_one_writes_or_sends_with(person):
    person.window.toasts.show_toast("Something to know, which is said in a line of some length.")
    toast = person.find("toast")
    await until(toast.isVisible)
    await person.click("new_button")
    for part in (person.find("composer"), person.find("send_button"), person.window.top_bar):
        there = toast.rect().translated(toast.mapTo(person.window, toast.rect().topLeft()))
        assert not there.intersects(part.rect().translated(part.mapTo(person.window, part.rect().topLeft())))


@pytest.mark.slow
async def test_who_opens_moot_again_can_write_at_once(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        await person.write("welcome_composer", "What is a moot?")
        await person.press("welcome_composer", Qt.Key.Key_Return)
        await until(lambda: person.window.controller.chat_page.session_id)
    async with at_window(data_dir) as person:
        box = person.window.controller.chat_page.composer.box
        await until(lambda: person.window.focusWidget() is box, seconds=10)


async def test_before_moot_is_ready_nothing_is_lost_and_nothing_false_is_said(qapp, data_dir):
    window = MainWindow(LIGHT, WindowState(data_dir))
    resources = Path(__file__).parents[2] / "resources"
    window.furnish(Language(resources / "i18n", "en"), Look(qapp, resources, "light"))
    composer = window.welcome.composer
    composer.box.setPlainText("A question in a hurry")
    QTest.keyClick(composer.box, Qt.Key.Key_Return)
    assert composer.box.toPlainText() == "A question in a hurry"
    said = "\n".join(label.text() for label in window.findChildren(QLabel))
    assert "not installed" not in said and "Nothing leaves it" not in said
    assert window.side_bar.providers_button.text() == ""
    window.resize(1440, 900)
    window.show()
    assert abs(window.side_bar.width() - SIDE_WIDTH) < 20, "the sidebar is as wide as it will be"
    window.close()
    window.deleteLater()
