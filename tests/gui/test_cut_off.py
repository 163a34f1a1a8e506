"""At 900 × 600, in both languages, and with larger text: no page shows a text that is cut off."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from app.core.message import CouncilPart
from app.core.session import DebateMode, Status
from app.gui.widgets.badge import Chip
from app.gui.widgets.choices import DECIDE
from app.gui.widgets.controls import LEAST_LETTERS, ShorteningButton, WrappedTick
from app.gui.widgets.text import ElidedLabel, Paragraph
from tests.app_driver import Person, at_window, until
from tests.gui.every_page import DEBATE, every_page, keep_all, parts_of
from tests.gui.models import give_keys
from tests.repeats import slow_after

LEAST_CHIP = 90
"""Of a state that says a name too this much is always seen."""


def cut(part: QWidget) -> str:
    """Return a part's text where not all of it is seen; what is shortened has a tool tip with the whole."""
    metrics = QFontMetrics(part.font())
    if isinstance(part, ElidedLabel):
        short = metrics.horizontalAdvance(part.text()) > part.contentsRect().width()
        return part.text() if short and not part.toolTip() else ""
    if isinstance(part, Chip):
        short = part.shown_text() != part.text() and part.shown_text().endswith("…")
        return part.text() if short and not (part.toolTip() and part.width() >= LEAST_CHIP) else ""
    if isinstance(part, Paragraph | WrappedTick):
        return part.text() if part.heightForWidth(part.width()) > part.height() + 1 else ""
    if isinstance(part, QLabel):
        text = part.text()
        if part.wordWrap():
            return text if text and part.heightForWidth(part.width()) > part.height() + 1 else ""
        return text if metrics.horizontalAdvance(text) > part.contentsRect().width() + 1 else ""
    if isinstance(part, QComboBox):
        text = part.currentText() or (part.lineEdit().placeholderText() if part.isEditable() else "")
        return text if metrics.horizontalAdvance(text) > part.width() - 30 and not part.toolTip() else ""
    if isinstance(part, ShorteningButton):
        return part.text() if part.sizeHint().width() > part.width() + 1 and not part.toolTip() else ""
    if isinstance(part, QAbstractButton):
        return part.text() if part.text() and part.sizeHint().width() > part.width() + 1 else ""
    if isinstance(part, QLineEdit):
        words = part.placeholderText() if not part.text() else ""
        return words if metrics.horizontalAdvance(words) > part.contentsRect().width() - 4 else ""
    return ""


def too_low(part: QWidget) -> bool:
    """Whether a line of the part's own text is higher than the part."""
    if not isinstance(part, QLabel | QAbstractButton | QComboBox | QLineEdit | ElidedLabel | Chip):
        return False
    text = part.currentText() if isinstance(part, QComboBox) else part.text()
    return bool(text) and QFontMetrics(part.font()).height() > part.height() + 1


def sticks_out(part: QWidget) -> bool:
    """Whether a part lies outside what holds it, where that does not scroll."""
    parent = part.parentWidget()
    if parent is None or part.isWindow():
        return False
    above: QWidget | None = parent
    while above is not None:
        if isinstance(above, QAbstractScrollArea):
            break
        above = above.parentWidget()
    room = parent.rect().adjusted(-1, -1, 1, 1)
    return above is None and not room.contains(part.geometry())


def overlapped(part: QWidget) -> str:
    """Return the name of a sibling in the same layout that lies over a part."""
    parent = part.parentWidget()
    layout = parent.layout() if parent is not None else None
    if layout is None or layout.indexOf(part) < 0:
        return ""
    for place in range(layout.count()):
        other = layout.itemAt(place).widget()
        if other is None or other is part or not other.isVisible():
            continue
        both = other.geometry().intersected(part.geometry())
        if both.width() > 1 and both.height() > 1:
            return other.objectName() or type(other).__name__
    return ""


def faults(root: QWidget) -> list[str]:
    found = []
    for part in parts_of(root):
        name = f"{type(part).__name__} {part.objectName()}"
        if words := cut(part):
            found.append(f"cut: {name} {words[:60]!r}")
        elif too_low(part):
            found.append(f"low: {name} {part.height()}")
        if sticks_out(part):
            found.append(f"out: {name} {part.geometry().getRect()} of {part.parentWidget().rect().getRect()}")
        if other := overlapped(part):
            found.append(f"over: {name} by {other}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "percent"), slow_after(1, [("ko", 130), ("en", 100), ("ko", 100), ("en", 115)])
)
async def test_no_page_cuts_a_text_off(qapp, data_dir, language, percent):
    await keep_all(data_dir)
    found: dict[str, list[str]] = {}
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        person.window.look.choose_size(percent)
        async for name, root in every_page(person):
            wrong = faults(root)
            for _ in range(10):
                # A layout may still be on its way on a busy machine; what is cut stays cut.
                if wrong:
                    await person.settle(0.2)
                    wrong = faults(root)
            if wrong:
                found[name] = wrong
        person.window.look.choose_size(100)
    assert found == {}


