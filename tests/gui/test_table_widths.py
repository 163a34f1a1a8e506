"""Tables use the width there is before they break words."""

import pytest
from PySide6.QtGui import QFont

from app.gui.display.theme import LIGHT
from app.gui.markdown.blocks import TABLE, parse
from app.gui.markdown.document import BlockDocument, TextStyle, shared


@pytest.mark.parametrize(
    ("needs", "widths"),
    [
        ([(20, 50), (20, 50)], [100, 100]),
        ([(50, 50), (100, 500)], [50, 150]),
        ([(50, 100), (100, 250)], [62.5, 137.5]),
        ([(30, 30), (50, 50), (400, 400)], [30, 50, 120]),
        ([(300, 300), (500, 600)], [100, 100]),
    ],
)
def test_words_break_only_where_nothing_else_is_left(needs, widths):
    assert shared(needs, 200) == pytest.approx(widths)


def lines_of(document: BlockDocument) -> list[str]:
    """Return the lines of all cells as they are laid out."""
    found, block = [], document.begin()
    while block.isValid():
        layout, text = block.layout(), block.text()
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            found.append(text[line.textStart() : line.textStart() + line.textLength()].strip())
        block = block.next()
    return [line for line in found if line]


@pytest.mark.parametrize("width", [420, 600, 860])
def test_no_word_of_a_table_is_broken(qapp, width):
    source = (
        "| Provider | Responsibility | What was said about it in the whole discussion |\n|---|---|---|\n"
        "| Anthropic | Interoperability | "
        + "It holds that working from home helps those who already know each other well. " * 3
        + "|\n| 오픈라우터 | 접근성과 개인정보보호 | 여러 제공자의 모델을 한 곳에서 사용할 수 있어요 |\n"
    )
    [table] = [block for block in parse(source) if block.kind == TABLE]
    font = QFont("Inter")
    font.setPixelSize(14)
    document = BlockDocument(TextStyle(font, font, LIGHT), [table])
    words = set(source.split())
    for wide in (width, 380, width):
        document.setTextWidth(wide)
        document.size()
        assert set(" ".join(lines_of(document)).split()) <= words
        assert document.size().width() <= wide + 1
