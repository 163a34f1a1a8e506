"""Implements `core.provider.Models`: asks the model host, a child process, and streams its answers.

External agents are asked through a host of their own (`external_agents`).
"""

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from app.children import host_client, processes
from app.children.host_client import HostClient, HostProcess, Line
from app.children.processes import MODEL_HOST, find_command, search_path
from app.core import catalog
from app.core import provider as core_provider
from app.core.catalog import DEFAULT_MODEL, RECIPES, recipe_of
from app.core.errors import BadInput, FailureKind, ProviderError, StorageError
from app.core.ids import new_id
from app.core.owned_tasks import start_owned
from app.core.provider import Delta, FactSource, LocalModel, ModelFacts, ModelRequest, Price, TestResult, Text
from app.core.texts import clean_text, clean_values
from app.providers import local_models
from app.providers.endpoints import LOCAL as LOCAL_LIMITS
from app.providers.endpoints import ModelLimits, complete_address, listens, usual_limits
from app.providers.errors import redact as redact_keys
from app.providers.external_agents import ExternalAgents
from app.providers.fact_book import FactBook
from app.providers.model_file import FILE_SIZE, fetch_model, find_model

_LISTEN_SECONDS = 1.0
# Longer: a proxy first connects to the server.
_REACH_SECONDS = 5.0
# Longer: while the window opens, an answer that has come may wait for its turn.
_LOOK_SECONDS = 3.0
_TEST_LIMITS = ModelLimits(first_token=30.0, idle=15.0, total=60.0)
# A host that dies sooner than this is restarted only by the next request.
_STABLE_SECONDS = 5.0


