"""Formulas in the transcript: painted, found, selected, copied and read out; what cannot be drawn is its source."""

import re
from collections.abc import Sequence
from pathlib import Path
from time import thread_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage, QPainter

from app import formulas
from app.core.message import MessageState
from app.core.texts import Texts
from app.formulas import draw, speech
from app.gui.display.theme import DARK, LIGHT
from app.gui.markdown.blocks import StreamingBlocks, literal_blocks, parse
from app.gui.markdown.document import OBJECT, Utf16Places
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.row_text import Range
from app.gui.transcript.selection import TextPlace
from app.gui.transcript.transcript_view import TranscriptView
from tests.gui.shown_view import texts
from tests.gui.test_transcript_view import SESSION, said
from tests.repeats import examples

I18N = Path("resources/i18n")
TEXT = "값은 😀 $x^2$이고\n\n$$\\frac{a}{b}$$\n\n끝 \\(y\\)"


def shown(view: TranscriptView, text: str) -> PaintedRow:
    """Show one message and return its row."""
    view.feed.show_session(SESSION, [said(0, text)])
    return view.canvas.row(0)


def documents(row: PaintedRow) -> str:
    """Return the texts of the row's documents."""
    return "\n".join(
        piece.document.toPlainText() for piece in row.text.segments if piece.document is not None
    )


