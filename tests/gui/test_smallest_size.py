"""At 900 × 600, in both languages: nothing a person reads is cut in the middle of a letter."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QScrollArea, QWidget

from app.core.council import Participant
from app.core.message import Author, Message, Usage
from app.core.session import Debate, DebateMode, DebateSession
from app.gui.transcript.painted_row import CHIP, NAME
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.badge import Chip
from app.gui.widgets.text import Paragraph
from tests.app_driver import Person, at_window
from tests.gui.seen import labels

LONG = "Should cities ban private cars from their centres, and who pays for the buses then? " * 3
SEATS = (
    Participant(
        id="a", name="Ada Lovelace the Patient", provider="embedded", model="smollm2-135m", role="for"
    ),
    Participant(
        id="b", name="지민", provider="openai", model="gpt-5.2", role="공정하고 아주 꼼꼼한 심판 역할"
    ),
    Participant(
        id="c", name="Claude", provider="anthropic", model="claude-opus-4-5-20260101", role="devils-advocate"
    ),
)


def debate(status: str, reason: str = "") -> tuple[DebateSession, list[Message]]:
    session = DebateSession(
        id="1", title=LONG, status=status, reason=reason,
        debate=Debate(topic=LONG, mode=DebateMode.FREE, rounds=10, round=10, participants=SEATS),
    )  # fmt: skip
    messages = [
        Message(
            id=str(number),
            turn_id=str(number),
            role="assistant",
            author=Author(id=seat.id, name=seat.name, kind="participant"),
            content=f"{LONG}\n\n`{'x' * 200}`\n\n| a | b |\n|---|---|\n| {LONG} | 말 |",
            round=number // 3 + 1,
            why="longest_silent",
            note="length",
            seconds=123.4,
            usage=Usage(
                model=seat.model, input_tokens=90_000, output_tokens=9_000, cost_usd=None if number else 1.25
            ),
        )
        for number, seat in enumerate(SEATS * 2)
    ]
    return session, messages


@pytest.fixture(params=["ko", pytest.param("en", marks=pytest.mark.slow)])
async def person(qapp, data_dir, request):
    async with at_window(data_dir, language=request.param, size=(900, 600)) as person:
        yield person


def cut_chips(person: Person) -> list[str]:
    """Return the chips on screen that lie outside what holds them, or show nothing of their text."""
    found = []
    for chip in person.window.findChildren(Chip):
        if chip.isVisible():
            parent = chip.parentWidget()
            shown = chip.shown_text()
            if not parent.rect().contains(chip.geometry()) or len(shown.rstrip("…")) < min(
                4, len(chip.text())
            ):
                found.append(chip.text())
    return found


def cut_rows(view: TranscriptView) -> list[str]:
    """Return what stands over or under a row's edge, or is wider than its place."""
    found = []
    right = view.viewport().width() - view.canvas.style.margin
    assert view.canvas.placed
    for placed in view.canvas.placed:
        row = view.canvas.row(placed.row)
        for piece in row._pieces:
            metrics = view.canvas.style.name_metrics if piece.kind == NAME else view.canvas.style.meta_metrics
            metrics = view.canvas.style.chip_metrics if piece.kind == CHIP else metrics
            if metrics.horizontalAdvance(piece.text) > piece.rect.width() or piece.rect.right() > right:
                found.append(piece.text)
        found += [segment.text for segment in row.text.segments if segment.rect.right() > right]
    return found


@pytest.mark.slow
async def test_a_debate_with_the_longest_words(person):
    person.window.controller.debates.show_setup()
    for status, reason in (
        ("running", ""),
        ("paused", "two_failures"),
        ("completed", "too_few"),
        ("stopped", "by_user"),
    ):
        await debate_has_room(person, *debate(status, reason))


async def debate_has_room(person: Person, session: DebateSession, messages: list[Message]) -> None:
    """Show a debate in the panel and beside it, and look for what is cut off."""
    desk = person.window.controller
    desk.panel.show_discussion()
    person.window.main_area.setCurrentWidget(desk.session_page)
    for view in (desk.panel.discussion, desk.session_page):
        view.show_session(session, messages)
        view.open_first_step()
        desk.views.view_changed.emit(view)
    await person.settle(0.1)
    assert cut_chips(person) == []
    for view in (desk.panel.discussion, desk.session_page):
        assert cut_rows(view.transcript) == []
        # Qt lays out only what is seen: the banner and what is said of a small model among it.
        for one in labels(view.controls) if view.isVisible() else ():
            assert not one.hasHeightForWidth() or one.height() >= one.heightForWidth(one.width()), one.text()
    assert person.window.top_bar.height() == 52


