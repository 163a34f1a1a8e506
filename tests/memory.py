"""The engine's plugs in memory, for tests of the engine alone: documents, secrets, tools, a store."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic

from app.core.catalog import ModelList, ProviderConfig
from app.core.council import Decision, Panel
from app.core.definitions import Agent, Group, SavedPrompt, WorkflowDefinition
from app.core.draft import Draft
from app.core.errors import BadInput, NotFound, Problem, StorageError
from app.core.events import Event, MessageFinished, MessageStarted, SessionChanged, SessionStarted
from app.core.memory import Note
from app.core.message import Message, Role, Total, UsageEntry, totals
from app.core.schedule import Schedule, ScheduleRun
from app.core.servers import McpServer
from app.core.session import Definition, Folder, Hit, Session, SessionSummary
from app.core.settings import Settings
from app.core.store import (
    ArchiveFiles,
    Backup,
    BackupContents,
    DraftFiles,
    PartSize,
    Restored,
    SessionStore,
    StoredSession,
    Thrown,
    UsageLedger,
)
from app.core.tool import ServerStatus, Tool, Tools
from app.storage.codec import mended_message, mended_session
from app.storage.file_system import FileSystem
from app.storage.paths import DataPaths
from app.storage.skills import SkillFolders
from app.storage.threads import OneAtATime


class MemoryTools(Tools):
    """An allow-list of tools made by a test; no servers."""

    def __init__(self, *tools: Tool) -> None:
        self._tools = tools

    def allowed(self) -> tuple[Tool, ...]:
        return self._tools

    def servers(self) -> tuple[ServerStatus, ...]:
        return ()

    def server_tools(self, servers: Sequence[str]) -> tuple[Tool, ...]:
        return ()

    async def attach(self, servers: Sequence[str]) -> None:
        return None

    async def consent(self, server: str) -> None:
        return None

    async def restart(self, server: str) -> None:
        return None

    async def close(self) -> None:
        return None


class MemoryDefinitions(Generic[Definition]):
    """Definitions of one kind in memory, without earlier versions."""

    def __init__(self, *definitions: Definition) -> None:
        self.kept = definitions

    def all(self) -> tuple[Definition, ...]:
        return self.kept

    async def change(self, make: Callable[[], Definition], *, restores: bool = False) -> Definition:
        definition = make()
        self.kept = (*(one for one in self.kept if one.id != definition.id), definition)
        return definition

    async def delete(self, definition_id: str) -> None:
        self.kept = tuple(one for one in self.kept if one.id != definition_id)

    async def versions(self, definition_id: str) -> tuple[Definition, ...]:
        return ()


class MemoryDocuments:
    """Small documents in memory."""

    def __init__(
        self,
        providers: Sequence[ProviderConfig],
        agents: Sequence[Agent] = (),
        skills_at: Path = Path("none"),
    ) -> None:
        self._providers = tuple(providers)
        self._model_lists: tuple[ModelList, ...] = ()
        self.assistants = MemoryDefinitions(*agents)
        self.groups = MemoryDefinitions[Group]()
        self.saved_prompts = MemoryDefinitions[SavedPrompt]()
        self.folders = MemoryDefinitions[Folder]()
        self.schedules = MemoryDefinitions[Schedule]()
        self.workflows = MemoryDefinitions[WorkflowDefinition]()
        self.panels = MemoryDefinitions[Panel]()
        self.journal = MemoryDefinitions[Decision]()
        self.skills = SkillFolders(DataPaths(skills_at), FileSystem(), OneAtATime("skills").run)
        self._settings = Settings()
        self._consents: frozenset[str] = frozenset()
        self._notes: tuple[Note, ...] = ()

        self._runs: tuple[ScheduleRun, ...] = ()
        self.unreadable: dict[str, Problem] = {}

    def settings(self) -> Settings:
        return self._settings

    async def change_settings(self, change: Callable[[Settings], Settings]) -> None:
        self._settings = change(self._settings)

    def providers(self) -> tuple[ProviderConfig, ...]:
        return self._providers

    def provider_problem(self, provider_id: str) -> Problem | None:
        return self.unreadable.get(provider_id)

    async def change_providers(
        self, change: Callable[[tuple[ProviderConfig, ...]], tuple[ProviderConfig, ...]]
    ) -> None:
        self._providers = change(self._providers)

    async def throw_provider(self, provider_id: str) -> str:
        self._providers = tuple(one for one in self._providers if one.id != provider_id)
        return f"{provider_id}.1700000000.json"

    def model_lists(self) -> tuple[ModelList, ...]:
        return self._model_lists

    async def change_model_lists(
        self, change: Callable[[tuple[ModelList, ...]], tuple[ModelList, ...]]
    ) -> None:
        self._model_lists = change(self._model_lists)

    def mcp_servers(self) -> tuple[McpServer, ...]:
        return ()

    async def change_mcp_servers(
        self, change: Callable[[tuple[McpServer, ...]], tuple[McpServer, ...]]
    ) -> None:
        return None

    def consents(self) -> frozenset[str]:
        return self._consents

    async def change_consents(self, change: Callable[[frozenset[str]], frozenset[str]]) -> None:
        self._consents = change(self._consents)

    def notes(self) -> tuple[Note, ...]:
        return self._notes

    async def change_notes(self, change: Callable[[tuple[Note, ...]], tuple[Note, ...]]) -> None:
        self._notes = change(self._notes)

    def schedule_runs(self) -> tuple[ScheduleRun, ...]:
        return self._runs

    async def change_schedule_runs(
        self, change: Callable[[tuple[ScheduleRun, ...]], tuple[ScheduleRun, ...]]
    ) -> None:
        self._runs = change(self._runs)

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def switch(self, provider_id: str, *, on: bool) -> None:
        """Switch a provider on or off."""
        self._providers = tuple(
            replace(one, enabled=on) if one.id == provider_id else one for one in self._providers
        )


class MemorySecrets:
    """Keys in memory, by provider id."""

    def __init__(self, **keys: str) -> None:
        self.keys = dict(keys)
        self.keyring_problem = "no_keyring"
        self.takes_unasked = False
        self.unread: dict[str, str] = {}
        self.on_news: Callable[[str, str], None] = lambda _place, _news: None

    def get(self, provider: str, kind: str) -> str | None:
        return self.keys.get(provider)

    def source(self, provider: str, kind: str) -> str:
        return "session" if provider in self.keys else ""

    async def refresh(self, providers: tuple[tuple[str, str], ...]) -> None:
        return None

    async def unlock(self) -> bool:
        return True

    async def keep(self, place: str, value: str) -> bool:
        self.keys[place] = value
        return False

    def hide(self, texts: Iterable[str]) -> None:
        return None

    async def remove(self, provider: str) -> bool:
        self.keys.pop(provider, None)
        return True

    def redact(self, text: str) -> str:
        return text


class MemoryStore(SessionStore):
    """Keeps what a disk would keep, batch by batch, and can be cut off at any moment.

    What was appended counts as written at once; `load` mends what a crash left, as the log does.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[Event, ...]] = []
        self.fails = 0
        self.flushed = 0

    def killed(self) -> "MemoryStore":
        """Return what a kill leaves behind at worst: what was flushed."""
        rest = MemoryStore()
        rest.batches = self.batches[: self.flushed]
        return rest

    def summaries(self) -> list[SessionSummary]:
        return []

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def tail(self, session_id: str, count: int) -> list[Message]:
        return self._read(session_id).messages[-count:]

    async def load(self, session_id: str) -> StoredSession:
        return self._read(session_id)

    def append(self, events: tuple[Event, ...]) -> None:
        self.batches.append(events)

    async def flush(self, session_id: str) -> None:
        if self.fails:
            self.fails -= 1
            raise StorageError("disk_full")
        self.flushed = len(self.batches)

    async def bring_in(self, session: Session, messages: Sequence[Message]) -> None:
        said = (MessageFinished(session_id=session.id, message=message) for message in messages)
        self.batches.append((SessionStarted(session_id=session.id, session=session), *said))

    async def search(self, text: str, limit: int) -> list[Hit]:
        return []

    async def discard(self, session_id: str) -> None:
        self.batches = [batch for batch in self.batches if batch[0].session_id != session_id]

    async def delete(self, session_id: str) -> None:
        return None

    async def restore(self, session_id: str) -> None:
        return None

    async def close(self) -> None:
        return None

    def _read(self, session_id: str) -> StoredSession:
        session: Session | None = None
        messages: dict[str, Message] = {}
        for batch in self.batches:
            for event in batch:
                if isinstance(event, SessionStarted | SessionChanged):
                    session = event.session
                elif isinstance(event, MessageStarted | MessageFinished):
                    messages[event.message.id] = event.message
        if session is None:
            raise NotFound("session_not_found", session=session_id)
        mended = [mended_message(one) for one in messages.values()]
        return StoredSession(session=mended_session(session), messages=mended)


