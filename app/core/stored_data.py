"""Types for backups, the trash and disk usage."""

from dataclasses import dataclass
from enum import StrEnum

from app.core.usage import UsageEntry


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """One file of backups: `why` it was made, when (ISO 8601 UTC), and its size in bytes."""

    path: str
    made_at: str
    why: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedSession:
    """A session in a backup; `state` compares it with now.

    missing: it is not here. same: all of it is here, perhaps with more. changed: each has something the other lacks.
    unreadable: the backup's log is damaged.
    """

    id: str
    kind: str
    title: str
    updated_at: str
    messages: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedDocument:
    """A small document in a backup: its name below the data directory, and its `state` as of a session."""

    name: str
    state: str

    @property
    def part(self) -> str:
        """Its type: assistants, groups, workflows, folders, saved_prompts, drafts, settings, providers or mcp."""
        return self.name.partition("/")[0].partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupContents:
    """What is in a backup, each part compared with what is here now."""

    backup: Backup
    sessions: tuple[PackedSession, ...]
    documents: tuple[PackedDocument, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What came back: ids of sessions, ids of copies beside changed ones, names of documents.

    `backup` is the file that holds the state from before. `unapproved` are the ids of those sessions and copies
    whose permissions or open tool calls were not taken over. `usage` are the calls of models the backup knows
    of: with the documents all of them, else those of the sessions.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Thrown:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSize:
    """The size of a part of the data directory: its name, bytes and number of files."""

    name: str
    size: int
    files: int
