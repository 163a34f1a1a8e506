"""Makes what tests need: debates, messages, an engine on a real log, and models that follow a script.

The models here are an implementation of the protocol in this process; the wire is tested elsewhere.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.children.host_client import HostNetwork
from app.children.login_start import BackgroundAtLogin
from app.core.catalog import EMBEDDED, ProviderConfig
from app.core.council import Participant
from app.core.definitions import Agent
from app.core.errors import Failure
from app.core.events import Event, EventBus
from app.core.message import Author, Message, MessageState, Role, Usage
from app.core.provider import (
    Delta,
    Finished,
    ModelFacts,
    ModelRequest,
    Models,
    Price,
    ProviderStatus,
    TestResult,
    Text,
    believed,
)
from app.core.session import Debate, DebateSession, Status
from app.core.store import ArchiveFiles, SessionStore, UsageLedger
from app.core.tool import Tool, Tools
from app.engine.debate.run import author_of
from app.engine.engine import DebateSetup, Engine, Plugs, Resources
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.session_kinds import export as export_pieces
from app.engine.session_kinds import in_turns
from app.files.reader import FileReaders
from app.markdown_page import as_html, tamed
from app.providers.new_version import VersionFile
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles
from app.storage.sessions import JsonLogStore, autosave
from tests.memory import (
    MemoryArchive,
    MemoryDocuments,
    MemoryDrafts,
    MemoryLedger,
    MemorySecrets,
    MemoryTools,
)

PROMPTS = Prompts(Path(__file__).parent.parent / "resources" / "prompts")
NAMES = ("GPT", "Claude", "Gemini", "Llama", "Mistral", "Qwen")
USER_AUTHOR = Author(id="user", name="User", kind="user")

Script = Sequence[object]


def people(count: int = 3, *, names: Sequence[str] = NAMES) -> tuple[Participant, ...]:
    """Return participants `p0`, `p1`, …, each with a provider of its own, `remote0` and so on."""
    return tuple(
        Participant(id=f"p{place}", name=names[place], provider=f"remote{place}", model=f"model-{place}")
        for place in range(count)
    )


def a_debate(count: int = 3, **fields: object) -> Debate:
    """Return a debate of `count` people."""
    return replace(Debate(topic="Should cities ban cars?", participants=people(count)), **fields)  # type: ignore[arg-type]


def a_session(debate: Debate, **fields: object) -> DebateSession:
    """Return a running session of a debate."""
    session = DebateSession(id="0" * 26, title=debate.topic, status=Status.RUNNING, debate=debate)
    return replace(session, **fields)  # type: ignore[arg-type]


_numbers = iter(range(10**9))


def said(participant: Participant, text: str, round_number: int = 1, **fields: object) -> Message:
    """Return what a participant said."""
    number = f"m{next(_numbers)}"
    message = Message(
        id=number,
        turn_id=f"t{number}",
        role=Role.ASSISTANT,
        author=author_of(participant),
        content=text,
        round=round_number,
    )
    return replace(message, **fields)  # type: ignore[arg-type]


def failed(participant: Participant, text: str = "", round_number: int = 1) -> Message:
    """Return a turn that failed, perhaps after some text."""
    return said(
        participant, text, round_number, state=MessageState.FAILED, error=Failure(kind="server", detail="500")
    )


def user_said(text: str, round_number: int = 1) -> Message:
    """Return what the user said."""
    number = f"m{next(_numbers)}"
    return Message(
        id=number, turn_id=f"t{number}", role=Role.USER, author=USER_AUTHOR, content=text, round=round_number
    )


class Hang:
    """In a script: the model says nothing more, for ever."""


@dataclass
class ScriptedModels(Models):
    """Models that answer each request with the next reply of a script.

    A reply is a list of pieces: text, a `Text`, a `Finished`, a ProviderError to raise, `Hang`, or an event or barrier
    to wait for.
    After the script, every request gets `otherwise`. A reply without an end ends well.
    """

    script: list[Script] = field(default_factory=list)
    otherwise: Callable[[ModelRequest], Script] = lambda request: ["A good point."]
    requests: list[ModelRequest] = field(default_factory=list)
    closed: int = 0
    open: int = 0
    hanging: int = 0
    silent: frozenset[str] = frozenset()
    prices: dict[str, Price] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    told: dict[str, ModelFacts] = field(default_factory=dict)
    # What the voting check found, 8 where nothing is said; -1 leaves it to be made.
    stable: dict[str, int] = field(default_factory=dict)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    may_cut: bool = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        self.requests.append(request)
        reply = self.script.pop(0) if self.script else self.otherwise(request)
        self.open += 1
        try:
            if request.opener:
                yield Text(text=request.opener)
            for piece in reply:
                await asyncio.sleep(0)
                if isinstance(piece, asyncio.Event | asyncio.Barrier):
                    await piece.wait()
                    continue
                if isinstance(piece, Exception):
                    raise piece
                if isinstance(piece, Hang):
                    self.hanging += 1
                    try:
                        await asyncio.Event().wait()
                    finally:
                        self.hanging -= 1
                yield Text(text=piece) if isinstance(piece, str) else piece  # type: ignore[misc]
            if not reply or not isinstance(reply[-1], Finished):
                yield Finished(usage=Usage(input_tokens=10, output_tokens=5))
        finally:
            self.open -= 1
            self.closed += 1

    def is_warm(self) -> bool:
        return True

    async def test(self, provider: str) -> TestResult:
        return TestResult(ok=True, models=("model-0",))

    async def listens(self, provider: str) -> bool:
        return provider not in self.silent

    def is_free(self, provider: str) -> bool:
        return provider in self.free

    def is_subscribed(self, provider: str) -> bool:
        return False

    async def price(self, provider: str, model: str) -> Price | None:
        return self.prices.get(model)

    async def facts(self, provider: str, model: str) -> ModelFacts:
        return self.known_facts(provider, model)

    def known_facts(self, provider: str, model: str) -> ModelFacts:
        known = believed([self.told[model]] if model in self.told else [], local=False)
        answers, address = self.answers.get(model, ("", ""))
        return replace(known, stable=self.stable.get(model, 8), answers=answers, address=address)

    def note_stable(
        self, provider: str, model: str, stable: int, answers: str = "", address: str = ""
    ) -> None:
        self.stable[model] = stable
        self.answers[model] = (answers, address)

    def note_cut(self, provider: str, model: str, read: int) -> bool:
        self.cut[model] = read
        return self.may_cut


def on_offer(label: str, *models: str, ready: bool = True) -> ProviderStatus:
    """Return a server on this computer with these models."""
    return ProviderStatus(
        config=ProviderConfig(id=label.casefold(), kind="openai-compatible", models=models),
        label=label,
        base_url="http://127.0.0.1:9/v1",
        models=models,
        default_model=models[0],
        local=True,
        needs_key=False,
        key_source="",
        ready=ready,
    )


def remotes(count: int = 6) -> tuple[ProviderConfig, ...]:
    """Return the providers that `people` speak with, and the embedded one."""
    servers = tuple(
        ProviderConfig(
            id=f"remote{place}",
            kind="openai-compatible",
            base_url=f"http://127.0.0.1:{9000 + place}/v1",
            models=(f"model-{place}",),
        )
        for place in range(count)
    )
    return (*servers, ProviderConfig(id=EMBEDDED, kind=EMBEDDED))


async def _at_once() -> None:
    await asyncio.sleep(0)


class VirtualTime:
    """A clock that moves only when somebody sleeps; `slept` holds the seconds of every sleep.

    A sleep takes no longer than `on_sleep`.
    """

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []
        self.on_sleep: Callable[[], Awaitable[None]] = _at_once

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.on_sleep()
        self.now += seconds


@dataclass
class Bench:
    """An engine with everything it stands on, and all the events it sent."""

    engine: Engine
    models: ScriptedModels
    documents: MemoryDocuments
    store: SessionStore
    time: VirtualTime
    events: list[Event]

    async def run(self, setup: DebateSetup) -> str:
        """Start a debate and wait until it no longer runs."""
        session_id = await self.engine.debates.start(setup)
        await self.engine.wait(session_id)
        return session_id

    def debate_of(self, session_id: str) -> DebateSession:
        """Return an open debate."""
        live = self.engine.live(session_id)
        assert live is not None
        return live.debate_session

    def messages(self, session_id: str) -> list[Message]:
        """Return an open session's messages with their text so far."""
        live = self.engine.live(session_id)
        assert live is not None
        return list(live.whole_messages())

    def states(self, session_id: str) -> list[tuple[str, str]]:
        """Return author and state of each message."""
        return [(one.author.name, one.state) for one in self.messages(session_id)]


