"""The look: every token is used rightly; theme, text size and motion are followed, icons too."""

import gc
import re
from dataclasses import fields, replace
from pathlib import Path
from weakref import ref

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QPushButton, QStyle, QVBoxLayout, QWidget

from app.core.texts import Texts
from app.gui.display.appearance import Look, sized, style_sheet, tall
from app.gui.display.theme import DARK, LIGHT
from app.gui.transcript.painted_row import animated
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.controls import icon_button
from app.gui.widgets.text import Paragraph
from tests.app_driver import until
from tests.gui.test_transcript_view import SESSION, many

ROOT = Path(__file__).parent.parent.parent
RESOURCES = ROOT / "resources"
SHEET = (RESOURCES / "app.qss").read_text("utf-8")


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_the_sheet_has_only_tokens_that_exist(tokens):
    assert "@" not in style_sheet(SHEET, tokens)


def test_an_unknown_token_is_refused():
    with pytest.raises(KeyError):
        style_sheet("QLabel { color: @nosuch; }", LIGHT)


def test_the_theme_is_switched_while_the_window_is_open(look):
    heard = []
    look.changed.connect(lambda: heard.append(look.tokens.dark))
    look.choose("dark")
    look.choose("dark")
    assert heard == [True]
    assert QApplication.palette().color(QPalette.ColorRole.Window).name() == DARK.bg.lower()
    assert DARK.surface in QApplication.instance().styleSheet()
    look.choose("light")
    assert QApplication.palette().color(QPalette.ColorRole.Window).name() == LIGHT.bg.lower()


async def test_what_is_hidden_wears_the_new_theme_too(look, qtbot):
    shown, hidden = QLabel("x"), QLabel("x")
    for label in (shown, hidden):
        label.setProperty("kind", "warn")
        qtbot.addWidget(label)
        label.show()
    hidden.hide()
    look.choose("dark")

    def colour(label):
        return label.palette().color(QPalette.ColorRole.WindowText).name()

    assert colour(shown) == DARK.warn.lower()
    await until(lambda: colour(hidden) == DARK.warn.lower())
    assert hidden.font() == shown.font()


@pytest.mark.parametrize("percent", [85, 115, 130, 150])
def test_every_text_grows_and_shrinks_while_the_window_is_open(look, qtbot, percent):
    label, box = QLabel("x"), QPushButton("x")
    label.setProperty("kind", "hint")
    view = TranscriptView(look.tokens, Texts.load(RESOURCES / "i18n", "en"))
    for widget in (label, box, view):
        qtbot.addWidget(widget)
        widget.show()
    look.changed.connect(lambda: view.dress(look.tokens, view.canvas.style.texts))
    view.feed.show_session(SESSION, many(9))
    plain = view.canvas.scroller.heights.total
    widths = {text: QFontMetrics(text.font()).horizontalAdvance("words") for text in (label, box)}
    look.choose_size(percent)
    for text, width in widths.items():
        grown = QFontMetrics(text.font()).horizontalAdvance("words") / width
        assert grown == pytest.approx(percent / 100, abs=0.09)
    assert view.canvas.style.font.pixelSize() == round(14 * percent / 100)
    assert (view.canvas.scroller.heights.total > plain) is (percent > 100)
    assert sized(QFont(), 13).pixelSize() == round(13 * round(14 * percent / 100) / 14)
    assert tall(20) == (20 if percent < 100 else round(20 * round(14 * percent / 100) / 14))
    look.choose_size(100)
    assert view.canvas.scroller.heights.total == plain


def test_motion_is_what_was_chosen_or_what_the_system_says(look, qtbot):
    view = TranscriptView(look.tokens, Texts.load(RESOURCES / "i18n", "en"))
    qtbot.addWidget(view)
    view.show()

    def duration() -> int:
        return view.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, view)

    assert look.moves and duration() > 0 and animated(view)
    look.choose_motion("reduced")
    assert not look.moves and duration() == 0 and not animated(view)
    look.choose_motion("system")
    assert look.moves
    look._desktop.reduced_motion = True
    look._desktop.changed.emit()
    assert not look.moves and duration() == 0
    look.choose_motion("full")
    assert look.moves and duration() > 0


def colour_of(icon: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal, state: QIcon.State = QIcon.State.Off) -> str:
    picture = icon.pixmap(QSize(17, 17), mode, state).toImage()
    strongest = max(
        (picture.pixelColor(x, y) for x in range(17) for y in range(17)), key=lambda pixel: pixel.alpha()
    )
    return strongest.name()


