"""A long conversation is sent whole up to a limit, and with a summary of its beginning from then on."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import FailureKind, NotFound, ProviderError
from app.core.events import Notice
from app.core.files import LONG_TEXT
from app.core.ids import new_id
from app.core.message import Attachment, Author, Message, MessageState, Role, SummaryNote, Usage
from app.core.provider import Finished, ModelFacts, ModelRequest
from app.core.session import Chat, ChatSession, Status
from app.core.settings import Settings
from app.core.tool import FILE_PARTS, Tool, ToolContext, ToolResult
from app.engine.chat.commands import ChatStart
from app.engine.history import QUOTED_SHARE, quotes, request_tokens, tokens_of
from tests.builders import Bench, Script, a_bench, a_log_store, user_said
from tests.engine.request_rules import as_sent, check_legal, shared_bytes
from tests.engine.test_turn import a_tool, agent, calling
from tests.memory import MemoryStore, cut_around_summary

ASKS = "Write notes that will stand in place of its beginning"
FACT = "My boat is called Marigold."
SUMMARY = "The user owns the boat Marigold. Much was said about it."


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = _bench(a_log_store(tmp_path))
    yield bench
    await bench.engine.shutdown()


def _bench(
    store: object,
    window: int = 1_000_000,
    history: str = "thrifty",
    ada: Agent | None = None,
    tools: Sequence[Tool] = (),
) -> Bench:
    bench = a_bench(store, agents=(ada or agent(),), tools=tools)  # type: ignore[arg-type]
    _know(bench, window)
    bench.models.otherwise = _answer
    bench.documents._settings = replace(Settings(), history=history, max_month_usd=0.0)
    return bench


def _know(bench: Bench, window: int) -> None:
    """Let the model have a window of so many tokens."""
    facts = ModelFacts(window=window, most_output=min(4_000, window // 4))
    bench.models.known_facts = lambda provider, model: facts  # type: ignore[method-assign]


def asks_for_summary(request: ModelRequest) -> bool:
    return ASKS in str(request.messages[-1]["content"])


def _answer(request: ModelRequest) -> Script:
    return [SUMMARY] if asks_for_summary(request) else [_words(1_500)]


_PROSE = " ".join((Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8").split())


def _words(characters: int) -> str:
    return (_PROSE * (1 + characters // len(_PROSE)))[:characters].strip()


async def _talk(bench: Bench, turns: int, length: int = 300) -> str:
    """Have a chat of so many turns and return its id; the first message holds the fact."""
    session_id = await bench.engine.chats.start("main", f"{FACT} {_words(length)}")
    await bench.engine.wait(session_id)
    for number in range(1, turns):
        await bench.engine.chats.send(session_id, f"Question {number}: {_words(length)}")
        assert (await bench.engine.wait(session_id)).status == Status.IDLE
    return session_id


def _summaries(bench: Bench, session_id: str) -> list[Message]:
    return [one for one in bench.messages(session_id) if one.role == Role.SUMMARY]


def _calls(bench: Bench) -> list[ModelRequest]:
    return [one for one in bench.models.requests if not asks_for_summary(one)]


async def test_below_the_limit_all_is_sent(made: Bench) -> None:
    await _talk(made, 30)
    last = as_sent(made.models.requests[-1])
    assert FACT in last and all(f"Question {number}:" in last for number in range(1, 30))
    assert not any(asks_for_summary(one) for one in made.models.requests)


async def test_above_it_a_summary_is_sent_in_place_of_the_beginning(made: Bench) -> None:
    session_id = await _talk(made, 60)
    found = _summaries(made, session_id)
    assert 1 <= len(found) <= 3 and {one.note for one in found} == {SummaryNote.AUTO}
    for request in made.models.requests:
        check_legal(request)
        assert request_tokens(request) < 26_000
    last = as_sent(_calls(made)[-1])
    assert "Marigold" in last and "is summarised here" in last
    assert len(_calls(made)[-1].messages) < 80 and "Question 59:" in last
    assert all("Marigold" in as_sent(one) for one in _calls(made))
    assert (found[-1].usage, found[-1].model) != (None, "")


async def test_the_request_for_a_summary_begins_as_the_last_one_did(made: Bench) -> None:
    await _talk(made, 60)
    requests = made.models.requests
    place = next(at for at, one in enumerate(requests) if asks_for_summary(one))
    before, asked = requests[place - 1], requests[place]
    assert asked.tools == before.tools and as_sent(asked).startswith(as_sent(before))
    assert asked.cache is not None and before.cache is not None and asked.cache.key == before.cache.key
    assert (asked.cache.tail, before.cache.tail) == (True, False)
    # The summary stays the same for longer than what follows it.
    assert (before.cache.brief, requests[place + 1].cache and requests[place + 1].cache.brief) == (
        False,
        True,
    )
    assert 'it begins with the message "Question' in str(asked.messages[-1]["content"])


async def test_a_summary_is_on_the_disk_before_the_call_that_follows(
    made: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, flush = list[str](), made.store.flush

    async def noted(session_id: str) -> None:
        count = len(_summaries(made, session_id))
        await flush(session_id)
        order.append(f"saved {count}")

    def answer(request: ModelRequest) -> Script:
        order.append("summary" if asks_for_summary(request) else "answer")
        return _answer(request)

    monkeypatch.setattr(made.store, "flush", noted)
    made.models.otherwise = answer
    session_id = await _talk(made, 12, 9_000)
    places = [place for place, what in enumerate(order) if what == "summary"]
    assert len(places) == len(_summaries(made, session_id)) >= 1
    for number, place in enumerate(places, 1):
        assert order[place + 1 : place + 3] == [f"saved {number}", "answer"]


@pytest.mark.parametrize("ticked", [True, False])
async def test_another_model_that_may_read_it_is_given_the_chat_as_one_text(
    made: Bench, ticked: bool
) -> None:
    made.documents._settings = replace(
        made.documents._settings,
        helper_model="remote1/model-1",
        may_read_any=("remote1",) if ticked else (),
    )
    session_id = await _talk(made, 60)
    asked = [one for one in made.models.requests if asks_for_summary(one)]
    assert {one.provider for one in _calls(made)} == {"remote0"} and asked
    if not ticked:
        assert {one.provider for one in asked} == {"remote0"}
        return
    assert {(one.provider, one.model) for one in asked} == {("remote1", "model-1")}
    (sent,) = asked[0].messages
    assert FACT in str(sent["content"]) and "[assistant]" in str(sent["content"]) and not asked[0].tools
    assert {one.model for one in _summaries(made, session_id)} == {"remote1/model-1"}
    assert made.engine.summaries.writer_of(session_id) == "model-1"


async def test_nothing_of_what_was_said_is_changed_and_it_all_comes_back(tmp_path: Path) -> None:
    made = _bench(a_log_store(tmp_path))
    session_id = await _talk(made, 60)
    said = made.messages(session_id)
    await made.engine.shutdown()
    again = _bench(a_log_store(tmp_path))
    live = await again.engine.open(session_id)
    assert live.messages == said
    assert [one.role for one in live.messages if one.role != Role.SUMMARY] == [Role.USER, Role.ASSISTANT] * 60
    await again.engine.chats.send(session_id, "And now?")
    await again.engine.wait(session_id)
    [request] = again.models.requests
    assert "Marigold" in as_sent(request) and len(request.messages) < 80
    await again.engine.shutdown()


BAD: dict[str, Callable[[], Script]] = {
    "empty": lambda: ["  "],
    "longer": lambda: [_words(90_000)],
    "cut": lambda: [SUMMARY, Finished(reason="length", usage=Usage(input_tokens=10, output_tokens=5))],
    "refused": lambda: [
        "No.",
        Finished(reason="content_filter", usage=Usage(input_tokens=10, output_tokens=5)),
    ],
    "calls": lambda: calling(("find", {}), text=SUMMARY),
    "failed": lambda: [ProviderError(FailureKind.BAD_REQUEST)],
}


@pytest.mark.parametrize("how", BAD)
async def test_a_bad_summary_is_asked_for_once_more_then_an_extract_is_made(how: str, made: Bench) -> None:
    made.models.otherwise = lambda request: BAD[how]() if asks_for_summary(request) else [_words(1_500)]
    session_id = await _talk(made, 58)
    [found] = _summaries(made, session_id)
    assert (found.note, found.model, found.usage) == (SummaryNote.EXTRACT, "", None)
    assert FACT in found.content
    assert sum(asks_for_summary(one) for one in made.models.requests) == 2
    assert FACT in as_sent(made.models.requests[-1])


async def test_a_bad_first_attempt_and_a_good_second(made: Bench) -> None:
    bad = [BAD["empty"]()]
    made.models.otherwise = lambda request: (
        bad.pop() if bad and asks_for_summary(request) else _answer(request)
    )
    session_id = await _talk(made, 58)
    [found] = _summaries(made, session_id)
    assert found.note == SummaryNote.AUTO and SUMMARY in found.content
    live = made.engine.live(session_id)
    assert live is not None and len(live.session.unsaid) == 1


async def test_a_context_error_while_summarising_makes_an_extract_at_once(made: Bench) -> None:
    def answer(request: ModelRequest) -> Script:
        return [ProviderError(FailureKind.CONTEXT_WINDOW)] if asks_for_summary(request) else [_words(1_500)]

    made.models.otherwise = answer
    session_id = await _talk(made, 58)
    assert [one.note for one in _summaries(made, session_id)] == [SummaryNote.EXTRACT]
    assert sum(asks_for_summary(one) for one in made.models.requests) == 1


async def test_a_rate_limit_while_summarising_changes_nothing(made: Bench) -> None:
    limited = ProviderError(FailureKind.RATE_LIMIT, retry_after=9_999.0)
    made.models.otherwise = lambda request: [limited] if asks_for_summary(request) else [_words(1_500)]
    session_id = await _talk(made, 20)
    assert not _summaries(made, session_id)


async def test_after_a_request_that_was_too_long_half_of_it_is_summarised(made: Bench) -> None:
    """The provider's window is smaller than anybody knew."""

    def answer(request: ModelRequest) -> Script:
        if request_tokens(request) > 9_000:
            return [ProviderError(FailureKind.CONTEXT_WINDOW)]
        return _answer(request)

    made.models.otherwise = answer
    session_id = await _talk(made, 30)
    assert _summaries(made, session_id)
    states = {one.state for one in made.messages(session_id)}
    assert states == {MessageState.DONE}
    assert all("Marigold" in as_sent(one) for one in _calls(made))


