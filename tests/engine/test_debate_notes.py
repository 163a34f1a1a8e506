"""Running notes of debates: what they stand for, who reads them, and that a debate never waits for them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.printing.chats import DebatePrinter
from app.core.errors import BadInput, FailureKind, ProviderError
from app.core.events import Notice
from app.core.message import Message, Role, Usage
from app.core.provider import Finished, FinishReason, ModelRequest
from app.core.session import Status
from app.core.settings import DebateHistory, Settings
from app.core.texts import Texts
from app.engine.debate.perspective import Turn, chat_request, notes_sent, transcript_request
from tests.builders import PROMPTS, Bench, Script, a_bench, a_debate, a_setup, until
from tests.engine.request_rules import as_sent
from tests.memory import MemoryStore, cut_around_summary

TEXTS = Texts.load(Path(__file__).parents[2] / "resources" / "i18n", "en")
NOTES = "Everybody counted, from (1) on."


def asks_for_notes(request: ModelRequest) -> bool:
    return "Write the running notes" in as_sent(request)


def _bench(store: MemoryStore, notes: Callable[[ModelRequest], Script] = lambda _: [NOTES]) -> Bench:
    bench = a_bench(store)

    def answer(request: ModelRequest) -> Script:
        if asks_for_notes(request):
            return notes(request)
        said = sum(not asks_for_notes(one) for one in bench.models.requests) - 1
        return [f"Point number {said}. " + "And so on. " * 40]

    bench.models.otherwise = answer
    return bench


def _notes(bench: Bench, session_id: str) -> list[Message]:
    return [one for one in bench.messages(session_id) if one.role == Role.SUMMARY]


def _calls(bench: Bench) -> list[ModelRequest]:
    return [one for one in bench.models.requests if asks_for_notes(one)]


def _turns(bench: Bench) -> list[str]:
    return [as_sent(one) for one in bench.models.requests if not asks_for_notes(one)]


def _points(text: str) -> list[int]:
    return [number for number in range(60) if f"Point number {number}." in text]


async def test_what_left_the_window_is_in_notes_and_nothing_falls_between() -> None:
    made = _bench(MemoryStore())
    session_id = await made.run(a_setup(5, rounds=7))
    first, second = _notes(made, session_id)
    turns = _turns(made)
    # Up to the last full round, so that they overlap the 15: by the first up to statement 15, by the second up to 30.
    assert [_points(as_sent(one)) for one in _calls(made)] == [list(range(15)), list(range(15, 30))]
    assert "(15) Mistral, 3: Point number 14." in as_sent(_calls(made)[0])
    assert NOTES in as_sent(_calls(made)[1]), "the earlier notes are merged into the new ones"
    assert not any(NOTES in one for one in turns[:16]) and all(NOTES in one for one in turns[16:])
    assert [_points(one) for one in turns[15:18]] == [list(range(15)), list(range(1, 16)), list(range(2, 17))]
    assert (first.model, first.note, first.author.kind, first.round) == (
        "remote0/model-0",
        "auto",
        "notes",
        4,
    )
    assert first.usage is not None and (first.replaces or 0) > 1_000
    said = [one for one in made.messages(session_id) if one.role != Role.SUMMARY]
    assert (said[14].turn_id, said[29].turn_id) == (first.through, second.through)
    assert made.debate_of(session_id).status == Status.COMPLETED
    printed = DebatePrinter(TEXTS).message(first)
    assert "  Notes on the debate so far: " in printed and NOTES not in printed
    markdown = await made.engine.export(session_id, "md")
    assert NOTES not in markdown and markdown.count("Point number") == 35
    twin = await made.engine.debates.fork(session_id, said[20].id)
    assert len(made.messages(twin)) == 21 and not _notes(made, twin)
    await made.engine.shutdown()


async def test_a_debate_whose_statements_are_all_sent_makes_no_notes() -> None:
    made = _bench(MemoryStore())
    await made.run(a_setup(5, rounds=3))
    assert not _calls(made)
    made.documents._settings = replace(Settings(), debate_history=DebateHistory.ALL)
    await made.run(a_setup(5, rounds=5))
    assert not _calls(made)
    await made.engine.shutdown()


def test_nobody_reads_notes_before_an_independent_opening() -> None:
    debate = a_debate(3, independent_opening=True)
    speaker = debate.participants[0]
    first = Turn(debate=debate, messages=(), speaker=speaker, round=1, notes=NOTES)
    for make in (chat_request, transcript_request):
        assert NOTES not in as_sent(make(first, PROMPTS))
        assert NOTES in as_sent(make(replace(first, round=2), PROMPTS))


@pytest.mark.parametrize(
    "bad",
    [
        [ProviderError("network", "no route")],
        [ProviderError(FailureKind.CONTEXT_WINDOW)],
        ["  "],
        ["Half of", Finished(reason=FinishReason.LENGTH, usage=Usage(input_tokens=9, output_tokens=9))],
        ["No.", Finished(reason=FinishReason.CONTENT_FILTER, usage=Usage(input_tokens=9, output_tokens=9))],
        ["No.", Finished(reason=FinishReason.REFUSAL, usage=Usage(input_tokens=9, output_tokens=9))],
        ["More than what they stand for. " * 600],
    ],
)
async def test_without_notes_the_debate_goes_on_and_says_so_once(bad: Script) -> None:
    made = _bench(MemoryStore(), lambda _: bad)
    session_id = await made.run(a_setup(5, rounds=6))
    assert made.debate_of(session_id).status == Status.COMPLETED
    assert len(_turns(made)) == 30 and not _notes(made, session_id)
    told = [one for one in made.events if isinstance(one, Notice) and one.code == "notes_failed"]
    assert len(told) == 1
    # Two participants are asked once in a round, not before each turn.
    assert len(_calls(made)) == 2 * 3
    await made.engine.shutdown()


async def test_the_next_participant_writes_them_where_the_first_cannot() -> None:
    made = _bench(MemoryStore(), lambda one: ["Fine."] if one.provider == "remote1" else ["  "])
    session_id = await made.run(a_setup(5, rounds=4))
    [notes] = _notes(made, session_id)
    assert (notes.author.name, notes.content) == ("Claude", "Fine.")
    assert [one.input_tokens for one in made.debate_of(session_id).unsaid] == [10]
    await made.engine.shutdown()


async def test_notes_are_edited_put_aside_and_made_again() -> None:
    made = _bench(MemoryStore())
    session_id = await made.engine.debates.start(a_setup(5, rounds=5))
    await until(lambda: bool(made.engine.live(session_id) and _notes(made, session_id)))
    await made.engine.pause(session_id)
    await made.engine.wait(session_id)
    [notes] = _notes(made, session_id)

    live = made.engine.live(session_id)
    assert live is not None

    def sent() -> str:
        return notes_sent(live)

    assert sent() == NOTES
    await made.engine.summaries.edit(session_id, notes.id, "As I heard it.")
    assert sent() == "As I heard it."
    edited = _notes(made, session_id)[-1]
    await made.engine.summaries.use(session_id, edited.id, used=False)
    assert sent() == ""
    await made.engine.summaries.use(session_id, notes.id, used=True)
    made.models.script = [["Anew."]]
    await made.engine.debates.redo_notes(session_id, notes.id)
    assert sent() == "Anew." and _points(as_sent(_calls(made)[-1])) == list(range(15))
    made.models.script = [["  "], ["  "]]
    with pytest.raises(BadInput, match="notes_failed"):
        await made.engine.debates.redo_notes(session_id, _notes(made, session_id)[-1].id)
    assert sent() == "Anew."
    before = len(_calls(made))
    await made.engine.resume(session_id)
    await made.engine.wait(session_id)
    assert len(_calls(made)) == before and "Anew." in _turns(made)[-1]
    await made.engine.shutdown()


async def test_killed_at_any_point_it_comes_to_the_same_notes_and_asks_for_none_twice() -> None:
    store = MemoryStore()
    made = _bench(store)
    session_id = await made.run(a_setup(5, rounds=4))
    [notes] = _notes(made, session_id)
    left = list(cut_around_summary(store))
    await made.engine.shutdown()
    for rest, saved in left:
        again = _bench(rest)
        await again.engine.open(session_id)
        await again.engine.resume(session_id)
        await again.engine.wait(session_id)
        [found] = _notes(again, session_id)
        assert (found.through, found.content) == (notes.through, notes.content)
        assert len(_calls(again)) == (0 if saved else 1)
        said = [one for one in again.messages(session_id) if one.role == Role.ASSISTANT and not one.error]
        assert len({(one.author.id, one.round) for one in said}) == 20
        await again.engine.shutdown()


async def test_notes_are_on_the_disk_before_the_call_that_follows() -> None:
    store = MemoryStore()
    made = _bench(store)
    answer, left = made.models.otherwise, list[MemoryStore]()

    def kept(request: ModelRequest) -> Script:
        if NOTES in as_sent(request) and not asks_for_notes(request):
            left.append(store.killed())
        return answer(request)

    made.models.otherwise = kept
    session_id = await made.run(a_setup(5, rounds=4))
    await made.engine.shutdown()
    assert len(left) == 4, "the turns behind the notes"
    again = _bench(left[0])
    await again.engine.open(session_id)
    await again.engine.resume(session_id)
    await again.engine.wait(session_id)
    assert len(_notes(again, session_id)) == 1 and not _calls(again)
    await again.engine.shutdown()
