"""Adding providers: local servers that are found, trying a key, lists of models; `engine.connections`."""

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from urllib.parse import urlsplit

from app.core.addresses import with_scheme
from app.core.catalog import EMBEDDED, PROGRAM, chat_models, provider_kind
from app.core.errors import BadInput
from app.core.events import utc_now
from app.core.external_agents import recipe_of
from app.core.model_facts import ModelFacts
from app.core.provider import (
    FoundServer,
    ModelList,
    Models,
    ProviderConfig,
    ProviderStatus,
    TestResult,
)
from app.core.store import Documents
from app.engine.library.agents import AgentModel
from app.engine.providers import (
    check_base_url,
    check_key,
    check_provider,
    configured,
    found_provider,
    provider_of,
)

# Of a longer list only the model that was tried is offered; the user can add others in the settings.
MOST_OFFERED = 12
_HERE = ("localhost", "127.0.0.1", "::1")
_NOT_OF_AN_ID = re.compile(r"[^a-z0-9]+")


class Connections:
    """The commands for adding providers, and for the models of those that are there."""

    def __init__(
        self,
        documents: Documents,
        models: Models,
        providers: Callable[[], list[ProviderStatus]],
        save: Callable[[ProviderConfig], Awaitable[None]],
        set_key: Callable[[str, str], Awaitable[bool]],
    ) -> None:
        self._documents = documents
        self._models = models
        self._providers = providers
        self._save = save
        self._set_key = set_key
        # Whether the last test at a provider's address went well.
        self._tested: dict[tuple[str, str], bool] = {}
        # Two quick changes of the same list must not overlap.
        self._changing = asyncio.Lock()

    async def warm(self) -> None:
        """Return when a try would not have to wait for Moot itself. Raises ProviderError."""
        await self._models.warm()

    async def offers(self) -> tuple[FoundServer, ...]:
        """Look for servers on this computer; return those that are not configured yet.

        A server counts as configured once its models are chosen, or where the user switched it off.
        """
        found = await self._models.local_servers()
        taken = {
            _place(status.base_url)
            for status in self._providers()
            if status.base_url and (status.config.models or not status.config.enabled)
        }
        return tuple(server for server in found if _place(server.address) not in taken)

    def draft(
        self, kind: str, address: str = "", label: str = "", models: tuple[str, ...] = ()
    ) -> ProviderConfig:
        """Return a provider as it would be added: the one of this kind or address where it exists.

        Raises BadInput for an invalid address.
        """
        row = provider_kind(kind)
        usual = row.base_url if row else ""
        address = with_scheme(address)
        if not usual:
            check_base_url(address)
            label = label or urlsplit(address).netloc
        here = _place(address or usual)
        for status in self._providers():
            if status.config.kind == kind and status.base_url and _place(status.base_url) == here:
                return replace(status.config, models=models or status.config.models, enabled=True)
        stem = _NOT_OF_AN_ID.sub("-", (label or kind).lower()).strip("-")[:40] or "server"
        return check_provider(
            ProviderConfig(id=self._free_id(stem), kind=kind, label=label, base_url=address, models=models)
        )

    async def use(self, server: FoundServer) -> ProviderConfig:
        """Add a server that was found, with the models it lists. Raises StorageError."""
        config = replace(self.draft(server.kind, server.address, server.name), models=server.models)
        await self._save(config)
        return config

    def can_fetch_embedded(self) -> bool:
        """Say whether the embedded model could work here but its file is missing."""
        return self._models.can_fetch_embedded()

    async def fetch_embedded(self, progress: Callable[[int, int], None]) -> None:
        """Fetch the built-in model's file and check its hash. Raises MootError; cancelling leaves nothing."""
        await self._models.fetch_embedded(progress)

    async def try_out(self, config: ProviderConfig, key: str) -> TestResult:
        """Try a draft with a key; neither is saved. Raises BadInput for an impossible key."""
        return await self._models.try_out(config, check_key(key) if key.strip() else "")

    async def add(self, config: ProviderConfig, key: str, result: TestResult) -> bool:
        """Save a draft as it was tried, with its key and its models, the one that answered first.

        Return False where there is no keyring, so that the key is kept for this run only.
        """
        await self._save(replace(config, models=_offered(config, result), enabled=True))
        self.note_test(config, result)
        kept = await self._set_key(config.id, key) if key.strip() else True
        if result.models:
            await self._keep_list(config.id, result.models)
        return kept

    def note_test(self, config: ProviderConfig, result: TestResult) -> None:
        """Keep how the test of a provider went."""
        self._tested[config.id, config.base_url] = result.ok

    def tested(self, config: ProviderConfig) -> bool | None:
        """Return how the last test of a provider went, None where there was none at its address."""
        return self._tested.get((config.id, config.base_url))

    def list_of(self, provider_id: str) -> ModelList | None:
        """Return the list that was fetched from a provider last."""
        return next((one for one in self._documents.model_lists() if one.provider == provider_id), None)

    def known_facts(self, provider_id: str, model: str) -> ModelFacts:
        """Return what is known about a model by now."""
        return self._models.known_facts(provider_id, model)

    async def learn_facts(self, wanted: Iterable[tuple[str, str]] | None = None) -> None:
        """Look up what is known about models, by provider and name, so that `known_facts` says it; None for all on offer."""
        offered = [
            (status.config.id, model)
            for status in self._providers()
            for model in (status.models if status.ready and not status.local else ())
        ]
        for pair in offered if wanted is None else wanted:
            await self._models.facts(*pair)

    async def learn_about(self, models: Sequence[AgentModel]) -> None:
        """Look up what is known about these models, so that `known_facts` says it."""
        for one in models:
            await self._models.facts(one.provider, one.model)

    async def fetch(self, provider_id: str) -> TestResult:
        """Fetch a provider's list of models and save it. Raises NotFound, StorageError."""
        found_provider(self._documents, provider_id)
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
            now = self._offered_now(provider_id)
            others = tuple(one for one in now if one != name)
            await self._offer(provider_id, (name, *others) if first else (*others, name))

    async def withdraw_model(self, provider_id: str, model: str) -> Callable[[], Awaitable[bool]]:
        """Stop offering a model; return what offers it again in its old place. Raises BadInput for a provider's last model."""
        async with self._changing:
            before = self._offered_now(provider_id)
            rest = tuple(one for one in before if one != model)
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
            config = found_provider(self._documents, provider_id)
            others = {name: size for name, size in config.windows.items() if name != model}
            await self._save(replace(config, windows={**others, model: tokens} if tokens > 0 else others))

    def _offered_now(self, provider_id: str) -> tuple[str, ...]:
        found_provider(self._documents, provider_id)
        return next(one.models for one in self._providers() if one.config.id == provider_id)

    async def _offer(self, provider_id: str, models: tuple[str, ...]) -> None:
        config = found_provider(self._documents, provider_id)
        if config.kind == EMBEDDED:
            raise BadInput("last_model")
        await self._save(replace(config, models=models))

    async def found_agents(self) -> Mapping[str, str]:
        """Look for the known external agents; return the files of those that are installed, by recipe."""
        return await self._models.found_agents()

    def agent_draft(self, line: str) -> ProviderConfig:
        """Return an external agent as it would be added: by the name of its recipe, or with a command line.

        One that is configured already is returned as it is. Raises BadInput.
        """
        recipe = recipe_of(line.strip())
        try:
            words = [recipe.executable, *recipe.args] if recipe.executable else shlex.split(line)
        except ValueError as error:
            raise BadInput("server_line_unreadable", detail=str(error)) from error
        if not words:
            raise BadInput("agent_command_empty")
        command, args = words[0], tuple(words[1:])
        for config in configured(self._documents):
            if (config.kind, config.command, config.args) == (PROGRAM, command, args):
                return config
        label = recipe.label if recipe.executable else PurePath(command).stem
        stem = _NOT_OF_AN_ID.sub("-", label.lower()).strip("-")[:40] or "agent"
        return check_provider(
            ProviderConfig(
                id=self._free_id(stem),
                kind=PROGRAM,
                label=label,
                command=command,
                args=args,
                recipe=recipe.name,
            )
        )

    async def allow_agent(self, shown: ProviderConfig) -> None:
        """Save an external agent as it was shown, and allow its program to run.

        Raises BadInput where it has changed since it was shown, StorageError.
        """
        known = provider_of(self._documents, shown.id)
        if known is not None and known.fingerprint != shown.fingerprint:
            raise BadInput("server_changed", name=shown.label or shown.id)
        await self._documents.change_consents(lambda known: known | {shown.fingerprint})
        await self._save(replace(shown, enabled=True))

    async def deny_agent(self, provider_id: str) -> None:
        """Withdraw the consent to run a program. Raises NotFound, StorageError."""
        own = found_provider(self._documents, provider_id).fingerprint
        # Those to its work in folders begin with it.
        await self._documents.change_consents(
            lambda consents: frozenset(one for one in consents if not one.startswith(own))
        )

    def _free_id(self, stem: str) -> str:
        taken = {config.id for config in configured(self._documents)}
        names = (stem, *(f"{stem}-{number}" for number in range(2, 1_000)))
        return next(name for name in names if name not in taken)

    async def _keep_list(self, provider_id: str, models: Iterable[str]) -> None:
        known = {config.id for config in configured(self._documents)} - {provider_id}
        listed = tuple(dict.fromkeys(filter(None, models)))
        shown = chat_models(listed)
        hidden = tuple(name for name in listed if name not in shown)
        fresh = ModelList(provider=provider_id, fetched_at=utc_now(), models=shown, hidden=hidden)
        await self._documents.change_model_lists(
            lambda lists: (*(one for one in lists if one.provider in known), fresh)
        )


def _offered(config: ProviderConfig, result: TestResult) -> tuple[str, ...]:
    """Return the models that a new provider offers; those that the user chose before stay."""
    row = provider_kind(config.kind)
    known = config.models or (row.models if row else ())
    if result.model in known:
        return config.models
    listed = chat_models(result.models)
    more = listed if len(listed) <= MOST_OFFERED else ()
    return tuple(dict.fromkeys(filter(None, (result.model, *config.models, *more))))


def _place(address: str) -> tuple[str, int]:
    """Return host and port of an address, all names of this computer being one."""
    parts = urlsplit(address)
    host = "127.0.0.1" if parts.hostname in _HERE else parts.hostname or ""
    return host, parts.port or (443 if parts.scheme == "https" else 80)
