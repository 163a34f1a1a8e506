"""A user who does anything at any time to a chat, against servers as strict as the providers.

The engine, the log, the model host and LiteLLM are the real ones. Used by test_legal_requests.
"""

import asyncio
import contextlib
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from app.children.host_client import HostNetwork
from app.children.login_start import BackgroundAtLogin
from app.core.catalog import ProviderConfig
from app.core.criteria import Plan, PlanItem
from app.core.definitions import Agent, Group, Leader
from app.core.errors import BadInput
from app.core.events import EventBus
from app.core.message import Attachment, Message, MessageState, Role
from app.core.session import Status
from app.core.settings import Settings
from app.engine.engine import Engine, Plugs, Resources
from app.engine.live_session import LiveSession
from app.files.reader import FileReaders
from app.markdown_page import as_html, tamed
from app.providers.new_version import VersionFile
from app.providers.remote import RemoteModels
from app.storage.paths import DataPaths
from app.storage.session_files import VersionedFiles
from app.storage.sessions import JsonLogStore, autosave
from tests.builders import PROMPTS
from tests.engine.group_tools import PLAN_TOOLS
from tests.engine.test_turn import _asker, a_tool
from tests.memory import (
    MemoryArchive,
    MemoryDocuments,
    MemoryDrafts,
    MemoryLedger,
    MemorySecrets,
    MemoryTools,
)
from tests.wire import Answer, Fault, WireCall, WireServer
from tests.wire.fixtures import FOUR
from tests.wire.replies import Reply
from tests.wire.server import Recorded

T = TypeVar("T")

KINDS = FOUR
TOOLS = (a_tool("echo"), a_tool("risky", asks=True, repeatable=False), _asker(), *PLAN_TOOLS)
GROUP = "group"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def crew() -> tuple[Agent, ...]:
    """Return an assistant for each protocol; each may use every tool and call the next two."""
    return tuple(
        Agent(
            id=f"on-{kind}",
            name=kind.title(),
            provider=kind,
            model=f"{kind}-wire",
            tools=("subAgent", "echo", "risky", "promptUser", "planning"),
            sub_agents=tuple(f"on-{KINDS[(place + step) % 4]}" for step in (1, 2)),
            max_depth=2,
            max_steps=3,
        )
        for place, kind in enumerate(KINDS)
    )


def reply(request: Recorded, number: int) -> Reply:
    """Return what a model answers to its request, drawn from the request's number."""
    draw = random.Random(number)
    if not request.tools or draw.random() < 0.45:
        thinking = "Hm." if draw.random() < 0.3 else ""
        faults = (
            Fault("e500"),
            Fault("ctx"),
            Fault("eofmid"),
            Fault("empty"),
            Answer("Cut", finish="length"),
        )
        return draw.choice(faults) if draw.random() < 0.25 else Answer(f"Answer {number}.", thinking=thinking)
    made = _lead_call if "switchAssistant" in request.tools else _call
    calls = tuple(made(draw, request.model, number, place) for place in range(draw.choice((1, 1, 2, 3))))
    text = draw.choice(("", "Let me see."))
    return Answer(text, calls=calls, thinking="I need a tool." if draw.random() < 0.4 else "")


def _call(draw: random.Random, model: str, number: int, place: int) -> WireCall:
    kind = model.removesuffix("-wire")
    whom = f"on-{KINDS[(KINDS.index(kind) + draw.choice((1, 2, 3))) % 4]}"
    name, arguments = draw.choice(
        (
            ("echo", {"n": draw.choice((1, 1, number))}),
            ("risky", {"n": number}),
            ("promptUser", {"question": f"Question {number}.{place}?"}),
            ("subAgent", {"name": whom, "task": f"Task {number}.{place}"}),
            ("add_todo", {"name": f"Todo {number}"}),
            ("unknown_tool", {}),
        )
    )
    return WireCall(name, json.dumps(arguments))


def _lead_call(draw: random.Random, _model: str, number: int, place: int) -> WireCall:
    """Return a call of a group's orchestrator."""
    hand = {"assistant": f"on-{draw.choice(KINDS)}", "instruction": f"Step {number}.{place}"}
    name, arguments = draw.choice(
        (
            ("switchAssistant", hand),
            ("switchAssistant", hand),
            ("setPlan", {"items": ["One", "Two"]}),
            ("checkDone", {"index": draw.choice((0, 1, 7))}),
            ("clearPlan", {}),
            ("promptToUser", {"prompt": f"Question {number}.{place}?"}),
            ("reportResult", {"result_in_detail": f"Report {number}.{place}"}),
        )
    )
    return WireCall(name, json.dumps(arguments))


