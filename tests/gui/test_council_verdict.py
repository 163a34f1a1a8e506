"""The page of a council's verdict: what leads, what the minority holds, what it took; and the judge that is chosen before."""

import json
import os
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

from app.gui.pages.council.council_page import ANSWERS, VERDICT, CouncilPage
from app.gui.panels.debate.cited_text import CitedText
from app.gui.widgets.label import Paragraph
from tests.app_driver import Person, at_window
from tests.gui.test_council_page import HOLDS, SAYS, compared, ended, judged, opened, until
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]


def reply(kind: str, text: str) -> str:
    """Argue with one who stays with what it holds."""
    if "Compare their answers" in text:
        return compared(text)
    if "You judge a question" in text:
        return judged(text)
    if "Write your dissent" in text:
        return 'Nobody has shown that forty laptops write at once.\n@@ {"right_if": "a day of logs shows fewer than 20 writers"}'
    letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
    if "Open, each with its letter" in text or "secret ballot" in text:
        said = json.dumps({"choice": letters[HOLDS[kind]], "confidence": 82, "moved_by": []})
        return said if "secret ballot" in text else f"The peak is the point.\n@@ {said}"
    return f"{SAYS[kind]}\n@@ " + json.dumps({"answer": HOLDS[kind], "confidence": 70})


@pytest.fixture
async def person(qapp, data_dir, wire_home: dict[str, WireServer]):
    for kind in SAYS:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, one.messages[-1].text))
    async with at_window(data_dir) as person:
        yield person


def texts(page: QWidget) -> str:
    """Return all that the verdict says, with what screen readers are told."""
    parts = [
        one.text() for kind in (Paragraph, CitedText) for one in page.findChildren(kind) if one.isVisible()
    ]
    return "\n".join([*parts, *(one.accessibleName() for one in page.findChildren(QWidget))])


async def shot(person: Person, name: str) -> None:
    if folder := os.environ.get("COUNCIL_SHOTS"):
        await person.settle(0.3)
        person.window.grab().save(str(Path(folder) / f"{name}.png"))


async def debated(person: Person) -> CouncilPage:
    page = await opened(person)
    await ended(page)
    await person.click("council_debate")
    await until(lambda: page.session is not None and page.session.status == "running")
    await ended(page)
    return page


async def test_the_verdict_follows_the_debate_and_says_what_it_rests_on(
    person: Person, wire_home: dict[str, WireServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[str] = []
    monkeypatch.setattr("app.gui.pages.council.council_page.announce", lambda _, text: announced.append(text))
    page = await debated(person)
    assert page._tabs.value() == VERDICT and page.verdict.isVisible() and not page._answers.isVisible()
    said = texts(page.verdict)
    assert "3 of 3 answered" in said and "A both times" in said
    assert "Reports never wait for a writer." in said
    assert "Nobody has shown" in said and "Right if a day of logs shows fewer than 20 writers" in said
    assert (
        "Do more than 20 laptops write in the same second?" in said
        and "Settled by a day of sync logs" in said
    )
    assert "Claude: before B, after B" in said and "Nobody changed position" in said
    assert (
        "One model alone says the same. Asking several added a dissent, 2 questions that decide it." in said
    )
    # The state, the headline and the minority, once.
    (last,) = [one for one in announced if "minority" in one]
    assert last == f"Leaning · 2 to 1. {HOLDS['openai']}. minority: 1"
    await shot(person, "verdict")
    cite = next(one for text in page.verdict.findChildren(CitedText) for one in text.stops)
    cite.click()
    assert page._tabs.value() == ANSWERS and page._answers.isVisible()
    count = sum(len(server.requests) for server in wire_home.values())
    page._tabs.set_value(VERDICT)
    await person.click("council_solo")
    await until(lambda: any(one.part == "solo" and one.ended for one in page._messages.values()))
    await ended(page)
    assert sum(len(server.requests) for server in wire_home.values()) == count + 1
    await until(lambda: "same budget" in texts(page.verdict))
    assert page._tabs.value() == VERDICT
