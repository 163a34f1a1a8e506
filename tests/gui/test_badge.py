"""Chips: the whole text where there is room, the short one where there is less, never half a letter."""

from pathlib import Path

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from app.gui.display.appearance import Look
from app.gui.widgets.badge import Chip, initials

RESOURCES = Path(__file__).parents[2] / "resources"
LONG, SHORT = "≥ $0.0007 · 93 tokens", "≥ $0.0007"


@pytest.fixture
def chip(qtbot):
    look = Look(QApplication.instance(), RESOURCES, "light")
    result = Chip(look, icon="coins")
    qtbot.addWidget(result)
    result.set_text(LONG, short=SHORT)
    yield result
    look.deleteLater()


def test_the_short_text_comes_before_an_ellipsis(chip):
    chip.resize(chip.sizeHint())
    assert chip.shown_text() == LONG
    chip.resize(chip.sizeHint().width() - 4, 22)
    assert chip.shown_text() == SHORT
    chip.resize(chip.minimumSizeHint())
    assert chip.shown_text() == SHORT


def test_what_is_shown_fits(chip):
    for width in range(40, 260, 3):
        chip.resize(width, 22)
        shown = chip.shown_text()
        assert QFontMetrics(chip._chip_font()).horizontalAdvance(shown) <= width - 36


def test_badges_tell_names_with_the_same_letter_apart():
    assert initials(["Browser", "Backend", "Checker"]) == ["Br", "Ba", "C"]
    assert initials(["Zyx QA", "Zyx Wvu", "지민", "지수"]) == ["Zq", "Zw", "지민", "지수"]
    assert initials(["Ada", "Ada"]) == ["A", "A"]