class MemoryDrafts(DraftFiles):
    """Keeps nothing that is unsent."""

    async def load(self) -> dict[str, Draft]:
        return {}

    async def save(self, name: str, draft: Draft) -> None:
        return None

    def problems(self) -> tuple[Problem, ...]:
        return ()


class MemoryArchive(ArchiveFiles):
    """Keeps no copies; says so by having none."""

    async def back_up(self, why: str, target: str = "") -> Backup:
        return Backup(path=target, made_at="", why=why, size=0)

    async def back_up_if_due(self) -> Backup | None:
        return None

    async def backups(self) -> tuple[Backup, ...]:
        return ()

    async def contents(self, path: str) -> BackupContents:
        raise BadInput("not_a_backup", name=path)

    async def restore(
        self, path: str, sessions: Collection[str], *, documents: bool, replace: bool
    ) -> Restored:
        raise BadInput("not_a_backup", name=path)

    async def thrown(self) -> tuple[Thrown, ...]:
        return ()

    async def take_out(self, file: str) -> str:
        raise NotFound("bin_not_found", name=file)

    async def remove_thrown(self, files: Collection[str]) -> None:
        return None

    async def sizes(self) -> tuple[PartSize, ...]:
        return ()

    def read_foreign(self, path: str) -> Iterator[Any]:
        raise BadInput("file_unreadable", name=path, detail="")

    def read_exported(self, session: object, messages: Sequence[object]) -> StoredSession:
        raise BadInput("import_wrong", where="session", detail="")

    async def write_zip(self, path: str, entries: Iterator[tuple[str, bytes]]) -> None:
        return None


