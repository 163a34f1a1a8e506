"""The look: every token is used rightly, text can be read, icons follow the theme."""

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QApplication

from app.gui.style import Look, style_sheet
from app.gui.theme import DARK, LIGHT
from app.gui.widgets.controls import icon_button

ROOT = Path(__file__).parent.parent.parent
RESOURCES = ROOT / "resources"
SHEET = (RESOURCES / "app.qss").read_text("utf-8")


@pytest.fixture
def look(qapp):
    result = Look(QApplication.instance(), RESOURCES, "light")
    yield result
    result.deleteLater()


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_the_sheet_has_only_tokens_that_exist(tokens):
    assert "@" not in style_sheet(SHEET, tokens)


def test_an_unknown_token_is_refused():
    with pytest.raises(KeyError):
        style_sheet("QLabel { color: @nosuch; }", LIGHT)


def luminance(name: str) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

    colour = QColor(name)
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_that_must_be_read_has_contrast(tokens):
    for ground in (tokens.bg, tokens.side, tokens.surface, tokens.hover):
        for text in (tokens.text, tokens.text_2):
            assert contrast(text, ground) >= 4.5, (text, ground)
    for tone in ("accent", "ok", "warn", "error"):
        ground = getattr(tokens, f"{tone}_bg")
        assert contrast(getattr(tokens, tone), ground) >= 4.5, tone
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5


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


def test_themes_differ_in_every_colour_but_by_intent():
    same = [field.name for field in fields(LIGHT) if getattr(LIGHT, field.name) == getattr(DARK, field.name)]
    assert same == []
    assert replace(LIGHT, dark=True) != LIGHT


def test_more_speakers_than_colours_get_colours_of_their_own():
    assert len({LIGHT.speaker(place) for place in range(8)}) == 8
