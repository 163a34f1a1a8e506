"""Adding providers: local servers that are found, trying a key, lists of models; `engine.connections`.

Also models on this computer: downloading, adding and removing them; `engine.local_models`.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from app.core import catalog
from app.core.catalog import recipe_of
from app.core.errors import BadInput, MootError, NotFound
from app.core.events import EventBus, ModelFetching, ModelsChanged, Notice
from app.core.ids import utc_now
from app.core.owned_tasks import end_tasks, start_owned
from app.core.provider import FetchProgress, FoundServer, LocalModel, Models, ProviderStatus, TestResult
from app.core.servers import split_command
from app.core.settings import Settings
from app.core.store import Documents
from app.engine import providers
from app.engine.library.agents import AgentModel

# Of a longer list only the model that was tried is offered; the user can add others in the settings.
MOST_OFFERED = 12
_HERE = ("localhost", "127.0.0.1", "::1")
_NOT_OF_AN_ID = re.compile(r"[^a-z0-9]+")


@dataclass(eq=False, repr=False)
class Connections:
    """The commands for adding providers, and for the models of those that are there."""

    _documents: Documents
    _models: Models
    _providers: Callable[[], list[ProviderStatus]]
    _save: Callable[[catalog.ProviderConfig], Awaitable[None]]
    _set_key: Callable[[str, str], Awaitable[bool]]
    # Whether the last test at a provider's address went well.
    _tested: dict[tuple[str, str], bool] = field(default_factory=dict, init=False)
    # Two quick changes of the same list must not overlap.
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self.warm, self.is_warm = self._models.warm, self._models.is_warm
        self.found_agents = self._models.found_agents
        self.known_facts, self.can_fetch_embedded = self._models.known_facts, self._models.can_fetch_embedded
        self.fetch_embedded = self._models.fetch_embedded

    async def offers(self) -> tuple[FoundServer, ...]:
        """Look for servers on this computer; return those that are not configured yet.

        A server counts as configured once its models are chosen, or where the user switched it off.
        """
        found = await self._models.local_servers()
        known = (item for item in self._providers() if item.config.models or not item.config.enabled)
        taken = {_place(status.base_url) for status in known if status.base_url}
        return tuple(server for server in found if _place(server.address) not in taken)

    def draft(
        self, kind: str, address: str = "", label: str = "", models: tuple[str, ...] = ()
    ) -> catalog.ProviderConfig:
        """Return a provider as it would be added: the one of this kind or address where it exists.

        Raises BadInput for an invalid address.
        """
        row = catalog.provider_kind(kind)
        usual = row.base_url if row else ""
        address = catalog.with_scheme(address)
        if not usual:
            providers.check_base_url(address)
            label = label or urlsplit(address).netloc
        here = _place(address or usual)
        for status in self._providers():
            if status.config.kind == kind and status.base_url and _place(status.base_url) == here:
                return replace(status.config, models=models or status.config.models, enabled=True)
        free = self._free_id(label or kind, "server")
        made = catalog.ProviderConfig(id=free, kind=kind, label=label, base_url=address, models=models)
        return providers.check_provider(made)

    async def use(self, server: FoundServer) -> catalog.ProviderConfig:
        """Add a server that was found, with the models it lists. Raises StorageError."""
        config = replace(self.draft(server.kind, server.address, server.name), models=server.models)
        await self._save(config)
        return config

    async def try_out(self, config: catalog.ProviderConfig, key: str) -> TestResult:
        """Try a draft with a key; neither is saved. Raises BadInput for an impossible key."""
        return await self._models.try_out(config, providers.check_key(key) if key.strip() else "")

    async def add(self, config: catalog.ProviderConfig, key: str, result: TestResult) -> bool:
        """Save a draft as it was tried, with its key and its models, the one that answered first.

        Return False where there is no keyring, so that the key is kept for this run only.
        """
        await self._save(replace(config, models=_offered(config, result), enabled=True))
        self.note_test(config, result)
        kept = await self._set_key(config.id, key) if key.strip() else True
        if result.models:
            await self._keep_list(config.id, result.models)
        return kept

    def note_test(self, config: catalog.ProviderConfig, result: TestResult) -> None:
        """Keep how the test of a provider went."""
        self._tested[config.id, config.base_url] = result.ok

    def tested(self, config: catalog.ProviderConfig) -> bool | None:
        """Return how the last test of a provider went, None where there was none at its address."""
        return self._tested.get((config.id, config.base_url))

    def list_of(self, provider_id: str) -> catalog.ModelList | None:
        """Return the list that was fetched from a provider last."""
        return next((item for item in self._documents.model_lists() if item.provider == provider_id), None)

    async def learn_facts(self, wanted: Iterable[tuple[str, str]] | None = None) -> None:
        """Look up what is known about models, by provider and name, so that `known_facts` says it; None
        for all on offer.
        """
        ready = (status for status in self._providers() if status.ready and not status.local)
        offered = [(status.config.id, model) for status in ready for model in status.models]
        for pair in offered if wanted is None else wanted:
            await self._models.facts(*pair)

    async def learn_about(self, models: Sequence[AgentModel]) -> None:
        """Look up what is known about these models, so that `known_facts` says it."""
        await self.learn_facts([(model.provider, model.model) for model in models])

    async def fetch(self, provider_id: str) -> TestResult:
        """Fetch a provider's list of models and save it. Raises NotFound, StorageError."""
        providers.found_provider(self._documents, provider_id)
        result = await self._models.list_models(provider_id)
        if result.ok:
            await self._keep_list(provider_id, result.models)
        return result

    async def offer_model(self, provider_id: str, model: str, *, first: bool = False) -> None:
        """Offer a model of a provider wherever one is chosen; the `first` is its default.

        Raises BadInput for an impossible name.
        """
        name = model.strip()
        if not name or len(name) > 200 or not name.isprintable():
            raise BadInput("model_name_invalid")
        async with self._changing:
            others = tuple(item for item in self._offered_now(provider_id) if item != name)
            await self._offer(provider_id, (name, *others) if first else (*others, name))

    async def withdraw_model(self, provider_id: str, model: str) -> Callable[[], Awaitable[bool]]:
        """Stop offering a model; return what offers it again in its old place.
        Raises BadInput for a provider's last model.
        """
        async with self._changing:
            before = self._offered_now(provider_id)
            rest = tuple(item for item in before if item != model)
            if not rest:
                raise BadInput("last_model")
            await self._offer(provider_id, rest)

        async def bring_back() -> bool:
            async with self._changing:
                now, place = self._offered_now(provider_id), before.index(model)
                if model not in now:
                    await self._offer(provider_id, (*now[:place], model, *now[place:]))
            return True

        return bring_back

    async def choose_window(self, provider_id: str, model: str, tokens: int) -> None:
        """Say how many tokens a request to a model may have; 0 leaves it to what is known."""
        async with self._changing:
            config = providers.found_provider(self._documents, provider_id)
            others = {name: size for name, size in config.windows.items() if name != model}
            await self._save(replace(config, windows={**others, model: tokens} if tokens > 0 else others))

    def _offered_now(self, provider_id: str) -> tuple[str, ...]:
        providers.found_provider(self._documents, provider_id)
        return next(provider.models for provider in self._providers() if provider.config.id == provider_id)

    async def _offer(self, provider_id: str, models: tuple[str, ...]) -> None:
        config = providers.found_provider(self._documents, provider_id)
        if config.kind == catalog.EMBEDDED:
            raise BadInput("last_model")
        await self._save(replace(config, models=models))

    def agent_draft(self, line: str) -> catalog.ProviderConfig:
        """Return an external agent as it would be added: by the name of its recipe, or with a command line.

        One that is configured already is returned as it is. Raises BadInput.
        """
        recipe = recipe_of(line.strip())
        try:
            words = [recipe.executable, *recipe.args] if recipe.executable else split_command(line)
        except ValueError as error:
            raise BadInput("server_line_unreadable", detail=str(error)) from error
        if not words:
            raise BadInput("agent_command_empty")
        command, args = words[0], tuple(words[1:])
        for config in providers.configured(self._documents):
            if (config.kind, config.command, config.args) == (catalog.PROGRAM, command, args):
                return config
        label = recipe.label if recipe.executable else PurePath(command).stem
        free = self._free_id(label, "agent")
        made = catalog.ProviderConfig(id=free, kind=catalog.PROGRAM, label=label, command=command, args=args)
        return providers.check_provider(replace(made, recipe=recipe.name))

    async def allow_agent(self, shown: catalog.ProviderConfig) -> None:
        """Save an external agent as it was shown, and allow its program to run.

        Raises BadInput where it has changed since it was shown, StorageError.
        """
        known = providers.provider_of(self._documents, shown.id)
        if known is not None and known.fingerprint != shown.fingerprint:
            raise BadInput("server_changed", name=shown.label or shown.id)
        await self._documents.change_consents(lambda known: known | {shown.fingerprint})
        await self._save(replace(shown, enabled=True))

    async def deny_agent(self, provider_id: str) -> None:
        """Withdraw the consent to run a program. Raises NotFound, StorageError."""
        own = providers.found_provider(self._documents, provider_id).fingerprint
        # Those to its work in folders begin with it.
        await self._documents.change_consents(
            lambda consents: frozenset(consent for consent in consents if not consent.startswith(own))
        )

    def _free_id(self, label: str, instead: str) -> str:
        stem = _NOT_OF_AN_ID.sub("-", label.lower()).strip("-")[:40] or instead
        taken = {config.id for config in providers.configured(self._documents)}
        names = (stem, *(f"{stem}-{number}" for number in range(2, 1_000)))
        return next(name for name in names if name not in taken)

    async def _keep_list(self, provider_id: str, models: Iterable[str]) -> None:
        known = {config.id for config in providers.configured(self._documents)} - {provider_id}
        listed = tuple(dict.fromkeys(filter(None, models)))
        shown = catalog.chat_models(listed)
        hidden = tuple(name for name in listed if name not in shown)
        fresh = catalog.ModelList(provider=provider_id, fetched_at=utc_now(), models=shown, hidden=hidden)
        await self._documents.change_model_lists(
            lambda lists: (*(item for item in lists if item.provider in known), fresh)
        )


