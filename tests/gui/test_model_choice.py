"""The choice of a model where a server lists hundreds: what is typed is found anywhere in the names."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.provider import ProviderConfig, ProviderStatus
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.agent_choices import ModelChoice
from tests.app_driver import until

# The platform of the tests has no real pop-ups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

RESOURCES = Path(__file__).parents[2] / "resources"


@pytest.fixture
async def choice(qapp):
    models = tuple(f"vendor-{number % 7}/Model-{number:03}" for number in range(400))
    status = ProviderStatus(
        config=ProviderConfig(id="router", kind="openai-compatible", models=models),
        label="Router",
        base_url="http://127.0.0.1:9/v1",
        models=models,
        default_model=models[0],
        local=True,
        needs_key=False,
        key_source="",
        ready=True,
    )
    choice = ModelChoice(Language(RESOURCES / "i18n", "en"), Look(qapp, RESOURCES, "light"))
    choice.set_providers([status])
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
