"""The settings' page of usage: months, who and what cost, the limit and how much of it is used."""

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

from app.core.definitions import Agent
from app.core.ids import utc_now
from app.core.message import UsageEntry
from app.core.session import Status
from app.core.settings import Settings
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.settings_rows import Ground, UsagePage
from app.gui.tasks import Tasks
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import ElidedLabel
from tests.app_driver import at_window, until
from tests.builders import a_bench
from tests.gui.seen import saying, texts_in
from tests.memory import MemoryStore

RESOURCES = Path(__file__).parents[2] / "resources"


@pytest.fixture
def engine():
    return a_bench(MemoryStore()).engine


def spend(
    engine,
    *costs: float | None,
    model: str = "gpt-5.2",
    author: str = "GPT",
    at: str = "",
    author_id: str = "",
) -> None:
    for number, cost in enumerate(costs):
        engine.usage.note(
            UsageEntry(
                message_id=f"{author}{model}{at}{number}",
                at=at or utc_now(),
                session_id="0" * 26,
                author_id=author_id,
                author=author,
                provider="openai",
                model=model,
                input_tokens=1_000,
                output_tokens=500,
                cost_usd=cost,
            )
        )


@pytest.fixture
async def page(qapp, engine):
    tasks = Tasks(lambda _name, _error: None)
    look = Look(qapp, RESOURCES, "light")
    over, language = QWidget(), Language(RESOURCES / "i18n", "en")
    page = UsagePage(Ground(language, look, engine, tasks, engine.settings, Path(), Toasts(over)))
    page.resize(610, 560)
    yield page
    await tasks.close()
    page.close()
    page.deleteLater()
    over.deleteLater()


async def shown(page) -> UsagePage:
    page.show()
    await until(lambda: page._report is not None and not page._tasks.running("usage"))
    return page


def names(page, table: str) -> list[str]:
    return [label.text() for label in page.tables[table]._cards.itemAt(0).widget().findChildren(ElidedLabel)]


async def test_a_month_in_money_tokens_and_shares(engine, page):
    spend(engine, 0.5, 0.25)
    spend(engine, 1.0, model="claude-opus-4-5", author="Claude")
    await shown(page)
    assert page.total.text() == "$1.75"
    assert "3 model calls · 3.0k tokens in · 1.5k out" in texts_in(page)
    assert names(page, "models") == ["openai/claude-opus-4-5", "openai/gpt-5.2"]
    assert names(page, "authors") == ["Claude", "GPT"]
    assert names(page, "sessions") == ["Deleted session"]
    assert not saying(page, "no known price")
    assert not page.bar.isVisible()
    now = datetime.now(UTC)
    assert page.month.currentText() == f"{page._language(f'month.{now.month}')} {now.year}"


async def test_what_is_not_known_is_said_and_never_nothing(engine, page):
    spend(engine, None)
    await shown(page)
    assert page.total.text() == "no price known"
    spend(engine, 0.5, model="other")
    page.refresh()
    await until(lambda: page.total.text() == "at least $0.50")
    assert saying(page, "1 call has no known price")


async def test_the_limit_and_how_much_of_it_is_used(engine, page):
    await engine.change_settings(lambda _: Settings(max_month_usd=2.0))
    spend(engine, 0.5)
    await shown(page)
    assert page.bar.isVisible()
    assert page.used.text() == "$0.50 of $2.00 used this month"
    chosen = []
    page.chosen.connect(chosen.append)
    page.limit.fields["max_month_usd"].control.setValue(0.4)
    assert chosen == [{"max_month_usd": 0.4}]
    assert "Paid models are blocked" in page.used.text()
    assert page.bar._part == 1.0


@pytest.mark.parametrize(
    ("costs", "said"),
    [((None,), "$2.00 limit: no price is known for this month’s usage"), ((0.0, None), "$2.00 limit: no price is known for this month’s usage"), ((0.5, None), "at least $0.50 of $2.00 used this month"), ((0.0,), "$0.00 of $2.00 used this month"), ((), "$0.00 of $2.00 used this month")],
)  # fmt: skip
async def test_of_the_limit_nothing_is_said_to_be_used_that_is_not_known(engine, page, costs, said):
    await engine.change_settings(lambda _: Settings(max_month_usd=2.0))
    spend(engine, *costs)
    await shown(page)
    assert page.used.text() == said


