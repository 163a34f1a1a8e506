"""The facade of the engine: every command of the user interfaces; made by the wiring.

The commands for stored data (backups, import and export, the trash) are `engine.archive`; the tools that the
user has allowed to run without a question, for good or in a session, are `engine.permissions`.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from app.core import events
from app.core import store as core_store
from app.core.catalog import PROGRAM, ProviderConfig, provider_kind
from app.core.definitions import Agent, Busy, SavedPrompt, WorkflowDefinition
from app.core.errors import BadInput, MootError, Problem
from app.core.files import FileReader, Progress
from app.core.frozen import Frozen
from app.core.message import Message, Role
from app.core.provider import Models, Network, NewVersions, ProviderStatus, TestResult
from app.core.schedule import LoginStart, WallClock
from app.core.session import DOCX, PDF, ExportFormat, Hit, Session, SessionSummary, Status, resumable
from app.core.session_files import is_usual
from app.core.settings import Settings
from app.core.store import ArchiveFiles, Backup, Documents, DraftFiles, Restored, Secrets, SessionStore
from app.core.texts import Texts, choose_language, escape_markdown
from app.core.tool import Tool, Tools
from app.engine import providers
from app.engine.availability import Availability, Queues, Slots, Strategy, policy_of
from app.engine.chat.commands import Chats, Summaries
from app.engine.chat.titles import Titles
from app.engine.connections import Connections, LocalModels
from app.engine.council.commands import Councils, CouncilSetup
from app.engine.criteria.checking import check_item
from app.engine.criteria.commands import Criteria
from app.engine.debate.commands import Debates
from app.engine.debate.estimates import Estimates
from app.engine.debate.providers import DebateProviders
from app.engine.debate.setup import Candidate, DebateSetup
from app.engine.decisions import MEMO_FORMATS, Journal, Memo, is_date, memo_as_html, memo_as_markdown, memo_of
from app.engine.drafts import Drafts
from app.engine.export.document import DocumentPart
from app.engine.export.formats import FILE_FORMATS, is_markdown, page_of
from app.engine.group.commands import Groups
from app.engine.history import TokenCount
from app.engine.importing import Arrival, Arrivals, Surroundings, arrivals, messages_alone
from app.engine.library.agents import MADE_FOR, AgentDirectory, Assistants
from app.engine.library.definitions import PROMPT_KIND, Definitions, Folders, Skills
from app.engine.live_session import LiveSession
from app.engine.memory import Memory
from app.engine.prompts import Prompts
from app.engine.providers import Servers
from app.engine.runner import Run, Sessions, check_open
from app.engine.schedules import Schedules
from app.engine.session_kinds import export, in_turns, kind_of
from app.engine.turns.context import MeteredModels, Services
from app.engine.usage_book import UsageBook
from app.engine.voting import VotingChecks
from app.engine.work import AllWork, WorkRow
from app.engine.workflow.commands import Workflows

__all__ = ["Candidate", "CouncilSetup", "DebateSetup", "Engine"]

log = logging.getLogger(__name__)


class Permission(Frozen):
    """Says that tools of one server ("" for Moot's own) run without a question in a session, in all
    where `session_id` is "".

    `tools` are the keys of those that are known now, `count` counts all. `gone` means that there is no longer
    a server which is run in that way, so that the permission has no effect now. With `folders` it is an
    external agent `server` that may work in `count` folders.
    """

    server: str
    tools: tuple[str, ...]
    count: int
    session_id: str = ""
    title: str = ""
    keys: tuple[str, ...] = ()
    gone: bool = False
    folders: bool = False


@dataclass(eq=False, repr=False)
class Permissions:
    """Lists and revokes permissions."""

    _store: SessionStore
    _documents: Documents
    _sessions: Sessions
    _tools: Tools
    _servers: Servers

    def all(self) -> tuple[Permission, ...]:
        """Return every permission, those for good first, then those of sessions, the newest session first."""
        statuses = self._servers.all()
        kept = ((item.server.name, item.unasked, item.lasting) for item in statuses if item.lasting)
        lasting = tuple(Permission(server=name, tools=tools, count=count) for name, tools, count in kept)
        programs = (config for config in self._documents.providers() if config.kind == PROGRAM)
        agents = {config.fingerprint: config.label or config.id for config in programs}
        consents = sorted(self._documents.consents())
        for fingerprint, name in agents.items():
            keys = tuple(item for item in consents if item.startswith(f"{fingerprint}/"))
            if keys:
                lasting += (Permission(server=name, tools=(), count=len(keys), keys=keys, folders=True),)
        summaries = [item for item in self._store.summaries() if item.always and not item.read_only]
        if not summaries:
            return lasting
        of_server = {status.server.fingerprint: status.server.name for status in statuses}
        known = {tool.consent: tool.key for tool in self.tools()}
        of_sessions = (_of_session(summary, known, of_server, agents) for summary in summaries)
        return (*lasting, *chain.from_iterable(of_sessions))

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools of servers that are known now."""
        return self._tools.server_tools([status.server.name for status in self._servers.all()])

    async def revoke(self, permission: Permission) -> None:
        """Have the user asked again before each of these calls; returns once that is saved.

        Raises NotFound, BadInput, StorageError.
        """
        if not permission.session_id and permission.folders:
            await self._documents.change_consents(lambda known: known - set(permission.keys))
            return
        if not permission.session_id:
            await self._servers.ask_again(permission.server)
            return
        live = await self._sessions.open_to_change(permission.session_id)
        left = (item for item in live.session.always if item not in permission.keys)
        # Its place in the list of sessions stays the same.
        live.change(**live.session.allowing(left), updated_at=live.session.updated_at)
        await self._store.flush(live.id)


def _of_session(
    summary: SessionSummary, known: Mapping[str, str], of_server: Mapping[str, str], agents: Mapping[str, str]
) -> Iterable[Permission]:
    """Group a session's permissions by server.
    A consent of a server's tool begins with the server's fingerprint, and that of an external agent's folder
    with the agent's.
    """
    groups: dict[str, list[str]] = {}
    for key in summary.always:
        groups.setdefault(key.partition("/")[0] if "/" in key else "", []).append(key)
    for fingerprint, keys in groups.items():
        folders = fingerprint in agents
        server = agents[fingerprint] if folders else of_server.get(fingerprint) if fingerprint else ""
        tools = tuple(known[key] for key in keys if key in known) if fingerprint else tuple(keys)
        found = Permission(server=server or "", tools=tools, count=len(keys), keys=tuple(keys))
        found = replace(found, session_id=summary.id, title=summary.title)
        yield replace(found, gone=server is None, folders=folders)


Counted = Callable[[int], None]


@dataclass(eq=False, repr=False)
class Archive:
    """The commands for stored data; all raise BadInput, NotFound or StorageError in words.

    `files` has those that concern the disk alone: the backups and what is in them, the trash, the sizes.
    """

    files: ArchiveFiles
    _store: SessionStore
    _bus: events.EventBus
    _prompts: Prompts
    _agents: Callable[[], Sequence[Agent]]
    _language: Callable[[], str]
    _drafts: Drafts
    _usage: UsageBook
    _look_for_keys: Callable[[], Awaitable[None]]
    _tamed: Callable[[str], str]

    # Backups

    async def back_up(self, target: str = "", progress: Progress = lambda _done, _total: None) -> Backup:
        """Pack all of the user's data into one file, at `target` or among the backups.

        `progress` is told how many files of how many are packed. If it is cancelled, the existing files stay.
        """
        return await self.files.back_up(core_store.BackupReason.BY_HAND, target, progress)

    async def restore(
        self,
        path: str,
        sessions: Collection[str],
        *,
        documents: bool = True,
        replace: bool = False,
        progress: Counted = lambda _: None,
    ) -> Restored:
        """Restore these sessions of a backup, and with `documents` what else is missing.

        The present state is backed up first. A session that exists and differs is restored as a copy beside
        it; with `replace` documents that differ are replaced. `progress` is told how many sessions are done.
        """
        restored = await self.files.restore(
            path, sessions, documents=documents, replace=replace, progress=progress
        )
        await self._usage.bring_in(restored.usage)
        self._announce(*restored.sessions, *restored.copies)
        if restored.documents:
            await self._drafts.load()
            self._announce_documents()
        return restored

    # Import and export

    async def look_at(self, path: str) -> Arrivals:
        """Return the sessions in an export of ChatGPT, Claude, Open WebUI, LobeChat or Moot,
        without saving them.

        The format is recognised by the content. Raises BadInput.
        """
        around = Surroundings(
            words=self._prompts.lines(self._language(), "import"),
            language=self._language(),
            agent=next(iter(self._agents()), None),
            taken={summary.id for summary in self._store.summaries()},
            read_exported=self.files.read_exported,
        )
        return await asyncio.to_thread(arrivals, Path(path).name, self.files.read_foreign(path), around)

    async def bring_in(
        self, sessions: Sequence[Arrival], progress: Counted = lambda _: None, *, with_context: bool = False
    ) -> tuple[str, ...]:
        """Save these sessions, one after the other; return their ids. `progress` is told how many are saved.

        What one brings besides its messages is taken over only `with_context`.
        """
        kept: list[str] = []
        try:
            for arrival in sessions:
                session, messages = await asyncio.to_thread(arrival.make)
                await self._store.bring_in(session if with_context else messages_alone(session), messages)
                kept.append(session.id)
                progress(len(kept))
        finally:
            self._announce(*kept)
        return tuple(kept)

    async def export_all(self, path: str, progress: Counted = lambda _: None) -> tuple[str, ...]:
        """Write every session as Markdown and as JSON into one zip.

        Return the titles of those that could not be exported. `progress` is told how many are done.
        """
        loop = asyncio.get_running_loop()
        summaries = self._store.summaries()
        left_out: list[str] = []

        def entries() -> Iterator[tuple[str, bytes]]:
            lines = []
            for count, summary in enumerate(summaries, 1):
                # File names are made by Moot: a title may hold anything.
                day = summary.created_at[:10]
                name = f"{day if is_date(day) else 'session'}-{summary.id}"
                documents: dict[str, str] = {}
                # One failed export does not prevent the others.
                with contextlib.suppress(MootError):
                    stored = asyncio.run_coroutine_threadsafe(self._store.load(summary.id), loop).result()
                    documents = self._documents_of(stored)
                if not documents:
                    left_out.append(summary.title or summary.id)
                yield from ((f"{name}.{suffix}", text.encode()) for suffix, text in documents.items())
                if ExportFormat.MARKDOWN in documents:
                    lines.append(f"- [{escape_markdown(summary.title)}]({name}.md)\n")
                loop.call_soon_threadsafe(progress, count)
            yield "index.md", "".join(lines).encode()

        await self.files.write_zip(path, entries())
        return tuple(left_out)

    def _documents_of(self, stored: core_store.StoredSession) -> dict[str, str]:
        """Return a session as Markdown, where its kind is known, and as JSON; nothing where that fails."""
        live = LiveSession(stored, events.EventBus())
        is_known = stored.session.chat is not None or stored.session.debate is not None
        formats = (ExportFormat.MARKDOWN, ExportFormat.JSON) if is_known else (ExportFormat.JSON,)
        try:
            return {item: "".join(export(live, item, self._prompts, tame=self._tamed)) for item in formats}
        except Exception:
            log.exception("the session %s could not be exported", live.id)
            return {}

    # The trash

    async def take_out(self, file: str) -> None:
        """Restore a file from the trash."""
        session_id = await self.files.take_out(file)
        if session_id:
            self._announce(session_id)
        else:
            await self._look_for_keys()
            self._announce_documents()

    def _announce_documents(self) -> None:
        workers = (events.AssistantsChanged, events.GroupsChanged, events.WorkflowsChanged)
        others = (events.PanelsChanged, events.JournalChanged, events.ServersChanged, events.MemoryChanged)
        more = (
            events.FoldersChanged,
            events.SavedPromptsChanged,
            events.SkillsChanged,
            events.SchedulesChanged,
        )
        for event in (*workers, *others, *more):
            self._bus.publish(event(session_id=""))

    def _announce(self, *session_ids: str) -> None:
        self._bus.publish(*(events.SessionRestored(session_id=session_id) for session_id in session_ids))


# A provider is limited by its own number of calls and its pauses alone.
ANY_NUMBER = Busy(strategy=Strategy.PARALLEL, limit=1_000_000, depth=1_000_000)


async def _no_links(_: str) -> bool:
    return False


class Plugs(Frozen):
    """What the engine is connected to: the disk, the keyring, the models, the tools, what reads
    files, and what makes Markdown HTML, and Markdown that loads nothing.

    `embedded_problem` says why the built-in model cannot be asked, "" where it can.
    """

    store: SessionStore
    documents: Documents
    secrets: Secrets
    models: Models
    ledger: core_store.UsageLedger
    archive: ArchiveFiles
    drafts: DraftFiles
    tools: Tools
    session_files: core_store.SessionFiles
    files: FileReader
    network: Network
    new_versions: NewVersions
    login_start: LoginStart
    as_html: Callable[[str], str]
    tamed: Callable[[str], str]
    embedded_problem: Callable[[], str]


class Resources(Frozen):
    """What comes with the program: prompts, assistants and workflows by language, and the folder of
    groups.
    """

    prompts: Prompts
    assistants: Mapping[str, Sequence[Agent]] = field(default_factory=dict)
    workflows: Mapping[str, Sequence[WorkflowDefinition]] = field(default_factory=dict)
    groups: Path | None = None
    saved_prompts: Mapping[str, Sequence[SavedPrompt]] = field(default_factory=dict)


class Engine:
    """Runs sessions and answers for all stored data.

    `links` shows an address in the system's browser, once the user has allowed it; a face sets it.
    """

    def __init__(
        self,
        plugs: Plugs,
        resources: Resources,
        bus: events.EventBus,
        *,
        language: str = "",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        store, documents, models, tools = plugs.store, plugs.documents, plugs.models, plugs.tools
        self.sessions, self.settings = store.summaries, documents.settings
        prompts, facts = resources.prompts, models.known_facts
        self.bus = bus
        self.links: Callable[[str], Awaitable[bool]] = _no_links
        self._store = store
        self._documents = documents
        self._secrets = plugs.secrets
        self._models = models
        self.files = plugs.files
        self.session_files = plugs.session_files
        self.network, self.new_versions = plugs.network, plugs.new_versions
        self.login_start = plugs.login_start
        self._prompts = prompts
        self._as_html, self._tamed = plugs.as_html, plugs.tamed
        self._embedded_problem = plugs.embedded_problem
        self._silent: frozenset[str] = frozenset()
        self._spoken = language
        self.drafts = Drafts(plugs.drafts, bus)
        self.usage = UsageBook(plugs.ledger, models, documents.settings, bus)
        self._calls = Slots(Availability(lambda _: ANY_NUMBER, self._calls_at_once), clock, sleep)
        metered = MeteredModels(models, self.usage, self._calls)
        shared = (documents, bus, self._language)
        self.folders = Folders(*shared, {}, plugs.files)
        self.saved_prompts = Definitions(PROMPT_KIND, *shared, resources.saved_prompts)
        sessions = Sessions(store, bus, self._run_of, self.folders.briefed, self._check_readable)
        self.memory = Memory(documents, bus, plugs.secrets, store, sessions.open_to_change)
        self._sessions = sessions
        self.live, self.open, self.wait = sessions.live, sessions.open, sessions.wait
        self.put_away, self.move, self.ask_again = sessions.put_away, sessions.move, self._calls.end_pause
        self.assistants = Assistants(*shared, resources.assistants, tools)
        self.skills = Skills(*shared)
        known = (self.providers, self.assistants, facts, self.skills)
        self._directory = AgentDirectory(documents, tools, *known)
        self.models_for, self.model_of = self._directory.models_for, self._directory.model_of
        free = Availability(self._policy, lambda _: None, lambda agent: agent in self.settings().held_back)
        self._slots = Slots(free, clock, sleep, lambda agent_id: self.queues.tell(agent_id))
        self._services = Services(
            models=metered,
            slots=self._slots,
            directory=self._directory,
            prompts=prompts,
            store=store,
            files=plugs.session_files,
            drafts=self.drafts,
            count=TokenCount(),
            clock=clock,
            memory=self.memory,
            outsider=lambda models: self._debaters.outsider_of(models),
            check_item=check_item,
        )
        bus.subscribe(self._on_events)
        self.queues = Queues(self._slots, self._directory, documents, bus)
        self.work = AllWork(store, self._sessions, self.queues, self._directory, documents, self._scheduled)
        self.keys = providers.Keys(documents, plugs.secrets, bus, self.providers)
        self.connections = Connections(documents, models, self.providers, self.save_provider, self.keys.set)
        self.local_models = LocalModels(documents, models, bus, self.settings, self.save_provider)
        told = (self._directory.agents, self._language, self.drafts, self.usage, self.keys.look_up)
        self.archive = Archive(plugs.archive, store, bus, prompts, *told, plugs.tamed)
        self.voting = VotingChecks(documents, metered, bus)
        self.estimates = Estimates(models, self._directory, prompts, self.providers, self.voting)
        asked = (self._directory, metered, self.voting)
        self._debaters = DebateProviders(documents, prompts, self.providers, *asked)
        self.debates = Debates(self._directory, self._sessions, store, prompts, self._debaters, metered)
        self.councils = Councils(self._sessions, store, self._debaters, *shared, self.estimates)
        self.journal = Journal(*shared, self._sessions.live)
        self.chats = Chats(self._sessions, self._directory, prompts, self._language, self.drafts)
        self.criteria = Criteria(self._sessions, metered, prompts, self._language)
        self.titles = Titles(self._sessions, self._directory, metered, prompts, self.settings)
        self.summaries = Summaries(self._sessions, self._services)
        undo = (self.assistants.change, self.archive.take_out)
        self.servers = Servers(documents, plugs.secrets, tools, bus, *undo)
        self.permissions = Permissions(store, documents, self._sessions, tools, self.servers)
        acting = (self._sessions, self._directory)
        ready, estimates = resources.groups, self.estimates
        self.groups = Groups(*shared, {}, *acting, self.assistants, prompts, ready, metered, estimates)
        self.workflows = Workflows(*shared, resources.workflows, *acting, metered)
        files, again = (sessions, store.summaries, plugs.session_files), self._try_again
        self.schedules = Schedules(*shared, {}, self.folders, *files, again, WallClock(), sleep)

    # Sessions

    def tail(self, session_id: str, count: int = 60) -> list[Message]:
        """Return the last messages of a session, without opening it."""
        live = self._sessions.live(session_id)
        tail = list(live.whole_messages())[-count:] if live else self._store.tail(session_id, count)
        return [message for message in tail if message.role != Role.SUMMARY]

    async def open_waiting(self) -> None:
        """Open the sessions that were left waiting, so that `chats.needs_you` knows their questions."""
        for summary in self.sessions():
            may_ask = resumable(summary) and summary.status != Status.STOPPED
            waits = summary.status == Status.WAITING or (may_ask and summary.kind not in ("debate", ""))
            if waits and not summary.read_only:
                with contextlib.suppress(MootError):
                    await self.open(summary.id)

    async def search(self, text: str, limit: int = 50) -> list[Hit]:
        """Find a text in all sessions, the newest first."""
        return await self._store.search(text, limit)

    async def delete(self, session_id: str) -> None:
        """Pause a session at once and move it to the trash; `restore` brings it back as it was."""
        await self._sessions.forget(session_id)
        await self._store.delete(session_id)
        self.bus.publish(events.SessionDeleted(session_id=session_id))

    async def restore(self, session_id: str) -> None:
        """Bring a session back from the trash."""
        await self._store.restore(session_id)
        await self.open(session_id)
        self.bus.publish(events.SessionRestored(session_id=session_id))

    async def export(self, session_id: str, file_format: str, *, with_folder: bool = False) -> str:
        """Return a session as a document: `md`, `html` or `json`, which has its folder's instructions
        and files only `with_folder`. Raises BadInput for another format.
        """
        live, decision = await self.open(session_id), self.journal.get(session_id)
        how = (self._prompts, self._as_html, decision, self._tamed)
        return "".join(await in_turns(export(live, file_format, *how, with_folder=with_folder)))

    async def exports_folder(self, session_id: str, file_format: str) -> bool:
        """Say whether an export can have the instructions or files of the session's folder."""
        session = (await self.open(session_id)).session
        return file_format == ExportFormat.JSON and session != session.without_folder

    async def export_file(self, session_id: str, file_format: str, *, with_folder: bool = False) -> bytes:
        """Return a session as a file: as `export`, or as a PDF or a Word document.
        Raises BadInput for another format.
        """
        if file_format not in (PDF, DOCX):
            return (await self.export(session_id, file_format, with_folder=with_folder)).encode()
        page = await self.export(session_id, ExportFormat.HTML)
        return await self.files.printed(page, (await self.open(session_id)).session.title, file_format)

    async def file_as(
        self, session_id: str, path: str, file_format: str, version: int | None = None
    ) -> bytes:
        """Return a Markdown file of a session in one of FILE_FORMATS. Raises NotFound, BadInput
        for another file.
        """
        if file_format not in FILE_FORMATS or not is_markdown(path):
            raise BadInput("file_not_markdown", path=path)
        found, data = await self.session_files.read(session_id, path, version)
        title = Path(found.path).stem
        # A long text takes seconds.
        page = await asyncio.to_thread(page_of, data.decode(errors="replace"), title, self._as_html)
        if file_format == ExportFormat.HTML:
            return page.encode()
        return await self.files.printed(page, title, file_format)

    async def memo(self, session_id: str) -> Memo:
        """Return the memo about a session and what was decided in it. Raises NotFound, StorageError."""
        live = await self.open(session_id)
        return memo_of(live, self.journal.get(session_id), self._prompts, self.journal.today())

    async def memo_file(self, session_id: str, file_format: str) -> bytes:
        """Return the memo about a session as a file, in one of MEMO_FORMATS. Raises BadInput for another."""
        if file_format not in MEMO_FORMATS:
            raise BadInput("unknown_format", format=file_format, formats=", ".join(MEMO_FORMATS))
        memo = await self.memo(session_id)
        if file_format == PDF:
            return await self.files.printed(memo_as_html(memo), memo.title, PDF)
        if file_format == DOCX:
            page = page_of(memo_as_markdown(memo), memo.title, self._as_html)
            return await self.files.printed(page, memo.title, DOCX)
        return (memo_as_html(memo) if file_format == ExportFormat.HTML else memo_as_markdown(memo)).encode()

    async def export_zip(self, session_id: str, path: str) -> None:
        """Write a session as Markdown and its files as they are now into one zip.
        Raises NotFound, StorageError.
        """
        entries = [("report.md", (await self.export(session_id, ExportFormat.MARKDOWN)).encode())]
        for version in await self.session_files.list(session_id):
            # What the user named for this session alone is not sent on.
            if is_usual(version.path):
                _, data = await self.session_files.read(session_id, version.path)
                entries.append((f"files/{version.path}", data))
        await self.archive.files.write_zip(path, iter(entries))

    async def document(self, session_id: str) -> list[DocumentPart]:
        """Return a session as the parts of a document for people, for a PDF."""
        live, decision = await self.open(session_id), self.journal.get(session_id)
        return await in_turns(kind_of(live.session).document(live, self._prompts, decision))

    async def pause(self, session_id: str) -> None:
        """Pause after the turn in flight; asked twice, at once."""
        run = self._sessions.running(session_id)
        if run is not None:
            await run.pause()
        else:
            await self.open(session_id)

    async def resume(self, session_id: str) -> None:
        """Resume a paused session. Raises BadInput where it has ended."""
        live = await self.open(session_id)
        run = self._sessions.running(session_id)
        if run is not None:
            if live.session.status == Status.RUNNING:
                run.go_on()
                return
            # It has just paused and still saves that: a wish to go on would be lost.
            await run.wait()
        check_open(live)
        self._sessions.check(live.session)
        if live.session.chat is not None:
            if live.session.workflow is not None:
                self.workflows.reopen(live)
            await self.chats.resume(live)
        else:
            self._sessions.run(live)

    def _scheduled(self, texts: Texts) -> list[WorkRow]:
        return self.schedules.rows(texts)

    async def _try_again(self, session_id: str) -> None:
        """Go on with a session whose models could not be asked, and follow it until it rests."""
        # The keyring may have been unlocked by now.
        await self.keys.look_up()
        live = await self.open(session_id)
        last = live.turns.first(live.chat_session.chat.head) if live.session.chat is not None else None
        if resumable(live.session) or last is None:
            await self.resume(session_id)
        else:
            await self.chats.retry(session_id, last.id)
        await self.wait(session_id)

    async def stop(self, session_id: str) -> None:
        """Stop a session; the text so far is kept, and `resume` undoes it."""
        await self._sessions.stop(await self.open(session_id))

    async def shutdown(self) -> None:
        """Pause all sessions, write what is left, and close the files."""
        await self.drafts.close()
        await self.local_models.close()
        await self._sessions.close()
        await self.journal.close()
        await self._slots.close()
        await self._calls.close()
        await self.usage.close()
        await self._store.close()

    def providers(self) -> list[ProviderStatus]:
        """Return every provider with what it lacks."""
        known = (self._secrets, self._embedded_problem(), self._silent, self._documents)
        return [providers.status_of(config, *known) for config in providers.configured(self._documents)]

    async def look_for_servers(self) -> bool:
        """Find out which local servers answer, for `providers`. Return whether that has changed."""
        usable = ("", providers.ProviderProblem.NO_SERVER)
        near = (status for status in self.providers() if status.local and status.base_url)
        local = [status.config.id for status in near if status.problem in usable]
        heard = await asyncio.gather(*(self._models.listens(provider_id) for provider_id in local))
        before = self._silent
        self._silent = frozenset(item for item, listens in zip(local, heard, strict=True) if not listens)
        return self._silent != before

    async def save_provider(self, config: ProviderConfig) -> None:
        """Add or replace a provider. Raises BadInput, StorageError."""
        config = providers.check_provider(config)
        providers.check_readable(self._documents, [config.id])
        added = {config.id: config}
        await self._documents.change_providers(
            lambda known: tuple(({each.id: each for each in providers.with_built_in(known)} | added).values())
        )
        await self._secrets.refresh(((providers.key_place(config), config.kind),))

    async def remove_provider(self, provider_id: str) -> Callable[[], Awaitable[bool]]:
        """Move a provider to the trash and forget its key; return what brings both back,
        as `Keys.remove` does.

        Raises NotFound, StorageError; the provider then remains.
        """
        return_key = await self.keys.remove(provider_id)
        try:
            file = await self._documents.throw_provider(provider_id)
        except MootError:
            await return_key()
            raise

        async def bring_back() -> bool:
            await self.archive.take_out(file)
            return await return_key()

        return bring_back

    async def test_provider(self, provider_id: str) -> TestResult:
        """Try a provider with its key."""
        config = providers.found_provider(self._documents, provider_id)
        result = await self._models.test(provider_id)
        self.connections.note_test(config, result)
        return result

    async def change_settings(self, change: Callable[[Settings], Settings]) -> None:
        """Change the settings; another language changes the names of what comes with Moot.
        Raises StorageError.

        `change` may be called in another thread; no other change is lost.
        """
        before = self._language()
        await self._documents.change_settings(change)
        self._tell_language(before)

    def speak(self, language: str) -> None:
        """Use a language for what comes with Moot, whatever the settings say."""
        before = self._language()
        self._spoken = language
        self._tell_language(before)

    def problems(self) -> tuple[Problem, ...]:
        """Return the files that could not be used."""
        return (*self._documents.problems(), *self._store.problems(), *self.drafts.problems())

    def _calls_at_once(self, provider_id: str) -> int | None:
        config = providers.provider_of(self._documents, provider_id)
        kind = provider_kind(config.kind) if config else None
        return kind.calls_at_once if kind else None

    def _policy(self, agent_id: str) -> Busy:
        agent = self._directory.agent(agent_id)
        role = agent.role if agent else agent_id.removeprefix(MADE_FOR)
        return policy_of(agent.busy if agent else None, role)

    def _on_events(self, batch: Sequence[events.Event]) -> None:
        if any(isinstance(event, events.AssistantsChanged) for event in batch):
            self._slots.renew()

    def _language(self) -> str:
        return choose_language(self._spoken or self._documents.settings().language)

    def _tell_language(self, before: str) -> None:
        if self._language() != before:
            for changed in (events.AssistantsChanged, events.WorkflowsChanged, events.SavedPromptsChanged):
                self.bus.publish(changed(session_id=""))

    def _check_readable(self, session: Session) -> None:
        providers.check_readable(self._documents, kind_of(session).providers(session, self._directory))

    def _run_of(self, live: LiveSession) -> Run:
        return kind_of(live.session).run(live, self._services, self._debaters)
