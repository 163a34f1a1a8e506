"""The plugs for the disk and the keyring: what the engine asks of storage, also for backups and the trash."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from app.core.frozen import Frozen
from app.core.session import Definition

if TYPE_CHECKING:
    from app.core.catalog import ModelList, ProviderConfig
    from app.core.council import Decision, Panel
    from app.core.definitions import Agent, Group, SavedPrompt, WorkflowDefinition
    from app.core.draft import Draft
    from app.core.errors import Problem
    from app.core.events import Event
    from app.core.memory import Note
    from app.core.message import Message, Total, UsageEntry
    from app.core.schedule import Schedule, ScheduleRun
    from app.core.servers import McpServer
    from app.core.session import Folder, Hit, Session, SessionSummary
    from app.core.session_files import FileVersion, Make, Writer
    from app.core.settings import Settings
    from app.core.skills import SkillFiles

Stored = TypeVar("Stored")
# Makes what is to be stored of what there is.
Change = Callable[[Stored], Stored]


class StoredSession(Frozen):
    """A session read from disk, already mended: running is paused, streaming is stopped.

    `damaged` counts records that could not be read (the original file is kept); `read_only` is
    true for a file written by a newer version or one of an unknown kind.
    """

    session: Session
    messages: list[Message]
    damaged: int = 0
    read_only: bool = False


class BackupReason(StrEnum):
    """Why a backup was made."""

    DAILY = "daily"
    BY_HAND = "by_hand"
    BEFORE_RESTORE = "before_restore"
    BEFORE_UPGRADE = "before_upgrade"


class Difference(StrEnum):
    """How something in a backup compares with what is here."""

    MISSING = "missing"
    SAME = "same"
    CHANGED = "changed"
    UNREADABLE = "unreadable"


class Backup(Frozen):
    """One file of backups: `why` it was made, when (ISO 8601 UTC), and its size in bytes."""

    path: str
    made_at: str
    why: str
    size: int


class PackedSession(Frozen):
    """A session in a backup; `state` compares it with now.

    missing: it is not here. same: all of it is here, perhaps with more. changed: each has something the other
    lacks. unreadable: the backup's log is damaged.
    """

    id: str
    kind: str
    title: str
    updated_at: str
    messages: int
    state: str


class PackedDocument(Frozen):
    """A small document in a backup: its name below the data directory, and its `state` as of a session."""

    name: str
    state: str

    @property
    def part(self) -> str:
        """Its type: assistants, groups, workflows, folders, saved_prompts, drafts, settings, providers
        or mcp.
        """
        return self.name.partition("/")[0].partition(".")[0]


class BackupContents(Frozen):
    """What is in a backup, each part compared with what is here now."""

    backup: Backup
    sessions: tuple[PackedSession, ...]
    documents: tuple[PackedDocument, ...]


class Restored(Frozen):
    """What came back: ids of sessions, ids of copies beside changed ones, names of documents.

    `backup` is the file that holds the state from before. `unapproved` are the ids of those sessions and
    copies whose permissions or open tool calls were not taken over. `usage` are the calls of models the
    backup knows of: with the documents all of them, else those of the sessions.
    """

    sessions: tuple[str, ...]
    copies: tuple[str, ...]
    documents: tuple[str, ...]
    backup: str
    usage: tuple[UsageEntry, ...] = ()
    unapproved: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many documents of each type were restored; types without any are left out."""
        found = {"sessions": self.sessions, "copies": self.copies, "documents": self.documents}
        return {name: len(some) for name, some in found.items() if some}


class Thrown(Frozen):
    """A file in the trash: `file` is its name there, `session_id` the session's id or "" for anything else.

    `days_left` says how many days it is kept.
    """

    file: str
    session_id: str
    kind: str
    title: str
    thrown_at: str
    days_left: int
    size: int


class FilesSize(Frozen):
    """How many files a session has, how many bytes all their versions take,
    and how many bytes the old ones alone.
    """

    files: int
    size: int
    old: int


class PartSize(Frozen):
    """The size of a part of the data directory: its name, bytes and number of files."""

    name: str
    size: int
    files: int


