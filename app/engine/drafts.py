"""The drafts of messages that were not sent; `engine.drafts` for the window."""

import asyncio
import logging
import time

from app.core.draft import Draft
from app.core.errors import StorageError
from app.core.events import EventBus, Notice
from app.core.owned_tasks import start_owned
from app.core.store import DraftFiles

QUIET_S = 0.8
LONGEST_S = 5.0

log = logging.getLogger(__name__)


class Drafts:
    """Holds every draft, and writes changed ones once their writer pauses."""

    def __init__(self, files: DraftFiles, bus: EventBus) -> None:
        self._files = files
        self.problems = files.problems
        self._bus = bus
        self._drafts: dict[str, Draft] = {}
        self._changed: set[str] = set()
        self._changed_at = 0.0
        self._saving: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._closed = False

    async def load(self) -> None:
        """Load the stored drafts; those written since then stay."""
        found = await self._files.load()
        kept = {name: self._drafts[name] for name in self._changed if name in self._drafts}
        self._drafts = {name: draft for name, draft in found.items() if name not in self._changed} | kept

    def of(self, name: str) -> Draft:
        """Return the draft of a session, or of a place of `core.draft`; an empty one where there is none."""
        return self._drafts.get(name, Draft())

    def holds(self, session_id: str, queued_id: str) -> bool:
        """Say whether a queued message is being edited, and so not sent yet."""
        return queued_id in self.of(session_id).queued

    def keep(self, name: str, draft: Draft) -> None:
        """Replace a draft; an empty one removes it. It is written soon."""
        if draft == self.of(name):
            return
        if draft == Draft():
            del self._drafts[name]
        else:
            self._drafts[name] = draft
        self._changed.add(name)
        self._changed_at = time.monotonic()
        if not self._closed and (self._saving is None or self._saving.done()):
            self._saving = start_owned(self._save_soon(), name="save drafts")

    async def save(self) -> None:
        """Write the changed drafts now. Raises StorageError; they are then written the next time."""
        async with self._one_at_a_time:
            for name in sorted(self._changed):
                self._changed.discard(name)
                try:
                    await self._files.save(name, self.of(name))
                except BaseException:
                    self._changed.add(name)
                    raise

    async def close(self) -> None:
        """Write the changed drafts; those that cannot be written now are lost."""
        self._closed = True
        if self._saving is not None:
            # Finish a write that has begun: an older text must not come after the last.
            async with self._one_at_a_time:
                self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)
        try:
            await self.save()
        except StorageError as error:
            log.warning("a draft could not be written: %s", error)

    async def _save_soon(self) -> None:
        """Write once nothing was changed for a moment; during constant typing every few seconds."""
        told = False
        while self._changed:
            began = now = time.monotonic()
            while now < min(self._changed_at + QUIET_S, began + LONGEST_S):
                await asyncio.sleep(min(self._changed_at + QUIET_S, began + LONGEST_S) - now)
                now = time.monotonic()
            try:
                await self.save()
                told = False
            except StorageError as error:
                if not told:
                    notice = Notice(session_id="", level="error", code=error.code, details=error.details)
                    self._bus.publish(notice)
                told = True
                await asyncio.sleep(LONGEST_S)
