"""Places in texts with characters of two UTF-16 code units: found, selected, copied and streamed as without them."""

import itertools
import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.message import MessageState
from app.gui.markdown.blocks import TABLE, parse
from app.gui.markdown.document import Utf16Places, units
from app.gui.pages.chat.message_box import MessageBox
from app.gui.transcript.painted_row import PaintedRow, thought_blocks
from app.gui.transcript.row_text import Range
from app.gui.transcript.selection import TextPlace
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.text import Paragraph
from tests.gui.test_transcript_view import SESSION, said
from tests.repeats import examples

PIECES = (
    *("😀", "💡📌", "👩\u200d👩\u200d👧", "𝒳y", "e\u0301", "\u1112\u1161\u11ab", "축하합니다", "근무"),
    *(
        "word",
        "\ud83d",
        "\ude00",
        "**굵게**",
        "`코드 😀`",
        " ",
        " ",
        "\n",
        "\n\n",
        "\n- ",
        "\n- [x] ",
        "\n1. ",
    ),
    *("\n```py\nx = '😀' # 말\n```\n", "\n\n| 가 😀 | b |\n|---|---|\n| 📌 | 넷 |\n\n", "\n> "),
)
documents = st.lists(st.sampled_from(PIECES), min_size=1, max_size=24).map("".join)
cuts = st.lists(st.integers(0, 10_000), max_size=12)
once = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def shown(row: PaintedRow) -> list[str]:
    """Return the texts that stand in the row's documents."""
    return [piece.document.toPlainText() for piece in row.text.segments if piece.document is not None]


def in_documents(row: PaintedRow, start: int, end: int) -> str:
    """Return what is painted as selected where a stretch of the plain text is."""
    parts = []
    for piece in row.text.segments:
        if piece.document is not None and start < piece.start + piece.length + 1 and end > piece.start:
            chosen = piece._selection(Range(start, end, "red"))
            parts.append(chosen.cursor.selectedText())
    return "\n".join(parts).replace("\u2029", "\n").replace("\u2028", "\n")


@settings(max_examples=examples(200), deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_places_are_those_of_the_encoded_text(text: str) -> None:
    places = Utf16Places(text)
    ends = [len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in range(len(text) + 1)]
    assert [places.to_qt(end) for end in range(len(text) + 1)] == ends
    assert [places.from_qt(end) for end in ends] == list(range(len(text) + 1))
    assert units(text) == ends[-1]
    inside = [(begin + 1, number) for number, begin in enumerate(ends[:-1]) if begin + 1 not in ends]
    assert [places.from_qt(place) for place, _ in inside] == [number for _, number in inside]


@once
@given(documents, cuts)
def test_a_streamed_text_stands_as_one_shown_whole(view: TranscriptView, text: str, cuts: list[int]) -> None:
    view.feed.show_session(SESSION, [said(0, "", state=MessageState.STREAMING)])
    row = view.canvas.row(0)
    for end in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        row.feed(text[:end])
        expected = [piece.replace("\u2028", "\n") for piece in _texts(row)]
        assert shown(row) == expected
    row.show(said(0, text), replace(row.context, text=text))
    view.feed.show_session(SESSION, [said(0, text)])
    assert shown(row) == shown(view.canvas.row(0))
    view.grab()


def _texts(row: PaintedRow) -> list[str]:
    pieces = [piece for piece in row.text.segments if piece.document is not None]
    return [
        "\n" + piece.blocks[0].text.replace("\t", "\n") + "\n"
        if piece.kind == TABLE
        else "\n".join(block.text for block in piece.blocks)
        for piece in pieces
    ]


@once
@given(documents, st.sampled_from(("근무", "축하합니다", "word", "코드", "😀", "\u1112\u1161\u11ab")))
def test_what_is_found_is_marked_and_copied(view: TranscriptView, text: str, words: str) -> None:
    text += f" 😀 {words}"
    view.feed.show_session(SESSION, [said(0, text)])
    view.search.finder.search(words)
    while view.search.finder.advance(1.0):
        pass
    row = view.canvas.row(0)
    plain = row.text.plain_text
    hits = view.search.finder.in_row("m0")
    assert [hit.start for hit in hits] == [match.start() for match in re.finditer(words, plain)]
    for hit in hits:
        assert in_documents(row, *(row.range_of(hit) or (0, 0))) == words
        view.selection.start(TextPlace("m0", hit.start))
        view.selection.extend(TextPlace("m0", hit.end))
        assert re.sub(r"^(☑|•|\d+\.)? *", "", view.selected_text(markdown=False)) == words


@once
@given(documents)
def test_any_stretch_is_painted_as_it_reads(view: TranscriptView, text: str) -> None:
    view.feed.show_session(SESSION, [said(0, text)])
    row = view.canvas.row(0)
    plain = row.text.plain_text
    for piece in row.text.segments:
        for start, end in itertools.combinations(range(piece.start, piece.start + piece.length + 1, 3), 2):
            if piece.kind != TABLE and piece.document is not None:
                assert in_documents(row, start, end) == plain[start:end].replace("\u2028", "\n")


@once
@given(documents)
def test_a_word_under_the_mouse_is_the_word(view: TranscriptView, text: str) -> None:
    view.feed.show_session(SESSION, [said(0, f"{text} 근무 😀 끝")])
    row = view.canvas.row(0)
    for match in re.finditer(r"(?<!\w)(근무|word|축하합니다)(?!\w)", row.text.plain_text):
        begin, end = row.position_rect(match.start()), row.position_rect(match.end())
        if begin.top() == end.top():
            middle = QPoint((begin.left() + end.left()) // 2, begin.center().y())
            assert row.word_at(row.text.position_at(middle)) == match.span()


def test_a_double_click_behind_emoji_takes_the_word(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "😀💡📌 원격 **근무** 축하합니다")])
    row, rect = view.canvas.row(0), view.message_rect("m0")
    assert rect is not None
    for word in ("근무", "축하합니다"):
        place = row.position_rect(row.text.plain_text.index(word) + 1)
        QTest.mouseDClick(
            view.viewport(),
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
            place.center() + rect.topLeft(),
        )
        assert view.selected_text(markdown=False) == word