class SessionStore(Protocol):
    """Keeps sessions: an append-only log each, and a list of them all."""

    def summaries(self) -> list[SessionSummary]:
        """List every session, newest first, from the index."""

    def tail(self, session_id: str, count: int) -> list[Message]:
        """Return the last finished messages without reading the whole log."""

    async def load(self, session_id: str) -> StoredSession:
        """Read a session whole. Raises NotFound, StorageError."""

    def append(self, events: tuple[Event, ...]) -> None:
        """Queue one batch of one session as one line of its log; never blocks."""

    async def flush(self, session_id: str) -> None:
        """Return when all that was appended is on the disk. Raises StorageError."""

    async def discard(self, session_id: str) -> None:
        """Forget a session whose very start could not be written, and what is queued of it."""

    async def delete(self, session_id: str) -> None:
        """Move a session to the trash."""

    async def restore(self, session_id: str) -> None:
        """Bring a session back from the trash."""

    async def bring_in(self, session: Session, messages: Sequence[Message]) -> None:
        """Save an imported session, whole or not at all; its id is not taken."""

    def problems(self) -> tuple[Problem, ...]:
        """Return the damaged logs, one entry each."""

    async def search(self, text: str, limit: int) -> list[Hit]:
        """Find a text in titles and messages of all sessions, newest session first, case ignored."""

    async def close(self) -> None:
        """Write what is left and close all files."""


class SessionFiles(Protocol):
    """Keeps the files that are made in sessions, with every version;
    what another program changed is taken in as a version.

    A session may have a folder that the user chose: there it knows what it has written and what came while it
    ran, and version 0 is the user's own file, or that there was none. Where that folder cannot be used, old
    versions can be read all the same. Everything raises NotFound for a file or a version that is not there,
    and StorageError.
    """

    async def list(self, session_id: str) -> tuple[FileVersion, ...]:
        """Return the newest version of each file that is there and that the session has written, by path."""

    async def others(self, session_id: str) -> tuple[str, ...]:
        """Return the paths of the other files in a chosen folder, a few more than MOST_LISTED at most."""

    async def seen(self, session_id: str) -> frozenset[int]:
        """Return the hashes of the paths in a chosen folder. Raises BadInput where it cannot be used."""

    async def take_in_new(self, session_id: str, seen: frozenset[int]) -> None:
        """Take in the files of a chosen folder whose paths are not among those `seen` before.
        Raises BadInput.
        """

    async def checked_folder(self, folder: str) -> str:
        """Return where a folder really is that the user chooses.
        Raises BadInput for one that may not be chosen.
        """

    async def sizes(self, session_ids: Iterable[str]) -> dict[str, FilesSize]:
        """Return what the files of each of these sessions take."""

    async def drop_old(self, session_id: str) -> None:
        """Delete all versions but the newest of each file; until the next start `bring_back_old` undoes
        that.
        """

    async def bring_back_old(self, session_id: str) -> None:
        """Bring back the versions that were deleted last; what was written since stays."""

    async def versions(self, session_id: str) -> tuple[FileVersion, ...]:
        """Return all that was written, moved and deleted, the oldest first."""

    async def read(self, session_id: str, path: str, version: int | None = None) -> tuple[FileVersion, bytes]:
        """Return a file as it is now, or a version of it, and its contents."""

    async def write(self, session_id: str, path: str, make: Make, by: Writer = ...) -> FileVersion:
        """Write what `make` returns, and return the new version, or the one that is there if it is just that.

        `make` is called in another thread, between no two other changes. Raises what it raises, BadPathError,
        and BadInput where the session has too many or too large files.
        """

    async def move(self, session_id: str, source: str, target: str, by: Writer = ...) -> FileVersion:
        """Move a file to a path where there is none. Raises BadPathError, and BadInput where there is one."""

    async def delete(self, session_id: str, path: str, by: Writer = ...) -> FileVersion:
        """Delete a file; its versions are kept."""

    def folder(self, session_id: str) -> str:
        """Return where the files of a session are, or will be."""


class UsageLedger(Protocol):
    """Keeps what every call of a model used, also of sessions that are gone; a message counts once."""

    def add(self, entry: UsageEntry) -> None:
        """Queue one call for the disk; never blocks."""

    async def months(self) -> dict[str, Total]:
        """Return the sum of each month (`2026-11`) that has any, without what was added since the program
        began. Raises StorageError.
        """

    async def entries(self, month: str) -> list[UsageEntry]:
        """Return a month's calls, all of them, oldest first. Raises StorageError."""

    async def bring_in(self, entries: Sequence[UsageEntry]) -> list[UsageEntry]:
        """Add the calls that are not there yet, by their ids; return them. Raises StorageError."""

    async def close(self) -> None:
        """Write what is left and close the file."""