def _offered(config: catalog.ProviderConfig, result: TestResult) -> tuple[str, ...]:
    """Return the models that a new provider offers; those that the user chose before stay."""
    row = catalog.provider_kind(config.kind)
    known = config.models or (row.models if row else ())
    if result.model in known:
        return config.models
    listed = catalog.chat_models(result.models)
    more = listed if len(listed) <= MOST_OFFERED else ()
    return tuple(dict.fromkeys(filter(None, (result.model, *config.models, *more))))


def _place(address: str) -> tuple[str, int]:
    """Return host and port of an address, all names of this computer being one."""
    parts = urlsplit(address)
    host = "127.0.0.1" if parts.hostname in _HERE else parts.hostname or ""
    return host, parts.port or (443 if parts.scheme == "https" else 80)


_GB = 1_000_000_000
# Part of a computer's memory is not reported as its own.
_NEARLY = 0.85


@dataclass(kw_only=True)
class _Fetch:
    """A download that is under way."""

    task: asyncio.Task[str]
    progress: FetchProgress


@dataclass(eq=False, repr=False)
class LocalModels:
    """The commands for models on this computer. Downloads go on until they are paused or Moot ends."""

    _documents: Documents
    _models: Models
    _bus: EventBus
    _settings: Callable[[], Settings]
    _save: Callable[[catalog.ProviderConfig], Awaitable[None]]
    _fetches: dict[str, _Fetch] = field(default_factory=dict, init=False)

    def all(self) -> tuple[LocalModel, ...]:
        """Return all models of this computer, the built-in one first; reads the disk."""
        return (self._models.embedded_model(), *self._models.local.models())

    def find(self, model_id: str) -> LocalModel:
        """Return a model by its id; reads the disk. Raises NotFound."""
        every = self.all()
        for model in every:
            if model.id == model_id:
                return model
        raise NotFound("model_not_found", model=model_id, models=", ".join(item.id for item in every))

    def progress(self, model_id: str) -> FetchProgress | None:
        """Return how far a download is that is under way, None if there is none."""
        fetch = self._fetches.get(model_id)
        return fetch.progress if fetch is not None else None

    def offered(self) -> Sequence[str]:
        """Return the ids of the models that can be chosen for chats and debates."""
        config = providers.provider_of(self._documents, catalog.LOCAL)
        return config.models if config is not None else ()

    def fits(self, model: LocalModel) -> bool:
        """Return whether this computer has the memory that a model is meant for."""
        need = model.computer_gb * _GB * _NEARLY if model.computer_gb else model.memory
        return self._models.local.total_memory() >= need

    def lacks_memory(self, model: LocalModel) -> int:
        """Return how many bytes models may take now where an installed model needs more,
        and the user has not allowed it; else 0.
        """
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
        self._fetches[model_id] = _Fetch(task=start_owned(self._fetch(model)), progress=progress)
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
            await end_tasks(fetch.task)

    async def offer(self, model_id: str) -> None:
        """Let an installed model be chosen for chats and debates. Raises StorageError."""
        await self._offer(model_id)
        self._changed()

    async def _offer(self, model_id: str) -> None:
        config = providers.provider_of(self._documents, catalog.LOCAL) or catalog.ProviderConfig(
            id=catalog.LOCAL, kind=catalog.LOCAL
        )
        if model_id != catalog.EMBEDDED_MODEL and model_id not in config.models:
            await self._save(replace(config, models=(*config.models, model_id), enabled=True))

    async def add(self, path: Path) -> LocalModel:
        """Add a GGUF file, which stays where it is, once its model has answered. Raises BadInput."""
        model = await self._models.local.add(path)
        kept = False
        try:
            draft = catalog.ProviderConfig(id=catalog.LOCAL, kind=catalog.LOCAL, models=(model.id,))
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
        if model_id == catalog.EMBEDDED_MODEL:
            await self._models.remove_embedded()
            self._changed()
            return
        await self.pause(model_id)
        config = providers.provider_of(self._documents, catalog.LOCAL)
        if config is not None and model_id in config.models:
            rest = tuple(item for item in config.models if item != model_id)
            if rest:
                await self._save(replace(config, models=rest))
            else:
                await self._documents.throw_provider(catalog.LOCAL)
        # Windows deletes no file that a program has open.
        await self._models.unload(model.id)
        await self._models.local.remove(model.id)
        self._models.note_stable(catalog.LOCAL, model.id, -1)
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
            if model.id == catalog.EMBEDDED_MODEL:
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
