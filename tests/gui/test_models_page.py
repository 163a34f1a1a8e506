"""The models in the settings as a person uses them: searched, ticked, fetched, added by hand."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QVBoxLayout

from app.gui.pages.settings.models_page import ModelsPage
from app.gui.pages.settings.settings_rows import Ground
from app.gui.widgets.notices import Toasts
from tests import app_driver
from tests.app_driver import at_window
from tests.wire import write_providers
from tests.wire.fixtures import wire_servers  # noqa: F401
from tests.wire.server import WireServer

until = partial(app_driver.until, seconds=60.0)


class Shown:
    """The page in a window of its own, over a running Moot."""

    def __init__(self, person) -> None:
        window = person.window
        self.engine = window.controller.engine
        self.dialog = QDialog(window)
        made = window.language, window.look, self.engine, window.controller.tasks, self.engine.settings
        self.page = ModelsPage(Ground(*made, Path(), Toasts(window)))
        QVBoxLayout(self.dialog).addWidget(self.page)
        self.dialog.resize(610, 560)
        self.dialog.show()

    def rows(self, *, hidden: bool = False) -> dict[str, bool]:
        """Return the models that are shown, each with its tick."""
        shown = self.page.list
        places = [row for row in range(shown.count()) if hidden or not shown.isRowHidden(row)]
        items = [shown.item(row) for row in places]
        return {one.title: bool(one.ticked) for one in items if not one.heading}

    def item(self, model: str):
        return next(
            item
            for item in (self.page.list.item(row) for row in range(self.page.list.count()))
            if not item.heading and item.title == model
        )

    def click(self, model: str, x: int = 18) -> None:
        place = self.page.list.visualItemRect(self.item(model))
        point = QPoint(place.left() + x, place.center().y())
        QTest.mouseClick(self.page.list.viewport(), Qt.MouseButton.LeftButton, pos=point)

    def models(self, provider: str) -> tuple[str, ...]:
        return next(one.models for one in self.engine.providers() if one.config.id == provider)


@pytest.fixture
async def moot(qapp, data_dir, monkeypatch):
    others = ("Qwen3-Instruct-2507", "text-embedding-3-large", "whisper-1")
    names = ("wire-1", *others, *(f"vendor-{number % 7}/model-{number:03}" for number in range(397)))
    with WireServer("openai", models=names) as server, WireServer("ollama") as other:
        for name, value in write_providers(data_dir, [server, other]).items():
            monkeypatch.setenv(name, value)
        path = data_dir / "providers.json"
        path.write_text(path.read_text().replace(f'"{names[-1]}"', '"wire-own"'))
        text = path.read_text()
        start, end = text.index('"wire-1"'), text.index('"wire-own"')
        path.write_text(text[:start] + '"wire-1", ' + text[end:])
        async with at_window(data_dir) as person:
            yield person, server, data_dir


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_models_are_fetched_searched_ticked_and_still_there_after_a_restart(moot):
    person, server, data_dir = moot
    shown = Shown(person)
    assert shown.rows() == {
        "wire-1": True,
        "wire-own": True,
        "ollama-wire": True,
        "ollama-other": True,
        "smollm2-135m": True,
    }
    await person.click("models_refresh")
    await until(lambda: "Lists updated" in shown.page.result.text())
    assert server.listings == 1
    assert not server.requests, "no model is asked for anything"
    assert len(shown.rows()) == 403
    assert "added manually" in shown.item("wire-own").note
    await person.write("models_search", "vendor-3 model-01")
    assert set(shown.rows()) == {"vendor-3/model-010", "vendor-3/model-017"}
    shown.click("vendor-3/model-017")
    await until(lambda: shown.models("openai") == ("wire-1", "wire-own", "vendor-3/model-017"))
    await until(lambda: shown.rows() == {"vendor-3/model-017": True, "vendor-3/model-010": False})
    shown.page.list.choose(shown.item("vendor-3/model-017").id)
    await person.click("models_first")
    await until(lambda: shown.models("openai") == ("vendor-3/model-017", "wire-1", "wire-own"))
    await person.press("models_list", Qt.Key.Key_Space)
    await until(lambda: shown.models("openai") == ("wire-1", "wire-own"))
    shown.dialog.close()
    assert (data_dir / "models.json").is_file()
    documents = type(person.window.controller.engine._documents)(
        person.window.controller.engine._documents._paths
    )
    await documents.load()
    assert {one.provider: len(one.models) for one in documents.model_lists()} == {
        "openai": 399,
        "ollama": 2,
        "embedded": 1,
    }


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_model_that_no_list_shows_is_added_by_hand_and_removed(moot):
    person, server, _ = moot
    shown = Shown(person)
    await person.write("models_own", "  brand-new-model ")
    await person.press("models_own", Qt.Key.Key_Return)
    await until(lambda: shown.models("openai") == ("wire-1", "wire-own", "brand-new-model"))
    await until(lambda: shown.page.own.text() == "")
    assert shown.page.list.currentItem().title == "brand-new-model"
    assert not server.listings, "Enter is about the box it is pressed in"
    await person.click("models_refresh")
    await until(lambda: "Lists updated" in shown.page.result.text())
    await person.click("models_remove")
    await until(lambda: shown.models("openai") == ("wire-1", "wire-own"))
    await until(lambda: "brand-new-model" not in shown.rows())
    shown.dialog.close()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_model_of_ones_own_is_taken_back_to_where_it_was(moot):
    person, _server, _ = moot
    engine = person.window.controller.engine
    own = ("brand-new-model", "wire-1", "wire-own")
    await engine.connections.fetch("openai")
    await engine.connections.offer_model("openai", "brand-new-model", first=True)
    person.window.controller.settings.open("models")
    dialog = person.find("settings_page")
    page = dialog.page("models")

    def offered():
        return next(one.models for one in engine.providers() if one.config.id == "openai")

    def rows():
        items = [page.list.item(row) for row in range(page.list.count())]
        return {item.title: item.id for item in items}

    async def remove():
        await until(lambda: own[0] in rows())
        page.list.choose(rows()[own[0]])
        await person.click("models_remove")
        await until(lambda: offered() == own[1:] and not dialog.tasks._running)

    await remove()
    await person.click("toast_action")
    await until(lambda: offered() == own and not dialog.tasks._running)
    await remove()
    person.find("settings_close").click()
    await until(person.window.toasts.isVisible)
    person.window.activateWindow()
    await until(person.window.isActiveWindow)
    QTest.keyClick(person.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: offered() == own)


@pytest.mark.slow
async def test_the_last_model_of_a_provider_stays(moot):
    person, _server, _ = moot
    shown = Shown(person)
    for model in ("smollm2-135m", "ollama-wire", "ollama-other"):
        shown.click(model)
        await until(lambda: person.window.controller.tasks._running.keys() <= {"model host", "schedules"})
    assert shown.models("ollama") == ("ollama-other",)
    assert shown.models("embedded") == ("smollm2-135m",)
    assert "needs at least one model" in shown.page.result.text()
    shown.dialog.close()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_provider_that_cannot_be_reached_is_named_and_keeps_its_list(moot):
    person, server, _ = moot
    shown = Shown(person)
    await person.click("models_refresh")
    await until(lambda: "Lists updated" in shown.page.result.text())
    server.close()
    await person.click("models_refresh")
    await until(lambda: shown.page.result.property("kind") == "error")
    assert shown.page.result.text().startswith("OpenAI: Could not reach the provider")
    assert len(shown.rows()) == 403
    shown.dialog.close()


def _config(shown: Shown):
    return next(one.config for one in shown.engine.providers() if "wire-1" in one.models)


async def test_the_window_of_one_model_can_be_said(moot):
    shown = Shown(moot[0])
    page = shown.page
    shown.click("wire-1", x=80)
    assert page.window_size.isVisible() and "wire-1" in page.window_size.accessibleName()
    assert page.window_size.placeholderText() and not page.window_size.text()
    QTest.keyClicks(page.window_size, "16000")
    QTest.keyClick(page.window_size, Qt.Key.Key_Return)
    config = partial(_config, shown)
    await until(lambda: config().windows == {"wire-1": 16_000}, what="the number to be kept")
    facts = shown.engine.connections.known_facts
    assert facts(config().id, "wire-1").window == 16_000 != facts(config().id, "another").window
    await until(lambda: page.window_size.text() == "16000")
    page.window_size.selectAll()
    QTest.keyClick(page.window_size, Qt.Key.Key_Delete)
    QTest.keyClick(page.window_size, Qt.Key.Key_Return)
    await until(lambda: not config().windows, what="what is known to count again")


@pytest.mark.timeout(180)
async def test_models_that_cannot_chat_are_counted_and_shown_at_a_click(moot):
    person, _server, _data_dir = moot
    shown = Shown(person)
    assert not shown.page.hidden.isVisible()
    await person.click("models_refresh")
    await until(lambda: shown.page.hidden.isVisible())
    assert shown.page.hidden.text() == "2 models that can’t chat are hidden. Show them"
    listed = set(shown.rows())
    assert "Qwen3-Instruct-2507" in listed
    await person.click("models_hidden")
    assert set(shown.rows()) - listed == {"text-embedding-3-large", "whisper-1"}
    assert shown.page.hidden.text() == "Hide the models that can’t chat"
    shown.click("whisper-1")
    await until(lambda: "whisper-1" in shown.models("openai"))
    await person.click("models_hidden")
    assert set(shown.rows()) - listed == {"whisper-1"}, "what the user offers is not hidden"
    assert shown.page.hidden.text() == "1 model that can’t chat is hidden. Show it"
    shown.dialog.close()
