"""Quotes in the statements of a council, looked up in the question's files."""

import random
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council_parts import FileQuote, Position
from app.core.message import Attachment, CouncilPart, MessageState
from app.core.provider import ModelRequest
from app.core.session import ExportFormat
from app.engine.council.outcome import outcome
from app.engine.council.record import Record, Sources, quotes_of
from app.engine.engine import CouncilSetup
from tests.builders import Script, until
from tests.engine.test_council import answer, bench, wanted

SYNC = "Forty laptops sync at night.\nThe server’s queue drains — “slowly” — forty batches in a minute, and nobody waits."
PAGES = "First page.\x0c한 파일을 누구나 복사할 수 있습니다. 서버는 밤에 동기화합니다.\x0cThe last page ends with a restore test."
SOURCES = Sources([Attachment(name="sync.md", text=SYNC), Attachment(name="plan.pdf", text=PAGES)])


@pytest.mark.parametrize(
    ("quote", "found", "file", "page"),
    [
        ("forty laptops sync at night", "exact", "sync.md", 0),
        ('The server\'s queue drains - "slowly" -  forty batches', "exact", "sync.md", 0),
        ("Forty laptops … forty batches in a minute", "exact", "sync.md", 0),
        ("The queue drains forty batches within one hour, nobody knows.", "missing", "", 0),
        ("forty batches in a minute, and no one waits", "nearly", "sync.md", 0),
        ("ends with a restore test.", "exact", "plan.pdf", 3),
        ("한 파일을 누구나 복사할 수 있습니다", "exact", "plan.pdf", 2),
        ("한 파일은 누구나 복사할 수 있습니다", "nearly", "plan.pdf", 2),
        ("한 파일을 아무도 옮길 수 없습니다", "missing", "", 0),
        ("Nothing of this is in any file", "missing", "", 0),
    ],
)
def test_where_a_quote_is_and_how_well_it_is_kept(quote: str, found: str, file: str, page: int) -> None:
    assert SOURCES.look_up(quote) == FileQuote(text=quote, found=found, file=file, page=page)


def test_only_what_is_long_enough_and_in_quotation_marks_is_a_quote_and_others_words_are_none() -> None:
    text = (
        'He says “Forty laptops sync at night” and "too short", 「서버는 밤에 동기화합니다」, ‘the restore was never tried’. '
        '`"a string in some code"` and "what another one has said", “짧은 말”.'
    )
    found = SOURCES.check(text, ["I think: what another one has said."])
    assert [(one.text, one.found) for one in found] == [
        ("Forty laptops sync at night", "exact"),
        ("서버는 밤에 동기화합니다", "exact"),
        ("the restore was never tried", "missing"),
    ]
    assert Sources([]).check(text) == []


def test_a_changed_word_in_a_long_file_is_found_and_a_made_up_sentence_is_not() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randrange(2, 9))) for _ in range(900)]
    source = " ".join(chance.choice(words) for _ in range(60_000))
    sources = Sources([Attachment(name="long.txt", text=source)])
    for _ in range(30):
        start = chance.randrange(len(source) - 200)
        quote = source[start : start + 120].strip()
        assert sources.look_up(quote).found == "exact"
        place = chance.randrange(20, 100)
        assert sources.look_up(f"{quote[:place]}zz{quote[place + 3 :]}").found == "nearly"
        made_up = " ".join(chance.choice(words) for _ in range(15))
        assert sources.look_up(made_up).found == "missing"


async def test_quotes_are_kept_with_their_statement_and_a_missing_one_is_unsupported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(tmp_path)

    def quoting(request: ModelRequest) -> Script:
        said = {
            "model-0": "“Forty laptops sync at night” (sync.md).",
            "model-1": "“Nobody ever waits for it”.",
        }
        text, *rest = answer(request)
        return [f"{text} {said.get(request.model, '')}", *rest] if request.schema is None else [text, *rest]

    made.models.otherwise = quoting
    threads: set[str] = set()
    check = Sources.check

    def seen(self: Sources, text: str, others: Sequence[str] = ()) -> list[FileQuote]:
        threads.add(threading.current_thread().name)
        return check(self, text, others)

    monkeypatch.setattr(Sources, "check", seen)
    setup = replace(wanted().setup, context=(Attachment(name="sync.md", text=SYNC),))
    session_id = await made.engine.councils.start(CouncilSetup(setup=setup))
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    answers = {one.author.id: one for one in live.messages if one.part == CouncilPart.ANSWER}
    kept = {who: [(quote.found, quote.file) for quote in quotes_of(one)] for who, one in answers.items()}
    # Long files would stop the window for too long.
    assert threads and threading.current_thread().name not in threads
    assert kept == {"p0": [("exact", "sync.md")], "p1": [("missing", "")], "p2": []}
    result = outcome(Record(live.debate_session.debate, live.messages))
    assert result.unsupported == (answers["p1"].id,)
    text = await made.engine.export(session_id, ExportFormat.MARKDOWN)
    assert (
        "word for word in sync.md" in text and "not in the source" in text and "Facts without support" in text
    )
    await made.engine.shutdown()


async def test_an_answer_is_kept_where_the_user_stops_while_its_quotes_are_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(tmp_path)
    begun, go_on = threading.Event(), threading.Event()

    def slow(_self: Sources, _text: str, _others: Sequence[str] = ()) -> list[FileQuote]:
        begun.set()
        go_on.wait(30)
        return []

    monkeypatch.setattr(Sources, "check", slow)
    setup = replace(wanted().setup, context=(Attachment(name="sync.md", text=SYNC),))
    session_id = await made.engine.councils.start(CouncilSetup(setup=setup))
    await until(begun.is_set)
    for _ in range(2):
        await made.engine.pause(session_id)
    await made.engine.wait(session_id)
    go_on.set()
    live = made.engine.live(session_id)
    assert live is not None
    kept = [one for one in live.messages if one.part == CouncilPart.ANSWER and one.state == MessageState.DONE]
    assert kept and all(one.data_as(Position).answer and quotes_of(one) == [] for one in kept)
    asked = len(made.models.requests)
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert len(made.models.requests) == asked + (3 - len(kept)) + 1
    await made.engine.shutdown()
