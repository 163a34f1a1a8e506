"""What the agent loop costs: a model call with ten tools, and the request of a long session."""

import asyncio
import itertools
import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median

from app.children.host_client import HostNetwork
from app.children.login_start import BackgroundAtLogin
from app.core.catalog import ProviderConfig
from app.core.definitions import Agent
from app.core.events import EventBus
from app.core.ids import new_id
from app.core.message import Role
from app.core.tool import Tool, ToolContext, ToolResult
from app.engine.engine import Engine, Plugs, Resources
from app.engine.library.agents import AgentModel
from app.engine.live_session import LiveSession
from app.engine.request import AgentTurn, Attempt, Told, build_request
from app.files.reader import FileReaders
from app.markdown_page import as_html, tamed
from app.providers.new_version import VersionFile
from app.providers.remote import RemoteModels
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles
from app.storage.sessions import JsonLogStore, autosave
from tests.benchmarks import model_calls
from tests.benchmarks.chats import long_chat
from tests.benchmarks.table import Benchmark, Result
from tests.builders import PROMPTS
from tests.memory import (
    MemoryArchive,
    MemoryDocuments,
    MemoryDrafts,
    MemoryLedger,
    MemorySecrets,
    MemoryTools,
)
from tests.wire import Answer, Recorded, Reply, WireCall, WireServer

CALLS = 10
ROUNDS = CALLS - 1


async def _found(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(content="Nothing new.")


def _tools() -> tuple[Tool, ...]:
    functions = [one["function"] for one in model_calls.TOOLS]
    return tuple(
        Tool(
            key=one["name"],
            description=one["description"],
            parameters=one["parameters"],
            run=_found,
            repeatable=True,
        )
        for one in functions
    )


def loop_per_call(short: bool) -> Result:
    """Compare the time of a call that the loop makes, tool and disk included, with LiteLLM alone."""
    with WireServer("openai") as server, tempfile.TemporaryDirectory(prefix="moot-loop-") as folder:
        numbers = itertools.count()

        def answer(request: Recorded) -> Reply:
            number = next(numbers)
            if sum(message.role == "tool" for message in request.messages) == ROUNDS:
                return Answer(model_calls.WORDS)
            arguments = json.dumps({"query": f"what is new about sea {number}", "limit": 5})
            return Answer(model_calls.WORDS, calls=(WireCall("tool_3", arguments),))

        def by_caller(request: Recorded) -> Reply:
            return (
                answer(request) if request.system.startswith("You are Ann") else model_calls.answer(request)
            )

        server.script(server.model, by_caller)
        return asyncio.run(_compare(server, Path(folder), 5 if short else 20))


async def _compare(server: WireServer, folder: Path, rounds: int) -> Result:
    config = ProviderConfig(
        id=server.provider_id, kind=server.kind, base_url=server.address, models=server.models
    )
    models = RemoteModels(providers=lambda _: config, key=lambda _: server.key, log_dir=folder)
    store = JsonLogStore(DataPaths(folder))
    await asyncio.to_thread(store.prepare)
    bus = EventBus()
    autosave(bus, store)
    tools = _tools()
    agent = Agent(
        id="a",
        name="Ann",
        provider=config.id,
        model=server.model,
        instructions="You look things up before you answer. " * 20,
        tools=tuple(tool.key for tool in tools),
        max_steps=CALLS,
    )
    plugs = Plugs(
        store=store,
        documents=MemoryDocuments((config,), (agent,)),
        secrets=MemorySecrets(),
        models=models,
        ledger=MemoryLedger(),
        archive=MemoryArchive(),
        drafts=MemoryDrafts(),
        tools=MemoryTools(*tools),
        session_files=VersionedFiles(DataPaths(Path("none"))),
        files=FileReaders(),
        network=HostNetwork(Path("certificates.pem")),
        new_versions=VersionFile(Path("none"), Path("none")),
        login_start=BackgroundAtLogin(Path("none")),
        as_html=as_html,
        tamed=tamed,
        embedded_problem=lambda: "not_installed",
    )
    engine = Engine(plugs, Resources(prompts=PROMPTS), bus)

    async def ten_calls() -> None:
        session_id = await engine.chats.start("a", "What is new about the sea?")
        await engine.wait(session_id)
        live = engine.live(session_id)
        assert live is not None
        assert sum(one.role == Role.ASSISTANT for one in live.messages) == CALLS

    try:
        await models.warm()
        return await model_calls.compare_calls(server, ten_calls, rounds, CALLS)
    finally:
        await engine.shutdown()
        await models.close()


def perspective(short: bool) -> Result:
    """Compare what a message costs in the request of a session of 10,000 messages, and in one of 100.

    Neither has a summary: all messages are sent.
    """
    long, usual = long_chat(10_000), long_chat(100)
    turn = AgentTurn(
        turn_id=new_id(),
        agent=Agent(id="a", name="Ann", instructions="Be brief."),
        agent_model=AgentModel(provider="p", model="m", row=None),
        stack=("a",),
        mode="default",
    )

    words = PROMPTS.lines("en", "assistant")

    def once(live: LiveSession, times: int) -> float:
        turn_now = replace(turn, follows=live.chat_session.chat.head)
        started = time.perf_counter()
        for _ in range(times):
            build_request(turn_now, live, Told(), Attempt(), words)
        return (time.perf_counter() - started) / times

    pairs = [(once(long, 1) / 10_000, once(usual, 20) / 100) for _ in range(20 if short else 100)]
    return Result(
        measured=median(pair[0] for pair in pairs) * 1e6,
        baseline=median(pair[1] for pair in pairs) * 1e6,
        unit="µs",
        ratio=median(pair[0] / pair[1] for pair in pairs),
    )


BENCHMARKS = (
    Benchmark(
        name="model call with 10 tools through the agent loop, against LiteLLM alone in one process",
        target=1.1,
        run=loop_per_call,
    ),
    Benchmark(
        name="request of 10,000 messages: cost of a message, against one of 100", target=2.0, run=perspective
    ),
)