async def test_a_model_that_cannot_read_it_whole_summarises_it_part_by_part(made: Bench) -> None:
    session_id = await _talk(made, 40)
    _know(made, 8_192)
    before = len(made.models.requests)
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    found = _summaries(made, session_id)
    assert len(found) >= 3
    assert len({one.through for one in found}) == len(found)
    assert all(request_tokens(one) < 8_192 for one in made.models.requests[before:])
    assert "Marigold" in as_sent(made.models.requests[-1])


async def test_early_results_of_a_long_turn_are_shortened(tmp_path: Path) -> None:
    async def find(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(content=f"Found number {arguments['number']}.\n" + _words(3_000))

    tool = a_tool("find", find)
    ada = agent(tools=("find",), max_steps=60)
    made = _bench(a_log_store(tmp_path), window=16_000, ada=ada, tools=(tool,))
    calls = [calling(("find", {"number": number})) for number in range(40)]
    made.models.otherwise = lambda request: calls.pop(0) if calls else ["Done."]
    session_id = await made.engine.chats.start("main", "Look everywhere.")
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    found = _summaries(made, session_id)
    assert 1 <= len(found) <= 8 and {one.note for one in found} == {SummaryNote.PRUNED}
    assert '- find({"number": 0}) → Found number 0.' in found[0].content
    for request in made.models.requests:
        check_legal(request)
        assert request_tokens(request) < 16_000
    results = [str(one["content"]) for one in made.models.requests[-1].messages if one["role"] == "tool"]
    assert len(results) == 40 and all(len(one) > 3_000 for one in results[-10:])
    assert "left out; it had" in results[0]
    await made.engine.shutdown()


KILLED_TURNS = 58


async def test_killed_at_any_point_it_comes_to_the_same_summary_and_asks_for_none_twice() -> None:
    store = MemoryStore()
    made = _bench(store)
    session_id = await _talk(made, KILLED_TURNS)
    [summary] = _summaries(made, session_id)
    left = list(cut_around_summary(store))
    await made.engine.shutdown()
    for rest, saved in left:
        again = _bench(rest)
        await again.engine.open(session_id)
        await again.engine.resume(session_id)
        await again.engine.wait(session_id)
        [found] = _summaries(again, session_id)
        assert (found.through, found.content) == (summary.through, summary.content)
        assert sum(asks_for_summary(one) for one in again.models.requests) == (0 if saved else 1)
        assert len(_calls(again)) == 1
        await again.engine.shutdown()


@pytest.mark.parametrize(
    ("history", "most", "share"),
    [("thrifty", 12, 0.65), pytest.param("default", 2, 0.8, marks=pytest.mark.slow)],
)
async def test_200_turns_with_summaries_cost_less_than_a_window_of_15(
    history: str, most: int, share: float, tmp_path: Path
) -> None:
    """What is read from a warm cache costs a tenth, what is written to it a quarter more; in bytes at full price."""
    tools = tuple(a_tool(f"tool{number}", description=_words(500)) for number in range(10))
    ada = agent(tools=tuple(tool.key for tool in tools), instructions=_words(1_000))
    made = _bench(a_log_store(tmp_path), history=history, ada=ada, tools=tools)
    session_id = await _talk(made, 200)
    cost, before = 0.0, None
    for request in made.models.requests:
        shared, size = shared_bytes(before, request) if before else (0, len(as_sent(request).encode()))
        cost += 0.1 * shared + 1.25 * (size - shared)
        before = request
    first = made.models.requests[0]
    system = len(json.dumps(first.tools)) + len(str(first.messages[0]["content"]))
    said = [len(one.content) for one in made.messages(session_id) if one.role in (Role.USER, Role.ASSISTANT)]
    window = sum(system + sum(said[max(0, end - 15) : end]) for end in range(1, len(said), 2))
    print(f"{history}: {cost / window:.3f} of the cost, {len(_summaries(made, session_id))} summaries")
    assert cost <= share * window
    assert 1 <= len(_summaries(made, session_id)) <= most
    await made.engine.shutdown()


async def test_a_summary_that_was_asked_for_edited_put_aside_and_used_again(made: Bench) -> None:
    session_id = await _talk(made, 6)
    commands, last = made.engine.summaries, lambda: as_sent(_calls(made)[-1])
    before = commands.use_of(session_id)
    await commands.make(session_id)
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    [asked] = _summaries(made, session_id)
    after = commands.use_of(session_id)
    assert asked.note == SummaryNote.ASKED and before and after and after.tokens < before.tokens
    await commands.edit(session_id, asked.id, "The user sails.")
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    assert "The user sails." in last() and SUMMARY not in last()
    edited = _summaries(made, session_id)[-1]
    assert (edited.note, edited.through, edited.usage) == (SummaryNote.EDITED, asked.through, None)
    await commands.use(session_id, asked.id, used=True)
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    assert SUMMARY in last() and "The user sails." not in last()
    await commands.use(session_id, asked.id, used=False)
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    assert SUMMARY not in last() and FACT in last()
    await commands.redo(session_id, edited.id)
    await made.engine.wait(session_id)
    assert len(_summaries(made, session_id)) == 3
    user = next(one for one in made.messages(session_id) if one.role == Role.USER)
    with pytest.raises(NotFound):
        await commands.edit(session_id, user.id, "no")


async def test_the_gauge_and_a_summary_count_the_effort_and_the_tool_for_long_files_too(
    tmp_path: Path,
) -> None:
    made = _bench(
        a_log_store(tmp_path), tools=(a_tool("read", group=FILE_PARTS, description=_words(20_000)),)
    )
    book = Attachment(name="book.txt", text="word " * LONG_TEXT)
    session_id = await made.engine.chats.start("main", FACT, (book,), effort="high")
    await made.engine.wait(session_id)
    await made.engine.chats.send(session_id, "And now?")
    await made.engine.wait(session_id)
    use = made.engine.summaries.use_of(session_id)
    await made.engine.summaries.make(session_id)
    await made.engine.wait(session_id)
    before, asked = made.models.requests[-2:]
    assert asks_for_summary(asked) and before.tools and use and use.tokens >= request_tokens(before)
    assert (asked.tools, asked.effort) == (before.tools, before.effort) == (before.tools, "high")
    await made.engine.shutdown()


async def test_asked_for_too_early_nothing_is_summarised(made: Bench) -> None:
    session_id = await _talk(made, 1)
    await made.engine.summaries.make(session_id)
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    assert not _summaries(made, session_id)
    assert [one.code for one in made.events if isinstance(one, Notice)] == ["nothing_summarised"]


async def _imported(made: Bench, turns: int) -> str:
    """Bring in a long chat of another program and return its id."""
    messages: list[Message] = []
    for number in range(turns):
        first = f"{FACT} " if not number else ""
        said = replace(
            user_said(f"{first}Question {number}: {_words(300)}"),
            follows=messages[-1].turn_id if messages else "",
        )
        author = Author(id="chatgpt", name="gpt-4o", path=("chatgpt",))
        answer = replace(
            said, id=new_id(), turn_id=new_id(), role=Role.ASSISTANT, author=author, follows=said.turn_id
        )
        messages += [said, replace(answer, content=_words(1_500))]
    chat = Chat(assistant_id="main", assistant_name="Main", head=messages[-1].turn_id)
    session = ChatSession(id=new_id(), title="Old", status=Status.IDLE, source="chatgpt/1", chat=chat)
    await made.store.bring_in(session, messages)
    await made.engine.open(session.id)
    return session.id


async def _choose(made: Bench, choice: str) -> str:
    session_id = await _imported(made, 60)
    use = made.engine.summaries.to_choose(session_id)
    assert use is not None and use.tokens > use.limit == 24_000
    assert not made.models.requests
    await made.engine.summaries.choose(session_id, choice)
    assert made.engine.summaries.to_choose(session_id) is None
    await made.engine.chats.send(session_id, "Go on.")
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    return session_id


async def test_an_imported_chat_is_summarised_first(made: Bench) -> None:
    session_id = await _choose(made, ChatStart.SUMMARY)
    assert [one.note for one in _summaries(made, session_id)] == [SummaryNote.AUTO]
    assert request_tokens(_calls(made)[-1]) < 24_000 and "Marigold" in as_sent(_calls(made)[-1])


async def test_an_imported_chat_is_sent_whole(made: Bench) -> None:
    session_id = await _choose(made, ChatStart.ALL)
    assert not _summaries(made, session_id)
    assert "Question 0:" in as_sent(made.models.requests[-1])


async def test_of_an_imported_chat_the_last_part_is_sent(made: Bench) -> None:
    session_id = await _choose(made, ChatStart.LAST_PART)
    assert [one.note for one in _summaries(made, session_id)] == [SummaryNote.EXTRACT]
    [request] = made.models.requests
    check_legal(request)
    assert (
        request_tokens(request) < 24_000 and "Question 59:" in as_sent(request) and FACT in as_sent(request)
    )


async def test_an_imported_chat_that_is_too_long_for_the_model_is_summarised_part_by_part(
    made: Bench,
) -> None:
    _know(made, 16_000)
    session_id = await _imported(made, 120)
    await made.engine.summaries.choose(session_id, ChatStart.SUMMARY)
    await made.engine.chats.send(session_id, "Go on.")
    assert (await made.engine.wait(session_id)).status == Status.IDLE
    found = _summaries(made, session_id)
    assert len(found) >= 4 and len({one.through for one in found}) == len(found)
    assert all(request_tokens(one) < 16_000 for one in made.models.requests)
    assert "Marigold" in as_sent(made.models.requests[-1])


@pytest.mark.parametrize(("less", "quoted"), [(-1_000_000, 4), (0, 2), (1, 1)])
def test_the_newest_words_of_the_user_are_quoted_as_far_as_a_share_of_the_limit_goes(
    less: int, quoted: int
) -> None:
    """The limit less this leaves room for exactly two of four messages, or for a token less."""
    messages = [user_said(f"{place} {'word ' * 50}".strip()) for place in range(4)]
    [each] = {tokens_of(one.content) for one in messages}
    found = quotes([*messages, replace(messages[0], content="  ")], 2 * each * QUOTED_SHARE - less)
    assert found == [one.content for one in messages[4 - quoted :]]
