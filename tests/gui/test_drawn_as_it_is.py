"""What is drawn says no more than what is there: bullets, digits, running tools, participants without a vote."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtGui import QColor, QFont, QFontDatabase, QRawFont, QTextLayout

from app.core.council import Option, Participant
from app.core.council_parts import Position
from app.core.message import Author, CouncilPart, Message, MessageState
from app.core.session import Debate
from app.engine.council.record import Record
from app.gui.display.appearance import Language, Look, ui_font
from app.gui.display.theme import LIGHT
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import BlockDocument
from app.gui.pages.council.council_columns import shown_people
from app.gui.pages.council.vote_chart import MARK, VoteChart
from app.gui.transcript.feed import BEAT_MS
from app.storage.paths import resources_dir
from tests.gui.chats import SESSION, call, gave, spoke
from tests.gui.seen import runs
from tests.gui.shown_view import shown_view


def test_a_bullet_after_a_link_has_the_colour_of_the_text(qtbot) -> None:
    view = shown_view(qtbot, 600, 400)
    view.feed.show_session(SESSION, [spoke("m1", "tm", "")])
    text = view.canvas.style.text
    document = BlockDocument(text, parse("- see [this](https://example.org)\n- and that\n"))
    second = document.findBlockByNumber(1)
    assert second.textList() is not None
    assert second.charFormat().foreground().color() != QColor(LIGHT.accent)
    assert not second.charFormat().isAnchor() and not second.charFormat().fontUnderline()


def test_letters_between_digits_stay_letters(qapp) -> None:
    for file in sorted((resources_dir() / "fonts").glob("*.otf")):
        raw = QRawFont(str(file), 14)
        [letter] = raw.glyphIndexesForString("x")
        font = ui_font()
        font.setFamilies([raw.familyName()])
        font.setWeight(QFont.Weight(raw.weight()))
        number = QFontDatabase.addApplicationFont(str(file))
        text = QTextLayout("1920x1080", font)
        text.beginLayout()
        text.createLine()
        text.endLayout()
        drawn = [glyph for run in text.glyphRuns() for glyph in run.glyphIndexes()]
        QFontDatabase.removeApplicationFont(number)
        assert drawn[4] == letter


def test_a_running_tool_says_since_when(qtbot) -> None:
    view = shown_view(qtbot, 800, 400)
    began = (datetime.now(UTC) - timedelta(seconds=75)).isoformat()
    result = gave("r", "tm", "c", "", state=MessageState.STREAMING)
    object.__setattr__(result, "created_at", began)
    view.feed.show_session(SESSION, [spoke("m1", "tm", "", [call("c")]), result])
    assert ", running · 1:15," in view.describe("m1/0")
    assert runs(view.feed, BEAT_MS)


def chart_of(qtbot, qapp, *rounds: int) -> VoteChart:
    """Return the chart of two participants of whom only the first voted, after these rounds."""
    words = Language(resources_dir() / "i18n", "en")
    seats = tuple(Participant(id=one, name=one, provider="p", model="m") for one in "ab")
    options = tuple(Option(id=f"o{place}", text=text) for place, text in enumerate(("Yes", "No")))
    votes = [
        Message(
            id=f"v{number}",
            turn_id=f"v{number}",
            role="assistant",
            author=Author(id="a", name="a", kind="participant"),
            part=CouncilPart.BALLOT,
            round=number,
            data=Position(choice="o0"),
        )
        for number in rounds
    ]
    record = Record(Debate(topic="t", participants=seats, options=options), votes)
    look = Look(qapp, resources_dir(), "light")
    chart = VoteChart(words, look, record, shown_people(seats, "", words))
    qtbot.addWidget(chart)
    chart.resize(500, chart.sizeHint().height())
    return chart


def test_who_never_voted_has_no_line_and_is_named_so(qtbot, qapp) -> None:
    chart = chart_of(qtbot, qapp, 0, 1, 2)
    image = chart.grab().toImage()
    room = chart._room()

    def painted(number: int) -> int:
        colour = QColor(LIGHT.speaker(number)[0]).rgb()
        across, down = (
            range(int(a), int(b)) for a, b in ((room.left(), room.right()), (room.top(), room.bottom()))
        )
        return sum(image.pixel(x, y) == colour for x in across for y in down)

    assert painted(0) > 10
    assert painted(1) == 0 and chart.point(1, 0) is None
    assert chart.values(1) == "Round 1\na: A Yes\nb: no vote"


def test_the_votes_stand_from_the_first_to_the_last_option_and_round(qtbot, qapp) -> None:
    chart = chart_of(qtbot, qapp, 1, 2)
    assert chart._x(0) == pytest.approx(chart._room().left() + MARK / 2 + 1)
    assert chart._x(1) == pytest.approx(chart._room().right() - MARK / 2 - 1)
    assert chart.point(0, 0).y() == chart._y(0) < chart._y(0.5) < chart._y(1) < chart._room().bottom()
