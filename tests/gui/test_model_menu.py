"""The pop-up list of models: found by words, grouped by provider, chosen by keyboard and mouse, left with Esc."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton
from pytestqt.qtbot import QtBot

from app.core.provider import ModelFacts, Price, ProviderStatus
from app.gui.display.appearance import Language, Look
from app.gui.panels.debate.participant_picker import ModelOffer, ParticipantPicker, PickRow
from app.gui.widgets.model_choice import ModelMenu
from tests.builders import on_offer
from tests.gui.seen import texts_in
from tests.gui.test_drop_down_lists import RESOURCES

# The platform of the tests has no real pop-ups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def menu(qapp, qtbot: QtBot):
    look = Look(qapp, RESOURCES, "light")
    button = QPushButton("A model")
    qtbot.addWidget(button)
    button.show()
    offered = (
        on_offer("One", "small", "large"),
        on_offer("Two", "large"),
        on_offer("Off", "gone", ready=False),
    )
    looked_at: list[str] = []

    def facts(_provider: str, model: str) -> ModelFacts:
        looked_at.append(model)
        return ModelFacts()

    language = Language(RESOURCES / "i18n", "en")
    menu = ModelMenu(language, look, offered, facts, ("one", "large"), button, first="Automatic")
    menu.taken, menu.look, menu.language, menu.looked_at = [], look, language, looked_at
    menu.chosen.connect(lambda *pair: menu.taken.append(pair))
    menu.open(button)
    qtbot.waitUntil(menu.isVisible)
    yield menu
    look.deleteLater()


def shown(menu: ModelMenu) -> list[str]:
    rows = menu.list.model()
    return [
        str(rows.index(row, 0).data()) for row in range(rows.rowCount()) if not menu.list.isRowHidden(row)
    ]


def test_words_find_a_model_of_a_provider_and_enter_takes_it(menu: ModelMenu) -> None:
    assert shown(menu) == ["Automatic", "One", "small", "large", "Two", "large"]
    assert menu.list.currentIndex().row() == 3, "the model in use"
    QTest.keyClicks(menu.search, "large")
    assert shown(menu) == ["One", "large", "Two", "large"]
    QTest.keyClicks(menu.search, " two")
    assert shown(menu) == ["Two", "large"]
    taken = menu.taken
    QTest.keyClick(menu.search, Qt.Key.Key_Return)
    assert taken == [("two", "large")]


def test_arrows_pass_over_headings_and_a_click_takes(menu: ModelMenu) -> None:
    taken = menu.taken
    QTest.keyClick(menu.search, Qt.Key.Key_Down)
    assert menu.list.currentIndex().row() == 5
    QTest.keyClicks(menu.search, "nothing of the kind")
    assert shown(menu) == []
    QTest.keyClick(menu.search, Qt.Key.Key_Return)
    assert taken == [] and menu.isVisible()
    menu.search.clear()
    first = menu.list.visualRect(menu.list.model().index(0, 0))
    QTest.mouseClick(menu.list.viewport(), Qt.MouseButton.LeftButton, pos=first.center())
    assert taken == [("", "")]


def test_what_is_learned_while_it_is_open_is_shown(menu: ModelMenu, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: "small" in menu.looked_at)
    menu.looked_at.clear()
    qtbot.waitUntil(lambda: "small" in menu.looked_at)


def test_nothing_shines_through_it(menu: ModelMenu, qtbot: QtBot) -> None:
    picker = ParticipantPicker(menu.language, menu.look, lambda *_pair: ModelFacts(), menu.parentWidget())
    picker.open(menu.parentWidget())
    for popup in (menu, picker):
        drawn = popup.grab().toImage()
        assert drawn.pixelColor(popup.width() // 2, popup.height() - 20) == QColor(menu.look.tokens.surface)
    picker.close()


def test_the_list_of_participants_says_what_a_model_can_do_and_costs(menu: ModelMenu) -> None:
    prices = Price(read=0.000001, written=0.000004)
    known = ModelFacts(images=True, prices=prices)
    picker = ParticipantPicker(menu.language, menu.look, lambda *_pair: known, menu.parentWidget())
    picker.show_models([ModelOffer(on_offer("One", "small"), "small", added=False)])
    picker.open(menu.parentWidget())
    (row,) = picker.findChildren(PickRow)
    assert texts_in(row) == ["images · $1.00 in, $4.00 out / 1M"]
    picker.close()


def wider_than(menu: ModelMenu, offered: Sequence[ProviderStatus]) -> ModelMenu:
    """Return the menu beside the input of a chat."""
    facts = lambda *_pair: ModelFacts()  # noqa: E731
    return ModelMenu(menu.language, menu.look, offered, facts, ("", ""), menu.parentWidget(), more=True)


@pytest.mark.parametrize("by_key", [True, False])
def test_models_of_other_providers_are_asked_for_below_the_list(menu: ModelMenu, by_key: bool) -> None:
    assert not menu.findChild(QPushButton, "model_more").isVisible()
    offered = (on_offer("One", "small"),)
    wider = wider_than(menu, offered)
    asked: list[str] = []
    wider.more_requested.connect(lambda: asked.append("more"))
    wider.chosen.connect(lambda _provider, model: asked.append(model))
    wider.open(menu.parentWidget())
    more = wider.findChild(QPushButton, "model_more")
    assert more.text() == "More models…" and more.isVisible()
    if by_key:
        more.setFocus()
        QTest.keyClick(more, Qt.Key.Key_Return)
    else:
        QTest.mouseClick(more, Qt.MouseButton.LeftButton)
    assert asked == ["more"] and not wider.isVisible()


def test_a_model_is_taken_for_one_message_alone(menu: ModelMenu) -> None:
    wider, once, always = wider_than(menu, (on_offer("One", "small"),)), [], []
    wider.chosen_once.connect(lambda *pair: once.append(pair))
    wider.chosen.connect(lambda *pair: always.append(pair))
    wider.open(menu.parentWidget())
    tick = wider.findChild(QCheckBox, "model_once")
    assert tick.text() == "Only for the next message"
    tick.setFocus()
    QTest.keyClick(tick, Qt.Key.Key_Space)
    QTest.keyClicks(wider.search, "small")
    QTest.keyClick(wider.search, Qt.Key.Key_Return)
    assert (once, always) == ([("one", "small")], [])


def test_escape_leaves_it(menu: ModelMenu, qtbot: QtBot) -> None:
    taken, gone = menu.taken, []
    menu.destroyed.connect(lambda: gone.append(True))
    QTest.keyClick(menu.search, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: bool(gone))
    assert taken == []
