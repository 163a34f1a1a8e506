"""The first page as in its picture: two lines to write in, menus without icons, and the price at every width."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.gui.pages.first_page import FirstCard
from tests.app_driver import Person, at_window, until
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

SHORT = {"en": ("Answers first", "Verdict"), "ko": ("답변 먼저", "판정")}
WHOLE = {"en": ("How: Answers first", "Ends with: Verdict"), "ko": ("방식: 답변 먼저", "마무리: 판정")}


@pytest.fixture(params=["en", "ko"])
async def person(qapp, data_dir, wire_home, request):  # noqa: F811
    async with at_window(data_dir, language=request.param, size=(1440, 900)) as person:
        yield person


def hint(person: Person):
    return person.window.chat_page.composer._hint


async def test_a_new_session_has_two_lines_to_write_in(person: Person) -> None:
    box = person.find("composer")
    line = box.fontMetrics().lineSpacing()
    for mode in ("chat", "decide", "work"):
        await person.click(f"segment_{mode}")
        assert box.height() - 2 * line in range(17), mode
    high = box.height()
    box.setPlainText("One\ntwo\nthree")
    assert box.height() == high + line


async def test_how_and_ends_are_whole_where_there_is_room(person: Person) -> None:
    await person.click("segment_decide")
    await person.settle(0.1)
    menus = [person.find(name) for name in ("decide_how", "decide_ends")]
    assert tuple(menu.text() for menu in menus) == WHOLE[person.window.language.name]
    for name in ("work_with", "assistant_button"):
        assert not person.find(name).icon().isNull(), name


@pytest.mark.parametrize("beside", [False, True])
async def test_the_price_stands_beside_send_in_a_narrow_window(person: Person, beside: bool) -> None:
    window = person.window
    window.resize(900, 600)
    window.show_side(beside)
    await person.click("segment_decide")
    await person.settle(0.2)
    price, composer = hint(person), window.chat_page.composer
    assert price.isVisible() and price.text() == person.hint()
    count = len(window.controller.panel.setup.setup().participants)
    assert str(count + 1 + 3 * count + 5) in price.text().split("·")[0], "the number of calls"
    right = price.mapTo(composer, QPoint(price.width(), 0)).x()
    send = person.find("send_button").mapTo(composer, QPoint()).x()
    assert 0 < send - right <= 16, "beside Send"
    # What is lacking is said there as well.
    while len(window.first_page.chips._chips) > 1:
        await person.click("model_chip_1")
    await person.settle(0.1)
    assert price.isVisible() and price.text() == window.language("setup.invalid.participants")
    words = tuple(person.find(name).text() for name in ("decide_how", "decide_ends"))
    names = WHOLE[window.language.name]
    assert all(
        short in (whole, part)
        for short, whole, part in zip(words, names, SHORT[window.language.name], strict=True)
    )


async def test_where_there_is_no_room_for_it_at_all_nothing_sticks_out(person: Person) -> None:
    window = person.window
    window.resize(900, 600)
    window.show_side(True)
    window.top_bar.debate_button.setChecked(True)
    await person.click("segment_decide")
    await person.settle(0.2)
    composer = window.chat_page.composer
    assert composer.width() <= window.chat_page.width()
    for name in ("decide_how", "decide_ends", "send_button", "attach_button"):
        part = person.find(name)
        assert part.mapTo(composer, QPoint(part.width(), 0)).x() <= composer.width(), name
    assert person.find("decide_how").accessibleName() == WHOLE[window.language.name][0]


async def test_a_key_begins_a_new_chat(person: Person) -> None:
    await person.click("segment_work")
    person.window.activateWindow()
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(person.window, Qt.Key.Key_O, keys)
    assert person.find("composer_mode").value() == "chat" and person.find("composer").hasFocus()
    assert person.window.language.keys("new_chat") == "Ctrl+Shift+O"


def painted_from(link: QPushButton) -> int:
    """Return where the words of a link begin: the first column that is painted."""
    picture = link.grab().toImage()
    ground, rows = picture.pixel(picture.width() - 1, 1), range(2, picture.height() - 2)
    ratio = picture.devicePixelRatio()
    columns = range(picture.width())
    return round(next(x for x in columns if any(picture.pixel(x, y) != ground for y in rows)) / ratio)


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_the_links_of_the_cards_stand_under_their_texts(qapp, data_dir, language) -> None:
    async with at_window(data_dir, language=language) as person:
        await until(lambda: person.sees("first_better_model"), what="the cards")
        cards = [card for card in person.window.findChildren(FirstCard) if card.isVisible()]
        assert len(cards) == 3
        for card in cards:
            left = card.text.mapTo(card, QPoint()).x()
            links = [link for link in card.findChildren(QPushButton) if link.isVisible()]
            assert links
            for link in links:
                assert abs(link.mapTo(card, QPoint(painted_from(link), 0)).x() - left) <= 1, link.text()
