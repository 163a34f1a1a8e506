"""Favourite models: chosen in the list at the input by mouse and by key, first in it, and kept; saved panels in Decide."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.core.council import Panel
from app.core.provider import ModelFacts, Price
from app.core.settings import Settings
from app.gui.display.appearance import Language, Look
from app.gui.pages.first_page import ModelChip
from app.gui.panels.debate.participant_picker import PickRow
from app.gui.widgets.item_list import HEADING
from app.gui.widgets.model_choice import ModelMenu
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.builders import on_offer
from tests.gui.test_council_page import three
from tests.gui.test_drop_down_lists import RESOURCES
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)
# The platform of the tests has no real pop-ups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
CTRL = Qt.KeyboardModifier.ControlModifier
FACTS = {
    "small": ModelFacts(tools=True, prices=Price(read=0.0, written=0.0)),
    "large": ModelFacts(images=True, prices=Price(read=0.000001, written=0.000004)),
}


@pytest.fixture(params=["en", "ko"])
def language(request):
    return Language(RESOURCES / "i18n", request.param)


@pytest.fixture
def menu(qapp, qtbot, language):
    look, button = Look(qapp, RESOURCES, "light"), QPushButton("A model")
    qtbot.addWidget(button)
    button.show()
    offered = (on_offer("One", "small", "large"), on_offer("Two", "other"), on_offer("Off", "x", ready=False))
    menu = ModelMenu(
        language, look, offered, lambda _provider, model: FACTS.get(model, ModelFacts()), ("one", "small"), button,
        first="Automatic", favourites=("two/other", "gone/model"),
    )  # fmt: skip
    menu.kept, menu.taken = [], []
    menu.favourites_chosen.connect(menu.kept.append)
    menu.chosen.connect(lambda *pair: menu.taken.append(pair))
    menu.open(button)
    qtbot.waitUntil(menu.isVisible)
    yield menu
    look.deleteLater()


def indexes(menu: ModelMenu) -> list[QModelIndex]:
    rows = menu.list.model()
    return [rows.index(row, 0) for row in range(rows.rowCount()) if not menu.list.isRowHidden(row)]


def shown(menu: ModelMenu) -> list[str]:
    return [str(one.data()) for one in indexes(menu)]


def second(menu: ModelMenu, name: str) -> str:
    index = next(one for one in indexes(menu) if one.data() == name)
    return menu.list.itemDelegate().item_of(index).second


def star(menu: ModelMenu, name: str) -> QPoint:
    place = menu.list.visualRect(next(one for one in indexes(menu) if one.data() == name))
    return QPoint(place.left() + 16, place.center().y())


def test_favourites_come_first_and_only_what_is_connected(menu: ModelMenu, language: Language) -> None:
    heading = {"en": "Favourites", "ko": "즐겨찾기"}[language.name]
    assert shown(menu) == ["Automatic", heading, "other", "One", "small", "large"]
    assert menu.list.currentIndex().data() == "small", "the model in use"
    colours = {
        one.data(): menu.list.itemDelegate().item_of(one).icon_colour
        for one in indexes(menu)
        if not one.data(HEADING)
    }
    assert (colours["other"], colours["small"], colours["large"]) == ("accent", "edge", "edge")


def test_each_row_says_what_its_model_can_do_and_costs(menu: ModelMenu, language: Language) -> None:
    expected = {
        "en": ("Two · free", "tools · free", "images · $1.00 in, $4.00 out / 1M"),
        "ko": ("Two · 무료", "도구 · 무료", "이미지 · 100만 토큰당 입력 $1.00, 출력 $4.00"),
    }
    assert tuple(second(menu, name) for name in ("other", "small", "large")) == expected[language.name]


def test_a_price_that_nobody_knows_is_said(qapp, qtbot, language: Language) -> None:
    look, button = Look(qapp, RESOURCES, "light"), QPushButton()
    qtbot.addWidget(button)
    status = on_offer("Far", "cloud")
    far = (replace(status, local=False),)
    menu = ModelMenu(language, look, far, lambda *_pair: ModelFacts(), ("", ""), button)
    assert second(menu, "cloud") == {"en": "no price known", "ko": "가격 정보 없음"}[language.name]
    look.deleteLater()


def test_a_click_on_the_star_and_a_key_change_them(menu: ModelMenu) -> None:
    QTest.mouseClick(menu.list.viewport(), Qt.MouseButton.LeftButton, pos=star(menu, "large"))
    assert menu.kept == [("two/other", "gone/model", "one/large")], (
        "one of a provider that is off is not lost"
    )
    assert shown(menu)[2:] == ["other", "large", "One", "small"]
    assert menu.isVisible() and menu.taken == []
    assert menu.list.currentIndex().data() == "large"
    QTest.keyClicks(menu.search, "oth")
    QTest.keyClick(menu.search, Qt.Key.Key_D, CTRL)
    assert menu.kept[-1] == ("gone/model", "one/large")
    assert shown(menu) == ["Two", "other"] and menu.search.text() == "oth", "the search stays"
    QTest.keyClick(menu.search, Qt.Key.Key_Return)
    assert menu.taken == [("two", "other")]


def test_the_first_row_and_a_list_without_favourites_have_no_star(
    menu: ModelMenu, language: Language
) -> None:
    menu.list.setCurrentIndex(indexes(menu)[0])
    QTest.keyClick(menu.search, Qt.Key.Key_D, CTRL)
    assert menu.kept == []
    look = Look(QApplication.instance(), RESOURCES, "light")
    plain = ModelMenu(
        language,
        look,
        (on_offer("One", "small"),),
        lambda *_pair: ModelFacts(),
        ("", ""),
        menu.parentWidget(),
    )
    index = plain.list.model().index(1, 0)
    assert plain.list.itemDelegate().item_of(index).icon == "" and not index.data(Qt.ItemDataRole.ToolTipRole)
    plain.list.setCurrentIndex(index)
    QTest.keyClick(plain.search, Qt.Key.Key_D, CTRL)
    assert plain.list.model().rowCount() == 2
    look.deleteLater()


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person
        # What a list has asked about its models is answered before the window closes.
        await until(lambda: not person.window.controller.tasks.running("model facts"))


async def test_a_favourite_is_kept_in_the_settings(person: Person) -> None:
    desk = person.window.controller
    await person.click("composer_model")
    menu = person.find("model_menu")
    QTest.keyClicks(menu.search, "anthropic")
    QTest.keyClick(menu.search, Qt.Key.Key_D, CTRL)
    await until(lambda: desk.engine.settings().favourite_models == ("anthropic/anthropic-wire",))
    menu.close()
    await person.click("composer_model")
    menu = person.find("model_menu")
    assert shown(menu)[1:3] == ["Favourites", "anthropic-wire"]
    menu.close()
    assert Settings().favourite_models == ()


async def test_saved_panels_stand_first_in_the_list_of_models_of_a_decision(person: Person) -> None:
    desk = person.window.controller
    await desk.engine.councils.panels.save(Panel(id="", name="Three & more", participants=three()))
    await person.write("composer", "Tea or coffee?")
    await person.click("segment_decide")
    await person.click("model_chip_1")
    await person.click("composer_model")
    picker = person.find("participant_picker")
    pick = person.find("pick_panel_1")
    assert pick.isVisible() and pick.accessibleName() == "Three & more"
    assert pick.toolTip() == "GPT, Claude, Gemini"
    tops = [one.mapTo(picker, QPoint()).y() for one in picker.findChildren(PickRow) if one.isVisible()]
    assert pick.mapTo(picker, QPoint()).y() < min(tops)
    QTest.keyClick(picker.search, Qt.Key.Key_Down)
    assert pick.hasFocus(), "the arrow leads to it"
    QTest.keyClick(pick, Qt.Key.Key_Return)
    assert not picker.isVisible()
    chips = person.window.first_page.chips.findChildren(ModelChip)
    await until(lambda: [one.text() for one in chips if one.isVisible()])
    names = [one.text() for one in person.window.first_page.chips.findChildren(ModelChip) if one.isVisible()]
    assert names == [one.name for one in three()]
    assert person.find("composer").toPlainText() == "Tea or coffee?" and person.sees("decide_how")
    # In Setup, which has a list of panels of its own, they are not in it.
    desk.panel.setup.seats.picker.open(person.find("debate_button"))
    assert not person.sees("pick_panel_1")
    picker.close()


async def test_the_list_of_models_has_one_name_at_the_input(person: Person) -> None:
    for mode, seen in (("decide", True), ("chat", True), ("work", False), ("decide", True)):
        await person.click(f"segment_{mode}")
        assert person.sees("composer_model") == seen, mode
        assert len(person.window.chat_page.findChildren(QPushButton, "composer_model")) == 1
