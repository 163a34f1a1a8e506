"""What is drawn says no more than what is there: bullets, digits, running tools, participants without a vote."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtGui import QColor, QFont, QFontDatabase, QRawFont, QTextLayout

from app.core.council import Participant
from app.core.message import MessageState
from app.core.session import Debate
from app.core.verdict import Ballot
from app.gui.display.appearance import Language, Look, ui_font
from app.gui.display.theme import LIGHT
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import BlockDocument
from app.gui.panels.debate.stance_chart import GAP, StanceChart
from app.storage.paths import resources_dir
from tests.gui.chats import SESSION, call, gave, spoke
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
    assert view.feed._beat.isActive()


def test_who_never_voted_has_no_line_and_is_named_so(qtbot, qapp) -> None:
    look = Look(qapp, resources_dir(), "light")
    chart = StanceChart(Language(resources_dir() / "i18n", "en"), look, "chart")
    qtbot.addWidget(chart)
    seats = tuple(Participant(id=one, name=one, provider="p", model="m") for one in "ab")
    ballots = tuple(Ballot(participant="a", round=number, stance=2) for number in range(3))
    chart.show_debate(Debate(topic="t", participants=seats, ballots=ballots))
    chart.resize(500, chart.sizeHint().height())
    image = chart.grab().toImage()
    room = chart._room()

    def painted(number: int) -> int:
        colour = QColor(LIGHT.speaker(number)[0]).rgb()
        across, down = (
            range(int(a), int(b)) for a, b in ((room.left(), room.right()), (room.top(), room.bottom()))
        )
        return sum(image.pixel(x, y) == colour for x in across for y in down)

    assert painted(0) > 10
    assert painted(1) == 0
    low = chart.labels()[1]
    assert low.center().y() >= room.bottom() and chart._label(chart._lines[1], low.width()) == "b: no vote"
    assert chart._label(replace(chart._lines[1], name="a long name " * 9), 90).endswith("…: no vote")


def test_the_only_vote_stands_at_the_end(qtbot, qapp) -> None:
    look = Look(qapp, resources_dir(), "light")
    chart = StanceChart(Language(resources_dir() / "i18n", "en"), look, "chart")
    qtbot.addWidget(chart)
    chart.resize(700, 240)
    seats = tuple(Participant(id=one, name=one, provider="x", model="m") for one in ("a", "b"))
    votes = tuple(Ballot(participant=one.id, round=2, stance=2) for one in seats)
    debate = Debate(topic="T", participants=seats, ballots=votes)
    chart.show_debate(debate)
    assert chart._x(0) == pytest.approx(chart._room().right() - GAP)
    earlier = tuple(replace(one, round=1) for one in votes)
    chart.show_debate(replace(debate, ballots=(*earlier, *votes)))
    assert chart._x(0) == pytest.approx(chart._room().left() + GAP)
    assert chart._x(1) == pytest.approx(chart._room().right() - GAP)
