"""The blind pick in the window: offered before the verdict, made by the keyboard, and what it says afterwards."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QFrame, QLabel, QWidget

from app.core.council import ALONE, PANEL, BlindPick
from app.core.message import CouncilPart
from app.core.session import DebateMode
from app.engine.engine import CouncilSetup, DebateSetup
from app.gui.pages.council.council_page import CouncilPage
from app.gui.pages.council.decision_steps import VERDICT, VOTES
from app.gui.widgets.badge import Chip
from app.gui.widgets.text import ElidedLabel, Paragraph
from tests.app_driver import Person, at_window
from tests.gui.seen import texts_in
from tests.gui.test_council_page import HOLDS, QUESTION, SAYS, ask, ended, offered, three, until
from tests.gui.test_council_verdict import reply, shot
from tests.wire import Answer, Fault, WireServer, write_providers
from tests.wire.fixtures import call_count

MODELS = {"openai": "gpt-5.2", "anthropic": "claude-opus-4-5", "gemini": "gemini-2.5-pro"}
PANELS = (
    "Use Postgres and keep one row per document. The laptops come back from the field in the same minutes, and a "
    "single writer would make them wait. Two people will also want reports while others sync, and readers there never "
    "wait for a writer.\n\nLet the server settle conflicts by version number. If a day of logs shows that fewer than "
    "twenty laptops write in the same second, a file with one writer and a queue would do, and would be simpler to run. "
)
ALONES = (
    "Take SQLite in its write-ahead mode and put a queue before the one writer. A sync is a batch, and a queue works "
    "through forty of them in seconds, so nobody notices that they wait.\n\nWhat fails in the field is not speed but "
    "operations: a file that anyone can copy beats a service that nobody on site can repair. Choose the larger database "
    "only if reports have to run while laptops sync, or if a second program has to write. Try a restore each month. "
)


def written(text: str) -> str:
    """Write an answer anew in the length that is asked for: one text for what all came to, another for one model's."""
    size = int(re.search(r"(?:in about (\d+) characters|약 (\d+)자)", text).expand(r"\1\2"))  # type: ignore[union-attr]
    material = re.split(r"Material:|자료:", text)[-1]
    said = ALONES if material.strip().startswith(tuple(SAYS.values())) else PANELS
    return (said * 40)[:size].strip()


@pytest.fixture
def servers(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, WireServer]]:
    """Three servers of models whose prices are known."""
    found = {kind: WireServer(kind, models=(model,)).start() for kind, model in MODELS.items()}
    for name, value in write_providers(data_dir, found.values()).items():
        monkeypatch.setenv(name, value)
    for kind, server in found.items():

        def answer(request, kind=kind):  # type: ignore[no-untyped-def]
            text = request.messages[-1].text
            rewrites = "Material:" in text or "자료:" in text
            return Answer(written(text) if rewrites else reply(kind, text), input_tokens=4_000)

        server.script(server.models[0], answer)
    yield found
    for server in found.values():
        server.close()


@pytest.fixture
async def person(qapp, data_dir, servers):  # type: ignore[no-untyped-def]
    async with at_window(data_dir) as person:
        yield person


async def asked(person: Person) -> CouncilPage:
    """Hold a council to its verdict, and show it."""
    controller = person.window.controller
    people = tuple(replace(one, model=MODELS[one.provider]) for one in three())
    setup = DebateSetup(topic=QUESTION, participants=people, mode=DebateMode.COUNCIL)
    session_id = await controller.engine.councils.start(CouncilSetup(setup=setup, stops=True))
    controller.show_session(session_id)
    page = controller.council_page
    await until(lambda: page.session_id == session_id and page.isVisible(), what="the page")
    await ended(page)
    await ask(person, "council_debate")
    await until(lambda: page.session is not None and page.session.status == "running")
    await ended(page)
    await until(lambda: page.steps.value() == VERDICT, what="the verdict's step")
    return page


def pick_of(page: CouncilPage) -> BlindPick:
    assert page.session is not None and page.session.debate.council is not None
    return page.session.debate.council.blind or BlindPick()


def read_at(page: CouncilPage) -> str:
    assert page.session is not None and page.session.debate.council is not None
    return page.session.debate.council.read_at