async def test_choices_and_ticks_show_all_their_words(person):
    person.window.controller.debates.show_setup("원격 근무, 늘려야 할까?")
    await person.click("segment_roles")
    await person.settle(0.1)
    for kind in (QCheckBox, QComboBox):
        for widget in person.window.findChildren(kind):
            text = widget.text() if isinstance(widget, QCheckBox) else widget.currentText()
            if widget.isVisible() and text:
                assert widget.width() >= QFontMetrics(widget.font()).horizontalAdvance(text) + 20, text
    [warning] = labels(person.find("warning_providers").parentWidget(), Paragraph)
    assert warning.isVisible()
    assert warning.height() >= warning.heightForWidth(warning.width())
    top = warning.mapTo(person.window, warning.rect().bottomLeft()).y()
    assert top < 300, "the warning is seen without scrolling"


@pytest.mark.slow
@pytest.mark.parametrize("text_size", [100, 130])
async def test_a_toast_has_room_beside_a_panel(person, text_size):
    window, desk = person.window, person.window.controller
    desk.settings.change({"text_size": text_size})
    window.show_side(True)
    desk.debates.show_setup()
    words = window.language("history.deleted", title="Should cities ban private cars?")
    window.toasts.show_toast(words, window.language("toast.undo"), print)
    await person.settle(0.1)
    over, toast = window.toasts.parentWidget(), person.find("toast")
    assert over.width() < 400, "the panel leaves little room"
    assert over.rect().contains(window.toasts.geometry())
    assert window.toasts.rect().contains(toast.geometry())
    label, action = toast.findChild(QLabel), person.find("toast_action")
    assert label.height() >= label.heightForWidth(label.width())
    assert action.width() >= action.sizeHint().width() and toast.rect().contains(action.geometry())
    window.resize(1440, 900)
    await person.settle(0.1)
    assert toast.width() > over.width() // 3, "as wide as it wants to be where there is room"
    toast.leave()


async def test_the_shortcut_gives_way_to_the_words_of_the_search_box(person):
    person.window.show_side(True)
    await person.settle()
    search = person.window.side_bar.search
    words = search.fontMetrics().horizontalAdvance(search.text())
    assert words + 33 < search.width()


@pytest.mark.slow
async def test_the_side_bar_beside_a_panel_shows_its_ends(person):
    window, desk = person.window, person.window.controller
    window.show_side(True)
    desk.debates.show_setup()
    search = window.side_bar.search
    for text_size in (100, 130, 150):
        desk.settings.change({"text_size": text_size})
        await person.settle(0.2)
        assert not_wider(window.side_bar), text_size
        assert search.sizeHint().width() <= search.width() or search.text().endswith("…"), text_size
        assert search.toolTip()


@pytest.mark.slow
async def test_a_page_is_not_wider_than_what_shows_it(person):
    window, desk = person.window, person.window.controller
    for text_size in (100, 130, 150):
        desk.settings.change({"text_size": text_size})
        desk.show_new()
        await person.settle(0.2)
        assert sticking_out(window.main_area) == [], text_size
        desk.assistants.show_page("assistant")
        await person.settle(0.2)
        assert not_wider(window.main_area), text_size


def sticking_out(root: QWidget) -> list[str]:
    """Return what is seen that begins or ends beside its place."""
    shown = [one for one in root.findChildren(QWidget) if one.isVisible()]
    sides = [(one, one.mapTo(root, QPoint()).x()) for one in shown]
    return [
        one.objectName() or type(one).__name__
        for one, left in sides
        if left < 0 or left + one.width() > root.width()
    ]


def not_wider(root: QWidget) -> bool:
    """Whether what scrolls on the screen, and there is something, is nowhere wider than its place."""
    shown = [one for one in root.findChildren(QScrollArea) if one.isVisible()]
    return bool(shown) and all(one.widget().width() <= one.viewport().width() for one in shown)
