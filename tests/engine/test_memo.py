"""The memo: a page about a decision, all of it from the record, as Markdown, HTML and PDF."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pypdfium2
import pytest

from app.core.council import Ends
from app.core.definitions import Agent
from app.core.errors import BadInput
from app.engine.decisions import memo_as_html, memo_as_markdown
from app.files.reader import FileReaders
from tests.builders import Bench
from tests.engine.test_council import bench, held, wanted

FONTS = Path(__file__).resolve().parents[2] / "resources" / "fonts"


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    one = bench(tmp_path)
    one.engine.journal.today = lambda: date(2026, 11, 28)
    yield one
    await one.engine.shutdown()


async def decided(made: Bench) -> str:
    """Return the id of a council that was debated, and in which Postgres was decided."""
    session_id = await held(made, wanted(ends=Ends.VERDICT))
    live = made.engine.live(session_id)
    assert live is not None
    await made.engine.journal.decide(
        live, "Postgres", why="We ship <b>by day</b>.", sure=75, sign="no outage", due="2027-03-01"
    )
    return session_id


async def test_the_decision_comes_first_then_who_held_what(made: Bench) -> None:
    asked = len(made.models.requests)
    session_id = await decided(made)
    asked = len(made.models.requests)
    memo = await made.engine.memo(session_id)
    text = memo_as_markdown(memo)
    assert text.startswith(
        "# Postgres or SQLite?\n\n*Decision memo · 28 November 2026*\n\n## Decision: Postgres\n"
    )
    assert "- How sure: 75%\n- Look again on: 1 March 2027\n- It was right if: no outage\n" in text
    assert [(one.letter, one.text, one.chosen) for one in memo.options] == [
        ("A", "Postgres", True), ("B", "SQLite", False),
    ]  # fmt: skip
    assert memo.options[0].first == memo.options[0].last == (("GPT", 70), ("Gemini", 70))
    assert "| B | SQLite | Claude 70% | Claude 70% |" in text
    places = [text.index(one) for one in ("## The options", "## The verdict", "## The minority")]
    assert places == sorted(places)
    assert "**Postgres, by 2 of 3.**" in text and "**Claude: SQLite.**" in text
    assert text.endswith(
        "*3 models answered unseen by each other, argued in 2 rounds, and voted in secret. · Made with Moot*\n"
    )
    # No id, provider or price is for a colleague, and no model was asked for it.
    assert session_id not in text and "remote0" not in text and "model-0" not in text
    assert len(made.models.requests) == asked


async def test_html_escapes_what_models_and_people_write_and_loads_nothing(made: Bench) -> None:
    page = memo_as_html(await made.engine.memo(await decided(made)))
    assert "We ship &lt;b&gt;by day&lt;/b&gt;." in page and "<b>by day" not in page
    assert '<html lang="en">' in page and "<title>Postgres or SQLite?</title>" in page
    assert "default-src 'none'" in page and "http:" not in page and "https:" not in page


async def test_what_came_of_it_stands_in_place_of_the_date(made: Bench) -> None:
    session_id = await decided(made)
    await made.engine.journal.settle(session_id, "failed", note="Two outages.")
    await made.engine.journal.change(session_id, lambda one: replace(one, known_at="2027-03-01T12:00:00Z"))
    memo = await made.engine.memo(session_id)
    assert ("What came of it", "It didn’t, 1 March 2027") in memo.facts
    assert "Look again" not in memo_as_markdown(memo)


async def test_without_a_decision_it_says_so_and_the_verdict_stands(made: Bench) -> None:
    memo = await made.engine.memo(await held(made, wanted(ends=Ends.VERDICT)))
    assert (memo.decided, memo.facts) == ("Not decided yet", ())
    assert [part.label for part in memo.parts][:2] == ["The verdict", "The minority"]


async def test_a_chat_has_neither_options_nor_a_verdict(made: Bench) -> None:
    ann = await made.engine.assistants.save(Agent(id="ann", name="Ann", provider="remote0", model="model-0"))
    chat = await made.engine.chats.start(ann.id, "Postgres or SQLite?")
    await made.engine.wait(chat)
    await made.engine.journal.decide(await made.engine.open(chat), "SQLite")
    memo = await made.engine.memo(chat)
    assert (memo.decided, memo.options, memo.parts) == ("SQLite", (), ())
    assert memo.foot[0] == "From a conversation with Ann."


async def test_it_is_one_page_of_pdf_with_its_title(made: Bench) -> None:
    made.engine.files = FileReaders(FONTS)
    data = await made.engine.memo_file(await decided(made), "pdf")
    document = pypdfium2.PdfDocument(data)
    assert len(document) == 1 and document.get_metadata_value("Title") == "Postgres or SQLite?"
    text = document[0].get_textpage().get_text_bounded()
    assert "Decision memo" in text and "Look again on" in text and "1 March 2027" in text
    with pytest.raises(BadInput, match="unknown_format"):
        await made.engine.memo_file("x", "rtf")
