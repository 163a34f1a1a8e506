"""Sub-agents: the guard, the tree that waits for the user three deep, stopping one, budgets, versions."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from app.core.definitions import Agent
from app.core.message import Author, MessageState, Role, new_message
from app.core.provider import ModelRequest
from app.core.session import Status
from app.core.tool import ToolError
from app.engine.library.agents import callable_by, delegation, failed
from tests.builders import Bench, Script, a_bench, a_log_store, left_open, until
from tests.engine.test_turn import ANSWER, _asker, a_tool, agent, calling, results, status


def crew() -> tuple[Agent, ...]:
    """Return a master who may call a and b, and a who may call c, who may ask the user."""
    return (
        agent("main", tools=("subAgent",), sub_agents=("a", "b")),
        agent("a", tools=("subAgent",), sub_agents=("c",), provider="", model=""),
        agent("b", provider="", model=""),
        agent("c", tools=("promptUser",), provider="", model=""),
    )


def who(request: ModelRequest) -> str:
    """Return the id of the agent a request is for."""
    return str(request.messages[0]["content"]).split(".")[0].removeprefix("You are ").lower()


def tree_of_four(request: ModelRequest) -> Script:
    """Answer as the crew's models would: a function of what each has said and heard."""
    name = who(request)
    heard = [one for one in request.messages if one["role"] == "tool"]
    if name == "main" and not heard:
        return calling(
            ("subAgent", {"name": "a", "task": "Ask around."}), ("subAgent", {"name": "b", "task": "Check."})
        )
    if name == "a" and not heard:
        return calling(("subAgent", {"name": "c", "task": "Ask the user."}))
    if name == "c" and not heard:
        return calling(("promptUser", {"question": "Red or blue?"}))
    return [f"{name} is done."]


def bench(tmp_path: Path, answer: Callable[[ModelRequest], Script], agents: Sequence[Agent]) -> Bench:
    made = a_bench(a_log_store(tmp_path), agents=agents, tools=(_asker(), a_tool("echo")))
    made.models.otherwise = answer
    left_open.append(made)
    return made


async def test_the_tree_waits_for_the_user_and_goes_on_from_the_innermost(tmp_path: Path) -> None:
    made = bench(tmp_path, tree_of_four, crew())
    session_id = await made.engine.chats.start("main", "Find out.")
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.WAITING
    [question] = [one for one in made.messages(session_id) if one.asks]
    assert question.author.path == ("main", "a", "c")
    assert question.author.depth == 2
    assert [one.id for _, one in made.engine.chats.needs_you()] == [question.id]
    await made.engine.chats.answer(session_id, question.id, "Blue")
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.IDLE
    order = [one.author.id for one in made.messages(session_id) if one.content.endswith("is done.")]
    assert order == ["b", "c", "a", "main"]
    answers = {one.author.id: one for one in made.messages(session_id) if one.content.endswith("is done.")}
    told = {
        json.loads(content)["messageId"] for _, content in results(made, session_id) if "messageId" in content
    }
    assert told == {answers[name].id for name in "abc"}
    ids = [one.id for one in made.messages(session_id)]
    assert len(ids) == len(set(ids))


async def test_the_tree_survives_a_restart_while_it_waits(tmp_path: Path) -> None:
    made = bench(tmp_path, tree_of_four, crew())
    session_id = await made.engine.chats.start("main", "Find out.")
    await made.engine.wait(session_id)
    await made.engine.shutdown()
    left_open.clear()
    again = bench(tmp_path, tree_of_four, crew())
    await again.engine.open(session_id)
    await again.engine.chats.send(session_id, "Blue")
    await again.engine.wait(session_id)
    assert status(again, session_id) == Status.IDLE
    assert [who(one) for one in again.models.requests] == ["c", "a", "main"]


