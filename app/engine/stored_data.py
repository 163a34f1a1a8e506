"""The commands for stored data: backups, import and export, the trash; `engine.archive` for the faces."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core import events
from app.core.definitions import Agent
from app.core.errors import MootError
from app.core.session import ExportFormat
from app.core.store import ArchiveFiles, Backup, BackupReason, Restored, SessionStore, StoredSession
from app.core.texts import escape_markdown
from app.engine.decisions.journal import is_date
from app.engine.drafts import Drafts
from app.engine.importing import Arrival, Arrivals, Surroundings, arrivals, messages_alone
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.session_kinds import export
from app.engine.usage_book import UsageBook

log = logging.getLogger(__name__)


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
    _look_for_keys: Callable[[], Awaitable[None]]
    _usage: UsageBook
    _tamed: Callable[[str], str]

    # Backups

    async def back_up(
        self, target: str = "", progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> Backup:
        """Pack all of the user's data into one file, at `target` or among the backups.

        `progress` is told how many files of how many are packed. If it is cancelled, the existing files stay.
        """
        return await self.files.back_up(BackupReason.BY_HAND, target, progress)

    async def restore(
        self,
        path: str,
        sessions: Collection[str],
        *,
        documents: bool = True,
        replace: bool = False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Restored:
        """Restore these sessions of a backup, and with `documents` what else is missing.

        The present state is backed up first. A session that exists and differs is restored as a copy beside it; with `replace`
        documents that differ are replaced. `progress` is told how many sessions are done.
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
        """Return the sessions in an export of ChatGPT, Claude, Open WebUI, LobeChat or Moot, without saving them.

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
        self,
        sessions: Sequence[Arrival],
        progress: Callable[[int], None] = lambda _: None,
        *,
        with_context: bool = False,
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

    async def export_all(
        self, path: str, progress: Callable[[int], None] = lambda _: None
    ) -> tuple[str, ...]:
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

    def _documents_of(self, stored: StoredSession) -> dict[str, str]:
        """Return a session as Markdown, where its kind is known, and as JSON; nothing where that fails."""
        live = LiveSession(stored, events.EventBus())
        is_known = stored.session.chat is not None or stored.session.debate is not None
        formats = (ExportFormat.MARKDOWN, ExportFormat.JSON) if is_known else (ExportFormat.JSON,)
        try:
            return {one: "".join(export(live, one, self._prompts, tame=self._tamed)) for one in formats}
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
        definitions = (
            events.AssistantsChanged,
            events.GroupsChanged,
            events.WorkflowsChanged,
            events.PanelsChanged,
            events.JournalChanged,
        )
        for event in (*definitions, events.ServersChanged, events.FoldersChanged, events.SavedPromptsChanged):
            self._bus.publish(event(session_id=""))

    def _announce(self, *session_ids: str) -> None:
        self._bus.publish(*(events.SessionRestored(session_id=session_id) for session_id in session_ids))
