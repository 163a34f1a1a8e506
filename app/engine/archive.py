"""The commands of what is kept: backups, the bin, how large it all is; `engine.archive` for the faces."""

from collections.abc import Collection

from app.core.archive import BY_HAND, Backup, BackupContents, PartSize, Restored, Thrown
from app.core.events import (
    AssistantsChanged,
    EventBus,
    GroupsChanged,
    ServersChanged,
    SessionRestored,
    WorkflowsChanged,
)
from app.core.store import ArchiveFiles


class Archive:
    """What a face may do with what is kept; everything raises BadInput, NotFound or StorageError in words."""

    def __init__(self, files: ArchiveFiles, bus: EventBus) -> None:
        self._files = files
        self._bus = bus

    # Backups

    async def back_up(self, target: str = "") -> Backup:
        """Pack everything that is the user's into one file, where `target` says or among the backups."""
        return await self._files.back_up(BY_HAND, target)

    async def back_up_if_due(self) -> Backup | None:
        """Make the backup of the day; None where there is one, or nothing has changed since the last."""
        return await self._files.back_up_if_due()

    async def backups(self) -> tuple[Backup, ...]:
        """Return the backups that are kept beside the data, the newest first."""
        return await self._files.backups()

    async def contents(self, path: str) -> BackupContents:
        """Say what is in a backup, compared with what is here; nothing is changed."""
        return await self._files.contents(path)

    async def restore(
        self, path: str, sessions: Collection[str], *, documents: bool = True, replace: bool = False
    ) -> Restored:
        """Bring these sessions of a backup back, and with `documents` what else is missing.

        The present state is backed up first. A session that is here and differs comes back as a copy
        beside it; with `replace` the other documents are replaced where they differ.
        """
        restored = await self._files.restore(path, sessions, documents=documents, replace=replace)
        self._announce(*restored.sessions, *restored.copies)
        if restored.documents:
            self._announce_documents()
        return restored

    # The bin

    async def thrown(self) -> tuple[Thrown, ...]:
        """Return what is in the bin, the newest first."""
        return await self._files.thrown()

    async def take_out(self, file: str) -> None:
        """Take a file of the bin out of it again."""
        session_id = await self._files.take_out(file)
        if session_id:
            self._announce(session_id)
        else:
            self._announce_documents()

    async def remove_thrown(self, files: Collection[str]) -> None:
        """Delete these files of the bin for good."""
        await self._files.remove_thrown(files)

    async def sizes(self) -> tuple[PartSize, ...]:
        """Say how much room each part of the data directory takes, the largest first."""
        return await self._files.sizes()

    def _announce_documents(self) -> None:
        for event in (AssistantsChanged, GroupsChanged, WorkflowsChanged, ServersChanged):
            self._bus.publish(event(session_id=""))

    def _announce(self, *session_ids: str) -> None:
        self._bus.publish(*(SessionRestored(session_id=session_id) for session_id in session_ids))