class DefinitionStore(Protocol[Definition]):
    """Keeps the definitions of one kind: assistants, groups, workflows, panels, decisions, folders
    or prompts.
    """

    def all(self) -> tuple[Definition, ...]:
        """Return the definitions that can be used."""

    async def change(self, make: Callable[[], Definition], *, restores: bool = False) -> Definition:
        """Write the definition that `make` returns with the next version number and return it so;
        the version before is kept. With `restores` it is taken out of the trash.

        `make` may be called in another thread, between no two other changes. Raises what it raises, BadInput,
        and StorageError, also where the file holds what cannot be read.
        """

    async def delete(self, definition_id: str) -> None:
        """Move a definition to the trash; its versions are kept, so that saving it again brings it back."""

    async def versions(self, definition_id: str) -> tuple[Definition, ...]:
        """Return the versions that are kept, newest first."""


class Documents(Protocol):
    """Keeps the small documents: settings, providers, assistants, MCP servers, consents.

    Each `change…` is given a function from what there is to what is to be. It may be called in another
    thread, between no two other changes, so that none is lost; what it raises is raised.
    """

    # In folders of these names.
    assistants: DefinitionStore[Agent]
    groups: DefinitionStore[Group]
    workflows: DefinitionStore[WorkflowDefinition]
    panels: DefinitionStore[Panel]
    journal: DefinitionStore[Decision]
    folders: DefinitionStore[Folder]
    saved_prompts: DefinitionStore[SavedPrompt]
    schedules: DefinitionStore[Schedule]

    @property
    def skills(self) -> SkillFiles:
        """The skills, in folders."""

    def settings(self) -> Settings:
        """Return the settings as last read or saved."""

    async def change_settings(self, change: Change[Settings]) -> None:
        """Change the settings, keeping a previous copy."""

    def providers(self) -> tuple[ProviderConfig, ...]:
        """Return the entries of `providers.json`; the catalogue's defaults where there is no file."""

    def provider_problem(self, provider_id: str) -> Problem | None:
        """Return why what is written about a provider cannot be used, None where it can."""

    async def change_providers(self, change: Change[tuple[ProviderConfig, ...]]) -> None:
        """Change `providers.json`, keeping unknown fields and a previous copy."""

    async def throw_provider(self, provider_id: str) -> str:
        """Move a provider to the trash, without its key, and return its file there, for the archive.

        Raises NotFound, StorageError.
        """

    def model_lists(self) -> tuple[ModelList, ...]:
        """Return the lists of models of `models.json`, which were fetched from the providers."""

    async def change_model_lists(self, change: Change[tuple[ModelList, ...]]) -> None:
        """Change `models.json`. Raises StorageError."""

    def mcp_servers(self) -> tuple[McpServer, ...]:
        """Return the servers of `mcp.json`."""

    async def change_mcp_servers(self, change: Change[tuple[McpServer, ...]]) -> None:
        """Change `mcp.json`, keeping unknown fields and a previous copy."""

    async def throw_server(self, name: str) -> str:
        """Move an MCP server to the trash, without its secrets, and return its file there, for the archive.

        Raises NotFound, StorageError.
        """

    def consents(self) -> frozenset[str]:
        """Return the fingerprints the user has allowed."""

    async def change_consents(self, change: Change[frozenset[str]]) -> None:
        """Change what the user has allowed."""

    def notes(self) -> tuple[Note, ...]:
        """Return what assistants remember, the oldest first."""

    async def change_notes(self, change: Change[tuple[Note, ...]]) -> None:
        """Change what assistants remember, keeping unknown fields and a previous copy."""

    def schedule_runs(self) -> tuple[ScheduleRun, ...] | None:
        """Return what came of each time a schedule was due, None where the file cannot be read."""

    async def change_schedule_runs(self, change: Change[tuple[ScheduleRun, ...]]) -> None:
        """Change what came of the times at which schedules were due."""

    def problems(self) -> tuple[Problem, ...]:
        """Return what could not be read, one entry a fault."""


class DraftFiles(Protocol):
    """Keeps drafts by name: a session's id, or the name of a place."""

    async def load(self) -> dict[str, Draft]:
        """Return all drafts; those that cannot be read are set aside and are among the `problems`."""

    async def save(self, name: str, draft: Draft) -> None:
        """Write a draft; an empty one removes its file. Raises StorageError."""

    def problems(self) -> tuple[Problem, ...]:
        """Return what could not be read, one entry a fault."""