async def test_what_is_estimated_says_so(engine, page):
    await engine.change_settings(lambda _: Settings(max_month_usd=2.0))
    entry = UsageEntry(message_id="cut", at=utc_now(), input_tokens=900, cost_usd=0.5, estimated=True)
    engine.usage.note(entry)
    spend(engine, 0.25)
    await shown(page)
    assert page.total.text() == "≈ $0.75"
    assert page.used.text() == "≈ $0.75 of $2.00 used this month"
    assert "2 model calls · ≈ 1.9k tokens in · ≈ 500 out" in texts_in(page)
    assert saying(page, "The tokens of 1 call are estimated")


async def test_another_month_can_be_looked_at_and_kept_as_a_table(engine, page, tmp_path):
    spend(engine, 0.5)
    spend(engine, 0.125, None, author="=SUM(A1)", at="2025-02-03T10:00:00.000Z")
    await shown(page)
    assert page.month.count() == 2
    page.month.setCurrentIndex(1)
    page.month.activated.emit(1)
    await until(lambda: page.total.text() == "at least $0.12")
    assert names(page, "authors") == ["=SUM(A1)"]
    file = tmp_path / "february.csv"
    await page.write(file, "2025-02")
    with file.open(encoding="utf-8-sig", newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    assert [row["cost_usd"] for row in rows] == ["0.125", "n/a"]
    assert [row["author"] for row in rows] == ["'=SUM(A1)"] * 2


async def test_the_orchestrator_is_one_whatever_the_language_of_its_sessions(engine, page):
    spend(engine, 0.5, author="Orchestrator", author_id="orchestrator")
    spend(engine, 0.25, author="오케스트레이터", author_id="orchestrator")
    spend(engine, 0.125, author="Ann", author_id="ann")
    await shown(page)
    assert names(page, "authors") == ["Orchestrator", "Ann"]


async def test_of_many_the_last_stand_in_one_line(engine, page):
    for number in range(12):
        spend(engine, 12.0 - number, author=f"A{number}")
    await shown(page)
    assert names(page, "authors") == [*(f"A{number}" for number in range(7)), "5 others"]


async def test_a_limit_chosen_in_the_settings_counts_at_once_and_what_is_held_says_so(qapp, data_dir):
    async with at_window(data_dir) as person:
        desk = person.window.controller
        engine = desk.engine
        spend(engine, 0.5)
        desk.settings.open("usage")
        await until(lambda: person.sees("usage_total"))
        await until(lambda: person.find("usage_total").text() == "$0.50")
        person.find("setting_max_month_usd").setValue(0.25)
        await until(lambda: engine.settings().max_month_usd == 0.25)
        person.find("settings_close").click()
        await engine.assistants.save(Agent(id="ann", name="Ann", provider="openai", model="gpt-x"))
        session_id = await engine.chats.start("ann", "Hello")
        desk.show_session(session_id)
        await until(lambda: engine.live(session_id).session.status == Status.PAUSED)
        line = desk.chat_page.state_line
        await until(line.isVisible)
        assert saying(line, "Monthly limit reached")
        assert line.resume.isVisible()


@pytest.mark.parametrize(("models", "last"), [(8, ""), (9, "2 others"), (11, "4 others")])
async def test_of_many_models_the_cheapest_are_one_line_with_what_they_cost(engine, page, models, last):
    costs = [float(2**number) for number in range(models)]
    for number, cost in enumerate(costs):
        spend(engine, cost, model=f"m{number}")
    await shown(page)
    said = names(page, "models")
    assert len(said) == 8 and said[0] == f"openai/m{models - 1}"
    assert said[-1] == (last or "openai/m0")
    sums = [text for text in texts_in(page.tables["models"]) if text.startswith("$")]
    assert len(sums) == 8 and sums[-1] == f"${sum(costs[: models - 7]):.2f}"