def test_boxes_of_tasks_behind_emoji_stand_before_their_lines(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "위 😀💡📌\n\n- [x] 하나 😀💡📌\n- [ ] 둘 😀💡📌\n- [x] 셋")])
    row = view.canvas.row(0)
    piece = row.text.segments[0]
    boxes = [piece.position_rect(position) for position, _ in piece._tick_boxes()]
    lines = [row.position_rect(row.text.plain_text.index(word)) for word in ("하나", "둘", "셋")]
    assert len(boxes) == len(lines)
    for box, line in zip(boxes, lines, strict=True):
        # A font with emoji can make a line higher than its words are.
        assert abs(box.center().y() - line.center().y()) < line.height() / 2
        assert box.left() <= line.left()


def test_colours_of_code_behind_emoji_are_on_their_words(view: TranscriptView) -> None:
    view.feed.show_session(SESSION, [said(0, "```python\na = '😀😀'\nreturn 12\n```")])
    row = view.canvas.row(0)
    code = view.canvas.rows.plain_code(row)
    assert code is not None
    view.canvas.rows.highlight(row, code)
    document = row.text.segments[0].document
    assert document is not None
    line = document.findBlockByNumber(1)
    assert [(each.start, each.length) for each in line.layout().formats()] == [(0, 6), (7, 2)]


def test_half_characters_are_left_out_of_what_is_shown(view: TranscriptView) -> None:
    assert [block.text for block in thought_blocks("a\ud83d b\ude00")] == ["a b"]
    assert parse("x\ud83dy")[0].text == "x?y"
    view.feed.show_session(SESSION, [said(0, "\ud83d\ude00 가 \ud83d 나")])
    view.select_all()
    view.copy()
    view.grab()


def test_names_are_completed_behind_emoji(qtbot: QtBot) -> None:
    box = MessageBox()
    qtbot.addWidget(box)
    box.set_names(("영희😀", "철수"))
    box.setPlainText("@철 😀 안녕")
    cursor = box.textCursor()
    cursor.setPosition(2)
    box.setTextCursor(cursor)
    box._complete("영희😀")
    assert box.toPlainText() == "@영희😀 😀 안녕"
    assert box.textCursor().position() == units("@영희😀 ")


def test_lines_of_a_paragraph_behind_emoji(qtbot: QtBot) -> None:
    paragraph = Paragraph()
    qtbot.addWidget(paragraph)
    paragraph.setText("😀😀\n둘\n😀 셋")
    paragraph.resize(400, 80)
    assert [line.strip() for line in paragraph.lines()] == ["😀😀", "둘", "😀 셋"]
