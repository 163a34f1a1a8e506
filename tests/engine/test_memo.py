"""The memo: a page about a decision, all of it from the record, as Markdown, HTML and PDF."""

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from app.engine.decisions.memo_formats import memo_as_html, memo_as_markdown
from app.files.reader import FileReaders
from tests.builders import Bench
from tests.engine.test_council import bench, held, wanted


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    one = bench(tmp_path)
    one.engine.journal.today = lambda: date(2026, 11, 28)
    yield one
    await one.engine.shutdown()


async def test_debug(made: Bench, tmp_path) -> None:
    session_id = await held(made, wanted(debates=True))
    live = made.engine.live(session_id)
    await made.engine.journal.decide(
        live,
        "Postgres",
        why="We ship <b>during</b> working hours.",
        sure=75,
        due="2027-03-01",
        sign="no outage | none",
    )
    memo = await made.engine.memo(session_id)
    Path("/tmp/dec/memo.md").write_text(memo_as_markdown(memo))
    Path("/tmp/dec/memo.html").write_text(memo_as_html(memo))
    data = await FileReaders(Path("resources/fonts").absolute()).as_pdf(memo_as_html(memo), memo.title)
    Path("/tmp/dec/memo.pdf").write_bytes(data)
