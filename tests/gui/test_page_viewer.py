"""One click on the card of a page installs what shows pages; it can be cancelled, and is used after a restart."""

from functools import partial

import pytest
from PySide6.QtWidgets import QLabel, QProgressBar

from app.core.message import Author, Message, Prompt
from app.gui.widgets.approval_card import PageCard
from app.gui.widgets.notices import OfferLine
from tests import app_driver
from tests.app_driver import at_window
from tests.tools.package_index import made_wheel, package_index

until = partial(app_driver.until, seconds=60.0)
PAGE = {"uri": "ui://day/1", "mimeType": "text/html", "text": "<h1>Pick</h1>"}


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setattr("app.gui.widgets.approval_card.available", lambda: False)
    with package_index(tmp_path, monkeypatch) as index:
        yield index


def shown_card(person):
    window = person.window
    message = Message(
        id="m",
        turn_id="t",
        role="tool",
        author=Author(id="a", name="Main"),
        content="Which day?",
        prompt=Prompt(question="Which day?", tool="pages__day", server="pages", reason="page"),
        resources=({"type": "resource", "resource": PAGE},),
    )
    card = PageCard(window.language, window.look, message, window.controller.chat_page.cards.viewer)
    card.setParent(window.centralWidget())
    card.resize(520, 300)
    card.show()
    return card


@pytest.mark.slow
async def test_the_viewer_is_installed_by_one_click_and_until_then_the_text_is_shown(qapp, data_dir, index):
    index.seconds = 0.8
    async with at_window(data_dir) as person:
        card = shown_card(person)
        note, line = card.findChild(QLabel, "page_note"), person.find("page_viewer", OfferLine)
        assert card.findChild(QLabel, "page_text").text() == "Pick"
        assert line.text().startswith("Page viewer: 175 MB")
        await person.click("page_viewer_accept")
        await until(lambda: line.text().startswith("Installing the page viewer"))
        assert line.findChild(QProgressBar).isVisible()
        await until(lambda: "restarted" in note.text())
        assert not line.isVisible()
        assert card.findChild(QLabel, "page_text").text() == "Pick"
        assert (index.qt / "QtWebEngineCore.abi3.so").exists()
        # A card that comes later says so too, as the window does.
        assert "restarted" in shown_card(person).findChild(QLabel, "page_note").text()
        assert "Restart Moot" in person.find("toast").text


@pytest.mark.slow
async def test_it_can_be_cancelled_and_says_what_went_wrong(qapp, data_dir, index):
    index.seconds = 60.0
    before = index.left()
    async with at_window(data_dir) as person:
        card = shown_card(person)
        line = person.find("page_viewer", OfferLine)
        await person.click("page_viewer_accept")
        await until(lambda: line.text().startswith("Installing"))
        await person.settle(0.3)
        await person.click("page_viewer_accept")
        await until(lambda: line.text().startswith("Page viewer"))
        assert index.left() == before
        index.seconds, index.wheel = 0.0, made_wheel(b"of somebody else")
        await person.click("page_viewer_accept")
        note = card.findChild(QLabel, "page_note")
        await until(lambda: note.text().startswith("The page viewer could not be installed"))
        assert line.text().startswith("Page viewer")
        assert index.left() == before