def test_an_icon_follows_theme_and_state(look):
    button = icon_button(look, "plus")
    assert colour_of(button.icon()) == LIGHT.text_2.lower()
    look.choose("dark")
    assert colour_of(button.icon()) == DARK.text_2.lower()
    assert colour_of(button.icon(), QIcon.Mode.Disabled) == DARK.text_3.lower()
    assert colour_of(button.icon(), state=QIcon.State.On) == DARK.accent.lower()
    button.deleteLater()


def test_every_icon_the_window_names_is_there():
    named = set()
    for path in (ROOT / "app" / "gui").rglob("*.py"):
        source = path.read_text("utf-8")
        named |= set(re.findall(r"""(?:dress\((?:look|foot), |picture\()"([a-z0-9-]+)\"""", source))
        named |= set(re.findall(r"""icon_button\((?:self\._)?look, "([a-z0-9-]+)\"""", source))
        named |= set(re.findall(r"""icon="([a-z0-9-]+)\"""", source))
    assert len(named) > 10
    for name in named:
        assert (RESOURCES / "icons" / f"{name}.svg").is_file(), name


@pytest.mark.parametrize("shown", ["unseen", "drawn", "disabled"])
def test_a_button_outlives_the_look_its_icon_came_from(qapp, qtbot, shown):
    look = Look(qapp, RESOURCES, "light")
    widget = QPushButton()
    qtbot.addWidget(widget)
    widget.setIcon(look.icon("download"))
    widget.setEnabled(shown != "disabled")
    if shown != "unseen":
        assert not widget.icon().pixmap(15, 15).isNull()
    gone = ref(look)
    del look
    gc.collect()
    assert gone() is None
    assert widget.icon().pixmap(15, 15).isNull()
    widget.grab()


def test_themes_differ_in_every_colour_but_by_intent():
    same = [field.name for field in fields(LIGHT) if getattr(LIGHT, field.name) == getattr(DARK, field.name)]
    assert same == []
    assert replace(LIGHT, dark=True) != LIGHT


def test_more_speakers_than_colours_get_colours_of_their_own():
    assert len({LIGHT.speaker(place) for place in range(8)}) == 8


@pytest.mark.parametrize("name", ["QLabel", "QMenu", "QTipLabel", "QMessageBox", "QListView", "QHeaderView"])
def test_a_font_that_the_platform_sets_for_one_class_gives_way(look, name):
    # What the gtk3 platform theme does for labels and buttons, and Windows for menus and message boxes.
    QApplication.setFont(QFont("Courier"), name)
    assert QApplication.font(name).family() == "Courier"
    look.choose("dark")
    assert QApplication.font(name) == QApplication.font()
    look.choose("light")


def test_what_is_shown_right_after_another_theme_was_chosen_has_its_colours(look, qtbot):
    window, hidden = QWidget(), Paragraph("setting")
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(hidden)
    window.show()
    hidden.hide()
    look.choose("dark")
    hidden.show()
    assert hidden.palette().color(hidden.foregroundRole()) == QColor(DARK.text)
    look.choose("light")


async def test_rings_are_drawn_after_a_key_and_not_after_a_click(look, qtbot):
    window = QWidget()
    first, second, names = QPushButton("One"), QPushButton("Two"), QListWidget()
    names.addItems(["Three", "Four"])
    inside = QVBoxLayout(window)
    for one in (first, second, names):
        inside.addWidget(one)
    qtbot.addWidget(window)
    window.resize(300, 200)
    window.show()
    window.activateWindow()
    await until(lambda: QApplication.focusWindow() is window.windowHandle())

    def ringed(widget):
        return look.tokens.accent.lower() in {
            picture.pixelColor(x, y).name()
            for picture in (widget.grab().toImage(),)
            for x in range(picture.width())
            for y in range(picture.height())
        }

    def click(widget):
        place = widget.mapTo(window, QPoint(20, 14))
        QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=place)

    click(first)
    assert first.hasFocus()
    assert not ringed(first)
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Shift)
    assert not ringed(first), "Shift alone is part of a click"
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Tab)
    assert second.hasFocus()
    assert ringed(second)
    assert not ringed(first)
    click(names)
    assert names.hasFocus()
    assert not ringed(names)
    assert not ringed(second)
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Down)
    assert ringed(names), "the focused row has a ring as soon as a key is used there"
    click(names)
    assert not ringed(names)


@pytest.mark.parametrize("kind", ["", "primary", "plain", "link", "chip", "choice", "tab", "segment"])
def test_a_ring_changes_no_size(look, qtbot, kind):
    button = QPushButton("One")
    button.setProperty("kind", kind)
    button.setCheckable(True)
    button.setChecked(True)
    qtbot.addWidget(button)
    button.ensurePolished()
    before = button.sizeHint()
    button.setProperty("ring", True)
    button.style().unpolish(button)
    button.style().polish(button)
    assert button.sizeHint() == before
