"""Results with a page (`ui://`) stop the loop, whoever made them (P3), and each answer finds its question (P4).

Real MCP servers behind the real tool host, Moot's own promptUser, a real log; the model follows a script.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.errors import BadInput, NotFound
from app.core.message import Consent, Message, MessageState, PromptReason, PromptType, Role
from app.core.servers import McpServer
from app.core.session import Status
from app.tools.toolbox import Toolbox
from tests.builders import Bench, Script, a_bench, a_log_store
from tests.engine.test_turn import ANSWER, calling, status
from tests.split_hosts import loaded_tool_host, own_host, split_tool_hosts  # noqa: F401
from tests.tools.serving import SERVERS
from tests.tools.serving import Bench as Served

ASSISTANT = Agent(
    id="main",
    name="Main",
    provider="remote0",
    model="model-0",
    tools=("promptUser",),
    mcp_servers=("pages",),
)
ENTRY = McpServer(name="pages", command=sys.executable, args=(str(SERVERS / "pages.py"),))


class House:
    """Engines on one data directory, each with real servers, as one start of Moot after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: tuple[Bench, Toolbox] | None = None

    async def start(self, *script: Script, serve: bool = True) -> Bench:
        """Start Moot anew, with a model that says `script`; `serve` connects the MCP server."""
        await self.close()
        served = Served(self._folder, None)
        if serve:
            await served.connect(ENTRY)
        tools = served.servers
        store = a_log_store(self._folder)
        await asyncio.to_thread(store.prepare)
        made = a_bench(store, script=list(script), agents=(ASSISTANT,), toolbox=tools)
        self._open = (made, tools)
        return made

    async def close(self) -> None:
        if self._open is not None:
            made, tools = self._open
            self._open = None
            await made.engine.shutdown()
            await tools.close()


@pytest.fixture
async def house(data_dir: Path) -> AsyncIterator[House]:
    made = House(data_dir)
    yield made
    await made.close()


async def ask(made: Bench, *, allow: bool = True) -> str:
    """Start a chat; allow what the servers' tools ask for, until nothing runs any more."""
    session_id = await made.engine.chats.start("main", "Do it.")
    await made.engine.wait(session_id)
    while allow and (
        approvals := questions(made, session_id, lambda one: one.prompt.type == PromptType.APPROVAL)
    ):  # type: ignore[union-attr]
        await made.engine.chats.answer(session_id, approvals[0].id, Consent.ALLOW)
        await made.engine.wait(session_id)
    return session_id


def questions(
    made: Bench, session_id: str, wanted: Callable[[Message], bool] = lambda one: True
) -> list[Message]:
    return [one for one in made.messages(session_id) if one.asks and wanted(one)]


def results(made: Bench, session_id: str) -> dict[str, Message]:
    return {one.tool_call_id or "": one for one in made.messages(session_id) if one.role == Role.TOOL}


def roles(made: Bench, request: int) -> list[str]:
    """Return the roles of what a request says behind the user's first words."""
    return [str(one["role"]) for one in made.models.requests[request].messages[2:]]


async def test_a_servers_page_waits_with_the_tools_words_and_the_siblings_keep_their_results(
    house: House,
) -> None:
    calls = calling(("pages__plain", {}), ("pages__day", {"which": "the fair"}), ("pages__plain", {"x": 1}))
    made = await house.start(calls, [ANSWER])
    session_id = await ask(made)
    assert status(made, session_id) == Status.WAITING
    assert len(made.models.requests) == 1
    found = results(made, session_id)
    assert [found[f"call_{n}"].content for n in (0, 2)] == ["just words", "just words"]
    page = found["call_1"]
    [resource] = page.resources
    assert resource["resource"]["uri"] == "ui://day/1"  # type: ignore[index]
    prompt = page.prompt
    assert prompt is not None and page.control == "wait"
    assert (prompt.question, prompt.type, prompt.reason) == (
        "Which day for the fair?",
        PromptType.TEXT,
        PromptReason.PAGE,
    )
    assert (prompt.tool, prompt.server, prompt.arguments) == (
        "pages__day",
        "pages",
        '{"which": "the fair"}',
    )

    await made.engine.chats.answer(session_id, page.id, "Monday")
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.IDLE
    assert roles(made, 1) == ["assistant", "tool", "tool", "tool", "user"]
    sent = made.models.requests[1].messages
    assert sent[-1]["content"] == "Monday"
    # The model reads what the tool said, and never the page.
    assert str(sent[4]["content"]).startswith("Which day for the fair?")
    assert "script" not in str(sent)
    assert results(made, session_id)["call_1"].resources == page.resources


