"""Paragraphs: wrapped whole, with air between the lines."""

import pytest
from PySide6.QtGui import QFontMetrics

from app.gui.widgets.text import Paragraph

TEXT = "Two or more models debate a topic in turns. You can step in at any time."


@pytest.fixture
def paragraph(qtbot):
    result = Paragraph()
    qtbot.addWidget(result)
    font = result.font()
    font.setPixelSize(13)
    result.setFont(font)
    result.setText(TEXT)
    return result


@pytest.mark.parametrize("width", [120, 260, 900])
def test_every_word_is_shown_within_the_width(paragraph, width):
    paragraph.resize(width, paragraph.heightForWidth(width))
    lines = paragraph.lines()
    assert "".join(lines).split() == TEXT.split()
    metrics = QFontMetrics(paragraph.font())
    assert all(metrics.horizontalAdvance(line.strip()) <= width for line in lines)
    per_line = paragraph.heightForWidth(width) / len(lines)
    assert 1.45 <= per_line / 13 <= 1.6


def test_it_takes_the_height_it_needs(paragraph):
    assert paragraph.heightForWidth(120) > paragraph.heightForWidth(260) > paragraph.heightForWidth(900)
    assert paragraph.accessibleName() == TEXT


def test_a_word_longer_than_a_line_is_broken_and_not_cut(paragraph):
    path = "/home/ada/" + "a-very-long-folder/" * 8 + "notes.md"
    paragraph.setText(f"{path} is not there.")
    paragraph.resize(120, paragraph.heightForWidth(120))
    lines = paragraph.lines()
    assert "".join(lines).startswith(path)
    metrics = QFontMetrics(paragraph.font())
    assert all(metrics.horizontalAdvance(line.strip()) <= 120 for line in lines)


def test_a_line_end_begins_a_line(paragraph):
    paragraph.setText("Made:\na.md\nb.md")
    paragraph.resize(260, paragraph.heightForWidth(260))
    assert [line.strip() for line in paragraph.lines()] == ["Made:", "a.md", "b.md"]
