"""MCP servers that an assistant names and that cannot be used: each is named once for it in a run."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.council import Participant
from app.core.definitions import Agent
from app.core.events import Event, Notice
from app.core.servers import McpServer
from app.core.session import DebateMode, DebateTools
from app.engine.council.commands import CouncilSetup
from app.engine.debate.setup import DebateSetup
from app.engine.engine import Engine
from app.wiring import open_moot
from tests.repeats import slow_after
from tests.split_hosts import loaded_tool_host, own_host, split_tool_hosts  # noqa: F401
from tests.stories.every_kind import furnish
from tests.stories.group_crew import call, in_order
from tests.stories.processes import moot
from tests.tools.serving import allow, rude
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers
from tests.wire.server import Recorded

__all__ = ["wire_home", "wire_servers"]

GONE = McpServer(name="gone", command="no-such-program")
NEW = McpServer(name="new", command="no-such-program", args=("--new",))


def write_servers(data_dir: Path) -> None:
    """Write three servers and the consents to two, and let every assistant have all of them."""
    entries = {
        "gone": {"command": GONE.command},
        "new": {"command": NEW.command, "args": list(NEW.args)},
        "waits": {"command": "npx"},
        "off": {"command": "no-such-program", "disabled": True},
    }
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    tools = [f"{GONE.fingerprint}/{tool}" for tool in ("", "a", "a/always", "b")]
    document = {"version": 1, "consents": [GONE.fingerprint, NEW.fingerprint, *tools]}
    (data_dir / "consents.json").write_text(json.dumps(document), "utf-8")
    for path in (data_dir / "assistants").iterdir():
        document = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**document, "mcp_servers": list(entries)}), "utf-8")


@pytest.mark.slow
def test_the_next_run_names_it_again_and_what_waits_for_the_user_is_a_notice_too(
    data_dir: Path, wire_home: dict[str, WireServer]
) -> None:
    furnish(data_dir, wire_home)
    write_servers(data_dir)
    wire_home["openai"].script("openai-wire", lambda _: Answer("Yes."))
    first = moot("ask", "keeper", "Are you there?", "--json")
    session_id = first.events[0]["session_id"]
    second = moot("ask", "--session", session_id, "keeper", "Still there?", "--json")
    for done in (first, second):
        told = [(one["code"], one["level"]) for one in done.events if one["event"] == "notice"]
        assert sorted(told) == [
            ("server_down", "warning"), ("server_down_unknown", "warning"), ("server_waits", "warning")
        ]  # fmt: skip


def test_a_piped_answer_has_no_notice_in_it(data_dir: Path, wire_home: dict[str, WireServer]) -> None:
    furnish(data_dir, wire_home)
    write_servers(data_dir)
    in_order(wire_home, [call("switchAssistant", assistant="ann", instruction="Do it.")])
    for who, says in (("ann", "Ann did it."), ("crew", "Ann did it.")):
        done = moot("ask", who, "Go on.")
        assert done.status == 0
        assert says in done.out
        assert "gone" not in done.out
        [line] = [one for one in done.err.splitlines() if "“gone” could not be started" in one]
        assert "so Ann answers without" in line
        # The command that allows a server is told once too.
        [line] = [one for one in done.err.splitlines() if "waits" in one]
        assert "moot servers allow waits" in line


def debated(mode: DebateMode) -> DebateSetup:
    seats = (("ann", "Ann", "openai"), ("bo", "Bo", "gemini"))
    return DebateSetup(
        topic="Which came first?",
        participants=tuple(
            Participant(id=agent_id, name=name, provider=provider, model=f"{provider}-wire")
            for agent_id, name, provider in seats
        ),
        mode=mode,
        rounds=2,
        tools=DebateTools.OWN,
    )


async def start_tree(engine: Engine) -> str:
    """Let the keeper hand one task to a sub-agent after the other."""
    assistants = {one.id: one for one in engine.assistants.all()}
    keeper: Agent = replace(assistants["keeper"], tools=("subAgent",), sub_agents=("ann", "bo"))
    await engine.assistants.save(keeper)
    return await engine.chats.start("keeper", "Share it out.")


KINDS: dict[str, tuple[Callable[[Engine], Awaitable[str]], set[str]]] = {
    "chat": (lambda engine: engine.chats.start("keeper", "Keep my list."), {"Keeper"}),
    "sub-agents": (start_tree, {"Keeper", "Ann", "Bo"}),
    "group": (lambda engine: engine.groups.start("crew", "Make it."), {"Ann", "Bo"}),
    "debate": (lambda engine: engine.debates.start(debated(DebateMode.ROUND_ROBIN)), {"Ann", "Bo"}),
    # Who answers in a council reads the web at most: a server has no part in it.
    "council": (
        lambda engine: engine.councils.start(CouncilSetup(setup=debated(DebateMode.COUNCIL))),
        set(),
    ),
    "workflow": (
        lambda engine: engine.workflows.start("Fix the login loop", "bug-fix"),
        {"Arch", "Bea", "Fred", "Tess"},
    ),
}


@pytest.mark.parametrize("kind", slow_after(2, ((kind,) for kind in KINDS)))
async def test_it_is_named_once_for_each_assistant_that_has_it(
    data_dir: Path, wire_home: dict[str, WireServer], kind: str
) -> None:
    furnish(data_dir, wire_home)
    if kind == "group":
        again = [
            [call("switchAssistant", assistant=who, instruction="Do it.")] for who in ("ann", "bo", "ann")
        ]
        in_order(wire_home, *again)
    if kind == "sub-agents":
        tasks = ("ann", "bo", "ann")

        def share(request: Recorded) -> Answer:
            done = sum(message.role == "tool" for message in request.messages)
            if "subAgent" not in request.tools or done == len(tasks):
                return Answer("Done.")
            return Answer(calls=(call("subAgent", name=tasks[done], task=f"Task {done}."),))

        wire_home["openai"].script("openai-wire", share)
    begin, who = KINDS[kind]
    running = await open_moot(data_dir)
    notices: list[Notice] = []

    def listen(events: tuple[Event, ...]) -> None:
        notices.extend(one for one in events if isinstance(one, Notice) and one.code.startswith("server_"))

    running.engine.bus.subscribe(listen)
    engine = running.engine
    try:
        await engine.servers.save((rude("dies"), McpServer(name="unknown", command="npx")))
        await allow(engine, "dies")
        for agent in engine.assistants.all():
            if not engine.assistants.is_built_in(agent.id):
                await engine.assistants.save(replace(agent, mcp_servers=("dies", "unknown")))
        session_id = await begin(engine)
        session = await engine.wait(session_id)
        assert session.status in ("idle", "completed")
        told = Counter((one.code, one.details["name"], one.details["who"]) for one in notices)
        codes = (("server_down_unknown", "dies"), ("server_waits", "unknown"))
        assert told == {(*code, name): 1 for name in who for code in codes}
        assert all(one.session_id == session_id for one in notices)
        if kind == "chat":
            notices.clear()
            await engine.chats.send(session_id, "Still there?")
            await engine.wait(session_id)
            # The next run names it again, but not what waits for the user.
            told_again = [(one.details["name"], one.details["who"]) for one in notices]
            assert told_again == [("dies", "Keeper")]
    finally:
        await running.close()