KINDS: tuple[tuple[str, dict[str, str], str, str], ...] = (
    ("silent", {}, "pages__silent", MessageState.DONE),
    ("fails", {}, "No seats left", MessageState.FAILED),
    ("board", {"title": "A"}, "The board A", MessageState.DONE),
    ("odd", {"kind": "blob"}, "odd: blob", MessageState.DONE),
    ("odd", {"kind": "address"}, "odd: address", MessageState.DONE),
    ("odd", {"kind": "remote-dom"}, "odd: remote-dom", MessageState.DONE),
    ("odd", {"kind": "wrong"}, "odd: wrong", MessageState.DONE),
)


async def test_every_kind_of_page_waits_with_words_that_are_not_html(house: House) -> None:
    made = await house.start(calling(*((f"pages__{tool}", given) for tool, given, _, _ in KINDS)), [ANSWER])
    session_id = await ask(made)
    for number, (_, _, words, state) in enumerate(KINDS):
        result = results(made, session_id)[f"call_{number}"]
        assert (result.state, result.asks, len(result.resources)) == (state, True, 1)
        assert result.prompt is not None and result.prompt.question == words
        await made.engine.chats.dismiss(session_id, result.id)
        await made.engine.wait(session_id)
    assert status(made, session_id) == Status.IDLE
    read = [str(one["content"]) for one in made.models.requests[-1].messages if one["role"] == "tool"]
    assert len(read) == len(KINDS)
    assert all(text.endswith("The user skipped the question.") for text in read)
    assert "No seats left" in read[1]


async def test_a_page_that_is_too_large_is_told_in_words_and_does_not_wait(house: House) -> None:
    made = await house.start(calling(("pages__odd", {"kind": "huge"})), [ANSWER])
    session_id = await ask(made)
    result = results(made, session_id)["call_0"]
    assert (result.prompt, result.resources) == (None, ())
    assert result.content == "odd: huge\n[a page, 3000000 characters, not shown]"
    assert status(made, session_id) == Status.IDLE


THREE = calling(
    ("promptUser", {"question": "Sure?", "type": "yesno"}),
    ("pages__day", {"which": "the fair"}),
    ("promptUser", {"question": "Which?", "type": "options", "options": ["CSV", "JSON"]}),
)


async def test_several_questions_are_each_answered_in_any_order_before_the_model_goes_on(
    house: House,
) -> None:
    orders = ((0, 1, 2), (2, 1, 0), (1, 2, 0))
    made = await house.start(*(THREE, [ANSWER]) * len(orders))
    for order in orders:
        made.models.requests.clear()
        session_id = await ask(made)
        found = results(made, session_id)
        assert [found[f"call_{n}"].prompt.type for n in range(3)] == [
            PromptType.YESNO,
            PromptType.TEXT,
            PromptType.OPTIONS,
        ]  # type: ignore[union-attr]
        answers = ["yes", "Monday", "JSON"]
        for place, number in enumerate(order):
            assert (status(made, session_id), len(made.models.requests)) == (Status.WAITING, 1)
            assert len(questions(made, session_id)) == 3 - place
            await made.engine.chats.answer(session_id, found[f"call_{number}"].id, answers[number])
            await made.engine.wait(session_id)
        assert (status(made, session_id), len(made.models.requests)) == (Status.IDLE, 2)
        # In the order of the calls, whatever the order of the answers.
        assert roles(made, 1) == ["assistant", "tool", "tool", "tool", "user"]
        assert made.models.requests[1].messages[-1]["content"] == "yes\n\nMonday\n\nJSON"
        said = {one.answers: one.content for one in made.messages(session_id) if one.answers}
        assert [said[found[f"call_{n}"].id] for n in range(3)] == answers


