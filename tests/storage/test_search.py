"""Searching all sessions: what is found, what is not, in which order, and how it reads."""

import asyncio
import dataclasses
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import StorageError
from app.core.message import CouncilPart, MessageState, Prompt, PromptType, Role
from app.core.session import Hit, SessionSummary
from app.storage import index
from app.storage.codec import plain
from app.storage.file_system import FileSystem
from app.storage.index import EXCERPT, MOST_IN_SESSION, MOST_OF_TOOL, Needle, find_in_sessions
from app.storage.lines import encode_line
from app.storage.sessions import JsonLogStore
from tests.repeats import examples
from tests.storage.samples import changed, debate, finished, log_file, message, started, streaming


async def _filled(store: JsonLogStore, *texts: str, at: str = "2026-11-21T10:00:00.000Z") -> str:
    session = debate(title="A talk", updated_at=at)
    store.append(started(session))
    for text in texts:
        store.append((finished(session.id, message(text, created_at=at)),))
    await store.flush(session.id)
    return session.id


async def _found(store: JsonLogStore, text: str, limit: int = 50) -> list[str]:
    return [one.excerpt for one in await store.search(text, limit)]


FOUND = [
    ("Cities breathe.", "cities"),
    ("Cities breathe.", "  BREATHE. "),
    ("도시는 숨을 쉰다", "숨을"),
    (unicodedata.normalize("NFD", "도시는 숨을 쉰다"), "숨을"),
    ("도시는 숨을 쉰다", unicodedata.normalize("NFD", "숨을")),
    ("caf\u00e9 au lait", "CAFE\u0301"),
    ("cafe\u0301 au lait", "caf\u00e9"),
    ("Straße 7", "STRASSE"),
    ("Straße 7", "ss"),
    ("STRASSE 7", "straße"),
    ("Жук и жаба", "жУК"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("がぎぐ", unicodedata.normalize("NFD", "が")),
    ('He said "no".\nThen\tleft.', 'said "NO"'),
    ('He said "no".\nThen\tleft.', ".\nthen\tleft"),
    ("a\\b c:\\Users", "C:\\users"),
    ("bell \x07 rings", "\x07 Rings"),
    ("one\u2028two\u0085three", "one\u2028TWO\u0085three"),
    ("smile \U0001f600 now", "\U0001f600 NOW"),
    ("100% {braces} [x]", "{BRACES} ["),
    ("\ud800 broken", "broken"),
]


@pytest.mark.parametrize(("said", "wanted"), FOUND)
async def test_what_was_said_is_found_however_it_is_written(store, said, wanted):
    await _filled(store, "nothing", said, "nothing else")
    assert len(await _found(store, wanted)) == 1


@pytest.mark.parametrize(
    "wanted",
    ["", " \n", "n", "u2028", '"op"', "assistant", "Ada", "p1", "\\", "state", "done", "\0", "zz", "10:00"],
)
async def test_what_only_the_file_says_is_not_found(store, wanted):
    await _filled(store, "a\u2028b\tc\nd")
    assert await _found(store, wanted) == []


async def test_newest_session_first_and_title_before_messages(store):
    old = await _filled(store, "banana", at="2026-11-01T10:00:00.000Z")
    session = debate(title="Banana bread", updated_at="2026-11-20T10:00:00.000Z")
    store.append(started(session))
    first, second = message("a BANANA"), message("two bananas")
    store.append((finished(session.id, first),))
    store.append((finished(session.id, second),))
    await store.flush(session.id)
    hits = await store.search("banana", 50)
    assert [(one.session.id, one.message_id) for one in hits[:3]] == [
        (session.id, ""),
        (session.id, second.id),
        (session.id, first.id),
    ]
    assert hits[3].session.id == old
    assert hits[1] == Hit(
        session=hits[0].session, message_id=second.id, excerpt="two bananas", author=second.author
    )
    assert hits[0].session.title == "Banana bread"
    assert len(await store.search("banana", 2)) == 2


async def test_a_session_gives_its_newest_five(store):
    await _filled(store, *(f"banana {number}" for number in range(20)))
    assert await _found(store, "banana") == [f"banana {number}" for number in range(19, 14, -1)]
    assert len(await _found(store, "talk")) == 1


async def test_what_was_written_over_is_not_found(store, monkeypatch):
    session = debate()
    store.append(started(session))
    one, other = message("the apple"), message("a pear")
    store.append((finished(session.id, one),))
    store.append((finished(session.id, other),))
    store.append((finished(session.id, dataclasses.replace(one, content="the quince")),))
    await store.flush(session.id)
    for block in (1024 * 1024, 64):
        monkeypatch.setattr(index, "_BLOCK", block)
        assert await _found(store, "apple") == []
        assert await _found(store, "the quince") == ["the quince"]
        assert await _found(store, "pear") == ["a pear"]


async def test_only_what_is_finished_is_found(store):
    session = debate()
    store.append(started(session))
    growing = message("half an apple and more")
    for batch in streaming(session.id, growing, size=30):
        store.append(batch)
    stopped = message("a stopped apple", state=MessageState.STOPPED)
    store.append((finished(session.id, stopped),))
    await store.flush(session.id)
    assert await _found(store, "apple") == ["a stopped apple"]
    assert growing.state != MessageState.STREAMING
    store.append((finished(session.id, growing),))
    await store.flush(session.id)
    assert len(await _found(store, "apple")) == 2


async def test_a_tools_long_answer_is_searched_at_its_start_only(store):
    session = debate()
    store.append(started(session))
    said = "early " + "x " * MOST_OF_TOOL + " late"
    store.append((finished(session.id, message(said, role=Role.TOOL)),))
    await store.flush(session.id)
    assert len(await _found(store, "early")) == 1
    assert await _found(store, "late") == []
    store.append((finished(session.id, message(said)),))
    await store.flush(session.id)
    assert len(await _found(store, "late")) == 1


async def test_of_a_question_its_words_are_found_and_of_an_approval_nothing(store):
    session = debate()
    store.append(started(session))
    question = Prompt(question="Which plum?", type=PromptType.TEXT)
    approval = Prompt(
        question="plum_tool", type=PromptType.APPROVAL, tool="plum_tool", arguments='{"plum": 1}'
    )
    for one in (
        message("The plum question was put to the user.", role=Role.TOOL, prompt=question),
        message("plum", role="system", prompt=approval),
        message("allow", role="user", answers="x"),
        message("deny the plum", role="user", answers="y"),
    ):
        store.append((finished(session.id, one),))
    await store.flush(session.id)
    assert await _found(store, "plum") == ["deny the plum", "Which plum?"]
    assert await _found(store, "allow") == []
    assert await _found(store, "deny") == ["deny the plum"]


async def test_the_excerpt_is_one_line_around_the_place(store):
    await _filled(store, "a\n" * 500 + "here is the\n\n  needle, you see" + " b\tc" * 500)
    [shown] = await _found(store, "NEEDLE")
    assert "here is the needle, you see b c" in shown
    assert (shown[0], shown[-1]) == ("…", "…")
    assert len(shown) <= EXCERPT + 2
    assert shown.index("needle") < 50
    await _filled(store, "ß" * 300 + "pear")
    [shown] = await _found(store, "PEAR")
    assert shown.endswith("pear")


async def test_a_line_longer_than_a_block_is_found(store, monkeypatch):
    monkeypatch.setattr(index, "_BLOCK", 100)
    await _filled(store, "first plum", "x" * 5_000 + " plum " + "y" * 5_000, "last plum")
    assert [text.strip("…xy") for text in await _found(store, "plum")] == [
        "last plum",
        "plum",
        "first plum",
    ]


async def test_damage_is_passed_over(store, paths):
    good = encode_line(1, [{"op": "message", "message": plain(message("a plum"))}])
    bad = good.replace(b"a plum", b"1 plum")
    strange = encode_line(2, [{"op": "message", "message": {"id": "x", "content": ["plum"]}}, {"op": 7}])
    torn = encode_line(3, [{"op": "message", "message": plain(message("torn plum"))}])[:-30]
    log_file(paths, b"plum\n" + bad + strange + b"\r\n" + good[:-1] + b"\r\n" + torn)
    store = JsonLogStore(paths)
    await store.open()
    assert await _found(store, "plum") == ["a plum"]
    await store.close()


async def test_a_log_that_is_gone_is_passed_over(store, paths):
    gone = await _filled(store, "a plum")
    await _filled(store, "another plum")
    paths.session(gone).unlink()
    assert await _found(store, "plum") == ["another plum"]


async def test_what_is_in_the_bin_is_not_found(store):
    session_id = await _filled(store, "a plum")
    await store.delete(session_id)
    assert await _found(store, "plum") == []
    await store.restore(session_id)
    assert await _found(store, "plum") == ["a plum"]


async def test_a_new_title_counts_and_the_old_one_does_not(store):
    session = debate(title="The old name")
    store.append(started(session))
    _, event = changed(session, title="The new name")
    store.append((event,))
    await store.flush(session.id)
    assert await _found(store, "old name") == []
    assert await _found(store, "NEW NAME") == ["The new name"]


async def test_a_store_that_only_reads_searches_too(store, paths):
    await _filled(store, "a plum")
    await store.close()
    assert await _found(JsonLogStore(paths, read_only=True), "plum") == ["a plum"]


async def test_the_loop_goes_on_while_it_searches_and_a_search_nobody_waits_for_ends(paths):
    line = encode_line(1, [{"op": "message", "message": plain(message("x" * 100_000))}])
    for _ in range(40):
        log_file(paths, line * 10)
    store = JsonLogStore(paths, read_only=True)
    await store.open()
    ticks = 0
    searching = asyncio.create_task(store.search("no such thing", 50))
    while not searching.done():
        ticks += 1
        await asyncio.sleep(0.001)
    assert await searching == []
    assert ticks > 3
    given_up = asyncio.create_task(store.search("no such thing", 50))
    await asyncio.sleep(0.005)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    await store.close()


async def test_a_folder_that_cannot_be_listed_is_said(paths):
    class Refusing(FileSystem):
        def stamps(self, folder: Path) -> dict:
            raise PermissionError(13, "Permission denied")

    with pytest.raises(StorageError):
        await JsonLogStore(paths, read_only=True, file_system=Refusing()).search("x", 5)


LETTERS = st.text(st.sampled_from('aAbBsSßẞéÉ\u0301가\u1100\u1161각 \n"\\kKfiﬁ1жЖ'), max_size=12)


@settings(max_examples=examples(300), deadline=None)
@given(said=LETTERS, wanted=LETTERS.filter(lambda text: text.strip()))
def test_the_bytes_never_hide_what_the_text_holds(said: str, wanted: str) -> None:
    """Except where a text mixes both forms of letters with marks, or ASCII is written as a ligature."""
    line = encode_line(1, [{"op": "message", "message": plain(message(said))}])
    needle = Needle(wanted)
    in_text = needle.find(said) is not None
    of_one_form = any(unicodedata.normalize(form, said) == said for form in ("NFC", "NFD"))
    if in_text and of_one_form and "ﬁ" not in said:
        assert [one for one, _ in needle.lines_backwards(line)] == [line[:-1]]


def test_a_search_that_was_stopped_reads_nothing_more(tmp_path: Path) -> None:
    summary = SessionSummary("1", "chat", "plum", "idle", "", 0)
    path = tmp_path / "none"
    assert find_in_sessions(FileSystem(), [(summary, path)], "plum", 9, lambda: True) == []
    [hit] = find_in_sessions(FileSystem(), [(summary, path)], "plum", 9, lambda: False)
    assert json.loads(json.dumps(dataclasses.asdict(hit)))["excerpt"] == "plum"
    assert MOST_IN_SESSION == 5


READING = """```json
{"choice": "A", "confidence": 70, "judge": "openai/gpt-5.2",
 "cases": [{"option": "A", "text": "Postgres scales with the writers."}], "open": ["Who pays for it?"]}
```"""


async def test_a_reading_is_found_by_its_sentences_and_never_shown_as_json(store):
    session = debate(title="A talk")
    read = dataclasses.replace(message(READING), part=CouncilPart.READING)
    store.append((*started(session), finished(session.id, read)))
    await store.flush(session.id)
    (hit,) = await store.search("postgres scales", 50)
    assert hit.excerpt == "Postgres scales with the writers. Who pays for it?"
    assert hit.author == read.author and not hit.by_user
    for wanted in ("choice", "confidence", "json", "gpt-5.2", "{"):
        assert await store.search(wanted, 50) == [], wanted


@pytest.mark.parametrize(
    ("text", "wanted", "shown"),
    [
        ("The quick brown fox jumps over the lazy dog. Then Postgres scales. " + "It works well. " * 12,
         "postgres", "…brown fox jumps over the lazy dog. Then Postgres scales. " + "It works well. " * 4 + "It…"),
        ("x" * 60 + "apple" + "y" * 200, "apple", "…" + "x" * 40 + "apple" + "y" * 75 + "…"),
        ("apple " + "y" * 200, "apple", "apple…"),
    ],
)  # fmt: skip
async def test_an_excerpt_has_whole_words(store, text, wanted, shown):
    await _filled(store, text)
    (found,) = await _found(store, wanted)
    assert found == shown.strip()
