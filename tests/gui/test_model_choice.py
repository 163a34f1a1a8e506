"""The choice of a model where a server lists hundreds: what is typed is found anywhere in the names."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.provider import FactSource, ModelFacts, Price
from app.gui.display.appearance import Language, Look
from app.gui.widgets.model_choice import HEADING, ModelChoice
from tests.app_driver import until
from tests.builders import on_offer

# The platform of the tests has no real pop-ups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

RESOURCES = Path(__file__).parents[2] / "resources"
NO_KEY = "This provider has no key. Add one in Settings."


@pytest.fixture
async def choice(qapp):
    models = tuple(f"vendor-{number % 7}/Model-{number:03}" for number in range(400))
    choice = ModelChoice(Language(RESOURCES / "i18n", "en"), Look(qapp, RESOURCES, "light"))
    choice.set_providers([on_offer("Router", *models)])
    choice.resize(320, 30)
    choice.show()
    choice.activateWindow()
    choice.setFocus()
    await until(choice.hasFocus)
    yield choice
    choice.close()
    choice.deleteLater()


def offered(choice: ModelChoice) -> list[str]:
    model = choice.completer().popup().model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


async def test_a_part_of_a_name_is_enough_and_enter_takes_it(choice):
    choice.lineEdit().selectAll()
    QTest.keyClicks(choice.lineEdit(), "model-31")
    popup = choice.completer().popup()
    await until(popup.isVisible)
    assert offered(choice) == [f"Router / vendor-{number % 7}/Model-{number}" for number in range(310, 320)]
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert choice.chosen() == ("router", "vendor-2/Model-310")
    assert not popup.isVisible()


async def test_what_no_list_shows_can_still_be_written(choice):
    choice.lineEdit().selectAll()
    QTest.keyClicks(choice.lineEdit(), "Router / brand-new")
    assert choice.chosen() == ("router", "brand-new")
    choice.lineEdit().clear()
    assert choice.chosen() == ("", "")


async def test_one_that_is_fixed_offers_nothing(choice):
    choice.set_fixed(True)
    QTest.keyClicks(choice.lineEdit(), "model-31")
    assert not choice.completer().popup().isVisible()


FACTS = ModelFacts(
    window=200_000,
    tools=True,
    images=True,
    efforts=("low", "high"),
    prices=Price(read=3e-6, written=15e-6),
    source=FactSource.LIST,
)


async def test_models_are_grouped_and_say_what_they_can_do_and_cost(choice):
    [router] = choice._providers
    other = replace(router, config=replace(router.config, id="other"), label="Other", models=("one", "two"))
    choice.set_providers([router, other], lambda _provider, model: FACTS if model == "two" else ModelFacts())
    rows = choice.model()
    headings = [place for place in range(choice.count()) if not rows.item(place).isEnabled()]
    assert [(place, rows.index(place, 0).data(HEADING)) for place in headings] == [
        (1, "Router"),
        (402, "Other"),
    ]
    choice.show_model("other", "two")
    said = "images · tools · thinking · 200k window · $3.00 in, $15.00 out / 1M"
    assert (choice.accessibleDescription(), choice.toolTip()) == (said, said)
    choice.show_model("other", "one")
    assert choice.accessibleDescription() == ""
    choice.showPopup()
    await until(choice.view().isVisible)
    choice.view().scrollToBottom()
    await until(lambda: choice.view().visualRect(rows.index(404, 0)).height() > 0)
    drawn = choice.view().viewport().grab().toImage()

    def lines(place: int) -> int:
        """Count the rows of pixels with letters, left of where a heading would end."""
        rect = choice.view().visualRect(rows.index(place, 0))
        ground = drawn.pixelColor(rect.right() - 3, rect.center().y())
        return sum(
            any(drawn.pixelColor(x, y) != ground for x in range(rect.left() + 12, rect.right() - 12))
            for y in range(rect.top(), rect.bottom())
        )

    assert lines(404) > 1.5 * lines(403)
    choice.hidePopup()


async def test_a_provider_is_neither_found_nor_chosen(choice):
    choice.setCurrentIndex(0)
    QTest.keyClick(choice, Qt.Key.Key_Down)
    assert choice.chosen() == ("router", "vendor-0/Model-000")
    choice.lineEdit().selectAll()
    QTest.keyClicks(choice.lineEdit(), "router")
    popup = choice.completer().popup()
    await until(popup.isVisible)
    assert len(offered(choice)) == 400


async def test_what_cannot_be_used_stands_last_with_its_reason_and_a_click_selects_the_text(choice):
    [router] = choice._providers
    ready = replace(router, models=("gpt-5.2",))
    config = replace(router.config, id="other")
    without = replace(router, config=config, label="Other", models=("gpt-6",), ready=False, problem="no_key")
    choice.set_providers([without, ready])
    choice.setCurrentIndex(0)
    QTest.keyClick(choice, Qt.Key.Key_Down)
    assert choice.chosen() == ("router", "gpt-5.2")
    assert choice.facts_of(("other", "gpt-6")) == NO_KEY
    choice.clearFocus()
    QTest.mouseClick(choice.lineEdit(), Qt.MouseButton.LeftButton)
    assert choice.lineEdit().selectedText() == "Router / gpt-5.2"
    QTest.keyClicks(choice.lineEdit(), "gpt")
    assert choice.currentText() == "gpt"
