"""Settings: a provider is switched, keyed and tested; the key is never shown or written."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit

from app.gui.pages.settings.settings_rows import TwoLineList
from tests.app_driver import at_window, until
from tests.gui.seen import inside, saying, texts_in
from tests.wire import WireServer, write_providers
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

KEY = "sk-canary-typed-by-hand-000111222333"


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("providers", "openai")
        await until(lambda: person.sees("settings_page"))
        yield person
        if person.sees("settings_page"):
            person.find("settings_close").click()


def page(person):
    return person.find("settings_page").page("providers").page()


async def test_a_key_is_write_only_and_opens_the_seat(person, data_dir):
    field = page(person).key
    assert field.echoMode() == QLineEdit.EchoMode.Password
    field.setText(KEY)
    inside(page(person), "provider_save_key").click()
    await until(lambda: saying(page(person), "until Moot closes"))
    assert field.text() == ""
    assert "forgotten" in page(person).result.text()
    cards = {card.candidate.participant.id: card for card in person.window.controller.panel.setup.seats.cards}
    assert cards["openai"].candidate.status.ready
    for file in data_dir.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    inside(page(person), "provider_remove_key").click()
    await until(lambda: "No key yet." in texts_in(page(person)))


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_the_key_just_typed_is_the_one_that_is_tested(qapp, data_dir, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    write_providers(data_dir, [server])
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("providers", "openai")
        await until(lambda: person.sees("settings_page"))
        page(person).enabled.setChecked(False)
        page(person).key.setText(server.key)
        inside(page(person), "provider_test").click()
        await until(lambda: page(person).result.property("kind") in ("ok", "error"), 90)
        await until(lambda: "Connected (" in page(person).result.text(), 90)
        rows = person.find("settings_providers", TwoLineList)
        place = rows.ids().index("openai")
        await until(lambda: rows.item(place).dot == "ok")
        assert page(person).enabled.isChecked() and "test passed" in rows.item(place).text
        person.find("settings_close").click()


@pytest.mark.slow
async def test_an_address_that_is_none_is_refused_in_place(person):
    page(person).base_url.setText("not an address")
    inside(page(person), "provider_save").click()
    await until(lambda: page(person).result.text())
    assert page(person).result.property("kind") == "error"


@pytest.mark.slow
async def test_the_window_that_the_user_types_in_is_kept_and_believed(person, data_dir):
    page(person).window_size.setText("16000")
    inside(page(person), "provider_save").click()
    await until(lambda: page(person).result.property("kind") == "ok")
    (entry,) = (
        one
        for one in json.loads((data_dir / "providers.json").read_text())["providers"]
        if one["id"] == page(person).provider_id
    )
    assert entry["window"] == 16_000
    facts = person.window.controller.engine.connections.known_facts(entry["id"], "a-model")
    assert (facts.window, facts.source) == (16_000, "user")


async def test_switching_off_takes_the_seat_away(person):
    page(person).enabled.setChecked(False)
    await until(
        lambda: (
            "openai"
            not in {
                card.candidate.participant.id for card in person.window.controller.panel.setup.seats.cards
            }
        )
    )


async def test_how_each_provider_stands_is_said_in_a_word_or_two(person):
    shown = person.find("settings_providers")
    states = {shown.item(row).second for row in range(shown.count())}
    assert states <= {"ready", "needs a key", "not running", "disabled"}
    assert "needs a key" in states


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_server_is_added_and_removed(person):
    before = person.find("settings_providers").count()
    with WireServer("openai-compatible") as server:
        await person.click("settings_add_provider")
        await until(lambda: person.sees("connect_dialog"))
        await person.click("connect_openai-compatible")
        await person.write("connect_address", server.address)
        await person.write("connect_key", server.key)
        await person.click("connect_go")
        await until(lambda: page(person).provider_id.startswith("127-0-0-1"), 90)
        await until(lambda: person.find("connect_dialog").answer.property("kind") in ("ok", "warn"))
        await person.click("connect_go")
    inside(page(person), "provider_remove").click()
    await until(lambda: person.find("settings_providers").count() == before)


@pytest.mark.slow
async def test_where_the_data_is(person, data_dir):
    person.find("settings_page").show_page("data")
    words = [label.text() for label in person.find("settings_page").findChildren(QLabel)]
    assert str(data_dir) in words


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_the_test_button_tells_what_it_found(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("providers", "anthropic")
        await until(lambda: person.sees("settings_page"))
        inside(page(person), "provider_test").click()
        await until(lambda: "Connected (" in page(person).result.text(), 90)
        assert "anthropic-wire" in page(person).result.text()
        wire_servers["anthropic"].close()
        inside(page(person), "provider_test").click()
        await until(lambda: page(person).result.property("kind") == "error", 90)
        assert page(person).result.text()
        person.find("settings_close").click()


async def test_the_settings_are_a_page_that_leads_back_to_the_one_before(qapp, data_dir):
    async with at_window(data_dir) as person:
        window, desk = person.window, person.window.controller
        desk.decisions.show()
        desk.debates.show_setup()
        assert desk.panel.isVisible()
        desk.settings.open("chats")
        assert window.main_area.currentWidget() is person.find("settings_page")
        assert texts_in(window.top_bar, "title") == ["Settings"]
        assert not desk.panel.isVisible(), "it makes room"
        desk.settings.open("usage")
        assert person.find("settings_page").page("usage").isVisible(), "the same page shows another one"
        await person.press("settings_search", Qt.Key.Key_Escape)
        await until(lambda: not person.sees("settings_page"))
        assert window.main_area.currentWidget().objectName() == "decisions_page"
        assert texts_in(window.top_bar, "title") == ["Decisions"]
        assert desk.panel.isVisible()
        desk.settings.open()
        person.find("plan_button").click()
        await until(lambda: not person.sees("settings_page"))
        assert window.main_area.currentWidget().objectName() == "decisions_page"
        assert not desk.panel.isVisible() and window.top_bar.plan_button.isChecked()
        # Another page that comes to the front ends them too, and the next time they open where they were left.
        desk.settings.open()
        assert person.find("settings_page").shown == "usage"
        desk.show_new()
        await until(lambda: not person.sees("settings_page"))
        assert window.main_area.currentWidget() is desk.chat_page