class KeyNews(StrEnum):
    """What becomes known of keys later, outside any command."""

    LOOKED_UP = "looked_up"
    KEPT = "kept"
    NOT_KEPT = "not_kept"
    REMOVED = "removed"
    NOT_REMOVED = "not_removed"


class Secrets(Protocol):
    """Keeps keys: in the system's keyring, else for this run only.

    A secret of an MCP server is kept the same way, by its place (`server_secrets.secret_place`) and no kind.
    The keyring may be slow, as it may ask its user for a password; an answer that comes late counts all the
    same.

    `keyring_problem` says why the keyring last did not do what it was asked: "no_keyring", "locked",
    "dismissed", "waiting" for its user, "stopped" (it does not respond) or "too_long"; "" before that.
    `unread` says the same of every place that could not be read. `takes_unasked` is true where storing needs
    no answer from its user. `on_news` is called with a place and LOOKED_UP (and "" for the place), KEPT,
    NOT_KEPT, REMOVED or NOT_REMOVED.
    """

    keyring_problem: str
    takes_unasked: bool
    on_news: Callable[[str, str], None]

    @property
    def unread(self) -> Mapping[str, str]:
        """Return why the keyring was not read, by place."""

    def get(self, provider: str, kind: str) -> str | None:
        """Return a provider's key as already looked up; never blocks."""

    def source(self, provider: str, kind: str) -> str:
        """Say where the key comes from: keyring, environment, session, or "" for none."""

    async def refresh(self, providers: tuple[tuple[str, str], ...]) -> None:
        """Look up the keys of (provider id, kind) pairs off the loop's thread; no keyring is unlocked
        for that.
        """

    async def unlock(self) -> bool:
        """Let the user unlock the keyring, and look up again what was looked up; false where that failed."""

    async def keep(self, place: str, value: str) -> bool:
        """Store any text unchanged; false where it is kept for this run only, or is stored later."""

    def hide(self, texts: Iterable[str]) -> None:
        """Remove these texts from every other text from now on; they are not stored here."""

    async def remove(self, provider: str) -> bool:
        """Forget a key; false where the keyring has it still, or may have.

        Where the keyring has not answered yet the key is deleted once it does.
        """

    def redact(self, text: str) -> str:
        """Return the text with every known key and key-like string removed."""


class ArchiveFiles(Protocol):
    """Keeps backups, the trash, and files that are imported and exported.

    What is awaited works off the loop's thread; the rest blocks and belongs in a thread. Everything raises
    BadInput for an unusable file, and StorageError.
    """

    async def back_up(
        self, why: str, target: str = "", progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> Backup:
        """Pack all of the user's data into one file, in the data directory or at `target`.

        `progress` is told how many files of how many are packed; if it is cancelled, there is no new file.
        """

    async def back_up_if_due(self) -> Backup | None:
        """Make the backup of the day; None where there is one, or nothing has changed since the last."""

    async def backups(self) -> tuple[Backup, ...]:
        """Return the backups of the data directory, the newest first."""

    async def contents(self, path: str) -> BackupContents:
        """Return what is in a backup, compared with what is here; changes nothing."""

    async def restore(
        self,
        path: str,
        sessions: Collection[str],
        *,
        documents: bool,
        replace: bool,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Restored:
        """Restore these sessions, and with `documents` what else is missing; nothing here is lost.

        With `replace` a document that differs here is replaced as well. `progress` is told how many sessions
        are done.
        """

    async def thrown(self) -> tuple[Thrown, ...]:
        """Return what is in the trash, the newest first."""

    async def take_out(self, file: str) -> str:
        """Restore a file from the trash; return the session's id, "" for a definition.

        Raises NotFound, and BadInput where another one has taken its place.
        """

    async def remove_thrown(self, files: Collection[str]) -> None:
        """Delete these files of the trash for good."""

    async def sizes(self) -> tuple[PartSize, ...]:
        """Return the size of each part of the data directory, the largest first."""

    def read_foreign(self, path: str) -> Iterator[Any]:
        """Yield the JSON values of a file that another program wrote, or of those in a zip; blocks.

        Of a file that is one long list its items are the values.
        """

    def read_exported(self, session: object, messages: Sequence[object]) -> StoredSession:
        """Return a session as Moot's own JSON export holds it, mended. Raises BadInput."""

    async def write_zip(self, path: str, entries: Iterator[tuple[str, bytes]]) -> None:
        """Write a zip of these (name, bytes), whole or not at all; the entries are made one by one
        in another thread.
        """
