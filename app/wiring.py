"""Builds a running Moot from its parts, without Qt; used by the command line and by main for the window."""

import asyncio
import contextlib
import functools
from dataclasses import dataclass, field
from pathlib import Path

from app.children.host_client import HostNetwork
from app.children.login_start import BackgroundAtLogin
from app.core.definitions import Agent, SavedPrompt, WorkflowDefinition
from app.core.errors import BadInput, StorageError
from app.core.events import Event, EventBus, FileWritten, Notice, ServersChanged, SessionRestored
from app.core.servers import parted, texts_to_hide
from app.core.store import StoredSession
from app.engine.engine import Engine, Plugs, Resources
from app.engine.library.definitions import read_built_in
from app.engine.prompts import Prompts
from app.engine.providers import key_place, provider_of, unreadable_place
from app.files.reader import FileReaders
from app.markdown_page import as_html, tamed
from app.providers.external_agents import ExternalAgents
from app.providers.fact_book import FactBook
from app.providers.local_models import ModelFolder
from app.providers.model_file import find_model
from app.providers.new_version import VersionFile
from app.providers.remote import RemoteModels
from app.storage.access import WriterLock, check_owner, make_private
from app.storage.documents import DraftFolder, JsonDocuments
from app.storage.file_system import FileSystem
from app.storage.json_file import Replaced
from app.storage.paths import DataPaths, resources_dir
from app.storage.secrets import FaultLog, KeyringSecrets, keep_keys_out_of_errors
from app.storage.session_files import VersionedFiles
from app.storage.sessions import JsonLogStore, autosave
from app.storage.stored_data import FileArchive, upgrade
from app.storage.usage_ledger import UsageFile
from app.tools.tool_host_client import ToolHostClient
from app.tools.toolbox import Toolbox


@dataclass
class Moot:
    """The parts of a running Moot; `lock` and `log` are None if it only reads.
    Of the other programs one at a time starts a session (`calling`).
    """

    paths: DataPaths
    engine: Engine
    store: JsonLogStore
    documents: JsonDocuments
    secrets: KeyringSecrets
    models: RemoteModels
    tools: Toolbox
    lock: WriterLock | None
    log: FaultLog | None = None
    calling: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look_up_keys(self) -> None:
        """Read all keys and secrets, and move secrets from `mcp.json`, where everybody can read them,
        to the keyring.
        """
        await self.engine.keys.look_up()
        # A linked file belongs to another program too. A keyring that would ask for a password is left alone.
        if self.lock is not None and self.secrets.takes_unasked and not self.paths.mcp.is_symlink():
            await self.engine.servers.secure()

    async def close(self) -> None:
        """Pause what runs, write what is unsaved, end the child processes, and release the directory."""
        try:
            await self.engine.shutdown()
            await self.tools.close()
            await self.models.close()
            await self.store.close()
        finally:
            if self.log is not None:
                await asyncio.to_thread(self.log.close)
            if self.lock is not None:
                self.lock.release()


async def open_moot(
    data_dir: Path,
    *,
    write: bool = True,
    language: str = "",
    look_up_keys: bool = True,
    catalogue: Path | None = None,
) -> Moot:
    """Open a data directory, with `write` as its only writer.
    Without `look_up_keys` the caller does that later.

    `catalogue` lists other models for download than those that come with Moot.

    Raises DataDirectoryBusy if another process writes it, StorageError if it cannot be used.
    """
    paths = DataPaths(data_dir)
    lock = None
    if write:
        lock = WriterLock(paths)
        lock.acquire()
    else:
        await asyncio.to_thread(check_owner, paths.root)
    try:
        moot = await _open(paths, lock, language, catalogue)
        if look_up_keys:
            await moot.look_up_keys()
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    return moot