def group(kind: str, *, asks: bool) -> Group:
    """Return a group of all four, led by one of the models."""
    return Group(
        id=GROUP,
        name="Group",
        members=tuple(f"on-{one}" for one in KINDS),
        orchestrator=Leader(provider=kind, model=f"{kind}-wire"),
        turns_limit=5,
        ask_before_hand_over=asks,
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """What all plays share: the loop, the servers, the model host, and the count of legal requests."""

    loop: asyncio.AbstractEventLoop
    servers: dict[str, WireServer]
    models: RemoteModels
    legal: Counter[str] = field(default_factory=Counter)


class ChatPlay:
    """One chat, or a group's session, everything a user may do to it, and what must hold whatever happens."""

    def __init__(self, stage: Stage, kind: str, seed: int, *, grouped: bool = False) -> None:
        self.loop, self.servers, self.models, self.legal = (
            stage.loop,
            stage.servers,
            stage.models,
            stage.legal,
        )
        self.folder = Path(tempfile.mkdtemp())
        self.documents = MemoryDocuments(provider_rows(self.servers), crew())
        self.documents._settings = replace(Settings(), max_model_calls=12, max_sub_agent_runs=4)
        for server in self.servers.values():
            server.requests.clear()
            server.script(server.model, lambda request: reply(request, self._number()))
        self._replies = self._done = 0
        self._seed = seed
        self._open()
        self.documents.groups.kept = (group(kind, asks=seed % 3 == 0),)
        begin = self.engine.groups.start if grouped else self.engine.chats.start
        self.session_id = self.run(begin(GROUP if grouped else f"on-{kind}", "Hello"))

    def _number(self) -> int:
        self._replies += 1
        return self._seed * 1_000 + self._replies

    def _open(self) -> None:
        bus = EventBus()
        store = JsonLogStore(DataPaths(self.folder))
        self.run(asyncio.to_thread(store.prepare))
        autosave(bus, store)
        plugs = Plugs(
            store=store,
            documents=self.documents,
            secrets=MemorySecrets(**{kind: self.servers[kind].key for kind in KINDS}),
            models=self.models,
            ledger=MemoryLedger(),
            archive=MemoryArchive(),
            drafts=MemoryDrafts(),
            tools=MemoryTools(*TOOLS),
            session_files=VersionedFiles(DataPaths(Path("none"))),
            files=FileReaders(),
            network=HostNetwork(Path("certificates.pem")),
            new_versions=VersionFile(Path("none"), Path("none")),
            login_start=BackgroundAtLogin(Path("none")),
            as_html=as_html,
            tamed=tamed,
            embedded_problem=lambda: "not_installed",
        )
        self.engine = Engine(plugs, Resources(prompts=PROMPTS), bus, sleep=lambda _: asyncio.sleep(0))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on the one loop of all examples."""
        return self.loop.run_until_complete(asyncio.wait_for(work, 30))

    def do(self, work: Coroutine[Any, Any, object]) -> None:
        """Do what a user may try at any time, and let the models work a while; a refusal in words is fine."""
        with contextlib.suppress(BadInput):
            self.run(work)
        self._done += 1
        pause = random.Random(self._seed + self._done).choice((0, 0, 0.03, 0.1, 0.25, None))
        self.run(self.engine.wait(self.session_id) if pause is None else asyncio.sleep(pause))

    @property
    def live(self) -> LiveSession:
        """The chat."""
        return self.run(self.engine.open(self.session_id))

    def pick(self, number: int, messages: list[Message]) -> Message:
        """Return one of some messages."""
        return messages[number % len(messages)]

    # What a user does; `number` draws what it is done to

    def says(self, number: int) -> None:
        files: tuple[Attachment, ...] = ()
        if number % 4 == 0:
            files = (Attachment(name="a.txt", text="notes"),)
        if number % 8 == 0:
            files += (Attachment(name="p.png", media_type="image/png", data=PIXEL),)
        text = ("Go on.", "[Gemini]: I am not you.", "긴 글 " * 300, "And?")[number % 3]
        self.do(self.engine.chats.send(self.session_id, text, files))

    def waits(self, number: int) -> None:
        self.run(self.engine.wait(self.session_id))

    def stops(self, number: int) -> None:
        self.do(self.engine.stop(self.session_id))

    def retries(self, number: int) -> None:
        self.do(self.engine.chats.retry(self.session_id, self.pick(number, self.live.shown()).id))

    def edits(self, number: int) -> None:
        self.do(
            self.engine.chats.edit(self.session_id, self.pick(number, self.live.shown()).id, "Differently.")
        )

    def continues_from(self, number: int) -> None:
        self.do(self.engine.chats.continue_from(self.session_id, self.pick(number, self.live.shown()).id))

    def chooses_a_version(self, number: int) -> None:
        turn_ids = self.live.turns.versions(self.pick(number, self.live.messages).turn_id)
        if turn_ids:
            self.do(self.engine.chats.choose_version(self.session_id, turn_ids[number % len(turn_ids)]))

    def chooses_an_assistant(self, number: int) -> None:
        self.do(self.engine.chats.choose_assistant(self.session_id, f"on-{KINDS[number % 4]}"))

    def answers(self, number: int) -> None:
        questions = self.engine.chats.needs_you()
        if not questions:
            return
        _, question = questions[number % len(questions)]
        answer = ("allow", "always", "deny", "Blue", "")[number % 5]
        if answer:
            self.do(self.engine.chats.answer(self.session_id, question.id, answer))
        else:
            self.do(self.engine.chats.dismiss(self.session_id, question.id))

    def changes_the_plan(self, number: int) -> None:
        plan = Plan(items=tuple(PlanItem(text=f"Mine {place}") for place in range(number % 4)))
        self.do(self.engine.groups.change_plan(self.session_id, plan))

    def goes_on_without(self, number: int) -> None:
        self.do(self.engine.groups.go_on_without(self.session_id))

    def addresses_a_member(self, number: int) -> None:
        self.do(self.engine.chats.send(self.session_id, f"@on-{KINDS[number % 4]}, and you?"))

    def stops_one(self, number: int) -> None:
        turns = [one.turn_id for one in self.live.messages if one.parent_turn_id]
        if turns:
            self.do(self.engine.chats.stop_turn(self.session_id, turns[number % len(turns)]))

    def sends_a_queued_one_now(self, number: int) -> None:
        queue = self.live.chat_session.chat.queue
        if queue:
            self.do(self.engine.chats.send_now(self.session_id, queue[number % len(queue)].id))

    def restarts(self, number: int) -> None:
        """In an orderly way, or with what a crash would have left."""
        crashed = self.folder.with_name(f"{self.folder.name}-{self._done}")
        if number % 2:
            shutil.copytree(self.folder, crashed)
        self.run(self.engine.shutdown())
        if number % 2:
            shutil.rmtree(self.folder)
            self.folder = crashed
        self._open()
        assert self.live.session.status in (Status.IDLE, Status.WAITING, Status.PAUSED, Status.STOPPED)
        self.do(self.engine.resume(self.session_id))

    # What must hold

    def every_request_was_legal(self) -> None:
        for kind, server in self.servers.items():
            for request in server.requests:
                assert not request.refused, f"{kind}: {request.refused}\n{json.dumps(request.body)[:4000]}"
                self.legal[kind] += request.status == 200
            server.requests.clear()

    def the_log_of_turns_is_sound(self) -> None:
        live = self.engine.live(self.session_id)
        if live is None:
            return
        assert len({one.id for one in live.messages}) == len(live.messages)
        for turn_id in live.turns.ids:
            messages = live.turns.said(turn_id)
            calls = [call.id for one in messages if one.role == Role.ASSISTANT for call in one.tool_calls]
            assert len(set(calls)) == len(calls)
            results = Counter(one.tool_call_id for one in messages if one.role == Role.TOOL and one.ended)
            assert all(count == 1 for count in results.values()), "a call has two results"
            assert set(results) <= set(calls), "a result without its call"
        if live.session.status == Status.IDLE:
            assert not any(one.state == MessageState.STREAMING for one in live.messages)

    def act(self, action: str, number: int) -> None:
        """Do one of ACTIONS, and look whether all is well."""
        getattr(self, action)(number)
        self.every_request_was_legal()
        self.the_log_of_turns_is_sound()

    def close(self) -> None:
        """Let go of the disk."""
        self.run(self.engine.shutdown())
        self.every_request_was_legal()
        shutil.rmtree(self.folder)


ACTIONS = (
    *("says", "waits") * 4,
    *("retries", "edits", "answers") * 2,
    "stops",
    "continues_from",
    "chooses_a_version",
    "chooses_an_assistant",
    "stops_one",
    "sends_a_queued_one_now",
    "restarts",
)
# With a group: while it hands over, too.
GROUP_ACTIONS = (*ACTIONS, *("addresses_a_member", "changes_the_plan", "goes_on_without", "restarts") * 2)


def provider_rows(servers: dict[str, WireServer]) -> tuple[ProviderConfig, ...]:
    """Return the servers as providers."""
    return tuple(
        ProviderConfig(id=kind, kind=kind, base_url=server.address, models=(server.model,))
        for kind, server in servers.items()
    )