def painted(row: PaintedRow, ratio: float = 1.0, ranges: Sequence[Range] = ()) -> QImage:
    """Return the pixels of a row."""
    image = QImage(round(700 * ratio), round(row.height * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(row.style.tokens.bg))
    painter = QPainter(image)
    row.paint(painter, QRect(0, 0, 700, row.height), ranges)
    painter.end()
    return image


def ink(image: QImage, background: str) -> list[tuple[int, int]]:
    """Return the places that are not background."""
    empty = QColor(background).rgb()
    return [(x, y) for y in range(image.height()) for x in range(image.width()) if image.pixel(x, y) != empty]


def test_a_formula_is_one_character_of_its_document_and_its_source_in_the_row(view: TranscriptView) -> None:
    row = shown(view, TEXT)
    assert documents(row).replace("\u2029", "\n") == f"값은 😀 {OBJECT}이고\n{OBJECT}\n끝 {OBJECT}"
    assert row.text.plain_text == "값은 😀 $x^2$이고\n$$\\frac{a}{b}$$\n끝 \\(y\\)"


@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_a_formula_is_painted_in_the_colour_of_the_text(view: TranscriptView, ratio: float, tokens) -> None:
    view.dress(tokens, view.canvas.style.texts)
    row = shown(view, "$\\rule{3em}{1em}$")
    line, image = row.text.position_rect(0), painted(row, ratio)
    x, rows = (
        round((line.left() + 20) * ratio),
        range(round(line.top() * ratio), round(line.bottom() * ratio)),
    )
    colours = [image.pixelColor(x, y).name() for y in rows]
    assert colours.count(QColor(tokens.text).name()) > 11 * ratio


def test_a_marked_formula_is_painted_as_dark_as_others(view: TranscriptView) -> None:
    row = shown(view, "$\\rule{3em}{1em}$")
    line, image = row.text.position_rect(0), painted(row, ranges=[Range(0, 9, "#0000ff", "#ffffff")])
    colours = [image.pixelColor(line.left() + 20, y).name() for y in range(line.top(), line.bottom())]
    assert colours.count("#ffffff") > 11 and "#0000ff" in colours


def test_a_tall_formula_moves_the_lines_and_touches_neither(view: TranscriptView) -> None:
    words = "말 " * 300
    plain = shown(view, f"{words} {words}").height
    tall = shown(view, f"{words}$\\begin{{pmatrix}}1\\\\2\\\\3\\end{{pmatrix}}$ {words}")
    assert tall.height > plain + 25
    # The lines over and under it are free of it.
    piece = tall.text.segments[0]
    at = tall.text.plain_text.index("$")
    line = piece.position_rect(at)
    rows = {y for x, y in ink(painted(tall), LIGHT.bg) if line.left() <= x <= line.left() + 20}
    inside = [y for y in rows if line.top() <= y <= line.bottom()]
    assert max(inside) - min(inside) > 40
    assert line.top() not in rows and line.bottom() not in rows


def test_a_formula_in_a_line_stands_on_its_base_line(view: TranscriptView) -> None:
    beside = "$\\mathrm{x}$ $a \\ne 0$ $x^2$ $\\frac{a}{b}$ $\\begin{pmatrix}1\\\\2\\end{pmatrix}$"
    for text in (
        "xx $\\mathrm{x}$",
        f"xx {beside}",
        "| a |\n|---|\n| xx $\\mathrm{x}$ |",
        "# xx $\\mathrm{x}$",
    ):
        row = shown(view, text)
        found = row.text.plain_text.index("$")
        line = row.text.position_rect(found)
        places = [(x, y) for x, y in ink(painted(row), LIGHT.bg) if line.top() <= y < line.bottom()]
        word = max(y for x, y in places if line.left() - 22 < x < line.left() - 4)
        assert abs(word - max(y for x, y in places if line.left() <= x < line.left() + 12)) <= 1, text


def test_a_wide_formula_is_made_as_small_as_the_column(view: TranscriptView) -> None:
    row = shown(view, f"$${'abcdefgh+' * 20}$$")
    assert max(x for x, _ in ink(painted(row), LIGHT.bg)) <= row.right


def test_what_is_found_in_the_source_is_marked(view: TranscriptView) -> None:
    row = shown(view, TEXT)
    view.search.find("frac")
    while view.search.active:
        view.search.finder.advance(1)
        view.search._go_on()
    (marked,) = view.search.ranges(row)
    assert row.text.plain_text[marked.start : marked.end] == "frac"
    piece = row.text.segments[0]
    assert piece._selection(marked).cursor.selectedText() == OBJECT


def test_a_selection_is_copied_as_source(view: TranscriptView) -> None:
    row = shown(view, TEXT)
    view.select_all()
    assert view.selected_text(markdown=True) == TEXT
    assert view.selected_text(markdown=False) == row.text.plain_text
    start = row.text.plain_text.index("$x")
    view.selection.start(TextPlace(row.row_id, start))
    view.selection.extend(TextPlace(row.row_id, row.text.plain_text.index("\n끝")))
    assert view.selected_text(markdown=True) == "$x^2$이고\n\n$$\\frac{a}{b}$$"


def test_the_mouse_is_before_a_formula_or_behind_it(view: TranscriptView) -> None:
    row = shown(view, "a $x^2+y^2+z^2$ b")
    start, end = 2, 2 + len("$x^2+y^2+z^2$")
    places = set()
    line = row.text.position_rect(start)
    for x in range(line.left() - 20, row.text.position_rect(end).left() + 20):
        point = line.center()
        point.setX(x)
        places.add(row.text.position_at(point))
    assert not places & set(range(start + 1, end)) and {start, end} <= places


def test_a_screen_reader_says_a_formula_in_the_language_of_the_window(view: TranscriptView) -> None:
    for language, words in (("ko", "b 분의 a"), ("en", "a over b")):
        view.dress(view.canvas.style.tokens, Texts.load(I18N, language))
        row = shown(view, "so $\\frac{a}{b}$ and `$x$`")
        assert words in row.describe() and "frac" not in row.describe() and "`" not in row.describe()


@pytest.mark.parametrize(
    "tex",
    [
        "x" * 20_000,
        "{" * 64 + "x" + "}" * 64,
        "\\def\\a{b}\\a",
        "\\hspace{99999cm}x",
        "\ud800",
        "\\frac" * 800,
    ],
)
def test_what_would_take_long_is_shown_as_its_source(view: TranscriptView, tex: str) -> None:
    started = thread_time()
    assert draw(tex, display=True) is None or tex.startswith("\\frac")
    assert speech(tex, "ko") == tex or tex.startswith("\\frac")
    row = shown(view, f"a ${tex}$ b")
    assert row.height < 20_000
    assert thread_time() - started < 5


def test_the_tip_of_a_source_says_why_it_is_not_drawn(view: TranscriptView) -> None:
    row = shown(view, "a $x$ b $\\def\\a{b}$ c")
    places = [row.text.plain_text.index(mark) for mark in ("$x", "$\\def", " c")]
    tips = [row.tip_at(row.text.position_rect(place).center() + QPoint(3, 0)) for place in places]
    assert tips == ["", texts()("transcript.formula_not_drawn"), ""]


def test_only_so_many_formulas_of_a_message_are_drawn(view: TranscriptView) -> None:
    row = shown(view, "$x$ " * 3_000)
    assert 0 < documents(row).count(OBJECT) <= 400


def test_without_the_library_the_source_is_shown(
    view: TranscriptView, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw.cache_clear()
    monkeypatch.setattr(formulas, "_library", lambda: None)
    try:
        assert documents(shown(view, TEXT)).count(OBJECT) == 0
        assert "$x^2$" in documents(view.canvas.row(0)) and "$x^2$" in view.canvas.row(0).describe()
    finally:
        draw.cache_clear()


@pytest.mark.threat("T9")
@pytest.mark.parametrize(
    "tex",
    [
        "\\href{javascript:alert(1)}{x}",
        "\\text{<script>alert(1)</script>&\"'}",
        '\\color{red"onload=alert(1)}{x}',
        "\\color{url(http://127.0.0.1)}{x}",
        "\\includegraphics{file:///etc/passwd}",
        '\\text{가<나&다"}',
    ],
)
def test_a_picture_has_shapes_and_letters_only(tex: str) -> None:
    formula = draw(tex, display=True)
    assert formula is not None
    names = set(re.findall(r"<(\w+)", formula.svg))
    assert names <= {"svg", "defs", "path", "g", "use", "rect", "text"}
    assert not re.search(r"script|onload|http:(?!//www.w3.org/2000/svg)|file:|javascript|url\(", formula.svg)
    assert all(
        re.fullmatch(r"&#\d+;", letter) for letter in re.findall(r"<text[^>]*>(.*?)</text>", formula.svg)
    )


@pytest.mark.parametrize(
    ("tex", "letters"),
    [
        ("\\text{속도 = 거리}", "속도거리"),
        ("\\sqrt[\\text{지}]{\\text{수}}", "지수"),
        ("\\overset{\\text{위}}{\\text{밑}}", "밑위"),
        ("\\xrightarrow[\\text{아}]{\\text{위}}", "위아"),
        ("x_{\\text{가나}}^{\\text{가다}}", "가다가나"),
    ],
)
def test_korean_letters_stand_in_their_places(tex: str, letters: str) -> None:
    formula = draw(tex, display=True)
    assert formula is not None
    assert "".join(chr(int(number)) for number in re.findall(r"&#(\d+);", formula.svg)) == letters


PIECES = (
    "$x$",
    "$$",
    "\\[",
    "\\]",
    "\\(",
    "\\)",
    "\\frac{a}{b}",
    "a_1 ",
    "가",
    "😀",
    "\n",
    "\n\n",
    "- ",
    "`",
    "> ",
    "|",
    "$",
)
once = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@once
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.lists(st.integers(0, 200), max_size=8))
def test_streamed_formulas_are_those_of_the_whole_text(text: str, cuts: list[int]) -> None:
    stream = StreamingBlocks()
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    for start, end in zip(places, places[1:], strict=False):
        stream.feed(text[start:end])
    stream.finish()
    assert stream.blocks == parse(text)


def test_an_open_formula_is_its_source_until_it_is_closed(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "", state=MessageState.STREAMING)])
    row = view.canvas.row(0)
    text = "so\n\n$$\na_1 *b*\n- c\n= d\n"
    heights = []
    for end in range(1, len(text) + 1):
        row.feed(text[:end])
        heights.append(row.height)
        assert all(block.kind == "paragraph" and not block.marker for block in row.text.blocks)
    assert heights == sorted(heights)
    assert documents(row).endswith("$$\na_1 *b*\n- c\n= d")
    row.feed(text + "$$")
    assert documents(row).endswith(OBJECT)