left_open: list[Bench] = []
"""The engines of a test that `tests/engine/conftest.py` closes at its end."""


def a_bench(
    store: SessionStore,
    *,
    script: list[Script] | None = None,
    providers: Sequence[ProviderConfig] | None = None,
    agents: Sequence[Agent] = (),
    secrets: MemorySecrets | None = None,
    embedded_problem: str = "",
    tools: Sequence[Tool] = (),
    toolbox: Tools | None = None,
    ledger: UsageLedger | None = None,
    archive: ArchiveFiles | None = None,
    files: Path = Path("none"),
) -> Bench:
    """Return an engine on a store, with scripted models and a clock of its own; `toolbox` instead of `tools`.

    `files` is the data directory with the files of sessions.
    """
    bus, time, models = EventBus(), VirtualTime(), ScriptedModels(script=script or [])
    events: list[Event] = []
    bus.subscribe(events.extend)
    autosave(bus, store)  # type: ignore[arg-type]
    documents = MemoryDocuments(remotes() if providers is None else providers, agents)
    plugs = Plugs(
        store=store,
        documents=documents,
        secrets=secrets or MemorySecrets(),
        models=models,
        ledger=ledger or MemoryLedger(),
        archive=archive or MemoryArchive(),
        drafts=MemoryDrafts(),
        tools=toolbox or MemoryTools(*tools),
        session_files=VersionedFiles(
            DataPaths(files), chosen=getattr(store, "chosen_folder", lambda _id: "")
        ),
        files=FileReaders(),
        network=HostNetwork(Path("certificates.pem")),
        new_versions=VersionFile(Path("none"), Path("none")),
        login_start=BackgroundAtLogin(Path("none")),
        as_html=as_html,
        tamed=tamed,
        embedded_problem=lambda: embedded_problem,
    )
    engine = Engine(plugs, Resources(prompts=PROMPTS), bus, sleep=time.sleep, clock=time.clock)
    return Bench(engine, models, documents, store, time, events)