class MemoryLedger(UsageLedger):
    """The ledger in memory, with what it `held` before the test."""

    def __init__(self, *held: UsageEntry) -> None:
        self.held = held
        self.added: list[UsageEntry] = []

    def add(self, entry: UsageEntry) -> None:
        self.added.append(entry)

    async def months(self) -> dict[str, Total]:
        return totals((entry.month, entry) for entry in self.held)

    async def entries(self, month: str) -> list[UsageEntry]:
        return [one for one in (*self.held, *self.added) if one.month == month]

    async def bring_in(self, entries: Sequence[UsageEntry]) -> list[UsageEntry]:
        there = {one.message_id for one in (*self.held, *self.added)}
        new = [one for one in entries if one.message_id not in there]
        self.added += new
        return new

    async def close(self) -> None:
        return None


def cut_around_summary(store: MemoryStore) -> Iterator[tuple[MemoryStore, bool]]:
    """Yield what a kill leaves behind just before the first summary is saved and just after, and whether it is there."""
    place = next(
        at
        for at, batch in enumerate(store.batches)
        if any(isinstance(one, MessageFinished) and one.message.role == Role.SUMMARY for one in batch)
    )
    for cut in (place - 1, place, place + 1, place + 2):
        rest = MemoryStore()
        rest.batches = store.batches[:cut]
        yield rest, cut > place
