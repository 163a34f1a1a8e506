"""Drop-down lists: opened by mouse and keyboard, readable in both themes, inside the screen."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCompleter, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.gui.display.appearance import Language, Look
from app.gui.widgets.controls import Choice
from app.gui.widgets.model_choice import ModelChoice
from tests.builders import on_offer
from tests.gui.test_contrast import READ, contrast

# The platform of the tests has no real pop-ups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

RESOURCES = Path(__file__).parents[2] / "resources"
MODELS = tuple(f"vendor-{number % 7}/Model-{number:03}" for number in range(60))


class Page(QWidget):
    """A plain list, a model's list, and a field with completions as Qt's own dialogs have them."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.look = Look(QApplication.instance(), RESOURCES, theme)
        self.plain = Choice(self.look)
        self.plain.addItems(["one", "two", "three"])
        self.model = ModelChoice(Language(RESOURCES / "i18n", "en"), self.look)
        self.model.set_providers([on_offer("Router", *MODELS)])
        self.field = QLineEdit()
        self.field.setCompleter(QCompleter(["alpha", "alphabet"], self.field))
        column = QVBoxLayout(self)
        for part in (self.plain, self.model, self.field):
            column.addWidget(part)


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[Page]:
    result = Page(request.param)
    qtbot.addWidget(result)
    result.resize(400, 200)
    result.show()
    qtbot.waitExposed(result)
    result.activateWindow()
    yield result
    result.look.deleteLater()


def readable(view: QWidget, page: Page) -> None:
    """Fail unless a list stands on the theme's surface and its letters can be read there."""
    picture = view.grab().toImage()
    pixels = [picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height())]
    assert all(pixel.alpha() == 255 for pixel in pixels)
    shades = Counter(pixel.name() for pixel in pixels)
    ground = shades.most_common(1)[0][0]
    assert ground == QColor(page.look.tokens.surface).name()
    assert max(contrast(shade, ground) for shade, count in shades.items() if count > 5) >= READ


def chevron(choice: Choice) -> QPoint:
    return QPoint(choice.width() - 14, choice.height() // 2)


@pytest.mark.parametrize("name", ["plain", "model"])
def test_a_list_opens_by_mouse(page: Page, name: str) -> None:
    choice: Choice = getattr(page, name)
    QTest.mouseClick(choice, Qt.MouseButton.LeftButton, pos=chevron(choice))
    assert choice.view().isVisible()
    readable(choice.view().window(), page)
    choice.view().setCurrentIndex(choice.model().index(2, 0))
    QTest.keyClick(choice.view(), Qt.Key.Key_Return)
    assert not choice.view().isVisible()
    assert choice.currentIndex() == 2


@pytest.mark.parametrize("name", ["plain", "model"])
def test_a_list_opens_by_keyboard(page: Page, name: str) -> None:
    choice: Choice = getattr(page, name)
    choice.setFocus()
    QTest.keyClick(choice, Qt.Key.Key_F4)
    assert choice.view().isVisible()
    readable(choice.view().window(), page)
    QTest.keyClick(choice.view(), Qt.Key.Key_Escape)
    assert not choice.view().isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model", "field"])
def test_completions_stand_on_a_ground(page: Page, qtbot: QtBot, name: str) -> None:
    field = page.model.lineEdit() if name == "model" else page.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "al" if name == "field" else "model-0")
    popup = field.completer().popup()
    qtbot.waitUntil(popup.isVisible)
    readable(popup, page)
    popup.hide()


def test_what_is_chosen_is_written_whole_beside_the_chevron(page: Page) -> None:
    picture = page.plain.grab().toImage()
    written = [
        x
        for x in range(4, page.plain.width() - 26)
        for y in range(4, page.plain.height() - 4)
        if contrast(picture.pixelColor(x, y).name(), page.look.tokens.surface) > READ
    ]
    wide = page.plain.fontMetrics().horizontalAdvance("one")
    assert wide * 0.7 < max(written) - min(written) < wide + 2


def test_a_list_at_the_edge_stays_on_the_screen(page: Page) -> None:
    room = page.screen().availableGeometry()
    page.plain.addItem("a name of a model that nobody would ever write down " * 9)
    page.move(room.right() - 120, room.bottom() - page.height())
    for choice in (page.plain, page.model):
        choice.showPopup()
        assert room.contains(choice.view().window().geometry())
        choice.hidePopup()