async def test_a_sibling_still_runs_while_one_waits_and_the_answer_wakes_it(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def slow_b(request: ModelRequest) -> Script:
        return [gate, "b is done."] if who(request) == "b" else tree_of_four(request)

    made = bench(tmp_path, tree_of_four, crew())
    made.models.otherwise = slow_b
    session_id = await made.engine.chats.start("main", "Find out.")
    await until(lambda: any(one.asks for one in made.messages(session_id)))
    assert status(made, session_id) == Status.RUNNING
    [question] = [one for one in made.messages(session_id) if one.asks]
    await made.engine.chats.answer(session_id, question.id, "Blue")
    await until(lambda: any(one.content == "a is done." for one in made.messages(session_id)))
    assert status(made, session_id) == Status.RUNNING
    gate.set()
    await made.engine.wait(session_id)
    assert made.messages(session_id)[-1].content == "main is done."


async def test_stopping_one_leaves_its_parent_and_sibling_running(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def hang_b(request: ModelRequest) -> Script:
        if who(request) == "b":
            return ["I begin", gate, "never"]
        return ["a is done."] if who(request) == "a" else tree_of_four(request)

    made = bench(tmp_path, tree_of_four, crew())
    made.models.otherwise = hang_b
    session_id = await made.engine.chats.start("main", "Find out.")
    await until(lambda: any(one.content == "I begin" for one in made.messages(session_id)))
    [mine] = [one for one in made.messages(session_id) if one.content == "I begin"]
    await made.engine.chats.stop_turn(session_id, mine.turn_id)
    await made.engine.wait(session_id)
    assert made.messages(session_id)[-1].content == "main is done."
    stopped = [
        json.loads(content) for state, content in results(made, session_id) if state == MessageState.FAILED
    ]
    assert stopped == [{"ok": False, "error": "The user stopped it.", "partial": "I begin"}]


async def test_stopping_one_that_waits_for_the_user(tmp_path: Path) -> None:
    made = bench(tmp_path, tree_of_four, crew())
    session_id = await made.engine.chats.start("main", "Find out.")
    await made.engine.wait(session_id)
    [question] = [one for one in made.messages(session_id) if one.asks]
    await made.engine.chats.stop_turn(session_id, question.turn_id)
    await made.engine.wait(session_id)
    assert status(made, session_id) == Status.IDLE
    assert made.messages(session_id)[-1].content == "main is done."
    assert not made.engine.chats.needs_you()


@pytest.mark.threat("T15")
@pytest.mark.corpus(58)
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nobody", "is unknown"),
        ("main", "is not on your list"),
        ("off", "is switched off"),
        ("loop", "already at work above you"),
        ("stranger", "is not on your list"),
        ("flat", "Too deep"),
    ],
)
async def test_a_refusal_asks_no_model(tmp_path: Path, target: str, says: str) -> None:
    agents = (
        agent("main", tools=("subAgent",), sub_agents=("loop", "off", "flat")),
        agent("loop", tools=("subAgent",), sub_agents=("loop", "off", "flat")),
        agent("off", enabled=False),
        agent("flat", max_depth=1),
        agent("stranger"),
    )

    def answer(request: ModelRequest) -> Script:
        if any(one["role"] == "tool" for one in request.messages):
            return [ANSWER]
        name = "loop" if who(request) == "main" else target
        return calling(("subAgent", {"name": name, "task": "Go."}))

    made = bench(tmp_path, answer, agents)
    session_id = await made.engine.chats.start("main", "Go.")
    await made.engine.wait(session_id)
    refused = json.loads(results(made, session_id)[0][1])
    assert refused["ok"] is False
    assert says in refused["error"]
    assert [who(one) for one in made.models.requests] == ["main", "loop", "loop", "main"]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"name": "a"}, {"name": "a", "task": " "}, {"name": 3, "task": "x"}, {"name": "a", "task": "x", "context": "y"},
     {"name": "a", "task": "x", "options": {"mode": "root"}}, {"name": "a", "task": "x" * 30_000}],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(arguments: Mapping[str, object]) -> None:
    with pytest.raises(ToolError):
        delegation(arguments, crew()[0], ("main",), "default", crew())


@pytest.mark.threat("T15")
def test_settings_mode_is_handed_down_and_never_left() -> None:
    agents = crew()
    wide = {"name": "a", "task": "x", "options": {"mode": "default"}}
    assert delegation(wide, agents[0], ("main",), "settings", agents).mode == "settings"
    assert delegation({"name": "A", "task": "x"}, agents[0], ("main",), "default", agents).mode == "default"


@pytest.mark.threat("T15")
def test_who_may_be_called_is_what_the_guard_lets_through() -> None:
    agents = (agent("main", sub_agents=("a", "b", "gone")), agent("a"), agent("b", enabled=False))
    assert [one.id for one in callable_by(agents[0], ("main",), agents)] == ["a"]


@pytest.mark.threat("T15")
async def test_a_budget_stops_a_tree_of_fifty_in_time(tmp_path: Path) -> None:
    def spread(request: ModelRequest) -> Script:
        if any(one["role"] == "tool" for one in request.messages):
            return [ANSWER]
        if who(request) == "main":
            return calling(*[("subAgent", {"name": "a", "task": f"Part {n}"}) for n in range(50)])
        return ["part done"]

    made = bench(tmp_path, spread, (agent("main", tools=("subAgent",), sub_agents=("a",)), agent("a")))
    session_id = await made.engine.chats.start("main", "Go.")
    await made.engine.wait(session_id)
    assert len([one for one in made.models.requests if who(one) == "a"]) == 20
    # Of an answer 32 calls are carried out, of which the budget allows 20.
    contents = [content for _, content in results(made, session_id)]
    assert len(contents) == 50
    outcomes = [json.loads(content) for content in contents if not content.startswith("Not carried out")]
    assert len(outcomes) == 32
    assert sum(one["ok"] for one in outcomes) == 20
    assert status(made, session_id) == Status.IDLE