async def _open(paths: DataPaths, lock: WriterLock | None, language: str, catalogue: Path | None) -> Moot:
    if lock is not None:
        await asyncio.to_thread(make_private, paths.root)
        await asyncio.to_thread(upgrade, paths, FileSystem())
    bus = EventBus()
    loop = asyncio.get_running_loop()

    def publish(*events: Event) -> None:
        """Publish events of storage's threads."""
        with contextlib.suppress(RuntimeError):  # The loop is closed; the window is gone.
            loop.call_soon_threadsafe(bus.publish, *events)

    def tell_replaced(one: Replaced) -> None:
        if one.session_id:
            documents.look_at_kept()
        details = {"name": one.name, "kept": one.kept}
        events: list[Event] = [
            Notice(session_id=one.session_id, level="warning", code=one.code, details=details, sticky=True)
        ]
        if one.kept_id:
            events.append(SessionRestored(session_id=one.kept_id))
        publish(*events)

    disk = FileSystem(paths.root, lock.take_again) if lock is not None else FileSystem()
    documents = JsonDocuments(paths, file_system=disk, on_replaced=tell_replaced)
    await documents.load()
    if lock is not None:
        await asyncio.to_thread(documents.skills.mend)
    secrets = KeyringSecrets()
    keep_keys_out_of_errors(secrets.redact)
    for server in documents.mcp_servers():
        secrets.hide(texts_to_hide(parted(server)[1]))

    def tell_saving_stopped(error: StorageError) -> None:
        publish(Notice(session_id="", level="error", code=error.code, details=error.details, sticky=True))

    def recall(session_id: str) -> StoredSession | None:
        """Return an open session as it is in memory; on the writer's thread, while it may change."""
        live = engine.live(session_id)
        return live.as_stored() if live is not None else None

    store = JsonLogStore(
        paths,
        read_only=lock is None,
        file_system=disk,
        on_writer_failure=tell_saving_stopped,
        recall=recall,
        on_replaced=tell_replaced,
    )
    await store.open()

    def key_of(provider_id: str) -> str | None:
        config = provider_of(documents, provider_id)
        return secrets.get(key_place(config), config.kind) if config is not None else None

    book = FactBook(documents.known_models(), documents.save_known_models if lock is not None else None)
    agents = ExternalAgents(
        allowed=lambda config: config.fingerprint in documents.consents(),
        folder=paths.root / "agents",
        book=book,
        redact=secrets.redact,
        log_dir=paths.logs,
    )
    if lock is not None:
        await agents.end_left()
    known = resources_dir() / "models"
    models = RemoteModels(
        agents=agents,
        providers=functools.partial(provider_of, documents),
        key=key_of,
        unreadable=functools.partial(unreadable_place, documents),
        redact=secrets.redact,
        log_dir=paths.logs,
        model_file=functools.partial(find_model, paths.root),
        local=ModelFolder(paths.root / "models", catalogue or known / "catalogue.json", known / "licences"),
        book=book,
    )

    files = VersionedFiles(
        paths,
        read_only=lock is None,
        file_system=disk,
        on_written=lambda session_id, version: publish(FileWritten(session_id=session_id, file=version)),
        chosen=store.chosen_folder,
        named=store.named_files,
    )
    host = ToolHostClient(redact=secrets.redact, log_dir=paths.logs)
    tools = Toolbox(
        documents,
        secrets,
        host,
        files,
        open_link=lambda address: engine.links(address),
        log_dir=paths.logs,
        on_change=lambda: bus.publish(ServersChanged(session_id="")),
    )
    network = HostNetwork(paths.certificates, (models, host))
    if lock is not None:
        # The page of the settings says what is wrong with them.
        with contextlib.suppress(BadInput):
            await network.use(documents.settings().proxy, documents.settings().certificates)
    plugs = Plugs(
        store=store,
        documents=documents,
        secrets=secrets,
        models=models,
        ledger=UsageFile(paths, store.in_turn, read_only=lock is None, file_system=disk),
        archive=FileArchive(paths, store, documents, disk),
        drafts=DraftFolder(paths, file_system=disk),
        tools=tools,
        session_files=files,
        files=FileReaders(resources_dir() / "fonts"),
        network=network,
        new_versions=await asyncio.to_thread(VersionFile, paths.new_version, resources_dir()),
        login_start=BackgroundAtLogin(paths.root),
        as_html=as_html,
        tamed=tamed,
        embedded_problem=models.embedded_problem,
    )
    resources = Resources(
        prompts=Prompts(resources_dir() / "prompts"),
        assistants=read_built_in(resources_dir() / "agents", Agent),
        workflows=read_built_in(resources_dir() / "workflows", WorkflowDefinition),
        groups=resources_dir() / "groups",
        saved_prompts=read_built_in(resources_dir() / "saved_prompts", SavedPrompt),
    )
    engine = Engine(plugs, resources, bus, language=language)
    # After the engine, so that a call's usage is on disk before its message.
    if lock is not None:
        autosave(bus, store)
    log = FaultLog(paths.logs, secrets.redact) if lock is not None else None
    return Moot(paths, engine, store, documents, secrets, models, tools, lock, log)