def test_a_person_writes_formulas_between_double_dollars_only() -> None:
    blocks = literal_blocks("a $x$ \\(y\\)\n$$\nz\n$$\n*b* $$w$$ `$$` kill $$; echo $$")
    assert [(block.kind, block.text) for block in blocks] == [
        ("literal", "a $x$ \\(y\\)"),
        ("literal", "$$\nz\n$$"),
        ("literal", "*b* $$w$$ `$$` kill $$; echo $$"),
    ]
    assert [span.text for block in blocks for span in block.spans if span.style] == ["$$\nz\n$$", "$$w$$"]


@given(st.lists(st.sampled_from(("a", "😀", "가", "[f]", "[😀f]")), max_size=12))
@once
def test_places_in_text_and_document_belong_together(pieces: list[str]) -> None:
    text, document, objects = "", "", []
    both = [(0, 0)]
    for piece in pieces:
        if piece.startswith("["):
            objects.append((len(text), len(text) + len(piece)))
        text += piece
        document += OBJECT if piece.startswith("[") else piece
        both.append((len(text), len(document.encode("utf-16-le")) // 2))
    places = Utf16Places(text, objects)
    assert [(places.from_qt(in_document), in_document) for _, in_document in both] == both
    assert [(in_text, places.to_qt(in_text)) for in_text, _ in both] == both
    for (start, end), begin, stop in (
        (each, places.to_qt(each[0]), places.to_qt(each[1])) for each in objects
    ):
        assert {places.to_qt(at) for at in range(start + 1, end)} == {begin}
        assert {places.to_qt(at, end=True) for at in range(start + 1, end)} == {stop}


def test_marks_cover_a_formula_as_a_whole(view: TranscriptView) -> None:
    row = shown(view, "a $x^2$ b")
    piece = row.text.segments[0]
    assert piece._selection(Range(3, 4, "red")).cursor.selectedText() == OBJECT
    assert piece._selection(Range(0, 3, "red")).cursor.selectedText() == f"a {OBJECT}"