@pytest.mark.parametrize(("percents", "step"), slow_after(1, [((100, 150), 210), ((100, 115, 150), 70)]))
async def test_the_cards_of_the_first_page_hold_their_words_at_any_width(qapp, data_dir, percents, step):
    found: dict[tuple[int, int], list[str]] = {}
    async with at_window(data_dir, size=(900, 600)) as person:
        page = person.window.chat_page
        for percent in percents:
            person.window.look.choose_size(percent)
            for width in range(900, 1400, step):
                person.window.resize(width, 600)
                await person.settle(0.1)
                if wrong := faults(page):
                    found[percent, width] = wrong
        person.window.look.choose_size(100)
    assert found == {}


@pytest.mark.parametrize("mode", ["chat", "decide", "work"])
async def test_the_first_page_has_room_for_its_buttons_and_its_composer_at_the_smallest_size(
    qapp, data_dir, mode
):
    async with at_window(data_dir, size=(900, 600)) as person:
        page = person.window.chat_page
        await until(lambda: person.sees("first_connect"), what="the cards")
        await person.click(f"segment_{mode}")
        await person.settle(0.1)
        assert shortened(page) == []
        box, card = page.composer, person.find("first_group")
        bottom = box.mapTo(page, box.rect().bottomLeft()).y()
        assert bottom < card.mapTo(page, card.rect().topLeft()).y()
        assert card.mapTo(page, card.rect().bottomLeft()).y() < page.height()


def shortened(root: QWidget) -> list[str]:
    """Return the buttons of which not all words are seen, also those that may be shortened where room is scarce."""
    found = [one for one in parts_of(root) if isinstance(one, QAbstractButton) and one.text()]
    wide = [one for one in found if one.sizeHint().width() > one.width() + 1]
    # The words of the limits give way to all others.
    return [
        f"{type(one).__name__} {one.objectName()} {one.text()!r}"
        for one in wide
        if one.objectName() != "composer_budget"
    ]


def squeezed(root: QWidget) -> list[str]:
    """Return what a narrow page cuts: texts, buttons that show hardly a letter, and what is scrolled sideways."""
    found = faults(root)
    for part in parts_of(root):
        if isinstance(part, ShorteningButton) and part.text() != part.accessibleName():
            letters = len(part.text().rstrip("… "))
            if part.text().endswith("…") and letters < LEAST_LETTERS:
                found.append(f"stub: {part.objectName()} {part.text()!r}")
        if isinstance(part, QAbstractScrollArea) and part.horizontalScrollBar().maximum() > 0:
            found.append(f"wide: {type(part).__name__} {part.objectName()}")
    return found


# The pages up to this one; the others take long.
FIRST_PAGES = ("ko", "debate", "approval")


@pytest.mark.parametrize(
    ("language", "panel", "last"),
    slow_after(
        1, [FIRST_PAGES, *((one, panel, "") for one in ("ko", "en") for panel in ("debate", "workflow"))]
    ),
)
async def test_beside_a_panel_a_small_window_cuts_nothing(qapp, data_dir, language, panel, last):
    await keep_all(data_dir)
    found: dict[str, list[str]] = {}
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        # It is folded at this size; open, it leaves the least room.
        person.window.show_side(True)
        async for name, root in every_page(person):
            if name.startswith("settings"):
                # A panel leads back to the page before them.
                break
            person.find(f"{panel}_button").setChecked(True)  # type: ignore[attr-defined]
            wrong = ["not looked at"]
            for _ in range(10):
                # A layout may still be on its way on a busy machine; what is cut stays cut.
                if wrong:
                    await person.settle(0.1)
                    wrong = squeezed(root)
            if wrong:
                found[name] = wrong
            if name == last:
                break
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize("language", slow_after(1, [("ko",), ("en",)]))
async def test_with_a_panel_open_no_button_is_shortened_at_1440_pixels(qapp, data_dir, language):
    await keep_all(data_dir)
    found: dict[str, list[str]] = {}
    async with at_window(data_dir, language=language, size=(1440, 900)) as person:
        top = person.window.top_bar
        async for name, root in every_page(person):
            panels = (top.debate_button, top.workflow_button, top.plan_button)
            beside = root is person.window and not name.startswith("settings")
            if beside and not any(one.isChecked() for one in panels):
                panel = top.plan_button if name in ("group", "chat", "question") else top.debate_button
                panel.setChecked(True)
                await person.settle(0.1)
                wrong = shortened(root)
                panel.setChecked(False)
            else:
                wrong = shortened(root)
            if wrong:
                found[name] = wrong
    assert found == {}


