"""What is written in the editors on its way to the disk. Used by the commands of assistants, groups and workflows."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from app.core.agent import Agent, Group
from app.core.errors import MootError
from app.core.workflow import WorkflowDefinition
from app.gui.tasks import Tasks

Thing = TypeVar("Thing", Agent, Group, WorkflowDefinition)


class SaveQueue(Generic[Thing]):
    """Saves the newest of each thing; tells how it went by the two callables it is given."""

    def __init__(
        self,
        tasks: Tasks,
        save: Callable[[Thing], Awaitable[Thing]],
        on_saved: Callable[[Thing], None],
        on_failed: Callable[[str, MootError], None],
    ) -> None:
        self._tasks = tasks
        self._save: Callable[[Thing], Awaitable[Thing]] = save
        self._on_saved: Callable[[Thing], None] = on_saved
        self._on_failed = on_failed
        self._unsaved: dict[str, Thing] = {}
        self._saving: set[str] = set()
        self._all_saved = asyncio.Event()
        self._all_saved.set()

    def add(self, thing: Thing) -> None:
        """Save a thing, in place of what was to be saved of it."""
        self._unsaved[thing.id] = thing
        self._all_saved.clear()
        self._tasks.start(f"save {thing.id}", self._save_newest(thing.id))

    async def empty(self) -> None:
        """Return once nothing is left to be saved."""
        await self._all_saved.wait()

    async def _save_newest(self, thing_id: str) -> None:
        """Save a thing, again when it was written on meanwhile."""
        self._saving.add(thing_id)
        try:
            while (thing := self._unsaved.pop(thing_id, None)) is not None:
                try:
                    self._on_saved(await self._save(thing))
                except MootError as error:
                    self._on_failed(thing_id, error)
        finally:
            self._saving.discard(thing_id)
            self._unsaved.pop(thing_id, None)
            if not self._unsaved and not self._saving:
                self._all_saved.set()