async def test_a_sub_agent_that_says_nothing_is_asked_once_more_and_then_failed(tmp_path: Path) -> None:
    def mute(request: ModelRequest) -> Script:
        return [] if who(request) == "b" else tree_of_four(request)

    agents = (agent("main", tools=("subAgent",), sub_agents=("a", "b")), agent("a"), agent("b"))
    made = bench(tmp_path, lambda one: ["a is done."] if who(one) == "a" else mute(one), agents)
    session_id = await made.engine.chats.start("main", "Go.")
    await made.engine.wait(session_id)
    assert len([one for one in made.models.requests if who(one) == "b"]) == 2
    refused = [
        json.loads(content) for state, content in results(made, session_id) if state == MessageState.FAILED
    ]
    assert [one["error"] for one in refused] == ["It could not finish (empty)."]


def reading_on(request: ModelRequest) -> Script:
    """Hand over to an assistant that reads page after page."""
    pages = [one for one in request.messages if one["role"] == "tool"]
    if who(request) == "a":
        return calling(("echo", {"page": len(pages)}), text="" if pages else "I read the pages.")
    return ["Thanks."] if pages else calling(("subAgent", {"name": "a", "task": "Read."}))


async def test_a_sub_agent_at_its_limit_of_steps_returns_what_it_has_gathered(tmp_path: Path) -> None:
    main = agent("main", tools=("subAgent",), sub_agents=("a",))
    made = bench(tmp_path, reading_on, (main, agent("a", tools=("echo",), max_steps=2)))
    session_id = await made.engine.chats.start("main", "Go.")
    await made.engine.wait(session_id)
    [content] = [content for state, content in results(made, session_id) if content.startswith('{"ok"')]
    assert json.loads(content) == {
        "ok": False,
        "error": "It stopped at its limit of steps (2), before it had finished.",
        "partial": "I read the pages.",
        "found": [
            {"call": 'echo {"page": 0}', "result": '{"page": 0}'},
            {"call": 'echo {"page": 1}', "result": '{"page": 1}'},
        ],
    }


async def test_a_sub_agent_that_ends_with_its_last_step_says_so(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Script:
        read = who(request) == "a" and any(one["role"] == "tool" for one in request.messages)
        return ["So far."] if read else reading_on(request)

    main = agent("main", tools=("subAgent",), sub_agents=("a",))
    made = bench(tmp_path, answer, (main, agent("a", tools=("echo",), max_steps=1)))
    session_id = await made.engine.chats.start("main", "Go.")
    await made.engine.wait(session_id)
    [content] = [content for state, content in results(made, session_id) if content.startswith('{"ok"')]
    result = json.loads(content)
    assert (result["summary"], result["note"]) == (
        "So far.",
        "It stopped at its limit of steps (1), so the answer may be incomplete.",
    )


def test_what_was_found_shares_its_room() -> None:
    author = Author(kind="assistant", id="a", name="A")
    said = [new_message(Role.TOOL, author, "t", content="x" * 9_000, tool_call_id=str(n)) for n in range(8)]
    assert [len(one["result"]) for one in json.loads(failed("Ended.", said))["found"]] == [3_000] * 8


async def test_retry_and_edit_keep_versions_that_can_be_chosen(tmp_path: Path) -> None:
    texts = iter(["one", "two", "three", "four"])
    made = bench(tmp_path, lambda _: [next(texts)], (agent("main"),))
    chats = made.engine.chats
    session_id = await chats.start("main", "Hello")
    await made.engine.wait(session_id)
    live = made.engine.live(session_id)
    assert live is not None
    first_user, first = live.shown()
    await chats.retry(session_id, first.id)
    await made.engine.wait(session_id)
    assert [one.content for one in live.shown()] == ["Hello", "two"]
    assert live.turns.versions_shown(live.chat_session.chat.head) == {live.shown()[1].turn_id: (2, 2)}
    await chats.send(session_id, "And then?")
    await made.engine.wait(session_id)
    await chats.choose_version(session_id, first.turn_id)
    assert [one.content for one in live.shown()] == ["Hello", "one"]
    await chats.choose_version(session_id, live.turns.versions(first.turn_id)[1])
    assert [one.content for one in live.shown()] == ["Hello", "two", "And then?", "three"]
    await chats.edit(session_id, first_user.id, "Good morning")
    await made.engine.wait(session_id)
    assert [one.content for one in live.shown()] == ["Good morning", "four"]
    assert [one["content"] for one in made.models.requests[-1].messages[1:]] == ["Good morning"]


def test_every_ancestor_limits_how_deep_it_goes() -> None:
    top = agent("top", tools=("subAgent",), sub_agents=("middle",), max_depth=1)
    middle = agent("middle", tools=("subAgent",), sub_agents=("leaf",), max_depth=5)
    leaf = agent("leaf", max_depth=5)
    agents, task = (top, middle, leaf), {"name": "leaf", "task": "Look."}
    assert delegation({"name": "middle", "task": "Look."}, top, ("top",), "default", agents).agent is middle
    with pytest.raises(ToolError, match="at most 1 levels"):
        delegation(task, middle, ("top", "middle"), "default", agents)
    assert callable_by(middle, ("top", "middle"), agents) == ()
    assert callable_by(middle, ("middle",), agents) == (leaf,)
