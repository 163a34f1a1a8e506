"""Models on this computer: downloading, adding and removing them; `engine.local_models`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.catalog import EMBEDDED_MODEL, LOCAL
from app.core.errors import BadInput, MootError, NotFound
from app.core.events import EventBus, ModelFetching, ModelsChanged, Notice
from app.core.local_models import FetchProgress, LocalModel
from app.core.owned_tasks import start_owned
from app.core.provider import Models, ProviderConfig
from app.core.settings import Settings
from app.core.store import Documents
from app.engine.providers import provider_of

_GB = 1_000_000_000
# Part of a computer's memory is not reported as its own.
_NEARLY = 0.85


@dataclass(kw_only=True)
class _Fetch:
    """A download that is under way."""

    task: asyncio.Task[str]
    progress: FetchProgress


class LocalModels:
    """The commands for models on this computer. Downloads go on until they are paused or Moot ends."""

    def __init__(
        self,
        documents: Documents,
        models: Models,
        bus: EventBus,
        settings: Callable[[], Settings],
        save: Callable[[ProviderConfig], Awaitable[None]],
    ) -> None:
        self._documents = documents
        self._models = models
        self._bus = bus
        self._settings = settings
        self._save = save
        self._fetches: dict[str, _Fetch] = {}

    def all(self) -> tuple[LocalModel, ...]:
        """Return all models of this computer, the built-in one first; reads the disk."""
        return (self._models.embedded_model(), *self._models.local.models())

    def find(self, model_id: str) -> LocalModel:
        """Return a model by its id; reads the disk. Raises NotFound."""
        every = self.all()
        for model in every:
            if model.id == model_id:
                return model
        raise NotFound("model_not_found", model=model_id, models=", ".join(one.id for one in every))

    def progress(self, model_id: str) -> FetchProgress | None:
        """Return how far a download is that is under way, None if there is none."""
        fetch = self._fetches.get(model_id)
        return fetch.progress if fetch is not None else None

    def offered(self) -> Sequence[str]:
        """Return the ids of the models that can be chosen for chats and debates."""
        config = provider_of(self._documents, LOCAL)
        return config.models if config is not None else ()

    def fits(self, model: LocalModel) -> bool:
        """Return whether this computer has the memory that a model is meant for."""
        need = model.computer_gb * _GB * _NEARLY if model.computer_gb else model.memory
        return self._models.local.total_memory() >= need

    def lacks_memory(self, model: LocalModel) -> int:
        """Return how many bytes models may take now where an installed model needs more, and the user has not allowed it; else 0."""
        if not model.path or model.anyway:
            return 0
        free = self._models.local.free_memory()
        return free if model.memory > free else 0

    async def is_metered(self) -> bool:
        """Return whether the connection to the internet is metered; False where that is not known."""
        return await self._models.local.is_metered()

    async def load_anyway(self, model_id: str) -> None:
        """Let a model be loaded also where it needs more memory than is free. Raises NotFound, BadInput."""
        model = await asyncio.to_thread(self.find, model_id)
        if not model.path:
            raise BadInput("model_not_here", model=model_id)
        await self._models.local.allow(model_id)
        self._changed()

    async def begin(self, model_id: str) -> None:
        """Begin to download a model, or go on; how it ends is told by a Notice. Raises NotFound, BadInput."""
        await self._begin(model_id)
        if fetch := self._fetches.get(model_id):
            fetch.task.add_done_callback(self._tell_end)

    async def fetch(self, model_id: str) -> None:
        """Download a model and offer it; returns when it is there. Cancelling pauses the download.

        Raises NotFound, BadInput where the computer is too small, MootError (model_fetch_…).
        """
        await self._begin(model_id)
        if fetch := self._fetches.get(model_id):
            try:
                await asyncio.shield(fetch.task)
            except asyncio.CancelledError:
                await self.pause(model_id)
                raise

    async def _begin(self, model_id: str) -> None:
        model = await asyncio.to_thread(self.find, model_id)
        if model_id in self._fetches or model.path:
            return
        if not self.fits(model):
            raise BadInput("model_too_large", name=model.name, need=model.computer_gb)
        progress = FetchProgress(done=model.done, total=model.size)
        task = start_owned(self._fetch(model))
        self._fetches[model_id] = _Fetch(task=task, progress=progress)
        self._tell(model_id, progress)

    def _tell_end(self, task: asyncio.Task[str]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            notice = Notice(session_id="", level="info", code="model_ready", details={"name": task.result()})
        else:
            told = error if isinstance(error, MootError) else MootError("unexpected")
            notice = Notice(session_id="", level="error", code=told.code, details=dict(told.details))
        self._bus.publish(notice)

    async def pause(self, model_id: str) -> None:
        """Stop a download; what is there of the file stays, and `fetch` goes on from it."""
        if fetch := self._fetches.get(model_id):
            fetch.task.cancel()
            await asyncio.gather(fetch.task, return_exceptions=True)

    async def offer(self, model_id: str) -> None:
        """Let an installed model be chosen for chats and debates. Raises StorageError."""
        await self._offer(model_id)
        self._changed()

    async def _offer(self, model_id: str) -> None:
        config = provider_of(self._documents, LOCAL) or ProviderConfig(id=LOCAL, kind=LOCAL)
        if model_id != EMBEDDED_MODEL and model_id not in config.models:
            await self._save(replace(config, models=(*config.models, model_id), enabled=True))

    async def add(self, path: Path) -> LocalModel:
        """Add a GGUF file, which stays where it is, once its model has answered. Raises BadInput."""
        model = await self._models.local.add(path)
        kept = False
        try:
            draft = ProviderConfig(id=LOCAL, kind=LOCAL, models=(model.id,))
            result = await self._models.try_out(draft, "")
            if not result.ok:
                detail = result.detail or result.failure
                raise BadInput("model_does_not_run", name=path.name, detail=detail)
            await self._models.local.accept(model.id)
            kept = True
        finally:
            if not kept:
                await self._models.local.remove(model.id)
        await self.offer(model.id)
        return model

    async def remove(self, model_id: str) -> None:
        """Delete a model with its file, or what was downloaded of it; a file of the user's own stays.

        Raises NotFound, BadInput, StorageError.
        """
        model = await asyncio.to_thread(self.find, model_id)
        if model_id == EMBEDDED_MODEL:
            await self._models.remove_embedded()
            self._changed()
            return
        await self.pause(model_id)
        config = provider_of(self._documents, LOCAL)
        if config is not None and model_id in config.models:
            rest = tuple(one for one in config.models if one != model_id)
            if rest:
                await self._save(replace(config, models=rest))
            else:
                await self._documents.throw_provider(LOCAL)
        # Windows deletes no file that a program has open.
        await self._models.unload(model.id)
        await self._models.local.remove(model.id)
        self._models.note_stable(LOCAL, model.id, -1)
        self._changed()

    async def check(self, model_id: str) -> None:
        """Compare a model's file with what it should be. Raises NotFound, BadInput."""
        model = await asyncio.to_thread(self.find, model_id)
        if not model.path:
            raise BadInput("model_not_here", model=model_id)
        await self._models.local.check(model)

    async def close(self) -> None:
        """Pause all downloads."""
        await asyncio.gather(*(self.pause(model_id) for model_id in tuple(self._fetches)))

    async def _fetch(self, model: LocalModel) -> str:
        def on_progress(progress: FetchProgress) -> None:
            self._fetches[model.id].progress = progress
            self._tell(model.id, progress)

        try:
            if model.id == EMBEDDED_MODEL:
                await self._models.fetch_embedded(
                    lambda done, total: on_progress(FetchProgress(done=done, total=total))
                )
            else:
                await self._models.local.fetch(model, self._settings().model_source, on_progress)
            await self._offer(model.id)
        finally:
            del self._fetches[model.id]
            self._changed()
        return model.name or model.id

    def _tell(self, model_id: str, progress: FetchProgress) -> None:
        self._bus.publish(ModelFetching(session_id="", model=model_id, progress=progress))

    def _changed(self) -> None:
        self._bus.publish(ModelsChanged(session_id=""))