async def test_f2_renames_and_pause_never_turns_into_resume_under_the_mouse(qapp, data_dir):
    await keep_all(data_dir)
    async with at_window(data_dir, size=(1440, 900)) as person:
        window, desk = person.window, person.window.controller
        desk.debates.show_setup("")
        await desk.debates.show_discussion(DEBATE)
        view = desk.panel.discussion
        lists = (window.side_bar.sessions, desk.panel.history.list, view.transcript)
        for place, part in zip((1, 2, 1), lists, strict=True):
            desk.panel.tabs.choose(place)
            if part is lists[0]:
                part.select(DEBATE)
            elif part is lists[1]:
                part.setCurrentIndex(part.model().index(0, 0))
            part.setFocus()
            QTest.keyClick(part, Qt.Key.Key_F2)
            await until(lambda: person.sees("rename_dialog"), 5, part.objectName())
            person.find("rename_dialog").reject()
            await until(lambda: not person.sees("rename_dialog"))
        controls, over = view.controls, view.session
        places: dict[str, dict[QWidget, QRect]] = {}
        for status in (Status.RUNNING, Status.PAUSED):
            controls.show_change(replace(over, status=status, reason=""))
            await person.settle(0.1)
            buttons = (controls.pause, controls.stop, controls.resume)
            places[status] = {one: one.geometry() for one in buttons if one.isVisible()}
        assert controls.resume in places[Status.PAUSED] and controls.resume not in places[Status.RUNNING]
        for button, place in places[Status.PAUSED].items():
            others = [where for one, where in places[Status.RUNNING].items() if one is not button]
            assert not any(place.intersects(where) for where in others), button.objectName()


async def debate_pages(person: Person) -> AsyncIterator[tuple[str, QWidget]]:
    """Bring each page of a debate to the front, in the panel and then beside it; yield what shows it."""
    window, desk = person.window, person.window.controller
    panel, setup = desk.panel, desk.panel.setup
    await give_keys(person, "openai", "anthropic", "gemini")
    desk.first_page.show(DECIDE)
    desk.debates.show_setup("원격 근무, 늘려야 할까?")
    yield "first page", window.main_area
    yield "setup", panel
    setup.mode.set_value(DebateMode.ROLES)
    ready = [card for card in setup.seats.cards if card.candidate.status.ready]
    for card in ready:
        card.tick.setChecked(True)
    setup.seats.add_participant(ready[0].candidate)
    await person.choose("role_added-1", window.language("role.own"))
    setup.add_files(["/zyx/wvu.md", f"/zyx/{'wvu-' * 20}.md"])
    yield "setup with roles", panel
    setup.findChild(QScrollArea).verticalScrollBar().setValue(1 << 16)
    yield "the end of setup", panel
    await desk.debates.show_discussion(DEBATE)
    yield "verdict", panel
    view = panel.discussion
    over, messages = view.session, view.messages
    plain = replace(over, debate=replace(over.debate, council=None, polls=False))
    view.show_session(plain, [one for one in messages if not one.part])
    view.controls.side_chosen.emit("verdict")
    judge = "Zyx Ada"
    for judges in ({"openai/gpt-zyx-5-thinking": judge, "openai/gpt-zyx-6-thinking": judge}, {}):
        view.judges = lambda _session_id, judges=judges: judges
        view.show_judges()
        yield f"no verdict, {len(judges)} judges", panel
    view.judges = desk.engine.debates.judges
    view.show_session(over, messages)
    view.controls.side_chosen.emit("discussion")
    yield "discussion", panel
    controls = view.controls
    controls.show_change(replace(over, status=Status.RUNNING))
    controls.show_doing((CouncilPart.READING,))
    yield "judging", panel
    controls.pause.click()
    yield "pausing", panel
    controls.show_change(over)
    panel.tabs.choose(2)
    yield "history", panel
    desk.show_session(DEBATE)
    yield "verdict beside the panel", window.main_area
    desk.session_page.steps.set_value("debate")
    yield "discussion beside the panel", window.main_area


@pytest.mark.parametrize(("language", "percent"), slow_after(1, [("ko", 130), ("en", 100), ("en", 130)]))
async def test_the_pages_of_a_debate_fit_beside_another_page(qapp, data_dir, language, percent):
    await keep_all(data_dir)
    found: dict[str, list[str]] = {}
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        desk = person.window.controller
        desk.settings.change({"text_size": percent})
        async for name, root in debate_pages(person):
            wrong = ["not looked at"]
            for _ in range(10):
                # A layout may still be on its way on a busy machine; what is cut stays cut.
                if wrong:
                    await person.settle(0.2)
                    areas = [one for one in parts_of(root) if isinstance(one, QScrollArea)]
                    wrong = [
                        f"wide: {one.widget().width()} of {one.viewport().width()}"
                        for one in areas
                        if one.widget().width() > one.viewport().width()
                    ]
                    wrong += faults(root)
            if wrong:
                found[name] = wrong
    assert found == {}