async def test_questions_outlive_moot_and_are_answered_one_start_after_the_other(house: House) -> None:
    made = await house.start(THREE)
    session_id = await ask(made)
    found = results(made, session_id)
    for number, answer in ((1, "Monday"), (0, "yes")):
        made = await house.start(serve=False)
        await made.engine.open(session_id)
        await made.engine.chats.answer(session_id, found[f"call_{number}"].id, answer)
        await made.engine.wait(session_id)
        assert (status(made, session_id), made.models.requests) == (Status.WAITING, [])
    made = await house.start([ANSWER], serve=False)
    await made.engine.open(session_id)
    assert [one.id for one in questions(made, session_id)] == [found["call_2"].id]
    page = results(made, session_id)["call_1"]
    assert page.resources == found["call_1"].resources
    await made.engine.chats.answer(session_id, found["call_2"].id, "2")
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.IDLE
    assert made.models.requests[0].messages[-1]["content"] == "yes\n\nMonday\n\nJSON"


async def test_an_answer_that_comes_too_late_is_refused_in_words(house: House) -> None:
    made = await house.start(THREE, [ANSWER], [ANSWER])
    session_id = await ask(made)
    found = results(made, session_id)
    first, second, third = (found[f"call_{n}"].id for n in range(3))
    answer = made.engine.chats.answer
    await answer(session_id, first, "yes")
    await made.engine.chats.dismiss(session_id, second)
    for closed in (first, second):
        with pytest.raises(BadInput, match="already_answered"):
            await answer(session_id, closed, "no")
        with pytest.raises(BadInput, match="already_answered"):
            await made.engine.chats.dismiss(session_id, closed)
    with pytest.raises(NotFound, match="message_not_found"):
        await answer(session_id, "0" * 26, "no")
    said = next(one for one in made.messages(session_id) if one.answers == first)
    with pytest.raises(BadInput, match="not_a_question"):
        await answer(session_id, said.id, "no")
    # Asked again: what waited in the version before is over.
    await made.engine.chats.retry(session_id, third)
    await made.engine.wait(session_id)
    with pytest.raises(BadInput, match="already_answered"):
        await answer(session_id, third, "CSV")
    assert sum(one.answers is not None and one.answers == first for one in made.messages(session_id)) == 1
    await made.engine.delete(session_id)
    with pytest.raises(NotFound):
        await answer(session_id, third, "CSV")


async def test_two_answers_at_once_count_as_one(house: House) -> None:
    made = await house.start(calling(("pages__day", {"which": "the fair"})), [ANSWER])
    session_id = await ask(made)
    page = results(made, session_id)["call_0"]
    await made.engine.chats.answer(session_id, page.id, "Monday")
    with pytest.raises(BadInput, match="already_answered"):
        await made.engine.chats.answer(session_id, page.id, "Tuesday")
    await made.engine.wait(session_id)
    assert [one.content for one in made.messages(session_id) if one.answers == page.id] == ["Monday"]
    assert len(made.models.requests) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"question": "Which?", "type": "options"}, "needs argument `options`"),
        (
            {"question": "Which?", "type": "options", "options": [str(n) for n in range(200)]},
            "holds 200 texts",
        ),
        ({"question": "Which?", "type": "options", "options": "CSV"}, "`options`"),
        ({"question": "Which?"}, "`type`"),
        ({"question": "Which?", "type": "dropdown"}, "`type`"),
        ({"type": "yesno"}, "`question`"),
        ({"question": "", "type": "text"}, "`question` is empty"),
    ],
)
async def test_a_question_that_cannot_be_asked_goes_back_to_the_model(
    house: House, arguments: object, words: str
) -> None:
    made = await house.start(calling(("promptUser", arguments)), [ANSWER], serve=False)
    session_id = await ask(made)
    result = results(made, session_id)["call_0"]
    assert (result.state, result.prompt, result.resources) == (MessageState.FAILED, None, ())
    assert words in result.content
    assert made.models.requests[1].messages[-1] == {
        "role": "tool",
        "tool_call_id": "call_0",
        "content": result.content,
    }
    assert status(made, session_id) == Status.IDLE


async def test_a_question_of_html_and_turned_letters_stays_as_it_was_asked(house: House) -> None:
    question = "<script>x()</script> \u202egnp.exe"
    calls = calling(("promptUser", {"question": question, "type": "text"}))
    made = await house.start(calls, [ANSWER], serve=False)
    session_id = await ask(made)
    [asked] = questions(made, session_id)
    assert asked.prompt is not None and asked.prompt.question == question
    assert asked.prompt.reason == ""
    assert "&lt;script&gt;x()" in str(asked.resources)
