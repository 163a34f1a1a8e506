"""Sessions that somebody changed before they came in, seen at the window: in its lists, pages and panels."""

import json
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.council import Ballot
from app.core.definitions import StepState
from app.core.errors import BadInput, StorageError
from app.core.message import Author, Message
from app.core.session import SessionSummary
from app.engine.council.outcome import State, outcome, vote_places
from app.engine.council.record import Record
from app.gui.display.appearance import Language
from app.gui.display.descriptions import state_of
from app.gui.panels.workflow.step_list import seconds_of
from app.gui.transcript.row_words import chips_of
from tests.app_driver import Person, at_window, until
from tests.builders import a_debate
from tests.mutations import mutated_value
from tests.test_mutated_files import exports

RESOURCES = Path(__file__).parent.parent.parent / "resources"


@pytest.fixture
async def person(qapp, data_dir: Path) -> AsyncIterator[Person]:
    async with at_window(data_dir) as person:
        yield person


async def look(person: Person, path: Path, document: object) -> bool:
    """Bring a changed export in, look at the window with it open, and delete it; say whether it came in."""
    desk = person.window.controller
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        found = await desk.engine.archive.look_at(str(path))
        [session_id] = await desk.engine.archive.bring_in(found.fresh)
    except (BadInput, StorageError):
        return False
    desk.show_session(session_id)
    await until(lambda: not desk.tasks.running("open in the main area"))
    await person.settle()
    page = desk.pages.current
    assert page is not None
    assert page.session_id == session_id
    for message_id in list(page.transcript.message_ids):
        page.transcript.go_to(message_id, 0)
        page.transcript.describe(message_id)
    for place in range(3):
        desk.panel.tabs.choose(place)
    person.window.grab()
    await desk.engine.delete(session_id)
    await person.settle()
    return True


async def fuzz_window(person: Person, folder: Path, count: int, seed: int) -> int:
    chance, whole = random.Random(seed), exports()[:4]
    path = folder / "export.json"
    return sum(
        [
            await look(person, path, mutated_value(whole[number % len(whole)], chance))
            for number in range(count)
        ]
    )


@pytest.mark.slow
@pytest.mark.allow_blocking
async def test_changed_sessions_are_shown_at_the_window(person: Person, tmp_path: Path) -> None:
    assert await fuzz_window(person, tmp_path, 24, seed=1) > 8


def test_unknown_values_are_called_unknown() -> None:
    language = Language(RESOURCES / "i18n", "en")
    summary = SessionSummary(id="s", kind="debate", title="", status="x", updated_at="", messages=0)
    assert state_of(summary, language) == ("unknown", "neutral")
    for fields in ({"state": "x"}, {"note": "x"}):
        message = Message(id="m", turn_id="t", role="assistant", author=Author(id="a", name="A"), **fields)
        chips = chips_of(message, "", language.texts, model=False, begun=True)
        assert [chip.text for chip in chips] == ["unknown"]
    assert language.mode("x") == "unknown"


def test_numbers_and_dates_that_nothing_can_have_are_left_out() -> None:
    ballots = tuple(Ballot(participant="p0", round=number, stance=number) for number in (0, 3, 10**30))
    record = Record(a_debate(1, ballots=ballots), [])
    # A stance that there is not is a blank.
    assert record.voted_rounds == [0, 3] and vote_places(record) == {"p0": (2, None)}
    assert outcome(Record(record.debate, [])).state == State.NONE
    for date in ("x", "2026-01-01", "2026-01-01T00:00:00"):
        state = StepState(id="a", state="running", started_at=date)
        assert seconds_of(state, datetime.now(UTC)) is None
    assert seconds_of(StepState(id="a", started_at="x", seconds=float("inf")), datetime.now(UTC)) is None


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.allow_blocking
async def test_many_changed_sessions_are_shown_at_the_window(person: Person, tmp_path: Path) -> None:
    assert await fuzz_window(person, tmp_path, 400, seed=2) > 100