def a_log_store(folder: Path) -> JsonLogStore:
    """Return the real store on a data directory."""
    return JsonLogStore(DataPaths(folder))


def a_setup(count: int = 3, **fields: object) -> DebateSetup:
    """Return a set-up of `count` people and two rounds."""
    setup = DebateSetup(topic="Should cities ban cars?", participants=people(count), rounds=2)
    return replace(setup, **fields)  # type: ignore[arg-type]


async def until(condition: Callable[[], bool], *, rounds: int = 20_000) -> None:
    """Let the loop work until a condition holds."""
    for _ in range(rounds):
        if condition():
            return
        await asyncio.sleep(0 if _ < 1_000 else 0.001)
    raise AssertionError("it never came to that")


async def reopened(bench: Bench, data_dir: Path) -> Bench:
    """Close the engine and open another on the same directory, as after a restart."""
    await bench.engine.shutdown()
    return a_bench(a_log_store(data_dir))


async def saved_states(bench: Bench, data_dir: Path, session_id: str) -> list[tuple[str, str, str]]:
    """Return author, state and text of each message as the disk has them."""
    await bench.store.flush(session_id)
    store = a_log_store(data_dir)
    stored = await store.load(session_id)
    await store.close()
    return [(one.author.name, one.state, one.content) for one in stored.messages]


async def start_and_hold(bench: Bench, gate: asyncio.Event) -> str:
    """Start a debate of two whose first answer waits for the gate."""
    said = bench.models.otherwise
    bench.models.otherwise = lambda request: [piece for one in said(request) for piece in (one, gate)]
    session_id = await bench.engine.debates.start(a_setup(2, rounds=1))
    await until(lambda: bool(bench.messages(session_id)))
    return session_id


def export(live: LiveSession, file_format: str, *args: Any, **named: Any) -> str:
    """Return a session as a document, whole."""
    return "".join(export_pieces(live, file_format, *args, **named))


async def export_in_turns(live: LiveSession, file_format: str, *args: Any) -> str:
    """Return what `export` does, as the engine makes it."""
    return "".join(await in_turns(export_pieces(live, file_format, *args)))