class RemoteModels(HostClient):
    """Asks models through the host, which it starts, restarts and stops.

    `providers` and `key` look up a provider by its id; `unreadable` returns where its entry cannot be read,
    or ""; `redact` removes the known keys from a text; `log_dir` is for the host's standard error, `local`
    has the models on this computer; `limits` replaces the usual limits; `book` remembers what is known about
    models; `agents` are asked where a provider is a program.
    """

    def __init__(
        self,
        *,
        providers: Callable[[str], catalog.ProviderConfig | None],
        key: Callable[[str], str | None],
        unreadable: Callable[[str], str] = lambda _: "",
        redact: Callable[[str], str] = lambda text: text,
        log_dir: Path | None = None,
        model_file: Callable[[], Path | None] = find_model,
        local: local_models.ModelFolder | None = None,
        limits: ModelLimits | None = None,
        book: FactBook | None = None,
        agents: ExternalAgents | None = None,
    ) -> None:
        super().__init__(MODEL_HOST, redact=redact, log_dir=log_dir)
        self._providers = providers
        self._key = key
        self._unreadable = unreadable
        self._model_file = model_file
        self.local = local or local_models.ModelFolder(Path(os.devnull), None)
        self._limits = limits
        self._book = book or FactBook()
        self._agents = agents
        self._looked_up: set[tuple[str, str]] = set()
        self._windows_asked: set[tuple[str, str]] = set()
        self._restart: asyncio.Task[None] | None = None
        self._keys_sent: set[str] = set()
        self._prices: dict[tuple[str, str], Price | None] = {}

    async def start(self) -> None:
        """Start the host, which then imports LiteLLM and warms up by itself; returns at once."""
        await self._running_host()

    async def warm(self) -> None:
        """Wait until the host can answer its first request without delay; starts it if necessary."""
        await (await self._running_host()).warm.wait()

    def is_warm(self) -> bool:
        """Return whether the host runs and has imported what it needs."""
        return self._host is not None and self._host.alive and self._host.warm.is_set()

    async def warm_embedded(self) -> None:
        """Load the built-in model ahead of its first request, if its file is there."""
        model_file = await asyncio.to_thread(self._model_file)
        if model_file is not None:
            server = dataclasses.asdict(local_models.embedded_spec(model_file))
            (await self._running_host()).send({"id": new_id(), "op": "warm", "server": server})

    def embedded_problem(self) -> str:
        """Return "" or "not_installed"; loads nothing."""
        there = local_models.has_llama() and self._model_file() is not None
        return "" if there else FailureKind.NOT_INSTALLED

    def can_fetch_embedded(self) -> bool:
        """Return whether only the built-in model's file is missing; loads nothing."""
        has_place = self.local.folder != Path(os.devnull)
        return has_place and local_models.has_llama() and self._model_file() is None

    def embedded_model(self) -> LocalModel:
        """Return the built-in model, whose file may be missing; loads nothing."""
        path = self._model_file()
        size = FILE_SIZE if path is None else path.stat().st_size
        return LocalModel(id=catalog.EMBEDDED_MODEL, size=size, path="" if path is None else str(path))

    async def unload(self, model: str) -> None:
        """End the process of a model on this computer; see `core.provider.Models`."""
        if self.host_pid is not None:
            with contextlib.suppress(ProviderError):
                await self._last_line({"op": "unload", "model": model})

    async def remove_embedded(self) -> None:
        """Delete the built-in model's file. Raises BadInput if Moot did not download it, StorageError."""
        path = await asyncio.to_thread(self._model_file)
        if path is None or path.parent != self.local.folder:
            raise BadInput("model_not_ours", path=path)
        await self.unload(catalog.EMBEDDED_MODEL)
        try:
            await asyncio.to_thread(path.unlink)
        except OSError as error:
            raise StorageError("model_not_removed", path=path, detail=error.strerror or error) from error

    async def fetch_embedded(self, progress: Callable[[int, int], None]) -> None:
        """Download the built-in model's file and check its hash; `progress` gets (bytes, all bytes).

        Cancelling ends the download and leaves nothing. Raises MootError (model_not_fetched).
        """
        await processes.in_thread(partial(fetch_model, self.local.folder), progress, "model_not_fetched")

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Ask a model or an external agent; see `core.provider.Models`.

        Closing the generator ends the request.
        """
        if agent := self._agent(request.provider):
            agents, program = agent
            return agents.stream(program, request)
        return self._stream(request)

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        line = await self._line(request, self._providers(request.provider))
        try:
            async with contextlib.aclosing(self._answer(line)) as answers:
                async for answer in answers:
                    if "finished" in answer:
                        # By now a server of the user's own has loaded the model, and knows its window.
                        await self._ask_window(request.provider, request.model)
                        yield end_in(answer["finished"])
                    elif "quirks" not in answer:
                        for delta in deltas(answer):
                            yield delta
                    elif line["server"] is None:
                        self._book.note_quirks(line["base_url"], request.model, answer["quirks"])
        except ProviderError as error:
            if error.kind == FailureKind.CONTEXT_WINDOW:
                self._book.note_refusal(request.provider, request.model, error.detail)
            raise

    def answer_agent(self, ask: str, answer: str) -> None:
        """Answer what an external agent asked."""
        assert self._agents is not None
        self._agents.answer(ask, answer)

    async def found_agents(self) -> Mapping[str, str]:
        """Look for the known external agents on the PATH of the login shell."""
        path, found = await search_path(), dict[str, str]()
        for item in RECIPES:
            if file := await asyncio.to_thread(find_command, item.executable, None, path):
                found[item.name] = file
        return found

    def _agent(self, provider: str) -> tuple[ExternalAgents, catalog.ProviderConfig] | None:
        """Return how a provider that is a program is asked, None for another one."""
        config = self._providers(provider)
        if self._agents is None or config is None or config.kind != catalog.PROGRAM:
            return None
        # An entry that cannot be read is refused where others are.
        return None if self._unreadable(provider) else (self._agents, config)

    async def listens(self, provider: str) -> bool:
        """Return whether something listens at a provider's address; false if it has no address.

        Behind a proxy the host asks, as it asks the models. A proxy that it cannot use is named by the
        request that fails.
        """
        config, row = self._providers(provider), self._row(provider)
        if config is None or row is None:
            return False
        with contextlib.suppress(ProviderError):
            address = complete_address(row.kind, config.base_url or row.base_url)
            if host_client.unsupported_proxy(address):
                return True
            if not host_client.proxy_for(address):
                return await listens(address, _LISTEN_SECONDS)
            line = {"op": "reach", "base_url": address, "seconds": _REACH_SECONDS}
            return bool((await self._last_line(line))["reached"])
        return False

    async def local_servers(self) -> tuple[core_provider.FoundServer, ...]:
        """Search this computer for the known servers of models; asks loopback addresses only."""
        return await local_models.find_servers(catalog.LOCAL_SERVERS, _LOOK_SECONDS)

    async def test(self, provider: str) -> TestResult:
        """Try a provider: list its models and get one short answer; of a program only a session is opened.

        Never raises ProviderError.
        """
        if agent := self._agent(provider):
            agents, program = agent
            return await agents.test(program)
        return await self._trial("test", self._providers(provider), provider)

    async def list_models(self, provider: str) -> TestResult:
        """Ask a provider for its list of models only. Never raises ProviderError."""
        if self._agent(provider) is not None:
            return await self.test(provider)
        config = self._providers(provider)
        row = self._row(provider)
        if row is not None and row.in_moot:
            return TestResult(ok=True, models=(config and config.models) or row.models)
        return await self._trial("list", config, provider)

    async def try_out(self, config: catalog.ProviderConfig, key: str) -> TestResult:
        """Try a provider that is not saved, with a key that is not kept ("" for none)."""
        return await self._trial("test", config, config.id, key)

    async def _trial(
        self, op: str, config: catalog.ProviderConfig | None, provider: str, key: str | None = None
    ) -> TestResult:
        row = catalog.provider_kind(config.kind) if config is not None else None
        known = (config and config.models) or (row.models if row is not None else ())
        request = ModelRequest(provider=provider, model=next(iter(known), ""), messages=())
        try:
            line = await self._line(request, config, key)
            usual = _TEST_LIMITS if line["server"] is None else LOCAL_LIMITS
            line |= {"op": op, "limits": dataclasses.asdict(self._limits or usual)}
            tested = (await self._last_line(line))["tested"]
        except ProviderError as error:
            return TestResult(ok=False, failure=error.kind, detail=error.detail)
        names = local_models.clean_names(tested["models"])
        for name in names:
            if told := tested["models"].get(name):
                facts = msgspec.convert(told | {"source": FactSource.SERVER}, ModelFacts)
                self._book.note(provider, name, facts)
        model, failure = local_models.clean_name(tested.get("model", "")), tested.get("failure", "")
        detail = await self._explained(failure, tested.get("detail", ""))
        result = TestResult(ok=tested["ok"], model=model, models=names, failure=failure, detail=detail)
        return dataclasses.replace(result, seconds=tested.get("seconds", 0.0))

    def is_free(self, provider: str) -> bool:
        """Return whether a provider's models certainly cost nothing: it is on this computer or
        in its network.
        """
        config, row = self._providers(provider), self._row(provider)
        if config is None or row is None or not row.local:
            return False
        return row.in_moot or catalog.is_near(config.base_url or row.base_url)

    def is_subscribed(self, provider: str) -> bool:
        """Return whether a provider is an external agent, for which a subscription pays
        where it names no cost.
        """
        row = self._row(provider)
        return row is not None and row.kind == catalog.PROGRAM

    async def price(self, provider: str, model: str) -> Price | None:
        """Return what a model costs, None if that is unknown; starts the host only for paid providers.

        What a program costs is between the user and its maker.
        """
        row = self._row(provider)
        if row is None or self._agent(provider) is not None:
            return None
        if row.local:
            return Price() if self.is_free(provider) else None
        if (row.kind, model) not in self._prices:
            try:
                price = (await self._last_line({"op": "price", "kind": row.kind, "model": model}))["price"]
            except ProviderError:
                return None
            self._prices[row.kind, model] = Price(**price) if price else None
        return self._prices[row.kind, model]

    async def facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model; starts the host only for a model that was never looked up."""
        if self._agent(provider) is None:
            with contextlib.suppress(ProviderError):
                if not self._book.has(provider, model, FactSource.LIST):
                    await self._look_up(provider, model)
                await self._ask_window(provider, model)
        return self.known_facts(provider, model)

    def known_facts(self, provider: str, model: str) -> ModelFacts:
        """Return what is known about a model by now; asks nobody.

        All models of a program take what it takes: no settings, perhaps pictures.
        """
        row = self._row(provider)
        if row is not None and row.kind == catalog.EMBEDDED:
            return local_models.EMBEDDED_FACTS
        facts = self._book.believed(provider, model, local=row is not None and row.local)
        config = self._providers(provider)
        own = (config.windows.get(model) or config.window) if config is not None else 0
        if own > 0:
            facts = dataclasses.replace(facts, window=own, source=FactSource.USER)
        if agent := self._agent(provider):
            images = self._book.believed(provider, DEFAULT_MODEL, local=False).images
            images = recipe_of(agent[1].recipe).images if images is None else images
            facts = dataclasses.replace(facts, images=images, efforts=())
            return dataclasses.replace(facts, temperature=core_provider.TakesTemperature.NO)
        return facts

    def note_stable(
        self, provider: str, model: str, stable: int, answers: str = "", address: str = ""
    ) -> None:
        """Keep what the voting check of a model has found, as `ModelFacts` says; -1 alone forgets it."""
        facts = ModelFacts(stable=stable, answers=answers, address=address, source=FactSource.CHECK)
        self._book.note(provider, model, facts)

    def note_cut(self, provider: str, model: str, read: int) -> bool:
        """Keep that a server of the user's own has cut a request;
        the large providers refuse what is too long.
        """
        row = self._row(provider)
        if row is None or not row.local or row.in_moot:
            return False
        self._book.note_limit(provider, model, read)
        return True

    async def _look_up(self, provider: str, model: str) -> None:
        """Ask the host once what its list says about a model: it may be newer than what is kept.
        Raises ProviderError.
        """
        row = self._row(provider)
        known = (provider, model) in self._looked_up
        if row is None or known or (row.local and row.kind not in catalog.SILENT):
            return
        answer = await self._last_line({"op": "facts", "kind": row.kind, "model": model})
        self._looked_up.add((provider, model))
        if answer["facts"] is not None:
            facts = msgspec.convert(answer["facts"] | {"source": FactSource.LIST}, ModelFacts)
            self._book.note(provider, model, facts)

    async def _ask_window(self, provider: str, model: str) -> None:
        """Ask a server of the user's own how much its model reads, until it is that of the running model."""
        config, row = self._providers(provider), self._row(provider)
        if config is None or row is None or not row.local or row.in_moot:
            return
        address = config.base_url or row.base_url
        if not address or not catalog.is_near(address) or (provider, model) in self._windows_asked:
            return
        if host_client.unsupported_proxy(address):
            return
        with contextlib.suppress(ProviderError):
            server = {"kind": row.kind, "base_url": complete_address(row.kind, address), "model": model}
            key = (self._key(provider) or "").strip()
            answer = await self._last_line({"op": "window", "key": key, **server})
            if answer["sure"]:
                self._windows_asked.add((provider, model))
            if answer["window"]:
                self._book.note_window(provider, model, answer["window"])

    def _row(self, provider: str) -> catalog.ProviderKind | None:
        config = self._providers(provider)
        return catalog.provider_kind(config.kind) if config is not None else None

    async def renew(self) -> None:
        """Let new hosts take what is asked from now on."""
        await super().renew()
        if self._agents is not None:
            await self._agents.renew()

    async def close(self) -> None:
        """Stop both hosts and wait until they are gone."""
        await super().close()
        await self._book.close()
        if self._restart is not None:
            await asyncio.gather(self._restart, return_exceptions=True)
        if self._agents is not None:
            await self._agents.close()

    def clean(self, text: str) -> str:
        """Return a text without keys and without characters that cannot be stored."""
        return super().clean(redact_keys(text, tuple(self._keys_sent)))

    def _failure(self, detail: str, *, spoke: bool = False) -> Exception:
        return ProviderError(FailureKind.INTERRUPTED if spoke else FailureKind.HOST, detail)

    async def _refusal(self, answer: Line) -> Exception:
        error = answer["error"]
        detail = await self._explained(error["kind"], error["detail"])
        return ProviderError(error["kind"], detail, error["retry_after"])

    def on_host_died(self, host: HostProcess) -> None:
        lived = asyncio.get_running_loop().time() - host.started_at
        if not self._closed and host.ready.is_set() and lived > _STABLE_SECONDS:
            self._restart = start_owned(self.start())

    async def _line(
        self, request: ModelRequest, config: catalog.ProviderConfig | None, key: str | None = None
    ) -> dict[str, Any]:
        if place := self._unreadable(request.provider):
            raise ProviderError(FailureKind.PROVIDER_UNREADABLE, place)
        row = catalog.provider_kind(config.kind) if config is not None else None
        if config is None or row is None:
            raise ProviderError(FailureKind.BAD_REQUEST, f"unknown provider: {request.provider}")
        key = ((self._key(config.id) if key is None else key) or "").strip()
        if row.needs_key and not key:
            raise ProviderError(FailureKind.NO_KEY, config.id)
        with contextlib.suppress(ProviderError):
            await self._look_up(request.provider, request.model)
        facts = self.known_facts(request.provider, request.model)
        limits = self._limits or usual_limits(facts, request.effort, local=row.local)
        fields = dataclasses.fields(request)
        line: dict[str, Any] = {field.name: clean_values(getattr(request, field.name)) for field in fields}
        line |= {"op": "stream", "kind": row.kind, "base_url": "", "key": key, "server": None}
        rules = row.rules_at(config.base_url or row.base_url)
        parts: dict[str, Any] = {"limits": limits, "facts": facts, "rules": rules, "cache": request.cache}
        line |= {name: part and dataclasses.asdict(part) for name, part in parts.items()}
        if row.kind == catalog.EMBEDDED:
            model_file = await asyncio.to_thread(self._model_file)
            if model_file is None:
                raise ProviderError(FailureKind.NOT_INSTALLED, "the built-in model's file is not there")
            line["server"] = dataclasses.asdict(local_models.embedded_spec(model_file))
        elif row.kind == catalog.LOCAL:
            await asyncio.to_thread(self._add_server, line)
        else:
            line["base_url"] = complete_address(row.kind, config.base_url or row.base_url)
            if proxy := host_client.unsupported_proxy(line["base_url"]):
                raise ProviderError(FailureKind.SOCKS, proxy)
            if quirks := self._book.quirks(line["base_url"], request.model):
                line["quirks"] = dataclasses.asdict(quirks)
        if key:
            self._keys_sent.add(key)
        return line

    def _add_server(self, line: dict[str, Any]) -> None:
        """Add how a downloaded model is run, and what it is asked with. Raises ProviderError."""
        model = line["model"]
        spec = self.local.spec(model)
        if spec is None or not local_models.has_llama():
            raise ProviderError(FailureKind.NOT_INSTALLED, f"{model} is not installed")
        line["server"] = dataclasses.asdict(spec)
        line["options"] = self.local.options(model) | line["options"]
        if line["temperature"] is not None:
            # What the user chose for an assistant holds.
            line["options"].pop("temperature", None)

    def on_line(self, line: Line) -> None:
        if "facts" in line:
            facts = ModelFacts(**line["facts"], source=FactSource.SERVER)
            self._book.note(catalog.LOCAL, line["model"], facts)

    async def _explained(self, failure: str, detail: str) -> str:
        """Return a failure's detail, with the variable that names certificates which are not there."""
        certificates = failure == FailureKind.CERTIFICATE
        missing = await asyncio.to_thread(host_client.missing_certificates) if certificates else ""
        return self.clean(" · ".join(filter(None, (detail, missing))))


def deltas(line: Line) -> Iterator[Delta]:
    """Yield the pieces of an answer that a line holds."""
    if "text" in line or "thinking" in line:
        yield Text(text=clean_text(line.get("text", "")), thinking=clean_text(line.get("thinking", "")))
    for index, *texts in line.get("calls", ()):
        call_id, name, arguments = map(clean_text, texts)
        yield core_provider.CallPiece(index=index, id=call_id, name=name, arguments=arguments)
    for index, media_type, data in line.get("images", ()):
        yield core_provider.PicturePiece(index=index, media_type=media_type, data=data)


def end_in(finished: Line) -> core_provider.Finished:
    """Return the end of an answer that a line holds."""
    return msgspec.convert({**finished, "state": clean_values(finished["state"])}, core_provider.Finished)