def texts(root: QWidget) -> list[str]:
    """Return what can be read in a widget."""
    kinds = (Paragraph, ElidedLabel, QLabel, QAbstractButton, Chip)
    return [one.text() for kind in kinds for one in root.findChildren(kind) if one.isVisible() and one.text()]


def press(person: Person, key: Qt.Key) -> None:
    QTest.keyClick(person.window.focusWidget(), key)


@pytest.mark.slow
async def test_it_is_offered_before_the_verdict_and_made_by_the_keyboard_alone(
    qapp, data_dir, servers: dict[str, WireServer], monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    announced: list[str] = []
    monkeypatch.setattr("app.gui.pages.council.council_page.announce", lambda _, text: announced.append(text))
    monkeypatch.setattr("app.gui.pages.council.blind_pick.announce", lambda _, text: announced.append(text))
    async with at_window(data_dir, size=(1440, 900)) as person:
        page = await asked(person)
        assert person.sees("blind_offer") and not page.verdict.isVisible()
        await shot(person, "blind-offer")
        start = person.find("blind_start", QAbstractButton)
        await until(lambda: "$" in start.text() or "calls" in start.text(), what="its price")
        assert offered(page)["blind"] == start.text()
        assert re.fullmatch(r"Pick blind · (up to \$|\$)0\.[\d–$. ]+", start.text()), start.text()
        # What leads is told once the verdict is seen.
        assert announced[-1].startswith("Choose between two answers")
        await person.settle(0.2)
        assert not read_at(page), "nobody has read it"
        before = call_count(servers)
        start.setFocus()
        press(person, Qt.Key.Key_Space)
        await until(lambda: person.sees("blind_answer_B"), what="the two answers")
        failed = [one for one in announced if "could not be written" in one]
        assert not failed, "it has not failed before it began"
        assert call_count(servers) == before + 2 and page.steps.value() == VERDICT
        assert not page.verdict.isVisible() and pick_of(page).order and not pick_of(page).picked
        answers = {letter: person.find(f"blind_answer_{letter}", QFrame) for letter in "AB"}
        names = {letter: one.accessibleName() for letter, one in answers.items()}
        await shot(person, "blind-answers")
        places = {letter: PANEL if PANELS[:20] in name else ALONE for letter, name in names.items()}
        assert {*places.values()} == {PANEL, ALONE}
        for letter, name in names.items():
            assert name.startswith(f"Answer {letter}. ")
        seen = " ".join(texts(page.blind))
        assert not re.search(r"GPT|Claude|Gemini|\$|anel|of 3|%", seen), seen
        lengths = sorted(map(len, names.values()))
        assert lengths[1] <= 1.2 * lengths[0]
        # By Tab one comes from the way to the verdict to the answers, and to what picks one.
        assert person.window.focusWidget() is answers["A"]
        press(person, Qt.Key.Key_Backtab)
        stops = [person.window.focusWidget().objectName()]
        for _ in range(5):
            press(person, Qt.Key.Key_Tab)
            stops.append(person.window.focusWidget().objectName())
        picks = ["blind_pick_A", "blind_pick_B", "blind_pick_equal"]
        assert stops == ["blind_close", "blind_answer_A", "blind_answer_B", *picks]
        named = {one: person.find(f"blind_pick_{one}").accessibleName() for one in ("A", "B", "equal")}
        assert named == {"A": "Prefer answer A", "B": "Prefer answer B", "equal": "No difference"}
        assert person.find("blind_pick_equal").toolTip() == "Alt+N"
        preferred = next(letter for letter, side in places.items() if side == PANEL)
        key = Qt.Key.Key_A if preferred == "A" else Qt.Key.Key_B
        QTest.keyClick(person.window, key, Qt.KeyboardModifier.AltModifier)
        await until(lambda: pick_of(page).picked == preferred, what="the pick")
        await person.settle()
        assert pick_of(page).was_blind and call_count(servers) == before + 2
        assert "You preferred the panel’s answer." in texts(page.blind) and announced[-1] in texts(page.blind)
        whose = {letter: person.find(f"blind_answer_{letter}").accessibleName() for letter in "AB"}
        alone = next(letter for letter, side in places.items() if side == ALONE)
        assert re.match(rf"Answer {preferred}, The panel, \$0\.\d+ · \d+ s, your pick\. ", whose[preferred])
        assert re.match(rf"Answer {alone}, (GPT|Claude|Gemini) alone, \$0\.\d+ · \d+ s\. ", whose[alone])
        costs = [float(re.search(r"\$(0\.\d+)", whose[one])[1]) for one in (preferred, alone)]  # type: ignore[index]
        assert costs[0] > 3 * costs[1] > 0
        assert not read_at(page)
        await shot(person, "blind-picked")
        person.find("blind_close").setFocus()
        press(person, Qt.Key.Key_Space)
        assert page.verdict.isVisible() and not page.blind.isVisible()
        assert HOLDS["openai"] in announced[-1]
        await until(lambda: bool(read_at(page)))
        card = person.find("blind_card")
        await shot(person, "blind-card")
        assert "You preferred the panel’s answer." in texts(card)
        assert "blind" not in offered(page), "it is made once"
        kept, session_id = pick_of(page), page.session_id
        assert kept.was_blind
        journal = person.window.controller.engine.journal
        await until(lambda: (one := journal.get(session_id)) is not None and one.preferred == PANEL)
    async with at_window(data_dir) as person:
        page = person.window.controller.council_page
        person.window.controller.show_session(session_id)
        await until(lambda: page.session_id == session_id and page.steps.value() == VERDICT)
        assert pick_of(page) == kept and page.verdict.isVisible()
        await person.click("blind_open")
        await person.settle()
        again = {letter: person.find(f"blind_answer_{letter}").accessibleName() for letter in "AB"}
        assert again == whose and not person.sees("blind_pick_A")


@pytest.mark.slow
async def test_one_click_shows_the_verdict_and_a_pick_after_that_does_not_count(
    person: Person, servers: dict[str, WireServer]
) -> None:
    page = await asked(person)
    before = call_count(servers)
    await person.click(f"segment_{VOTES}")
    assert person.sees("blind_offer") and not page.verdict.isVisible(), "the votes tell it as well"
    await person.click("blind_close")
    assert page.verdict.isVisible() and not person.sees("blind_offer")
    await until(lambda: bool(read_at(page)))
    assert call_count(servers) == before
    # Neither by another step nor by another session and back is it offered in the way again.
    await person.click("segment_answers")
    await person.click(f"segment_{VERDICT}")
    assert page.verdict.isVisible()
    card = person.find("blind_card")
    not_blind = "You have read the verdict, so a pick is kept as not blind and isn’t counted."
    assert any(not_blind in one for one in texts(card))
    await ask(person, "council_blind")
    assert not_blind in texts(page.blind) and not page.verdict.isVisible()
    await person.click("blind_start")
    await until(lambda: person.sees("blind_pick_equal"), what="the two answers")
    assert not_blind in texts(page.blind)
    await person.click("blind_pick_equal")
    await until(lambda: pick_of(page).picked == "equal")
    assert not pick_of(page).was_blind
    shown = texts(page.blind)
    assert "You saw no difference." in shown
    assert "You had read the verdict before, so it doesn’t count as blind." in shown
    await person.click("blind_close")
    found = person.window.controller.engine.journal.get(page.session_id)
    assert found is None or found.preferred == ""


@pytest.mark.slow
async def test_whoever_reads_the_verdict_between_the_answers_and_the_pick_does_not_pick_blind(
    person: Person, servers: dict[str, WireServer]
) -> None:
    page = await asked(person)
    await person.click("blind_start")
    await until(lambda: person.sees("blind_pick_A"), what="the two answers")
    assert pick_of(page).was_blind
    await person.click("blind_close")
    await until(lambda: bool(read_at(page)))
    await person.click("blind_open")
    await person.click("blind_pick_A")
    await until(lambda: pick_of(page).picked == "A")
    assert not pick_of(page).was_blind


@pytest.mark.slow
async def test_it_is_not_offered_again_once_the_tick_is_off(qapp, data_dir, servers) -> None:  # type: ignore[no-untyped-def]
    async with at_window(data_dir) as person:
        page = await asked(person)
        tick = person.find("blind_offers", QCheckBox)
        assert tick.isChecked() and tick.text() == "Offer this before each verdict"
        tick.setFocus()
        press(person, Qt.Key.Key_Space)
        assert person.sees("blind_offer"), "what is shown stays"
        await person.click("blind_close")
        assert page.verdict.isVisible()
    async with at_window(data_dir) as person:
        page = await asked(person)
        assert page.verdict.isVisible() and not person.sees("blind_offer")
        assert "blind" in offered(page), "it is still in the menu"


@pytest.mark.slow
async def test_what_fails_says_so_and_is_written_when_asked_for_again(
    person: Person, servers: dict[str, WireServer]
) -> None:
    page = await asked(person)
    for server in servers.values():
        server.script(server.models[0], lambda _request: Fault("e401"))
    await person.click("blind_start")
    await until(lambda: "The two answers could not be written." in texts(page.blind), what="the failure")
    await ended(page)
    assert person.find(f"segment_{VERDICT}").isEnabled() and page.steps.value() == VERDICT
    assert not any("writing" in text.lower() for text in texts_in(page.box))
    for server in servers.values():
        server.script(server.models[0], lambda one: written(one.messages[-1].text))
    await person.click("blind_start")
    await until(lambda: person.sees("blind_pick_A"), what="the two answers")
    rewritten = [one for one in page.messages if one.part == CouncilPart.REWRITE and one.state == "done"]
    assert len(rewritten) == 2


@pytest.mark.slow
async def test_while_it_is_written_the_verdict_is_one_click_away(
    person: Person, servers: dict[str, WireServer]
) -> None:
    page = await asked(person)
    for server in servers.values():
        slow = lambda one: Answer(written(one.messages[-1].text), delay=2.0)  # noqa: E731
        server.script(server.models[0], slow)
    await person.click("blind_start")
    await until(lambda: "The two answers are being written: 0 of 2" in texts(page.blind))
    assert person.find(f"segment_{VERDICT}").isEnabled() and page.steps.value() == VERDICT
    await person.click("blind_close")
    assert page.verdict.isVisible() and page.session is not None and page.session.status == "running"
    await until(lambda: bool(read_at(page)))
    await ended(page)
    assert page.verdict.isVisible(), "it does not come back by itself"
    await person.click("blind_open")
    await until(lambda: person.sees("blind_pick_A"), what="the two answers")
    assert not pick_of(page).was_blind


@pytest.mark.slow
async def test_it_speaks_korean_and_fits_a_small_window(qapp, data_dir, servers) -> None:  # type: ignore[no-untyped-def]
    async with at_window(data_dir, size=(900, 600)) as person:
        person.window.controller.settings.change({"language": "ko", "theme": "dark"})
        page = await asked(person)
        assert "모델 하나와 비교: 이름 가리고 고르기" in texts(page.blind)
        start = person.find("blind_start", QAbstractButton)
        assert start.text().startswith("이름 가리고 고르기 · ")
        await shot(person, "blind-offer-korean")
        start.click()
        await until(lambda: person.sees("blind_pick_A"), what="the two answers")
        assert "어느 답변을 따르겠어요?" in texts(page.blind)
        await shot(person, "blind-answers-korean")
        assert person.find("blind_pick_equal", QAbstractButton).text() == "차이 없음"
        for name in ("blind_pick_A", "blind_pick_B", "blind_pick_equal", "blind_close"):
            shown = person.find(name)
            corner = shown.mapTo(person.window, shown.rect().bottomRight())
            assert person.window.rect().contains(corner), f"{name} is within the window"
        QTest.keyClick(person.window, Qt.Key.Key_N, Qt.KeyboardModifier.AltModifier)
        await until(lambda: pick_of(page).picked == "equal")
        await shot(person, "blind-picked-korean")
        said = texts(page.blind)
        assert "차이가 없다고 했어요." in said and "패널" in said
        assert any(one.endswith(" 혼자") for one in said)
        person.window.controller.settings.change({"language": "en"})
        await until(lambda: "You saw no difference." in texts(page.blind), what="the other language")
